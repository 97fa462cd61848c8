//! What the columns of a Parquet file hold, by the types that the file names.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

use super::super::number::Decimal;
use super::super::piece::{OnText, Want};
use super::super::time::DateOrder;
use crate::data::calendar::DAY;

/// What the values of a column stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    Boolean,
    Signed,
    Unsigned,
    /// A whole number of 10^-scale.
    Decimal {
        scale: i32,
    },
    Float,
    /// A whole number of so many seconds since 1970.
    Time {
        unit: f64,
    },
    /// The same of midnight.
    TimeOfDay {
        unit: f64,
    },
    Text,
    Uuid,
    HalfFloat,
}

impl Held {
    pub(super) fn want(self) -> Want {
        match self {
            Held::Boolean | Held::Text | Held::Uuid => Want::Category,
            Held::Time { .. } => Want::Time(Some(DateOrder::YearFirst), OnText::Refuse),
            _ => Want::Number(Decimal::Point, OnText::Refuse),
        }
    }

    /// By the type that the file names.
    pub(super) fn of(column: &ColumnDescriptor) -> std::result::Result<Held, String> {
        let name = column.path().string();
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err(format!(
                "column '{name}' is nested; flat columns are expected, or --ignore '{name}'"
            ));
        }
        let second = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1e-3,
            TimeUnit::MICROS => 1e-6,
            TimeUnit::NANOS => 1e-9,
        };
        let held = match column.logical_type_ref() {
            Some(LogicalType::Integer(kind)) if !kind.is_signed => Some(Held::Unsigned),
            Some(LogicalType::Integer(_)) => Some(Held::Signed),
            Some(LogicalType::Decimal(decimal)) => Some(Held::Decimal {
                scale: decimal.scale,
            }),
            Some(LogicalType::Date) => Some(Held::Time { unit: DAY }),
            Some(LogicalType::Timestamp(kind)) => Some(Held::Time {
                unit: second(&kind.unit),
            }),
            Some(LogicalType::Time(kind)) => Some(Held::TimeOfDay {
                unit: second(&kind.unit),
            }),
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Some(Held::Text),
            Some(LogicalType::Uuid) => Some(Held::Uuid),
            Some(LogicalType::Float16) => Some(Held::HalfFloat),
            // A column of nothing but nulls.
            Some(LogicalType::Unknown) | None => Held::converted(column),
            Some(_) => None,
        };
        held.ok_or_else(|| {
            let kind = match column.logical_type_ref() {
                Some(kind) => format!("{kind:?}"),
                None => column.converted_type().to_string(),
            };
            format!(
                "column '{name}' holds {kind}, of which no feature can be made; --ignore '{name}'"
            )
        })
    }

    /// By the types of older files, and by how the values are stored.
    fn converted(column: &ColumnDescriptor) -> Option<Held> {
        Some(match (column.converted_type(), column.physical_type()) {
            (
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
                _,
            ) => Held::Unsigned,
            (ConvertedType::DECIMAL, _) => Held::Decimal {
                scale: column.type_scale(),
            },
            (ConvertedType::DATE, _) => Held::Time { unit: DAY },
            (ConvertedType::TIMESTAMP_MILLIS, _) => Held::Time { unit: 1e-3 },
            (ConvertedType::TIMESTAMP_MICROS, _) => Held::Time { unit: 1e-6 },
            (ConvertedType::TIME_MILLIS, _) => Held::TimeOfDay { unit: 1e-3 },
            (ConvertedType::TIME_MICROS, _) => Held::TimeOfDay { unit: 1e-6 },
            (_, Type::BOOLEAN) => Held::Boolean,
            (_, Type::INT32 | Type::INT64) => Held::Signed,
            (_, Type::INT96) => Held::Time { unit: 1.0 },
            (_, Type::FLOAT | Type::DOUBLE) => Held::Float,
            (ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON, _) => Held::Text,
            (ConvertedType::NONE, Type::BYTE_ARRAY) => Held::Text,
            _ => return None,
        })
    }
}

/// value · 10^-scale: the nearest number to the decimal text.
pub(super) fn decimal(value: i128, scale: i32) -> f64 {
    let text = format!("{value}e{}", -i64::from(scale));
    fast_float2::parse(text).unwrap_or(f64::NAN)
}

/// A 16-bit float: a sign, five bits of exponent, ten of fraction.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_half_floats_by_hand() {
        assert_eq!(decimal(12345, 2), 123.45);
        assert_eq!(decimal(-1, 3), -0.001);
        assert_eq!(decimal(5, -3), 5000.0);
        // 1, -2, the smallest, the largest (IEEE 754).
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 2f64.powi(-24)),
            (0x7bff, 65504.0),
            (0x3555, 0.333251953125),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan() && half(0x7c00).is_infinite());
    }
}
