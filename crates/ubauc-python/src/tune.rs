//! The grid of β and γ, and the choice among points that were judged elsewhere.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::tune::{CrossValidated, GridPoint, TuneParams, best_of};

use crate::fit::{least_squares_of, name};

/// The grid that is tried where nothing else is said, as JSON.
#[pyfunction]
pub(crate) fn tune_grid() -> String {
    let grid = TuneParams::default();
    let kinds: Vec<&str> = grid.least_squares.iter().map(|&kind| name(kind)).collect();
    serde_json::json!({
        "betas": grid.betas,
        "gammas": grid.gammas,
        "least_squares": kinds,
    })
    .to_string()
}

/// The best of points (β, γ, kind, AUC of each fold, whether it collapsed), and all with their means, as JSON.
#[pyfunction]
pub(crate) fn choose_point(
    points: Vec<(f64, f64, String, Vec<f64>, bool)>,
) -> PyResult<(Option<usize>, String)> {
    let point = |(beta, gamma, kind, aucs, collapsed): (f64, f64, String, Vec<f64>, bool)| {
        Ok(GridPoint {
            beta,
            gamma,
            least_squares: least_squares_of(&kind)?,
            judged: CrossValidated::of(aucs),
            tied_share: f64::NAN,
            collapsed,
        })
    };
    let points: Vec<GridPoint> = points.into_iter().map(point).collect::<PyResult<_>>()?;
    let json = serde_json::to_string(&points);
    let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((best_of(&points), json))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tune_grid, module)?)?;
    module.add_function(wrap_pyfunction!(choose_point, module)?)
}
