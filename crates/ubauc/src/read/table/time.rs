//! Dates and times as people write them, as seconds since 1970-01-01 00:00:00.
//!
//! Year first: `2013-01-31`, `2013/01/31`, each perhaps with a time of day behind a blank or a `T`:
//! `05:00`, `05:00:00`, `05:00:00.25`, and behind that `Z` or an offset such as `+02:00`, which is
//! taken off, so that the result is UTC. Year last: `31/01/2013`, `1-31-2013`, the time perhaps
//! with AM or PM; whether the day or the month comes first is decided by all values of the column.
//! With points, `31.01.2013`, the day comes first.

use serde::{Deserialize, Serialize};

use crate::data::calendar::{self, DAY};

/// The order of the parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2013-01-31`
    YearFirst,
    /// `31/01/2013`
    DayFirst,
    /// `01/31/2013`
    MonthFirst,
}

/// What a text says, read as a date or time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    YearFirst(f64),
    DayFirst(f64),
    MonthFirst(f64),
    /// `01/02/2013`
    Either {
        day_first: f64,
        month_first: f64,
    },
    Not,
}

/// Reads a text without blanks around it.
pub(super) fn read(text: &[u8]) -> Reading {
    // The shortest is 1/1/2013, and none has another first byte.
    if text.len() < 8 || !text[0].is_ascii_digit() {
        return Reading::Not;
    }
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let read = match digits {
        4 => year_first(text),
        1 | 2 => year_last(text),
        _ => None,
    };
    read.unwrap_or(Reading::Not)
}

fn year_first(text: &[u8]) -> Option<Reading> {
    let separator = *text.get(4).filter(|b| matches!(b, b'-' | b'/'))?;
    let (year, rest) = digits(text, 4, 4)?;
    let (month, rest) = digits(rest.strip_prefix(&[separator])?, 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix(&[separator])?, 1, 2)?;
    let seconds = date(year, month, day)? + time_of_day(rest)?;
    Some(Reading::YearFirst(seconds))
}

fn year_last(text: &[u8]) -> Option<Reading> {
    let (first, rest) = digits(text, 1, 2)?;
    let separator = *rest.first().filter(|b| matches!(b, b'/' | b'-' | b'.'))?;
    let (second, rest) = digits(&rest[1..], 1, 2)?;
    let (year, rest) = digits(rest.strip_prefix(&[separator])?, 4, 4)?;
    let of_day = time_of_day(rest)?;
    let day_first = date(year, second, first).map(|date| date + of_day);
    let month_first = date(year, first, second).map(|date| date + of_day);
    match (day_first, month_first) {
        (Some(seconds), None) => Some(Reading::DayFirst(seconds)),
        (Some(seconds), _) if separator == b'.' => Some(Reading::DayFirst(seconds)),
        (None, Some(seconds)) if separator != b'.' => Some(Reading::MonthFirst(seconds)),
        (Some(day_first), Some(month_first)) => Some(Reading::Either {
            day_first,
            month_first,
        }),
        _ => None,
    }
}

/// From `least` to `most` digits at the start, and what follows them.
fn digits(text: &[u8], least: usize, most: usize) -> Option<(u32, &[u8])> {
    let n = text
        .iter()
        .take(most)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let (digits, rest) = text.split_at(n);
    let value = digits.iter().fold(0, |v, b| v * 10 + u32::from(b - b'0'));
    (n >= least && !rest.first().is_some_and(u8::is_ascii_digit)).then_some((value, rest))
}

/// Seconds from 1970-01-01 to a day of the Gregorian calendar.
pub(super) fn date(year: u32, month: u32, day: u32) -> Option<f64> {
    calendar::day(year, month, day).map(|day| day as f64 * DAY)
}

