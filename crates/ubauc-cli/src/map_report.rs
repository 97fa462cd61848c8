//! The maps that a search has tried, for people and as JSON.

use serde::Serialize;
use ubauc::document::Table;
use ubauc::document::numbers::number;
use ubauc::tune::{MapTrial, Setting, TunedMaps};

use crate::search::described;

/// The best point of one map.
#[derive(Serialize)]
pub(crate) struct MapReport {
    map: String,
    #[serde(flatten)]
    setting: Setting,
    gamma: f64,
    auc: f64,
    se: f64,
    /// Folds that it was tried on: fewer than all where it was behind a simpler map, or time ran out.
    folds: usize,
    #[serde(skip)]
    stopped: bool,
    /// Time ran out while it was tried.
    #[serde(skip)]
    cut_short: bool,
    seconds: f64,
    chosen: bool,
}

impl MapReport {
    /// What became of it, where the best has this AUC.
    fn outcome(&self, best: f64) -> String {
        match (self.chosen, self.stopped) {
            (true, _) if self.auc < best => {
                "chosen: simpler, and within one standard error of the difference".to_string()
            }
            (true, _) => "chosen".to_string(),
            (false, true) => {
                let s = if self.folds == 1 { "" } else { "s" };
                let what = if self.cut_short {
                    "no time after"
                } else {
                    "behind on"
                };
                format!("{what} {} fold{s}", self.folds)
            }
            (false, false) => String::new(),
        }
    }

    pub(crate) fn new(tuned: &TunedMaps) -> Vec<MapReport> {
        let report = |(at, trial): (usize, &MapTrial)| {
            let best = trial.tuned.best();
            MapReport {
                map: trial.map.to_string(),
                setting: best.setting,
                gamma: best.gamma,
                auc: best.judged.auc,
                se: best.judged.standard_error,
                folds: best.judged.folds,
                stopped: best.stopped,
                cut_short: trial.tuned.cut_short,
                seconds: trial.seconds,
                chosen: at == tuned.chosen,
            }
        };
        tuned.trials.iter().enumerate().map(report).collect()
    }
}

/// The maps that were not tried.
pub(crate) fn left_out(tuned: &TunedMaps) -> Vec<String> {
    tuned.left_out.iter().map(ToString::to_string).collect()
}

pub(crate) fn table(maps: &[MapReport], left_out: &[String]) -> Table {
    let head = [
        "features",
        "loss",
        "gamma",
        "AUC",
        "std. error",
        "seconds",
        "",
    ];
    let mut table = Table::new(head).left(&[1]);
    let whole = maps.iter().filter(|map| !map.stopped);
    let best = whole.map(|map| map.auc).fold(f64::NEG_INFINITY, f64::max);
    for map in maps {
        table.row([
            map.map.clone(),
            described(&map.setting),
            format!("{:e}", map.gamma),
            number(map.auc),
            match map.se.is_nan() {
                true => "-".to_string(),
                false => number(map.se),
            },
            format!("{:.2}", map.seconds),
            map.outcome(best),
        ]);
    }
    for map in left_out {
        let mut row = [const { String::new() }; 7];
        row[0].clone_from(map);
        row[6] = "not tried, as the table is wide; --features pairs does".to_string();
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use ubauc::document::Row;

    use super::*;

    #[test]
    fn a_choice_that_is_not_the_best_has_its_reason() {
        let of = |map: &str, auc: f64, stopped: bool, chosen: bool| MapReport {
            map: map.to_string(),
            setting: Setting::LOGISTIC,
            gamma: 1e-3,
            auc,
            se: 0.01,
            folds: if stopped { 2 } else { 5 },
            stopped,
            cut_short: false,
            seconds: 0.1,
            chosen,
        };
        let outcomes = |maps: &[MapReport]| -> Vec<String> {
            let rows = table(maps, &[]).rows;
            let last = |row: &Row| row.cells[6].text.clone().unwrap_or_default();
            rows.iter().map(last).collect()
        };
        let simpler = [
            of("linear", 0.66, false, true),
            of("additive", 0.67, false, false),
            of("pairs", 0.69, true, false),
        ];
        let found = outcomes(&simpler);
        assert!(found[0].starts_with("chosen: simpler"), "{found:?}");
        assert_eq!(found[1..], ["", "behind on 2 folds"]);
        // One that was tried on fewer folds is no better.
        let best = [
            of("linear", 0.66, false, true),
            of("pairs", 0.69, true, false),
        ];
        assert_eq!(outcomes(&best)[0], "chosen");
    }
}
