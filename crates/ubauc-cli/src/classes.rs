//! Which of two classes is positive where nobody says.
//!
//! Of two numbers the larger one. Of two words the one that says yes (`yes`, `true`, `positive` and the like) if the other
//! does not; otherwise the rarer one, since that is what people look for; of two that are as frequent the last in byte order.

use std::path::Path;

use anyhow::Result;
use ubauc::data::labels::{Binary, Choice, Class, Labels};

use crate::input::ClassArgs;
use crate::output::Output;

/// Words that say yes, in lower case.
const YES: [&str; 13] = [
    "yes", "y", "true", "t", "on", "positive", "pos", "ja", "j", "oui", "si", "sí", "sim",
];

impl ClassArgs {
    /// Two classes as typed or by the rule above, with a note where words decide.
    pub(crate) fn binary(&self, labels: &Labels, path: &Path, output: Output) -> Result<Binary> {
        let typed = self.choice();
        let words = match (&typed, labels.classes()) {
            (Choice::Larger, [Class::Text(first), Class::Text(last)]) => Some([first, last]),
            _ => None,
        };
        let Some(words) = words else {
            return Ok(labels.binary(&typed)?);
        };
        let (at, why) = positive_of(words.map(String::as_str), labels.counts());
        output.note(format!(
            "note: {}: classes are text; '{}' is taken as positive ({why}); choose with --positive",
            path.display(),
            words[at]
        ));
        Ok(labels.binary(&Choice::Positive(words[at].clone()))?)
    }
}

/// Which of two words is positive, and why; the words are in byte order.
fn positive_of(words: [&str; 2], counts: &[usize]) -> (usize, &'static str) {
    let says_yes = words.map(|word| YES.contains(&word.trim().to_lowercase().as_str()));
    match (says_yes, counts) {
        ([true, false], _) => (0, "it says yes"),
        ([false, true], _) => (1, "it says yes"),
        (_, [first, last]) if first < last => (0, "the rarer of the two"),
        (_, [first, last]) if first > last => (1, "the rarer of the two"),
        _ => (1, "last in byte order, as both are as frequent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_is_positive_and_otherwise_the_rarer_word() {
        let of = |words, counts: [usize; 2]| positive_of(words, &counts).0;
        assert_eq!(of(["no", "yes"], [1, 9]), 1);
        assert_eq!(of(["FALSE", "True"], [1, 9]), 1);
        assert_eq!(of(["Yes", "no"], [9, 1]), 0);
        assert_eq!(of(["<=50K", ">50K"], [3, 1]), 1);
        assert_eq!(of(["bad", "good"], [1, 3]), 0);
        assert_eq!(of(["bad", "good"], [3, 3]), 1);
        assert_eq!(of(["true", "yes"], [3, 1]), 1);
    }
}
