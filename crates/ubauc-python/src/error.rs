//! The one table from the library's errors to Python's exceptions.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};

/// What the library refused, in its own words.
pub(crate) struct Refused(ubauc::Error);

impl From<ubauc::Error> for Refused {
    fn from(error: ubauc::Error) -> Refused {
        Refused(error)
    }
}

impl From<Refused> for ubauc::Error {
    fn from(Refused(error): Refused) -> ubauc::Error {
        error
    }
}

impl From<Refused> for PyErr {
    fn from(Refused(error): Refused) -> PyErr {
        let message = error.to_string();
        match error {
            // What a Python function raised while the library waited for it.
            ubauc::Error::Rows(error) => match error.downcast::<PyErr>() {
                Ok(error) => *error,
                Err(error) => PyValueError::new_err(error.to_string()),
            },
            ubauc::Error::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
                ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
                _ => PyOSError::new_err(message),
            },
            // Wrong data, parameters and files; numbers that overflow, as scikit-learn has it.
            _ => PyValueError::new_err(message),
        }
    }
}

/// A word that is none of those known.
pub(crate) fn unknown(name: &str, value: &str, must: &str) -> PyErr {
    PyValueError::new_err(format!("{name} = {value:?}: must be {must}"))
}
