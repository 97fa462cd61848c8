//! Ctrl-C, SIGTERM and the end of a terminal: asked for between two examples. A second one ends the
//! program at once, which loses nothing but what came since the last checkpoint.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::flag;

#[cfg(unix)]
const WATCHED: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::signal::SIGHUP];
#[cfg(not(unix))]
const WATCHED: [i32; 2] = [SIGINT, SIGTERM];

/// The signals that have come.
pub(super) struct Signals {
    /// The last one; 0 is none.
    caught: Arc<AtomicUsize>,
}

impl Signals {
    pub(super) fn watch() -> io::Result<Signals> {
        let caught = Arc::new(AtomicUsize::new(0));
        let second = Arc::new(AtomicBool::new(false));
        for signal in WATCHED {
            // In this order: the first signal arms the second.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&second))?;
            flag::register(signal, Arc::clone(&second))?;
            flag::register_usize(signal, Arc::clone(&caught), signal as usize)?;
        }
        Ok(Signals { caught })
    }

    pub(super) fn caught(&self) -> Option<Stopped> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(Stopped {
                signal: signal as u8,
                how_to_resume: String::new(),
            }),
        }
    }
}

/// A signal ended the run, which is saved.
#[derive(Debug)]
pub(crate) struct Stopped {
    signal: u8,
    /// What to do to go on.
    pub(super) how_to_resume: String,
}

impl Stopped {
    pub(crate) fn exit_code(&self) -> u8 {
        128 + self.signal
    }

    pub(super) fn name(&self) -> &'static str {
        match i32::from(self.signal) {
            SIGINT => "SIGINT",
            SIGTERM => "SIGTERM",
            _ => "SIGHUP",
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by {}; {}", self.name(), self.how_to_resume)
    }
}

impl std::error::Error for Stopped {}
