//! A page of HTML that needs no other file, no network and no script; light or dark as the reader's system is.

use super::{Align, Block, Document, Facts, Figure, Table, escape_markup, svg};

/// Colours are variables of the names that figures use; a page prints as in the light.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--faint:#666;--grid:#d9d9d9;--stripe:#f4f4f4;--ground:#fff;
--series0:#0072b2;--series1:#c65500;--series2:#00795a;--series3:#a8467c;--series4:#8a6100;--series5:#2f7fb3}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8e8e8;--faint:#a0a0a0;--grid:#444;--stripe:#222;--ground:#161616;
--series0:#56b4e9;--series1:#f28e4b;--series2:#3cc79f;--series3:#e0a0c4;--series4:#e6b422;--series5:#9ad0f0}}
body{margin:2rem auto;max-width:70rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground)}
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
    let body: String = document.blocks.iter().map(block).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n{heading}{body}</main>\n</body>\n</html>\n",
        escape_markup(title.unwrap_or("Report")),
        svg::page_rules(),
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("<p>{}</p>\n", escape_markup(text)),
        Block::Facts(facts) => facts_table(facts),
        Block::Table(table) => table_rows(table),
        Block::Figure(figure) => picture(figure),
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

fn facts_table(facts: &Facts) -> String {
    let lines = facts.lines.iter().map(|(name, value)| {
        let (name, value) = (escape_markup(name), escape_markup(value));
        format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n")
    });
    format!(
        "<table>\n<tbody>\n{}</tbody>\n</table>\n",
        lines.collect::<String>()
    )
}

fn table_rows(table: &Table) -> String {
    let table = table.with_note_column();
    let class = |j: usize| match table.columns[j].align {
        Align::Left => "",
        Align::Right => " class=\"right\"",
    };
    let heads = table.columns.iter().enumerate().map(|(j, column)| {
        let name = escape_markup(&column.name);
        match name.is_empty() {
            // A heading without words says nothing to a screen reader.
            true => "<td></td>".to_string(),
            false => format!("<th scope=\"col\"{}>{name}</th>", class(j)),
        }
    });
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n<tr>{}</tr>\n</thead>\n<tbody>\n",
        heads.collect::<String>()
    );
    for row in &table.rows {
        out.push_str("<tr>");
        for (j, cell) in row.cells.iter().enumerate() {
            let text = escape_markup(cell.shown());
            let text = match cell.strong {
                true => format!("<strong>{text}</strong>"),
                false => text,
            };
            out += &match j {
                0 => format!("<th scope=\"row\"{}>{text}</th>", class(j)),
                _ => format!("<td{}>{text}</td>", class(j)),
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

fn picture(figure: &Figure) -> String {
    format!("<figure>\n{}</figure>\n", svg::inline(figure))
}
