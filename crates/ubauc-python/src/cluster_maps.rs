//! Maps of tables whose rows are on a cluster: what every part of the table counts is added up here, in the order of the
//! parts, and becomes the map that one machine learns.
//!
//! | needed | a part answers | here |
//! |---|---|---|
//! | linear map | `Table.summary` | `MapLearner(…)` |
//! | bins | `divided`, again and again | `MapLearner.open`, `.divide` |
//! | which columns pairs are of | `main_sums` | `PairLearner(…)` |
//! | which pairs | `pair_sums` | `PairLearner.add` |
//! | cells of pairs | `pair_counts` | `PairLearner.with_pairs` |
//! | factors | rounds of a `Shard` | `shrunk_rounds` |
//! | effects | `effect_sums` | `effects_of_sums` |

use std::sync::Arc;

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use ubauc::algorithm::{Algorithm, Spec};
use ubauc::container::{self, Kind};
use ubauc::features::columns::bins::{Divided, Division, Runs, ValueCounts};
use ubauc::features::columns::pairs::PairCounts;
use ubauc::features::columns::pairs::rank::{PairSums, all_pairs, in_order};
use ubauc::features::columns::{ColumnSummary, NestedMap, NumberBins, TableSummary, WIDTHS};
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::glass_box::effects::{EffectSums, Effects};
use ubauc::glass_box::ranking::{self, MainSums};
use ubauc::glass_box::{self, PairChoice, PairRanking, Sides};

use crate::error::Refused;
use crate::input::detached;
use crate::spec::{of_json, to_json};

pub(crate) type Numbers<'py> = PyReadonlyArray1<'py, f64>;
pub(crate) type Bytes<'py> = PyResult<Bound<'py, PyBytes>>;
/// A division of every column that has one.
pub(crate) type Divisions = Vec<Option<Division>>;

pub(crate) fn written<'py>(py: Python<'py>, tally: &impl Serialize) -> Bytes<'py> {
    let bytes = container::write(Kind::Tally, tally).map_err(Refused::from)?;
    Ok(PyBytes::new(py, &bytes))
}

pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    Ok(container::read(Kind::Tally, bytes).map_err(Refused::from)?)
}

/// All parts added up in their order.
fn merged<T: DeserializeOwned>(
    parts: &[Vec<u8>],
    merge: impl Fn(&mut T, &T) -> ubauc::Result<()>,
) -> PyResult<T> {
    let mut all: Option<T> = None;
    for part in parts {
        let part = read(part)?;
        match &mut all {
            Some(all) => merge(all, &part).map_err(Refused::from)?,
            None => all = Some(part),
        }
    }
    all.ok_or_else(|| PyValueError::new_err("no parts"))
}

/// A map that was learned, and how its features share weights. It stays where it was made; workers need its `features`.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct LearnedMap(pub(crate) Arc<glass_box::LearnedMap>);

impl LearnedMap {
    pub(crate) fn new(learned: impl Into<glass_box::LearnedMap>) -> LearnedMap {
        LearnedMap(Arc::new(learned.into()))
    }
}

#[pymethods]
impl LearnedMap {
    /// From raw values to features, as JSON.
    #[getter]
    fn features(&self) -> PyResult<String> {
        to_json(&FeatureMap::Columns(self.0.map.clone()))
    }

    /// How many features there are.
    #[getter]
    fn cols(&self) -> usize {
        self.0.map.width()
    }

    /// The gain of every pair, in the order of the map.
    #[getter]
    fn gains(&self) -> Vec<f64> {
        self.0.pairs.iter().map(|pair| pair.gain).collect()
    }
}

/// The map of a table whose parts were counted.
#[pyclass(module = "ubauc._core")]
pub(crate) struct MapLearner {
    linear: ColumnMap,
    /// Of numbers and times.
    values: Vec<Option<Runs>>,
    asked: Divisions,
}

