//! `ubauc reproduce coverage`: how often 95 % intervals contain the truth, on scores whose truth is known.
//!
//! Two models of scores, each with its AUC A:
//!
//!   binormal     negatives N(0, 1), positives N(δ, 1), δ = √2·Φ⁻¹(A)
//!   exponential  negatives Exp(1), positives of k times their size, k = A/(1 − A): long tails, the positives' longer
//!
//! At a score that a share T of the positives exceeds, a share F of the negatives does: Φ(−δ − Φ⁻¹(1 − T)), or Tᵏ. So recall
//! at the rate f is the T of F = f, and average precision ∫ N⁺T/(N⁺T + N⁻F) dT.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::Serialize;
use ubauc::document::{Document, Table};
use ubauc::metrics::{
    Interval, Resampling, Sample, Statistic, auc, average_precision_interval, normal_cdf,
    normal_quantile, recall_at_fpr,
};

use crate::output::{Output, Report};
use crate::progress::{DRAWS, Progress};

const N_POS: [usize; 4] = [5, 20, 100, 500];
/// Negatives to a positive.
const RATIO: usize = 5;
const AUCS: [f64; 6] = [0.6, 0.8, 0.9, 0.95, 0.99, 0.999];
const RATE: f64 = 0.1;
pub(super) const RUNS: usize = 1000;
/// Draws of each bootstrap: fewer than by default, which widens an interval by nothing and shifts its ends a little.
const RESAMPLES: usize = 400;
/// AUC by its four intervals, average precision, recall.
const KINDS: usize = 6;

