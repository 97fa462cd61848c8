use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::features::columns::{Cells, Effect, NestedMap};
use ubauc::glass_box::{MapKind, PairChoice, Ranking};
use ubauc::solver::ba_ubauc::BaUbaucParams;

use super::{example, labels, training};
use crate::columns::{category, number, table};

fn params() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: 1e-3,
        tolerance: 1e-12,
        ..BaUbaucParams::default()
    }
}

#[test]
fn xor_of_two_among_fifty_columns_is_found() {
    for seed in 0..10 {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let n = 1500;
        let columns: Vec<Vec<f64>> = (0..50)
            .map(|_| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect())
            .collect();
        let positive = (0..n).map(|i| {
            let xor = (columns[4][i] > 0.0) != (columns[37][i] > 0.0);
            xor == rng.random_bool(0.8)
        });
        let labels = labels(positive.collect());
        let named = columns.iter().enumerate();
        let named = named.map(|(k, x)| number(&format!("c{k}"), x)).collect();
        let table = table(named);
        let of = training(&table, &labels);
        let additive = NestedMap::additive(&table, None).unwrap();
        let ranking = Ranking::new(&of, &additive).unwrap();
        let pairs = ranking.pairs();
        assert_eq!(pairs.len(), 50 * 49 / 2);
        assert_eq!(pairs[0].names, ["c4", "c37"], "seed {seed}");
        assert!(pairs[0].is_significant, "seed {seed}: {:?}", pairs[0]);
        let others = pairs[1..].iter().filter(|pair| pair.is_significant).count();
        assert_eq!(others, 0, "seed {seed}");
    }
}

#[test]
fn pairs_are_chosen_by_number_share_and_name() {
    let (table, labels) = example(1, 400);
    let learn = |choice| training(&table, &labels).learn(&MapKind::Pairs(choice));
    let count = |choice| learn(choice).unwrap().pairs.len();
    assert_eq!(count(PairChoice::Best(0)), 0);
    assert_eq!(count(PairChoice::Best(3)), 3);
    assert_eq!(count(PairChoice::PerColumn(0.5)), 3);
    assert_eq!(count(PairChoice::PerColumn(0.0)), 0);
    assert!(learn(PairChoice::PerColumn(f64::NAN)).is_err());
    let names = |a: &str, b: &str| PairChoice::Named(vec![[a.to_string(), b.to_string()]]);
    let named = learn(names("side", "z")).unwrap();
    assert_eq!(named.pairs[0].names, ["z", "side"]);
    assert!(matches!(
        learn(names("side", "nobody")),
        Err(Error::Column { name }) if name == "nobody"
    ));
    let best = learn(PairChoice::Best(1)).unwrap();
    assert_eq!(best.pairs[0].names, ["z", "side"]);
}

#[test]
fn numbers_have_bins_and_categories_have_not() {
    let (table, _) = example(2, 500);
    let found = NestedMap::additive(&table, None).unwrap();
    let bins = |name: &str| {
        found.map.effects.iter().find_map(|effect| match effect {
            Effect::Cells { column, cells } if found.map.columns[*column].name == name => {
                Some(cells)
            }
            _ => None,
        })
    };
    for name in ["x", "z", "amount", "at"] {
        assert!(matches!(bins(name), Some(Cells::Bins { .. })), "{name}");
    }
    assert!(matches!(
        bins("z"),
        Some(Cells::Bins {
            missing: Some(_),
            ..
        })
    ));
    assert!(matches!(bins("city"), Some(Cells::Levels { .. })));
    // Zero has a bin of its own.
    let Some(Cells::Bins { cuts, .. }) = bins("amount") else {
        panic!("bins")
    };
    assert!(cuts[0] > 0.0 && cuts[0] < 2.0);
}

/// Tables on which nothing can be learned do not break anything.
#[test]
fn small_tables_have_maps() {
    let one = |column| table(vec![column]);
    for table in [
        one(number("x", &[1.0, 2.0, 3.0, 4.0])),
        one(number("x", &[1.0; 4])),
        one(number("x", &[f64::NAN; 4])),
        one(category("c", &["a", "a", "a", "a"])),
        one(category("c", &["a", "", "b", "c"])),
    ] {
        let labels = labels(vec![true, false, false, false]);
        for kind in [
            MapKind::Linear,
            MapKind::Additive,
            MapKind::Pairs(PairChoice::Best(5)),
        ] {
            let found = training(&table, &labels)
                .fit(&kind, &params(), None)
                .unwrap();
            assert_eq!(found.model().scores_table(&table).unwrap().len(), 4);
        }
    }
}
