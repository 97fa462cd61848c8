//! The Gregorian calendar. Times are seconds, and days whole days, since 1970-01-01.
//!
//! Years are counted from March, so that a leap day is the last of its year: 400 years have 146,097 days, and from March on
//! month k begins on day (153k + 2)/5 of its year.

/// Seconds of a day.
pub const DAY: f64 = 86_400.0;
/// From 0000-03-01 to 1970-01-01.
const TO_1970: i64 = 719_468;
/// Days in 400 years.
const ERA: i64 = 146_097;
/// Days beyond this are no dates; they are taken to be this one.
const LAST_DAY: f64 = 1e9;

/// The day of a time that is not NaN.
pub fn day_of(seconds: f64) -> i64 {
    (seconds / DAY).floor().clamp(-LAST_DAY, LAST_DAY) as i64
}

/// Year, month from 1 and day of the month from 1.
pub fn civil(day: i64) -> (i64, u32, u32) {
    let day = day + TO_1970;
    let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = match from_march {
        0..10 => from_march + 3,
        _ => from_march - 9,
    };
    let year = year + 400 * era + i64::from(month <= 2);
    (year, month as u32, of_month as u32)
}

/// The day of a date, if there is one.
pub fn day(year: u32, month: u32, day: u32) -> Option<i64> {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let length = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day == 0 || day > length {
        return None;
    }
    let (year, month) = if month > 2 {
        (i64::from(year), i64::from(month) - 3)
    } else {
        (i64::from(year) - 1, i64::from(month) + 9)
    };
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(days + of_year - TO_1970)
}

/// `2013-01-31`, of a time.
pub fn date(seconds: f64) -> String {
    let (year, month, day) = civil(day_of(seconds));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_a_calendar_written_out() {
        let is_leap = |y: i64| y % 4 == 0 && y % 100 != 0 || y % 400 == 0;
        let mut since = -719_528; // 0000-01-01
        for year in 0..2500 {
            let february = 28 + u32::from(is_leap(i64::from(year)));
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for of_month in 1..=length {
                    assert_eq!(civil(since), (i64::from(year), month, of_month));
                    assert_eq!(day(year, month, of_month), Some(since));
                    since += 1;
                }
                assert_eq!(day(year, month, 0), None);
                assert_eq!(day(year, month, length + 1), None);
            }
        }
        // 530 years after 1970-01-01; of the 132 that are multiples of 4, 2100, 2200 and 2300 are no leap years.
        assert_eq!(since, 530 * 365 + 129);
        // `date -u -d 2300-01-01 +%s`
        assert_eq!(day(2300, 1, 1), Some(10_413_792_000 / 86_400));
        assert_eq!((day(1970, 0, 1), day(1970, 13, 1)), (None, None));
    }

    #[test]
    fn dates_are_written_as_they_are_read() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_000, "2024-10-04"),
        ] {
            assert_eq!(date(DAY * f64::from(days)), text);
        }
        // No time is too large.
        assert_eq!(date(1e300), date(1e200));
        assert_eq!(date(-1e300), date(-1e200));
    }
}
