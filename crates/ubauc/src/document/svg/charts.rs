//! The charts inside the panels of a figure.

use super::super::DASH;
use super::super::figure::{Axis, Chart, CurveChart, CurveStyle, Panel, RowChart, RowStyle, Span};
use super::super::text::clip;
use super::{
    BAR, CURVES, Drawing, END, Font, MARK, MIDDLE, NAME, PANEL, PANEL_TITLE, PLAIN, Paint, SMALL,
    START, Sign, paint_of,
};

/// Inside a panel, before and after its axis; after bars, for the labels at their ends.
const PAD: f64 = 8.0;
const LABEL: f64 = 44.0;
/// From one series of a row to the next.
const SERIES: f64 = 9.0;
const NUMBER: Font = Font { size: 9.0, ..SMALL };

pub(super) fn row_height(chart: &RowChart) -> f64 {
    3.0 + SERIES * chart.series.len().max(1) as f64
}

impl Drawing {
    /// `at` is the upper left corner of the chart; `names`: those of rows are written to its left.
    pub(super) fn panel(
        &mut self,
        panel: &Panel,
        at: [f64; 2],
        names: bool,
        legend: &[(&str, Sign)],
    ) {
        self.described(&panel.title, |drawing| {
            let title = clip(&panel.title, NAME + 8);
            drawing.text([at[0], at[1] - 8.0], START, PANEL_TITLE, &title);
        });
        match &panel.chart {
            Chart::Curves(chart) => self.curves(chart, at, legend),
            Chart::Rows(chart) => self.rows(chart, at, names, legend),
        }
    }

    fn curves(&mut self, chart: &CurveChart, [x, y]: [f64; 2], legend: &[(&str, Sign)]) {
        let points = || chart.curves.iter().flat_map(|curve| &curve.points);
        let xs = chart.x.span(points().map(|point| point[0]));
        let ys = chart.y.span(points().map(|point| point[1]));
        let bottom = y + CURVES;
        self.ticks(&chart.x, &xs, [x, y], CURVES, |share| x + share * PANEL);
        for (value, label) in ys.ticks() {
            let at = bottom - ys.at(value).unwrap_or(0.0) * CURVES;
            self.line([x, at, x + PANEL, at], Paint::Grid, 1.0);
            self.text([x - 6.0, at + 4.0], END, SMALL, &label);
        }
        self.line([x, y, x, bottom], Paint::Faint, 1.0);
        self.text(
            [x + 4.0, y + 11.0],
            START,
            SMALL,
            &clip(&chart.y.label, NAME),
        );
        for curve in &chart.curves {
            let paint = paint_of(legend, &curve.name);
            let places = curve.points.iter().filter_map(|[a, b]| {
                let (across, up) = (xs.at(*a)?, ys.at(*b)?);
                Some([x + across * PANEL, bottom - up * CURVES])
            });
            self.described(&curve.name, |drawing| match curve.style {
                CurveStyle::Points => places.for_each(|place| drawing.dot(place, paint)),
                CurveStyle::Line => {
                    let points = places.map(|[x, y]| format!("{x:.1},{y:.1}"));
                    let points = points.collect::<Vec<_>>().join(" ");
                    let stroke = paint.stroke(1.6);
                    drawing.body += &format!("<polyline points=\"{points}\" {stroke}/>\n");
                }
            });
        }
    }

    fn rows(&mut self, chart: &RowChart, [x, y]: [f64; 2], names: bool, legend: &[(&str, Sign)]) {
        let row = row_height(chart);
        let all = chart
            .series
            .iter()
            .flat_map(|series| series.values.iter().flatten());
        let ends = all.flat_map(|v| {
            [v.value]
                .into_iter()
                .chain(v.interval.into_iter().flatten())
        });
        let (from, after) = match chart.style {
            RowStyle::Dots => (None, PAD),
            RowStyle::BarsFrom(from) => (Some(from), LABEL),
        };
        let span = chart.axis.span(ends.chain(from));
        let place = |share: f64| x + PAD + share * (PANEL - PAD - after);
        for (i, name) in chart.names.iter().enumerate() {
            let top = y + row * i as f64;
            if i % 2 == 0 {
                self.rect([x, top, PANEL, row], &Paint::Stripe.fill());
            }
            let base = top + row / 2.0 + 4.0;
            if names {
                self.text([x - 8.0, base], END, PLAIN, &clip(name, NAME));
            }
            if let Some(mark) = chart.marks.get(i) {
                self.text([x + PANEL + 4.0, base], START, MARK, &clip(mark, 4));
            }
        }
        let height = row * chart.names.len() as f64;
        self.ticks(&chart.axis, &span, [x, y], height, place);
        let zero = from.and_then(|from| span.at(from)).map(place);
        if let Some(zero) = zero {
            self.line([zero, y, zero, y + height], Paint::Faint, 1.0);
        }
        let at = |value: f64| span.at(value).map(place);
        for (j, series) in chart.series.iter().enumerate() {
            let paint = paint_of(legend, &series.name);
            for (i, (name, value)) in chart.names.iter().zip(&series.values).enumerate() {
                let middle = y + row * i as f64 + 1.5 + SERIES * (j as f64 + 0.5);
                let Some((value, end)) = value.as_ref().and_then(|v| Some((v, at(v.value)?)))
                else {
                    if let Some(zero) = zero {
                        self.text([zero + 4.0, middle + 3.5], START, NUMBER, DASH);
                    }
                    continue;
                };
                let label = &value.label;
                self.described(
                    &format!("{name}, {}: {label}", series.name),
                    |drawing| match (zero, value.interval.map(|ends| ends.map(at))) {
                        (Some(zero), _) => drawing.bar([zero, end, middle], paint, label),
                        (None, Some([Some(low), Some(high)])) => {
                            drawing.line([low, middle, high, middle], paint, 1.6);
                            drawing.dot([end, middle], paint);
                        }
                        (None, _) => drawing.dot([end, middle], paint),
                    },
                );
            }
        }
    }

    fn bar(&mut self, [zero, end, middle]: [f64; 3], paint: Paint, label: &str) {
        // A bar without length is still seen.
        let (left, right) = (zero.min(end) - 0.6, zero.max(end) + 0.6);
        let place = [left, middle - BAR / 2.0, right - left, BAR];
        self.rect(place, &paint.form());
        self.text([right + 3.0, middle + 3.5], START, NUMBER, label);
    }

    /// Grid lines of the horizontal axis with labels below, and what it measures.
    fn ticks(
        &mut self,
        axis: &Axis,
        span: &Span,
        [x, y]: [f64; 2],
        height: f64,
        place: impl Fn(f64) -> f64,
    ) {
        let bottom = y + height;
        for (value, label) in span.ticks() {
            let at = place(span.at(value).unwrap_or(0.0));
            self.line([at, y, at, bottom + 4.0], Paint::Grid, 1.0);
            self.text([at, bottom + 15.0], MIDDLE, SMALL, &label);
        }
        self.line([x, bottom, x + PANEL, bottom], Paint::Faint, 1.0);
        self.text(
            [x + PANEL / 2.0, bottom + 29.0],
            MIDDLE,
            SMALL,
            &clip(&axis.label, 44),
        );
    }
}
