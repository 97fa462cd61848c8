//! Small problems, P by its definition, and its minimum with every pair written out, by Clarabel.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};

#[derive(Clone)]
pub(super) struct Problem {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) positive: Vec<bool>,
}

impl Problem {
    fn dataset(&self, rows: Rows) -> Dataset {
        let n_pos = self.positive.iter().filter(|p| **p).count();
        let labels = Binary {
            positive: self.positive.clone(),
            n_pos,
            n_neg: self.positive.len() - n_pos,
            names: ["-1".into(), "1".into()],
        };
        Dataset::new(rows, labels, Vec::new()).unwrap()
    }

    pub(super) fn dense(&self) -> Dataset {
        let (n, d) = (self.rows.len(), self.rows[0].len());
        self.dataset(Rows::Dense(Dense::new(self.rows.concat(), n, d).unwrap()))
    }

    pub(super) fn sparse(&self) -> Dataset {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &self.rows {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                values.push(x);
            }
            indptr.push(indices.len());
        }
        let csr = Csr::new(indptr, indices, values, self.rows[0].len()).unwrap();
        self.dataset(Rows::Csr(csr))
    }

    /// x_i − x_j of every pair, features divided.
    pub(super) fn differences(&self, divisors: &[f64]) -> Vec<Vec<f64>> {
        let class = |p| (0..self.rows.len()).filter(move |&i| self.positive[i] == p);
        let pairs = class(true).flat_map(|i| class(false).map(move |j| (i, j)));
        let difference = |(i, j): (usize, usize)| {
            let columns = self.rows[i].iter().zip(&self.rows[j]).zip(divisors);
            columns.map(|((a, b), r)| (a - b) / r).collect()
        };
        pairs.map(difference).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// P by the definition.
pub(super) fn objective(pairs: &[Vec<f64>], c: f64, w: &[f64]) -> f64 {
    let losses = pairs.iter().map(|x| (1.0 - dot(x, w)).max(0.0));
    0.5 * dot(w, w) + c * losses.sum::<f64>() / pairs.len() as f64
}

/// P at Clarabel's minimum of  ½‖w‖² + C/M Σ t,  t ≥ 1 − x·w, t ≥ 0, all over `size`: an upper bound of the minimum,
/// whatever Clarabel did. `size` is to be near P, since tolerances are absolute below 1; w is in units of its root.
pub(super) fn clarabel(pairs: &[Vec<f64>], c: f64, size: f64) -> Option<f64> {
    let (m, d) = (pairs.len(), pairs[0].len());
    let unit = size.sqrt();
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |row, column, value: f64| {
        if value != 0.0 {
            rows.push(row);
            columns.push(column);
            values.push(value);
        }
    };
    for (k, pair) in pairs.iter().enumerate() {
        // −x·w − t ≤ −1 and −t ≤ 0.
        pair.iter()
            .enumerate()
            .for_each(|(j, x)| push(k, j, -x * unit));
        push(k, d + k, -1.0);
        push(m + k, d + k, -1.0);
    }
    let constraints = CscMatrix::new_from_triplets(2 * m, d + m, rows, columns, values);
    let diagonal: Vec<usize> = (0..d).collect();
    let quadratic =
        CscMatrix::new_from_triplets(d + m, d + m, diagonal.clone(), diagonal, vec![1.0; d]);
    let linear: Vec<f64> = (0..d + m)
        .map(|k| if k < d { 0.0 } else { c / m as f64 / size })
        .collect();
    let right: Vec<f64> = (0..2 * m).map(|k| if k < m { -1.0 } else { 0.0 }).collect();
    let cones = [SupportedConeT::NonnegativeConeT(2 * m)];
    [1e-11, 1e-10, 1e-9].iter().find_map(|&tolerance| {
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .tol_feas(tolerance)
            .build()
            .unwrap();
        let mut solver =
            DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings)
                .unwrap();
        solver.solve();
        let w: Vec<f64> = solver.solution.x[..d].iter().map(|x| x * unit).collect();
        (solver.solution.status == SolverStatus::Solved).then(|| objective(pairs, c, &w))
    })
}

/// 4 to 40 examples of 1 to 8 features; one in four each is separable, has small integers for values, has rows twice, or
/// has one positive.
pub(super) fn random(seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let [separable, integers, duplicates, one] = std::array::from_fn(|_| rng.random_bool(0.25));
    let (n, d) = (rng.random_range(4..=40), rng.random_range(1..=8));
    let mut positive: Vec<bool> = (0..n).map(|_| !one && rng.random_bool(0.4)).collect();
    (positive[0], positive[1]) = (true, false);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (i, &p) in positive.iter().enumerate() {
        let towards = if p { 0.5 } else { -0.5 } * if separable { 8.0 } else { 1.0 };
        let mut row: Vec<f64> = (0..d).map(|_| rng.random_range(-2.0..2.0)).collect();
        row[0] += towards;
        if integers {
            row.iter_mut().for_each(|x| *x = x.round());
        }
        if duplicates && i > 1 && rng.random_bool(0.3) {
            row = rows[rng.random_range(0..i)].clone();
        }
        rows.push(row);
    }
    Problem { rows, positive }
}

/// Many examples, of which a third of the values are 0.
pub(super) fn large(n: usize, d: usize, seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let positive: Vec<bool> = (0..n).map(|i| i % 7 == 0).collect();
    let row = |p: &bool| -> Vec<f64> {
        let mean = if *p { 0.2 } else { 0.0 };
        let value = |_| {
            if rng.random_bool(0.3) {
                0.0
            } else {
                rng.random_range(-1.0..1.0) + mean
            }
        };
        (0..d).map(value).collect()
    };
    let rows = positive.iter().map(row).collect();
    Problem { rows, positive }
}
