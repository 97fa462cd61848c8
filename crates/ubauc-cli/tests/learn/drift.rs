//! Streams that change: half-life, window and alarm.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use ubauc::metrics::auc;

use super::rivals::STREAMS;
use super::{learn, learn_file, same_file};
use crate::process::{directory_with, json, keys, stderr, success, wrong_usage};

/// Two features. The first tells the classes apart; from row `turn` on its opposite does.
pub(super) fn turning(rows: u64, turn: u64) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let noise = |k: u64| (i.wrapping_mul(k) % 10_007) as f64 / 10_007.0 - 0.5;
        let positive = noise(40_503) < 0.0;
        let sign = if positive == (i < turn) { 1.0 } else { -1.0 };
        let label = if positive { "+1" } else { "-1" };
        let x = 0.3 * sign + noise(7_919);
        writeln!(text, "{label} 1:{x:.4} 2:{:.4}", noise(97)).unwrap();
    }
    text
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// What a report says of the stream, and not of the time or the place.
fn of_stream(report: &Value) -> Vec<Value> {
    let names = [
        "n",
        "eta0",
        "lambda",
        "steps",
        "progressive_auc",
        "overall_auc",
        "window",
        "alarms",
    ];
    names.iter().map(|name| report[name].clone()).collect()
}

#[test]
fn forgetting_follows_what_turns() {
    let directory = directory_with(&[("x.svm", &turning(12_000, 6_000))]);
    let dir = directory.path();
    let last = |more: &str| {
        let words = words(more);
        let report = json(&learn_file(dir, "x.svm", &words));
        report["window"]["auc"].as_f64().unwrap()
    };
    let plain = last("--window 2000 --json");
    let forgets = last("--window 2000 --half-life 300 --json");
    assert!(plain < 0.7 && forgets > 0.85, "{plain} {forgets}");
}

#[test]
fn the_aucs_are_those_of_the_scores() {
    let text = turning(4_000, 2_500);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let given = "--eta0 0.5 --predict --output s.csv --window 700 --half-life 250 --json \
                 --progress-json p.jsonl --report-every 1500";
    let report = json(&learn_file(dir, "x.svm", &words(given)));
    let scores: Vec<f64> = fs::read_to_string(dir.join("s.csv"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.parse().unwrap())
        .collect();
    let positive: Vec<bool> = text.lines().map(|line| line.starts_with('+')).collect();
    let window = |to: usize| auc(&scores[to - 700..to], &positive[to - 700..to]).unwrap();
    assert_eq!(report["window"]["size"], 700);
    assert_eq!(report["window"]["n"], 700);
    assert_eq!(report["window"]["auc"], window(4_000).auc);
    let lines = fs::read_to_string(dir.join("p.jsonl")).unwrap();
    for (line, at) in lines.lines().zip([1_500, 3_000, 4_000]) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["examples"], at);
        assert_eq!(line["window_auc"], window(at).auc);
        assert_eq!(line["window_error_bound"], 0.0);
        assert!(line.get("alarms").is_none());
    }
    // Pair by pair, with the weights of the definition.
    let weight = |s: usize| 0.5_f64.powf((3_999 - s) as f64 / 250.0);
    let (mut wins, mut pairs) = (0.0, 0.0);
    for i in (0..4_000).filter(|&i| positive[i]) {
        for j in (0..4_000).filter(|&j| !positive[j]) {
            let won = if scores[i] > scores[j] { 1.0 } else { 0.0 };
            let tied = if scores[i] == scores[j] { 0.5 } else { 0.0 };
            wins += weight(i) * weight(j) * (won + tied);
            pairs += weight(i) * weight(j);
        }
    }
    let found = &report["progressive_auc"];
    let number = |name: &str| found[name].as_f64().unwrap();
    assert!((number("auc") - wins / pairs).abs() <= number("error_bound") + 1e-12);
    assert!(number("error_bound") < 1e-2, "{found}");
    let all = auc(&scores, &positive).unwrap().auc;
    let overall = &report["overall_auc"];
    let number = |name: &str| overall[name].as_f64().unwrap();
    assert!(number("lower") <= all && all <= number("upper"));
    assert_eq!(report["half_life"], 250.0);
}

