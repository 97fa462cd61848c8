//! β and γ where the user gives none.

use ubauc::data::dataset::Dataset;

/// β and γ, and whether they were given or chosen here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) is_default: bool,
}

/// Fills in what was not given. For now by fixed values, whatever the data.
pub(crate) fn choose_parameters(beta: Option<f64>, gamma: Option<f64>, _: &Dataset) -> Chosen {
    Chosen {
        beta: beta.unwrap_or(0.5),
        gamma: gamma.unwrap_or(1e-4),
        is_default: beta.is_none() || gamma.is_none(),
    }
}
