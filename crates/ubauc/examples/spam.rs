//! SPAM: the pairwise square loss by stochastic proximal steps [Natole, Ying and Lyu 2018].
//!
//! ```text
//! min_w  P(w) = p(1−p) L(w) + λ/2 ‖w‖²,   L = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} (1 − w·(x_i − x_j))²
//! ```
//!
//! with p the share of positives. SOLAM (`src/solver/solam.rs`) writes p(1−p) L as a saddle point in w, a, b and α, and
//! takes steps in all four. Here a, b and α are kept at their best values for the present w, which the class means m⁺
//! and m⁻ of the features give: a = w·m⁺, b = w·m⁻, α = b − a. What is left is an unbiased gradient from one example:
//!
//! ```text
//! y=+1:  g = 2(1−p)(w·x − a − 1 − α) x
//! y=−1:  g = 2p(w·x − b + 1 + α) x
//! ```
//!
//! Step t, with η = ζ/√t: w ← (w − ηg)/(1 + ηλ), a gradient step on the loss and a proximal one on the penalty, from
//! w = 0. t goes on over passes. The answer is the last w.
//!
//! Cost: one pass over the rows for p, m⁺ and m⁻; then O(nnz(x)) a step. w is kept as s·v, so that the division costs
//! O(1), and v·m⁺ and v·m⁻ are carried along; every d steps all three are recomputed, before rounding adds up.
//!
//! M. Natole, Y. Ying, S. Lyu, "Stochastic proximal algorithms for AUC maximization", ICML 2018.
//!
//! This file is the example of docs/add-an-algorithm.md:
//!
//! ```text
//! cargo run --release -p ubauc --example spam [TRAIN TEST]
//! ```

#[cfg(test)]
#[path = "spam/tests.rs"]
mod tests;

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use ubauc::algorithm::Logistic;
use ubauc::data::dataset::Dataset;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::data::labels::{Binary, Choice};
use ubauc::data::rows::{Csr, Row, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::metrics::auc;
use ubauc::model::Model;
use ubauc::objective::pairwise;
use ubauc::read::{ReadOptions, read};
use ubauc::solver::ba_ubauc;
use ubauc::solver::passes::{self, Online, OnlineInputs, Passes, Scored};
use ubauc::{Error, Result};

/// v is recomputed before s is smaller than this.
const SMALLEST: f64 = 1e-100;

/// What to learn with.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SpamParams {
    /// ζ > 0 of the step ζ/√t.
    zeta: f64,
    /// λ ≥ 0 of the penalty λ/2 ‖w‖².
    lambda: f64,
}

impl Default for SpamParams {
    fn default() -> Self {
        SpamParams {
            zeta: 0.1,
            lambda: 1e-4,
        }
    }
}

impl SpamParams {
    /// Refuses the first parameter outside its range.
    fn check(&self) -> Result<()> {
        let refuse = |name, value: f64, must| {
            let value = value.to_string();
            Err(Error::Parameter { name, value, must })
        };
        if !(self.zeta > 0.0 && self.zeta.is_finite()) {
            return refuse("zeta", self.zeta, "finite and above 0");
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return refuse("lambda", self.lambda, "finite and not negative");
        }
        Ok(())
    }
}

/// The learner.
#[derive(Debug, Clone)]
struct Spam {
    params: SpamParams,
    /// p.
    share: f64,
    /// m⁻ and m⁺, of the divided features.
    means: [Vec<f64>; 2],
    /// s of w = s·v.
    scale: f64,
    v: Vec<f64>,
    /// v·m⁻ and v·m⁺.
    products: [f64; 2],
    /// t.
    steps: u64,
}

impl Spam {
    /// Takes the share of positives and the class means from the data; the rows come later, one by one.
    fn new(data: &Dataset, divisors: Option<&[f64]>, params: &SpamParams) -> Result<Spam> {
        params.check()?;
        let d = data.rows().cols();
        let counts = [data.n_neg() as f64, data.n_pos() as f64];
        let mut means = [vec![0.0; d], vec![0.0; d]];
        for (i, &positive) in data.positive().iter().enumerate() {
            let class = usize::from(positive);
            let row = data.rows().row(i);
            row.add_to(1.0 / counts[class], &mut means[class]);
        }
        for mean in &mut means {
            for (m, r) in mean.iter_mut().zip(divisors.unwrap_or_default()) {
                *m /= r;
            }
        }
        Ok(Spam {
            params: *params,
            share: counts[1] / (counts[0] + counts[1]),
            means,
            scale: 1.0,
            v: vec![0.0; d],
            products: [0.0; 2],
            steps: 0,
        })
    }

