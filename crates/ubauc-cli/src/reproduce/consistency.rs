//! `ubauc reproduce consistency`: how far learned scorers are from the best linear one, on populations where that is known.
//!
//! Four populations of normal mixtures in 10 dimensions ([`Population`], whose AUC(w) is exact), Δ = m⁺ − m⁻:
//!
//!   normal    N(±δu/2, I), AUC 0.9: the best scorer of all is linear; 10 % positives
//!   rare      the same with 1 % positives
//!   unequal   variances of the positives are 9 in half of the features, else all are 1; the likelihood ratio is quadratic
//!   outliers  5 % of the positives are far out, below the negatives and to the side
//!
//! The excess risk of a scorer is AUC(w*) − AUC(w), w* the best linear one: no test sample, and so no error but that of
//! training. γ = 1/N for every loss, C = N of the ranking SVM, so that regularisation vanishes as examples grow.
//!
//! In `normal` and `rare` the classes are symmetric about every plane through u, so a convex loss that is a sum over
//! examples or pairs, with a penalty ‖w‖², has a minimiser along u: every method should come down to 0 there. Least squares has
//! w ∝ (a⁺Σ⁺ + a⁻Σ⁻)⁻¹Δ, where a_y is the weight of a class: in `unequal` it is best where the classes are balanced, and has a
//! limit above 0 where they are not.
//!
//! Generalisation: AUC on the training sample less AUC of the population, `normal` in more and more dimensions.

mod view;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;
use ubauc::algorithm::{BaUbauc, FitInputs, Logistic, Spec, Stop, SvmOr, fit};
use ubauc::data::dataset::Dataset;
use ubauc::data::mixture::{Component, Population};
use ubauc::data::scale::Scale;
use ubauc::document::numbers::thousands;
use ubauc::metrics::auc;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::solver::svm_or::SvmOrParams;

use super::state::write_whole;
use super::{Asked, publish};
use crate::output::Output;
use crate::progress::Progress;

pub(super) const RUNS: usize = 20;
pub(super) const MAX_ROWS: usize = 100_000;
const ROWS: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
/// Of large samples fewer are drawn: this many rows in all …
const ROWS_IN_ALL: usize = 1_000_000;
/// … but no fewer samples than this.
const LEAST_RUNS: usize = 4;
/// A sample with fewer positives is left out.
const LEAST_POSITIVES: usize = 5;
const DIM: usize = 10;
/// Of each class, to estimate the AUC of the likelihood ratio: as many as this …
const BAYES_ROWS: usize = 400_000;
/// … or this many times the rows of the largest sample.
const BAYES_TIMES: usize = 40;

/// Of the samples whose generalisation is looked at.
const GAP_ROWS: usize = 1_000;
const GAP_DIMS: [usize; 4] = [10, 30, 100, 300];
const GAP_GAMMAS: [f64; 5] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4];
const GAP_METHODS: [Method; 2] = [
    Method::balanced(Loss::Hinge),
    Method::balanced(Loss::Logistic),
];

const PROGRESS: &str = "{wide_bar} {percent} %, {eta} left";

/// δ of an AUC of 0.9: √2·Φ⁻¹(0.9).
const DELTA: f64 = 1.812_387_604_873_646_5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// The paper's bound, β = 0.5.
    Hinge,
    /// κ = 0.05, β = 0.5.
    Soft,
    Logistic,
    /// β so large that nothing else counts.
    LeastSquares,
    RankingSvm,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Method {
    loss: Loss,
    class_weight: ClassWeight,
}

/// β of least squares: the bound adds a millionth.
const ONLY_SQUARES: f64 = 1e6;

impl Method {
    const fn balanced(loss: Loss) -> Method {
        Method {
            loss,
            class_weight: ClassWeight::Balanced,
        }
    }

    /// Each with and without balanced classes; pairs have no weights to balance.
    fn all() -> Vec<Method> {
        let losses = [Loss::Hinge, Loss::Soft, Loss::Logistic, Loss::LeastSquares];
        let both = losses.into_iter().flat_map(|loss| {
            [ClassWeight::None, ClassWeight::Balanced]
                .map(|class_weight| Method { loss, class_weight })
        });
        let ranking = Method {
            loss: Loss::RankingSvm,
            class_weight: ClassWeight::None,
        };
        both.chain([ranking]).collect()
    }

