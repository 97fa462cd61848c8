//! What a batch solver may ask of the rows: sums over them, and maps that keep a number a row.
//!
//! Rows are held in shards. Every question is answered shard by shard (`shard.rs`) and the answers are added in the
//! order of the shards, so that a result depends on the shards and never on who answers. Nothing of size N leaves a shard
//! that is far. A [`Source`] puts questions to its shards: those of this process (`local.rs`), or those of other machines.
//! What needs no answer waits and goes with the next question that does, so that far shards are asked in few rounds.
//!
//! Features are divided by per-feature divisors on the way, so that neither the rows nor the solver need a scaled copy.

mod local;
mod newton;
mod question;
mod select;
mod shard;
mod squares;

use std::borrow::Cow;

pub(crate) use local::Local;
pub use question::{Question, Round};
pub(crate) use select::End;
pub use shard::Shard;
pub(crate) use squares::Moments;

use crate::data::rows::{add_to, dot};
use crate::data::scale::{Origin, Range, Scale, divisors_of};
use crate::objective::ubauc::{ClassWeights, LeastSquares};
use crate::{Error, Result};

/// Where the shards are.
pub trait Source: Send {
    /// The answers of all shards, added up in the order of the shards.
    fn sum(&mut self, round: &Round) -> Result<Vec<f64>>;

    /// The answer of each.
    fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>>;

    /// Whether a round costs much, whatever is asked, so that few rounds with many questions are better; and nothing of
    /// size N may be asked for.
    fn far(&self) -> bool;
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
    /// Told with the next question.
    waiting: Vec<Question>,
    cols: usize,
    divisors: Option<Cow<'a, [f64]>>,
    /// The mean of the features that are centred, if there is an intercept; see `centred.rs`.
    shift: Option<Vec<f64>>,
    /// N⁺ and N⁻, sums of weights.
    pub(crate) total: ClassWeights,
    /// Rows, and those with a weight above 0.
    pub(crate) rows: usize,
    pub(crate) with_say: usize,
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

/// Answer to [`Shards::look`].
pub(crate) struct Look {
    /// Σ s_i [y_i(λ − z_i)]₊.
    pub(crate) hinge: f64,
    /// hinge − Σ u⁺_i (z_i − λ): how far u⁺ is from a subgradient of the hinge at z, ≥ 0.
    pub(crate) slack: f64,
    /// √Σ (u⁺_i)²/V_i.
    pub(crate) multipliers: f64,
    /// Σ s v (y − z − b)².
    pub(crate) squares: f64,
    /// Xᵀ S V (z + b − y), if asked for.
    pub(crate) gradient: Option<Vec<f64>>,
}

impl<'a> Shards<'a> {
    /// Asks how many there are. `cols` is d, at least the columns of every row.
    pub(crate) fn new(
        mut source: Box<dyn Source + 'a>,
        cols: usize,
        least_squares: LeastSquares,
    ) -> Result<Shards<'a>> {
        let totals = source.sum(&Round(vec![Question::Totals]))?;
        let number = |k: usize| totals.get(k).copied().unwrap_or(0.0);
        let total = ClassWeights {
            pos: number(0),
            neg: number(1),
        };
        let factors = match least_squares {
            LeastSquares::Plain => [1.0, 1.0],
            LeastSquares::Balanced => [total.pos, total.neg].map(|n| total.sum() / (2.0 * n)),
        };
        Ok(Shards {
            source,
            waiting: vec![Question::Weigh(factors)],
            cols,
            divisors: None,
            shift: None,
            total,
            rows: number(2) as usize,
            with_say: number(3) as usize,
            stored: number(4) as usize,
            all_dense: number(5) == 0.0,
            unit: number(6) == number(2),
            factors,
            active: 0,
            residual: 0.0,
            square_sum: None,
        })
    }

    /// Features are divided by these numbers from here on.
    pub(crate) fn divide_by(&mut self, divisors: Cow<'a, [f64]>) {
        self.divisors = Some(divisors);
    }

    /// The divisors of a scale, of these rows.
    pub(crate) fn divisors(&mut self, scale: Scale, origin: Origin) -> Result<Option<Vec<f64>>> {
        if scale == Scale::None {
            return Ok(None);
        }
        let parts = self.collect(Question::Ranges)?;
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
        let n = self.with_say;
        let total = self.total.sum();
        let sums = |pass| self.sum(vec![Question::Scale(pass)]);
        divisors_of((scale, origin), ranges, n, total, sums).map(Some)
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) fn stored(&self) -> usize {
        self.stored
    }

    pub(crate) fn far(&self) -> bool {
        self.source.far()
    }

    fn tell(&mut self, question: Question) {
        self.waiting.push(question);
    }

    fn round(&mut self, questions: Vec<Question>) -> Round {
        let mut round = std::mem::take(&mut self.waiting);
        round.extend(questions);
        Round(round)
    }

    fn sum(&mut self, questions: Vec<Question>) -> Result<Vec<f64>> {
        let round = self.round(questions);
        let lengths = round.0.iter().map(|q| q.answer_len(self.cols).unwrap_or(0));
        let expected: usize = lengths.sum();
        let answers = self.source.sum(&round)?;
        // Of shards that are elsewhere all may be true.
        if answers.len() != expected {
            let got = answers.len();
            return Err(Error::Length {
                what: "answers of the shards (is it one version of ubauc everywhere?)",
                expected,
                got,
            });
        }
        Ok(answers)
    }

