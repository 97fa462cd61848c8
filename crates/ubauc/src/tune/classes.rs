//! Many classes: one loss and one γ for the scorers of all, by the mean over classes and folds.
//!
//! A search for each class would cost K times as much, and choose by a K-th of the evidence. Instead the entries of the search
//! are pairs of a class and a fold: entry k trains the scorer of class k mod C without fold k mod F, and judges it on that fold
//! by its AUC against the others, each of which counts alike ([`crate::many_classes`]). The mean over entries
//! estimates Hand and Till's M. With C classes and F folds there are C⌈F/C⌉ entries, so every class occurs equally often, every
//! fold nearly so, and the cost is that of a search over two classes with as many folds.
//!
//! Classes differ in difficulty, which is no error of the mean: its variance is Σ_c v_c/(n_c C²), v_c the variance of the n_c
//! entries of class c, and unknown if a class has one entry.
//!
//! C is at most [`MOST_SEARCHED`]: of more classes those in the middle of as many equal parts of the classes by size are
//! taken. A class with fewer examples than folds is not among them; it is trained with what the others chose. Folds have a
//! share of every class. The weights a_i are those of all examples, not those of a training part, which differ by one
//! example a class at most. The map of a table is learned with s_i, as that of the model is.

use std::borrow::Cow;

use super::equal_rows::EqualRows;
use super::folds::{LocalFolds, Place, Sizes, Source, Training, Unseen};
use super::parts::Parts;
use super::{Folds, TuneInputs, TuneParams, Tuned, tune_over};
use crate::data::dataset::Dataset;
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::columns::Learn;
use crate::glass_box::LearnedMap;
use crate::many_classes::{ClassProblem, Classes};
use crate::solver::ba_ubauc::Fit;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::shards::Weighting;
use crate::{Error, Result};

/// More classes do not take part in a search.
pub(super) const MOST_SEARCHED: usize = 10;

/// What the scorers learn from.
#[derive(Clone, Copy)]
pub enum ClassRows<'a> {
    /// Features; their labels are not read.
    Rows(&'a Dataset),
    /// A table, of which a map is learned without each fold.
    Table(&'a Table, Learn<'a>),
}

/// Chooses the loss and γ for the scorers of all classes. Of the inputs only progress and stop are read: weights are those of
/// the classes. Nothing is held out, and there is no verdict.
pub fn tune_classes(
    rows: ClassRows<'_>,
    classes: &Classes<'_>,
    inputs: &TuneInputs<'_>,
    params: &TuneParams,
) -> Result<Tuned> {
    params.check()?;
    let parts = Parts::of_classes(classes.labels().codes(), classes.weights(), params)?;
    let searched = searched(classes, &parts, params)?;
    let problems: Vec<ClassProblem> = searched.iter().map(|&c| classes.problem(c)).collect();
    let datasets: Vec<Dataset> = match rows {
        ClassRows::Rows(data) => (problems.iter())
            .map(|problem| data.relabelled(problem.labels.clone()))
            .collect::<Result<_>>()?,
        ClassRows::Table(..) => Vec::new(),
    };
    let learn = |_: Option<u32>, weights: &[f64]| match rows {
        ClassRows::Table(table, learn) => {
            learn(table, Some(&classes.weights_where(weights))).map(LearnedMap::from)
        }
        ClassRows::Rows(_) => Err(Error::Empty),
    };
    let source = |at: usize, labels| match rows {
        ClassRows::Rows(_) => Source::Rows(&datasets[at]),
        ClassRows::Table(table, _) => Source::Table {
            table,
            labels,
            learn: &learn,
        },
    };
    let of_class = |(at, problem)| {
        let ClassProblem { labels, weights }: &ClassProblem = problem;
        let inputs = TuneInputs {
            weights: weights.as_deref(),
            ..TuneInputs::default()
        };
        let labels: &Binary = labels;
        LocalFolds::of_held_out(source(at, labels), &inputs, params, &parts)
    };
    let folds: Vec<LocalFolds<'_>> = problems.iter().enumerate().map(of_class).collect();
    let folds = ClassFolds::new(&folds, &parts, params)?;
    tune_over(&folds, params, inputs.progress, inputs.stop)
}

