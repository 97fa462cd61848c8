use ubauc::data::table::Table;
use ubauc::glass_box::effects::Effects;
use ubauc::glass_box::{GlassBox, MapKind, PairChoice};
use ubauc::solver::ba_ubauc::BaUbaucParams;

use super::{example, training};

fn params() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: 1e-3,
        ..BaUbaucParams::default()
    }
}

fn effects(found: &GlassBox, table: &Table) -> Effects {
    let outcome = &found.outcome;
    let (weights, b) = (&outcome.model.weights, outcome.model.intercept);
    Effects::new(&found.learned.map, weights, b, table, None).unwrap()
}

#[test]
fn terms_add_up_to_the_score_of_any_row() {
    let (table, labels) = example(6, 800);
    let (unseen, _) = example(7, 500);
    for kind in [
        MapKind::Linear,
        MapKind::Additive,
        MapKind::Pairs(PairChoice::Best(6)),
    ] {
        let found = training(&table, &labels)
            .fit(&kind, &params(), None)
            .unwrap();
        let effects = effects(&found, &table);
        for table in [&table, &unseen] {
            let scores = found.model().scores_table(table).unwrap();
            let terms = effects.eval(table).unwrap();
            for (score, terms) in scores.iter().zip(&terms) {
                let sum = effects.intercept + terms.iter().sum::<f64>();
                assert!((sum - score).abs() < 1e-10, "{kind}: {sum} {score}");
            }
        }
    }
}

#[test]
fn terms_are_centred_and_pairs_have_no_main_effects() {
    let (table, labels) = example(6, 800);
    let kind = MapKind::Pairs(PairChoice::Best(5));
    let found = training(&table, &labels)
        .fit(&kind, &params(), None)
        .unwrap();
    let effects = effects(&found, &table);
    let values = effects.eval(&table).unwrap();
    let n = values.len() as f64;
    for (k, term) in effects.terms.iter().enumerate() {
        let mean = values.iter().map(|row| row[k]).sum::<f64>() / n;
        let squares = values
            .iter()
            .map(|row| (row[k] - mean).powi(2))
            .sum::<f64>()
            / n;
        assert!(mean.abs() < 1e-9, "{}: {mean}", term.name);
        assert!(
            (term.importance - squares.sqrt()).abs() < 1e-9,
            "{}",
            term.name
        );
        if term.columns.len() == 2 {
            for side in 0..2 {
                let mut sums = std::collections::BTreeMap::new();
                for cell in &term.cells {
                    *sums.entry(cell.cell[side]).or_insert(0.0) += cell.rows as f64 * cell.value;
                }
                for (cell, sum) in sums {
                    assert!((sum / n).abs() < 1e-9, "{} {cell}: {sum}", term.name);
                }
            }
        }
    }
    assert_eq!(
        effects
            .terms
            .iter()
            .filter(|t| t.columns.len() == 2)
            .count(),
        5
    );
    let rows: u64 = effects.terms[0].cells.iter().map(|cell| cell.rows).sum();
    assert_eq!(rows, 800);
    // The wave of x, the largest effect, and the sign that the side gives to z.
    let importance = |name: &str| {
        let term = effects.terms.iter().find(|term| term.name == name);
        term.map_or(0.0, |term| term.importance)
    };
    assert!(importance("x") > 3.0 * importance("city"));
    let (pair, main) = (importance("z & side"), importance("z"));
    assert!(pair > 2.0 * main, "{pair} {main}");
}

#[test]
fn other_numbers_of_weights_are_refused() {
    let (table, labels) = example(1, 100);
    let found = training(&table, &labels)
        .fit(&MapKind::Linear, &params(), None)
        .unwrap();
    let map = &found.learned.map;
    assert!(Effects::new(map, &[0.0], 0.0, &table, None).is_err());
    assert!(Effects::new(map, &found.outcome.model.weights, 0.0, &table, Some(&[1.0])).is_err());
}
