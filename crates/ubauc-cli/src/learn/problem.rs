//! The algorithm of `ubauc learn`, its parameters and its scale.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use ubauc::algorithm::{Algorithm, OlUbauc, Spec};
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ol_ubauc::OlUbaucParams;
use ubauc::solver::opauc::default_tau;

use crate::algorithm::refuse_foreign;
use crate::args::{InterceptArgs, WrongUsage};
use crate::names::{LeastSquaresName, ScaleName, ScheduleName, StepName, name_of};

use Algorithm::{OamGra, OamSeq, OlUbauc as Ol, Opauc, Solam};

/// Parameters by the names of `ubauc train`.
#[derive(Debug, Args)]
pub(crate) struct ProblemArgs {
    /// What to learn by
    #[arg(long, value_parser = online_parser(), default_value = Algorithm::OlUbauc.name())]
    algorithm: Algorithm,
    /// ol-ubauc: weight of the least squares, at least 0, and above 0 where the softness is 0 [default: 0.5]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    beta: Option<f64>,
    /// ol-ubauc: softness of the bound, at least 0: 0 is the paper's hinge, 1 with --beta 0 is logistic regression
    /// [default: 0]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    softness: Option<f64>,
    /// ol-ubauc: weights of the classes, in the bound and in the least squares; none, balanced by the examples so
    /// far, or R for negatives that weigh R times as much as the positives, each class as a whole [default: none]
    #[arg(long, value_name = "WEIGHT")]
    class_weight: Option<ClassWeight>,
    /// ol-ubauc: weight of |w|²/2, at least 0 [default: 1e-4]
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// ol-ubauc: least squares over all examples alike, or half of them each class [default: plain]
    #[arg(long, value_enum)]
    least_squares: Option<LeastSquaresName>,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// ol-ubauc: implicit cannot diverge; sgd is the paper's step [default: implicit]
    #[arg(long, value_enum)]
    step: Option<StepName>,
    /// ol-ubauc: how the step after t examples becomes smaller: eta0/sqrt(t), eta0/t, or not at all [default: sqrt]
    #[arg(long, value_enum)]
    schedule: Option<ScheduleName>,
    /// ol-ubauc: first step [default: found on the first 1,000 labelled examples; with --predict 0.5, for no answer may wait]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    eta0: Option<f64>,
    /// ol-ubauc, solam: keep |w| within this radius, in scaled features [default: ol-ubauc: none; solam: 1]
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    radius: Option<f64>,
    /// ol-ubauc: average the weights after this many examples [default: 1]; oam-seq, oam-gra: without a number, the mean of
    /// the weights after each example, not the last weights as in the paper
    #[arg(long, value_name = "N")]
    #[expect(clippy::option_option, reason = "clap's type of an optional value")]
    average: Option<Option<u64>>,
    /// ol-ubauc: no average, the last weights count
    #[arg(long, conflicts_with = "average")]
    no_average: bool,
    /// Divide every feature by its largest absolute value so far. What the other algorithms have learned of a feature with a
    /// smaller one stays as it is; ol-ubauc makes up for it
    #[arg(long, value_parser = stream_scale(), default_value = "maxabs")]
    scale: Scale,
    /// solam: the step after t examples is Z/sqrt(t) [default: 1]
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    zeta: Option<f64>,
    /// opauc: the step [default: 1/256]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    eta: Option<f64>,
    /// opauc: weight of |w|²/2 [default: 1e-4]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    lambda: Option<f64>,
    /// opauc: rank of the covariances, 0 for full ones [default: full up to 1,000 columns of a CSV or of --hash-bits,
    /// then 50; svmlight: full, and more than 1,000 features are refused]
    #[arg(long, value_name = "RANK")]
    tau: Option<usize>,
    /// oam-seq, oam-gra: largest step [default: 1e-4]
    #[arg(long = "C", alias = "c", value_name = "C", allow_hyphen_values = true)]
    c: Option<f64>,
    /// oam-seq, oam-gra: examples kept of each class [default: 100]
    #[arg(long, value_name = "N")]
    buffer: Option<usize>,
}

/// A stream has no deviations before its end.
fn stream_scale() -> impl TypedValueParser<Value = Scale> {
    let possible = [ScaleName::None, ScaleName::Maxabs];
    let possible = possible.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(possible)
        .map(|name| ScaleName::from_str(&name, false).map_or(Scale::None, Scale::from))
}

/// Reads the name of an algorithm that can follow a stream; the help lists them.
fn online_parser() -> impl TypedValueParser<Value = Algorithm> {
    let online = Algorithm::all().filter(|algorithm| algorithm.is_online());
    let summary = |algorithm: Algorithm| match algorithm {
        Algorithm::OlUbauc => "The univariate bound of AUC, one example at a time",
        other => other.summary(),
    };
    let value = |a: Algorithm| PossibleValue::new(a.name()).help(summary(a));
    PossibleValuesParser::new(online.map(value))
        .map(|name| Algorithm::named(&name).unwrap_or(Algorithm::OlUbauc))
}

impl ProblemArgs {
    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// η₀ of ol-ubauc was typed.
    pub(super) fn has_eta0(&self) -> bool {
        self.eta0.is_some()
    }

