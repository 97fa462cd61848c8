//! All that a run is made of, between two examples. It depends on the examples and their order
//! alone, neither on time nor on batches, so that a run that goes on from it ends with the same bits.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ubauc::algorithm::{Learner, Spec};
use ubauc::data::rows::Row;
use ubauc::metrics::BucketAuc;
use ubauc::read::StreamTable;
use ubauc::solver::ol_ubauc::eta0;

use super::drift::Watch;
use super::report::Bounded;

/// Buckets of the progressive AUC: 2^20, sign, exponent and 8 more bits of the score; 16 MiB.
pub(super) const BITS: u32 = 20;
/// Those of a window, emptied and looked through at every line.
const WINDOW_BITS: u32 = 16;

/// The state but for the learner.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    /// What was typed.
    #[serde(with = "json_text")]
    pub(super) settings: BTreeMap<String, Value>,
    /// Where the examples came from.
    pub(super) input: String,
    /// Examples taken so far, labelled or not: the position in the input.
    pub(super) examples: u64,
    pub(super) n_pos: u64,
    pub(super) n_neg: u64,
    pub(super) unlabelled: u64,
    /// What the first negative label said.
    pub(super) negative: Option<String>,
    /// Names of the features, if they have any.
    pub(super) names: Vec<String>,
    /// What the columns of a table are mapped by.
    #[serde(with = "json_text")]
    pub(super) table: Option<StreamTable>,
    /// Bytes of the file of scores.
    pub(super) scores: u64,
    /// η₀ is not found yet; examples wait for it.
    finding_eta0: bool,
    waiting: Vec<Waiting>,
    auc: BucketAuc,
    /// Since the last line of progress.
    window: BucketAuc,
    pub(super) watch: Watch,
}

/// As JSON text: values and maps can only be read from a format that describes itself.
mod json_text {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value: &impl Serialize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(value).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}

/// An example that waits.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "Stored")]
struct Waiting {
    /// Increasing.
    indices: Vec<u32>,
    /// As many.
    values: Vec<f64>,
    positive: bool,
    weight: f64,
}

/// The same as it was read, before it is checked.
#[derive(Deserialize)]
struct Stored {
    indices: Vec<u32>,
    values: Vec<f64>,
    positive: bool,
    weight: f64,
}

impl TryFrom<Stored> for Waiting {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Waiting, &'static str> {
        let Stored {
            indices,
            values,
            positive,
            weight,
        } = stored;
        if indices.len() != values.len() || !indices.is_sorted_by(|a, b| a < b) {
            return Err("an example that waits is no row");
        }
        Ok(Waiting {
            indices,
            values,
            positive,
            weight,
        })
    }
}

impl Waiting {
    fn row(&self) -> Row<'_> {
        Row::Sparse(&self.indices, &self.values)
    }
}

/// A run between two examples.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) head: Head,
    pub(super) learner: Learner,
}

impl State {
    pub(super) fn new(
        spec: &Spec,
        settings: BTreeMap<String, Value>,
        input: String,
        watch: Watch,
    ) -> Result<State> {
        Ok(State {
            head: Head {
                settings,
                input,
                examples: 0,
                n_pos: 0,
                n_neg: 0,
                unlabelled: 0,
                negative: None,
                names: Vec::new(),
                table: None,
                scores: 0,
                finding_eta0: matches!(spec, Spec::OlUbauc(spec) if spec.finds_eta0),
                waiting: Vec::new(),
                auc: BucketAuc::new(BITS)?,
                window: BucketAuc::new(WINDOW_BITS)?,
                watch,
            },
            learner: Learner::new(spec, 0)?,
        })
    }

    /// Makes room for the columns of a table before the first example comes: the full covariances of OPAUC, or their
    /// sketches, are chosen by it.
    pub(super) fn announce(&mut self, spec: &Spec, cols: usize) -> Result<()> {
        if let (Learner::Rival(_), 0) = (&self.learner, self.head.examples) {
            self.learner = Learner::new(spec, cols)?;
        }
        Ok(())
    }

    /// Takes an example, and answers its score before it is learned; `None` if it waits for η₀.
    pub(super) fn take(
        &mut self,
        row: Row<'_>,
        label: Option<bool>,
        weight: f64,
    ) -> Result<Option<f64>, ubauc::Error> {
        let score = match label {
            None => {
                self.head.unlabelled += 1;
                Some(self.learner.score(row))
            }
            Some(positive) if self.head.finding_eta0 => {
                let (indices, values) = row
                    .entries()
                    .filter(|(_, x)| *x != 0.0)
                    .map(|(j, x)| (j as u32, x))
                    .unzip();
                self.head.waiting.push(Waiting {
                    indices,
                    values,
                    positive,
                    weight,
                });
                if self.head.waiting.len() == eta0::SAMPLE {
                    self.find_eta0()?;
                }
                None
            }
            Some(positive) => Some(self.learn(row, positive, weight)?),
        };
        match label {
            Some(true) => self.head.n_pos += 1,
            Some(false) => self.head.n_neg += 1,
            None => {}
        }
        self.head.examples += 1;
        Ok(score)
    }

    fn learn(&mut self, row: Row<'_>, positive: bool, weight: f64) -> Result<f64, ubauc::Error> {
        let score = self.learner.learn(row, positive, weight)?;
        self.head.auc.add(score, positive)?;
        self.head.window.add(score, positive)?;
        let example = self.head.examples + 1;
        self.head.watch.add(score, positive, example)?;
        Ok(score)
    }

