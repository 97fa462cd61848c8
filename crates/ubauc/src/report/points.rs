//! Points instead of scores, a table for each term.

use super::markup::{folded, number, short, table};
use crate::document::numbers::thousands;
use crate::document::{Cell, Table};
use crate::export::scorecard::{CardTerm, Points, Scorecard};

/// Terms with a table.
const TERMS: usize = 60;
/// Terms whose tables are not folded away.
const OPEN: usize = 3;
/// Rows of a table.
const CELLS: usize = 60;

pub(super) fn section(card: &Scorecard) -> String {
    let Points {
        pdo,
        odds,
        base,
        reverse,
    } = card.points;
    let side = if reverse { "for" } else { "against" };
    let mut out = format!(
        "<p>Begin with {} points and add those of each table. {} points mean odds of {} to 1 {side} the positive class, and {} more double \
         them.</p>\n",
        number(
            "points.base_points",
            card.base_points,
            format!("{:.0}", card.base_points)
        ),
        number("points.points.base", base, base),
        number("points.points.odds", odds, odds),
        number("points.points.pdo", pdo, pdo)
    );
    for (k, term) in card.terms.iter().take(TERMS).enumerate() {
        let name = short(&term.name);
        let drawn = table(&of_term(term), &format!("Points of {name}"));
        out += &if k < OPEN {
            drawn
        } else {
            folded(&name, &drawn)
        };
    }
    let more = card.terms.len().saturating_sub(TERMS);
    if more > 0 {
        out += &super::markup::remark(&format!("… {more} more terms (all with --json)"));
    }
    out
}

fn of_term(term: &CardTerm) -> Table {
    let mut rows = Table::new(["value", "examples", "points"]);
    let points = |x: f64| Cell::rounded(x, format!("{x:+.0}"));
    for cell in term.cells.iter().take(CELLS) {
        rows.row([
            Cell::from(short(&cell.names.join(", "))),
            Cell::rounded(cell.rows as f64, thousands(cell.rows)),
            points(cell.points),
        ]);
    }
    if term.outside != 0.0 {
        rows.row([
            Cell::from("otherwise"),
            Cell::from(""),
            points(term.outside),
        ]);
    }
    let more = term.cells.len().saturating_sub(CELLS);
    let slope = term.slope.map(|slope| {
        let of = format!("{:+.4} for each unit above {}", slope.points, slope.from);
        if term.cells.is_empty() {
            of
        } else {
            format!("and {of}")
        }
    });
    let more = (more > 0).then(|| format!("… {more} more values (all with --json)"));
    let foot: Vec<String> = slope.into_iter().chain(more).collect();
    rows.foot = (!foot.is_empty()).then(|| foot.join("; "));
    rows
}
