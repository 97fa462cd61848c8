//! The planes b + a·c, c = Xw, below the loss, and the models they make.
//!
//! A plane is kept as g = Xᵀa where d ≤ N, and as a where N < d: min(N, d) numbers. In the second form products of
//! planes are g_k·g_l = a_k·(X g_l), and Σ α_k g_k = Xᵀ Σ α_k a_k: one product with X and one with Xᵀ more in a round.
//!
//! The first plane is 0, since the loss is not negative. A plane without a part in the model's minimum for [`PATIENCE`]
//! rounds is forgotten, earlier if memory is short. The α of the last round stays possible, so that D never descends:
//! what is forgotten may come back, but the bundle does not go in circles.

use super::bundle::{Bundle, keep};
use super::products::Products;
use crate::data::rows::{add_to, dot};
use crate::{Error, Result};

/// Rounds without a part.
const PATIENCE: usize = 50;
/// D is taken lower by this share of its terms, C Σα_k b_k and ‖w‖ C Σα_k‖g_k‖, so that rounding does not lift it above
/// the minimum: w may be far smaller than the terms it is the sum of.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Numbers in all planes together, if planes can be forgotten: 512 MB.
const MAX_NUMBERS: usize = 1 << 26;

pub(super) struct Planes<'a> {
    products: &'a Products<'a>,
    c: f64,
    /// g, or a.
    vectors: Vec<Vec<f64>>,
    by_rows: bool,
    bundle: Bundle,
}

/// The minimum of ½‖w‖² + C max_k (b_k + g_k·w).
pub(super) struct Model {
    pub(super) w: Vec<f64>,
    /// D.
    pub(super) dual: f64,
}

impl<'a> Planes<'a> {
    pub(super) fn new(products: &'a Products<'a>, n: usize, d: usize, c: f64) -> Planes<'a> {
        let mut bundle = Bundle::default();
        bundle.push(vec![0.0], 0.0);
        Planes {
            products,
            c,
            vectors: vec![vec![0.0; n.min(d)]],
            by_rows: n < d,
            bundle,
        }
    }

    /// Takes the plane b + a·c.
    pub(super) fn push(&mut self, a: Vec<f64>, b: f64) -> Result<()> {
        let most = MAX_NUMBERS / self.vectors[0].len().max(1);
        let patience = if self.vectors.len() < most {
            PATIENCE
        } else {
            0
        };
        let stays = self.bundle.forget(patience);
        keep(&mut self.vectors, &stays);

        let g = self.products.transposed(&a);
        let square = dot(&g, &g);
        let (vector, against) = if self.by_rows {
            (a, self.products.scores(&g))
        } else {
            (g.clone(), g)
        };
        let scale = self.c * self.c;
        let others = self.vectors.iter().map(|v| scale * dot(v, &against));
        let row: Vec<f64> = others.chain([scale * square]).collect();
        if !row.iter().all(|h| h.is_finite()) {
            let what = "the squares of C times the features overflow; scale the features or choose a smaller C";
            return Err(Error::Numerical { what });
        }
        self.vectors.push(vector);
        self.bundle.push(row, self.c * b);
        Ok(())
    }

    /// The model's minimum, to within `tolerance`.
    pub(super) fn minimise(&mut self, tolerance: f64) -> Model {
        self.bundle.solve(tolerance);
        let mut sum = vec![0.0; self.vectors[0].len()];
        for (vector, &alpha) in self.vectors.iter().zip(self.bundle.alpha()) {
            if alpha != 0.0 {
                add_to(-self.c * alpha, vector, &mut sum);
            }
        }
        let w = if self.by_rows {
            self.products.transposed(&sum)
        } else {
            sum
        };
        let square = dot(&w, &w);
        let (linear, size) = self.bundle.linear();
        let rounding = ROUNDING * (linear + square.sqrt() * size);
        let dual = linear - 0.5 * square - rounding;
        Model { w, dual }
    }
}
