//! What the model looks at: importance of every term, and the most important ones drawn.

mod category;
mod number;
mod pair;

use super::EffectsPart;
use super::chart::{Chart, END, Margins, Paint, START};
use super::markup::{clipped, figure, folded, name, paragraph, short, side_by_side, table};
use crate::document::text::clip;
use crate::document::{Axis, Cell, Table};
use crate::glass_box::explain::{CORRECTED, SideKind, TermReport};

/// Terms with a bar.
const BARS: usize = 30;
/// Terms of one column that are drawn, and of pairs.
const DRAWN: usize = 24;
const PAIRS: usize = 8;
/// Terms in the table.
const LISTED: usize = 1000;
/// Height of a bar with its gap.
const LINE: f64 = 17.0;

pub(super) fn section(effects: &EffectsPart) -> String {
    let terms = &effects.terms;
    let mut out = paragraph(
        "The score of a row is the mean score and what each term adds or takes away. The importance of a term is how much it moves scores: its standard \
         deviation over the rows that were learned from. What is important to the model need not be a cause.",
    );
    out += &importances(terms);
    // What moves no score is not worth a picture.
    let least = 1e-3 * terms.first().map_or(0.0, TermReport::rank);
    let largest = terms.iter().map(extent).fold(0.0, f64::max);
    let (pairs, columns): (Vec<&TermReport>, Vec<&TermReport>) = terms
        .iter()
        .filter(|term| term.rank() > least)
        .partition(|term| term.columns.len() > 1);
    let of_columns: Vec<String> = columns
        .iter()
        .take(DRAWN)
        .map(|term| column(term, largest))
        .filter(|d| !d.is_empty())
        .collect();
    if !of_columns.is_empty() {
        out += "<h3>One by one</h3>\n";
        out += &side_by_side(&of_columns);
    }
    let of_pairs: Vec<String> = pairs
        .iter()
        .take(PAIRS)
        .map(|term| pair::figure_of(term))
        .collect();
    if !of_pairs.is_empty() {
        out += "<h3>Pairs of columns</h3>\n";
        out += &paragraph("What two columns say together beyond what each says alone.");
        out += &side_by_side(&of_pairs);
    }
    let drawn = of_columns.len() + of_pairs.len();
    let left = terms.len().saturating_sub(drawn);
    let all = match left {
        0 => "All terms as a table".to_string(),
        n => format!("All terms as a table, {n} of which are not drawn"),
    };
    out + &folded(
        &all,
        &table(&listed(terms), "Terms, the most important first"),
    )
}

/// The answer in a sentence.
pub(super) fn sentence(effects: &EffectsPart) -> String {
    let first: Vec<String> = effects
        .terms
        .iter()
        .filter(|t| t.rank() > 0.0)
        .take(3)
        .map(|t| format!("<strong>{}</strong>", name(&t.name)))
        .collect();
    match first.as_slice() {
        [] => String::new(),
        [one] => format!("<p>Only at {one}.</p>\n"),
        [one, others @ ..] => format!(
            "<p>Most of all at {one}, then at {}.</p>\n",
            others.join(" and ")
        ),
    }
}

fn column(term: &TermReport, largest: f64) -> String {
    match term.sides.first().map(|side| side.kind) {
        Some(SideKind::Category | SideKind::Part) => category::figure_of(term, largest),
        Some(SideKind::Number | SideKind::Time) => number::figure_of(term, largest),
        None => String::new(),
    }
}

/// The most that a term adds to a cell or takes away, on average: one far value does not make all other terms look small.
fn extent(term: &TermReport) -> f64 {
    let cells = term.cells.iter().filter(|cell| cell.rows > 0);
    let of_cells = cells.map(|cell| cell.mean().abs()).fold(0.0, f64::max);
    let is_straight = term.sides.iter().all(|side| side.cuts.is_empty());
    let linear = term.linear.filter(|_| is_straight);
    of_cells.max(2.0 * linear.map_or(0.0, |linear| linear.slope.abs()))
}

