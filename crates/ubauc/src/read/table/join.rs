//! What all blocks together say of a column, and their values one after the other.

use super::levels::Levels;
use super::number::Decimal;
use super::piece::{Numbers, OnText, Piece, State, Times, Want};
use super::time::DateOrder;
use crate::data::table::{MISSING, Values};

/// What the values of a column can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    Numbers(Signs),
    Times(Orders),
    Text,
}

/// Decimal signs that explain all numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signs {
    point: bool,
    comma: bool,
    either_point: bool,
    either_comma: bool,
    infinite: bool,
}

/// Orders of day and month that explain all dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Orders {
    year_first: bool,
    day_first: bool,
    month_first: bool,
}

impl Seen {
    pub(super) fn of(piece: &Piece) -> Seen {
        match &piece.state {
            State::Empty => Seen::Nothing,
            State::Numbers(n) => Seen::Numbers(Signs {
                point: n.point,
                comma: n.comma,
                either_point: n.either_point,
                either_comma: n.either_comma,
                infinite: n.infinite.is_some(),
            }),
            State::Times(t) => Seen::Times(Orders {
                year_first: t.year_first,
                day_first: t.day_first,
                month_first: t.month_first,
            }),
            State::Text { .. } | State::Mixed => Seen::Text,
        }
    }

    /// The same for the rows of two blocks.
    pub(super) fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Nothing, seen) | (seen, Seen::Nothing) => seen,
            (Seen::Numbers(a), Seen::Numbers(b)) => {
                let signs = Signs {
                    point: a.point && b.point,
                    comma: a.comma && b.comma,
                    either_point: a.either_point || b.either_point,
                    either_comma: a.either_comma || b.either_comma,
                    infinite: a.infinite || b.infinite,
                };
                let explained = signs.point || signs.comma;
                if explained {
                    Seen::Numbers(signs)
                } else {
                    Seen::Text
                }
            }
            (Seen::Times(a), Seen::Times(b)) => {
                let orders = Orders {
                    year_first: a.year_first && b.year_first,
                    day_first: a.day_first && b.day_first,
                    month_first: a.month_first && b.month_first,
                };
                let explained = orders.year_first || orders.day_first || orders.month_first;
                if explained {
                    Seen::Times(orders)
                } else {
                    Seen::Text
                }
            }
            _ => Seen::Text,
        }
    }
}

/// The sign that columns which can be read in two ways take over from those that cannot.
pub(super) fn usual_sign(seen: &[Seen]) -> Option<Decimal> {
    let (mut point, mut comma) = (false, false);
    for seen in seen {
        if let Seen::Numbers(signs) = seen {
            point |= signs.point && !signs.comma;
            comma |= signs.comma && !signs.point;
        }
    }
    match (point, comma) {
        (true, false) => Some(Decimal::Point),
        (false, true) => Some(Decimal::Comma),
        _ => None,
    }
}

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    Number {
        decimal: Decimal,
        /// Nothing in the file settled the sign.
        unsure: bool,
        infinite: bool,
    },
    Time(DateOrder),
    /// Every date could have the day or the month first.
    UnsettledTime,
    Category,
}

impl Decided {
    pub(super) fn of(seen: Seen, usual: Option<Decimal>) -> Decided {
        match seen {
            // Nothing but gaps: any kind would do.
            Seen::Nothing => Decided::Number {
                decimal: usual.unwrap_or(Decimal::Point),
                unsure: false,
                infinite: false,
            },
            Seen::Text => Decided::Category,
            Seen::Numbers(signs) => {
                let open = signs.point && signs.comma;
                let either = signs.either_point || signs.either_comma;
                let decimal = match (signs.point, usual) {
                    (false, _) => Decimal::Comma,
                    (true, _) if !open => Decimal::Point,
                    (true, Some(usual)) => usual,
                    (true, None) if signs.either_comma && !signs.either_point => Decimal::Comma,
                    (true, None) => Decimal::Point,
                };
                Decided::Number {
                    decimal,
                    unsure: open && either && usual.is_none(),
                    infinite: signs.infinite,
                }
            }
            Seen::Times(orders) => {
                match (orders.year_first, orders.day_first, orders.month_first) {
                    (true, ..) => Decided::Time(DateOrder::YearFirst),
                    (_, true, true) => Decided::UnsettledTime,
                    (_, true, false) => Decided::Time(DateOrder::DayFirst),
                    _ => Decided::Time(DateOrder::MonthFirst),
                }
            }
        }
    }

    /// How a block is to be parsed for this column.
    pub(super) fn want(self) -> Want {
        match self {
            Decided::Number { decimal, .. } => Want::Number(decimal, OnText::Refuse),
            Decided::Time(order) => Want::Time(Some(order), OnText::Refuse),
            Decided::UnsettledTime => Want::Time(None, OnText::Refuse),
            Decided::Category => Want::Category,
        }
    }

    /// Must a block be parsed once more?
    pub(super) fn differs(self, piece: &Piece) -> bool {
        match (self, &piece.state) {
            (_, State::Mixed) => true,
            (_, State::Empty) => false,
            (
                Decided::Number {
                    decimal, infinite, ..
                },
                State::Numbers(numbers),
            ) => {
                numbers.stale
                    || numbers.either && numbers.read_as != decimal
                    || infinite && numbers.infinite.is_some()
            }
            (Decided::Time(order), State::Times(times)) => {
                let month = |order: DateOrder| order == DateOrder::MonthFirst;
                times.stale || times.either && month(times.read_as) != month(order)
            }
            (Decided::Category, State::Text { .. }) => false,
            _ => true,
        }
    }
}

/// The values of all blocks; those of a block that has none are missing.
pub(super) fn values(pieces: Vec<Piece>, decided: Decided) -> (Values, Levels) {
    let rows = pieces.iter().map(|piece| piece.rows).sum();
    match decided {
        Decided::Number { .. } => (
            Values::Number(numbers(pieces, rows).into()),
            Levels::default(),
        ),
        Decided::Time(_) | Decided::UnsettledTime => (
            Values::Time(numbers(pieces, rows).into()),
            Levels::default(),
        ),
        Decided::Category => {
            let (codes, levels) = categories(pieces, rows);
            let strings = levels.strings();
            let values = Values::Category {
                codes,
                levels: strings,
            };
            (values, levels)
        }
    }
}

fn numbers(pieces: Vec<Piece>, rows: usize) -> Vec<f64> {
    let mut all = Vec::with_capacity(rows);
    for piece in pieces {
        match piece.state {
            State::Numbers(Numbers { values, .. }) | State::Times(Times { values, .. }) => {
                all.extend_from_slice(&values);
            }
            _ => all.resize(all.len() + piece.rows, f64::NAN),
        }
    }
    all
}

/// One list of levels, in the order of the file.
pub(super) fn categories(pieces: Vec<Piece>, rows: usize) -> (Vec<u32>, Levels) {
    let mut all = Vec::with_capacity(rows);
    let mut joined = Levels::default();
    for piece in pieces {
        match piece.state {
            State::Text { codes, levels } => {
                let place: Vec<u32> = levels.iter().map(|text| joined.insert(text)).collect();
                let place = |code: u32| place.get(code as usize).copied().unwrap_or(MISSING);
                all.extend(codes.into_iter().map(place));
            }
            _ => all.resize(all.len() + piece.rows, MISSING),
        }
    }
    (all, joined)
}
