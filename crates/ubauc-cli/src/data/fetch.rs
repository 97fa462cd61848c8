//! `ubauc data fetch`: from the LIBSVM data page into the data directory.
//!
//! A file is downloaded as `….part`, read through, and renamed only then; its sum goes to
//! `SHA256SUMS` the first time and is compared on later runs. An interrupted run continues.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Table};

use super::catalogue::{BASE_URL, DataSet, SETS, Source};
use super::download::{Downloader, Transfer, Unreachable};
use super::{DirArg, checksums, present};
use crate::output::{Output, Report};

/// What was typed after `ubauc data fetch`.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// Data sets to download
    #[arg(value_name = "NAME", required_unless_present = "all", value_parser = names())]
    names: Vec<String>,
    /// All data sets of the paper
    #[arg(long, conflicts_with = "names")]
    all: bool,
    #[command(flatten)]
    dir: DirArg,
    /// Address that has the folders binary/ and multiclass/
    #[arg(long, value_name = "URL", default_value = BASE_URL)]
    base_url: String,
    /// Download again and replace what is there
    #[arg(long)]
    force: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SETS.iter().map(|set| set.name))
}

/// Fetches what is not there and checks what is.
pub(crate) fn run(args: &FetchArgs, output: Output) -> Result<()> {
    let fetcher = Fetcher {
        dir: args.dir.path(),
        base_url: args.base_url.trim_end_matches('/').to_owned(),
        force: args.force,
        downloader: Downloader::new(output),
        output,
    };
    let sets: Vec<&DataSet> = if args.all {
        SETS.iter().filter(|set| set.paper.is_some()).collect()
    } else {
        args.names
            .iter()
            .filter_map(|name| DataSet::named(name))
            .collect()
    };
    let mut errors = Vec::new();
    let mut files = Vec::new();
    'sets: for set in sets {
        for source in set.sources {
            match fetcher.fetch(set, source) {
                Ok(file) => files.push(file),
                Err(error) => {
                    let unreachable = error.is::<Unreachable>();
                    errors.push(error);
                    if unreachable {
                        break 'sets; // the others are at the same address
                    }
                }
            }
        }
    }
    let failed = errors.iter().map(|error| format!("{error:#}")).collect();
    if output.json() || !output.quiet {
        output.report(&Fetched {
            dir: fetcher.dir,
            files,
            failed,
        })?;
    }
    summarise(errors)
}

/// Fetches the parts of one set that are not there.
pub(crate) fn fetch_set(name: &str, dir: &Path, output: Output) -> Result<()> {
    let set = DataSet::named(name).with_context(|| format!("no data set '{name}'"))?;
    let fetcher = Fetcher {
        dir: dir.to_path_buf(),
        base_url: BASE_URL.trim_end_matches('/').to_owned(),
        force: false,
        downloader: Downloader::new(output),
        output,
    };
    for source in set.sources {
        fetcher.fetch(set, source)?;
    }
    Ok(())
}

fn summarise(mut errors: Vec<Error>) -> Result<()> {
    match errors.len() {
        0 => Ok(()),
        1 => Err(errors.remove(0)),
        n => {
            let lines: String = errors
                .iter()
                .map(|error| format!("\n  {error:#}"))
                .collect();
            Err(anyhow!("{n} files failed:{lines}"))
        }
    }
}

struct Fetcher {
    dir: PathBuf,
    base_url: String,
    force: bool,
    downloader: Downloader,
    output: Output,
}

/// One way to get a source: with or without `.bz2`.
struct Candidate {
    url: String,
    /// Where it goes, relative to the data directory, with `/`.
    name: String,
}

impl Fetcher {
    fn fetch(&self, set: &DataSet, source: &Source) -> Result<FetchedFile> {
        let here = present(&self.dir, set.name, source.part);
        match here.first() {
            Some(path) if !self.force => self.check(set, source, path),
            _ => self.download(set, source, &here),
        }
    }

    /// Compares a file that is there with its record, or records it if it is new.
    fn check(&self, set: &DataSet, source: &Source, path: &Path) -> Result<FetchedFile> {
        let name = relative(set, path);
        let bytes = fs::metadata(path)
            .with_context(|| format!("cannot read {}", path.display()))?
            .len();
        let Some(expected) = checksums::recorded(&self.dir, &name)? else {
            let sums = checksums::inspect(path, &name)
                .with_context(|| format!("{} (--force replaces it)", path.display()))?;
            checksums::record(&self.dir, &name, &sums.stored)?;
            let content = self.compare(&name, source, sums.content.as_deref());
            let (status, sha256) = (Status::Recorded, sums.stored);
            return Ok(FetchedFile {
                name,
                status,
                bytes,
                resumed_from: 0,
                sha256,
                content,
            });
        };
        let sha256 = checksums::stored_sum(path)?;
        if sha256 != expected {
            bail!(
                "{}: the file has changed since it was fetched: its sha256 is {sha256}, \
                 SHA256SUMS has {expected}; --force downloads it again",
                path.display()
            );
        }
        let (status, content) = (Status::AlreadyThere, Content::NotChecked);
        Ok(FetchedFile {
            name,
            status,
            bytes,
            resumed_from: 0,
            sha256,
            content,
        })
    }

