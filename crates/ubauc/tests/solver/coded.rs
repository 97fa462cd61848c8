//! Every algorithm learns the same from coded rows as from sparse rows of the same entries.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::algorithm::{Algorithm, FitInputs, Outcome, Spec, fit};
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::{Coded, CodedShape, NO_CELL, Rows};
use ubauc::data::scale::Scale;

use super::binary;

const SIZES: [u32; 3] = [4, 2, 7];

/// Two numbers about 0, and cells of three effects, some rows in none of the first.
fn coded(n: usize) -> (Coded, Vec<bool>) {
    let mut random = Pcg64::seed_from_u64(11);
    let (mut values, mut codes, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let x = [(); 2].map(|()| random.random_range(-1.5..1.5));
        let cells = SIZES.map(|size| random.random_range(0..size));
        let score: f64 = x[0] - 0.5 * f64::from(cells[0]) + 0.4 * f64::from(cells[2]);
        positive.push(score + random.random_range(-1.0..1.0) > 0.8);
        values.extend(x);
        let gap = random.random_bool(0.1);
        codes.push(if gap { NO_CELL } else { 2 + cells[0] });
        codes.extend([6 + cells[1], 8 + cells[2]]);
    }
    let shape = CodedShape {
        rows: n,
        numbers: 2,
        codes: 3,
        cols: 15,
    };
    (Coded::new(values, codes, shape).unwrap(), positive)
}

fn both() -> [Dataset; 2] {
    let (coded, positive) = coded(600);
    let coded = Rows::Coded(coded);
    let sparse = Rows::Csr(coded.clone().into_csr().unwrap());
    [coded, sparse].map(|rows| Dataset::new(rows, binary(&positive), Vec::new()).unwrap())
}

fn learn(data: &Dataset, spec: &Spec) -> Outcome {
    fit(data, &FitInputs::default(), spec).unwrap()
}

fn objective(outcome: &Outcome) -> f64 {
    outcome.certificate.objective.unwrap()
}

#[test]
fn the_minima_are_the_same() {
    let data = both();
    assert_eq!(Scale::suited(data[0].rows()), Scale::None);
    for algorithm in [
        Algorithm::BaUbauc,
        Algorithm::SvmOr,
        Algorithm::Svm,
        Algorithm::Logistic,
    ] {
        let mut spec = Spec::new(algorithm);
        assert!(spec.set("tolerance", 1e-9));
        let [a, b] = data.each_ref().map(|data| learn(data, &spec));
        let apart = (objective(&a) - objective(&b)).abs() / objective(&b);
        assert!(apart < 1e-6, "{}: {apart}", algorithm.name());
        assert_eq!(a.stop, b.stop, "{}", algorithm.name());
    }
}

#[test]
fn online_learners_take_the_same_steps() {
    let data = both();
    for algorithm in Algorithm::all().filter(|a| a.is_online()) {
        let mut spec = Spec::new(algorithm);
        spec.set_passes(3);
        let [a, b] = data.each_ref().map(|data| learn(data, &spec));
        assert_eq!(a.model.weights.len(), 15);
        if algorithm == Algorithm::OlUbauc {
            // Sparse rows are centred where most rows have a feature, and the steps differ.
            let apart = (objective(&a) - objective(&b)).abs() / objective(&b);
            assert!(apart < 0.05, "{apart}");
            continue;
        }
        for (a, b) in a.model.weights.iter().zip(&b.model.weights) {
            assert!((a - b).abs() < 1e-9, "{}: {a} {b}", algorithm.name());
        }
    }
}

#[test]
fn soft_losses_and_many_threads_read_coded_rows() {
    let data = both();
    let mut spec = Spec::new(Algorithm::BaUbauc);
    assert!(spec.set("softness", 0.5));
    let [a, b] = data.each_ref().map(|data| learn(data, &spec));
    assert!((objective(&a) - objective(&b)).abs() < 1e-6 * objective(&b));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let again = pool.install(|| learn(&data[0], &spec));
        assert_eq!(again.model.weights, a.model.weights);
    }
}
