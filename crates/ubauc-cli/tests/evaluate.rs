//! `ubauc evaluate`: the right numbers from good files, however they are written.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::process::{
    command, directory_with, failure, json, keys, real_data, stderr, success, ubauc, wrong_usage,
};

/// 3 positives and 4 negatives: 10 pairs won, 1 tied, of 12.
const SEVEN: &str = "label,score\n1,0.9\n1,0.8\n1,0.3\n0,0.5\n0,0.3\n0,0.2\n0,0.1\n";
const SEVEN_TEXT: &str = "\
AUC             0.875000
95 % interval   [0.329279, 0.990080]
standard error  0.148293
positive        3 (class 1)
negative        4 (class 0)
tied pairs      1
avg. precision  0.866667 [0.372492, 0.986145]
";
/// Two of each class, told apart without error.
const SEPARATED: &str = "label,score\n1,2\n1,3\n0,0\n0,1\n";

/// Runs `ubauc evaluate` on one file with this text.
#[track_caller]
fn evaluate(name: &str, text: &str, more: &[&str]) -> String {
    let directory = directory_with(&[(name, text)]);
    let output = ubauc(directory.path(), &[&["evaluate", name], more].concat());
    assert_eq!(stderr(&output), "");
    success(&output).to_string()
}

/// The AUC of one file with this text.
#[track_caller]
fn auc(name: &str, text: &str, more: &[&str]) -> f64 {
    let text = evaluate(name, text, &[&["--json"], more].concat());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    report["auc"].as_f64().unwrap()
}

/// Pairs won and half of those tied, counted one by one.
fn auc_by_pairs(scores: &[f64], positive: &[bool]) -> f64 {
    let of = |class: bool| {
        let both = scores.iter().zip(positive);
        both.filter(move |(_, p)| **p == class).map(|(s, _)| *s)
    };
    let (mut half_wins, mut pairs) = (0_u64, 0_u64);
    for a in of(true) {
        for b in of(false) {
            half_wins += if a > b { 2 } else { u64::from(a == b) };
            pairs += 1;
        }
    }
    half_wins as f64 / (2 * pairs) as f64
}

#[test]
fn text_is_aligned() {
    assert_eq!(evaluate("x.csv", SEVEN, &[]), SEVEN_TEXT);
    let more = "\
AUC               0.875000
95 % interval     [0.329279, 0.990080]
standard error    0.148293
positive          3 (class 1)
negative          4 (class 0)
tied pairs        1
avg. precision    0.866667 [0.372492, 0.986145]
partial AUC, FPR  0 to 0.5: area 0.375000, standardised 0.833333
partial AUC, TPR  0.5 to 1: area 0.375000, standardised 0.833333
";
    let rates = ["--max-fpr", "0.5", "--min-tpr", "0.5"];
    assert_eq!(evaluate("x.csv", SEVEN, &rates), more);
}

#[test]
fn json_is_one_object_with_the_fixed_keys() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let report = json(&ubauc(directory.path(), &["evaluate", "x.csv", "--json"]));
    let expected = [
        "auc",
        "average_precision",
        "ci95",
        "classes",
        "half_wins",
        "interval",
        "n_neg",
        "n_pos",
        "partial_auc",
        "recall_at_fpr",
        "ties",
        "variance",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!(report["auc"], 0.875);
    assert_eq!(report["half_wins"], 21);
    assert_eq!(report["ties"], 1);
    assert_eq!((&report["n_pos"], &report["n_neg"]), (&3.into(), &4.into()));
    assert_eq!(report["classes"], serde_json::json!(["0", "1"]));
    assert!(report["partial_auc"].is_null());
    // V = (4, 4, 2.5)/4 and U = (2, 2.5, 3, 3)/3 have the mean 7/8; S⁺/3 = 1/64, S⁻/4 = 11/1728.
    let variance = report["variance"].as_f64().unwrap();
    assert!((variance - 19.0 / 864.0).abs() < 1e-16, "{variance}");
    assert_eq!(report["interval"], "logit");
    let half = 1.959963984540054 * variance.sqrt() / (0.875 * 0.125);
    for (end, x) in [(0, 7_f64.ln() - half), (1, 7_f64.ln() + half)] {
        let found = report["ci95"][end].as_f64().unwrap();
        assert!((found - 1.0 / (1.0 + (-x).exp())).abs() < 1e-15);
    }
    // Precision 1, 1 and ⅗, at the scores 0.9, 0.8 and 0.3.
    let precision = report["average_precision"]["value"].as_f64().unwrap();
    assert!((precision - 2.6 / 3.0).abs() < 1e-15);
    assert!(report["recall_at_fpr"].is_null());
}

