//! Charts as inline SVG: two axes and what is drawn between them.
//!
//! Colours are attributes, so that a chart can be taken out of its page, and classes, by which the style of the page replaces them
//! where the ground is dark. Series differ in colour (those of Okabe and Ito, distinct to the colour-blind) and in their
//! dashes. What the pointer is to find has a `<title>`.

use super::markup::escape;
use crate::document::{Axis, Span};

/// Letters of the text beside axes, in px of a chart that is 360 wide.
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
const SIZE: f64 = 11.0;

const INK: &str = "#1b1f24";
const FAINT: &str = "#5b6572";
const GRID: &str = "#dfe3e8";
/// Of series, in order.
pub(super) const COLOURS: [&str; 8] = [
    "#0072B2", "#B84F00", "#00805C", "#B0508E", "#8C6D00", "#2878A8", "#555555", "#000000",
];
/// Of the lines of series.
const DASHES: [&str; 8] = ["", "6 3", "2 2", "8 2 2 2", "1 3", "10 4", "4 1", "3 5"];

/// What a shape looks like.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    /// The colour of a series.
    Series(usize),
    /// Text and important lines.
    Ink,
    /// Help lines.
    Faint,
    /// What lies behind.
    Grid,
}

impl Paint {
    fn colour(self) -> &'static str {
        match self {
            Paint::Series(k) => COLOURS[k % COLOURS.len()],
            Paint::Ink => INK,
            Paint::Faint => FAINT,
            Paint::Grid => GRID,
        }
    }

    /// The attribute and the class, as a filling.
    pub(super) fn fill(self) -> String {
        format!("fill=\"{}\" class=\"f{}\"", self.colour(), self.class())
    }

    /// The same as a line.
    pub(super) fn stroke(self) -> String {
        format!("stroke=\"{}\" class=\"s{}\"", self.colour(), self.class())
    }

    fn class(self) -> String {
        match self {
            Paint::Series(k) => (k % COLOURS.len()).to_string(),
            Paint::Ink => "i".to_string(),
            Paint::Faint => "f".to_string(),
            Paint::Grid => "g".to_string(),
        }
    }
}

/// Where a text stands: it begins, is centred or ends there.
pub(super) const START: &str = "start";
pub(super) const MIDDLE: &str = "middle";
pub(super) const END: &str = "end";

/// Room around the plot.
#[derive(Clone, Copy)]
pub(super) struct Margins {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Default for Margins {
    fn default() -> Margins {
        Margins {
            left: 46.0,
            right: 12.0,
            top: 10.0,
            bottom: 40.0,
        }
    }
}

/// A drawing with its axes.
pub(super) struct Chart {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) margins: Margins,
    x: Span,
    y: Span,
    body: String,
}

impl Chart {
    /// The ranges are those of the axes with these values.
    pub(super) fn new([width, height]: [f64; 2], margins: Margins, x: Span, y: Span) -> Chart {
        Chart {
            width,
            height,
            margins,
            x,
            y,
            body: String::new(),
        }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        let Margins { left, right, .. } = self.margins;
        left + self.x.at(value).unwrap_or(0.0) * (self.width - left - right)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let bottom = self.bottom();
        bottom - self.y.at(value).unwrap_or(0.0) * (bottom - self.margins.top)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.height - self.margins.bottom
    }

    /// Grid, ticks and names of both axes.
    pub(super) fn axes(&mut self, x: &str, y: &str) {
        self.vertical(y);
        self.horizontal(x, true);
    }

    /// The horizontal one.
    pub(super) fn horizontal(&mut self, name: &str, has_grid: bool) {
        let bottom = self.bottom();
        for (value, label) in self.x.ticks() {
            let at = self.x(value);
            if has_grid {
                self.segment([at, self.margins.top], [at, bottom], Paint::Grid, 1.0);
            }
            self.text([at, bottom + 14.0], MIDDLE, Paint::Faint, &label);
        }
        let middle = (self.margins.left + self.width - self.margins.right) / 2.0;
        self.segment(
            [self.margins.left, bottom],
            [self.width - self.margins.right, bottom],
            Paint::Faint,
            1.0,
        );
        self.text([middle, bottom + 31.0], MIDDLE, Paint::Ink, name);
    }

    /// The vertical one; its name is turned.
    pub(super) fn vertical(&mut self, name: &str) {
        for (value, label) in self.y.ticks() {
            let at = self.y(value);
            let left = self.margins.left;
            self.segment(
                [left, at],
                [self.width - self.margins.right, at],
                Paint::Grid,
                1.0,
            );
            self.text([left - 5.0, at + 4.0], END, Paint::Faint, &label);
        }
        let middle = (self.margins.top + self.bottom()) / 2.0;
        self.body += &format!(
            "<text x=\"11\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 11 {middle:.1})\" {}>{}</text>\n",
            Paint::Ink.fill(),
            escape(name)
        );
    }

