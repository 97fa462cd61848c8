//! `--group COLUMN`: which examples are of one group, for intervals and tests between groups.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use ubauc::Error;
use ubauc::data::table::Values;
use ubauc::read::table::{
    GivenColumn, GivenKind, OnError, TableBatch, TableBatches, TableOptions, table_batches,
};

use crate::args::WrongUsage;
use crate::input::{FormatArgs, TABLES};

#[derive(Debug, Args)]
pub(crate) struct GroupArg {
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!(
            "Column of groups ({TABLES}), such as the number of a patient: only groups are independent, so that intervals and \
             tests are those between groups"
        )
    )]
    group: Option<String>,
}

impl GroupArg {
    pub(crate) fn name(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// No interval is for both.
    pub(crate) fn refuse_with_weights(&self, weighted: bool) -> Result<()> {
        if self.group.is_some() && weighted {
            let what = "--weight and --group: there is no interval of AUC for both";
            return Err(WrongUsage(what.to_string()).into());
        }
        Ok(())
    }

    /// The groups of the `n` examples of a file of scores, if they were asked for.
    pub(crate) fn read(
        &self,
        path: &Path,
        format: &FormatArgs,
        n: usize,
    ) -> Result<Option<Vec<u32>>> {
        let rows = ReadRows::default();
        let read = |column: &String| read_groups(path, column, format, (&rows, n));
        self.group.as_ref().map(read).transpose()
    }
}

/// How the rows were read whose groups are wanted: lines that were left out then are left out again.
#[derive(Default)]
pub(crate) struct ReadRows {
    pub(crate) columns: Vec<GivenColumn>,
    pub(crate) label: Option<String>,
    pub(crate) missing: Option<Vec<String>>,
    pub(crate) on_error: OnError,
}

impl ReadRows {
    /// Of complete numbers in columns of these names.
    pub(crate) fn numbers(names: &[String], label: String, on_error: OnError) -> ReadRows {
        let column = |name: &String| GivenColumn {
            name: name.clone(),
            kind: GivenKind::CompleteNumber,
        };
        ReadRows {
            columns: names.iter().map(column).collect(),
            label: Some(label),
            missing: None,
            on_error,
        }
    }

    /// Where no line is left out, only the groups are looked at.
    fn options<'a>(&self, column: &str, format: &FormatArgs) -> TableBatches<'a> {
        let mut columns = vec![GivenColumn {
            name: column.to_string(),
            kind: GivenKind::Category,
        }];
        let skips = self.on_error == OnError::Skip;
        let others = self.columns.iter().filter(|other| other.name != column);
        columns.extend(others.filter(|_| skips).cloned());
        TableBatches {
            columns,
            optional_label: !skips,
            read: TableOptions {
                label: self.label.clone().filter(|_| skips),
                missing: self.missing.clone(),
                ..format.table_options()
            },
            classes: None,
            notice_others: false,
            on_error: self.on_error,
        }
    }
}

/// The groups in a column, numbered in the order in which they come. The file is read for this column alone; texts that
/// differ are different groups.
pub(crate) fn read_groups(
    path: &Path,
    column: &str,
    format: &FormatArgs,
    (rows, n): (&ReadRows, usize),
) -> Result<Vec<u32>> {
    if path == Path::new("-") {
        let what =
            "--group: its column is read in a second pass, and standard input has one; name a file";
        return Err(WrongUsage(what.to_string()).into());
    }
    let options = rows.options(column, format);
    let mut groups = Groups {
        column,
        of_rows: Vec::new(),
        known: HashMap::new(),
    };
    let read = table_batches(path, &options, |batch| batch, |batch| groups.add(&batch));
    read.map_err(|error| match error.is::<Error>() {
        true => about_groups(error, column),
        false => error.context(path.display().to_string()),
    })?;
    let found = groups.of_rows;
    if found.len() != n {
        bail!(
            "{}: {} rows have a group in column '{column}', and {n} were scored",
            path.display(),
            found.len()
        );
    }
    Ok(found)
}

/// An error that names the option, where it is about the column of groups.
pub(crate) fn about_groups(error: anyhow::Error, column: &str) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(Error::NoColumn { path, what, .. }) if what.starts_with(&format!(" '{column}'")) => {
            NoGroups(format!("{}: --group: no column{what}", path.display())).into()
        }
        _ => error,
    }
}

/// A file has no column of groups.
#[derive(Debug)]
pub(crate) struct NoGroups(String);

impl fmt::Display for NoGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoGroups {}

struct Groups<'a> {
    column: &'a str,
    of_rows: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Groups<'_> {
    fn add(&mut self, batch: &TableBatch) -> Result<()> {
        let column = batch.table.column(self.column).map(|column| &column.values);
        let Some(Values::Category { codes, levels }) = column else {
            bail!("no column '{}'", self.column);
        };
        let mut number = |level: &String| {
            let next = self.known.len() as u32;
            *self.known.entry(level.clone()).or_insert(next)
        };
        let of_level: Vec<u32> = levels.iter().map(&mut number).collect();
        for code in codes {
            match of_level.get(*code as usize) {
                Some(group) => self.of_rows.push(*group),
                None => bail!(
                    "example {} has no group in column '{}'; give it one, or leave it out",
                    self.of_rows.len() + 1,
                    self.column
                ),
            }
        }
        Ok(())
    }
}
