//! Columns of the file that are copied before the scores (`--id`): as they are, or where the model reads them too as it read them.

use anyhow::{Context, Result, bail};
use ubauc::data::calendar::{DAY, date};
use ubauc::data::table::Values;
use ubauc::document::csv;
use ubauc::features::FeatureMap;
use ubauc::model::Model;
use ubauc::read::table::{
    GivenColumn, GivenKind, TableBatch, TableBatches, TableOptions, table_batches,
};

use super::{Scored, Scorer, Sink};
use crate::args::WrongUsage;
use crate::met::{About, Met};
use crate::output::Output;

/// How they are read: as they are. The column of labels is read anyway.
pub(super) fn columns(ids: &[String], label: Option<&str>) -> Vec<GivenColumn> {
    let others = ids.iter().filter(|id| label != Some(id.as_str()));
    others.map(|id| given(id, GivenKind::Text)).collect()
}

fn given(name: &str, kind: GivenKind) -> GivenColumn {
    GivenColumn {
        name: name.to_string(),
        kind,
    }
}

/// What every line of a batch begins with; nothing without columns to copy.
pub(super) fn of_batch(
    batch: &TableBatch,
    ids: &[String],
    label: Option<&str>,
) -> Result<Vec<String>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    if !batch.is_table {
        bail!("--id copies columns of a table, and svmlight text has none");
    }
    let mut leads = vec![String::new(); batch.table.len()];
    for id in ids {
        let values = match batch.table.column(id) {
            Some(column) => Some(&column.values),
            None => batch.labels.as_ref().filter(|_| label == Some(id.as_str())),
        };
        let values = values.with_context(|| format!("--id {id}: no such column"))?;
        for (i, lead) in leads.iter_mut().enumerate() {
            if !values.is_missing(i) {
                *lead += &csv::field(&text(values, i));
            }
            lead.push(',');
        }
    }
    Ok(leads)
}

/// Of a column that the model reads as numbers or times, the shortest text.
fn text(values: &Values, i: usize) -> String {
    match values {
        Values::Number(numbers) => numbers[i].to_string(),
        Values::Category { codes, levels } => levels[codes[i] as usize].clone(),
        Values::Time(seconds) => {
            // To a thousandth of a second, which is what numbers of this size have.
            let thousandths = (seconds[i] * 1e3).round();
            let of_day = thousandths.rem_euclid(DAY * 1e3) as u64;
            let day = date((thousandths / 1e3 / DAY).floor() * DAY);
            let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
            let (whole, part) = (of_day / 1000 % 60, of_day % 1000);
            match (of_day, part) {
                (0, _) => day,
                (_, 0) => format!("{day}T{hours:02}:{minutes:02}:{whole:02}"),
                _ => format!("{day}T{hours:02}:{minutes:02}:{whole:02}.{part:03}"),
            }
        }
    }
}

/// Scores a table of complete numbers, with some of its columns copied.
pub(super) fn score_numbers(
    scorer: &Scorer,
    model: &Model,
    sink: &mut Sink<'_>,
    output: Output,
) -> Result<()> {
    let args = sink.args;
    let refuse = |what: &str| Err(WrongUsage(format!("--id: {what}")).into());
    if args.missing_zero {
        return refuse("cannot be used with --missing-zero");
    }
    if model.names.is_empty() || matches!(model.features, FeatureMap::Hash { .. }) {
        return refuse("the model does not know columns by their names");
    }
    let path = args.input.file.as_path();
    let label = args.format.label_of(model);
    let mut of_model: Vec<GivenColumn> = (model.names.iter())
        .map(|name| given(name, GivenKind::CompleteNumber))
        .collect();
    for column in columns(&scorer.ids, Some(&label)) {
        if !model.names.contains(&column.name) {
            of_model.push(column);
        }
    }
    let each = |batch: TableBatch| -> Result<Scored> {
        let lead = of_batch(&batch, &scorer.ids, Some(&label))?;
        Ok(scorer.scored_rows(&batch.table.numbers(&model.names)?, &lead)?)
    };
    let mut met = Met::new(path, output);
    let done = args.format.watched(path, output, |advance| {
        let options = TableBatches {
            columns: of_model,
            optional_label: true,
            read: TableOptions {
                label: Some(label.clone()),
                ignore: args.columns.ignore(),
                progress: Some(advance),
                ..args.format.table_options()
            },
            classes: None,
            notice_others: true,
            on_error: args.columns.on_error(),
        };
        let each = |batch: TableBatch| (About::of(&batch), each(batch));
        table_batches(path, &options, each, |(about, scored)| {
            met.notices(&about.notices);
            met.add(about);
            sink.put(&scored.with_context(|| path.display().to_string())?)
        })
    });
    met.tell(&[]);
    done
}
