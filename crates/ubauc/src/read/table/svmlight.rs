//! svmlight as a table of numbers: columns are called by their indices as the file has them, `1`, `2`, …, as those of CSV
//! without a header are, and a feature that a line leaves out is 0.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::super::blocks::Blocks;
use super::super::{ReadOptions, svmlight, whole};
use super::batches::{GivenColumn, GivenKind, TableBatch, TableBatches};
use crate::data::dataset::Examples;
use crate::data::rows::Rows;
use crate::data::table::{Column, Table, Values};
use crate::{Error, Result};

/// All features of rows that were read from svmlight as columns.
pub fn table_of_rows(rows: &Rows, zero_based: bool) -> Result<Table> {
    let first = usize::from(!zero_based);
    let names = (first..first + rows.cols()).map(|index| index.to_string());
    let places: Vec<usize> = (0..rows.cols()).collect();
    table_of(rows, names, &places)
}

/// The columns at these places, ascending or not.
fn table_of(rows: &Rows, names: impl Iterator<Item = String>, places: &[usize]) -> Result<Table> {
    let mut column_at = vec![None; rows.cols()];
    for (column, &place) in places.iter().enumerate() {
        if let Some(at) = column_at.get_mut(place) {
            *at = Some(column);
        }
    }
    let mut columns = vec![vec![0.0; rows.len()]; places.len()];
    for (i, row) in (0..rows.len()).map(|i| (i, rows.row(i))) {
        row.for_each(|j, x| {
            if let Some(column) = column_at[j] {
                columns[column][i] = x;
            }
        });
    }
    let columns = names.zip(columns).map(|(name, values)| Column {
        name,
        values: Values::Number(values.into()),
    });
    Table::new(columns.collect(), rows.len())
}

/// Hands every block to `each`, as the columns of a map, and what that makes of it to `take`.
pub(super) fn batches<T: Send, E: From<Error>>(
    blocks: Blocks<impl Read>,
    options: &TableBatches<'_>,
    each: impl Fn(TableBatch) -> T + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let path = blocks.path().to_path_buf();
    let columns = IndexedColumns::find(&options.columns, options.read.zero_based, &path)?;
    let convert = |examples: Examples| {
        let Examples {
            rows,
            labels,
            notices,
            skipped,
            ..
        } = examples;
        let levels: Vec<String> = labels.classes().iter().map(ToString::to_string).collect();
        Ok(each(TableBatch {
            table: columns.table(&rows)?,
            labels: options.read.label.is_some().then(|| Values::Category {
                codes: labels.codes().to_vec(),
                levels: levels.into(),
            }),
            unreadable: vec![0; options.columns.len()],
            n_skipped: skipped.n,
            skipped: skipped.first,
            notices: Arc::from(notices),
            is_table: false,
        }))
    };
    let mut any = false;
    let read = ReadOptions {
        on_error: options.on_error,
        ..options.read.read_options()
    };
    svmlight::each_block(blocks, &read, convert, |made| {
        any = true;
        take(made)
    })?;
    match any {
        true => Ok(()),
        false => Err(whole(&path, "no rows in the file").into()),
    }
}

/// Columns that are found among the features of svmlight by their names, which are indices.
pub(in super::super) struct IndexedColumns {
    names: Vec<String>,
    /// Where they are among the features.
    places: Vec<usize>,
}

