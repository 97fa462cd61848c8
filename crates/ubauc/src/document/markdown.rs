//! Markdown as GitHub renders it.

use super::text::one_line;
use super::{Align, Block, Document, Facts, Figure, Table, escape_into};

/// The document as Markdown; its title is a heading of the first level.
pub fn render(document: &Document) -> String {
    let title = document
        .title
        .iter()
        .map(|title| format!("# {}\n", escape(title)));
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Paragraph(text) => format!("{}\n", paragraph(text)),
        Block::Facts(facts) => facts_table(facts),
        Block::Table(table) => table_lines(table),
        Block::Figure(figure) => picture(figure),
        Block::Notes(notes) => notes.iter().map(|n| format!("- {}\n", escape(n))).collect(),
        Block::Command(command) => code(command),
    });
    let parts = title.chain(blocks).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

fn facts_table(facts: &Facts) -> String {
    let mut table = Table::new(["fact", "value"]).left(&[1]);
    for (name, value) in &facts.lines {
        table.row([name.as_str(), value]);
    }
    table_lines(&table)
}

fn table_lines(table: &Table) -> String {
    let table = table.with_note_column();
    let mut out = String::new();
    let mut line = |cells: Vec<String>| {
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    };
    line(table.columns.iter().map(|c| escape(&c.name)).collect());
    let rule = |align: Align| match align {
        Align::Left => ":--",
        Align::Right => "--:",
    };
    line(
        table
            .columns
            .iter()
            .map(|c| rule(c.align).to_string())
            .collect(),
    );
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| match cell.strong {
            true => format!("**{}**", escape(cell.shown())),
            false => escape(cell.shown()),
        });
        line(cells.collect());
    }
    if let Some(foot) = &table.foot {
        out.push_str(&format!("\n{}\n", paragraph(foot)));
    }
    out
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
    escape_into(&mut out, text, |c| match c {
        '\\' => Some("\\\\"),
        '|' => Some("\\|"),
        '*' => Some("\\*"),
        '_' => Some("\\_"),
        '`' => Some("\\`"),
        '[' => Some("\\["),
        ']' => Some("\\]"),
        '~' => Some("\\~"),
        '$' => Some("\\$"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '&' => Some("&amp;"),
        _ => None,
    });
    out
}