pub(super) fn run(runs: usize, seed: u64, output: Output) -> Result<()> {
    let mut designs = Vec::new();
    for model in [Model::Binormal, Model::Exponential] {
        for n_pos in N_POS {
            designs.extend(AUCS.map(|auc| Design { model, n_pos, auc }));
        }
    }
    // Half the time goes into the draws of the bootstraps: as large as the samples are.
    let weight = |design: &Design| design.n_pos as u64;
    let total = designs.iter().map(weight).sum::<u64>() * runs as u64;
    let progress = Mutex::new(Progress::new(output, Some(total), DRAWS));
    let finished = AtomicU64::new(0);
    let mut cells = Vec::with_capacity(designs.len());
    for (number, design) in designs.iter().enumerate() {
        let truths = design.truths();
        let found: Vec<[Outcome; KINDS]> = (0..runs as u64)
            .into_par_iter()
            .map(|run| {
                let own = (number as u64) << 32 | run;
                let outcomes = design.simulate(truths, seed, own);
                let so_far = finished.fetch_add(weight(design), Ordering::Relaxed) + weight(design);
                if let Ok(mut progress) = progress.try_lock() {
                    progress.at(so_far);
                }
                outcomes
            })
            .collect::<Result<_>>()?;
        let kinds = std::array::from_fn(|kind| Kind::of(found.iter().map(|run| run[kind])));
        cells.push(Cell::new(design, truths, kinds));
    }
    output.report(&Coverage {
        runs,
        seed,
        resamples: RESAMPLES,
        max_fpr: RATE,
        cells,
    })
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Model {
    Binormal,
    Exponential,
}

struct Design {
    model: Model,
    n_pos: usize,
    auc: f64,
}

/// What the intervals should contain.
#[derive(Clone, Copy)]
struct Truths {
    auc: f64,
    average_precision: f64,
    recall: f64,
}

/// Whether an interval contains the truth, and its width.
#[derive(Clone, Copy)]
struct Outcome {
    hit: bool,
    width: f64,
}

impl Design {
    fn n_neg(&self) -> usize {
        RATIO * self.n_pos
    }

    /// δ or k.
    fn size(&self) -> f64 {
        match self.model {
            Model::Binormal => std::f64::consts::SQRT_2 * normal_quantile(self.auc),
            Model::Exponential => self.auc / (1.0 - self.auc),
        }
    }

    /// F at T.
    fn false_alarms(&self, t: f64) -> f64 {
        match self.model {
            Model::Binormal => normal_cdf(normal_quantile(t) - self.size()),
            Model::Exponential => t.powf(self.size()),
        }
    }

    fn truths(&self) -> Truths {
        let steps = 20_000;
        let precision = |i: usize| {
            let t = (i as f64 + 0.5) / f64::from(steps);
            t / (t + RATIO as f64 * self.false_alarms(t))
        };
        Truths {
            auc: self.auc,
            average_precision: (0..steps as usize).map(precision).sum::<f64>() / f64::from(steps),
            recall: match self.model {
                Model::Binormal => normal_cdf(self.size() + normal_quantile(RATE)),
                Model::Exponential => RATE.powf(1.0 / self.size()),
            },
        }
    }

    fn simulate(&self, truths: Truths, seed: u64, number: u64) -> Result<[Outcome; KINDS]> {
        let mut random = Pcg64::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let size = self.size();
        let positive: Vec<bool> = (0..self.n_pos + self.n_neg())
            .map(|i| i < self.n_pos)
            .collect();
        let scores: Vec<f64> = (positive.iter())
            .map(|&p| match self.model {
                Model::Binormal => normal(&mut random) + if p { size } else { 0.0 },
                Model::Exponential => exponential(&mut random) * if p { size } else { 1.0 },
            })
            .collect();
        let sample = Sample::new(&scores, &positive);
        let found = auc(&scores, &positive)?;
        let resampling = Resampling {
            resamples: RESAMPLES,
            seed: random.random(),
        };
        let share = found.share();
        let by =
            |method: Interval| share.interval(method, Statistic::Auc, &sample, resampling, &|_| {});
        let (student, drawn) = (by(Interval::Student)?, by(Interval::Bootstrap)?);
        let precision = average_precision_interval(&scores, &positive)?;
        let recall = recall_at_fpr(&scores, &positive, RATE)?;
        let outcome = |[low, high]: [f64; 2], truth: f64| Outcome {
            hit: low <= truth && truth <= high,
            width: high - low,
        };
        Ok([
            outcome(share.logit(), truths.auc),
            outcome(student, truths.auc),
            outcome(share.delong(), truths.auc),
            outcome(drawn, truths.auc),
            outcome(precision.ci95, truths.average_precision),
            outcome(recall.ci95, truths.recall),
        ])
    }
}

fn exponential(random: &mut Pcg64) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// By Box and Muller.
pub(super) fn normal(random: &mut Pcg64) -> f64 {
    let angle = std::f64::consts::TAU * random.random::<f64>();
    (2.0 * exponential(random)).sqrt() * angle.cos()
}

#[derive(Serialize)]
struct Coverage {
    runs: usize,
    seed: u64,
    resamples: usize,
    max_fpr: f64,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    model: Model,
    n_pos: usize,
    n_neg: usize,
    auc: f64,
    average_precision: f64,
    recall: f64,
    logit: Kind,
    student: Kind,
    delong: Kind,
    bootstrap: Kind,
    of_average_precision: Kind,
    of_recall: Kind,
}

impl Cell {
    fn new(design: &Design, truths: Truths, kinds: [Kind; KINDS]) -> Self {
        let [
            logit,
            student,
            delong,
            bootstrap,
            of_average_precision,
            of_recall,
        ] = kinds;
        Self {
            model: design.model,
            n_pos: design.n_pos,
            n_neg: design.n_neg(),
            auc: truths.auc,
            average_precision: truths.average_precision,
            recall: truths.recall,
            logit,
            student,
            delong,
            bootstrap,
            of_average_precision,
            of_recall,
        }
    }
}

/// Of one way to make an interval.
#[derive(Clone, Copy, Serialize)]
struct Kind {
    /// Share of the intervals that contain the truth.
    coverage: f64,
    /// Mean width.
    width: f64,
}

impl Kind {
    fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let (mut n, mut hits, mut width) = (0.0, 0.0, 0.0);
        for outcome in outcomes {
            n += 1.0;
            hits += f64::from(u8::from(outcome.hit));
            width += outcome.width;
        }
        Self {
            coverage: hits / n,
            width: width / n,
        }
    }

    fn text(self) -> String {
        format!("{:.1} ({:.3})", 100.0 * self.coverage, self.width)
    }
}

impl Report for Coverage {
    fn document(&self) -> Document {
        let error = 100.0 * (0.95 * 0.05 / self.runs as f64).sqrt();
        let mut document = Document::default().paragraph(format!(
            "Percent of 95 % intervals that contain the truth, and their mean width, over {} simulated samples a row \
             (seed {}, {} draws a bootstrap); right is 95, with a standard error of {error:.1}.",
            self.runs, self.seed, self.resamples
        ));
        for (model, title) in [
            ("binormal", "Normal scores of equal variance"),
            ("exponential", "Exponential scores: long tails"),
        ] {
            let head = ["N+", "N-", "AUC", "logit", "student", "delong", "bootstrap"];
            let others = ["average precision", "logit", "recall at FPR 0.1", "order"];
            let mut table = Table::new(head.into_iter().chain(others));
            for cell in (self.cells.iter()).filter(|cell| cell.model.name() == model) {
                table.row([
                    cell.n_pos.to_string(),
                    cell.n_neg.to_string(),
                    cell.auc.to_string(),
                    cell.logit.text(),
                    cell.student.text(),
                    cell.delong.text(),
                    cell.bootstrap.text(),
                    format!("{:.3}", cell.average_precision),
                    cell.of_average_precision.text(),
                    format!("{:.3}", cell.recall),
                    cell.of_recall.text(),
                ]);
            }
            document = document.paragraph(format!("{title}:")).with(table);
        }
        document
    }
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Binormal => "binormal",
            Self::Exponential => "exponential",
        }
    }
}
