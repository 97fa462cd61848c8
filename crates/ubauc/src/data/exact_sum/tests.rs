use proptest::prelude::*;

use super::*;

fn sum(of: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    of.iter().for_each(|&x| sum.add(x));
    sum
}

/// Shewchuk's sum, as in Python's `fsum`: partial sums that do not overlap, each sum of two split into the rounded
/// sum and its error.
fn by_partial_sums(of: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for &x in of {
        let (mut x, mut kept) = (x, Vec::new());
        for &y in &partials {
            let (a, b) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
            let high = a + b;
            let low = b - (high - a);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        partials = kept;
    }
    let mut total = 0.0;
    let mut rest = 0.0;
    while let Some(x) = partials.pop() {
        let before = total;
        total = before + x;
        rest = x - (total - before);
        if rest != 0.0 {
            break;
        }
    }
    // Half of a last place, and more of the same sign below: away from the even neighbour.
    if let Some(&below) = partials.last() {
        let twice = 2.0 * rest;
        if (rest < 0.0) == (below < 0.0) && below != 0.0 && twice == (total + twice) - total {
            total += twice;
        }
    }
    total
}

fn number() -> impl Strategy<Value = f64> {
    (-1.0..1.0, -300i32..300).prop_map(|(x, e): (f64, i32)| x * 10f64.powi(e))
}

fn near() -> impl Strategy<Value = f64> {
    (-1.0..1.0, -20i32..20).prop_map(|(x, e): (f64, i32)| x * 2f64.powi(e))
}

proptest! {
    #[test]
    fn a_sum_is_that_of_non_overlapping_parts(
        mut x in prop::collection::vec(prop_oneof![number(), near()], 0..40),
        cancel in any::<bool>(),
    ) {
        if cancel {
            let less: Vec<f64> = x.iter().skip(1).map(|x| -x).collect();
            x.extend(less);
        }
        prop_assert_eq!(sum(&x).value(), by_partial_sums(&x));
    }

    #[test]
    fn neither_the_order_nor_the_parts_change_a_bit(
        x in prop::collection::vec(number(), 0..40), cut in 0usize..40,
    ) {
        let mut turned = x.clone();
        turned.reverse();
        let whole = sum(&x);
        prop_assert_eq!(whole.value().to_bits(), sum(&turned).value().to_bits());
        let (a, b) = x.split_at(cut.min(x.len()));
        for (a, b) in [(a, b), (b, a)] {
            let mut merged = sum(a);
            merged.merge(&sum(b));
            prop_assert_eq!(&merged, &whole);
        }
        let bytes = postcard::to_stdvec(&whole).unwrap();
        let back: ExactSum = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(back, whole);
    }

    /// Whole numbers, of which i128 is the oracle.
    #[test]
    fn products_of_whole_numbers_are_right(
        of in prop::collection::vec((0u32..1000, -1_000_000i64..1_000_000), 1..30),
    ) {
        let [mut total, mut first, mut second] = [(); 3].map(|()| ExactSum::default());
        let mut expected = [0_i128; 3];
        for &(s, x) in &of {
            let (s, y) = (f64::from(s), x as f64);
            total.add(s);
            first.add_product(s, y);
            second.add_square(s, y);
            let (s, x) = (s as i128, i128::from(x));
            expected = [expected[0] + s, expected[1] + s * x, expected[2] + s * x * x];
        }
        for (sum, expected) in [&total, &first, &second].into_iter().zip(expected) {
            prop_assert_eq!(sum.value(), expected as f64);
        }
        let [s, a, q] = [total, first, second].map(|sum| sum.exact());
        let apart = s.times(&q).less(&a.times(&a));
        let whole = expected[0] * expected[2] - expected[1] * expected[1];
        prop_assert_eq!(apart.value(), whole as f64);
        if expected[0] > 0 {
            let mean = expected[1] as f64 / expected[0] as f64;
            prop_assert!((ratio(&a, &s) - mean).abs() <= 1e-15 * mean.abs());
            let deviation = (whole as f64).sqrt() / expected[0] as f64;
            prop_assert!((root_ratio(&apart, &s) - deviation).abs() <= 1e-15 * deviation);
        }
    }

    /// Scaled by powers of two, where nothing changes but the exponent.
    #[test]
    fn the_smallest_and_largest_numbers_have_their_products(x in 0.5..1.0f64, s in 0.5..1.0f64) {
        let of = |scale: f64, times: f64| {
            let mut sum = ExactSum::default();
            sum.add_square(s * times, x * scale);
            sum.add_square(s * times, -x * scale);
            sum.exact().split()
        };
        let (f, e) = of(1.0, 1.0);
        prop_assert_eq!(of(2f64.powi(1000), 2f64.powi(900)), (f, e + 2900));
        prop_assert_eq!(of(2f64.powi(-1000), 2f64.powi(-900)), (f, e - 2900));
    }
}

#[test]
fn what_doubles_lose_is_kept() {
    assert_eq!(sum(&[1e100, 1.0, -1e100]).value(), 1.0);
    assert_eq!(sum(&[1e16, 1.0, 1.0]).value(), 1e16 + 2.0);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).value(), f64::MAX);
    assert_eq!(sum(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
    assert_eq!(sum(&[5e-324; 3]).value(), 1.5e-323);
    assert_eq!(sum(&[]).value(), 0.0);
    assert_eq!(sum(&[f64::NAN, f64::INFINITY, -2.5]).value(), -2.5);
    assert_eq!(sum(&[0.1; 10]).value(), 1.0);
}

#[test]
fn the_deviation_of_numbers_far_from_zero_is_exact() {
    let [mut a, mut q] = [(); 2].map(|()| ExactSum::default());
    for i in 0..1000 {
        let x = 1e15 + f64::from(i % 2);
        a.add(x);
        q.add_square(1.0, x);
    }
    let (s, a, q) = (sum(&[1000.0]).exact(), a.exact(), q.exact());
    assert_eq!(root_ratio(&s.times(&q).less(&a.times(&a)), &s), 0.5);
    assert_eq!(ratio(&a, &s), 1e15 + 0.5);
}

#[test]
fn carries_that_have_waited_are_propagated() {
    let mut sum = ExactSum {
        waiting: MOST_WAITING - 1,
        ..ExactSum::default()
    };
    for _ in 0..5 {
        sum.add(-0.75);
    }
    assert!(sum.waiting < 100);
    assert_eq!(sum.value(), -3.75);
}
