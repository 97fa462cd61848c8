//! Figures as SVG: no scripts, no style sheet, no fonts but those of the viewer; a white ground, since the viewer's may
//! be dark. Series differ in colour (those of Okabe and Ito, distinct to the colour-blind) and in form: filled, then
//! hollow.

use super::figure::{Figure, Panel, PanelRow, PanelValue, Span};
use super::text::{clip, wrap};
use super::{DASH, escape_markup};

const INK: &str = "#222222";
const FAINT: &str = "#767676";
const GRID: &str = "#d9d9d9";
const STRIPE: &str = "#f4f4f4";
/// Of series, in order; used again after the last.
const COLOURS: [&str; 6] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
];

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
/// Size, colour and whether it is bold.
type Font = (f64, &'static str, bool);
const PLAIN: Font = (11.0, INK, false);
const SMALL: Font = (10.0, FAINT, false);
const NUMBER: Font = (9.0, FAINT, false);
const MARK: Font = (11.0, INK, true);
const PANEL_TITLE: Font = (12.5, INK, true);
const TITLE: Font = (16.0, INK, true);

/// Where a text stands: it begins, is centred or ends there.
const START: &str = "start";
const MIDDLE: &str = "middle";
const END: &str = "end";

/// Columns of text of a name before it is cut.
const NAME: usize = 26;
/// Width of a letter at 11 px, on the wide side.
const LETTER: f64 = 6.8;
/// Panels side by side.
const ACROSS: usize = 3;
const PANEL: f64 = 240.0;
/// Right of a panel; marks of its rows stand there.
const GUTTER: f64 = 34.0;
const MARGIN: f64 = 16.0;
/// Above a panel for its title, below for ticks and label.
const ABOVE: f64 = 26.0;
const BELOW: f64 = 46.0;
/// Inside a panel, before and after its axis; after bars, for the labels at their ends.
const PAD: f64 = 8.0;
const LABEL: f64 = 44.0;
/// From one series of a row to the next.
const SERIES: f64 = 9.0;
/// Height of a bar.
const BAR: f64 = 7.0;

/// A file of its own.
pub fn render(figure: &Figure) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
        inline(figure)
    )
}

/// The element alone, for an HTML page.
pub(super) fn inline(figure: &Figure) -> String {
    let longest = figure.rows.iter().map(|name| name.chars().count()).max();
    let left = MARGIN + LETTER * longest.unwrap_or(0).min(NAME) as f64 + 10.0;
    let across = figure.panels.len().clamp(1, ACROSS);
    // Never too narrow for a legend.
    let width = (left + across as f64 * (PANEL + GUTTER)).max(620.0) + MARGIN / 2.0;
    let mut drawing = Drawing {
        figure,
        row: 3.0 + SERIES * figure.series.len().max(1) as f64,
        width,
        body: String::new(),
    };
    let mut y = drawing.head();
    for panels in figure.panels.chunks(ACROSS) {
        y += ABOVE;
        for (i, name) in figure.rows.iter().enumerate() {
            let base = y + drawing.row * (i as f64 + 0.5) + 4.0;
            drawing.text([left - 8.0, base], END, PLAIN, &clip(name, NAME));
        }
        for (i, panel) in panels.iter().enumerate() {
            drawing.panel(panel, [left + i as f64 * (PANEL + GUTTER), y]);
        }
        y += drawing.row * figure.rows.len() as f64 + BELOW;
    }
    if figure.panels.is_empty() {
        drawing.text([MARGIN, y + 16.0], START, PLAIN, "nothing yet");
        y += 30.0;
    }
    for note in &figure.notes {
        y = drawing.paragraph(note, y, SMALL);
    }
    let (height, body) = (y + MARGIN, drawing.body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONT}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        escape_markup(&figure.title),
        escape_markup(&figure.alternative),
    )
}

/// Elements, from top to bottom.
struct Drawing<'a> {
    figure: &'a Figure,
    /// Height of a row.
    row: f64,
    width: f64,
    body: String,
}

/// Where a panel is, and the range of its axis.
struct Frame {
    x: f64,
    length: f64,
    span: Span,
}

impl Frame {
    fn at(&self, value: f64) -> Option<f64> {
        Some(self.x + PAD + self.span.at(value)? * self.length)
    }
}

