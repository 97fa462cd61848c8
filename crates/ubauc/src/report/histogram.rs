//! Scores of each class: positives above the line, negatives below it.

use super::chart::{Chart, Margins, Paint, START};
use super::markup::{counted, figure, percent, short};
use super::{Histogram, Judged};
use crate::document::Axis;

pub(super) fn chart(scorer: &Judged, classes: &[String; 2]) -> String {
    let Histogram { edges, beyond, .. } = &scorer.histogram;
    let (Some(&low), Some(&high)) = (edges.first(), edges.last()) else {
        return String::new();
    };
    let [n_neg, n_pos] = scorer.auc.totals();
    let [up, down] = shares(scorer);
    let most = up.iter().chain(&down).fold(0.0_f64, |a, b| a.max(*b));
    // Room for the names of the classes above and below the bars.
    let y = Axis::default().span([-1.2 * most, 1.2 * most].into_iter());
    let x = Axis::default().span([low, high].into_iter());
    let margins = Margins {
        left: 16.0,
        ..Margins::default()
    };
    let mut chart = Chart::new([360.0, 260.0], margins, x, y);
    chart.horizontal("score", true);
    let zero = chart.y(0.0);
    bars(&mut chart, scorer, classes);
    chart.segment(
        [chart.x(low), zero],
        [chart.x(high), zero],
        Paint::Faint,
        1.0,
    );
    let label = |name: &str, n: f64| format!("{} ({})", short(name), counted(n));
    chart.text(
        [chart.x(low) + 4.0, chart.margins.top + 10.0],
        START,
        Paint::Series(0),
        &format!("▲ {}", label(&classes[1], n_pos)),
    );
    chart.text(
        [chart.x(low) + 4.0, chart.bottom() - 6.0],
        START,
        Paint::Series(1),
        &format!("▼ {}", label(&classes[0], n_neg)),
    );
    if let Some(cut) = scorer
        .first_cut()
        .and_then(|cut| cut.cut.cut)
        .filter(|cut| (low..=high).contains(cut))
    {
        let at = chart.x(cut);
        chart.at_cut("scores", [cut, 0.0], [[low, high], [0.0, most]], |chart| {
            chart.segment([at, chart.y(most)], [at, chart.y(-most)], Paint::Ink, 1.5);
        });
    }
    let title = format!(
        "Histogram of the scores of {} above a line and of {} below it",
        label(&classes[1], n_pos),
        label(&classes[0], n_neg)
    );
    let outside = match *beyond {
        n if n <= 0.0 => String::new(),
        n => format!(
            " The outermost bars hold {} scores beyond the picture.",
            counted(n)
        ),
    };
    let caption = format!(
        "Scores by class, each class as shares of its own: the less the two overlap, the better. The line is the cut; what lies \
         right of it is flagged.{outside}"
    );
    figure(&chart.finish(&title), &caption)
}

/// The share of its class that is in each bar: of positives, then of negatives.
fn shares(scorer: &Judged) -> [Vec<f64>; 2] {
    let of = |counts: &[f64], n: f64| counts.iter().map(|c| c / n).collect();
    let [n_neg, n_pos] = scorer.auc.totals();
    let Histogram {
        positive, negative, ..
    } = &scorer.histogram;
    [of(positive, n_pos), of(negative, n_neg)]
}

fn bars(chart: &mut Chart, scorer: &Judged, classes: &[String; 2]) {
    let zero = chart.y(0.0);
    let Histogram {
        edges,
        positive,
        negative,
        ..
    } = &scorer.histogram;
    let [up, down] = shares(scorer);
    let bars = edges
        .windows(2)
        .zip(up.iter().zip(&down))
        .zip(positive.iter().zip(negative));
    for ((edge, (up, down)), (pos, neg)) in bars {
        let (left, right) = (chart.x(edge[0]), chart.x(edge[1]));
        let width = (right - left - 0.6).max(0.4);
        let (top, bottom) = (chart.y(*up), chart.y(-down));
        let text = format!(
            "scores {:.3} to {:.3}: {} of class {} ({}), {} of class {} ({})",
            edge[0],
            edge[1],
            counted(*pos),
            short(&classes[1]),
            percent(*up),
            counted(*neg),
            short(&classes[0]),
            percent(*down)
        );
        chart.described(&text, |chart| {
            chart.rect([left, top, width, zero - top], &Paint::Series(0).fill());
            chart.rect([left, zero, width, bottom - zero], &Paint::Series(1).fill());
            // The pointer need not hit the bar.
            chart.rect(
                [
                    left,
                    chart.margins.top,
                    right - left,
                    chart.bottom() - chart.margins.top,
                ],
                "fill-opacity=\"0\"",
            );
        });
    }
}
