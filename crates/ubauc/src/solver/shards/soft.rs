//! The soft loss over the rows: its sums along a line, its gradient, and products with its Hessian.

use super::{Block, Command, Over, Query, Shards};
use crate::Result;
use crate::data::rows::{add_to, dot};
use crate::solver::gram::{rank_one, unpacked};
use crate::solver::order::Stiffness;

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
    /// Xᵀh and Σ h.
    pub(crate) curvature: (Vec<f64>, f64),
}

/// What changes along z + t dz.
pub(crate) struct SoftLine {
    /// Σ h dz/Σ h: how λ moves with t.
    pub(crate) lambda: f64,
    /// The slope of the least squares at t = 0, Σ V (z + b − y) dz, and their curvature.
    pub(crate) squares: [f64; 2],
}

/// What is reported of the last weights.
pub(crate) struct SoftEnd {
    /// Σ s_i φ.
    pub(crate) value: f64,
    /// b and Σ V (y − z − b)², where β > 0.
    pub(crate) residuals: Option<(f64, f64)>,
    /// Examples of a weight above 0 that are near λ.
    pub(crate) near: usize,
}

/// βXᵀVX + Xᵀdiag(h)X, each part less that of its mean, and what weights in order add.
pub(crate) struct SoftMatrix {
    beta: f64,
    /// Σ V.
    square_weight: f64,
    /// XᵀV1, with an intercept.
    squares: Option<Vec<f64>>,
    /// Xᵀh and Σ h.
    curvature: (Vec<f64>, f64),
    /// In raw features.
    pub(crate) stiffness: Option<Stiffness>,
}

/// What is on the diagonal of a [`SoftMatrix`].
#[derive(Default)]
pub(crate) struct SoftDiagonal {
    /// One for each feature.
    pub(crate) entries: Vec<f64>,
    /// Features that are nested with each other, ascending, and their part of the matrix, lower triangle. No row has two of
    /// them.
    pub(crate) blocks: Vec<(Vec<u32>, Vec<f64>)>,
}

