//! A progress bar for whatever takes longer than a second, or a plain line now and then where standard error is no terminal.

use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// Shown on standard error, if that is a terminal and --quiet was not given.
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
    /// No terminal: when the last line was written.
    Lines(Instant),
}

/// Bytes of a file.
pub(crate) const BYTES: &str = "{wide_bar} {bytes} of {total_bytes}, {eta} left";
/// Bytes of a stream of unknown length.
pub(crate) const STREAM: &str = "{spinner} {bytes}, {bytes_per_sec}";

/// Draws of a bootstrap.
pub(crate) const DRAWS: &str = "{wide_bar} draw {pos} of {len}, {eta} left";

/// Steps of a solver, with a message.
pub(crate) const STEPS: &str = "{spinner} {msg}";

/// Passes over a data set, with a message.
pub(crate) const PASSES: &str = "{wide_bar} pass {pos} of {len}, {msg}";

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);
    const BETWEEN_LINES: Duration = Duration::from_secs(10);

    /// How far it is, and how much is left if it goes on like this.
    fn line(&self, position: u64) -> String {
        let spent = self.started.elapsed().as_secs_f64();
        match self.total {
            Some(total) if position > 0 => {
                let left = spent * total.saturating_sub(position) as f64 / position as f64;
                let share = 100.0 * position as f64 / total.max(1) as f64;
                format!("progress: {share:.0} % after {spent:.0} s, about {left:.0} s left")
            }
            _ => format!("progress: {spent:.0} s so far"),
        }
    }

    pub(crate) fn new(output: Output, total: Option<u64>, template: &'static str) -> Self {
        let started = Instant::now();
        let state = match (output.quiet, io::stderr().is_terminal()) {
            (true, _) => State::Never,
            (false, true) => State::NotYet,
            (false, false) => State::Lines(started),
        };
        Self {
            started,
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
        self.show(position, String::new);
    }

    /// A message is made only when it is seen: with a line, or on the bar after [`Progress::say`].
    fn show(&mut self, position: u64, message: impl FnOnce() -> String) {
        match &self.state {
            State::Never => {}
            State::Lines(last) if last.elapsed() < Self::BETWEEN_LINES => {}
            State::Lines(_) => {
                let (line, message) = (self.line(position), message());
                let between = if message.is_empty() { "" } else { "; " };
                let _ = writeln!(io::stderr(), "{line}{between}{message}"); // standard error may be closed
                self.state = State::Lines(Instant::now());
            }
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
        let mut message = Some(message);
        self.show(position, || {
            message.take().map_or(String::new(), |make| make())
        });
        if let (State::Shown(bar), Some(make)) = (&self.state, message) {
            bar.set_message(make());
            bar.tick();
        }
    }

    /// Seconds so far.
    pub(crate) fn spent(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// An estimate is shown only after this many seconds, …
const ENOUGH_SECONDS: f64 = 10.0;
/// … and after this share of the work.
const ENOUGH_OF_THE_WAY: f64 = 0.05;

/// Seconds that a solver still needs if the logarithm of its gap goes on falling as it did; none where that says little.
pub(crate) fn seconds_left(first: f64, gap: f64, tolerance: f64, spent: f64) -> Option<f64> {
    let way = (first / gap).ln() / (first / tolerance).ln();
    let is_known = spent >= ENOUGH_SECONDS && (ENOUGH_OF_THE_WAY..=1.0).contains(&way);
    is_known.then(|| spent * (1.0 - way) / way)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_the_fall_of_the_gap() {
        // From 1 to 1e-3 in 30 s: as long again to 1e-6.
        assert!((seconds_left(1.0, 1e-3, 1e-6, 30.0).unwrap() - 30.0).abs() < 1e-9);
        assert_eq!(seconds_left(1.0, 1e-6, 1e-6, 30.0), Some(0.0));
        for (gap, spent) in [(1e-3, 9.0), (1.0, 30.0), (2.0, 30.0), (f64::NAN, 30.0)] {
            assert_eq!(seconds_left(1.0, gap, 1e-6, spent), None, "{gap} {spent}");
        }
    }
}
