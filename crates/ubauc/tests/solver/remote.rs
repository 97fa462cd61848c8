//! Rows that are reached in rounds, as if they were remote, against rows in this process.

use ubauc::Result;
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};
use ubauc::solver::shards::{Round, Shard, Source, add_all, answers_from_bytes, answers_to_bytes};

/// Rows, their classes and weights.
pub(crate) type Part = (Rows, Vec<bool>, Vec<f64>);

/// Parts that answer what comes to them as bytes, and lose their state between two rounds if `forgetful`.
pub(crate) struct Parts {
    parts: Vec<Part>,
    shards: Vec<Shard>,
    log: Vec<Round>,
    forgetful: bool,
    rounds: usize,
}

impl Parts {
    fn new(data: &Dataset, weights: &[f64], cuts: &[usize], forgetful: bool) -> Parts {
        let n = data.rows().len();
        let mut bounds = vec![0];
        bounds.extend(cuts);
        bounds.push(n);
        let part = |span: &[usize]| {
            let chosen: Vec<bool> = (0..n).map(|i| i >= span[0] && i < span[1]).collect();
            let rows = data.rows().part(&chosen);
            let positive = data.positive()[span[0]..span[1]].to_vec();
            (rows, positive, weights[span[0]..span[1]].to_vec())
        };
        Parts::of(bounds.windows(2).map(part).collect(), forgetful)
    }

    /// Parts of any form.
    pub(crate) fn of(parts: Vec<Part>, forgetful: bool) -> Parts {
        let mut made = Parts {
            parts,
            shards: Vec::new(),
            log: Vec::new(),
            forgetful,
            rounds: 0,
        };
        made.make_shards();
        made
    }

    fn make_shards(&mut self) {
        let shard = |(rows, positive, weights): &Part| {
            Shard::new(0..rows.len(), rows.cols(), positive, Some(weights))
        };
        self.shards = self.parts.iter().map(shard).collect();
        for round in &self.log {
            for (shard, (rows, ..)) in self.shards.iter_mut().zip(&self.parts) {
                shard.run(rows, round).unwrap();
            }
        }
    }
}

impl Source for Parts {
    fn sum(&mut self, round: &Round) -> Result<Vec<f64>> {
        Ok(add_all(self.collect(round)?))
    }

    fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>> {
        if self.forgetful {
            self.make_shards();
        }
        self.rounds += 1;
        let mut round = Round::from_bytes(&round.to_bytes()?)?;
        let all = self.shards.iter_mut().zip(&self.parts);
        let answers = all.map(|(shard, (rows, ..))| {
            let answers = answers_to_bytes(&shard.run(rows, &round)?)?;
            answers_from_bytes(&answers)
        });
        let answers = answers.collect();
        round.queries.clear();
        self.log.push(round);
        answers
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// A small generator of its own: the same numbers everywhere.
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }
}

