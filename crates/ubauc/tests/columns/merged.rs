//! Parts of a table, merged in any order, give the map of the whole, to the last bit.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::features::columns::{ColumnMap, TableSummary};

use super::{category, number, random_table, rows_of, table};

proptest! {
    #[test]
    fn the_map_of_parts_is_that_of_the_whole(table in random_table(), cuts in prop::collection::vec(0usize..40, 2)) {
        let n = table.len();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (n + 1)).collect();
        cuts.sort_unstable();
        let spans = [0..cuts[0], cuts[0]..cuts[1], cuts[1]..n];
        let parts = spans.map(|span| rows_of(&table, &span.collect::<Vec<_>>()));
        let whole = serde_json::to_string(&ColumnMap::learn(&table, None).unwrap()).unwrap();
        let sent = parts.each_ref().map(|part| {
            serde_json::to_vec(&TableSummary::of(part, None).unwrap()).unwrap()
        });
        for order in [[0, 1, 2], [2, 0, 1]] {
            let mut merged = TableSummary::of(&parts[order[0]], None).unwrap();
            for &k in &order[1..] {
                let part: TableSummary<'_> = serde_json::from_slice(&sent[k]).unwrap();
                part.check().unwrap();
                merged.merge(&part).unwrap();
            }
            let map = ColumnMap::of_summary(&merged).unwrap();
            prop_assert_eq!(serde_json::to_string(&map).unwrap(), whole.clone());
        }
        // A map is read back as it was.
        let back: ColumnMap = serde_json::from_str(&whole).unwrap();
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), whole);
    }
}

#[test]
fn parts_must_have_the_same_columns() {
    let a = table(vec![number("x", &[1.0]), category("c", &["a"])]);
    let of = |columns| table(columns);
    let turned = of(vec![category("c", &["b"]), number("x", &[2.0])]);
    let mut summary = TableSummary::of(&a, None).unwrap();
    summary
        .merge(&TableSummary::of(&turned, None).unwrap())
        .unwrap();
    assert_eq!(summary.rows, 2);
    let fewer = of(vec![number("x", &[1.0])]);
    let other = of(vec![number("x", &[1.0]), number("d", &[1.0])]);
    let kind = of(vec![number("x", &[1.0]), number("c", &[1.0])]);
    let errors = [&fewer, &other, &kind].map(|part| {
        let part = TableSummary::of(part, None).unwrap();
        summary.clone().merge(&part).unwrap_err()
    });
    assert!(matches!(errors[0], Error::Length { .. }));
    assert!(matches!(&errors[1], Error::Column { name } if name == "c"));
    assert!(matches!(&errors[2], Error::ColumnKind { name, .. } if name == "c"));
}
