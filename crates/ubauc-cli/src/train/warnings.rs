//! What `ubauc train` says besides its report.

use ubauc::algorithm::{Algorithm, Outcome, Spec, Stop, Trace};
use ubauc::data::dataset::Dataset;
use ubauc::document::numbers::{number, thousands};
use ubauc::model::Model;
use ubauc::tune::has_collapsed;

use crate::output::Output;

/// What a user should do something about.
pub(super) fn warn(
    trained: &Outcome,
    spec: &Spec,
    (data, weights): (&Dataset, Option<&[f64]>),
    output: Output,
) {
    let n = match weights {
        Some(weights) => weights.iter().filter(|s| **s > 0.0).count(),
        None => data.rows().len(),
    };
    let remedy = match spec.algorithm() {
        Algorithm::BaUbauc => "a larger --beta or a smaller --gamma",
        Algorithm::OlUbauc => "a larger --eta0 or --beta, or a smaller --gamma",
        Algorithm::Logistic => "a smaller --gamma",
        Algorithm::Solam => "a larger --zeta",
        Algorithm::Opauc => "a larger --eta or a smaller --lambda",
        Algorithm::OamSeq | Algorithm::OamGra | Algorithm::SvmOr | Algorithm::Svm => "a larger --C",
    };
    let tied = trained.certificate.tied.map(|tied| tied as usize);
    if trained.model.weights.iter().all(|w| *w == 0.0) {
        output.note(format!(
            "warning: all weights are 0: every example has the same score and AUC is 0.5; try {remedy}"
        ));
    } else if svm_says_nothing(trained, spec, data) {
        output.note(format!(
            "warning: all weights are 0 to within the tolerance: no weights have a smaller sum of \
             losses than one answer for all, as happens where few examples of one class overlap \
             with many of the other, and the AUC is not meaningful; try {remedy}"
        ));
    } else if tied == Some(n) {
        output.note(format!(
            "warning: all weights are 0 to within the tolerance: every example is tied at the \
             threshold, and the order of the scores means nothing; try {remedy}"
        ));
    } else if let Some(tied) = tied.filter(|t| has_collapsed(data, weights, *t)) {
        let share = 100.0 * tied as f64 / n as f64;
        output.note(format!(
            "warning: {} examples ({share:.1} %) are tied at the threshold lambda: the model has \
             collapsed; a larger {} keeps their scores apart",
            thousands(tied as u64),
            match spec.algorithm() {
                Algorithm::OlUbauc => "--beta or --eta0",
                _ => "--beta",
            }
        ));
    }
    warn_of_stop(trained, spec, output);
}

/// Says that no example of the training file reaches the threshold, and which one flags as many as are positive.
pub(super) fn note_idle(model: &Model, scores: &[f64], n_pos: usize, output: Output) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (Some(highest), Some(lowest)) = (sorted.first(), sorted.last()) else {
        return;
    };
    if *highest >= model.threshold || highest == lowest {
        return;
    }
    if let Some(cut) = n_pos.checked_sub(1).and_then(|at| sorted.get(at)) {
        output.note(format!(
            "note: no training example reaches the threshold {}: `ubauc predict --classes` may find no positive; with \
             --threshold {cut} it flags as many training examples as are positive",
            number(model.threshold)
        ));
    }
}

/// Why it stopped, unless that is what was asked for.
fn warn_of_stop(trained: &Outcome, spec: &Spec, output: Output) {
    match trained.stop {
        Stop::Converged => {}
        // One pass is what was asked for.
        Stop::MaxPasses if spec.algorithm().is_rival() && spec.algorithm().is_online() => {}
        Stop::Still if spec.algorithm().is_rival() => output.note(
            "note: the objective stands still from pass to pass; that does not certify a minimum",
        ),
        Stop::Still => output.note(
            "note: the objective stands still from pass to pass; that does not certify a minimum, \
             --algorithm ba-ubauc has a certificate",
        ),
        Stop::MaxPasses if spec.algorithm() == Algorithm::OlUbauc => {
            let changed = last_change(trained).map_or(String::new(), |change| {
                format!("; the last changed the objective by {change:.1e} of itself")
            });
            output.note(format!(
                "note: all passes are made{changed}; --algorithm ba-ubauc finds the minimum, with a \
                 certificate"
            ));
        }
        Stop::Estimated => output.note(
            "warning: the gap is an estimate, not a certificate: with gamma = 0 features may depend on \
             each other, which a small --gamma mends; and where values are huge beside their \
             variation rounding hides it, which centring them mends",
        ),
        stop if trained.effort.rounds.is_some() && spec.algorithm() == Algorithm::BaUbauc => {
            output.note(format!(
                "warning: not converged ({}): block descent may stop short of the optimum; \
             --solver newton does not",
                stop.name()
            ))
        }
        stop => output.note(format!(
            "warning: not converged ({}): the gap is {}, asked for was {:e}; {}, scale the \
             features (--scale maxabs) or ask for a larger --tolerance",
            stop.name(),
            trained
                .certificate
                .gap
                .map_or("unknown".to_string(), |g| format!("{g:.1e}")),
            spec.tolerance(),
            match (spec.algorithm(), stop) {
                (Algorithm::Svm, _) => "allow more passes (--passes)",
                // Rounding leaves nothing to gain by more steps.
                (Algorithm::BaUbauc, Stop::Stalled) =>
                    "where the mean of a feature dwarfs its variation, take it off (the intercept \
                     does, of dense features; --no-intercept leaves it out)",
                _ => "allow more steps (--max-newton)",
            }
        )),
    }
}

/// Whether the SVM is no better than w = 0 with the best b, which is C(N⁺ − N⁻) cut to [−1, 1], by more than its
/// tolerance.
fn svm_says_nothing(trained: &Outcome, spec: &Spec, data: &Dataset) -> bool {
    let Spec::Svm(svm) = spec else {
        return false;
    };
    let c = svm.params.c;
    let (n_pos, n_neg) = (data.n_pos() as f64, data.n_neg() as f64);
    let b = (c * (n_pos - n_neg)).clamp(-1.0, 1.0);
    let of_none = 0.5 * b * b + c * (n_pos * (1.0 - b) + n_neg * (1.0 + b));
    let enough = of_none * (1.0 - spec.tolerance());
    trained
        .certificate
        .objective
        .is_some_and(|objective| objective >= enough)
}

/// By which share of itself the objective changed in the last pass, if there were two.
fn last_change(trained: &Outcome) -> Option<f64> {
    let Trace::Passes(points) = &trained.trace else {
        return None;
    };
    let [.., before, last] = points.as_slice() else {
        return None;
    };
    Some((before.objective - last.objective).abs() / last.objective)
}
