//! The real files, against the counts of their catalogue.

use ubauc::data::labels::Choice;
use ubauc::read::{ReadOptions, read};

use super::real_data;

/// File, rows, largest index, stored entries, classes.
const FILES: [(&str, usize, usize, usize, usize); 20] = [
    ("diabetes/all.svm.zst", 768, 8, 6_135, 2),
    ("diabetes/all_raw.svm.zst", 768, 8, 6_144, 2),
    ("fourclass/all.svm.zst", 862, 2, 1_717, 2),
    ("fourclass/all_raw.svm.zst", 862, 2, 1_724, 2),
    ("german/all.svm.zst", 1_000, 24, 23_001, 2),
    ("german/all_raw.svm.zst", 1_000, 24, 24_000, 2),
    ("splice/train.svm.zst", 1_000, 60, 60_000, 2),
    ("splice/test.svm.zst", 2_175, 60, 130_500, 2),
    ("usps/train.svm.zst", 7_291, 256, 1_866_496, 10),
    ("usps/test.svm.zst", 2_007, 256, 513_792, 10),
    ("a9a/train.svm.zst", 32_561, 123, 451_592, 2),
    ("a9a/test.svm.zst", 16_281, 122, 225_731, 2),
    ("w8a/train.svm.zst", 49_749, 300, 579_586, 2),
    ("w7a/train.svm.zst", 24_692, 300, 288_148, 2),
    ("mnist/test.svm.zst", 10_000, 778, 1_511_219, 10),
    ("ijcnn1/train.svm.zst", 49_990, 22, 649_870, 2),
    ("ijcnn1/test.svm.zst", 91_701, 22, 1_192_113, 2),
    ("sector/train.svm.zst", 6_412, 55_197, 1_045_412, 105),
    ("sector/test.svm.zst", 3_207, 55_197, 524_492, 105),
    ("news20/train.svm.zst", 15_935, 62_061, 1_272_569, 20),
];

#[test]
fn real_files_have_the_rows_entries_and_classes_of_their_catalogue() {
    let Some(dir) = real_data("real_files_have_the_rows_entries_and_classes") else {
        return;
    };
    for (file, n, d, stored, classes) in FILES {
        let examples = read(&dir.join(file), &ReadOptions::default()).unwrap();
        assert_eq!(
            (examples.rows.len(), examples.rows.cols()),
            (n, d),
            "{file}"
        );
        assert_eq!(examples.labels.classes().len(), classes, "{file}");
        // Dense rows store all entries.
        let kept = examples.rows.stored();
        assert!(kept == stored || kept == n * d, "{file}: {kept}");
    }
}

#[test]
fn a9a_has_its_class_counts() {
    let Some(dir) = real_data("a9a_has_its_class_counts") else {
        return;
    };
    let examples = read(&dir.join("a9a/train.svm.zst"), &ReadOptions::default()).unwrap();
    let data = examples.binary(&Choice::Larger).unwrap();
    assert_eq!((data.n_pos(), data.n_neg()), (7_841, 24_720));
    assert_eq!(data.class_names(), &["-1", "1"]);
}
