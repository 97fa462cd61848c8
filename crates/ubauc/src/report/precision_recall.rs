//! Precision by recall.

use super::chart::{Chart, Margins, Paint, START, legend, unit};
use super::markup::{figure, percent, short};
use super::roc::DRAWN;
use super::{Judged, Report};

const HITS: usize = 60;

pub(super) fn chart(report: &Report) -> String {
    let mut chart = Chart::new([360.0, 350.0], Margins::default(), unit(), unit());
    chart.axes(
        "found: share of positives that are flagged",
        "precision: share of flagged that are positive",
    );
    let Some(main) = report.main() else {
        return String::new();
    };
    let prevalence = main.prevalence();
    let at = chart.y(prevalence);
    chart.dashed([chart.x(0.0), at], [chart.x(1.0), at], Paint::Faint);
    chart.text(
        [chart.x(0.02), at - 4.0],
        START,
        Paint::Faint,
        &format!("guessing: {}", percent(prevalence)),
    );
    for (k, scorer) in report.scorers.iter().enumerate().take(DRAWN).rev() {
        chart.line(steps(scorer), k);
    }
    for scorer in report.scorers.iter().take(DRAWN).rev() {
        hits(&mut chart, scorer, report.scorers.len() > 1);
    }
    if let Some(cut) = main.first_cut() {
        let (x, y) = (cut.cut.recall, cut.cut.precision.unwrap_or(1.0));
        let draw = |chart: &mut Chart| chart.dot([chart.x(x), chart.y(y)], 0);
        chart.at_cut("precision-recall", [x, y], [[0.0, 1.0]; 2], draw);
    }
    let of = |scorer: &Judged| {
        format!(
            "{}: average precision {:.4}",
            short(&scorer.name),
            scorer.average_precision
        )
    };
    let all: Vec<String> = report.scorers.iter().take(DRAWN).map(of).collect();
    let mut drawn = chart.finish(&format!("Precision by recall. {}.", all.join("; ")));
    if report.scorers.len() > 1 {
        drawn += &legend(&report.names()[..report.scorers.len().min(DRAWN)]);
    }
    let caption = format!(
        "Precision by recall: of those flagged, how many are {}, for every share found. The higher the better; by chance it \
         would be {} everywhere. The mean height is the average precision, {:.4}.",
        short(&report.classes[1]),
        percent(prevalence),
        main.average_precision
    );
    figure(&drawn, &caption)
}

/// Nothing is interpolated: between two cuts the precision is that of the next.
fn steps(scorer: &Judged) -> impl Iterator<Item = [f64; 2]> + '_ {
    let mut before = 0.0;
    scorer.precision_recall.iter().flat_map(move |point| {
        let precision = point.precision.unwrap_or(1.0);
        let corner = [before, precision];
        before = point.recall;
        [corner, [point.recall, precision]]
    })
}

fn hits(chart: &mut Chart, scorer: &Judged, is_named: bool) {
    let every = scorer.precision_recall.len().div_ceil(HITS).max(1);
    for point in scorer.precision_recall.iter().step_by(every) {
        let cut = point
            .cut
            .map_or("above all scores".to_string(), |cut| format!("{cut:.4}"));
        let precision = point.precision.unwrap_or(1.0);
        let name = if is_named {
            format!("{}: ", short(&scorer.name))
        } else {
            String::new()
        };
        let text = format!(
            "{name}cut {cut}: finds {} with a precision of {}",
            percent(point.recall),
            percent(precision)
        );
        chart.hit([chart.x(point.recall), chart.y(precision)], 5.0, &text);
    }
}