#[test]
fn other_intervals_are_asked_for_by_name() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let of = |more: &[&str]| {
        let arguments = [&["evaluate", "x.csv", "--json"], more].concat();
        json(&ubauc(directory.path(), &arguments))
    };
    let symmetric = of(&["--interval", "delong"]);
    let low = symmetric["ci95"][0].as_f64().unwrap();
    let variance = symmetric["variance"].as_f64().unwrap();
    assert!((low - (0.875 - 1.959963984540054 * variance.sqrt())).abs() < 1e-15);
    assert_eq!(symmetric["ci95"][1], 1.0);
    let drawn = of(&["--interval", "bootstrap", "--resamples", "200"]);
    assert_eq!(drawn["interval"], "bootstrap");
    assert_ne!(drawn["ci95"], symmetric["ci95"]);
    let again = [
        "--interval",
        "bootstrap",
        "--resamples",
        "200",
        "--threads",
        "3",
    ];
    assert_eq!(of(&again), drawn);
    let text = evaluate("x.csv", SEVEN, &["--interval", "delong"]);
    assert!(text.contains("[0.584352, 1.000000] (delong)\n"), "{text}");
    for more in [
        &["--interval", "wald"][..],
        &["--resamples", "100"],
        &["--interval", "bootstrap", "--resamples", "99"],
        &["--at-fpr", "0"],
        &["--at-fpr", "1.5"],
    ] {
        let arguments = [&["evaluate", "x.csv"], more].concat();
        wrong_usage(&ubauc(directory.path(), &arguments));
    }
}

#[test]
fn recall_at_false_alarm_rates_by_hand() {
    // One false alarm of four: above 0.3 are 0.9 and 0.8 of the positives, and 0.5, a negative.
    let text = evaluate("x.csv", SEVEN, &["--at-fpr", "0.25,0.9"]);
    let expected = "recall, FPR     at most 0.25: 0.666667 [0.000000, 1.000000], threshold 0.5\n";
    assert!(text.contains(expected), "{text}");
    let report: serde_json::Value = serde_json::from_str(&evaluate(
        "x.csv",
        SEVEN,
        &["--json", "--at-fpr", "0.25", "--at-fpr", "0.9"],
    ))
    .unwrap();
    let found = report["recall_at_fpr"].as_array().unwrap();
    assert_eq!(
        keys(&found[0]),
        ["ci95", "fpr", "max_fpr", "recall", "threshold"]
    );
    assert_eq!(found[0]["fpr"], 0.25);
    assert_eq!(
        (&found[1]["recall"], &found[1]["fpr"]),
        (&1.0.into(), &0.75.into())
    );
}

