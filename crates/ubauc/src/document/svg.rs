//! Figures as SVG: no scripts, no style sheet, no fonts but those of the viewer.
//!
//! By itself a figure has a white ground, since the viewer's may be dark. In a page of HTML its colours are those of the
//! page, by the classes of its elements. Series differ in colour (those of Okabe and Ito, distinct to the colour-blind)
//! and in form: filled, then hollow.

mod charts;

use super::escape_markup;
use super::figure::{Chart, CurveStyle, Figure, Panel, RowStyle};
use super::text::{clip, wrap};

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
/// Of series, in order; used again after the last.
const COLOURS: [&str; 6] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
];

/// Columns of text of a name before it is cut.
const NAME: usize = 26;
/// Width of a letter at 11 px, on the wide side.
const LETTER: f64 = 6.8;
/// Panels side by side.
const ACROSS: usize = 3;
const PANEL: f64 = 240.0;
/// Height of a panel of curves.
const CURVES: f64 = 200.0;
/// Right of a panel; marks of its rows stand there.
const GUTTER: f64 = 34.0;
const MARGIN: f64 = 16.0;
/// Above a panel for its title, below for ticks and label.
const ABOVE: f64 = 26.0;
const BELOW: f64 = 46.0;
/// Left of a panel of curves, for ticks.
const TICKS: f64 = 48.0;
/// Height of a bar.
const BAR: f64 = 7.0;

/// A file of its own.
pub fn render(figure: &Figure) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
        inline(figure)
    )
}

/// The element alone, for a page of HTML.
pub(super) fn inline(figure: &Figure) -> String {
    let grid = Grid::new(&figure.panels);
    let mut drawing = Drawing {
        width: grid.width(),
        body: String::new(),
    };
    let legend = legend(&figure.panels);
    let mut y = drawing.head(figure, &legend);
    for row in 0..grid.rows() {
        let height = grid.height(row);
        for (i, panel) in grid.row(row) {
            drawing.panel(panel, [grid.x(i), y + ABOVE], grid.shows_names(i), &legend);
        }
        y += ABOVE + height + BELOW;
    }
    if figure.panels.is_empty() {
        drawing.text([MARGIN, y + 16.0], START, PLAIN, "nothing yet");
        y += 30.0;
    }
    y = drawing.small_print(&figure.notes, y) + MARGIN;
    let Drawing { width, body } = drawing;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" height=\"{y:.0}\" \
         viewBox=\"0 0 {width:.0} {y:.0}\" font-family=\"{FONT}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" {}/>\n{body}</svg>\n",
        escape_markup(&figure.title),
        escape_markup(&figure.alternative),
        Paint::Ground.fill(),
    )
}

/// The rules by which a page of HTML sets the colours of its figures: variables of the same names.
pub(super) fn page_rules() -> String {
    let fixed = [
        Paint::Ink,
        Paint::Faint,
        Paint::Grid,
        Paint::Stripe,
        Paint::Ground,
    ];
    let series = (0..COLOURS.len()).map(Paint::Series);
    let names = fixed.into_iter().chain(series).map(|paint| paint.named().0);
    let rules = names.map(|n| format!(".f-{n}{{fill:var(--{n})}}.s-{n}{{stroke:var(--{n})}}\n"));
    rules.collect()
}

/// What something is drawn with.
#[derive(Clone, Copy)]
enum Paint {
    Ink,
    Faint,
    Grid,
    Stripe,
    Ground,
    Series(usize),
}

impl Paint {
    /// Its name in the classes of elements, and its colour outside of a page.
    fn named(self) -> (String, &'static str) {
        let (name, colour) = match self {
            Paint::Ink => ("ink", "#222222"),
            Paint::Faint => ("faint", "#767676"),
            Paint::Grid => ("grid", "#d9d9d9"),
            Paint::Stripe => ("stripe", "#f4f4f4"),
            Paint::Ground => ("ground", "#ffffff"),
            Paint::Series(i) => {
                let i = i % COLOURS.len();
                return (format!("series{i}"), COLOURS[i]);
            }
        };
        (name.to_string(), colour)
    }

