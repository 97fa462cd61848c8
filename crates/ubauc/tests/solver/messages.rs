//! Commands and queries: they cross the wire as they are, and a shard survives whatever comes.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::container::Fault;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::Pass;
use ubauc::solver::shards::{
    Block, Command, Over, Query, Round, Shard, answers_from_bytes, answers_to_bytes,
};

/// The command after this one: the compiler asks for a new one here.
fn after(command: &Command, x: &[f64]) -> Option<Command> {
    use Command as C;
    let (t, sigma) = (x[0], x[1]);
    Some(match command {
        C::SetClassFactors(_) => C::SetCentre(x.to_vec()),
        C::SetCentre(_) => C::SetWeights(x.to_vec()),
        C::SetWeights(_) => C::SetDirection(x.to_vec()),
        C::SetDirection(_) => C::Shift { t, sigma },
        C::Shift { .. } => C::Advance(t),
        C::Advance(_) => C::ResetMultipliers,
        C::ResetMultipliers => C::ResetCandidates,
        C::ResetCandidates => C::SetCandidates {
            lambda: t,
            sigma,
            keep: [sigma, t],
        },
        C::SetCandidates { .. } => C::CommitCandidates,
        C::CommitCandidates => C::PrepareProduct { beta: t, sigma },
        C::PrepareProduct { .. } => C::SetClassWeights([t, sigma]),
        C::SetClassWeights(_) => C::SetSoft {
            lambda: t,
            softness: sigma,
        },
        C::SetSoft { .. } => C::PrepareSoftProduct { beta: t },
        C::PrepareSoftProduct { .. } => return None,
    })
}

fn heavy_rows(per: Vec<f64>, above: f64) -> Query {
    Query::HeavyRows {
        per,
        above,
        most: 3,
    }
}

/// The query after this one.
fn next(query: &Query, x: &[f64]) -> Option<Query> {
    use Query as Q;
    let (a, b, x) = (x[0], x[1], x.to_vec());
    Some(match query {
        Q::Totals => Q::Stored,
        Q::Stored => Q::Sum(Over::LeastSquares),
        Q::Sum(Over::LeastSquares) => Q::Sum(Over::Active),
        Q::Sum(Over::Active) => Q::Gram(Over::LeastSquares),
        Q::Gram(Over::LeastSquares) => Q::Gram(Over::Active),
        Q::Gram(Over::Active) => Q::Diagonal(Over::LeastSquares),
        Q::Diagonal(Over::LeastSquares) => Q::Diagonal(Over::Active),
        Q::Sum(Over::Curvature) => Q::Sum(Over::Product),
        Q::Sum(Over::Product) => Q::Gram(Over::Product),
        Q::Gram(Over::Curvature) => Q::Diagonal(Over::Curvature),
        Q::Gram(Over::Product) => Q::Gram(Over::Curvature),
        Q::Diagonal(Over::Curvature) => Q::Diagonal(Over::Product),
        Q::Diagonal(Over::Product) => Q::Target,
        Q::Diagonal(Over::Active) => Q::Sum(Over::Curvature),
        Q::Target => Q::Balance {
            sigma: a,
            slope: false,
            lambdas: x,
        },
        Q::Balance { slope: false, .. } => Q::Balance {
            sigma: b,
            slope: true,
            lambdas: x,
        },
        Q::Balance { slope: true, .. } => Q::Candidates,
        Q::Candidates => Q::Residuals(a),
        Q::Residuals(_) => Q::Spread(a),
        Q::Spread(_) => Q::Along(b),
        Q::Along(_) => Q::Gradient(a),
        Q::Gradient(_) => Q::ActiveProduct(x),
        Q::ActiveProduct(_) => Q::Product(x),
        Q::Product(_) => Q::Hinge(a),
        Q::Hinge(_) => Q::Near {
            lambda: a,
            margin: b,
        },
        Q::Near { .. } => Q::Above(x),
        Q::Above(_) => Q::Between { low: a, high: b },
        Q::Between { .. } => Q::Below(a),
        Q::Below(_) => Q::ActiveRows,
        Q::ActiveRows => heavy_rows(x, a),
        Q::HeavyRows { .. } => Q::Scores,
        Q::Scores => Q::Weights,
        Q::Weights => Q::Ranges,
        Q::Ranges => Q::Scale(Pass::Means {
            weights: x.clone(),
            units: x,
        }),
        Q::Scale(Pass::Means { .. }) => Q::Scale(Pass::Squares {
            weights: x.clone(),
            units: x.clone(),
            means: x,
        }),
        Q::Scale(Pass::Squares { .. }) => Q::Soft {
            value: true,
            t: a,
            lambda: b,
            softness: a,
        },
        Q::Soft { value: true, .. } => Q::Soft {
            value: false,
            t: 0.0,
            lambda: a,
            softness: b,
        },
        Q::Soft { value: false, .. } => Q::SoftMultipliers,
        Q::SoftMultipliers => Q::SoftGradient {
            beta: a,
            intercept: b,
        },
        Q::SoftGradient { .. } => Q::SoftAlong(a),
        Q::SoftAlong(_) => Q::BlockGram(Block {
            columns: vec![0, 2],
            // Negative ones and NaN are refused, see below.
            stride: a.abs().max(0.0),
        }),
        Q::BlockGram(_) => return None,
    })
}

