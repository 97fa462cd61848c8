//! Parameters of every algorithm, with their defaults.

use serde::{Deserialize, Serialize};

use super::Algorithm;
#[cfg(feature = "bcd")]
use crate::Error;
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::scale::{Origin, Scale};
use crate::objective::ubauc::{ClassWeight, LeastSquares};
use crate::solver::ba_ubauc::BaUbaucParams;
use crate::solver::linear_svm::SvmParams;
use crate::solver::oam::{OamParams, Update};
use crate::solver::ol_ubauc::OlUbaucParams;
use crate::solver::opauc::{OpaucParams, default_tau};
use crate::solver::passes::Passes;
use crate::solver::solam::SolamParams;
use crate::solver::svm_or::SvmOrParams;

/// What to learn by, every number known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "algorithm", rename_all = "kebab-case")]
pub enum Spec {
    /// ba-UBAUC.
    BaUbauc(BaUbauc),
    /// ol-UBAUC.
    OlUbauc(OlUbauc),
    /// SOLAM.
    Solam(Solam),
    /// OPAUC.
    Opauc(Opauc),
    /// OAMseq.
    OamSeq(Oam),
    /// OAMgra.
    OamGra(Oam),
    /// B-SVM-OR.
    SvmOr(SvmOr),
    /// SVM.
    Svm(Svm),
    /// Logistic regression.
    Logistic(Logistic),
}

/// How P is minimised in batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Augmented Lagrangian and semismooth Newton steps.
    #[default]
    Newton,
    /// The paper's block descent, for small data; it may stop short of the optimum.
    #[cfg(feature = "bcd")]
    Bcd {
        /// At most this many rounds.
        max_rounds: usize,
    },
}

/// ba-UBAUC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BaUbauc {
    /// The problem, and when to stop.
    #[serde(flatten)]
    pub params: BaUbaucParams,
    /// How it is minimised.
    pub solver: Solver,
    /// Of the features.
    pub scale: Scale,
}

impl BaUbauc {
    fn check(&self) -> Result<()> {
        self.params.check()?;
        match self.solver {
            Solver::Newton => Ok(()),
            #[cfg(feature = "bcd")]
            Solver::Bcd { .. } if self.params.loss().is_smooth() => Err(Error::Parameter {
                name: "softness",
                value: self.params.softness.to_string(),
                must: "0 for block descent, which is the paper's for the hinge",
            }),
            #[cfg(feature = "bcd")]
            Solver::Bcd { .. } if self.params.class_weight != ClassWeight::None => {
                Err(Error::Parameter {
                    name: "class weight",
                    value: self.params.class_weight.to_string(),
                    must: "none for block descent, which is the paper's",
                })
            }
            #[cfg(feature = "bcd")]
            Solver::Bcd { .. } => Ok(()),
        }
    }
}

/// Passes of an online learner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PassSpec {
    /// The maximum.
    pub max_passes: usize,
    /// Stop when the objective changes by less than this share of itself from one pass to the next.
    pub tolerance: f64,
    /// Rows in a new random order in each pass.
    pub shuffle: bool,
    /// Of the order, of the examples that η₀ is tried on, of buffers and sketches.
    pub seed: u64,
}

impl Default for PassSpec {
    fn default() -> Self {
        let Passes {
            passes, tolerance, ..
        } = Passes::default();
        PassSpec {
            max_passes: passes,
            tolerance,
            shuffle: true,
            seed: 0,
        }
    }
}

impl PassSpec {
    /// One pass, where the algorithm's paper makes one.
    fn one() -> PassSpec {
        PassSpec {
            max_passes: 1,
            ..PassSpec::default()
        }
    }

    pub(super) fn passes(&self) -> Passes {
        Passes {
            passes: self.max_passes,
            tolerance: self.tolerance,
            shuffle: self.shuffle.then_some(self.seed),
        }
    }
}

/// ol-UBAUC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OlUbauc {
    /// The problem, and its steps.
    #[serde(flatten)]
    pub params: OlUbaucParams,
    /// η₀ is found by trial.
    pub finds_eta0: bool,
    /// How often.
    pub passes: PassSpec,
    /// Of the features.
    pub scale: Scale,
}