#[pymethods]
impl MapLearner {
    /// Of the summaries of all parts.
    #[new]
    fn new(py: Python<'_>, parts: Vec<String>) -> PyResult<MapLearner> {
        detached(py, 1, || {
            let mut merged: Option<TableSummary<'_>> = None;
            for text in &parts {
                let part: TableSummary<'_> = serde_json::from_str(text)
                    .map_err(|error| ubauc::Error::Rows(Box::new(error)))?;
                match &mut merged {
                    Some(merged) => merged.merge(&part)?,
                    None => merged = Some(part),
                }
            }
            let merged = merged.unwrap_or(TableSummary {
                rows: 0,
                columns: Vec::new(),
            });
            let values = merged.columns.iter().map(|(_, column)| match column {
                ColumnSummary::Number(numbers) | ColumnSummary::Time { days: numbers, .. } => {
                    let range = numbers.range.unwrap_or_default();
                    Some(Runs::new(range, numbers.present))
                }
                ColumnSummary::Category { .. } => None,
            });
            Ok(MapLearner {
                values: values.collect(),
                asked: Vec::new(),
                linear: ColumnMap::of_summary(&merged)?,
            })
        })
    }

    /// The linear map.
    fn linear(&self) -> LearnedMap {
        LearnedMap::new(self.linear.clone())
    }

    /// What the parts must be asked before the bins of all numbers are known; `None` if they are.
    fn open<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let division = |runs: &Option<Runs>| runs.as_ref()?.division(&WIDTHS);
        self.asked = self.values.iter().map(division).collect();
        match self.asked.iter().any(Option::is_some) {
            true => written(py, &self.asked).map(Some),
            false => Ok(None),
        }
    }

    /// Takes what all parts answered.
    fn divide(&mut self, answers: Vec<Vec<u8>>) -> PyResult<()> {
        let answers: Vec<Vec<Vec<Divided>>> = answers
            .iter()
            .map(|part| read(part))
            .collect::<PyResult<_>>()?;
        for (column, asked) in self.asked.iter().enumerate() {
            if let (Some(division), Some(runs)) = (asked, &mut self.values[column]) {
                let of_column = answers.iter().map(|part| part.get(column).cloned());
                let parts: Vec<Vec<Divided>> = of_column.map(Option::unwrap_or_default).collect();
                runs.divide(division, &parts).map_err(Refused::from)?;
            }
        }
        Ok(())
    }

    /// Whether that is another map than the linear one.
    fn has_bins(&self) -> PyResult<bool> {
        Ok(self.nested()?.has_bins())
    }

    /// The additive map, once nothing is open.
    fn additive(&self) -> PyResult<LearnedMap> {
        Ok(LearnedMap::new(self.nested()?))
    }
}

impl MapLearner {
    fn nested(&self) -> PyResult<NestedMap> {
        let counts = self.values.iter();
        let counts: Vec<Option<ValueCounts>> =
            counts.map(|runs| runs.as_ref().map(Runs::counts)).collect();
        let bins = NumberBins::of_counts(&self.linear.columns, &counts);
        let nested = NestedMap::of_bins(self.linear.clone(), bins);
        Ok(nested.map_err(Refused::from)?)
    }
}

/// The pairs of columns of a table whose parts were counted.
#[pyclass(module = "ubauc._core")]
pub(crate) struct PairLearner {
    additive: NestedMap,
    sides: Sides,
    gains: Vec<[f64; 2]>,
    ranking: Option<PairRanking>,
}

#[pymethods]
impl PairLearner {
    /// By what columns add to the scores of all parts.
    #[new]
    fn new(maps: &MapLearner, main_sums: Vec<Vec<u8>>) -> PyResult<PairLearner> {
        let additive = maps.nested()?;
        let sums: MainSums = merged(&main_sums, |all: &mut MainSums, part| {
            all.merge(part);
            Ok(())
        })?;
        let sides = Sides::new(&additive, &sums.deviations());
        Ok(PairLearner {
            additive,
            sides,
            gains: Vec::new(),
            ranking: None,
        })
    }

    /// The columns as sides of pairs, for the parts.
    #[getter]
    fn sides(&self) -> PyResult<String> {
        to_json(&self.sides)
    }

    /// Ranges of the numbers of all pairs, whose sums have at most this many cells together, or one pair; no pair has more
    /// than `rows` with any.
    fn blocks(&self, rows: u64, most: u64) -> Vec<(usize, usize)> {
        let mut blocks = Vec::new();
        let (mut start, mut cells) = (0, 0);
        let pairs = all_pairs(self.sides.len());
        for (at, pair) in pairs.iter().enumerate() {
            let of_pair = self.sides.cells(*pair).min(rows);
            if at > start && cells + of_pair > most {
                blocks.push((start, at));
                (start, cells) = (at, 0);
            }
            cells += of_pair;
        }
        if start < pairs.len() {
            blocks.push((start, pairs.len()));
        }
        blocks
    }

