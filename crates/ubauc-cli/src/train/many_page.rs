//! The page of `ubauc train --report` for many classes.

use anyhow::Result;
use ubauc::many_classes::{Classes, by_rows};
use ubauc::metrics::{ClassPair, HandTill, weighted_hand_till};
use ubauc::model_file::SavedClassModel;
use ubauc::report::{ClassesReport, JudgedOn, MOST_DRAWN};
use ubauc::tune::TunedMaps;

use super::TrainArgs;
use super::page::{UNWEIGHTED, candidates, column_part};
use crate::class_page::{of_found, with_model};
use crate::page::{file_name, file_part};
use crate::training::Training;

/// What the scorers can be judged by.
pub(super) struct JudgedClasses<'a> {
    /// M of the examples of `--test`, and the classes that they have.
    pub(super) test: Option<&'a (HandTill, Vec<String>)>,
    /// M_c of the training examples.
    pub(super) train: &'a [f64],
}

impl TrainArgs {
    /// Writes the page, if one was asked for: by the examples of `--test`, or else those that were learned from.
    pub(super) fn write_class_page(
        &self,
        saved: &SavedClassModel,
        (training, classes): (&Training, &Classes<'_>),
        tuned: Option<&TunedMaps>,
        judged: &JudgedClasses<'_>,
        seed: u64,
    ) -> Result<()> {
        let Some(path) = &self.page.report else {
            return Ok(());
        };
        let train_m = judged.train.iter().sum::<f64>() / judged.train.len() as f64;
        let title = format!("A model of {}", file_name(&self.input.file));
        let report = match judged.test {
            Some((found, names)) => ClassesReport {
                train_m: Some(train_m),
                ..of_found(title, JudgedOn::Given, (found, names))
            },
            None => {
                let found = of_training(saved, (training, classes), judged.train, train_m)?;
                of_found(title, JudgedOn::Training, (&found, &saved.model.classes))
            }
        };
        let mut report = with_model(report, saved);
        if judged.test.is_none() {
            // The numbers of the JSON, to the last bit.
            for (class, auc) in report.classes.iter_mut().zip(judged.train) {
                class.auc = *auc;
            }
        } else if self.training.weight.is_some() {
            report.notes.push(UNWEIGHTED.to_string());
        }
        report.search = tuned.map_or(Vec::new(), candidates);
        let columns = training.columns.iter();
        report.columns = columns.map(|c| column_part(c, training)).collect();
        report.reproduction.seed = Some(seed);
        report.reproduction.files = vec![file_part("training", &self.input.file)?];
        if let Some(test) = &self.test {
            report.reproduction.files.push(file_part("test", test)?);
        }
        Ok(report.write(path)?)
    }
}

/// M and, of few classes, their pairs.
fn of_training(
    saved: &SavedClassModel,
    (training, classes): (&Training, &Classes<'_>),
    train: &[f64],
    m: f64,
) -> Result<HandTill> {
    Ok(HandTill {
        m,
        weighted: m,
        class_counts: classes.labels().counts().to_vec(),
        pairs: pairs(saved, (training, classes), train.len())?,
    })
}

fn pairs(
    saved: &SavedClassModel,
    (training, classes): (&Training, &Classes<'_>),
    k: usize,
) -> Result<Vec<ClassPair>> {
    if k > MOST_DRAWN {
        return Ok(Vec::new());
    }
    let scorers = saved.model.scorers.iter();
    let scores = scorers.map(|scorer| training.scores_by(scorer));
    let scores = by_rows(&scores.collect::<Result<Vec<_>>>()?);
    let codes = classes.labels().codes();
    let codes: Vec<usize> = codes.iter().map(|&code| code as usize).collect();
    Ok(weighted_hand_till(&scores, k, &codes, classes.weights())?.pairs)
}
