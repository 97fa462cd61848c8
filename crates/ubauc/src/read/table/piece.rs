//! The values of one column within one block of text.
//!
//! What a column holds is decided by all its values, and every block is parsed before the others
//! are known. So a block takes the first value that it meets as a hint (number, time or text) and
//! goes on like that as long as it can. The kinds of the blocks are joined afterwards; a block
//! that took a column for something else is parsed once more for that column.

use super::super::classes::StreamClasses;
use super::levels::Levels;
use super::missing::Missing;
use super::number::{self, Decimal};
use super::time::{self, DateOrder};
use crate::data::table::MISSING;

/// What to make of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Nothing.
    Skip,
    /// To be found out.
    Guess(Decimal),
    /// Texts.
    Category,
    /// Texts as they are: nothing stands for a missing one.
    Text,
    /// Texts, and none is missing.
    Label,
    /// Labels of a stream: texts, or nothing or `?` where there is none.
    StreamLabel,
    /// Numbers with a decimal point, and none is missing.
    Complete,
    /// Numbers.
    Number(Decimal, OnText),
    /// Times.
    Time(Option<DateOrder>, OnText),
}

/// What becomes of a text where a number or a time is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnText {
    /// An error.
    Refuse,
    /// It counts as missing, and is counted.
    Missing,
}

/// The values of a column in a block.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) state: State,
    want: Want,
    /// All values so far, the missing ones among them.
    pub(super) rows: usize,
    /// Texts in a column of numbers or times that were taken as missing.
    pub(super) unreadable: usize,
}

/// What the values have been so far.
#[derive(Debug)]
pub(super) enum State {
    /// All missing.
    Empty,
    Numbers(Numbers),
    Times(Times),
    Text {
        codes: Vec<u32>,
        levels: Levels,
    },
    /// Text, behind values that were read as something else: to be parsed once more.
    Mixed,
}

/// Numbers, and which decimal signs explain them.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    pub(super) point: bool,
    pub(super) comma: bool,
    /// How values with a sign were read.
    pub(super) read_as: Decimal,
    /// Has any value a sign that can be read in two ways?
    pub(super) either: bool,
    /// Is the sign of one of those a point, is it a comma?
    pub(super) either_point: bool,
    pub(super) either_comma: bool,
    /// Values read before it turned out that they were read wrongly.
    pub(super) stale: bool,
    /// The first row with an infinite number.
    pub(super) infinite: Option<usize>,
}

/// Times, and which orders of day and month explain them.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) values: Vec<f64>,
    pub(super) year_first: bool,
    pub(super) day_first: bool,
    pub(super) month_first: bool,
    pub(super) read_as: DateOrder,
    pub(super) either: bool,
    pub(super) stale: bool,
}

/// Why a value is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    NoLabel,
    NoValue,
    NoNumber,
    NoTime,
    Infinite,
}

impl Piece {
    pub(super) fn new(want: Want) -> Piece {
        let state = match want {
            Want::Category | Want::Text | Want::Label | Want::StreamLabel => text(Vec::new()),
            Want::Complete => State::Numbers(Numbers::new(Vec::new(), Decimal::Point)),
            Want::Number(decimal, _) => State::Numbers(Numbers::new(Vec::new(), decimal)),
            Want::Time(..) => State::Times(Times::new(Vec::new())),
            Want::Skip | Want::Guess(_) => State::Empty,
        };
        Piece {
            state,
            want,
            rows: 0,
            unreadable: 0,
        }
    }

