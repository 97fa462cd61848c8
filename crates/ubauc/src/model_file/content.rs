//! The fields of a file of version 2, in their order. `docs/model-file.md` describes them.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};

use super::weights::{Weights, compact};
use super::{Certificate, FORMAT, Parameters, SavedModel, VERSION};
use crate::calibrate::Calibration;
use crate::features::FeatureMap;
use crate::glass_box::effects::SavedEffects;
use crate::model::{Model, Partition, Reading};

#[derive(Serialize, Deserialize)]
pub(super) struct Content {
    format: String,
    version: u64,
    algorithm: String,
    parameters: Parameters,
    certificate: Certificate,
    classes: [String; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<Partition>,
    features: FeatureMap,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Reading::is_empty")]
    reading: Reading,
    threshold: f64,
    intercept: f64,
    weights: Weights,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effects: Option<SavedEffects>,
    /// Of all the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checksum: Option<String>,
}

impl Content {
    /// Without the checksum.
    pub(super) fn of(saved: &SavedModel) -> Content {
        let SavedModel {
            model,
            algorithm,
            parameters,
            certificate,
            effects,
        } = saved;
        Content {
            format: FORMAT.to_string(),
            version: VERSION,
            algorithm: algorithm.clone(),
            parameters: parameters.clone(),
            certificate: certificate.clone(),
            classes: model.classes.clone(),
            partition: model.partition.clone(),
            features: model.features.clone(),
            names: model.names.clone(),
            reading: model.reading.clone(),
            threshold: model.threshold,
            intercept: model.intercept,
            weights: compact(&model.weights),
            calibration: model.calibration.clone(),
            effects: effects.clone(),
            checksum: None,
        }
    }

    /// What the file says, not checked yet.
    pub(super) fn into_saved(self) -> Result<SavedModel, String> {
        Ok(SavedModel {
            model: Model {
                features: self.features,
                weights: self.weights.expand()?,
                intercept: self.intercept,
                threshold: self.threshold,
                calibration: self.calibration,
                classes: self.classes,
                partition: self.partition,
                names: self.names,
                reading: self.reading,
            },
            algorithm: self.algorithm,
            parameters: self.parameters,
            certificate: self.certificate,
            effects: self.effects,
        })
    }
}

/// One field a line: the head of the file can be read, and lists stay on their line.
pub(super) fn to_text(content: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, FieldPerLine { depth: 0 });
    content.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(text)
}

/// Breaks lines between the fields of the outermost object, and nowhere else.
struct FieldPerLine {
    depth: usize,
}

impl Formatter for FieldPerLine {
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        writer.write_all(if self.depth == 1 { b"\n  " } else { b"" })
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.depth == 1 { b": " } else { b":" })
    }
}
