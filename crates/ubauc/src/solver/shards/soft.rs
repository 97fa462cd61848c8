//! The soft loss over the rows: its sums along a line, its gradient, and products with its Hessian.

use super::{Command, Over, Query, Shards};
use crate::Result;
use crate::data::rows::add_to;
use crate::solver::gram::{rank_one, unpacked};

/// Σ s_i φ(y_i(λ − z_i)) at one λ, with its slope and curvature in λ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoftPoint {
    pub(crate) lambda: f64,
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
}

/// Everything at one w and λ.
pub(crate) struct SoftEvaluation {
    /// Σ s_i φ.
    pub(crate) value: f64,
    /// Σ [u]₊ and Σ [−u]₊, equal at the best λ.
    pub(crate) up: f64,
    pub(crate) down: f64,
    /// √Σ u_i²/V_i.
    pub(crate) multipliers: f64,
    /// b, 0 without, and Σ V (y − z − b)².
    pub(crate) intercept: f64,
    pub(crate) squares: f64,
    /// Xᵀu + βXᵀV(z + b − y).
    pub(crate) gradient: Vec<f64>,
}

/// What changes along z + t dz.
pub(crate) struct SoftLine {
    /// Σ h dz/Σ h: how λ moves with t.
    pub(crate) lambda: f64,
    /// The slope of the least squares at t = 0, Σ V (z + b − y) dz, and their curvature.
    pub(crate) squares: [f64; 2],
}

/// βXᵀVX + Xᵀdiag(h)X, each part less that of its mean.
pub(crate) struct SoftMatrix {
    beta: f64,
    /// XᵀV1 and Σ V, with an intercept.
    squares: Option<(Vec<f64>, f64)>,
    /// Xᵀh and Σ h.
    curvature: (Vec<f64>, f64),
}

impl Shards<'_> {
    /// At z + t dz.
    pub(crate) fn soft_at(&mut self, t: f64, lambda: f64, softness: f64) -> Result<SoftPoint> {
        let query = Query::Soft {
            t,
            lambda,
            softness,
        };
        let [value, slope, curvature] = self.sum(vec![query])?.array()?;
        Ok(SoftPoint {
            lambda,
            value,
            slope,
            curvature,
        })
    }

    /// Takes u and h at λ and sums everything there.
    pub(crate) fn evaluate_soft(
        &mut self,
        lambda: f64,
        softness: f64,
        beta: f64,
        intercept: bool,
    ) -> Result<SoftEvaluation> {
        self.enqueue(Command::SetSoft { lambda, softness });
        let (b, squares) = match beta > 0.0 {
            true => self.residuals(intercept)?,
            false => (0.0, 0.0),
        };
        self.residual = b;
        let gradient = Query::SoftGradient { beta, intercept: b };
        let mut answers = self.sum(vec![Query::SoftMultipliers, gradient])?;
        let [value, up, down, multipliers] = answers.array()?;
        let mut gradient = answers.next().to_vec();
        self.divide(&mut gradient);
        Ok(SoftEvaluation {
            value,
            up,
            down,
            multipliers: multipliers.sqrt(),
            intercept: b,
            squares,
            gradient,
        })
    }

    /// Along the direction last set, from the point last evaluated.
    pub(crate) fn soft_line(
        &mut self,
        b: f64,
        curvature: f64,
        with_mean: bool,
    ) -> Result<SoftLine> {
        let mut answers = self.sum(vec![Query::SoftAlong(b), Query::Along(0.0)])?;
        let [along, slope, _] = answers.array()?;
        let sums = answers.array()?;
        let (_, squares) = self.about(sums, 0.0, with_mean, Query::Along)?;
        Ok(SoftLine {
            lambda: along / curvature,
            squares: [slope, squares],
        })
    }

    /// The Hessian at the point last evaluated, for products; `curvature` is Σ h.
    pub(crate) fn soft_matrix(
        &mut self,
        beta: f64,
        curvature: f64,
        intercept: bool,
    ) -> Result<SoftMatrix> {
        let squares = match intercept && beta > 0.0 {
            true => {
                let mut sum = self.square_sum()?;
                self.divide(&mut sum);
                Some((sum, self.square_weight()))
            }
            false => None,
        };
        self.enqueue(Command::PrepareSoftProduct { beta });
        let mut sum = self.sum_one(Query::Sum(Over::Curvature))?;
        self.divide(&mut sum);
        Ok(SoftMatrix {
            beta,
            squares,
            curvature: (sum, curvature),
        })
    }

    /// The Hessian times p.
    pub(crate) fn soft_product(&mut self, matrix: &SoftMatrix, p: &[f64]) -> Result<Vec<f64>> {
        let raw = self.raw(p);
        let mut product = self.sum_one(Query::Product(raw))?;
        let other = product.pop().unwrap_or(0.0);
        let square = product.pop().unwrap_or(0.0);
        self.divide(&mut product);
        matrix.take_means(square, other, &mut product);
        Ok(product)
    }

    /// Its diagonal.
    pub(crate) fn soft_diagonal(&mut self, matrix: &SoftMatrix) -> Result<Vec<f64>> {
        let mut diagonal = self.diagonal(Over::Product)?;
        for (sum, weight, factor) in matrix.means() {
            for (d, s) in diagonal.iter_mut().zip(sum) {
                *d -= factor * s * s / weight;
            }
        }
        Ok(diagonal)
    }

    /// All of it, lower triangle.
    pub(crate) fn soft_gram(&mut self, matrix: &SoftMatrix) -> Result<Vec<f64>> {
        let packed = self.sum_one(Query::Gram(Over::Product))?;
        let mut gram = unpacked(&packed, self.cols);
        self.divide_matrix(&mut gram);
        for (sum, weight, factor) in matrix.means() {
            rank_one(-factor / weight, sum, &mut gram);
        }
        Ok(gram)
    }
}

impl SoftMatrix {
    /// Σ a x, Σ a and the factor of each part.
    fn means(&self) -> impl Iterator<Item = (&Vec<f64>, f64, f64)> {
        let squares = self.squares.iter().map(|(sum, n)| (sum, *n, self.beta));
        let (sum, n) = &self.curvature;
        squares
            .chain([(sum, *n, 1.0)])
            .filter(|(_, weight, _)| *weight > 0.0)
    }

    /// `square` and `other` are Σ V x·p and Σ h x·p.
    fn take_means(&self, square: f64, other: f64, product: &mut [f64]) {
        if let Some((sum, weight)) = &self.squares {
            add_to(-self.beta * square / weight, sum, product);
        }
        let (sum, weight) = &self.curvature;
        if *weight > 0.0 {
            add_to(-other / weight, sum, product);
        }
    }
}