/// Every command and every query, with these numbers.
fn everything(x: &[f64]) -> Round {
    let first = Command::SetClassFactors([x[1], x[0]]);
    Round {
        commands: std::iter::successors(Some(first), |command| after(command, x)).collect(),
        queries: std::iter::successors(Some(Query::Totals), |query| next(query, x)).collect(),
    }
}

/// As postcard writes it: seven bits a byte, the highest bit set on all but the last.
fn varint(n: usize) -> Vec<u8> {
    match n < 0x80 {
        true => vec![n as u8],
        false => [vec![n as u8 | 0x80], varint(n >> 7)].concat(),
    }
}

fn shards() -> [(Rows, Shard); 2] {
    let dense = Dense::new(vec![1.0, -2.0, 0.0, 4.0, 5.0, 0.5, 0.0, 0.0, 1.0], 3, 3).unwrap();
    let sparse = Csr::new(vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, -3.0], 3).unwrap();
    [Rows::Dense(dense), Rows::Csr(sparse)].map(|rows| {
        let weights = [1.0, 0.5, 0.0];
        let shard = Shard::new(0..3, 3, &[true, false, true], Some(&weights));
        (rows, shard)
    })
}

#[test]
fn a_round_is_a_few_bytes_more_than_its_numbers() {
    let weights = vec![0.1; 200];
    let round = Round {
        commands: vec![
            Command::SetWeights(weights),
            Command::Shift { t: 0.0, sigma: 2.0 },
        ],
        queries: vec![Query::Balance {
            sigma: 2.0,
            slope: false,
            lambdas: vec![0.5; 7],
        }],
    };
    let numbers = 8 * (200 + 2 + 1 + 7);
    let bytes = round.to_bytes().unwrap().len();
    assert!(bytes <= numbers + 40, "{bytes}");
}

#[test]
fn vectors_of_another_length_are_refused_and_change_nothing() {
    for (rows, mut shard) in shards() {
        for x in [vec![1.0; 2], vec![1.0; 4]] {
            let all = everything(&x);
            let commands = all.commands.into_iter().map(|command| Round {
                commands: vec![Command::SetWeights(vec![1.0; 3]), command],
                queries: Vec::new(),
            });
            let queries = all.queries.into_iter().map(|query| Round {
                commands: vec![Command::SetWeights(vec![1.0; 3])],
                queries: vec![query],
            });
            let ok = |round: Round| shard.clone().run(&rows, &round).is_ok();
            // Three commands and five queries have vectors of d numbers.
            assert_eq!(commands.map(ok).filter(|ok| !ok).count(), 3);
            assert_eq!(queries.map(ok).filter(|ok| !ok).count(), 5);
        }
        let scores = Round {
            commands: Vec::new(),
            queries: vec![Query::Scores],
        };
        let wrong = Round {
            commands: vec![
                Command::SetWeights(vec![1.0; 3]),
                Command::SetDirection(vec![]),
            ],
            queries: Vec::new(),
        };
        assert!(shard.run(&rows, &wrong).is_err());
        assert_eq!(shard.run(&rows, &scores).unwrap(), [0.0; 3]);
    }
}

