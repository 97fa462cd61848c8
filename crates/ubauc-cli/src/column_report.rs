//! What was made of every column of a table, for people and as JSON.

use std::path::Path;

use serde::Serialize;
use ubauc::data::calendar::date;
use ubauc::document::Table;
use ubauc::document::numbers::{number, thousands};
use ubauc::features::ColumnMap;
use ubauc::features::columns::Note;
use ubauc::read::table::{ColumnReport, DetectedKind};

use crate::column_list::ColumnList;
use crate::output::Output;
use crate::training::{Mapped, quoted};

/// Columns shown to people; JSON has them all.
const SHOWN: usize = 50;
/// Pairs shown to people.
const PAIRS_SHOWN: usize = 10;
/// Notes on columns shown one by one; more are only counted.
const NOTES_TOLD: usize = 10;

/// The features that were learned from, and the columns that they come from.
#[derive(Serialize)]
pub(crate) struct FeaturesReport {
    pub(crate) kind: &'static str,
    pub(crate) columns: Vec<ColumnLine>,
    /// The pairs of columns that have tables of their own, those of the largest gain first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pairs: Vec<[String; 2]>,
    /// By a map, and not the columns as they are.
    #[serde(skip)]
    pub(crate) is_mapped: bool,
}

/// A column, and how many features are made of it.
#[derive(Serialize)]
pub(crate) struct ColumnLine {
    #[serde(flatten)]
    report: ColumnReport,
    features: usize,
}

impl FeaturesReport {
    /// Without a map every column is a feature.
    pub(crate) fn new(columns: &[ColumnReport], map: Option<&ColumnMap>) -> FeaturesReport {
        let line = |report: &ColumnReport| ColumnLine {
            features: map.map_or(1, |map| features_of(map, &report.name)),
            report: report.clone(),
        };
        FeaturesReport {
            kind: "linear",
            pairs: Vec::new(),
            is_mapped: map.is_some(),
            columns: columns.iter().map(line).collect(),
        }
    }

    /// The same of a map that has been learned by a fit.
    pub(crate) fn of_mapped(columns: &[ColumnReport], mapped: &Mapped) -> FeaturesReport {
        FeaturesReport {
            kind: mapped.kind,
            pairs: mapped
                .learned
                .pairs
                .iter()
                .map(|pair| pair.names.clone())
                .collect(),
            ..FeaturesReport::new(columns, Some(&mapped.learned.map))
        }
    }

    pub(crate) fn table(&self) -> Table {
        let mut table =
            Table::new(["column", "kind", "missing", "features", "values"]).left(&[1, 4]);
        for ColumnLine { report, features } in self.columns.iter().take(SHOWN) {
            let mut cells = cells(report);
            cells.insert(3, thousands(*features as u64));
            table.row(cells);
        }
        table.foot = foot(self.columns.len());
        table
    }

    /// The pairs in a line; none if there are none.
    pub(crate) fn pairs_line(&self) -> Option<String> {
        let names: Vec<String> = self
            .pairs
            .iter()
            .map(|[a, b]| format!("{a} & {b}"))
            .collect();
        let shown = names[..names.len().min(PAIRS_SHOWN)].join(", ");
        let more = match names.len().saturating_sub(PAIRS_SHOWN) {
            0 => String::new(),
            more => format!(", … {more} more"),
        };
        (!names.is_empty()).then(|| shown + &more)
    }
}

/// The same of columns of which nothing is learned.
pub(crate) fn table_of(columns: &[ColumnReport]) -> Table {
    let mut table = Table::new(["column", "kind", "missing", "values"]).left(&[1, 3]);
    for report in columns.iter().take(SHOWN) {
        table.row(cells(report));
    }
    table.foot = foot(columns.len());
    table
}

fn foot(columns: usize) -> Option<String> {
    let more = columns.saturating_sub(SHOWN);
    (more > 0).then(|| format!("… {more} more columns (all with --json)"))
}

/// Name, kind, missing values, and what the others are like.
fn cells(report: &ColumnReport) -> Vec<String> {
    let missing = match report.missing {
        0 => String::new(),
        n => share(n, report.rows),
    };
    vec![
        report.name.clone(),
        kind_name(report.kind).to_string(),
        missing,
        described(report),
    ]
}

