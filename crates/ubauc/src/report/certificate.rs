//! The certificate, falling step by step.

use super::chart::{Chart, Margins};
use super::markup::{figure, number, paragraph, remark};
use super::{Report, Step};
use crate::algorithm::Trace;
use crate::document::numbers::three_digits;
use crate::document::{Axis, Scale};
use crate::model_file::Certificate;

/// Steps that are drawn.
const DRAWN: usize = 300;
/// Places that the pointer finds.
const HITS: usize = 60;

/// How near the optimum it is, in words.
pub(super) fn proof(gap: Option<f64>, objective: Option<f64>) -> String {
    match (gap, objective) {
        (Some(gap), _) => format!(
            "<p>The learning is a problem with one best answer, and this model is proven to be within {} of it: no other weights have an objective \
             lower by more than that share. What it proves is that the computation is finished, not that the model is good.</p>\n",
            number("certificate.gap", gap, format!("{gap:.1e}"))
        ),
        (None, Some(objective)) => format!(
            "<p>The algorithm ended with an objective of {}; it does not tell how far the optimum is.</p>\n",
            number("certificate.objective", objective, three_digits(objective))
        ),
        (None, None) => paragraph("The algorithm tells nothing of how far from the optimum it is."),
    }
}

pub(super) fn section(report: &Report, certificate: &Certificate) -> String {
    let mut out = proof(certificate.gap, certificate.objective);
    let gaps: Vec<[f64; 2]> = report
        .steps
        .iter()
        .filter_map(|s| Some([s.step as f64, s.gap?]))
        .collect();
    let objectives: Vec<[f64; 2]> = report
        .steps
        .iter()
        .map(|s| [s.step as f64, s.objective])
        .collect();
    out += &match (gaps.len(), objectives.len()) {
        (2.., _) => chart(&gaps, "gap to the optimum, as a share", Scale::Log),
        (_, 2..) => chart(&objectives, "objective", Scale::Linear),
        _ => remark("The steps of the solver are on the page that `ubauc train --report` writes."),
    };
    out
}

fn chart(points: &[[f64; 2]], name: &str, scale: Scale) -> String {
    let drawn = || {
        points
            .iter()
            .copied()
            .filter(|p| scale == Scale::Linear || p[1] > 0.0)
    };
    let x = Axis {
        include: Some(0.0),
        ..Axis::default()
    }
    .span(drawn().map(|p| p[0]));
    let y = Axis {
        scale,
        ..Axis::default()
    }
    .span(drawn().map(|p| p[1]));
    let mut chart = Chart::new(
        [360.0, 250.0],
        Margins {
            left: 66.0,
            ..Margins::default()
        },
        x,
        y,
    );
    chart.axes("step", name);
    chart.line(drawn(), 0);
    for [step, value] in drawn().step_by(points.len().div_ceil(HITS).max(1)) {
        chart.hit(
            [chart.x(step), chart.y(value)],
            5.0,
            &format!("step {step}: {value:.3e}"),
        );
    }
    figure(
        &chart.finish(&format!("The {name} falling step by step")),
        "From the first step of the solver to the last.",
    )
}

impl Step {
    /// The steps of a solver; of very many some, evenly, and both ends.
    pub fn of_trace(trace: &Trace) -> Vec<Step> {
        let step = |step: usize, objective: f64, gap: Option<f64>| Step {
            step,
            objective,
            gap: gap.filter(|gap| gap.is_finite()),
        };
        let share = |objective: f64, dual: f64| (objective - dual) / objective.abs();
        let steps: Vec<Step> = match trace {
            Trace::Newton(points) => points
                .iter()
                .map(|p| step(p.newton, p.objective, p.gap))
                .collect(),
            Trace::Rounds(objectives) => objectives
                .iter()
                .enumerate()
                .map(|(k, x)| step(k, *x, None))
                .collect(),
            Trace::Passes(points) => points
                .iter()
                .map(|p| step(p.pass, p.objective, None))
                .collect(),
            Trace::Bundle(points) => points
                .iter()
                .map(|p| step(p.round, p.objective, Some(p.gap)))
                .collect(),
            Trace::Svm(points) => points
                .iter()
                .map(|p| step(p.pass, p.objective, Some(share(p.objective, p.dual))))
                .collect(),
            Trace::None => Vec::new(),
        };
        let every = steps.len().div_ceil(DRAWN).max(1);
        let last = steps.len().saturating_sub(1);
        let kept = steps.into_iter().enumerate();
        kept.filter(|(k, _)| k % every == 0 || *k == last)
            .map(|(_, step)| step)
            .collect()
    }
}
