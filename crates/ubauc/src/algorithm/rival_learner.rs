//! SOLAM, OPAUC and OAM on a stream.
//!
//! Features are divided by m_j = max |x_j| so far, if asked to; what was learned with a smaller m_j stays as it is, as if a
//! scaler that learns from the stream stood before the learner. SOLAM's κ is the longest row so far. A stream does not come
//! back, so there is no threshold at which as many are called positive as there are: it is
//! w·(c⁺ + c⁻)/2, halfway between the mean scores of the classes, whose means c are kept.
//!
//! An example is handed over dense or sparse, whichever is less to store, so that every kind of input gives the same
//! bits. Features may appear: OPAUC's full covariances then grow, up to 1,000 features where no rank was given, for
//! a sketch cannot be made of them afterwards. Memory: the learner's, and 3d numbers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::learner::is_scaled;
use super::{Algorithm, Spec};
use crate::container::{self, Kind};
use crate::data::rows::Row;
use crate::solver::oam::{Oam, Update};
use crate::solver::opauc::{FULL_UP_TO, Opauc};
use crate::solver::solam::Solam;
use crate::solver::stream::{Streaming, raw_score, reserve};
use crate::{Error, Result};

/// Features smaller than this count as of this size, so that w̃_j/m_j is a number.
const SMALLEST: f64 = 1e-300;

/// What learns, from scaled rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Rule {
    Solam(Solam),
    Opauc(Opauc),
    Oam(Oam),
}

/// One of them, and what it has to know of the stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")] // the implementations below check what they read
pub struct RivalLearner {
    rule: Rule,
    /// More features are refused.
    most_features: u64,
    /// m_j; none without a scale.
    largest: Option<Vec<f64>>,
    /// The longest row so far, squared.
    longest_sq: f64,
    /// Negatives and positives so far, and the sums of their features.
    counts: [u64; 2],
    sums: [Vec<f64>; 2],
    /// The current example. Not part of the state.
    #[serde(skip)]
    current: Current,
}

/// An example without zeros, scaled; empty, and all 0, between two of them.
#[derive(Debug, Clone, Default)]
struct Current {
    indices: Vec<u32>,
    values: Vec<f64>,
    dense: Vec<f64>,
}

impl RivalLearner {
    /// A learner that has seen nothing, with room for features 1 … `cols`. Refuses algorithms that need all examples at
    /// once.
    pub fn new(spec: &Spec, cols: usize) -> Result<RivalLearner> {
        spec.check()?;
        let rule = match spec {
            Spec::Solam(spec) => Rule::Solam(Solam::new(cols, 0.0, &spec.params)?),
            Spec::Opauc(spec) => Rule::Opauc(Opauc::new(cols, &spec.params(cols))?),
            Spec::OamSeq(spec) => Rule::Oam(Oam::new(cols, &spec.params(Update::Sequential))?),
            Spec::OamGra(spec) => Rule::Oam(Oam::new(cols, &spec.params(Update::Gradient))?),
            Spec::BaUbauc(_)
            | Spec::OlUbauc(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_)
            | Spec::Logistic(_) => {
                return Err(Error::Parameter {
                    name: "algorithm",
                    value: spec.algorithm().name().to_string(),
                    must: "solam, opauc, oam-seq or oam-gra",
                });
            }
        };
        let is_open = matches!(spec, Spec::Opauc(spec) if spec.tau.is_none());
        let most_features = match &rule {
            Rule::Opauc(opauc) if is_open && opauc.tau().is_none() => FULL_UP_TO as u64,
            _ => 1 << 32,
        };
        Ok(RivalLearner {
            rule,
            most_features,
            largest: is_scaled(spec.scale())?.then(|| vec![0.0; cols]),
            longest_sq: 0.0,
            counts: [0; 2],
            sums: [vec![0.0; cols], vec![0.0; cols]],
            current: Current::default(),
        })
    }

