//! The very numbers of every algorithm on one small problem: who changes a bit should know it.
//!
//! Everything but the soft loss is made of operations that IEEE 754 defines to the last bit, and is compared so. e^x and
//! ln come from the platform's library, which may differ in the last digit: the soft ones are compared to 1e-12.
//!
//! To record again after a change that is meant: run `cargo test -p ubauc --all-features --test main bits`, and copy the
//! line that each failed test prints. Say in the commit why the numbers changed.

use ubauc::algorithm::{Algorithm, BaUbauc, FitInputs, Outcome, Spec, fit};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Rows};
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::BaUbaucParams;

/// The objective, and a checksum of it, the weights and the intercept.
#[rustfmt::skip] // lines as they are printed
const BITS: [(&str, f64, u64); 8] = [
    ("ba-ubauc", 0.11478207757730431, 0x626f8a1c142ae035),
    ("ol-ubauc", 0.1149200787117159, 0x8bcf33780be8bcc7),
    ("solam", 0.29770162869265576, 0x5952c614434bd982),
    ("opauc", 0.1949727640340416, 0xdb06357f62d83f95),
    ("oam-seq", 0.42236385183196534, 0xb19736d8149d8d70),
    ("oam-gra", 0.4212223780881914, 0xfa2d82606fda6837),
    ("svm-or", 0.7695137926842999, 0xce845f51d1f81550),
    ("svm", 116.1863324478253, 0xf8bb11ce9d3b4f04),
];

/// P, b and the sum of |w| of the soft ones.
#[rustfmt::skip]
const NUMBERS: [(&str, [f64; 3]); 3] = [
    ("logistic", [0.23908869555595486, -2.9376511765781315, 19.502098696385804]),
    ("soft", [0.11779161615381864, -0.5319370015883601, 2.68875386427569]),
    ("balanced", [0.4221397005900475, -0.6439408525361687, 8.141377030647753]),
];

const ROWS: usize = 400;
const COLUMNS: usize = 12;

/// Sparse, with noise, a quarter positive; sums of a few numbers of few bits, the same everywhere.
fn data() -> Dataset {
    let mut state = 1_u64;
    let mut next = || {
        // Knuth's constants; the upper bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 44) as f64 / f64::from(1_u32 << 19) - 1.0
    };
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut positive = Vec::new();
    for _ in 0..ROWS {
        let mut sum = 0.0;
        for j in 0..COLUMNS {
            if next() > -0.2 {
                let x = next();
                sum += if j < 4 { x } else { 0.0 };
                indices.push(j as u32);
                values.push(x);
            }
        }
        indptr.push(indices.len());
        positive.push(sum + 0.7 * next() > 0.7);
    }
    let n_pos = positive.iter().filter(|p| **p).count();
    assert_eq!(n_pos, 94, "as it was");
    let labels = Binary {
        n_pos,
        n_neg: ROWS - n_pos,
        positive,
        names: ["no".into(), "yes".into()],
    };
    let rows = Rows::Csr(Csr::new(indptr, indices, values, COLUMNS).unwrap());
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

fn outcome(spec: &Spec) -> Outcome {
    fit(&data(), &FitInputs::default(), spec).unwrap()
}

/// FNV-1a of the bytes.
fn checksum(numbers: impl Iterator<Item = f64>) -> u64 {
    let bytes = numbers.flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// With the defaults, which are fixed by the numbers too.
#[test]
fn every_algorithm_has_the_bits_it_had() {
    let mut changed = Vec::new();
    for algorithm in Algorithm::all().filter(|a| *a != Algorithm::Logistic) {
        let found = outcome(&Spec::new(algorithm));
        let (name, objective) = (algorithm.name(), found.certificate.objective.unwrap());
        let rest = [found.model.intercept, objective];
        let sum = checksum(found.model.weights.iter().copied().chain(rest));
        let is_same = |recorded: &(&str, f64, u64)| {
            let (of, value, all) = recorded;
            *of == name && value.to_bits() == objective.to_bits() && *all == sum
        };
        if !BITS.iter().any(is_same) {
            changed.push(format!("(\"{name}\", {objective:?}, {sum:#018x}),"));
        }
    }
    assert!(
        changed.is_empty(),
        "other than recorded:\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_soft_ones_have_the_numbers_they_had() {
    let soft = |beta, softness, class_weight| {
        Spec::BaUbauc(BaUbauc {
            params: BaUbaucParams {
                beta,
                softness,
                class_weight,
                tolerance: 1e-13,
                ..BaUbaucParams::default()
            },
            ..BaUbauc::default()
        })
    };
    let mut logistic = Spec::new(Algorithm::Logistic);
    assert!(logistic.set("tolerance", 1e-13));
    let specs = [
        ("logistic", logistic),
        ("soft", soft(0.5, 0.05, ClassWeight::None)),
        ("balanced", soft(0.1, 1.0, ClassWeight::Balanced)),
    ];
    let mut changed = Vec::new();
    for (name, spec) in specs {
        let found = outcome(&spec);
        let size = found.model.weights.iter().map(|w| w.abs()).sum();
        let objective = found.certificate.objective.unwrap();
        let numbers = [objective, found.model.intercept, size];
        let is_same = |(of, recorded): &(&str, [f64; 3])| {
            let mut pairs = numbers.iter().zip(recorded);
            *of == name && pairs.all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs())
        };
        if !NUMBERS.iter().any(is_same) {
            changed.push(format!("(\"{name}\", {numbers:?}),"));
        }
    }
    assert!(
        changed.is_empty(),
        "other than recorded:\n{}",
        changed.join("\n")
    );
}
