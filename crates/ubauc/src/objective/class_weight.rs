//! What the classes weigh, and so where λ is on the ROC curve.
//!
//! With the weights a⁺ and a⁻ of an example of each class, λ of the hinge is where a⁺·(positives below) = a⁻·(negatives
//! above), from ∂P/∂λ = 0. If the negatives weigh R times as much as the positives, each class as a whole, that is
//!
//! ```text
//! missed positives / N⁺ = R · false alarms / N⁻,     a⁺ = N/((1 + R)N⁺),   a⁻ = RN/((1 + R)N⁻),
//! ```
//!
//! the weights being such that their sum stays N. R = 1 is `balanced`, R = N⁻/N⁺ are equal weights, and the larger R, the
//! further to the left of the ROC curve λ is: since at most all positives are missed, R ≥ 1/F keeps the false alarms within a
//! share F.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ubauc::ClassWeights;
use crate::{Error, Result};

/// What the examples of each class are weighted by, beside their own weights.
///
/// As text and in JSON it is `none`, `balanced` or the number R.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum ClassWeight {
    /// Nothing.
    #[default]
    None,
    /// N/(2N_{y_i}): both classes have the same weight, in the bound and in the least squares.
    Balanced,
    /// R > 0: all negatives together weigh R times as much as all positives.
    Ratio(f64),
}

const MUST: &str =
    "none, balanced, or a number above 0: the weight of all negatives for that of all positives";

impl ClassWeight {
    /// Of positives and negatives.
    pub fn factors(self, total: ClassWeights) -> [f64; 2] {
        match self {
            ClassWeight::None => [1.0, 1.0],
            ClassWeight::Balanced => [total.pos, total.neg].map(|n| total.sum() / (2.0 * n)),
            ClassWeight::Ratio(r) => {
                let share = total.sum() / (1.0 + r);
                [share / total.pos, r * share / total.neg]
            }
        }
    }

    /// R.
    pub fn ratio(self, total: ClassWeights) -> f64 {
        match self {
            ClassWeight::None => total.neg / total.pos,
            ClassWeight::Balanced => 1.0,
            ClassWeight::Ratio(r) => r,
        }
    }

    /// In words, unless there is none.
    pub fn described(self) -> Option<String> {
        match self {
            ClassWeight::None => None,
            ClassWeight::Balanced => Some("balanced classes".to_string()),
            ClassWeight::Ratio(r) => Some(format!("class weight {r}")),
        }
    }

    /// Refuses a ratio that is none.
    pub fn check(self) -> Result<()> {
        match self {
            ClassWeight::Ratio(r) if !(r > 0.0 && r.is_finite()) => Err(Error::Parameter {
                name: "class weight",
                value: r.to_string(),
                must: MUST,
            }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeight::None => f.pad("none"),
            ClassWeight::Balanced => f.pad("balanced"),
            ClassWeight::Ratio(r) => f.pad(&r.to_string()),
        }
    }
}

impl FromStr for ClassWeight {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let ratio = |text: &str| {
            let ratio = ClassWeight::Ratio(text.parse().ok()?);
            ratio.check().ok().map(|()| ratio)
        };
        let found = match text {
            "none" => Some(ClassWeight::None),
            "balanced" => Some(ClassWeight::Balanced),
            _ => ratio(text),
        };
        found.ok_or_else(|| Error::Parameter {
            name: "class weight",
            value: text.to_owned(),
            must: MUST,
        })
    }
}

/// In binary states: variants by number, which a text or a number without a tag could not be told apart from.
#[derive(Serialize, Deserialize)]
enum Binary {
    None,
    Balanced,
    Ratio(f64),
}

impl Serialize for ClassWeight {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match (serializer.is_human_readable(), *self) {
            (true, ClassWeight::Ratio(r)) => serializer.serialize_f64(r),
            (true, named) => serializer.collect_str(&named),
            (false, ClassWeight::None) => Binary::None.serialize(serializer),
            (false, ClassWeight::Balanced) => Binary::Balanced.serialize(serializer),
            (false, ClassWeight::Ratio(r)) => Binary::Ratio(r).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ClassWeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let found = match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(Readable)?,
            false => match Binary::deserialize(deserializer)? {
                Binary::None => ClassWeight::None,
                Binary::Balanced => ClassWeight::Balanced,
                Binary::Ratio(r) => ClassWeight::Ratio(r),
            },
        };
        found.check().map_err(de::Error::custom)?;
        Ok(found)
    }
}

/// A name or a number.
struct Readable;

impl Visitor<'_> for Readable {
    type Value = ClassWeight;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MUST)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<ClassWeight, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, r: f64) -> std::result::Result<ClassWeight, E> {
        Ok(ClassWeight::Ratio(r))
    }

    fn visit_u64<E: de::Error>(self, r: u64) -> std::result::Result<ClassWeight, E> {
        Ok(ClassWeight::Ratio(r as f64))
    }

    fn visit_i64<E: de::Error>(self, r: i64) -> std::result::Result<ClassWeight, E> {
        Ok(ClassWeight::Ratio(r as f64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Both classes by their ratio, and the sum stays.
        #[test]
        fn factors_have_the_ratio(r in 1e-3..1e3_f64, pos in 1.0..1e4_f64, neg in 1.0..1e6_f64) {
            let total = ClassWeights { pos, neg };
            for weight in [ClassWeight::None, ClassWeight::Balanced, ClassWeight::Ratio(r)] {
                let [p, n] = weight.factors(total);
                let (of_pos, of_neg) = (p * pos, n * neg);
                prop_assert!((of_neg / of_pos / weight.ratio(total) - 1.0).abs() < 1e-12);
                prop_assert!(((of_pos + of_neg) / total.sum() - 1.0).abs() < 1e-12);
            }
            let one = ClassWeight::Ratio(1.0).factors(total);
            let balanced = ClassWeight::Balanced.factors(total);
            prop_assert!(one.iter().zip(balanced).all(|(a, b)| (a / b - 1.0).abs() < 1e-14));
        }

        #[test]
        fn what_is_written_is_read(r in 1e-300..1e300_f64) {
            for weight in [ClassWeight::None, ClassWeight::Balanced, ClassWeight::Ratio(r)] {
                prop_assert_eq!(weight.to_string().parse::<ClassWeight>().unwrap(), weight);
                let text = serde_json::to_string(&weight).unwrap();
                prop_assert_eq!(serde_json::from_str::<ClassWeight>(&text).unwrap(), weight);
                let bytes = postcard::to_stdvec(&weight).unwrap();
                prop_assert_eq!(postcard::from_bytes::<ClassWeight>(&bytes).unwrap(), weight);
            }
        }
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        for text in ["", "0", "-1", "inf", "nan", "Balanced", "balance"] {
            assert!(text.parse::<ClassWeight>().is_err(), "{text}");
        }
        for json in ["0", "-2.5", "1e999", "null", "{}", "\"some\""] {
            assert!(serde_json::from_str::<ClassWeight>(json).is_err(), "{json}");
        }
        assert_eq!(
            serde_json::from_str::<ClassWeight>("4").unwrap(),
            ClassWeight::Ratio(4.0)
        );
        assert_eq!(
            serde_json::to_string(&ClassWeight::Balanced).unwrap(),
            "\"balanced\""
        );
        // As it was before there were ratios.
        assert_eq!(postcard::to_stdvec(&ClassWeight::Balanced).unwrap(), [1]);
    }
}
