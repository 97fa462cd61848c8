//! AUC by data set and algorithm: an overview, then every number; drawn as dots with bars of two standard deviations
//! to each side, every panel on its own scale.

use ubauc::document::numbers::{short, short_signed, three_digits};
use ubauc::document::{Axis, Block, Cell, DASH, Figure, Panel, PanelRow, PanelValue, Table};

use super::{CellView, TableView, View};

const LEGEND: &str = "ours, paper: mean±std of the AUC on test data; difference: ours − paper; best: \
                      highest mean of the data set; outside: beyond the paper's mean ± 2 std";

impl View for TableView {
    fn title(&self) -> &str {
        &self.title
    }

    /// In a terminal without the overview, and a data set without any result of ours is one line.
    fn tables(&self, narrow: bool) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !narrow {
            let what = "Mean±std of our AUC on test data; the highest of each data set is set off; ! marks what lies \
                        outside the paper's mean ± 2 std.";
            blocks = vec![self.overview().into(), Block::Paragraph(what.to_string())];
        }
        let head = "data set,algorithm,ours,paper,difference,runs,seconds,mark";
        let mut details = Table::new(head.split(',')).left(&[1, 7]);
        details.grouped = true;
        for dataset in &self.datasets {
            let mut cells = self.row(dataset);
            let note = cells.next().and_then(|cell| cell.note.clone());
            let empty = |cell: &CellView| cell.mean.is_none() && cell.note == note;
            if narrow && self.row(dataset).all(empty) {
                let mut cells = vec![Cell::default(); details.columns.len()];
                cells[0] = dataset.as_str().into();
                details.row(cells).note = note;
            } else {
                self.row(dataset).for_each(|cell| cell.add_to(&mut details));
            }
        }
        blocks.extend([details.into(), Block::Paragraph(LEGEND.to_string())]);
        blocks
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn data(&self) -> Table {
        let names = "dataset,column,mean,std,runs,wanted_runs,paper_mean,paper_std,difference,outside,best,seconds,\
                     parameters,note";
        let mut table = Table::new(names.split(','));
        for cell in &self.cells {
            let parameters = match cell.parameters.is_empty() {
                true => String::new(),
                // A map of strings to JSON values has nothing that cannot be written.
                false => serde_json::to_string(&cell.parameters).unwrap_or_default(),
            };
            table.row([
                cell.dataset.as_str().into(),
                cell.column.as_str().into(),
                Cell::exact(cell.mean),
                Cell::exact(cell.std),
                cell.runs.to_string().into(),
                cell.wanted_runs.to_string().into(),
                Cell::exact(cell.paper.map(|[mean, _]| mean)),
                Cell::exact(cell.paper.map(|[_, std]| std)),
                Cell::exact(cell.difference),
                cell.outside.to_string().into(),
                cell.best.to_string().into(),
                Cell::exact(cell.seconds),
                parameters.into(),
                cell.note.clone().into(),
            ]);
        }
        table
    }

    fn figure(&self) -> Option<Figure> {
        let panels = self.datasets.iter().map(|dataset| self.panel(dataset));
        let signs = "* highest of ours; ! outside the paper's mean ± 2 std; – no result of ours";
        let notes = [signs.to_string()].into_iter().chain(self.notes.clone());
        Some(Figure {
            title: self.title.clone(),
            alternative: format!(
                "{}: a panel per data set, a row per algorithm, our mean AUC with two standard deviations to each \
                 side above the paper's. The numbers are those of the table.",
                self.title
            ),
            file: None,
            rows: self.columns.clone(),
            series: ["ours, mean ± 2 std", "the paper, mean ± 2 std"]
                .map(str::to_string)
                .into(),
            axis: Axis {
                label: "AUC".to_string(),
                limits: Some([0.0, 1.0]),
                ..Axis::default()
            },
            panels: panels.collect(),
            notes: notes.collect(),
        })
    }
}

impl TableView {
    fn overview(&self) -> Table {
        let names = self.columns.iter().map(String::as_str);
        let mut table = Table::new(["data set"].into_iter().chain(names));
        for dataset in &self.datasets {
            let cells = self.columns.iter().map(|column| {
                let Some(cell) = self.cell(dataset, column) else {
                    return Cell::default();
                };
                let outside = if cell.outside { " !" } else { "" };
                let ours = mean_std(cell.mean, cell.std);
                Cell::from(ours.map(|ours| ours + outside)).strong_if(cell.best)
            });
            table.row([Cell::from(dataset.as_str())].into_iter().chain(cells));
        }
        table
    }

    fn panel(&self, dataset: &str) -> Panel {
        let cells = self.columns.iter().map(|column| self.cell(dataset, column));
        let rows = cells.map(|cell| cell.map(CellView::panel_row).unwrap_or_default());
        Panel {
            title: dataset.to_string(),
            rows: rows.collect(),
        }
    }
}

impl CellView {
    fn add_to(&self, details: &mut Table) {
        let mark = match (self.best, self.outside) {
            (true, true) => "best, outside",
            (true, false) => "best",
            (false, true) => "outside",
            (false, false) => "",
        };
        let spent = Some(self.seconds).filter(|seconds| self.runs > 0 && seconds.is_finite());
        details
            .row([
                self.dataset.as_str().into(),
                self.column.as_str().into(),
                Cell::from(mean_std(self.mean, self.std)),
                self.paper_text().into(),
                self.difference.map(short_signed).into(),
                self.runs_text().into(),
                spent.map(three_digits).into(),
                mark.into(),
            ])
            .note
            .clone_from(&self.note);
    }

    fn panel_row(&self) -> PanelRow {
        let or_dash = |text: Option<String>| text.unwrap_or(DASH.to_string());
        let mut description = format!(
            "{}, {}: ours {} ({} runs), paper {}, difference {}",
            self.dataset,
            self.column,
            or_dash(mean_std(self.mean, self.std)),
            self.runs_text(),
            or_dash(self.paper_text()),
            or_dash(self.difference.map(short_signed)),
        );
        let parameters = self.parameters.iter().map(|(k, v)| format!("; {k} {v}"));
        let note = self.note.iter().map(|note| format!("; {note}"));
        description.extend(parameters.chain(note));
        let mark = match (self.mean, self.best, self.outside) {
            (None, ..) => DASH,
            (_, true, true) => "*!",
            (_, true, false) => "*",
            (_, false, true) => "!",
            (_, false, false) => "",
        };
        let value = |mean: f64, std: f64| PanelValue {
            value: mean,
            interval: Some([mean - 2.0 * std, mean + 2.0 * std]),
            label: String::new(),
        };
        let ours = self.mean.map(|mean| value(mean, self.std.unwrap_or(0.0)));
        let paper = self.paper.map(|[mean, std]| value(mean, std));
        PanelRow {
            description,
            mark: mark.to_string(),
            values: vec![ours, paper],
        }
    }

    fn paper_text(&self) -> Option<String> {
        let [mean, std] = self.paper?;
        mean_std(Some(mean), Some(std))
    }

    /// `25`, or `3/25` while some are missing.
    fn runs_text(&self) -> String {
        match (self.runs, self.wanted_runs) {
            (runs, wanted) if runs == wanted => runs.to_string(),
            (runs, wanted) => format!("{runs}/{wanted}"),
        }
    }
}

/// `.8326±.0299`
fn mean_std(mean: Option<f64>, std: Option<f64>) -> Option<String> {
    let mean = short(mean?);
    Some(match std {
        Some(std) => format!("{mean}±{}", short(std)),
        None => mean,
    })
}
