use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::labels::Binary;
use ubauc::data::table::Table;
use ubauc::glass_box::effects::Effects;
use ubauc::glass_box::intervals::{Refit, some_rows};
use ubauc::glass_box::{GlassBox, MapKind, PairChoice, TrainingTable};
use ubauc::solver::ba_ubauc::BaUbaucParams;

use super::{labels, training};
use crate::columns::{number, table};

fn params() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: 1e-4,
        ..BaUbaucParams::default()
    }
}

/// Log-odds 1.2 a + 0.4 b, and c is noise; a, b, c of deviation 1.
fn example(seed: u64, n: usize) -> (Table, Binary) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let half = 3f64.sqrt();
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|_| (0..n).map(|_| rng.random_range(-half..half)).collect())
        .collect();
    let positive = (0..n).map(|i| {
        let odds: f64 = 1.2 * columns[0][i] + 0.4 * columns[1][i];
        rng.random_bool(1.0 / (1.0 + (-odds).exp()))
    });
    let labels = labels(positive.collect());
    let named = ["a", "b", "c"].iter().zip(&columns);
    let named = named.map(|(name, x)| number(name, x)).collect();
    (table(named), labels)
}

fn intervals(
    of: &TrainingTable<'_>,
    found: &GlassBox,
    params: &BaUbaucParams,
) -> Option<Vec<[f64; 2]>> {
    let refit = Refit {
        data: &found.data,
        learned: Some(&found.learned),
        weights: of.weights,
        divisors: None,
        params: *params,
        groups: of.groups,
    };
    let some = some_rows(of.table, of.weights);
    let importances = |weights: &[f64]| {
        let effects = Effects::new(&found.learned.map, weights, 0.0, of.table, Some(&some))?;
        Ok(effects.terms.iter().map(|term| term.importance).collect())
    };
    let weights = &found.outcome.model.weights;
    refit.intervals(weights, &importances).unwrap()
}

/// Log-odds are known, and γ takes next to nothing from them: 95 % of the intervals should have them.
#[test]
fn intervals_of_a_linear_model_cover_the_truth() {
    let (mut covered, mut widths, mut at_zero, mut clear) = ([0; 2], [0.0; 2], 0, 0);
    let seeds = 60;
    for seed in 0..seeds {
        let (table, labels) = example(seed, 600);
        let of = training(&table, &labels);
        let found = of.fit(&MapKind::Linear, &params(), None).unwrap();
        let intervals = intervals(&of, &found, &params()).unwrap();
        for (k, truth) in [1.2, 0.4].into_iter().enumerate() {
            let [low, high] = intervals[k];
            covered[k] += usize::from(low <= truth && truth <= high);
            widths[k] += (high - low) / seeds as f64;
        }
        at_zero += usize::from(intervals[2][0] < 0.05);
        clear += usize::from(intervals[0][0] > 0.6);
    }
    // 57 of 60 expected, with a deviation of 1.7; γ and the normal approximation cost a little.
    assert!(covered.iter().all(|n| *n >= 51), "{covered:?}");
    assert!(at_zero >= 54 && clear >= 54, "{at_zero} {clear}");
    // Deviations of the weights are about 1/√(n p(1 − p)), .10 and .09 here; an interval has 2.26 of them on either side.
    assert!(widths.iter().all(|w| (0.3..0.75).contains(w)), "{widths:?}");
}

#[test]
fn noise_reaches_to_nothing_and_what_matters_does_not() {
    for kind in [MapKind::Additive, MapKind::Pairs(PairChoice::Best(1))] {
        let mut at_zero = 0;
        for seed in 0..6 {
            let (table, labels) = example(seed, 1500);
            let of = training(&table, &labels);
            let params = BaUbaucParams {
                gamma: 1e-2,
                ..params()
            };
            let found = of.fit(&kind, &params, None).unwrap();
            let intervals = intervals(&of, &found, &params).unwrap();
            let model = found.model();
            let effects =
                Effects::new(&found.learned.map, &model.weights, 0.0, &table, None).unwrap();
            assert_eq!(intervals.len(), effects.terms.len());
            let importance = effects.terms[0].importance;
            assert!(
                intervals[0][0] > 0.6 * importance,
                "{kind}: {:?} {importance}",
                intervals[0]
            );
            assert!(
                intervals[0][1] < 1.5 * importance,
                "{kind}: {:?} {importance}",
                intervals[0]
            );
            at_zero += usize::from(intervals[2][0] < 0.1 * importance);
        }
        assert!(at_zero >= 5, "{kind}: {at_zero}");
    }
}

#[test]
fn few_examples_and_the_hinge_have_no_intervals() {
    let (table, labels) = example(1, 300);
    let of = training(&table, &labels);
    let found = of.fit(&MapKind::Linear, &params(), None).unwrap();
    let hinge = BaUbaucParams {
        softness: 0.0,
        beta: 0.5,
        ..params()
    };
    assert!(intervals(&of, &found, &hinge).is_none());
    let positives = labels.positive.iter().enumerate().filter(|(_, p)| **p);
    let few: Vec<usize> = positives.map(|(i, _)| i).take(5).collect();
    let weight = |i: usize| f64::from(u8::from(!labels.positive[i] || few.contains(&i)));
    let weights: Vec<f64> = (0..300).map(weight).collect();
    let of = TrainingTable {
        weights: Some(&weights),
        ..of
    };
    assert!(intervals(&of, &found, &params()).is_none());
}
