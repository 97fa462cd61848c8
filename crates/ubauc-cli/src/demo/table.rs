//! A table with strings, dates and missing values, made up on the spot: customers, some of whom leave.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use ubauc::algorithm::{FitInputs, Spec, fit_table};
use ubauc::data::labels::{Binary, Choice};
use ubauc::document::Document;
use ubauc::metrics::{Auc, Interval, auc};
use ubauc::read::table::{TableExamples, TableOptions, read_table_from};

use crate::column_report::FeaturesReport;
use crate::{evaluate, output::Report as _};

const ROWS: usize = 4_000;

/// What the table says, and how well a model of it does on another one.
#[derive(Serialize)]
pub(super) struct TableDemo {
    rows: usize,
    features: FeaturesReport,
    auc: Auc,
    #[serde(skip)]
    classes: [String; 2],
}

impl TableDemo {
    pub(super) fn run(seed: u64) -> Result<TableDemo> {
        let (train, labels) = read(&customers(seed, ROWS))?;
        let (test, test_labels) = read(&customers(seed.wrapping_add(1), ROWS))?;
        let spec = Spec::BaUbauc(ubauc::algorithm::BaUbauc::default());
        let inputs = FitInputs::default();
        let fitted = fit_table(&train.table, &labels, &inputs, &spec)?;
        let scores = fitted.model().scores_table(&test.table)?;
        Ok(TableDemo {
            rows: ROWS,
            features: FeaturesReport::new(&train.columns, Some(&fitted.learned.map)),
            auc: auc(&scores, &test_labels.positive)?,
            classes: labels.names,
        })
    }

    pub(super) fn document(&self) -> Document {
        let judged = evaluate::Report {
            auc: self.auc.clone(),
            interval: Interval::Logit,
            average_precision: None,
            partial_auc: None,
            recall_at_fpr: None,
            classes: self.classes.clone(),
        };
        Document::default()
            .paragraph(
                "Texts, dates and gaps are no obstacle.  (ubauc train customers.csv --label churn --test new.csv)",
            )
            .with(self.features.table())
            .include(judged.document())
    }
}

fn read(text: &str) -> Result<(TableExamples, Binary)> {
    let options = TableOptions {
        label: Some("churn".to_string()),
        ..TableOptions::default()
    };
    let examples = read_table_from(text.as_bytes(), Path::new("customers.csv"), &options)?;
    let labels = examples.labels.as_ref().context("no labels")?;
    let labels = labels.binary(&Choice::Positive("yes".to_string()))?;
    Ok((examples, labels))
}

/// Customers as CSV: who is young, lives in a large town, joined late or does not tell the income leaves more often.
fn customers(seed: u64, rows: usize) -> String {
    let mut random = Random(seed);
    let mut text = "age;town;plan;joined;income;churn\n".to_string();
    for _ in 0..rows {
        let age = 18 + random.below(60);
        let town =
            ["Oslo", "Bergen", "Voss", "Molde", ""][[0, 0, 0, 1, 1, 2, 3, 4][random.below(8)]];
        let plan = ["basic", "family", "premium"][random.below(3)];
        let (month, day) = (1 + random.below(12), 1 + random.below(28));
        let income = match random.below(5) {
            0 => String::new(),
            _ => format!("{},{}", 20 + random.below(80), random.below(10)),
        };
        let risk = (78 - age as i64) / 2 - 30
            + if town == "Oslo" { 25 } else { 0 }
            + if plan == "basic" { 20 } else { 0 }
            + if income.is_empty() { 25 } else { 0 }
            + 2 * month as i64;
        let churn = if (random.below(100) as i64) < risk {
            "yes"
        } else {
            "no"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{age};{town};{plan};{day:02}.{month:02}.2025;{income};{churn}"
        );
    }
    text
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}
