//! `ubauc demo`: the main job on imbalanced data made up on the spot.

mod table;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::algorithm::{Algorithm, BaUbauc, Spec, Stop};
use ubauc::data::dataset::Dataset;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Dense, Rows};
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Facts};
use ubauc::metrics::{Interval, auc};
use ubauc::model_file::Certificate;
use ubauc::objective::univariate;

use crate::algorithm::fit;
use crate::output::{self, Output};
use crate::{bound, compare, evaluate};
use table::TableDemo;

/// What was typed after `ubauc demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

const DIM: usize = 20;

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
    let ours = BaUbauc::default();
    let trained = [Spec::BaUbauc(ours), Spec::new(Algorithm::Logistic)]
        .iter()
        .map(|spec| fit(spec, &train, None, None, output))
        .collect::<Result<Vec<_>>>()?;
    let columns = trained
        .iter()
        .map(|trained| trained.model.scores(test.rows()))
        .collect::<ubauc::Result<Vec<_>>>()?;
    let names = ["ba-ubauc", "logistic"].map(str::to_string);
    let best = &trained[0];
    output.report(&Report {
        rows: params.rows,
        dim: params.dim,
        positive_share: params.positive_share,
        best_auc: params.auc,
        train: Training {
            beta: ours.params.beta,
            gamma: ours.params.gamma,
            of: best.certificate.clone(),
            newton: best.effort.newton,
        },
        evaluate: evaluate::Report {
            auc: auc(&columns[0], test.positive())?,
            interval: Interval::Logit,
            average_precision: None,
            partial_auc: None,
            recall_at_fpr: None,
            classes: test.class_names().clone(),
        },
        bound: bound::Report {
            bound: univariate::bound(&columns[0], test.positive())?,
        },
        compare: compare::report(&names, &columns, test.positive(), None)?,
        table: TableDemo::run(seed)?,
    })
}

fn sample(params: &GenerateParams) -> Result<Dataset> {
    let mut generator = Generator::new(params)?;
    let (mut values, mut positive) = (Vec::new(), Vec::new());
    while let Some(row) = generator.next_row() {
        positive.push(row.positive);
        values.extend(row.entries.iter().map(|(_, value)| value));
    }
    let n = positive.len();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        positive,
        n_pos,
        n_neg: n - n_pos,
        names: ["-1", "1"].map(str::to_string),
    };
    let rows = Rows::Dense(Dense::new(values, n, DIM)?);
    Ok(Dataset::new(rows, labels, Vec::new())?)
}

/// How well the training went.
#[derive(Serialize)]
struct Training {
    beta: f64,
    gamma: f64,
    #[serde(flatten)]
    of: Certificate,
    newton: Option<usize>,
}

impl Training {
    fn facts(&self) -> Facts {
        let Certificate {
            objective,
            dual,
            gap,
            stop,
            ..
        } = &self.of;
        let mut facts = Facts::default();
        if let Some(objective) = objective {
            facts.add("objective", format!("{objective:.9}"));
        }
        if let (Some(dual), Some(gap)) = (dual, gap) {
            facts.add("lower bound", format!("{dual:.9}"));
            facts.add("gap", format!("certified to within {gap:.1e}"));
        }
        let (stop, steps) = (stop.map_or("done", Stop::name), self.newton.unwrap_or(0));
        facts.add("stopped", format!("{stop} after {steps} Newton steps"));
        facts
    }
}

#[derive(Serialize)]
struct Report {
    rows: u64,
    dim: u32,
    positive_share: f64,
    best_auc: f64,
    train: Training,
    evaluate: evaluate::Report,
    bound: bound::Report,
    compare: compare::Report,
    table: TableDemo,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let rows = thousands(self.rows);
        let share = 100.0 * self.positive_share;
        let (dim, best) = (self.dim, self.best_auc);
        let Training { beta, gamma, .. } = self.train;
        Document::default()
            .paragraph(format!(
                "{rows} training and {rows} test examples, {dim} features, {share} %\n\
                 positive; the best possible scorer has AUC {best} on the distribution that they are\n\
                 drawn from, which a sample may exceed by chance."
            ))
            .paragraph(format!(
                "Learn a scorer, with a certificate.  (ubauc train train.svm --beta {beta} --gamma {gamma})"
            ))
            .with(self.train.facts())
            .paragraph("How good is it?  (ubauc evaluate --model model.json test.svm)")
            .include(self.evaluate.document())
            .paragraph(
                "Is it better than logistic regression?  \
                 (ubauc compare --model a.json --model b.json test.svm)",
            )
            .include(self.compare.document())
            .paragraph("What does the univariate bound say?  (ubauc bound scores.csv)")
            .include(self.bound.document())
            .include(self.table.document())
            .paragraph("Next: ubauc train FILE --model model.json, with your own data.")
    }
}
