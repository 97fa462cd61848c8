//! Times one function of the library on given data and prints JSON; `bench/run.py` sets the times
//! beside those of others.
//!
//!     measure auc SCORES LABELS REPEATS    raw little-endian f64 and one byte a label
//!     measure read FILE REPEATS            svmlight → CSR
//!     measure table FILE LABEL REPEATS     a CSV file → its columns → their linear map → coded rows
//!     measure memchr FILE REPEATS          read the bytes, count the line ends: the floor
//!     measure plain FILE OUT               the file without its compression
//!     measure fit FILE CLASSES BETA GAMMA TOLERANCE REPEATS
//!                                          ba-UBAUC, plain, no intercept; CLASSES are the positive ones, or - for
//!                                          the larger of two; answers the objective
//!     measure online FILE PASSES           ol-UBAUC, the default step: each pass without averages, then each with;
//!                                          answers P of the average
//!     measure dot FILE REPEATS             x·w of every row and nothing else, what a pass cannot do without
//!     measure rows N D TOLERANCE           the same on N generated dense rows of D features, β = .5, γ = 1e-4
//!     measure tune FILE REPEATS            the grid that tuning tries if nothing is said, nothing held out; answers the
//!                                          mean AUC of the choice
//!     measure clarabel FILE BETA GAMMA REPEATS
//!                                          the learning problem as one quadratic program, plain, no intercept, by
//!                                          Clarabel with its own tolerances (1e-8); answers the objective
//!     measure table-fit N FEATURES         one fit with given parameters on a generated table of N rows: linear, additive or
//!                                          pairs; answers the AUC of its own rows
//!     measure table-scores MODEL FILE REPEATS
//!                                          the scores of a table that is in memory; answers their mean
#![allow(clippy::unwrap_used)] // a measurement that cannot go on should stop

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use ubauc::data::dataset::Dataset;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::data::labels::{Binary, Class};
use ubauc::data::rows::{Dense, Row, Rows};
use ubauc::features::ColumnMap;
use ubauc::glass_box::{MapKind, PairChoice, TrainingTable};
use ubauc::model_file::SavedModel;
use ubauc::read::table::{TableOptions, read_table};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Stop, fit, path};
use ubauc::solver::ol_ubauc::OlUbaucParams;
use ubauc::solver::ol_ubauc::passes::Run;
use ubauc::solver::passes::Passing;
use ubauc::tune::{TuneInputs, TuneParams, tune};

#[allow(dead_code, unused_imports)] // the tests use all of it
#[path = "../tests/oracle/mod.rs"]
mod oracle;
#[path = "measure/table.rs"]
mod table;