    fn name(self) -> &'static str {
        let balanced = self.class_weight == ClassWeight::Balanced;
        match (self.loss, balanced) {
            (Loss::Hinge, false) => "hinge",
            (Loss::Hinge, true) => "hinge, balanced",
            (Loss::Soft, false) => "soft bound",
            (Loss::Soft, true) => "soft bound, balanced",
            (Loss::Logistic, false) => "logistic",
            (Loss::Logistic, true) => "logistic, balanced",
            (Loss::LeastSquares, false) => "least squares",
            (Loss::LeastSquares, true) => "least squares, balanced",
            (Loss::RankingSvm, _) => "ranking SVM",
        }
    }

    fn spec(self, gamma: f64) -> Spec {
        let class_weight = self.class_weight;
        let bound = |beta, softness, gamma, tolerance| {
            Spec::BaUbauc(BaUbauc {
                params: BaUbaucParams {
                    beta,
                    softness,
                    gamma,
                    class_weight,
                    tolerance,
                    ..BaUbaucParams::default()
                },
                ..BaUbauc::default()
            })
        };
        match self.loss {
            Loss::Hinge => bound(0.5, 0.0, gamma, 1e-6),
            Loss::Soft => bound(0.5, 0.05, gamma, 1e-8),
            Loss::LeastSquares => bound(ONLY_SQUARES, 1.0, ONLY_SQUARES * gamma, 1e-10),
            Loss::Logistic => Spec::Logistic(Logistic {
                gamma,
                class_weight,
                tolerance: 1e-8,
                ..Logistic::default()
            }),
            Loss::RankingSvm => Spec::SvmOr(SvmOr {
                params: SvmOrParams {
                    c: 1.0 / gamma,
                    tolerance: 1e-5,
                    ..SvmOrParams::default()
                },
                scale: Scale::None,
            }),
        }
    }

    fn learn(self, data: &Dataset, gamma: f64) -> Result<Learned> {
        let outcome = fit(data, &FitInputs::default(), &self.spec(gamma))?;
        Ok(Learned {
            is_converged: outcome.stop == Stop::Converged,
            weights: outcome.model.weights,
        })
    }
}

struct Learned {
    weights: Vec<f64>,
    is_converged: bool,
}

/// A population with the share of positives in its samples.
struct Design {
    name: &'static str,
    population: Population,
    positive_share: f64,
}

impl Design {
    fn all() -> Result<Vec<Design>> {
        Ok(vec![
            Design::new("normal", normal(DIM)?, 0.1),
            Design::new("rare", normal(DIM)?, 0.01),
            Design::new("unequal", unequal()?, 0.1),
            Design::new("outliers", outliers()?, 0.1),
        ])
    }

    fn new(name: &'static str, population: Population, positive_share: f64) -> Design {
        Design {
            name,
            population,
            positive_share,
        }
    }

    fn positives(&self, rows: usize) -> usize {
        (self.positive_share * rows as f64).round() as usize
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Dataset> {
        let n_pos = self.positives(rows);
        Ok(self.population.sample(n_pos, rows - n_pos, seed)?)
    }

    fn fact(&self, best: f64, max_rows: usize, seed: u64) -> Result<Fact> {
        let rows = BAYES_ROWS.min(max_rows.saturating_mul(BAYES_TIMES));
        let data = self.population.sample(rows, rows, seed)?;
        let scores: Vec<f64> = (0..data.rows().len())
            .into_par_iter()
            .map(|i| self.population.log_likelihood_ratio(data.rows().row(i)))
            .collect();
        let found = auc(&scores, data.positive())?;
        Ok(Fact {
            name: self.name,
            dim: self.population.dim(),
            positive_share: self.positive_share,
            best_linear_auc: best,
            likelihood_ratio_auc: Mean {
                mean: found.auc,
                standard_error: found.variance.sqrt(),
            },
        })
    }
}

fn component(share: f64, mean: Vec<f64>, variance: Vec<f64>) -> Component {
    Component {
        share,
        mean,
        variance,
    }
}

/// N(±δu/2, I), u = (1, …, 1)/√d.
fn normal(dim: usize) -> Result<Population> {
    let mean = 0.5 * DELTA / (dim as f64).sqrt();
    let [positive, negative] =
        [mean, -mean].map(|m| vec![component(1.0, vec![m; dim], vec![1.0; dim])]);
    Ok(Population::new(positive, negative)?)
}

/// With the means 0 and m in every feature, Δ·(V⁺ + V⁻)⁻¹Δ = 5m²/10 + 5m²/2 = 3m², so that AUC(w*) = 0.9 for 3m² = δ²/2.
fn unequal() -> Result<Population> {
    let mean = DELTA / 6_f64.sqrt();
    let variance = |j: usize| if j < DIM / 2 { 9.0 } else { 1.0 };
    let positive = component(1.0, vec![mean; DIM], (0..DIM).map(variance).collect());
    let negative = component(1.0, vec![0.0; DIM], vec![1.0; DIM]);
    Ok(Population::new(vec![positive], vec![negative])?)
}

/// The classes of `normal`, but u = e₁, with 5 % of the positives about (−6, 6, 0, …).
fn outliers() -> Result<Population> {
    let at = |first: f64, second: f64| {
        let mut mean = vec![0.0; DIM];
        (mean[0], mean[1]) = (first, second);
        mean
    };
    let ones = || vec![1.0; DIM];
    let positive = vec![
        component(0.95, at(0.5 * DELTA, 0.0), ones()),
        component(0.05, at(-6.0, 6.0), ones()),
    ];
    let negative = vec![component(1.0, at(-0.5 * DELTA, 0.0), ones())];
    Ok(Population::new(positive, negative)?)
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, Serialize)]
struct Mean {
    mean: f64,
    /// 0 of a single value.
    standard_error: f64,
}

