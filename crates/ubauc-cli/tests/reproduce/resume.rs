//! Stopped at any moment, the same command goes on; finished cells and runs are not made again.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{
    LOGISTIC, MARK, OPAUC, PROTOCOL, SETS, SVM, cells, experiment, mark, marked, put, reproduce,
    results, table2, timeless, words,
};
use crate::process::{stderr, success};
use crate::train::overlapping;

const KEYS: [&str; 6] = [
    "halves/svm",
    "halves/one pass",
    "halves/logistic",
    "parts/svm",
    "parts/one pass",
    "parts/logistic",
];

/// Cells that take a while.
fn long_experiment() -> tempfile::TempDir {
    let solam = "[[columns]]\nname = \"solam\"\nalgorithm = \"solam\"\nfixed = { passes = 60 }\n\
                 grid = { zeta = [0.1, 1.0], radius = [1.0, 3.0] }\n";
    let directory = experiment(&[PROTOCOL, SETS, SVM, solam, OPAUC, LOGISTIC].concat());
    put(
        directory.path(),
        "data/halves/all.svm",
        &overlapping(2_400, 8),
    );
    put(
        directory.path(),
        "data/parts/train.svm",
        &overlapping(1_200, 8),
    );
    directory
}

#[test]
fn a_command_killed_at_any_moment_goes_on_and_loses_nothing() {
    let more = ["--runs", "8", "--threads", "1", "--quiet"];
    let reference = long_experiment();
    let started = Instant::now();
    success(&reproduce(reference.path(), "table2", &more));
    let whole_run = started.elapsed();
    let whole = timeless(cells(reference.path()));
    let (mut half_done, moments) = (0, 8);
    for moment in 1..moments {
        let directory = long_experiment();
        let dir = directory.path();
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
            .current_dir(dir)
            .args(words("table2", &more))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole_run * moment / moments);
        child.kill().unwrap();
        child.wait().unwrap();
        // No file yet, or one that is whole.
        let kept = match fs::read_to_string(dir.join("r/table2.json")) {
            Ok(text) => serde_json::from_str::<Value>(&text).unwrap()["cells"].clone(),
            Err(_) => serde_json::json!({}),
        };
        let kept = kept.as_object().unwrap();
        half_done += usize::from((1..8).contains(&kept.len()));
        success(&reproduce(dir, "table2", &more));
        let ended = cells(dir);
        for (key, cell) in kept {
            if cell["auc"].as_array().unwrap().len() == 8 {
                // With its seconds: it was not made again.
                assert_eq!(ended[key], *cell, "{key}, moment {moment}");
            }
        }
        assert_eq!(timeless(ended), whole, "moment {moment}");
    }
    // Kills that came too early or too late show nothing.
    assert!(
        half_done > 0,
        "no kill hit a half-made table in {whole_run:?}"
    );
}

#[test]
fn more_runs_are_added_to_those_that_are_there() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &["--runs", "2"]));
    let two = cells(dir);
    let other = experiment(&table2());
    success(&reproduce(other.path(), "table2", &["--runs", "4"]));
    let four = timeless(cells(other.path()));
    success(&reproduce(dir, "table2", &["--runs", "4"]));
    assert_eq!(timeless(cells(dir)), four);
    for key in KEYS {
        for run in 0..2 {
            assert_eq!(two[key]["auc"][run], four[key]["auc"][run], "{key}");
        }
        let seconds = |cells: &Value| cells[key]["seconds"].as_f64().unwrap();
        assert!(seconds(&cells(dir)) > seconds(&two), "{key}");
    }
    mark(dir);
    success(&reproduce(dir, "table2", &["--runs", "5"]));
    assert_eq!(KEYS.map(|key| marked(dir, key)), [(4, 5); 6]);
    // Fewer are no reason to throw some away.
    let output = reproduce(dir, "table2", &["--runs", "1"]);
    success(&output);
    assert!(stderr(&output).contains("note: all cells are in r/table2.json"));
    assert_eq!(KEYS.map(|key| marked(dir, key)), [(4, 5); 6]);
}

#[test]
fn a_changed_column_alone_is_recomputed() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &[]));
    let first = timeless(cells(dir));
    mark(dir);
    put(
        dir,
        "t.toml",
        &table2().replace("C = [0.1, 1.0]", "C = [0.1, 3.0]"),
    );
    success(&reproduce(dir, "table2", &[]));
    for key in KEYS {
        let kept = if key.ends_with("svm") { 0 } else { 3 };
        assert_eq!(marked(dir, key), (kept, 3), "{key}");
    }
    // Another seed is another experiment, and the old one comes back to the bit.
    put(dir, "t.toml", &table2().replace("seed = 1", "seed = 2"));
    success(&reproduce(dir, "table2", &[]));
    assert_eq!(KEYS.map(|key| marked(dir, key)), [(0, 3); 6]);
    let second = timeless(cells(dir));
    assert_ne!(second["parts/svm"]["auc"], first["parts/svm"]["auc"]);
    put(dir, "t.toml", &table2());
    success(&reproduce(dir, "table2", &[]));
    assert_eq!(timeless(cells(dir)), first);
}

#[test]
fn a_changed_set_alone_is_recomputed() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &[]));
    mark(dir);
    let config = table2().replace(
        "name = \"parts\"\n",
        "name = \"parts\"\nscale = \"standard\"\n",
    );
    put(dir, "t.toml", &config);
    success(&reproduce(dir, "table2", &[]));
    for key in KEYS {
        let kept = if key.starts_with("parts") { 0 } else { 3 };
        assert_eq!(marked(dir, key), (kept, 3), "{key}");
    }
}

