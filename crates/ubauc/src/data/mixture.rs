//! Two classes of normal mixtures: the AUC of every linear scorer has a closed form.
//!
//! Class y is the component k with probability p_k, and a component has independent features N(m_k, V_k), V_k diagonal. For
//! w ≠ 0 and a pair of components, k of the positives and l of the negatives, w·x⁺ − w·x⁻ is normal, hence
//!
//! ```text
//! AUC(w)  = Σ_{k,l} p_k p_l Φ(t_kl),   t = w·m/√q,   m = m_k − m_l,   q = Σ_j w_j² (V_k + V_l)_j
//! ∇AUC(w) = Σ_{k,l} p_k p_l φ(t) (m/√q − t (V_k + V_l) w / q)
//! ```
//!
//! No sample is needed to judge a scorer. With one component a class, t is largest, by Cauchy and Schwarz, at
//! w ∝ (V⁺ + V⁻)⁻¹(m⁺ − m⁻): that is the best linear scorer, whatever the share of positives. With more components AUC
//! may have several maxima, so [`Population::best_linear`] climbs from several places and takes the highest.
//!
//! No scorer at all is better than the likelihood ratio (Neyman and Pearson), which is linear in x only if all V are equal
//! and each class has one component: other populations are misspecified for a linear scorer.

use super::dataset::Dataset;
use super::generate::{Deviates, mix, normal_density, upper_tail};
use super::labels::Binary;
use super::rows::{Dense, Row, Rows, dot};
use crate::{Error, Result};

/// Steps of a climb, at most.
const MOST_STEPS: usize = 20_000;
/// A step that gains less ends it.
const LEAST_GAIN: f64 = 1e-16;

/// One normal component of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// p_k > 0, up to a common factor.
    pub share: f64,
    /// m_k.
    pub mean: Vec<f64>,
    /// The diagonal of V_k, above 0.
    pub variance: Vec<f64>,
}

/// Both classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    positive: Vec<Component>,
    negative: Vec<Component>,
}

impl Population {
    /// Refuses a class without components, components of different dimensions and numbers without meaning.
    pub fn new(mut positive: Vec<Component>, mut negative: Vec<Component>) -> Result<Population> {
        let dim = positive.first().map_or(0, |c| c.mean.len());
        if dim == 0 || negative.is_empty() {
            return Err(refusal("components", "none", "at least one a class"));
        }
        for class in [&mut positive, &mut negative] {
            for Component {
                share,
                mean,
                variance,
            } in class.iter()
            {
                for length in [mean.len(), variance.len()] {
                    if length != dim {
                        return Err(Error::Length {
                            what: "numbers of a component",
                            expected: dim,
                            got: length,
                        });
                    }
                }
                if let Some(bad) = mean.iter().find(|m| !m.is_finite()) {
                    return Err(refusal("mean", bad, "finite"));
                }
                let above = variance.iter().chain([share]);
                if let Some(bad) = above.into_iter().find(|v| !(**v > 0.0 && v.is_finite())) {
                    return Err(refusal("variance or share", bad, "finite and above 0"));
                }
            }
            let total: f64 = class.iter().map(|c| c.share).sum();
            class.iter_mut().for_each(|c| c.share /= total);
        }
        Ok(Population { positive, negative })
    }

    /// The number of features.
    pub fn dim(&self) -> usize {
        self.positive[0].mean.len()
    }

    /// AUC(w) of the module's head; 1/2 for w = 0, which ties everything.
    pub fn auc(&self, w: &[f64]) -> f64 {
        let mut auc = 0.0;
        for pair in self.pairs(w) {
            auc += pair.share * upper_tail(-pair.t);
        }
        auc
    }

