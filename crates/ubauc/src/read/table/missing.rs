//! What stands for a value that is not there.

/// Unless the options say otherwise, in upper or lower case.
pub const MISSING_TOKENS: [&str; 8] = ["NA", "N/A", "NaN", "null", "None", "?", "<NA>", "#N/A"];

/// The texts that stand for nothing. A field of blanks always does.
#[derive(Debug, Clone)]
pub(super) struct Missing {
    tokens: Vec<Vec<u8>>,
    any_case: bool,
    /// Is some token's first byte this one? Most fields are done with after that question.
    first: [bool; 256],
}

impl Missing {
    /// The given list, as it is written, or the usual one.
    pub(super) fn new(given: Option<&[String]>) -> Missing {
        let usual = || MISSING_TOKENS.iter().map(|t| t.to_string()).collect();
        let tokens: Vec<String> = given.map_or_else(usual, <[String]>::to_vec);
        let mut first = [false; 256];
        let tokens: Vec<Vec<u8>> = tokens
            .into_iter()
            .map(|token| token.trim_ascii().as_bytes().to_vec())
            .filter(|token| !token.is_empty())
            .collect();
        let any_case = given.is_none();
        for token in &tokens {
            first[usize::from(token[0])] = true;
            if any_case {
                first[usize::from(token[0].to_ascii_lowercase())] = true;
                first[usize::from(token[0].to_ascii_uppercase())] = true;
            }
        }
        Missing {
            tokens,
            any_case,
            first,
        }
    }

    /// Does a field, without the blanks around it, stand for nothing?
    #[inline]
    pub(super) fn is(&self, field: &[u8]) -> bool {
        match field.first() {
            None => true,
            Some(&b) => self.first[usize::from(b)] && self.is_token(field),
        }
    }

    fn is_token(&self, field: &[u8]) -> bool {
        self.tokens
            .iter()
            .any(|token| token == field || self.any_case && token.eq_ignore_ascii_case(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_tokens_come_in_any_case_and_given_ones_as_they_are() {
        let usual = Missing::new(None);
        for token in [
            "", "NA", "na", "n/a", "NaN", "nan", "NULL", "none", "?", "<NA>", "#N/A",
        ] {
            assert!(usual.is(token.as_bytes()), "{token}");
        }
        for token in ["0", "-", "N", "??", "nano", "unknown"] {
            assert!(!usual.is(token.as_bytes()), "{token}");
        }
        let given = Missing::new(Some(&["-999".to_string(), "Unknown".to_string()]));
        for (token, is) in [("-999", true), ("Unknown", true), ("unknown", false)] {
            assert_eq!(given.is(token.as_bytes()), is, "{token}");
        }
        assert!(given.is(b"") && !given.is(b"NA") && !given.is(b"-99"));
    }
}
