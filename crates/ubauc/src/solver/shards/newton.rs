//! What Newton systems need: the active rows themselves, their matrix, or products with them and with all rows.

use super::{Command, Over, Query, Shards};
use crate::data::rows::add_to;
use crate::solver::gram::{rank_one, unpacked};
use crate::{Error, Result};

/// See [`Shards::newton_matrix`].
pub(crate) struct NewtonMatrix {
    beta: f64,
    sigma: f64,
    /// Σ V_i.
    weight: f64,
    /// XᵀV1, with an intercept.
    centre: Option<Vec<f64>>,
    /// |A| and Σ_A x_i.
    active: f64,
    active_sum: Vec<f64>,
}

const TORN: Error = Error::Numerical {
    what: "the rows that a shard has sent end in the middle of a row",
};

/// One row.
pub(crate) type Entries = Vec<(u32, f64)>;

impl Shards<'_> {
    /// How many rows are active.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// The entries of the active rows.
    pub(crate) fn active_rows(&mut self) -> Result<Vec<Entries>> {
        let parts = self.collect(Query::ActiveRows)?;
        let mut rows = Vec::with_capacity(self.active);
        for part in &parts {
            let mut rest = part.as_slice();
            while !rest.is_empty() {
                let (row, tail) = self.read_row(rest).ok_or(TORN)?;
                rows.push(row);
                rest = tail;
            }
        }
        Ok(rows)
    }

    /// Of the matrix last prepared at most so many rows, those with the largest v_i Σ_j a_j x_ij² above a number: v_i and
    /// entries.
    pub(crate) fn heavy_rows(
        &mut self,
        per: &[f64],
        above: f64,
        most: usize,
    ) -> Result<Vec<(f64, Entries)>> {
        let mut per = per.to_vec();
        self.transform.to_diagonal(&mut per);
        let parts = self.collect(Query::HeavyRows { per, above, most })?;
        let mut rows = Vec::new();
        for part in &parts {
            let mut rest = part.as_slice();
            while let [weight, v, tail @ ..] = rest {
                let (row, tail) = self.read_row(tail).ok_or(TORN)?;
                rows.push((*weight, (*v, row)));
                rest = tail;
            }
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        rows.truncate(most);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// The first row, and what follows it.
    fn read_row<'n>(&self, numbers: &'n [f64]) -> Option<(Entries, &'n [f64])> {
        let (&count, rest) = numbers.split_first()?;
        if count < 0.0 {
            let (values, rest) = rest.split_at_checked(self.cols)?;
            let all = values.iter().enumerate();
            let row = all.map(|(j, x)| (j as u32, *x)).collect();
            return Some((self.transform.to_entries(row), rest));
        }
        let (columns, rest) = rest.split_at_checked(count as usize)?;
        let (values, rest) = rest.split_at_checked(count as usize)?;
        if columns.iter().any(|j| *j as usize >= self.cols) {
            return None;
        }
        let all = columns.iter().map(|j| *j as usize).zip(values);
        let row = all.map(|(j, x)| (j as u32, *x)).collect();
        Some((self.transform.to_entries(row), rest))
    }

    /// Σ_A x.
    fn active_sum(&mut self) -> Result<Vec<f64>> {
        let mut sum = self.sum_one(Query::Sum(Over::Active))?;
        self.divide(&mut sum);
        Ok(sum)
    }

    /// a ← a + σ(Σ_A x xᵀ − m x̄ x̄ᵀ), lower triangle; m active rows with mean x̄.
    pub(crate) fn add_active_gram(&mut self, sigma: f64, a: &mut [f64]) -> Result<()> {
        let d = self.cols;
        let m = self.active as f64;
        let queries = vec![Query::Sum(Over::Active), Query::Gram(Over::Active)];
        let mut answers = self.sum(queries)?;
        let mean: Vec<f64> = answers.next().iter().map(|x| x / m).collect();
        let mut gram = unpacked(answers.next(), d);
        rank_one(-m, &mean, &mut gram);
        self.divide_matrix(&mut gram);
        add_to(sigma, &gram, a);
        Ok(())
    }

    /// σ(Σ_A x xᵀ − m x̄ x̄ᵀ)p, given Σ_A x from [`Shards::active_mean`].
    pub(crate) fn active_product(
        &mut self,
        sigma: f64,
        mean: &[f64],
        p: &[f64],
    ) -> Result<Vec<f64>> {
        let p = self.raw(p);
        let mut product = self.sum_one(Query::ActiveProduct(p))?;
        let along = product.pop().unwrap_or(0.0);
        self.divide(&mut product);
        add_to(-along, mean, &mut product);
        product.iter_mut().for_each(|x| *x *= sigma);
        Ok(product)
    }

    /// x̄ of the active rows.
    pub(crate) fn active_mean(&mut self) -> Result<Vec<f64>> {
        let m = self.active as f64;
        let mut mean = self.active_sum()?;
        mean.iter_mut().for_each(|x| *x /= m);
        Ok(mean)
    }

    /// Prepares products with βXᵀVX + σX̃_AᵀX̃_A (V-centred with an intercept). With r_i = βV_i + σ1_A(i)
    ///
    /// ```text
    /// M p = Σ_i r_i (x_i·p) x_i − β mean_V(Xp) XᵀV1 − σ mean_A(Xp) Σ_A x_i,
    /// ```
    ///
    /// so that a row is read once for both of its products.
    pub(crate) fn newton_matrix(
        &mut self,
        beta: f64,
        sigma: f64,
        intercept: bool,
    ) -> Result<NewtonMatrix> {
        let centre = match intercept {
            true => {
                let mut centre = self.square_sum()?;
                self.divide(&mut centre);
                Some(centre)
            }
            false => None,
        };
        let active = if sigma > 0.0 { self.active as f64 } else { 0.0 };
        let active_sum = match active > 0.0 {
            true => self.active_sum()?,
            false => Vec::new(),
        };
        self.enqueue(Command::PrepareProduct { beta, sigma });
        Ok(NewtonMatrix {
            beta,
            sigma,
            weight: self.square_weight(),
            centre,
            active,
            active_sum,
        })
    }

    /// βXᵀVX is the matrix of which heavy rows are asked for.
    pub(crate) fn prepare_squares(&mut self, beta: f64) {
        self.enqueue(Command::PrepareProduct { beta, sigma: 0.0 });
    }

    /// The matrix last prepared, times p.
    pub(crate) fn newton_product(&mut self, matrix: &NewtonMatrix, p: &[f64]) -> Result<Vec<f64>> {
        let p = self.raw(p);
        let mut product = self.sum_one(Query::Product(p))?;
        let active = product.pop().unwrap_or(0.0);
        let square = product.pop().unwrap_or(0.0);
        self.divide(&mut product);
        if let Some(centre) = &matrix.centre {
            add_to(-matrix.beta * square / matrix.weight, centre, &mut product);
        }
        if matrix.active > 0.0 {
            let mean = active / matrix.active;
            add_to(-matrix.sigma * mean, &matrix.active_sum, &mut product);
        }
        Ok(product)
    }

    /// The diagonal of βXᵀVX, means left on.
    pub(crate) fn square_diagonal(&mut self, beta: f64) -> Result<Vec<f64>> {
        let mut diagonal = self.diagonal(Over::LeastSquares)?;
        diagonal.iter_mut().for_each(|x| *x *= beta);
        Ok(diagonal)
    }

    /// The diagonal of X_AᵀX_A.
    pub(crate) fn active_diagonal(&mut self) -> Result<Vec<f64>> {
        self.diagonal(Over::Active)
    }

    pub(super) fn diagonal(&mut self, over: Over) -> Result<Vec<f64>> {
        let mut diagonal = self.sum_one(Query::Diagonal(over))?;
        self.transform.to_diagonal(&mut diagonal);
        Ok(diagonal)
    }
}

