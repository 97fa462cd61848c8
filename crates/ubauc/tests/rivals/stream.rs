//! SOLAM, OPAUC and OAM on a stream: passes in the order of the rows, features that appear, states as bytes.

use ubauc::Error;
use ubauc::algorithm::{self, Algorithm, FitInputs, Learner, RivalLearner, Spec};
use ubauc::checksum::xxh3;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Row, Rows};
use ubauc::data::scale::Scale;

/// Column numbers and values, and whether it is positive.
type Example = (Vec<u32>, Vec<f64>, bool);

const COLS: usize = 12;

/// Every algorithm in each of its forms, all with random numbers of this seed.
fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for algorithm in [
        Algorithm::Solam,
        Algorithm::Opauc,
        Algorithm::OamSeq,
        Algorithm::OamGra,
    ] {
        let mut spec = Spec::new(algorithm);
        spec.set_seed(7);
        spec.set("buffer", 3.0);
        spec.set("C", 0.05);
        spec.set("eta", 0.02);
        specs.push(spec);
    }
    let mut sketch = specs[1];
    sketch.set("tau", 2.0);
    let mut averaged = specs[2];
    if let Spec::OamSeq(oam) = &mut averaged {
        oam.average = true;
    }
    specs.extend([sketch, averaged]);
    specs
}

/// A feature more every few examples, and some rows without any.
fn examples(n: u32) -> Vec<Example> {
    let mut state = 5_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..n)
        .map(|i| {
            let positive = random(3) == 0;
            let known = (2 + i as usize / 4).min(COLS) as u32;
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            for j in 0..known {
                if random(2) == 0 {
                    let shift = if positive && j % 3 == 0 { 0.8 } else { 0.0 };
                    indices.push(j);
                    values.push(random(1000) as f64 / 400.0 - 1.0 + shift);
                }
            }
            (indices, values, positive)
        })
        .collect()
}

fn row((indices, values, _): &Example) -> Row<'_> {
    Row::Sparse(indices, values)
}

fn learned(spec: &Spec, cols: usize, examples: &[Example]) -> RivalLearner {
    let mut learner = RivalLearner::new(spec, cols).unwrap();
    for example in examples {
        learner.learn(row(example), example.2).unwrap();
    }
    learner
}

#[track_caller]
fn near(a: &[f64], b: &[f64], of: &Spec) {
    let size = b.iter().fold(0.0, |size: f64, w| size.max(w.abs()));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * size, "{a} {b} {of:?}");
    }
}

/// With the longest row first, which bounds SOLAM as if it knew them all, and without a scale, which a data set knows
/// beforehand and a stream does not.
#[test]
fn a_stream_is_one_pass_over_the_rows_in_their_order() {
    let mut examples = examples(400);
    let norm = |e: &Example| e.1.iter().map(|x| x * x).sum::<f64>();
    examples.sort_by(|a, b| norm(b).total_cmp(&norm(a)));
    let mut indptr = vec![0];
    indptr.extend(examples.iter().scan(0, |sum, e| {
        *sum += e.0.len();
        Some(*sum)
    }));
    let indices = examples.iter().flat_map(|e| e.0.clone()).collect();
    let values = examples.iter().flat_map(|e| e.1.clone()).collect();
    let rows = Rows::Csr(Csr::new(indptr, indices, values, COLS).unwrap());
    let positive: Vec<bool> = examples.iter().map(|e| e.2).collect();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["-1".to_string(), "1".to_string()],
    };
    let data = Dataset::new(rows, labels, Vec::new()).unwrap();
    for mut spec in specs() {
        spec.set_scale(Scale::None);
        spec.set_passes(1);
        spec.passes_mut().unwrap().shuffle = false;
        let fit = algorithm::fit(&data, &FitInputs::default(), &spec).unwrap();
        let learner = learned(&spec, COLS, &examples);
        assert!(fit.model.weights.iter().any(|w| w.abs() > 1e-3), "{spec:?}");
        near(&learner.weights().unwrap(), &fit.model.weights, &spec);
    }
}

#[test]
fn features_that_appear_are_as_good_as_announced_ones() {
    let examples = examples(300);
    for spec in specs() {
        let grown = learned(&spec, 0, &examples);
        let announced = learned(&spec, COLS, &examples);
        assert_eq!(grown.cols(), COLS);
        near(
            &grown.weights().unwrap(),
            &announced.weights().unwrap(),
            &spec,
        );
        assert_eq!(grown.algorithm(), spec.algorithm());
        assert_eq!(grown.counts(), announced.counts());
        assert_eq!(grown.steps(), 300);
    }
}