#[test]
fn partial_areas_by_hand() {
    // The curve: (0,0) (0,⅔) (¼,⅔) (½,1) (1,1), the tie a slanted line.
    let directory = directory_with(&[("x.csv", SEVEN)]);
    for (option, rate, area) in [
        ("--max-fpr", 0.125, 0.125 * 2.0 / 3.0),
        ("--max-fpr", 0.25, 0.25 * 2.0 / 3.0),
        ("--max-fpr", 0.375, 0.25 * 2.0 / 3.0 + 0.125 * 0.75),
        ("--max-fpr", 1.0, 0.875),
        ("--min-tpr", 0.0, 0.875),
        ("--min-tpr", 2.0 / 3.0, (0.75 + 0.5) / 2.0 / 3.0),
        ("--min-tpr", 0.5, 1.0 / 6.0 + (0.75 + 0.5) / 2.0 / 3.0),
    ] {
        let rate_text = rate.to_string();
        let arguments = ["evaluate", "x.csv", "--json", option, &rate_text];
        let report = json(&ubauc(directory.path(), &arguments));
        let parts = report["partial_auc"].as_array().unwrap();
        assert_eq!(parts.len(), 1);
        let part = &parts[0];
        assert_eq!(keys(part), ["part", "raw", "standardised"]);
        let name = option.trim_start_matches('-').replace('-', "_");
        assert_eq!(part["part"][&name], rate);
        let raw = part["raw"].as_f64().unwrap();
        assert!(
            (raw - area).abs() < 1e-15,
            "{option} {rate}: {raw}, not {area}"
        );
        let width = if option == "--max-fpr" {
            rate
        } else {
            1.0 - rate
        };
        let chance = width * width / 2.0;
        let standardised = 0.5 * (1.0 + (area - chance) / (width - chance));
        let found = part["standardised"].as_f64().unwrap();
        assert!(
            (found - standardised).abs() < 1e-15,
            "{option} {rate}: {found}"
        );
    }
}

/// (threshold, fpr, tpr) of every line after the header.
fn curve(text: &str) -> Vec<[f64; 3]> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("threshold,fpr,tpr"));
    lines
        .map(|line| {
            let fields: Vec<f64> = line.split(',').map(|f| f.parse().unwrap()).collect();
            fields.try_into().unwrap()
        })
        .collect()
}

fn trapezoids(curve: &[[f64; 3]]) -> f64 {
    let areas = curve
        .windows(2)
        .map(|w| (w[1][1] - w[0][1]) * (w[0][2] + w[1][2]) / 2.0);
    areas.sum()
}

#[test]
fn roc_file_goes_from_corner_to_corner_and_has_the_area() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let dir = directory.path();
    let output = ubauc(dir, &["evaluate", "x.csv", "--roc", "roc.csv"]);
    assert_eq!(success(&output), SEVEN_TEXT);
    let text = fs::read_to_string(dir.join("roc.csv")).unwrap();
    let third = 2.0 / 3.0;
    let expected = [
        [f64::INFINITY, 0.0, 0.0],
        [0.8, 0.0, third],
        [0.5, 0.25, third],
        [0.3, 0.5, 1.0],
        [0.1, 1.0, 1.0],
    ];
    assert_eq!(curve(&text), expected);
    assert!((trapezoids(&curve(&text)) - 0.875).abs() < 1e-15);

    let made = ["data", "generate", "--rows", "3000", "--dim", "2", "-q"];
    success(&ubauc(dir, &[&made[..], &["-o", "big.csv"]].concat()));
    let arguments = ["evaluate", "big.csv", "--score", "x1", "--roc", "roc.csv"];
    let report = json(&ubauc(dir, &[&arguments[..], &["--json"]].concat()));
    let points = curve(&fs::read_to_string(dir.join("roc.csv")).unwrap());
    assert_eq!(points[0], [f64::INFINITY, 0.0, 0.0]);
    assert_eq!(points.last().unwrap()[1..], [1.0, 1.0]);
    for pair in points.windows(2) {
        assert!(pair[0][0] > pair[1][0], "thresholds fall");
        assert!(
            pair[0][1] <= pair[1][1] && pair[0][2] <= pair[1][2],
            "rates rise"
        );
    }
    let auc = report["auc"].as_f64().unwrap();
    assert!(
        (trapezoids(&points) - auc).abs() < 1e-12,
        "rounded rates of some 1000 points"
    );
}

