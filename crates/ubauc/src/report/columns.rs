//! What was done to each column.

use super::ColumnPart;
use super::markup::{clipped, paragraph, percent, short, table};
use crate::data::calendar::{DAY, date};
use crate::document::numbers::{thousands, three_digits};
use crate::document::{Cell, Table};
use crate::features::ColumnMap;
use crate::features::columns::{ColumnInfo, ColumnKind, Effect, Level};

impl ColumnPart {
    /// What a map has made of each column.
    pub fn of_map(map: &ColumnMap) -> Vec<ColumnPart> {
        let rows = (map.rows as f64).max(1.0);
        let part = |(at, info): (usize, &ColumnInfo)| {
            let own = map.effects.iter().filter(|effect| effect.columns() == [at]);
            ColumnPart {
                name: info.name.clone(),
                kind: info.kind.name().to_string(),
                missing: info.missing as f64 / rows,
                features: own.map(Effect::width).sum(),
                values: values(info),
                notes: info
                    .note
                    .map(|note| note.text(&clipped(&info.name)))
                    .into_iter()
                    .collect(),
            }
        };
        map.columns.iter().enumerate().map(part).collect()
    }
}

fn values(info: &ColumnInfo) -> String {
    match (info.kind, info.numbers) {
        (ColumnKind::Category, _) => {
            let mut commonest: Vec<&Level> = info.levels.iter().collect();
            commonest.sort_by_key(|level| std::cmp::Reverse(level.rows));
            let named: Vec<String> = commonest
                .iter()
                .take(3)
                .map(|level| short(&level.name))
                .collect();
            let rare = info.rare.map_or(0, |rare| rare.levels);
            let all = info.levels.len() as u64 + rare;
            let rest = if all > 3 { ", …" } else { "" };
            let rare = if rare > 0 {
                format!(" ({} rare)", thousands(rare))
            } else {
                String::new()
            };
            format!(
                "{} levels{rare}: {}{rest}",
                thousands(all),
                named.join(", ")
            )
        }
        (_, None) => "none".to_string(),
        (ColumnKind::Time, Some(n)) => {
            format!("{} to {}", date(DAY * n.min), date(DAY * n.max))
        }
        (ColumnKind::Number, Some(n)) => {
            format!("{} to {}, mean {}", n.min, n.max, three_digits(n.mean))
        }
    }
}

/// Columns that are shown.
const SHOWN: usize = 300;

pub(super) fn section(columns: &[ColumnPart]) -> String {
    let has_notes = columns.iter().any(|column| !column.notes.is_empty());
    let mut head = vec!["column", "kind", "missing", "features", "values"];
    if has_notes {
        head.push("note");
    }
    let mut rows = Table::new(head).left(&[1, 4, 5]);
    for column in columns.iter().take(SHOWN) {
        let mut cells = vec![
            Cell::from(short(&column.name)),
            Cell::from(column.kind.as_str()),
            Cell::rounded(column.missing, percent(column.missing)),
            Cell::rounded(column.features as f64, thousands(column.features as u64)),
            Cell::from(crate::document::text::clip(&column.values, 160)),
        ];
        if has_notes {
            cells.push(Cell::from(crate::document::text::clip(
                &column.notes.join("; "),
                160,
            )));
        }
        rows.row(cells);
    }
    let more = columns.len().saturating_sub(SHOWN);
    rows.foot = (more > 0).then(|| {
        format!(
            "… {} more columns (all with --json)",
            thousands(more as u64)
        )
    });
    paragraph(
        "Numbers are used as they are and, where that helps, in bins; every level of a category with enough rows has a weight of its own, and the rare \
         ones share one. A missing value is not filled in: it has a weight of its own.",
    ) + &table(&rows, "Columns of the training data")
}
