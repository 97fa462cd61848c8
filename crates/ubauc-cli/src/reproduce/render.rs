//! Tables of results, ours beside the paper's: JSON by serde, and documents, CSV and figures for people.
//!
//! A value that does not exist is `–` for people, an empty field in CSV and `null` in JSON; never NaN.

mod auc;
mod sizes;
#[cfg(test)]
mod tests;
mod times;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use ubauc::document::{Block, Document, Figure, Table};

/// Characters of a line in a terminal.
const WIDTH: usize = 120;

/// A table that can be published.
pub(super) trait View: Serialize {
    fn title(&self) -> &str;
    /// The tables, and what is in them; `narrow` for a terminal.
    fn tables(&self, narrow: bool) -> Vec<Block>;
    fn notes(&self) -> &[String];
    /// A row per cell, numbers to the last bit.
    fn data(&self) -> Table;
    /// A figure that stands by itself; none where there is nothing to draw.
    fn figure(&self) -> Option<Figure>;

    fn document(&self, narrow: bool, figure: Option<Figure>) -> Document {
        let mut blocks = match self.data().rows.is_empty() {
            true => vec![Block::Paragraph("nothing yet".to_string())],
            false => self.tables(narrow),
        };
        blocks.extend(figure.map(Block::Figure));
        blocks.push(Block::Notes(self.notes().to_vec()));
        Document {
            title: Some(self.title().to_string()),
            width: narrow.then_some(WIDTH),
            blocks,
        }
    }

    /// For a terminal.
    fn summary(&self) -> Document {
        self.document(true, None)
    }

    /// For a page, with the figure, which is also in a file of this name.
    fn page(&self, file: Option<String>) -> Document {
        let figure = self.figure().map(|figure| Figure { file, ..figure });
        self.document(false, figure)
    }
}

/// One cell of a table of AUC.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CellView {
    pub(super) dataset: String,
    /// `ba-ubauc`, `ba-ubauc balanced`, `logistic`, …
    pub(super) column: String,
    pub(super) mean: Option<f64>,
    pub(super) std: Option<f64>,
    pub(super) runs: usize,
    pub(super) wanted_runs: usize,
    /// Mean and standard deviation.
    pub(super) paper: Option<[f64; 2]>,
    /// Ours minus the paper's.
    pub(super) difference: Option<f64>,
    /// |difference| > 2 standard deviations of the paper.
    pub(super) outside: bool,
    /// Highest mean of its row; several if they are equal.
    pub(super) best: bool,
    /// Why it is empty, or what is odd about it.
    pub(super) note: Option<String>,
    pub(super) parameters: BTreeMap<String, Value>,
    pub(super) seconds: f64,
}

/// The paper has four digits: what differs by less than this is rounding at the border.
const ROUNDING: f64 = 1e-9;

impl CellView {
    /// A cell without runs, note, parameters and seconds; `TableView::new` finds the best of a row.
    pub(super) fn new(
        dataset: &str,
        column: &str,
        mean: Option<f64>,
        std: Option<f64>,
        paper: Option<[f64; 2]>,
    ) -> Self {
        let mean = mean.filter(|mean| mean.is_finite());
        let paper = paper.filter(|paper| paper.iter().all(|x| x.is_finite()));
        let difference = mean.zip(paper).map(|(mean, paper)| mean - paper[0]);
        let outside = difference
            .zip(paper)
            .is_some_and(|(difference, paper)| difference.abs() > 2.0 * paper[1] + ROUNDING);
        Self {
            dataset: dataset.to_string(),
            column: column.to_string(),
            mean,
            std: std.filter(|std| std.is_finite()),
            runs: 0,
            wanted_runs: 0,
            paper,
            difference,
            outside,
            best: false,
            note: None,
            parameters: BTreeMap::new(),
            seconds: 0.0,
        }
    }
}

/// AUC by data set (rows) and algorithm (columns).
#[derive(Debug, Clone, Serialize)]
pub(super) struct TableView {
    pub(super) title: String,
    pub(super) datasets: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) cells: Vec<CellView>,
    pub(super) notes: Vec<String>,
}

impl TableView {
    /// Marks the best of each row. Rows and columns come in the order in which the cells have them.
    pub(super) fn new(title: &str, mut cells: Vec<CellView>, notes: Vec<String>) -> Self {
        let datasets = in_order(cells.iter().map(|cell| &cell.dataset));
        let columns = in_order(cells.iter().map(|cell| &cell.column));
        let mut highest: BTreeMap<String, f64> = BTreeMap::new();
        for cell in &cells {
            if let Some(mean) = cell.mean {
                let row = highest.entry(cell.dataset.clone()).or_insert(mean);
                *row = row.max(mean);
            }
        }
        for cell in &mut cells {
            cell.best = cell.mean.is_some() && cell.mean == highest.get(&cell.dataset).copied();
        }
        Self {
            title: title.to_string(),
            datasets,
            columns,
            cells,
            notes,
        }
    }