#[allow(clippy::too_many_lines)] // a list, one entry a measurement
fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (times, input, answer) = match args.as_slice() {
        ["auc", scores, labels, repeats] => {
            let positive: Vec<bool> = std::fs::read(labels)
                .unwrap()
                .into_iter()
                .map(|b| b != 0)
                .collect();
            let scores = read_f64(scores);
            let input = 8 * scores.len() + positive.len();
            let (times, found) =
                timed(repeats, || ubauc::metrics::auc(&scores, &positive).unwrap());
            (times, input, found.auc)
        }
        ["read", file, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let (times, examples) = timed(repeats, || {
                ubauc::read::read(Path::new(file), &<_>::default()).unwrap()
            });
            let rows = (examples.rows.len() + examples.rows.stored()) as f64;
            (times, input, rows)
        }
        ["table", file, label, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let options = TableOptions {
                label: Some((*label).to_string()),
                ..TableOptions::default()
            };
            let (times, rows) = timed(repeats, || {
                let found = read_table(Path::new(file), &options).unwrap();
                let map = ColumnMap::learn(&found.table, None).unwrap();
                map.apply(&found.table).unwrap()
            });
            (times, input, (rows.len() + rows.stored()) as f64)
        }
        ["memchr", file, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let (times, (_, lines)) = timed(repeats, || {
                let bytes = std::fs::read(file).unwrap();
                let lines = memchr::memchr_iter(b'\n', &bytes).count() as f64;
                (bytes, lines)
            });
            (times, input, lines)
        }
        ["plain", file, out] => {
            let file = std::fs::File::open(file).unwrap();
            let mut text = zstd::Decoder::new(file).unwrap();
            std::io::copy(&mut text, &mut std::fs::File::create(out).unwrap()).unwrap();
            return;
        }
        ["fit", file, classes, beta, gamma, tolerance, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, classes);
            let params = BaUbaucParams {
                beta: beta.parse().unwrap(),
                gamma: gamma.parse().unwrap(),
                tolerance: tolerance.parse().unwrap(),
                intercept: false,
                ..Default::default()
            };
            let (times, found) = timed(repeats, || {
                fit(&data, &BatchInputs::default(), &params).unwrap()
            });
            assert_eq!(found.stop, Stop::Converged);
            (times, input, found.objective)
        }
        ["online", file, passes] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, "-");
            let [(last, _), (averaged, objective)] =
                [None, Some(0)].map(|average| online(&data, passes, average));
            println!(
                "{{\"seconds\": {last:?}, \"seconds_average\": {averaged:?}, \"input_bytes\": {input}, \
                 \"peak_bytes\": {}, \"answer\": {objective}}}",
                peak_memory()
            );
            return;
        }
        ["dot", file, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, "-");
            let rows = data.rows();
            let w: Vec<f64> = (0..rows.cols()).map(|j| (j as f64).sin()).collect();
            let (times, sum) = timed(repeats, || {
                (0..rows.len()).map(|i| rows.row(i).dot(&w)).sum::<f64>()
            });
            (times, input, sum)
        }
        ["rows", n, d, tolerance] => {
            let data = generated(n.parse().unwrap(), d.parse().unwrap());
            // As CSR it would take 12 bytes an entry and 8 a row.
            let input = data.rows().stored() * 12 + data.rows().len() * 8;
            let params = BaUbaucParams {
                tolerance: tolerance.parse().unwrap(),
                intercept: false,
                ..Default::default()
            };
            let (times, found) = timed("1", || {
                fit(&data, &BatchInputs::default(), &params).unwrap()
            });
            assert_eq!(found.stop, Stop::Converged);
            (times, input, found.objective)
        }
        ["soft", file, beta, softness, gamma, tolerance, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, "-");
            let params = BaUbaucParams {
                beta: beta.parse().unwrap(),
                softness: softness.parse().unwrap(),
                gamma: gamma.parse().unwrap(),
                tolerance: tolerance.parse().unwrap(),
                ..Default::default()
            };
            let (times, found) = timed(repeats, || {
                fit(&data, &BatchInputs::default(), &params).unwrap()
            });
            assert_eq!(found.stop, Stop::Converged);
            (times, input, found.objective)
        }
        ["hinge-start", file, classes, beta, gamma, softness, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, classes);
            let params = BaUbaucParams {
                beta: beta.parse().unwrap(),
                gamma: gamma.parse().unwrap(),
                intercept: false,
                ..Default::default()
            };
            let soft = BaUbaucParams {
                softness: softness.parse().unwrap(),
                tolerance: 1e-2,
                ..params
            };
            let (times, found) = timed(repeats, || {
                let path = path::Path::new(&data, &BatchInputs::default(), params.weighting());
                let mut path = path.unwrap().stop_by_estimate();
                if soft.softness > 0.0 {
                    path.fit(&soft).unwrap();
                }
                path.fit(&params).unwrap()
            });
            assert_eq!(found.stop, Stop::Converged);
            (times, input, found.objective)
        }
        ["tune", file, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let data = dataset(file, "-");
            let params = TuneParams {
                held_out: 0.0,
                intercept: false,
                ..TuneParams::of_hinge()
            };
            let inputs = TuneInputs::default();
            let (times, found) = timed(repeats, || tune(&data, &inputs, &params).unwrap());
            // And logistic regression at every γ.
            assert_eq!((found.points.len(), params.folds), (60 + 5, 5));
            (times, input, found.best().judged.auc)
        }
        ["clarabel", file, beta, gamma, repeats] => {
            let input = std::fs::metadata(file).unwrap().len() as usize;
            let problem = learning_problem(file, beta, gamma);
            let (times, found) = timed(repeats, || oracle::quadratic::minimise(&problem, 1e-8));
            let (w, b) = found.expect("Clarabel solves the problem");
            let scores = problem.scores(&w, b);
            let best =
                ubauc::objective::univariate::l_tilde_min(&scores, &problem.positive).unwrap();
            (
                times,
                input,
                oracle::objective(&problem, &w, b, best.lambda[0]),
            )
        }
        ["table-fit", n, features] => {
            let (table, labels) = table::generated(n.parse().unwrap());
            let kind = match *features {
                "linear" => MapKind::Linear,
                "additive" => MapKind::Additive,
                _ => MapKind::Pairs(PairChoice::Best(5)),
            };
            let training = TrainingTable {
                table: &table,
                labels: &labels,
                weights: None,
                groups: None,
                monotone: None,
            };
            let params = BaUbaucParams {
                beta: 0.0,
                softness: 1.0,
                gamma: 1e-4,
                tolerance: 1e-3,
                ..Default::default()
            };
            let (times, found) = timed("1", || training.fit(&kind, &params, None).unwrap());
            // Of the fit: the AUC below, which shows that it was one, sorts scores.
            let peak = peak_memory();
            let scores = found.model().scores_table(&table).unwrap();
            let auc = ubauc::metrics::auc(&scores, &labels.positive).unwrap().auc;
            let input = table::bytes(&table);
            println!(
                "{{\"seconds\": {times:?}, \"input_bytes\": {input}, \"peak_bytes\": {peak}, \"answer\": {auc}}}"
            );
            return;
        }
        ["table-scores", model, file, repeats] => {
            let model = SavedModel::load(Path::new(model)).unwrap().model;
            let table = read_table(Path::new(file), &<_>::default()).unwrap().table;
            let (times, scores) = timed(repeats, || model.scores_table(&table).unwrap());
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            (times, table::bytes(&table), mean)
        }
        _ => {
            // `cargo bench` without arguments: say what this is.
            println!("{{\"usage\": \"make bench\"}}");
            return;
        }
    };
    println!(
        "{{\"seconds\": {times:?}, \"input_bytes\": {input}, \"peak_bytes\": {}, \"answer\": {answer}}}",
        peak_memory()
    );
}

