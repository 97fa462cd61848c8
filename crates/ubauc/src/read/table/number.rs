//! Numbers as people write them: `1234.5`, `1,234.5`, `1234,5`, `1.234,5`.
//!
//! A comma or a point may stand before the decimals or between thousands; groups of thousands have
//! exactly three digits. Most values can be read in one way only; `1.234` and `1,234` in two ways,
//! and what they mean is decided by all other values of the column. A whole number with a zero in
//! front (`007`) is a code and not a number.

/// Which sign may stand before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimal {
    Point,
    Comma,
    /// To be found out.
    Open,
}

/// What a text says, read as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// The same with either sign: a whole number.
    Plain(f64),
    /// A number with a decimal point only.
    Point(f64),
    /// A number with a decimal comma only.
    Comma(f64),
    /// `1.234` or `1,234`: two different numbers.
    Either { point: f64, comma: f64 },
    /// `inf`, `1e999`.
    Infinite,
    /// No number.
    Not,
}

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Reads a text without blanks around it. Zeros in front are refused.
#[inline]
pub(super) fn read(text: &[u8], decimal: Decimal) -> Reading {
    match simple(text) {
        Some((value, None)) => return Reading::Plain(value),
        Some((value, Some(_))) if decimal == Decimal::Point => return Reading::Plain(value),
        // A fraction that no grouping explains.
        Some((value, Some((before, after))))
            if decimal == Decimal::Open && (after != 3 || !(1..=3).contains(&before)) =>
        {
            return Reading::Point(value);
        }
        _ => {}
    }
    slowly(text, decimal)
}

/// The same, but `007` is 7.
pub(super) fn read_with_zeros(text: &[u8], decimal: Decimal) -> Reading {
    let (sign, digits) = match text {
        [b'-' | b'+', rest @ ..] => (text.get(..1).unwrap_or_default(), rest),
        _ => (&[][..], text),
    };
    let zeros = digits
        .windows(2)
        .take_while(|pair| pair[0] == b'0' && pair[1].is_ascii_digit());
    match zeros.count() {
        0 => read(text, decimal),
        zeros => read(&[sign, &digits[zeros..]].concat(), decimal),
    }
}

/// Digits with at most one point, few enough to be exact in floating point: the value, and how
/// many digits stand before and after the point if there is one.
///
/// Both the digits as a whole number (below 2⁵³) and the power of ten are exact, so that their
/// quotient is rounded once: it is the nearest number to the text.
#[inline]
#[allow(clippy::type_complexity)] // Two counts that belong together.
fn simple(text: &[u8]) -> Option<(f64, Option<(usize, usize)>)> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.len() > 17 || digits.first() == Some(&b'0') && digits.len() > 1 && digits[1] != b'.' {
        return None;
    }
    let (mut whole, mut point) = (0u64, None);
    for (i, &b) in digits.iter().enumerate() {
        let digit = b.wrapping_sub(b'0');
        if digit < 10 {
            whole = whole * 10 + u64::from(digit);
        } else if b == b'.' && point.is_none() {
            point = Some(i);
        } else {
            return None;
        }
    }
    let n_digits = digits.len() - usize::from(point.is_some());
    if n_digits == 0 || whole >= 1 << 53 {
        return None;
    }
    let counts = point.map(|at| (at, digits.len() - at - 1));
    let value = match counts {
        Some((_, after)) => whole as f64 / POWERS[after],
        None => whole as f64,
    };
    Some((if negative { -value } else { value }, counts))
}

/// Exponents, groups of thousands, commas, many digits.
fn slowly(text: &[u8], decimal: Decimal) -> Reading {
    let with = |point: u8, group: u8| grouped(text, point, group);
    let point = (decimal != Decimal::Comma)
        .then(|| with(b'.', b','))
        .flatten();
    let comma = (decimal != Decimal::Point)
        .then(|| with(b',', b'.'))
        .flatten();
    let infinite = |x: Option<f64>| x.is_some_and(f64::is_infinite);
    if infinite(point) || infinite(comma) || is_infinity(text) {
        return Reading::Infinite;
    }
    match (point, comma) {
        (None, None) => Reading::Not,
        (Some(point), Some(comma)) if point.to_bits() == comma.to_bits() => Reading::Plain(point),
        (Some(point), Some(comma)) => Reading::Either { point, comma },
        (Some(value), None) | (None, Some(value)) if decimal != Decimal::Open => {
            Reading::Plain(value)
        }
        (Some(value), None) => Reading::Point(value),
        (None, Some(value)) => Reading::Comma(value),
    }
}

fn is_infinity(text: &[u8]) -> bool {
    let word = match text {
        [b'-' | b'+', rest @ ..] => rest,
        _ => text,
    };
    word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity")
}

