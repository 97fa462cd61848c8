//! Numbers whose order tells nothing.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::table::Values;
use ubauc::features::codes::{are_codes, are_codes_of_classes};
use ubauc::read::table::{TableOptions, read_table};

/// Rows whose class depends on their value by a function to the log-odds.
fn rows(seed: u64, n: usize, levels: u32, effect: impl Fn(u32) -> f64) -> (Vec<f64>, Vec<bool>) {
    let mut random = Pcg64::seed_from_u64(seed);
    let row = |_| {
        let level = random.random_range(0..levels);
        let p = 1.0 / (1.0 + (-effect(level)).exp());
        (f64::from(100 + 7 * level), random.random_bool(p))
    };
    (0..n).map(row).unzip()
}

/// A number between -1 and 1 that has nothing to do with those of its neighbours.
fn scattered(seed: u64, level: u32) -> f64 {
    Pcg64::seed_from_u64(seed << 32 | u64::from(level)).random_range(-1.0..1.0)
}

#[test]
fn codes_are_found_and_quantities_are_not() {
    // Between 25 levels by chance the correlation has a deviation of 1/5, so that one in six is above the limit.
    let mut missed = [0, 0];
    for seed in 0..40 {
        for (which, levels) in [25, 300].into_iter().enumerate() {
            let share = |level: u32| f64::from(level) / f64::from(levels);
            let found = |effect: &dyn Fn(u32) -> f64| {
                let (values, positive) = rows(seed, 6000, levels, |level| effect(level) - 1.0);
                are_codes(&values, &positive)
            };
            let what = format!("seed {seed}, {levels} levels");
            missed[which] += usize::from(!found(&|level| 2.0 * scattered(seed, level)));
            assert!(!found(&|level| 4.0 * share(level)), "a line, {what}");
            assert!(
                !found(&|level| 8.0 * (share(level) - 0.5).powi(2)),
                "{what}"
            );
            let step = |level| if share(level) > 0.6 { 3.0 } else { 0.0 };
            assert!(!found(&step), "a step, {what}");
            assert!(!found(&|_| 0.0), "nothing, {what}");
        }
    }
    assert!(missed[0] <= 16 && missed[1] == 0, "{missed:?}");
}

#[test]
fn few_levels_rare_ones_zeros_and_fractions_are_no_codes() {
    let effect = |level| 2.0 * scattered(1, level) - 1.0;
    let (values, positive) = rows(1, 6000, 200, effect);
    assert!(are_codes(&values, &positive));
    // Some missing.
    let gaps: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 5 == 0 { f64::NAN } else { *x })
        .collect();
    assert!(are_codes(&gaps, &positive));
    let (few, of_few) = rows(1, 6000, 15, effect);
    assert!(!are_codes(&few, &of_few));
    // Two rows a level at most.
    let rare: Vec<f64> = (0..values.len()).map(|i| (i / 2) as f64).collect();
    assert!(!are_codes(&rare, &positive));
    let zeros: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 2 == 0 { 0.0 } else { *x })
        .collect();
    assert!(!are_codes(&zeros, &positive));
    let halves: Vec<f64> = values.iter().map(|x| x / 2.0).collect();
    assert!(!are_codes(&halves, &positive));
    assert!(!are_codes(&values, &vec![true; values.len()]));
    assert!(!are_codes(&[], &[]));
}

/// Codes tell the second class from the third, and nothing of the first, which has half of the rows.
#[test]
fn all_classes_judge() {
    let mut random = Pcg64::seed_from_u64(9);
    let (values, second) = rows(3, 6000, 200, |level| 3.0 * scattered(4, level));
    let of_row = |second: &bool| match random.random_bool(0.5) {
        true => 0,
        false => 1 + u32::from(*second),
    };
    let classes: Vec<u32> = second.iter().map(of_row).collect();
    let first: Vec<bool> = classes.iter().map(|class| *class == 0).collect();
    assert!(!are_codes(&values, &first));
    assert!(are_codes_of_classes(&values, &classes, 3));
    let (line, second) = rows(3, 6000, 200, |level| f64::from(level) / 40.0 - 2.5);
    let of_line: Vec<u32> = (second.iter().zip(&classes))
        .map(|(second, class)| {
            if *class == 0 {
                0
            } else {
                1 + u32::from(*second)
            }
        })
        .collect();
    assert!(!are_codes_of_classes(&line, &of_line, 3));
    // Of two classes it is the same question.
    let codes: Vec<u32> = second.iter().map(|second| u32::from(*second)).collect();
    for x in [&values, &line] {
        assert_eq!(are_codes_of_classes(x, &codes, 2), are_codes(x, &second));
    }
}

/// The codes of amazon_employee_access are found, and no column of the other four tables is taken for one.
#[test]
fn five_tables() {
    let Some(data) = crate::read::real_data("codes of five_tables") else {
        return;
    };
    for (file, label, positive, expected) in [
        ("adult", "classification", ">50K", 0),
        ("bank_additional", "y", "yes", 0),
        ("taiwan_default", "default.payment.next.month", "1", 0),
        ("give_me_some_credit", "SeriousDlqin2yrs", "1", 0),
        ("amazon_employee_access", "ACTION", "0", 9),
    ] {
        let path = data.join("tables").join(format!("{file}.csv.zst"));
        let options = TableOptions {
            label: Some(label.to_string()),
            ..TableOptions::default()
        };
        let read = read_table(&path, &options).unwrap();
        let labels = read.labels.unwrap();
        let choice = ubauc::data::labels::Choice::Positive(positive.to_string());
        let binary = labels.binary(&choice).unwrap();
        let columns = read.table.columns().iter();
        let codes: Vec<&str> = columns
            .filter(|column| match &column.values {
                Values::Number(values) => are_codes(values, &binary.positive),
                Values::Time(_) | Values::Category { .. } => false,
            })
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(codes.len(), expected, "{file}: {codes:?}");
    }
}
