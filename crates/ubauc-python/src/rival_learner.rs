//! SOLAM, OPAUC and OAM on a stream.
//!
//! Features are divided by m_j = max |x_j| so far, if asked to; what was learned with a smaller m_j stays as it is, as if a
//! scaler that learns from the stream stood before the learner. SOLAM's κ is the longest row so far. A stream does not come
//! back, so there is no threshold at which as many are called positive as there are: it is
//! w·(c⁺ + c⁻)/2, halfway between the mean scores of the classes, whose means c are kept.
//!
//! An example is handed over dense or sparse, whichever is less to store, so that every kind of input gives the same
//! bits. Memory: the learner's, and 3d numbers.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use ubauc::container::{self, Kind};
use ubauc::data::rows::Row;
use ubauc::solver::oam::Oam;
use ubauc::solver::opauc::Opauc;
use ubauc::solver::passes::Online;
use ubauc::solver::solam::Solam;

use crate::caller::stop_if_asked;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::rivals::{Rival, RivalOptions, opauc};

#[derive(Serialize, Deserialize)]
enum Learns {
    Solam(Box<Solam>),
    Opauc(Box<Opauc>),
    Oam(Box<Oam>),
}

impl Learns {
    fn weights(&self) -> Vec<f64> {
        match self {
            Learns::Solam(learner) => learner.weights(),
            Learns::Opauc(learner) => learner.weights(),
            Learns::Oam(learner) => learner.weights(),
        }
    }
}

/// The learner and what it has to know of the stream.
#[pyclass(module = "ubauc._core")]
#[derive(Serialize, Deserialize)]
pub(crate) struct RivalLearner {
    learner: Learns,
    /// m_j; none without a scale.
    largest: Option<Vec<f64>>,
    /// The longest row so far, squared.
    longest_sq: f64,
    /// Negatives and positives so far, and the sums of their features.
    counts: [u64; 2],
    sums: [Vec<f64>; 2],
    /// The example at hand; all 0, and empty, between them.
    #[serde(skip)]
    at_hand: AtHand,
}

#[derive(Default)]
struct AtHand {
    indices: Vec<u32>,
    values: Vec<f64>,
    dense: Vec<f64>,
}

#[pymethods]
impl RivalLearner {
    #[new]
    fn new(params: RivalOptions<'_>, cols: usize) -> PyResult<RivalLearner> {
        let scaled = match params.scale() {
            "none" => false,
            "maxabs" => true,
            other => return Err(unknown("scale", other, "none or maxabs in a stream")),
        };
        let learner = match params.rival()? {
            Rival::Solam(params) => Solam::new(cols, 0.0, &params)
                .map(Box::new)
                .map(Learns::Solam),
            Rival::Opauc(params, finds_tau) => {
                let learner = opauc(cols, &params, finds_tau);
                learner.map(Box::new).map(Learns::Opauc)
            }
            Rival::Oam(params) => Oam::new(cols, &params).map(Box::new).map(Learns::Oam),
            Rival::SvmOr(_) => {
                let message = "the ranking SVM looks at all examples at once";
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(RivalLearner {
            learner: learner.map_err(Refused::from)?,
            largest: scaled.then(|| vec![0.0; cols]),
            longest_sq: 0.0,
            counts: [0; 2],
            sums: [vec![0.0; cols], vec![0.0; cols]],
            at_hand: AtHand::default(),
        })
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<RivalLearner> {
        let learner: RivalLearner =
            container::read(Kind::RivalLearner, bytes).map_err(Refused::from)?;
        if !learner.fits() {
            let what = "the state of a streaming learner holds vectors of different lengths";
            return Err(PyValueError::new_err(what));
        }
        Ok(learner)
    }

    /// A learner made of it goes on with the same bits.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = container::write(Kind::RivalLearner, self).map_err(Refused::from)?;
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
        let learner = &mut *self;
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
                learner.learn_one(rows.row(i), positive)?;
            }
            if learner.raw_weights().iter().any(|w| !w.is_finite()) {
                let what = "the steps diverge; take smaller ones, or scale the features";
                return Err(ubauc::Error::Numerical { what }.into());
            }
            Ok(())
        })
    }

    /// For raw features.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.raw_weights().into_pyarray(py)
    }

    /// Halfway between the mean scores of the classes; 0 before both have come.
    #[getter]
    fn threshold(&self) -> f64 {
        let w = self.raw_weights();
        let mean = |class: usize| Row::Dense(&self.sums[class]).dot(&w) / self.counts[class] as f64;
        let [neg, pos] = [mean(0), mean(1)];
        let middle = 0.5 * (neg + pos);
        if middle.is_finite() { middle } else { 0.0 }
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.counts[0] + self.counts[1]
    }

    /// Negatives and positives learned.
    #[getter]
    fn counts(&self) -> [u64; 2] {
        self.counts
    }
}

