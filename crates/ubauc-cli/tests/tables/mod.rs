//! Tables as people have them: strings, dates and missing values.

mod columns;
mod data;
mod learn;
mod real;
mod scoring;
mod skipped;
mod training;

use std::fmt::Write as _;
use std::path::Path;

use tempfile::TempDir;

use crate::process::{directory_with, success, ubauc};

/// Customers: a number with gaps, a category with a rare level and gaps, a date, a yes and no, and a group.
pub(crate) fn customers(n: u64) -> String {
    let mut text = "age,city,since,vip,household,churn\n".to_string();
    let mut state = 7_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for i in 0..n {
        let (age, city, since) = (18 + random(60), random(10), random(28));
        let churn = random(60) + if city < 4 { 30 } else { 0 } + age / 2 > 65;
        let age = if i % 9 == 4 {
            String::new()
        } else {
            age.to_string()
        };
        let city = match city {
            _ if i == 5 => "Rome",
            0..=3 => "Bern",
            4..=7 => "Lausanne",
            8 => "NA",
            _ => "Zug",
        };
        let vip = if random(2) == 0 { "yes" } else { "no" };
        let churn = if churn { "left" } else { "stayed" };
        let (day, month) = (since + 1, i % 12 + 1);
        let household = i / 2;
        writeln!(
            text,
            "{age},{city},2024-{month:02}-{day:02},{vip},{household},{churn}"
        )
        .unwrap();
    }
    text
}

/// A directory with `x.csv` and a model of it, `m.json`.
pub(crate) fn trained() -> TempDir {
    let directory = directory_with(&[("x.csv", &customers(300))]);
    let words = [
        "train",
        "x.csv",
        "--label",
        "churn",
        "--positive",
        "left",
        "--ignore",
        "household",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--model",
        "m.json",
    ];
    success(&ubauc(directory.path(), &words));
    directory
}

/// The columns of a CSV text without quotes, in another order.
pub(crate) fn reordered(text: &str, order: &[usize]) -> String {
    let lines = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let fields: Vec<&str> = order.iter().map(|&j| fields[j]).collect();
        fields.join(",") + "\n"
    });
    lines.collect()
}

/// What `predict` writes.
#[track_caller]
pub(crate) fn predicted(dir: &Path, words: &[&str]) -> String {
    let output = ubauc(dir, &[&["predict", "--model", "m.json"], words].concat());
    success(&output).to_string()
}
