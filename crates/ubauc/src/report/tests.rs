//! Numbers by brute force; pages of odd data.

use proptest::prelude::*;

use super::*;
use crate::many_classes::WholeCertificate;
use crate::metrics::{ClassPair, Sample};

fn scored<'a>(scores: &'a [f64], positive: &'a [bool]) -> Scored<'a> {
    Scored {
        name: "a <b>".to_string(),
        sample: Sample::new(scores, positive),
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
        points: None,
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
fn counts(scores: &[f64], positive: &[bool], cut: f64) -> (f64, f64) {
    let of = |class: bool| {
        let both = scores.iter().zip(positive);
        both.filter(|(s, p)| **s >= cut && **p == class).count() as f64
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
            prop_assert_eq!(cut.recall, cut.tp / n_pos);
            prop_assert_eq!(cut.false_alarms, cut.fp / n_neg);
            prop_assert_eq!(cut.flagged, (cut.tp + cut.fp) / scores.len() as f64);
            prop_assert_eq!(cut.cost, Some(fp * cut.fp + false_negative * (n_pos - cut.tp)));
        }
        // No cut is cheaper than the cheapest.
        let cheapest = judged.table.iter().find(|row| row.why.contains(&Why::Cheapest)).unwrap();
        for at in scores.iter().copied().chain([f64::INFINITY]) {
            let (tp, false_alarms) = counts(&scores, &positive, at);
            // Nobody is flagged where the cut is above all scores.
            let flags_nobody = at == f64::INFINITY && !scores.contains(&f64::INFINITY);
            let (tp, false_alarms) = if flags_nobody { (0.0, 0.0) } else { (tp, false_alarms) };
            let cost = fp * false_alarms + false_negative * (n_pos - tp);
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
        // One cut flags as many as are positive, or as few more as ties allow.
        let row = judged.table.iter().find(|row| row.why.contains(&Why::AsMany)).unwrap();
        prop_assert!(row.cut.tp + row.cut.fp >= n_pos);
        // The model's own cut may be below the score that does the same.
        if let Some(at) = row.cut.cut.filter(|_| !row.why.contains(&Why::Model)) {
            let above = scores.iter().filter(|score| **score > at).count() as f64;
            prop_assert!(above < n_pos);
        }
    }

    #[test]
    fn histogram_and_groups_hold_every_example_once((scores, positive) in examples()) {
        let judged = Judged::new(&scored(&scores, &positive), None).unwrap();
        let n_pos = positive.iter().filter(|p| **p).count() as f64;
        let histogram = &judged.histogram;
        if !histogram.edges.is_empty() {
            prop_assert_eq!(histogram.positive.iter().sum::<f64>(), n_pos);
            prop_assert_eq!(histogram.negative.iter().sum::<f64>(), positive.len() as f64 - n_pos);
            prop_assert!(histogram.edges.is_sorted());
        }
        prop_assert_eq!(judged.groups.iter().map(|g| g.n).sum::<f64>(), positive.len() as f64);
        prop_assert_eq!(judged.groups.iter().map(|g| g.n_pos).sum::<f64>(), n_pos);
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

proptest! {
    /// An example of weight k is k examples.
    #[test]
    fn weights_count_as_repetitions((scores, positive) in examples(), seed in 0_usize..1000) {
        let times: Vec<usize> = (0..scores.len()).map(|i| (i * 7 + seed * 13) % 4).collect();
        let repeated = |i: usize| std::iter::repeat_n(i, times[i]);
        let all: Vec<usize> = (0..scores.len()).flat_map(repeated).collect();
        let (s, p): (Vec<f64>, Vec<bool>) = all.iter().map(|&i| (scores[i], positive[i])).unzip();
        prop_assume!(p.contains(&true) && p.contains(&false));
        let weights: Vec<f64> = times.iter().map(|&k| k as f64).collect();
        let probability = |score: f64| 1.0 / (1.0 + (-score).exp());
        let plain = Scored { probability: Some(&probability), ..scored(&s, &p) };
        let sample = Sample { weights: Some(&weights), ..Sample::new(&scores, &positive) };
        let weighted = Scored { sample, probability: Some(&probability), ..scored(&[], &[]) };
        let costs = Some(Costs { false_positive: 1.0, false_negative: 3.0 });
        let [plain, weighted] = [plain, weighted].map(|of| Judged::new(&of, costs).unwrap());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
        prop_assert!(near(plain.auc.auc, weighted.auc.auc));
        prop_assert!(near(plain.average_precision, weighted.average_precision));
        prop_assert!(near(plain.brier.unwrap(), weighted.brier.unwrap()));
        prop_assert_eq!(plain.auc.totals(), weighted.auc.totals());
        prop_assert_eq!(&plain.table, &weighted.table);
        prop_assert_eq!(&plain.cuts, &weighted.cuts);
        prop_assert_eq!(&plain.precision_recall, &weighted.precision_recall);
        prop_assert_eq!(&plain.histogram, &weighted.histogram);
        for (a, b) in plain.groups.iter().zip(&weighted.groups) {
            prop_assert_eq!((a.low, a.high, a.n, a.n_pos, a.share), (b.low, b.high, b.n, b.n_pos, b.share));
            // Repetitions are not independent: as many say less.
            prop_assert!(b.ci95[0] <= a.ci95[0] + 1e-12 && b.ci95[1] >= a.ci95[1] - 1e-12);
        }
        prop_assert!(weighted.band.iter().zip(&plain.band).all(|(w, p)| *w >= p - 1e-12));
        let page = Report { costs, ..report(vec![weighted]) }.to_html();
        prop_assert!(page.contains("Rows have weights") && !page.contains("NaN"));
    }

    /// Groups of one example change nothing, and one group said twice makes all wider.
    #[test]
    fn groups_count_once((scores, positive) in examples()) {
        let own: Vec<u32> = (0..scores.len() as u32).collect();
        let of = |scores: &[f64], positive: &[bool], groups: Option<&[u32]>| {
            let sample = Sample { groups, ..Sample::new(scores, positive) };
            Judged::new(&Scored { sample, ..scored(&[], &[]) }, None)
        };
        let plain = of(&scores, &positive, None).unwrap();
        let twice = [scores.clone(), scores.clone()].concat();
        let classes = [positive.clone(), positive.clone()].concat();
        let groups = [own.clone(), own.clone()].concat();
        let (Ok(single), Ok(pairs)) =
            (of(&scores, &positive, Some(&own)), of(&twice, &classes, Some(&groups)))
        else {
            // One example of a class has no variance between groups.
            return Ok(());
        };
        let near = |a: [f64; 2], b: [f64; 2]| (0..2).all(|k| (a[k] - b[k]).abs() < 1e-9);
        for judged in [&single, &pairs] {
            prop_assert_eq!(judged.auc.n_groups, Some(scores.len()));
            prop_assert!(near(judged.auc.ci95, plain.auc.ci95));
            prop_assert!(near(judged.band, plain.band));
            for (a, b) in judged.groups.iter().zip(&plain.groups) {
                prop_assert!(near(a.ci95, b.ci95));
            }
        }
        let page = report(vec![pairs]).to_html();
        prop_assert!(page.contains("only groups are independent"));
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
    let groups: Vec<(f64, f64, Option<f64>)> = judged
        .groups
        .iter()
        .map(|g| (g.n, g.n_pos, g.predicted))
        .collect();
    assert_eq!(groups, [(2.0, 1.0, Some(0.2)), (2.0, 2.0, Some(0.8))]);
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

/// Of k classes whose names are markup; the AUC of the first two is the lowest.
fn of_classes(k: usize) -> ClassesReport {
    let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
    let auc = |i: usize, j: usize| if i + j == 1 { 0.6 } else { 0.9 };
    let pair = |(i, j)| ClassPair {
        i,
        j,
        auc_i: auc(i, j),
        auc_j: auc(i, j),
        auc: auc(i, j),
    };
    let class = |c: usize| ClassPart {
        name: format!("<b>{c}&"),
        n: 10 + c,
        auc: 0.9 - 0.3 / (1.0 + c as f64),
        gap: (c > 0).then_some(1e-7),
    };
    ClassesReport {
        title: "<script>alert(1)</script>".to_string(),
        judged_on: JudgedOn::Training,
        m: 0.875,
        train_m: Some(0.9375),
        classes: (0..k).map(class).collect(),
        pairs: pairs.map(pair).collect(),
        search: Vec::new(),
        certificate: Some(WholeCertificate {
            gap: Some(2.5e-8),
            ..WholeCertificate::default()
        }),
        columns: Vec::new(),
        reproduction: Reproduction::default(),
        notes: vec!["a note </ul><script>".to_string()],
    }
}

#[test]
fn many_classes_have_a_page() {
    let page = of_classes(3).to_html();
    assert!(page.matches("<script>").count() == 1 && !page.contains("<b>"));
    assert!(page.contains("&lt;b&gt;0&amp;") && page.contains("looks better than it is"));
    for (key, value) in [
        ("m", "0.875"),
        ("train_m", "0.9375"),
        ("certificate.gap", "0.000000025"),
        ("classes.0.auc", "0.6000000000000001"),
        ("pairs.0.auc", "0.6"),
    ] {
        let data = format!("<data value=\"{value}\" data-key=\"{key}\">");
        assert!(page.contains(&data), "{data}");
    }
    for id in ["classes", "pairs", "certificate", "again"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(page.contains("the scorer of &lt;b&gt;0&amp; against &lt;b&gt;1&amp;: 0.6000"));
}

#[test]
fn pages_of_few_and_of_very_many_classes() {
    let of = |k: usize| of_classes(k).to_html();
    assert!(of(MOST_DRAWN).contains("Heat map of the AUC"));
    assert!(!of(MOST_DRAWN + 1).contains("Heat map of the AUC"));
    let many = ClassesReport {
        pairs: Vec::new(),
        ..of_classes(1000)
    };
    let page = many.to_html();
    assert!(page.contains("700 more classes") && !page.contains("id=\"pairs\""));
    assert!(page.len() < 200_000, "{}", page.len());
    // Nothing is known.
    let empty = ClassesReport {
        classes: Vec::new(),
        pairs: Vec::new(),
        certificate: None,
        m: f64::NAN,
        ..of_classes(0)
    };
    let page = empty.to_html();
    assert!(page.ends_with("</html>\n") && !page.contains("data value=\"NaN"));
}

#[test]
fn a_cut_that_flags_nothing_is_said_and_not_the_first() {
    let scores = [-3.0, -2.5, -2.0, -1.5, -1.0];
    let positive = [false, false, false, true, false];
    let judged = Judged::new(&scored(&scores, &positive), None).unwrap();
    // The model's own is 0.5.
    assert_eq!(judged.idle_cut(), Some(0.5));
    let first = judged.first_cut().unwrap();
    assert_eq!((first.cut.cut, first.cut.flagged), (Some(-1.0), 0.2));
    assert!(first.why.contains(&Why::AsMany));
    let higher = scores.map(|score| score + 2.0);
    let judged = Judged::new(&scored(&higher, &positive), None).unwrap();
    assert_eq!(judged.idle_cut(), None);
    assert!(judged.first_cut().unwrap().why.contains(&Why::Model));
}
