//! Any algorithm on a table: its map is learned first, and is part of the model.

use super::{FitInputs, Outcome, Spec, fit};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::FeatureMap;
use crate::features::columns::{ColumnMap, Learn};
use crate::model::Model;

/// What was learned of a table.
#[derive(Debug, Clone)]
pub struct TableFit {
    /// From raw values to features.
    pub map: ColumnMap,
    /// The features that were learned from.
    pub data: Dataset,
    /// Weights of the features.
    pub outcome: Outcome,
}

/// Learns a map of the rows with a weight above 0, and the weights of its features.
pub fn fit_table(
    table: &Table,
    labels: &Binary,
    inputs: &FitInputs<'_>,
    spec: &Spec,
    learn: Learn<'_>,
) -> Result<TableFit> {
    spec.check()?;
    let map = learn(table, inputs.weights)?;
    let data = Dataset::new(map.apply(table)?, labels.clone(), Vec::new())?;
    let outcome = fit(&data, inputs, spec)?;
    Ok(TableFit { map, data, outcome })
}

impl TableFit {
    /// The model, which scores raw tables; not calibrated.
    pub fn model(&self) -> Model {
        Model {
            features: FeatureMap::Columns(self.map.clone()),
            ..self.outcome.model.clone()
        }
    }
}
