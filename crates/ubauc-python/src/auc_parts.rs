//! Exact AUC of scores in parts, `ubauc::metrics::Cut`: keys, cells and pieces as arrays of uint64, sums as JSON.
//!
//! Columns of a cell: least and greatest key, negatives, positives. Of a piece: those, negatives below, positives above.

use numpy::PyUntypedArrayMethods;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::metrics::{self, Cell, Piece, PlacementSums};

use crate::error::Refused;
use crate::metrics::to_json;

type Keys<'py> = PyReadonlyArray1<'py, u64>;
type Table<'py> = PyReadonlyArray2<'py, u64>;
type ByClass<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(keys_by_class, module)?)?;
    module.add_function(wrap_pyfunction!(count_cells, module)?)?;
    module.add_function(wrap_pyfunction!(scatter_keys, module)?)?;
    module.add_function(wrap_pyfunction!(range_sums, module)?)?;
    module.add_class::<Cut>()
}

/// The rows of a table of this many columns.
fn rows<const C: usize>(table: &Table<'_>) -> PyResult<Vec<[u64; C]>> {
    if table.shape()[1] != C {
        let got = table.shape()[1];
        return Err(PyValueError::new_err(format!("{got} columns, not {C}")));
    }
    Ok(table.as_slice()?.as_chunks::<C>().0.to_vec())
}

fn table<const C: usize>(
    py: Python<'_>,
    rows: impl IntoIterator<Item = [u64; C]>,
) -> PyResult<Bound<'_, PyArray2<u64>>> {
    let numbers: Vec<u64> = rows.into_iter().flatten().collect();
    let n = numbers.len() / C;
    numbers.into_pyarray(py).reshape([n, C])
}

fn cell_of([low, high, neg, pos]: [u64; 4]) -> Cell {
    let counts = [neg, pos];
    Cell { low, high, counts }
}

fn numbers_of(cell: &Cell) -> [u64; 4] {
    [cell.low, cell.high, cell.counts[0], cell.counts[1]]
}

fn pieces(table: &Table<'_>) -> PyResult<Vec<Piece>> {
    let piece = |[low, high, neg, pos, below, above]: [u64; 6]| {
        let cell = cell_of([low, high, neg, pos]);
        Piece { cell, below, above }
    };
    Ok(rows(table)?.into_iter().map(piece).collect())
}

fn by_class(py: Python<'_>, [neg, pos]: [Vec<u64>; 2]) -> ByClass<'_> {
    (neg.into_pyarray(py), pos.into_pyarray(py))
}

#[pyfunction]
fn keys_by_class<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    positive: PyReadonlyArray1<'py, bool>,
) -> PyResult<ByClass<'py>> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let keys = py.detach(|| metrics::keys_by_class(scores, positive));
    Ok(by_class(py, keys.map_err(Refused::from)?))
}

#[pyfunction]
fn count_cells<'py>(
    py: Python<'py>,
    neg: Keys<'py>,
    pos: Keys<'py>,
    spans: Table<'py>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (keys, spans) = ([neg.as_slice()?, pos.as_slice()?], rows(&spans)?);
    let cells = py.detach(|| metrics::count_cells(keys, &spans));
    table(py, cells.iter().map(numbers_of))
}

#[pyfunction]
fn scatter_keys<'py>(
    py: Python<'py>,
    neg: Keys<'py>,
    pos: Keys<'py>,
    ranges: Vec<Table<'py>>,
) -> PyResult<Vec<ByClass<'py>>> {
    let keys = [neg.as_slice()?, pos.as_slice()?];
    let ranges: Vec<Vec<Piece>> = ranges.iter().map(pieces).collect::<PyResult<_>>()?;
    let scattered = py.detach(|| metrics::scatter(keys, &ranges));
    Ok(scattered
        .into_iter()
        .map(|keys| by_class(py, keys))
        .collect())
}

#[pyfunction]
fn range_sums<'py>(
    py: Python<'py>,
    range: Table<'py>,
    parts: Vec<(Keys<'py>, Keys<'py>)>,
) -> PyResult<String> {
    let range = pieces(&range)?;
    let parts: Vec<[&[u64]; 2]> = parts
        .iter()
        .map(|(neg, pos)| Ok([neg.as_slice()?, pos.as_slice()?]))
        .collect::<PyResult<_>>()?;
    let sums = py.detach(|| metrics::range_sums(&range, &parts));
    to_json(sums.map_err(Refused::from)?)
}

/// What the driver knows of the key line.
#[pyclass(module = "ubauc._core")]
struct Cut(metrics::Cut);

#[pymethods]
impl Cut {
    #[new]
    fn new(share: u64, n_neg: u64, n_pos: u64) -> PyResult<Cut> {
        Ok(Cut(
            metrics::Cut::new(share, n_neg, n_pos).map_err(Refused::from)?
        ))
    }

    /// The spans to be counted next, a row each.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        table(py, self.0.open())
    }

    fn refine(&mut self, py: Python<'_>, parts: Vec<Table<'_>>) -> PyResult<()> {
        let cells = |part| Ok(rows(part)?.into_iter().map(cell_of).collect());
        let parts: Vec<Vec<Cell>> = parts.iter().map(cells).collect::<PyResult<_>>()?;
        let refined = py.detach(|| self.0.refine(&parts));
        Ok(refined.map_err(Refused::from)?)
    }

    /// The pieces of each range.
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<u64>>>> {
        let piece = |piece: &Piece| {
            let [low, high, neg, pos] = numbers_of(&piece.cell);
            [low, high, neg, pos, piece.below, piece.above]
        };
        let ranges = self.0.ranges();
        ranges
            .iter()
            .map(|range| table(py, range.iter().map(piece)))
            .collect()
    }

    fn auc(&self, sums: Vec<String>) -> PyResult<String> {
        let sums: Vec<PlacementSums> = sums
            .iter()
            .map(|text| serde_json::from_str(text))
            .collect::<Result<_, _>>()
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        to_json(self.0.auc(&sums).map_err(Refused::from)?)
    }
}
