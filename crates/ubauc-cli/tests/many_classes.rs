//! More than two classes: a scorer for each, from `train` to `evaluate`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::process::{
    directory_with, failure, json, keys, stderr, stdout, success, ubauc, wrong_usage,
};

const GIVEN: [&str; 6] = ["--beta", "0.5", "--gamma", "0.01", "--softness", "0.1"];

/// Three classes of different sizes that overlap, as a table of numbers or with a category.
fn three(rows: u64, with_category: bool) -> String {
    let mut state = 11_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
    };
    let head = if with_category { ",colour" } else { "" };
    let mut text = format!("kind,x,y{head}\n");
    for i in 0..rows {
        let (class, centre) = match i % 10 {
            0 => ("oak", [0.5, 0.1]),
            1..=3 => ("ash", [0.0, 0.5]),
            _ => ("elm", [0.0, 0.0]),
        };
        let [x, y] = centre.map(|c| c + next());
        write!(text, "{class},{x:.4},{y:.4}").unwrap();
        if with_category {
            let colour = if next() > 0.1 { "red" } else { "blue" };
            write!(text, ",{colour}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// A(c|d) of columns of scores, pair by pair.
fn by_pairs(scores: &[Vec<f64>], classes: &[String], names: &[&str]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (column, c) in names.iter().enumerate() {
        for d in names.iter().filter(|d| *d != c) {
            let of = |class: &str| -> Vec<f64> {
                let rows = (0..classes.len()).filter(|&i| classes[i] == class);
                rows.map(|i| scores[i][column]).collect()
            };
            let (high, low) = (of(c), of(d));
            let won = |h: &f64, l: &f64| match h.total_cmp(l) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            let wins: f64 = high
                .iter()
                .map(|h| low.iter().map(|l| won(h, l)).sum::<f64>())
                .sum();
            sum += wins / (high.len() * low.len()) as f64;
            pairs += 1.0;
        }
    }
    sum / pairs
}

#[test]
fn train_predict_and_evaluate_agree_with_pairs() {
    for with_category in [false, true] {
        let text = three(300, with_category);
        let directory = directory_with(&[("x.csv", &text)]);
        let train = [
            "train", "x.csv", "--label", "kind", "--test", "x.csv", "--json",
        ];
        let words = [&train[..], &["--model", "m.json"], &GIVEN].concat();
        let output = ubauc(directory.path(), &words);
        let report = json(&output);
        assert!(stderr(&output).contains("3 classes"), "{}", stderr(&output));
        assert_eq!(report["multi_class"], "hand-till");
        assert_eq!(report["classes"], serde_json::json!(["ash", "elm", "oak"]));
        assert!(report["gap"].as_f64().unwrap() <= 1e-6);
        // Of all examples and of those of the test.
        assert_eq!(stdout(&output).matches("\"n\":300,").count(), 2);
        assert_eq!(report["n"], 300);
        assert_eq!(report["skipped"], 0);
        let columns = report["features"]["columns"].as_array().unwrap();
        assert_eq!(columns.len(), 2 + usize::from(with_category));
        let predicted = ubauc(
            directory.path(),
            &["predict", "x.csv", "--model", "m.json", "--classes"],
        );
        let mut lines = success(&predicted).lines();
        assert_eq!(lines.next(), Some("ash,elm,oak,class"));
        let mut right = 0;
        let classes: Vec<String> = (text.lines().skip(1))
            .map(|line| line.split(',').next().unwrap().to_string())
            .collect();
        let mut scores = Vec::new();
        for (line, class) in lines.zip(&classes) {
            let fields: Vec<&str> = line.split(',').collect();
            scores.push(
                fields[..3]
                    .iter()
                    .map(|x| x.parse().unwrap())
                    .collect::<Vec<f64>>(),
            );
            right += usize::from(fields[3] == class);
        }
        assert_eq!(scores.len(), 300);
        assert!(right > 180, "{right}");
        let m = by_pairs(&scores, &classes, &["ash", "elm", "oak"]);
        let found = json(&ubauc(
            directory.path(),
            &["evaluate", "x.csv", "--model", "m.json", "--json"],
        ));
        assert_eq!(keys(&found), ["class_aucs", "classes", "hand_till"]);
        let close = |value: &Value| (value.as_f64().unwrap() - m).abs() < 1e-12;
        assert!(close(&found["hand_till"]["m"]), "{found} {m}");
        assert!(
            close(&report["test_auc"]["auc"]) && close(&report["train_auc"]),
            "{report} {m}"
        );
        let aucs = found["class_aucs"].as_array().unwrap().iter();
        let mean = aucs.map(|a| a.as_f64().unwrap()).sum::<f64>() / 3.0;
        assert!((mean - m).abs() < 1e-12);
    }
}

#[test]
fn the_report_says_what_was_made_of_every_column_and_line() {
    let mut text = three(300, true);
    text.push_str("oak,1\n");
    let directory = directory_with(&[("x.csv", &text)]);
    let train = ["train", "x.csv", "--label", "kind", "--on-error", "skip"];
    let words = [&train[..], &GIVEN, &["--json"]].concat();
    let output = ubauc(directory.path(), &words);
    let report = json(&output);
    assert_eq!(report["skipped"], 1);
    assert_eq!(report["features"]["columns"][2]["kind"], "category");
    let output = ubauc(directory.path(), &words[..words.len() - 1]);
    assert!(success(&output).contains("colour"), "{}", stdout(&output));
}

#[test]
fn the_loss_is_chosen_once_for_all_classes() {
    let text = three(400, false);
    let directory = directory_with(&[("x.csv", &text)]);
    let words = [
        "train", "x.csv", "--label", "kind", "--json", "--folds", "3",
    ];
    let report = json(&ubauc(directory.path(), &words));
    let search = report["search"].as_array().unwrap();
    let chosen: Vec<&Value> = search.iter().filter(|p| p["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["gamma"], report["gamma"]);
    assert!(report["train_auc"].as_f64().unwrap() > 0.75, "{report}");
    assert_eq!(report["scorers"].as_array().unwrap().len(), 3);
}

#[test]
fn the_rows_scorer_is_that_of_a_weighted_fit() {
    // Weights of the class ash against the rest by hand: 210 others, each class 105.
    let text = three(300, false);
    let mut weighted = "kind,x,y,w\n".to_string();
    for line in text.lines().skip(1) {
        let weight = match line.split(',').next().unwrap() {
            "ash" => 1.0,
            "elm" => 105.0 / 180.0,
            _ => 105.0 / 30.0,
        };
        writeln!(weighted, "{line},{weight}").unwrap();
    }
    let directory = directory_with(&[("x.csv", &text), ("w.csv", &weighted)]);
    let one = [
        &[
            "train", "w.csv", "--label", "kind", "--weight", "w", "--json",
        ][..],
        &["--positive", "ash"],
        &GIVEN,
    ]
    .concat();
    let one = json(&ubauc(directory.path(), &one));
    let all = [&["train", "x.csv", "--label", "kind", "--json"][..], &GIVEN].concat();
    let all = json(&ubauc(directory.path(), &all));
    let scorer = &all["scorers"][0];
    let close = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-12;
    assert!(
        close(&scorer["objective"], &one["objective"]),
        "{scorer} {one}"
    );
    assert!(
        close(&scorer["train_auc"], &one["train_auc"]),
        "{scorer} {one}"
    );
}

#[test]
fn what_is_for_two_classes_is_refused_by_name() {
    let text = three(60, false);
    let directory = directory_with(&[("x.csv", &text)]);
    let train = |more: &[&str]| {
        let words = [&["train", "x.csv", "--label", "kind"], more].concat();
        ubauc(directory.path(), &words)
    };
    for more in [
        &["--features", "additive"][..],
        &["--increasing", "x"],
        &["--group", "y"],
        &["--cost-fp", "2", "--report", "page.html"],
        &[
            "--points",
            "pdo=20,odds=50,base=600",
            "--report",
            "page.html",
        ],
        &["--held-out", "0.1"],
        &["--criterion", "average-precision"],
        &["--algorithm", "svm"],
    ] {
        let output = train(more);
        let message = wrong_usage(&output);
        assert!(
            message.contains(more[0]) && message.contains("--positive ash"),
            "{message}"
        );
    }
    success(&train(
        &[&GIVEN[..], &["--model", "m.json", "--quiet"]].concat(),
    ));
    // Other commands say what to do with such a model.
    for words in [
        &["explain", "m.json"][..],
        &["export", "m.json", "--to", "sql", "--output", "q.sql"],
        &[
            "compare", "x.csv", "--label", "kind", "--model", "m.json", "--model", "m.json",
        ],
    ] {
        let output = ubauc(directory.path(), words);
        let message = stderr(&output);
        assert!(
            !output.status.success() && message.contains("3 classes"),
            "{words:?} {message}"
        );
        assert_eq!(stdout(&output), "");
    }
    let threshold = ["predict", "x.csv", "--model", "m.json", "--threshold", "0"];
    assert!(wrong_usage(&ubauc(directory.path(), &threshold)).contains("--threshold"));
    for [option, value] in [["--max-fpr", "0.1"], ["--group", "y"]] {
        let words = ["evaluate", "x.csv", "--model", "m.json", option, value];
        assert!(wrong_usage(&ubauc(directory.path(), &words)).contains(option));
    }
    let costs = ["--cost-fn", "2", "--report", "p.html"];
    let evaluate = ["evaluate", "x.csv", "--model", "m.json"];
    let refused = ubauc(directory.path(), &[&evaluate[..], &costs].concat());
    assert!(wrong_usage(&refused).contains("--cost-fn is for two classes"));
    let weight = ["report", "m.json", "x.csv", "-o", "p.html", "--weight", "y"];
    assert!(wrong_usage(&ubauc(directory.path(), &weight)).contains("--weight is for two classes"));
    assert!(!directory.path().join("p.html").exists());
    let tune = ubauc(directory.path(), &["tune", "x.csv", "--label", "kind"]);
    assert!(failure(&tune).contains("3 classes"), "{}", stderr(&tune));
}

#[test]
fn classes_that_the_model_or_the_file_lacks() {
    let text = three(100, false);
    let two: String = (text.lines().filter(|line| !line.starts_with("oak")))
        .map(|line| format!("{line}\n"))
        .collect();
    let other = text.replacen("oak", "fir", 1);
    let one: String = (text
        .lines()
        .filter(|l| l.starts_with("kind") || l.starts_with("elm")))
    .map(|line| format!("{line}\n"))
    .collect();
    let files = [
        ("x.csv", text.as_str()),
        ("two.csv", &two),
        ("other.csv", &other),
        ("one.csv", &one),
    ];
    let directory = directory_with(&files);
    let words = [
        &["train", "x.csv", "--label", "kind", "--model", "m.json"][..],
        &GIVEN,
    ]
    .concat();
    success(&ubauc(directory.path(), &words));
    let evaluate = |file: &str| {
        ubauc(
            directory.path(),
            &["evaluate", file, "--model", "m.json", "--json"],
        )
    };
    let found = evaluate("two.csv");
    assert_eq!(json(&found)["classes"], serde_json::json!(["ash", "elm"]));
    assert!(
        stderr(&found).contains("no examples of oak"),
        "{}",
        stderr(&found)
    );
    assert!(failure(&evaluate("other.csv")).contains("class fir"));
    assert!(failure(&evaluate("one.csv")).contains("one class, elm"));
}

/// A wrong test file is refused before anything is learned: no model is written.
#[test]
fn a_wrong_test_file_is_found_early() {
    for with_category in [false, true] {
        let text = three(60, with_category);
        let of_one: String = (text.lines())
            .filter(|line| line.starts_with("kind") || line.starts_with("elm"))
            .map(|line| format!("{line}\n"))
            .collect();
        let files = [
            ("x.csv", text.clone()),
            ("class.csv", text.replacen("oak", "fir", 1)),
            ("one.csv", of_one),
            ("column.csv", text.replacen(",y", ",z", 1)),
            ("label.csv", text.replacen("kind", "sort", 1)),
            ("text.csv", text.replacen("elm,0.", "elm,what", 1)),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
        let directory = directory_with(&files);
        for (file, word) in [
            ("class.csv", "class fir"),
            ("one.csv", "elm"),
            ("column.csv", "y"),
            ("label.csv", "kind"),
            ("text.csv", "what"),
        ] {
            // A gap, where there may be some.
            if with_category && file == "text.csv" {
                continue;
            }
            let words = [
                &["train", "x.csv", "--label", "kind", "--test", file][..],
                &["--model", "m.json"],
                &GIVEN,
            ]
            .concat();
            let output = ubauc(directory.path(), &words);
            let message = failure(&output);
            assert!(
                message.contains(file) && message.contains(word),
                "{message}"
            );
            assert!(!directory.path().join("m.json").exists(), "{file}");
        }
    }
}

/// The codes of a place tell elm from ash, and nothing of the first class.
#[test]
fn columns_of_codes_are_judged_by_all_classes() {
    let mut text = "kind,place,x\n".to_string();
    let mut state = 5_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    // Neighbours have nothing in common.
    let tenths: Vec<u64> = (0..100).map(|_| next(11)).collect();
    for _ in 0..6000 {
        let place = next(100);
        let kind = match (next(2), next(10) < tenths[place as usize]) {
            (0, _) => "ash",
            (_, true) => "elm",
            (_, false) => "oak",
        };
        writeln!(text, "{kind},{},{}", 1000 + place, next(7)).unwrap();
    }
    let directory = directory_with(&[("x.csv", &text)]);
    let words = [&["train", "x.csv", "--label", "kind"][..], &GIVEN].concat();
    let output = ubauc(directory.path(), &words);
    success(&output);
    let message = stderr(&output);
    assert!(
        message.contains("'place'") && message.contains("code"),
        "{message}"
    );
}

fn value_at<'a>(report: &'a Value, key: &str) -> &'a Value {
    let parts = key.split('.');
    parts.fold(report, |at, part| match part.parse::<usize>() {
        Ok(k) => &at[k],
        Err(_) => &at[part],
    })
}

/// Every number of a page that has a key, as the JSON has it.
fn assert_numbers(page: &str, report: &Value) {
    let mut keys = Vec::new();
    for data in page.split("<data value=\"").skip(1) {
        let tag = data.split('>').next().unwrap();
        let Some((value, key)) = tag.split_once("\" data-key=\"") else {
            continue;
        };
        let key = key.trim_end_matches('"');
        let value: f64 = value.parse().unwrap();
        assert_eq!(value_at(report, key).as_f64(), Some(value), "{key}");
        keys.push(key);
    }
    for part in ["m", "certificate.gap", "classes.", "pairs."] {
        assert!(keys.iter().any(|key| key.starts_with(part)), "{keys:?}");
    }
}

#[test]
fn pages_say_what_the_json_says() {
    // A name that is markup.
    let text = three(300, true).replace("elm", "<elm>&");
    let directory = directory_with(&[("x.csv", &text), ("t.csv", &text)]);
    let dir = directory.path();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let train = ["train", "x.csv", "--label", "kind", "--model", "m.json"];
    let page = ["--report", "p.html", "--json"];
    let found = json(&ubauc(dir, &[&train[..], &GIVEN, &page].concat()));
    let on_training = read("p.html");
    let m = found["train_auc"].as_f64().unwrap();
    assert!(on_training.contains(&format!("<data value=\"{m}\" data-key=\"m\">")));
    for scorer in found["scorers"].as_array().unwrap() {
        let auc = scorer["train_auc"].as_f64().unwrap();
        assert!(on_training.contains(&format!("<data value=\"{auc}\">")));
    }
    assert!(on_training.contains("looks better than it is"));
    assert!(on_training.contains("&lt;elm&gt;&amp;") && !on_training.contains("<elm>"));
    let gap = found["gap"].as_f64().unwrap();
    let gap = format!("<data value=\"{gap}\" data-key=\"certificate.gap\">");
    assert!(on_training.contains(&gap));
    for id in ["classes", "pairs", "certificate", "columns", "again"] {
        assert!(
            on_training.contains(&format!("<section id=\"{id}\">")),
            "{id}"
        );
    }
    // By other examples, with a search.
    let words = [&train[..], &["--test", "t.csv", "--folds", "2"], &page].concat();
    let found = json(&ubauc(dir, &words));
    let tested = read("p.html");
    for (key, value) in [
        ("m", &found["test_auc"]["auc"]),
        ("train_m", &found["train_auc"]),
    ] {
        let data = format!(
            "<data value=\"{}\" data-key=\"{key}\">",
            value.as_f64().unwrap()
        );
        assert!(tested.contains(&data), "{data}");
    }
    assert!(tested.contains("<section id=\"search\">") && !tested.contains("looks better"));
    // `report` prints all that is on its page, and `evaluate` writes the same sections.
    let words = ["report", "m.json", "t.csv", "-o", "r.html", "--json"];
    let found = json(&ubauc(dir, &words));
    let reported = read("r.html");
    assert_numbers(&reported, &found);
    assert_eq!(found["pairs"].as_array().unwrap().len(), 3);
    let words = [
        "evaluate", "t.csv", "--model", "m.json", "--report", "e.html", "--json",
    ];
    let evaluated = json(&ubauc(dir, &words));
    assert_eq!(evaluated["hand_till"]["m"], found["m"]);
    let body = |page: &str| {
        let end = page.find("<section id=\"again\">").unwrap();
        page[..end].to_string()
    };
    assert_eq!(body(&read("e.html")), body(&reported));
    // Of scores alone there is no model to tell of.
    let scores = success(&ubauc(dir, &["predict", "t.csv", "--model", "m.json"])).to_string();
    let labels = text.lines().map(|line| line.split(',').next().unwrap());
    let both: String = (scores.lines().zip(labels))
        .map(|(scores, label)| format!("{label},{scores}\n"))
        .collect();
    std::fs::write(dir.join("s.csv"), both).unwrap();
    let words = [
        "evaluate",
        "s.csv",
        "--label",
        "kind",
        "--multiclass",
        "--report",
        "s.html",
    ];
    success(&ubauc(dir, &words));
    let page = read("s.html");
    assert!(page.contains("<section id=\"pairs\">") && !page.contains("id=\"certificate\""));
}
