//! `ubauc reproduce table1`: the sizes of the data sets.

use anyhow::Result;

use super::config::Config;
use super::render::{SizeTableView, SizeView};
use super::sets::find_or_fetch;
use super::{Asked, publish};
use crate::output::Output;

pub(super) fn run(config: &Config, asked: &Asked, output: Output) -> Result<()> {
    let dir = asked.data.path();
    let mut sizes = Vec::new();
    for set in asked.datasets(&config.datasets)? {
        let found = find_or_fetch(&dir, set, asked.data.is_default(), output);
        let ours = match &found {
            Some(found) => Some(found.sizes(&config.protocol, set)?),
            None => None,
        };
        let stand_in = found.filter(|found| found.set != set.name);
        let mut notes: Vec<String> = Vec::new();
        notes.extend(stand_in.map(|found| format!("{} stands in", found.set)));
        if ours.is_none() {
            asked.note_absent(set, output);
            notes.push("no data".to_string());
        }
        notes.extend(set.note.clone());
        sizes.push(SizeView {
            dataset: set.name.clone(),
            train: ours.map(|o| o[0]),
            test: ours.map(|o| o[1]),
            dim: ours.map(|o| o[2]),
            paper: set.known().and_then(|known| known.paper),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        });
    }
    if sizes.iter().all(|size| size.train.is_none()) {
        return Err(asked.nothing_here());
    }
    let table = SizeTableView {
        title: "Data sets, ours beside the paper's Table 1".to_string(),
        sizes,
        notes: Vec::new(),
    };
    publish(&table, &table, &asked.file("table1.json"), output)
}
