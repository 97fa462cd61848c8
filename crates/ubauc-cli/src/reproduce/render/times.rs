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
            let names = [&time.dataset, &time.column].map(|name| Cell::from(name.as_str()));
            let measured = [What::Pass, What::Total].map(|what| what.of(time));
            let measured = measured.as_flattened().iter();
            let values = measured
                .clone()
                .map(|[_, ratio]| ratio.map(multiple).into());
            ratios.row(names.clone().into_iter().chain(values));
            let values = measured.map(|[seconds, _]| {
                let seconds = seconds.filter(|seconds| seconds.is_finite());
                Cell::from(seconds.map(three_digits))
            });
            let passes = time.passes_to_still.map(|passes| passes.to_string());
            let rest = [
                passes.into(),
                time.stopped.clone().unwrap_or_default().into(),
            ];
            seconds.row(names.into_iter().chain(values).chain(rest));
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
        let names = "dataset,column,seconds_per_pass,pass_ratio,paper_pass,paper_pass_ratio,seconds_to_still,\
                     total_ratio,paper_total,paper_total_ratio,passes_to_still,stopped";
        let mut table = Table::new(names.split(','));
        for time in &self.times {
            let names = [&time.dataset, &time.column].map(|name| Cell::from(name.as_str()));
            let values = [What::Pass, What::Total].map(|what| what.of(time));
            let values = values.as_flattened().as_flattened().iter();
            let values = values.map(|value| Cell::exact(*value));
            let passes = time.passes_to_still.map(|passes| passes.to_string());
            let rest = [passes.into(), time.stopped.clone().into()];
            table.row(names.into_iter().chain(values).chain(rest));
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
        let values = |source: usize| {
            let value = |column: &String| {
                let [_, ratio] = what.of(self.time(dataset, column)?)[source];
                Some(SeriesValue {
                    value: ratio?,
                    interval: None,
                    label: multiple(ratio?),
                })
            };
            self.columns.iter().map(value).collect()
        };
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
                        values: values(0),
                    },
                    Series {
                        name: "the paper's".to_string(),
                        values: values(1),
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

impl What {
    /// Ours and the paper's, each in seconds and as a ratio.
    fn of(self, time: &TimeView) -> [[Option<f64>; 2]; 2] {
        let ratios = time.ratios;
        match self {
            What::Pass => [
                [time.seconds_per_pass, ratios.pass],
                [time.paper_pass, ratios.paper_pass],
            ],
            What::Total => [
                [time.seconds_to_still, ratios.total],
                [time.paper_total, ratios.paper_total],
            ],
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::Pass => "per pass",
            What::Total => "until still",
        }
    }
}

/// `13.0×`
fn multiple(x: f64) -> String {
    format!("{}×", three_digits(x))
}
