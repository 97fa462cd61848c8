//! How every command reports: JSON or aligned text on standard output, notes on standard error.

use std::fmt::{self, Display};
use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

/// What was asked for with `--json` and `--quiet`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON object on standard output and nothing else there.
    pub(crate) json: bool,
    /// Neither progress nor notes; results and errors only.
    pub(crate) quiet: bool,
}

impl Output {
    /// The report as JSON or as text, on standard output.
    pub(crate) fn report(self, report: &(impl Serialize + Display)) -> Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut stdout, report)?;
            writeln!(stdout)?;
        } else {
            write!(stdout, "{report}")?;
        }
        stdout.flush()?;
        Ok(())
    }

    /// A line on standard error.
    pub(crate) fn note(self, text: impl Display) {
        if !self.quiet {
            // Nobody can be told that standard error is closed.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// Cells in columns: the first to the left, the others to the right, two blanks between.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn head<const N: usize>(cells: [&str; N]) -> Table {
        let mut table = Table::default();
        table.row(cells.map(str::to_string));
        table
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |j: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(j));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (j, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                line += &match j {
                    0 => format!("{cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Names to the left, what they are to the left beside them.
#[derive(Default)]
pub(crate) struct Facts {
    lines: Vec<(&'static str, String)>,
}

impl Facts {
    pub(crate) fn add(&mut self, name: &'static str, value: impl Display) {
        self.lines.push((name, value.to_string()));
    }
}

impl Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .lines
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, value) in &self.lines {
            writeln!(f, "{name:<width$}  {value}")?;
        }
        Ok(())
    }
}

/// A number as a person reads it: six digits, or seven significant ones with an exponent.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        format!("{x:.6}")
    } else {
        format!("{x:.6e}")
    }
}

/// A p value; one that is 0 in floating point is not printed as certainty, one that is not there as `-`.
pub(crate) fn p_value(p: Option<f64>) -> String {
    let Some(p) = p else {
        return "-".to_string();
    };
    if p >= 1e-4 {
        format!("{p:.4}")
    } else if p > 0.0 {
        format!("{p:.1e}")
    } else {
        "<1e-300".to_string()
    }
}

/// `[0.881000, 0.912000]`
pub(crate) fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", number(low), number(high))
}

/// 1234567 as `1,234,567`.
pub(crate) fn thousands(n: impl Into<u128>) -> String {
    let digits = n.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (n, text) in [
            (0u64, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(n), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::head(["name", "auc"]);
        table.row(["α".to_string(), "0.5".to_string()]);
        assert_eq!(table.to_string(), "name  auc\nα     0.5\n");
    }
}
