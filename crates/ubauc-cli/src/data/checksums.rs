//! Checksums: the file `SHA256SUMS` in the data directory, and what a data file holds.
//!
//! `SHA256SUMS` is what `sha256sum` writes, so `sha256sum -c SHA256SUMS` in the data directory
//! checks everything too. Lines of other origin are kept.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bzip2::read::MultiBzDecoder;
use sha2::{Digest, Sha256};
use ubauc::atomic::AtomicFile;

const FILE: &str = "SHA256SUMS";

/// The sum recorded for a file, which is named relative to the data directory with `/`.
pub(super) fn recorded(dir: &Path, name: &str) -> Result<Option<String>> {
    let (_, text) = read(dir)?;
    Ok(text
        .lines()
        .find_map(|line| entry(line).filter(|&(_, of)| of == name))
        .map(|(sum, _)| sum.to_ascii_lowercase()))
}

/// Records the sum of a file, in place of an older one.
pub(super) fn record(dir: &Path, name: &str, sum: &str) -> Result<()> {
    rewrite(dir, name, &format!("{sum}  {name}\n"))
}

/// Removes the record of a file.
pub(super) fn forget(dir: &Path, name: &str) -> Result<()> {
    rewrite(dir, name, "")
}

fn rewrite(dir: &Path, name: &str, new: &str) -> Result<()> {
    let (path, text) = read(dir)?;
    let mut file = AtomicFile::create(&path)?;
    for line in text
        .lines()
        .filter(|line| entry(line).is_none_or(|(_, of)| of != name))
    {
        file.put(format!("{line}\n").as_bytes())?;
    }
    file.put(new.as_bytes())?;
    Ok(file.commit()?)
}

fn read(dir: &Path) -> Result<(PathBuf, String)> {
    let path = dir.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((path, String::new())),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// `sum  name`, or `sum *name` as written with `--binary`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (sum, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?;
    (sum.len() == 64).then_some((sum, name))
}

/// What a data file holds.
#[derive(Debug)]
pub(super) struct Sums {
    /// Of the file as it is stored.
    pub(super) stored: String,
    /// Of its uncompressed content, where that is known: plain text and bzip2.
    pub(super) content: Option<String>,
}

/// The sum of a file as it is stored.
pub(super) fn stored_sum(path: &Path) -> Result<String> {
    let sum = || -> io::Result<String> {
        let mut hashed = Hashed::new(File::open(path)?);
        io::copy(&mut hashed, &mut io::sink())?;
        Ok(hashed.finish())
    };
    sum().with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a file to its end, decompressing what is named `….bz2` (as `name` says, for `path` may be
/// a partial file's). What is not data, such as the log-in page of a network, is refused.
pub(super) fn inspect(path: &Path, name: &str) -> Result<Sums> {
    if name.ends_with(".bz2") {
        let stored = Hashed::new(File::open(path)?);
        let mut content = Hashed::new(MultiBzDecoder::new(stored));
        io::copy(&mut content, &mut io::sink()).context("not a whole bzip2 file")?;
        let mut stored = content.inner.into_inner();
        io::copy(&mut stored, &mut io::sink())?;
        return Ok(Sums {
            stored: stored.finish(),
            content: Some(hex(content.hash)),
        });
    }
    let stored = stored_sum(path)?;
    if !name.ends_with(".svm") {
        return Ok(Sums {
            stored,
            content: None,
        });
    }
    let mut first = [0];
    let some = File::open(path)?.read(&mut first)? > 0;
    if !some || !matches!(first[0], b'0'..=b'9' | b'+' | b'-') {
        bail!("not data: an svmlight file starts with a label");
    }
    Ok(Sums {
        content: Some(stored.clone()),
        stored,
    })
}

/// A reader that hashes what goes through it.
struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R> Hashed<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
        }
    }

    fn finish(self) -> String {
        hex(self.hash)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hash.update(&buffer[..n]);
        Ok(n)
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn sums_are_those_of_the_standard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        fs::write(&path, "abc").unwrap();
        assert_eq!(stored_sum(&path).unwrap(), ABC);
    }

    #[test]
    fn records_are_replaced_and_strange_lines_kept() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert_eq!(recorded(dir, "a/train.svm").unwrap(), None);
        fs::write(
            dir.join(FILE),
            format!("# mine\n{} *b/all.svm\n", ABC.to_uppercase()),
        )
        .unwrap();
        assert_eq!(recorded(dir, "b/all.svm").unwrap().as_deref(), Some(ABC));
        record(dir, "a/train.svm", &ABC.replace('b', "c")).unwrap();
        record(dir, "a/train.svm", ABC).unwrap();
        forget(dir, "b/all.svm").unwrap();
        let text = fs::read_to_string(dir.join(FILE)).unwrap();
        assert_eq!(text, format!("# mine\n{ABC}  a/train.svm\n"));
    }

    #[test]
    fn content_is_told_apart_from_its_compression() {
        let dir = tempfile::tempdir().unwrap();
        let (plain, packed) = (dir.path().join("plain"), dir.path().join("packed"));
        fs::write(&plain, "+1 1:2\n").unwrap();
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(b"+1 1:2\n").unwrap();
        let mut bytes = encoder.finish().unwrap();
        fs::write(&packed, &bytes).unwrap();
        let plain = inspect(&plain, "train.svm").unwrap();
        let sums = inspect(&packed, "train.svm.bz2").unwrap();
        assert_eq!(plain.content.as_ref(), Some(&plain.stored));
        assert_eq!(sums.content, plain.content);
        assert_eq!(sums.stored, stored_sum(&packed).unwrap());
        bytes.pop();
        fs::write(&packed, &bytes).unwrap();
        assert!(inspect(&packed, "train.svm.bz2").is_err());
    }

    #[test]
    fn web_pages_and_empty_files_are_no_data() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for text in ["<html>log in</html>", ""] {
            fs::write(&path, text).unwrap();
            assert!(inspect(&path, "train.svm").is_err(), "{text:?}");
        }
    }
}
