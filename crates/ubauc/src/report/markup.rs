//! Pieces of HTML. All text is plain and is escaped here.

use std::fmt::Display;

use super::auc_part::as_count;
pub(super) use crate::document::escape_markup as escape;
use crate::document::numbers::{thousands, three_digits};
use crate::document::{Table, html, text::clip};

/// Letters of a name that are shown; the rest is under the pointer.
const NAME: usize = 60;

/// A number with all its digits behind what is shown; `key` says which of the JSON it is.
pub(super) fn number(key: &str, value: f64, shown: impl Display) -> String {
    let shown = escape(&shown.to_string());
    if !value.is_finite() {
        return shown;
    }
    format!(
        "<data value=\"{value}\" data-key=\"{}\">{shown}</data>",
        escape(key)
    )
}

/// A share as `92.7 %`, with its digits.
pub(super) fn share(key: &str, value: f64) -> String {
    number(key, value, percent(value))
}

/// 0.927 as `92.7 %`, which no line break parts; what is not quite all or nothing does not look so.
pub(super) fn percent(value: f64) -> String {
    let shown = 100.0 * value;
    match () {
        () if !value.is_finite() => "–".to_string(),
        () if value > 0.0 && shown < 0.05 => format!("{shown:.2}\u{a0}%"),
        () if value < 1.0 && shown > 99.95 => format!("{:.2}\u{a0}%", shown.min(99.99)),
        () => format!("{shown:.1}\u{a0}%"),
    }
}

/// A count, or a weight to one digit after the point; below 1 to three digits.
pub(super) fn counted(value: f64) -> String {
    match as_count(value) {
        Some(n) => thousands(n),
        None if value.abs() >= 1e15 => format!("{value:.3e}"),
        None if value < 1.0 => three_digits(value),
        None => {
            let tenths = (10.0 * value).round() as u64;
            format!("{}.{}", thousands(tenths / 10), tenths % 10)
        }
    }
}

/// A section with a heading, which the contents link to.
pub(super) struct Section {
    /// Of the element; no blanks.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// Markup.
    pub(super) body: String,
}

/// A paragraph of plain text.
pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A remark in smaller letters.
pub(super) fn remark(text: &str) -> String {
    format!("<p class=\"foot\">{}</p>\n", escape(text))
}

/// A chart with what is to be read off it, as plain text.
pub(super) fn figure(chart: &str, caption: &str) -> String {
    format!(
        "<figure>\n{chart}<figcaption>{}</figcaption>\n</figure>\n",
        escape(caption)
    )
}

/// A chart with its name above it.
pub(super) fn named_figure(name: &str, chart: &str, remark: &str) -> String {
    let name = super::markup::name(name);
    format!(
        "<figure>\n<figcaption><strong>{name}</strong> {}</figcaption>\n{chart}</figure>\n",
        escape(remark)
    )
}

/// Charts side by side where there is room.
pub(super) fn side_by_side(figures: &[String]) -> String {
    format!("<div class=\"charts\">\n{}</div>\n", figures.concat())
}

/// What is folded away.
pub(super) fn folded(summary: &str, body: &str) -> String {
    format!(
        "<details>\n<summary>{}</summary>\n{body}</details>\n",
        escape(summary)
    )
}

/// A table whose columns can be sorted.
pub(super) fn table(table: &Table, caption: &str) -> String {
    html::table(table, Some(caption))
}

/// A name that is not too long.
pub(super) fn name(text: &str) -> String {
    let short = clip(text, NAME);
    match short == text {
        true => escape(text),
        false => format!(
            "<span title=\"{}\">{}</span>",
            escape(&clip(text, 1000)),
            escape(&short)
        ),
    }
}

/// Plain text for where no markup can stand.
pub(super) fn short(text: &str) -> String {
    clip(text, NAME)
}

/// The same for a sentence.
pub(super) fn clipped(text: &str) -> String {
    clip(text, 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_weights_keep_their_digits() {
        let shown = [0.0, 0.04, 0.1, 3.0, 12.34, 1234.56, 1e-9].map(counted);
        let expected = ["0", "0.0400", "0.100", "3", "12.3", "1,234.6", "1.00e-9"];
        assert_eq!(shown, expected);
    }
}
