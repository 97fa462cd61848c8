//! Weights as a file has them: a list, or without the zeros where that is shorter.
//!
//! The memory of a load is bounded by the size of the file: above 2²⁴ weights at least one in 1024 is written, zero or
//! not.

use serde::{Deserialize, Serialize};

/// svmlight indices end there.
pub(super) const MAX_DIMENSION: usize = 1 << 31;
/// Up to this dimension a file may leave out any zero weight …
pub(super) const FREE_DIMENSION: usize = 1 << 24;
/// … and beyond it not the columns that are multiples of this.
const STRIDE: usize = 1024;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Weights {
    Dense(Vec<f64>),
    Sparse {
        dimension: usize,
        indices: Vec<usize>,
        values: Vec<f64>,
    },
}

/// The shorter text: a zero in a list takes 4 characters, an index its digits and a comma.
pub(super) fn compact(weights: &[f64]) -> Weights {
    let d = weights.len();
    // By bits: −0.0 is not left out.
    let written =
        |&j: &usize| weights[j].to_bits() != 0 || (d > FREE_DIMENSION && j.is_multiple_of(STRIDE));
    let indices: Vec<usize> = (0..d).filter(written).collect();
    let digits = d.checked_ilog10().unwrap_or(0) as usize + 2;
    if indices.len() * digits >= (d - indices.len()) * 4 {
        return Weights::Dense(weights.to_vec());
    }
    Weights::Sparse {
        dimension: d,
        values: indices.iter().map(|&j| weights[j]).collect(),
        indices,
    }
}

impl Weights {
    /// All weights written out. Nothing is allocated before the dimension has been judged by the
    /// number of entries.
    pub(super) fn expand(self) -> std::result::Result<Vec<f64>, String> {
        let (dimension, indices, values) = match self {
            Weights::Dense(weights) => return Ok(weights),
            Weights::Sparse {
                dimension,
                indices,
                values,
            } => (dimension, indices, values),
        };
        let entries = indices.len();
        if values.len() != entries {
            return Err(format!("{entries} indices for {} values", values.len()));
        }
        if indices.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("indices of the weights must increase".to_string());
        }
        if let Some(&last) = indices.last().filter(|&&last| last >= dimension) {
            return Err(format!("index {last} in {dimension} weights"));
        }
        if dimension
            > FREE_DIMENSION
                .max(entries.saturating_mul(STRIDE))
                .min(MAX_DIMENSION)
        {
            return Err(format!("{dimension} weights of which {entries} are given"));
        }
        let mut weights = Vec::new();
        weights
            .try_reserve_exact(dimension)
            .map_err(|error| format!("{dimension} weights: {error}"))?;
        weights.resize(dimension, 0.0);
        for (j, value) in indices.into_iter().zip(values) {
            weights[j] = value;
        }
        Ok(weights)
    }
}