    fn fill(self) -> String {
        let (name, colour) = self.named();
        format!("class=\"f-{name}\" fill=\"{colour}\"")
    }

    fn stroke(self, width: f64) -> String {
        let (name, colour) = self.named();
        format!("class=\"s-{name}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"")
    }

    /// Even series are filled, odd ones hollow.
    fn form(self) -> String {
        let Paint::Series(i) = self else {
            return self.fill();
        };
        if i % 2 == 0 {
            return self.fill();
        }
        let ((inner, ground), (outer, colour)) = (Paint::Ground.named(), self.named());
        format!(
            "class=\"f-{inner} s-{outer}\" fill=\"{ground}\" stroke=\"{colour}\" stroke-width=\"1.4\""
        )
    }
}

/// Where a text stands: it begins, is centred or ends there.
const START: &str = "start";
const MIDDLE: &str = "middle";
const END: &str = "end";

#[derive(Clone, Copy)]
struct Font {
    size: f64,
    paint: Paint,
    bold: bool,
}

const PLAIN: Font = Font {
    size: 11.0,
    paint: Paint::Ink,
    bold: false,
};
const SMALL: Font = Font {
    size: 10.0,
    paint: Paint::Faint,
    bold: false,
};
const MARK: Font = Font {
    bold: true,
    ..PLAIN
};
const PANEL_TITLE: Font = Font { size: 12.5, ..MARK };
const TITLE: Font = Font { size: 16.0, ..MARK };

/// Where panels are.
struct Grid<'a> {
    panels: &'a [Panel],
    /// Left of each column of panels.
    left: Vec<f64>,
}

