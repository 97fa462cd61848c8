//! Folds of examples, of those in memory or of whole groups that are anywhere.

use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::data::split;
use ubauc::tune::DealtGroups;

use crate::error::Refused;
use crate::spec::of_json;
use crate::tune::Search;

/// The fold of every example, from 0 to k − 1; examples of one group share theirs.
#[pyfunction]
fn folds<'py>(
    py: Python<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let positive = positive.as_slice()?;
    let folds = match &groups {
        None => split::folds(positive, k, seed),
        Some(groups) => split::group_folds(positive, groups.as_slice()?, k, seed),
    };
    Ok(folds.map_err(Refused::from)?.to_pyarray(py))
}

/// How often a search deals examples of two classes into folds, into how many, and how many of all these are left out in turn.
#[pyfunction]
fn deals(search: &str, n_neg: usize, n_pos: usize) -> PyResult<(u32, u32, u32)> {
    let params = of_json::<Search>(search)?.params()?;
    let judged = params.judging_folds(n_pos, n_neg);
    Ok((params.repeats(n_neg + n_pos), params.folds, judged))
}

/// Negatives and positives of every group, in the order in which groups first appear.
type GroupCounts<'py> = PyReadonlyArray2<'py, i64>;

/// As the library has them: positives first.
fn counts_of(counts: &GroupCounts<'_>) -> PyResult<Vec<[usize; 2]>> {
    let counts = counts.as_array();
    let count = |row: ArrayView1<'_, i64>| -> Option<[usize; 2]> {
        let of = |class: usize| usize::try_from(*row.get(class)?).ok();
        Some([of(1)?, of(0)?])
    };
    let all: Option<Vec<_>> = counts.rows().into_iter().map(count).collect();
    all.ok_or_else(|| PyValueError::new_err("counts of groups are of two classes, and at least 0"))
}

/// Which groups are held out, and the fold of each, each time.
type Dealt<'py> = (Bound<'py, PyArray1<bool>>, Vec<Bound<'py, PyArray1<u32>>>);

/// How a search deals groups, as it does those of rows in memory: which are held out, and the fold of each, each time.
#[pyfunction]
fn deal_groups<'py>(
    py: Python<'py>,
    counts: GroupCounts<'py>,
    search: &str,
) -> PyResult<Dealt<'py>> {
    let params = of_json::<Search>(search)?.params()?;
    let dealt = DealtGroups::new(&counts_of(&counts)?, &params).map_err(Refused::from)?;
    let deals = dealt.deals.iter().map(|deal| deal.to_pyarray(py));
    Ok((dealt.held_out.to_pyarray(py), deals.collect()))
}

/// The fold of every group, from 0 to k − 1, as `folds` deals those of rows.
#[pyfunction]
fn folds_of_groups<'py>(
    py: Python<'py>,
    counts: GroupCounts<'py>,
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let folds = split::folds_of_groups(&counts_of(&counts)?, k, seed);
    Ok(folds.map_err(Refused::from)?.to_pyarray(py))
}

/// The fold of every example of a part that takes part, where so many negatives and positives are in the parts before.
#[pyfunction]
fn folds_in_turn<'py>(
    py: Python<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    before: [u64; 2],
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let [n_neg, n_pos] = before;
    let positive = positive.as_slice()?.iter().copied();
    Ok(split::folds_in_turn(positive, [n_pos, n_neg], k, seed).to_pyarray(py))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(folds, module)?)?;
    module.add_function(wrap_pyfunction!(deals, module)?)?;
    module.add_function(wrap_pyfunction!(deal_groups, module)?)?;
    module.add_function(wrap_pyfunction!(folds_of_groups, module)?)?;
    module.add_function(wrap_pyfunction!(folds_in_turn, module)?)
}
