//! Checkpoints: the state of a run in a directory, so that a killed run loses nothing.
//!
//! A file is a [`State`] in a [`container`].
//!
//! A file is written beside, made durable and renamed; then the directory is made durable. Names
//! carry the number of examples, and the last two stay: a damaged one leaves the one before. A
//! damaged file is set aside under another name, so that newer ones are never older by name.
//!
//! A run holds a lock of the system on the file `lock` in the directory; it ends with the process,
//! however that ends, and the file means nothing by itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ubauc::atomic::AtomicFile;
use ubauc::container::{self, Kind};
use ubauc::document::numbers::thousands;

use super::state::State;
use crate::args::WrongUsage;
use crate::lock::lock;
use crate::output::Output;

const PREFIX: &str = "checkpoint-";
const SUFFIX: &str = ".ubauc";
/// How many stay.
const KEPT: usize = 2;

/// A directory of checkpoints.
pub(super) struct Store {
    directory: PathBuf,
    /// Held until the run ends.
    _lock: File,
}

impl Store {
    /// The directory, made if there is none, for this run alone; one that cannot be written to is
    /// refused. What a killed run left half-written is removed.
    pub(super) fn open(directory: &Path) -> Result<Store> {
        let option = || format!("--checkpoint {}", directory.display());
        if directory.exists() && !directory.is_dir() {
            bail!("{}: is not a directory", option());
        }
        fs::create_dir_all(directory).with_context(option)?;
        let lock = lock(directory).with_context(option)?;
        // A lock of an earlier run may be there where no file can be made.
        let probe = directory.join(format!("{PREFIX}probe"));
        drop(AtomicFile::create(&probe).with_context(option)?);
        let store = Store {
            directory: directory.to_path_buf(),
            _lock: lock,
        };
        for name in store.names()? {
            if name.starts_with(&format!(".{PREFIX}")) && name.ends_with(".tmp") {
                let path = directory.join(name);
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(store)
    }

    /// Refuses a directory in use; `fresh` empties it.
    pub(super) fn begin(&self, fresh: bool) -> Result<()> {
        let old = self.checkpoints()?;
        if !fresh && !old.is_empty() {
            let what = format!(
                "--checkpoint {}: holds checkpoints of a run; go on from them (--resume) or throw \
                 them away (--fresh)",
                self.directory.display()
            );
            return Err(WrongUsage(what).into());
        }
        for path in old {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// The newest good state; `None` if there never was one. Damaged ones that are newer are reported
    /// and set aside. Where none is good all stay as they are.
    pub(super) fn newest(&self, output: Output) -> Result<Option<State>> {
        let found = self.checkpoints()?;
        let mut damaged = Vec::new();
        for path in found.iter().rev() {
            let bytes = fs::read(path).map_err(anyhow::Error::from);
            let error = match bytes.and_then(|bytes| parse(&bytes)) {
                Ok(state) => {
                    self.set_aside(&damaged)?;
                    return Ok(Some(state));
                }
                Err(error) => error,
            };
            output.note(format!("warning: {}: {error:#}", path.display()));
            damaged.push(path);
        }
        if found.is_empty() {
            output.note(format!(
                "note: {}: no checkpoint yet; starting from the beginning",
                self.directory.display()
            ));
            return Ok(None);
        }
        bail!(
            "{}: no checkpoint is good ({} damaged); --fresh starts over",
            self.directory.display(),
            thousands(found.len() as u64)
        )
    }

    fn set_aside(&self, damaged: &[&PathBuf]) -> Result<()> {
        for path in damaged {
            fs::rename(path, path.with_extension("damaged"))
                .with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Writes the state and drops all but the last two.
    pub(super) fn save(&self, state: &State) -> Result<()> {
        let name = format!("{PREFIX}{:020}{SUFFIX}", state.head.examples);
        let mut file = AtomicFile::create(&self.directory.join(name))?;
        file.put(&container::write(Kind::Checkpoint, state)?)?;
        file.commit()?;
        sync(&self.directory).with_context(|| self.directory.display().to_string())?;
        let mut all = self.checkpoints()?;
        all.truncate(all.len().saturating_sub(KEPT));
        for path in all {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// In the order of their examples, which is that of their names.
    fn checkpoints(&self) -> Result<Vec<PathBuf>> {
        let mut names = self.names()?;
        names.retain(|name| {
            let digits = name
                .strip_prefix(PREFIX)
                .and_then(|n| n.strip_suffix(SUFFIX));
            digits.is_some_and(|d| d.len() == 20 && d.bytes().all(|b| b.is_ascii_digit()))
        });
        names.sort_unstable();
        Ok(names.iter().map(|name| self.directory.join(name)).collect())
    }

    fn names(&self) -> Result<Vec<String>> {
        let list = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in fs::read_dir(&self.directory)? {
                names.extend(entry?.file_name().into_string().ok());
            }
            Ok(names)
        };
        list().with_context(|| self.directory.display().to_string())
    }
}

/// A renamed file stays renamed after a power failure.
#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Elsewhere a directory cannot be opened as a file.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Errors do not name what is wrong: the path goes before them.
fn parse(bytes: &[u8]) -> Result<State> {
    container::read(Kind::Checkpoint, bytes).map_err(|error| match error {
        ubauc::Error::Container { fault, .. } => fault.into(),
        other => other.into(),
    })
}
