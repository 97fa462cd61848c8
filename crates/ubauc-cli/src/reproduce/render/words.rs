//! Numbers as the paper writes them, and text made to fit.

/// What stands for a number that is not there.
pub(super) const DASH: &str = "–";

/// `.8326`, as the paper prints AUC.
pub(super) fn auc(x: f64) -> String {
    if !x.is_finite() {
        return DASH.to_string();
    }
    without_zero(&format!("{x:.4}"))
}

/// `.8326±.0299`
pub(super) fn mean_std(mean: Option<f64>, std: Option<f64>) -> String {
    match (mean, std) {
        (None, _) => DASH.to_string(),
        (Some(mean), None) => auc(mean),
        (Some(mean), Some(std)) => format!("{}±{}", auc(mean), auc(std)),
    }
}

/// `.8326±.0299` of the paper.
pub(super) fn paper(cell: Option<[f64; 2]>) -> String {
    mean_std(cell.map(|[mean, _]| mean), cell.map(|[_, std]| std))
}

/// `+.0012`; what rounds to nothing has no sign.
pub(super) fn difference(x: Option<f64>) -> String {
    match x.filter(|x| x.is_finite()) {
        None => DASH.to_string(),
        Some(x) if x.abs() < 0.000_05 => ".0000".to_string(),
        Some(x) => without_zero(&format!("{x:+.4}")),
    }
}

fn without_zero(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with(['+', '-'])));
    match digits.strip_prefix("0.") {
        Some("0000") => ".0000".to_string(),
        Some(rest) => format!("{sign}.{rest}"),
        None => number.to_string(),
    }
}

/// Three significant digits, no exponent down to a microsecond.
pub(super) fn seconds(x: Option<f64>) -> String {
    match x.filter(|x| x.is_finite()) {
        None => DASH.to_string(),
        Some(x) => three_digits(x),
    }
}

/// `13.0×`
pub(super) fn ratio(x: Option<f64>) -> String {
    match x.filter(|x| x.is_finite()) {
        None => DASH.to_string(),
        Some(x) => format!("{}×", three_digits(x)),
    }
}

fn three_digits(x: f64) -> String {
    let size = x.abs();
    if size >= 1e9 || (size > 0.0 && size < 5e-7) {
        return format!("{x:.2e}");
    }
    let decimals = [
        (99.95, 0),
        (9.995, 1),
        (0.9995, 2),
        (0.09995, 3),
        (0.009995, 4),
        (0.0009995, 5),
    ];
    let found = decimals.iter().find(|(least, _)| size >= *least);
    let decimals = found.map_or(if size == 0.0 { 0 } else { 6 }, |&(_, decimals)| decimals);
    format!("{x:.decimals$}")
}

/// `25`, or `3/25` while some are missing.
pub(super) fn runs(done: usize, wanted: usize) -> String {
    if done == wanted {
        done.to_string()
    } else {
        format!("{done}/{wanted}")
    }
}

/// At most `width` characters, the last of them `…` where some were cut; control characters and
/// line ends become blanks.
pub(super) fn clip(text: &str, width: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().count() <= width {
        return text;
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Lines of at most `width` characters, broken at blanks, and inside a word only if it is longer
/// than a line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().filter(|c| !c.is_control()).collect();
        for piece in letters.chunks(width) {
            let used = line.chars().count();
            if used > 0 && used + 1 + piece.len() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(piece);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auc_is_printed_as_in_the_paper() {
        for (x, text) in [
            (0.8326, ".8326"),
            (0.5, ".5000"),
            (1.0, "1.0000"),
            (0.99996, "1.0000"),
            (0.0, ".0000"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(auc(x), text);
        }
        assert_eq!(mean_std(Some(0.8326), Some(0.0299)), ".8326±.0299");
        assert_eq!(mean_std(Some(0.8326), None), ".8326");
        assert_eq!(mean_std(None, Some(0.1)), "–");
    }

    #[test]
    fn differences_have_signs_unless_they_vanish() {
        for (x, text) in [
            (0.0012, "+.0012"),
            (-0.0598, "-.0598"),
            (1.0, "+1.0000"),
            (0.000_049, ".0000"),
            (-0.000_049, ".0000"),
            (0.0, ".0000"),
        ] {
            assert_eq!(difference(Some(x)), text);
        }
        assert_eq!(difference(Some(f64::NAN)), "–");
        assert_eq!(difference(None), "–");
    }

    #[test]
    fn seconds_have_three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (0.000_123_4, "0.000123"),
            (0.001_234, "0.00123"),
            (0.012_34, "0.0123"),
            (0.15, "0.150"),
            (0.9996, "1.00"),
            (9.999, "10.0"),
            (11.24, "11.2"),
            (1350.41, "1350"),
            (1e-8, "1.00e-8"),
        ] {
            assert_eq!(seconds(Some(x)), text, "{x}");
        }
        assert_eq!(ratio(Some(13.0)), "13.0×");
        assert_eq!(ratio(None), "–");
    }

    #[test]
    fn text_is_made_to_fit() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("a\nb", 6), "a b");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert!(wrap("  ", 5).is_empty());
    }
}
