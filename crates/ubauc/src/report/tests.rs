//! Numbers by brute force; pages of odd data.

use proptest::prelude::*;

use super::*;

fn scored<'a>(scores: &'a [f64], positive: &'a [bool]) -> Scored<'a> {
    Scored {
        name: "a <b>".to_string(),
        scores,
        positive,
        auc: None,
        threshold: Some(0.5),
        probability: None,
    }
}

fn report(scorers: Vec<Judged>) -> Report {
    Report {
        title: "<script>alert(1)</script>".to_string(),
        classes: ["no & \"quoted\"".to_string(), "<yes>".to_string()],
        judged_on: JudgedOn::Given,
        costs: None,
        scorers,
        tests: Vec::new(),
        effects: None,
        search: Vec::new(),
        certificate: Some(Certificate::default()),
        steps: Vec::new(),
        columns: Vec::new(),
        reproduction: Reproduction::default(),
        notes: vec!["a note </ul><script>".to_string()],
    }
}

/// A few distinct scores, so that there are ties, infinities among them.
fn examples() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    let score = prop_oneof![
        6 => (-20..20_i32).prop_map(|k| f64::from(k) / 7.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        3 => -1e3..1e3,
    ];
    prop::collection::vec((score, any::<bool>()), 2..120).prop_filter_map("one class", |rows| {
        let (scores, positive): (Vec<f64>, Vec<bool>) = rows.into_iter().unzip();
        (positive.contains(&true) && positive.contains(&false)).then_some((scores, positive))
    })
}

/// Positives and negatives that score at least so much.
fn counts(scores: &[f64], positive: &[bool], cut: f64) -> (u64, u64) {
    let of = |class: bool| {
        let both = scores.iter().zip(positive);
        both.filter(|(s, p)| **s >= cut && **p == class).count() as u64
    };
    (of(true), of(false))
}

proptest! {
    #[test]
    fn every_cut_does_what_it_says((scores, positive) in examples(), fp in 0.0..9.0, false_negative in 0.0..9.0) {
        let costs = Costs { false_positive: fp, false_negative };
        let judged = Judged::new(&scored(&scores, &positive), Some(costs)).unwrap();
        let (n_pos, n_neg) = counts(&scores, &positive, f64::NEG_INFINITY);
        let named = judged.table.iter().map(|row| &row.cut);
        let every = judged.cuts.iter().chain(&judged.roc).chain(&judged.precision_recall).chain(named);
        for cut in every {
            let Some(at) = cut.cut else { continue };
            prop_assert_eq!((cut.tp, cut.fp), counts(&scores, &positive, at));
            prop_assert_eq!(cut.recall, cut.tp as f64 / n_pos as f64);
            prop_assert_eq!(cut.false_alarms, cut.fp as f64 / n_neg as f64);
            prop_assert_eq!(cut.flagged, (cut.tp + cut.fp) as f64 / scores.len() as f64);
            prop_assert_eq!(cut.cost, Some(fp * cut.fp as f64 + false_negative * (n_pos - cut.tp) as f64));
        }
        // No cut is cheaper than the cheapest.
        let cheapest = judged.table.iter().find(|row| row.why.contains(&Why::Cheapest)).unwrap();
        for at in scores.iter().copied().chain([f64::INFINITY]) {
            let (tp, false_alarms) = counts(&scores, &positive, at);
            // Nobody is flagged where the cut is above all scores.
            let flags_nobody = at == f64::INFINITY && !scores.contains(&f64::INFINITY);
            let (tp, false_alarms) = if flags_nobody { (0, 0) } else { (tp, false_alarms) };
            let cost = fp * false_alarms as f64 + false_negative * (n_pos - tp) as f64;
            prop_assert!(cheapest.cut.cost.unwrap() <= cost + 1e-9);
        }
        // The row of a share flags as few as find it.
        for row in &judged.table {
            for why in &row.why {
                if let Why::Recall(share) = why {
                    prop_assert!(row.cut.recall >= *share);
                    let fewer = judged.roc.iter().filter(|c| c.tp + c.fp < row.cut.tp + row.cut.fp);
                    prop_assert!(fewer.into_iter().all(|c| c.recall < *share));
                }
            }
        }
        prop_assert_eq!(judged.table.iter().filter(|row| row.why.contains(&Why::Model)).count(), 1);
    }

    #[test]
    fn histogram_and_groups_hold_every_example_once((scores, positive) in examples()) {
        let judged = Judged::new(&scored(&scores, &positive), None).unwrap();
        let n_pos = positive.iter().filter(|p| **p).count() as u64;
        let histogram = &judged.histogram;
        if !histogram.edges.is_empty() {
            prop_assert_eq!(histogram.positive.iter().sum::<u64>(), n_pos);
            prop_assert_eq!(histogram.negative.iter().sum::<u64>(), positive.len() as u64 - n_pos);
            prop_assert!(histogram.edges.is_sorted());
        }
        prop_assert_eq!(judged.groups.iter().map(|g| g.n).sum::<u64>(), positive.len() as u64);
        prop_assert_eq!(judged.groups.iter().map(|g| g.n_pos).sum::<u64>(), n_pos);
        prop_assert!(judged.groups.len() <= 10);
        for pair in judged.groups.windows(2) {
            if let (Some(high), Some(low)) = (pair[0].high, pair[1].low) {
                prop_assert!(high < low);
            }
        }
        // Whatever the scores, there is a page.
        let page = report(vec![judged]).to_html();
        prop_assert!(page.ends_with("</html>\n") && !page.contains("NaN"));
    }
}

