//! What an experiment is: its data sets, its columns, its grids. Written in `experiments/*.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use ubauc::algorithm::{Algorithm, Spec};
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ol_ubauc::Step;

use crate::algorithm::product;
use crate::data::catalogue::DataSet;

/// One file of `experiments/`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) protocol: Protocol,
    pub(super) datasets: Vec<Set>,
    pub(super) columns: Vec<Column>,
}

/// What is the same for all of its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Protocol {
    /// Models whose AUC are averaged.
    #[serde(skip_serializing)] // more runs go on where fewer ended
    pub(super) runs: usize,
    /// The share of the training part that each of them learns from.
    pub(super) share: f64,
    /// The share of the training part that parameters are judged on.
    pub(super) validation: f64,
    /// Of all that is random.
    pub(super) seed: u64,
    /// Of the halves of many classes.
    #[serde(skip_serializing)] // of no effect on two; it is kept with the data
    pub(super) partition: u64,
    /// How features are scaled, unless the data set says otherwise.
    pub(super) scale: Scale,
    /// Judge by cross-validation over all rows with this many folds, not on the test part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folds: Option<u32>,
}

/// A data set of the paper.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    pub(super) name: String,
    /// What is taken where the set is not here.
    #[serde(default)]
    pub(super) stand_in: Option<String>,
    /// How its features are scaled.
    #[serde(default)]
    pub(super) scale: Option<Scale>,
    /// Its rows are divided by their lengths first.
    #[serde(default)]
    pub(super) unit_rows: bool,
    /// What a reader should know.
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// A column of the table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) algorithm: String,
    #[serde(default)]
    pub(super) least_squares: LeastSquaresOf,
    /// ol-ubauc: the step of Eq. (9) itself, without an average; otherwise what `ubauc train` does.
    #[serde(default)]
    pub(super) literal: bool,
    /// OAM: the mean of the weights after each example, not the last ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) average: bool,
    /// Table 3: passes before it is given up that a learner stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) most_passes: Option<usize>,
    /// Numbers that are not searched for.
    #[serde(default)]
    pub(super) fixed: BTreeMap<String, f64>,
    /// Numbers that are, all combinations of them.
    #[serde(default)]
    pub(super) grid: BTreeMap<String, Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LeastSquaresOf {
    #[default]
    Plain,
    Balanced,
}

impl Config {
    /// The file that is named, or the one of the program.
    pub(super) fn load(path: Option<&Path>, of_program: &str) -> Result<Config> {
        let (text, name) = match path {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                (text, path.display().to_string())
            }
            None => (
                of_program.to_string(),
                "the experiment of the program".to_string(),
            ),
        };
        let config: Config = toml::from_str(&text).with_context(|| name.clone())?;
        config.check().with_context(|| name)?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let Protocol {
            runs,
            share,
            validation,
            folds,
            ..
        } = self.protocol;
        if runs == 0 {
            bail!("protocol: runs = 0; must be at least 1");
        }
        for (name, value) in [("share", share), ("validation", validation)] {
            if !(value > 0.0 && value < 1.0) {
                bail!("protocol: {name} = {value}; must be between 0 and 1");
            }
        }
        if let Some(folds) = folds.filter(|folds| *folds < 2) {
            bail!("protocol: folds = {folds}; must be at least 2");
        }
        for (k, set) in self.datasets.iter().enumerate() {
            if self.datasets[..k].iter().any(|s| s.name == set.name) {
                bail!("two data sets are called '{}'", set.name);
            }
            for name in std::iter::once(&set.name).chain(&set.stand_in) {
                if name.is_empty() || name.contains(['/', '\\', '.']) {
                    bail!("data set '{name}' is no name");
                }
            }
        }
        for (k, column) in self.columns.iter().enumerate() {
            if self.columns[..k].iter().any(|c| c.name == column.name) {
                bail!("two columns are called '{}'", column.name);
            }
            column
                .specs(&self.protocol, self.protocol.scale)
                .with_context(|| format!("column '{}'", column.name))?;
        }
        Ok(())
    }
}