impl<'a> Grid<'a> {
    fn new(panels: &'a [Panel]) -> Grid<'a> {
        let left = vec![0.0; panels.len().clamp(1, ACROSS)];
        let mut grid = Grid { panels, left };
        for (i, panel) in panels.iter().enumerate() {
            let needed = match &panel.chart {
                Chart::Curves(_) => TICKS,
                Chart::Rows(chart) if grid.shows_names(i) => {
                    let longest = chart.names.iter().map(|name| name.chars().count()).max();
                    LETTER * longest.unwrap_or(0).min(NAME) as f64 + 10.0
                }
                Chart::Rows(_) => 0.0,
            };
            let left = &mut grid.left[i % ACROSS];
            *left = left.max(needed);
        }
        grid
    }

    /// Whether the names of the rows stand beside a panel: not if the panel to its left has the same.
    fn shows_names(&self, i: usize) -> bool {
        let names = |i: usize| match &self.panels[i].chart {
            Chart::Curves(_) => None,
            Chart::Rows(chart) => Some(&chart.names),
        };
        i.is_multiple_of(ACROSS) || names(i) != names(i - 1)
    }

    fn x(&self, i: usize) -> f64 {
        let column = i % ACROSS;
        let before: f64 = self.left[..=column].iter().sum();
        MARGIN + before + column as f64 * (PANEL + GUTTER)
    }

    /// Never too narrow for a legend.
    fn width(&self) -> f64 {
        let columns: f64 = self.left.iter().map(|left| left + PANEL + GUTTER).sum();
        (MARGIN + columns).max(620.0) + MARGIN / 2.0
    }

    fn rows(&self) -> usize {
        self.panels.len().div_ceil(ACROSS)
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, &'a Panel)> {
        let panels = self.panels.iter().enumerate();
        panels.skip(row * ACROSS).take(ACROSS)
    }

    fn height(&self, row: usize) -> f64 {
        let heights = self.row(row).map(|(_, panel)| height(&panel.chart));
        heights.fold(0.0, f64::max)
    }
}

fn height(chart: &Chart) -> f64 {
    match chart {
        Chart::Curves(_) => CURVES,
        Chart::Rows(chart) => chart.names.len() as f64 * charts::row_height(chart),
    }
}

/// How a series is drawn, for the legend.
#[derive(Clone, Copy)]
enum Sign {
    Dot,
    DotOnLine,
    Bar,
    Line,
}

/// Names of series of all panels, in order; the number in it is that of the colour.
fn legend(panels: &[Panel]) -> Vec<(&str, Sign)> {
    let mut legend: Vec<(&str, Sign)> = Vec::new();
    let mut add = |name, sign| {
        if legend.iter().all(|(other, _)| *other != name) {
            legend.push((name, sign));
        }
    };
    for panel in panels {
        match &panel.chart {
            Chart::Curves(chart) => chart.curves.iter().for_each(|curve| match curve.style {
                CurveStyle::Line => add(&curve.name, Sign::Line),
                CurveStyle::Points => add(&curve.name, Sign::Dot),
            }),
            Chart::Rows(chart) => chart.series.iter().for_each(|series| match chart.style {
                RowStyle::Dots => add(&series.name, Sign::DotOnLine),
                RowStyle::BarsFrom(_) => add(&series.name, Sign::Bar),
            }),
        }
    }
    legend
}

fn paint_of(legend: &[(&str, Sign)], name: &str) -> Paint {
    let place = legend.iter().position(|(other, _)| *other == name);
    Paint::Series(place.unwrap_or(0))
}

/// Elements, from top to bottom.
struct Drawing {
    width: f64,
    body: String,
}

impl Drawing {
    fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], paint: Paint, width: f64) {
        self.body += &format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {}/>\n",
            paint.stroke(width)
        );
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], paint: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {paint}/>\n"
        );
    }

    /// A circle for even series, a diamond for odd ones.
    fn dot(&mut self, [x, y]: [f64; 2], paint: Paint) {
        let form = paint.form();
        self.body += &match paint {
            Paint::Series(i) if i % 2 == 1 => {
                let corners = [(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)];
                let corners = corners.map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy));
                format!("<polygon points=\"{}\" {form}/>\n", corners.join(" "))
            }
            _ => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" {form}/>\n"),
        };
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, font: Font, text: &str) {
        let weight = if font.bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{}\" {}{weight}>{}</text>\n",
            font.size,
            font.paint.fill(),
            escape_markup(text)
        );
    }

    /// What `draw` draws has a description, which the pointer shows.
    fn described(&mut self, description: &str, draw: impl FnOnce(&mut Drawing)) {
        self.body += &format!("<g><title>{}</title>\n", escape_markup(description));
        draw(self);
        self.body += "</g>\n";
    }

    /// Title and legend; the lower edge of both.
    fn head(&mut self, figure: &Figure, legend: &[(&str, Sign)]) -> f64 {
        let mut y = MARGIN;
        for line in wrap(
            &figure.title,
            Some(((self.width - 2.0 * MARGIN) / 9.6) as usize),
        ) {
            y += 18.0;
            self.text([MARGIN, y], START, TITLE, &line);
        }
        y += 24.0;
        let mut x = MARGIN;
        for (i, (name, sign)) in legend.iter().enumerate() {
            let name = clip(name, 3 * NAME);
            let wide = 30.0 + LETTER * name.chars().count() as f64;
            if x > MARGIN && x + wide > self.width {
                x = MARGIN;
                y += 18.0;
            }
            let (paint, middle) = (Paint::Series(i), y - 4.0);
            if matches!(sign, Sign::Line | Sign::DotOnLine) {
                self.line([x, middle, x + 18.0, middle], paint, 1.6);
            }
            match sign {
                Sign::Dot | Sign::DotOnLine => self.dot([x + 9.0, middle], paint),
                Sign::Bar => self.rect([x, middle - BAR / 2.0, 18.0, BAR], &paint.form()),
                Sign::Line => (),
            }
            self.text([x + 24.0, y], START, PLAIN, &name);
            x += wide;
        }
        y + 10.0
    }

    /// Remarks; the lower edge of them.
    fn small_print(&mut self, notes: &[String], mut y: f64) -> f64 {
        let width = ((self.width - 2.0 * MARGIN) / 6.2) as usize;
        for line in notes.iter().flat_map(|note| wrap(note, Some(width))) {
            y += 14.0;
            self.text([MARGIN, y], START, SMALL, &line);
        }
        y
    }
}