#[test]
fn scores_are_those_of_the_weights_and_the_threshold_is_between_the_classes() {
    let examples = examples(300);
    for spec in specs() {
        let learner = learned(&spec, 0, &examples);
        let w = learner.weights().unwrap();
        let mut sums = [0.0; 2];
        for example in &examples {
            let score = learner.score(row(example));
            let by_hand: f64 = (example.0.iter().zip(&example.1))
                .map(|(&j, x)| w[j as usize] * x)
                .sum();
            assert!((score - by_hand).abs() <= 1e-12 * (1.0 + score.abs()));
            sums[usize::from(example.2)] += score;
        }
        let [neg, pos] = learner.counts();
        let middle = 0.5 * (sums[0] / neg as f64 + sums[1] / pos as f64);
        assert!((learner.threshold() - middle).abs() < 1e-12, "{spec:?}");
        // A feature that was never seen adds nothing.
        assert_eq!(learner.score(Row::Sparse(&[99], &[5.0])), 0.0);
    }
}

#[test]
fn restored_at_every_point_it_goes_on_with_the_same_bits() {
    let examples = examples(120);
    for spec in specs() {
        let mut learner = RivalLearner::new(&spec, 0).unwrap();
        let mut restored = RivalLearner::new(&spec, 0).unwrap();
        for example in &examples {
            let bytes = restored.to_bytes().unwrap();
            restored = RivalLearner::from_bytes(&bytes).unwrap();
            assert_eq!(restored.to_bytes().unwrap(), bytes);
            learner.learn(row(example), example.2).unwrap();
            restored.learn(row(example), example.2).unwrap();
        }
        let bits = |learner: &RivalLearner| -> Vec<u64> {
            let weights = learner.weights().unwrap();
            weights.iter().map(|w| w.to_bits()).collect()
        };
        assert_eq!(bits(&learner), bits(&restored), "{spec:?}");
        assert_eq!(learner.to_bytes().unwrap(), restored.to_bytes().unwrap());
    }
}

#[test]
fn zeros_and_kinds_of_rows_change_no_bit() {
    let examples = examples(200);
    for spec in specs() {
        let sparse = learned(&spec, COLS, &examples);
        let mut dense = RivalLearner::new(&spec, COLS).unwrap();
        for example in &examples {
            let mut x = [0.0; COLS];
            row(example).add_to(1.0, &mut x);
            dense.learn(Row::Dense(&x), example.2).unwrap();
        }
        assert_eq!(dense.to_bytes().unwrap(), sparse.to_bytes().unwrap());
    }
}

fn refused(bytes: &[u8]) -> bool {
    matches!(
        RivalLearner::from_bytes(bytes),
        Err(Error::Container { .. })
    )
}

/// The same bytes with a checksum that is right.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = xxh3(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

#[test]
fn damaged_bytes_are_refused() {
    for spec in specs() {
        let bytes = learned(&spec, 0, &examples(30)).to_bytes().unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(refused(&changed) && refused(&bytes[..at]), "{at} {spec:?}");
        }
    }
}

