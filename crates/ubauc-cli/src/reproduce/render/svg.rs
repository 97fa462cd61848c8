//! Figures: one panel per data set, the algorithms down its side, ours above the paper's.
//!
//! An SVG by itself: no scripts, no style sheet, no fonts but those of the viewer; a white ground,
//! since the viewer's may be dark. Ours and the paper's differ in colour (blue and vermilion of
//! Okabe and Ito, which the colour-blind tell apart) and in shape.

mod auc;
mod times;

pub(super) use auc::auc;
pub(super) use times::times;

use super::words::{clip, wrap};

const INK: &str = "#222222";
const FAINT: &str = "#767676";
const GRID: &str = "#d9d9d9";
const STRIPE: &str = "#f4f4f4";
const OURS: &str = "#0072B2";
const PAPER: &str = "#D55E00";

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/// Letters of a name before it is cut.
const NAME: usize = 26;
/// Width of a letter at 11 px, on the wide side.
const LETTER: f64 = 6.8;
/// Panels side by side.
const ACROSS: usize = 3;
const PANEL: f64 = 240.0;
/// Between panels; marks of a row stand there.
const GUTTER: f64 = 34.0;
const MARGIN: f64 = 16.0;
/// Height of one algorithm's row.
const ROW: f64 = 21.0;
/// Above a panel for its name, below for its ticks.
const ABOVE: f64 = 26.0;
const BELOW: f64 = 34.0;

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// Elements one after the other, from top to bottom of the page.
struct Svg {
    width: f64,
    body: String,
}

impl Svg {
    fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], colour: &str, width: f64) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" \
             stroke=\"{colour}\" stroke-width=\"{width}\"/>\n"
        );
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], colour: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\"/>\n"
        );
    }

    /// Not seen, but the pointer finds it.
    fn target(&mut self, [x, y, width, height]: [f64; 4]) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#ffffff\" fill-opacity=\"0\"/>\n"
        );
    }

    fn outline(&mut self, [x, y, width, height]: [f64; 4], colour: &str) {
        // The line is drawn half outside; a length below its width must not become negative.
        let [width, height] = [width, height].map(|length| (length - 1.2).max(0.0));
        let (x, y) = (x + 0.6, y + 0.6);
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.2\"/>\n"
        );
    }

    fn circle(&mut self, x: f64, y: f64) {
        self.body += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"{OURS}\"/>\n");
    }

    fn diamond(&mut self, x: f64, y: f64) {
        let points = [(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)];
        let points = points.map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
        self.body += &format!(
            "<polygon points=\"{}\" fill=\"#ffffff\" stroke=\"{PAPER}\" stroke-width=\"1.6\"/>\n",
            points.join(" ")
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, font: Font, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let Font { size, colour, bold } = font;
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             fill=\"{colour}\"{weight}>{}</text>\n",
            escape(text)
        );
    }

    /// What is drawn by `draw` says `title` under the pointer.
    fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Svg)) {
        self.body += &format!("<g><title>{}</title>\n", escape(title));
        draw(self);
        self.body += "</g>\n";
    }
}

#[derive(Clone, Copy)]
struct Font {
    size: f64,
    colour: &'static str,
    bold: bool,
}

const PLAIN: Font = Font {
    size: 11.0,
    colour: INK,
    bold: false,
};
const SMALL: Font = Font {
    size: 10.0,
    colour: FAINT,
    bold: false,
};
const BOLD: Font = Font {
    size: 12.5,
    colour: INK,
    bold: true,
};
const TITLE: Font = Font {
    size: 16.0,
    colour: INK,
    bold: true,
};

/// What is the same in every figure: title, legend, panels with the names at the left, notes.
struct Figure<'a> {
    title: &'a str,
    legend: Vec<Entry>,
    /// The algorithms, down the side.
    columns: &'a [String],
    /// The panels, row by row.
    panels: Vec<String>,
    notes: &'a [String],
}

/// What a sign means.
struct Entry {
    /// Draws the sign, 18 wide, from x to the right and around y.
    draw: fn(&mut Svg, f64, f64),
    text: String,
}

/// Where a panel is drawn.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    /// Of the first row's upper edge.
    y: f64,
    height: f64,
}

impl Place {
    /// The middle of a row.
    fn row(self, i: usize) -> f64 {
        self.y + ROW * (i as f64 + 0.5)
    }
}

