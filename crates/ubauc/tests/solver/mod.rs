//! The solvers against the oracle.

mod ba_ubauc; // the certified minimum
#[cfg(feature = "bcd")]
mod bcd; // the paper's block descent
mod class_weight; // where λ is on the ROC curve
mod coded; // rows of tables
mod messages; // commands and queries
pub(crate) mod remote; // rows on other machines
mod rounding; // what it hides
mod start; // from given weights

use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::objective::ubauc::LeastSquares;

use crate::oracle::{self, Problem};

/// Rows and labels of a problem, dense.
fn dataset(problem: &Problem) -> Dataset {
    let (n, d) = (problem.rows.len(), problem.features());
    let rows = Rows::Dense(Dense::new(problem.rows.concat(), n, d).unwrap());
    Dataset::new(rows, binary(&problem.positive), Vec::new()).unwrap()
}

/// The same, sparse.
fn sparse_dataset(problem: &Problem) -> Dataset {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in &problem.rows {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        indptr.push(indices.len());
    }
    let rows = Rows::Csr(Csr::new(indptr, indices, values, problem.features()).unwrap());
    Dataset::new(rows, binary(&problem.positive), Vec::new()).unwrap()
}

fn binary(positive: &[bool]) -> Binary {
    let n_pos = positive.iter().filter(|&&p| p).count();
    Binary {
        positive: positive.to_vec(),
        n_pos,
        n_neg: positive.len() - n_pos,
        names: ["-1".into(), "1".into()],
    }
}

fn least_squares(problem: &Problem) -> LeastSquares {
    match problem.least_squares {
        oracle::LeastSquares::Plain => LeastSquares::Plain,
        oracle::LeastSquares::Balanced => LeastSquares::Balanced,
    }
}
