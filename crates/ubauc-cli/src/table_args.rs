//! The options that say what the columns of a table hold.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use ubauc::read::table::{ColumnChoice, TableOptions};

use crate::column_list::{ColumnList, all_names};
use crate::input::TABLES;

/// What the columns of a table hold, where the file does not tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct TableArgs {
    /// Columns of numbers, whatever they look like: a text in one of them is an error
    #[arg(long, value_name = "COLUMN,…", value_parser = ColumnList::parse)]
    numeric: Vec<ColumnList>,
    /// Columns of categories, whatever they look like, such as codes written as numbers; all for every column
    #[arg(long, value_name = "COLUMN,…", value_parser = ColumnList::parse)]
    categorical: Vec<ColumnList>,
    #[arg(
        long,
        value_name = "COLUMN,…",
        value_parser = ColumnList::parse,
        help = format!(
            "Columns to leave out ({TABLES}), separated by commas; a name with a comma stands in double quotes. May be \
             given several times"
        )
    )]
    ignore: Vec<ColumnList>,
    /// Texts that stand for a missing value, separated by commas; an empty field always does [default: NA, N/A, NaN, null,
    /// None, ? and the like]
    #[arg(long, value_name = "TEXT,…", value_parser = ColumnList::parse, allow_hyphen_values = true)]
    missing: Option<ColumnList>,
}

impl TableArgs {
    /// What was typed, to be typed again.
    pub(crate) fn typed(&self) -> Vec<(&'static str, Option<String>)> {
        let mut typed = Vec::new();
        for (option, lists) in [
            ("--numeric", &self.numeric),
            ("--categorical", &self.categorical),
            ("--ignore", &self.ignore),
        ] {
            typed.extend(lists.iter().map(|list| (option, Some(list.to_string()))));
        }
        let missing = self.missing.as_ref();
        typed.extend(missing.map(|list| ("--missing", Some(list.to_string()))));
        typed
    }

    /// The same by the names of the options, for a checkpoint to agree with.
    pub(crate) fn settings(&self) -> Vec<(String, Value)> {
        let missing = self.missing.as_ref().map(|list| list.names().to_vec());
        vec![
            ("numeric".to_string(), json!(all_names(&self.numeric))),
            (
                "categorical".to_string(),
                json!(all_names(&self.categorical)),
            ),
            ("ignore".to_string(), json!(self.ignore())),
            ("missing".to_string(), json!(missing)),
        ]
    }

    /// Columns to leave out.
    pub(crate) fn ignore(&self) -> Vec<String> {
        all_names(&self.ignore)
    }

    /// Puts what was typed into the options of a reader.
    pub(crate) fn apply<'a>(&self, options: TableOptions<'a>) -> TableOptions<'a> {
        let categorical = all_names(&self.categorical);
        TableOptions {
            numeric: all_names(&self.numeric),
            categorical: match categorical.as_slice() {
                [all] if all == "all" => ColumnChoice::All,
                _ => ColumnChoice::Names(categorical),
            },
            ignore: self.ignore(),
            missing: self.missing.as_ref().map(|list| list.names().to_vec()),
            ..options
        }
    }

    /// svmlight has neither names nor texts.
    pub(crate) fn refuse_for_svmlight(&self) -> Result<()> {
        if let Some((option, _)) = self
            .typed()
            .iter()
            .find(|(option, _)| *option != "--ignore")
        {
            bail!("{option} is for the columns of a table; svmlight has numbers only");
        }
        Ok(())
    }
}
