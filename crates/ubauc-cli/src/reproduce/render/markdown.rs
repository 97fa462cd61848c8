//! Tables as GitHub shows them: an overview, then every number.

use super::words::{DASH, difference, mean_std, paper, ratio, runs, seconds};
use super::{REFERENCE, SizeTableView, TableView, TimeTableView};
use crate::output::thousands;

pub(super) fn auc(table: &TableView) -> String {
    let mut page = Page::new(&table.title);
    if table.cells.is_empty() {
        return page.finish("nothing yet", &table.notes);
    }
    let columns = table.columns.iter().map(|column| escape(column));
    page.head(
        std::iter::once("data set".to_string()).chain(columns),
        [1, 0],
    );
    for dataset in &table.datasets {
        let cells = table.columns.iter().map(|column| {
            let Some(cell) = table.cell(dataset, column) else {
                return DASH.to_string();
            };
            let value = mean_std(cell.mean, cell.std);
            let value = if cell.best {
                format!("**{value}**")
            } else {
                value
            };
            if cell.outside {
                format!("{value} !")
            } else {
                value
            }
        });
        page.row(std::iter::once(escape(dataset)).chain(cells));
    }
    page.paragraph(
        "Mean±std of our AUC on test data; the highest of each data set in bold; `!` marks what \
         lies outside the paper's mean ± 2 std.",
    );
    let head = [
        "data set",
        "algorithm",
        "ours",
        "paper",
        "difference",
        "runs",
        "mark",
        "note",
    ];
    page.head(head.map(str::to_string), [2, 2]);
    for cell in table.datasets.iter().flat_map(|dataset| table.row(dataset)) {
        let mark = match (cell.best, cell.outside) {
            (true, true) => "best, outside",
            (true, false) => "best",
            (false, true) => "outside",
            (false, false) => "",
        };
        page.row([
            escape(&cell.dataset),
            escape(&cell.column),
            mean_std(cell.mean, cell.std),
            paper(cell.paper),
            difference(cell.difference),
            runs(cell.runs, cell.wanted_runs),
            mark.to_string(),
            escape(cell.note.as_deref().unwrap_or_default()),
        ]);
    }
    page.finish("Difference: ours − paper.", &table.notes)
}

pub(super) fn times(table: &TimeTableView) -> String {
    let mut page = Page::new(&table.title);
    if table.times.is_empty() {
        return page.finish("nothing yet", &table.notes);
    }
    let rows = || table.datasets.iter().flat_map(|dataset| table.row(dataset));
    let head = [
        "data set",
        "algorithm",
        "pass",
        "paper",
        "until still",
        "paper",
    ];
    page.head(head.map(str::to_string), [2, 0]);
    for time in rows() {
        let ratios = time.ratios;
        page.row([
            escape(&time.dataset),
            escape(&time.column),
            ratio(ratios.pass),
            ratio(ratios.paper_pass),
            ratio(ratios.total),
            ratio(ratios.paper_total),
        ]);
    }
    page.paragraph(&format!(
        "Times as multiples of those of {REFERENCE} on the same data set and machine: of a pass \
         over the training data, and until the objective stands still."
    ));
    let head = [
        "data set",
        "algorithm",
        "pass, s",
        "paper, s",
        "until still, s",
        "paper, s",
        "passes",
        "stopped",
    ];
    page.head(head.map(str::to_string), [2, 1]);
    for time in rows() {
        let passes = time.passes_to_still.map(|passes| passes.to_string());
        page.row([
            escape(&time.dataset),
            escape(&time.column),
            seconds(time.seconds_per_pass),
            seconds(time.paper_pass),
            seconds(time.seconds_to_still),
            seconds(time.paper_total),
            passes.unwrap_or_else(|| DASH.to_string()),
            escape(time.stopped.as_deref().unwrap_or_default()),
        ]);
    }
    page.finish("The same in seconds.", &table.notes)
}

pub(super) fn sizes(table: &SizeTableView) -> String {
    let mut page = Page::new(&table.title);
    if table.sizes.is_empty() {
        return page.finish("nothing yet", &table.notes);
    }
    let head = [
        "data set",
        "train",
        "test",
        "dim",
        "paper: train",
        "test",
        "dim",
        "note",
    ];
    page.head(head.map(str::to_string), [1, 1]);
    let whole = |n: Option<u64>| n.map_or_else(|| DASH.to_string(), thousands);
    for size in &table.sizes {
        let ours = size.ours();
        let paper = |i: usize| size.paper.map(|paper| paper[i]);
        let mark = |i: usize| match (ours[i], paper(i)) {
            (Some(ours), Some(paper)) if ours != paper => format!("{} !", thousands(ours)),
            (ours, _) => whole(ours),
        };
        page.row([
            escape(&size.dataset),
            mark(0),
            mark(1),
            mark(2),
            whole(paper(0)),
            whole(paper(1)),
            whole(paper(2)),
            escape(size.note.as_deref().unwrap_or_default()),
        ]);
    }
    let legend = "Rows to learn from, rows to test on, features; `!` differs from the paper.";
    page.finish(legend, &table.notes)
}

struct Page {
    text: String,
}

impl Page {
    fn new(title: &str) -> Self {
        let text = format!("## {}\n", escape(title));
        Self { text }
    }

    /// So many columns at the beginning and at the end are words, set to the left; between them
    /// are numbers, set to the right.
    fn head(&mut self, names: impl IntoIterator<Item = String>, [first, last]: [usize; 2]) {
        let names: Vec<String> = names.into_iter().collect();
        let columns = names.len();
        let rules = (0..columns).map(|j| {
            if j < first || j + last >= columns {
                ":--"
            } else {
                "--:"
            }
        });
        self.text.push('\n');
        self.row(names);
        self.row(rules.map(str::to_string));
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.text.push('|');
        for cell in cells {
            self.text += &format!(" {cell} |");
        }
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.text += &format!("\n{text}\n");
    }

    fn finish(mut self, legend: &str, notes: &[String]) -> String {
        self.paragraph(legend);
        for (i, note) in notes.iter().enumerate() {
            let gap = if i == 0 { "\n" } else { "" };
            self.text += &format!("{gap}- {}\n", escape(note));
        }
        self.text
    }
}

/// Text that Markdown shows as it is, on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_table() {
        assert_eq!(escape("a|b"), "a\\|b");
        assert_eq!(escape("two\nlines <b>"), "two lines &lt;b&gt;");
        assert_eq!(escape("my_set*"), "my\\_set\\*");
    }
}