impl Mean {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Mean {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        let squares: f64 = values.map(|x| (x - mean) * (x - mean)).sum();
        Mean {
            mean,
            standard_error: (squares / (n - 1.0).max(1.0) / n).sqrt(),
        }
    }
}

/// What is known of a population.
#[derive(Debug, Clone, Serialize)]
struct Fact {
    name: &'static str,
    dim: usize,
    positive_share: f64,
    best_linear_auc: f64,
    /// Of the likelihood ratio, by simulation: no scorer is better.
    likelihood_ratio_auc: Mean,
}

/// One method on samples of one size.
#[derive(Debug, Clone, Serialize)]
struct Excess {
    population: &'static str,
    method: &'static str,
    rows: usize,
    runs: usize,
    /// AUC(w*) − AUC(w).
    excess: Mean,
    /// Fits that did not reach their gap.
    not_converged: usize,
}

/// One method at one γ.
#[derive(Debug, Clone, Serialize)]
struct Gap {
    method: &'static str,
    rows: usize,
    dim: usize,
    gamma: f64,
    runs: usize,
    train_auc: Mean,
    auc: Mean,
    /// `train_auc` − `auc`.
    gap: Mean,
}

/// All that is found.
#[derive(Debug, Clone, Serialize)]
struct Consistency {
    #[serde(skip)]
    notes: Vec<String>,
    runs: usize,
    max_rows: usize,
    seed: u64,
    populations: Vec<Fact>,
    excess: Vec<Excess>,
    generalisation: Vec<Gap>,
}

pub(super) fn run(asked: &Asked, seed: u64, output: Output) -> Result<()> {
    let found = Simulation {
        runs: asked.runs.unwrap_or(RUNS),
        max_rows: asked.max_rows.unwrap_or(MAX_ROWS),
        seed,
    }
    .run(output)?;
    let file = asked.file("consistency.json");
    publish(&found, &found, &file, output)?;
    write_whole(&file, &(serde_json::to_string_pretty(&found)? + "\n"))
}

struct Simulation {
    runs: usize,
    max_rows: usize,
    seed: u64,
}

/// Counts rows that were learned from.
struct Counter {
    done: AtomicU64,
    bar: Mutex<Progress>,
}

impl Counter {
    fn add(&self, rows: usize) {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        if let Ok(mut bar) = self.bar.try_lock() {
            bar.at(done);
        }
    }
}

impl Simulation {
    fn run(&self, output: Output) -> Result<Consistency> {
        let designs = Design::all()?;
        let total: usize = (designs.iter().enumerate())
            .flat_map(|(at, design)| self.sizes(at, design))
            .map(|size| self.runs_of(size.rows) * size.rows)
            .sum::<usize>()
            + GAP_DIMS.len() * self.runs * self.gap_rows();
        let counter = Counter {
            done: AtomicU64::new(0),
            bar: Mutex::new(Progress::new(output, Some(total as u64), PROGRESS)),
        };
        let (mut populations, mut excess) = (Vec::new(), Vec::new());
        for (at, design) in designs.iter().enumerate() {
            let best = design.population.best_linear().1;
            populations.push(design.fact(best, self.max_rows, self.own_seed(at, 0, 0))?);
            for size in self.sizes(at, design) {
                excess.extend(self.excess(design, best, size, &counter)?);
            }
        }
        let mut generalisation = Vec::new();
        for (at, &dim) in GAP_DIMS.iter().enumerate() {
            generalisation.extend(self.gaps(dim, designs.len() + at, &counter)?);
        }
        Ok(Consistency {
            notes: self.notes(),
            runs: self.runs,
            max_rows: self.max_rows,
            seed: self.seed,
            populations,
            excess,
            generalisation,
        })
    }

