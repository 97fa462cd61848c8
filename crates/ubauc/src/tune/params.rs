//! What is tried, and how it is judged.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FINE;
use crate::data::scale::Scale;
use crate::metrics::Criterion;
use crate::objective::loss::Loss;
use crate::objective::ubauc::{ClassWeight, LeastSquares};
use crate::solver::ba_ubauc::BaUbaucParams;
use crate::{Error, Result};

/// Examples are dealt into folds again until this many judgements are made …
const ENOUGH_EXAMPLES: usize = 3000;
/// … but no more often than this.
const MOST_REPEATS: usize = 5;
/// No more than this can be asked for.
const MOST_GIVEN: u32 = 1000;
/// Where examples are many, folds are left out in turn until this many of each class are judged …
const ENOUGH_PER_CLASS: usize = 2000;
/// … but no fewer than this: a standard error of two says nothing.
const LEAST_FOLDS: u32 = 3;

/// A loss: everything but γ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// β.
    pub beta: f64,
    /// κ.
    pub softness: f64,
    /// Of the classes, everywhere.
    pub class_weight: ClassWeight,
    /// Of the classes in the least squares.
    pub least_squares: LeastSquares,
}

impl Setting {
    /// Logistic regression.
    pub const LOGISTIC: Setting = Setting {
        beta: 0.0,
        softness: 1.0,
        class_weight: ClassWeight::None,
        least_squares: LeastSquares::Plain,
    };

    /// φ.
    pub fn loss(&self) -> Loss {
        Loss::of_softness(self.softness)
    }

    /// Whether it is logistic regression without class weights: β = 0, whatever κ, which only moves γ.
    pub fn is_logistic(&self) -> bool {
        self.beta == 0.0 && self.loss().is_smooth() && self.class_weight == ClassWeight::None
    }

    /// What is tried where nothing is said: logistic regression, the bound with a small softness, and what is between
    /// them, each with and without balanced classes.
    pub fn defaults() -> Vec<Setting> {
        let losses = [(0.0, 1.0), (0.5, 0.05), (0.1, 1.0)];
        let weights = [ClassWeight::None, ClassWeight::Balanced];
        let setting = |class_weight, (beta, softness)| Setting {
            beta,
            softness,
            class_weight,
            least_squares: LeastSquares::Plain,
        };
        let of_weight = |w| losses.iter().map(move |&loss| setting(w, loss));
        weights.into_iter().flat_map(of_weight).collect()
    }

    /// The paper's hinge with these β, plain and balanced least squares.
    pub fn hinges(
        betas: &[f64],
        kinds: &[LeastSquares],
        class_weight: ClassWeight,
    ) -> Vec<Setting> {
        let setting = |&least_squares: &LeastSquares, &beta: &f64| Setting {
            beta,
            softness: 0.0,
            class_weight,
            least_squares,
        };
        let of_kind = |kind| betas.iter().map(move |beta| setting(kind, beta));
        kinds.iter().flat_map(of_kind).collect()
    }
}

/// What to try, and how to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneParams {
    /// The losses to try. Of the hinge small β collapse (.05 on a9a), large ones (20) are plain ridge regression.
    pub settings: Vec<Setting>,
    /// γ to try.
    pub gammas: Vec<f64>,
    /// Try γ beyond these where the choice is at an end of them, and in a race one between these where it promises more.
    pub extend: bool,
    /// The same of β: those of the settings that are alike in all else.
    pub extend_betas: bool,
    /// The same of the class weights: ratios beyond those of the settings that are alike in all else.
    pub extend_ratios: bool,
    /// Leave out on later folds what is clearly behind on the first ones.
    pub race: bool,
    /// What is maximised.
    pub criterion: Criterion,
    /// k.
    pub folds: u32,
    /// How often the examples are dealt into k folds, each time in another way; none for what suits their number: where
    /// they are few a single time leaves much to luck.
    pub repeats: Option<u32>,
    /// Leave out no more of the folds in turn than it takes to judge this many examples of each class, three at least; none for
    /// all of them. Every fit is then made of as many examples, and fewer fits are made. Of groups always all.
    pub enough_per_class: Option<usize>,
    /// The share held out for the verdict; 0 for no verdict.
    pub held_out: f64,
    /// Of the folds and of what is held out.
    pub seed: u64,
    /// An intercept in the least squares; without one it is the paper's Eq. (8). Logistic regression always has one.
    pub intercept: bool,
    /// Fitted on the training examples of each fold.
    pub scale: Scale,
    /// The relative gap at which points are compared.
    pub tolerance: f64,
    /// The most regularised point within one standard error of the best, in place of the best.
    pub one_standard_error: bool,
    /// Begin no more fits after this time.
    pub time_limit: Option<Duration>,
}