impl IndexedColumns {
    /// Refuses columns that are no numbers, or whose names are no indices.
    pub(in super::super) fn find(
        columns: &[GivenColumn],
        zero_based: bool,
        path: &Path,
    ) -> Result<IndexedColumns> {
        let first = usize::from(!zero_based);
        let place = |GivenColumn { name, kind }: &GivenColumn| {
            let is_number = matches!(kind, GivenKind::Number { .. } | GivenKind::CompleteNumber);
            let index: Option<usize> = name.parse().ok().filter(|_| is_number);
            let index = index.and_then(|index| index.checked_sub(first));
            index.ok_or_else(|| {
                let what = format!(
                    "is svmlight text, whose features have no names but their indices; a table with the column '{name}' \
                     is expected"
                );
                whole(path, what)
            })
        };
        Ok(IndexedColumns {
            places: columns.iter().map(place).collect::<Result<_>>()?,
            names: columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// Of rows as svmlight has them.
    pub(in super::super) fn table(&self, rows: &Rows) -> Result<Table> {
        table_of(rows, self.names.iter().cloned(), &self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::super::batches::table_batches_from;
    use super::super::{OnError, TableOptions};
    use super::*;
    use crate::read::Format;

    fn given(names: &[&str], zero_based: bool) -> TableBatches<'static> {
        let column = |name: &&str| GivenColumn {
            name: name.to_string(),
            kind: GivenKind::Number {
                decimal_comma: false,
            },
        };
        TableBatches {
            columns: names.iter().map(column).collect(),
            read: TableOptions {
                format: Some(Format::Svmlight),
                label: Some("label".to_string()),
                zero_based,
                ..TableOptions::default()
            },
            optional_label: false,
            classes: None,
            notice_others: true,
            on_error: OnError::Stop,
        }
    }

    fn read(text: &str, options: &TableBatches<'_>) -> Result<Vec<TableBatch>> {
        let mut found = Vec::new();
        table_batches_from(
            text.as_bytes(),
            Path::new("t.svm"),
            options,
            |batch| batch,
            |batch| {
                found.push(batch);
                Ok::<_, Error>(())
            },
        )?;
        Ok(found)
    }

    #[test]
    fn features_are_found_by_their_indices_and_zero_where_they_are_left_out() {
        let text = "+1 1:2 3:-4\n-1 2:5\n1 9:7\n";
        let found = read(text, &given(&["3", "1"], false)).unwrap();
        assert_eq!(found.len(), 1);
        let values = |name: &str| found[0].table.column(name).unwrap().values.clone();
        assert_eq!(values("1"), Values::Number(vec![2.0, 0.0, 0.0].into()));
        assert_eq!(values("3"), Values::Number(vec![-4.0, 0.0, 0.0].into()));
        let Some(Values::Category { codes, levels }) = &found[0].labels else {
            panic!("no labels");
        };
        let labels: Vec<&str> = (codes.iter())
            .map(|&code| levels[code as usize].as_str())
            .collect();
        assert_eq!(labels, ["1", "-1", "1"]);
        let found = read("1 0:2 3:4\n0 1:1\n", &given(&["0", "3"], true)).unwrap();
        let first = &found[0].table.columns()[0].values;
        assert_eq!(*first, Values::Number(vec![2.0, 0.0].into()));
    }

    #[test]
    fn wrong_lines_are_left_out_and_counted() {
        let text = "1 1:2\nword 1:2\n0 1:x\n0 1:3\n";
        let options = given(&["1"], false);
        assert!(read(text, &options).is_err());
        let skip = TableBatches {
            on_error: OnError::Skip,
            ..options
        };
        let found = read(text, &skip).unwrap();
        assert_eq!((found.len(), found[0].n_skipped), (1, 2));
        let lines: Vec<u64> = found[0].skipped.iter().map(|s| s.line).collect();
        assert_eq!(lines, [2, 3]);
        let first = &found[0].table.columns()[0].values;
        assert_eq!(*first, Values::Number(vec![2.0, 3.0].into()));
        let none = read("word 1:2\n", &skip).unwrap();
        assert_eq!((none[0].table.len(), none[0].n_skipped), (0, 1));
    }

    #[test]
    fn columns_with_other_names_are_refused() {
        for wrong in ["age", "0", "-1", "1.5", ""] {
            let error = read("1 1:2\n", &given(&[wrong], false)).unwrap_err();
            assert!(error.to_string().contains("t.svm"), "{error}");
            assert!(error.to_string().contains("no names"), "{error}");
        }
    }

    #[test]
    fn a_whole_file_is_the_table_of_its_batches() {
        let csr = crate::data::rows::Csr::new(vec![0, 1, 3], vec![1, 0, 2], vec![5.0, 1.0, 2.0], 3);
        let table = table_of_rows(&Rows::Csr(csr.unwrap()), false).unwrap();
        let found = read("1 2:5\n0 1:1 3:2\n", &given(&["1", "2", "3"], false)).unwrap();
        assert_eq!(found[0].table, table);
    }
}