    /// Its name.
    pub fn algorithm(&self) -> Algorithm {
        match &self.rule {
            Rule::Solam(_) => Algorithm::Solam,
            Rule::Opauc(_) => Algorithm::Opauc,
            Rule::Oam(oam) => match oam.update() {
                Update::Sequential => Algorithm::OamSeq,
                Update::Gradient => Algorithm::OamGra,
            },
        }
    }

    /// The whole state. A learner made of it goes on with the same bits.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        container::write(Kind::RivalLearner, self)
    }

    /// A learner from [`RivalLearner::to_bytes`]; damaged bytes, and states that no learner can be in, are refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<RivalLearner> {
        container::read(Kind::RivalLearner, bytes)
    }

    /// w·x of a raw row; not a number where the weights are none. Features never seen add 0.
    pub fn score(&self, row: Row<'_>) -> f64 {
        raw_score(row, self.cols(), 0.0, |j| self.weight(j))
    }

    /// Learns from an example. Refuses features that are not finite, and more of them than there can be; weights that
    /// leave the numbers are found by [`RivalLearner::weights`].
    pub fn learn(&mut self, row: Row<'_>, positive: bool) -> Result<()> {
        self.check_row(row)?;
        let used = row.entries().filter(|entry| entry.1 != 0.0);
        let cols = used.last().map_or(0, |(last, _)| last + 1);
        if cols > self.cols() {
            self.make_room(cols)?;
        }
        let mut current = std::mem::take(&mut self.current);
        let taken = self.take(row, &mut current);
        if taken.is_ok() {
            let sums = &mut self.sums[usize::from(positive)];
            row.entries().for_each(|(j, x)| {
                if x != 0.0 {
                    sums[j] += x;
                }
            });
            let count = &mut self.counts[usize::from(positive)];
            *count = count.saturating_add(1);
            let x = current.smaller(self.cols());
            self.streaming_mut().learn(x, positive);
        }
        current.clear();
        self.current = current;
        taken
    }

    /// The score of an example before it is learned.
    pub(super) fn score_and_learn(&mut self, row: Row<'_>, positive: bool) -> Result<f64> {
        self.check_row(row)?;
        let score = self.score(row);
        if !score.is_finite() {
            return Err(diverged());
        }
        self.learn(row, positive)?;
        Ok(score)
    }

    fn check_row(&self, row: Row<'_>) -> Result<()> {
        match row.entries().find(|entry| !entry.1.is_finite()) {
            None => Ok(()),
            Some((_, value)) => Err(Error::NotFinite {
                what: "a feature",
                row: self.steps() as usize,
                value,
                must: "finite",
            }),
        }
    }

    fn streaming(&self) -> &dyn Streaming {
        match &self.rule {
            Rule::Solam(solam) => solam,
            Rule::Opauc(opauc) => opauc,
            Rule::Oam(oam) => oam,
        }
    }

    fn streaming_mut(&mut self) -> &mut dyn Streaming {
        match &mut self.rule {
            Rule::Solam(solam) => solam,
            Rule::Opauc(opauc) => opauc,
            Rule::Oam(oam) => oam,
        }
    }

    fn make_room(&mut self, cols: usize) -> Result<()> {
        if cols as u64 > self.most_features {
            return Err(match &self.rule {
                Rule::Opauc(_) => Error::Parameter {
                    name: "tau",
                    value: format!("none with {cols} features"),
                    must: "given for a stream of more than 1,000 features, 50 for instance; \
                           or hash the features",
                },
                Rule::Solam(_) | Rule::Oam(_) => Error::Numerical {
                    what: "the index of a feature is above 2^32",
                },
            });
        }
        let [neg, pos] = &mut self.sums;
        for vector in self.largest.iter_mut().chain([neg, pos]) {
            reserve(vector, cols)?;
        }
        self.streaming_mut().grow(cols)?;
        let [neg, pos] = &mut self.sums;
        for vector in self.largest.iter_mut().chain([neg, pos]) {
            vector.resize(cols, 0.0);
        }
        Ok(())
    }

    /// The example without zeros, scaled. There is room for its features.
    fn take(&mut self, row: Row<'_>, current: &mut Current) -> Result<()> {
        let mut norm_sq = 0.0;
        for (j, x) in row.entries().filter(|entry| entry.1 != 0.0) {
            let scaled = match &mut self.largest {
                Some(largest) => {
                    largest[j] = largest[j].max(x.abs()).max(SMALLEST);
                    x / largest[j]
                }
                None => x,
            };
            norm_sq += scaled * scaled;
            current.indices.push(j as u32);
            current.values.push(scaled);
        }
        if norm_sq > self.longest_sq {
            self.streaming_mut().widen(norm_sq.sqrt())?;
            self.longest_sq = norm_sq;
        }
        Ok(())
    }

    /// w_j of the raw feature.
    fn weight(&self, j: usize) -> f64 {
        let w = self.streaming().weight(j);
        match &self.largest {
            None => w,
            // A feature that was always 0 has taught nothing.
            Some(largest) if largest[j] == 0.0 => 0.0,
            Some(largest) if w.is_finite() => (w / largest[j]).clamp(f64::MIN, f64::MAX),
            Some(_) => w,
        }
    }

    /// The weights for raw features, one for each of [`RivalLearner::cols`]. Refuses weights that have left the numbers.
    pub fn weights(&self) -> Result<Vec<f64>> {
        let weights: Vec<f64> = (0..self.cols()).map(|j| self.weight(j)).collect();
        match weights.iter().all(|w| w.is_finite()) {
            true => Ok(weights),
            false => Err(diverged()),
        }
    }

    /// Halfway between the mean scores of the classes; 0 before both have come.
    pub fn threshold(&self) -> f64 {
        let w: Vec<f64> = (0..self.cols()).map(|j| self.weight(j)).collect();
        let mean = |class: usize| Row::Dense(&self.sums[class]).dot(&w) / self.counts[class] as f64;
        let middle = 0.5 * (mean(0) + mean(1));
        if middle.is_finite() { middle } else { 0.0 }
    }

    /// Examples learned.
    pub fn steps(&self) -> u64 {
        self.counts[0].saturating_add(self.counts[1])
    }

    /// Negatives and positives among them.
    pub fn counts(&self) -> [u64; 2] {
        self.counts
    }

    /// Features so far.
    pub fn cols(&self) -> usize {
        self.sums[0].len()
    }

    /// Refuses a state that no learner can be in, and makes scratch space for one that can.
    fn check_state(&mut self) -> Result<()> {
        let d = self.cols();
        let is_size = |m: &f64| *m == 0.0 || (*m >= SMALLEST && m.is_finite());
        let sizes = self.largest.as_ref();
        let is_sound = self.sums[1].len() == d
            && d as u64 <= self.most_features
            && sizes.is_none_or(|largest| largest.len() == d && largest.iter().all(is_size))
            && self.longest_sq >= 0.0
            && self.streaming().is_sound(d);
        if !is_sound {
            return Err(Error::Numerical {
                what: "no streaming learner can be in this state",
            });
        }
        self.streaming_mut().grow(d)
    }
}

fn diverged() -> Error {
    let what = "the steps diverge; take smaller ones, or scale the features";
    Error::Numerical { what }
}

impl Serialize for RivalLearner {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        RivalLearner::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RivalLearner {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<RivalLearner, D::Error> {
        let mut learner = RivalLearner::deserialize(deserializer)?;
        learner.check_state().map_err(D::Error::custom)?;
        Ok(learner)
    }
}

impl Current {
    /// A column takes 4 bytes, a number 8.
    fn smaller(&mut self, cols: usize) -> Row<'_> {
        if 3 * self.values.len() < 2 * cols {
            return Row::Sparse(&self.indices, &self.values);
        }
        self.dense.resize(cols, 0.0);
        for (&j, &x) in self.indices.iter().zip(&self.values) {
            self.dense[j as usize] = x;
        }
        Row::Dense(&self.dense)
    }

    fn clear(&mut self) {
        self.dense.fill(0.0);
        self.indices.clear();
        self.values.clear();
    }
}
