//! Which class a label of a stream is of, decided by the label alone.
//!
//! A stream cannot be looked through for the two values it has: the first million examples may be
//! of one class. So the classes are known in advance. Without a choice 1 is positive, 0 and -1 are
//! negative, and any other label is an error. An empty label or `?` is none: such an example is
//! scored and not learned.

use super::shown;
use crate::data::labels::number;

/// The classes of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamClasses {
    /// The positive class; 1 if `None`.
    pub positive: Option<String>,
    /// The negative class; if `None` all but `positive`, or 0 and -1 where that is not named.
    pub negative: Option<String>,
    /// A table may have no column of labels.
    pub optional: bool,
}

impl StreamClasses {
    /// No label: `?`, or an empty field.
    pub(super) fn is_unlabelled(label: &[u8]) -> bool {
        label.is_empty() || label == b"?"
    }

    /// Positive, negative, or unlabelled; or what is wrong.
    pub fn side(&self, label: &[u8]) -> Result<Option<bool>, String> {
        if StreamClasses::is_unlabelled(label) {
            return Ok(None);
        }
        let is = |class: &str| match (number(label), number(class.trim().as_bytes())) {
            (Some(a), Some(b)) => a == b,
            _ => label == class.as_bytes(),
        };
        if is(self.positive.as_deref().unwrap_or("1")) {
            return Ok(Some(true));
        }
        let is_negative = match (&self.positive, &self.negative) {
            (_, Some(negative)) => is(negative),
            (Some(_), None) => true,
            (None, None) => is("0") || is("-1"),
        };
        if is_negative {
            return Ok(Some(false));
        }
        let label = shown(label);
        let positive = shown(self.positive.as_deref().unwrap_or("1").as_bytes());
        Err(match &self.negative {
            Some(negative) => {
                let negative = shown(negative.as_bytes());
                format!("label {label} is neither {positive} nor {negative}, nor ? for none")
            }
            None => format!(
                "label {label} is neither 1 nor 0 nor -1, nor ? for none; in a stream other \
                 classes are named (positive VALUE)"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(positive: Option<&str>, negative: Option<&str>) -> StreamClasses {
        StreamClasses {
            positive: positive.map(str::to_string),
            negative: negative.map(str::to_string),
            optional: false,
        }
    }

    #[test]
    fn usual_labels_need_no_choice_and_others_are_refused() {
        let usual = classes(None, None);
        for (label, side) in [
            ("1", Some(true)),
            ("+1", Some(true)),
            ("1.0", Some(true)),
            ("0", Some(false)),
            ("-1", Some(false)),
            ("-1e0", Some(false)),
            ("?", None),
            ("", None),
        ] {
            assert_eq!(usual.side(label.as_bytes()), Ok(side), "{label}");
        }
        for label in ["2", "-2", "0.5", "yes", "1x", "nan"] {
            let what = usual.side(label.as_bytes()).unwrap_err();
            assert!(what.contains("positive VALUE"), "{what}");
        }
    }

    #[test]
    fn named_classes_are_compared_as_numbers_where_both_are() {
        let one = classes(Some("2.0"), None);
        assert_eq!(one.side(b"2"), Ok(Some(true)));
        assert_eq!(one.side(b"1"), Ok(Some(false)));
        assert_eq!(one.side(b"spam"), Ok(Some(false)));
        let two = classes(Some("spam"), Some("ham"));
        assert_eq!(two.side(b"spam"), Ok(Some(true)));
        assert_eq!(two.side(b"ham"), Ok(Some(false)));
        assert!(two.side(b"Ham").is_err());
        assert_eq!(classes(None, Some("2")).side(b"1"), Ok(Some(true)));
        assert!(classes(None, Some("2")).side(b"0").is_err());
    }
}