impl RivalLearner {
    fn cols(&self) -> usize {
        self.sums[0].len()
    }

    /// Whether all vectors have a number for each feature.
    fn fits(&self) -> bool {
        let d = self.cols();
        let largest = self.largest.as_ref();
        self.sums[1].len() == d
            && largest.is_none_or(|largest| largest.len() == d)
            && self.learner.weights().len() == d
    }

    fn raw_weights(&self) -> Vec<f64> {
        let mut weights = self.learner.weights();
        for (w, m) in weights.iter_mut().zip(self.largest.iter().flatten()) {
            // A feature that was always 0 has taught nothing.
            *w = if *m > 0.0 { *w / m } else { 0.0 };
        }
        weights
    }

    fn learn_one(&mut self, x: Row<'_>, positive: bool) -> ubauc::Result<()> {
        let mut at_hand = std::mem::take(&mut self.at_hand);
        let done = self.take(x, positive, &mut at_hand);
        let learned = done.map(|()| {
            let row = at_hand.smaller(self.cols());
            match &mut self.learner {
                Learns::Solam(learner) => learner.learn(row, positive),
                Learns::Opauc(learner) => learner.learn(row, positive),
                Learns::Oam(learner) => learner.learn(row, positive),
            }
        });
        at_hand.clear();
        self.at_hand = at_hand;
        learned
    }

    /// The example without zeros, scaled, and what the stream is to remember of it.
    fn take(&mut self, x: Row<'_>, positive: bool, at_hand: &mut AtHand) -> ubauc::Result<()> {
        let sums = &mut self.sums[usize::from(positive)];
        let mut norm_sq = 0.0;
        for (j, x) in x.entries().filter(|entry| entry.1 != 0.0) {
            sums[j] += x;
            let scaled = match &mut self.largest {
                Some(largest) => {
                    largest[j] = largest[j].max(x.abs());
                    x / largest[j]
                }
                None => x,
            };
            norm_sq += scaled * scaled;
            at_hand.indices.push(j as u32);
            at_hand.values.push(scaled);
        }
        self.counts[usize::from(positive)] += 1;
        if norm_sq > self.longest_sq {
            self.longest_sq = norm_sq;
            if let Learns::Solam(solam) = &mut self.learner {
                solam.widen(norm_sq.sqrt())?;
            }
        }
        Ok(())
    }
}

impl AtHand {
    /// A column takes 4 bytes, a number 8.
    fn smaller(&mut self, cols: usize) -> Row<'_> {
        if 3 * self.values.len() < 2 * cols {
            return Row::Sparse(&self.indices, &self.values);
        }
        self.dense.resize(cols, 0.0);
        for (&j, &x) in self.indices.iter().zip(&self.values) {
            self.dense[j as usize] = x;
        }
        Row::Dense(&self.dense)
    }

    fn clear(&mut self) {
        self.dense.fill(0.0);
        self.indices.clear();
        self.values.clear();
    }
}
