//! Models as files: JSON, versioned, readable, f64 to the last bit.
//!
//! ```json
//! {
//!   "format": "ubauc-model",
//!   "version": 1,
//!   "algorithm": "ba-ubauc",
//!   "parameters": {"beta":0.5,"gamma":0.0001},
//!   "certificate": {"dual":0.1424655,"gap":1e-9,"objective":0.1424656},
//!   "classes": ["-1","1"],
//!   "threshold": -0.2182,
//!   "intercept": 0.0,
//!   "weights": {"dimension":123,"indices":[4,17],"values":[0.5,-1.25]},
//!   "checksum": "fnv1a64:0123456789abcdef"
//! }
//! ```
//!
//! `weights` is a plain list where most of them are not zero. The checksum covers the content and
//! not its layout: objects in the order of their keys, numbers by value. A file may be reformatted,
//! but not changed. It finds damage, not malice.
//!
//! A reader refuses a version above its own, and passes over fields it does not know. The memory
//! of a load is bounded by the size of the file: above 2²⁴ weights at least one in 1024 is
//! written, zero or not.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::atomic::AtomicFile;
use crate::checksum::Fnv1a;
use crate::model::LinearModel;
use crate::{Error, Result};

/// The name that a model file bears.
pub const FORMAT: &str = "ubauc-model";
/// The version written, and the newest one read.
pub const VERSION: u64 = 1;

/// svmlight indices end there.
const MAX_DIMENSION: usize = 1 << 31;
/// Up to this dimension a file may leave out any zero weight …
const FREE_DIMENSION: usize = 1 << 24;
/// … and beyond it not the columns that are multiples of this.
const STRIDE: usize = 1024;

/// A model with what is worth knowing about its making. `parameters` and `certificate` are open:
/// each algorithm stores its own.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedModel {
    /// The scoring function.
    pub model: LinearModel,
    /// What trained it.
    pub algorithm: String,
    /// With which parameters.
    pub parameters: BTreeMap<String, Value>,
    /// How near the optimum it is: objective, dual, gap.
    pub certificate: BTreeMap<String, Value>,
}

/// The fields of version 1.
#[derive(Deserialize)]
struct Content {
    algorithm: String,
    parameters: BTreeMap<String, Value>,
    certificate: BTreeMap<String, Value>,
    classes: [String; 2],
    #[serde(default)]
    names: Vec<String>,
    threshold: f64,
    intercept: f64,
    weights: Weights,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Weights {
    Dense(Vec<f64>),
    Sparse {
        dimension: usize,
        indices: Vec<usize>,
        values: Vec<f64>,
    },
}

impl SavedModel {
    /// Writes the file: whole, or the old one stays. `-` is standard output.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = self.write(path)?;
        let mut file = AtomicFile::create(path)?;
        file.put(text.as_bytes())?;
        file.commit()
    }

    /// Reads a file written by [`SavedModel::save`].
    pub fn load(path: &Path) -> Result<SavedModel> {
        let bytes = read(path).map_err(|source| Error::Io {
            path: path.to_path_buf(),
            source,
        })?;
        SavedModel::parse(&bytes, path)
    }

    /// The content of the file.
    pub fn to_json(&self) -> Result<String> {
        self.write(Path::new("<memory>"))
    }

    /// The model of such a content.
    pub fn from_json(text: &str) -> Result<SavedModel> {
        SavedModel::parse(text.as_bytes(), Path::new("<memory>"))
    }

