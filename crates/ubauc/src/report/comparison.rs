//! Scorers side by side, tested in pairs.

use super::chart::{Chart, Margins, Paint, START};
use super::markup::{figure, paragraph, short, table};
use super::{Compared, Judged, Report};
use crate::document::numbers::{p_value, short as auc};
use crate::document::{Axis, Cell, Table};

/// A p-value below this is not put down to chance.
const SIGNIFICANT: f64 = 0.05;
/// Height of a line of the chart.
const LINE: f64 = 26.0;
/// Lines of the chart.
const DRAWN: usize = 30;

pub(super) fn section(report: &Report) -> String {
    let mut out = paragraph(
        "All scorers were judged on the same rows. Intervals that overlap do not mean that two scorers are alike: the tests below compare them row \
         by row, which tells much smaller differences.",
    );
    out += &intervals(report);
    out += &table(&scorers(report), "AUC and average precision");
    if !report.tests.is_empty() {
        let caption = match report.main().and_then(|main| main.auc.n_groups) {
            None => "Every pair: DeLong's paired test",
            Some(_) => "Every pair: Obuchowski's paired test, between groups",
        };
        out += &table(&tests(report), caption);
    }
    out
}

fn intervals(report: &Report) -> String {
    let shown = &report.scorers[..report.scorers.len().min(DRAWN)];
    let ends = shown.iter().flat_map(|s| s.auc.ci95);
    let x = Axis {
        limits: Some([0.0, 1.0]),
        ..Axis::default()
    }
    .span(ends);
    let rows = shown.len() as f64;
    let y = Axis::default().span([0.0, rows].into_iter());
    let margins = Margins {
        left: 16.0,
        top: 4.0,
        ..Margins::default()
    };
    let mut chart = Chart::new([360.0, rows * LINE + 48.0], margins, x, y);
    chart.horizontal("AUC with its 95 % interval", true);
    for (
        k,
        Judged {
            name, auc: found, ..
        },
    ) in shown.iter().enumerate()
    {
        let top = chart.margins.top + LINE * k as f64;
        let middle = top + 18.0;
        let text = format!(
            "{}: {:.4} ({:.4} to {:.4})",
            short(name),
            found.auc,
            found.ci95[0],
            found.ci95[1]
        );
        chart.described(&text, |chart| {
            chart.text(
                [chart.margins.left, top + 10.0],
                START,
                Paint::Ink,
                &crate::document::text::clip(name, 40),
            );
            chart.segment(
                [chart.x(found.ci95[0]), middle],
                [chart.x(found.ci95[1]), middle],
                Paint::Series(k),
                2.0,
            );
            chart.dot([chart.x(found.auc), middle], k);
        });
    }
    figure(
        &chart.finish("AUC of every scorer with its 95 % interval"),
        "AUC: 0.5 is guessing, 1 is perfect.",
    )
}

fn scorers(report: &Report) -> Table {
    let mut rows = Table::new([
        "scorer",
        "AUC",
        "from (95 %)",
        "to (95 %)",
        "average precision",
    ]);
    let cell = |x: f64| Cell::rounded(x, auc(x));
    for scorer in &report.scorers {
        let found = &scorer.auc;
        rows.row([
            Cell::from(short(&scorer.name)),
            cell(found.auc),
            cell(found.ci95[0]),
            cell(found.ci95[1]),
            cell(scorer.average_precision),
        ]);
    }
    rows
}

fn tests(report: &Report) -> Table {
    let mut rows = Table::new([
        "pair",
        "difference",
        "from (95 %)",
        "to (95 %)",
        "p",
        "p (Holm)",
        "in words",
    ])
    .left(&[6]);
    let signed = |x: f64| Cell::rounded(x, crate::document::numbers::short_signed(x));
    let p = |p: Option<f64>| match p {
        Some(value) => Cell::rounded(value, p_value(p)),
        None => Cell::from(p_value(p)),
    };
    for pair in &report.tests {
        let [a, b] =
            [pair.a, pair.b].map(|k| report.scorers.get(k).map_or("", |s| s.name.as_str()));
        rows.row([
            Cell::from(format!("{} − {}", short(a), short(b))),
            signed(pair.test.difference),
            signed(pair.test.ci95[0]),
            signed(pair.test.ci95[1]),
            p(pair.test.p),
            p(pair.p_holm),
            Cell::from(words(pair, [a, b])),
        ]);
    }
    rows
}

/// Which one is better, as far as that can be told.
pub(super) fn words(pair: &Compared, [a, b]: [&str; 2]) -> String {
    let better = if pair.test.difference > 0.0 { a } else { b };
    match pair.p_holm {
        _ if pair.test.difference == 0.0 => "no difference".to_string(),
        Some(p) if p < SIGNIFICANT => format!("{} is better, and not by chance", short(better)),
        Some(_) => "may be chance".to_string(),
        None => "cannot be tested: no variation".to_string(),
    }
}
