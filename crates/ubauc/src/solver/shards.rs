//! What a batch solver may ask of the rows: sums over them, and maps that keep a number a row.
//!
//! Rows are held in shards. Every question is answered shard by shard (`shard.rs`) and the answers are added in the
//! order of the shards, so that a result depends on the shards and never on who answers. Nothing of size N leaves a shard
//! that is far. A [`Source`] puts questions to its shards: those of this process (`local.rs`), or those of other machines.
//! What needs no answer waits and goes with the next question that does, so that far shards are asked in few rounds.
//!
//! Features are divided by per-feature divisors on the way, so that neither the rows nor the solver need a scaled copy.

mod local;
mod question;
mod select;
mod shard;

use std::borrow::Cow;

pub(crate) use local::Local;
pub use question::{Question, Round};
pub(crate) use select::End;
pub use shard::Shard;

use super::gram::{rank_one, unpacked};
use crate::data::rows::{add_to, dot};
use crate::data::scale::{Range, Scale, divisors_of};
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
    /// The mean of dense rows, if there is an intercept; see `centred.rs`.
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

/// The least-squares term as a quadratic of w: Σ s_i v_i (y_i − b − x_i·w)², b eliminated or 0.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// Xᵀ S V X, lower triangle, less the part of the mean if there is an intercept.
    pub(crate) gram: Vec<f64>,
    /// Xᵀ S V y, likewise.
    pub(crate) target: Vec<f64>,
    /// The diagonal of the matrix before the part of the mean was taken off.
    pub(crate) before: Vec<f64>,
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
    /// Σ s v (y − z − b)².
    pub(crate) squares: f64,
    /// Xᵀ S V (z + b − y), if asked for.
    pub(crate) gradient: Option<Vec<f64>>,
}

/// See [`Shards::newton_matrix`].
pub(crate) struct NewtonMatrix {
    beta: f64,
    sigma: f64,
    /// Σ V_i.
    weight: f64,
    /// XᵀV1, with an intercept.
    centre: Option<Vec<f64>>,
    /// |A| and Σ_A x_i.
    active: f64,
    active_sum: Vec<f64>,
}

