//! A progress bar for whatever takes longer than a second.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// Shown on standard error, if that is a terminal and nobody asked for quiet.
pub(crate) struct Progress {
    started: Instant,
    total: Option<u64>,
    template: &'static str,
    state: State,
}

enum State {
    Never,
    NotYet,
    Shown(ProgressBar),
}

/// Bytes of a file.
pub(crate) const BYTES: &str = "{wide_bar} {bytes} of {total_bytes}, {eta} left";
/// Bytes of a stream whose length nobody knows.
pub(crate) const STREAM: &str = "{spinner} {bytes}, {bytes_per_sec}";

/// Steps of a solver, with a message.
pub(crate) const STEPS: &str = "{spinner} {msg}";

/// Passes over a data set, with a message.
pub(crate) const PASSES: &str = "{wide_bar} pass {pos} of {len}, {msg}";

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);

    pub(crate) fn new(output: Output, total: Option<u64>, template: &'static str) -> Self {
        let wanted = !output.quiet && io::stderr().is_terminal();
        let state = if wanted { State::NotYet } else { State::Never };
        Self {
            started: Instant::now(),
            total,
            template,
            state,
        }
    }

    /// The same where the total is an estimate.
    pub(crate) fn of(&mut self, position: u64, total: u64) {
        self.total = Some(total);
        if let State::Shown(bar) = &self.state {
            bar.set_length(total);
        }
        self.at(position);
    }

    pub(crate) fn at(&mut self, position: u64) {
        match &self.state {
            State::Never => {}
            State::Shown(bar) => bar.set_position(position),
            State::NotYet if self.started.elapsed() < Self::PATIENCE => {}
            State::NotYet => {
                let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template(self.template);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                let bar = bar.with_elapsed(self.started.elapsed());
                bar.set_position(position);
                self.state = State::Shown(bar);
            }
        }
    }
}

impl Progress {
    /// The same, with a message; it is made only when it is seen.
    pub(crate) fn say(&mut self, position: u64, message: impl FnOnce() -> String) {
        self.at(position);
        if let State::Shown(bar) = &self.state {
            bar.set_message(message());
            bar.tick();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let State::Shown(bar) = &self.state {
            bar.finish_and_clear();
        }
    }
}

/// Fits that are made side by side.
pub(crate) const FITS: &str = "{wide_bar} fit {pos} of {len}, {eta} left";

/// The same bar for those who count together.
pub(crate) struct Counted {
    state: std::sync::Mutex<(Progress, u64)>,
}

impl Counted {
    pub(crate) fn new(output: Output, total: u64, template: &'static str) -> Self {
        let progress = Progress::new(output, Some(total), template);
        Self {
            state: std::sync::Mutex::new((progress, 0)),
        }
    }

    /// So much more is done; the message is made only when it is seen.
    pub(crate) fn more(&self, by: u64, message: impl FnOnce() -> String) {
        if let Ok(mut state) = self.state.lock() {
            state.1 += by;
            let done = state.1;
            state.0.say(done, message);
        }
    }
}
