//! `ubauc tune`: a table, a choice, a verdict.

use std::fmt::Write as _;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{
    directory_with, failure, json, keys, real_data, stderr, success, ubauc, wrong_usage,
};

/// Two features that tell the classes apart a little, and one that does not; every fifth is positive.
fn file(n: usize, positives: usize) -> TempDir {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / (1 << 24) as f64 - 0.5
    };
    let mut text = "label,a,b,c\n".to_string();
    for i in 0..n {
        let label = usize::from(i % 5 == 0 && i / 5 < positives);
        let shift = 0.3 * label as f64;
        let [a, b, c] = [next() + shift, next() - shift, next()];
        writeln!(text, "{label},{a},{b},{c}").unwrap();
    }
    directory_with(&[("x.csv", &text)])
}

const SMALL: [&str; 8] = [
    "tune",
    "x.csv",
    "--betas",
    "0.5,2",
    "--gammas",
    "1e-2,1e-4",
    "--folds",
    "3",
];

#[test]
fn json_has_the_whole_table() {
    let directory = file(600, 120);
    let report = json(&ubauc(
        directory.path(),
        &[&SMALL[..], &["--json"]].concat(),
    ));
    let expected = [
        "chosen",
        "criterion",
        "cut_short",
        "d",
        "features",
        "folds",
        "held_out",
        "intercept",
        "logistic_chosen",
        "maps",
        "n",
        "n_neg",
        "n_pos",
        "one_standard_error",
        "points",
        "scale",
        "seconds",
        "seed",
        "skipped",
        "tolerance",
        "verdict",
    ];
    assert_eq!(keys(&report), expected);
    let points = report["points"].as_array().unwrap();
    // Logistic regression is tried too.
    assert_eq!(points.len(), 8 + 2);
    let of_point = [
        "auc",
        "beta",
        "class_weight",
        "collapsed",
        "fold_aucs",
        "gamma",
        "least_squares",
        "map",
        "softness",
        "standard_error",
        "stopped",
        "tied_share",
    ];
    assert_eq!(keys(&points[0]), of_point);
    assert!(points.contains(&report["chosen"]) && points.contains(&report["logistic_chosen"]));
    assert_eq!(report["criterion"], "auc");
    let ours = points.iter().filter(|p| p["beta"] != 0.0);
    let aucs = ours.filter(|p| p["collapsed"] == false);
    let best = aucs.map(|p| p["auc"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(report["chosen"]["auc"], best);
    assert_eq!(
        keys(&report["verdict"]),
        ["is_logistic", "logistic", "ours", "test"]
    );
    assert_eq!(keys(&report["seconds"]), ["read", "total", "tune"]);
}

#[test]
fn people_get_a_table_and_one_sentence_to_act_on() {
    let directory = file(600, 120);
    let output = ubauc(directory.path(), &SMALL);
    let text = success(&output);
    assert_eq!(text.matches("chosen").count(), 1, "{text}");
    assert!(text.contains("\nUse --beta "), "{text}");
    assert!(text.contains("on 120 examples held out"), "{text}");
    assert!(text.contains("\n  ubauc train x.csv --beta "), "{text}");
    let options = [
        "--scale",
        "standard",
        "--no-intercept",
        "--one-standard-error",
    ];
    let more = ubauc(directory.path(), &[&SMALL[..], &options].concat());
    assert!(success(&more).contains("--no-intercept --scale standard"));
    let none = ubauc(
        directory.path(),
        &[&SMALL[..], &["--held-out", "0"]].concat(),
    );
    assert!(success(&none).contains("nothing was held out"));
}

#[test]
fn a_ratio_of_the_classes_is_tried_where_it_is_given() {
    let directory = file(600, 120);
    let tune = [
        "tune",
        "x.csv",
        "--class-weight",
        "none,4",
        "--gammas",
        "1e-2",
        "--folds",
        "3",
        "--features",
        "linear",
        "--json",
    ];
    let report = json(&ubauc(directory.path(), &tune));
    let points = report["points"].as_array().unwrap();
    for weight in [Value::from("none"), Value::from(4.0)] {
        assert!(points.iter().any(|p| p["class_weight"] == weight));
    }
    let train = [
        "train",
        "x.csv",
        "--class-weight",
        "4",
        "--folds",
        "3",
        "--features",
        "linear",
        "--json",
    ];
    let report = json(&ubauc(directory.path(), &train));
    assert_eq!(report["class_weight"], Value::from(4.0));
}

#[test]
fn number_of_threads_changes_no_byte() {
    let directory = file(600, 120);
    let run = |n: &str| ubauc(directory.path(), &[&SMALL[..], &["--threads", n]].concat());
    assert_eq!(run("1"), run("2"));
    assert_eq!(run("1"), run("8"));
}

#[test]
fn too_few_examples_of_a_class_are_refused_by_name() {
    let directory = file(200, 4);
    let output = ubauc(directory.path(), &["tune", "x.csv"]);
    let said = failure(&output);
    for word in ["x.csv", "class 1", "fewer folds", "--folds"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_grid_that_collapses_throughout_says_so() {
    let directory = file(600, 120);
    let output = ubauc(directory.path(), &["tune", "x.csv", "--betas", "1e-5"]);
    let said = failure(&output);
    assert!(
        said.contains("(beta 0.00001); give a larger --betas") && said.contains("collapsed"),
        "{said}"
    );
    // A path of gamma that is given is not made longer.
    let gammas = ["--gammas", "1e-1,1e-2,1e-3,1e-4,1e-5"];
    let given = [&["tune", "x.csv", "--betas", "1e-5,1"][..], &gammas].concat();
    let output = ubauc(directory.path(), &given);
    success(&output);
    assert!(
        stderr(&output).contains("of 25 points collapsed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn errors_name_the_options_of_their_command() {
    let directory = file(600, 120);
    let train = |arguments: &[&str]| {
        let output = ubauc(directory.path(), &[&["train", "x.csv"], arguments].concat());
        failure(&output).to_string()
    };
    let said = train(&["--beta", "1e-5"]);
    assert!(
        said.contains("give a larger --beta or --softness 1"),
        "{said}"
    );
    assert!(!said.contains("--betas"), "{said}");
    let said = train(&["--folds", "500"]);
    assert!(said.contains("use fewer folds (--folds)"), "{said}");
}

#[test]
fn values_without_meaning_are_wrong_usage() {
    let directory = file(50, 10);
    for (option, value) in [
        ("--betas", "0"),
        ("--gammas", "NaN"),
        ("--folds", "1"),
        ("--held-out", "1"),
        ("--least-squares", "squared"),
        ("--scale", "minmax"),
    ] {
        wrong_usage(&ubauc(directory.path(), &["tune", "x.csv", option, value]));
    }
}

#[test]
fn on_a9a_it_finishes_and_has_a_verdict() {
    let Some(data) = real_data("on_a9a_it_finishes_and_has_a_verdict") else {
        return;
    };
    let file = data.join("a9a/train.svm.zst");
    let arguments = ["tune", file.to_str().unwrap(), "--json", "--quiet"];
    let report = json(&ubauc(&data, &arguments));
    assert!(
        report["chosen"]["auc"].as_f64().unwrap() > 0.902,
        "{report}"
    );
    let ours = report["verdict"]["ours"]["auc"].as_f64().unwrap();
    assert!(ours > 0.89, "{ours}");
}

#[test]
fn without_a_grid_the_soft_family_is_searched() {
    let directory = file(600, 120);
    let words = ["train", "x.csv", "--json", "--model", "m.json"];
    let report = json(&ubauc(directory.path(), &words));
    let search = report["search"].as_array().unwrap();
    let of = |beta: f64, softness: f64| {
        let same = |p: &&serde_json::Value| p["beta"] == beta && p["softness"] == softness;
        search.iter().filter(same).count()
    };
    for (beta, softness) in [(0.0, 1.0), (0.5, 0.05), (0.1, 1.0)] {
        assert!(of(beta, softness) > 0, "{beta} {softness}");
    }
    let chosen: Vec<_> = search.iter().filter(|p| p["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    for key in ["beta", "gamma", "softness", "class_weight"] {
        assert_eq!(chosen[0][key], report[key], "{key}");
    }
    assert!(chosen[0]["se"].as_f64().unwrap() > 0.0);
    assert_eq!(report["stop"], "converged");
    assert!(report["gap"].as_f64().unwrap() <= 1e-6);
    let model = std::fs::read_to_string(directory.path().join("m.json")).unwrap();
    assert!(model.contains("softness") && model.contains("class_weight"));
    // The command of the last line trains the same.
    let tuned = json(&ubauc(directory.path(), &["tune", "x.csv", "--json"]));
    assert_eq!(tuned["chosen"]["gamma"], report["gamma"]);
    assert_eq!(tuned["chosen"]["softness"], report["softness"]);
}

#[test]
fn the_criterion_is_what_is_maximised() {
    let directory = file(600, 120);
    let run = |criterion: &str| {
        let words = ["tune", "x.csv", "--json", "--criterion", criterion];
        json(&ubauc(directory.path(), &words))
    };
    let (auc, partial) = (run("auc"), run("partial-auc:0.1"));
    let precision = run("average-precision");
    assert_eq!(partial["criterion"], "partial-auc:0.1");
    for report in [&auc, &partial, &precision] {
        let points = report["points"].as_array().unwrap();
        // Of the map that is chosen, which is the simplest that is not clearly behind.
        let of_map = points
            .iter()
            .filter(|p| p["map"] == report["chosen"]["map"]);
        let whole = of_map.filter(|p| p["stopped"] == false);
        let best = whole
            .map(|p| p["auc"].as_f64().unwrap())
            .fold(0.0, f64::max);
        assert_eq!(report["chosen"]["auc"], best);
    }
    // Class weights beyond none and balanced are tried for the left end of the curve alone.
    let has_ratios = |report: &Value| {
        let mut points = report["points"].as_array().unwrap().iter();
        points.any(|p| p["class_weight"].is_number())
    };
    assert!(has_ratios(&partial) && !has_ratios(&auc) && !has_ratios(&precision));
    // Average precision of 20 % positives is far below their AUC.
    assert!(precision["chosen"]["auc"].as_f64() < auc["chosen"]["auc"].as_f64());
    for wrong in ["partial-auc", "partial-auc:0", "partial-auc:2", "f1"] {
        let words = ["tune", "x.csv", "--criterion", wrong];
        assert!(wrong_usage(&ubauc(directory.path(), &words)).contains("partial-auc:F"));
    }
}

#[test]
fn groups_are_a_column_that_is_no_feature() {
    let directory = file(600, 120);
    let text = std::fs::read_to_string(directory.path().join("x.csv")).unwrap();
    let mut lines = text.lines();
    let mut grouped = format!("{},patient\n", lines.next().unwrap());
    for (i, line) in lines.enumerate() {
        writeln!(grouped, "{line},{}", i / 2).unwrap();
    }
    std::fs::write(directory.path().join("g.csv"), grouped).unwrap();
    let words = [
        "train", "g.csv", "--json", "--group", "patient", "--model", "m.json",
    ];
    let report = json(&ubauc(directory.path(), &words));
    // Whatever is made of them.
    assert_eq!(report["features"]["columns"].as_array().unwrap().len(), 3);
    let fixed = ["--beta", "0.5", "--gamma", "1e-3"];
    let fixed = [
        &["train", "g.csv", "--json", "--group", "patient"],
        &fixed[..],
    ]
    .concat();
    let grouped = json(&ubauc(directory.path(), &fixed));
    let words = [
        "train", "g.csv", "--json", "--ignore", "patient", "--beta", "0.5", "--gamma", "1e-3",
    ];
    let alone = json(&ubauc(directory.path(), &words));
    assert_eq!(grouped["train_auc"], alone["train_auc"]);
    assert_ne!(grouped["train_ci95"], alone["train_ci95"]);
    let words = ["tune", "g.csv", "--group", "doctor"];
    assert!(failure(&ubauc(directory.path(), &words)).contains("no group column 'doctor'"));
}

#[test]
fn time_that_is_up_is_no_failure() {
    let directory = file(600, 120);
    let output = ubauc(
        directory.path(),
        &["train", "x.csv", "--json", "--time-limit", "0"],
    );
    let report = json(&output);
    assert_eq!(report["stop"], "converged");
    assert!(
        stderr(&output).contains("the time limit was reached"),
        "{}",
        stderr(&output)
    );
    for wrong in ["-1", "NaN", "soon"] {
        wrong_usage(&ubauc(
            directory.path(),
            &["train", "x.csv", "--time-limit", wrong],
        ));
    }
    // Nothing is searched here.
    let words = [
        "train",
        "x.csv",
        "--beta",
        "1",
        "--gamma",
        "1",
        "--time-limit",
        "1",
    ];
    assert!(wrong_usage(&ubauc(directory.path(), &words)).contains("--time-limit"));
}

/// Whether the process handles Ctrl-C by now.
#[cfg(target_os = "linux")]
fn catches_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask.is_some_and(|mask| mask & 2 != 0)
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_during_the_search_takes_the_best_so_far() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let generate = "data generate --rows 60000 --dim 60 --output x.svm";
    let words: Vec<&str> = generate.split(' ').collect();
    success(&ubauc(dir, &words));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(dir)
        .args("train x.svm --on-interrupt best --model m.json".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !catches_interrupts(child.id()) {
        assert!(started.elapsed() < Duration::from_secs(60), "no search");
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = ["-INT", &child.id().to_string()].map(str::to_string);
    assert!(Command::new("kill").args(kill).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("note: interrupted; the best of "), "{said}");
    assert!(dir.join("m.json").exists());
}