#[test]
fn fresh_recomputes_what_is_asked_for_and_nothing_else() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &[]));
    let before = timeless(cells(dir));
    mark(dir);
    let asked = ["--fresh", "--datasets", "parts", "--algorithms", "svm"];
    success(&reproduce(dir, "table2", &asked));
    for key in KEYS {
        let kept = if key == "parts/svm" { 0 } else { 3 };
        assert_eq!(marked(dir, key), (kept, 3), "{key}");
    }
    success(&reproduce(dir, "table2", &["--fresh"]));
    assert_eq!(timeless(cells(dir)), before);
}

#[test]
fn two_runs_do_not_share_a_directory() {
    let directory = experiment(&table2());
    let dir = directory.path();
    fs::create_dir(dir.join("r")).unwrap();
    let held = fs::File::create(dir.join("r/lock")).unwrap();
    held.lock().unwrap();
    let output = reproduce(dir, "table2", &[]);
    let said = crate::process::failure(&output);
    assert!(said.contains("another run uses r"), "{said}");
    drop(held);
    success(&reproduce(dir, "table2", &[]));
}

#[test]
fn no_time_is_no_work_and_no_failure() {
    for (table, file) in [("table2", "table2.json"), ("table3", "table3.json")] {
        let directory = experiment(&[PROTOCOL, SETS, OPAUC].concat());
        let dir = directory.path();
        let output = reproduce(dir, table, &["--time-limit", "0"]);
        success(&output);
        let said = stderr(&output)
            .matches("note: the time limit was reached")
            .count();
        assert_eq!(said, 1, "{}", stderr(&output));
        let state = results(dir, file);
        assert_eq!(state["cells"], serde_json::json!({}), "{table}");
        // What is there stays there.
        success(&reproduce(dir, table, &[]));
        let made = results(dir, file)["cells"].clone();
        assert_eq!(made.as_object().unwrap().len(), 2, "{table}");
        success(&reproduce(dir, table, &["--time-limit", "0"]));
        assert_eq!(results(dir, file)["cells"], made, "{table}");
    }
}

#[test]
fn a_time_limit_stops_in_between() {
    let directory = long_experiment();
    let dir = directory.path();
    // 60 ms at a time: every command does something, and the table is done in the end.
    let (mut commands, started) = (0, Instant::now());
    loop {
        let more = ["--time-limit", "0.001", "--runs", "6", "--threads", "1"];
        let output = reproduce(dir, "table2", &more);
        success(&output);
        commands += 1;
        if !stderr(&output).contains("the time limit was reached") {
            break;
        }
        if started.elapsed() > Duration::from_secs(5) {
            // A search that never fits into its time goes on for ever; this one has time enough.
            success(&reproduce(dir, "table2", &["--runs", "6"]));
            break;
        }
    }
    assert!(commands > 1, "nothing was stopped");
    let other = long_experiment();
    success(&reproduce(other.path(), "table2", &["--runs", "6"]));
    assert_eq!(timeless(cells(dir)), timeless(cells(other.path())));
}

/// One cell is the last cell too: to be stopped in it is reported as anywhere else.
#[test]
fn stopped_in_the_last_cell_says_so() {
    let directory = long_experiment();
    let dir = directory.path();
    let (mut minutes, mut begun) = (1e-5, 0);
    loop {
        let limit = minutes.to_string();
        let more = "--datasets halves --algorithms solam --runs 40 --threads 1 --time-limit";
        let more: Vec<&str> = more.split(' ').chain([limit.as_str()]).collect();
        let output = reproduce(dir, "table2", &more);
        success(&output);
        let state = results(dir, "table2.json");
        let whole = state["cells"].get("halves/solam").is_some();
        let printed = stderr(&output).contains("the time limit was reached");
        assert_eq!(printed, !whole, "{}", stderr(&output));
        if whole {
            break;
        }
        begun += usize::from(state["unfinished"].get("halves/solam").is_some());
        minutes *= 1.1;
    }
    assert!(begun > 0, "the cell was never stopped half-way");
}

#[test]
fn a_file_that_is_no_results_is_refused_and_stays() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &["--folds", "--runs", "1"]));
    let other_table = fs::read_to_string(dir.join("r/table2-folds.json")).unwrap();
    success(&reproduce(dir, "table2", &["--runs", "1"]));
    let whole = fs::read_to_string(dir.join("r/table2.json")).unwrap();
    let damaged = &whole[..whole.len() / 2];
    let newer = whole.replace("ubauc reproduce 1", "ubauc reproduce 2");
    let not_text = "\"auc\": [\"x\"]";
    let wrong_kind = whole.replacen("\"tried\": 2", "\"tried\": \"two\"", 1);
    assert_ne!(wrong_kind, whole);
    for text in [
        "",
        "{}",
        "[1]",
        damaged,
        &newer,
        &other_table,
        not_text,
        &wrong_kind,
    ] {
        put(dir, "r/table2.json", text);
        let output = reproduce(dir, "table2", &[]);
        let said = crate::process::failure(&output);
        assert!(said.contains("r/table2.json holds no results"), "{said}");
        assert_eq!(fs::read_to_string(dir.join("r/table2.json")).unwrap(), text);
    }
    success(&reproduce(dir, "table2", &["--fresh", "--runs", "1"]));
    assert_eq!(cells(dir).as_object().unwrap().len(), 6);
    assert_ne!(cells(dir)["parts/svm"]["auc"][0], MARK);
}
