//! The Python module `ubauc._core`: arrays in, numbers out, the GIL released while the library works.
//!
//! It knows nothing of estimators; those are in `python/ubauc`. `error.rs` is the one table from the library's errors to
//! Python's exceptions, `input.rs` the one place that looks at arrays.

mod auc_parts;
mod calibrate;
mod caller;
mod classes;
mod cluster_maps;
mod columns;
mod deal;
mod equal_rows;
mod error;
mod explain;
mod failure;
mod fit;
mod input;
mod learner;
mod logits;
mod maps;
mod metrics;
mod model;
mod part;
mod read;
mod report;
mod rival_learner;
mod rounds;
mod spec;
mod table;
mod table_parts;
mod tune;
mod tune_rounds;

use pyo3::prelude::*;

#[pymodule(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    spec::add_to(module)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    equal_rows::add_to(module)?;
    module.add_class::<learner::Learner>()?;
    module.add_class::<rival_learner::RivalLearner>()?;
    module.add_function(wrap_pyfunction!(calibrate::calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(calibrate::probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(read::load_svmlight, module)?)?;
    model::add_to(module)?;
    part::add_to(module)?;
    rounds::add_to(module)?;
    deal::add_to(module)?;
    tune::add_to(module)?;
    tune_rounds::add_to(module)?;
    classes::add_to(module)?;
    table::add_to(module)?;
    columns::add_to(module)?;
    maps::add_to(module)?;
    table_parts::add_to(module)?;
    cluster_maps::add_to(module)?;
    explain::add_to(module)?;
    report::add_to(module)?;
    metrics::add_to(module)?;
    logits::add_to(module)?;
    auc_parts::add_to(module)
}
