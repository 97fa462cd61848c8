//! What a batch solver may ask of the rows: sums over them, and maps that keep a number a row.
//!
//! Rows are held in shards. The solver sends the same rounds of commands and queries (`message.rs`) to all of them, each
//! answers (`shard.rs`), and the answers are added in the order of the shards, so that a result depends on the shards and
//! never on who answers first. Nothing of size N leaves a remote shard. A [`Source`] carries the rounds to shards of this
//! process (`local.rs`) or of other machines. Commands wait for the next query, so that remote shards need few rounds.
//!
//! Features are divided by per-feature divisors on the way, or nested, so that neither the rows nor the solver need a
//! transformed copy (`transform.rs`).

mod answers;
mod local;
mod message;
mod newton;
mod select;
mod shard;
mod soft;
mod squares;
mod transform;

use std::borrow::Cow;

pub(crate) use local::Local;
pub use message::{Block, Command, Over, Query, Round, answers_from_bytes, answers_to_bytes};
pub(crate) use newton::Entries;
pub(crate) use select::End;
pub use shard::Shard;
pub(crate) use soft::{SoftDiagonal, SoftEvaluation, SoftLine, SoftMatrix, SoftPoint};
pub(crate) use squares::Moments;

use answers::{Answers, check_len};
use transform::Transform;

use crate::Result;
use crate::data::rows::{add_to, dot};
use crate::data::scale::{Origin, Range, Scale, divisors_of};
use crate::objective::ubauc::{ClassWeight, ClassWeights, LeastSquares};
use crate::solver::nesting::Nesting;

/// What is made of the rows before anything is minimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighting {
    /// Of the classes, everywhere.
    pub class_weight: ClassWeight,
    /// Of the classes in the least squares.
    pub least_squares: LeastSquares,
    /// Features are centred, and an intercept takes up the rest.
    pub intercept: bool,
}

/// Where the shards are.
pub trait Source: Send {
    /// The answers of all shards, added up in the order of the shards.
    fn sum(&mut self, round: &Round) -> Result<Vec<f64>>;

    /// The answer of each.
    fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>>;

    /// The answers to [`Query::Scores`], the only query of a round, one after the other.
    fn scores(&mut self, round: &Round) -> Result<Vec<f64>> {
        Ok(self.collect(round)?.concat())
    }

    /// Whether the rows are on other machines: a round costs much, whatever is asked, so that few rounds with many queries
    /// are better, and nothing of size N may be asked for.
    fn is_remote(&self) -> bool;
}

/// Sums of vectors of one length, in their order.
pub fn add_all(parts: Vec<Vec<f64>>) -> Vec<f64> {
    let sum = parts.into_iter().reduce(|mut a, b| {
        add_to(1.0, &b, &mut a);
        a
    });
    sum.unwrap_or_default()
}

/// All rows, as the solver sees them.
pub(crate) struct Shards<'a> {
    source: Box<dyn Source + 'a>,
    /// Sent with the next queries.
    queue: Vec<Command>,
    cols: usize,
    transform: Transform<'a>,
    /// The mean of the features that are centred, if there is an intercept; see `centred.rs`.
    shift: Option<Vec<f64>>,
    /// N⁺ and N⁻, sums of weights.
    pub(crate) total: ClassWeights,
    /// Rows, and those with a weight above 0.
    pub(crate) rows: usize,
    pub(crate) n_weighted: usize,
    stored: usize,
    all_dense: bool,
    /// Every weight is 1.
    unit: bool,
    factors: [f64; 2],
    active: usize,
    /// About where the mean residual is: b.
    residual: f64,
    /// XᵀV1, raw, once it is known.
    square_sum: Option<Vec<f64>>,
    /// z is known: weights were set.
    is_scored: bool,
    /// Nobody asks for z of all rows.
    pub(crate) without_scores: bool,
}

