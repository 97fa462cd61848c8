//! The checksum of a model file: of its content, and not of its layout.
//!
//! Objects count in the order of their keys and numbers by value, so that a file may be reformatted.

use serde_json::Value;

use crate::checksum::Fnv1a;

const FIELD: &str = "checksum";

/// Compares the checksum that a file states with that of everything else in it.
pub(super) fn verify(file: &Value) -> Result<(), String> {
    let found = checksum(file);
    match file.get(FIELD).and_then(Value::as_str) {
        Some(stated) if stated == found => Ok(()),
        Some(stated) => Err(format!(
            "is damaged or was edited: its checksum is {found}, and it states {stated}"
        )),
        None => Err("is damaged: it states no checksum".to_string()),
    }
}

/// The checksum of all fields of a file but the one that states it.
pub(super) fn checksum(file: &Value) -> String {
    let fields = file.as_object().into_iter().flatten();
    let content = fields
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, _)| *key != FIELD)
        .collect();
    let mut hash = Fnv::default();
    hash.object(content);
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
