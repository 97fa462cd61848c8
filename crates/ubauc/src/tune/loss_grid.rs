//! From what is given of the loss to what is tried.

use serde::{Deserialize, Serialize};

use super::extend::two_digits;
use super::{Setting, TuneParams};
use crate::metrics::Criterion;
use crate::objective::loss::Loss;
use crate::objective::ubauc::{ClassWeight, LeastSquares};

/// What is given of the loss; of what is empty the search tries what suits the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossGrid {
    /// β.
    pub betas: Vec<f64>,
    /// γ.
    pub gammas: Vec<f64>,
    /// κ.
    pub softness: Vec<f64>,
    /// Of the classes, everywhere.
    pub class_weights: Vec<ClassWeight>,
    /// Of the classes in the least squares.
    pub least_squares: Vec<LeastSquares>,
    /// An intercept in the least squares.
    pub intercept: bool,
}

impl Default for LossGrid {
    fn default() -> Self {
        LossGrid {
            betas: Vec::new(),
            gammas: Vec::new(),
            softness: Vec::new(),
            class_weights: Vec::new(),
            least_squares: Vec::new(),
            intercept: true,
        }
    }
}

impl LossGrid {
    /// The search over it by AUC: every point on every fold where all is the hinge, else a race.
    pub fn params(&self) -> TuneParams {
        self.params_for(Criterion::Auc)
    }

    /// The same by another criterion. For a partial AUC up to the rate F the class weights 1/(4F) and 1/F are tried, too,
    /// where balanced classes are, and further ones if the choice is at an end: these have λ at false alarms of about F.
    pub fn params_for(&self, criterion: Criterion) -> TuneParams {
        let mut settings = self.settings();
        let hinge = settings.iter().all(|s| !s.loss().is_smooth());
        let moves = self.class_weights.is_empty() && !hinge;
        let ratios = match criterion {
            Criterion::PartialAuc { max_fpr } if moves && max_fpr < 1.0 => {
                let ratios = [0.25 / max_fpr, 1.0 / max_fpr].map(two_digits);
                // A ratio of 1 is balanced.
                let others = ratios.into_iter().filter(|ratio| *ratio != 1.0);
                others.map(ClassWeight::Ratio).collect()
            }
            _ => Vec::new(),
        };
        let losses: Vec<Setting> = (settings.iter().copied())
            .filter(|s| s.class_weight == ClassWeight::Balanced)
            .collect();
        for &class_weight in &ratios {
            let weighted = losses.iter().map(|&loss| Setting {
                class_weight,
                ..loss
            });
            settings.extend(weighted);
        }
        let default = match hinge {
            true => TuneParams::of_hinge(),
            false => TuneParams::default(),
        };
        let given = !self.gammas.is_empty();
        TuneParams {
            settings,
            gammas: match given {
                true => self.gammas.clone(),
                false => default.gammas,
            },
            extend: !given,
            extend_betas: self.betas.is_empty(),
            extend_ratios: !ratios.is_empty(),
            criterion,
            intercept: self.intercept,
            ..default
        }
    }

    /// Nothing given: [`Setting::defaults`]. β or least squares given, and no softness: the paper's hinge.
    /// Otherwise everything given times what suits it.
    fn settings(&self) -> Vec<Setting> {
        let or = |given: &[f64], default: &[f64]| match given.is_empty() {
            true => default.to_vec(),
            false => given.to_vec(),
        };
        let both = [ClassWeight::None, ClassWeight::Balanced];
        let weights = |default: &[ClassWeight]| match self.class_weights.is_empty() {
            true => default.to_vec(),
            false => self.class_weights.clone(),
        };
        let hinge = match self.softness.is_empty() {
            true => !self.betas.is_empty() || !self.least_squares.is_empty(),
            false => self
                .softness
                .iter()
                .all(|k| !Loss::of_softness(*k).is_smooth()),
        };
        if hinge {
            let default = TuneParams::of_hinge();
            let betas: Vec<f64> = default.settings.iter().map(|s| s.beta).collect();
            let kinds = match self.least_squares.is_empty() {
                true => vec![LeastSquares::Plain, LeastSquares::Balanced],
                false => self.least_squares.clone(),
            };
            let betas = distinct(&or(&self.betas, &betas));
            let of = |&w: &ClassWeight| Setting::hinges(&betas, &kinds, w);
            return weights(&both[..1]).iter().flat_map(of).collect();
        }
        if self.softness.is_empty() {
            return weights(&both)
                .into_iter()
                .flat_map(default_losses)
                .collect();
        }
        let kinds = match self.least_squares.is_empty() {
            true => vec![LeastSquares::Plain],
            false => self.least_squares.clone(),
        };
        let mut settings = Vec::new();
        for &class_weight in &weights(&both) {
            for &softness in &self.softness {
                for &beta in &or(&self.betas, &[0.0, 0.1, 0.5]) {
                    for &least_squares in &kinds {
                        settings.push(Setting {
                            beta,
                            softness,
                            class_weight,
                            least_squares,
                        });
                    }
                }
            }
        }
        // By default the hinge has no β = 0.
        if self.betas.is_empty() {
            settings.retain(|s| s.beta > 0.0 || s.loss().is_smooth());
        }
        settings
    }
}

/// The losses that are tried by default with this weight of the classes: of a ratio those of balanced classes.
fn default_losses(class_weight: ClassWeight) -> impl Iterator<Item = Setting> {
    let like = match class_weight {
        ClassWeight::None => ClassWeight::None,
        ClassWeight::Balanced | ClassWeight::Ratio(_) => ClassWeight::Balanced,
    };
    let alike = Setting::defaults().into_iter();
    alike
        .filter(move |s| s.class_weight == like)
        .map(move |s| Setting { class_weight, ..s })
}

fn distinct(of: &[f64]) -> Vec<f64> {
    let mut distinct: Vec<f64> = Vec::new();
    for &x in of {
        if !distinct.contains(&x) {
            distinct.push(x);
        }
    }
    distinct
}