impl Default for OlUbauc {
    fn default() -> Self {
        OlUbauc {
            params: OlUbaucParams::default(),
            finds_eta0: true,
            passes: PassSpec::default(),
            scale: Scale::MaxAbs,
        }
    }
}

/// SOLAM.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Solam {
    /// Its steps and bounds.
    #[serde(flatten)]
    pub params: SolamParams,
    /// How often.
    pub passes: PassSpec,
    /// Of the features.
    pub scale: Scale,
}

impl Default for Solam {
    fn default() -> Self {
        Solam {
            params: SolamParams::default(),
            passes: PassSpec::default(),
            scale: Scale::MaxAbs,
        }
    }
}

/// OPAUC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opauc {
    /// η > 0, the step.
    pub eta: f64,
    /// λ ≥ 0 of the penalty λ/2 ‖w‖².
    pub lambda: f64,
    /// τ, the rank of the sketch of each covariance; 0 for full ones, none for what suits the number of features.
    pub tau: Option<usize>,
    /// How often.
    pub passes: PassSpec,
    /// Of the features.
    pub scale: Scale,
}

impl Default for Opauc {
    fn default() -> Self {
        let OpaucParams { eta, lambda, .. } = OpaucParams::default();
        Opauc {
            eta,
            lambda,
            tau: None,
            passes: PassSpec::one(),
            scale: Scale::MaxAbs,
        }
    }
}

impl Opauc {
    /// For d features.
    pub fn params(&self, d: usize) -> OpaucParams {
        OpaucParams {
            eta: self.eta,
            lambda: self.lambda,
            tau: match self.tau {
                Some(0) => None,
                Some(tau) => Some(tau),
                None => default_tau(d),
            },
            seed: self.passes.seed,
        }
    }
}

/// OAMseq and OAMgra.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Oam {
    /// C > 0, the weight of the pairs.
    #[serde(rename = "C")]
    pub c: f64,
    /// Examples kept of each class.
    pub buffer: usize,
    /// The mean of the weights after each example, not the last ones.
    pub average: bool,
    /// How often.
    pub passes: PassSpec,
    /// Of the features.
    pub scale: Scale,
}

impl Default for Oam {
    fn default() -> Self {
        let OamParams {
            c, buffer, average, ..
        } = OamParams::default();
        Oam {
            c,
            buffer,
            average,
            passes: PassSpec::one(),
            scale: Scale::MaxAbs,
        }
    }
}

impl Oam {
    /// By one of its two updates.
    pub fn params(&self, update: Update) -> OamParams {
        OamParams {
            c: self.c,
            buffer: self.buffer,
            update,
            seed: self.passes.seed,
            average: self.average,
        }
    }
}

/// B-SVM-OR.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SvmOr {
    /// The problem, and when to stop.
    #[serde(flatten)]
    pub params: SvmOrParams,
    /// Of the features.
    pub scale: Scale,
}

impl Default for SvmOr {
    fn default() -> Self {
        SvmOr {
            params: SvmOrParams::default(),
            scale: Scale::MaxAbs,
        }
    }
}

/// SVM.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Svm {
    /// The problem, and when to stop.
    #[serde(flatten)]
    pub params: SvmParams,
    /// Of the features.
    pub scale: Scale,
}

impl Default for Svm {
    fn default() -> Self {
        Svm {
            params: SvmParams::default(),
            scale: Scale::MaxAbs,
        }
    }
}

/// Logistic regression: the soft bound with β = 0 and κ = 1.
///
/// ```text
/// min_{w,b} 1/N Σ_i a_i ln(1 + exp(−y_i(w·x_i + b))) + γ/2 ‖w‖²,   b = −λ, not penalised
/// ```
///
/// With C = 1/(Nγ) it is what LIBLINEAR and scikit-learn minimise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logistic {
    /// γ ≥ 0; without it separable data have no optimum.
    pub gamma: f64,
    /// a_i.
    pub class_weight: ClassWeight,
    /// Stop at this relative gap.
    pub tolerance: f64,
    /// Stop after this many Newton steps.
    pub max_newton: usize,
    /// Of the features.
    pub scale: Scale,
}