#[test]
fn roc_to_standard_output_is_all_that_is_there() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let dir = directory.path();
    let output = ubauc(dir, &["evaluate", "x.csv", "--roc", "-"]);
    assert_eq!(curve(success(&output)).len(), 5);
    assert_eq!(stderr(&output), SEVEN_TEXT);
    let output = ubauc(dir, &["evaluate", "x.csv", "--roc", "-", "--json"]);
    assert!(wrong_usage(&output).contains("name a file for the curve"));
}

#[test]
fn standard_input_is_read_like_a_file() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let from = |arguments: &[&str], bytes: &[u8]| {
        let mut command = command(directory.path(), arguments);
        let output = command.write_stdin(bytes).output().unwrap();
        success(&output).to_string()
    };
    assert_eq!(from(&["evaluate", "-"], SEVEN.as_bytes()), SEVEN_TEXT);
    let packed = zstd::encode_all(SEVEN.as_bytes(), 3).unwrap();
    assert_eq!(from(&["evaluate", "-"], &packed), SEVEN_TEXT);
    let svmlight = "1 1:0.9\n1 1:0.8\n1 1:0.3\n0 1:0.5\n0 1:0.3\n0 1:0.2\n0 1:0.1\n";
    let arguments = ["evaluate", "-", "--feature", "1"];
    assert_eq!(from(&arguments, svmlight.as_bytes()), SEVEN_TEXT);
}

#[test]
fn compressed_files_give_the_same_bytes_whatever_their_name() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SEVEN.as_bytes()).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(SEVEN.as_bytes()).unwrap();
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(SEVEN.as_bytes()).unwrap();
    let packed = [
        ("gz", gzip.finish().unwrap()),
        ("zst", zstd::encode_all(SEVEN.as_bytes(), 3).unwrap()),
        ("bz2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
    ];
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    for (extension, bytes) in packed {
        for name in [format!("x.csv.{extension}"), format!("scores_{extension}")] {
            fs::write(dir.join(&name), &bytes).unwrap();
            let output = ubauc(dir, &["evaluate", &name]);
            assert_eq!(success(&output), SEVEN_TEXT, "{name}");
            assert_eq!(stderr(&output), "", "{name}");
        }
    }
}

#[test]
fn svmlight_feature_is_the_score() {
    // Feature 2 as in SEVEN, feature 1 constant, feature 3 there for the positives only.
    let text = "+1 1:5 2:0.9 3:1\n+1 1:5 2:0.8 3:2\n+1 1:5 2:0.3 3:1 # last\n\
                -1 1:5 2:0.5\n-1 1:5 2:0.3 \n-1.0 1:5 2:0.2\n-1 1:5 2:0.1\n";
    for (index, expected) in [("1", 0.5), ("2", 0.875)] {
        let found = auc("x.svm", text, &["--feature", index, "--quiet"]);
        assert_eq!(found, expected, "feature {index}");
    }
    let directory = directory_with(&[("x.svm", text)]);
    let of = |more: &[&str]| {
        ubauc(
            directory.path(),
            &[&["evaluate", "x.svm", "--feature"], more].concat(),
        )
    };
    assert_eq!(json(&of(&["3", "--json"]))["auc"], 1.0);
    assert_eq!(json(&of(&["2", "--zero-based", "--json"]))["auc"], 0.875);
    assert_eq!(json(&of(&["0", "--zero-based", "--json"]))["auc"], 0.5);
    assert!(failure(&of(&["4"])).contains("the file has features 1 to 3"));
    assert!(failure(&of(&["0"])).contains("the file has features 1 to 3"));
    let output = ubauc(directory.path(), &["evaluate", "x.svm"]);
    assert!(failure(&output).contains("--feature INDEX"));
}

