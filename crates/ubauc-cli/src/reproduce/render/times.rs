//! Times by data set and online algorithm: multiples of ol-ubauc's, then seconds; drawn as bars on a logarithmic scale.

use ubauc::document::numbers::three_digits;
use ubauc::document::{
    Axis, Block, Cell, Chart, Figure, Panel, RowChart, RowStyle, Scale, Series, SeriesValue, Table,
};

use super::{REFERENCE, TimeTableView, TimeView, View, nothing_yet};

impl View for TimeTableView {
    fn title(&self) -> &str {
        &self.title
    }

    fn tables(&self) -> Vec<Block> {
        if self.times.is_empty() {
            return nothing_yet();
        }
        let head = [
            "data set",
            "algorithm",
            "pass",
            "paper",
            "until still",
            "paper",
        ];
        let mut ratios = Table::new(head).left(&[1]);
        let head = [
            "data set",
            "algorithm",
            "pass, s",
            "paper, s",
            "until still, s",
            "paper, s",
            "passes",
            "stopped",
        ];
        let mut seconds = Table::new(head).left(&[1, 7]);
        (ratios.grouped, seconds.grouped) = (true, true);
        for time in self.datasets.iter().flat_map(|dataset| self.row(dataset)) {
            let [ours, total] = [What::Pass, What::Total].map(|what| what.of(time));
            let names = || [&time.dataset, &time.column].map(|name| Cell::from(name.as_str()));
            let of = |value: Option<f64>| Cell::from(value.map(multiple));
            let values = [ours.ratio, ours.paper_ratio, total.ratio, total.paper_ratio].map(of);
            ratios.row(names().into_iter().chain(values));
            let of = |value: Option<f64>| Cell::from(finite(value).map(three_digits));
            let values = [
                ours.seconds,
                ours.paper_seconds,
                total.seconds,
                total.paper_seconds,
            ];
            let passes = time.passes_to_still.map(|passes| passes.to_string());
            let rest = [
                passes.into(),
                time.stopped.clone().unwrap_or_default().into(),
            ];
            seconds.row(names().into_iter().chain(values.map(of)).chain(rest));
        }
        vec![
            ratios.into(),
            Block::Paragraph(format!(
                "Times as multiples of those of {REFERENCE} on the same data set and machine: of a pass over the \
                 training data, and until the objective stands still."
            )),
            seconds.into(),
            Block::Paragraph("The same in seconds.".to_string()),
        ]
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn data(&self) -> Table {
        let mut table = Table::new([
            "dataset",
            "column",
            "seconds_per_pass",
            "pass_ratio",
            "paper_pass",
            "paper_pass_ratio",
            "seconds_to_still",
            "total_ratio",
            "paper_total",
            "paper_total_ratio",
            "passes_to_still",
            "stopped",
        ]);
        for time in &self.times {
            let names = [&time.dataset, &time.column].map(|name| Cell::from(name.as_str()));
            let values = [What::Pass, What::Total].map(|what| {
                let of = what.of(time);
                [of.seconds, of.ratio, of.paper_seconds, of.paper_ratio].map(Cell::exact)
            });
            let passes = time.passes_to_still.map(|passes| passes.to_string());
            let rest = [passes.into(), time.stopped.clone().into()];
            table.row(
                names
                    .into_iter()
                    .chain(values.into_iter().flatten())
                    .chain(rest),
            );
        }
        table
    }

    /// Two panels per data set.
    fn figure(&self) -> Option<Figure> {
        let rows = self.datasets.chunks(3).flat_map(|sets| {
            let both = [What::Pass, What::Total].into_iter();
            both.flat_map(move |what| sets.iter().map(move |set| (set, what)))
        });
        Some(Figure {
            title: self.title.clone(),
            alternative: format!(
                "{}: a panel per data set and kind of time, a row per algorithm, our time as a multiple of \
                 {REFERENCE}'s above the paper's. The numbers are those of the table.",
                self.title
            ),
            file: None,
            panels: rows.map(|(set, what)| self.panel(set, what)).collect(),
            notes: self.notes.clone(),
        })
    }
}

impl TimeTableView {
    fn panel(&self, dataset: &str, what: What) -> Panel {
        let value = |column: &String, ratio: fn(&Measured) -> Option<f64>| {
            let time = self.time(dataset, column)?;
            let value = ratio(&what.of(time))?;
            Some(SeriesValue {
                value,
                interval: None,
                label: multiple(value),
                hover: what.described(time),
            })
        };
        let ours = |column| value(column, |measured| measured.ratio);
        let paper = |column| value(column, |measured| measured.paper_ratio);
        Panel {
            title: format!("{dataset}, {}", what.name()),
            chart: Chart::Rows(RowChart {
                names: self.columns.clone(),
                marks: Vec::new(),
                axis: Axis {
                    label: format!("times {REFERENCE}'s"),
                    scale: Scale::Log,
                    // At least half a decade.
                    include: vec![1.0, 10f64.sqrt()],
                    limits: None,
                },
                style: RowStyle::BarsFrom(1.0),
                series: vec![
                    Series {
                        name: format!("ours, as a multiple of {REFERENCE}'s time"),
                        values: self.columns.iter().map(ours).collect(),
                    },
                    Series {
                        name: "the paper's".to_string(),
                        values: self.columns.iter().map(paper).collect(),
                    },
                ],
            }),
        }
    }
}

/// What is timed: a pass, or all until the objective stands still.
#[derive(Clone, Copy)]
enum What {
    Pass,
    Total,
}

/// One kind of time of one algorithm.
struct Measured {
    seconds: Option<f64>,
    ratio: Option<f64>,
    paper_seconds: Option<f64>,
    paper_ratio: Option<f64>,
}

impl What {
    fn of(self, time: &TimeView) -> Measured {
        let ratios = time.ratios;
        match self {
            What::Pass => Measured {
                seconds: time.seconds_per_pass,
                ratio: ratios.pass,
                paper_seconds: time.paper_pass,
                paper_ratio: ratios.paper_pass,
            },
            What::Total => Measured {
                seconds: time.seconds_to_still,
                ratio: ratios.total,
                paper_seconds: time.paper_total,
                paper_ratio: ratios.paper_total,
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::Pass => "per pass",
            What::Total => "until still",
        }
    }

    /// All that is known, for the figure.
    fn described(self, time: &TimeView) -> String {
        let Measured {
            seconds,
            ratio,
            paper_seconds,
            paper_ratio,
        } = self.of(time);
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_string());
        let [ratio, paper_ratio] = [ratio, paper_ratio].map(|x| or_dash(x.map(multiple)));
        let in_seconds = |x| or_dash(finite(x).map(three_digits));
        let [seconds, paper_seconds] = [seconds, paper_seconds].map(in_seconds);
        let (dataset, column, name) = (&time.dataset, &time.column, self.name());
        let mut text = format!(
            "{dataset}, {column}, {name}: ours {ratio} ({seconds} s), paper {paper_ratio} ({paper_seconds} s)"
        );
        if let What::Total = self {
            let passes = time
                .passes_to_still
                .map(|passes| format!("{passes} passes"));
            for more in passes.iter().chain(&time.stopped) {
                text += &format!("; {more}");
            }
        }
        text
    }
}

fn finite(x: Option<f64>) -> Option<f64> {
    x.filter(|x| x.is_finite())
}

/// `13.0×`
fn multiple(x: f64) -> String {
    format!("{}×", three_digits(x))
}