/// R(λ) = Σ u⁺_i and what goes with it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Balance {
    /// Σ [u⁺_i]₊ and Σ [−u⁺_i]₊.
    pub(crate) up: f64,
    pub(crate) down: f64,
    /// How many u⁺_i are strictly between their bounds.
    pub(crate) active: f64,
    /// Σ u⁺_i dz_i, if asked for: the slope of the envelope along the direction.
    pub(crate) slope: f64,
}

impl Balance {
    /// Σ u⁺_i.
    pub(crate) fn sum(&self) -> f64 {
        self.up - self.down
    }

    /// What rounding or an early end of the search has left of Σu⁺ is taken from the heavier side, so that u⁺ is feasible
    /// and the bound a bound.
    fn keep(&self) -> [f64; 2] {
        let share = |mine: f64, other: f64| if mine > other { other / mine } else { 1.0 };
        [share(self.up, self.down), share(self.down, self.up)]
    }
}

/// Answer to [`Shards::evaluate`].
pub(crate) struct Evaluation {
    /// Σ s_i [y_i(λ − z_i)]₊.
    pub(crate) hinge: f64,
    /// hinge − Σ u⁺_i (z_i − λ): how far u⁺ is from a subgradient of the hinge at z, ≥ 0.
    pub(crate) slack: f64,
    /// √Σ (u⁺_i)²/V_i.
    pub(crate) multipliers: f64,
    /// Σ s v (y − z − b)².
    pub(crate) squares: f64,
    /// Xᵀ(u⁺ − u⁺ before).
    pub(crate) xt_change: Vec<f64>,
    /// Xᵀ S V (z + b − y), if asked for.
    pub(crate) gradient: Option<Vec<f64>>,
}

impl<'a> Shards<'a> {
    /// Counts them. `cols` is d, at least the columns of every row.
    pub(crate) fn new(mut source: Box<dyn Source + 'a>, cols: usize) -> Result<Shards<'a>> {
        let round = Round {
            commands: Vec::new(),
            queries: vec![Query::Totals],
        };
        let mut totals = Answers::new(source.sum(&round)?, &round.queries, cols)?;
        let [pos, neg, rows, n_weighted, stored, sparse, unit] = totals.array()?;
        let total = ClassWeights { pos, neg };
        Ok(Shards {
            source,
            queue: Vec::new(),
            cols,
            transform: Transform::None,
            shift: None,
            total,
            rows: rows as usize,
            n_weighted: n_weighted as usize,
            stored: stored as usize,
            all_dense: sparse == 0.0,
            unit: unit == rows,
            factors: [1.0; 2],
            active: 0,
            residual: 0.0,
            square_sum: None,
            is_scored: false,
            without_scores: false,
        })
    }

    /// Weighs the classes and centres the features from here on. Divisors are measured before.
    pub(crate) fn weigh(&mut self, weighting: Weighting) -> Result<()> {
        let [pos, neg] = weighting.class_weight.factors(self.total);
        if weighting.class_weight != ClassWeight::None {
            self.enqueue(Command::SetClassWeights([pos, neg]));
            self.total.pos *= pos;
            self.total.neg *= neg;
            self.unit &= pos == 1.0 && neg == 1.0;
        }
        self.factors = match weighting.least_squares {
            LeastSquares::Plain => [1.0, 1.0],
            LeastSquares::Balanced => ClassWeight::Balanced.factors(self.total),
        };
        self.enqueue(Command::SetClassFactors(self.factors));
        match weighting.intercept {
            true => self.centre(),
            false => Ok(()),
        }
    }

    /// Features are divided by these numbers from here on.
    pub(crate) fn divide_by(&mut self, divisors: Cow<'a, [f64]>) {
        self.transform = Transform::Divisors(divisors);
    }

    /// Features are nested from here on.
    pub(crate) fn nest(&mut self, nesting: &'a Nesting) {
        self.transform = Transform::Nesting(nesting);
    }

    /// How they are.
    pub(crate) fn nesting(&self) -> Option<&'a Nesting> {
        match self.transform {
            Transform::Nesting(nesting) => Some(nesting),
            Transform::None | Transform::Divisors(_) => None,
        }
    }

