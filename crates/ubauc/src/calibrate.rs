//! Scores to probabilities, without changing their order.
//!
//! **Sigmoid** [Platt 1999]: p(c) = 1/(1 + e^{−(ac + b)}), a and b by maximum likelihood
//!
//! ```text
//! min_{a,b} −Σ s_i { t_i ln p_i + (1 − t_i) ln(1 − p_i) },   t = (S⁺ + 1)/(S⁺ + 2) or 1/(S⁻ + 2),
//! ```
//!
//! S± the weights of the classes: the targets keep a finite where the classes are apart. Newton's method with halved
//! steps [Lin, Lin & Weng 2007]. Where scores that were held out are worse than chance a would be negative and turn the
//! order around; then a is [`FLAT`] of one over the spread of the scores, which is as flat as an order allows.
//!
//! **Isotonic**: the non-decreasing step function of least squares, by pooling neighbours that are out of order
//! [Ayer et al. 1955]; between the middles of two steps it goes in a straight line. It has plateaus, which would tie
//! scores that differ, so p is
//!
//! ```text
//! (1 − ε) isotonic(c) + ε sigmoid(c),   ε = 1e-3,
//! ```
//!
//! increasing wherever the sigmoid is, and no further from the step function than ε. AUC of the probabilities is then that
//! of the scores, to the resolution of a double: scores that differ by less than about 1e-13 of their spread may tie.
//!
//! scikit-learn finds the same a and b (to 1e-8, of 100,000 scores), but its isotonic regression ties scores and so changes
//! their AUC (.7594 becomes .7602 there), which is why this is not left to it.
//!
//! Scores must come from models that have not seen their examples. Cost O(N log N).

use crate::data::scale::check_weights;
use crate::{Error, Result};

/// ε: how much of the sigmoid keeps the steps apart.
const TIE_BREAK: f64 = 1e-3;
/// The least slope, in units of one over the spread of the scores.
const FLAT: f64 = 1e-3;
/// Newton steps; a few are enough.
const MAX_STEPS: usize = 100;

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Two numbers: for few examples.
    Sigmoid,
    /// A step function, made strictly increasing.
    Isotonic,
}

/// An increasing map from scores to probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// a > 0.
    pub slope: f64,
    /// b.
    pub offset: f64,
    /// Scores where the isotonic part is known, increasing; none for a sigmoid alone.
    pub knots: Vec<f64>,
    /// What it is there, not decreasing.
    pub levels: Vec<f64>,
}

impl Calibration {
    /// From its numbers, which are checked.
    pub fn new(slope: f64, offset: f64, knots: Vec<f64>, levels: Vec<f64>) -> Result<Calibration> {
        let (expected, got) = (knots.len(), levels.len());
        if expected != got {
            return Err(Error::Length {
                what: "levels",
                expected,
                got,
            });
        }
        let rising = knots.windows(2).all(|k| k[0] < k[1])
            && levels.windows(2).all(|p| p[0] <= p[1])
            && levels.iter().all(|p| (0.0..=1.0).contains(p));
        if !(slope > 0.0 && slope.is_finite() && offset.is_finite() && rising) {
            return Err(Error::Parameter {
                name: "calibration",
                value: format!("slope {slope}, offset {offset}"),
                must: "finite and increasing",
            });
        }
        Ok(Calibration {
            slope,
            offset,
            knots,
            levels,
        })
    }

    /// By held-out scores. `weights` are s_i ≥ 0, 1 if none; an example of weight 0 takes no part.
    pub fn fit(
        scores: &[f64],
        positive: &[bool],
        weights: Option<&[f64]>,
        method: Method,
    ) -> Result<Calibration> {
        if positive.len() != scores.len() {
            let (expected, got) = (scores.len(), positive.len());
            return Err(Error::Length {
                what: "labels",
                expected,
                got,
            });
        }
        if let Some(weights) = weights {
            check_weights(weights, scores.len())?;
        }
        if let Some(row) = scores.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite {
                what: "score",
                row,
                value: scores[row],
                must: "finite",
            });
        }
        let weight = |i: usize| weights.map_or(1.0, |s| s[i]);
        let mut examples: Vec<Scored> = (0..scores.len())
            .filter(|&i| weight(i) > 0.0)
            .map(|i| Scored {
                score: scores[i],
                positive: positive[i],
                weight: weight(i),
            })
            .collect();
        refuse_one_class(&examples)?;
        examples.sort_by(|a, b| a.score.total_cmp(&b.score));
        let (slope, offset) = sigmoid(&examples);
        let (knots, levels) = match method {
            Method::Sigmoid => (Vec::new(), Vec::new()),
            Method::Isotonic => isotonic(&examples),
        };
        Calibration::new(slope, offset, knots, levels)
    }

    /// The probability of +1, increasing in the score.
    pub fn probability(&self, score: f64) -> f64 {
        let smooth = logistic(self.slope * score + self.offset);
        if self.knots.is_empty() {
            return smooth;
        }
        (1.0 - TIE_BREAK) * self.step(score) + TIE_BREAK * smooth
    }

    /// The isotonic part: straight between two knots, constant beyond them.
    fn step(&self, score: f64) -> f64 {
        let after = self.knots.partition_point(|knot| *knot <= score);
        let level = |k: usize| self.levels[k];
        if after == 0 {
            return level(0);
        }
        if after == self.knots.len() {
            return level(after - 1);
        }
        let (low, high) = (self.knots[after - 1], self.knots[after]);
        // Halved, so that no difference overflows.
        let share = (0.5 * score - 0.5 * low) / (0.5 * high - 0.5 * low);
        level(after - 1) + share * (level(after) - level(after - 1))
    }
}

