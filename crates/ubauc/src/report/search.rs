//! What the search tried.

use super::Candidate;
use super::chart::{Chart, Margins, Paint, START};
use super::markup::{figure, folded, paragraph, short, table};
use crate::document::{Axis, Cell, Table};

/// Candidates in the table.
const SHOWN: usize = 200;
/// Lines of the chart.
const DRAWN: usize = 12;
const LINE: f64 = 28.0;

pub(super) fn section(candidates: &[Candidate]) -> String {
    let best = best_by_features(candidates);
    let mut order: Vec<&Candidate> = candidates.iter().collect();
    order.sort_by(|a, b| b.auc.total_cmp(&a.auc));
    let mut rows = Table::new(["features", "loss", "AUC", "std. error", "folds", ""]).left(&[1, 5]);
    for candidate in order.iter().take(SHOWN) {
        let Candidate {
            auc, se, chosen, ..
        } = candidate;
        let se = match se.is_finite() {
            true => Cell::rounded(*se, format!("{se:.4}")),
            false => Cell::from("–"),
        };
        let cells = [
            Cell::from(short(&candidate.features)),
            Cell::from(short(&candidate.parameters)),
            Cell::rounded(*auc, format!("{auc:.4}")),
            se,
            Cell::rounded(candidate.folds as f64, candidate.folds.to_string()),
            Cell::from(if *chosen { "chosen" } else { "" }),
        ];
        rows.row(cells.map(|cell| cell.strong_if(*chosen)));
    }
    let more = candidates.len().saturating_sub(SHOWN);
    rows.foot = (more > 0).then(|| format!("… {more} more, which did worse (all with --json)"));
    paragraph(&format!(
        "{} candidates were compared by cross-validation: each was learned from some of the rows and judged on the others, in turn. A simpler model \
         is preferred where it is behind by no more than chance.",
        candidates.len()
    )) + &chart(&best)
        + &folded(
            &format!("All {} candidates", candidates.len()),
            &table(&rows, "Candidates, the best first"),
        )
}

/// The best of each kind of features, and the one that was chosen, in the order of the search.
fn best_by_features(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut best: Vec<&Candidate> = Vec::new();
    for candidate in candidates {
        match best.iter_mut().find(|b| b.features == candidate.features) {
            Some(known) if candidate.chosen || (candidate.auc > known.auc && !known.chosen) => {
                *known = candidate
            }
            Some(_) => {}
            None => best.push(candidate),
        }
    }
    best.truncate(DRAWN);
    best
}

fn chart(best: &[&Candidate]) -> String {
    let half = |c: &Candidate| 1.96 * if c.se.is_finite() { c.se } else { 0.0 };
    let ends = best.iter().flat_map(|c| [c.auc - half(c), c.auc + half(c)]);
    let x = Axis {
        limits: Some([0.0, 1.0]),
        ..Axis::default()
    }
    .span(ends);
    let rows = best.len() as f64;
    let y = Axis::default().span([0.0, rows].into_iter());
    let margins = Margins {
        left: 16.0,
        top: 4.0,
        ..Margins::default()
    };
    let mut chart = Chart::new([360.0, rows * LINE + 48.0], margins, x, y);
    chart.horizontal("cross-validated AUC ± 1.96 standard errors", true);
    for (k, candidate) in best.iter().enumerate() {
        let top = chart.margins.top + LINE * k as f64;
        let middle = top + 19.0;
        let text = format!(
            "{}, {}: {:.4} ± {:.4}",
            candidate.features,
            candidate.parameters,
            candidate.auc,
            half(candidate)
        );
        let mark = if candidate.chosen { " ← chosen" } else { "" };
        chart.described(&text, |chart| {
            chart.text(
                [chart.margins.left, top + 11.0],
                START,
                Paint::Ink,
                &format!("{}{mark}", short(&candidate.features)),
            );
            let series = usize::from(!candidate.chosen);
            let (low, high) = (
                candidate.auc - half(candidate),
                candidate.auc + half(candidate),
            );
            chart.segment(
                [chart.x(low), middle],
                [chart.x(high), middle],
                Paint::Series(series),
                2.0,
            );
            chart.dot([chart.x(candidate.auc), middle], series);
        });
    }
    figure(
        &chart.finish("The best candidate of each kind of features with its interval"),
        "The best of each kind of features. Folds share rows, so the intervals only help to compare.",
    )
}
