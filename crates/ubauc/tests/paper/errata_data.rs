//! E13, E14: the experiments, against the data themselves.

use std::collections::BTreeSet;

use rand::seq::SliceRandom;
use ubauc::objective::auc_risk::auc_risk;

use super::cases::{generator, sign};
use super::real_data::{Row, read};

/// Table 1: 389 + 389 rows of diabetes are more than there are; 105 classes of sector have no equal halves.
#[test]
fn e13_table1_counts_do_not_fit_the_data() {
    let test = "e13_table1_counts_do_not_fit_the_data";
    if let Some(rows) = read(test, "diabetes/all.svm.zst") {
        assert_eq!(rows.len(), 384 + 384);
        assert!(389 + 389 > rows.len());
    }
    if let Some(rows) = read(test, "sector/train.svm.zst") {
        let labels: BTreeSet<i64> = rows.iter().map(|row| row.label as i64).collect();
        assert_eq!((labels.len(), labels.len() % 2), (52 + 53, 1));
    }
}

/// Table 2 gives the linear SVM .8213 ± .0064 on a9a. Tuned, it is far above.
#[test]
fn e14_a_tuned_svm_beats_the_printed_one() {
    let test = "e14_a_tuned_svm_beats_the_printed_one";
    let Some(train) = read(test, "a9a/train.svm.zst") else {
        return;
    };
    let Some(held_out) = read(test, "a9a/test.svm.zst") else {
        return;
    };
    let (fit, validate) = train.split_at(train.len() * 4 / 5);
    let auc_of = |c: f64| auc(&svm(fit, c), validate);
    let c = [0.001, 0.01, 0.1, 1.0]
        .into_iter()
        .reduce(|a, b| if auc_of(b) > auc_of(a) { b } else { a });
    let c = c.unwrap();
    let reached = auc(&svm(&train, c), &held_out);
    assert_eq!(format!("{reached:.4}"), "0.9006", "C = {c}"); // as docs/paper.md says
    assert!(reached > 0.8213 + 2.0 * 0.0064);
}

const D: usize = 124; // a9a's 123 features and a bias

/// min ½‖w‖² + C Σ [1 − y w·x]₊ by dual coordinate descent (Hsieh et al. 2008, Algorithm 1).
fn svm(rows: &[Row], c: f64) -> [f64; D] {
    let mut random = generator(14);
    let mut w = [0.0; D];
    let mut alpha = vec![0.0; rows.len()];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for _ in 0..40 {
        order.shuffle(&mut random);
        for &i in &order {
            let y = sign(rows[i].label > 0.0);
            let curvature = 1.0 + rows[i].entries.iter().map(|(_, v)| v * v).sum::<f64>();
            let slope = y * score(&w, &rows[i]) - 1.0;
            let next = f64::clamp(alpha[i] - slope / curvature, 0.0, c);
            let step = (next - alpha[i]) * y;
            alpha[i] = next;
            rows[i].entries.iter().for_each(|&(k, v)| w[k] += step * v);
            w[D - 1] += step;
        }
    }
    w
}

fn score(w: &[f64; D], row: &Row) -> f64 {
    w[D - 1] + row.entries.iter().map(|&(k, v)| w[k] * v).sum::<f64>()
}

fn auc(w: &[f64; D], rows: &[Row]) -> f64 {
    let scores: Vec<f64> = rows.iter().map(|row| score(w, row)).collect();
    let positive: Vec<bool> = rows.iter().map(|row| row.label > 0.0).collect();
    1.0 - auc_risk(&scores, &positive).expect("both classes, finite scores")
}
