//! Answers that read the features.

use super::blocks::write;
use super::{Shard, at, zeros};
use crate::data::rows::{Power, Row, Rows};
use crate::data::scale;
use crate::solver::centred::CentredRow;
use crate::solver::gram::Gram;
use crate::solver::shards::message::Over;

impl Shard {
    pub(super) fn totals(&self, rows: &Rows) -> [f64; 7] {
        let [pos, neg, weighted, one] = self.weights_by_class();
        let len = self.span.len();
        let (stored, sparse) = match rows {
            Rows::Dense(_) => (len * rows.cols(), 0),
            Rows::Csr(_) | Rows::Coded(_) => {
                (self.span.clone().map(|i| rows.row(i).stored()).sum(), len)
            }
        };
        let [len, stored, sparse] = [len, stored, sparse].map(|n: usize| n as f64);
        [pos, neg, len, weighted, stored, sparse, one]
    }

    pub(super) fn stored(&self, rows: &Rows, out: &mut Vec<f64>) {
        let counts = zeros(out, self.cols);
        if matches!(rows, Rows::Coded(_)) {
            return; // nothing of them is centred
        }
        let mut full: Vec<usize> = match self.span.clone().next() {
            Some(first) => rows.row(first).entries().map(|(j, _)| j).collect(),
            None => Vec::new(),
        };
        for i in self.span.clone() {
            if full.is_empty() {
                break;
            }
            rows.row(i).for_each(|j, _| counts[j] += 1.0);
            full.retain(|&j| counts[j] == (i - self.span.start + 1) as f64);
        }
        let n = self.span.len() as f64;
        counts
            .iter_mut()
            .filter(|c| **c != n)
            .for_each(|c| *c = 0.0);
    }

    pub(super) fn ranges(&self, rows: &Rows, out: &mut Vec<f64>) {
        for range in scale::ranges(self.weighted(rows), self.cols) {
            out.extend([range.min, range.max, range.stored as f64, range.weight]);
        }
    }