#[cfg(test)]
mod tests {
    use crate::data::dataset::Dataset;
    use crate::data::labels::Binary;
    use crate::data::rows::{Csr, Rows};
    use crate::solver::shards::{Local, Shards};

    #[test]
    fn heavy_rows_are_those_with_the_largest_weighted_squares() {
        let (n, d) = (30, 6);
        let value = |i: usize, j: usize| {
            ((i * 7 + j * 5) % 13) as f64 * if i.is_multiple_of(9) { 4.0 } else { 1.0 }
        };
        let indptr = (0..=n).map(|i| i * d).collect();
        let indices = (0..n * d).map(|k| (k % d) as u32).collect();
        let values = (0..n * d).map(|k| value(k / d, k % d)).collect();
        let rows = Rows::Csr(Csr::new(indptr, indices, values, d).unwrap());
        let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let n_pos = positive.iter().filter(|p| **p).count();
        let labels = Binary {
            positive,
            n_pos,
            n_neg: n - n_pos,
            names: ["-1".into(), "1".into()],
        };
        let data = Dataset::new(rows, labels, Vec::new()).unwrap();
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
        let divisors: Vec<f64> = (0..d).map(|j| 1.0 + j as f64).collect();
        let per: Vec<f64> = (0..d).map(|j| 0.1 * (j + 1) as f64).collect();
        let source = Box::new(Local::new(&data, Some(&weights)));
        let mut shards = Shards::new(source, d).unwrap();
        shards.divide_by((&divisors[..]).into());
        shards.prepare_squares(0.5);
        let found = shards.heavy_rows(&per, 10.0, 5).unwrap();
        let mut expected: Vec<(f64, f64, usize)> = (0..n)
            .map(|i| {
                let square = |j: usize| per[j] * (value(i, j) / divisors[j]).powi(2);
                let v = 0.5 * weights[i];
                (v * (0..d).map(square).sum::<f64>(), v, i)
            })
            .filter(|row| row.0 > 10.0)
            .collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        assert!(expected.len() > 5 && found.len() == 5);
        for ((v, row), (_, weight, i)) in found.iter().zip(expected) {
            assert_eq!(*v, weight);
            let entries: Vec<(u32, f64)> = (0..d)
                .map(|j| (j as u32, value(i, j) / divisors[j]))
                .collect();
            assert_eq!(*row, entries);
        }
    }
}