fn importances(terms: &[TermReport]) -> String {
    let shown = &terms[..terms.len().min(BARS)];
    let ends = shown
        .iter()
        .map(|term| term.interval.map_or(term.rank(), |i| i[1].max(term.rank())));
    let most = ends.fold(0.0, f64::max);
    let margins = Margins {
        left: 128.0,
        right: 52.0,
        top: 4.0,
        bottom: 6.0,
    };
    let x = Axis::default().span([0.0, if most > 0.0 { most } else { 1.0 }].into_iter());
    let y = Axis::default().span([0.0, 1.0].into_iter());
    let mut chart = Chart::new([360.0, 10.0 + LINE * shown.len() as f64], margins, x, y);
    for (k, term) in shown.iter().enumerate() {
        let top = chart.margins.top + LINE * k as f64;
        let rank = term.rank();
        chart.described(
            &format!(
                "{}: {rank:.4}{}{}",
                clipped(&term.name),
                term.interval.map_or(String::new(), |[low, high]| format!(
                    " (95 % interval {low:.4} to {high:.4})"
                )),
                direction(term, true)
            ),
            |chart| {
                let (zero, end) = (chart.x(0.0), chart.x(rank));
                chart.text(
                    [zero - 6.0, top + 12.0],
                    END,
                    Paint::Ink,
                    &clip(&term.name, 17),
                );
                chart.rect(
                    [zero, top + 2.0, (end - zero).max(0.8), LINE - 5.0],
                    &Paint::Series(0).fill(),
                );
                let mut right = end;
                if let Some([low, high]) = term.interval {
                    let middle = top + 0.5 * LINE - 0.5;
                    right = right.max(chart.x(high));
                    chart.segment(
                        [chart.x(low), middle],
                        [chart.x(high), middle],
                        Paint::Ink,
                        1.5,
                    );
                }
                chart.text(
                    [right + 4.0, top + 12.0],
                    START,
                    Paint::Faint,
                    &format!("{rank:.3}{}", direction(term, false)),
                );
            },
        );
    }
    let more = terms.len().saturating_sub(BARS);
    let more = if more > 0 {
        format!(" {more} more terms are in the table below.")
    } else {
        String::new()
    };
    let arrows = match shown.iter().any(|term| !direction(term, false).is_empty()) {
        true => " ▲: the more of it, the higher the score; ▼: the lower.",
        false => "",
    };
    let intervals = match shown.iter().any(|term| term.interval.is_some()) {
        true if shown.iter().any(TermReport::is_outside_interval) => {
            format!(" The lines are 95 % intervals: {CORRECTED}.")
        }
        true => " The lines are 95 % intervals.".to_string(),
        false => String::new(),
    };
    figure(
        &chart.finish("Importance of the terms"),
        &format!("Importance of the terms.{intervals}{arrows}{more}"),
    )
}

/// Of a number that is used as it is.
fn direction(term: &TermReport, in_words: bool) -> &'static str {
    let slope = term
        .linear
        .filter(|_| term.cells.is_empty())
        .map(|linear| linear.slope);
    match (slope, in_words) {
        (Some(slope), true) if slope > 0.0 => ", raises the score",
        (Some(slope), true) if slope < 0.0 => ", lowers the score",
        (Some(slope), false) if slope > 0.0 => " ▲",
        (Some(slope), false) if slope < 0.0 => " ▼",
        _ => "",
    }
}

fn listed(terms: &[TermReport]) -> Table {
    let has_intervals = terms.iter().any(|term| term.interval.is_some());
    let of_interval = ["from (95 %)", "to (95 %)"]
        .into_iter()
        .filter(|_| has_intervals);
    let head = ["term", "importance"].into_iter().chain(of_interval);
    let mut rows = Table::new(head.chain(["takes at most", "adds at most"]));
    let shown = |x: f64| Cell::rounded(x, format!("{x:+.4}"));
    for term in terms.iter().take(LISTED) {
        let rank = Cell::rounded(term.rank(), format!("{:.4}", term.rank()));
        let [low, high] = term.ends.unwrap_or_else(|| {
            let slope = term.linear.map_or(0.0, |linear| linear.slope.abs());
            [-2.0 * slope, 2.0 * slope]
        });
        let mut cells = vec![Cell::from(short(&term.name)), rank];
        if has_intervals {
            let end = |k: usize| match term.interval {
                Some(ends) => Cell::rounded(ends[k], format!("{:.4}", ends[k])),
                None => Cell::from(""),
            };
            cells.extend([end(0), end(1)]);
        }
        cells.extend([shown(low), shown(high)]);
        rows.row(cells);
    }
    let more = terms.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("… {more} more terms (all with --json)"));
    let shown = &terms[..terms.len().min(LISTED)];
    let is_unknown = |term: &TermReport| term.ends.is_none() && term.linear.is_some();
    let at_two = (shown.iter().any(is_unknown)).then(|| {
        "The largest numbers of the columns are not known: what is added two standard deviations from the mean.".to_string()
    });
    let foot: Vec<String> = at_two.into_iter().chain(more).collect();
    rows.foot = (!foot.is_empty()).then(|| foot.join(" "));
    rows
}