/// `±digits[point digits][e±digits]`, the digits before the point perhaps in groups of three.
fn grouped(text: &[u8], point: u8, group: u8) -> Option<f64> {
    let unsigned = match text {
        [b'-' | b'+', rest @ ..] => rest,
        _ => text,
    };
    let end = unsigned
        .iter()
        .position(|&b| b == point || b == b'e' || b == b'E')
        .unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(end);
    let is_code = matches!(whole, [b'0', _, ..]);
    let is_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'e' | b'E' | b'+' | b'-');
    let rest_is_number = match rest.first() {
        Some(b) if *b == point => rest[1..].iter().all(is_number),
        _ => rest.iter().all(is_number),
    };
    if is_code || !rest_is_number || !groups_are_thousands(whole, group) {
        return None;
    }
    if point == b'.' && !whole.contains(&group) {
        return fast_float2::parse(text).ok();
    }
    let plain: Vec<u8> = text
        .iter()
        .filter(|&&b| b != group)
        .map(|&b| if b == point { b'.' } else { b })
        .collect();
    fast_float2::parse(plain).ok()
}

/// Digits alone, or one to three of them and then groups of exactly three.
fn groups_are_thousands(whole: &[u8], group: u8) -> bool {
    let mut parts = whole.split(|&b| b == group);
    let first = parts.next().unwrap_or_default();
    let mut alone = true;
    for part in parts {
        alone = false;
        if part.len() != 3 || !part.iter().all(u8::is_ascii_digit) {
            return false;
        }
    }
    first.iter().all(u8::is_ascii_digit) && (alone || (1..=3).contains(&first.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn open(text: &str) -> Reading {
        read(text.as_bytes(), Decimal::Open)
    }

    #[test]
    fn every_way_of_writing_has_its_reading() {
        use Reading::{Comma, Either, Infinite, Not, Plain, Point};
        for (text, reading) in [
            ("0", Plain(0.0)),
            ("-12", Plain(-12.0)),
            ("+12", Plain(12.0)),
            ("1e5", Plain(1e5)),
            ("12345678901234567890", Plain(12345678901234567890.0)),
            ("1.5", Point(1.5)),
            (".5", Point(0.5)),
            ("5.", Point(5.0)),
            ("0.123", Point(0.123)),
            ("1234.567", Point(1234.567)),
            ("1,234.5", Point(1234.5)),
            ("1,234,567", Point(1234567.0)),
            ("1.5e-3", Point(0.0015)),
            ("1,5", Comma(1.5)),
            ("-0,123", Comma(-0.123)),
            ("1.234,5", Comma(1234.5)),
            ("1.234.567", Comma(1234567.0)),
            ("1,5e3", Comma(1500.0)),
            (
                "1.234",
                Either {
                    point: 1.234,
                    comma: 1234.0,
                },
            ),
            (
                "-12,345",
                Either {
                    point: -12345.0,
                    comma: -12.345,
                },
            ),
            ("inf", Infinite),
            ("-Infinity", Infinite),
            ("1e999", Infinite),
        ] {
            assert_eq!(open(text), reading, "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            ",",
            "007",
            "-01",
            "00",
            "1,23,456",
            "1,2345.5",
            "12 3",
            "1e",
            "e5",
            "0x1f",
            "nan",
            "1.2.3",
            "1,234.5,6",
            "--1",
            "1-2",
            "$5",
            "5%",
            "1_000",
            "01.5",
        ] {
            assert_eq!(open(text), Not, "{text}");
        }
    }

    #[test]
    fn a_known_sign_leaves_one_reading() {
        for (text, point, comma) in [
            ("1.234", Some(1.234), Some(1234.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("1.5", Some(1.5), None),
            ("1,5", None, Some(1.5)),
            ("12", Some(12.0), Some(12.0)),
        ] {
            for (decimal, value) in [(Decimal::Point, point), (Decimal::Comma, comma)] {
                let expected = value.map_or(Reading::Not, Reading::Plain);
                assert_eq!(
                    read(text.as_bytes(), decimal),
                    expected,
                    "{text} {decimal:?}"
                );
            }
        }
    }

    #[test]
    fn codes_are_numbers_only_where_asked_for() {
        for (text, value) in [("007", 7.0), ("-01", -1.0), ("00", 0.0), ("01.5", 1.5)] {
            let found = read_with_zeros(text.as_bytes(), Decimal::Point);
            assert_eq!(found, Reading::Plain(value), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_number_is_read_as_the_nearest(x in proptest::num::f64::NORMAL, digits in 0usize..20) {
            for text in [format!("{x}"), format!("{x:e}"), format!("{x:.digits$}")] {
                let expected: f64 = text.parse().unwrap();
                let found = read(text.as_bytes(), Decimal::Point);
                prop_assert_eq!(found, Reading::Plain(expected), "{}", text);
            }
        }

        #[test]
        fn short_decimals_agree_with_the_standard_library(m in 0u64..1 << 60, after in 0usize..20) {
            let digits = m.to_string();
            let text = match digits.len().checked_sub(after) {
                Some(before) if before > 0 => format!("{}.{}", &digits[..before], &digits[before..]),
                _ => format!("0.{}{digits}", "0".repeat(after - digits.len())),
            };
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(read(text.as_bytes(), Decimal::Point), Reading::Plain(expected), "{}", text);
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.,eE a]{0,12}") {
            let bytes = text.as_bytes();
            for decimal in [Decimal::Point, Decimal::Comma, Decimal::Open] {
                read(bytes, decimal);
                read_with_zeros(bytes, decimal);
            }
        }
    }
}