    /// A line between two places of the drawing.
    pub(super) fn segment(
        &mut self,
        [x1, y1]: [f64; 2],
        [x2, y2]: [f64; 2],
        paint: Paint,
        width: f64,
    ) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke-width=\"{width}\" {}/>\n",
            paint.stroke()
        );
    }

    /// The same in dashes.
    pub(super) fn dashed(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], paint: Paint) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke-dasharray=\"4 3\" {}/>\n",
            paint.stroke()
        );
    }

    /// A line through values.
    pub(super) fn line(&mut self, points: impl IntoIterator<Item = [f64; 2]>, series: usize) {
        let points = self.places(points);
        let dashes = match DASHES[series % DASHES.len()] {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        self.body += &format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes} {}/>\n",
            Paint::Series(series).stroke()
        );
    }

    /// What values enclose.
    pub(super) fn area(&mut self, points: impl IntoIterator<Item = [f64; 2]>, series: usize) {
        let points = self.places(points);
        let fill = Paint::Series(series).fill();
        self.body += &format!("<polygon points=\"{points}\" fill-opacity=\"0.16\" {fill}/>\n");
    }

    fn places(&self, points: impl IntoIterator<Item = [f64; 2]>) -> String {
        let mut places = String::new();
        let mut last = String::new();
        for [x, y] in points {
            let place = format!("{:.1},{:.1}", self.x(x), self.y(y));
            if place != last {
                places.push_str(&place);
                places.push(' ');
                last = place;
            }
        }
        places.truncate(places.trim_end().len());
        places
    }

    /// A box by its corner and sizes in the drawing.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], look: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" {look}/>\n",
            width.max(0.0),
            height.max(0.0)
        );
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], anchor: &str, paint: Paint, text: &str) {
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {}>{}</text>\n",
            paint.fill(),
            escape(text)
        );
    }

    /// A text that ends there, from below on the left.
    pub(super) fn slanted(&mut self, [x, y]: [f64; 2], text: &str) {
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" transform=\"rotate(-50 {x:.1} {y:.1})\" {}>{}</text>\n",
            Paint::Ink.fill(),
            escape(text)
        );
    }

    /// A dot of a series, a circle or, of odd ones, a diamond.
    pub(super) fn dot(&mut self, [x, y]: [f64; 2], series: usize) {
        let fill = Paint::Series(series).fill();
        self.body += &match series % 2 {
            0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {fill}/>\n"),
            _ => format!("<path d=\"M{x:.1} {:.1}l5 5-5 5-5-5z\" {fill}/>\n", y - 5.0),
        };
    }

    /// What `draw` draws has a description, which the pointer shows.
    pub(super) fn described(&mut self, description: &str, draw: impl FnOnce(&mut Chart)) {
        self.body += &format!("<g class=\"tip\"><title>{}</title>\n", escape(description));
        draw(self);
        self.body += "</g>\n";
    }

    /// A place on a line that the pointer finds though nothing is seen there.
    pub(super) fn hit(&mut self, [x, y]: [f64; 2], radius: f64, description: &str) {
        self.body += &format!(
            "<circle class=\"tip hit\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill-opacity=\"0\"><title>{}</title></circle>\n",
            escape(description)
        );
    }

    /// What `draw` draws at a value moves with the cut, which the script does; places are linear in values from `low` to `high`.
    pub(super) fn at_cut(
        &mut self,
        name: &str,
        [x, y]: [f64; 2],
        range: [[f64; 2]; 2],
        draw: impl FnOnce(&mut Chart),
    ) {
        let [[x1, x2], [y1, y2]] = range;
        let dx = (self.x(x2) - self.x(x1)) / (x2 - x1);
        let dy = (self.y(y2) - self.y(y1)) / (y2 - y1);
        self.body += &format!(
            "<g class=\"at-cut\" data-chart=\"{name}\" data-x=\"{x}\" data-y=\"{y}\" data-dx=\"{dx:.4}\" data-dy=\"{dy:.4}\">\n"
        );
        draw(self);
        self.body += "</g>\n";
    }

    /// The element; `title` is what a reader who does not see it is told.
    pub(super) fn finish(self, title: &str) -> String {
        let Chart {
            width,
            height,
            body,
            ..
        } = self;
        format!(
            "<svg role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONT}\" font-size=\"{SIZE}\">\n<title>{}</title>\n{body}</svg>\n",
            escape(title)
        )
    }
}

/// From 0 to 1 with a tick at every fifth.
pub(super) fn unit() -> Span {
    Axis::default().span([0.0, 1.0].into_iter())
}

/// A key to the series below a chart.
pub(super) fn legend(names: &[String]) -> String {
    let item = |(k, name): (usize, &String)| {
        let dashes = match DASHES[k % DASHES.len()] {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><line x1=\"0\" y1=\"4\" x2=\"28\" y2=\"4\" stroke-width=\"3\"{dashes} {}/></svg> {}</li>\n",
            Paint::Series(k).stroke(),
            super::markup::name(name)
        )
    };
    let items: String = names.iter().enumerate().map(item).collect();
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}