/// One active row.
pub(crate) type Entries = Vec<(u32, f64)>;

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
    pub(crate) fn divisors(&mut self, scale: Scale) -> Result<Option<Vec<f64>>> {
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
        divisors_of(scale, ranges, n, total, sums).map(Some)
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

    /// Takes the weighted mean off dense rows from here on: for a problem with an intercept, which takes it up.
    pub(crate) fn centre(&mut self) -> Result<()> {
        if !self.all_dense {
            return Ok(());
        }
        // In raw units.
        let n = self.square_weight();
        let mut mean = self.sum(vec![Question::SquareSum])?;
        mean.iter_mut().for_each(|sum| *sum /= n);
        self.tell(Question::Centre(mean.as_slice().into()));
        self.shift = Some(mean);
        Ok(())
    }

    /// Σ V_i.
    fn square_weight(&self) -> f64 {
        self.factors[0] * self.total.pos + self.factors[1] * self.total.neg
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
        let (own, rest) = answers.split_at(3 + d);
        let (residuals, rest) = rest.split_at(3);
        self.active = own[2] as usize;
        let mut change = own[3..].to_vec();
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
            squares,
            gradient,
        })
    }

    /// From Σ V, Σ V a, Σ V a² with a taken about a centre: the mean of what was centred, and Σ V (a − mean)². Without a
    /// mean that is 0 and the squares stand as they are. Asks again where the centre was far off.
    fn about(
        &mut self,
        sums: &[f64],
        centre: f64,
        with_mean: bool,
        again: fn(f64) -> Question,
    ) -> Result<(f64, f64)> {
        let &[weight, sum, squares] = sums else {
            return Ok((f64::NAN, f64::NAN));
        };
        if !with_mean {
            return Ok((0.0, squares));
        }
        let mean = centre + sum / weight;
        let off = sum * sum / weight;
        // Of the squares a part this large would take a digit or more with it.
        if off <= 0.1 * squares || mean == centre {
            return Ok((mean, squares - off));
        }
        let sums = self.sum(vec![again(mean)])?;
        let left = sums[1] * sums[1] / sums[0];
        Ok((mean + sums[1] / sums[0], (sums[2] - left).max(0.0)))
    }

    /// b that is best for the current z, the weighted mean of y − z (0 if there is none), and Σ s v (y − z − b)².
    pub(crate) fn residuals(&mut self, intercept: bool) -> Result<(f64, f64)> {
        let centre = if intercept { self.residual } else { 0.0 };
        let sums = self.sum(vec![Question::Residuals(centre)])?;
        self.about(&sums, centre, intercept, Question::Residuals)
    }

    /// Σ s v (dz − mean)², the mean being 0 without an intercept.
    pub(crate) fn curvature(&mut self, intercept: bool) -> Result<f64> {
        let sums = self.sum(vec![Question::Along(0.0)])?;
        Ok(self.about(&sums, 0.0, intercept, Question::Along)?.1)
    }

    /// The weighted standard deviation of z, and its mean.
    pub(crate) fn spread(&mut self) -> Result<(f64, f64)> {
        let sums = self.sum(vec![Question::Spread(0.0)])?;
        let weight = sums[0];
        let (mean, squares) = self.about(&sums, 0.0, true, Question::Spread)?;
        Ok(((squares / weight).sqrt(), mean))
    }

    /// How many rows are active.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// The entries of the active rows.
    pub(crate) fn active_rows(&mut self) -> Result<Vec<Entries>> {
        let parts = self.collect(Question::ActiveRows)?;
        let mut rows = Vec::with_capacity(self.active);
        for part in &parts {
            let mut rest = part.as_slice();
            while !rest.is_empty() {
                let (row, tail) = self.read_row(rest).ok_or(Error::Numerical {
                    what: "active rows that cannot be: is it one version of ubauc everywhere?",
                })?;
                rows.push(row);
                rest = tail;
            }
        }
        Ok(rows)
    }

    /// The first row, and what follows it.
    fn read_row<'n>(&self, numbers: &'n [f64]) -> Option<(Entries, &'n [f64])> {
        let divisor = |j: usize| self.divisors.as_ref().map_or(1.0, |d| d[j]);
        let (&count, rest) = numbers.split_first()?;
        if count < 0.0 {
            let (values, rest) = rest.split_at_checked(self.cols)?;
            let all = values.iter().enumerate();
            let row = all.map(|(j, x)| (j as u32, x / divisor(j))).collect();
            return Some((row, rest));
        }
        let (columns, rest) = rest.split_at_checked(count as usize)?;
        let (values, rest) = rest.split_at_checked(count as usize)?;
        if columns.iter().any(|j| *j as usize >= self.cols) {
            return None;
        }
        let all = columns.iter().map(|j| *j as usize).zip(values);
        let row = all.map(|(j, x)| (j as u32, x / divisor(j))).collect();
        Some((row, rest))
    }

    /// Σ_A x.
    fn active_sum(&mut self) -> Result<Vec<f64>> {
        let mut sum = self.sum(vec![Question::ActiveSum])?;
        self.divide(&mut sum);
        Ok(sum)
    }

    /// a ← a + σ(Σ_A x xᵀ − m x̄ x̄ᵀ), lower triangle; m active rows with mean x̄.
    pub(crate) fn add_active_gram(&mut self, sigma: f64, a: &mut [f64]) -> Result<()> {
        let d = self.cols;
        let m = self.active as f64;
        let answers = self.sum(vec![Question::ActiveSum, Question::ActiveGram])?;
        let (sum, gram) = answers.split_at(d);
        let mean: Vec<f64> = sum.iter().map(|x| x / m).collect();
        let mut gram = unpacked(gram, d);
        rank_one(-m, &mean, &mut gram);
        self.divide_matrix(&mut gram);
        add_to(sigma, &gram, a);
        Ok(())
    }

    /// σ(Σ_A x xᵀ − m x̄ x̄ᵀ)p, given Σ_A x from [`Shards::active_mean`].
    pub(crate) fn active_product(
        &mut self,
        sigma: f64,
        mean: &[f64],
        p: &[f64],
    ) -> Result<Vec<f64>> {
        let p = self.raw(p);
        let mut product = self.sum(vec![Question::ActiveProduct(p)])?;
        let along = product.pop().unwrap_or(0.0);
        self.divide(&mut product);
        add_to(-along, mean, &mut product);
        product.iter_mut().for_each(|x| *x *= sigma);
        Ok(product)
    }

    /// x̄ of the active rows.
    pub(crate) fn active_mean(&mut self) -> Result<Vec<f64>> {
        let m = self.active as f64;
        let mut mean = self.active_sum()?;
        mean.iter_mut().for_each(|x| *x /= m);
        Ok(mean)
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

    /// The least squares as a quadratic of w, with the intercept eliminated if there is one.
    pub(crate) fn moments(&mut self, intercept: bool) -> Result<Moments> {
        let d = self.cols;
        let mut questions = vec![Question::Target];
        if intercept {
            questions.push(Question::SquareSum);
        }
        questions.push(Question::Gram);
        let mut target = self.sum(questions)?;
        let mut rest = target.split_off(d);
        if intercept {
            let gram = rest.split_off(d);
            self.square_sum = Some(std::mem::replace(&mut rest, gram));
        }
        self.divide(&mut target);
        let mut gram = unpacked(&rest, d);
        drop(rest);
        self.divide_matrix(&mut gram);
        let mut moments = Moments {
            gram,
            target,
            before: Vec::new(),
        };
        if intercept {
            let (mean, y) = self.means()?;
            let n = self.square_weight();
            moments.before = (0..d).map(|j| moments.gram[j * d + j]).collect();
            rank_one(-n, &mean, &mut moments.gram);
            add_to(-n * y, &mean, &mut moments.target);
        }
        Ok(moments)
    }

    /// XᵀVy, centred if there is an intercept.
    pub(crate) fn target(&mut self, intercept: bool) -> Result<Vec<f64>> {
        let mut target = self.sum(vec![Question::Target])?;
        self.divide(&mut target);
        if intercept {
            let (mean, y) = self.means()?;
            add_to(-self.square_weight() * y, &mean, &mut target);
        }
        Ok(target)
    }

    /// The V-weighted means of the features and of y.
    fn means(&mut self) -> Result<(Vec<f64>, f64)> {
        let n = self.square_weight();
        let mut mean = self.square_sum()?;
        self.divide(&mut mean);
        mean.iter_mut().for_each(|sum| *sum /= n);
        let y = self.factors[0] * self.total.pos - self.factors[1] * self.total.neg;
        Ok((mean, y / n))
    }

    /// What the means have of the diagonal of XᵀVX: n mean².
    pub(crate) fn mean_squares(&mut self) -> Result<Vec<f64>> {
        let n = self.square_weight();
        let (mut mean, _) = self.means()?;
        mean.iter_mut().for_each(|m| *m = n * (*m * *m));
        Ok(mean)
    }

    /// XᵀV1, raw.
    fn square_sum(&mut self) -> Result<Vec<f64>> {
        if self.square_sum.is_none() {
            self.square_sum = Some(self.sum(vec![Question::SquareSum])?);
        }
        Ok(self.square_sum.clone().unwrap_or_default())
    }

    /// Prepares products with βXᵀVX + σX̃_AᵀX̃_A (V-centred with an intercept). With r_i = βV_i + σ1_A(i)
    ///
    /// ```text
    /// M p = Σ_i r_i (x_i·p) x_i − β mean_V(Xp) XᵀV1 − σ mean_A(Xp) Σ_A x_i,
    /// ```
    ///
    /// so that a row is read once for both of its products.
    pub(crate) fn newton_matrix(
        &mut self,
        beta: f64,
        sigma: f64,
        intercept: bool,
    ) -> Result<NewtonMatrix> {
        let centre = match intercept {
            true => {
                let mut centre = self.square_sum()?;
                self.divide(&mut centre);
                Some(centre)
            }
            false => None,
        };
        let active = if sigma > 0.0 { self.active as f64 } else { 0.0 };
        let active_sum = match active > 0.0 {
            true => self.active_sum()?,
            false => Vec::new(),
        };
        self.tell(Question::Prepare { beta, sigma });
        Ok(NewtonMatrix {
            beta,
            sigma,
            weight: self.square_weight(),
            centre,
            active,
            active_sum,
        })
    }

    /// The matrix last prepared, times p.
    pub(crate) fn newton_product(&mut self, matrix: &NewtonMatrix, p: &[f64]) -> Result<Vec<f64>> {
        let p = self.raw(p);
        let mut product = self.sum(vec![Question::Product(p)])?;
        let active = product.pop().unwrap_or(0.0);
        let square = product.pop().unwrap_or(0.0);
        self.divide(&mut product);
        if let Some(centre) = &matrix.centre {
            add_to(-matrix.beta * square / matrix.weight, centre, &mut product);
        }
        if matrix.active > 0.0 {
            let mean = active / matrix.active;
            add_to(-matrix.sigma * mean, &matrix.active_sum, &mut product);
        }
        Ok(product)
    }

    /// The diagonal of βXᵀVX, means left on.
    pub(crate) fn square_diagonal(&mut self, beta: f64) -> Result<Vec<f64>> {
        let mut diagonal = self.diagonal(Question::SquareDiagonal)?;
        diagonal.iter_mut().for_each(|x| *x *= beta);
        Ok(diagonal)
    }

    /// The diagonal of X_AᵀX_A.
    pub(crate) fn active_diagonal(&mut self) -> Result<Vec<f64>> {
        self.diagonal(Question::ActiveDiagonal)
    }

    fn diagonal(&mut self, question: Question) -> Result<Vec<f64>> {
        let mut diagonal = self.sum(vec![question])?;
        self.divide(&mut diagonal);
        self.divide(&mut diagonal);
        Ok(diagonal)
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
