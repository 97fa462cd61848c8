//! The examples of `--test`, read before the long work begins.

use std::path::Path;

use anyhow::{Context, Result};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::{Binary, Labels};
use ubauc::data::rows::Rows;
use ubauc::data::table::Table;
use ubauc::features::FeatureMap;
use ubauc::many_classes::ClassModel;
use ubauc::model::Model;
use ubauc::read::table::TableBatch;

use super::TrainArgs;
use crate::group_arg::{NoGroups, ReadRows, read_groups};
use crate::input::Wanted;
use crate::output::Output;
use crate::scoring;
use crate::scoring::classes::check_classes;
use crate::scoring::table::{LabelTexts, TableFile};
use crate::training::{Mapped, Training};

/// Examples to judge a model by.
pub(super) enum TestFile {
    Numbers(Dataset),
    /// By the kinds of the columns of the training file; one table after the other.
    Tables {
        batches: Vec<Table>,
        labels: Binary,
    },
}

impl TestFile {
    /// The file of `--test`, if there is one.
    pub(super) fn read_optional(
        args: &TrainArgs,
        training: &Training,
        output: Output,
    ) -> Result<Option<TestFile>> {
        let read = |path| TestFile::read(args, path, training, output);
        args.test.as_deref().map(read).transpose()
    }

    fn read(
        args: &TrainArgs,
        path: &Path,
        training: &Training,
        output: Output,
    ) -> Result<TestFile> {
        let in_file = || path.display().to_string();
        let TestRows { rows, labels } = TestRows::read(args, path, training, output)?;
        let labels = training.sides.apply(&labels).with_context(in_file)?;
        Ok(match rows {
            RawRows::Numbers(rows, names) => {
                TestFile::Numbers(Dataset::new(rows, labels, names).with_context(in_file)?)
            }
            RawRows::Tables(batches) => TestFile::Tables { batches, labels },
        })
    }

    /// What a model makes of them: scores and classes.
    pub(super) fn scored(&self, model: &Model) -> Result<(Vec<f64>, &[bool])> {
        Ok(match self {
            TestFile::Numbers(data) => (model.scores(data.rows())?, data.positive()),
            TestFile::Tables { batches, labels } => {
                let scores = batches.iter().map(|table| model.scores_table(table));
                let scores = scores.collect::<ubauc::Result<Vec<_>>>()?;
                (scores.concat(), labels.positive.as_slice())
            }
        })
    }
}

impl TrainArgs {
    /// The groups of the examples of `--test`, where the training examples come in groups and the file has their column.
    pub(super) fn groups_of_test(
        &self,
        test: Option<&TestFile>,
        training: &Training,
        output: Output,
    ) -> Result<Option<Vec<u32>>> {
        let (Some(path), Some(column), Some(test)) = (&self.test, &self.training.group, test)
        else {
            return Ok(None);
        };
        let (rows, n) = match (test, &training.mapped) {
            (TestFile::Tables { labels, .. }, Some(mapped)) => {
                let model = reader(training, mapped);
                let file = self.test_table(path, &model, mapped);
                let label = self.training.format.label();
                (file.rows(Some(label), &[]), labels.positive.len())
            }
            (TestFile::Tables { labels, .. }, None) => (ReadRows::default(), labels.positive.len()),
            (TestFile::Numbers(data), _) => {
                let (label, on_error) = (self.training.format.label(), self.training.on_error);
                let rows = ReadRows::numbers(data.names(), label, on_error.into());
                (rows, data.rows().len())
            }
        };
        match read_groups(path, column, &self.training.format, (&rows, n)) {
            Ok(groups) => Ok(Some(groups)),
            Err(error) if error.is::<NoGroups>() => {
                output.note(format!(
                    "note: no groups of the test examples ({error}); their interval is that of independent ones"
                ));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The file of `--test` as a table.
    fn test_table<'a>(
        &'a self,
        path: &'a Path,
        model: &'a Model,
        mapped: &'a Mapped,
    ) -> TableFile<'a> {
        let others = [&self.training.weight, &self.training.group];
        let others = others.into_iter().flatten().cloned().collect();
        TableFile {
            path,
            model,
            map: &mapped.learned.map,
            format: &self.training.format,
            ignore: [self.training.columns.ignore(), others].concat(),
            on_error: self.training.on_error.into(),
        }
    }
}

/// A model without weights, which reading does not need.
fn reader(training: &Training, mapped: &Mapped) -> Model {
    Model {
        features: FeatureMap::Columns(mapped.learned.map.clone()),
        reading: training.reading.clone(),
        ..Model::default()
    }
}

/// Examples with labels as the file has them, of any number of classes.
pub(super) struct TestRows {
    rows: RawRows,
    pub(super) labels: Labels,
}

enum RawRows {
    Numbers(Rows, Vec<String>),
    Tables(Vec<Table>),
}

impl TestRows {
    fn read(
        args: &TrainArgs,
        path: &Path,
        training: &Training,
        output: Output,
    ) -> Result<TestRows> {
        match &training.mapped {
            Some(mapped) => read_table(args, path, (training, mapped), output),
            None => read_numbers(args, path, training, output)
                .with_context(|| path.display().to_string()),
        }
    }

    /// The file of `--test`, if there is one, with two or more of these classes and no others.
    pub(super) fn of_classes(
        args: &TrainArgs,
        (training, classes): (&Training, &[String]),
        output: Output,
    ) -> Result<Option<TestRows>> {
        let Some(path) = &args.test else {
            return Ok(None);
        };
        let read = TestRows::read(args, path, training, output)?;
        check_classes(&read.labels, classes).with_context(|| path.display().to_string())?;
        Ok(Some(read))
    }

    /// A column of scores for every class.
    pub(super) fn scored(&self, model: &ClassModel) -> Result<Vec<Vec<f64>>> {
        let batches = match &self.rows {
            RawRows::Numbers(rows, _) => return Ok(model.scores(rows)?),
            RawRows::Tables(batches) => batches,
        };
        let mut scores = vec![Vec::new(); model.classes.len()];
        for table in batches {
            let scored = model.scores_table(table)?;
            for (all, of_batch) in scores.iter_mut().zip(scored) {
                all.extend(of_batch);
            }
        }
        Ok(scores)
    }
}

fn read_table(
    args: &TrainArgs,
    path: &Path,
    (training, mapped): (&Training, &Mapped),
    output: Output,
) -> Result<TestRows> {
    let model = reader(training, mapped);
    let file = args.test_table(path, &model, mapped);
    let label = args.training.format.label();
    let (mut batches, mut labels) = (Vec::new(), LabelTexts::default());
    let take = |batch: TableBatch| {
        batches.push(batch.table);
        labels.add(batch.labels, &label)
    };
    file.batches(Some(label.clone()), &[], output, |batch| batch, take)?;
    let in_file = || path.display().to_string();
    Ok(TestRows {
        rows: RawRows::Tables(batches),
        labels: labels.finish().with_context(in_file)?,
    })
}

fn read_numbers(
    args: &TrainArgs,
    path: &Path,
    training: &Training,
    output: Output,
) -> Result<TestRows> {
    let names = training.data.names();
    let wanted = Wanted {
        columns: (!names.is_empty()).then(|| names.to_vec()),
        missing_zero: training.many.is_none(),
        on_error: args.training.on_error.into(),
        ..Wanted::default()
    };
    let examples = args.training.format.read(path, wanted, output)?;
    let cols = training.data.rows().cols();
    scoring::note_beyond(cols, examples.rows.cols(), path, output);
    Ok(TestRows {
        rows: RawRows::Numbers(examples.rows, examples.names),
        labels: examples.labels,
    })
}
