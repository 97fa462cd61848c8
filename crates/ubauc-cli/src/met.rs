//! What was met in a file besides its rows: notices, values that are none, lines that were left out.

use std::path::Path;
use std::sync::Arc;

use ubauc::document::numbers::thousands;
use ubauc::read::table::{GivenColumn, GivenKind, Skipped, TableBatch};

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

/// Skipped lines that are described.
const DESCRIBED: usize = 5;

/// What was met in a file.
pub(crate) struct Met<'a> {
    path: &'a Path,
    output: Output,
    told: Vec<String>,
    unreadable: Vec<usize>,
    pub(crate) n_skipped: usize,
    skipped: Vec<Skipped>,
}

impl<'a> Met<'a> {
    pub(crate) fn new(path: &'a Path, output: Output) -> Met<'a> {
        Met {
            path,
            output,
            told: Vec::new(),
            unreadable: Vec::new(),
            n_skipped: 0,
            skipped: Vec::new(),
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
        self.n_skipped += about.n_skipped;
        let room = DESCRIBED.saturating_sub(self.skipped.len());
        self.skipped.extend(about.skipped.into_iter().take(room));
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
        if self.n_skipped == 0 {
            return;
        }
        let described = self
            .skipped
            .iter()
            .map(|s| format!("line {}: {}", s.line, s.what));
        let mut described: Vec<String> = described.collect();
        if self.n_skipped > described.len() {
            described.push("…".to_string());
        }
        let lines = if self.n_skipped == 1 { "line" } else { "lines" };
        self.note(&format!(
            "{} {lines} skipped: {}",
            thousands(self.n_skipped as u64),
            described.join("; ")
        ));
    }
}