#[test]
fn thinned_curves_stay_near_the_whole_one() {
    let n = 200_000;
    let scores: Vec<f64> = (0..n).map(|i| ((i * 7919) % n) as f64).collect();
    let positive: Vec<bool> = scores
        .iter()
        .enumerate()
        .map(|(i, s)| (s / n as f64 + ((i * 31) % 100) as f64 / 100.0) > 1.0)
        .collect();
    let judged = Judged::new(&scored(&scores, &positive), None).unwrap();
    assert!(judged.roc.len() <= 800 && judged.precision_recall.len() <= 800);
    assert!(judged.cuts.len() <= 200 && judged.distinct == n);
    // Between two points that are kept the curve, which only rises, stays in their box.
    for pair in judged.roc.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let is_small = b.false_alarms - a.false_alarms <= 0.011 && b.recall - a.recall <= 0.011;
        // It only rises: between points of one height, or above each other, it is a straight line.
        let is_straight = a.tp == b.tp || a.fp == b.fp;
        assert!(is_small || is_straight, "{a:?} {b:?}");
    }
    let trapezoids = judged.roc.windows(2).map(|pair| {
        (pair[1].false_alarms - pair[0].false_alarms) * (pair[0].recall + pair[1].recall) / 2.0
    });
    assert!((trapezoids.sum::<f64>() - judged.auc.auc).abs() < 1e-4);
    assert!(report(vec![judged]).to_html().len() < 300_000);
}

#[test]
fn probabilities_are_judged_by_hand() {
    let (scores, positive) = ([0.2, 0.2, 0.8, 0.8], [false, true, true, true]);
    let probability = |score: f64| score;
    let given = Scored {
        probability: Some(&probability),
        ..scored(&scores, &positive)
    };
    let judged = Judged::new(&given, None).unwrap();
    let by_hand = (0.2 * 0.2 + 0.8 * 0.8 + 2.0 * 0.2 * 0.2) / 4.0;
    assert!((judged.brier.unwrap() - by_hand).abs() < 1e-15);
    let groups: Vec<(u64, u64, Option<f64>)> = judged
        .groups
        .iter()
        .map(|g| (g.n, g.n_pos, g.predicted))
        .collect();
    assert_eq!(groups, [(2, 1, Some(0.2)), (2, 2, Some(0.8))]);
}

#[test]
fn all_that_is_typed_is_escaped() {
    let judged = Judged::new(&scored(&[0.1, 0.9], &[false, true]), None).unwrap();
    let page = report(vec![judged]).to_html();
    assert!(!page.contains("<script>alert") && page.matches("<script>").count() == 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("&lt;yes&gt;"));
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    assert!(!page.contains("style=\"") && !page.contains("unsafe-inline"));
}

#[test]
fn the_same_data_make_the_same_bytes() {
    let (scores, positive) = ([0.1, 0.4, 0.35, 0.8], [false, false, true, true]);
    let page = || {
        report(vec![
            Judged::new(&scored(&scores, &positive), None).unwrap(),
        ])
        .to_html()
    };
    assert_eq!(page(), page());
}