impl Figure<'_> {
    /// `draw` draws panel `i` at its place.
    fn draw(&self, draw: impl Fn(&mut Svg, usize, Place)) -> String {
        let longest = self.columns.iter().map(|name| name.chars().count()).max();
        let left = MARGIN + LETTER * longest.unwrap_or(0).min(NAME) as f64 + 10.0;
        let across = self.panels.len().clamp(1, ACROSS);
        // A single panel leaves room for the legend all the same.
        let width = (left + across as f64 * (PANEL + GUTTER)).max(620.0) + MARGIN / 2.0;
        let body = String::new();
        let mut svg = Svg { width, body };
        let mut y = self.head(&mut svg);
        let height = ROW * self.columns.len() as f64;
        for (i, name) in self.panels.iter().enumerate() {
            let place = Place {
                x: left + (i % across) as f64 * (PANEL + GUTTER),
                y: y + ABOVE,
                height,
            };
            self.panel(&mut svg, name, place, i % across == 0);
            draw(&mut svg, i, place);
            if i % across + 1 == across || i + 1 == self.panels.len() {
                y += ABOVE + height + BELOW;
            }
        }
        if self.panels.is_empty() {
            svg.text(MARGIN, y + 16.0, Anchor::Start, PLAIN, "nothing yet");
            y += 30.0;
        }
        y = self.foot(&mut svg, y);
        document(&svg, y + MARGIN)
    }

    /// Title and legend; the lower edge of both.
    fn head(&self, svg: &mut Svg) -> f64 {
        let mut y = MARGIN;
        for line in wrap(self.title, ((svg.width - 2.0 * MARGIN) / 9.6) as usize) {
            y += 18.0;
            svg.text(MARGIN, y, Anchor::Start, TITLE, &line);
        }
        y += 24.0;
        let mut x = MARGIN;
        for Entry { draw, text } in &self.legend {
            let wide = 30.0 + LETTER * text.chars().count() as f64;
            if x > MARGIN && x + wide > svg.width {
                x = MARGIN;
                y += 18.0;
            }
            draw(svg, x, y - 4.0);
            svg.text(x + 24.0, y, Anchor::Start, PLAIN, text);
            x += wide;
        }
        y + 10.0
    }

    /// The name of a panel, its stripes, and in the first of a row the names of the algorithms.
    fn panel(&self, svg: &mut Svg, name: &str, place: Place, first: bool) {
        svg.titled(name, |svg| {
            svg.text(
                place.x,
                place.y - 8.0,
                Anchor::Start,
                BOLD,
                &clip(name, NAME),
            );
        });
        for (i, column) in self.columns.iter().enumerate() {
            if i % 2 == 0 {
                svg.rect([place.x, place.y + ROW * i as f64, PANEL, ROW], STRIPE);
            }
            if first {
                let (x, y) = (place.x - 8.0, place.row(i) + 4.0);
                svg.text(x, y, Anchor::End, PLAIN, &clip(column, NAME));
            }
        }
    }

    fn foot(&self, svg: &mut Svg, mut y: f64) -> f64 {
        for note in self.notes {
            for line in wrap(note, ((svg.width - 2.0 * MARGIN) / 6.2) as usize) {
                y += 14.0;
                svg.text(MARGIN, y, Anchor::Start, SMALL, &line);
            }
        }
        y
    }
}

/// Grid lines with their labels below.
fn ticks(svg: &mut Svg, place: Place, ticks: &[(f64, String)]) {
    let bottom = place.y + place.height;
    for (x, label) in ticks {
        svg.line([*x, place.y, *x, bottom + 4.0], GRID, 1.0);
        svg.text(*x, bottom + 15.0, Anchor::Middle, SMALL, label);
    }
    svg.line([place.x, bottom, place.x + PANEL, bottom], FAINT, 1.0);
}

fn document(svg: &Svg, height: f64) -> String {
    let Svg { width, body } = svg;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONT}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// Text for XML 1.0, which has no control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_the_xml() {
        assert_eq!(escape("<a & \"b'>"), "&lt;a &amp; &quot;b&apos;&gt;");
        assert_eq!(escape("\u{1b}[31m\u{0}é"), "\u{fffd}[31m\u{fffd}é");
    }
}
