//! Many (β, γ, κ) on the same rows: one Gram matrix, and each fit starts where the last one ended.
//!
//! H₀ = NγI + βXᵀVX needs XᵀVX once. The multipliers of one fit are feasible for any other with the same
//! sample weights, so they, w and λ start the next; a neighbour on a grid is then a few Newton steps away. The first fit
//! starts from [`BatchInputs::start`], if there is one.

use super::newton::{Route, System};
use super::{BaUbaucParams, BatchInputs, Fit, Progress, check_inputs, check_start, exact, soft};
use crate::data::dataset::Dataset;
use crate::data::scale::{Origin, Scale};
use crate::objective::loss::Loss;
use crate::solver::inputs::refuse_one_class;
use crate::solver::nesting::Nesting;
use crate::solver::shards::{Local, Moments, Shards, Source, Weighting};
use crate::{Error, Result};

/// The rows, weighted and centred.
pub struct Path<'a> {
    shards: Shards<'a>,
    given: BatchInputs<'a>,
    weighting: Weighting,
    route: Route,
    moments: Option<Moments>,
    warm: Option<Warm>,
    /// Of soft fits.
    stopping: Stopping,
}

/// What a soft fit stops by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopping {
    /// Its certificate, where it has one.
    Certificate,
    /// What a Newton step promises.
    Promise,
    /// That, and steps before the last are solved as well as they deserve.
    Comparison,
}

/// What is made of features that are anywhere.
#[derive(Debug, Clone, Copy)]
pub enum SourceTransform<'a> {
    /// They are divided, by numbers that are measured first.
    Scale(Scale),
    /// They share weights.
    Nesting(&'a Nesting),
}

impl From<Scale> for SourceTransform<'_> {
    fn from(scale: Scale) -> Self {
        SourceTransform::Scale(scale)
    }
}

/// What the last fit left.
enum Warm {
    Exact(exact::WarmStart),
    Soft(Box<soft::WarmStart>),
}

