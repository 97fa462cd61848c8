//! Files that appear whole or not at all.
//!
//! The bytes go to a temporary file beside the target; [`AtomicFile::commit`] makes them durable
//! and renames it, and a drop without commit removes it. A run that is killed may leave the
//! temporary file (`.name.XXXXXX.tmp`) behind, never half of the target.
//!
//! What cannot be replaced by renaming is written in place: standard output (`-`), pipes and
//! devices such as `/dev/null`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result};

const BUFFER: usize = 1 << 18;

/// A buffered writer to a file that is replaced on [`commit`](AtomicFile::commit).
#[derive(Debug)]
pub struct AtomicFile {
    sink: BufWriter<Sink>,
    name: PathBuf,
}

#[derive(Debug)]
enum Sink {
    Beside {
        temporary: NamedTempFile,
        target: PathBuf,
    },
    InPlace(File),
    Stdout(io::Stdout),
}

impl AtomicFile {
    /// Prepares to write `path`, or standard output for `-`. An existing file keeps its
    /// permissions and a symbolic link stays one; a new file gets what the umask allows.
    pub fn create(path: &Path) -> Result<Self> {
        let name = if is_stdout(path) {
            PathBuf::from("<stdout>")
        } else {
            path.to_path_buf()
        };
        match open(path) {
            Ok(sink) => Ok(Self {
                sink: BufWriter::with_capacity(BUFFER, sink),
                name,
            }),
            Err(error) => Err(unwritable(name, error)),
        }
    }

    /// Writes all the bytes; unlike `write_all`, an error says to which file.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink
            .write_all(bytes)
            .map_err(|error| unwritable(self.name.clone(), error))
    }

    /// Puts the finished file in its place.
    pub fn commit(self) -> Result<()> {
        let finish = |sink: BufWriter<Sink>| -> io::Result<()> {
            match sink.into_inner().map_err(io::IntoInnerError::into_error)? {
                Sink::Beside { temporary, target } => {
                    temporary.as_file().sync_all()?;
                    temporary.persist(target)?;
                    Ok(())
                }
                Sink::InPlace(mut file) => file.flush(),
                Sink::Stdout(mut stdout) => stdout.flush(),
            }
        };
        finish(self.sink).map_err(|error| unwritable(self.name, error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Beside { temporary, .. } => temporary.write(bytes),
            Sink::InPlace(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Beside { temporary, .. } => temporary.flush(),
            Sink::InPlace(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Whether a file name means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Says that it was writing that failed; the kind of the error stays.
fn unwritable(path: PathBuf, error: io::Error) -> Error {
    let source = io::Error::new(error.kind(), format!("cannot be written: {error}"));
    Error::Io { path, source }
}

fn open(path: &Path) -> io::Result<Sink> {
    if is_stdout(path) {
        return Ok(Sink::Stdout(io::stdout()));
    }
    let existing = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(metadata) if !metadata.is_file() => {
            return Ok(Sink::InPlace(OpenOptions::new().write(true).open(path)?));
        }
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let target = match existing {
        Some(_) => fs::canonicalize(path)?,
        None => path.to_owned(),
    };
    let (Some(name), Some(directory)) = (target.file_name(), target.parent()) else {
        return Err(io::Error::other("names no file"));
    };
    let directory = match directory {
        empty if empty.as_os_str().is_empty() => Path::new("."),
        directory => directory,
    };

    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less the umask, as for any new file; the crate's default would be 0600.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(directory)?;
    if let Some(metadata) = existing {
        temporary
            .as_file()
            .set_permissions(metadata.permissions())?;
    }
    Ok(Sink::Beside { temporary, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn target_appears_at_commit_and_not_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.txt");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"hello").unwrap();
        file.flush().unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"hello");
        assert_eq!(names(directory.path()), ["out.txt"]);
    }

    #[test]
    fn without_commit_the_old_file_stays_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.txt");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(&vec![b'x'; 2 * BUFFER]).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["out.txt"]);
    }

    #[test]
    fn directories_and_missing_directories_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert!(AtomicFile::create(directory.path()).is_err());
        assert!(AtomicFile::create(&directory.path().join("none/out.txt")).is_err());
        assert!(AtomicFile::create(Path::new("")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let plain = directory.path().join("plain");
        fs::write(&plain, "").unwrap();
        let new = directory.path().join("new");
        AtomicFile::create(&new).unwrap().commit().unwrap();
        assert_eq!(mode(&new), mode(&plain));
        fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
        AtomicFile::create(&new).unwrap().commit().unwrap();
        assert_eq!(mode(&new), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_survive() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().join("real");
        let link = directory.path().join("link");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");

        let mut null = AtomicFile::create(Path::new("/dev/null")).unwrap();
        null.write_all(b"gone").unwrap();
        null.commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