    fn write(&self, path: &Path) -> Result<String> {
        check(&self.model).map_err(|what| refused(path, what))?;
        let mut fields = vec![
            ("format", json!(FORMAT)),
            ("version", json!(VERSION)),
            ("algorithm", json!(self.algorithm)),
            ("parameters", json!(self.parameters)),
            ("certificate", json!(self.certificate)),
            ("classes", json!(self.model.classes)),
        ];
        if !self.model.names.is_empty() {
            fields.push(("names", json!(self.model.names)));
        }
        fields.push(("threshold", json!(self.model.threshold)));
        fields.push(("intercept", json!(self.model.intercept)));
        fields.push(("weights", compact(&self.model.weights)));
        let sum = checksum(fields.iter().map(|(key, value)| (*key, value)).collect());
        fields.push(("checksum", json!(sum)));
        // One field a line: the head of the file can be read, and lists stay on their line.
        let lines: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("  \"{key}\": {value}"))
            .collect();
        Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<SavedModel> {
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
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => {
                return Err(refuse(format!(
                    "was written in version {newer} of the format, and this program reads up to \
                     version {VERSION}; use a newer ubauc"
                )));
            }
            _ => return Err(refuse("has no valid format version".to_string())),
        }
        verify(&value).map_err(refuse)?;
        let content: Content = serde_json::from_value(value)
            .map_err(|error| refuse(format!("has a field missing or wrong: {error}")))?;
        let model = LinearModel {
            weights: content.weights.expand().map_err(refuse)?,
            intercept: content.intercept,
            threshold: content.threshold,
            classes: content.classes,
            names: content.names,
        };
        check(&model).map_err(refuse)?;
        Ok(SavedModel {
            model,
            algorithm: content.algorithm,
            parameters: content.parameters,
            certificate: content.certificate,
        })
    }
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
fn check(model: &LinearModel) -> std::result::Result<(), String> {
    let (d, names) = (model.weights.len(), model.names.len());
    if d > MAX_DIMENSION {
        return Err(format!("{d} weights; at most {MAX_DIMENSION} are possible"));
    }
    if names != 0 && names != d {
        return Err(format!("{names} feature names for {d} weights"));
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
    Ok(())
}

/// The shorter text: a zero in a list takes 4 characters, an index its digits and a comma.
fn compact(weights: &[f64]) -> Value {
    let d = weights.len();
    // By bits: −0.0 is not left out.
    let written =
        |&j: &usize| weights[j].to_bits() != 0 || (d > FREE_DIMENSION && j.is_multiple_of(STRIDE));
    let indices: Vec<usize> = (0..d).filter(written).collect();
    let digits = d.checked_ilog10().unwrap_or(0) as usize + 2;
    if indices.len() * digits >= (d - indices.len()) * 4 {
        return json!(weights);
    }
    let values: Vec<f64> = indices.iter().map(|&j| weights[j]).collect();
    json!({"dimension": d, "indices": indices, "values": values})
}

impl Weights {
    /// All weights written out. Nothing is allocated before the dimension has been judged by the
    /// number of entries.
    fn expand(self) -> std::result::Result<Vec<f64>, String> {
        let (dimension, indices, values) = match self {
            Weights::Dense(weights) => return Ok(weights),
            Weights::Sparse {
                dimension,
                indices,
                values,
            } => (dimension, indices, values),
        };
        let entries = indices.len();
        if values.len() != entries {
            return Err(format!("{entries} indices for {} values", values.len()));
        }
        if indices.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("indices of the weights must increase".to_string());
        }
        if let Some(&last) = indices.last().filter(|&&last| last >= dimension) {
            return Err(format!("index {last} in {dimension} weights"));
        }
        if dimension
            > FREE_DIMENSION
                .max(entries.saturating_mul(STRIDE))
                .min(MAX_DIMENSION)
        {
            return Err(format!("{dimension} weights of which {entries} are given"));
        }
        let mut weights = Vec::new();
        weights
            .try_reserve_exact(dimension)
            .map_err(|error| format!("{dimension} weights: {error}"))?;
        weights.resize(dimension, 0.0);
        for (j, value) in indices.into_iter().zip(values) {
            weights[j] = value;
        }
        Ok(weights)
    }
}

/// Compares the checksum that a file states with that of everything else in it.
fn verify(file: &Value) -> std::result::Result<(), String> {
    let fields = file.as_object().into_iter().flatten();
    let content = fields
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, _)| *key != "checksum")
        .collect();
    let found = checksum(content);
    match file.get("checksum").and_then(Value::as_str) {
        Some(stated) if stated == found => Ok(()),
        Some(stated) => Err(format!(
            "is damaged or was edited: its checksum is {found}, and it states {stated}"
        )),
        None => Err("is damaged: it states no checksum".to_string()),
    }
}

fn checksum(fields: Vec<(&str, &Value)>) -> String {
    let mut hash = Fnv::default();
    hash.object(fields);
    format!("fnv1a64:{:016x}", hash.0.value())
}

/// FNV-1a of 64 bits over a JSON value: a letter for the kind, the length of what has one, the
/// content.
#[derive(Default)]
struct Fnv(Fnv1a);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.add(bytes);
    }

    fn head(&mut self, kind: u8, length: usize) {
        self.bytes(&[kind]);
        self.bytes(&(length as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.head(b's', text.len());
        self.bytes(text.as_bytes());
    }

    fn object(&mut self, mut fields: Vec<(&str, &Value)>) {
        fields.sort_unstable_by_key(|(key, _)| *key);
        self.head(b'o', fields.len());
        for (key, value) in fields {
            self.text(key);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(b"0"),
            Value::Bool(flag) => self.bytes(if *flag { b"t" } else { b"f" }),
            // 1 and 1.0 are one number; an integer that no f64 is counts by its digits.
            Value::Number(number) => match number.as_f64() {
                Some(x) if number.is_f64() || x.abs() < 9_007_199_254_740_992.0 => {
                    self.bytes(b"n");
                    self.bytes(&x.to_bits().to_le_bytes());
                }
                _ => self.text(&number.to_string()),
            },
            Value::String(text) => self.text(text),
            Value::Array(values) => {
                self.head(b'a', values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Object(fields) => {
                self.object(
                    fields
                        .iter()
                        .map(|(key, value)| (key.as_str(), value))
                        .collect(),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
