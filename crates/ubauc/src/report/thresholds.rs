//! What every cut does: the table of cuts that have a name, and a slider over many.

use super::markup::{counted, escape, folded, paragraph, percent, table};
use super::{Costs, Cut, Judged, NamedCut, Report, Why};
use crate::document::numbers::three_digits;
use crate::document::{Cell, Table};

/// The section of one scorer, the `k`-th of the page.
pub(super) fn section(report: &Report, scorer: &Judged, k: usize) -> String {
    let [negative, positive] = &report.classes;
    let mut out = String::new();
    if k == 0 {
        out += &paragraph(&format!(
            "Rows that score at least as much as the cut are flagged as {positive}. A low cut finds more of them and raises more false \
             alarms; there is no cut that is right for everybody."
        ));
    }
    let Some(first) = scorer.first_cut() else {
        return out;
    };
    let [neg, pos] = scorer.auc.totals();
    out += &format!(
        "<div class=\"cutter\" data-scorer=\"{k}\" data-pos=\"{}\" data-neg=\"{}\"{}>\n",
        pos,
        neg,
        report.costs.map_or(String::new(), |c| format!(
            " data-cost-fp=\"{}\" data-cost-fn=\"{}\"",
            c.false_positive, c.false_negative
        ))
    );
    out += &format!(
        "<p class=\"slider\" hidden><label for=\"cut-{k}\">Move the cut: from strict to lenient</label>\n\
         <input type=\"range\" id=\"cut-{k}\" min=\"0\" max=\"{}\" value=\"{}\" step=\"1\"></p>\n",
        scorer.cuts.len().saturating_sub(1),
        nearest(&scorer.cuts, &first.cut)
    );
    out += &confusion(scorer, &first.cut, [negative, positive]);
    out += &table(
        &named(&scorer.table, report.costs),
        "Cuts worth a look, from strict to lenient",
    );
    out += &folded(
        &format!("{} cuts, from strict to lenient", scorer.cuts.len()),
        &all(scorer),
    );
    out + "</div>\n"
}

/// The cut of the slider that does the same, or nearly.
fn nearest(cuts: &[Cut], cut: &Cut) -> usize {
    let distance = |c: &Cut| (c.tp - cut.tp).abs() + (c.fp - cut.fp).abs();
    let best = cuts
        .iter()
        .enumerate()
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    best.map_or(0, |(k, _)| k)
}

fn confusion(scorer: &Judged, cut: &Cut, [negative, positive]: [&str; 2]) -> String {
    let [n_neg, n_pos] = scorer.auc.totals();
    let cell = |name: &str, n: f64| {
        let n = n.max(0.0);
        format!(
            "<td class=\"right\"><data data-is=\"{name}\" value=\"{n}\">{}</data></td>",
            counted(n)
        )
    };
    let (positive, negative) = (super::markup::name(positive), super::markup::name(negative));
    format!(
        "<p class=\"says\" aria-live=\"polite\"><output data-is=\"sentence\">{}</output></p>\n\
         <div class=\"scroll\" tabindex=\"0\">\n<table class=\"confusion plain\">\n<caption>Cut at <data data-is=\"cut\" value=\"{}\">{}</data></caption>\n\
         <thead>\n<tr><td></td><th scope=\"col\" class=\"right\">flagged</th><th scope=\"col\" class=\"right\">not flagged</th></tr>\n</thead>\n<tbody>\n\
         <tr><th scope=\"row\">really {positive}</th>{}{}</tr>\n\
         <tr><th scope=\"row\">really {negative}</th>{}{}</tr>\n</tbody>\n</table>\n</div>\n",
        escape(&sentence(cut)),
        cut.cut.map_or(String::new(), |cut| cut.to_string()),
        cut.cut
            .map_or("above all scores".to_string(), |cut| cut.to_string()),
        cell("tp", cut.tp),
        cell("fn", n_pos - cut.tp),
        cell("fp", cut.fp),
        cell("tn", n_neg - cut.fp),
    )
}

/// The script says the same.
pub(super) fn sentence(cut: &Cut) -> String {
    let right = match cut.precision {
        Some(precision) => format!("; of 100 flagged, {:.0} are right", 100.0 * precision),
        None => String::new(),
    };
    let cost = cut.cost.map_or(String::new(), |cost| {
        format!("; cost {}", three_digits(cost))
    });
    format!(
        "Flags {} of all rows, finds {} of the positives, and raises a false alarm for {} of the negatives{right}{cost}.",
        percent(cut.flagged),
        percent(cut.recall),
        percent(cut.false_alarms)
    )
}

fn named(cuts: &[NamedCut], costs: Option<Costs>) -> Table {
    let mut head = vec![
        "",
        "cut",
        "found (recall)",
        "false alarms",
        "precision",
        "flagged",
    ];
    if costs.is_some() {
        head.push("cost");
    }
    let mut rows = Table::new(head);
    for NamedCut { why, cut } in cuts {
        let is_main = why.iter().any(|why| matches!(why, Why::Cheapest))
            || (costs.is_none() && why.contains(&Why::Model));
        let mut cells = vec![Cell::from(
            why.iter()
                .map(|why| name(*why))
                .collect::<Vec<String>>()
                .join(", "),
        )];
        cells.extend(values(cut));
        rows.row(cells.into_iter().map(|cell| cell.strong_if(is_main)));
    }
    rows
}

/// Cut, recall, false alarms, precision, flagged and cost.
fn values(cut: &Cut) -> Vec<Cell> {
    let rate = |x: f64| Cell::rounded(x, percent(x));
    let mut cells = vec![
        cut.cut.map_or(Cell::from("∞"), |cut| {
            Cell::rounded(cut, format!("{cut:.4}"))
        }),
        rate(cut.recall),
        rate(cut.false_alarms),
        cut.precision.map_or(Cell::from("–"), rate),
        rate(cut.flagged),
    ];
    cells.extend(cut.cost.map(|cost| Cell::rounded(cost, three_digits(cost))));
    cells
}

fn name(why: Why) -> String {
    match why {
        Why::Recall(share) => format!("finds {:.0} %", 100.0 * share),
        Why::Model => "the model's own".to_string(),
        Why::AsMany => "as many as are positive".to_string(),
        Why::Balance => "best balance".to_string(),
        Why::Cheapest => "cheapest".to_string(),
    }
}

/// The rows that the slider reads.
fn all(scorer: &Judged) -> String {
    let mut head = vec![
        "cut",
        "found",
        "positives",
        "false alarms",
        "negatives",
        "precision",
        "flagged",
    ];
    if scorer.cuts.first().is_some_and(|cut| cut.cost.is_some()) {
        head.push("cost");
    }
    let mut rows = Table::new(head);
    rows.columns[0].words = false;
    for cut in &scorer.cuts {
        let mut cells = values(cut);
        cells.insert(2, Cell::rounded(cut.tp, counted(cut.tp)));
        cells.insert(4, Cell::rounded(cut.fp, counted(cut.fp)));
        rows.row(cells);
    }
    format!(
        "<div class=\"all-cuts\">\n{}</div>\n",
        table(&rows, "All cuts of the slider")
    )
}
