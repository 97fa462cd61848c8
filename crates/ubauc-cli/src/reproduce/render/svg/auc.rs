//! AUC as dots with bars of two standard deviations to each side, every panel on its own scale.

use super::super::words::{DASH, difference, mean_std, paper, runs};
use super::super::{CellView, TableView};
use super::{
    Anchor, Entry, FAINT, Figure, Font, GUTTER, OURS, PANEL, PAPER, PLAIN, Place, SMALL, Svg, ticks,
};

/// Ours is so much above the middle of a row, the paper's below.
const APART: f64 = 4.5;
/// Inside a panel, left and right of the scale.
const PAD: f64 = 8.0;

pub(in super::super) fn auc(table: &TableView) -> String {
    let figure = Figure {
        title: &table.title,
        legend: legend(),
        columns: &table.columns,
        panels: table.datasets.clone(),
        notes: &table.notes,
    };
    figure.draw(|svg, i, place| {
        let dataset = &table.datasets[i];
        let scale = Scale::of(table.row(dataset));
        let marks: Vec<(f64, String)> = scale
            .ticks()
            .into_iter()
            .map(|(value, label)| (place.x + scale.x(value), label))
            .collect();
        ticks(svg, place, &marks);
        for (row, column) in table.columns.iter().enumerate() {
            if let Some(found) = table.cell(dataset, column) {
                cell(svg, found, place, place.row(row), scale);
            }
        }
    })
}

fn legend() -> Vec<Entry> {
    let entry = |draw: fn(&mut Svg, f64, f64), text: &str| Entry {
        draw,
        text: text.to_string(),
    };
    vec![
        entry(
            |svg, x, y| {
                svg.line([x, y, x + 18.0, y], OURS, 1.6);
                svg.circle(x + 9.0, y);
            },
            "ours, mean ± 2 std",
        ),
        entry(
            |svg, x, y| {
                svg.line([x, y, x + 18.0, y], PAPER, 1.6);
                svg.diamond(x + 9.0, y);
            },
            "the paper, mean ± 2 std",
        ),
        entry(|svg, x, y| mark(svg, x + 9.0, y, "*"), "highest of ours"),
        entry(
            |svg, x, y| mark(svg, x + 9.0, y, "!"),
            "outside the paper's mean ± 2 std",
        ),
    ]
}

fn mark(svg: &mut Svg, x: f64, y: f64, text: &str) {
    let bold = Font {
        bold: true,
        ..PLAIN
    };
    svg.text(x, y + 4.0, Anchor::Middle, bold, text);
}

fn cell(svg: &mut Svg, cell: &CellView, place: Place, y: f64, scale: Scale) {
    svg.titled(&title(cell), |svg| {
        // Something to point at along the whole row.
        svg.target([place.x, y - 10.0, PANEL + GUTTER - 8.0, 20.0]);
        let at = |value: f64| place.x + scale.x(value);
        if let Some([mean, std]) = cell.paper {
            let (low, high) = (at(mean - 2.0 * std), at(mean + 2.0 * std));
            svg.line([low, y + APART, high, y + APART], PAPER, 1.6);
            svg.diamond(at(mean), y + APART);
        }
        if let Some(mean) = cell.mean {
            let spread = 2.0 * cell.std.unwrap_or(0.0);
            let (low, high) = (at(mean - spread), at(mean + spread));
            svg.line([low, y - APART, high, y - APART], OURS, 1.6);
            svg.circle(at(mean), y - APART);
        } else {
            let colour = Font {
                colour: FAINT,
                ..SMALL
            };
            svg.text(place.x + PANEL + 4.0, y + 4.0, Anchor::Start, colour, DASH);
        }
        let right = place.x + PANEL;
        if cell.best {
            mark(svg, right + 8.0, y + 1.0, "*");
        }
        if cell.outside {
            mark(svg, right + 17.0, y, "!");
        }
    });
}

fn title(cell: &CellView) -> String {
    let mut text = format!(
        "{}, {}: ours {} ({} runs), paper {}, difference {}",
        cell.dataset,
        cell.column,
        mean_std(cell.mean, cell.std),
        runs(cell.runs, cell.wanted_runs),
        paper(cell.paper),
        difference(cell.difference),
    );
    for (name, value) in &cell.parameters {
        text += &format!("; {name} {value}");
    }
    if let Some(note) = &cell.note {
        text += &format!("; {note}");
    }
    text
}

/// AUC to pixels inside a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// All bars fit, but no bar beyond 0 and 1, which AUC cannot reach.
    fn of<'a>(cells: impl Iterator<Item = &'a CellView>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for cell in cells {
            let ours = cell.mean.map(|mean| [mean, cell.std.unwrap_or(0.0)]);
            for [mean, std] in [ours, cell.paper].into_iter().flatten() {
                low = low.min(mean - 2.0 * std);
                high = high.max(mean + 2.0 * std);
            }
        }
        if low > high {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
        let widen = (0.01 - (high - low)).max(0.0) / 2.0;
        Self {
            low: low - widen,
            high: high + widen,
        }
    }

    fn x(self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        PAD + share * (PANEL - 2.0 * PAD)
    }

    /// At most six round numbers inside, and at least one.
    fn ticks(self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let (step, digits) = [
            (0.001, 3),
            (0.002, 3),
            (0.005, 3),
            (0.01, 2),
            (0.02, 2),
            (0.05, 2),
            (0.1, 1),
            (0.2, 1),
        ]
        .into_iter()
        .find(|(step, _)| span / step <= 5.0 + 1e-9)
        .unwrap_or((0.5, 1));
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|k| {
                let value = k as f64 * step;
                let label = format!("{value:.digits$}");
                let label = label
                    .strip_prefix('0')
                    .map_or(label.clone(), str::to_string);
                (value, label)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(mean: f64, std: f64) -> CellView {
        CellView::new("a9a", "svm", Some(mean), Some(std), None)
    }

    #[test]
    fn scale_holds_all_bars_but_nothing_beyond_one() {
        let scale = Scale::of([cell(0.9, 0.02), cell(0.99, 0.02)].iter());
        assert!((scale.low - 0.86).abs() < 1e-12 && scale.high == 1.0);
        assert_eq!(scale.x(1.03), PANEL - PAD);
        assert_eq!(scale.x(scale.low), PAD);
    }

    #[test]
    fn one_point_and_none_have_a_scale() {
        let one = Scale::of([cell(1.0, 0.0)].iter());
        assert!(one.low < 1.0 && one.high > 1.0);
        assert_eq!(
            Scale::of([].iter()),
            Scale {
                low: 0.0,
                high: 1.0
            }
        );
    }

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |low, high| {
            let ticks = Scale { low, high }.ticks();
            ticks
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(0.8605, 1.0), [".90", ".95", "1.00"]);
        assert_eq!(labels(0.0, 1.0), [".0", ".2", ".4", ".6", ".8", "1.0"]);
        assert_eq!(
            labels(0.8976, 0.9076),
            [".898", ".900", ".902", ".904", ".906"]
        );
        for k in 1..=1000 {
            let span = f64::from(k) / 1000.0;
            let found = labels(1.0 - span, 1.0);
            assert!((1..=6).contains(&found.len()), "{span}: {found:?}");
        }
    }
}
