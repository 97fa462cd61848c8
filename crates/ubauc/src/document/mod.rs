//! What is reported to people: facts, tables, figures and notes, in the order of reading.
//!
//! A report is built once, as a [`Document`], and rendered by one renderer per format: [`text`] for a terminal,
//! [`markdown`], [`html`] (a page that needs no other file), [`csv`] for a single table and [`svg`] for a single figure.
//! All text is plain: a renderer escapes whatever its format would interpret, so names of files, columns and classes
//! can be anything.

pub mod csv;
mod figure;
pub mod html;
pub mod markdown;
pub mod numbers;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;

pub(crate) use figure::Span;
pub use figure::{Axis, Figure, Panel, PanelRow, PanelValue, Scale};

use std::fmt::Display;

/// A report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Heading of the whole, if it has one.
    pub title: Option<String>,
    /// Longest line of plain text: paragraphs are wrapped and tables cut to it. No limit if `None`.
    pub width: Option<usize>,
    /// The content, in the order of reading.
    pub blocks: Vec<Block>,
}

/// A part of a [`Document`].
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text. Line ends are kept in plain text and are blanks elsewhere.
    Paragraph(String),
    /// Names and values.
    Facts(Facts),
    /// Rows and columns.
    Table(Table),
    /// A picture.
    Figure(Figure),
    /// Remarks, each a line or a list item of its own.
    Notes(Vec<String>),
    /// A command to type, verbatim.
    Command(String),
}

impl Document {
    /// Adds a block.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Document {
        self.blocks.push(block.into());
        self
    }

    /// Adds running text.
    #[must_use]
    pub fn paragraph(self, text: impl Into<String>) -> Document {
        self.with(Block::Paragraph(text.into()))
    }

    /// Adds the blocks of another document.
    #[must_use]
    pub fn include(mut self, other: Document) -> Document {
        self.blocks.extend(other.blocks);
        self
    }
}

impl From<Facts> for Document {
    fn from(facts: Facts) -> Document {
        Document::default().with(facts)
    }
}

impl From<Facts> for Block {
    fn from(facts: Facts) -> Block {
        Block::Facts(facts)
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Block {
        Block::Table(table)
    }
}

/// Names and their values, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Name and value.
    pub lines: Vec<(String, String)>,
}

impl Facts {
    /// Adds a line.
    pub fn add(&mut self, name: &str, value: impl Display) {
        self.lines.push((name.to_string(), value.to_string()));
    }

    fn table(&self, names: [&str; 2]) -> Table {
        let mut table = Table::new(names).left(&[1]);
        for (name, value) in &self.lines {
            table.row([name.as_str(), value]);
        }
        table
    }
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Heading; may be empty.
    pub name: String,
    /// Its cells are words and stand to the left; otherwise numbers, to the right.
    pub words: bool,
}

/// Rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// As many as every row has cells.
    pub columns: Vec<Column>,
    /// In order.
    pub rows: Vec<Row>,
    /// The first column names groups of rows: plain text shows a name once.
    pub grouped: bool,
    /// A line below: what was left out, for instance.
    pub foot: Option<String>,
}

/// A row of a [`Table`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// One per column.
    pub cells: Vec<Cell>,
    /// A remark: a numbered footnote in plain text, a last column elsewhere.
    pub note: Option<String>,
}

/// What a cell holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// `None` is a value that does not exist: a dash for people, an empty field in CSV.
    pub text: Option<String>,
    /// Set off from the others of its row.
    pub strong: bool,
    /// The number that the text rounds: HTML has it with all its digits.
    pub value: Option<f64>,
}

/// What people see in place of a value that does not exist.
pub const DASH: &str = "–";

impl Cell {
    /// A number in the shortest form that reads back to the same bits, for CSV; missing unless finite.
    pub fn exact(x: impl Into<Option<f64>>) -> Cell {
        let x = x.into().filter(|x: &f64| x.is_finite());
        x.map(|x| x.to_string()).into()
    }

    /// A number as people read it.
    pub fn rounded(value: f64, shown: impl Into<String>) -> Cell {
        Cell {
            value: Some(value).filter(|value| value.is_finite()),
            ..Cell::from(shown.into())
        }
    }

    /// The same, set off from the others of its row.
    #[must_use]
    pub fn strong_if(self, strong: bool) -> Cell {
        Cell { strong, ..self }
    }

    fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(DASH)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        text.to_string().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Some(text).into()
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Cell {
        Cell {
            text,
            ..Cell::default()
        }
    }
}

impl Table {
    /// No rows yet; the first column is of words, the others of numbers.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Table {
        let columns = names.into_iter().enumerate().map(|(i, name)| Column {
            name: name.into(),
            words: i == 0,
        });
        Table {
            columns: columns.collect(),
            rows: Vec::new(),
            grouped: false,
            foot: None,
        }
    }

    /// Makes these columns, too, columns of words; counted from 0.
    #[must_use]
    pub fn left(mut self, columns: &[usize]) -> Table {
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.words |= columns.contains(&i);
        }
        self
    }

    /// Adds a row. One that is short is filled up with blank cells; there must not be more cells than columns.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Row {
        let mut cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        debug_assert!(cells.len() <= self.columns.len(), "a cell without a column");
        cells.resize(self.columns.len(), Cell::from(""));
        self.rows.push(Row { cells, note: None });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// The table with the notes of its rows, or what `of` makes of them, as a last column if there are any.
    fn with_notes(&self, name: &str, mut of: impl FnMut(String) -> String) -> Table {
        let mut table = self.clone();
        if self.rows.iter().any(|row| row.note.is_some()) {
            let (name, words) = (name.to_string(), true);
            table.columns.push(Column { name, words });
            for Row { cells, note } in &mut table.rows {
                cells.push(note.take().map(&mut of).unwrap_or_default().into());
            }
        }
        table
    }

    /// The same with the notes as they are.
    fn with_note_column(&self) -> Table {
        self.with_notes("note", |note| note)
    }
}

/// Text for HTML and XML, as content or as the value of an attribute; control characters are blanks.
pub(crate) fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not characters of XML.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