/// Seconds of each pass, and P in the end.
fn online(data: &Dataset, passes: &str, average: Option<u64>) -> (Vec<f64>, f64) {
    let params = OlUbaucParams {
        average,
        intercept: false,
        ..Default::default()
    };
    let mut run = Run::new(data, &<_>::default(), &params, Some(0)).unwrap();
    let (times, ()) = timed(passes, || run.pass().unwrap());
    (times, run.objective().unwrap())
}

fn dataset(file: &str, classes: &str) -> Dataset {
    let examples = ubauc::read::read(Path::new(file), &<_>::default()).unwrap();
    if classes == "-" {
        return examples.binary(&<_>::default()).unwrap();
    }
    let chosen: Vec<f64> = classes.split(',').map(|c| c.parse().unwrap()).collect();
    let is_positive = |class: &Class| matches!(class, Class::Number(x) if chosen.contains(x));
    let of_class: Vec<bool> = examples.labels.classes().iter().map(is_positive).collect();
    let codes = examples.labels.codes().iter();
    binary(
        examples.rows,
        codes.map(|&c| of_class[c as usize]).collect(),
    )
}

fn binary(rows: Rows, positive: Vec<bool>) -> Dataset {
    let n_pos = positive.iter().filter(|&&p| p).count();
    let n_neg = positive.len() - n_pos;
    let names = ["-1".into(), "1".into()];
    let labels = Binary {
        positive,
        n_pos,
        n_neg,
        names,
    };
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

fn generated(n: u64, d: u32) -> Dataset {
    let params = GenerateParams {
        rows: n,
        dim: d,
        ..Default::default()
    };
    let mut generator = Generator::new(&params).unwrap();
    let mut values = Vec::with_capacity(n as usize * d as usize);
    let mut positive = Vec::with_capacity(n as usize);
    while let Some(row) = generator.next_row() {
        values.extend(row.entries.iter().map(|entry| entry.1));
        positive.push(row.positive);
    }
    let rows = Rows::Dense(Dense::new(values, n as usize, d as usize).unwrap());
    binary(rows, positive)
}

/// A file of two classes as the oracle's problem.
fn learning_problem(file: &str, beta: &str, gamma: &str) -> oracle::Problem {
    let examples = ubauc::read::read(Path::new(file), &<_>::default()).unwrap();
    let data = examples.binary(&<_>::default()).unwrap();
    let dense = |i: usize| match data.rows().row(i) {
        Row::Dense(values) => values.to_vec(),
        row => {
            let mut values = vec![0.0; data.rows().cols()];
            row.add_to(1.0, &mut values);
            values
        }
    };
    oracle::Problem {
        rows: (0..data.rows().len()).map(dense).collect(),
        positive: data.positive().to_vec(),
        weights: None,
        beta: beta.parse().unwrap(),
        gamma: gamma.parse().unwrap(),
        least_squares: oracle::LeastSquares::Plain,
        intercept: false,
    }
}

fn timed<T>(repeats: &str, mut f: impl FnMut() -> T) -> (Vec<f64>, T) {
    // Giving the memory of the last answer back is not part of finding the next.
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..repeats.parse::<usize>().unwrap() {
        drop(last.take());
        let start = Instant::now();
        let answer = black_box(f());
        times.push(start.elapsed().as_secs_f64());
        last = Some(answer);
    }
    (times, last.unwrap())
}

fn read_f64(path: &str) -> Vec<f64> {
    use std::io::Read;
    let mut file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let n = file.get_ref().metadata().unwrap().len() as usize / 8;
    let mut values = Vec::with_capacity(n);
    let mut bytes = [0; 8];
    for _ in 0..n {
        file.read_exact(&mut bytes).unwrap();
        values.push(f64::from_le_bytes(bytes));
    }
    values
}

/// The most memory this process has had, input and program included; 0 where the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line
        .and_then(|line| line.split_whitespace().nth(1))
        .and_then(|kib| kib.parse().ok());
    kib.unwrap_or(0) * 1024
}
