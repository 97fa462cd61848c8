//! The loss of a batch of logits, for `ubauc.torch`: arrays as PyTorch lends them, of single or double precision.

use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use ubauc::objective::ubauc::ClassWeights;
use ubauc::solver::logits::{Lanes, LogitBatch, LogitLoss, LogitThreshold, Precision};

use crate::error::Refused;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(logit_loss, module)?)
}

/// An array of any shape: numbers of the precision of the logits, or booleans.
enum Numbers<'py, F: Element> {
    Float(PyReadonlyArrayDyn<'py, F>),
    Bool(PyReadonlyArrayDyn<'py, bool>),
}

impl<'a, 'py, F: Element + Copy> FromPyObject<'a, 'py> for Numbers<'py, F> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Numbers<'py, F>> {
        if let Ok(array) = object.cast::<PyArrayDyn<F>>() {
            return Ok(Numbers::Float(array.try_readonly()?));
        }
        match object.cast::<PyArrayDyn<bool>>() {
            Ok(array) => Ok(Numbers::Bool(array.try_readonly()?)),
            Err(_) => Err(PyTypeError::new_err(
                "arrays must be float32 or float64, all of them alike, or bool",
            )),
        }
    }
}

impl<F: Element + Precision + From<bool>> Numbers<'_, F> {
    fn lanes(&self) -> Lanes<F> {
        match self {
            Numbers::Float(array) => in_order::<F, F>(array),
            Numbers::Bool(array) => in_order::<F, bool>(array),
        }
    }
}

/// Elements row by row, wherever they lie.
fn in_order<F: Precision, T: Copy + Element + Into<F>>(
    array: &PyReadonlyArrayDyn<'_, T>,
) -> Lanes<F> {
    match array.as_slice() {
        Ok(slice) if array.is_c_contiguous() => Lanes::of(slice),
        _ => Lanes::of(&array.as_array().iter().copied().collect::<Vec<T>>()),
    }
}

/// Logits, targets, weights.
type Data<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
);

/// In place of a sum of 0, to divide by.
const LEAST_SUM: f64 = 1e-18;

/// Sums of weights of negatives and positives before the batch, and whether the batch is added: training. In evaluation
/// it is where a class was never counted.
type Counts = Option<([f64; 2], bool)>;
/// Loss, gradient, λ, derivative by λ, sums of weights of negatives and positives (0 without counts).
type Found<'py> = (f64, Bound<'py, PyAny>, f64, f64, (f64, f64));

/// What does not depend on the precision.
#[derive(Clone, Copy)]
struct Asked {
    loss: LogitLoss,
    factors: (f64, f64, f64),
    threshold: LogitThreshold,
    counts: Counts,
}

/// `loss` is (κ, β), `factors` multiply negatives, positives and everything; with `counts` each class has half of
/// the weight of all examples so far, besides.
#[pyfunction]
fn logit_loss<'py>(
    py: Python<'py>,
    data: Data<'py>,
    loss: (f64, f64),
    factors: (f64, f64, f64),
    threshold: f64,
    is_best: bool,
    counts: Counts,
) -> PyResult<Found<'py>> {
    let (softness, beta) = loss;
    let asked = Asked {
        loss: LogitLoss { softness, beta },
        factors,
        threshold: match is_best {
            true => LogitThreshold::Best(threshold),
            false => LogitThreshold::Fixed(threshold),
        },
        counts,
    };
    match data.0.cast::<PyArrayDyn<f64>>().is_ok() {
        true => found::<f64>(py, &data, asked),
        false => found::<f32>(py, &data, asked),
    }
}

fn found<'py, F: Element + Precision + From<bool> + Send + Sync>(
    py: Python<'py>,
    (logits, targets, weights): &Data<'py>,
    asked: Asked,
) -> PyResult<Found<'py>> {
    let lanes =
        |array: &Bound<'py, PyAny>| Ok::<_, PyErr>(array.extract::<Numbers<'_, F>>()?.lanes());
    let (logits, targets) = (lanes(logits)?, lanes(targets)?);
    let weights = weights.as_ref().map(lanes).transpose()?;
    let (of_negatives, of_positives, scale) = asked.factors;
    let work = || {
        let mut batch = LogitBatch::new(logits, targets, weights)?;
        let mut factors = ClassWeights {
            pos: of_positives,
            neg: of_negatives,
        };
        let mut sums = ClassWeights::default();
        if let Some(([neg, pos], is_training)) = asked.counts {
            (sums.neg, sums.pos) = (neg, pos);
            if is_training || neg.min(pos) <= 0.0 {
                let of_batch = batch.class_weights();
                sums.pos += of_batch.pos;
                sums.neg += of_batch.neg;
            }
            // A class that never was has no example to weight; 0 times its factor must be 0.
            factors.pos *= sums.sum() / (2.0 * sums.pos.max(LEAST_SUM));
            factors.neg *= sums.sum() / (2.0 * sums.neg.max(LEAST_SUM));
        }
        batch.weight_classes(factors);
        let mut found = batch.derivatives(asked.loss, asked.threshold)?;
        let of_slope = F::of(scale);
        found
            .gradient
            .iter_mut()
            .for_each(|slope| *slope = *slope * of_slope);
        Ok((found, sums))
    };
    let (found, sums) = py.detach(work).map_err(refused)?;
    let gradient = found.gradient.into_pyarray(py).into_any();
    let (value, by_lambda) = (scale * found.value, scale * found.by_lambda);
    Ok((
        value,
        gradient,
        found.lambda,
        by_lambda,
        (sums.neg, sums.pos),
    ))
}

/// Elements of tensors count from 0.
fn refused(error: ubauc::Error) -> PyErr {
    match error {
        ubauc::Error::NotFinite {
            what,
            row,
            value,
            must,
        } => PyValueError::new_err(format!(
            "{what} of element {row} is {value}: must be {must}"
        )),
        error => Refused::from(error).into(),
    }
}