/// Nothing, or a blank or `T` and then hours, minutes and perhaps more; seconds, in UTC if there is
/// an offset.
fn time_of_day(text: &[u8]) -> Option<f64> {
    let text = match text {
        [] => return Some(0.0),
        [b' ' | b'T' | b't', rest @ ..] => rest.trim_ascii_start(),
        _ => return None,
    };
    let (hours, rest) = digits(text, 1, 2)?;
    let (minutes, rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
    let (seconds, rest) = match rest.strip_prefix(b":") {
        Some(rest) => seconds(rest)?,
        None => (0.0, rest),
    };
    let (hours, rest) = half_of_day(hours, rest.trim_ascii_start())?;
    // 24:00 is the end of the day.
    let end = hours == 24 && minutes == 0 && seconds == 0.0;
    if hours > 23 && !end || minutes > 59 || seconds >= 61.0 {
        return None;
    }
    Some(f64::from(hours * 3600 + minutes * 60) + seconds - offset(rest)?)
}

/// `05` or `05.25`, and what follows.
fn seconds(text: &[u8]) -> Option<(f64, &[u8])> {
    let (whole, rest) = digits(text, 2, 2)?;
    let Some([b'.' | b',', fraction @ ..]) = Some(rest) else {
        return Some((f64::from(whole), rest));
    };
    let n = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
    let end = text.len() - rest.len() + 1 + n;
    let mut plain = text.get(..end)?.to_vec();
    plain[2] = b'.';
    let value: f64 = fast_float2::parse(plain).ok()?;
    (n > 0).then_some((value, &fraction[n..]))
}

/// AM and PM.
fn half_of_day(hours: u32, text: &[u8]) -> Option<(u32, &[u8])> {
    let half = text.get(..2).unwrap_or_default().to_ascii_lowercase();
    match (half.as_slice(), hours) {
        (b"am", 1..=12) => Some((hours % 12, &text[2..])),
        (b"pm", 1..=12) => Some((hours % 12 + 12, &text[2..])),
        (b"am" | b"pm", _) => None,
        _ => Some((hours, text)),
    }
}

/// Nothing, `Z`, `+02:00`, `-0330` or `+02`, in seconds east of Greenwich.
fn offset(text: &[u8]) -> Option<f64> {
    let (sign, text) = match text {
        [] | [b'Z' | b'z'] | b"UTC" => return Some(0.0),
        [b'+', rest @ ..] => (1.0, rest),
        [b'-', rest @ ..] => (-1.0, rest),
        _ => return None,
    };
    let pair = |two: &[u8]| digits(two, 2, 2).map(|(value, _)| value);
    let (hours, minutes) = match text.len() {
        2 => (pair(text)?, 0),
        4 => (pair(&text[..2])?, pair(&text[2..])?),
        5 if text[2] == b':' => (pair(&text[..2])?, pair(&text[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then(|| sign * f64::from(hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Reading {
        read(text.as_bytes())
    }

    #[test]
    fn usual_forms_are_read() {
        // 1356998400 is 2013-01-01 00:00:00 UTC by `date -u -d 2013-01-01 +%s`.
        let midnight = 1_356_998_400.0;
        for (text, seconds) in [
            ("2013-01-01", midnight),
            ("2013/01/01", midnight),
            ("2013-1-1", midnight),
            ("2013-01-01 05:00:00", midnight + 18_000.0),
            ("2013-01-01T05:00:00Z", midnight + 18_000.0),
            ("2013-01-01T05:00", midnight + 18_000.0),
            ("2013-01-01 05:00:00.25", midnight + 18_000.25),
            ("2013-01-01 05:00:00,5", midnight + 18_000.5),
            ("2013-01-01T05:00:00+02:00", midnight + 10_800.0),
            ("2013-01-01T05:00:00-0330", midnight + 30_600.0),
            ("2013-01-01 05:00:00 +02", midnight + 10_800.0),
            ("2013-01-01 05:00:00 UTC", midnight + 18_000.0),
            ("2013-01-01 24:00", midnight + 86_400.0),
        ] {
            assert_eq!(of(text), Reading::YearFirst(seconds), "{text}");
        }
    }

    #[test]
    fn a_year_at_the_end_leaves_day_and_month_open() {
        let day = |n: f64| 1_356_998_400.0 + n * 86_400.0;
        assert_eq!(of("31/01/2013"), Reading::DayFirst(day(30.0)));
        assert_eq!(of("1/31/2013"), Reading::MonthFirst(day(30.0)));
        assert_eq!(of("31.1.2013"), Reading::DayFirst(day(30.0)));
        assert_eq!(of("02.01.2013"), Reading::DayFirst(day(1.0)));
        let (day_first, month_first) = (day(31.0), day(1.0));
        let either = Reading::Either {
            day_first,
            month_first,
        };
        assert_eq!(of("01/02/2013"), either);
        assert_eq!(of("01-02-2013"), either);
        assert_eq!(
            of("1/31/2013 12:30 AM"),
            Reading::MonthFirst(day(30.0) + 1800.0)
        );
        assert_eq!(
            of("1/31/2013 1:30:00 PM"),
            Reading::MonthFirst(day(30.0) + 48_600.0)
        );
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "2013",
            "20130101",
            "2013-13-01",
            "2013-02-29",
            "2013-00-10",
            "2013-01-01x",
            "2013-01/01",
            "2013-01-01 25:00",
            "2013-01-01 5",
            "2013-01-01 05:60",
            "2013-01-01 05:00:00.",
            "2013-01-01T05:00:00+2",
            "1/1/13",
            "13/13/2013",
            "1.31.2013",
            "32/01/2013",
            "1/31/2013 13:00 PM",
            "01/02/2013/04",
            "192.168.2013",
            "1-800-5555",
        ] {
            assert_eq!(of(text), Reading::Not, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9/: .TZ+-]{0,26}") {
            read(text.as_bytes());
        }
    }
}
