//! Real data, from the directory `$UBAUC_DATA` (`a9a/train.svm.zst`, …). Without it these tests say so and pass.

use ubauc::data::labels::Class;
use ubauc::read::ReadOptions;

use crate::read::real_data;

pub(crate) struct Row {
    pub(crate) label: f64,
    /// (index from 0, value).
    pub(crate) entries: Vec<(usize, f64)>,
}

/// The rows of a file, or `None` (said on stderr) when there is no `$UBAUC_DATA`.
pub(crate) fn read(test: &str, name: &str) -> Option<Vec<Row>> {
    let path = real_data(test)?.join(name);
    let examples = ubauc::read::read(&path, &ReadOptions::default()).unwrap();
    let (codes, classes) = (examples.labels.codes(), examples.labels.classes());
    let row = |i: usize| {
        let Class::Number(label) = classes[codes[i] as usize] else {
            panic!("svmlight labels are numbers");
        };
        let entries = examples.rows.row(i).entries().collect();
        Row { label, entries }
    };
    Some((0..codes.len()).map(row).collect())
}
