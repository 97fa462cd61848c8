//! Models as files: JSON, versioned, readable, f64 to the last bit. `docs/model-file.md` describes every field.
//!
//! The checksum covers the content and not its layout: a file may be reformatted, but not changed. It finds damage, not
//! malice. A reader refuses a version above its own, and passes over fields it does not know. Files of version 1 are
//! read; version 2 is written of two classes and version 3 of many.

mod certificate;
mod checksum;
mod content;
mod format_1;
mod many;
mod weights;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::atomic::AtomicFile;
use crate::glass_box::effects::SavedEffects;
use crate::model::Model;
use crate::{Error, Result};
pub use certificate::Certificate;
use checksum::{checksum, verify};
use content::{Content, to_text};
pub use many::SavedClassModel;
use weights::MAX_DIMENSION;

/// The name that a model file bears.
pub const FORMAT: &str = "ubauc-model";
/// The version written of two classes.
pub const VERSION: u64 = 2;
/// The version written of many classes, and the newest one read.
pub const MANY_VERSION: u64 = 3;

/// What stands in errors where a file has a name.
const IN_MEMORY: &str = "<memory>";

/// Parameters of an algorithm by name, as its options are called.
pub type Parameters = serde_json::Map<String, Value>;

/// A model with what is worth knowing about its training.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedModel {
    /// The scoring function.
    pub model: Model,
    /// What trained it.
    pub algorithm: String,
    /// With which parameters.
    pub parameters: Parameters,
    /// How near the optimum it is.
    pub certificate: Certificate,
    /// What the training rows say of its columns and pairs.
    pub effects: Option<SavedEffects>,
}

/// What a file may hold.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyModel {
    /// One scorer, of two classes.
    Two(Box<SavedModel>),
    /// A scorer for each of many classes.
    Many(Box<SavedClassModel>),
}

impl AnyModel {
    /// Reads a file of either kind.
    pub fn load(path: &Path) -> Result<AnyModel> {
        let bytes = read(path).map_err(|source| Error::Io {
            path: path.to_path_buf(),
            source,
        })?;
        AnyModel::parse(&bytes, path)
    }

    /// The model of the content of such a file.
    pub fn from_json(text: &str) -> Result<AnyModel> {
        AnyModel::parse(text.as_bytes(), Path::new(IN_MEMORY))
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<AnyModel> {
        let refuse = |what: String| refused(path, what);
        let no_model = |why: String| refuse(format!("is not a {FORMAT} file: {why}"));
        if bytes.first() != Some(&b'{') {
            return Err(no_model("it does not begin with {".to_string()));
        }
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| refuse(format!("is damaged, or not JSON: {error}")))?;
        let format = value.get("format").and_then(Value::as_str);
        if format != Some(FORMAT) {
            return Err(no_model(format!("its format is {format:?}")));
        }
        let version = value.get("version").and_then(Value::as_u64);
        if let Some(newer) = version.filter(|version| *version > MANY_VERSION) {
            return Err(refuse(format!(
                "was written in version {newer} of the format, and this program reads up to \
                 version {MANY_VERSION}; use a newer ubauc"
            )));
        }
        if version == Some(MANY_VERSION) {
            verify(&value).map_err(refuse)?;
            let saved = fields::<many::Content>(value).and_then(many::Content::into_saved);
            let saved = saved.map_err(refuse)?;
            saved.check().map_err(refuse)?;
            return Ok(AnyModel::Many(Box::new(saved)));
        }
        let read: fn(Value) -> std::result::Result<SavedModel, String> = match version {
            Some(1) => |value| fields::<format_1::Content>(value)?.into_saved(),
            Some(VERSION) => |value| fields::<Content>(value)?.into_saved(),
            _ => return Err(refuse("has no valid format version".to_string())),
        };
        verify(&value).map_err(refuse)?;
        let saved = read(value).map_err(refuse)?;
        check(&saved.model).map_err(refuse)?;
        Ok(AnyModel::Two(Box::new(saved)))
    }

