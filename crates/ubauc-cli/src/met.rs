//! What was met in a file besides its rows: notices, values that are none, lines that were left out.

use std::path::Path;
use std::sync::Arc;

use ubauc::document::numbers::thousands;
use ubauc::read::table::{GivenColumn, GivenKind, Skipped, SkippedLines, TableBatch};

use crate::output::Output;

/// What a batch says besides its rows.
pub(crate) struct About {
    pub(crate) notices: Arc<[String]>,
    /// For each column, texts that were taken as missing.
    pub(crate) unreadable: Vec<usize>,
    pub(crate) n_skipped: usize,
    pub(crate) skipped: Vec<Skipped>,
}

impl About {
    pub(crate) fn of(batch: &TableBatch) -> About {
        About {
            notices: batch.notices.clone(),
            unreadable: batch.unreadable.clone(),
            n_skipped: batch.n_skipped,
            skipped: batch.skipped.clone(),
        }
    }
}

/// What was met in a file.
pub(crate) struct Met<'a> {
    path: &'a Path,
    output: Output,
    told: Vec<String>,
    unreadable: Vec<usize>,
    pub(crate) skipped: SkippedLines,
}

impl<'a> Met<'a> {
    pub(crate) fn new(path: &'a Path, output: Output) -> Met<'a> {
        Met {
            path,
            output,
            told: Vec::new(),
            unreadable: Vec::new(),
            skipped: SkippedLines::default(),
        }
    }

    /// Says what is new among the notices.
    pub(crate) fn notices(&mut self, notices: &[String]) {
        for notice in notices {
            if !self.told.contains(notice) {
                self.note(notice);
                self.told.push(notice.clone());
            }
        }
    }

    /// Counts what was left out or taken as missing.
    pub(crate) fn add(&mut self, about: About) {
        if self.unreadable.len() < about.unreadable.len() {
            self.unreadable.resize(about.unreadable.len(), 0);
        }
        for (all, n) in self.unreadable.iter_mut().zip(about.unreadable) {
            *all += n;
        }
        self.skipped.add(about.n_skipped, about.skipped);
    }

    fn note(&self, text: &str) {
        let path = self.path.display();
        self.output.note(format!("note: {path}: {text}"));
    }

    /// Says what was counted.
    pub(crate) fn tell(&self, columns: &[GivenColumn]) {
        for (column, &n) in columns
            .iter()
            .zip(&self.unreadable)
            .filter(|(_, n)| **n > 0)
        {
            let what = match column.kind {
                GivenKind::Time { .. } => "date",
                _ => "number",
            };
            let [values, count] = match n {
                1 => ["value is", "counts"],
                _ => ["values are", "count"],
            };
            self.note(&format!(
                "column '{}': {} {values} no {what} and {count} as missing",
                column.name,
                thousands(n as u64)
            ));
        }
        if let Some(notice) = skipped_notice(&self.skipped) {
            self.note(&notice);
        }
    }
}

/// Counts the lines that were left out and names the first.
pub(crate) fn skipped_notice(skipped: &SkippedLines) -> Option<String> {
    if skipped.n == 0 {
        return None;
    }
    let described = skipped
        .first
        .iter()
        .map(|s| format!("line {}: {}", s.line, s.what));
    let mut described: Vec<String> = described.collect();
    if skipped.n > described.len() {
        described.push("…".to_string());
    }
    let lines = if skipped.n == 1 { "line" } else { "lines" };
    Some(format!(
        "{} {lines} skipped: {}",
        thousands(skipped.n as u64),
        described.join("; ")
    ))
}
