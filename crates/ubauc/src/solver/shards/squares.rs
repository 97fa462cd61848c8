//! The least squares over the rows: means, sums of squares, and the quadratic of w.
//!
//! A sum of squares about a mean is taken about a guess c of it, with Σ V a: then Σ V (a − mean)² is
//! Σ V a² − (Σ V a)²/Σ V, and nothing cancels as long as c is near. One round does for both.

use super::{Command, Over, Query, Shards};
use crate::Result;
use crate::data::rows::add_to;
use crate::solver::gram::{rank_one, unpacked};

/// The least-squares term as a quadratic of w: Σ s_i v_i (y_i − b − x_i·w)², b eliminated or 0.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// Xᵀ S V X, lower triangle, less the part of the mean if there is an intercept.
    pub(crate) gram: Vec<f64>,
    /// Xᵀ S V y, likewise.
    pub(crate) target: Vec<f64>,
    /// The diagonal of the matrix before the part of the mean was taken off.
    pub(crate) before: Vec<f64>,
}

impl Shards<'_> {
    /// Reads features less their weighted mean from here on: for a problem with an intercept, which takes it up.
    pub(super) fn centre(&mut self) -> Result<()> {
        let rows = self.rows as f64;
        // Of sparse rows the features that every row stores: the others would not be sparse.
        let stored = match self.all_dense {
            true => None,
            false => Some(self.sum_one(Query::Stored)?),
        };
        let is_full = |j: usize| stored.as_ref().is_none_or(|stored| stored[j] == rows);
        if !(0..self.cols).any(is_full) {
            return Ok(());
        }
        // In raw units.
        let n = self.square_weight();
        let sums = self.sum_one(Query::Sum(Over::LeastSquares))?;
        // A sum that is no number has no mean to take off.
        let mean = |(j, sum): (usize, &f64)| {
            let mean = sum / n;
            if is_full(j) && mean.is_finite() {
                mean
            } else {
                0.0
            }
        };
        let mean: Vec<f64> = sums.iter().enumerate().map(mean).collect();
        self.enqueue(Command::SetCentre(mean.clone()));
        self.shift = Some(mean);
        Ok(())
    }

    /// Σ V_i of positives and of negatives.
    pub(crate) fn square_weights(&self) -> [f64; 2] {
        [
            self.factors[0] * self.total.pos,
            self.factors[1] * self.total.neg,
        ]
    }

    /// Σ V_i.
    pub(super) fn square_weight(&self) -> f64 {
        let [pos, neg] = self.square_weights();
        pos + neg
    }

    /// From Σ V, Σ V a, Σ V a² with a taken about a centre: the mean of what was centred, and Σ V (a − mean)². Without a
    /// mean that is 0 and the squares stand as they are. Asks again where the centre was far off.
    pub(super) fn about(
        &mut self,
        [weight, sum, squares]: [f64; 3],
        centre: f64,
        with_mean: bool,
        again: fn(f64) -> Query,
    ) -> Result<(f64, f64)> {
        if !with_mean {
            return Ok((0.0, squares));
        }
        let mean = centre + sum / weight;
        let off = sum * sum / weight;
        // Of the squares a part this large would take a digit or more with it.
        if off <= 0.1 * squares || mean == centre {
            return Ok((mean, squares - off));
        }
        let [weight, sum, squares] = self.sum(vec![again(mean)])?.array()?;
        let left = sum * sum / weight;
        Ok((mean + sum / weight, (squares - left).max(0.0)))
    }

    /// b that is best for the current z, the weighted mean of y − z (0 if there is none), and Σ s v (y − z − b)².
    pub(crate) fn residuals(&mut self, intercept: bool) -> Result<(f64, f64)> {
        let centre = if intercept { self.residual } else { 0.0 };
        let sums = self.sum(vec![Query::Residuals(centre)])?.array()?;
        self.about(sums, centre, intercept, Query::Residuals)
    }

    /// Σ s v (dz − mean)², the mean being 0 without an intercept.
    pub(crate) fn curvature(&mut self, intercept: bool) -> Result<f64> {
        let sums = self.sum(vec![Query::Along(0.0)])?.array()?;
        Ok(self.about(sums, 0.0, intercept, Query::Along)?.1)
    }

    /// The weighted standard deviation of z, and its mean.
    pub(crate) fn spread(&mut self) -> Result<(f64, f64)> {
        let sums = self.sum(vec![Query::Spread(0.0)])?.array()?;
        let weight = sums[0];
        let (mean, squares) = self.about(sums, 0.0, true, Query::Spread)?;
        Ok(((squares / weight).sqrt(), mean))
    }

    /// The least squares as a quadratic of w, with the intercept eliminated if there is one.
    pub(crate) fn moments(&mut self, intercept: bool) -> Result<Moments> {
        let d = self.cols;
        let mut queries = vec![Query::Target];
        if intercept {
            queries.push(Query::Sum(Over::LeastSquares));
        }
        queries.push(Query::Gram(Over::LeastSquares));
        let mut answers = self.sum(queries)?;
        let mut target = answers.next().to_vec();
        if intercept {
            self.square_sum = Some(answers.next().to_vec());
        }
        self.divide(&mut target);
        let mut gram = unpacked(answers.next(), d);
        drop(answers);
        self.divide_matrix(&mut gram);
        let mut moments = Moments {
            gram,
            target,
            before: Vec::new(),
        };
        if intercept {
            let (mean, y) = self.means()?;
            let n = self.square_weight();
            moments.before = (0..d).map(|j| moments.gram[j * d + j]).collect();
            rank_one(-n, &mean, &mut moments.gram);
            add_to(-n * y, &mean, &mut moments.target);
        }
        Ok(moments)
    }

    /// XᵀVy, centred if there is an intercept.
    pub(crate) fn target(&mut self, intercept: bool) -> Result<Vec<f64>> {
        let mut target = self.sum_one(Query::Target)?;
        self.divide(&mut target);
        if intercept {
            let (mean, y) = self.means()?;
            add_to(-self.square_weight() * y, &mean, &mut target);
        }
        Ok(target)
    }

    /// The V-weighted means of the features and of y.
    fn means(&mut self) -> Result<(Vec<f64>, f64)> {
        let n = self.square_weight();
        let mut mean = self.square_sum()?;
        self.divide(&mut mean);
        mean.iter_mut().for_each(|sum| *sum /= n);
        let y = self.factors[0] * self.total.pos - self.factors[1] * self.total.neg;
        Ok((mean, y / n))
    }

    /// XᵀV1, raw.
    pub(super) fn square_sum(&mut self) -> Result<Vec<f64>> {
        if self.square_sum.is_none() {
            self.square_sum = Some(self.sum_one(Query::Sum(Over::LeastSquares))?);
        }
        Ok(self.square_sum.clone().unwrap_or_default())
    }
}
