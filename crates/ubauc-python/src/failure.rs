//! What Python raises in the middle of a fit that calls it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

/// What Python raised first; no more rounds are sent after it.
#[derive(Clone, Default)]
pub(crate) struct Failure {
    error: Arc<Mutex<Option<PyErr>>>,
    has_come: Arc<AtomicBool>,
}

impl Failure {
    pub(crate) fn set(&self, error: PyErr) -> ubauc::Error {
        if !self.has_come.swap(true, Ordering::SeqCst) {
            match self.error.lock() {
                Ok(mut first) => *first = Some(error),
                Err(poisoned) => *poisoned.into_inner() = Some(error),
            }
        }
        stopped()
    }

    pub(crate) fn check(&self) -> ubauc::Result<()> {
        match self.has_come.load(Ordering::SeqCst) {
            true => Err(stopped()),
            false => Ok(()),
        }
    }

    /// What was raised, in place of what came of it.
    pub(crate) fn or<T>(&self, found: ubauc::Result<T>) -> ubauc::Result<T> {
        let first = match self.error.lock() {
            Ok(mut error) => error.take(),
            Err(poisoned) => poisoned.into_inner().take(),
        };
        match first {
            Some(error) => Err(ubauc::Error::Rows(Box::new(error))),
            None => found,
        }
    }
}

fn stopped() -> ubauc::Error {
    ubauc::Error::Rows("the fit was stopped".into())
}
