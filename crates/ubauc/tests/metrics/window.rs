use proptest::prelude::*;
use ubauc::container::{self, Kind};
use ubauc::metrics::{WindowAuc, auc};

use super::pairs::examples;

proptest! {
    #[test]
    fn is_the_auc_of_the_last((scores, positive) in examples(1, 120), size in 1_usize..150) {
        let mut window = WindowAuc::new(size).unwrap();
        for k in 0..scores.len() {
            window.add(scores[k], positive[k]).unwrap();
            let bytes = container::write(Kind::Checkpoint, &window).unwrap();
            let again: WindowAuc = container::read(Kind::Checkpoint, &bytes).unwrap();
            prop_assert_eq!(&again, &window);
            let from = (k + 1).saturating_sub(size);
            prop_assert_eq!(window.len(), k + 1 - from);
            let expected = auc(&scores[from..=k], &positive[from..=k]).ok();
            prop_assert_eq!(window.auc().ok(), expected);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(WindowAuc::new(0).is_err() && WindowAuc::new(10_000_001).is_err());
    let mut window = WindowAuc::new(2).unwrap();
    assert!(window.add(f64::NAN, true).is_err() && window.is_empty());
    for forged in [
        r#"{"size":0,"last":[]}"#,
        r#"{"size":1,"last":[[1.0,true],[2.0,false]]}"#,
    ] {
        assert!(
            serde_json::from_str::<WindowAuc>(forged).is_err(),
            "{forged}"
        );
    }
}