pub(crate) fn kind_name(kind: DetectedKind) -> &'static str {
    match kind {
        DetectedKind::Number => "number",
        DetectedKind::Category => "category",
        DetectedKind::Boolean => "boolean",
        DetectedKind::Time => "time",
        DetectedKind::Identifier => "identifier",
        DetectedKind::Constant => "constant",
    }
}

fn share(n: usize, of: usize) -> String {
    let percent = 100.0 * n as f64 / of as f64;
    match n > 0 && percent < 0.05 {
        true => "< 0.1 %".to_string(),
        false => format!("{percent:.1} %"),
    }
}

pub(crate) fn described(report: &ColumnReport) -> String {
    if let Some(levels) = report.levels {
        let top = report.top.iter();
        let top = top.map(|(level, n)| format!("{level} {}", share(*n, report.rows)));
        let top: Vec<String> = top.collect();
        let rest = if levels > report.top.len() {
            ", …"
        } else {
            ""
        };
        return format!(
            "{} levels: {}{rest}",
            thousands(levels as u64),
            top.join(", ")
        );
    }
    let (Some(min), Some(max)) = (report.min, report.max) else {
        return "none".to_string();
    };
    match (report.kind, report.date_order) {
        (DetectedKind::Time, _) | (_, Some(_)) => format!("{} to {}", date(min), date(max)),
        _ if min == max => number(min),
        _ => {
            let mean = report
                .mean
                .map_or(String::new(), |m| format!(", mean {}", number(m)));
            format!("{min} to {max}{mean}")
        }
    }
}

/// How many features a map makes of a column alone.
pub(crate) fn features_of(map: &ColumnMap, name: &str) -> usize {
    let Some(at) = map.columns.iter().position(|column| column.name == name) else {
        return 0;
    };
    let own = map.effects.iter().filter(|effect| effect.columns() == [at]);
    own.map(|effect| effect.width()).sum()
}

/// Suggests categories where numbers look like codes; no number is taken for one.
pub(crate) fn note_codes(columns: &mut [ColumnReport], codes: &[String]) -> Option<String> {
    const WHY: &str = "its values tell the classes apart and their order does not: is it a code?";
    for report in columns {
        if codes.contains(&report.name) {
            let option = ColumnList::new(vec![report.name.clone()]);
            let option = quoted(&option.to_string());
            report.notes.push(format!("{WHY} (--categorical {option})"));
        }
    }
    let all = ColumnList::new(codes.to_vec()).to_string();
    match codes {
        [] => None,
        [one] => Some(format!(
            "column '{one}': {WHY} (--categorical {})",
            quoted(&all)
        )),
        [first, ..] => Some(format!(
            "{} columns of numbers, '{first}' first, look like codes: their values tell the classes apart and their order \
             does not; categories are named by --categorical {}",
            codes.len(),
            quoted(&all)
        )),
    }
}

/// Says what a user should know of the columns.
pub(crate) fn tell_notes(
    columns: &[ColumnReport],
    map: Option<&ColumnMap>,
    path: &Path,
    output: Output,
) {
    let mut notes: Vec<String> = Vec::new();
    for report in columns {
        let name = &report.name;
        notes.extend(
            report
                .notes
                .iter()
                .map(|note| format!("column '{name}': {note}")),
        );
        let learned = map.and_then(|map| map.columns.iter().find(|column| column.name == *name));
        // The reader has reported the others.
        if let (Some(note @ Note::AllRare), []) = (
            learned.and_then(|column| column.note),
            report.notes.as_slice(),
        ) {
            notes.push(note.text(name));
        }
    }
    for note in notes.iter().take(NOTES_TOLD) {
        output.note(format!("note: {}: {note}", path.display()));
    }
    if notes.len() > NOTES_TOLD {
        let more = notes.len() - NOTES_TOLD;
        output.note(format!(
            "note: {}: {more} more notes on columns (`ubauc data show --json` has them all)",
            path.display()
        ));
    }
}
