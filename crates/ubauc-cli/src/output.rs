//! How every command reports: a document or JSON on standard output, notes on standard error.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use ubauc::document::{Document, html, markdown, text};

/// What a command found: as JSON by its fields, for people by its document.
pub(crate) trait Report: Serialize {
    /// The same for people.
    fn document(&self) -> Document;
    /// The document as a terminal shows it, where that differs.
    fn terminal(&self) -> Document {
        self.document()
    }
}

/// How reports are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Markdown,
    Html,
    /// One object on a line.
    Json,
}

/// Where and how a command reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) format: Format,
    /// Neither progress nor notes; results and errors only.
    pub(crate) quiet: bool,
}

impl Output {
    /// One JSON object on standard output and nothing else there.
    pub(crate) fn json(self) -> bool {
        self.format == Format::Json
    }

    /// Writes the report to standard output.
    pub(crate) fn report(self, report: &impl Report) -> Result<()> {
        let text = self.rendered(report)?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// The report in the format that was asked for.
    pub(crate) fn rendered(self, report: &impl Report) -> Result<String> {
        Ok(match self.format {
            Format::Text => text::render(&report.terminal()),
            Format::Markdown => markdown::render(&report.document()),
            Format::Html => html::render(&report.document()),
            Format::Json => serde_json::to_string(report)? + "\n",
        })
    }

    /// Writes the report to standard error, as text: standard output has something else.
    pub(crate) fn report_aside(self, report: &impl Report) {
        self.note(text::render(&report.terminal()).trim_end());
    }

    /// A line on standard error.
    pub(crate) fn note(self, text: impl Display) {
        if !self.quiet {
            // There is nowhere to report that standard error is closed.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}
