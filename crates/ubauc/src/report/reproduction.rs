//! How to make it again.

use super::Reproduction;
use super::markup::{escape, paragraph, table};
use crate::document::{Cell, Table};

pub(super) fn section(reproduction: &Reproduction) -> String {
    let Reproduction {
        commands,
        version,
        seed,
        parameters,
        files,
    } = reproduction;
    let mut out = paragraph(
        "The same command on the same data makes the same page, to the last byte, whatever the number of threads.",
    );
    for command in commands {
        out += &format!(
            "<pre tabindex=\"0\"><code>{}</code></pre>\n",
            escape_lines(command)
        );
    }
    let mut facts = Table::new(["what", "value"]).left(&[1]);
    facts.row(["version", version.as_str()]);
    if let Some(seed) = seed {
        facts.row(["seed".to_string(), seed.to_string()]);
    }
    for (name, value) in parameters {
        facts.row([clipped(name), clipped(value)]);
    }
    out += &table(&facts, "Version and parameters");
    if !files.is_empty() {
        let mut rows = Table::new(["file", "for", "XXH3 (64 bits)"]).left(&[1, 2]);
        for file in files {
            let sum = file.xxh3.clone().map_or(Cell::from("–"), Cell::from);
            rows.row([
                Cell::from(clipped(&file.path)),
                Cell::from(file.role.as_str()),
                sum,
            ]);
        }
        out += &table(&rows, "Files, with checksums of their bytes");
    }
    out
}

fn clipped(text: &str) -> String {
    crate::document::text::clip(text, 400)
}

/// Escaped, with its line ends.
fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape).collect();
    lines.join("\n")
}
