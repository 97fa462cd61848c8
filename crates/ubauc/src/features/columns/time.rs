//! Parts of a point in time, on the clock that wrote it.

use serde::{Deserialize, Serialize};

use crate::data::calendar::{DAY, civil, day_of};

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
        let day = day_of(seconds);
        match self {
            TimePart::Hour => ((seconds - day as f64 * DAY) / 3600.0).clamp(0.0, 23.0) as u32,
            TimePart::Weekday => (day + 3).rem_euclid(7) as u32,
            TimePart::Month => civil(day).1 - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