impl Protocol {
    /// In a sentence.
    pub(super) fn describe(&self) -> String {
        let validation = 100.0 * self.validation;
        let how = match self.folds {
            Some(folds) => format!(
                "{} models by repeated {folds}-fold cross-validation over all rows; parameters by AUC on {validation:.0} % \
                 of what the first of them learns from, so that they depend on rows which the others are judged on",
                self.runs
            ),
            None => format!(
                "{} models on random {:.0} % of the training part, parameters by AUC on a held-out {validation:.0} % of \
                 it, AUC on the test part",
                self.runs,
                100.0 * self.share
            ),
        };
        let (scale, seed, partition) = (self.scale.name(), self.seed, self.partition);
        format!(
            "{how}; scale {scale} unless stated otherwise, seed {seed}, classes halved by partition {partition}."
        )
    }
}

impl Set {
    /// As the paper names it; whether the program knows it is another question.
    pub(super) fn known(&self) -> Option<&'static DataSet> {
        DataSet::named(&self.name)
    }
}

impl Column {
    pub(super) fn algorithm(&self) -> Result<Algorithm> {
        Algorithm::named(&self.algorithm)
            .with_context(|| format!("no algorithm '{}'", self.algorithm))
    }

    /// Its passes and the number of its choices, for those who compare.
    pub(super) fn describe(&self) -> String {
        let choices: usize = self.grid.values().map(Vec::len).product();
        let plural = |n: usize| if n == 1 { "" } else { "es" };
        let passes = self.fixed.get("passes").map_or(String::new(), |passes| {
            let passes = *passes as usize;
            format!("at most {passes} pass{}, ", plural(passes))
        });
        format!("{}: {passes}best of {choices}", self.name)
    }

    /// Every combination of its grid, each checked.
    pub(super) fn specs(&self, protocol: &Protocol, scale: Scale) -> Result<Vec<Spec>> {
        let mut template = Spec::new(self.algorithm()?);
        template.set_scale(scale);
        template.set_seed(protocol.seed);
        let least_squares = match self.least_squares {
            LeastSquaresOf::Plain => LeastSquares::Plain,
            LeastSquaresOf::Balanced => LeastSquares::Balanced,
        };
        // Without an intercept it is the paper's Eq. (8).
        match &mut template {
            Spec::BaUbauc(spec) => {
                spec.params.least_squares = least_squares;
                spec.params.intercept = false;
            }
            Spec::OlUbauc(spec) => {
                spec.params.least_squares = least_squares;
                spec.params.intercept = false;
                if self.literal {
                    spec.params.step = Step::Sgd;
                    spec.params.average = None;
                }
            }
            Spec::OamSeq(spec) | Spec::OamGra(spec) => spec.average = self.average,
            Spec::Solam(_) | Spec::Opauc(_) | Spec::SvmOr(_) | Spec::Svm(_) | Spec::Logistic(_) => {
            }
        }
        if self.literal && template.algorithm() != Algorithm::OlUbauc {
            bail!("'literal' is for ol-ubauc");
        }
        if self.average && !matches!(template, Spec::OamSeq(_) | Spec::OamGra(_)) {
            bail!("'average' is for oam-seq and oam-gra");
        }
        let fixed = self.fixed.iter().map(|(name, value)| (name, vec![*value]));
        let lists: Vec<(&String, Vec<f64>)> = fixed
            .chain(
                self.grid
                    .iter()
                    .map(|(name, values)| (name, values.clone())),
            )
            .collect();
        if let Some((name, _)) = lists.iter().find(|(_, values)| values.is_empty()) {
            bail!("'{name}' has no values");
        }
        let specs = product(template, &lists)?;
        specs.iter().try_for_each(Spec::check)?;
        Ok(specs)
    }
}
