use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::labels::Binary;
use ubauc::data::table::Table;
use ubauc::document::text;
use ubauc::features::columns::{Cells, Effect};
use ubauc::glass_box::effects::{EffectSums, Effects, SavedEffects, SavedTerm};
use ubauc::glass_box::explain::{Explained, Shown};
use ubauc::glass_box::{GlassBox, MapKind, PairChoice};
use ubauc::solver::ba_ubauc::BaUbaucParams;

use super::{example, labels, training};
use crate::columns::{number, table};

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

#[test]
fn saved_effects_come_back_with_the_map_and_the_weights() {
    let (table, labels) = example(6, 800);
    let (unseen, _) = example(7, 300);
    let kind = MapKind::Pairs(PairChoice::Best(4));
    let found = training(&table, &labels)
        .fit(&kind, &params(), None)
        .unwrap();
    let (map, weights) = (&found.learned.map, &found.outcome.model.weights);
    let effects = effects(&found, &table);
    let mut saved = effects.saved().with_gains([3.0, 2.0]);
    let restored = Effects::restore(map, weights, &saved).unwrap();
    assert_eq!(
        restored.eval(&unseen).unwrap(),
        effects.eval(&unseen).unwrap()
    );
    assert_eq!(restored.intercept, effects.intercept);
    for (a, b) in restored.terms.iter().zip(&effects.terms) {
        assert_eq!(
            (&a.name, &a.cells, a.importance),
            (&b.name, &b.cells, b.importance)
        );
    }
    let gains: Vec<f64> = saved.terms.iter().filter_map(|term| term.gain).collect();
    assert_eq!(gains, [3.0, 2.0]);
    // What does not fit the map is refused.
    assert!(Effects::restore(map, &weights[1..], &saved).is_err());
    let last = saved.terms.pop().unwrap();
    assert!(Effects::restore(map, weights, &saved).is_err());
    saved.terms.push(ubauc::glass_box::effects::SavedTerm {
        shifts: None,
        ..last
    });
    assert!(Effects::restore(map, weights, &saved).is_err());
}

#[test]
fn moments_of_sparse_and_dense_rows_are_those_by_hand() {
    use ubauc::data::rows::{Csr, Dense, Rows};
    use ubauc::glass_box::effects::SavedEffects;
    let dense = Rows::Dense(Dense::new(vec![1.0, 0.0, 3.0, 4.0, 0.0, 0.0], 3, 2).unwrap());
    let csr = Csr::new(vec![0, 1, 3, 3], vec![0, 0, 1], vec![1.0, 3.0, 4.0], 2);
    let sample = [1.0, 2.0, 1.0];
    for rows in [dense, Rows::Csr(csr.unwrap())] {
        let found = SavedEffects::of_numbers(&rows, &[2.0, -1.0], 0.5, Some(&sample));
        assert_eq!(found.means, [1.75, 2.0]);
        // Of 1, 3, 3, 0 and of 0, 4, 4, 0.
        let expected = [(19.0 / 4.0 - 1.75 * 1.75_f64).sqrt(), 2.0];
        for (a, b) in found.deviations.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12);
        }
        assert_eq!(found.intercept, 0.5 + 3.5 - 2.0);
    }
}

#[test]
fn sums_of_parts_give_the_effects_of_all_rows() {
    let (table, labels) = example(6, 700);
    let kind = MapKind::Pairs(PairChoice::Best(5));
    let found = training(&table, &labels)
        .fit(&kind, &params(), None)
        .unwrap();
    let map = &found.learned.map;
    let (weights, b) = (&found.outcome.model.weights, found.outcome.model.intercept);
    let all = effects(&found, &table).saved();
    // Rows of weight 0 take no part.
    let part = |k: usize| {
        let taken = |i: usize| f64::from(u8::from(i % 3 == k));
        let taken: Vec<f64> = (0..table.len()).map(taken).collect();
        EffectSums::of(map, &table, Some(&taken)).unwrap()
    };
    let mut sums = part(0);
    sums.merge(&part(1)).unwrap();
    sums.merge(&part(2)).unwrap();
    let merged = Effects::of_sums(map, weights, b, &sums).unwrap().saved();
    assert!((merged.intercept - all.intercept).abs() < 1e-12);
    assert_eq!(merged.terms.len(), all.terms.len());
    for (a, b) in merged.terms.iter().zip(&all.terms) {
        assert_eq!(a.rows, b.rows);
        let shifts = |t: &SavedTerm| t.shifts.iter().flatten().flatten().copied().collect();
        let numbers = |t: &SavedTerm| -> Vec<f64> {
            let shifts: Vec<f64> = shifts(t);
            let of_cells = t.numbers.iter().flat_map(|&n| <[f64; 3]>::from(n));
            let of_cells: Vec<f64> = of_cells.collect();
            let ends = vec![t.importance, t.constant];
            [ends, t.values.clone(), shifts, of_cells].concat()
        };
        let (a, b) = (numbers(a), numbers(b));
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-10));
    }
    assert!(sums.merge(&EffectSums::default()).is_err());
    assert!(Effects::of_sums(map, weights, b, &EffectSums::default()).is_err());
}

