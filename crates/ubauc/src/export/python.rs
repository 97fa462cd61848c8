//! One file of Python that needs the standard library alone.
//!
//! `scorer.py` is the program, as it is; the model and its self-test stand in front of it as JSON in string literals.

use serde::Serialize;

use super::{Program, SelfTest};
use crate::{Error, Result};

const SCORER: &str = include_str!("scorer.py");
/// Where the model goes.
const PLACE: &str = "MODEL = None\n";

#[derive(Serialize)]
struct Content<'a> {
    #[serde(flatten)]
    program: &'a Program,
    self_test: &'a SelfTest,
}

pub(super) fn write(program: &Program, test: &SelfTest) -> Result<Vec<u8>> {
    let content = Content {
        program,
        self_test: test,
    };
    let json = serde_json::to_string(&content).map_err(|_| Error::Numerical {
        what: "the model cannot be written as JSON",
    })?;
    let literals: Vec<String> = lines(&json).map(literal).collect();
    let model = format!("MODEL = json.loads(\n{}\n)\n", literals.join("\n"));
    Ok(SCORER.replacen(PLACE, &model, 1).into_bytes())
}

/// A text in pieces of about a line each.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    const LENGTH: usize = 100;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = LENGTH.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (line, after) = rest.split_at(end);
        rest = after;
        Some(line)
    })
}

/// A string literal of Python, in ASCII.
fn literal(text: &str) -> String {
    let mut out = String::from("    \"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(c),
            _ => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_has_its_place() {
        assert_eq!(SCORER.matches(PLACE).count(), 1);
    }

    #[test]
    fn texts_of_any_kind_become_literals() {
        assert_eq!(
            literal("a\"\\\né"),
            "    \"a\\\"\\\\\\U0000000a\\U000000e9\""
        );
        let text = "é".repeat(500);
        assert_eq!(lines(&text).collect::<String>(), text);
    }
}