impl Default for Logistic {
    fn default() -> Self {
        let BaUbaucParams {
            gamma, max_newton, ..
        } = BaUbaucParams::default();
        Logistic {
            gamma,
            class_weight: ClassWeight::None,
            tolerance: 1e-12,
            max_newton,
            scale: Scale::None,
        }
    }
}

impl Logistic {
    /// As a corner of the family.
    pub fn params(&self) -> BaUbaucParams {
        BaUbaucParams {
            beta: 0.0,
            softness: 1.0,
            gamma: self.gamma,
            class_weight: self.class_weight,
            tolerance: self.tolerance,
            max_newton: self.max_newton,
            ..BaUbaucParams::default()
        }
    }
}

impl Spec {
    /// With the defaults of the algorithm.
    pub fn new(algorithm: Algorithm) -> Spec {
        match algorithm {
            Algorithm::BaUbauc => Spec::BaUbauc(BaUbauc::default()),
            Algorithm::OlUbauc => Spec::OlUbauc(OlUbauc::default()),
            Algorithm::Solam => Spec::Solam(Solam::default()),
            Algorithm::Opauc => Spec::Opauc(Opauc::default()),
            Algorithm::OamSeq => Spec::OamSeq(Oam::default()),
            Algorithm::OamGra => Spec::OamGra(Oam::default()),
            Algorithm::SvmOr => Spec::SvmOr(SvmOr::default()),
            Algorithm::Svm => Spec::Svm(Svm::default()),
            Algorithm::Logistic => Spec::Logistic(Logistic::default()),
        }
    }