    /// What was typed, and the defaults. With `predict` η₀ is not searched for; hashed features are as many as there are
    /// columns for them.
    pub(super) fn spec(&self, seed: u64, predict: bool, hash_bits: Option<u32>) -> Spec {
        let mut spec = Spec::new(self.algorithm);
        spec.set_seed(seed);
        spec.set_scale(self.scale);
        let counts = [("tau", self.tau), ("buffer", self.buffer)];
        let counts = counts.map(|(name, n)| (name, n.map(|n| n as f64)));
        let numbers = [
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("softness", self.softness),
            ("radius", self.radius),
            ("zeta", self.zeta),
            ("eta", self.eta),
            ("lambda", self.lambda),
            ("C", self.c),
        ];
        for (name, value) in numbers.into_iter().chain(counts) {
            if let Some(value) = value {
                spec.set(name, value);
            }
        }
        match &mut spec {
            Spec::OlUbauc(spec) => self.set_steps(spec, predict),
            Spec::OamSeq(oam) | Spec::OamGra(oam) => oam.average = self.average.is_some(),
            Spec::Opauc(opauc) => {
                let columns = hash_bits.and_then(|bits| 1_usize.checked_shl(bits));
                let suited = columns.map(|columns| default_tau(columns).unwrap_or(0));
                opauc.tau = opauc.tau.or(suited);
            }
            Spec::Solam(_)
            | Spec::BaUbauc(_)
            | Spec::SvmOr(_)
            | Spec::Svm(_)
            | Spec::Logistic(_) => {}
        }
        spec
    }

    fn set_steps(&self, spec: &mut OlUbauc, predict: bool) {
        let default = OlUbaucParams::default();
        spec.finds_eta0 = self.eta0.is_none() && !predict;
        spec.params = OlUbaucParams {
            class_weight: self.class_weight.unwrap_or_default(),
            least_squares: self.least_squares().into(),
            intercept: self.intercept.intercept(),
            step: self.step().into(),
            rate: self.schedule().into(),
            eta0: self.eta0.unwrap_or(default.eta0),
            average: match self.average {
                _ if self.no_average => None,
                Some(Some(examples)) => Some(examples),
                Some(None) | None => default.average,
            },
            ..spec.params
        };
    }

    fn least_squares(&self) -> LeastSquaresName {
        self.least_squares.unwrap_or(LeastSquaresName::Plain)
    }

    fn step(&self) -> StepName {
        self.step.unwrap_or(StepName::Implicit)
    }

    fn schedule(&self) -> ScheduleName {
        self.schedule.unwrap_or(ScheduleName::Sqrt)
    }

    /// What makes the model what it is, by the names of the options.
    pub(super) fn settings(&self, spec: &Spec) -> BTreeMap<String, Value> {
        let mut settings: BTreeMap<String, Value> = [
            ("algorithm", json!(self.algorithm.name())),
            ("scale", json!(self.scale.name())),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into();
        let own = spec.parameters().into_iter();
        settings.extend(own.map(|(name, value)| (name.replace('_', "-"), value)));
        let mut set = |name: &str, value: Value| settings.insert(name.to_string(), value);
        if let Spec::OlUbauc(OlUbauc {
            params, finds_eta0, ..
        }) = spec
        {
            if *finds_eta0 {
                set("eta0", json!("found"));
            }
            set("least-squares", json!(name_of(self.least_squares())));
            set("intercept", json!(params.intercept));
            set("step", json!(name_of(self.step())));
            set("schedule", json!(name_of(self.schedule())));
            set("radius", json!(params.radius));
            set("average", json!(params.average));
        }
        if let (true, Some(passes)) = (self.is_random(), spec.passes()) {
            set("seed", json!(passes.seed));
        }
        settings
    }

    /// Its buffers or sketches are random.
    fn is_random(&self) -> bool {
        matches!(self.algorithm, Opauc | OamSeq | OamGra)
    }

    /// Refuses options that the algorithm does not have, by name; `more` are those of other files.
    pub(super) fn refuse_options_of_others(&self, more: &[(&str, bool)]) -> Result<()> {
        let oam: &[Algorithm] = &[OamSeq, OamGra];
        let with_average: &[Algorithm] = &[Ol, OamSeq, OamGra];
        let mut options: Vec<(&str, bool, &[Algorithm])> = vec![
            ("--beta", self.beta.is_some(), &[Ol]),
            ("--gamma", self.gamma.is_some(), &[Ol]),
            ("--softness", self.softness.is_some(), &[Ol]),
            ("--class-weight", self.class_weight.is_some(), &[Ol]),
            ("--least-squares", self.least_squares.is_some(), &[Ol]),
            ("--no-intercept", self.intercept.no_intercept, &[Ol]),
            ("--step", self.step.is_some(), &[Ol]),
            ("--schedule", self.schedule.is_some(), &[Ol]),
            ("--eta0", self.eta0.is_some(), &[Ol]),
            ("--radius", self.radius.is_some(), &[Ol, Solam]),
            ("--average", self.average.is_some(), with_average),
            ("--no-average", self.no_average, &[Ol]),
            ("--zeta", self.zeta.is_some(), &[Solam]),
            ("--eta", self.eta.is_some(), &[Opauc]),
            ("--lambda", self.lambda.is_some(), &[Opauc]),
            ("--tau", self.tau.is_some(), &[Opauc]),
            ("--C", self.c.is_some(), oam),
            ("--buffer", self.buffer.is_some(), oam),
        ];
        options.extend(more.iter().map(|&(name, is)| (name, is, &[Ol][..])));
        refuse_foreign(self.algorithm, &options)?;
        if let (true, Some(Some(n))) = (oam.contains(&self.algorithm), self.average) {
            let name = self.algorithm.name();
            let what = format!("--average {n} is for ol-ubauc; {name} takes --average alone");
            return Err(WrongUsage(what).into());
        }
        Ok(())
    }
}
