//! The options that say what columns hold.

use serde_json::json;

use crate::process::{directory_with, failure, json as json_of, stderr, success, ubauc};

/// Codes written as numbers, a text for missing, and a name with a comma.
fn codes() -> String {
    let mut text = "y;code;\"a, b\";x;x\n".to_string();
    for i in 0..60 {
        let x = if i % 7 == 0 {
            "-99".to_string()
        } else {
            format!("{},5", i % 13)
        };
        text += &format!("{};{};{};{x};{}\n", i % 2, 100 + i % 5, i % 3, (i * i) % 17);
    }
    text
}

fn train(words: &[&str]) -> std::process::Output {
    let directory = directory_with(&[("x.csv", &codes())]);
    let all = [
        "train", "x.csv", "--label", "y", "--beta", "1", "--gamma", "0.01", "--json",
    ];
    ubauc(directory.path(), &[&all[..], words].concat())
}

#[test]
fn kinds_are_overruled() {
    let kinds = |words: &[&str]| {
        let found = json_of(&train(words));
        let columns = found["features"]["columns"].as_array().unwrap().clone();
        let kinds: Vec<String> = columns
            .iter()
            .map(|c| {
                format!(
                    "{}={}",
                    c["name"].as_str().unwrap(),
                    c["kind"].as_str().unwrap()
                )
            })
            .collect();
        kinds.join(" ")
    };
    assert_eq!(kinds(&[]), "code=number a, b=number x=number x.2=number");
    let named = ["--categorical", "code,\"a, b\""];
    assert_eq!(
        kinds(&named),
        "code=category a, b=category x=number x.2=number"
    );
    let repeated = [
        "--categorical",
        "code",
        "--categorical",
        "x",
        "--ignore",
        "\"a, b\"",
    ];
    assert_eq!(kinds(&repeated), "code=category x=category x.2=number");
    assert_eq!(
        kinds(&["--categorical", "all", "--numeric", "x.2"]),
        "code=category a, b=category x=category x.2=number"
    );
    // Two columns of one name are told apart, with a note.
    assert!(
        stderr(&train(&[])).contains("x.2"),
        "{}",
        stderr(&train(&[]))
    );
}

#[test]
fn missing_texts_are_named_and_remembered() {
    let directory = directory_with(&[("x.csv", &codes())]);
    let dir = directory.path();
    let words = [
        "train",
        "x.csv",
        "--label",
        "y",
        "--beta",
        "1",
        "--gamma",
        "0.01",
        "--missing",
        "-99,none",
        "--model",
        "m.json",
        "--json",
    ];
    let found = json_of(&ubauc(dir, &words));
    assert_eq!(found["features"]["columns"][2]["missing"], json!(9));
    let score = |x: &str| {
        let text = format!("code;\"a, b\";x;x\n101;1;{x};3\n");
        std::fs::write(dir.join("one.csv"), text).unwrap();
        success(&ubauc(dir, &["predict", "--model", "m.json", "one.csv"])).to_string()
    };
    assert_eq!(score("-99"), score(""));
    // The decimal sign is remembered too.
    assert_ne!(score("3,5"), score("35"));
    assert_ne!(score("3,5"), score(""));
}

#[test]
fn what_is_named_must_be_there() {
    for (option, what) in [
        ("--categorical", "no categorical column 'z'"),
        ("--numeric", "no numeric column 'z'"),
        ("--ignore", "no ignored column 'z'"),
    ] {
        let output = train(&[option, "z"]);
        assert!(failure(&output).contains(what), "{}", stderr(&output));
    }
    let directory = directory_with(&[("x.csv", "y,a\n1,x\n0,2\n1,3\n0,4\n")]);
    let words = ["train", "x.csv", "--label", "y", "--numeric", "a"];
    let output = ubauc(directory.path(), &words);
    let said = failure(&output);
    assert!(
        said.contains("'x' in column 'a' is not a number") && said.contains("--missing"),
        "{said}"
    );
}

#[test]
fn other_encodings_are_read_when_named() {
    let directory = directory_with(&[]);
    let mut bytes = b"y,town\n".to_vec();
    for i in 0..40 {
        bytes.extend_from_slice(if i % 2 == 0 {
            b"1,Gen\xe8ve\n"
        } else {
            b"0,Gen\xe9ve\n"
        });
    }
    std::fs::write(directory.path().join("x.csv"), bytes).unwrap();
    let words = [
        "train", "x.csv", "--label", "y", "--beta", "1", "--gamma", "0.1", "--json",
    ];
    let refused = ubauc(directory.path(), &words);
    assert!(
        failure(&refused).contains("encoding"),
        "{}",
        stderr(&refused)
    );
    let found = json_of(&ubauc(
        directory.path(),
        &[&words[..], &["--encoding", "latin-1"]].concat(),
    ));
    assert_eq!(found["features"]["columns"][0]["levels"], json!(2));
    assert_eq!(found["train_auc"], json!(1.0));
}