fn data(n: usize, d: usize, sparse: bool) -> (Dataset, Vec<f64>) {
    let mut noise = Noise(7);
    let mut values = Vec::with_capacity(n * d);
    let (mut indptr, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
    let mut positive = Vec::with_capacity(n);
    for _ in 0..n {
        let mut sum = 0.0;
        for j in 0..d {
            let x = if sparse && noise.next() > -0.8 {
                0.0
            } else {
                noise.next() + 0.1 * (j % 3) as f64
            };
            sum += match j {
                0..3 => x,
                3..9 => -0.5 * x,
                _ => 0.0,
            };
            values.push(x);
            if x != 0.0 {
                indices.push(j as u32);
                stored.push(x);
            }
        }
        indptr.push(indices.len());
        positive.push(sum + noise.next() > 0.4);
    }
    let rows = match sparse {
        true => Rows::Csr(Csr::new(indptr, indices, stored, d).unwrap()),
        false => Rows::Dense(Dense::new(values, n, d).unwrap()),
    };
    let weights = (0..n).map(|i| [1.0, 0.0, 2.0, 0.5][i % 4]).collect();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = ubauc::data::labels::Binary {
        n_neg: n - n_pos,
        n_pos,
        positive,
        names: ["0".to_string(), "1".to_string()],
    };
    (Dataset::new(rows, labels, Vec::new()).unwrap(), weights)
}

fn fit_remote(
    (data, weights): &(Dataset, Vec<f64>),
    cuts: &[usize],
    forgetful: bool,
    scale: Scale,
    params: &BaUbaucParams,
) -> Fit {
    let source = Box::new(Parts::new(data, weights, cuts, forgetful));
    let mut path = Path::of_source(
        source,
        data.rows().cols(),
        data.class_names(),
        scale,
        params.weighting(),
    )
    .unwrap();
    path.fit(params).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// In every route: a factor with the active matrix moved, products with active rows, and no factor at all.
#[test]
fn remote_rows_give_the_minimum_of_local_ones() {
    for (n, d, sparse) in [
        (900, 12, false),
        (700, 40, true),
        (1500, 420, true),
        (90, 5000, true),
    ] {
        let given = data(n, d, sparse);
        for (intercept, kind, scale) in [
            (false, LeastSquares::Plain, Scale::None),
            (true, LeastSquares::Balanced, Scale::Standard),
            (true, LeastSquares::Plain, Scale::MaxAbs),
        ] {
            let params = BaUbaucParams {
                least_squares: kind,
                intercept,
                gamma: 1e-2,
                ..BaUbaucParams::default()
            };
            let origin = Origin::of_intercept(intercept);
            let divisors = scale
                .divisors(given.0.rows(), Some(&given.1), origin)
                .unwrap();
            let near = BatchInputs {
                weights: Some(&given.1),
                divisors: Some(&divisors),
                ..BatchInputs::default()
            };
            let near = fit(&given.0, &near, &params).unwrap();
            let one = fit_remote(&given, &[], false, scale, &params);
            let many = fit_remote(&given, &[0, n / 7, n / 7, n / 2], false, scale, &params);
            let what = format!("{n} × {d}, {kind:?}, {scale:?}, intercept {intercept}");
            for fit in [&one, &many] {
                assert_eq!(fit.stop, Stop::Converged, "{what}");
                // Both are within 1e-6 of the minimum.
                let apart = (fit.objective - near.objective).abs() / near.objective;
                assert!(apart <= 1e-6, "{what}: {apart}");
                assert!(
                    fit.dual.unwrap() <= near.objective * (1.0 + 1e-12),
                    "{what}"
                );
            }
            if d < 64 {
                // What the system needs is brought here: the very same steps, but for rounding.
                assert_eq!(many.newton, near.newton, "{what}");
                let apart = largest_difference(&many.weights, &near.weights);
                assert!(apart <= 1e-10, "{what}: {apart}");
                assert!((many.lambda[0] - near.lambda[0]).abs() <= 1e-10, "{what}");
                assert!((many.intercept - near.intercept).abs() <= 1e-10, "{what}");
                assert_eq!(many.tied, near.tied, "{what}");
            }
        }
    }
}

#[test]
fn shards_that_are_lost_and_replayed_give_the_same_bits() {
    for (n, d, sparse) in [(300, 8, false), (150, 420, true), (60, 5000, true)] {
        let given = data(n, d, sparse);
        let params = BaUbaucParams {
            intercept: true,
            gamma: 1e-2,
            ..BaUbaucParams::default()
        };
        let cuts = [n / 3, n / 3, n / 2];
        let kept = fit_remote(&given, &cuts, false, Scale::MaxAbs, &params);
        let lost = fit_remote(&given, &cuts, true, Scale::MaxAbs, &params);
        assert_eq!(kept.weights, lost.weights);
        assert_eq!(kept.lambda, lost.lambda);
        assert_eq!(kept.objective.to_bits(), lost.objective.to_bits());
        assert_eq!(kept.dual, lost.dual);
    }
}
