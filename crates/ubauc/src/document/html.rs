//! An HTML page that needs no other file, no network and no script; light or dark as the reader's system is.

use super::{Block, Column, Document, Table, escape_markup, svg};

const STYLE: &str = "\
:root{color-scheme:light dark;--faint:#666;--grid:#d9d9d9;--stripe:#f4f4f4}
@media screen and (prefers-color-scheme:dark){:root{--faint:#a0a0a0;--grid:#444;--stripe:#222}}
body{margin:2rem auto;max-width:70rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
.scroll,pre{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid);max-width:40rem;overflow-wrap:anywhere}
.right{text-align:right;white-space:nowrap}
.foot{color:var(--faint)}
figure{margin:1rem 0}
svg{max-width:100%;height:auto}
pre{padding:.5rem;background:var(--stripe)}
";

/// The document as a whole page.
pub fn render(document: &Document) -> String {
    let title = document.title.as_deref();
    let heading = title.map_or(String::new(), |title| {
        format!("<h1>{}</h1>\n", escape_markup(title))
    });
    let body = fragment(document);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{heading}{body}</main>\n</body>\n</html>\n",
        escape_markup(title.unwrap_or("Report")),
    )
}

/// The blocks alone, for a page that is already there.
pub fn fragment(document: &Document) -> String {
    document.blocks.iter().map(block).collect()
}

/// The text of a cell; bars are drawn with characters of one width, and their blanks count.
fn cell_text(text: &str) -> String {
    let escaped = escape_markup(text);
    match text.contains(['█', '│']) {
        true => format!("<code>{}</code>", escaped.replace(' ', "&#160;")),
        false => escaped,
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("<p>{}</p>\n", escape_markup(text)),
        Block::Facts(facts) => table(&facts.table(["fact", "value"]), None),
        Block::Table(rows) => table(rows, None),
        Block::Figure(figure) => format!("<figure>\n{}</figure>\n", svg::inline(figure)),
        Block::Notes(notes) => {
            let items = notes
                .iter()
                .map(|note| format!("<li>{}</li>\n", escape_markup(note)));
            format!("<ul>\n{}</ul>\n", items.collect::<String>())
        }
        Block::Command(command) => {
            format!("<pre><code>{}</code></pre>\n", escape_markup(command))
        }
    }
}

/// A table; with a caption the first cell of every row is its heading.
pub(crate) fn table(table: &Table, caption: Option<&str>) -> String {
    let table = table.with_note_column();
    let class = |column: &Column| match column.words {
        true => "",
        false => " class=\"right\"",
    };
    let heads = table.columns.iter().map(|column| {
        let name = escape_markup(&column.name);
        format!("<th scope=\"col\"{}>{name}</th>", class(column))
    });
    let name = caption.map_or(String::new(), |caption| {
        format!("<caption>{}</caption>\n", escape_markup(caption))
    });
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\">\n<table>\n{name}<thead>\n<tr>{}</tr>\n</thead>\n<tbody>\n",
        heads.collect::<String>()
    );
    for row in &table.rows {
        out.push_str("<tr>");
        for (j, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
            let (mut text, class) = (cell_text(cell.shown()), class(column));
            if let Some(value) = cell.value {
                text = format!("<data value=\"{value}\">{text}</data>");
            }
            if cell.strong {
                text = format!("<strong>{text}</strong>");
            }
            out += &match j == 0 && caption.is_some() {
                true => format!("<th scope=\"row\"{class}>{text}</th>"),
                false => format!("<td{class}>{text}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    if let Some(foot) = &table.foot {
        out += &format!("<p class=\"foot\">{}</p>\n", escape_markup(foot));
    }
    out
}