    fn cell(&self, dataset: &str, column: &str) -> Option<&CellView> {
        let here = |cell: &&CellView| cell.dataset == dataset && cell.column == column;
        self.cells.iter().find(here)
    }

    /// The cells of a data set in the order of the columns.
    fn row(&self, dataset: &str) -> impl Iterator<Item = &CellView> {
        let columns = self.columns.iter();
        columns.filter_map(move |column| self.cell(dataset, column))
    }
}

/// Other times are given as multiples of its time, since the machines differ.
const REFERENCE: &str = "ol-ubauc";

/// How long one algorithm took on one data set.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct TimeView {
    pub(super) dataset: String,
    pub(super) column: String,
    pub(super) seconds_per_pass: Option<f64>,
    /// Until the objective stands still.
    pub(super) seconds_to_still: Option<f64>,
    pub(super) passes_to_still: Option<usize>,
    /// What ended the run.
    pub(super) stopped: Option<String>,
    pub(super) paper_pass: Option<f64>,
    pub(super) paper_total: Option<f64>,
    /// Found by `TimeTableView::new`.
    pub(super) ratios: Ratios,
}

/// The times as multiples of those of ol-ubauc on the same data set and by the same measurer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Ratios {
    pub(super) pass: Option<f64>,
    pub(super) total: Option<f64>,
    pub(super) paper_pass: Option<f64>,
    pub(super) paper_total: Option<f64>,
}

impl TimeView {
    /// Ours and the paper's seconds per pass, then in all.
    fn seconds(&self) -> [Option<f64>; 4] {
        let all = [
            self.seconds_per_pass,
            self.seconds_to_still,
            self.paper_pass,
            self.paper_total,
        ];
        all.map(|seconds| seconds.filter(|s| s.is_finite() && *s > 0.0))
    }
}

/// Times by data set and online algorithm.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TimeTableView {
    pub(super) title: String,
    pub(super) datasets: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) times: Vec<TimeView>,
    pub(super) notes: Vec<String>,
}

impl TimeTableView {
    /// Finds the ratios. Rows and columns come in the order in which the times have them.
    pub(super) fn new(title: &str, mut times: Vec<TimeView>, notes: Vec<String>) -> Self {
        let datasets = in_order(times.iter().map(|time| &time.dataset));
        let columns = in_order(times.iter().map(|time| &time.column));
        let references: BTreeMap<String, [Option<f64>; 4]> = times
            .iter()
            .filter(|time| time.column == REFERENCE)
            .map(|time| (time.dataset.clone(), time.seconds()))
            .collect();
        for time in &mut times {
            let references = references.get(&time.dataset).copied().unwrap_or_default();
            let ratio = |i: usize| Some(time.seconds()[i]? / references[i]?);
            time.ratios = Ratios {
                pass: ratio(0),
                total: ratio(1),
                paper_pass: ratio(2),
                paper_total: ratio(3),
            };
        }
        Self {
            title: title.to_string(),
            datasets,
            columns,
            times,
            notes,
        }
    }

    fn time(&self, dataset: &str, column: &str) -> Option<&TimeView> {
        let here = |time: &&TimeView| time.dataset == dataset && time.column == column;
        self.times.iter().find(here)
    }

    /// The times on a data set in the order of the columns.
    fn row(&self, dataset: &str) -> impl Iterator<Item = &TimeView> {
        let columns = self.columns.iter();
        columns.filter_map(move |column| self.time(dataset, column))
    }
}

/// The size of one data set, as read and as the paper has it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SizeView {
    pub(super) dataset: String,
    pub(super) train: Option<u64>,
    pub(super) test: Option<u64>,
    pub(super) dim: Option<u64>,
    /// Train, test and dimension.
    pub(super) paper: Option<[u64; 3]>,
    pub(super) note: Option<String>,
}

impl SizeView {
    fn ours(&self) -> [Option<u64>; 3] {
        [self.train, self.test, self.dim]
    }

    /// Whether a size that is there is not the paper's.
    fn differs(&self) -> bool {
        let Some(paper) = self.paper else {
            return false;
        };
        let mut pairs = self.ours().into_iter().zip(paper);
        pairs.any(|(ours, paper)| ours.is_some_and(|ours| ours != paper))
    }
}

/// The data sets.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SizeTableView {
    pub(super) title: String,
    pub(super) sizes: Vec<SizeView>,
    pub(super) notes: Vec<String>,
}

/// Each name once, where it first comes.
fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}
