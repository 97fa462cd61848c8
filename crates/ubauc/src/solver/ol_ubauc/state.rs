//! A learner as bytes, all numbers little-endian and bit for bit:
//!
//! ```text
//! "ubaucol" 2          the format and its version
//! β γ η₀ R             f64; R = 0 where there is none
//! flags                u8 each: balanced, intercept, step, rate, averages, scale, radius
//! average              u64
//! a A ‖w‖² age         of `weights.rs`
//! λ b Σλ Σb            f64
//! averaged steps       u64
//! n⁻ n⁺                u64; then the weights of the classes, f64
//! ζ Σζ                 of `scale.rs`; 1 and 0 without a scale
//! d, base              u64: the features, and how many weights a model brought
//! u_j r_j              d pairs; then m_j, d numbers, if there is a scale; then base_j
//! means                u8: 1 if features are centred; then examples, u64, and for each of the d features μ_j, Σx_j and
//!                      u64 each: n_j, 1 if dense
//! checksum             FNV-1a of all before, u64
//! ```

use super::iterate::Iterate;
use super::learner::Learner;
use super::means::Means;
use super::scale::Sizes;
use super::{OlUbaucParams, Rate, Step};
use crate::objective::ubauc::{ClassWeights, LeastSquares};
use crate::solver::weights::Weights;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"ubaucol\x02";

impl Learner {
    /// The whole state. A learner made of it goes on with the same bits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (p, it) = (&self.params, &self.iterate);
        let w = &it.weights;
        let mut out = Vec::with_capacity(256 + 24 * w.pairs.len());
        out.extend(MAGIC);
        put(
            &mut out,
            &[p.beta, p.gamma, p.eta0, p.radius.unwrap_or(0.0)],
        );
        let rate = match p.rate {
            Rate::InverseSqrt => 0,
            Rate::Inverse => 1,
            Rate::Constant => 2,
        };
        out.extend([
            u8::from(p.least_squares == LeastSquares::Balanced),
            u8::from(p.intercept),
            u8::from(p.step == Step::Sgd),
            rate,
            u8::from(p.average.is_some()),
            u8::from(self.sizes.is_some()),
            u8::from(p.radius.is_some()),
        ]);
        out.extend(p.average.unwrap_or(0).to_le_bytes());
        put(&mut out, &[w.scale, w.sum, w.norm_sq]);
        out.extend(w.age.to_le_bytes());
        put(
            &mut out,
            &[it.lambda, it.intercept, it.lambda_sum, it.intercept_sum],
        );
        for n in [it.averaged, it.steps, self.counts[0], self.counts[1]] {
            out.extend(n.to_le_bytes());
        }
        put(&mut out, &[self.totals.neg, self.totals.pos]);
        let none = Sizes::new();
        let sizes = self.sizes.as_ref().unwrap_or(&none);
        put(&mut out, &[sizes.kept, sizes.kept_sum]);
        for n in [w.pairs.len(), sizes.base.len()] {
            out.extend((n as u64).to_le_bytes());
        }
        put(&mut out, w.pairs.as_flattened());
        put(&mut out, &sizes.largest);
        put(&mut out, &sizes.base);
        out.push(u8::from(self.means.is_some()));
        if let Some(means) = &self.means {
            out.extend(means.examples.to_le_bytes());
            put(&mut out, &means.centre);
            put(&mut out, &means.sum);
            let mut dense = vec![0_u64; means.centre.len()];
            means.dense.iter().for_each(|&j| dense[j] = 1);
            for n in means.count.iter().chain(&dense) {
                out.extend(n.to_le_bytes());
            }
        }
        let sum = fnv1a(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// A learner from [`Learner::to_bytes`]; damaged bytes are refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Learner> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(refused(
                "no state of an online learner, or of another version of this program",
            ));
        };
        let cut = || refused("the state of the online learner is cut short");
        let (rest, sum) = rest.split_last_chunk().ok_or_else(cut)?;
        if fnv1a(&bytes[..bytes.len() - 8]) != u64::from_le_bytes(*sum) {
            return Err(refused(
                "the state of the online learner is damaged: its checksum is another",
            ));
        }
        Taking { rest }.learner().ok_or_else(cut)?
    }
}

/// What is left to read.
struct Taking<'a> {
    rest: &'a [u8],
}