    /// ∇AUC(w), for w ≠ 0.
    pub fn auc_gradient(&self, w: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; w.len()];
        for Pair {
            share,
            t,
            q,
            of: [k, l],
        } in self.pairs(w)
        {
            let size = share * normal_density(t);
            for (j, g) in gradient.iter_mut().enumerate() {
                let variance = k.variance[j] + l.variance[j];
                *g += size * ((k.mean[j] - l.mean[j]) / q.sqrt() - t * variance * w[j] / q);
            }
        }
        gradient
    }

    /// The pairs of components, as w sees them.
    fn pairs<'a>(&'a self, w: &'a [f64]) -> impl Iterator<Item = Pair<'a>> {
        let of_negatives = |k: &'a Component| self.negative.iter().map(move |l| [k, l]);
        let pairs = self.positive.iter().flat_map(of_negatives);
        pairs.map(|[k, l]| {
            let (mut a, mut q) = (0.0, 0.0);
            for (j, w) in w.iter().enumerate() {
                a += w * (k.mean[j] - l.mean[j]);
                q += w * w * (k.variance[j] + l.variance[j]);
            }
            Pair {
                share: k.share * l.share,
                t: if q > 0.0 { a / q.sqrt() } else { 0.0 },
                q,
                of: [k, l],
            }
        })
    }

    /// Weights of length 1 with the highest AUC of all that is found from several starts, and that AUC: exact with one
    /// component a class.
    pub fn best_linear(&self) -> (Vec<f64>, f64) {
        let discriminant = |k: &Component, l: &Component| -> Vec<f64> {
            let of = |j: usize| (k.mean[j] - l.mean[j]) / (k.variance[j] + l.variance[j]);
            unit((0..self.dim()).map(of).collect())
        };
        let pairs = self.positive.iter().flat_map(|k| {
            let of = move |l| discriminant(k, l);
            self.negative.iter().map(of)
        });
        let starts: Vec<Vec<f64>> = pairs.collect();
        let mut middle = vec![0.0; self.dim()];
        for start in &starts {
            middle.iter_mut().zip(start).for_each(|(m, w)| *m += w);
        }
        let climbs = starts.into_iter().chain([unit(middle)]);
        let found = climbs.map(|start| self.climb(start));
        found
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .unwrap_or_default()
    }

    /// Along the gradient, with steps that grow while they gain and halve while they do not.
    fn climb(&self, start: Vec<f64>) -> (Vec<f64>, f64) {
        let (mut w, mut auc, mut step) = (start.clone(), self.auc(&start), 1.0);
        for _ in 0..MOST_STEPS {
            let gradient = self.auc_gradient(&w);
            let along = |step: f64| {
                let moved = w.iter().zip(&gradient).map(|(w, g)| w + step * g);
                unit(moved.collect())
            };
            let mut next = along(step);
            while self.auc(&next) < auc && step > 1e-12 {
                step *= 0.5;
                next = along(step);
            }
            let gained = self.auc(&next) - auc;
            if gained <= LEAST_GAIN {
                break;
            }
            (w, auc, step) = (next, auc + gained, 2.0 * step);
        }
        let auc = self.auc(&w);
        (w, auc)
    }

    /// ln p(x | +) − ln p(x | −).
    pub fn log_likelihood_ratio(&self, row: Row<'_>) -> f64 {
        let mut x = vec![0.0; self.dim()];
        row.for_each(|j, value| x[j] = value);
        let x = &x;
        log_density(&self.positive, x) - log_density(&self.negative, x)
    }

    /// A sample with this number of each class, positives first.
    pub fn sample(&self, n_pos: usize, n_neg: usize, seed: u64) -> Result<Dataset> {
        let mut deviates = Deviates::new(mix(seed, 0));
        let mut values = Vec::with_capacity((n_pos + n_neg) * self.dim());
        for (class, n) in [(&self.positive, n_pos), (&self.negative, n_neg)] {
            for _ in 0..n {
                let mut left = deviates.uniform();
                let drawn = class.iter().find(|c| {
                    left -= c.share;
                    left < 0.0
                });
                // What rounding leaves of the shares is the last one's.
                let component = drawn.unwrap_or(&class[class.len() - 1]);
                for (mean, variance) in component.mean.iter().zip(&component.variance) {
                    values.push(mean + variance.sqrt() * deviates.normal());
                }
            }
        }
        let rows = Rows::Dense(Dense::new(values, n_pos + n_neg, self.dim())?);
        let labels = Binary {
            positive: (0..n_pos + n_neg).map(|i| i < n_pos).collect(),
            names: ["0".to_string(), "1".to_string()],
            n_pos,
            n_neg,
        };
        Dataset::new(rows, labels, Vec::new())
    }
}

/// A pair of components with t and q of the module's head.
struct Pair<'a> {
    share: f64,
    t: f64,
    q: f64,
    of: [&'a Component; 2],
}

fn refusal(name: &'static str, value: impl ToString, must: &'static str) -> Error {
    Error::Parameter {
        name,
        value: value.to_string(),
        must,
    }
}

/// Of length 1, unless it is 0.
fn unit(mut w: Vec<f64>) -> Vec<f64> {
    let length = dot(&w, &w).sqrt();
    if length > 0.0 {
        w.iter_mut().for_each(|w| *w /= length);
    }
    w
}

