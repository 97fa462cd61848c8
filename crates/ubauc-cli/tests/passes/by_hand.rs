//! The steps of Eq. (9), from the weights that are saved.

use super::{assert_close, weights};
use crate::process::directory_with;

const TWO: &str = "label,a,b\n1,2,1\n-1,1,-1\n";
const FIVE: &str = "label,a,s,b\n1,2,1,1\n-1,1,0.5,-1\n-1,-3,2,0.5\n1,0.5,1.5,4\n-1,0,1,2\n";

#[test]
fn two_steps_of_eq09_by_hand() {
    let directory = directory_with(&[("x.csv", TWO)]);
    let given = "--beta 0.5 --gamma 0.1 --eta0 0.1 --passes 1 --step sgd --no-shuffle \
                 --no-intercept --scale none --quiet --schedule";
    let given: Vec<&str> = given.split(' ').collect();
    let run = |words: &[&str]| weights(directory.path(), "x.csv", &[&given[..], words].concat());
    let with = |more: &[&str]| run(&[&["constant"], more].concat());
    // x = (2, 1), y = 1, at the kink: w = 0.1 · 0.5 · (2, 1).
    // x = (1, −1), y = −1, c = 0.05 > λ = 0: w = 0.99 w − 0.1 (1 + 0.5 · 1.05) (1, −1).
    let (w, b) = with(&["--no-average"]);
    assert_close(&w, &[-0.0535, 0.202], "last");
    assert_eq!(b, 0.0);
    // The mean of (0.1, 0.05) and that.
    let (w, _) = with(&["--average-from", "1"]);
    assert_close(&w, &[0.02325, 0.126], "mean");
    // One pass ends before the average begins.
    let (w, _) = with(&[]);
    assert_close(&w, &[-0.0535, 0.202], "default");
    // With b, less the mean (1.5, 0): x = ±(0.5, 1), b = 0.1 · 0.5, w = b (0.5, 1), c = −0.0625 is not above λ = 0, then a
    // residual of −1 + 0.0625 − 0.05. For raw features b is 0.000625 less 1.5 w₁.
    let (w, b) = with(&["--no-average", "--intercept"]);
    assert_close(&w, &[0.0494375, 0.098875], "intercept");
    assert_close(&[b], &[-0.07353125], "intercept");
    // Half the second step: w = 0.995 w − 0.05 (1.525) (1, −1).
    let (w, _) = run(&["inverse", "--no-average"]);
    assert_close(&w, &[0.02325, 0.126], "inverse");
}

/// Options of Eq. (9).
struct Naive {
    balanced: bool,
    weighted: bool,
    power: f64,
    radius: f64,
    average_after: usize,
    divisors: [f64; 2],
}

/// Eq. (9), E3 and E5, on FIVE in its order, β = 0.7, γ = 0.05, η₀ = 0.2, three passes.
fn naive(how: &Naive) -> Vec<f64> {
    let rows: Vec<[f64; 4]> = FIVE
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            cells.try_into().unwrap()
        })
        .collect();
    let s = |row: &[f64; 4]| if how.weighted { row[2] } else { 1.0 };
    let total = |y: f64| -> f64 { rows.iter().filter(|r| r[0] == y).map(s).sum() };
    let (mut w, mut lambda, mut t) = ([0.0; 2], 0.0, 0.0);
    let (mut sum, mut averaged) = ([0.0; 2], 0.0);
    for pass in 0..3 {
        for row in &rows {
            t += 1.0;
            let eta: f64 = 0.2 / f64::powf(t, how.power);
            let (y, x) = (row[0], [row[1] / how.divisors[0], row[3] / how.divisors[1]]);
            let v = if how.balanced {
                (total(1.0) + total(-1.0)) / (2.0 * total(y))
            } else {
                1.0
            };
            let c = w[0] * x[0] + w[1] * x[1];
            let a = f64::from(u8::from(y * (lambda - c) > 0.0));
            for j in 0..2 {
                let gradient = s(row) * (0.7 * v * (c - y) * x[j] - a * y * x[j] + 0.05 * w[j]);
                w[j] -= eta * gradient;
            }
            lambda -= eta * s(row) * a * y;
            let norm = f64::hypot(w[0], w[1]);
            if norm > how.radius {
                w = w.map(|w| w * how.radius / norm);
            }
            if pass >= how.average_after {
                sum = [sum[0] + w[0], sum[1] + w[1]];
                averaged += 1.0;
            }
        }
    }
    let last = if averaged > 0.0 {
        sum.map(|s| s / averaged)
    } else {
        w
    };
    vec![last[0] / how.divisors[0], last[1] / how.divisors[1]]
}

/// What is typed, and what it means.
fn cases() -> [(&'static str, Naive); 9] {
    let plain = || Naive {
        balanced: false,
        weighted: false,
        power: 0.0,
        radius: f64::INFINITY,
        average_after: 1,
        divisors: [1.0; 2],
    };
    [
        ("--ignore s", plain()),
        (
            "--ignore s --schedule sqrt",
            Naive {
                power: 0.5,
                ..plain()
            },
        ),
        (
            "--ignore s --schedule inverse",
            Naive {
                power: 1.0,
                ..plain()
            },
        ),
        (
            "--ignore s --no-average",
            Naive {
                average_after: 9,
                ..plain()
            },
        ),
        (
            "--ignore s --average-from 3",
            Naive {
                average_after: 2,
                ..plain()
            },
        ),
        (
            "--ignore s --radius 0.3",
            Naive {
                radius: 0.3,
                ..plain()
            },
        ),
        (
            "--ignore s --least-squares balanced",
            Naive {
                balanced: true,
                ..plain()
            },
        ),
        (
            "--weight s",
            Naive {
                weighted: true,
                ..plain()
            },
        ),
        (
            "--weight s --least-squares balanced --scale maxabs",
            Naive {
                weighted: true,
                balanced: true,
                divisors: [3.0, 4.0],
                ..plain()
            },
        ),
    ]
}

#[test]
fn every_option_is_that_of_eq09_step_by_step() {
    let directory = directory_with(&[("x.csv", FIVE)]);
    let mut different = Vec::new();
    for (typed, how) in cases() {
        let given = "--beta 0.7 --gamma 0.05 --eta0 0.2 --passes 3 --tolerance 0 --step sgd \
                     --no-shuffle --no-intercept --quiet";
        let mut words: Vec<&str> = given.split(' ').chain(typed.split(' ')).collect();
        if !typed.contains("--schedule") {
            words.extend(["--schedule", "constant"]);
        }
        if !typed.contains("--scale") {
            words.extend(["--scale", "none"]);
        }
        let (w, _) = weights(directory.path(), "x.csv", &words);
        let expected = naive(&how);
        assert_close(&w, &expected, typed);
        assert!(!different.contains(&w), "{typed} changed nothing");
        different.push(w);
    }
}
