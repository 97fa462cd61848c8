//! `--group COLUMN`: which examples are of one group, for intervals and tests between groups.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
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

    /// The groups of the `n` examples of a file, if they were asked for.
    pub(crate) fn read(
        &self,
        path: &Path,
        format: &FormatArgs,
        n: usize,
    ) -> Result<Option<Vec<u32>>> {
        let read = |column: &String| read_groups(path, column, format, n);
        self.group.as_ref().map(read).transpose()
    }
}

/// The groups in a column, numbered in the order in which they come. The file is read for this column alone; texts that
/// differ are different groups.
pub(crate) fn read_groups(
    path: &Path,
    column: &str,
    format: &FormatArgs,
    n: usize,
) -> Result<Vec<u32>> {
    if path == Path::new("-") {
        let what =
            "--group: its column is read in a second pass, and standard input has one; name a file";
        return Err(WrongUsage(what.to_string()).into());
    }
    let options = TableBatches {
        columns: vec![GivenColumn {
            name: column.to_string(),
            kind: GivenKind::Category,
        }],
        optional_label: true,
        read: TableOptions {
            label: None,
            ..format.table_options()
        },
        classes: None,
        notice_others: false,
        on_error: OnError::Stop,
    };
    let mut groups = Groups {
        column,
        of_rows: Vec::new(),
        known: HashMap::new(),
    };
    table_batches(path, &options, |batch| batch, |batch| groups.add(&batch))?;
    let found = groups.of_rows;
    if found.len() != n {
        bail!(
            "{}: {} rows have a group in column '{column}', and {n} were scored; lines that were skipped have no place here",
            path.display(),
            found.len()
        );
    }
    Ok(found)
}

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
