//! What `ubauc train` answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use ubauc::algorithm::Trace;
use ubauc::document::numbers::{interval, number, thousands};
use ubauc::document::{Document, Facts};
use ubauc::metrics::Auc;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::tune::{MapTrial, Setting, TunedMaps, Verdict};

use super::online::OnlineReport;
use crate::column_report::FeaturesReport;
use crate::map_report;
pub(super) use crate::map_report::MapReport;
use crate::output;

#[derive(Serialize)]
pub(super) struct Seconds {
    pub(super) read: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tune: Option<f64>,
    pub(super) solve: f64,
    pub(super) total: f64,
}

/// One point of the search.
#[derive(Serialize)]
pub(super) struct SearchReport {
    map: String,
    #[serde(flatten)]
    setting: Setting,
    gamma: f64,
    auc: f64,
    se: f64,
    folds: usize,
    collapsed: bool,
    chosen: bool,
}

impl SearchReport {
    pub(super) fn new(tuned: &TunedMaps) -> Vec<SearchReport> {
        let mut reports = Vec::new();
        for (t, MapTrial { map, tuned: of, .. }) in tuned.trials.iter().enumerate() {
            let points = of.points.iter().enumerate();
            reports.extend(points.map(|(k, point)| SearchReport {
                map: map.to_string(),
                setting: point.setting,
                gamma: point.gamma,
                auc: point.judged.auc,
                se: point.judged.standard_error,
                folds: point.judged.folds,
                collapsed: point.collapsed,
                chosen: t == tuned.chosen && k == of.chosen,
            }));
        }
        reports
    }
}

#[derive(Serialize)]
pub(super) struct TestAuc {
    auc: f64,
    ci95: [f64; 2],
    n_pos: usize,
    n_neg: usize,
}

impl From<Auc> for TestAuc {
    fn from(found: Auc) -> TestAuc {
        TestAuc {
            auc: found.auc,
            ci95: found.ci95,
            n_pos: found.n_pos,
            n_neg: found.n_neg,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) algorithm: String,
    pub(super) solver: Option<String>,
    pub(super) n: usize,
    pub(super) n_pos: usize,
    pub(super) n_neg: usize,
    pub(super) d: usize,
    pub(super) classes: [String; 2],
    /// Lines of the training file that were left out.
    pub(super) skipped: usize,
    /// Of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) features: Option<FeaturesReport>,
    pub(super) beta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) softness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) class_weight: Option<ClassWeight>,
    /// Of a rival, by the names of the options; apart, since OPAUC's lambda is no threshold.
    #[serde(rename = "parameters", skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<BTreeMap<&'static str, Value>>,
    pub(super) least_squares: Option<String>,
    pub(super) scale: String,
    pub(super) intercept: f64,
    pub(super) objective: Option<f64>,
    pub(super) dual: Option<f64>,
    pub(super) gap: Option<f64>,
    pub(super) lambda: Option<f64>,
    pub(super) lambda_interval: Option<[f64; 2]>,
    pub(super) tied: Option<u64>,
    pub(super) newton: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rounds: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) passes: Option<usize>,
    #[serde(flatten)]
    pub(super) online: Option<OnlineReport>,
    pub(super) stop: &'static str,
    pub(super) train_auc: f64,
    pub(super) train_ci95: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test_auc: Option<TestAuc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<PathBuf>,
    /// The page, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<PathBuf>,
    /// What was tried, if the parameters were chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search: Option<Vec<SearchReport>>,
    /// The best point of every map that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) maps: Option<Vec<MapReport>>,
    /// Maps that were not tried, as the table is wide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<String>,
    /// Beside logistic regression, if the parameters were chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<Trace>,
    pub(super) seconds: Seconds,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let count = |n: usize| thousands(n as u64);
        let [negative, positive] = &self.classes;
        let mut facts = Facts::default();
        let solver = self.solver.as_deref();
        let solver = solver.map_or(String::new(), |s| format!(" ({s})"));
        facts.add("algorithm", format!("{}{solver}", self.algorithm));
        facts.add(
            "examples",
            format!("{}, {} features", count(self.n), count(self.d)),
        );
        let (n_pos, n_neg) = (count(self.n_pos), count(self.n_neg));
        facts.add("positive", format!("{n_pos} (class {positive})"));
        facts.add("negative", format!("{n_neg} (class {negative})"));
        let named = |name: &str, value: f64| format!("{name} {value}");
        let mut parameters: Vec<String> = Vec::new();
        parameters.extend(self.beta.map(|beta| named("beta", beta)));
        parameters.extend(self.gamma.map(|gamma| named("gamma", gamma)));
        parameters.extend(self.softness.map(|softness| named("softness", softness)));
        let weight = self.class_weight.and_then(ClassWeight::described);
        parameters.extend(weight);
        let own = self.own.iter().flatten();
        parameters.extend(own.map(|(name, value)| format!("{name} {value}")));
        let least_squares = self.least_squares.as_deref();
        parameters.extend(least_squares.map(|kind| format!("{kind} least squares")));
        parameters.push(format!("scale {}", self.scale));
        facts.add("parameters", parameters.join(", "));
        if let Some(objective) = self.objective {
            facts.add("objective", format!("{objective:.9}"));
        }
        if let Some(dual) = self.dual {
            facts.add("lower bound", format!("{dual:.9}"));
        }
        if let Some(gap) = self.gap {
            facts.add("gap", format!("certified to within {gap:.1e}"));
        }
        if let Some(lambda) = self.lambda {
            facts.add("threshold", number(lambda));
        }
        if let Some(tied) = self.tied {
            facts.add("tied at it", thousands(tied));
        }
        if let Some(online) = &self.online {
            facts.add("steps", online);
        }
        let steps = match (self.newton, self.passes) {
            (Some(n), _) => format!("{n} Newton steps"),
            (_, Some(n)) => format!("{n} passes"),
            _ => format!("{} rounds", self.rounds.unwrap_or(0)),
        };
        facts.add("stopped", format!("{} after {steps}", self.stop));
        let with = |auc: f64, ci95| format!("{} {}", number(auc), interval(ci95));
        facts.add("training AUC", with(self.train_auc, self.train_ci95));
        if let Some(test) = &self.test_auc {
            facts.add("test AUC", with(test.auc, test.ci95));
        }
        let features = self.features.as_ref();
        if let Some(pairs) = features.and_then(FeaturesReport::pairs_line) {
            facts.add("pairs", pairs);
        }
        if let Some(path) = &self.model {
            facts.add("model", path.display());
        }
        if let Some(path) = &self.report {
            facts.add("report", path.display());
        }
        let Seconds {
            read, solve, total, ..
        } = self.seconds;
        facts.add(
            "seconds",
            format!("{total:.2} (reading {read:.2}, solving {solve:.2})"),
        );
        let mut document = Document::default();
        // Where all columns are numbers there is nothing to tell of them.
        if let Some(features) = features.filter(|features| features.is_mapped) {
            document = document.with(features.table());
        }
        if let Some(maps) = self.maps.as_deref().filter(|maps| maps.len() > 1) {
            document = document.with(map_report::table(maps, &self.left_out));
        }
        document.with(facts)
    }
}
