//! SOLAM, OPAUC and OAM on a stream.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ubauc::algorithm;

use crate::caller::stop_if_asked;
use crate::error::Refused;
use crate::input::{Matrix, detached};
use crate::spec::rival;

/// The library's learner, for rows of a fixed number of features.
#[pyclass(module = "ubauc._core")]
pub(crate) struct RivalLearner(algorithm::RivalLearner);

#[pymethods]
impl RivalLearner {
    #[new]
    fn new(spec: &str, cols: usize) -> PyResult<RivalLearner> {
        let learner = algorithm::RivalLearner::new(&rival(spec)?, cols);
        Ok(RivalLearner(learner.map_err(Refused::from)?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<RivalLearner> {
        let learner = algorithm::RivalLearner::from_bytes(bytes);
        Ok(RivalLearner(learner.map_err(Refused::from)?))
    }

    /// A learner made of it goes on with the same bits.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(Refused::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Learns the examples in their order.
    fn learn<'py>(
        &mut self,
        py: Python<'py>,
        x: Matrix<'py>,
        positive: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<()> {
        let (x, positive) = (x.slices()?, positive.as_slice()?);
        let learner = &mut self.0;
        detached(py, 1, || {
            let rows = x.rows()?;
            if rows.cols() != learner.cols() {
                return Err(ubauc::Error::Length {
                    what: "features",
                    expected: learner.cols(),
                    got: rows.cols(),
                }
                .into());
            }
            for (i, &positive) in (0..rows.len()).zip(positive) {
                stop_if_asked();
                learner.learn(rows.row(i), positive)?;
            }
            learner.weights()?;
            Ok(())
        })
    }

    /// For raw features.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = self.0.weights().map_err(Refused::from)?;
        Ok(weights.into_pyarray(py))
    }

    /// Halfway between the mean scores of the classes; 0 before both have come.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps()
    }

    /// Negatives and positives learned.
    #[getter]
    fn counts(&self) -> [u64; 2] {
        self.0.counts()
    }
}