/// Every byte replaced by every other, and every eight bytes by extremes, under a checksum that is right: refused, or a
/// learner that goes on without a panic, and without end.
#[test]
fn no_forged_state_makes_a_panic_or_hangs() {
    for spec in specs() {
        // Both classes, more rows than the buffers hold, and few numbers.
        let examples: Vec<Example> = (0..12_u32)
            .map(|i| {
                let x = f64::from(i * 7 % 5) - 1.5;
                (vec![0, 1 + i % 2], vec![x, 1.0], i % 3 == 0)
            })
            .collect();
        let bytes = learned(&spec, 0, &examples).to_bytes().unwrap();
        let body = &bytes[..bytes.len() - 8];
        let (mut read, mut tried) = (0, 0);
        let mut try_out = |forged: Vec<u8>| {
            tried += 1;
            if let Ok(mut learner) = RivalLearner::from_bytes(&sealed(forged)) {
                read += 1;
                let _ = (learner.weights(), learner.threshold(), learner.steps());
                for example in &examples[..4] {
                    let _ = learner.score(row(example));
                    let _ = learner.learn(row(example), example.2);
                }
                let _ = learner.learn(Row::Sparse(&[1, 5], &[1.0, -2.0]), true);
                let _ = learner.learn(Row::Dense(&[1.0, 2.0, 3.0]), false);
                let _ = (learner.weights(), learner.to_bytes());
            }
        };
        for at in 0..body.len() {
            for byte in 0..=255 {
                let mut forged = body.to_vec();
                forged[at] = byte;
                try_out(forged);
            }
            for word in [
                0,
                u64::MAX,
                1 << 61,
                f64::NAN.to_bits(),
                (-1.0_f64).to_bits(),
            ] {
                let mut forged = body.to_vec();
                let end = (at + 8).min(body.len());
                forged[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
                try_out(forged);
            }
        }
        // Most bytes are digits of numbers, which may be others.
        assert!(read > 100 && read < tried, "{read} of {tried}");
    }
}

#[test]
fn numbers_that_no_learner_has_are_refused() {
    let forge = |spec: &Spec, from: &[u8], to: &[u8]| {
        let bytes = learned(spec, 0, &examples(30)).to_bytes().unwrap();
        let body = &bytes[..bytes.len() - 8];
        let at = body.windows(from.len()).position(|bytes| bytes == from);
        let at = at.expect("the number is there");
        let mut forged = body.to_vec();
        forged[at..at + from.len()].copy_from_slice(to);
        sealed(forged)
    };
    let [solam, opauc, oam] = [specs()[0], specs()[1], specs()[2]];
    // ζ, η and C, which must be above 0.
    for (spec, number) in [(solam, 1.0_f64), (opauc, 0.02), (oam, 0.05)] {
        for wrong in [0.0_f64, -1.0, f64::NAN, f64::INFINITY] {
            let forged = forge(&spec, &number.to_le_bytes(), &wrong.to_le_bytes());
            assert!(refused(&forged), "{wrong} {spec:?}");
        }
    }
    // Words of another kind of container, and of a version that this one does not read.
    let other = ubauc::solver::ol_ubauc::Learner::new(&Default::default(), Default::default());
    assert!(refused(&other.unwrap().to_bytes().unwrap()));
    assert!(refused(b"") && refused(b"ubauc\x01") && refused(b"{}"));
}

#[test]
fn what_a_stream_cannot_do_is_refused_by_name() {
    let name = |error: Error| match error {
        Error::Parameter { name, .. } => name,
        other => panic!("{other}"),
    };
    for algorithm in Algorithm::all().filter(|a| !a.is_online()) {
        let refusal = Learner::new(&Spec::new(algorithm), 3).unwrap_err();
        assert_eq!(name(refusal), "algorithm");
    }
    for algorithm in Algorithm::all().filter(|a| a.is_online()) {
        let mut spec = Spec::new(algorithm);
        let learner = Learner::new(&spec, 3).unwrap();
        assert_eq!(learner.algorithm(), algorithm);
        spec.set_scale(Scale::Standard);
        assert_eq!(name(Learner::new(&spec, 3).unwrap_err()), "scale");
    }
    let mut learner = Learner::new(&specs()[0], 3).unwrap();
    let weighted = learner.learn(Row::Dense(&[1.0]), true, 2.0).unwrap_err();
    assert_eq!(name(weighted), "weight");
    for wrong in [f64::NAN, f64::INFINITY] {
        let row = [1.0, wrong];
        let error = learner.learn(Row::Dense(&row), true, 1.0).unwrap_err();
        assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    }
    assert_eq!(learner.steps(), 0);
}

/// Full covariances up to 1,000 features; of a stream that says nothing of its width, no sketch can be made later.
#[test]
fn opauc_of_a_wide_stream_asks_for_a_rank() {
    let mut spec = Spec::new(Algorithm::Opauc);
    let mut learner = RivalLearner::new(&spec, 0).unwrap();
    learner
        .learn(Row::Sparse(&[0, 999], &[1.0, 1.0]), true)
        .unwrap();
    let before = learner.to_bytes().unwrap();
    let wide = Row::Sparse(&[1000], &[1.0]);
    let error = learner.learn(wide, false).unwrap_err();
    assert!(
        matches!(error, Error::Parameter { name: "tau", .. }),
        "{error}"
    );
    assert_eq!(learner.to_bytes().unwrap(), before);
    // Announced, or with a rank, there are as many as they like.
    RivalLearner::new(&spec, 1001)
        .unwrap()
        .learn(Row::Sparse(&[5000], &[1.0]), true)
        .unwrap();
    for tau in [0.0, 3.0] {
        spec.set("tau", tau);
        let mut learner = RivalLearner::new(&spec, 0).unwrap();
        learner.learn(wide, true).unwrap();
        assert_eq!(learner.cols(), 1001);
    }
}

#[test]
fn steps_that_diverge_are_an_error_and_large_numbers_are_not() {
    let mut spec = Spec::new(Algorithm::Opauc);
    spec.set("eta", 1e9);
    spec.set_scale(Scale::None);
    let mut learner = Learner::new(&spec, 2).unwrap();
    let example = |i: i32| [f64::from(i % 5) + 1.0, f64::from(i % 3) + 1.0];
    let found = (0..1000).find_map(|i| {
        let x = example(i);
        learner.learn(Row::Dense(&x), i % 2 == 0, 1.0).err()
    });
    assert!(matches!(found, Some(Error::Numerical { .. })), "{found:?}");
    assert!(learner.weights().is_err());
    // With a running scale no size of a feature matters.
    for spec in specs() {
        let mut learner = Learner::new(&spec, 0).unwrap();
        for i in 0..200_i32 {
            let large = if i % 7 == 0 { 1e300 } else { 1e-310 };
            let x = [large, -1e-320, example(i)[0]];
            let score = learner.learn(Row::Dense(&x), i % 3 == 0, 1.0).unwrap();
            assert!(score.is_finite());
        }
        assert!(learner.weights().is_ok() && learner.threshold().is_finite());
    }
}