    /// Takes the sums of all parts of the next block.
    fn add(&mut self, py: Python<'_>, sums: Vec<Vec<u8>>) -> PyResult<()> {
        let sums: PairSums = merged(&sums, |all: &mut PairSums, part| all.merge(part))?;
        let gains = detached(py, 1, || Ok(sums.gains()))?;
        self.gains.extend(gains);
        Ok(())
    }

    /// The pairs of sides that are chosen.
    fn choose(&mut self, choice: &str) -> PyResult<Vec<[usize; 2]>> {
        let choice: PairChoice = of_json(choice)?;
        let chosen = self.ranking()?.choose(&choice).map_err(Refused::from)?;
        Ok(chosen.iter().map(|pair| pair.columns).collect())
    }

    /// The additive map with tables of the chosen pairs, by the rows of all parts in their cells.
    fn with_pairs(&mut self, choice: &str, counts: Vec<Vec<u8>>) -> PyResult<LearnedMap> {
        let choice: PairChoice = of_json(choice)?;
        let chosen = self.ranking()?.choose(&choice).map_err(Refused::from)?;
        let counts = merged(&counts, |all: &mut Vec<PairCounts>, part| {
            all.iter_mut().zip(part).for_each(|(a, b)| a.merge(b));
            Ok(())
        })?;
        let additive = self.additive.clone();
        let learned = self.ranking()?.with_counts(&additive, &chosen, &counts);
        Ok(LearnedMap::new(learned.map_err(Refused::from)?))
    }
}

impl PairLearner {
    /// Once the sums of all blocks are there.
    fn ranking(&mut self) -> PyResult<&PairRanking> {
        let pairs = all_pairs(self.sides.len());
        if self.gains.len() != pairs.len() {
            return Err(PyValueError::new_err("pairs were not ranked"));
        }
        let (additive, sides, gains) = (&self.additive, &self.sides, &self.gains);
        Ok(self.ranking.get_or_insert_with(|| {
            PairRanking::new(additive, sides.clone(), in_order(pairs, gains.clone()))
        }))
    }
}

/// How residuals are found: folds, their seed, and the parameters of the model.
#[pyfunction]
fn residual_spec() -> PyResult<String> {
    let params = ranking::residual_params();
    let spec = match Spec::new(Algorithm::BaUbauc) {
        Spec::BaUbauc(spec) => Spec::BaUbauc(ubauc::algorithm::BaUbauc { params, ..spec }),
        other => other,
    };
    to_json(&json!({"folds": ranking::FOLDS, "seed": ranking::SEED, "spec": spec}))
}

/// The log-odds of rows where there are too few to leave any out.
#[pyfunction]
fn prior_log_odds(n_neg: usize, n_pos: usize) -> f64 {
    ranking::prior_log_odds(n_pos, n_neg)
}

/// What a model file keeps of the effects of a model, by the sums of all parts.
#[pyfunction]
fn effects_of_sums(
    py: Python<'_>,
    map: &LearnedMap,
    weights: Numbers<'_>,
    intercept: f64,
    sums: Vec<Vec<u8>>,
) -> PyResult<String> {
    let sums: EffectSums = merged(&sums, |all: &mut EffectSums, part| all.merge(part))?;
    let weights = weights.to_vec()?;
    let gains = map.gains();
    let saved = detached(py, 1, || {
        let effects = Effects::of_sums(&map.0.map, &weights, intercept, &sums)?;
        Ok(effects.saved().with_gains(gains))
    })?;
    to_json(&saved)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LearnedMap>()?;
    module.add_class::<MapLearner>()?;
    module.add_class::<PairLearner>()?;
    module.add_function(wrap_pyfunction!(residual_spec, module)?)?;
    module.add_function(wrap_pyfunction!(prior_log_odds, module)?)?;
    module.add_function(wrap_pyfunction!(effects_of_sums, module)?)
}
