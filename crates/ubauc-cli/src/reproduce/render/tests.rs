//! The outputs of the same tables.

use ubauc::document::{csv, markdown, svg, text};

use super::super::paper;
use super::*;

/// Each view in each format.
trait Rendered: View {
    fn text(&self) -> String {
        text::render(&self.summary())
    }

    fn markdown(&self) -> String {
        markdown::render(&self.page(Some("table.svg".to_string())))
    }

    fn csv(&self) -> String {
        csv::render(&self.data())
    }

    fn svg(&self) -> Option<String> {
        self.figure().map(|figure| svg::render(&figure))
    }
}

impl<V: View> Rendered for V {}

/// A name that would break any format that does not escape it.
const ODD: &str = "a<b>&\"c\", d|e";

/// The paper's table against made-up results a little off it, with holes.
fn sample() -> TableView {
    let mut cells = Vec::new();
    for (i, dataset) in paper::DATASETS.into_iter().chain([ODD]).enumerate() {
        let extra = ["ba-ubauc balanced", "logistic"];
        for (j, column) in paper::ALGORITHMS.into_iter().chain(extra).enumerate() {
            let paper = paper::auc(dataset, column);
            let [mean, std] = paper.unwrap_or([0.7, 0.01]);
            let shift = [0.3, -0.8, 1.1, 0.0, 2.6][(3 * i + j) % 5] * std;
            let ours = (dataset != "acoustic").then_some((mean + shift).min(1.0));
            let mut cell = CellView::new(dataset, column, ours, ours.map(|_| 0.8 * std), paper);
            (cell.runs, cell.wanted_runs) = (if ours.is_some() { 25 } else { 0 }, 25);
            cell.seconds = 12.5 * i as f64;
            cell.parameters.insert("beta".to_string(), Value::from(0.5));
            cell.note = ours
                .is_none()
                .then(|| "no data: acoustic, train".to_string());
            cells.push(cell);
        }
    }
    let note = "80 % subsets of the training data, the parameters by cross-validation. ".repeat(4);
    TableView::new("Table 2: AUC on test data", cells, vec![note])
}

fn sample_times() -> TimeTableView {
    let mut times = Vec::new();
    for dataset in ["a9a", "usps", "sector", ODD] {
        let online = |name: &str| paper::seconds_per_pass("a9a", name).is_some();
        for column in paper::ALGORITHMS.into_iter().filter(|name| online(name)) {
            let paper_pass = paper::seconds_per_pass(dataset, column);
            let pass = paper_pass.map(|s| 0.003 * s.powf(0.8));
            times.push(TimeView {
                dataset: dataset.to_string(),
                column: column.to_string(),
                seconds_per_pass: pass,
                seconds_to_still: pass.map(|s| 17.0 * s),
                passes_to_still: pass.map(|_| 17),
                stopped: pass.map(|_| "converged".to_string()),
                paper_pass,
                paper_total: paper::seconds_to_converge(dataset, column),
                ..TimeView::default()
            });
        }
    }
    TimeTableView::new("Table 3: seconds", times, Vec::new())
}

fn sample_sizes() -> SizeTableView {
    let size = |dataset: &str, train, paper| SizeView {
        dataset: dataset.to_string(),
        train,
        test: train,
        dim: train.map(|_| 8),
        paper,
        note: None,
    };
    SizeTableView {
        title: "Table 1: data sets".to_string(),
        sizes: vec![
            size("diabetes", Some(384), Some([389, 389, 8])),
            size("fourclass", None, Some([431, 431, 2])),
            size(ODD, Some(1_234_567), None),
        ],
        notes: vec!["halves of a file without a split".to_string()],
    }
}

fn cell(dataset: &str, column: &str, mean: Option<f64>) -> CellView {
    CellView::new(dataset, column, mean, None, None)
}

#[test]
fn outside_begins_beyond_two_deviations() {
    for (dataset, algorithm) in paper::DATASETS
        .iter()
        .flat_map(|d| paper::ALGORITHMS.map(|a| (*d, a)))
    {
        let Some([mean, std]) = paper::auc(dataset, algorithm) else {
            continue;
        };
        for sign in [-1.0, 1.0] {
            let outside = |deviation: f64| {
                let ours = Some(mean + sign * deviation);
                CellView::new(dataset, algorithm, ours, None, Some([mean, std])).outside
            };
            // At the border to the last bit or two: not outside.
            assert!(
                !outside(2.0 * std) && !outside(0.0),
                "{dataset} {algorithm}"
            );
            assert!(outside(2.0 * std + 1e-6), "{dataset} {algorithm}");
        }
    }
}

#[test]
fn difference_is_ours_minus_the_papers() {
    let found = CellView::new("a9a", "svm", Some(0.75), Some(0.01), Some([0.5, 0.125]));
    assert_eq!((found.difference, found.outside), (Some(0.25), false));
    for (mean, paper) in [
        (None, Some([0.5, 0.1])),
        (Some(f64::NAN), Some([0.5, 0.1])),
        (Some(0.5), None),
        (Some(0.5), Some([f64::NAN, 0.1])),
    ] {
        let found = CellView::new("a9a", "svm", mean, None, paper);
        assert_eq!((found.difference, found.outside), (None, false));
    }
}