    /// The divisors of a scale, of these rows.
    pub(crate) fn divisors(&mut self, scale: Scale, origin: Origin) -> Result<Option<Vec<f64>>> {
        if scale == Scale::None {
            return Ok(None);
        }
        let parts = self.collect(Query::Ranges)?;
        let mut ranges = vec![Range::none(); self.cols];
        for part in parts {
            for (range, numbers) in ranges.iter_mut().zip(part.chunks_exact(4)) {
                range.merge(&Range {
                    min: numbers[0],
                    max: numbers[1],
                    stored: numbers[2] as usize,
                    weight: numbers[3],
                });
            }
        }
        let n = self.n_weighted;
        let total = self.total.sum();
        let sums = |pass| self.sum_one(Query::Scale(pass));
        divisors_of((scale, origin), ranges, n, total, sums).map(Some)
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) fn stored(&self) -> usize {
        self.stored
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.source.is_remote()
    }

    fn enqueue(&mut self, command: Command) {
        self.queue.push(command);
    }

    fn round(&mut self, queries: Vec<Query>) -> Round {
        Round {
            commands: std::mem::take(&mut self.queue),
            queries,
        }
    }

    /// Sums over all shards.
    fn sum(&mut self, queries: Vec<Query>) -> Result<Answers> {
        let round = self.round(queries);
        Answers::new(self.source.sum(&round)?, &round.queries, self.cols)
    }

    /// The same of one query.
    fn sum_one(&mut self, query: Query) -> Result<Vec<f64>> {
        let expected = query.answer_len(self.cols).unwrap_or(0);
        let round = self.round(vec![query]);
        let sum = self.source.sum(&round)?;
        check_len(&sum, expected)?;
        Ok(sum)
    }

    /// The answer of each shard.
    fn collect(&mut self, query: Query) -> Result<Vec<Vec<f64>>> {
        let expected = query.answer_len(self.cols);
        let round = self.round(vec![query]);
        let answers = self.source.collect(&round)?;
        for answer in &answers {
            check_len(answer, expected.unwrap_or(answer.len()))?;
        }
        Ok(answers)
    }

    /// m·w for raw weights w: what centred scores lack.
    pub(crate) fn offset(&self, raw: &[f64]) -> f64 {
        self.shift.as_deref().map_or(0.0, |m| dot(m, raw))
    }

    /// Sums over raw features to sums over those of the solver.
    pub(crate) fn divide(&self, x: &mut [f64]) {
        self.transform.to_gradient(x);
    }

    fn divide_matrix(&self, a: &mut [f64]) {
        self.transform.to_square(a, self.cols);
    }

    /// Weights for the raw features.
    pub(crate) fn raw(&self, w: &[f64]) -> Vec<f64> {
        let mut w = w.to_vec();
        self.transform.to_weights(&mut w);
        w
    }

    /// Weights for the features of the solver.
    pub(crate) fn scaled(&self, raw: &[f64]) -> Vec<f64> {
        let mut w = raw.to_vec();
        self.transform.undo_weights(&mut w);
        w
    }

    /// Whether weights were ever set; before, all z are 0.
    pub(crate) fn is_scored(&self) -> bool {
        self.is_scored
    }

    /// z = Xw.
    pub(crate) fn set_weights(&mut self, w: &[f64]) {
        let raw = self.raw(w);
        self.set_raw_weights(raw);
    }

    /// The same of weights for the raw features.
    pub(crate) fn set_raw_weights(&mut self, raw: Vec<f64>) {
        self.is_scored = true;
        self.enqueue(Command::SetWeights(raw));
    }

    /// dz = Xp, except for rows of weight 0.
    pub(crate) fn set_direction(&mut self, p: &[f64]) {
        let p = self.raw(p);
        self.enqueue(Command::SetDirection(p));
    }

    /// v = z + t dz + u/σ.
    pub(crate) fn shift(&mut self, t: f64, sigma: f64) {
        self.enqueue(Command::Shift { t, sigma });
    }