struct Scored {
    score: f64,
    positive: bool,
    weight: f64,
}

fn refuse_one_class(examples: &[Scored]) -> Result<()> {
    let first = examples.first().ok_or(Error::Empty)?.positive;
    if examples.iter().all(|e| e.positive == first) {
        let class = if first { "positive" } else { "negative" };
        return Err(Error::OneClass {
            class: class.to_string(),
            n: examples.len(),
        });
    }
    Ok(())
}

fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + libm::exp(-x))
    } else {
        let e = libm::exp(x);
        e / (1.0 + e)
    }
}

/// a and b, in units of the scores.
fn sigmoid(examples: &[Scored]) -> (f64, f64) {
    let total: f64 = examples.iter().map(|e| e.weight).sum();
    let share = |e: &Scored| e.weight / total;
    let mean: f64 = examples.iter().map(|e| share(e) * e.score).sum();
    let square = |e: &Scored| share(e) * (e.score - mean).powi(2);
    let spread = examples.iter().map(square).sum::<f64>().sqrt();
    let spread = if spread > 0.0 && spread.is_finite() {
        spread
    } else {
        1.0
    };
    let of_class = |class: bool| -> f64 {
        let members = examples.iter().filter(|e| e.positive == class);
        members.map(|e| e.weight).sum()
    };
    let (pos, neg) = (of_class(true), of_class(false));
    let targets = [1.0 / (neg + 2.0), (pos + 1.0) / (pos + 2.0)];
    let terms: Vec<Term> = examples
        .iter()
        .map(|e| Term {
            x: (e.score - mean) / spread,
            target: targets[usize::from(e.positive)],
            weight: e.weight,
        })
        .collect();
    let prior = libm::log((pos + 1.0) / (neg + 1.0));
    let [mut a, mut b] = newton(&terms, [0.0, prior]);
    if a < FLAT {
        a = FLAT;
        b = prior;
    }
    (a / spread, b - a * mean / spread)
}

/// One example in units of the spread.
struct Term {
    x: f64,
    target: f64,
    weight: f64,
}

/// −Σ s { t ln p + (1 − t) ln(1 − p) } = Σ s { ln(1 + eᶻ) − tz }.
fn loss(terms: &[Term], [a, b]: [f64; 2]) -> f64 {
    let of = |term: &Term| {
        let z = a * term.x + b;
        let log = z.max(0.0) + libm::log1p(libm::exp(-z.abs()));
        term.weight * (log - term.target * z)
    };
    terms.iter().map(of).sum()
}

fn newton(terms: &[Term], mut at: [f64; 2]) -> [f64; 2] {
    let total: f64 = terms.iter().map(|t| t.weight).sum();
    let mut value = loss(terms, at);
    for _ in 0..MAX_STEPS {
        // A trace of a ridge keeps the 2 × 2 system regular where all scores are equal.
        let (mut aa, mut ab, mut bb) = (1e-12 * total, 0.0, 1e-12 * total);
        let (mut ga, mut gb) = (0.0, 0.0);
        for t in terms {
            let p = logistic(at[0] * t.x + at[1]);
            let (g, h) = (t.weight * (p - t.target), t.weight * p * (1.0 - p));
            ga += g * t.x;
            gb += g;
            aa += h * t.x * t.x;
            ab += h * t.x;
            bb += h;
        }
        if ga.abs().max(gb.abs()) <= 1e-10 * total {
            break;
        }
        let determinant = aa * bb - ab * ab;
        let step = [
            -(bb * ga - ab * gb) / determinant,
            -(aa * gb - ab * ga) / determinant,
        ];
        let slope = ga * step[0] + gb * step[1];
        let mut length = 1.0;
        loop {
            let next = [at[0] + length * step[0], at[1] + length * step[1]];
            let found = loss(terms, next);
            if found <= value + 1e-4 * length * slope {
                (at, value) = (next, found);
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                return at;
            }
        }
    }
    at
}

/// A step: weight, positive weight, and the scores where it begins and ends.
struct Block {
    weight: f64,
    positive: f64,
    first: f64,
    last: f64,
}

impl Block {
    fn level(&self) -> f64 {
        (self.positive / self.weight).min(1.0)
    }
}

