//! What a score means: the share of positives among examples of similar scores, beside the probability that was predicted.

use super::Judged;
use super::chart::{Chart, Margins, Paint, unit};
use super::markup::{counted, figure, folded, paragraph, percent, short, table};
use crate::document::{Axis, Cell, Table};

pub(super) fn section(scorer: &Judged, positive: &str) -> String {
    let lead = match scorer.brier {
        Some(_) => {
            "Where the model says 70 %, it should be right 7 times in 10: dots on the dashed line are well calibrated."
        }
        None => {
            "A score ranks; by itself it is no probability. This is how many turned out positive among rows of similar scores."
        }
    };
    let drawn = match scorer.brier {
        Some(brier) => reliability(scorer, positive, brier),
        None => by_group(scorer, positive),
    };
    paragraph(lead) + &drawn + &folded("The same as a table", &rows(scorer))
}

fn reliability(scorer: &Judged, positive: &str, brier: f64) -> String {
    let mut chart = Chart::new([360.0, 330.0], Margins::default(), unit(), unit());
    chart.axes("predicted probability", "share that is positive");
    chart.dashed(
        [chart.x(0.0), chart.y(0.0)],
        [chart.x(1.0), chart.y(1.0)],
        Paint::Faint,
    );
    for group in &scorer.groups {
        let predicted = group.predicted.unwrap_or(0.0);
        let text = format!(
            "predicted {}, found {} of {} rows (95 % interval {} to {})",
            percent(predicted),
            percent(group.share),
            counted(group.n),
            percent(group.ci95[0]),
            percent(group.ci95[1])
        );
        let x = chart.x(predicted);
        chart.described(&text, |chart| {
            chart.segment(
                [x, chart.y(group.ci95[0])],
                [x, chart.y(group.ci95[1])],
                Paint::Series(0),
                2.0,
            );
            chart.dot([x, chart.y(group.share)], 0);
        });
    }
    let title = format!(
        "Reliability: predicted probability of {} and share found, in {} groups",
        short(positive),
        scorer.groups.len()
    );
    let caption = format!(
        "Ten groups of about as many rows each, with Wilson's 95 % intervals. Mean squared error of the probabilities (Brier score): \
         {brier:.4}; 0 would be perfect."
    );
    figure(&chart.finish(&title), &caption)
}

fn by_group(scorer: &Judged, positive: &str) -> String {
    let n = scorer.groups.len();
    let x = Axis::default().span([0.0, n as f64].into_iter());
    let most = scorer
        .groups
        .iter()
        .fold(0.0_f64, |most, group| most.max(group.ci95[1]));
    let y = Axis {
        limits: Some([0.0, 1.0]),
        ..Axis::default()
    }
    .span([0.0, most].into_iter());
    let mut chart = Chart::new(
        [360.0, 260.0],
        Margins {
            bottom: 34.0,
            ..Margins::default()
        },
        x,
        y,
    );
    chart.vertical("share that is positive");
    let bottom = chart.bottom();
    bars(&mut chart, scorer, positive);
    chart.segment(
        [chart.x(0.0), bottom],
        [chart.x(n as f64), bottom],
        Paint::Faint,
        1.0,
    );
    let base = chart.y(scorer.prevalence());
    chart.dashed(
        [chart.x(0.0), base],
        [chart.x(n as f64), base],
        Paint::Faint,
    );
    chart.text(
        [chart.x(0.0), bottom + 14.0],
        super::chart::START,
        Paint::Faint,
        "lowest scores",
    );
    chart.text(
        [chart.x(n as f64), bottom + 14.0],
        super::chart::END,
        Paint::Faint,
        "highest scores",
    );
    let title = format!(
        "Share of {} in {n} groups from the lowest to the highest scores",
        short(positive)
    );
    let caption = format!(
        "{n} groups of about as many rows each, equal scores together, with Wilson's 95 % intervals. The dashed line is the share among all \
         rows, {}.",
        percent(scorer.prevalence())
    );
    figure(&chart.finish(&title), &caption)
}

/// The share of every group, with its interval.
fn bars(chart: &mut Chart, scorer: &Judged, positive: &str) {
    let bottom = chart.bottom();
    for (k, group) in scorer.groups.iter().enumerate() {
        let (left, right) = (chart.x(k as f64) + 2.0, chart.x(k as f64 + 1.0) - 2.0);
        let middle = (left + right) / 2.0;
        let text = format!(
            "{}: {} of {} rows are {} ({}; 95 % interval {} to {})",
            range(group.low, group.high),
            counted(group.n_pos),
            counted(group.n),
            short(positive),
            percent(group.share),
            percent(group.ci95[0]),
            percent(group.ci95[1])
        );
        chart.described(&text, |chart| {
            let top = chart.y(group.share);
            chart.rect(
                [left, top, right - left, bottom - top],
                &Paint::Series(0).fill(),
            );
            chart.segment(
                [middle, chart.y(group.ci95[0])],
                [middle, chart.y(group.ci95[1])],
                Paint::Ink,
                1.5,
            );
        });
    }
}

fn range(low: Option<f64>, high: Option<f64>) -> String {
    let end = |end: Option<f64>| end.map_or("∞".to_string(), |end| format!("{end:.3}"));
    format!("scores {} to {}", end(low), end(high))
}

fn rows(scorer: &Judged) -> String {
    let has_predicted = scorer.brier.is_some();
    let mut head = vec![
        "group",
        "from",
        "to",
        "rows",
        "positive",
        "share",
        "from (95 %)",
        "to (95 %)",
    ];
    if has_predicted {
        head.push("predicted");
    }
    let mut rows = Table::new(head);
    let score = |x: Option<f64>| match x {
        Some(x) => Cell::rounded(x, format!("{x:.4}")),
        None => Cell::from("∞"),
    };
    let rate = |x: f64| Cell::rounded(x, percent(x));
    for (k, group) in scorer.groups.iter().enumerate() {
        let mut cells = vec![
            Cell::from((k + 1).to_string()),
            score(group.low),
            score(group.high),
            Cell::rounded(group.n, counted(group.n)),
            Cell::rounded(group.n_pos, counted(group.n_pos)),
            rate(group.share),
            rate(group.ci95[0]),
            rate(group.ci95[1]),
        ];
        cells.extend(group.predicted.map(rate));
        rows.row(cells);
    }
    table(&rows, "Groups of scores")
}