    /// z ← z + t dz.
    pub(crate) fn advance(&mut self, t: f64) {
        self.is_scored = true;
        self.enqueue(Command::Advance(t));
    }

    /// u = u⁺ = 0.
    pub(crate) fn reset_multipliers(&mut self) {
        self.enqueue(Command::ResetMultipliers);
    }

    /// u⁺ = 0: Xᵀu⁺ is summed over all rows again.
    pub(crate) fn reset_candidates(&mut self) {
        self.enqueue(Command::ResetCandidates);
    }

    /// u ← u⁺.
    pub(crate) fn commit_candidates(&mut self) {
        self.enqueue(Command::CommitCandidates);
    }

    /// The mean weight of the examples with a weight above 0: the scale of all multipliers.
    pub(crate) fn mean_weight(&self) -> f64 {
        self.total.sum() / self.n_weighted as f64
    }

    /// R at every λ.
    pub(crate) fn balance(
        &mut self,
        lambdas: &[f64],
        sigma: f64,
        slope: bool,
    ) -> Result<Vec<Balance>> {
        let answers = self.sum_one(Query::Balance {
            sigma,
            slope,
            lambdas: lambdas.to_vec(),
        })?;
        let of_lambda = answers.chunks_exact(if slope { 4 } else { 3 });
        Ok(of_lambda
            .map(|numbers| Balance {
                up: numbers[0],
                down: numbers[1],
                active: numbers[2],
                slope: numbers.get(3).copied().unwrap_or(f64::NAN),
            })
            .collect())
    }

    /// Takes u⁺ at λ, where R was found to be `balance`: the rows between their bounds become active. Sums what it changes
    /// of Xᵀu⁺, at the cost of the rows that changed, and the least squares in the same round.
    pub(crate) fn evaluate(
        &mut self,
        lambda: f64,
        sigma: f64,
        balance: &Balance,
        intercept: bool,
        gradient: bool,
    ) -> Result<Evaluation> {
        let centre = if intercept { self.residual } else { 0.0 };
        self.enqueue(Command::SetCandidates {
            lambda,
            sigma,
            keep: balance.keep(),
        });
        let mut queries = vec![Query::Candidates, Query::Residuals(centre)];
        if gradient {
            queries.push(Query::Gradient(centre));
        }
        let mut answers = self.sum(queries)?;
        let ([hinge, slack, active, squared_multipliers], mut xt_change) =
            answers.array_and_rest()?;
        self.active = active as usize;
        self.divide(&mut xt_change);
        let residuals = answers.array()?;
        let (b, squares) = self.about(residuals, centre, intercept, Query::Residuals)?;
        self.residual = b;
        let gradient = match gradient {
            true => {
                // From the centre to b: Σ V (b − centre) x.
                let mut gradient = answers.next().to_vec();
                if b != centre {
                    let sum = self.square_sum()?;
                    add_to(b - centre, &sum, &mut gradient);
                }
                self.divide(&mut gradient);
                Some(gradient)
            }
            false => None,
        };
        Ok(Evaluation {
            hinge,
            slack,
            multipliers: squared_multipliers.sqrt(),
            squares,
            xt_change,
            gradient,
        })
    }

    /// Σ s_i [y_i(λ − z_i)]₊, and how many examples of a weight above 0 are within `margin` of λ.
    pub(crate) fn hinge_and_near(&mut self, lambda: f64, margin: f64) -> Result<(f64, usize)> {
        let near = Query::Near { lambda, margin };
        let mut sums = self.sum(vec![Query::Hinge(lambda), near])?;
        let ([hinge], [near]) = (sums.array()?, sums.array()?);
        Ok((hinge, near as usize))
    }

    /// All z, in the order of the rows; none where rows are remote or nobody asks for them.
    pub(crate) fn scores(&mut self) -> Result<Vec<f64>> {
        match self.is_remote() || self.without_scores {
            true => Ok(Vec::new()),
            false => {
                let round = self.round(vec![Query::Scores]);
                self.source.scores(&round)
            }
        }
    }
}