#[test]
fn best_is_the_highest_of_its_row_and_may_be_shared() {
    let cells = vec![
        cell("a", "x", Some(0.8)),
        cell("a", "y", Some(0.9)),
        cell("b", "x", Some(0.7)),
        cell("a", "z", Some(0.9)),
        cell("b", "y", None),
        cell("b", "z", Some(0.7 - 1e-12)),
        cell("c", "x", Some(f64::NAN)),
        cell("c", "y", None),
    ];
    let table = TableView::new("t", cells, Vec::new());
    let best: Vec<bool> = table.cells.iter().map(|cell| cell.best).collect();
    assert_eq!(best, [false, true, true, true, false, false, false, false]);
    assert_eq!(table.datasets, ["a", "b", "c"]);
    assert_eq!(table.columns, ["x", "y", "z"]);
}

#[test]
fn ratios_are_to_ol_ubauc_of_the_same_data_set() {
    let times = sample_times();
    let found = times.time("usps", "opauc").unwrap().ratios;
    assert_eq!(found.paper_pass, Some(4.62 / 0.15));
    assert_eq!(found.paper_total, Some(11.23 / 0.58));
    let expected = (4.62_f64 / 0.15).powf(0.8);
    assert!((found.pass.unwrap() - expected).abs() < 1e-12 * expected);
    assert_eq!(
        times.time("a9a", "ol-ubauc").unwrap().ratios.total,
        Some(1.0)
    );
    assert_eq!(times.time(ODD, "solam").unwrap().ratios, Ratios::default());

    // No reference, or one that took no time: no ratio.
    let time = |column: &str, seconds| TimeView {
        dataset: "a9a".to_string(),
        column: column.to_string(),
        seconds_per_pass: seconds,
        ..TimeView::default()
    };
    for times in [
        vec![time("solam", Some(2.0))],
        vec![time("ol-ubauc", Some(0.0)), time("solam", Some(2.0))],
    ] {
        let table = TimeTableView::new("t", times, Vec::new());
        assert_eq!(
            table.time("a9a", "solam").unwrap().ratios,
            Ratios::default()
        );
    }
}

#[test]
fn text_fits_120_columns_and_marks_cells() {
    let mut table = sample();
    table.title = "long ".repeat(50);
    table.cells[0].note = Some("x".repeat(500));
    let long = "n".repeat(300);
    table.cells.push(cell(&long, &long, Some(1.0)));
    table.datasets.push(long.clone());
    table.columns.push(long);
    for text in [table.text(), sample_times().text(), sample_sizes().text()] {
        for line in text.lines() {
            assert!(line.chars().count() <= 120, "{line}");
            assert_eq!(line, line.trim_end());
        }
        assert!(text.contains('–') && !text.contains("NaN") && !text.contains("None"));
    }
    let text = sample().text();
    // ba-ubauc of diabetes is .8328 − .8 · .0352, the paper's spread times .8.
    let line = text.lines().find(|line| line.contains("ba-ubauc")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let wanted = [
        "ba-ubauc",
        ".8046±.0282",
        ".8328±.0352",
        "-.0282",
        "25",
        "0",
    ];
    assert_eq!(words, wanted);
    // oam-seq of diabetes is 2.6 deviations up, and the best of its row.
    let line = text.lines().find(|line| line.contains("oam-seq")).unwrap();
    assert!(line.contains(".9218±.0294"), "{line}");
    assert!(line.ends_with("best, outside"), "{line}");
    let acoustic: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("acoustic"))
        .collect();
    assert_eq!(acoustic.len(), 2, "one line and its note: {acoustic:?}");
    assert!(acoustic[0].ends_with("[1]") && acoustic[1].starts_with("[1] no data"));
}

#[test]
fn markdown_tables_have_as_many_cells_in_every_row() {
    for page in [
        sample().markdown(),
        sample_times().markdown(),
        sample_sizes().markdown(),
    ] {
        assert!(!page.contains("NaN") && !page.contains("None"));
        for block in page.split("\n\n").filter(|block| block.starts_with('|')) {
            let cells = |line: &str| line.replace("\\|", "").matches('|').count();
            let wanted = cells(block.lines().next().unwrap());
            assert!(block.lines().count() > 2);
            assert!(block.lines().all(|line| cells(line) == wanted), "{block}");
        }
    }
    let page = sample().markdown();
    assert!(page.contains("| **.9218±.0294 !** |"));
    let row =
        "| diabetes | oam-seq | .9218±.0294 | .8264±.0367 | +.0954 | 25 | 0 | best, outside |  |";
    assert!(page.contains(row), "{page}");
}