    /// Every row with V_i > 0: its place in the shard, V_i and x_i.
    fn each_square(&self, rows: &Rows, mut each: impl FnMut(usize, f64, CentredRow<'_>)) {
        let rows = self.centred(rows);
        for (k, i) in self.places().enumerate() {
            let weight = self.square(k);
            if weight != 0.0 {
                each(k, weight, rows.row(i));
            }
        }
    }

    /// Every row with a_i > 0: a_i and x_i.
    fn each_over(&self, rows: &Rows, over: Over, mut each: impl FnMut(f64, CentredRow<'_>)) {
        match over {
            Over::LeastSquares => self.each_square(rows, |_, weight, row| each(weight, row)),
            Over::Active => self.active_rows(rows).for_each(|row| each(1.0, row)),
            Over::Curvature => self.each_weighted(rows, |k| at(&self.candidates, k), each),
            Over::Product => self.each_weighted(rows, |k| self.product_weight(k), each),
        }
    }

    /// a_i by the place among the numbers; none for the active rows, which are few.
    fn factor_of(&self, over: Over) -> Option<Box<dyn Fn(usize) -> f64 + '_>> {
        match over {
            Over::LeastSquares => Some(Box::new(|k| self.square(k))),
            Over::Active => None,
            Over::Curvature => Some(Box::new(|k| at(&self.candidates, k))),
            Over::Product => Some(Box::new(|k| self.product_weight(k))),
        }
    }

    fn each_weighted(
        &self,
        rows: &Rows,
        a: impl Fn(usize) -> f64,
        mut each: impl FnMut(f64, CentredRow<'_>),
    ) {
        let rows = self.centred(rows);
        for (k, i) in self.places().enumerate() {
            let a = a(k);
            if a != 0.0 {
                each(a, rows.row(i));
            }
        }
    }

    pub(super) fn sum(&self, rows: &Rows, over: Over, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        if let (Rows::Coded(coded), Some(a)) = (rows, self.factor_of(over)) {
            return write(&self.coded_sum(coded, Power::One, a), 0, sum);
        }
        self.each_over(rows, over, |a, row| row.add_to(a, sum));
    }

    pub(super) fn diagonal(&self, rows: &Rows, over: Over, out: &mut Vec<f64>) {
        let diagonal = zeros(out, self.cols);
        if let (Rows::Coded(coded), Some(a)) = (rows, self.factor_of(over)) {
            return write(&self.coded_sum(coded, Power::Two, a), 0, diagonal);
        }
        self.each_over(rows, over, |a, row| {
            row.entries().for_each(|(j, x)| diagonal[j] += a * x * x);
        });
    }

    pub(super) fn gram(&self, rows: &Rows, over: Over, out: &mut Vec<f64>) {
        let mut gram = Gram::new(self.cols);
        self.add_gram(rows, over, &mut gram);
        out.extend(gram.packed());
    }

    pub(in crate::solver::shards) fn add_gram(&self, rows: &Rows, over: Over, gram: &mut Gram) {
        self.each_over(rows, over, |a, row| gram.add(a, row));
    }

    pub(super) fn target(&self, rows: &Rows, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        if let Rows::Coded(coded) = rows {
            let target = |k: usize| self.square(k).copysign(self.signed.at(k));
            return write(&self.coded_sum(coded, Power::One, target), 0, sum);
        }
        self.each_square(rows, |k, weight, row| {
            row.add_to(weight.copysign(self.signed.at(k)), sum);
        });
    }

    pub(super) fn gradient(&self, rows: &Rows, b: f64, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        let residual = |k: usize| self.z[k] + b - 1f64.copysign(self.signed.at(k));
        if let Rows::Coded(coded) = rows {
            let pull = |k: usize| self.square(k) * residual(k);
            return write(&self.coded_sum(coded, Power::One, pull), 0, sum);
        }
        self.each_square(rows, |k, weight, row| row.add_to(weight * residual(k), sum));
    }

    pub(super) fn candidate_sums(&self, rows: &Rows, out: &mut Vec<f64>) {
        let active = self.active.len() as f64;
        out.extend([self.loss, self.slack, active, self.candidate_squares()]);
        let sum = zeros(out, self.cols);
        if let Rows::Coded(coded) = rows {
            let sums = self.coded_sum(coded, Power::One, |k| at(&self.v, k));
            return write(&sums, 0, sum);
        }
        let rows = self.centred(rows);
        for (&change, i) in self.v.iter().zip(self.places()) {
            if change != 0.0 {
                rows.row(i).add_to(change, sum);
            }
        }
    }

    pub(super) fn active_product(&self, rows: &Rows, p: &[f64], out: &mut Vec<f64>) {
        let (sum, mut along) = (zeros(out, self.cols), 0.0);
        for row in self.active_rows(rows) {
            let dz = row.dot(p);
            row.add_to(dz, sum);
            along += dz;
        }
        out.push(along);
    }

    pub(super) fn product(&self, rows: &Rows, p: &[f64], out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        if let Rows::Coded(coded) = rows {
            let ends = self.coded_product(coded, p, sum);
            out.extend(ends);
            return;
        }
        let (mut square, mut other) = (0.0, 0.0);
        let rows = self.centred(rows);
        let mut share = self.shares();
        for (k, i) in self.places().enumerate() {
            let (v, share) = (self.product_weight(k), share(k));
            if v == 0.0 {
                continue; // a row of weight 0
            }
            let row = rows.row(i);
            let dz = row.dot(p);
            row.add_to(v * dz, sum);
            square += self.square(k) * dz;
            if share != 0.0 {
                other += share * dz;
            }
        }
        out.extend([square, other]);
    }

    /// Of one row after the other: h of the soft loss, or whether it is active.
    pub(super) fn shares(&self) -> impl FnMut(usize) -> f64 + '_ {
        let mut next_active = self.active.iter().map(|&k| k as usize).peekable();
        move |k| match self.soft_beta {
            Some(_) => at(&self.candidates, k),
            None if next_active.next_if_eq(&k).is_some() => 1.0,
            None => 0.0,
        }
    }

    /// Of each −1 and all entries, or the number of entries, columns and values.
    pub(super) fn write_active_rows(&self, rows: &Rows, out: &mut Vec<f64>) {
        self.active_rows(rows).for_each(|row| write_row(row, out));
    }

    pub(super) fn write_heavy_rows(
        &self,
        rows: &Rows,
        per: &[f64],
        (above, most): (f64, usize),
        out: &mut Vec<f64>,
    ) {
        let rows = self.centred(rows);
        let weigh = |(i, v): (usize, f64)| {
            let entries = rows.row(i).entries();
            let sum: f64 = entries.map(|(j, x)| per[j] * x * x).sum();
            (v * sum, v, i)
        };
        let weights = (0..self.z.len()).map(|k| self.product_weight(k));
        let all = self.places().zip(weights);
        let mut heavy: Vec<(f64, f64, usize)> = match rows.rows {
            Rows::Coded(coded) => {
                let mut sums = vec![0.0; self.z.len()];
                self.coded_dots(coded, per, Power::Two, &mut sums);
                let weigh = |((i, v), sum): ((usize, f64), f64)| (v * sum, v, i);
                let all = all.zip(sums).map(weigh);
                all.filter(|row| row.0 > above).collect()
            }
            Rows::Dense(_) | Rows::Csr(_) => all.map(weigh).filter(|row| row.0 > above).collect(),
        };
        heavy.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (weight, v, i) in heavy.into_iter().take(most) {
            out.extend([weight, v]);
            write_row(rows.row(i), out);
        }
    }
}

/// How many entries, their columns and their values; −1 and the values of a dense row.
fn write_row(row: CentredRow<'_>, out: &mut Vec<f64>) {
    match row.row {
        Row::Dense(_) => {
            out.push(-1.0);
            out.extend(row.entries().map(|(_, x)| x));
        }
        Row::Sparse(columns, values) => {
            out.push(values.len() as f64);
            out.extend(columns.iter().map(|&j| f64::from(j)));
            out.extend(row.entries().map(|(_, x)| x));
        }
        Row::Coded { .. } => {
            out.push(row.row.stored() as f64);
            out.extend(row.entries().map(|(j, _)| j as f64));
            out.extend(row.entries().map(|(_, x)| x));
        }
    }
}
