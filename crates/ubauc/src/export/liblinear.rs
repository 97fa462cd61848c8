//! A model file of LIBLINEAR, for linear models of numbers.
//!
//! ```text
//! decision = Σ_j w_j x_j + w_bias·bias,   the first label where it is above 0
//! ```
//!
//! with w_bias = intercept − threshold, so that the decision is score − threshold. The labels are 1, the positive class, and −1, since
//! LIBLINEAR's are whole numbers. Readers stop behind the weights: the rows of the self-test stand there, as `svm-train` writes rows,
//! with their decisions in front.

use std::fmt::Write;

use super::program::{Program, Term};
use super::{SelfTest, Target, Value};
use crate::Result;

pub(super) fn write(program: &Program, test: &SelfTest) -> Result<Vec<u8>> {
    let mut weights: Vec<f64> = Vec::new();
    for term in &program.terms {
        let Term::Linear {
            column,
            weight,
            mean: 0.0,
            deviation: 1.0,
        } = term
        else {
            return Target::Liblinear.refuse(
                "its features are made of the columns of a table; export to python, sql or onnx",
            );
        };
        let index = program.columns[*column].index;
        weights.resize(weights.len().max(index), 0.0);
        weights[index - 1] = *weight;
    }
    let mut out = String::from("solver_type L2R_LR\nnr_class 2\nlabel 1 -1\n");
    let bias = program.intercept - program.threshold;
    let body = |out: &mut String| -> std::fmt::Result {
        writeln!(out, "nr_feature {}\nbias 1\nw", weights.len())?;
        for weight in weights.iter().chain([&bias]) {
            writeln!(out, "{weight:e} ")?;
        }
        writeln!(out, "# self-test: decision and features of each row")?;
        for (row, score) in test.rows.iter().zip(&test.scores) {
            write!(out, "# {:e}", score - program.threshold)?;
            for (column, value) in row.iter().enumerate() {
                if let Value::Number(x) = value {
                    write!(out, " {}:{x:e}", program.columns[column].index)?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    };
    // Writing to a string does not fail.
    let _ = body(&mut out);
    Ok(out.into_bytes())
}
