//! A directory that one run at a time may write to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Locks a directory; refuses one that is locked. Where the system has no locks there is none.
pub(crate) fn lock(directory: &Path) -> Result<File> {
    let mut open = OpenOptions::new();
    open.write(true).create(true).truncate(false);
    let path = directory.join("lock");
    let file = open.open(&path).context("cannot be written to")?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another run uses {}", directory.display()),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(error).context("cannot be locked"),
    }
}
