//! What rounding may hide of N·P − D.
//!
//! Entries of βXᵀVX are sums of N products: with h_j its diagonal, means left on, each is off by about ρ√(h_i h_j),
//! ρ = ε√(N + d), since errors have either sign. So is ∇φ = H₀w − c + Xᵀu⁺, in entry j, by ρ√h_j times
//!
//! ```text
//! R = Z + √(βN) + U,   Z = Σ_k √h_k |w_k|,   U = √(Σ (u⁺_i)²/(βV_i))      (Cauchy and Schwarz, for H₀w, c and Xᵀu⁺)
//! ```
//!
//! and ½ ∇φᵀH₀⁻¹∇φ = ½‖L⁻¹∇φ‖² is at most (√computed + √κ ρR)² for κ = ½‖L⁻¹(±√h)‖², the largest of some random
//! signs, or Σh/(2Nγ) where there is no factor. Scores z = Xw are off too, by which q(w) + u⁺·z changes by no more than
//! εZ(√(β Σ V_i(y_i − z_i)²) + U). z and Xᵀu⁺ are updated step by step, so Z and U are the largest on the way ([`Drift`]).
//!
//! All of it is far below any tolerance but where the mean of a feature dwarfs its variation, and is left on: without an
//! intercept, or with sparse rows. It is an estimate, since roundings conspire seldom, and a bound that lets them would
//! leave nothing certified.

use crate::data::hash::mix;
use crate::data::rows::dot;
use crate::solver::cholesky::Cholesky;
use crate::solver::shards::Evaluation;

/// Rounding may be this part of a pivot of H₀ where something is to be certified.
const CANCELLED: f64 = 0.1;
/// Signs of rounding errors that are tried.
const TRIALS: u64 = 8;

/// For one H₀.
pub(super) struct Rounding {
    /// √h.
    sizes: Vec<f64>,
    /// κ.
    kappa: f64,
    /// ρ.
    rho: f64,
}

impl Rounding {
    pub(super) fn new(diagonal: impl Iterator<Item = f64>, rows: usize) -> Rounding {
        let sizes: Vec<f64> = diagonal.map(f64::sqrt).collect();
        let rho = f64::EPSILON * (rows as f64 + sizes.len() as f64).sqrt();
        let kappa = f64::INFINITY;
        Rounding { sizes, kappa, rho }
    }

    pub(super) fn of_factor(mut self, factor: &Cholesky) -> Rounding {
        self.kappa = largest_by_signs(&self.sizes, &|errors| {
            let mut x = errors.to_vec();
            factor.forward(&mut x);
            0.5 * dot(&x, &x)
        });
        self
    }

    pub(super) fn of_ridge(mut self, ridge: f64) -> Rounding {
        self.kappa = dot(&self.sizes, &self.sizes) / (2.0 * ridge);
        self
    }

    /// Whether it is as large as what is left of a feature beside those before it: then no factor certifies anything.
    pub(super) fn hides_a_pivot(&self, factor: &Cholesky) -> bool {
        let mut pivots = factor.pivots().zip(&self.sizes);
        pivots.any(|(pivot, size)| self.rho * size * size > CANCELLED * pivot)
    }

    /// A bound of N·P − D by its two parts as they were computed.
    pub(super) fn bound(
        &self,
        (inner, slack): (f64, f64),
        found: &Evaluation,
        w: &[f64],
        n: f64,
        beta: f64,
        drift: &mut Drift,
    ) -> f64 {
        let root = beta.sqrt();
        let multipliers = found.multipliers / root;
        drift.reach = drift.reach.max(self.reach(w));
        drift.multipliers = drift.multipliers.max(multipliers);
        drift.changes += 1.0;
        let (reach, times) = (drift.reach, drift.changes.sqrt());
        let r = reach + root * n.sqrt() + times * drift.multipliers;
        let off = self.kappa.sqrt() * self.rho * r;
        let of_scores = f64::EPSILON * times * reach * (root * found.squares.sqrt() + multipliers);
        (inner.sqrt() + off).powi(2) + slack + of_scores
    }

    /// A bound of ½ ∇ᵀH₀⁻¹∇ of the soft loss, as it was computed, where ∇ is summed over the rows with forces
    /// β(z + b − y) and u on each, of this size in the norm that goes with h.
    pub(super) fn of_forces(&self, inner: f64, forces: f64, w: &[f64]) -> f64 {
        let off = self.kappa.sqrt() * self.rho * forces;
        let of_scores = f64::EPSILON * self.reach(w) * forces;
        (inner.sqrt() + off).powi(2) + of_scores
    }

    /// A bound of `inner` + `left` = ½ e·(∇φ + r) + ‖r‖²/(2Nγ) for r = ∇φ − H₀e: of H₀e every entry is off by about
    /// ρ√h_j Σ_k √h_k |e_k|.
    pub(super) fn of_products(&self, e: &[f64], inner: f64, left: f64) -> f64 {
        let off = self.rho * self.reach(e);
        let left = (left.sqrt() + self.kappa.sqrt() * off).powi(2);
        inner + 0.5 * off * self.reach(e) + left
    }

    /// Z = Σ √h_k |w_k|.
    fn reach(&self, w: &[f64]) -> f64 {
        let terms = self.sizes.iter().zip(w);
        terms.map(|(size, w)| size * w.abs()).sum()
    }
}

/// The largest of a function of errors of these sizes and random signs.
pub(super) fn largest_by_signs(sizes: &[f64], of: &dyn Fn(&[f64]) -> f64) -> f64 {
    let with_signs = |trial: u64| {
        let sign = |j: usize| match mix(trial << 32 | j as u64) & 1 {
            0 => 1.0,
            _ => -1.0,
        };
        let errors: Vec<f64> = (sizes.iter().enumerate())
            .map(|(j, size)| sign(j) * size)
            .collect();
        of(&errors)
    };
    (0..TRIALS).map(with_signs).fold(0.0, f64::max)
}

/// What z and Xᵀu⁺ went through since they were last computed from all rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drift {
    /// The largest Z.
    reach: f64,
    /// The largest U.
    multipliers: f64,
    /// How often each was changed: errors of either sign add up as the root of it.
    changes: f64,
}

impl Drift {
    /// z was computed again.
    pub(super) fn with_new_scores(self) -> Drift {
        Drift { reach: 0.0, ..self }
    }
}
