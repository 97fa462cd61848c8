//! Data for the online rivals.

use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::data::split::hold_out;
use ubauc::metrics::auc;
use ubauc::model::Model;
use ubauc::solver::passes::{Fit, OnlineInputs, Passes};

use crate::read::real_data;

/// In their own order, once.
pub(super) const ONCE: Passes = Passes {
    passes: 1,
    tolerance: 0.0,
    shuffle: None,
};

/// Four features of −2 … 2, partly 0, of which the first two tell the class. Stored dense or sparse.
pub(super) fn small(n: u32, sparse: bool) -> Dataset {
    let number = |i: u32, j: u32| i.wrapping_mul(2_654_435_761).rotate_left(7 * j + 3) >> 16;
    let feature = |i, j| f64::from(number(i, j) % 5) - 2.0;
    let values = (0..n).flat_map(|i| (0..4).map(move |j| feature(i, j)));
    let positive: Vec<bool> = (0..n)
        .map(|i| feature(i, 0) - feature(i, 1) > f64::from(number(i, 4) % 3))
        .collect();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["-1".into(), "1".into()],
    };
    let dense = Dense::new(values.collect(), n as usize, 4).unwrap();
    let rows = if sparse {
        Rows::smaller_of_dense(dense)
    } else {
        Rows::Dense(dense)
    };
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

/// Mean over pairs of (1 − (c_i − c_j))², pair by pair.
pub(super) fn square_by_pairs(scores: &[f64], positive: &[bool]) -> f64 {
    let class = |side: bool| {
        let of = scores
            .iter()
            .zip(positive)
            .filter(move |(_, p)| **p == side);
        of.map(|(c, _)| *c)
    };
    let losses = class(true).flat_map(|a| class(false).map(move |b| (1.0 - (a - b)).powi(2)));
    let losses: Vec<f64> = losses.collect();
    losses.iter().sum::<f64>() / losses.len() as f64
}

/// AUC on a quarter that is held out, features divided by their largest; `None` without real data.
pub(super) fn held_out_auc(
    test: &str,
    name: &str,
    fit: impl Fn(&Dataset, &OnlineInputs<'_>) -> Fit,
) -> Option<f64> {
    let path = real_data(test)?.join(name);
    let examples = ubauc::read::read(&path, &<_>::default()).unwrap();
    let data = examples.binary(&<_>::default()).unwrap();
    let held_out = hold_out(data.positive(), 0.25, 1).unwrap();
    let kept: Vec<bool> = held_out.iter().map(|h| !h).collect();
    let (train, test) = (data.part(&kept).unwrap(), data.part(&held_out).unwrap());
    let divisors = Scale::MaxAbs
        .divisors(train.rows(), None, Origin::Zero)
        .unwrap();
    let given = OnlineInputs {
        divisors: Some(&divisors),
        progress: None,
    };
    let found = fit(&train, &given);
    let model = Model::linear(found.weights, 0.0);
    let scores = model.scores(test.rows()).unwrap();
    Some(auc(&scores, test.positive()).unwrap().auc)
}