#[test]
fn columns_are_found_by_name_and_classes_by_value() {
    let text = "id,p,truth,q\n1,0.9,yes,1\n2,0.8,yes,1\n3,0.3,yes,2\n4,0.5,no,1\n5,0.3,no,2\n\
                6,0.2,no,1\n7,0.1,no,1\n";
    let named = ["--label", "truth", "--quiet", "--score", "p"];
    assert_eq!(auc("x.csv", text, &named), 0.875);
    // The other class as positive turns the order round.
    let other = [&named[..], &["--positive", "no"]].concat();
    assert_eq!(auc("x.csv", text, &other), 0.125);
    let shown = evaluate("x.csv", text, &other);
    assert!(
        shown.contains("positive        4 (class no)\nnegative        3 (class yes)\n"),
        "{shown}"
    );
    // Equal numbers are one class however they are written.
    let numbers = "label,score\n+1,0.9\n1.0,0.8\n1e0,0.3\n-1,0.5\n-1.0,0.3\n-1,0.2\n-1,0.1\n";
    assert_eq!(auc("x.csv", numbers, &[]), 0.875);
    assert_eq!(auc("x.csv", numbers, &["--positive", "-1"]), 0.125);
}

#[test]
fn delimiters_headers_quotes_and_line_ends() {
    for (delimiter, option) in [
        (";", ";"),
        ("\t", "\\t"),
        ("|", "|"),
        (" ", " "),
        ("~", "~"),
    ] {
        let text = SEVEN.replace(',', delimiter);
        assert_eq!(
            evaluate("x.csv", &text, &["--delimiter", option]),
            SEVEN_TEXT
        );
        if ![" ", "~"].contains(&delimiter) {
            assert_eq!(
                evaluate("x.csv", &text, &[]),
                SEVEN_TEXT,
                "guessed: {delimiter:?}"
            );
        }
    }
    let bare = SEVEN.strip_prefix("label,score\n").unwrap();
    let columns = ["--no-header", "--label", "1", "--score", "2"];
    assert_eq!(evaluate("x.csv", bare, &columns), SEVEN_TEXT);
    assert_eq!(
        evaluate("x.csv", &SEVEN.replace('\n', "\r\n"), &[]),
        SEVEN_TEXT
    );
    assert_eq!(evaluate("x.csv", SEVEN.trim_end(), &[]), SEVEN_TEXT);
    let quoted = SEVEN
        .replace("1,0.9", "\"1\",\"0.9\"")
        .replace("score", "\"score\"");
    assert_eq!(evaluate("x.csv", &quoted, &[]), SEVEN_TEXT);
    // Without a telling name, and with a telling option.
    assert_eq!(evaluate("scores", SEVEN, &[]), SEVEN_TEXT);
    assert_eq!(evaluate("x.svm", SEVEN, &["--format", "csv"]), SEVEN_TEXT);
}

