//! Models of tables on other files.

use super::{customers, predicted, reordered, trained};
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};

#[test]
fn scores_are_the_same_bits_in_any_order_of_columns_and_in_any_pieces() {
    let directory = trained();
    let dir = directory.path();
    let whole = predicted(dir, &["x.csv"]);
    assert_eq!(whole.lines().count(), 301);
    let text = customers(300);
    std::fs::write(dir.join("o.csv"), reordered(&text, &[3, 5, 1, 2, 0])).unwrap();
    assert_eq!(predicted(dir, &["o.csv"]), whole);
    std::fs::write(
        dir.join("s.csv"),
        reordered(&text, &[3, 1, 2, 0]).replace(',', ";"),
    )
    .unwrap();
    assert_eq!(predicted(dir, &["s.csv", "--threads", "1"]), whole);
    // Line by line.
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    for (line, expected) in lines.zip(whole.lines().skip(1)).step_by(37) {
        std::fs::write(dir.join("one.csv"), format!("{head}\n{line}\n")).unwrap();
        assert_eq!(predicted(dir, &["one.csv"]), format!("score\n{expected}\n"));
    }
}

#[test]
fn the_label_column_is_remembered() {
    let directory = trained();
    let dir = directory.path();
    let found = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "x.csv", "--json"],
    ));
    assert!(found["auc"].as_f64().unwrap() > 0.7);
    let renamed = customers(300).replacen("churn", "gone", 1);
    std::fs::write(dir.join("r.csv"), renamed).unwrap();
    let lacking = ubauc(dir, &["evaluate", "--model", "m.json", "r.csv"]);
    assert!(
        failure(&lacking).contains("no label column 'churn'"),
        "{}",
        stderr(&lacking)
    );
    let words = [
        "evaluate", "--model", "m.json", "r.csv", "--label", "gone", "--json",
    ];
    assert_eq!(json(&ubauc(dir, &words))["auc"], found["auc"]);
    // Of numbers as well.
    std::fs::write(dir.join("n.csv"), "y,a\n1,2\n0,1\n1,3\n0,2\n0,0\n").unwrap();
    let words = [
        "train", "n.csv", "--label", "y", "--beta", "1", "--gamma", "0.1", "--model", "n.json",
    ];
    success(&ubauc(dir, &words));
    success(&ubauc(dir, &["evaluate", "--model", "n.json", "n.csv"]));
}

#[test]
fn other_columns_are_noted_and_a_missing_one_is_named() {
    let directory = trained();
    let dir = directory.path();
    let output = ubauc(dir, &["predict", "--model", "m.json", "x.csv"]);
    assert!(
        stderr(&output).contains("columns not used: 'household'"),
        "{}",
        stderr(&output)
    );
    let output = ubauc(
        dir,
        &[
            "predict",
            "--model",
            "m.json",
            "x.csv",
            "--ignore",
            "household",
        ],
    );
    assert_eq!(stderr(&output), "");
    std::fs::write(dir.join("l.csv"), reordered(&customers(9), &[0, 2, 3])).unwrap();
    let lacking = ubauc(dir, &["predict", "--model", "m.json", "l.csv"]);
    assert!(
        failure(&lacking).contains("no feature column 'city'"),
        "{}",
        stderr(&lacking)
    );
    let needed = ubauc(
        dir,
        &["predict", "--model", "m.json", "x.csv", "--ignore", "city"],
    );
    assert!(wrong_usage(&needed).contains("needs this column"));
    let by_position = ubauc(
        dir,
        &["predict", "--model", "m.json", "x.csv", "--by-position"],
    );
    assert!(wrong_usage(&by_position).contains("by name"));
    let zero = ubauc(
        dir,
        &["predict", "--model", "m.json", "l.csv", "--missing-zero"],
    );
    assert!(wrong_usage(&zero).contains("--missing-zero"));
}

