//! The data sets of an experiment: a training and a test part, two classes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use ubauc::checksum::Fnv1a;
use ubauc::data::dataset::{Dataset, Examples};
use ubauc::data::labels::{Binary, Choice};
use ubauc::data::rows::{Csr, Rows};
use ubauc::data::scale::Scale;
use ubauc::data::split::subset;
use ubauc::read::{self, ReadOptions};

use super::config::{Protocol, Set};
use crate::data::catalogue::Part;
use crate::data::{fetch_set, present};
use crate::output::Output;
use crate::scoring::ClassSides;

/// A data set, split.
pub(super) struct Split {
    /// As the paper names it.
    pub(super) name: String,
    pub(super) scale: Scale,
    pub(super) unit_rows: bool,
    /// Which rows these are, and how they were split.
    pub(super) identity: Value,
    /// All of it, if it is judged by cross-validation.
    pub(super) train: Dataset,
    pub(super) test: Option<Dataset>,
}

/// Where the files of a set are.
pub(super) struct Found {
    /// The directory below the data directory.
    pub(super) set: String,
    files: Files,
}

enum Files {
    Halves(PathBuf),
    Parts { train: PathBuf, test: PathBuf },
}

/// The set or its stand-in, whichever is here whole.
pub(super) fn find(dir: &Path, set: &Set) -> Option<Found> {
    let names = std::iter::once(&set.name).chain(&set.stand_in);
    names.into_iter().find_map(|name| {
        let first = |part| present(dir, name, part).into_iter().next();
        let parts = first(Part::Train).zip(first(Part::Test));
        let files = match (parts, first(Part::All)) {
            (Some((train, test)), _) => Files::Parts { train, test },
            (None, Some(all)) => Files::Halves(all),
            (None, None) => return None,
        };
        let set = name.clone();
        Some(Found { set, files })
    })
}

/// The same, downloaded where it is missing and the user named no directory.
pub(super) fn find_or_fetch(dir: &Path, set: &Set, fetches: bool, output: Output) -> Option<Found> {
    if let Some(found) = find(dir, set) {
        return Some(found);
    }
    if fetches && set.known().is_some() {
        if let Err(error) = fetch_set(&set.name, dir, output) {
            output.note(format!("note: {}: {error:#}", set.name));
        }
        return find(dir, set);
    }
    None
}

impl Found {
    /// Reads and splits it: by its files, or by random halves; many classes by random halves of them (E13).
    pub(super) fn read(&self, set: &Set, protocol: &Protocol) -> Result<Split> {
        let load = |path: &Path| load(path, set.unit_rows);
        let (train, test, sides) = match &self.files {
            Files::Halves(path) => {
                let in_file = || path.display().to_string();
                let (all, sides) = two_classes(load(path)?, protocol).with_context(in_file)?;
                if protocol.folds.is_some() {
                    return Ok(self.split(set, protocol, &sides, (all, None)));
                }
                let first = subset(all.rows().len(), 0.5, protocol.seed)?;
                let second: Vec<bool> = first.iter().map(|f| !f).collect();
                (all.part(&first)?, all.part(&second)?, sides)
            }
            Files::Parts { train, test } => {
                let in_file = || train.display().to_string();
                let (learned, sides) = two_classes(load(train)?, protocol).with_context(in_file)?;
                let judged = load(test)?;
                let in_file = || test.display().to_string();
                let labels = sides.apply(&judged.labels).with_context(in_file)?;
                let judged =
                    Dataset::new(judged.rows, labels, judged.names).with_context(in_file)?;
                if protocol.folds.is_some() {
                    let all = joined(&learned, &judged)?;
                    return Ok(self.split(set, protocol, &sides, (all, None)));
                }
                (learned, judged, sides)
            }
        };
        Ok(self.split(set, protocol, &sides, (train, Some(test))))
    }

