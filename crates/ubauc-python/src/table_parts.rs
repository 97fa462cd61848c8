//! What a part of a table that lies on a cluster is asked; see `cluster_maps.rs` for what becomes of the answers.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::features::columns::bins::Divided;
use ubauc::features::columns::column_values;
use ubauc::features::columns::pairs::rank::{Residuals, all_pairs};
use ubauc::glass_box::Sides;
use ubauc::glass_box::effects::EffectSums;
use ubauc::glass_box::ranking::MainSums;

use crate::cluster_maps::{Bytes, Divisions, Numbers, read, written};
use crate::input::detached;
use crate::spec::of_json;
use crate::table::{Table, columns_of};

fn lent<'a>(weights: &'a Option<Numbers<'_>>, table: &Table) -> PyResult<Option<&'a [f64]>> {
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    match weights.is_none_or(|w| w.len() == table.0.len()) {
        true => Ok(weights),
        false => Err(PyValueError::new_err("the weights do not fit the rows")),
    }
}

/// What the rows with a weight above 0 have in the cells that are asked about, column by column.
#[pyfunction]
fn divided<'py>(
    py: Python<'py>,
    table: &Table,
    asked: &[u8],
    weights: Option<Numbers<'py>>,
) -> Bytes<'py> {
    let asked: Divisions = read(asked)?;
    let weights = lent(&weights, table)?;
    let found = detached(py, 1, || {
        let columns = table.0.columns().iter().zip(&asked);
        let divided = columns.map(|(column, division)| {
            let values = column_values(column, weights);
            match (division, values) {
                (Some(division), Some(values)) => division.of(values),
                _ => Vec::new(),
            }
        });
        Ok(divided.collect::<Vec<Vec<Divided>>>())
    })?;
    written(py, &found)
}

/// What each column adds to the score of a row.
#[pyfunction]
fn main_sums<'py>(
    py: Python<'py>,
    table: &Table,
    features: &str,
    weights: Numbers<'py>,
) -> Bytes<'py> {
    let (map, weights) = (columns_of(features)?, weights.as_slice()?);
    let sums = detached(py, 1, || {
        Ok(MainSums::of(&map.apply(&table.0)?, weights, &map))
    })?;
    written(py, &sums)
}

/// Log-odds, which rows are positive, and weights.
type ScoredRows<'py> = (
    Numbers<'py>,
    PyReadonlyArray1<'py, bool>,
    Option<Numbers<'py>>,
);

/// Residuals in the cells of some pairs, those numbered from `pairs.0` to `pairs.1`, by the log-odds of every row.
#[pyfunction]
fn pair_sums<'py>(
    py: Python<'py>,
    table: &Table,
    sides: &str,
    pairs: (usize, usize),
    rows: ScoredRows<'py>,
    first: u64,
) -> Bytes<'py> {
    let sides: Sides = of_json(sides)?;
    let (log_odds, positive, weights) = rows;
    let (log_odds, positive) = (log_odds.as_slice()?, positive.as_slice()?);
    let weights = lent(&weights, table)?;
    if log_odds.len() != table.0.len() || positive.len() != table.0.len() {
        return Err(PyValueError::new_err(
            "labels or scores do not fit the rows",
        ));
    }
    let all = all_pairs(sides.len());
    let pairs = all.get(pairs.0..pairs.1);
    let pairs = pairs.ok_or_else(|| PyValueError::new_err("pairs of other sides"))?;
    let sums = detached(py, 1, || {
        let residuals = Residuals::logistic(log_odds, positive, weights);
        Ok(sides.sums(&table.0, &residuals, first, pairs)?)
    })?;
    written(py, &sums)
}

/// Rows with a weight above 0 in the cells of each of these pairs.
#[pyfunction]
fn pair_counts<'py>(
    py: Python<'py>,
    table: &Table,
    sides: &str,
    pairs: Vec<[usize; 2]>,
    weights: Option<Numbers<'py>>,
) -> Bytes<'py> {
    let sides: Sides = of_json(sides)?;
    let weights = lent(&weights, table)?;
    if pairs.iter().flatten().any(|side| *side >= sides.len()) {
        return Err(PyValueError::new_err("pairs of other sides"));
    }
    let counts = detached(py, 1, || Ok(sides.counts(&table.0, weights, &pairs)?))?;
    written(py, &counts)
}

/// What effects need of the rows with a weight above 0.
#[pyfunction]
fn effect_sums<'py>(
    py: Python<'py>,
    table: &Table,
    features: &str,
    weights: Option<Numbers<'py>>,
) -> Bytes<'py> {
    let map = columns_of(features)?;
    let weights = lent(&weights, table)?;
    let sums = detached(py, 1, || Ok(EffectSums::of(&map, &table.0, weights)?))?;
    written(py, &sums)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(divided, module)?)?;
    module.add_function(wrap_pyfunction!(main_sums, module)?)?;
    module.add_function(wrap_pyfunction!(pair_sums, module)?)?;
    module.add_function(wrap_pyfunction!(pair_counts, module)?)?;
    module.add_function(wrap_pyfunction!(effect_sums, module)?)
}
