//! Times by data set and online algorithm: multiples of ol-ubauc's, then seconds; drawn as bars on a logarithmic scale.

use ubauc::document::numbers::three_digits;
use ubauc::document::{Axis, Block, Cell, DASH, Figure, Panel, PanelRow, PanelValue, Scale, Table};

use super::{REFERENCE, TimeTableView, TimeView, View};

impl View for TimeTableView {
    fn title(&self) -> &str {
        &self.title
    }

    fn tables(&self, _narrow: bool) -> Vec<Block> {
        let head = "data set|algorithm|pass|paper|until still|paper";
        let mut ratios = Table::new(head.split('|')).left(&[1]);
        let head = "data set|algorithm|pass, s|paper, s|until still, s|paper, s|passes|stopped";
        let mut seconds = Table::new(head.split('|')).left(&[1, 7]);
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
        let panels = self.datasets.chunks(3).flat_map(|sets| {
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
            rows: self.columns.clone(),
            series: vec![
                format!("ours, as a multiple of {REFERENCE}'s time"),
                "the paper's".to_string(),
            ],
            axis: Axis {
                label: format!("times {REFERENCE}'s"),
                scale: Scale::Log,
                bars_from: Some(1.0),
                // At least half a decade.
                include: Some(10f64.sqrt()),
                limits: None,
            },
            panels: panels.map(|(set, what)| self.panel(set, what)).collect(),
            notes: self.notes.clone(),
        })
    }
}

impl TimeTableView {
    fn panel(&self, dataset: &str, what: What) -> Panel {
        let row = |column: &String| self.time(dataset, column).map(|time| what.row(time));
        let rows = self.columns.iter().map(row).map(Option::unwrap_or_default);
        Panel {
            title: format!("{dataset}, {}", what.name()),
            rows: rows.collect(),
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

    fn row(self, time: &TimeView) -> PanelRow {
        let sources = self.of(time);
        let [ours, paper] = sources.map(|[seconds, ratio]| {
            let [ratio, seconds] = [ratio.map(multiple), seconds.map(three_digits)];
            let [ratio, seconds] = [ratio, seconds].map(|text| text.unwrap_or(DASH.to_string()));
            format!("{ratio} ({seconds} s)")
        });
        let (dataset, column, name) = (&time.dataset, &time.column, self.name());
        let mut description = format!("{dataset}, {column}, {name}: ours {ours}, paper {paper}");
        if let What::Total = self {
            let passes = time
                .passes_to_still
                .map(|passes| format!("; {passes} passes"));
            let stopped = time.stopped.iter().map(|stopped| format!("; {stopped}"));
            description.extend(passes.into_iter().chain(stopped));
        }
        let value = |[_, ratio]: [Option<f64>; 2]| {
            Some(PanelValue {
                value: ratio?,
                interval: None,
                label: multiple(ratio?),
            })
        };
        PanelRow {
            description,
            mark: String::new(),
            values: sources.map(value).into(),
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
