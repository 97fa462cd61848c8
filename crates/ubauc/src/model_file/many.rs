//! Models of many classes as files: those of two classes with a list of scorers in place of the one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::content::to_text;
use super::weights::{Weights, compact};
use super::{
    Certificate, FORMAT, IN_MEMORY, MANY_VERSION, Parameters, check, checksum, refused, save_text,
};
use crate::features::FeatureMap;
use crate::many_classes::{ClassModel, WholeCertificate};
use crate::model::{Model, Reading};
use crate::{Error, Result};

/// A model of many classes with what is worth knowing about its training.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedClassModel {
    /// The scorers.
    pub model: ClassModel,
    /// What trained them.
    pub algorithm: String,
    /// With which parameters.
    pub parameters: Parameters,
    /// How near the optimum all of them are together …
    pub certificate: WholeCertificate,
    /// … and each of them.
    pub certificates: Vec<Certificate>,
}

impl SavedClassModel {
    /// Writes the file: whole, or the old one stays. `-` is standard output.
    pub fn save(&self, path: &Path) -> Result<()> {
        save_text(&self.write(path)?, path)
    }

    /// The content of the file.
    pub fn to_json(&self) -> Result<String> {
        self.write(Path::new(IN_MEMORY))
    }

    fn write(&self, path: &Path) -> Result<String> {
        let refuse = |what: String| refused(path, what);
        self.check().map_err(refuse)?;
        let no_json = |error: serde_json::Error| refuse(error.to_string());
        let mut content = Content::of(self);
        let value = serde_json::to_value(&content).map_err(no_json)?;
        content.checksum = Some(checksum(&value));
        let text = to_text(&content).map_err(no_json)?;
        String::from_utf8(text).map_err(|error| refuse(error.to_string()))
    }

    /// Refuses what makes no model.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let ClassModel { classes, scorers } = &self.model;
        if classes.len() < 2 {
            return Err(format!("{} classes; at least 2 are needed", classes.len()));
        }
        let lengths = [scorers.len(), self.certificates.len()];
        if lengths != [classes.len(); 2] {
            let [scorers, certificates] = lengths;
            return Err(format!(
                "{scorers} scorers and {certificates} certificates for {} classes",
                classes.len()
            ));
        }
        for (class, scorer) in classes.iter().zip(scorers) {
            check(scorer).map_err(|what| format!("class {class}: {what}"))?;
            let first = &scorers[0];
            let shared = |m: &Model| (m.weights.len(), m.names.clone(), m.features.width());
            if shared(scorer) != shared(first) {
                return Err(format!(
                    "class {class}: other features than the first class"
                ));
            }
        }
        Ok(())
    }
}

/// The fields of a file, in their order.
#[derive(Serialize, Deserialize)]
pub(super) struct Content {
    format: String,
    version: u64,
    algorithm: String,
    parameters: Parameters,
    certificate: WholeCertificate,
    classes: Vec<String>,
    features: FeatureMap,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Reading::is_empty")]
    reading: Reading,
    scorers: Vec<Scorer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

/// The scorer of one class.
#[derive(Serialize, Deserialize)]
struct Scorer {
    certificate: Certificate,
    threshold: f64,
    intercept: f64,
    weights: Weights,
}

impl Content {
    fn of(saved: &SavedClassModel) -> Content {
        let scorers = saved.model.scorers.iter().zip(&saved.certificates);
        let scorer = |(model, certificate): (&Model, &Certificate)| Scorer {
            certificate: certificate.clone(),
            threshold: model.threshold,
            intercept: model.intercept,
            weights: compact(&model.weights),
        };
        let first = saved.model.scorers.first().cloned().unwrap_or_default();
        Content {
            format: FORMAT.to_string(),
            version: MANY_VERSION,
            algorithm: saved.algorithm.clone(),
            parameters: saved.parameters.clone(),
            certificate: saved.certificate.clone(),
            classes: saved.model.classes.clone(),
            features: first.features,
            names: first.names,
            reading: first.reading,
            scorers: scorers.map(scorer).collect(),
            checksum: None,
        }
    }

    /// What the file says, not checked yet.
    pub(super) fn into_saved(self) -> std::result::Result<SavedClassModel, String> {
        let (mut scorers, mut certificates) = (Vec::new(), Vec::new());
        for (scorer, class) in self.scorers.into_iter().zip(&self.classes) {
            certificates.push(scorer.certificate);
            let other = match self.classes.as_slice() {
                [first, second] if first == class => second.clone(),
                [first, _] => first.clone(),
                _ => "rest".to_string(),
            };
            scorers.push(Model {
                features: self.features.clone(),
                weights: scorer.weights.expand()?,
                intercept: scorer.intercept,
                threshold: scorer.threshold,
                classes: [other, class.clone()],
                names: self.names.clone(),
                reading: self.reading.clone(),
                ..Model::default()
            });
        }
        Ok(SavedClassModel {
            model: ClassModel {
                classes: self.classes,
                scorers,
            },
            algorithm: self.algorithm,
            parameters: self.parameters,
            certificate: self.certificate,
            certificates,
        })
    }
}

/// The error where two classes are needed.
pub(super) fn too_many(saved: &SavedClassModel, path: &Path) -> Error {
    let ClassModel { classes, .. } = &saved.model;
    let first = classes.first().map_or("CLASS", String::as_str);
    refused(
        path,
        format!(
            "holds scorers of {} classes, which only `ubauc predict` and `ubauc evaluate` take; for one class \
             against the rest train with --positive, such as --positive {first}",
            classes.len()
        ),
    )
}