#[test]
fn whole_weights_are_repeated_rows() {
    let weights = [3, 1, 2, 1, 4, 1, 2];
    let mut weighted = String::from("label,score,w\n");
    let mut repeated = String::from("label,score\n");
    for (line, w) in SEVEN.lines().skip(1).zip(weights) {
        writeln!(weighted, "{line},{w}").unwrap();
        for _ in 0..w {
            writeln!(repeated, "{line}").unwrap();
        }
    }
    let found = auc("x.csv", &weighted, &["--weight", "w"]);
    assert!(
        (found - auc("x.csv", &repeated, &[])).abs() < 1e-15,
        "{found}"
    );

    let directory = directory_with(&[("x.csv", &weighted)]);
    let arguments = ["evaluate", "x.csv", "--weight", "w"];
    let text = ubauc(directory.path(), &arguments);
    assert!(success(&text).contains("positive        3 of weight 6.000000 (class 1)\n"));
    assert!(success(&text).contains("negative        4 of weight 8.000000 (class 0)\n"));
    let report = json(&ubauc(
        directory.path(),
        &[&arguments[..], &["--json"]].concat(),
    ));
    for key in [
        "auc",
        "ci95",
        "variance",
        "n_pos",
        "n_neg",
        "weight_pos",
        "weight_neg",
    ] {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    // All weights equal: DeLong's variance.
    let ones = weighted
        .lines()
        .skip(1)
        .fold("label,score,w\n".to_string(), |text, line| {
            text + line.rsplit_once(',').unwrap().0 + ",2\n"
        });
    fs::write(directory.path().join("x.csv"), ones).unwrap();
    let report = json(&ubauc(
        directory.path(),
        &[&arguments[..], &["--json"]].concat(),
    ));
    assert!((report["variance"].as_f64().unwrap() - 19.0 / 864.0).abs() < 1e-15);
}

#[test]
fn perfect_separation_has_its_note_unless_quiet() {
    let directory = directory_with(&[("x.csv", SEPARATED)]);
    let loud = ubauc(directory.path(), &["evaluate", "x.csv"]);
    assert_eq!(
        stderr(&loud),
        "note: the classes are separated without error, so the variance estimate is 0; the \
         interval is the exact bound for this number of examples\n"
    );
    assert!(success(&loud).contains("95 % interval   [0.158114, 1.000000]\n"));
    let quiet = ubauc(directory.path(), &["evaluate", "x.csv", "--quiet"]);
    assert_eq!(stderr(&quiet), "");
    assert_eq!(success(&quiet), success(&loud));
    let report = ubauc(directory.path(), &["evaluate", "x.csv", "--json"]);
    assert_eq!(json(&report)["auc"], 1.0);
    assert_eq!(stderr(&report), stderr(&loud));
    let reversed = ubauc(directory.path(), &["evaluate", "x.csv", "--positive", "0"]);
    assert!(success(&reversed).starts_with("AUC             0.000000\n"));
    assert_eq!(stderr(&reversed), stderr(&loud));
}

#[test]
fn tied_scores_have_another_note() {
    let directory = directory_with(&[("x.csv", "label,score\n1,7\n1,7\n0,7\n0,7\n")]);
    let output = ubauc(directory.path(), &["evaluate", "x.csv"]);
    assert!(success(&output).starts_with("AUC             0.500000\n"));
    assert!(success(&output).contains("tied pairs      4\n"));
    assert_eq!(
        stderr(&output),
        "note: the variance estimate is 0; the interval is the exact bound for this number of examples\n"
    );
}

/// The third example of class b is taken for an a.
const THREE_CLASSES: &str = "label,a,b,c\na,0.8,0.1,0.1\na,0.6,0.3,0.1\nb,0.1,0.8,0.1\n\
                             b,0.2,0.6,0.2\nb,0.7,0.2,0.1\nc,0.1,0.1,0.8\n";

#[test]
fn many_classes_by_hand() {
    // A(a|b): 0.8, 0.6 against 0.1, 0.2, 0.7: 5 of 6; A(b|a): 0.8, 0.6, 0.2 against 0.1, 0.3: 5 of 6.
    let expected = "\
Hand-Till M             0.944444
weighted by prevalence  0.930556
classes                 3

pair        AUC  by first  by second
a / b  0.833333  0.833333   0.833333
a / c  1.000000  1.000000   1.000000
b / c  1.000000  1.000000   1.000000
";
    assert_eq!(
        evaluate("x.csv", THREE_CLASSES, &["--multiclass"]),
        expected
    );
    // The order of the columns is nothing, an unused column only when the scores are named.
    let turned: String = THREE_CLASSES
        .lines()
        .map(|line| {
            let f: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{}\n", f[3], f[0], f[2], f[1])
        })
        .collect();
    assert_eq!(evaluate("x.csv", &turned, &["--multiclass"]), expected);
    let with_id: String = THREE_CLASSES
        .lines()
        .map(|line| format!("{line},{}\n", &line[..1]))
        .collect();
    let named = ["--multiclass", "--score", "a,b,c"];
    assert_eq!(
        evaluate("x.csv", &with_id.replacen(",l\n", ",id\n", 1), &named),
        expected
    );

    let directory = directory_with(&[("x.csv", THREE_CLASSES)]);
    let report = json(&ubauc(
        directory.path(),
        &["evaluate", "x.csv", "--multiclass", "--json"],
    ));
    assert_eq!(keys(&report), ["classes", "hand_till"]);
    let found = &report["hand_till"];
    assert_eq!(keys(found), ["class_counts", "m", "pairs", "weighted"]);
    assert_eq!(found["class_counts"], serde_json::json!([2, 3, 1]));
    assert!((found["m"].as_f64().unwrap() - (5.0 / 6.0 + 2.0) / 3.0).abs() < 1e-15);
}

#[test]
fn many_classes_made_two() {
    let directory = directory_with(&[("x.csv", THREE_CLASSES)]);
    let of = |more: &[&str]| {
        let arguments = ["evaluate", "x.csv", "--score", "a", "--quiet"];
        ubauc(directory.path(), &[&arguments[..], more].concat())
    };
    let message = failure(&of(&[])).to_string();
    assert!(
        message.contains("3 classes: a (2), b (3), c (1)"),
        "{message}"
    );
    let report = json(&of(&["--positive", "a", "--json"]));
    assert_eq!((&report["n_pos"], &report["n_neg"]), (&2.into(), &4.into()));
    assert_eq!(report["auc"], 0.875);
    let halves: Vec<_> = (0..20)
        .map(|seed: u32| {
            let report = json(&of(&["--json", "--partition", &seed.to_string()]));
            report["n_pos"].as_u64().unwrap()
        })
        .collect();
    // One class of three is positive: each of them for some seed.
    for n_pos in [1, 2, 3] {
        assert!(halves.contains(&n_pos), "{halves:?}");
    }
}

#[test]
fn what_was_typed_wrong_is_wrong_usage() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    for (more, why) in [
        (
            &["--weight", "w", "--max-fpr", "0.1"][..],
            "cannot be used with",
        ),
        (&["--weight", "w", "--roc", "r.csv"], "cannot be used with"),
        (&["--multiclass", "--min-tpr", "0.5"], "cannot be used with"),
        (
            &["--positive", "1", "--partition", "1"],
            "cannot be used with",
        ),
        (&["--delimiter", "ab"], "one character"),
        (&["--delimiter", "1"], "one character"),
        (&["--threads", "two"], "invalid value"),
        (&["--seed", "-1"], "-1"),
        (
            &["--format", "xlsx"],
            if cfg!(feature = "parquet") {
                "possible values: svmlight, csv, parquet]"
            } else {
                "possible values: svmlight, csv]"
            },
        ),
        (&["--max-fpr", "half"], "invalid float"),
        (
            &["--max-fpr", "2"],
            "max_fpr = 2: must be above 0 and at most 1",
        ),
        (
            &["--max-fpr", "0"],
            "max_fpr = 0: must be above 0 and at most 1",
        ),
        (
            &["--max-fpr", "nan"],
            "max_fpr = NaN: must be above 0 and at most 1",
        ),
        (
            &["--min-tpr", "1"],
            "min_tpr = 1: must be at least 0 and below 1",
        ),
        (&["--score", "a,b"], "--score names 2 columns"),
        (&["--no-such-option"], "--no-such-option"),
        (&["y.csv"], "unexpected argument"),
    ] {
        let output = ubauc(directory.path(), &[&["evaluate", "x.csv"], more].concat());
        assert!(
            wrong_usage(&output).contains(why),
            "{more:?}: {}",
            stderr(&output)
        );
    }
    assert!(wrong_usage(&ubauc(directory.path(), &["evaluate"])).contains("<FILE>"));
}