    /// Its name.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Spec::BaUbauc(_) => Algorithm::BaUbauc,
            Spec::OlUbauc(_) => Algorithm::OlUbauc,
            Spec::Solam(_) => Algorithm::Solam,
            Spec::Opauc(_) => Algorithm::Opauc,
            Spec::OamSeq(_) => Algorithm::OamSeq,
            Spec::OamGra(_) => Algorithm::OamGra,
            Spec::SvmOr(_) => Algorithm::SvmOr,
            Spec::Svm(_) => Algorithm::Svm,
            Spec::Logistic(_) => Algorithm::Logistic,
        }
    }

    /// Refuses the first parameter that has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        match self {
            Spec::BaUbauc(spec) => spec.check()?,
            Spec::OlUbauc(spec) => spec.params.check()?,
            Spec::Solam(spec) => spec.params.check()?,
            Spec::Opauc(spec) => spec.params(0).check()?,
            Spec::OamSeq(spec) => spec.params(Update::Sequential).check()?,
            Spec::OamGra(spec) => spec.params(Update::Gradient).check()?,
            Spec::SvmOr(spec) => spec.params.check()?,
            Spec::Svm(spec) => spec.params.check()?,
            Spec::Logistic(spec) => spec.params().check()?,
        }
        self.passes()
            .map_or(Ok(()), |passes| passes.passes().check())
    }

    /// The passes of an online learner.
    pub fn passes(&self) -> Option<&PassSpec> {
        match self {
            Spec::OlUbauc(spec) => Some(&spec.passes),
            Spec::Solam(spec) => Some(&spec.passes),
            Spec::Opauc(spec) => Some(&spec.passes),
            Spec::OamSeq(spec) | Spec::OamGra(spec) => Some(&spec.passes),
            Spec::BaUbauc(_) | Spec::SvmOr(_) | Spec::Svm(_) | Spec::Logistic(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn passes_mut(&mut self) -> Option<&mut PassSpec> {
        match self {
            Spec::OlUbauc(spec) => Some(&mut spec.passes),
            Spec::Solam(spec) => Some(&mut spec.passes),
            Spec::Opauc(spec) => Some(&mut spec.passes),
            Spec::OamSeq(spec) | Spec::OamGra(spec) => Some(&mut spec.passes),
            Spec::BaUbauc(_) | Spec::SvmOr(_) | Spec::Svm(_) | Spec::Logistic(_) => None,
        }
    }

    /// Of everything random in it.
    pub fn set_seed(&mut self, seed: u64) {
        if let Spec::Svm(spec) = self {
            spec.params.seed = seed;
        }
        if let Some(passes) = self.passes_mut() {
            passes.seed = seed;
        }
    }

    /// Of the features.
    pub fn scale(&self) -> Scale {
        match self {
            Spec::BaUbauc(spec) => spec.scale,
            Spec::OlUbauc(spec) => spec.scale,
            Spec::Solam(spec) => spec.scale,
            Spec::Opauc(spec) => spec.scale,
            Spec::OamSeq(spec) | Spec::OamGra(spec) => spec.scale,
            Spec::SvmOr(spec) => spec.scale,
            Spec::Svm(spec) => spec.scale,
            Spec::Logistic(spec) => spec.scale,
        }
    }

    /// Another one.
    pub fn set_scale(&mut self, scale: Scale) {
        *match self {
            Spec::BaUbauc(spec) => &mut spec.scale,
            Spec::OlUbauc(spec) => &mut spec.scale,
            Spec::Solam(spec) => &mut spec.scale,
            Spec::Opauc(spec) => &mut spec.scale,
            Spec::OamSeq(spec) | Spec::OamGra(spec) => &mut spec.scale,
            Spec::SvmOr(spec) => &mut spec.scale,
            Spec::Svm(spec) => &mut spec.scale,
            Spec::Logistic(spec) => &mut spec.scale,
        } = scale;
    }

    /// On the gap, the gradient, or the change of the objective in a pass.
    pub fn tolerance(&self) -> f64 {
        match self {
            Spec::BaUbauc(spec) => spec.params.tolerance,
            Spec::OlUbauc(OlUbauc { passes, .. })
            | Spec::Solam(Solam { passes, .. })
            | Spec::Opauc(Opauc { passes, .. })
            | Spec::OamSeq(Oam { passes, .. })
            | Spec::OamGra(Oam { passes, .. }) => passes.tolerance,
            Spec::SvmOr(spec) => spec.params.tolerance,
            Spec::Svm(spec) => spec.params.tolerance,
            Spec::Logistic(spec) => spec.tolerance,
        }
    }

    /// Whether dense features are centred, and an intercept learned; the support vector machine's is penalised.
    pub fn intercept(&self) -> bool {
        match self {
            Spec::BaUbauc(spec) => spec.params.weighting().intercept,
            Spec::OlUbauc(spec) => spec.params.intercept,
            Spec::Logistic(_) => true,
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_) => false,
        }
    }

    /// The kind of least squares, where there are any.
    pub fn least_squares(&self) -> Option<LeastSquares> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params.least_squares),
            Spec::OlUbauc(spec) => Some(spec.params.least_squares),
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_)
            | Spec::Logistic(_) => None,
        }
    }

    /// κ, where it is a member of the soft family.
    pub fn softness(&self) -> Option<f64> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params.softness),
            Spec::OlUbauc(spec) => Some(spec.params.softness),
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_)
            | Spec::Logistic(_) => None,
        }
    }

    /// The weights of the classes, where they may be had.
    pub fn class_weight(&self) -> Option<ClassWeight> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params.class_weight),
            Spec::OlUbauc(spec) => Some(spec.params.class_weight),
            Spec::Logistic(spec) => Some(spec.class_weight),
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_) => None,
        }
    }

    /// β, where there are least squares.
    pub fn beta(&self) -> Option<f64> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params.beta),
            Spec::OlUbauc(spec) => Some(spec.params.beta),
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_)
            | Spec::Logistic(_) => None,
        }
    }

    /// γ, where that is the name of the regulariser.
    pub fn gamma(&self) -> Option<f64> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params.gamma),
            Spec::OlUbauc(spec) => Some(spec.params.gamma),
            Spec::Logistic(spec) => Some(spec.gamma),
            Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_) => None,
        }
    }

    /// The parameters of the problem whose minimum is searched for, of algorithms that do so by Newton steps.
    pub fn minimised(&self) -> Option<BaUbaucParams> {
        match self {
            Spec::BaUbauc(spec) => Some(spec.params),
            Spec::Logistic(spec) => Some(spec.params()),
            _ => None,
        }
    }

    /// What every feature is divided by; none where nothing is.
    pub fn divisors(&self, data: &Dataset, weights: Option<&[f64]>) -> Result<Option<Vec<f64>>> {
        let origin = Origin::of_intercept(self.intercept());
        self.scale().optional_divisors(data.rows(), weights, origin)
    }
}
