//! What every solver refuses of what is given besides the data.

use crate::data::dataset::Dataset;
use crate::data::scale::check_each_weight;
use crate::objective::ubauc::ClassWeights;
use crate::{Error, Result};

/// Weights s_i ≥ 0 and divisors above 0, as many as there are rows and columns.
pub(super) fn check_row_inputs(
    data: &Dataset,
    weights: Option<&[f64]>,
    divisors: Option<&[f64]>,
) -> Result<()> {
    if let Some(weights) = weights {
        check_each_weight(weights, data.rows().len())?;
    }
    if let Some(divisors) = divisors {
        let (expected, got) = (data.rows().cols(), divisors.len());
        if got != expected {
            return Err(Error::Length {
                what: "divisors",
                expected,
                got,
            });
        }
        if let Some(row) = divisors.iter().position(|x| !(*x > 0.0 && x.is_finite())) {
            let (value, must) = (divisors[row].to_string(), "finite and above 0");
            return Err(Error::Parameter {
                name: "divisors",
                value,
                must,
            });
        }
    }
    Ok(())
}

/// Both classes must have examples of positive weight.
pub(super) fn refuse_one_class(
    total: ClassWeights,
    [negative, positive]: &[String; 2],
    n: usize,
) -> Result<()> {
    let only = match (total.pos > 0.0, total.neg > 0.0) {
        (true, true) => return Ok(()),
        (true, false) => positive,
        (false, _) => negative,
    };
    Err(Error::OneClass {
        class: only.clone(),
        n,
    })
}