/// The classes that take part, that of middle size first: it decides most of the race.
fn searched(classes: &Classes<'_>, parts: &Parts, params: &TuneParams) -> Result<Vec<usize>> {
    let mut counts = vec![0; classes.count()];
    for &i in &parts.kept {
        counts[classes.labels().codes()[i] as usize] += 1;
    }
    let mut enough: Vec<usize> = (0..counts.len())
        .filter(|&c| counts[c] >= params.folds as usize)
        .collect();
    enough.sort_by_key(|&c| counts[c]);
    let n = enough.len();
    let taken = n.min(MOST_SEARCHED);
    if taken == 0 {
        let what = format!(
            "no class has {} examples, one for each fold: is the label the right column? If it is, use fewer folds, or give beta and gamma",
            params.folds
        );
        return Err(Error::Classes { what });
    }
    let mut taken: Vec<usize> = (0..taken)
        .map(|part| enough[(2 * part + 1) * n / (2 * taken)])
        .collect();
    let middle = taken.len() / 2;
    taken.swap(0, middle);
    Ok(taken)
}

/// Entries (class, fold), which the search takes for folds.
struct ClassFolds<'a> {
    of_class: &'a [LocalFolds<'a>],
    entries: Vec<Entry<'a>>,
    sizes: Sizes,
}

struct Entry<'a> {
    class: usize,
    fold: u32,
    training: Training<'a>,
}

impl<'a> ClassFolds<'a> {
    fn new(
        of_class: &'a [LocalFolds<'a>],
        parts: &Parts,
        params: &TuneParams,
    ) -> Result<ClassFolds<'a>> {
        let classes = of_class.len();
        let folds = parts.count() as usize;
        let count = classes * folds.div_ceil(classes);
        let entry = |k: usize| {
            let (class, fold) = (k % classes, (k % folds) as u32);
            let training = of_class[class].training(Some(fold))?;
            Ok(Entry {
                class,
                fold,
                training,
            })
        };
        let entries = (0..count).map(entry).collect::<Result<Vec<_>>>()?;
        let cols = entries.iter().map(|e| e.training.rows().cols()).max();
        let has_hinge = params.settings.iter().any(|s| !s.loss().is_smooth());
        let unavoidable = match entries.first().filter(|_| has_hinge) {
            Some(first) => {
                let rows = first.training.rows();
                EqualRows::of(rows, &parts.kept).unavoidable(rows.cols())
            }
            None => 0,
        };
        // The margin of the race is that of a class of mean size.
        let n_pos = of_class.iter().map(|of| of.sizes().n_pos).sum::<usize>() / classes;
        let sizes = Sizes {
            folds: count as u32,
            n_pos,
            n_neg: parts.kept.len() - n_pos,
            cols: cols.unwrap_or(0),
            unavoidable,
        };
        Ok(ClassFolds {
            of_class,
            entries,
            sizes,
        })
    }

    fn entry(&self, k: u32) -> (&LocalFolds<'a>, &Entry<'a>) {
        let entry = &self.entries[k as usize];
        (&self.of_class[entry.class], entry)
    }
}

impl Folds for ClassFolds<'_> {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn path(&self, without: u32, weighting: Weighting) -> Result<Path<'_>> {
        let (folds, entry) = self.entry(without);
        folds.path_of(&entry.training, weighting)
    }

    fn place(&self, fold: u32) -> Place {
        let Entry { class, fold, .. } = self.entries[fold as usize];
        Place { class, fold }
    }

    fn judge(&self, fold: u32, fit: &Fit) -> Result<Unseen> {
        let (folds, entry) = self.entry(fold);
        folds.judge(entry.fold, fit)
    }

    /// The scorer of one class is no start for that of another.
    fn carry<'w>(&self, _weights: &'w [f64], _to: u32) -> Option<Cow<'w, [f64]>> {
        None
    }
}
