//! `ubauc data fetch` in a build that cannot download: it says where the files are.

use std::fmt::Write;

use anyhow::{Result, bail};
use clap::Args;

use super::catalogue::{BASE_URL, SETS};
use crate::output::Output;

/// Anything: the answer is always the same.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    ignored: Vec<String>,
}

/// Refuses, with the addresses of what was asked for, or of everything.
pub(crate) fn run(args: &FetchArgs, _: Output) -> Result<()> {
    let asked = |name: &str| args.ignored.iter().any(|word| word == name);
    let some = SETS.iter().any(|set| asked(set.name));
    let mut files = String::new();
    for set in SETS.iter().filter(|set| !some || asked(set.name)) {
        for source in set.sources {
            let (name, part, address) = (set.name, source.part, source.address);
            let end = if address.ends_with(".bz2") {
                ".bz2"
            } else {
                ""
            };
            let _ = write!(files, "\n  {BASE_URL}{address} as {name}/{part}.svm{end}");
        }
    }
    bail!(
        "this build cannot download (it was made without the feature `download`); get these files \
         some other way and put them into the data directory:{files}"
    )
}

/// Refuses in the same words.
pub(crate) fn fetch_set(name: &str, _: &std::path::Path, output: Output) -> Result<()> {
    let ignored = vec![name.to_string()];
    run(&FetchArgs { ignored }, output)
}
