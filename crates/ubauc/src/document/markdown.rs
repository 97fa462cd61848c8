//! Markdown as GitHub renders it.

use super::text::one_line;
use super::{Block, Document, Figure, Table};

/// The document as Markdown; its title is a heading of the first level.
pub fn render(document: &Document) -> String {
    let title = document
        .title
        .iter()
        .map(|title| format!("# {}\n", escape(title)));
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Paragraph(text) => format!("{}\n", paragraph(text)),
        Block::Facts(facts) => table_lines(&facts.table(["fact", "value"])),
        Block::Table(table) => table_lines(table),
        Block::Figure(figure) => picture(figure),
        Block::Notes(notes) => notes.iter().map(|n| format!("- {}\n", escape(n))).collect(),
        Block::Command(command) => code(command),
    });
    let parts = title.chain(blocks).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

fn table_lines(table: &Table) -> String {
    let table = table.with_note_column();
    let names = table.columns.iter().map(|column| escape(&column.name));
    let rules = table.columns.iter().map(|column| match column.words {
        true => ":--".to_string(),
        false => "--:".to_string(),
    });
    let mut out = line(names) + &line(rules);
    for row in &table.rows {
        out += &line(row.cells.iter().map(|cell| match cell.strong {
            true => format!("**{}**", escape(cell.shown())),
            false => escape(cell.shown()),
        }));
    }
    if let Some(foot) = &table.foot {
        out += &format!("\n{}\n", paragraph(foot));
    }
    out
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// The figure's file if it has one, else its text alternative.
fn picture(figure: &Figure) -> String {
    let alternative = escape(&figure.alternative);
    match &figure.file {
        // In angle brackets a target may have blanks and parentheses.
        Some(file) => format!("![{alternative}](<{}>)\n", escape(file)),
        None => format!("{}\n", paragraph(&figure.alternative)),
    }
}

/// A fenced block; the fence is longer than any run of backticks inside.
fn code(command: &str) -> String {
    let runs = command.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}sh\n{}\n{fence}\n", one_line(command))
}

/// Escaped text that does not begin like a heading, a list or a rule.
fn paragraph(text: &str) -> String {
    let text = escape(text.trim_start());
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if text.starts_with(['#', '+', '-', '=']) {
        format!("\\{text}")
    } else if digits > 0 && text[digits..].starts_with(['.', ')']) {
        format!("{}\\{}", &text[..digits], &text[digits..])
    } else {
        text
    }
}

/// Text that Markdown shows as it is, on one line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => {
                if r"\|*_`[]~$".contains(c) {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out
}
