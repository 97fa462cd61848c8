//! Many (β, γ) on the same rows: one Gram matrix, and each fit starts where the last one ended.
//!
//! H₀ = NγI + βXᵀVX needs XᵀVX once. The multipliers of one fit are feasible for any other with the same
//! sample weights, so they, w and λ start the next; a neighbour on a grid is then a few Newton steps away. The first fit
//! starts from [`BatchInputs::start`], if there is one.

use super::newton::{Route, System};
use super::{
    BaUbaucParams, BatchInputs, Fit, Progress, Solver, WarmStart, check_inputs, check_start,
};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::scale::{Origin, Scale};
use crate::objective::ubauc::LeastSquares;
use crate::solver::inputs::refuse_one_class;
use crate::solver::shards::{Local, Moments, Shards, Source};

/// The rows, prepared for one kind of least squares.
pub struct Path<'a> {
    shards: Shards<'a>,
    given: BatchInputs<'a>,
    least_squares: LeastSquares,
    intercept: bool,
    route: Route,
    moments: Option<Moments>,
    warm: Option<WarmStart>,
}

impl<'a> Path<'a> {
    /// Prepares the rows.
    pub fn new(
        data: &'a Dataset,
        given: &BatchInputs<'a>,
        least_squares: LeastSquares,
        intercept: bool,
    ) -> Result<Path<'a>> {
        check_inputs(data, given)?;
        let source = Box::new(Local::new(data, given.weights));
        let mut shards = Shards::new(source, data.rows().cols(), least_squares)?;
        refuse_one_class(shards.total, data.class_names(), data.rows().len())?;
        if let Some(divisors) = given.divisors {
            shards.divide_by(divisors.into());
        }
        Path::over(shards, given, least_squares, intercept)
    }

    /// Rows that are anywhere, with d columns and their weights with them.
    pub fn of_source(
        source: Box<dyn Source + 'a>,
        cols: usize,
        names: &[String; 2],
        scale: Scale,
        least_squares: LeastSquares,
        intercept: bool,
    ) -> Result<Path<'a>> {
        let mut shards = Shards::new(source, cols, least_squares)?;
        refuse_one_class(shards.total, names, shards.rows)?;
        if let Some(divisors) = shards.divisors(scale, Origin::of_intercept(intercept))? {
            shards.divide_by(divisors.into());
        }
        Path::over(shards, &BatchInputs::default(), least_squares, intercept)
    }

    fn over(
        mut shards: Shards<'a>,
        given: &BatchInputs<'a>,
        least_squares: LeastSquares,
        intercept: bool,
    ) -> Result<Path<'a>> {
        if intercept {
            shards.centre()?;
        }
        Ok(Path {
            route: Route::cheapest(&shards),
            shards,
            given: *given,
            least_squares,
            intercept,
            moments: None,
            warm: None,
        })
    }

    /// Examples with a weight above 0.
    pub fn examples(&self) -> usize {
        self.shards.n_weighted
    }

    /// The minimum at the next β, γ; `least_squares` and `intercept` are the path's own.
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
        let params = BaUbaucParams {
            least_squares: self.least_squares,
            intercept: self.intercept,
            ..*params
        };
        params.check()?;
        let is_remote = self.shards.is_remote();
        let mut solve = || {
            let shards = &mut self.shards;
            if self.route == Route::Factor && self.moments.is_none() {
                self.moments = Some(shards.moments(self.intercept)?);
            }
            let system = System::new(shards, &params, self.moments.as_ref())?;
            let warm = self.warm.take();
            let without_multipliers = warm.is_none() && start.is_some();
            let mut solver = Solver::new(shards, system, &params, warm, start)?;
            if without_multipliers {
                solver.find_penalty(&params)?;
            }
            solver.run(progress, &params)
        };
        // All of it on one of the pool's own threads: a query then costs no switch. Remote rows are queried
        // from the caller's.
        let (fit, warm) = match is_remote {
            true => solve(),
            false => rayon::scope(|_| solve()),
        }?;
        self.warm = Some(warm);
        Ok(fit)
    }
}