    /// Takes the next value, without blanks around it.
    #[inline]
    pub(super) fn push(&mut self, field: &[u8], missing: &Missing) -> Result<(), Refused> {
        if self.want != Want::Text && missing.is(field) {
            self.refuse_missing(field)?;
            self.push_missing();
        } else {
            match &mut self.state {
                State::Numbers(numbers) => {
                    if let Want::Number(decimal, on_text) = self.want {
                        return self.push_given_number(field, decimal, on_text);
                    }
                    if self.want == Want::Complete {
                        return self.push_given_number(field, Decimal::Point, OnText::Refuse);
                    }
                    if !numbers.push(field, self.want) {
                        self.state = State::Mixed;
                    }
                }
                State::Text { codes, levels } => codes.push(levels.insert(field)),
                State::Times(times) => {
                    if let Want::Time(order, on_text) = self.want {
                        return self.push_given_time(field, order, on_text);
                    }
                    if !times.push(time::read(field)) {
                        self.state = State::Mixed;
                    }
                }
                State::Mixed => {}
                State::Empty => self.begin(field),
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Are its values kept as texts?
    #[cfg(feature = "parquet")]
    pub(super) fn wants_text(&self) -> bool {
        matches!(
            self.want,
            Want::Category | Want::Text | Want::Label | Want::StreamLabel
        )
    }

    #[cfg(feature = "parquet")]
    pub(super) fn is_label(&self) -> bool {
        self.want == Want::Label
    }

    /// A gap that needs no text.
    #[cfg(feature = "parquet")]
    pub(super) fn push_null(&mut self) -> Result<(), Refused> {
        self.refuse_missing(b"")?;
        self.push_missing();
        self.rows += 1;
        Ok(())
    }

    /// A number or a time in a column of such; NaN is a gap.
    #[cfg(feature = "parquet")]
    pub(super) fn push_value(&mut self, value: f64) -> Result<(), Refused> {
        if value.is_nan() {
            self.refuse_missing(b"")?;
        }
        if value.is_infinite() {
            let on_text = match self.want {
                Want::Number(_, on_text) | Want::Time(_, on_text) => on_text,
                _ => OnText::Refuse,
            };
            Self::or_missing(Err(Refused::Infinite), on_text, &mut self.unreadable)?;
        }
        if let State::Numbers(Numbers { values, .. }) | State::Times(Times { values, .. }) =
            &mut self.state
        {
            values.push(if value.is_finite() { value } else { f64::NAN });
        }
        self.rows += 1;
        Ok(())
    }

    /// A gap where there may be none.
    fn refuse_missing(&self, field: &[u8]) -> Result<(), Refused> {
        match self.want {
            Want::Label => Err(Refused::NoLabel),
            Want::StreamLabel if !StreamClasses::is_unlabelled(field) => Err(Refused::NoLabel),
            Want::Complete => Err(Refused::NoValue),
            _ => Ok(()),
        }
    }

    fn push_missing(&mut self) {
        match &mut self.state {
            State::Numbers(Numbers { values, .. }) | State::Times(Times { values, .. }) => {
                values.push(f64::NAN);
            }
            State::Text { codes, .. } => codes.push(MISSING),
            State::Empty | State::Mixed => {}
        }
    }

    /// The first value that is there tells what the others may be.
    fn begin(&mut self, field: &[u8]) {
        let Want::Guess(decimal) = self.want else {
            return;
        };
        let gap = || vec![f64::NAN; self.rows];
        let mut numbers = Numbers::new(gap(), decimal);
        if numbers.push(field, self.want) {
            self.state = State::Numbers(numbers);
            return;
        }
        let mut times = Times::new(gap());
        if times.push(time::read(field)) {
            self.state = State::Times(times);
            return;
        }
        let mut levels = Levels::default();
        let mut codes = vec![MISSING; self.rows];
        codes.push(levels.insert(field));
        self.state = State::Text { codes, levels };
    }

    fn push_given_number(
        &mut self,
        field: &[u8],
        decimal: Decimal,
        on_text: OnText,
    ) -> Result<(), Refused> {
        let State::Numbers(numbers) = &mut self.state else {
            return Ok(());
        };
        let reading = number::read_with_zeros(field, Decimal::Open);
        let value = match (reading, decimal) {
            (number::Reading::Plain(x), _) => Ok(x),
            (number::Reading::Either { comma, .. }, Decimal::Comma) => Ok(comma),
            (number::Reading::Either { point, .. }, _) => Ok(point),
            (number::Reading::Point(x), _) => Ok(x),
            (number::Reading::Comma(x), Decimal::Comma | Decimal::Open) => Ok(x),
            (number::Reading::Infinite, _) => Err(Refused::Infinite),
            (number::Reading::Comma(_) | number::Reading::Not, _) => Err(Refused::NoNumber),
        };
        let value = Self::or_missing(value, on_text, &mut self.unreadable)?;
        numbers.values.push(value);
        self.rows += 1;
        Ok(())
    }

    fn push_given_time(
        &mut self,
        field: &[u8],
        order: Option<DateOrder>,
        on_text: OnText,
    ) -> Result<(), Refused> {
        let State::Times(times) = &mut self.state else {
            return Ok(());
        };
        let value = match (time::read(field), order) {
            (time::Reading::YearFirst(t), _) => Ok(t),
            (time::Reading::Either { day_first, .. }, Some(DateOrder::DayFirst)) => Ok(day_first),
            (time::Reading::Either { month_first, .. }, Some(DateOrder::MonthFirst)) => {
                Ok(month_first)
            }
            (time::Reading::DayFirst(t), Some(DateOrder::DayFirst)) => Ok(t),
            (time::Reading::MonthFirst(t), Some(DateOrder::MonthFirst)) => Ok(t),
            _ => Err(Refused::NoTime),
        };
        let value = Self::or_missing(value, on_text, &mut self.unreadable)?;
        times.values.push(value);
        self.rows += 1;
        Ok(())
    }

    fn or_missing(
        value: Result<f64, Refused>,
        on_text: OnText,
        unreadable: &mut usize,
    ) -> Result<f64, Refused> {
        match (value, on_text) {
            (Err(_), OnText::Missing) => {
                *unreadable += 1;
                Ok(f64::NAN)
            }
            (value, _) => value,
        }
    }

    /// Takes the values behind the first `rows` off.
    pub(super) fn truncate(&mut self, rows: usize) {
        match &mut self.state {
            State::Numbers(Numbers { values, .. }) | State::Times(Times { values, .. }) => {
                values.truncate(rows);
            }
            State::Text { codes, .. } => codes.truncate(rows),
            State::Empty | State::Mixed => {}
        }
        self.rows = rows;
    }
}

fn text(codes: Vec<u32>) -> State {
    let levels = Levels::default();
    State::Text { codes, levels }
}

impl Numbers {
    fn new(values: Vec<f64>, decimal: Decimal) -> Numbers {
        Numbers {
            values,
            point: decimal != Decimal::Comma,
            comma: decimal != Decimal::Point,
            read_as: match decimal {
                Decimal::Comma => Decimal::Comma,
                Decimal::Point | Decimal::Open => Decimal::Point,
            },
            either: false,
            either_point: false,
            either_comma: false,
            stale: false,
            infinite: None,
        }
    }

    /// `false` if the values are not numbers, all of them with one decimal sign.
    #[inline]
    fn push(&mut self, field: &[u8], want: Want) -> bool {
        let decimal = match want {
            Want::Guess(decimal) => decimal,
            _ => Decimal::Open,
        };
        let value = match number::read(field, decimal) {
            number::Reading::Plain(value) => value,
            number::Reading::Point(value) => {
                self.settle(Decimal::Point);
                value
            }
            number::Reading::Comma(value) => {
                self.settle(Decimal::Comma);
                value
            }
            number::Reading::Either { point, comma } => {
                self.either = true;
                // The sign stands alone.
                let is_comma = field.contains(&b',');
                self.either_comma |= is_comma;
                self.either_point |= !is_comma;
                if self.read_as == Decimal::Point {
                    point
                } else {
                    comma
                }
            }
            number::Reading::Infinite => {
                self.infinite.get_or_insert(self.values.len());
                f64::NAN
            }
            number::Reading::Not => return false,
        };
        self.values.push(value);
        self.point || self.comma
    }

    #[inline]
    fn settle(&mut self, decimal: Decimal) {
        match decimal {
            Decimal::Point => self.comma = false,
            _ => self.point = false,
        }
        if self.read_as != decimal {
            self.stale |= self.either;
            self.read_as = decimal;
        }
    }
}

impl Times {
    fn new(values: Vec<f64>) -> Times {
        Times {
            values,
            year_first: true,
            day_first: true,
            month_first: true,
            read_as: DateOrder::YearFirst,
            either: false,
            stale: false,
        }
    }

    /// `false` if the values are not times in one order.
    fn push(&mut self, reading: time::Reading) -> bool {
        let (value, order) = match reading {
            time::Reading::YearFirst(value) => (value, DateOrder::YearFirst),
            time::Reading::DayFirst(value) => (value, DateOrder::DayFirst),
            time::Reading::MonthFirst(value) => (value, DateOrder::MonthFirst),
            time::Reading::Either {
                day_first,
                month_first,
            } => {
                self.either = true;
                self.year_first = false;
                let month = self.read_as == DateOrder::MonthFirst;
                self.values
                    .push(if month { month_first } else { day_first });
                return self.day_first || self.month_first;
            }
            time::Reading::Not => return false,
        };
        self.year_first &= order == DateOrder::YearFirst;
        self.day_first &= order == DateOrder::DayFirst;
        self.month_first &= order == DateOrder::MonthFirst;
        // What could be read in two ways was read with the day first.
        self.stale |= self.either && order == DateOrder::MonthFirst && self.read_as != order;
        self.read_as = order;
        self.values.push(value);
        self.year_first || self.day_first || self.month_first
    }
}