impl Shards<'_> {
    /// At z + t dz.
    pub(crate) fn soft_at(&mut self, t: f64, lambda: f64, softness: f64) -> Result<SoftPoint> {
        self.soft_sums(true, t, lambda, softness)
    }

    /// At z, the slope and curvature alone.
    pub(crate) fn soft_slope(&mut self, lambda: f64, softness: f64) -> Result<SoftPoint> {
        self.soft_sums(false, 0.0, lambda, softness)
    }

    fn soft_sums(&mut self, value: bool, t: f64, lambda: f64, softness: f64) -> Result<SoftPoint> {
        let query = Query::Soft {
            value,
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

    /// The multipliers of the soft loss become those of the hinge: u_i = −s_i y_i φ', u⁺ = 0.
    pub(crate) fn take_soft_multipliers(&mut self, lambda: f64, softness: f64) {
        self.enqueue(Command::SetSoft { lambda, softness });
        self.enqueue(Command::ResetCandidates);
    }

    /// Takes u and h at λ and sums everything there, in one round.
    pub(crate) fn evaluate_soft(
        &mut self,
        lambda: f64,
        softness: f64,
        beta: f64,
        intercept: bool,
    ) -> Result<SoftEvaluation> {
        self.enqueue(Command::SetSoft { lambda, softness });
        let centre = if intercept { self.residual } else { 0.0 };
        let gradient = Query::SoftGradient {
            beta,
            intercept: centre,
        };
        let mut queries = vec![Query::SoftMultipliers, gradient];
        if beta > 0.0 {
            queries.push(Query::Residuals(centre));
        }
        let mut answers = self.sum(queries)?;
        let [value, total, up, down, multipliers] = answers.array()?;
        let mut gradient = answers.next().to_vec();
        let (b, squares) = match beta > 0.0 {
            true => {
                let sums = answers.array()?;
                self.about(sums, centre, intercept, Query::Residuals)?
            }
            false => (0.0, 0.0),
        };
        self.residual = b;
        let moved = if beta > 0.0 { b - centre } else { 0.0 };
        if moved * moved * self.square_weight() > squares {
            // Residuals about a centre that is far off are mostly rounding: summed again about b.
            gradient = self.sum_one(Query::SoftGradient { beta, intercept: b })?;
        } else if moved != 0.0 {
            // From the centre to b: β Σ V (b − centre) x.
            let sum = self.square_sum()?;
            add_to(beta * moved, &sum, &mut gradient);
        }
        let mut curvature = gradient.split_off(self.cols);
        self.divide(&mut gradient);
        self.divide(&mut curvature);
        Ok(SoftEvaluation {
            value,
            up,
            down,
            multipliers: multipliers.sqrt(),
            intercept: b,
            squares,
            gradient,
            curvature: (curvature, total),
        })
    }

    /// Σ_i h_i (x_ij − x̄_j)² of every raw feature at λ, x̄ the mean with the weights h: the threshold is free.
    pub(crate) fn soft_spread(&mut self, lambda: f64, softness: f64) -> Result<Vec<f64>> {
        self.enqueue(Command::SetSoft { lambda, softness });
        let sums = Query::Sum(Over::Curvature);
        let squares = Query::Diagonal(Over::Curvature);
        let mut answers = self.sum(vec![Query::SoftMultipliers, sums, squares])?;
        let [_, total, ..]: [f64; 5] = answers.array()?;
        let sums = answers.next().to_vec();
        let squares = answers.next().iter().zip(&sums);
        let central = |(square, sum): (&f64, &f64)| match total > 0.0 {
            true => (square - sum * sum / total).max(0.0),
            false => 0.0,
        };
        Ok(squares.map(central).collect())
    }

    /// Along a direction p, from the point last evaluated, and the loss at its end, t = 1.
    pub(crate) fn soft_line(
        &mut self,
        p: &[f64],
        from: &SoftEvaluation,
        (lambda, softness): (f64, f64),
        beta: f64,
        with_mean: bool,
    ) -> Result<(SoftLine, SoftPoint)> {
        self.set_direction(p);
        let (sums, curvature) = &from.curvature;
        // Σ h dz = (Xᵀh)·p. Without any curvature, all rows far from λ, it stays.
        let moves = match *curvature > 0.0 {
            true => dot(sums, p) / curvature,
            false => 0.0,
        };
        let lambda = lambda + moves;
        let mut queries = vec![Query::Soft {
            value: true,
            t: 1.0,
            lambda,
            softness,
        }];
        if beta > 0.0 {
            queries.extend([Query::SoftAlong(from.intercept), Query::Along(0.0)]);
        }
        let mut answers = self.sum(queries)?;
        let [value, slope, curvature] = answers.array()?;
        let end = SoftPoint {
            lambda,
            value,
            slope,
            curvature,
        };
        let squares = match beta > 0.0 {
            true => {
                let ([slope], sums) = (answers.array()?, answers.array()?);
                [slope, self.about(sums, 0.0, with_mean, Query::Along)?.1]
            }
            false => [0.0; 2],
        };
        let line = SoftLine {
            lambda: moves,
            squares,
        };
        Ok((line, end))
    }

    /// At the last weights: the loss, b and Σ V (y − z − b)² where β > 0, and how many examples are within `margin` of λ.
    pub(crate) fn soft_end(
        &mut self,
        (lambda, softness): (f64, f64),
        beta: f64,
        intercept: bool,
        margin: f64,
    ) -> Result<SoftEnd> {
        let centre = if intercept { self.residual } else { 0.0 };
        let loss = Query::Soft {
            value: true,
            t: 0.0,
            lambda,
            softness,
        };
        let mut queries = vec![loss, Query::Near { lambda, margin }];
        if beta > 0.0 {
            queries.push(Query::Residuals(centre));
        }
        let mut answers = self.sum(queries)?;
        let ([value, _, _], [near]) = (answers.array()?, answers.array()?);
        let residuals = match beta > 0.0 {
            true => {
                let sums = answers.array()?;
                Some(self.about(sums, centre, intercept, Query::Residuals)?)
            }
            false => None,
        };
        Ok(SoftEnd {
            value,
            residuals,
            near: near as usize,
        })
    }

    /// The Hessian at the point last evaluated, for products; `curvature` is Xᵀh and Σ h.
    pub(crate) fn soft_matrix(
        &mut self,
        beta: f64,
        curvature: &(Vec<f64>, f64),
        intercept: bool,
    ) -> Result<SoftMatrix> {
        let squares = match intercept && beta > 0.0 {
            true => {
                let mut sum = self.square_sum()?;
                self.divide(&mut sum);
                Some(sum)
            }
            false => None,
        };
        self.enqueue(Command::PrepareSoftProduct { beta });
        Ok(SoftMatrix {
            beta,
            square_weight: self.square_weight(),
            squares,
            curvature: curvature.clone(),
            stiffness: None,
        })
    }

    /// The Hessian times p.
    pub(crate) fn soft_product(&mut self, matrix: &SoftMatrix, p: &[f64]) -> Result<Vec<f64>> {
        let raw = self.raw(p);
        let mut product = self.sum_one(Query::Product(raw.clone()))?;
        let other = product.pop().unwrap_or(0.0);
        let square = product.pop().unwrap_or(0.0);
        if let Some(stiffness) = &matrix.stiffness {
            stiffness.add_product(&raw, &mut product);
        }
        self.divide(&mut product);
        matrix.take_means(square, other, &mut product);
        Ok(product)
    }

    /// Its diagonal, and the blocks of nested features on it.
    pub(crate) fn soft_diagonal(&mut self, matrix: &SoftMatrix) -> Result<SoftDiagonal> {
        let mut entries = self.sum_one(Query::Diagonal(Over::Product))?;
        if let Some(stiffness) = &matrix.stiffness {
            stiffness.add_diagonal(&mut entries);
        }
        let mut blocks = self
            .nesting()
            .map_or(Vec::new(), |nesting| nesting.blocks(&entries));
        self.transform.to_diagonal(&mut entries);
        for (sum, weight, factor) in matrix.means() {
            for (d, s) in entries.iter_mut().zip(sum) {
                *d -= factor * s * s / weight;
            }
            for (features, block) in &mut blocks {
                let part: Vec<f64> = features.iter().map(|&j| sum[j as usize]).collect();
                rank_one(-factor / weight, &part, block);
            }
        }
        Ok(SoftDiagonal { entries, blocks })
    }

    /// Some columns of it, of a sample of the rows: lower triangle.
    pub(crate) fn soft_block(&mut self, matrix: &SoftMatrix, block: &Block) -> Result<Vec<f64>> {
        let b = block.len(self.cols);
        let answer = self.sum_one(Query::BlockGram(block.clone()))?;
        let (weights, rest) = answer.split_at(2);
        let (of_squares, rest) = rest.split_at(b);
        let (of_curvature, packed) = rest.split_at(b);
        let mut gram = unpacked(packed, b);
        let mut take = |weight: f64, factor: f64, sum: &[f64]| {
            if weight > 0.0 {
                rank_one(-factor / weight, sum, &mut gram);
            }
        };
        if matrix.squares.is_some() {
            take(weights[0], matrix.beta, of_squares);
        }
        take(weights[1], 1.0, of_curvature);
        if let Some(stiffness) = &matrix.stiffness {
            stiffness.add_block(&block.columns, b, &mut gram);
        }
        match block.columns.is_empty() {
            true => self.divide_matrix(&mut gram),
            false => self.transform.part(&block.columns).to_square(&mut gram, b),
        }
        Ok(gram)
    }
}

impl SoftMatrix {
    /// Σ v_i.
    pub(crate) fn weight(&self) -> f64 {
        self.beta * self.square_weight + self.curvature.1
    }

    /// Σ a x, Σ a and the factor of each part.
    fn means(&self) -> impl Iterator<Item = (&Vec<f64>, f64, f64)> {
        let n = self.square_weight;
        let squares = self.squares.iter().map(move |sum| (sum, n, self.beta));
        let (sum, n) = &self.curvature;
        squares
            .chain([(sum, *n, 1.0)])
            .filter(|(_, weight, _)| *weight > 0.0)
    }

    /// `square` and `other` are Σ V x·p and Σ h x·p.
    fn take_means(&self, square: f64, other: f64, product: &mut [f64]) {
        if let Some(sum) = &self.squares {
            add_to(-self.beta * square / self.square_weight, sum, product);
        }
        let (sum, weight) = &self.curvature;
        if *weight > 0.0 {
            add_to(-other / weight, sum, product);
        }
    }
}