impl<'a> Path<'a> {
    /// Prepares the rows.
    pub fn new(
        data: &'a Dataset,
        given: &BatchInputs<'a>,
        weighting: Weighting,
    ) -> Result<Path<'a>> {
        Path::weighted(data, given.weights, given, weighting)
    }

    /// The same with sample weights in place of those given, which need not outlive this call.
    pub(crate) fn weighted(
        data: &'a Dataset,
        weights: Option<&[f64]>,
        given: &BatchInputs<'a>,
        weighting: Weighting,
    ) -> Result<Path<'a>> {
        check_inputs(data, &BatchInputs { weights, ..*given })?;
        let source = Box::new(Local::new(data, weights));
        let mut shards = Shards::new(source, data.rows().cols())?;
        refuse_one_class(shards.total, data.class_names(), data.rows().len())?;
        if let Some(divisors) = given.divisors {
            shards.divide_by(divisors.into());
        }
        if let Some(nesting) = given.nesting {
            shards.nest(nesting);
        }
        Path::over(shards, given, weighting)
    }

    /// Rows that are anywhere, with d columns and their weights with them.
    pub fn of_source(
        source: Box<dyn Source + 'a>,
        cols: usize,
        names: &[String; 2],
        transform: impl Into<SourceTransform<'a>>,
        weighting: Weighting,
    ) -> Result<Path<'a>> {
        let mut shards = Shards::new(source, cols)?;
        refuse_one_class(shards.total, names, shards.rows)?;
        match transform.into() {
            SourceTransform::Scale(scale) => {
                let origin = Origin::of_intercept(weighting.intercept);
                if let Some(divisors) = shards.divisors(scale, origin)? {
                    shards.divide_by(divisors.into());
                }
            }
            SourceTransform::Nesting(nesting) => shards.nest(nesting),
        }
        Path::over(shards, &BatchInputs::default(), weighting)
    }

    fn over(
        mut shards: Shards<'a>,
        given: &BatchInputs<'a>,
        weighting: Weighting,
    ) -> Result<Path<'a>> {
        shards.weigh(weighting)?;
        Ok(Path {
            route: Route::cheapest(&shards),
            shards,
            given: *given,
            weighting,
            moments: None,
            warm: None,
            stopping: Stopping::Certificate,
        })
    }

    /// Soft fits stop by an estimate of their gap from here on, −½ ∇·p of the last Newton step p, which is less work where
    /// γ is small.
    pub fn stop_by_estimate(mut self) -> Path<'a> {
        self.stopping = Stopping::Promise;
        self
    }

    /// Fits have no scores from here on: 8 bytes less for each row.
    pub(crate) fn without_scores(mut self) -> Path<'a> {
        self.shards.without_scores = true;
        self
    }

    /// Like [`Path::stop_by_estimate`], for fits that are only compared with each other: steps before the last are solved as well as they deserve
    /// (`soft.rs`).
    pub fn only_compare(mut self) -> Path<'a> {
        self.stopping = Stopping::Comparison;
        self
    }

    /// The next fit begins at these weights of raw features, whatever came before.
    pub fn restart(&mut self, raw: &[f64]) -> Result<()> {
        check_start(Some(raw), self.shards.cols())?;
        let w = self.shards.scaled(raw);
        self.warm = Some(Warm::Soft(Box::new(match self.warm.take() {
            Some(Warm::Soft(warm)) => warm.at(w),
            Some(Warm::Exact(_)) | None => soft::WarmStart::of(w, 0.0),
        })));
        Ok(())
    }

    /// Features share weights in this way from here on. The next fit begins at these weights of raw features, those of the
    /// last one, and at its λ.
    pub(crate) fn nest(&mut self, nesting: &'a Nesting, raw: &[f64]) {
        self.shards.nest(nesting);
        let lambda = match &self.warm {
            Some(Warm::Soft(warm)) => warm.lambda,
            Some(Warm::Exact(_)) | None => 0.0,
        };
        let start = soft::WarmStart::of(self.shards.scaled(raw), lambda);
        self.warm = Some(Warm::Soft(Box::new(start)));
        self.moments = None;
    }

    /// Σ_i h_i (x_ij − x̄_j)² of every raw feature where the last fit ended, h_i the curvature of its loss at example i and x̄ the
    /// mean with these weights; none after a fit of the exact hinge.
    pub(crate) fn spread(&mut self) -> Result<Option<Vec<f64>>> {
        match &self.warm {
            Some(Warm::Soft(warm)) => match warm.softness {
                Some(softness) => (self.shards.soft_spread(warm.lambda, softness)).map(Some),
                None => Ok(None),
            },
            Some(Warm::Exact(_)) | None => Ok(None),
        }
    }

    /// Σ_i s_i.
    pub(crate) fn weight(&self) -> f64 {
        self.shards.total.sum()
    }

    /// Examples with a weight above 0.
    pub fn examples(&self) -> usize {
        self.shards.n_weighted
    }

    /// The minimum at the next β, γ and κ; the weighting is the path's own.
    pub fn fit(&mut self, params: &BaUbaucParams) -> Result<Fit> {
        let BatchInputs {
            start, progress, ..
        } = self.given;
        self.fit_from(params, start, progress)
    }

    /// The same from weights of raw features, if this is the first fit, and with another to watch.
    pub fn fit_from(
        &mut self,
        params: &BaUbaucParams,
        start: Option<&[f64]>,
        progress: Option<Progress<'_>>,
    ) -> Result<Fit> {
        check_start(start, self.shards.cols())?;
        let Weighting {
            class_weight,
            least_squares,
            intercept,
        } = self.weighting;
        let params = BaUbaucParams {
            class_weight,
            least_squares,
            intercept,
            ..*params
        };
        params.check()?;
        if !params.loss().is_smooth() && self.given.order.is_some() {
            return Err(Error::Parameter {
                name: "softness",
                value: "0".to_string(),
                must: "above 0 where columns are increasing or decreasing",
            });
        }
        let is_remote = self.shards.is_remote();
        let mut solve = || match params.loss() {
            Loss::Hinge => self.fit_exact(&params, start, progress),
            Loss::Soft { .. } => self.fit_soft(&params, start, progress),
        };
        // All of it on one of the pool's own threads: a query then costs no switch. Remote rows are queried
        // from the caller's.
        match is_remote {
            true => solve(),
            false => rayon::scope(|_| solve()),
        }
    }

    fn fit_exact(
        &mut self,
        params: &BaUbaucParams,
        start: Option<&[f64]>,
        progress: Option<Progress<'_>>,
    ) -> Result<Fit> {
        let shards = &mut self.shards;
        if self.route == Route::Factor && self.moments.is_none() {
            self.moments = Some(shards.moments(params.intercept)?);
        }
        let system = System::new(shards, params, self.moments.as_ref())?;
        let start = match (self.warm.take(), start) {
            (Some(Warm::Exact(warm)), _) => exact::Start::Exact(warm),
            (Some(Warm::Soft(soft)), _) => match soft.softness {
                Some(softness) => exact::Start::Soft {
                    w: soft.w,
                    lambda: soft.lambda,
                    softness,
                },
                None => exact::Start::Weights(soft.w),
            },
            (None, Some(raw)) => exact::Start::Weights(shards.scaled(raw)),
            (None, None) => exact::Start::LeastSquares,
        };
        let solver = exact::Solver::new(shards, system, params, start)?;
        let (fit, warm) = solver.run(progress, params)?;
        self.warm = Some(Warm::Exact(warm));
        Ok(fit)
    }

    fn fit_soft(
        &mut self,
        params: &BaUbaucParams,
        start: Option<&[f64]>,
        progress: Option<Progress<'_>>,
    ) -> Result<Fit> {
        let shards = &mut self.shards;
        let warm = match self.warm.take() {
            Some(Warm::Soft(warm)) => Some(*warm),
            Some(Warm::Exact(warm)) => Some(soft::WarmStart::of(warm.w, warm.lambda)),
            None => start.map(|raw| soft::WarmStart::of(shards.scaled(raw), 0.0)),
        };
        // Without γ the certificate needs a factor of βXᵀVX.
        let needs_factor = params.gamma == 0.0 && params.beta > 0.0;
        if needs_factor && self.route == Route::Factor && self.moments.is_none() {
            self.moments = Some(shards.moments(params.intercept)?);
        }
        let moments = self.moments.as_ref().filter(|_| needs_factor);
        let bound = match self.stopping {
            Stopping::Certificate => soft::Bound::new(shards, params, moments)?,
            Stopping::Promise => soft::Bound::None,
            Stopping::Comparison => soft::Bound::Comparison,
        };
        let solver = soft::Solver::new(shards, params, warm, bound, self.given.order)?;
        let (fit, warm) = solver.run(progress)?;
        self.warm = Some(Warm::Soft(Box::new(warm)));
        Ok(fit)
    }
}
