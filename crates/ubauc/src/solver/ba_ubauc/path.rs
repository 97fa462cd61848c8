//! Many (β, γ) on the same rows: one Gram matrix, and each fit starts where the last one ended.
//!
//! H₀ = NγI + βXᵀVX needs XᵀVX once. The multipliers of one fit are feasible for any other with the same
//! sample weights, so they, w and λ start the next; a neighbour on a grid is then a few Newton steps away. The first fit
//! starts from [`Given::start`], if there is one.

use super::newton::{Route, System};
use super::{BaUbaucParams, Fit, Given, Solver, Warm, check_given};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::objective::ubauc::LeastSquares;
use crate::solver::given::refuse_one_class;
use crate::solver::shards::{Moments, Shards};

/// The rows, prepared for one kind of least squares.
pub struct Path<'a> {
    shards: Shards<'a>,
    given: Given<'a>,
    least_squares: LeastSquares,
    intercept: bool,
    route: Route,
    moments: Option<Moments>,
    warm: Option<Warm>,
}

impl<'a> Path<'a> {
    /// Prepares the rows.
    pub fn new(
        data: &'a Dataset,
        given: &Given<'a>,
        least_squares: LeastSquares,
        intercept: bool,
    ) -> Result<Path<'a>> {
        check_given(data, given)?;
        let mut shards = Shards::new(data, given.weights, given.divisors, least_squares);
        refuse_one_class(shards.total, data)?;
        if intercept {
            shards.centre();
        }
        Ok(Path {
            shards,
            given: *given,
            least_squares,
            intercept,
            route: Route::cheapest(data),
            moments: None,
            warm: None,
        })
    }

    /// The minimum at the next β, γ; `least_squares` and `intercept` are the path's own.
    pub fn fit(&mut self, params: &BaUbaucParams) -> Result<Fit> {
        let params = BaUbaucParams {
            least_squares: self.least_squares,
            intercept: self.intercept,
            ..*params
        };
        params.check()?;
        // All of it on one of the pool's own threads: a question to the rows then costs no switch.
        let (fit, warm) = rayon::scope(|_| {
            let shards = &mut self.shards;
            if self.route == Route::Factor && self.moments.is_none() {
                self.moments = Some(shards.moments(self.intercept));
            }
            let system = System::new(shards, &params, self.moments.as_ref())?;
            let (warm, start) = (self.warm.take(), self.given.start);
            let without_multipliers = warm.is_none() && start.is_some();
            let mut solver = Solver::new(shards, system, &params, warm, start);
            if without_multipliers {
                solver.find_penalty(&params)?;
            }
            solver.run(&self.given, &params)
        })?;
        self.warm = Some(warm);
        Ok(fit)
    }
}
