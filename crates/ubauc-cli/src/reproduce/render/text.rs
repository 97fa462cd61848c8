//! Tables for a terminal of 120 columns.

use super::words::{DASH, clip, difference, mean_std, paper, ratio, runs, seconds, wrap};
use super::{REFERENCE, SizeTableView, TableView, TimeTableView};
use crate::output::{Table, thousands};

/// Characters of a line.
const WIDTH: usize = 120;

/// Characters of a name before it is cut.
const NAME: usize = 28;

/// A block a data set, a line an algorithm; a data set without any result of ours is one line.
pub(super) fn auc(table: &TableView) -> String {
    let mut notes = Footnotes::default();
    let mut lines = Table::head(["", "ours   ", "paper", "difference", "runs", "seconds", ""]);
    for dataset in &table.datasets {
        let mut row = table.row(dataset).peekable();
        let first = row.peek().and_then(|cell| cell.note.clone());
        if table
            .row(dataset)
            .all(|cell| cell.mean.is_none() && cell.note == first)
        {
            let note = notes.mark(first.as_deref());
            let empty = || DASH.to_string();
            let ours = format!("{DASH}   ");
            lines.row([
                clip(dataset, NAME),
                ours,
                empty(),
                empty(),
                empty(),
                empty(),
                note,
            ]);
            continue;
        }
        lines.row([clip(dataset, NAME)]);
        for cell in row {
            let best = if cell.best { '*' } else { ' ' };
            let outside = if cell.outside { '!' } else { ' ' };
            let spent = Some(cell.seconds).filter(|_| cell.runs > 0);
            lines.row([
                format!("  {}", clip(&cell.column, NAME)),
                format!("{} {best}{outside}", mean_std(cell.mean, cell.std)),
                paper(cell.paper),
                difference(cell.difference),
                runs(cell.runs, cell.wanted_runs),
                seconds(spent),
                notes.mark(cell.note.as_deref()),
            ]);
        }
    }
    let legend = "ours, paper: mean±std of the AUC on test data; difference: ours − paper; \
                  * highest mean of the data set; ! outside the paper's mean ± 2 std";
    let body = (!table.cells.is_empty()).then_some(lines);
    page(&table.title, body, legend, &notes, &table.notes)
}

/// A block a data set, a line an algorithm: per pass, then until the objective stands still.
pub(super) fn times(table: &TimeTableView) -> String {
    let mut lines = Table::head([
        "", "pass", "ratio", "paper", "ratio", "still", "ratio", "paper", "ratio", "passes",
        "stopped",
    ]);
    for dataset in &table.datasets {
        lines.row([clip(dataset, 20)]);
        for time in table.row(dataset) {
            let passes = time.passes_to_still;
            lines.row([
                format!("  {}", clip(&time.column, 20)),
                seconds(time.seconds_per_pass),
                ratio(time.ratios.pass),
                seconds(time.paper_pass),
                ratio(time.ratios.paper_pass),
                seconds(time.seconds_to_still),
                ratio(time.ratios.total),
                seconds(time.paper_total),
                ratio(time.ratios.paper_total),
                passes.map_or_else(|| DASH.to_string(), |passes| passes.to_string()),
                clip(time.stopped.as_deref().unwrap_or(DASH), 16),
            ]);
        }
    }
    let legend = format!(
        "pass: seconds per pass over the training data; still: seconds until the objective stands \
         still, in so many passes; ratio: to {REFERENCE} on the same data set and machine"
    );
    let body = (!table.times.is_empty()).then_some(lines);
    page(
        &table.title,
        body,
        &legend,
        &Footnotes::default(),
        &table.notes,
    )
}

/// A line a data set.
pub(super) fn sizes(table: &SizeTableView) -> String {
    let mut notes = Footnotes::default();
    let head = [
        "",
        "train",
        "test",
        "dim",
        "paper: train",
        "test",
        "dim",
        "",
        "",
    ];
    let mut lines = Table::head(head);
    let whole = |n: Option<u64>| n.map_or_else(|| DASH.to_string(), thousands);
    for size in &table.sizes {
        let [train, test, dim] = size.ours().map(whole);
        let [paper_train, paper_test, paper_dim] =
            [0, 1, 2].map(|i| whole(size.paper.map(|paper| paper[i])));
        let differs = if size.differs() { "!" } else { "" };
        lines.row([
            clip(&size.dataset, NAME),
            train,
            test,
            dim,
            paper_train,
            paper_test,
            paper_dim,
            differs.to_string(),
            notes.mark(size.note.as_deref()),
        ]);
    }
    let legend = "rows to learn from, rows to test on, features; ! differs from the paper";
    let body = (!table.sizes.is_empty()).then_some(lines);
    page(&table.title, body, legend, &notes, &table.notes)
}

/// Notes said once below the table and named by number in it.
#[derive(Default)]
struct Footnotes {
    said: Vec<String>,
}

impl Footnotes {
    fn mark(&mut self, note: Option<&str>) -> String {
        let Some(note) = note.filter(|note| !note.trim().is_empty()) else {
            return String::new();
        };
        let known = self.said.iter().position(|said| said == note);
        let place = known.unwrap_or_else(|| {
            self.said.push(note.to_string());
            self.said.len() - 1
        });
        format!("[{}]", place + 1)
    }
}

fn page(
    title: &str,
    body: Option<Table>,
    legend: &str,
    footnotes: &Footnotes,
    notes: &[String],
) -> String {
    let mut lines = wrap(title, WIDTH);
    lines.push(String::new());
    match body {
        None => lines.push("nothing yet".to_string()),
        Some(table) => {
            lines.extend(table.to_string().lines().map(str::to_string));
            lines.push(String::new());
            lines.extend(wrap(legend, WIDTH));
        }
    }
    for (i, note) in footnotes.said.iter().enumerate() {
        let mark = format!("[{}] ", i + 1);
        for (j, line) in wrap(note, WIDTH - mark.len()).into_iter().enumerate() {
            let width = mark.len();
            let lead = if j == 0 { mark.as_str() } else { "" };
            lines.push(format!("{lead:width$}{line}"));
        }
    }
    for note in notes {
        lines.extend(wrap(note, WIDTH));
    }
    lines.join("\n") + "\n"
}