impl Taking<'_> {
    /// None where bytes are too few or too many.
    fn learner(mut self) -> Option<Result<Learner>> {
        let (params, scaled) = self.params()?;
        let [scale, sum, norm_sq] = self.numbers()?;
        let age = self.count()?;
        let [lambda, intercept, lambda_sum, intercept_sum] = self.numbers()?;
        let [averaged, steps] = [self.count()?, self.count()?];
        let counts = [self.count()?, self.count()?];
        let [neg, pos] = self.numbers()?;
        let [kept, kept_sum] = self.numbers()?;
        let [d, base] = [self.count()?, self.count()?];
        let per_feature: u64 = if scaled { 24 } else { 16 };
        let expected = d
            .checked_mul(per_feature)?
            .checked_add(base.checked_mul(8)?)?;
        if expected > self.rest.len() as u64 || base > d {
            return None;
        }
        let usable = |a: f64| a.is_finite() && a != 0.0;
        if !usable(scale) {
            return Some(Err(refused(
                "the state of the online learner holds impossible numbers",
            )));
        }
        let (d, base) = (d as usize, base as usize);
        let pairs = self.vector(2 * d)?;
        let pairs = pairs.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        let largest = self.vector(if scaled { d } else { 0 })?;
        let base = self.vector(base)?;
        let means = match self.bytes()? {
            [0] => None,
            [1] => Some(self.means(d)?),
            _ => return None,
        };
        if !self.rest.is_empty() {
            return None;
        }
        let sizes = Sizes {
            largest,
            base,
            kept,
            kept_sum,
        };
        let weights = Weights {
            pairs,
            scale,
            sum,
            norm_sq,
            age,
        };
        let iterate = Iterate {
            weights,
            lambda,
            intercept,
            lambda_sum,
            intercept_sum,
            averaged,
            steps,
        };
        let learner = Learner {
            params,
            iterate,
            sizes: scaled.then_some(sizes),
            means,
            counts,
            totals: ClassWeights { pos, neg },
            indices: Vec::new(),
            values: Vec::new(),
        };
        Some(params.check().map(|()| learner))
    }

    /// The parameters, and whether there is a running scale.
    fn params(&mut self) -> Option<(OlUbaucParams, bool)> {
        let [beta, gamma, eta0, radius] = self.numbers()?;
        let flags: [u8; 7] = self.bytes()?;
        let [balanced, intercept, sgd, rate, averages, scaled, has_radius] = flags;
        let average = self.count()?;
        if flags.iter().any(|&flag| flag > 2) {
            return None;
        }
        let params = OlUbaucParams {
            beta,
            gamma,
            least_squares: if balanced == 1 {
                LeastSquares::Balanced
            } else {
                LeastSquares::Plain
            },
            intercept: intercept == 1,
            step: if sgd == 1 { Step::Sgd } else { Step::Implicit },
            rate: match rate {
                0 => Rate::InverseSqrt,
                1 => Rate::Inverse,
                _ => Rate::Constant,
            },
            eta0,
            radius: (has_radius == 1).then_some(radius),
            average: (averages == 1).then_some(average),
        };
        Some((params, scaled == 1))
    }

    fn means(&mut self, d: usize) -> Option<Means> {
        let examples = self.count()?;
        let (centre, sum) = (self.vector(d)?, self.vector(d)?);
        let counts = |taking: &mut Self| (0..d).map(|_| taking.count()).collect::<Option<Vec<_>>>();
        let (count, is_dense) = (counts(self)?, counts(self)?);
        let dense = (0..d).filter(|&j| is_dense[j] == 1).collect();
        Some(Means {
            examples,
            centre,
            sum,
            count,
            dense,
        })
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    fn count(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = f64::from_le_bytes(self.bytes()?);
        }
        Some(numbers)
    }

    fn vector(&mut self, n: usize) -> Option<Vec<f64>> {
        let (bytes, rest) = self.rest.split_at_checked(8 * n)?;
        self.rest = rest;
        let (numbers, _) = bytes.as_chunks();
        Some(numbers.iter().map(|&b| f64::from_le_bytes(b)).collect())
    }
}

fn put(out: &mut Vec<u8>, numbers: &[f64]) {
    for number in numbers {
        out.extend(number.to_le_bytes());
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn refused(what: &str) -> Error {
    Error::ModelFile {
        path: "<memory>".into(),
        what: what.to_string(),
    }
}
