//! Streams of SOLAM, OPAUC and OAM: the same checkpoints, resuming and reports as those of ol-ubauc.

use std::fs;

use super::{checkpoints, learn, learn_file, learned, names, same_file};
use crate::process::{directory_with, failure, json, keys, stderr, success, ubauc, wrong_usage};
use crate::train::overlapping;

/// Every algorithm, in each of its forms.
pub(super) const STREAMS: [&[&str]; 6] = [
    &["--algorithm", "solam", "--zeta", "0.5", "--radius", "3"],
    &["--algorithm", "opauc", "--eta", "0.01"],
    &["--algorithm", "opauc", "--eta", "0.01", "--tau", "3"],
    &["--algorithm", "oam-seq", "--C", "0.01", "--buffer", "20"],
    &["--algorithm", "oam-gra", "--C", "0.001", "--buffer", "20"],
    &["--algorithm", "oam-seq", "--C", "0.01", "--average"],
];

const SAVING: [&str; 6] = ["--checkpoint", "ck", "--every", "500", "--model", "m.json"];

/// The first lines of a text.
fn first(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').take(lines).collect()
}

#[test]
fn a_resumed_stream_ends_with_the_same_bytes() {
    for stream in STREAMS {
        let (directory, text) = learned(2_000, stream);
        let dir = directory.path();
        for cut in [3, 700, 1_300] {
            let words = [&SAVING[..], stream].concat();
            success(&learn(dir, &first(&text, cut), &words));
            let again = [&words[..], &["--resume", "--json"]].concat();
            let report = json(&learn_file(dir, "x.svm", &again));
            assert_eq!(report["resumed_at"], cut, "{stream:?}");
            same_file(dir, "m.json", "whole.json");
            fs::remove_dir_all(dir.join("ck")).unwrap();
        }
        // From a pipe, in other pieces, and by more threads.
        let words = [stream, &["--model", "m.json", "--threads", "8"]].concat();
        success(&learn(dir, &text, &words));
        same_file(dir, "m.json", "whole.json");
    }
}

#[test]
fn the_report_has_the_parameters_and_the_model_predicts_what_learn_would() {
    for stream in STREAMS {
        for more in [&[][..], &["--hash-bits", "5"], &["--scale", "none"]] {
            let directory = directory_with(&[("new.svm", &overlapping(40, 12))]);
            let dir = directory.path();
            let new = overlapping(40, 12)
                .replace("+1 ", "? ")
                .replace("-1 ", "? ");
            let text = overlapping(1_500, 9) + &new;
            let words = [stream, more, &["--predict", "--model", "m.json"]].concat();
            let output = learn(dir, &text, &words);
            assert!(!stderr(&output).contains("eta0"), "{}", stderr(&output));
            let scores: Vec<f64> = success(&output)
                .lines()
                .skip(1_501)
                .map(|score| score.parse().unwrap())
                .collect();
            let output = ubauc(dir, &["predict", "--model", "m.json", "new.svm"]);
            let of_model = success(&output).lines().skip(1);
            assert_eq!(scores.len(), 40);
            for (score, of_model) in scores.iter().zip(of_model) {
                let of_model: f64 = of_model.parse().unwrap();
                assert!((score - of_model).abs() <= 1e-12 * (1.0 + score.abs()));
            }

            fs::write(dir.join("x.svm"), overlapping(1_500, 9)).unwrap();
            let words = [stream, more, &["--json"]].concat();
            let report = json(&learn_file(dir, "x.svm", &words));
            assert_eq!(report["algorithm"], stream[1]);
            let name = stream[2].trim_start_matches("--");
            assert_eq!(
                report["parameters"][name].as_f64().unwrap(),
                stream[3].parse::<f64>().unwrap()
            );
            for absent in ["beta", "gamma", "eta0"] {
                assert!(!keys(&report).contains(&absent), "{absent}");
            }
            assert!(report["progressive_auc"]["auc"].as_f64().unwrap() > 0.7);
            let text = fs::read_to_string(dir.join("m.json")).unwrap();
            let algorithm = format!("\"algorithm\": \"{}\"", stream[1]);
            assert!(text.contains(&algorithm), "{text}");
        }
    }
}

