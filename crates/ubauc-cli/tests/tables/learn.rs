//! `learn` from a stream of a table.

use serde_json::Value;

use super::{customers, trained};
use crate::process::{failure, json, stderr, success, ubauc, wrong_usage};

#[test]
fn a_stream_goes_on_with_the_map_of_a_model() {
    let directory = trained();
    let dir = directory.path();
    let new = customers(900).replace("Zug", "Chur");
    std::fs::write(dir.join("s.csv"), &new).unwrap();
    let words = [
        "learn",
        "s.csv",
        "--initial-model",
        "m.json",
        "--positive",
        "left",
        "--eta0",
        "0.01",
    ];
    let whole = [&words[..], &["--model", "l.json", "--json"]].concat();
    let found = json(&ubauc(dir, &whole));
    assert_eq!(found["n"], 900);
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(dir.join(name)).unwrap()).unwrap()
    };
    let (first, learned) = (read("m.json"), read("l.json"));
    assert_eq!(learned["features"], first["features"]);
    assert_eq!(learned["reading"], first["reading"]);
    assert_ne!(learned["weights"], first["weights"]);
    let judged = ubauc(dir, &["evaluate", "--model", "l.json", "x.csv", "--json"]);
    assert!(json(&judged)["auc"].as_f64().unwrap() > 0.7);
    // The same bytes from a pipe, and in two parts with a checkpoint between them.
    let piped = [&words[..1], &["-"], &words[2..], &["--model", "p.json"]].concat();
    let piped = crate::process::command(dir, &piped)
        .write_stdin(new.clone())
        .output();
    success(&piped.unwrap());
    assert_eq!(read("p.json")["weights"], learned["weights"]);
    let half: String = new
        .lines()
        .take(401)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(dir.join("s.csv"), half).unwrap();
    let parts = [&words[..], &["--checkpoint", "ck", "--model", "r.json"]].concat();
    success(&ubauc(dir, &parts));
    std::fs::write(dir.join("s.csv"), &new).unwrap();
    success(&ubauc(dir, &[&parts[..], &["--resume"]].concat()));
    assert_eq!(read("r.json")["weights"], learned["weights"]);
}

#[test]
fn what_a_stream_of_a_table_cannot_be_is_refused() {
    let directory = trained();
    let dir = directory.path();
    let words = [
        "learn",
        "x.csv",
        "--initial-model",
        "m.json",
        "--positive",
        "left",
    ];
    let hashed = ubauc(dir, &[&words[..], &["--hash-bits", "4"]].concat());
    assert!(
        wrong_usage(&hashed).contains("--hash-bits"),
        "{}",
        stderr(&hashed)
    );
    let label = ubauc(dir, &[&words[..], &["--label", "gone"]].concat());
    assert!(
        failure(&label).contains("no label column 'gone'"),
        "{}",
        stderr(&label)
    );
    let classes = ubauc(dir, &words[..4]);
    assert!(
        failure(&classes).contains("--positive") || stderr(&classes).contains("positive VALUE")
    );
    let weight = ubauc(dir, &[&words[..], &["--weight", "city"]].concat());
    assert_eq!(weight.status.code(), Some(1));
}