/// Knots at both ends of every step.
fn isotonic(sorted: &[Scored]) -> (Vec<f64>, Vec<f64>) {
    let mut blocks: Vec<Block> = Vec::new();
    for e in sorted {
        let mut block = Block {
            weight: e.weight,
            positive: if e.positive { e.weight } else { 0.0 },
            first: e.score,
            last: e.score,
        };
        // Equal scores are one, and what is out of order is pooled.
        while let Some(last) =
            blocks.pop_if(|last| last.last == block.first || last.level() >= block.level())
        {
            block = Block {
                weight: last.weight + block.weight,
                positive: last.positive + block.positive,
                first: last.first,
                last: block.last,
            };
        }
        blocks.push(block);
    }
    let (mut knots, mut levels) = (Vec::new(), Vec::new());
    for block in &blocks {
        knots.push(block.first);
        levels.push(block.level());
        if block.last > block.first {
            knots.push(block.last);
            levels.push(block.level());
        }
    }
    (knots, levels)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::auc;

    #[test]
    fn isotonic_by_hand() {
        let scores = [1.0, 2.0, 3.0, 4.0, 4.0];
        let positive = [false, true, false, true, true];
        let found = Calibration::fit(&scores, &positive, None, Method::Isotonic).unwrap();
        assert_eq!(found.knots, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found.levels, [0.0, 0.5, 0.5, 1.0]);
        assert_eq!(found.step(0.0), 0.0);
        assert_eq!(found.step(1.5), 0.25);
        assert_eq!(found.step(9.0), 1.0);
        assert!((found.probability(2.5) - 0.5).abs() <= TIE_BREAK);
    }

    #[test]
    fn sigmoid_has_no_gradient_left() {
        let scores: Vec<f64> = (0..50).map(|i| f64::from(i * 37 % 50) / 10.0).collect();
        let positive: Vec<bool> = (0..50).map(|i| i * 37 % 50 + i % 17 > 35).collect();
        let found = Calibration::fit(&scores, &positive, None, Method::Sigmoid).unwrap();
        let pos = positive.iter().filter(|p| **p).count() as f64;
        let target = |p: bool| {
            if p {
                (pos + 1.0) / (pos + 2.0)
            } else {
                1.0 / (52.0 - pos)
            }
        };
        let (mut by_slope, mut by_offset) = (0.0, 0.0);
        for (&c, &p) in scores.iter().zip(&positive) {
            let residual = found.probability(c) - target(p);
            by_slope += residual * c;
            by_offset += residual;
        }
        assert!(by_slope.abs() < 1e-6 && by_offset.abs() < 1e-6);
    }

    #[test]
    fn scores_worse_than_chance_and_scores_that_are_all_equal_keep_their_order() {
        let (scores, positive) = ([1.0, 2.0, 3.0, 4.0], [true, true, false, false]);
        for method in [Method::Sigmoid, Method::Isotonic] {
            let found = Calibration::fit(&scores, &positive, None, method).unwrap();
            assert!(found.probability(1.0) < found.probability(4.0));
            assert!((found.probability(2.0) - 0.5).abs() < 0.01);
            let equal = Calibration::fit(&[7.0; 4], &positive, None, method).unwrap();
            assert!((equal.probability(7.0) - 0.5).abs() < 0.01);
        }
    }

    #[test]
    fn what_cannot_be_calibrated_is_refused() {
        let fit = |c: &[f64], y: &[bool], s| Calibration::fit(c, y, s, Method::Sigmoid);
        assert!(fit(&[1.0], &[true, false], None).is_err());
        assert!(matches!(
            fit(&[1.0, 2.0], &[true, true], None),
            Err(Error::OneClass { .. })
        ));
        assert!(fit(&[1.0, f64::NAN], &[true, false], None).is_err());
        assert!(fit(&[1.0, 2.0], &[true, false], Some(&[1.0, -1.0])).is_err());
        assert!(fit(&[1.0, 2.0], &[true, false], Some(&[1.0, 0.0])).is_err());
        assert!(Calibration::new(-1.0, 0.0, vec![], vec![]).is_err());
        assert!(Calibration::new(1.0, 0.0, vec![1.0, 0.0], vec![0.0, 1.0]).is_err());
        assert!(Calibration::new(1.0, 0.0, vec![0.0], vec![]).is_err());
    }

    proptest! {
        #[test]
        fn auc_of_probabilities_is_auc_of_scores(
            examples in prop::collection::vec((-50i32..50, any::<bool>(), 0u8..3), 4..80),
        ) {
            // Scores on a grid: ties stay ties, and what differs differs by more than rounding.
            let scores: Vec<f64> = examples.iter().map(|e| f64::from(e.0) / 10.0).collect();
            let positive: Vec<bool> = examples.iter().map(|e| e.1).collect();
            let weights: Vec<f64> = examples.iter().map(|e| f64::from(e.2)).collect();
            for method in [Method::Sigmoid, Method::Isotonic] {
                let Ok(found) = Calibration::fit(&scores, &positive, Some(&weights), method) else {
                    continue;
                };
                let p: Vec<f64> = scores.iter().map(|&c| found.probability(c)).collect();
                prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
                let [before, after] = [&scores, &p].map(|c| auc(c, &positive).unwrap().auc);
                prop_assert_eq!(before, after);
            }
        }
    }
}
