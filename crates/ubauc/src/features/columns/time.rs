//! Parts of a point in time, on the clock that wrote it.

use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(super) const DAY: f64 = 86400.0;

/// Days beyond this are no dates; their parts mean nothing, but are parts.
const LAST_DAY: f64 = 1e9;

/// What may vary through the day, the week and the year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimePart {
    /// 0 … 23.
    Hour,
    /// Monday … Sunday.
    Weekday,
    /// January … December.
    Month,
}

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl TimePart {
    pub(super) const ALL: [TimePart; 3] = [TimePart::Hour, TimePart::Weekday, TimePart::Month];

    /// How many values it has.
    pub fn count(self) -> usize {
        match self {
            TimePart::Hour => 24,
            TimePart::Weekday => WEEKDAYS.len(),
            TimePart::Month => MONTHS.len(),
        }
    }

    /// As features are called.
    pub fn name(self) -> &'static str {
        match self {
            TimePart::Hour => "hour",
            TimePart::Weekday => "weekday",
            TimePart::Month => "month",
        }
    }

    /// The name of one of its values.
    pub(super) fn value_name(self, value: usize) -> String {
        let names: &[&str] = match self {
            TimePart::Hour => &[],
            TimePart::Weekday => &WEEKDAYS,
            TimePart::Month => &MONTHS,
        };
        names
            .get(value)
            .map_or(value.to_string(), |s| s.to_string())
    }

    /// The part of a time in seconds since 1970-01-01, which was a Thursday; the time is not NaN.
    pub fn of(self, seconds: f64) -> u32 {
        let day = (seconds / DAY).floor().clamp(-LAST_DAY, LAST_DAY);
        match self {
            TimePart::Hour => ((seconds - day * DAY) / 3600.0).clamp(0.0, 23.0) as u32,
            TimePart::Weekday => (day as i64 + 3).rem_euclid(7) as u32,
            TimePart::Month => month(day as i64),
        }
    }
}

/// The month of a day since 1970-01-01, from 0, in the Gregorian calendar.
///
/// Years are counted from March, so that a leap day is the last of its year: 400 years have 146,097 days, a century but
/// the last 36,524, four years but the last of a century 1,461. From March on month k begins on day (153k + 2)/5.
fn month(day: i64) -> u32 {
    let of_cycle = (day + 719_468).rem_euclid(146_097); // from 0000-03-01
    let century = (of_cycle / 36_524).min(3);
    let of_century = of_cycle - century * 36_524;
    let of_four_years = of_century % 1461;
    let year = (of_four_years / 365).min(3);
    let of_year = of_four_years - year * 365;
    let from_march = (5 * of_year + 2) / 153;
    ((from_march + 2) % 12) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_a_calendar_written_out() {
        let leap = |y: i64| (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
        let mut day = -719_528; // 0000-01-01
        for year in 0..2500 {
            let lengths = [
                31,
                28 + i64::from(leap(year)),
                31,
                30,
                31,
                30,
                31,
                31,
                30,
                31,
                30,
                31,
            ];
            for (expected, length) in lengths.into_iter().enumerate() {
                for _ in 0..length {
                    assert_eq!(month(day), expected as u32, "year {year}");
                    day += 1;
                }
            }
        }
        // 530 years after 1970-01-01; of the 132 that are multiples of 4, 2100, 2200 and 2300 are no leap years.
        assert_eq!(day, 530 * 365 + 129);
    }

    #[test]
    fn parts_of_known_times() {
        // 2013-01-01 05:17:00, a Tuesday, and the second before 1970, a Wednesday.
        let known = [(1_357_017_420.0, [5, 1, 0]), (-1.0, [23, 2, 11])];
        for (time, expected) in known {
            assert_eq!(TimePart::ALL.map(|part| part.of(time)), expected);
        }
        for strange in [1e300, -1e300, 0.0, -0.0, 5e-324, -5e-324] {
            for part in TimePart::ALL {
                assert!((part.of(strange) as usize) < part.count());
            }
        }
        assert_eq!(TimePart::Weekday.value_name(0), "Monday");
        assert_eq!(TimePart::Hour.value_name(5), "5");
    }
}