#[test]
fn a_message_of_another_version_is_refused() {
    let bytes = Round::default().to_bytes().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let mut other = bytes[..bytes.len() - 8].to_vec();
    let at = other
        .windows(version.len())
        .position(|window| window == version.as_bytes())
        .unwrap();
    other[at] = b'9';
    let sum = ubauc::checksum::xxh3(&other);
    other.extend(sum.to_le_bytes());
    let Err(Error::Container { fault, .. }) = Round::from_bytes(&other) else {
        panic!("was read")
    };
    let written_by = format!("9{}", &version[1..]);
    assert_eq!(fault, Fault::Version { written_by });
    assert!(answers_from_bytes(&bytes).is_err());
}

proptest! {
    /// Every bit pattern, and vectors of every length.
    #[test]
    fn every_command_and_query_comes_back_as_it_was(
        x in prop::collection::vec(any::<u64>().prop_map(f64::from_bits), 2..20),
    ) {
        let round = everything(&x);
        let bytes = round.to_bytes().unwrap();
        let again = Round::from_bytes(&bytes).unwrap();
        prop_assert_eq!(again.to_bytes().unwrap(), bytes);
        prop_assert_eq!(format!("{again:?}"), format!("{round:?}"));
        let numbers = answers_from_bytes(&answers_to_bytes(&x).unwrap()).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        prop_assert_eq!(bits(&numbers), bits(&x));
    }

    /// Whatever the numbers, in whatever order the commands come.
    #[test]
    fn every_answer_has_its_length(
        x in prop::collection::vec(prop_oneof![-3.0..3.0f64, any::<f64>()], 3),
        order in Just((0..14).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let all = everything(&x);
        prop_assert_eq!(all.commands.len(), order.len());
        for (rows, mut shard) in shards() {
            for &k in &order {
                let command = Round {
                    commands: vec![all.commands[k].clone()],
                    queries: Vec::new(),
                };
                let answers = shard.run(&rows, &command).unwrap();
                prop_assert!(answers.is_empty());
                for query in &all.queries {
                    let expected = query.answer_len(3);
                    let (commands, queries) = (Vec::new(), vec![query.clone()]);
                    let answer = shard.run(&rows, &Round { commands, queries }).unwrap();
                    prop_assert!(expected.is_none_or(|len| len == answer.len()), "{query:?}");
                }
            }
        }
    }

    #[test]
    fn damaged_rounds_are_refused(at: prop::sample::Index, bit in 0..8u32) {
        let bytes = everything(&[0.5, 1.5, -2.0]).to_bytes().unwrap();
        let at = at.index(bytes.len());
        prop_assert!(Round::from_bytes(&bytes[..at]).is_err());
        let mut changed = bytes;
        changed[at] ^= 1 << bit;
        prop_assert!(Round::from_bytes(&changed).is_err());
    }

    /// A payload that is no round, under a checksum that is right.
    #[test]
    fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..300)) {
        let empty = Round::default().to_bytes().unwrap();
        // At the end are the length of the payload, 2, the payload itself and the checksum.
        let mut bytes = empty[..empty.len() - 11].to_vec();
        bytes.extend(varint(payload.len()));
        bytes.extend(payload);
        let sum = ubauc::checksum::xxh3(&bytes);
        bytes.extend(sum.to_le_bytes());
        if let Ok(round) = Round::from_bytes(&bytes) {
            for (rows, mut shard) in shards() {
                let _ = shard.run(&rows, &round);
            }
        }
    }
}