    /// Forgets what was learned, but for η₀: as if the stream began here.
    pub(super) fn start_over(&mut self, spec: &Spec) -> Result<()> {
        let (cols, eta0) = (self.learner.cols(), self.learner.eta0());
        self.learner = Learner::new(spec, cols)?;
        if let (Learner::OlUbauc(learner), Some(eta0)) = (&mut self.learner, eta0) {
            learner.set_eta0(eta0);
        }
        self.head.watch.start_over();
        Ok(())
    }

    /// Finds η₀ on the examples that wait for it, and learns them.
    fn find_eta0(&mut self) -> Result<(), ubauc::Error> {
        let waiting = std::mem::take(&mut self.head.waiting);
        let used = waiting.iter().filter(|example| example.weight > 0.0);
        let used: Vec<&Waiting> = used.collect();
        let indices = renumbered(&used);
        let tried: Vec<(Row<'_>, bool)> = used
            .iter()
            .zip(&indices)
            .map(|(example, indices)| (Row::Sparse(indices, &example.values), example.positive))
            .collect();
        self.learner.find_eta0(&tried)?;
        self.head.finding_eta0 = false;
        for example in &waiting {
            self.learn(example.row(), example.positive, example.weight)?;
        }
        Ok(())
    }

    /// The state if the input ended here: no example waits. Never saved, for more may come.
    pub(super) fn finished(mut self) -> Result<State> {
        if self.head.finding_eta0 {
            self.find_eta0()?;
        }
        Ok(self)
    }

    /// AUC of the examples learned, each scored before, old ones counting less if there is a half-life; `None` while there is
    /// one class only.
    pub(super) fn auc(&self) -> Option<Bounded> {
        match self.head.watch.fading_auc() {
            Some(fading) => fading.map(Into::into),
            None => self.overall_auc(),
        }
    }

    /// The same of all alike.
    pub(super) fn overall_auc(&self) -> Option<Bounded> {
        self.head.auc.estimate().ok().map(Into::into)
    }

    /// The same of the last W, or since it was asked for last.
    pub(super) fn window_auc(&mut self) -> Option<Bounded> {
        let estimate = self.head.window.estimate().ok().map(Into::into);
        if let Ok(empty) = BucketAuc::new(WINDOW_BITS) {
            self.head.window = empty;
        }
        match self.head.watch.window_auc() {
            Some(last) => last.map(|found| Bounded::exactly(found.auc)),
            None => estimate,
        }
    }
}

/// The indices of every example as places among all that occur: a trial then allocates weights for
/// these alone. Their order is kept, and so are the bits of every sum.
fn renumbered(examples: &[&Waiting]) -> Vec<Vec<u32>> {
    let mut all: Vec<u32> = examples.iter().flat_map(|e| &e.indices).copied().collect();
    all.sort_unstable();
    all.dedup();
    let place = |index: &u32| all.partition_point(|other| other < index) as u32;
    let of_one = |example: &&Waiting| example.indices.iter().map(place).collect();
    examples.iter().map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use ubauc::container::{self, Kind};
    use ubauc::solver::ol_ubauc::{OlUbaucParams, RunningScale};

    use super::*;

    #[test]
    fn a_trial_on_renumbered_features_finds_the_same() {
        let examples: Vec<Waiting> = (0..300_u32)
            .map(|i| {
                let (positive, x) = (i % 3 == 0, f64::from(i * 37 % 101) / 50.0);
                Waiting {
                    indices: vec![5, 70 + i % 4, 4_000 + i % 50 * 3],
                    values: vec![1.0, x - f64::from(u8::from(positive)), 0.5 * x + 0.1],
                    positive,
                    weight: 1.0,
                }
            })
            .collect();
        let used: Vec<&Waiting> = examples.iter().collect();
        let indices = renumbered(&used);
        assert_eq!(indices[0], [0, 1, 5]);
        assert_eq!(indices[49], [0, 2, 54]);
        for scale in [RunningScale::None, RunningScale::MaxAbs] {
            let params = OlUbaucParams::default();
            let chosen =
                |tried: Vec<(Row<'_>, bool)>| eta0::choose_from(&tried, &params, scale).unwrap();
            let plain = used.iter().map(|e| (e.row(), e.positive)).collect();
            let places = used.iter().zip(&indices);
            let few = places.map(|(e, indices)| (Row::Sparse(indices, &e.values), e.positive));
            assert_eq!(chosen(few.collect()), chosen(plain));
        }
    }

    #[test]
    fn a_forged_example_that_waits_is_refused() {
        let spec = Spec::new(ubauc::algorithm::Algorithm::OlUbauc);
        let read = |indices: &[u32], values: &[f64]| {
            let watch =
                serde_json::from_str(r#"{"fading":null,"window":null,"alarm":null,"falls":[]}"#);
            let mut state =
                State::new(&spec, BTreeMap::new(), String::new(), watch.unwrap()).unwrap();
            state.head.waiting.push(Waiting {
                indices: indices.to_vec(),
                values: values.to_vec(),
                positive: true,
                weight: 1.0,
            });
            let bytes = container::write(Kind::Checkpoint, &state).unwrap();
            container::read::<State>(Kind::Checkpoint, &bytes)
        };
        assert_eq!(read(&[1, 5], &[1.0, 2.0]).unwrap().head.waiting.len(), 1);
        for (indices, values) in [
            (&[5, 1][..], &[1.0, 2.0][..]),
            (&[1, 1], &[1.0, 2.0]),
            (&[1, 2], &[1.0]),
            (&[], &[1.0]),
        ] {
            assert!(read(indices, values).is_err(), "{indices:?}");
        }
    }
}