    fn split(
        &self,
        set: &Set,
        protocol: &Protocol,
        sides: &ClassSides,
        (train, test): (Dataset, Option<Dataset>),
    ) -> Split {
        let halved = sides.partition.positive.len() + sides.partition.negative.len() > 2;
        let identity = json!({
            "set": self.set,
            "partition": halved.then_some(protocol.partition),
            "train": [train.n_pos(), train.n_neg()],
            "test": test.as_ref().map(|test| [test.n_pos(), test.n_neg()]),
            "dim": train.rows().cols(),
            "fingerprint": fingerprint([Some(&train), test.as_ref()]),
        });
        Split {
            name: set.name.clone(),
            scale: set.scale.unwrap_or(protocol.scale),
            unit_rows: set.unit_rows,
            identity,
            train,
            test,
        }
    }

    /// Training rows, test rows, features.
    pub(super) fn sizes(&self, protocol: &Protocol, set: &Set) -> Result<[u64; 3]> {
        let split = self.read(set, protocol)?;
        let rows = |data: &Dataset| data.rows().len() as u64;
        let cols = |data: &Dataset| data.rows().cols() as u64;
        let test = split.test.as_ref();
        let dim = cols(&split.train).max(test.map_or(0, cols));
        Ok([rows(&split.train), test.map_or(0, rows), dim])
    }
}

fn load(path: &Path, unit_rows: bool) -> Result<Examples> {
    let mut examples = read::read(path, &ReadOptions::default())?;
    if unit_rows {
        let rows = &examples.rows;
        let length = |i: usize| {
            rows.row(i)
                .entries()
                .map(|(_, x)| x * x)
                .sum::<f64>()
                .sqrt()
        };
        let divided = gathered(rows.cols(), (0..rows.len()).map(|i| (rows, i, length(i))))?;
        examples.rows = divided;
    }
    Ok(examples)
}

/// Rows of any origin, each divided by a number above 0, or left alone.
fn gathered<'a>(cols: usize, of: impl Iterator<Item = (&'a Rows, usize, f64)>) -> Result<Rows> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (rows, i, divisor) in of {
        let divisor = if divisor > 0.0 { divisor } else { 1.0 };
        for (j, x) in rows.row(i).entries().filter(|(_, x)| *x != 0.0) {
            indices.push(j as u32); // columns are below 2³¹, as read
            values.push(x / divisor);
        }
        starts.push(indices.len());
    }
    Ok(Rows::smaller(Csr::new(starts, indices, values, cols)?))
}

/// Both, one after the other.
fn joined(first: &Dataset, second: &Dataset) -> Result<Dataset> {
    let of = |data: &'_ Dataset| 0..data.rows().len();
    let rows = gathered(
        first.rows().cols().max(second.rows().cols()),
        of(first)
            .map(|i| (first.rows(), i, 1.0))
            .chain(of(second).map(|i| (second.rows(), i, 1.0))),
    )?;
    let labels = Binary {
        positive: [first.positive(), second.positive()].concat(),
        n_pos: first.n_pos() + second.n_pos(),
        n_neg: first.n_neg() + second.n_neg(),
        names: first.class_names().clone(),
    };
    Ok(Dataset::new(rows, labels, first.names().to_vec())?)
}

/// A number that labels and features of another data set are most unlikely to have: FNV-1a over their bits.
fn fingerprint(parts: [Option<&Dataset>; 2]) -> String {
    let mut hash = Fnv1a::default();
    let mut add = |word: u64| hash.add(&word.to_le_bytes());
    for data in parts.into_iter().flatten() {
        for (i, positive) in data.positive().iter().enumerate() {
            add(u64::from(*positive));
            for (j, x) in data.rows().row(i).entries().filter(|(_, x)| *x != 0.0) {
                add(j as u64);
                add(x.to_bits());
            }
        }
    }
    format!("{:016x}", hash.value())
}

fn two_classes(examples: Examples, protocol: &Protocol) -> Result<(Dataset, ClassSides)> {
    let choice = match examples.labels.classes().len() {
        0..=2 => Choice::Larger,
        _ => Choice::Partition(protocol.partition),
    };
    let binary = examples.labels.binary(&choice)?;
    let sides = ClassSides::new(&examples.labels, &binary, &choice);
    let data = Dataset::new(examples.rows, binary, examples.names)?;
    Ok((data, sides))
}

impl Split {
    /// Entries stored of the part to learn from: what a fit costs is nearly a multiple of them.
    pub(super) fn stored(&self) -> u64 {
        self.train.rows().stored() as u64
    }
}