/// A lognormal column of which the score is nearly a straight line.
fn skewed(n: usize) -> (Vec<f64>, Binary) {
    let rng = &mut Pcg64::seed_from_u64(3);
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let x: Vec<f64> = (0..n).map(|_| (1.5 * normal() + 3.0).exp()).collect();
    let positive = x.iter().map(|x| x / 60.0 + normal() > 0.6).collect();
    (x, labels(positive))
}

/// What a cell is said to add is what its rows get.
#[test]
fn cells_of_a_skewed_number_have_the_mean_and_the_ends_of_their_rows() {
    let (x, labels) = skewed(3000);
    let table = table(vec![number("x", &x)]);
    let found = training(&table, &labels)
        .fit(&MapKind::Additive, &params(), None)
        .unwrap();
    let (map, weights) = (&found.learned.map, &found.outcome.model.weights);
    let effects = effects(&found, &table);
    let term = &effects.terms[0];
    let cuts = map.effects.iter().find_map(|effect| match effect {
        Effect::Cells {
            cells: Cells::Bins { cuts, .. },
            ..
        } => Some(cuts.clone()),
        _ => None,
    });
    let cuts = cuts.unwrap();
    let values = effects.eval(&table).unwrap();
    let saved = effects.saved();
    let explained = |saved: &SavedEffects| Explained::new(&found.model(), Some(saved)).unwrap();
    let mut all = [f64::INFINITY, f64::NEG_INFINITY];
    for cell in term.cells.iter().filter(|cell| cell.rows > 0) {
        let is_in = |x: &f64| cuts.partition_point(|cut| cut <= x) as u32 == cell.cell[0];
        let rows = (x.iter().zip(&values)).filter(|(x, _)| is_in(x));
        let added: Vec<f64> = rows.map(|(_, row)| row[0]).collect();
        assert_eq!(added.len() as u64, cell.rows);
        let mean = added.iter().sum::<f64>() / added.len() as f64;
        let least = added.iter().copied().fold(f64::INFINITY, f64::min);
        let most = added.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let pairs = [
            (cell.mean(), mean),
            (cell.ends()[0], least),
            (cell.ends()[1], most),
        ];
        assert!(
            pairs.iter().all(|(a, b)| (a - b).abs() < 1e-10),
            "{pairs:?}"
        );
        all = [all[0].min(least), all[1].max(most)];
    }
    let report = explained(&saved);
    let ends = report.terms[0].ends.unwrap();
    assert!((ends[0] - all[0]).abs() < 1e-10 && (ends[1] - all[1]).abs() < 1e-10);
    assert!(report.terms[0].sides[0].is_skewed);
    // The text says both, and in the last line the mean.
    let text = text::render(&report.document(Shown { top: 1, all: "" }));
    let foot = format!("from {:+.4} to {:+.4}", all[0], all[1]);
    assert!(text.contains(&foot), "{foot}\n{text}");

    // A file without these numbers is read as it was: the middles of bins, which are far off in the last one.
    let mut old = saved.clone();
    old.terms[0].numbers.clear();
    let old = explained(&old);
    let last = |explained: &Explained| explained.terms[0].cells[cuts.len()].mean();
    let restored = Effects::restore(map, weights, &saved).unwrap();
    assert_eq!(restored.terms[0].cells, term.cells);
    let slope = term.slope.unwrap();
    let info = map.columns[0].numbers.unwrap();
    let middle = (cuts[cuts.len() - 1] + info.max) / 2.0;
    let by_hand = term.cells[cuts.len()].value + slope * (middle - info.mean) / info.deviation;
    assert!((last(&old) - by_hand).abs() < 1e-10);
    assert!((last(&old) - last(&report)).abs() > 0.1);
    // A file with numbers of some cells only is refused.
    let mut short = saved.clone();
    short.terms[0].numbers.pop();
    assert!(Explained::new(&found.model(), Some(&short)).is_err());
}

#[test]
fn an_importance_outside_its_interval_is_explained() {
    let (table, labels) = example(6, 400);
    let found = training(&table, &labels)
        .fit(&MapKind::Linear, &params(), None)
        .unwrap();
    let saved = effects(&found, &table).saved();
    let said = |share: [f64; 2]| {
        let ends = |term: &SavedTerm| share.map(|share| share * term.importance);
        let intervals = saved.terms.iter().map(ends).collect();
        let saved = saved.clone().with_intervals(Some(intervals));
        let explained = Explained::new(&found.model(), Some(&saved)).unwrap();
        text::render(&explained.document(Shown { top: 1, all: "" }))
    };
    let note = "an interval leaves out what noise adds to an importance, and may lie below it";
    assert!(said([0.2, 0.9]).contains(note));
    assert!(!said([0.2, 1.1]).contains(note));
}
