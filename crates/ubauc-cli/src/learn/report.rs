//! What `ubauc learn` tells: lines on the way, and the report at the end.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use ubauc::atomic::is_stdout;
use ubauc::document::numbers::{number, thousands};
use ubauc::document::{Document, Facts};
use ubauc::metrics::{BucketEstimate, FadingEstimate, Fall};
use ubauc::objective::ubauc::ClassWeight;

use super::drift::{WindowReport, in_words};
use super::state::State;
use crate::column_report::FeaturesReport;
use crate::output::{self, Output};
use crate::progress::{Progress, STEPS};

/// AUC that is known to lie within bounds.
#[derive(Serialize)]
pub(super) struct Bounded {
    pub(super) auc: f64,
    pub(super) error_bound: f64,
    lower: f64,
    upper: f64,
}

impl From<BucketEstimate> for Bounded {
    fn from(estimate: BucketEstimate) -> Bounded {
        Bounded {
            auc: estimate.auc,
            error_bound: estimate.error_bound,
            lower: estimate.lower,
            upper: estimate.upper,
        }
    }
}

impl From<FadingEstimate> for Bounded {
    fn from(estimate: FadingEstimate) -> Bounded {
        Bounded {
            auc: estimate.auc,
            error_bound: estimate.error_bound,
            lower: estimate.lower,
            upper: estimate.upper,
        }
    }
}

impl Bounded {
    pub(super) fn exactly(auc: f64) -> Bounded {
        Bounded {
            auc,
            error_bound: 0.0,
            lower: auc,
            upper: auc,
        }
    }
}

#[derive(Serialize)]
struct Line {
    examples: u64,
    positives: u64,
    negatives: u64,
    unlabelled: u64,
    rows_per_second: f64,
    progressive_auc: Option<f64>,
    error_bound: Option<f64>,
    window_auc: Option<f64>,
    window_error_bound: Option<f64>,
    /// Alarms so far, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    alarms: Option<usize>,
}

/// How fast this process has been.
pub(super) struct Clock {
    pub(super) started: Instant,
    /// Examples that were learned before, or skipped.
    pub(super) before: u64,
}

impl Clock {
    pub(super) fn rows_per_second(&self, state: &State) -> f64 {
        let rows = state.head.examples.saturating_sub(self.before);
        rows as f64 / self.started.elapsed().as_secs_f64().max(1e-9)
    }
}

/// Lines of JSON, and a line on the terminal.
pub(super) struct Teller {
    lines: Option<(Box<dyn Write>, PathBuf)>,
    live: Progress,
    last: Instant,
}

impl Teller {
    pub(super) fn open(path: Option<&Path>, resumed: bool, output: Output) -> Result<Teller> {
        let lines = match path {
            None => None,
            Some(path) if is_stdout(path) => {
                let name = PathBuf::from("standard output");
                Some((Box::new(io::stdout()) as Box<dyn Write>, name))
            }
            Some(path) => {
                let mut open = OpenOptions::new();
                open.create(true)
                    .append(resumed)
                    .write(true)
                    .truncate(!resumed);
                let file: File = open
                    .open(path)
                    .with_context(|| path.display().to_string())?;
                Some((Box::new(file) as Box<dyn Write>, path.to_path_buf()))
            }
        };
        Ok(Teller {
            lines,
            live: Progress::new(output, None, STEPS),
            last: Instant::now(),
        })
    }

    /// A line of JSON.
    pub(super) fn line(&mut self, state: &mut State, clock: &Clock) -> Result<()> {
        let Some((sink, name)) = &mut self.lines else {
            return Ok(());
        };
        let (all, window) = (state.auc(), state.window_auc());
        let line = Line {
            examples: state.head.examples,
            positives: state.head.n_pos,
            negatives: state.head.n_neg,
            unlabelled: state.head.unlabelled,
            rows_per_second: clock.rows_per_second(state),
            progressive_auc: all.as_ref().map(|e| e.auc),
            error_bound: all.as_ref().map(|e| e.error_bound),
            window_auc: window.as_ref().map(|e| e.auc),
            window_error_bound: window.as_ref().map(|e| e.error_bound),
            alarms: state.head.watch.falls().map(<[Fall]>::len),
        };
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        let written = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
        written.with_context(|| name.display().to_string())
    }

    /// The line on the terminal, a few times a second.
    pub(super) fn live(&mut self, state: &State, clock: &Clock) {
        if self.last.elapsed().as_millis() < 250 {
            return;
        }
        self.last = Instant::now();
        self.live.say(state.head.examples, || {
            let auc = state.auc().map_or("-".to_string(), |e| number(e.auc));
            let examples = thousands(state.head.examples);
            let speed = thousands(clock.rows_per_second(state) as u64);
            format!("{examples} examples, {speed} a second, AUC so far {auc}")
        });
    }
}

