//! The alarm, simulated: rarely false, and soon right.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::metrics::{Fall, FallAlarm, auc};

/// Scores whose AUC is known.
#[derive(Clone, Copy)]
enum Scores {
    /// Negatives uniform in [0, 1], positives δ above: AUC 1 − (1 − δ)²/2.
    Uniform(f64),
    /// A share q of the positives below all negatives, the others above: AUC 1 − q. A block may be lucky and show no variance.
    Lost(f64),
}

impl Scores {
    fn draw(self, random: &mut Pcg64, positive: bool) -> f64 {
        let u: f64 = random.random();
        match self {
            Scores::Uniform(shift) => u + if positive { shift } else { 0.0 },
            Scores::Lost(share) if positive && random.random::<f64>() < share => u - 2.0,
            Scores::Lost(_) => u + if positive { 2.0 } else { 0.0 },
        }
    }
}

/// The first alarm of a stream of so many examples; `scores` by the number of the example.
fn first_alarm(
    (rate, seed, examples): (f64, u64, u64),
    share: f64,
    scores: impl Fn(u64) -> Scores,
) -> Option<Fall> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut alarm = FallAlarm::new(rate).unwrap();
    (1..=examples).find_map(|i| {
        let positive = random.random::<f64>() < share;
        let score = scores(i).draw(&mut random, positive);
        alarm.add(score, positive, i).unwrap()
    })
}

#[test]
fn false_alarms_are_rarer_than_stated() {
    // 200 streams of 40 blocks each; α = 0.2, so that 40 false alarms are allowed.
    let (rate, streams) = (0.2, 200);
    let mut all = Vec::new();
    for (share, scores) in [
        (0.5_f64, Scores::Uniform(0.1)),
        (0.5, Scores::Uniform(0.6)),
        (0.1, Scores::Uniform(0.9)),
        (0.1, Scores::Lost(0.03)),
        (0.1, Scores::Lost(0.01)),
        (0.1, Scores::Lost(0.001)),
        (0.02, Scores::Lost(0.003)),
    ] {
        let block = (100.0 / share).max(1_000.0) as u64;
        let alarms = (0..streams)
            .filter(|&seed| first_alarm((rate, seed, 40 * block), share, |_| scores).is_some());
        all.push(alarms.count());
    }
    println!("false alarms of {streams} streams at rate {rate}: {all:?}");
    for count in &all {
        assert!(*count as f64 <= rate * streams as f64, "{all:?}");
    }
}

#[test]
fn a_scorer_that_improves_raises_none() {
    for seed in 0..20 {
        let learning = |i: u64| Scores::Uniform(0.8 * (i as f64 / 60_000.0));
        assert!(first_alarm((0.2, seed, 60_000), 0.5, learning).is_none());
    }
}

#[test]
fn an_abrupt_fall_is_found_soon() {
    // AUC .875 → .755 after 30,000 examples.
    let (mut found, mut delays) = (0, Vec::new());
    for seed in 0..100 {
        let falls = |i: u64| Scores::Uniform(if i <= 30_000 { 0.5 } else { 0.3 });
        if let Some(fall) = first_alarm((0.01, seed, 60_000), 0.5, falls) {
            assert!(fall.example > 30_000, "false alarm: {fall:?}");
            assert!(fall.p < fall.level && fall.auc_since < fall.auc_before);
            assert!((28_000..=32_000).contains(&fall.since), "{fall:?}");
            assert!((fall.auc_before - 0.875).abs() < 0.01, "{fall:?}");
            found += 1;
            delays.push(fall.example - 30_000);
        }
    }
    delays.sort_unstable();
    println!(
        "found {found} of 100, median delay {}",
        delays[delays.len() / 2]
    );
    assert_eq!(found, 100);
    assert!(delays[50] <= 2_000 && delays[99] <= 4_000, "{delays:?}");
}

#[test]
fn a_slow_fall_is_found_too() {
    for seed in 0..20 {
        let slowly = |i: u64| Scores::Uniform(0.6 - 0.3 * (i as f64 / 200_000.0));
        assert!(first_alarm((0.01, seed, 200_000), 0.5, slowly).is_some());
    }
}

#[test]
fn two_blocks_by_hand() {
    // Blocks of 500 and 500. In the first 1 in 50 positives is lost, in the second 1 in 5: A = .98 and .8, each positive
    // 1 or 0, so v = A(1 − A)/499; the negatives vary not at all. σ² = v̄·2, b = 1/500, one cut, k = 1: level α/2.
    let mut alarm = FallAlarm::new(0.05).unwrap();
    let mut fall = None;
    let (mut scores, mut classes) = (Vec::new(), Vec::new());
    for i in 0..2_000_u64 {
        let (block, positive) = (i / 1_000, i % 2 == 0);
        let lost = (i % 1_000 / 2).is_multiple_of(if block == 0 { 50 } else { 5 });
        let score = match positive {
            true if lost => -1.0,
            true => 1.0,
            false => 0.0,
        };
        if block == 0 {
            scores.push(score);
            classes.push(positive);
        }
        let found = alarm.add(score, positive, 10 + i).unwrap();
        assert_eq!(found.is_some(), i == 1_999);
        fall = fall.or(found);
    }
    let fall = fall.unwrap();
    assert_eq!((fall.example, fall.since), (2_009, 1_010));
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b.abs(), "{a} {b}");
    close(fall.auc_before, 0.98);
    close(fall.auc_since, 0.8);
    let v = [0.98, 0.8].map(|a: f64| a * (1.0 - a) / 499.0);
    close(auc(&scores, &classes).unwrap().variance, v[0]);
    let z = 0.18 / (v[0] + v[1]).sqrt();
    close(fall.z, z);
    close(fall.level, 0.025);
    let exponent = -0.18 * 0.18 / (2.0 * (v[0] + v[1] + 0.18 / 1_500.0));
    assert!((fall.p / exponent.exp() - 1.0).abs() < 1e-10, "{fall:?}");
}

#[test]
fn what_is_saved_goes_on_with_the_same_bits() {
    let mut random = Pcg64::seed_from_u64(7);
    let mut one = FallAlarm::new(0.05).unwrap();
    let mut other = one.clone();
    let mut alarms = 0;
    for i in 0..60_000_u64 {
        let positive = random.random::<f64>() < 0.3;
        let shift = if i / 20_000 % 2 == 0 { 0.6 } else { 0.1 };
        let score = Scores::Uniform(shift).draw(&mut random, positive);
        if i % 997 == 0 {
            let text = serde_json::to_string(&other).unwrap();
            other = serde_json::from_str(&text).unwrap();
        }
        let found = one.add(score, positive, i).unwrap();
        assert_eq!(other.add(score, positive, i).unwrap(), found);
        alarms += u32::from(found.is_some());
    }
    assert_eq!(one, other);
    assert_eq!(alarms, 1);
}

#[test]
fn what_cannot_be_is_refused() {
    for rate in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(FallAlarm::new(rate).is_err());
    }
    let mut alarm = FallAlarm::new(0.05).unwrap();
    assert!(alarm.add(f64::NAN, true, 1).is_err());
    alarm.add(0.5, true, 1).unwrap();
    let text = serde_json::to_string(&alarm).unwrap();
    for (from, to) in [
        ("\"rate\":0.05", "\"rate\":2.0"),
        ("\"counts\":[0,1]", "\"counts\":[1,1]"),
    ] {
        let forged = text.replace(from, to);
        assert_ne!(forged, text);
        assert!(serde_json::from_str::<FallAlarm>(&forged).is_err());
    }
}