    fn notes(&self) -> Vec<String> {
        let sizes = ROWS.into_iter().filter(|&rows| rows <= self.max_rows);
        let samples = sizes.map(|rows| {
            let (runs, rows) = (self.runs_of(rows) as u64, thousands(rows as u64));
            format!("{runs} of {rows} rows")
        });
        let samples: Vec<String> = samples.collect();
        let gap = thousands(self.gap_rows() as u64);
        vec![
            format!(
                "Samples of each population (seed {}): {}; {} of {gap} rows for the generalisation.",
                self.seed,
                samples.join(", "),
                self.runs
            ),
            "Every loss has γ = 1/N (the ranking SVM C = N), the bounds β = 0.5, the soft one a softness of 0.05.".to_string(),
        ]
    }

    /// The sizes of samples of a population, which has this number.
    fn sizes(&self, population: usize, design: &Design) -> Vec<Size> {
        let sizes = ROWS.iter().enumerate().map(|(at, &rows)| Size {
            rows,
            number: [population, 1 + at],
        });
        let fits = |size: &Size| {
            let n_pos = design.positives(size.rows);
            size.rows <= self.max_rows && n_pos >= LEAST_POSITIVES
        };
        sizes.filter(fits).collect()
    }

    fn runs_of(&self, rows: usize) -> usize {
        self.runs.min((ROWS_IN_ALL / rows).max(LEAST_RUNS))
    }

    fn gap_rows(&self) -> usize {
        GAP_ROWS.min(self.max_rows)
    }

    /// Of one sample, or of the likelihood ratio.
    fn own_seed(&self, population: usize, size: usize, run: usize) -> u64 {
        let number = (population as u64) << 48 | (size as u64) << 40 | run as u64;
        self.seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Every method on the same samples.
    fn excess(
        &self,
        design: &Design,
        best: f64,
        size: Size,
        counter: &Counter,
    ) -> Result<Vec<Excess>> {
        let Size {
            rows,
            number: [population, at],
        } = size;
        let runs = self.runs_of(rows);
        let found: Vec<Vec<(f64, bool)>> = (0..runs)
            .into_par_iter()
            .map(|run| {
                let data = design.sample(rows, self.own_seed(population, at, run))?;
                let judged = Method::all().into_iter().map(|method| {
                    let learned = method.learn(&data, 1.0 / rows as f64)?;
                    let excess = best - design.population.auc(&learned.weights);
                    Ok((excess, learned.is_converged))
                });
                let judged = judged.collect::<Result<_>>();
                counter.add(rows);
                judged
            })
            .collect::<Result<_>>()?;
        let of_method = |(k, method): (usize, Method)| Excess {
            population: design.name,
            method: method.name(),
            rows,
            runs,
            excess: Mean::of(found.iter().map(|run| run[k].0)),
            not_converged: found.iter().filter(|run| !run[k].1).count(),
        };
        Ok(Method::all()
            .into_iter()
            .enumerate()
            .map(of_method)
            .collect())
    }

    /// Every γ on the same samples.
    fn gaps(&self, dim: usize, number: usize, counter: &Counter) -> Result<Vec<Gap>> {
        let design = Design::new("normal", normal(dim)?, 0.1);
        let rows = self.gap_rows();
        let points: Vec<(Method, f64)> = (GAP_METHODS.into_iter())
            .flat_map(|method| GAP_GAMMAS.map(|gamma| (method, gamma)))
            .collect();
        let found: Vec<Vec<[f64; 2]>> = (0..self.runs)
            .into_par_iter()
            .map(|run| {
                let data = design.sample(rows, self.own_seed(number, 1, run))?;
                let judged = points.iter().map(|(method, gamma)| {
                    let weights = method.learn(&data, *gamma)?.weights;
                    let score = |i| data.rows().row(i).dot(&weights);
                    let scores: Vec<f64> = (0..rows).map(score).collect();
                    let train = auc(&scores, data.positive())?.auc;
                    Ok([train, design.population.auc(&weights)])
                });
                let judged = judged.collect::<Result<_>>();
                counter.add(rows);
                judged
            })
            .collect::<Result<_>>()?;
        let of_point = |(k, (method, gamma)): (usize, &(Method, f64))| Gap {
            method: method.name(),
            rows,
            dim,
            gamma: *gamma,
            runs: self.runs,
            train_auc: Mean::of(found.iter().map(|run| run[k][0])),
            auc: Mean::of(found.iter().map(|run| run[k][1])),
            gap: Mean::of(found.iter().map(|run| run[k][0] - run[k][1])),
        };
        Ok(points.iter().enumerate().map(of_point).collect())
    }
}

/// N, and the numbers of the population and of N.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    number: [usize; 2],
}
