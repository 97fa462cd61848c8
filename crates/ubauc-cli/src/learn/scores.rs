//! The scores of `--predict`: a line an example, written through when a batch is done.
//!
//! A checkpoint knows how many bytes of a file were written before it; a resumed run cuts the file
//! there and goes on, so that no score is lost and none is there twice.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ubauc::atomic::is_stdout;

pub(super) struct Scores {
    sink: Sink,
    name: PathBuf,
    /// Of the file, cut or not.
    bytes: u64,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    File(BufWriter<File>),
}

impl Scores {
    /// Opens the output; `resumed` is the length that a checkpoint knows.
    pub(super) fn open(path: &Path, resumed: Option<u64>) -> Result<Scores> {
        let in_file = || path.display().to_string();
        let mut scores = if is_stdout(path) {
            Scores {
                sink: Sink::Stdout(BufWriter::new(io::stdout())),
                name: PathBuf::from("standard output"),
                bytes: 0,
            }
        } else {
            let mut open = OpenOptions::new();
            open.write(true).create(true).truncate(resumed.is_none());
            let mut file = open.open(path).with_context(in_file)?;
            if let Some(length) = resumed.filter(|_| file.metadata().is_ok_and(|m| m.is_file())) {
                let found = file.metadata().with_context(in_file)?.len();
                if found < length {
                    bail!(
                        "{}: has {found} bytes, {length} when the checkpoint was written; are \
                         these its scores?",
                        path.display()
                    );
                }
                file.set_len(length).with_context(in_file)?;
                file.seek(SeekFrom::End(0)).with_context(in_file)?;
            }
            Scores {
                sink: Sink::File(BufWriter::new(file)),
                name: path.to_path_buf(),
                bytes: resumed.unwrap_or(0),
            }
        };
        if resumed.unwrap_or(0) == 0 {
            scores.line("score")?;
        }
        Ok(scores)
    }

    pub(super) fn put(&mut self, score: f64) -> Result<()> {
        self.line(&score.to_string())
    }

    fn line(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64 + 1;
        let written = match &mut self.sink {
            Sink::Stdout(out) => writeln!(out, "{text}"),
            Sink::File(out) => writeln!(out, "{text}"),
        };
        written.with_context(|| self.name.display().to_string())
    }

    /// Everything put is seen by readers.
    pub(super) fn flush(&mut self) -> Result<()> {
        let flushed = match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::File(out) => out.flush(),
        };
        flushed.with_context(|| self.name.display().to_string())
    }

    /// Everything put in a file is on the disk; this many bytes. What reads a pipe has had its scores
    /// or is gone.
    pub(super) fn sync(&mut self) -> Result<u64> {
        let Sink::File(out) = &mut self.sink else {
            return Ok(self.bytes);
        };
        let is_file = out.get_ref().metadata().is_ok_and(|m| m.is_file());
        let flushed = out.flush();
        let synced = flushed.and_then(|()| match is_file {
            true => out.get_ref().sync_all(),
            false => Ok(()),
        });
        synced.with_context(|| self.name.display().to_string())?;
        Ok(self.bytes)
    }
}
