//! Streams that change: the options, and what is watched of the scores.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ubauc::document::numbers::{number, thousands};
use ubauc::metrics::{Auc, FadingAuc, FadingEstimate, Fall, FallAlarm, WindowAuc};

use super::state::BITS;
use crate::names::name_of;

/// What to do about a stream that changes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Drift")]
pub(crate) struct DriftArgs {
    /// ol-ubauc: an example counts half as much after N later ones, in the weights, the class counts, the scale and the AUC
    /// so far; N is at least 1
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) half_life: Option<f64>,
    /// Report the AUC of the last W labelled examples, exactly, in the lines of progress and at the end; up to 10,000,000,
    /// each 16 bytes of memory
    #[arg(long, value_name = "W")]
    window: Option<usize>,
    /// Warn when the AUC of the scores falls; RATE, above 0 and below 1, is the probability that a stream of any length
    /// whose AUC does not fall ever raises an alarm
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    alarm: Option<f64>,
    /// After an alarm go on, or end as at the end of the input with exit code 3, or forget all that was learned
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        default_value = "continue",
        requires = "alarm"
    )]
    on_alarm: OnAlarm,
}

/// What an alarm does besides being reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnAlarm {
    Continue,
    Stop,
    Restart,
}

impl DriftArgs {
    pub(super) fn on_alarm(&self) -> OnAlarm {
        self.on_alarm
    }

    /// What a checkpoint must agree with.
    pub(super) fn settings(&self) -> [(&'static str, Value); 4] {
        let on_alarm = self.alarm.map(|_| name_of(self.on_alarm));
        [
            ("half-life", json!(self.half_life)),
            ("window", json!(self.window)),
            ("alarm", json!(self.alarm)),
            ("on-alarm", json!(on_alarm)),
        ]
    }

    /// Refuses what has no meaning.
    pub(super) fn watch(&self) -> Result<Watch, ubauc::Error> {
        let fading = self.half_life.map(|n| FadingAuc::new(BITS, n));
        Ok(Watch {
            fading: fading.transpose()?,
            window: self.window.map(WindowAuc::new).transpose()?,
            alarm: self.alarm.map(FallAlarm::new).transpose()?,
            falls: Vec::new(),
        })
    }
}

/// What is watched of the scores, beyond the AUC of all of them.
#[derive(Serialize, Deserialize)]
pub(super) struct Watch {
    fading: Option<FadingAuc>,
    window: Option<WindowAuc>,
    alarm: Option<FallAlarm>,
    /// The alarms so far.
    falls: Vec<Fall>,
}

impl Watch {
    /// Takes the score that an example had before it was learned.
    pub(super) fn add(
        &mut self,
        score: f64,
        positive: bool,
        example: u64,
    ) -> Result<(), ubauc::Error> {
        if let Some(fading) = &mut self.fading {
            fading.add(score, positive)?;
        }
        if let Some(window) = &mut self.window {
            window.add(score, positive)?;
        }
        if let Some(alarm) = &mut self.alarm {
            self.falls.extend(alarm.add(score, positive, example)?);
        }
        Ok(())
    }

    /// Another learner makes the scores from here on.
    pub(super) fn start_over(&mut self) {
        if let Some(alarm) = &mut self.alarm {
            alarm.start_over();
        }
    }

    /// AUC of the examples that still count; none without a half-life, or while there is one class only.
    pub(super) fn fading_auc(&self) -> Option<Option<FadingEstimate>> {
        Some(self.fading.as_ref()?.estimate().ok())
    }

    /// AUC of the last W, likewise.
    pub(super) fn window_auc(&self) -> Option<Option<Auc>> {
        Some(self.window.as_ref()?.auc().ok())
    }

    /// W, and how many there are.
    pub(super) fn window(&self) -> Option<WindowReport> {
        let window = self.window.as_ref()?;
        let found = window.auc().ok();
        Some(WindowReport {
            size: window.size(),
            n: window.len(),
            auc: found.as_ref().map(|found| found.auc),
        })
    }

    /// The alarms so far; none if nobody asked.
    pub(super) fn falls(&self) -> Option<&[Fall]> {
        self.alarm.as_ref().map(|_| self.falls.as_slice())
    }
}

/// AUC of the last examples.
#[derive(Serialize)]
pub(super) struct WindowReport {
    /// W.
    pub(super) size: usize,
    /// Examples in it.
    pub(super) n: usize,
    /// None while there is one class only.
    pub(super) auc: Option<f64>,
}

/// A fall in words.
pub(super) fn in_words(fall: &Fall) -> String {
    format!(
        "AUC {} before example {}, {} since",
        number(fall.auc_before),
        thousands(fall.since),
        number(fall.auc_since)
    )
}

/// The run ended at an alarm, as it was asked to.
#[derive(Debug)]
pub(crate) struct Alarmed(pub(super) String);

impl std::fmt::Display for Alarmed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Alarmed {}
