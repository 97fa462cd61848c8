//! Files of version 1, whose map of features and whose partition were among the parameters.

use serde::Deserialize;
use serde_json::Value;

use super::weights::Weights;
use super::{Certificate, Parameters, SavedModel};
use crate::features::FeatureMap;
use crate::model::{Model, Partition};

#[derive(Deserialize)]
pub(super) struct Content {
    algorithm: String,
    parameters: Parameters,
    certificate: Parameters,
    classes: [String; 2],
    #[serde(default)]
    names: Vec<String>,
    threshold: f64,
    intercept: f64,
    weights: Weights,
}

impl Content {
    /// What the file says, not checked yet.
    pub(super) fn into_saved(mut self) -> Result<SavedModel, String> {
        let bits: Option<u32> = self.take("hash_bits")?;
        let hashed: Option<Vec<String>> = self.take("hashed_columns")?;
        let positive = self.take("positive_classes")?;
        let negative = self.take("negative_classes")?;
        // The online learner wrote a number, the others an interval.
        if let Some(lambda) = self.certificate.get_mut("lambda")
            && lambda.is_number()
        {
            *lambda = Value::Array(vec![lambda.clone(), lambda.clone()]);
        }
        // Absent and null are the same here, and counts were never absent.
        self.certificate.retain(|_, value| !value.is_null());
        let certificate: Certificate = serde_json::from_value(Value::Object(self.certificate))
            .map_err(|error| wrong("certificate", &error))?;
        Ok(SavedModel {
            model: Model {
                features: FeatureMap::hashed(bits),
                weights: self.weights.expand()?,
                intercept: self.intercept,
                threshold: self.threshold,
                classes: self.classes,
                partition: match (negative, positive) {
                    (Some(negative), Some(positive)) => Some(Partition { negative, positive }),
                    _ => None,
                },
                names: hashed.unwrap_or(self.names),
                ..Model::default()
            },
            algorithm: self.algorithm,
            parameters: self.parameters,
            certificate,
            effects: None,
        })
    }

    /// A parameter that has a field of its own in later versions.
    fn take<T: for<'a> Deserialize<'a>>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(value) = self.parameters.remove(name) else {
            return Ok(None);
        };
        serde_json::from_value(value).map_err(|error| wrong(name, &error))
    }
}

fn wrong(name: &str, error: &serde_json::Error) -> String {
    format!("has a field missing or wrong: {name}: {error}")
}