impl Default for TuneParams {
    /// Six settings along five γ, 5 folds.
    fn default() -> Self {
        TuneParams {
            settings: Setting::defaults(),
            gammas: vec![1e-1, 1e-2, 1e-3, 1e-4, 1e-5],
            extend: true,
            extend_betas: true,
            extend_ratios: false,
            race: true,
            criterion: Criterion::Auc,
            folds: 5,
            repeats: None,
            enough_per_class: Some(ENOUGH_PER_CLASS),
            held_out: 0.2,
            seed: 1,
            intercept: true,
            scale: Scale::None,
            tolerance: 1e-3,
            one_standard_error: false,
            time_limit: None,
        }
    }
}

impl TuneParams {
    /// The grid of the hinge: 6 β × 5 γ × 2 kinds, every point on every fold.
    pub fn of_hinge() -> TuneParams {
        let kinds = [LeastSquares::Plain, LeastSquares::Balanced];
        let betas = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0];
        TuneParams {
            settings: Setting::hinges(&betas, &kinds, ClassWeight::None),
            gammas: vec![1e-1, 1e-2, 1e-3, 1e-4, 1e-5],
            extend: false,
            extend_betas: false,
            race: false,
            repeats: Some(1),
            enough_per_class: None,
            ..TuneParams::default()
        }
    }

    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        for (name, empty) in [
            ("settings", self.settings.is_empty()),
            ("gammas", self.gammas.is_empty()),
        ] {
            if empty {
                return refuse(name, "nothing".to_string(), "at least one value");
            }
        }
        if let Some(repeats) = self.repeats.filter(|r| !(1..=MOST_GIVEN).contains(r)) {
            return refuse("repeats", repeats.to_string(), "from 1 to 1000");
        }
        if self.folds < 2 {
            return refuse("folds", self.folds.to_string(), "at least 2");
        }
        if !(0.0..1.0).contains(&self.held_out) {
            let must = "at least 0 and below 1";
            return refuse("share held out", self.held_out.to_string(), must);
        }
        for setting in &self.settings {
            for &gamma in &self.gammas {
                self.batch(setting, gamma).check()?;
            }
        }
        Ok(())
    }

    /// How often n examples are dealt into folds.
    pub fn repeats(&self, n: usize) -> u32 {
        let suited = ENOUGH_EXAMPLES.div_ceil(n.max(1)).min(MOST_REPEATS) as u32;
        self.repeats.unwrap_or(suited)
    }

    /// All folds of n examples, of all times that they are dealt.
    pub fn all_folds(&self, n: usize) -> u32 {
        self.folds.saturating_mul(self.repeats(n))
    }

    /// How many folds, of all times that they are dealt, are left out in turn: each has 1/k of the rarer class. Not of groups,
    /// whose folds differ: the first ones have the largest groups.
    pub fn judging_folds(&self, n_pos: usize, n_neg: usize) -> u32 {
        let all = self.all_folds(n_pos + n_neg);
        let Some(enough) = self.enough_per_class else {
            return all;
        };
        let rarer = n_pos.min(n_neg).max(1);
        let needed = enough.saturating_mul(self.folds as usize).div_ceil(rarer);
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        needed.clamp(LEAST_FOLDS.min(all), all)
    }

    /// The seed of each time that they are.
    pub(super) fn deal(&self, repeat: u32) -> u64 {
        self.seed.wrapping_add(u64::from(repeat) << 32)
    }

    /// What the solver is asked for at a point.
    pub(super) fn batch(&self, setting: &Setting, gamma: f64) -> BaUbaucParams {
        BaUbaucParams {
            beta: setting.beta,
            gamma,
            softness: setting.softness,
            class_weight: setting.class_weight,
            least_squares: setting.least_squares,
            intercept: self.intercept || setting.beta == 0.0,
            tolerance: self.tolerance,
            ..Default::default()
        }
    }

    /// The same for the final word.
    pub(super) fn closely(&self, setting: &Setting, gamma: f64) -> BaUbaucParams {
        BaUbaucParams {
            tolerance: self.tolerance.min(FINE),
            ..self.batch(setting, gamma)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_examples_need_fewer_folds_and_few_are_dealt_again() {
        let params = TuneParams::default();
        let folds = |n_pos, n_neg| params.judging_folds(n_pos, n_neg);
        // 2,000 of the rarer class, of which a fold has a fifth.
        assert_eq!(folds(2_000, 50_000), 5);
        assert_eq!(folds(50_000, 2_001), 5);
        assert_eq!(folds(2_500, 50_000), 4);
        assert_eq!(folds(4_000, 4_000), 3);
        assert_eq!(folds(1_000_000, 9_000_000), 3);
        assert_eq!(folds(0, 1_000_000), 5);
        // Fewer than 3,000 together.
        assert_eq!(folds(400, 1_200), 10);
        assert_eq!(folds(10, 10), 25);
        let few = TuneParams {
            folds: 2,
            ..TuneParams::default()
        };
        assert_eq!(few.judging_folds(1_000_000, 1_000_000), 2);
        let all = TuneParams {
            enough_per_class: None,
            ..TuneParams::default()
        };
        assert_eq!(all.judging_folds(1_000_000, 1_000_000), 5);
    }
}
