//! `ubauc demo`: the main job on imbalanced data made up on the spot.

use std::fmt;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::metrics::auc;
use ubauc::objective::univariate;

use crate::output::{Output, thousands};
use crate::{bound, compare, evaluate};

/// What was typed after `ubauc demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

const DIM: usize = 20;

/// Dense rows, one after the other, and their labels.
struct Sample {
    values: Vec<f64>,
    positive: Vec<bool>,
}

pub(crate) fn run(_: &DemoArgs, seed: u64, output: Output) -> Result<()> {
    let params = GenerateParams {
        rows: 50_000,
        dim: DIM as u32,
        positive_share: 0.02,
        auc: 0.9,
        seed,
        ..GenerateParams::default()
    };
    let train = sample(&params)?;
    let test = sample(&GenerateParams {
        sample: 1,
        ..params.clone()
    })?;
    let direction = difference_of_means(&train);
    let scores: Vec<f64> = test
        .values
        .chunks_exact(DIM)
        .map(|row| row.iter().zip(&direction).map(|(x, w)| x * w).sum())
        .collect();
    let feature: Vec<f64> = test.values.iter().step_by(DIM).copied().collect();

    let names = ["difference of means", "first feature"].map(str::to_string);
    let columns = [scores, feature];
    output.report(&Report {
        rows: params.rows,
        dim: params.dim,
        best_auc: params.auc,
        evaluate: evaluate::Report {
            auc: auc(&columns[0], &test.positive)?,
            partial_auc: None,
            classes: ["-1", "1"].map(str::to_string),
        },
        bound: bound::Report {
            bound: univariate::bound(&columns[0], &test.positive)?,
        },
        compare: compare::report(&names, &columns, &test.positive)?,
    })
}

fn sample(params: &GenerateParams) -> Result<Sample> {
    let mut generator = Generator::new(params)?;
    let mut sample = Sample {
        values: Vec::new(),
        positive: Vec::new(),
    };
    while let Some(row) = generator.next_row() {
        sample.positive.push(row.positive);
        sample
            .values
            .extend(row.entries.iter().map(|(_, value)| value));
    }
    Ok(sample)
}

/// The simplest linear scorer: mean of the positives − mean of the negatives.
fn difference_of_means(sample: &Sample) -> Vec<f64> {
    let n_pos = sample.positive.iter().filter(|&&p| p).count() as f64;
    let n_neg = sample.positive.len() as f64 - n_pos;
    let mut direction = vec![0.0; DIM];
    for (row, &positive) in sample.values.chunks_exact(DIM).zip(&sample.positive) {
        let share = if positive { 1.0 / n_pos } else { -1.0 / n_neg };
        for (w, x) in direction.iter_mut().zip(row) {
            *w += share * x;
        }
    }
    direction
}

#[derive(Serialize)]
struct Report {
    rows: u64,
    dim: u32,
    best_auc: f64,
    evaluate: evaluate::Report,
    bound: bound::Report,
    compare: compare::Report,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = thousands(self.rows);
        writeln!(
            f,
            "{rows} examples to learn from and {rows} to judge by, {} features, 2 %",
            self.dim
        )?;
        writeln!(
            f,
            "positive; the best possible scorer has AUC {}. The scorer: the difference",
            self.best_auc
        )?;
        writeln!(f, "of the class means.\n")?;
        writeln!(
            f,
            "How good is it?  (ubauc evaluate scores.csv)\n\n{}",
            self.evaluate
        )?;
        writeln!(
            f,
            "Is it better than one feature alone?  (ubauc compare a.csv b.csv)\n\n{}",
            self.compare
        )?;
        writeln!(
            f,
            "What does the univariate bound say?  (ubauc bound scores.csv)\n\n{}",
            self.bound
        )?;
        writeln!(
            f,
            "Next: ubauc evaluate FILE.csv, with the columns label and score."
        )
    }
}