#[test]
fn without_the_options_the_report_is_as_it_was() {
    let directory = directory_with(&[("x.svm", &turning(1_200, 1_200))]);
    let report = json(&learn_file(directory.path(), "x.svm", &["--json"]));
    for name in ["half_life", "overall_auc", "window", "alarms"] {
        assert!(!keys(&report).contains(&name), "{name}");
    }
}

#[test]
fn a_fall_is_reported_with_its_place_by_every_algorithm() {
    let directory = directory_with(&[("x.svm", &turning(9_000, 6_000))]);
    let dir = directory.path();
    let streams = [&[][..]].into_iter().chain(STREAMS);
    for stream in streams {
        let given = words("--alarm 0.01 --window 500 --json");
        let output = learn_file(dir, "x.svm", &[stream, &given].concat());
        let report = json(&output);
        let alarms = report["alarms"].as_array().unwrap();
        assert!(!alarms.is_empty(), "{stream:?}: {report}");
        let fall = &alarms[0];
        let number = |name: &str| fall[name].as_f64().unwrap();
        assert!((6_001.0..=8_000.0).contains(&number("example")), "{fall}");
        assert!((5_000.0..=7_001.0).contains(&number("since")), "{fall}");
        assert!(number("auc_since") < number("auc_before"));
        assert!(number("p") < number("level") && number("level") < 0.01);
        let printed = stderr(&output);
        let expected = format!(
            "warning: x.svm: example {},000: the AUC has fallen: AUC 0.",
            number("example") / 1_000.0
        );
        assert!(printed.contains(&expected), "{printed}");
        assert!(report["window"]["auc"].is_f64());
    }
    // Nothing falls, nothing is reported.
    let directory = directory_with(&[("x.svm", &turning(9_000, 9_000))]);
    let output = learn_file(
        directory.path(),
        "x.svm",
        &words("--alarm 0.05 --half-life 2000"),
    );
    assert!(success(&output).contains("alarms") && !stderr(&output).contains("fallen"));
}

#[test]
fn an_alarm_may_end_the_run_which_goes_on_when_resumed() {
    let directory = directory_with(&[("x.svm", &turning(9_000, 6_000))]);
    let dir = directory.path();
    let given = words("--alarm 0.01 --on-alarm stop --checkpoint ck --model m.json --json");
    let output = learn_file(dir, "x.svm", &given);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["stop"], "alarm");
    let at = report["alarms"][0]["example"].as_u64().unwrap();
    assert_eq!(report["n"], at);
    assert!(stderr(&output).contains("stopped by an alarm; saved after"));
    let model = fs::read_to_string(dir.join("m.json")).unwrap();
    assert!(model.contains("\"on_alarm\":\"stop\"") || model.contains("\"on_alarm\": \"stop\""));
    let output = learn_file(dir, "x.svm", &[&given[..], &["--resume"]].concat());
    let report = json(&output);
    assert_eq!(report["resumed_at"], at);
    assert_eq!(report["n"], 9_000);
    assert_eq!(report["alarms"].as_array().unwrap().len(), 1);
}

#[test]
fn a_restart_learns_as_if_the_stream_began_there() {
    let text = turning(9_000, 6_000);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let streams = [&["--eta0", "0.5"][..]].into_iter().chain(STREAMS);
    for stream in streams {
        let given = words("--alarm 0.01 --on-alarm restart --model m.json --json");
        let report = json(&learn_file(dir, "x.svm", &[stream, &given].concat()));
        let alarms = report["alarms"].as_array().unwrap();
        let at = alarms.last().unwrap()["example"].as_u64().unwrap() as usize;
        let rest: String = text.split_inclusive('\n').skip(at).collect();
        success(&learn(
            dir,
            &rest,
            &[stream, &["--model", "rest.json"]].concat(),
        ));
        let weights = |name: &str| -> Value {
            let text = fs::read_to_string(dir.join(name)).unwrap();
            let model: Value = serde_json::from_str(&text).unwrap();
            model["weights"].clone()
        };
        assert!(!weights("m.json").is_null());
        assert_eq!(weights("m.json"), weights("rest.json"), "{stream:?}");
    }
}