    /// The model of two classes, which most commands need.
    fn two(self, path: &Path) -> Result<SavedModel> {
        match self {
            AnyModel::Two(saved) => Ok(*saved),
            AnyModel::Many(saved) => Err(many::too_many(&saved, path)),
        }
    }
}

impl SavedModel {
    /// The file of a model. Features that no example had have no weight yet: theirs is 0.
    pub fn new(
        mut model: Model,
        algorithm: &str,
        parameters: Parameters,
        mut certificate: Certificate,
    ) -> Result<SavedModel> {
        certificate.objective = certificate.objective.filter(|x| x.is_finite());
        let width = model.features.width().unwrap_or(model.names.len());
        if model.weights.len() < width && width <= MAX_DIMENSION {
            model.weights.resize(width, 0.0);
        }
        check(&model).map_err(|what| refused(Path::new(IN_MEMORY), what))?;
        Ok(SavedModel {
            model,
            algorithm: algorithm.to_string(),
            parameters,
            certificate,
            effects: None,
        })
    }

    /// The same with its effects.
    #[must_use]
    pub fn with_effects(self, effects: Option<SavedEffects>) -> SavedModel {
        SavedModel { effects, ..self }
    }

    /// Writes the file: whole, or the old one stays. `-` is standard output.
    pub fn save(&self, path: &Path) -> Result<()> {
        save_text(&self.write(path)?, path)
    }

    /// Reads a file written by [`SavedModel::save`]; one of many classes is refused.
    pub fn load(path: &Path) -> Result<SavedModel> {
        AnyModel::load(path)?.two(path)
    }

    /// The content of the file.
    pub fn to_json(&self) -> Result<String> {
        self.write(Path::new(IN_MEMORY))
    }

    /// The model of such a content.
    pub fn from_json(text: &str) -> Result<SavedModel> {
        SavedModel::parse(text.as_bytes(), Path::new(IN_MEMORY))
    }

    fn write(&self, path: &Path) -> Result<String> {
        let refuse = |what: String| refused(path, what);
        check(&self.model).map_err(refuse)?;
        let no_json = |error: serde_json::Error| refuse(error.to_string());
        let mut content = Content::of(self);
        let value = serde_json::to_value(&content).map_err(no_json)?;
        content.checksum = Some(checksum(&value));
        drop(value);
        let text = to_text(&content).map_err(no_json)?;
        String::from_utf8(text).map_err(|error| refuse(error.to_string()))
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<SavedModel> {
        AnyModel::parse(bytes, path)?.two(path)
    }
}

/// Writes a file whole, or the old one stays.
fn save_text(text: &str, path: &Path) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    file.commit()
}

/// The fields of a file, whose checksum is right.
fn fields<T: for<'a> Deserialize<'a>>(value: Value) -> std::result::Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("has a field missing or wrong: {error}"))
}

fn refused(path: &Path, what: String) -> Error {
    let path = path.to_path_buf();
    Error::ModelFile { path, what }
}

/// All bytes, unless the first one shows that this is something else: a large table, a device.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(1).read_to_end(&mut bytes)?;
    if bytes == b"{" {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What holds of every model, written or read.
fn check(model: &Model) -> std::result::Result<(), String> {
    let (d, names) = (model.weights.len(), model.names.len());
    if d > MAX_DIMENSION {
        return Err(format!("{d} weights; at most {MAX_DIMENSION} are possible"));
    }
    model.features.check().map_err(|error| error.to_string())?;
    match model.features.width() {
        Some(width) if width != d => {
            return Err(format!("{d} weights for {width} features"));
        }
        None if names != 0 && names != d => {
            return Err(format!("{names} feature names for {d} weights"));
        }
        _ => {}
    }
    if let Some(j) = model.weights.iter().position(|w| !w.is_finite()) {
        let w = model.weights[j];
        return Err(format!("weight {j} is {w}; it must be finite"));
    }
    for (name, value) in [
        ("intercept", model.intercept),
        ("threshold", model.threshold),
    ] {
        if !value.is_finite() {
            return Err(format!("the {name} is {value}; it must be finite"));
        }
    }
    match &model.calibration {
        Some(calibration) => calibration.check().map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
