//! Any algorithm on a table: its linear map is learned first, and is part of the model.

use super::{FitInputs, Spec, fit};
use crate::Result;
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::columns::ColumnMap;
use crate::glass_box::GlassBox;

/// Learns the linear map of the rows with a weight above 0, and the weights of its features.
pub fn fit_table(
    table: &Table,
    labels: &Binary,
    inputs: &FitInputs<'_>,
    spec: &Spec,
) -> Result<GlassBox> {
    spec.check()?;
    let map = ColumnMap::learn(table, inputs.weights)?;
    fit_mapped(table, map, (labels, inputs), spec)
}

/// Learns the weights of the features of a map that there is already, such as one that many classes share.
pub fn fit_mapped(
    table: &Table,
    map: ColumnMap,
    (labels, inputs): (&Binary, &FitInputs<'_>),
    spec: &Spec,
) -> Result<GlassBox> {
    spec.check()?;
    GlassBox::new(map.into(), table, labels, |data, _| fit(data, inputs, spec))
}