/// The label and the stored entries of an svmlight line, the obvious way.
fn parse(line: &str) -> (bool, Vec<(usize, f64)>) {
    let mut fields = line.split_ascii_whitespace();
    let label: f64 = fields.next().unwrap().parse().unwrap();
    let entries = fields.map(|field| {
        let (index, value) = field.split_once(':').unwrap();
        (index.parse().unwrap(), value.parse().unwrap())
    });
    (label > 0.0, entries.collect())
}

fn prefix(path: &Path, rows: usize) -> String {
    let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.lines()
        .take(rows)
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a9a_features_have_the_auc_of_counted_pairs() {
    let Some(dir) = real_data("a9a_features_have_the_auc_of_counted_pairs") else {
        return;
    };
    let text = prefix(&dir.join("a9a/train.svm.zst"), 2000);
    let rows: Vec<_> = text.lines().map(parse).collect();
    assert_eq!(rows.len(), 2000);
    let positive: Vec<bool> = rows.iter().map(|(label, _)| *label).collect();
    let directory = directory_with(&[("a9a.svm", &text)]);
    for feature in [1, 5, 22, 39, 40, 76, 83] {
        let value =
            |entries: &[(usize, f64)]| entries.iter().find(|e| e.0 == feature).map_or(0.0, |e| e.1);
        let scores: Vec<f64> = rows.iter().map(|(_, entries)| value(entries)).collect();
        let index = feature.to_string();
        let arguments = ["evaluate", "a9a.svm", "--json", "--feature", &index];
        let report = json(&ubauc(directory.path(), &arguments));
        assert_eq!(
            report["auc"],
            auc_by_pairs(&scores, &positive),
            "feature {feature}"
        );
    }
}

#[test]
fn a_feature_takes_no_columns_beside_it() {
    let directory = directory_with(&[("a.svm", "1 1:2\n0 1:1\n")]);
    for more in [["--weight", "w"], ["--score", "p"]] {
        let arguments = [&["evaluate", "a.svm", "--feature", "1"][..], &more].concat();
        let output = ubauc(directory.path(), &arguments);
        assert!(wrong_usage(&output).contains("--feature takes the score from svmlight"));
    }
}

#[test]
fn threads_have_a_limit() {
    let directory = directory_with(&[("a.csv", "label,score\n1,2\n0,1\n")]);
    let output = ubauc(
        directory.path(),
        &["evaluate", "a.csv", "--threads", "100000"],
    );
    assert!(wrong_usage(&output).contains("0..=1024"));
}

#[test]
fn text_classes_have_their_note() {
    let directory = directory_with(&[("a.csv", "label,score\nYes,2\nno,1\nYes,0\nno,3\n")]);
    let output = ubauc(directory.path(), &["evaluate", "a.csv"]);
    success(&output);
    assert_eq!(
        stderr(&output),
        "note: a.csv: classes are text; 'Yes' is taken as positive (it says yes); choose with \
         --positive\n"
    );
    let chosen = ubauc(
        directory.path(),
        &["evaluate", "a.csv", "--positive", "Yes"],
    );
    success(&chosen);
    assert_eq!(stderr(&chosen), "");
}

#[test]
fn multiclass_hints_at_the_columns_of_scores() {
    let text = "id,label,a,b,c\nx1,a,1,0,0\nx2,b,0,1,0\nx3,c,0,0,1\n";
    let directory = directory_with(&[("m.csv", text)]);
    let output = ubauc(directory.path(), &["evaluate", "m.csv", "--multiclass"]);
    let message = failure(&output);
    assert!(
        message.ends_with(
            "; name the score columns: --score a,b,c; or leave it out: --ignore COLUMN\n"
        ),
        "{message}"
    );
    for advice in [["--score", "a,b,c"], ["--ignore", "id"]] {
        let arguments = [&["evaluate", "m.csv", "--multiclass"][..], &advice].concat();
        success(&ubauc(directory.path(), &arguments));
    }
}
