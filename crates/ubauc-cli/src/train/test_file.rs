//! The examples of `--test`, read before the long work begins.

use std::path::Path;

use anyhow::{Context, Result};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::table::Table;
use ubauc::features::FeatureMap;
use ubauc::model::Model;
use ubauc::read::table::TableBatch;

use super::TrainArgs;
use crate::group_arg::read_groups;
use crate::input::Wanted;
use crate::output::Output;
use crate::scoring::table::{LabelTexts, TableFile};
use crate::scoring::{self, ClassSides};
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
        match &training.mapped {
            Some(mapped) => read_table(args, path, (training, mapped), output),
            None => read_numbers(args, path, (&training.data, &training.sides), output)
                .with_context(in_file)
                .map(TestFile::Numbers),
        }
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
    /// The groups of the examples of `--test`, where the training examples come in groups and the file says which.
    pub(super) fn groups_of_test(&self, n: usize, output: Output) -> Option<Vec<u32>> {
        let (path, column) = (self.test.as_ref()?, self.training.group.as_ref()?);
        match read_groups(path, column, &self.training.format, n) {
            Ok(groups) => Some(groups),
            Err(error) => {
                output.note(format!(
                    "note: no groups of the test examples ({error}); their interval is that of independent ones"
                ));
                None
            }
        }
    }
}

fn read_table(
    args: &TrainArgs,
    path: &Path,
    (training, mapped): (&Training, &Mapped),
    output: Output,
) -> Result<TestFile> {
    // All but the weights, which reading does not need.
    let model = Model {
        features: FeatureMap::Columns(mapped.learned.map.clone()),
        reading: training.reading.clone(),
        ..Model::default()
    };
    let others = [&args.training.weight, &args.training.group];
    let others = others.into_iter().flatten().cloned().collect();
    let file = TableFile {
        path,
        model: &model,
        map: &mapped.learned.map,
        format: &args.training.format,
        ignore: [args.training.columns.ignore(), others].concat(),
        on_error: args.training.on_error.into(),
    };
    let label = args.training.format.label();
    let (mut batches, mut labels) = (Vec::new(), LabelTexts::default());
    let take = |batch: TableBatch| {
        batches.push(batch.table);
        labels.add(batch.labels, &label)
    };
    file.batches(Some(label.clone()), &[], output, |batch| batch, take)?;
    let in_file = || path.display().to_string();
    let labels = labels.finish().with_context(in_file)?;
    let labels = training.sides.apply(&labels).with_context(in_file)?;
    Ok(TestFile::Tables { batches, labels })
}

fn read_numbers(
    args: &TrainArgs,
    path: &Path,
    (data, sides): (&Dataset, &ClassSides),
    output: Output,
) -> Result<Dataset> {
    let names = data.names();
    let wanted = Wanted {
        columns: (!names.is_empty()).then(|| names.to_vec()),
        missing_zero: true,
        ..Wanted::default()
    };
    let examples = args.training.format.read(path, wanted, output)?;
    scoring::note_beyond(data.rows().cols(), examples.rows.cols(), path, output);
    let labels = sides.apply(&examples.labels)?;
    Ok(Dataset::new(examples.rows, labels, examples.names)?)
}
