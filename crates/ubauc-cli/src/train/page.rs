//! The page of `ubauc train --report`.

use anyhow::Result;
use ubauc::algorithm::Outcome;
use ubauc::metrics::Auc;
use ubauc::model_file::SavedModel;
use ubauc::read::table::ColumnReport;
use ubauc::report::{AucPart, Candidate, ColumnPart, EffectsPart, JudgedOn, Step};
use ubauc::tune::{HeldOut, MapTrial, Scored, TunedMaps, Verdict};

use super::TrainArgs;
use crate::column_report::{described, features_of, kind_name};
use crate::page::{self, PageExamples, PageParts, PageScores, file_name, file_part};
use crate::search;
use crate::training::Training;

/// Where the rows of `--test` have no weights.
pub(super) const UNWEIGHTED: &str =
    "The model was learned from weighted rows; those that it is judged on count alike.";

/// What the model can be judged by.
pub(super) struct Judging<'a> {
    /// Scores of the examples of `--test`, and these.
    pub(super) test: Option<(&'a [f64], PageExamples<'a>)>,
    pub(super) test_auc: Option<AucPart>,
    /// Scores of the training examples.
    pub(super) training: &'a [f64],
}

impl<'a> Judging<'a> {
    /// Scores and classes of the examples of `--test`, their groups and their AUC, where there are any.
    pub(super) fn new(
        scored: Option<&'a (Vec<f64>, &'a [bool])>,
        groups: Option<&'a [u32]>,
        test_auc: Option<&Auc>,
        training: &'a [f64],
    ) -> Judging<'a> {
        let examples = |positive: &'a [bool]| PageExamples {
            groups,
            ..PageExamples::new(positive)
        };
        Judging {
            test: scored.map(|(scores, positive)| (scores.as_slice(), examples(positive))),
            test_auc: test_auc.cloned().map(Into::into),
            training,
        }
    }
}

impl TrainArgs {
    /// Writes the page, if one was asked for: by the examples of `--test`, or those held out by the search, or else those
    /// that were learned from.
    pub(super) fn write_page(
        &self,
        saved: &SavedModel,
        training: &Training,
        (trained, tuned): (&Outcome, Option<&TunedMaps>),
        judging: &Judging<'_>,
        seed: u64,
    ) -> Result<()> {
        let Some(path) = &self.page.report else {
            return Ok(());
        };
        let verdict = tuned.and_then(|tuned| tuned.verdict.as_ref());
        let held_out = verdict.and_then(|verdict| Some((verdict, verdict.held_out.as_deref()?)));
        let moved = held_out.map(|(_, held)| [&held.ours, &held.logistic].map(with_intercept));
        let ours = |scores, auc, threshold| PageScores {
            name: "this model".to_string(),
            scores,
            auc,
            model: None,
            threshold: Some(threshold),
        };
        let threshold = saved.model.threshold;
        let (scorers, examples, judged_on) = match (judging.test, held_out, &moved) {
            (Some((scores, examples)), ..) => {
                let ours = ours(scores, judging.test_auc.clone(), threshold);
                (vec![ours], examples, JudgedOn::Given)
            }
            (None, Some((verdict, held)), Some(moved)) => (
                of_held_out(verdict, held, moved),
                PageExamples {
                    groups: held.groups.as_deref(),
                    ..PageExamples::new(&held.positive)
                },
                JudgedOn::HeldOut,
            ),
            _ => {
                let ours = ours(judging.training, None, threshold);
                let examples = PageExamples {
                    positive: training.data.positive(),
                    weights: training.weights.as_deref(),
                    groups: training.groups.as_deref(),
                };
                (vec![ours], examples, JudgedOn::Training)
            }
        };
        let parts = PageParts {
            title: format!("A model of {}", file_name(&self.input.file)),
            classes: training.data.class_names().clone(),
            examples,
            judged_on,
            costs: self.page.costs.costs()?,
        };
        let mut report = page::report(parts, &scorers)?;
        report.effects = EffectsPart::of_model(&saved.model, saved.effects.as_ref());
        match self.points.card(Some(saved)) {
            Ok(points) => report.points = points,
            // Of a model that a search has chosen: the page is worth having without them.
            Err(error) => report
                .notes
                .push(format!("There are no points of this model: {error}.")),
        }
        report.search = tuned.map_or(Vec::new(), candidates);
        report.certificate = Some(saved.certificate.clone());
        report.steps = Step::of_trace(&trained.trace);
        report.columns = training
            .columns
            .iter()
            .map(|column| column_part(column, training))
            .collect();
        if self.training.weight.is_some() && examples.weights.is_none() {
            report.notes.push(UNWEIGHTED.to_string());
        }
        if self.training.group.is_some() && examples.groups.is_none() {
            let note = "The model was learned from rows in groups; those that it is judged on are taken as independent.";
            report.notes.push(note.to_string());
        }
        report.reproduction.seed = Some(seed);
        report.reproduction.parameters = page::parameters(&saved.algorithm, &saved.parameters);
        report.reproduction.files = vec![file_part("training", &self.input.file)?];
        if let Some(test) = &self.test {
            report.reproduction.files.push(file_part("test", test)?);
        }
        Ok(report.write(path)?)
    }
}

/// w·x + b.
fn with_intercept(scored: &Scored) -> Vec<f64> {
    scored
        .scores
        .iter()
        .map(|score| score + scored.intercept)
        .collect()
}

/// The choice, and logistic regression where that is another model.
fn of_held_out<'a>(
    verdict: &Verdict,
    held: &'a HeldOut,
    [ours, logistic]: &'a [Vec<f64>; 2],
) -> Vec<PageScores<'a>> {
    let scores = |name: &str, scores: &'a [f64], auc: &Auc, threshold: f64| PageScores {
        name: name.to_string(),
        scores,
        auc: Some(auc.clone().into()),
        model: None,
        threshold: Some(threshold),
    };
    let mut scorers = vec![scores(
        "this model",
        ours,
        &verdict.ours,
        held.ours.threshold,
    )];
    if !verdict.is_logistic {
        scorers.push(scores(
            "logistic regression",
            logistic,
            &verdict.logistic,
            held.logistic.threshold,
        ));
    }
    scorers
}

pub(super) fn candidates(tuned: &TunedMaps) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (t, MapTrial { map, tuned: of, .. }) in tuned.trials.iter().enumerate() {
        let points = of
            .points
            .iter()
            .enumerate()
            .filter(|(_, point)| !point.collapsed);
        all.extend(points.map(|(k, point)| Candidate {
            features: map.to_string(),
            parameters: format!(
                "{}, gamma {:e}",
                search::described(&point.setting),
                point.gamma
            ),
            auc: point.judged.auc,
            se: point.judged.standard_error,
            folds: point.judged.folds,
            chosen: t == tuned.chosen && k == of.chosen,
        }));
    }
    all
}

pub(super) fn column_part(column: &ColumnReport, training: &Training) -> ColumnPart {
    let map = training.mapped.as_ref().map(|mapped| &mapped.learned.map);
    ColumnPart {
        name: column.name.clone(),
        kind: kind_name(column.kind).to_string(),
        missing: column.missing as f64 / column.rows.max(1) as f64,
        features: map.map_or(1, |map| features_of(map, &column.name)),
        values: described(column),
        notes: column.notes.clone(),
    }
}