#[derive(Serialize)]
pub(super) struct Seconds {
    pub(super) total: f64,
}

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) algorithm: &'static str,
    pub(super) n: u64,
    pub(super) n_pos: u64,
    pub(super) n_neg: u64,
    pub(super) unlabelled: u64,
    /// Lines of this input that were left out.
    pub(super) skipped: usize,
    pub(super) d: usize,
    /// What was made of the columns, and the first rows that it was found out from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) features: Option<FeaturesReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) map_rows: Option<u64>,
    pub(super) classes: [String; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) beta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) softness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) class_weight: Option<ClassWeight>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eta0: Option<f64>,
    /// Of the other algorithms, by the names of the options; apart, since OPAUC's lambda is no threshold.
    #[serde(rename = "parameters", skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<BTreeMap<&'static str, Value>>,
    pub(super) steps: u64,
    pub(super) lambda: f64,
    /// Old examples count less if there is a half-life,
    pub(super) progressive_auc: Option<Bounded>,
    /// and here all alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) half_life: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overall_auc: Option<Bounded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<WindowReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) alarms: Option<Vec<Fall>>,
    pub(super) seconds: Seconds,
    pub(super) rows_per_second: f64,
    pub(super) resumed_at: Option<u64>,
    /// "end" of the input, or the signal.
    pub(super) stop: &'static str,
    pub(super) model: Option<PathBuf>,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let [negative, positive] = &self.classes;
        let mut facts = Facts::default();
        facts.add("algorithm", self.algorithm);
        let (n, d) = (thousands(self.n), thousands(self.d as u64));
        facts.add("examples", format!("{n}, {d} features"));
        facts.add(
            "positive",
            format!("{} (class {positive})", thousands(self.n_pos)),
        );
        facts.add(
            "negative",
            format!("{} (class {negative})", thousands(self.n_neg)),
        );
        if self.unlabelled > 0 {
            facts.add("unlabelled", thousands(self.unlabelled));
        }
        if self.skipped > 0 {
            facts.add(
                "skipped",
                format!("{} lines", thousands(self.skipped as u64)),
            );
        }
        if let Some(rows) = self.map_rows {
            let rows = thousands(rows);
            let what = "from their values, without their labels";
            facts.add(
                "columns",
                format!("mapped as the first {rows} rows have them, {what}"),
            );
        }
        let ours = [
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("softness", self.softness),
            ("eta0", self.eta0),
        ];
        let ours = ours.into_iter().filter_map(|(name, value)| {
            let value = value?;
            Some(format!("{name} {value}"))
        });
        let weight = self.class_weight.and_then(ClassWeight::described);
        let ours = ours.chain(weight);
        let own = self.own.iter().flatten();
        let own = own.map(|(name, value)| format!("{name} {value}"));
        facts.add("parameters", ours.chain(own).collect::<Vec<_>>().join(", "));
        facts.add("threshold", number(self.lambda));
        if let Some(half_life) = self.half_life {
            facts.add("half-life", format!("{half_life} examples"));
        }
        let bounded = [
            ("AUC so far", &self.progressive_auc),
            ("all alike", &self.overall_auc),
        ];
        for (name, bounded) in bounded {
            if let Some(Bounded {
                auc, lower, upper, ..
            }) = bounded
            {
                let (auc, lower, upper) = (number(*auc), number(*lower), number(*upper));
                facts.add(name, format!("{auc}, exactly within [{lower}, {upper}]"));
            }
        }
        self.add_drift(&mut facts);
        if let Some(at) = self.resumed_at {
            facts.add("resumed", format!("after {} examples", thousands(at)));
        }
        facts.add("stopped", self.stop);
        if let Some(path) = &self.model {
            facts.add("model", path.display());
        }
        let (seconds, speed) = (self.seconds.total, thousands(self.rows_per_second as u64));
        facts.add(
            "seconds",
            format!("{seconds:.2} ({speed} examples a second)"),
        );
        let mut document = Document::default();
        if let Some(features) = &self.features {
            document = document.with(features.table());
        }
        document.with(facts)
    }
}

impl Report {
    /// The AUC of the last examples, and alarms.
    fn add_drift(&self, facts: &mut Facts) {
        if let Some(WindowReport { n, auc, .. }) = &self.window {
            let auc = auc.map_or("none, one class only".to_string(), number);
            facts.add(&format!("AUC of the last {}", thousands(*n as u64)), auc);
        }
        match self.alarms.as_deref() {
            None => {}
            Some([]) => facts.add("alarms", "none"),
            Some(falls) => {
                for fall in falls {
                    let at = thousands(fall.example);
                    facts.add("alarm", format!("at example {at}: {}", in_words(fall)));
                }
            }
        }
    }
}