#[test]
fn a_resumed_stream_ends_with_the_same_bytes() {
    let text = turning(9_000, 6_000);
    let all = "--half-life 1500 --window 900 --alarm 0.05 --on-alarm restart --json";
    let rival = "--algorithm oam-seq --C 0.01 --window 900 --alarm 0.05 --on-alarm restart --json";
    let short = "--half-life 9.5 --class-weight balanced --alarm 0.05 --json";
    for given in [all, rival, short] {
        let directory = directory_with(&[("x.svm", &text)]);
        let dir = directory.path();
        let given = words(given);
        let whole = json(&learn_file(
            dir,
            "x.svm",
            &[&given[..], &["--model", "whole.json"]].concat(),
        ));
        for cuts in [
            &[700][..],
            &[1_500, 6_100],
            &[7_000],
            &[6_500, 6_900, 8_999],
        ] {
            let saving = words("--checkpoint ck --model m.json");
            let mut words = [&given[..], &saving].concat();
            for &cut in cuts {
                let head: String = text.split_inclusive('\n').take(cut).collect();
                success(&learn(dir, &head, &words));
                if words.last() != Some(&"--resume") {
                    words.push("--resume");
                }
            }
            let report = json(&learn_file(dir, "x.svm", &words));
            assert_eq!(of_stream(&report), of_stream(&whole), "{cuts:?}");
            same_file(dir, "m.json", "whole.json");
            fs::remove_dir_all(dir.join("ck")).unwrap();
        }
    }
}

#[test]
fn a_half_life_without_end_changes_no_weight() {
    let directory = directory_with(&[("x.svm", &turning(3_000, 2_000))]);
    let dir = directory.path();
    for (more, name) in [(&[][..], "a.json"), (&["--half-life", "1e300"], "b.json")] {
        success(&learn_file(
            dir,
            "x.svm",
            &[more, &["--model", name]].concat(),
        ));
    }
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(dir.join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (a, b) = (read("a.json"), read("b.json"));
    assert_eq!(a["weights"], b["weights"]);
    assert_eq!(a["certificate"]["lambda"], b["certificate"]["lambda"]);
    assert_eq!(b["parameters"]["half_life"], 1e300);
    assert!(a["parameters"].get("half_life").is_none());
}

#[test]
fn what_has_no_meaning_is_refused() {
    let directory = directory_with(&[("x.svm", &turning(300, 300))]);
    let dir = directory.path();
    for (given, named) in [
        ("--half-life 0.5", "--half-life"),
        ("--half-life -3", "--half-life"),
        ("--half-life nan", "--half-life"),
        ("--window 0", "--window"),
        ("--window 10000001", "--window"),
        ("--alarm 0", "--alarm"),
        ("--alarm 1", "--alarm"),
        ("--on-alarm stop", "--alarm"),
        ("--algorithm solam --half-life 100", "--half-life"),
        ("--algorithm opauc --half-life 100", "--half-life"),
        ("--algorithm oam-gra --half-life 100", "--half-life"),
    ] {
        let output = learn_file(dir, "x.svm", &words(given));
        let printed = wrong_usage(&output);
        assert!(printed.contains(named), "{given}: {printed}");
    }
    // A checkpoint goes on only as it began.
    let saving = words("--checkpoint ck --half-life 100 --window 50 --alarm 0.1");
    success(&learn_file(dir, "x.svm", &saving));
    for (given, named) in [
        (
            "--half-life 200 --window 50 --alarm 0.1",
            "--half-life is 200",
        ),
        ("--half-life 100 --alarm 0.1", "--window is none"),
        ("--half-life 100 --window 50", "--alarm is none"),
        (
            "--half-life 100 --window 50 --alarm 0.1 --on-alarm stop",
            "--on-alarm is stop",
        ),
    ] {
        let given = format!("--checkpoint ck --resume {given}");
        let output = learn_file(dir, "x.svm", &words(&given));
        let printed = wrong_usage(&output);
        assert!(printed.contains(named), "{given}: {printed}");
    }
}