#[test]
fn csv_has_a_line_a_cell_and_quotes_names() {
    let table = sample();
    let csv = table.csv();
    assert_eq!(csv.lines().count(), 1 + table.cells.len());
    assert!(csv.contains("\n\"a<b>&\"\"c\"\", d|e\",ol-ubauc,"));
    assert!(csv.contains(",\"{\"\"beta\"\":0.5}\",\n"));
    assert!(csv.contains("acoustic,svm,,,0,25,0.7629,0.0045,,false,false,100,"));
    assert!(csv.ends_with('\n') && !csv.contains("NaN") && !csv.contains('–'));
    assert_eq!(sample_times().csv().lines().count(), 1 + 20);
    let sizes = sample_sizes().csv();
    assert!(
        sizes.contains("\ndiabetes,384,384,8,389,389,8,true,\n"),
        "{sizes}"
    );
    assert!(
        sizes.contains("\nfourclass,,,,431,431,2,false,\n"),
        "{sizes}"
    );
}

/// Follows the tags of an XML text: names must nest, attributes be quoted, `&` begin an entity.
fn well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml.split_once("?>").unwrap().1;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            let (name, _) = entity.split_once(';').unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{name}");
        }
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        assert!(
            tag.matches('"').count().is_multiple_of(2) && !tag.contains('<'),
            "{tag}"
        );
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

#[test]
fn figures_are_well_formed_and_name_every_data_set() {
    let escaped = "a&lt;b&gt;&amp;&quot;c&quot;, d|e";
    for svg in [sample().svg().unwrap(), sample_times().svg().unwrap()] {
        well_formed(&svg);
        assert!(svg.contains(escaped) && !svg.contains(ODD));
        for unwanted in [
            "NaN",
            "None",
            "inf",
            "width=\"-",
            "<script",
            "<style",
            "href",
        ] {
            assert!(!svg.contains(unwanted), "{unwanted}");
        }
    }
    let svg = sample().svg().unwrap();
    for dataset in paper::DATASETS {
        assert!(svg.contains(&format!(">{dataset}</text>")), "{dataset}");
    }
    // A circle for each of ours and one in the legend; a diamond for each of the paper's.
    let table = sample();
    let ours = table
        .cells
        .iter()
        .filter(|cell| cell.mean.is_some())
        .count();
    assert_eq!(svg.matches("<circle").count(), ours + 1);
    assert_eq!(svg.matches("<polygon").count(), 92 + 1);
    // Under the pointer: runs, parameters and notes.
    let title = "<title>diabetes, oam-seq: ours .9218±.0294 (25 runs), paper .8264±.0367, difference +.0954; beta 0.5</title>";
    assert!(svg.contains(title), "{svg}");
    assert!(svg.contains("difference –; beta 0.5; no data: acoustic, train</title>"));
    let svg = sample_times().svg().unwrap();
    assert!(svg.contains("paper 1.00× (0.830 s); 17 passes; converged</title>"));
    assert!(sample_sizes().svg().is_none());
}

#[test]
fn empty_tables_and_single_cells_are_published() {
    let notes = || vec!["why".to_string()];
    let empty = TableView::new("nothing", Vec::new(), notes());
    let no_times = TimeTableView::new("nothing", Vec::new(), notes());
    let no_sizes = SizeTableView {
        title: "nothing".to_string(),
        sizes: Vec::new(),
        notes: notes(),
    };
    for page in [
        empty.text(),
        no_times.text(),
        no_sizes.text(),
        empty.markdown(),
        no_times.markdown(),
        no_sizes.markdown(),
        empty.svg().unwrap(),
        no_times.svg().unwrap(),
    ] {
        assert!(
            page.contains("nothing yet") && page.contains("why"),
            "{page}"
        );
    }
    for csv in [empty.csv(), no_times.csv(), no_sizes.csv()] {
        assert_eq!(csv.lines().count(), 1);
    }
    well_formed(&empty.svg().unwrap());

    let one = TableView::new("one", vec![cell("a9a", "svm", Some(0.9))], Vec::new());
    assert!(one.cells[0].best);
    let line = one.text();
    let line = line.lines().find(|line| line.contains(".9000"));
    assert!(line.is_some_and(|line| line.ends_with("best")));
    assert!(one.markdown().contains("| a9a | **.9000** |"));
    well_formed(&one.svg().unwrap());
    let none = TableView::new("one", vec![cell("a9a", "svm", None)], Vec::new());
    well_formed(&none.svg().unwrap());
    assert!(none.text().contains("a9a") && !none.cells[0].best);
}

#[test]
fn json_has_null_for_what_is_missing() {
    let json = serde_json::to_value(sample()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let acoustic = cells
        .iter()
        .find(|cell| cell["dataset"] == "acoustic")
        .unwrap();
    assert!(acoustic["mean"].is_null() && acoustic["difference"].is_null());
    assert_eq!(acoustic["paper"][0], 0.8871);
    let json = serde_json::to_value(sample_times()).unwrap();
    assert_eq!(json["times"][0]["ratios"]["pass"], 1.0);
}