/// Up to a constant.
fn log_density(class: &[Component], x: &[f64]) -> f64 {
    let logs: Vec<f64> = (class.iter())
        .map(|c| {
            let features = x.iter().zip(&c.mean).zip(&c.variance);
            let of = |((x, m), v): ((&f64, &f64), &f64)| (x - m) * (x - m) / v + libm::log(*v);
            libm::log(c.share) - 0.5 * features.map(of).sum::<f64>()
        })
        .collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - largest)).sum();
    largest + libm::log(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::auc;

    fn component(share: f64, mean: &[f64], variance: &[f64]) -> Component {
        Component {
            share,
            mean: mean.to_vec(),
            variance: variance.to_vec(),
        }
    }

    /// Three components of different widths; nothing is symmetric.
    fn uneven() -> Population {
        let positive = vec![
            component(3.0, &[1.0, 0.5, 0.0], &[1.0, 4.0, 0.5]),
            component(1.0, &[-2.0, 3.0, 1.0], &[0.3, 1.0, 2.0]),
        ];
        let negative = vec![component(1.0, &[0.0, 0.0, 0.2], &[2.0, 1.0, 1.0])];
        Population::new(positive, negative).unwrap()
    }

    #[test]
    fn the_closed_form_is_what_samples_have() {
        let population = uneven();
        let data = population.sample(30_000, 40_000, 5).unwrap();
        let of = |score: &dyn Fn(Row<'_>) -> f64| {
            let scores: Vec<f64> = (0..data.rows().len())
                .map(|i| score(data.rows().row(i)))
                .collect();
            auc(&scores, data.positive()).unwrap()
        };
        for w in [[1.0, 0.0, 0.0], [0.5, -1.0, 2.0], [-0.3, 0.7, 0.1]] {
            let sampled = of(&|row| row.dot(&w));
            let error = (sampled.auc - population.auc(&w)).abs();
            // Four standard errors.
            assert!(error < 4.0 * sampled.variance.sqrt(), "{w:?}: {error}");
        }
        let (best, highest) = population.best_linear();
        assert!(of(&|row| population.log_likelihood_ratio(row)).auc > highest + 0.02);
        assert!((population.auc(&best) - highest).abs() < 1e-15);
    }

    #[test]
    fn one_component_a_class_has_the_discriminant_of_both_covariances() {
        let positive = vec![component(1.0, &[1.0, -0.5], &[4.0, 1.0])];
        let negative = vec![component(1.0, &[0.0, 0.5], &[1.0, 1.0])];
        let population = Population::new(positive, negative).unwrap();
        // m = (1, −1), V = (5, 2): m·V⁻¹m = 1/5 + 1/2 = 0.7, and Φ(√0.7) = 0.79863…
        let (w, auc) = population.best_linear();
        assert!((w[1] / w[0] + 2.5).abs() < 1e-6, "{w:?}");
        assert!((auc - (1.0 - upper_tail(0.7_f64.sqrt()))).abs() < 1e-15);
        assert_eq!(population.auc(&[0.0, 0.0]), 0.5);
    }

    #[test]
    fn what_is_no_population_is_refused() {
        let fine = || vec![component(1.0, &[0.0], &[1.0])];
        assert!(Population::new(Vec::new(), fine()).is_err());
        assert!(Population::new(fine(), Vec::new()).is_err());
        for bad in [
            component(0.0, &[0.0], &[1.0]),
            component(1.0, &[f64::NAN], &[1.0]),
            component(1.0, &[0.0], &[0.0]),
            component(1.0, &[0.0, 1.0], &[1.0, 1.0]),
            component(1.0, &[0.0], &[1.0, 1.0]),
        ] {
            assert!(Population::new(fine(), vec![bad]).is_err());
        }
    }

    proptest! {
        /// No direction is better than the best; the gradient is that of differences.
        #[test]
        fn nothing_is_above_the_best(w in proptest::array::uniform3(-1.0..1.0_f64), j in 0..3_usize) {
            let population = uneven();
            prop_assume!(dot(&w, &w) > 0.01);
            prop_assert!(population.auc(&w) <= population.best_linear().1 + 1e-12);
            let h = 1e-5;
            let [mut up, mut down] = [w, w];
            up[j] += h;
            down[j] -= h;
            let slope = (population.auc(&up) - population.auc(&down)) / (2.0 * h);
            // Differences of step h err by h² times a third derivative, at most some thousands at this distance from 0.
            prop_assert!((slope - population.auc_gradient(&w)[j]).abs() < 1e-6);
        }
    }
}
