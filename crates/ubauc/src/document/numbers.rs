//! Numbers as people read them.

/// Six digits after the point, or seven significant ones with an exponent.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        format!("{x:.6}")
    } else {
        format!("{x:.6e}")
    }
}

/// A p value; one that underflowed to 0 is not printed as certainty, one that does not exist is `-`.
pub fn p_value(p: Option<f64>) -> String {
    let Some(p) = p else {
        return "-".to_string();
    };
    if p >= 1e-4 {
        format!("{p:.4}")
    } else if p > 0.0 {
        format!("{p:.1e}")
    } else {
        "<1e-300".to_string()
    }
}

/// `[0.881000, 0.912000]`
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", number(low), number(high))
}

/// 1234567 as `1,234,567`.
pub fn thousands(n: impl Into<u128>) -> String {
    let digits = n.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits, without an exponent down to a microsecond.
pub fn three_digits(x: f64) -> String {
    let size = x.abs();
    if !x.is_finite() || size >= 1e9 || (size > 0.0 && size < 5e-7) {
        return format!("{x:.2e}");
    }
    let mut decimals = 0;
    // 9.995 rounds to 10.0, so the borders lie half a unit of the third digit below powers of ten.
    while size > 0.0 && decimals < 6 && size * 10f64.powi(decimals) < 99.95 {
        decimals += 1;
    }
    format!("{x:.*}", decimals as usize)
}

/// Four digits without the leading zero, as papers print AUC: `.8326`.
pub fn short(x: f64) -> String {
    without_zero(&format!("{x:.4}"))
}

/// The same with its sign, `+.0012`; what rounds to 0 has none.
pub fn short_signed(x: f64) -> String {
    without_zero(&format!("{x:+.4}"))
}

fn without_zero(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with(['+', '-'])));
    match digits.strip_prefix("0.") {
        Some("0000") => ".0000".to_string(),
        Some(rest) => format!("{sign}.{rest}"),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (n, text) in [
            (0u64, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(n), text);
        }
    }

    #[test]
    fn auc_is_printed_as_in_papers() {
        for (x, text) in [
            (0.8326, ".8326"),
            (0.5, ".5000"),
            (1.0, "1.0000"),
            (0.99996, "1.0000"),
            (0.0, ".0000"),
        ] {
            assert_eq!(short(x), text);
        }
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
            assert_eq!(short_signed(x), text);
        }
    }

    #[test]
    fn three_digits_are_significant() {
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
            assert_eq!(three_digits(x), text, "{x}");
        }
    }

    #[test]
    fn p_values_are_never_certain() {
        assert_eq!(p_value(Some(0.5)), "0.5000");
        assert_eq!(p_value(Some(2e-12)), "2.0e-12");
        assert_eq!(p_value(Some(0.0)), "<1e-300");
        assert_eq!(p_value(None), "-");
    }
}