/// Without a scale and with the longest row first, a stream is a pass of `train` over the rows in their order.
#[test]
fn a_stream_is_a_pass_of_train() {
    let mut lines: Vec<String> = overlapping(600, 9).lines().map(String::from).collect();
    let norm = |line: &String| -> f64 {
        let values = line.split(' ').skip(1).map(|field| {
            let x: f64 = field.split(':').nth(1).unwrap().parse().unwrap();
            x * x
        });
        values.sum()
    };
    lines.sort_by(|a, b| norm(b).total_cmp(&norm(a)));
    let directory = directory_with(&[("x.svm", &(lines.join("\n") + "\n"))]);
    let dir = directory.path();
    let weights = |name: &str| {
        let saved = ubauc::model_file::SavedModel::load(&dir.join(name)).unwrap();
        saved.model.weights
    };
    for stream in STREAMS {
        let common = ["--scale", "none", "--seed", "3", "--quiet", "--model"];
        let words = [stream, &common, &["l.json"]].concat();
        success(&learn_file(dir, "x.svm", &words));
        let mut words = vec!["train", "x.svm", "--no-shuffle", "--passes", "1"];
        words.extend(stream.iter().chain(&common).chain(&["t.json"]));
        if stream[1] == "opauc" {
            words.extend(["--lambda", "0.0001"]);
        }
        success(&ubauc(dir, &words));
        let (ours, theirs) = (weights("l.json"), weights("t.json"));
        assert_eq!(ours.len(), theirs.len());
        let size = theirs.iter().fold(0.0, |size: f64, w| size.max(w.abs()));
        assert!(size > 0.0);
        for (a, b) in ours.iter().zip(&theirs) {
            assert!((a - b).abs() <= 1e-11 * size, "{a} {b} {stream:?}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_algorithm_or_with_other_options_is_refused_by_name() {
    let (directory, text) = learned(600, &[]);
    let dir = directory.path();
    let of = |stream: &[&str], more: &[&str]| {
        let words = [&SAVING[..], stream, more].concat();
        learn(dir, &text, &words)
    };
    success(&of(&[], &[]));
    for stream in STREAMS {
        let output = of(stream, &["--resume"]);
        let expected = format!("--algorithm is {}, and was ol-ubauc", stream[1]);
        assert!(
            wrong_usage(&output).contains(&expected),
            "{}",
            stderr(&output)
        );
    }
    success(&of(STREAMS[3], &["--fresh"]));
    for (words, expected) in [
        (&[][..], "--algorithm is ol-ubauc, and was oam-seq"),
        (STREAMS[4], "--algorithm is oam-gra, and was oam-seq"),
        (
            &["--algorithm", "oam-seq", "--C", "0.5", "--buffer", "20"],
            "--C is 0.5, and was 0.01",
        ),
        (
            &["--algorithm", "oam-seq", "--C", "0.01"],
            "--buffer is 100, and was 20",
        ),
        (
            &[STREAMS[3], &["--average"]].concat(),
            "--average is true, and was none",
        ),
        (
            &[STREAMS[3], &["--seed", "2"]].concat(),
            "--seed is 2, and was 1",
        ),
        (
            &[STREAMS[3], &["--scale", "none"]].concat(),
            "--scale is none, and was maxabs",
        ),
    ] {
        let output = of(words, &["--resume"]);
        assert!(
            wrong_usage(&output).contains(expected),
            "{}",
            stderr(&output)
        );
    }
    let soft = ["--softness", "1", "--beta", "0"];
    success(&of(&soft, &["--fresh"]));
    for (words, expected) in [
        (
            &["--softness", "2", "--beta", "0"][..],
            "--softness is 2.0, and was 1.0",
        ),
        (
            &[&soft[..], &["--class-weight", "balanced"]].concat(),
            "--class-weight is balanced, and was none",
        ),
    ] {
        let output = of(words, &["--resume"]);
        assert!(
            wrong_usage(&output).contains(expected),
            "{}",
            stderr(&output)
        );
    }
    // SOLAM has nothing random.
    success(&of(STREAMS[0], &["--fresh"]));
    success(&of(STREAMS[0], &["--resume", "--seed", "9"]));
}

#[test]
fn options_of_others_are_refused_and_say_whose_they_are() {
    let options: [(&[&str], &[&str]); 20] = [
        (&["--beta", "1"], &["ol-ubauc"]),
        (&["--gamma", "1"], &["ol-ubauc"]),
        (&["--softness", "1"], &["ol-ubauc"]),
        (&["--class-weight", "balanced"], &["ol-ubauc"]),
        (&["--least-squares", "plain"], &["ol-ubauc"]),
        (&["--no-intercept"], &["ol-ubauc"]),
        (&["--step", "sgd"], &["ol-ubauc"]),
        (&["--schedule", "sqrt"], &["ol-ubauc"]),
        (&["--eta0", "1"], &["ol-ubauc"]),
        (&["--no-average"], &["ol-ubauc"]),
        (&["--initial-model", "m.json"], &["ol-ubauc"]),
        (&["--weight", "w"], &["ol-ubauc"]),
        (&["--average"], &["ol-ubauc", "oam-seq", "oam-gra"]),
        (&["--radius", "1"], &["ol-ubauc", "solam"]),
        (&["--zeta", "1"], &["solam"]),
        (&["--eta", "0.1"], &["opauc"]),
        (&["--lambda", "0.1"], &["opauc"]),
        (&["--tau", "2"], &["opauc"]),
        (&["--C", "1"], &["oam-seq", "oam-gra"]),
        (&["--buffer", "9"], &["oam-seq", "oam-gra"]),
    ];
    let directory = directory_with(&[("x.svm", &overlapping(60, 9))]);
    let dir = directory.path();
    let needs_file = ["--initial-model", "--weight"];
    for (option, of) in options {
        for algorithm in ["ol-ubauc", "solam", "opauc", "oam-seq", "oam-gra"] {
            let words = [&["--algorithm", algorithm, "--quiet"], option].concat();
            let output = learn_file(dir, "x.svm", &words);
            if of.contains(&algorithm) {
                if !needs_file.contains(&option[0]) {
                    success(&output);
                }
                continue;
            }
            let text = wrong_usage(&output);
            let expected = format!("{} is for ", option[0]);
            assert!(text.contains(&expected), "{text}");
            assert!(text.contains(&format!("not for {algorithm}")), "{text}");
            assert!(of.iter().all(|owner| text.contains(owner)), "{text}");
        }
    }
    let refused = |words: &[&str], expected: &str| {
        let output = learn_file(dir, "x.svm", words);
        let text = wrong_usage(&output);
        assert!(text.contains(expected), "{text}");
    };
    refused(
        &["--algorithm", "oam-seq", "--average", "7"],
        "--average 7 is for ol-ubauc",
    );
    refused(&["--beta", "0"], "beta");
    refused(&["--softness", "-1"], "softness");
    refused(&["--softness", "inf"], "softness");
    refused(&["--class-weight", "heavy"], "--class-weight");
    refused(&["--algorithm", "svm"], "svm");
    refused(&["--algorithm", "solam", "--zeta", "0"], "zeta");
    refused(&["--algorithm", "oam-gra", "--buffer", "0"], "buffer");
    // The number of the average is that of ol-ubauc, and 1 if none is given.
    let model = |words: &[&str], name: &str| {
        let words = [&["--model", name, "--quiet"], words].concat();
        success(&learn_file(dir, "x.svm", &words));
    };
    model(&[], "one.json");
    model(&["--average"], "two.json");
    same_file(dir, "one.json", "two.json");
}

#[test]
fn columns_of_a_table_are_all_in_the_model_and_choose_the_rank() {
    let table = |columns: usize| {
        let head: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
        let mut text = format!("label,{}\n", head.join(","));
        for i in 0..30 {
            let row: Vec<String> = (0..columns)
                .map(|j| ((i * 7 + j * 3 + usize::from(i % 3 == 0)) % 5).to_string())
                .collect();
            text += &format!("{},{}\n", u8::from(i % 3 == 0), row.join(","));
        }
        text
    };
    let directory = directory_with(&[("narrow.csv", &table(5)), ("wide.csv", &table(1_001))]);
    let dir = directory.path();
    let opauc = ["--algorithm", "opauc", "--eta", "0.001", "--quiet"];
    let words = |more: &[&'static str]| [&opauc[..], &["--json", "--model"], more].concat();
    let report = json(&learn_file(dir, "narrow.csv", &words(&["m.json"])));
    assert_eq!(report["d"], 5);
    for (file, same, other) in [("narrow.csv", "0", "50"), ("wide.csv", "50", "0")] {
        success(&learn_file(dir, file, &words(&["auto.json"])));
        let weights = |name: &str| {
            let saved = ubauc::model_file::SavedModel::load(&dir.join(name)).unwrap();
            saved.model.weights
        };
        let of_rank = |rank: &'static str| {
            success(&learn_file(dir, file, &words(&["r.json", "--tau", rank])));
            weights("r.json")
        };
        assert_eq!(weights("auto.json"), of_rank(same), "{file}");
        assert_ne!(weights("auto.json"), of_rank(other), "{file}");
    }
    // svmlight does not say how many there will be.
    let wide = "1 1:1\n0 2:1\n1 1001:1\n";
    let text = learn(dir, wide, &opauc);
    let text = wrong_usage(&text).to_string();
    assert!(
        text.contains("example 3") && text.contains("tau") && text.contains("hash"),
        "{text}"
    );
    for more in [&["--tau", "3"][..], &["--hash-bits", "12"]] {
        success(&learn(dir, wide, &[&opauc[..], more].concat()));
    }
}

#[test]
fn steps_that_diverge_are_reported_with_the_example() {
    let directory = directory_with(&[("x.svm", &overlapping(500, 9))]);
    let words = ["--algorithm", "opauc", "--eta", "1e9", "--model", "m.json"];
    let output = learn_file(directory.path(), "x.svm", &words);
    let text = failure(&output);
    assert!(
        text.contains("x.svm: example ") && text.contains("diverge"),
        "{text}"
    );
    assert!(!directory.path().join("m.json").exists());
}

#[test]
fn damaged_checkpoints_leave_the_one_before() {
    for stream in STREAMS {
        let (directory, text) = learned(1_500, stream);
        let dir = directory.path();
        let words = [&SAVING[..], stream].concat();
        success(&learn(dir, &first(&text, 1_200), &words));
        let [_, newest] = &checkpoints(&dir.join("ck"))[..] else {
            panic!("two checkpoints")
        };
        let mut bytes = fs::read(newest).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(newest, bytes).unwrap();
        let again = [&words[..], &["--resume", "--json"]].concat();
        assert_eq!(json(&learn_file(dir, "x.svm", &again))["resumed_at"], 1_000);
        same_file(dir, "m.json", "whole.json");
        assert!(names(&dir.join("ck")).contains(&"checkpoint-00000000000000001200.damaged".into()));
    }
}
