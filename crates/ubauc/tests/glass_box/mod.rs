//! Tables of one and of two columns: maps, fits, the search and what the model says.

mod effects; // the terms add up to the score
mod expanded; // the fit is that of the expanded matrix, whatever the loss, the map and the gaps
mod intervals; // importances, with the truth inside
mod maps; // pairs that are there are found
mod monotone; // scores rise where they must
mod search; // linear, additive or pairs
mod shrinkage; // columns that tell nothing are shrunk most

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::labels::Binary;
use ubauc::data::table::Table;
use ubauc::glass_box::TrainingTable;

use crate::columns::{category, number, table, time};

pub(crate) fn labels(positive: Vec<bool>) -> Binary {
    let n_pos = positive.iter().filter(|p| **p).count();
    Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["no".into(), "yes".into()],
    }
}

fn training<'a>(table: &'a Table, labels: &'a Binary) -> TrainingTable<'a> {
    TrainingTable {
        table,
        labels,
        weights: None,
        groups: None,
        monotone: None,
    }
}

/// A wave of one number, a category that turns the sign of another number, gaps, a zero-inflated number and a time.
fn example(seed: u64, n: usize) -> (Table, Binary) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let (mut x, mut z, mut amount, mut at) = (vec![], vec![], vec![], vec![]);
    let (mut side, mut city, mut positive) = (vec![], vec![], vec![]);
    for _ in 0..n {
        let a: f64 = rng.random_range(-3.0..3.0);
        let b: f64 = rng.random_range(-1.0..1.0);
        let level = rng.random_range(0..2);
        let town = rng.random_range(0..12) * rng.random_range(0..3);
        let paid = match rng.random_bool(0.8) {
            true => 0.0,
            false => rng.random_range(1.0..100.0),
        };
        let pull =
            (2.0 * a).sin() * 1.5 + b * [2.0, -2.0][level] + f64::from(u8::from(paid == 0.0));
        positive.push(pull + rng.random_range(-1.5..1.5) > 0.8);
        x.push(a);
        z.push(if rng.random_bool(0.1) { f64::NAN } else { b });
        amount.push(paid);
        side.push(["left", "right"][level]);
        city.push(if town > 20 {
            String::new()
        } else {
            format!("town {town}")
        });
        at.push(rng.random_range(0.0..2e7));
    }
    let city: Vec<&str> = city.iter().map(String::as_str).collect();
    let columns = vec![
        number("x", &x),
        number("z", &z),
        category("side", &side),
        number("amount", &amount),
        category("city", &city),
        time("at", &at),
    ];
    (table(columns), labels(positive))
}