#[test]
fn an_unseen_level_is_rare_and_a_text_in_a_number_is_missing() {
    let directory = trained();
    let dir = directory.path();
    let score = |line: &str| {
        std::fs::write(dir.join("one.csv"), format!("age,city,since,vip\n{line}\n")).unwrap();
        predicted(dir, &["one.csv"])
    };
    let rare = score("30,Rome,2024-05-05,yes");
    assert_eq!(score("30,Atlantis,2024-05-05,yes"), rare);
    assert_ne!(score("30,Bern,2024-05-05,yes"), rare);
    assert_ne!(score("30,,2024-05-05,yes"), rare);
    let missing = score(",Bern,2024-05-05,yes");
    assert_eq!(score("thirty,Bern,2024-05-05,yes"), missing);
    assert_eq!(score("?,Bern,2024-05-05,yes"), missing);
    let text =
        "age,city,since,vip\nold,Bern,2024-05-05,yes\nyoung,Bern,soon,yes\n30,Bern,2024-05-05,no\n";
    std::fs::write(dir.join("two.csv"), text).unwrap();
    let output = ubauc(dir, &["predict", "--model", "m.json", "two.csv"]);
    assert_eq!(success(&output).lines().count(), 4);
    let said = stderr(&output);
    assert!(
        said.contains("column 'age': 2 values are no number and count as missing"),
        "{said}"
    );
    assert!(
        said.contains("column 'since': 1 value is no date"),
        "{said}"
    );
}

#[test]
fn levels_that_were_never_seen_are_counted_and_marked() {
    let directory = trained();
    let dir = directory.path();
    // Rome was rare.
    let text = "age,city,since,vip\n30,Atlantis,2024-05-05,yes\n30,Rome,2024-05-05,maybe\n30,Thule,2024-05-05,no\n";
    std::fs::write(dir.join("new.csv"), text).unwrap();
    let output = ubauc(dir, &["predict", "--model", "m.json", "new.csv"]);
    success(&output);
    let said = stderr(&output);
    assert!(
        said.contains(
            "column 'city': 2 rows have values that were never seen when the columns were learned"
        ),
        "{said}"
    );
    assert!(
        said.contains(
            "column 'vip': 1 row has a value that was never seen when the columns were learned"
        ),
        "{said}"
    );
    assert_eq!(said.lines().count(), 2);
    let quiet = ubauc(dir, &["predict", "--model", "m.json", "new.csv", "--quiet"]);
    assert_eq!(stderr(&quiet), "");
    let row = |line: &str, more: &[&str]| {
        let place = format!("new.csv:{line}");
        ubauc(
            dir,
            &[&["explain", "m.json", "--row", &place], more].concat(),
        )
    };
    let output = row("2", &[]);
    assert!(success(&output).contains("Atlantis (never seen when the columns were learned)"));
    assert!(
        stderr(&output)
            .contains("column 'city': its value was never seen when the columns were learned")
    );
    assert!(!stderr(&output).contains("'vip'"));
    let found = json(&row("3", &["--json"]));
    let marked = |name: &str| {
        let terms = found["terms"].as_array().unwrap();
        let term = terms.iter().find(|term| term["name"] == name).unwrap();
        term["unseen"].clone()
    };
    assert_eq!(marked("vip"), "never");
    assert!(marked("city").is_null());
}

#[test]
fn columns_are_copied_in_the_order_of_the_file() {
    let directory = trained();
    let dir = directory.path();
    let scores = predicted(dir, &["x.csv"]);
    // The household is no column of the model, the city is, and churn is the label.
    let text = predicted(dir, &["x.csv", "--id", "household,city,churn,since"]);
    let expected = customers(300);
    for ((line, score), raw) in text.lines().zip(scores.lines()).zip(expected.lines()) {
        let fields: Vec<&str> = raw.split(',').collect();
        let city = if fields[1] == "NA" { "" } else { fields[1] };
        let lead = [fields[4], city, fields[5], fields[2]].join(",");
        assert_eq!(line, format!("{lead},{score}"));
    }
    assert_eq!(text.lines().count(), 301);
    let lacking = ubauc(
        dir,
        &["predict", "--model", "m.json", "x.csv", "--id", "house"],
    );
    assert!(
        failure(&lacking).contains("no id column 'house'"),
        "{}",
        failure(&lacking)
    );
}

#[test]
fn what_stands_for_a_missing_value_may_be_a_key() {
    let directory = trained();
    let dir = directory.path();
    let keys = ["NA", "None", "?", "007", "1e5", "\"a, b\""];
    let mut text = "age,city,since,vip,key\n".to_string();
    for key in keys {
        text += &format!("30,Bern,2024-05-05T10:00:05.25,yes,{key}\n");
    }
    std::fs::write(dir.join("keys.csv"), text).unwrap();
    let copied = predicted(dir, &["keys.csv", "--id", "key,since"]);
    for (line, key) in copied.lines().skip(1).zip(keys) {
        let lead = format!("{key},2024-05-05T10:00:05.250,");
        assert!(line.starts_with(&lead), "{line}");
    }
    assert_eq!(copied.lines().count(), 1 + keys.len());
}

