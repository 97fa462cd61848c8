//! The ROC curve with its band, and those of rivals.

use super::chart::{Chart, Margins, Paint, START, legend, unit};
use super::markup::{figure, percent, short};
use super::{Judged, Report};

/// Series that are drawn.
pub(super) const DRAWN: usize = 8;
/// Places on a curve that the pointer finds.
const HITS: usize = 60;
/// Both sides of the picture.
const SIZE: [f64; 2] = [360.0, 350.0];

pub(super) fn chart(report: &Report) -> String {
    let mut chart = Chart::new(SIZE, Margins::default(), unit(), unit());
    chart.axes(
        "false alarms: share of negatives that are flagged",
        "found: share of positives that are flagged",
    );
    let ends = [[0.0, 0.0], [1.0, 1.0]].map(|[x, y]| [chart.x(x), chart.y(y)]);
    chart.dashed(ends[0], ends[1], Paint::Faint);
    chart.text(
        [chart.x(0.62), chart.y(0.55)],
        START,
        Paint::Faint,
        "guessing",
    );
    if let Some(main) = report.main() {
        let [fpr, tpr] = main.band;
        let upper = main
            .roc
            .iter()
            .map(|p| [(p.false_alarms - fpr).max(0.0), (p.recall + tpr).min(1.0)]);
        let lower = main
            .roc
            .iter()
            .map(|p| [(p.false_alarms + fpr).min(1.0), (p.recall - tpr).max(0.0)]);
        let first = [[0.0, 0.0], [0.0, tpr.min(1.0)]];
        let corners = first
            .into_iter()
            .chain(upper)
            .chain([[1.0, 1.0], [1.0, (1.0 - tpr).max(0.0)]]);
        chart.area(corners.chain(lower.rev()), 0);
    }
    for (k, scorer) in report.scorers.iter().enumerate().take(DRAWN).rev() {
        chart.line(scorer.roc.iter().map(|p| [p.false_alarms, p.recall]), k);
    }
    for scorer in report.scorers.iter().take(DRAWN).rev() {
        let several = report.scorers.len() > 1;
        hits(&mut chart, scorer, if several { &scorer.name } else { "" });
    }
    if let Some(cut) = report.main().and_then(Judged::first_cut) {
        let (x, y) = (cut.cut.false_alarms, cut.cut.recall);
        chart.at_cut("roc", [x, y], [[0.0, 1.0]; 2], |chart| {
            chart.dot([chart.x(x), chart.y(y)], 0)
        });
    }
    let title = alternative(report);
    let mut drawn = chart.finish(&title);
    if report.scorers.len() > 1 {
        drawn += &legend(&report.names()[..report.scorers.len().min(DRAWN)]);
    }
    figure(&drawn, &caption(report))
}

fn hits(chart: &mut Chart, scorer: &Judged, name: &str) {
    let every = scorer.roc.len().div_ceil(HITS).max(1);
    for point in scorer.roc.iter().step_by(every) {
        let cut = point
            .cut
            .map_or("above all scores".to_string(), |cut| format!("{cut:.4}"));
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("{}: ", short(name))
        };
        let text = format!(
            "{name}cut {cut}: finds {} with {} false alarms",
            percent(point.recall),
            percent(point.false_alarms)
        );
        chart.hit(
            [chart.x(point.false_alarms), chart.y(point.recall)],
            5.0,
            &text,
        );
    }
}

fn alternative(report: &Report) -> String {
    let of = |scorer: &Judged| format!("{}: AUC {:.4}", short(&scorer.name), scorer.auc.auc);
    let all: Vec<String> = report.scorers.iter().take(DRAWN).map(of).collect();
    format!(
        "ROC curve. {}. The table of cuts below has its values.",
        all.join("; ")
    )
}

fn caption(report: &Report) -> String {
    let Some(main) = report.main() else {
        return String::new();
    };
    let whose = match report.scorers.len() {
        1 => String::new(),
        _ => format!(" (that of {})", short(&main.name)),
    };
    let left_out = report.scorers.len().saturating_sub(DRAWN);
    let more = match left_out {
        0 => String::new(),
        n => format!(" {n} more scorers are in the table only."),
    };
    let counted = match (main.auc.n_groups, main.auc.weights) {
        (Some(_), _) => {
            " It counts a group as one row, which is too careful unless the rows of a group are alike; where large groups differ from small ones it may be too narrow."
        }
        (None, Some(_)) => " It counts as many rows as say as much with equal weights.",
        (None, None) => "",
    };
    format!(
        "ROC curve: every cut is a point, from strict (left) to lenient (right); the nearer to the upper left corner the better, \
         and the area below is the AUC. The band{whose} holds the whole true curve with 95 % confidence (Kolmogorov–Smirnov: \
         ±{} up and down, ±{} sideways).{counted}{more}",
        percent(main.band[1]),
        percent(main.band[0])
    )
}
