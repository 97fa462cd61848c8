//! Plain text for a terminal: blocks one blank line apart, columns aligned by what a terminal shows of them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Block, Document, Table};

/// Narrower than this a column of words is not cut while another can be.
const LEAST_WIDTH: usize = 8;

/// The document as lines of text.
pub fn render(document: &Document) -> String {
    let width = document.width;
    let title = document.title.iter().map(|title| wrap(title, width));
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Paragraph(text) => text.lines().flat_map(|line| wrap(line, width)).collect(),
        Block::Facts(facts) => table_lines(&facts.table(["", ""]), None),
        Block::Table(table) => table_lines(table, width),
        Block::Figure(figure) => wrap(&figure.alternative, width),
        Block::Notes(notes) => notes.iter().flat_map(|note| wrap(note, width)).collect(),
        Block::Command(command) => vec![format!("  {}", one_line(command))],
    });
    let mut out = String::new();
    for lines in title.chain(blocks).filter(|lines| !lines.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in lines {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

fn table_lines(table: &Table, width: Option<usize>) -> Vec<String> {
    // A note that several rows have is printed once.
    let mut notes: Vec<String> = Vec::new();
    let table = table.with_notes("", |note| {
        let known = notes.iter().position(|other| *other == note);
        let number = known.unwrap_or_else(|| {
            notes.push(note);
            notes.len() - 1
        });
        format!("[{}]", number + 1)
    });
    let names = table.columns.iter().map(|column| one_line(&column.name));
    let mut rows: Vec<Vec<String>> = vec![names.collect()];
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| {
            let mark = if cell.strong { "*" } else { "" };
            one_line(&format!("{mark}{}", cell.shown()))
        });
        rows.push(cells.collect());
    }
    if table.grouped {
        for i in (2..rows.len()).rev() {
            if rows[i].first() == rows[i - 1].first() {
                rows[i].iter_mut().take(1).for_each(String::clear);
            }
        }
    }
    if rows[0].iter().all(String::is_empty) {
        rows.remove(0);
    }
    let widths = widths(&table, &rows, width);
    let mut lines: Vec<String> = Vec::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).zip(&table.columns);
        let cells = cells.map(|((cell, &width), column)| {
            let cell = clip(cell, width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            match column.words {
                true => cell + &blanks,
                false => blanks + &cell,
            }
        });
        lines.push(cells.collect::<Vec<_>>().join("  "));
    }
    lines.extend(table.foot.iter().flat_map(|foot| wrap(foot, width)));
    for (i, note) in notes.iter().enumerate() {
        lines.extend(wrap(&format!("[{}] {note}", i + 1), width));
    }
    lines
}

/// The width of every column: that of its widest cell, less where the table would be wider than the page. Columns of
/// words are cut first, the widest of them most.
fn widths(table: &Table, rows: &[Vec<String>], width: Option<usize>) -> Vec<usize> {
    let cells = |j: usize| rows.iter().filter_map(move |row| row.get(j));
    let widest = |j: usize| cells(j).map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..table.columns.len()).map(widest).collect();
    let gaps = 2 * widths.len().saturating_sub(1);
    let page = width.unwrap_or(usize::MAX).saturating_sub(gaps);
    while widths.iter().sum::<usize>() > page.max(widths.len()) {
        let first_cut = |j: usize| table.columns[j].words && widths[j] > LEAST_WIDTH;
        let next = (0..widths.len()).max_by_key(|&j| (first_cut(j), widths[j]));
        let Some(next) = next else { break };
        widths[next] -= 1;
    }
    widths
}

/// Text without control characters: no line ends, and no sequences a terminal would obey.
pub(super) fn one_line(text: &str) -> String {
    let chars = text.chars();
    chars
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// At most `width` columns of a terminal, the last of them `…` where something was cut.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    // For the dots.
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// Lines of at most `width` columns, broken at blanks, and inside a word only if it is longer than a line. Without a
/// width, one line as it is.
pub(super) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.map(|width| width.max(2)) else {
        return vec![one_line(text)];
    };
    let mut lines: Vec<String> = Vec::new();
    // Of the last line.
    let mut used = 0;
    for word in one_line(text).split_whitespace() {
        if used > 0 && used + 1 + word.width() <= width {
            used += 1 + word.width();
            if let Some(line) = lines.last_mut() {
                line.push(' ');
                line.push_str(word);
            }
            continue;
        }
        let mut line = String::new();
        used = 0;
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            used += wide;
            line.push(c);
        }
        lines.push(line);
    }
    lines
}