    /// The same w with s = 1, and its products with the means from their definition.
    fn renew(&mut self) {
        self.v = self.weights();
        self.scale = 1.0;
        self.products = [0, 1].map(|class| Row::Dense(&self.means[class]).dot(&self.v));
    }
}

impl Online for Spam {
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        self.steps += 1;
        let SpamParams { zeta, lambda } = self.params;
        let eta = zeta / (self.steps as f64).sqrt();
        let [b, a] = self.products.map(|product| self.scale * product);
        let alpha = b - a;

        let score = self.scale * x.dot(&self.v);
        let slope = if positive {
            2.0 * (1.0 - self.share) * (score - a - 1.0 - alpha)
        } else {
            2.0 * self.share * (score - b + 1.0 + alpha)
        };
        let k = -eta * slope / self.scale;
        x.add_to(k, &mut self.v);
        for (product, mean) in self.products.iter_mut().zip(&self.means) {
            *product += k * x.dot(mean);
        }
        self.scale /= 1.0 + eta * lambda;
        let every = self.v.len().max(1) as u64;
        if self.steps.is_multiple_of(every) || self.scale < SMALLEST {
            self.renew();
        }
    }

    fn weights(&self) -> Vec<f64> {
        self.v.iter().map(|v| self.scale * v).collect()
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        let square = pairwise::square(at.scores, at.positive).unwrap_or(f64::NAN);
        let balance = self.share * (1.0 - self.share);
        balance * square + 0.5 * self.params.lambda * at.norm_sq
    }
}

/// Learns from the training part by SPAM, ba-ubauc and logistic regression, each with its default parameters, and tells
/// how well each orders the test part.
fn compare(train: &Dataset, test: &Dataset) -> Result<String> {
    let divisors = Scale::MaxAbs.divisors(train.rows(), None, Origin::Zero)?;
    let divisors = Some(&divisors[..]);

    let learner = Spam::new(train, divisors, &SpamParams::default())?;
    let given = OnlineInputs {
        divisors,
        progress: None,
    };
    let spam = passes::fit(train, &given, learner, &Passes::default())?;

    let given = ba_ubauc::BatchInputs {
        divisors,
        ..Default::default()
    };
    let ba_ubauc = ba_ubauc::fit(train, &given, &<_>::default())?;
    let logistic = ba_ubauc::fit(train, &given, &Logistic::default().params())?;

    let mut text = format!("{} passes, objective {:.5}\n", spam.passes, spam.objective);
    let found = [
        ("spam", spam.weights),
        ("ba-ubauc", ba_ubauc.weights),
        ("logistic", logistic.weights),
    ];
    for (name, weights) in found {
        let model = Model::linear(weights, 0.0);
        let auc = auc(&model.scores(test.rows())?, test.positive())?.auc;
        let _ = writeln!(text, "{name:<9} test AUC {auc:.4}"); // a String takes all that is written
    }
    Ok(text)
}

/// Sample 0 of a made-up population to learn from, sample 1 to judge by.
fn generated(sample: u64, params: &GenerateParams) -> Result<Dataset> {
    let params = GenerateParams {
        sample,
        ..params.clone()
    };
    let mut generator = Generator::new(&params)?;
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut positive = Vec::new();
    while let Some(row) = generator.next_row() {
        positive.push(row.positive);
        indices.extend(row.entries.iter().map(|(j, _)| *j));
        values.extend(row.entries.iter().map(|(_, x)| *x));
        starts.push(indices.len());
    }
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_pos,
        n_neg: positive.len() - n_pos,
        positive,
        names: ["-1".to_string(), "1".to_string()],
    };
    let rows = Csr::new(starts, indices, values, params.dim as usize)?;
    Dataset::new(Rows::smaller(rows), labels, Vec::new())
}

/// A file to learn from and one to judge by, with the same positive class.
fn from_files(train: &Path, test: &Path) -> Result<[Dataset; 2]> {
    let options = ReadOptions::default();
    let train = read(train, &options)?.binary(&Choice::Larger)?;
    let positive = Choice::Positive(train.class_names()[1].clone());
    let test = read(test, &options)?.binary(&positive)?;
    Ok([train, test])
}

fn main() -> ExitCode {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    let data = match files.as_slice() {
        [] => {
            let params = GenerateParams::default();
            generated(0, &params).and_then(|train| Ok([train, generated(1, &params)?]))
        }
        [train, test] => from_files(train.as_ref(), test.as_ref()),
        _ => {
            eprintln!("usage: spam [TRAIN TEST]");
            return ExitCode::from(2);
        }
    };
    match data.and_then(|[train, test]| compare(&train, &test)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
