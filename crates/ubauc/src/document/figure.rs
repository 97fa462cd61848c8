//! Figures: what is drawn, not how.

/// Panels with the same rows and series, each on its own range of the axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// Heading.
    pub title: String,
    /// What a reader who does not see it should know.
    pub alternative: String,
    /// A file with this picture, which Markdown shows.
    pub file: Option<String>,
    /// Names of rows, from top to bottom.
    pub rows: Vec<String>,
    /// Names of series, which are above one another in each row.
    pub series: Vec<String>,
    /// From left to right.
    pub axis: Axis,
    /// Three side by side.
    pub panels: Vec<Panel>,
    /// Remarks below the panels.
    pub notes: Vec<String>,
}

/// One chart of a [`Figure`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// Heading.
    pub title: String,
    /// One per row of the figure; a default one is left blank.
    pub rows: Vec<PanelRow>,
}

/// One row of a [`Panel`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PanelRow {
    /// All that is known about it, shown under the pointer.
    pub description: String,
    /// Sign to the right of it.
    pub mark: String,
    /// One per series.
    pub values: Vec<Option<PanelValue>>,
}

/// A value that is drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PanelValue {
    /// Not drawn unless finite.
    pub value: f64,
    /// Drawn as a line through a dot.
    pub interval: Option<[f64; 2]>,
    /// Written at the end of a bar.
    pub label: String,
}

/// How values become places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences, equal distances.
    #[default]
    Linear,
    /// Equal ratios, equal distances; values of 0 and below are not drawn.
    Log,
}

/// The horizontal axis. It spans what is drawn and what it must include, within its limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// Values are bars from here; dots if `None`.
    pub bars_from: Option<f64>,
    /// A value to be on the axis whatever is drawn.
    pub include: Option<f64>,
    /// Lowest and highest possible value: what is beyond is drawn at the border.
    pub limits: Option<[f64; 2]>,
}

/// Values up to this size are drawn; beyond it differences could overflow.
const LARGEST: f64 = 1e300;
/// Ticks are at most one more.
const STEPS: f64 = 5.0;

/// An axis with its range: places from 0 to 1.
pub(crate) struct Span {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// The range of these values.
    pub(crate) fn span(&self, values: impl Iterator<Item = f64>) -> Span {
        let scale = self.scale;
        let all = values.chain(self.include).chain(self.bars_from);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in all.filter_map(|value| scale.place(value)) {
            low = low.min(place);
            high = high.max(place);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if let Some([least, most]) = self.limits {
            let [least, most] = [least, most].map(|limit| scale.place(limit));
            let clamped = |x: f64| x.max(least.unwrap_or(x)).min(most.unwrap_or(x));
            (low, high) = (clamped(low), clamped(high));
        }
        // A single value is put in the middle.
        let least = 1e-6 * low.abs().max(high.abs()).max(1e-300);
        if high - low < least {
            let widen = if low == 0.0 { 0.5 } else { 0.01 * low.abs() };
            (low, high) = (low - widen, high + widen);
        }
        Span { scale, low, high }
    }
}

impl Scale {
    /// Where a value is before the axis is scaled; none where it cannot be drawn.
    fn place(self, value: f64) -> Option<f64> {
        let place = match self {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => return None,
        };
        (place.abs() <= LARGEST).then_some(place)
    }
}

impl Span {
    /// From 0 to 1; what is beyond the ends is put there.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let place = self.scale.place(value)?;
        Some(((place - self.low) / (self.high - self.low)).clamp(0.0, 1.0))
    }

    /// Round values with their labels, at most six.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let size = self.high - self.low;
        match self.scale {
            Scale::Linear => self.multiples(round_step(size / STEPS)),
            Scale::Log if size < 1.5 => self.powers(1, &[1.0, 2.0, 5.0]),
            Scale::Log => self.powers((size / STEPS).ceil() as i32, &[1.0]),
        }
    }

    fn multiples(&self, step: f64) -> Vec<(f64, String)> {
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let values = (first..=last).map(|k| k as f64 * step);
        let largest = self.low.abs().max(self.high.abs());
        let label = |value: f64| match decimals > 6 || largest >= 1e6 {
            true => format!("{value:e}", value = value as f32),
            false => format!("{value:.decimals$}"),
        };
        values.map(|value| (value, label(value))).collect()
    }

    fn powers(&self, every: i32, digits: &[f64]) -> Vec<(f64, String)> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let powers = powers.filter(|power| power % every == 0);
        let values = powers.flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
        let inside = (self.low - 1e-9)..=(self.high + 1e-9);
        let inside = values.filter(|value| inside.contains(&value.log10()));
        let label = |value: f64| match (1e-4..1e5).contains(&value) {
            // As f32, which hides the rounding of powi.
            true => (value as f32).to_string(),
            false => format!("{value:.0e}"),
        };
        inside.map(|value| (value, label(value))).collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
    let found = steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    found.unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(scale: Scale, values: &[f64]) -> Span {
        let axis = Axis {
            scale,
            ..Axis::default()
        };
        axis.span(values.iter().copied())
    }

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let ticks = span(scale, values).ticks();
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_few() {
        let linear = |low, high| labels(Scale::Linear, &[low, high]);
        assert_eq!(linear(0.8605, 1.0), ["0.90", "0.95", "1.00"]);
        assert_eq!(linear(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(linear(-1.0, 1.0), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(linear(0.0, 1e7), ["0e0", "2e6", "4e6", "6e6", "8e6", "1e7"]);
        for k in 1..=1000 {
            let found = linear(1.0 - f64::from(k) / 1000.0, 1.0);
            assert!((1..=6).contains(&found.len()), "{k}: {found:?}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_or_finer() {
        let log = |low: f64, high: f64| labels(Scale::Log, &[10f64.powf(low), 10f64.powf(high)]);
        assert_eq!(log(0.0, 2.1), ["1", "10", "100"]);
        assert_eq!(log(-0.4, 0.9), ["0.5", "1", "2", "5"]);
        assert_eq!(log(-6.0, 6.0), ["1e-6", "0.001", "1", "1000", "1e6"]);
        for k in 4..=80 {
            let found = log(0.0, f64::from(k) / 8.0);
            assert!((1..=6).contains(&found.len()), "{k}: {found:?}");
        }
    }

    #[test]
    fn any_values_have_a_span() {
        let odd = [
            vec![],
            vec![0.0],
            vec![-3.0],
            vec![1e-320],
            vec![f64::NAN, f64::INFINITY],
            vec![f64::MAX, f64::MIN],
            vec![-1e300, 1e300],
            vec![1.0, 1.0 + 1e-15],
        ];
        for values in odd {
            for scale in [Scale::Linear, Scale::Log] {
                let span = span(scale, &values);
                assert!(span.low < span.high, "{values:?}");
                assert!(span.ticks().len() <= 6, "{values:?}");
                for place in values.iter().filter_map(|value| span.at(*value)) {
                    assert!((0.0..=1.0).contains(&place), "{values:?}");
                }
            }
        }
    }

    #[test]
    fn limits_hold() {
        let axis = Axis {
            limits: Some([0.0, 1.0]),
            ..Axis::default()
        };
        let span = axis.span([0.9, 1.04].into_iter());
        assert_eq!((span.low, span.high), (0.9, 1.0));
        assert_eq!(span.at(1.04), Some(1.0));
    }
}