impl Drawing<'_> {
    fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], colour: &str, width: f64) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>\n"
        );
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {fill}/>\n"
        );
    }

    /// A circle for even series, a diamond for odd ones.
    fn dot(&mut self, [x, y]: [f64; 2], series: usize) {
        let fill = fill(series);
        self.body += &match series % 2 {
            0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" {fill}/>\n"),
            _ => {
                let corners = [(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)];
                let corners = corners.map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
                format!("<polygon points=\"{}\" {fill}/>\n", corners.join(" "))
            }
        };
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, (size, colour, bold): Font, text: &str) {
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{colour}\"{weight}>\
             {}</text>\n",
            escape_markup(text)
        );
    }

    /// Lines over the whole width; their lower edge.
    fn paragraph(&mut self, text: &str, mut y: f64, font: Font) -> f64 {
        let columns = (self.width - 2.0 * MARGIN) / (0.6 * font.0);
        for line in wrap(text, Some(columns as usize)) {
            y += font.0 + 3.0;
            self.text([MARGIN, y], START, font, &line);
        }
        y
    }

    /// What `draw` draws has a description, which the pointer shows.
    fn described(&mut self, description: &str, draw: impl FnOnce(&mut Self)) {
        self.body += &format!("<g><title>{}</title>\n", escape_markup(description));
        draw(self);
        self.body += "</g>\n";
    }

    /// Title and legend; the lower edge of both.
    fn head(&mut self) -> f64 {
        let figure = self.figure;
        let mut y = self.paragraph(&figure.title, MARGIN, TITLE) + 24.0;
        let mut x = MARGIN;
        for (i, name) in figure.series.iter().enumerate() {
            let name = clip(name, 3 * NAME);
            let wide = 30.0 + LETTER * name.chars().count() as f64;
            if x > MARGIN && x + wide > self.width {
                x = MARGIN;
                y += 18.0;
            }
            let middle = y - 4.0;
            match figure.axis.bars_from {
                Some(_) => self.rect([x, middle - BAR / 2.0, 18.0, BAR], &fill(i)),
                None => {
                    self.line([x, middle, x + 18.0, middle], colour(i), 1.6);
                    self.dot([x + 9.0, middle], i);
                }
            }
            self.text([x + 24.0, y], START, PLAIN, &name);
            x += wide;
        }
        y + 10.0
    }

    /// `x` and `y` are the upper left corner of the rows.
    fn panel(&mut self, panel: &Panel, [x, y]: [f64; 2]) {
        let Figure { axis, rows, .. } = self.figure;
        self.described(&panel.title, |drawing| {
            let title = clip(&panel.title, NAME + 8);
            drawing.text([x, y - 8.0], START, PANEL_TITLE, &title);
        });
        let values = panel
            .rows
            .iter()
            .flat_map(|row| row.values.iter().flatten());
        let ends = values.flat_map(|v| v.interval.into_iter().flatten().chain([v.value]));
        let after = if axis.bars_from.is_some() { LABEL } else { PAD };
        let frame = Frame {
            x,
            length: PANEL - PAD - after,
            span: axis.span(ends),
        };
        for i in (0..rows.len()).step_by(2) {
            let top = y + self.row * i as f64;
            self.rect([x, top, PANEL, self.row], &format!("fill=\"{STRIPE}\""));
        }
        let bottom = y + self.row * rows.len() as f64;
        for (value, label) in frame.span.ticks() {
            if let Some(at) = frame.at(value) {
                self.line([at, y, at, bottom + 4.0], GRID, 1.0);
                self.text([at, bottom + 15.0], MIDDLE, SMALL, &label);
            }
        }
        self.line([x, bottom, x + PANEL, bottom], FAINT, 1.0);
        let label = clip(&axis.label, 44);
        self.text([x + PANEL / 2.0, bottom + 29.0], MIDDLE, SMALL, &label);
        if let Some(zero) = axis.bars_from.and_then(|from| frame.at(from)) {
            self.line([zero, y, zero, bottom], FAINT, 1.0);
        }
        let drawn = |(_, row): &(usize, &PanelRow)| **row != PanelRow::default();
        for (i, row) in panel.rows.iter().take(rows.len()).enumerate().filter(drawn) {
            self.described(&row.description, |drawing| {
                drawing.panel_row(row, &frame, y + drawing.row * i as f64);
            });
        }
    }

    fn panel_row(&mut self, row: &PanelRow, frame: &Frame, top: f64) {
        // Not seen, but the pointer finds it.
        let all = [frame.x, top, PANEL + GUTTER - 8.0, self.row];
        self.rect(all, "fill=\"#ffffff\" fill-opacity=\"0\"");
        let place = [frame.x + PANEL + 4.0, top + self.row / 2.0 + 4.0];
        self.text(place, START, MARK, &clip(&row.mark, 4));
        let zero = self.figure.axis.bars_from.and_then(|from| frame.at(from));
        for (series, value) in row.values.iter().enumerate() {
            let middle = top + 1.5 + SERIES * (series as f64 + 0.5);
            let drawn = value.as_ref().and_then(|v| Some((v, frame.at(v.value)?)));
            match (drawn, zero) {
                (Some((value, end)), Some(zero)) => {
                    // A bar without length is still seen.
                    let (left, right) = (zero.min(end) - 0.6, zero.max(end) + 0.6);
                    let bar = [left, middle - BAR / 2.0, right - left, BAR];
                    self.rect(bar, &fill(series));
                    self.text([right + 3.0, middle + 3.5], START, NUMBER, &value.label);
                }
                (Some((PanelValue { interval, .. }, end)), None) => {
                    if let Some([Some(low), Some(high)]) = interval.map(|i| i.map(|e| frame.at(e)))
                    {
                        self.line([low, middle, high, middle], colour(series), 1.6);
                    }
                    self.dot([end, middle], series);
                }
                (None, Some(zero)) => {
                    self.text([zero + 4.0, middle + 3.5], START, NUMBER, DASH);
                }
                (None, None) => (),
            }
        }
    }
}

fn colour(series: usize) -> &'static str {
    COLOURS[series % COLOURS.len()]
}

/// Even series are filled, odd ones hollow.
fn fill(series: usize) -> String {
    let colour = colour(series);
    match series % 2 {
        0 => format!("fill=\"{colour}\""),
        _ => format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.4\""),
    }
}