    fn collect(&mut self, question: Question) -> Result<Vec<Vec<f64>>> {
        let round = self.round(vec![question]);
        self.source.collect(&round)
    }

    /// m·w for raw weights w: what centred scores lack.
    pub(crate) fn offset(&self, raw: &[f64]) -> f64 {
        self.shift.as_deref().map_or(0.0, |m| dot(m, raw))
    }

    fn divide(&self, x: &mut [f64]) {
        if let Some(divisors) = &self.divisors {
            x.iter_mut()
                .zip(divisors.iter())
                .for_each(|(x, divisor)| *x /= divisor);
        }
    }

    fn divide_matrix(&self, a: &mut [f64]) {
        if let Some(divisors) = &self.divisors {
            for (row, by) in a.chunks_exact_mut(self.cols.max(1)).zip(divisors.iter()) {
                row.iter_mut()
                    .zip(divisors.iter())
                    .for_each(|(a, divisor)| *a /= divisor * by);
            }
        }
    }

    /// Weights for the raw features.
    pub(crate) fn raw(&self, w: &[f64]) -> Vec<f64> {
        let mut w = w.to_vec();
        self.divide(&mut w);
        w
    }

    /// Weights for the divided features.
    pub(crate) fn scaled(&self, raw: &[f64]) -> Vec<f64> {
        let divisor = |j: usize| self.divisors.as_ref().map_or(1.0, |divisors| divisors[j]);
        raw.iter()
            .enumerate()
            .map(|(j, w)| w * divisor(j))
            .collect()
    }

    /// z = Xw.
    pub(crate) fn place(&mut self, w: &[f64]) {
        let w = self.raw(w);
        self.tell(Question::Place(w));
    }

    /// dz = Xp, but for rows without a say.
    pub(crate) fn aim(&mut self, p: &[f64]) {
        let p = self.raw(p);
        self.tell(Question::Aim(p));
    }

    /// v = z + t dz + u/σ.
    pub(crate) fn shift(&mut self, t: f64, sigma: f64) {
        self.tell(Question::Shift { t, sigma });
    }

    /// z ← z + t dz.
    pub(crate) fn advance(&mut self, t: f64) {
        self.tell(Question::Advance(t));
    }

    /// u = u⁺ = 0.
    pub(crate) fn reset(&mut self) {
        self.tell(Question::Reset);
    }

    /// Of the examples that have a say: the scale of all multipliers.
    pub(crate) fn mean_weight(&self) -> f64 {
        self.total.sum() / self.with_say as f64
    }

    /// u⁺ = 0: its sum over the rows begins anew.
    pub(crate) fn renew(&mut self) {
        self.tell(Question::Renew);
    }

    /// u ← u⁺.
    pub(crate) fn commit(&mut self) {
        self.tell(Question::Commit);
    }

    /// R at every λ.
    pub(crate) fn balance(
        &mut self,
        lambdas: &[f64],
        sigma: f64,
        slope: bool,
    ) -> Result<Vec<Balance>> {
        let answers = self.sum(vec![Question::Balance {
            sigma,
            slope,
            lambdas: lambdas.to_vec(),
        }])?;
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

    /// Takes u⁺ at λ, where R was found to be `balance`: the rows between their bounds become active; adds
    /// Xᵀ(u⁺ − last u⁺) to `pull`, at the cost of the rows that changed, and looks at the least squares on the way.
    pub(crate) fn look(
        &mut self,
        lambda: f64,
        sigma: f64,
        balance: &Balance,
        pull: &mut [f64],
        intercept: bool,
        gradient: bool,
    ) -> Result<Look> {
        let d = self.cols;
        let centre = if intercept { self.residual } else { 0.0 };
        let mut questions = vec![
            Question::Multipliers {
                lambda,
                sigma,
                keep: balance.keep(),
            },
            Question::Residuals(centre),
        ];
        if gradient {
            questions.push(Question::Gradient(centre));
        }
        let answers = self.sum(questions)?;
        let (own, rest) = answers.split_at(4 + d);
        let (residuals, rest) = rest.split_at(3);
        self.active = own[2] as usize;
        let mut change = own[4..].to_vec();
        self.divide(&mut change);
        add_to(1.0, &change, pull);
        let (b, squares) = self.about(residuals, centre, intercept, Question::Residuals)?;
        self.residual = b;
        let gradient = match gradient {
            true => {
                // From the centre to b: Σ V (b − centre) x.
                let mut gradient = rest.to_vec();
                if b != centre {
                    let sum = self.square_sum()?;
                    add_to(b - centre, &sum, &mut gradient);
                }
                self.divide(&mut gradient);
                Some(gradient)
            }
            false => None,
        };
        Ok(Look {
            hinge: own[0],
            slack: own[1],
            multipliers: own[3].sqrt(),
            squares,
            gradient,
        })
    }

    /// Σ s_i [y_i(λ − z_i)]₊, and how many examples that count are within `margin` of λ.
    pub(crate) fn hinge_and_near(&mut self, lambda: f64, margin: f64) -> Result<(f64, usize)> {
        let near = Question::Near { lambda, margin };
        let sums = self.sum(vec![Question::Hinge(lambda), near])?;
        Ok((sums[0], sums[1] as usize))
    }

    /// All z, in the order of the rows; none where rows are far.
    pub(crate) fn scores(&mut self) -> Result<Vec<f64>> {
        match self.far() {
            true => Ok(Vec::new()),
            false => Ok(self.collect(Question::Scores)?.concat()),
        }
    }
}
