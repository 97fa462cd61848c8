//! The page of many classes, from what the commands have found.

use std::path::Path;

use anyhow::{Result, bail};
use ubauc::features::FeatureMap;
use ubauc::many_classes::ClassModel;
use ubauc::metrics::HandTill;
use ubauc::model_file::{AnyModel, SavedClassModel};
use ubauc::report::{ClassPart, ClassesReport, ColumnPart, JudgedOn, Reproduction};

use crate::args::WrongUsage;
use crate::page;
use crate::scoring::shortened;

/// The model of a file that is known to be of many classes.
pub(crate) fn load_many(path: &Path) -> Result<SavedClassModel> {
    match AnyModel::load(path)? {
        AnyModel::Many(saved) => Ok(*saved),
        AnyModel::Two(_) => bail!("{}: a model of two classes", path.display()),
    }
}

/// Refuses an option that a model of two classes would take.
pub(crate) fn refuse_for_many(option: Option<&str>, model: &ClassModel) -> Result<()> {
    let Some(option) = option else {
        return Ok(());
    };
    let what = format!(
        "{option} is for two classes, and the model has {}; train one with --positive CLASS",
        model.classes.len()
    );
    Err(WrongUsage(what).into())
}

/// What was found of scorers on examples of these classes.
pub(crate) fn of_found(
    title: String,
    judged_on: JudgedOn,
    (found, classes): (&HandTill, &[String]),
) -> ClassesReport {
    let aucs = found.class_aucs();
    let part = |(name, (n, auc)): (&String, (&usize, f64))| ClassPart {
        name: name.clone(),
        n: *n,
        auc,
        gap: None,
    };
    let counts = found.class_counts.iter().zip(aucs);
    ClassesReport {
        title,
        judged_on,
        m: found.m,
        train_m: None,
        classes: classes.iter().zip(counts).map(part).collect(),
        pairs: found.pairs.clone(),
        search: Vec::new(),
        certificate: None,
        columns: Vec::new(),
        reproduction: Reproduction {
            commands: vec![page::typed()],
            version: page::version(),
            ..Reproduction::default()
        },
        notes: Vec::new(),
    }
}

/// With what the file of a model says of it.
pub(crate) fn with_model(mut report: ClassesReport, saved: &SavedClassModel) -> ClassesReport {
    let known = &saved.model.classes;
    for class in &mut report.classes {
        let at = known.iter().position(|name| *name == class.name);
        class.gap = at.and_then(|at| saved.certificates[at].gap);
    }
    let lacking: Vec<String> = (known.iter())
        .filter(|name| report.classes.iter().all(|class| class.name != **name))
        .cloned()
        .collect();
    if !lacking.is_empty() {
        let lacking = shortened(&lacking);
        let note = format!("There are no rows of {lacking}; pairs with them are left out.");
        report.notes.push(note);
    }
    report.certificate = Some(saved.certificate.clone());
    let first = saved.model.scorers.first().map(|scorer| &scorer.features);
    if let Some(FeatureMap::Columns(map)) = first {
        report.columns = ColumnPart::of_map(map);
    }
    report.reproduction.parameters = page::parameters(&saved.algorithm, &saved.parameters);
    report
}