#[test]
fn wrong_lines_stop_or_are_skipped() {
    let directory = trained();
    let dir = directory.path();
    let text = "age,city,since,vip\n30,Bern,2024-05-05,yes\n30,Bern\n40,Zug,2024-05-05,no\n";
    std::fs::write(dir.join("w.csv"), text).unwrap();
    let stopped = ubauc(dir, &["predict", "--model", "m.json", "w.csv"]);
    assert_eq!(stopped.status.code(), Some(1));
    // What came before the line is not lost.
    assert_eq!(String::from_utf8_lossy(&stopped.stdout).lines().count(), 2);
    assert!(stderr(&stopped).contains("w.csv:3"), "{}", stderr(&stopped));
    let skipped = ubauc(
        dir,
        &[
            "predict",
            "--model",
            "m.json",
            "w.csv",
            "--on-error",
            "skip",
        ],
    );
    assert_eq!(success(&skipped).lines().count(), 3);
    assert!(
        stderr(&skipped).contains("1 line skipped: line 3: 2 fields"),
        "{}",
        stderr(&skipped)
    );
    // A row without a label is wrong where labels are needed.
    let text = customers(300).replacen("stayed", "", 1);
    std::fs::write(dir.join("u.csv"), text).unwrap();
    let words = ["evaluate", "--model", "m.json", "u.csv"];
    assert!(failure(&ubauc(dir, &words)).contains("label in column 'churn' is missing"));
    success(&ubauc(dir, &[&words[..], &["--on-error", "skip"]].concat()));
}

#[test]
fn models_of_tables_and_of_numbers_are_compared() {
    let directory = trained();
    let dir = directory.path();
    let words = [
        "train",
        "x.csv",
        "--label",
        "churn",
        "--positive",
        "left",
        "--ignore",
        "age,city,since,vip",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--model",
        "n.json",
    ];
    success(&ubauc(dir, &words));
    let words = [
        "compare", "--model", "m.json", "--model", "n.json", "x.csv", "--json",
    ];
    let found = json(&ubauc(dir, &words));
    for (k, model) in ["m.json", "n.json"].iter().enumerate() {
        let alone = json(&ubauc(
            dir,
            &["evaluate", "--model", model, "x.csv", "--json"],
        ));
        assert_eq!(found["scorers"][k]["auc"], alone["auc"], "{model}");
    }
    let piped = ubauc(
        dir,
        &["compare", "--model", "m.json", "--model", "n.json", "-"],
    );
    assert!(failure(&piped).contains("name a file"));
    let words = [
        "evaluate",
        "--model",
        "m.json",
        "x.csv",
        "--weight",
        "household",
        "--json",
    ];
    assert!(json(&ubauc(dir, &words))["weight_pos"].as_f64().unwrap() > 0.0);
}

/// A model of numbers with thousands apart, or with decimal commas, scores the file that it was learned from.
#[test]
fn numbers_are_scored_as_they_were_learned() {
    let row = |i: u32| f64::from(i * 37 % 9_000) + 1_000.5;
    let label = |i: u32| u32::from(i % 7 > 2);
    let plain: String = (0..80)
        .map(|i| format!("{};{}\n", row(i), label(i)))
        .collect();
    let comma = plain.replace('.', ",");
    let apart: String = (0..80)
        .map(|i| {
            let text = row(i).to_string();
            let (thousands, rest) = text.split_at(text.find('.').unwrap() - 3);
            format!("\"{thousands},{rest}\",{}\n", label(i))
        })
        .collect();
    let texts = [
        ("plain.csv", format!("x;label\n{plain}")),
        ("comma.csv", format!("x;label\n{comma}")),
        ("apart.csv", format!("x,label\n{apart}")),
    ];
    let files = texts.each_ref().map(|(name, text)| (*name, text.as_str()));
    let directory = directory_with(&files);
    let dir = directory.path();
    let [plain, comma, apart] = files.map(|(name, _)| {
        let train = [
            "train", name, "--beta", "0.5", "--gamma", "0.01", "--model", "m.json",
        ];
        success(&ubauc(dir, &train));
        let judged = json(&ubauc(
            dir,
            &["evaluate", "--model", "m.json", name, "--json"],
        ));
        assert_eq!(predicted(dir, &[name]).lines().count(), 81);
        judged["auc"].as_f64().unwrap()
    });
    assert_eq!((comma, apart), (plain, plain));
}