    /// Downloads the first candidate the server has.
    fn download(&self, set: &DataSet, source: &Source, old: &[PathBuf]) -> Result<FetchedFile> {
        let candidates = self.candidates(set, source);
        for candidate in &candidates {
            let partial = self.dir.join(format!("{}.part", candidate.name));
            self.output.note(format_args!("fetching {}", candidate.url));
            let transfer = self
                .downloader
                .complete(&candidate.url, &partial)
                .map_err(|error| self.explain(error, candidate))?;
            if let Some(transfer) = transfer {
                return self.accept(source, candidate, &partial, transfer, old);
            }
        }
        let urls: Vec<&str> = candidates
            .iter()
            .map(|candidate| candidate.url.as_str())
            .collect();
        bail!(
            "{}: the server has neither {}",
            set.name,
            urls.join(" nor ")
        )
    }

    fn candidates(&self, set: &DataSet, source: &Source) -> [Candidate; 2] {
        let plain = source
            .address
            .strip_suffix(".bz2")
            .unwrap_or(source.address);
        let candidate = |suffix: &str| Candidate {
            url: format!("{}/{plain}{suffix}", self.base_url),
            name: format!("{}/{}.svm{suffix}", set.name, source.part),
        };
        let (plain_one, packed) = (candidate(""), candidate(".bz2"));
        if source.address.ends_with(".bz2") {
            [packed, plain_one]
        } else {
            [plain_one, packed]
        }
    }

    /// Checks a complete partial file and puts it in its place.
    fn accept(
        &self,
        source: &Source,
        candidate: &Candidate,
        partial: &Path,
        transfer: Transfer,
        old: &[PathBuf],
    ) -> Result<FetchedFile> {
        let name = candidate.name.clone();
        let target = self.dir.join(&name);
        let sums = match checksums::inspect(partial, &name) {
            Ok(sums) => sums,
            Err(error) => {
                // There is nothing to continue from.
                let _ = fs::remove_file(partial);
                let what = format!(
                    "what came from {} is damaged, and was removed",
                    candidate.url
                );
                return Err(error.context(what));
            }
        };
        fs::rename(partial, &target)
            .with_context(|| format!("cannot rename {} to {name}", partial.display()))?;
        checksums::record(&self.dir, &name, &sums.stored)?;
        self.remove_replaced(old, &target)?;
        Ok(FetchedFile {
            content: self.compare(&name, source, sums.content.as_deref()),
            name,
            status: Status::Downloaded,
            bytes: transfer.bytes,
            resumed_from: transfer.resumed_from,
            sha256: sums.stored,
        })
    }

    /// Removes the same rows under other names (`train.svm.zst` beside a new `train.svm.bz2`).
    fn remove_replaced(&self, old: &[PathBuf], new: &Path) -> Result<()> {
        for path in old.iter().filter(|path| *path != new) {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
            self.output.note(format_args!(
                "removed {}, replaced by the new one",
                path.display()
            ));
            if let Ok(name) = path.strip_prefix(&self.dir) {
                checksums::forget(&self.dir, &name.to_string_lossy().replace('\\', "/"))?;
            }
        }
        Ok(())
    }

    fn compare(&self, name: &str, source: &Source, content: Option<&str>) -> Content {
        match (content, source.sha256) {
            (Some(content), Some(expected)) if content == expected => Content::AsCatalogued,
            (Some(content), Some(expected)) => {
                self.output.note(format_args!(
                    "warning: {name}: its content (sha256 {content}) is not that of the copy the \
                     catalogue knows ({expected}); the page may have another version"
                ));
                Content::Differs
            }
            _ => Content::NotChecked,
        }
    }

    /// Says which file it was, and what a user without a network can do.
    fn explain(&self, error: Error, candidate: &Candidate) -> Error {
        let url = &candidate.url;
        match error.downcast::<Unreachable>() {
            Ok(Unreachable(reason)) => Error::new(Unreachable(format!(
                "cannot reach the server ({reason}); offline? wanted {url}: get it some other way \
                 and save it as {}",
                self.dir.join(&candidate.name).display()
            ))),
            Err(error) => error.context(url.clone()),
        }
    }
}

/// `a9a/train.svm` for a path that ends so.
fn relative(set: &DataSet, path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{}/{file}", set.name)
}

#[derive(Serialize)]
struct Fetched {
    dir: PathBuf,
    files: Vec<FetchedFile>,
    failed: Vec<String>,
}

#[derive(Serialize)]
struct FetchedFile {
    name: String,
    status: Status,
    bytes: u64,
    resumed_from: u64,
    sha256: String,
    content: Content,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Status {
    Downloaded,
    /// There, and as recorded.
    AlreadyThere,
    /// There without a record, which was made now.
    Recorded,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Content {
    AsCatalogued,
    Differs,
    NotChecked,
}

impl Report for Fetched {
    fn document(&self) -> Document {
        let mut table = Table::new(["file", "bytes", "status"]).left(&[2]);
        for file in &self.files {
            let status = match file.status {
                Status::Downloaded if file.resumed_from > 0 => "downloaded the rest",
                Status::Downloaded => "downloaded",
                Status::AlreadyThere => "already there, as recorded",
                Status::Recorded => "already there, recorded now",
            };
            let content = match file.content {
                Content::AsCatalogued => "; content as catalogued",
                Content::Differs => "; content differs from the catalogue",
                Content::NotChecked => "",
            };
            let (name, bytes) = (file.name.clone(), thousands(file.bytes));
            table.row([name, bytes, format!("{status}{content}")]);
        }
        let found = Document::default();
        match table.rows.is_empty() {
            true => found,
            false => found.with(table),
        }
    }
}
