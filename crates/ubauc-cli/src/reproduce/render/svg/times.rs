//! Times as multiples of ol-ubauc's, on a logarithmic scale: bars from 1 to the ratio.

use super::super::words::{DASH, ratio, seconds};
use super::super::{REFERENCE, TimeTableView, TimeView};
use super::{Anchor, Entry, FAINT, Figure, Font, OURS, PANEL, PAPER, SMALL, Svg, ticks};

/// Height of a bar.
const BAR: f64 = 7.0;
/// Left of the scale; right of it, for the number at a bar's end.
const PAD: f64 = 8.0;
const NUMBER: f64 = 44.0;
const NUMBERS: Font = Font { size: 9.0, ..SMALL };

/// What is timed: a pass, or all until the objective stands still.
#[derive(Clone, Copy)]
enum What {
    Pass,
    Total,
}

impl What {
    /// Ours, then the paper's.
    fn ratios(self, time: &TimeView) -> [Option<f64>; 2] {
        match self {
            What::Pass => [time.ratios.pass, time.ratios.paper_pass],
            What::Total => [time.ratios.total, time.ratios.paper_total],
        }
    }

    fn seconds(self, time: &TimeView) -> [Option<f64>; 2] {
        match self {
            What::Pass => [time.seconds_per_pass, time.paper_pass],
            What::Total => [time.seconds_to_still, time.paper_total],
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::Pass => "per pass",
            What::Total => "until still",
        }
    }
}

/// Two panels per data set, side by side in the order of the data sets.
pub(in super::super) fn times(table: &TimeTableView) -> String {
    let panels: Vec<(&String, What)> = table
        .datasets
        .chunks(super::ACROSS)
        .flat_map(|sets| {
            let both = [What::Pass, What::Total].into_iter();
            both.flat_map(move |what| sets.iter().map(move |set| (set, what)))
        })
        .collect();
    let names = panels
        .iter()
        .map(|(set, what)| format!("{set}, {}", what.name()));
    let figure = Figure {
        title: &table.title,
        legend: legend(),
        columns: &table.columns,
        panels: names.collect(),
        notes: &table.notes,
    };
    figure.draw(|svg, i, place| {
        let (dataset, what) = panels[i];
        let all = table
            .row(dataset)
            .flat_map(|time| what.ratios(time))
            .flatten();
        let scale = Scale::of(all);
        let marks: Vec<(f64, String)> = scale
            .ticks()
            .into_iter()
            .map(|(value, label)| (place.x + scale.x(value), label))
            .collect();
        ticks(svg, place, &marks);
        let one = place.x + scale.x(1.0);
        svg.line([one, place.y, one, place.y + place.height], FAINT, 1.0);
        for (row, column) in table.columns.iter().enumerate() {
            if let Some(time) = table.time(dataset, column) {
                bars(svg, time, what, [place.x, place.row(row)], scale);
            }
        }
    })
}

fn legend() -> Vec<Entry> {
    let entry = |draw: fn(&mut Svg, f64, f64), text: String| Entry { draw, text };
    vec![
        entry(
            |svg, x, y| svg.rect([x, y - BAR / 2.0, 18.0, BAR], OURS),
            format!("ours, as a multiple of {REFERENCE}'s time"),
        ),
        entry(
            |svg, x, y| svg.outline([x, y - BAR / 2.0, 18.0, BAR], PAPER),
            "the paper's".to_string(),
        ),
    ]
}

/// Ours filled above, the paper's an outline below.
fn bars(svg: &mut Svg, time: &TimeView, what: What, [left, y]: [f64; 2], scale: Scale) {
    svg.titled(&title(time, what), |svg| {
        svg.target([left, y - 10.0, PANEL, 20.0]);
        let one = left + scale.x(1.0);
        for (paper, value) in [false, true].into_iter().zip(what.ratios(time)) {
            let top = if paper { y + 0.8 } else { y - 0.8 - BAR };
            let Some(value) = value else {
                svg.text(one + 4.0, top + BAR, Anchor::Start, NUMBERS, DASH);
                continue;
            };
            let end = left + scale.x(value);
            // A ratio of 1 has no length, but is there.
            let (from, to) = (one.min(end) - 0.6, one.max(end) + 0.6);
            let place = [from, top, to - from, BAR];
            match paper {
                true => svg.outline(place, PAPER),
                false => svg.rect(place, OURS),
            }
            let text = ratio(Some(value));
            svg.text(to + 3.0, top + BAR, Anchor::Start, NUMBERS, &text);
        }
    });
}

fn title(time: &TimeView, what: What) -> String {
    let [ours, paper] = what.ratios(time).map(ratio);
    let [our_seconds, paper_seconds] = what.seconds(time).map(seconds);
    let mut text = format!(
        "{}, {}, {}: ours {ours} ({our_seconds} s), paper {paper} ({paper_seconds} s)",
        time.dataset,
        time.column,
        what.name(),
    );
    if let What::Total = what {
        if let Some(passes) = time.passes_to_still {
            text += &format!("; {passes} passes");
        }
        if let Some(stopped) = &time.stopped {
            text += &format!("; {stopped}");
        }
    }
    text
}

/// Decimal logarithms of ratios to pixels inside a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// All ratios and 1, and at least half a decade.
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (0.0_f64, 0.5_f64);
        for ratio in ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0) {
            low = low.min(ratio.log10());
            high = high.max(ratio.log10());
        }
        Self { low, high }
    }

    fn x(self, ratio: f64) -> f64 {
        let share = (ratio.log10().clamp(self.low, self.high) - self.low) / (self.high - self.low);
        PAD + share * (PANEL - PAD - NUMBER)
    }

    /// Powers of ten, every other one where they are many; 2 and 5 between where they are few.
    fn ticks(self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let digits: &[f64] = if span < 1.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (span / 5.0).ceil().max(1.0) as i32;
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let powers = powers.filter(|power| power % every == 0);
        let values = powers.flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
        let inside = (self.low - 1e-9)..=(self.high + 1e-9);
        values
            .filter(|value| inside.contains(&value.log10()))
            .map(|value| (value, format!("{}×", label(value))))
            .collect()
    }
}

fn label(value: f64) -> String {
    if (1e-4..1e5).contains(&value) {
        // Off by a rounding of powi below 1.
        format!("{value:.4}")
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_string()
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let ticks = Scale { low, high }.ticks();
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn scale_has_one_and_every_ratio() {
        let scale = Scale::of([0.5, 120.0, f64::NAN, 0.0].into_iter());
        assert!(scale.low == 0.5_f64.log10() && scale.high == 120_f64.log10());
        assert_eq!(
            Scale::of([].into_iter()),
            Scale {
                low: 0.0,
                high: 0.5
            }
        );
        assert_eq!(scale.x(0.5), PAD);
        assert!((scale.x(120.0) - (PANEL - NUMBER)).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_powers_of_ten_or_finer() {
        assert_eq!(labels(0.0, 2.1), ["1×", "10×", "100×"]);
        assert_eq!(labels(-0.4, 0.9), ["0.5×", "1×", "2×", "5×"]);
        assert_eq!(
            labels(-6.0, 6.0),
            ["1e-6×", "0.001×", "1×", "1000×", "1e6×"]
        );
        for k in 1..=80 {
            let found = labels(0.0, f64::from(k) / 8.0);
            assert!((1..=6).contains(&found.len()), "{k}: {found:?}");
        }
    }
}
