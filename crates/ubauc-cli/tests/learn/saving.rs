//! Checkpoints: damaged, missing, refused by the disk, of other options.

use std::fs;

use super::{checkpoints, learn, learn_file, learned, names, same_file};
use crate::process::{failure, json, stderr, success, wrong_usage};

const SAVING: [&str; 6] = ["--checkpoint", "ck", "--every", "500", "--model", "m.json"];

fn resume(directory: &std::path::Path, more: &[&str]) -> std::process::Output {
    learn_file(
        directory,
        "x.svm",
        &[&SAVING[..], &["--resume", "--json"], more].concat(),
    )
}

/// The first lines of a text.
fn first(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').take(lines).collect()
}

#[test]
fn a_damaged_checkpoint_leaves_the_one_before() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 5] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.truncate(3),
        |bytes| bytes.clear(),
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        },
        |bytes| bytes[8] = 9,
    ];
    let (directory, text) = learned(3_000, &[]);
    let dir = directory.path();
    for damage in damages {
        let _ = fs::remove_dir_all(dir.join("ck"));
        success(&learn(dir, &first(&text, 2_200), &SAVING));
        let [older, newest] = &checkpoints(&dir.join("ck"))[..] else {
            panic!("two checkpoints")
        };
        assert!(older.ends_with("checkpoint-00000000000000002000.ubauc"));
        let mut bytes = fs::read(newest).unwrap();
        damage(&mut bytes);
        fs::write(newest, bytes).unwrap();
        let output = resume(dir, &[]);
        assert_eq!(json(&output)["resumed_at"], 2_000);
        let printed = stderr(&output);
        assert!(
            printed.contains("warning: ck/checkpoint-00000000000000002200.ubauc: is "),
            "{printed}"
        );
        same_file(dir, "m.json", "whole.json");
        // The damaged one is kept aside, and never counted again.
        assert_eq!(json(&resume(dir, &[]))["resumed_at"], 3_000);
        assert!(names(&dir.join("ck")).contains(&"checkpoint-00000000000000002200.damaged".into()));
    }
}

#[test]
fn without_a_good_checkpoint_nothing_starts_over_unasked() {
    let (directory, text) = learned(1_200, &[]);
    let dir = directory.path();
    success(&learn(dir, &text, &SAVING));
    for path in checkpoints(&dir.join("ck")) {
        fs::write(path, "ubauc-ck but not really").unwrap();
    }
    for _ in 0..2 {
        assert!(failure(&resume(dir, &[])).contains("no checkpoint is good (2 damaged)"));
    }
    let output = learn_file(dir, "x.svm", &[&SAVING[..], &["--fresh"]].concat());
    success(&output);
    same_file(dir, "m.json", "whole.json");
}

#[test]
fn a_directory_in_use_is_refused_and_an_empty_one_resumed_from_the_beginning() {
    let (directory, text) = learned(1_200, &[]);
    let dir = directory.path();
    let output = resume(dir, &[]);
    assert!(json(&output)["resumed_at"].is_null());
    assert!(stderr(&output).contains("starting from the beginning"));
    same_file(dir, "m.json", "whole.json");
    let before = names(&dir.join("ck"));
    let refused = learn(dir, &text, &SAVING);
    assert!(wrong_usage(&refused).contains("--resume") && stderr(&refused).contains("--fresh"));
    assert_eq!(names(&dir.join("ck")), before);
    for words in [&["--resume"][..], &["--every", "5"], &["--fresh"]] {
        wrong_usage(&learn(dir, &text, words));
    }
}

#[test]
fn other_options_are_refused_by_name() {
    let (directory, text) = learned(1_200, &[]);
    let dir = directory.path();
    success(&learn(dir, &text, &SAVING));
    for (words, name) in [
        (&["--beta", "0.7"][..], "--beta is 0.7, and was 0.5"),
        (&["--hash-bits", "9"], "--hash-bits is 9, and was none"),
        (&["--eta0", "0.1"], "--eta0 is 0.1, and was found"),
        (&["--step", "sgd"], "--step is sgd, and was implicit"),
        (&["--no-average"], "--average"),
        (&["--positive", "-1"], "--positive"),
    ] {
        let output = resume(dir, words);
        assert!(wrong_usage(&output).contains(name), "{}", stderr(&output));
    }
}

#[test]
fn a_longer_file_and_a_pipe_that_goes_on_are_learned_on() {
    // Also before η₀ is found, after 1,000 examples.
    for cut in [400, 1_000, 1_700] {
        let (directory, text) = learned(3_000, &[]);
        let dir = directory.path();
        let head = first(&text, cut);
        success(&learn(dir, &head, &SAVING));
        let short = learn(
            dir,
            &first(&text, 100),
            &[&SAVING[..], &["--resume"]].concat(),
        );
        assert!(
            failure(&short).contains("ends after 100 examples"),
            "{}",
            stderr(&short)
        );
        assert_eq!(json(&resume(dir, &[]))["resumed_at"], cut);
        same_file(dir, "m.json", "whole.json");

        fs::remove_dir_all(dir.join("ck")).unwrap();
        success(&learn(dir, &head, &SAVING));
        let words = [&SAVING[..], &["--resume", "--no-skip", "--json"]].concat();
        let report = json(&learn(dir, &text[head.len()..], &words));
        assert_eq!(
            (&report["resumed_at"], &report["n"]),
            (&cut.into(), &3_000.into())
        );
        same_file(dir, "m.json", "whole.json");
    }
}

#[test]
fn a_bad_line_loses_nothing_that_came_before() {
    let (directory, text) = learned(6_000, &[]);
    let dir = directory.path();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[5_500] = "1 1:one";
    let printed = learn(
        dir,
        &lines.join("\n"),
        &["--checkpoint", "ck", "--model", "m.json"],
    );
    assert!(
        failure(&printed).contains("<stdin>:5501:5"),
        "{}",
        stderr(&printed)
    );
    assert!(!dir.join("m.json").exists());
    let report = json(&resume(dir, &[]));
    assert_eq!(report["resumed_at"], 5_500);
    same_file(dir, "m.json", "whole.json");
}

#[test]
fn scores_in_a_file_are_cut_at_the_checkpoint() {
    let words = ["--predict", "--output", "s.csv"];
    let (directory, text) = learned(1_500, &words);
    let dir = directory.path();
    fs::rename(dir.join("s.csv"), dir.join("whole.csv")).unwrap();
    let saving = [&SAVING[..], &words].concat();
    success(&learn(dir, &first(&text, 1_100), &saving));
    // As if the run had been killed after the checkpoint.
    let mut scores = fs::read_to_string(dir.join("s.csv")).unwrap();
    scores += "0.25\n0.";
    fs::write(dir.join("s.csv"), &scores).unwrap();
    success(&resume(dir, &words));
    same_file(dir, "s.csv", "whole.csv");
    same_file(dir, "m.json", "whole.json");
    fs::write(dir.join("s.csv"), "score\n").unwrap();
    assert!(failure(&resume(dir, &words)).contains("are these its scores?"));
}

#[test]
fn a_half_written_file_of_a_killed_run_is_removed() {
    let (directory, _) = learned(300, &[]);
    let dir = directory.path();
    fs::create_dir(dir.join("ck")).unwrap();
    fs::write(
        dir.join("ck/.checkpoint-00000000000000000100.ubauc.aBcDeF.tmp"),
        "x",
    )
    .unwrap();
    fs::write(dir.join("ck/notes.txt"), "mine").unwrap();
    success(&resume(dir, &[]));
    let expected = ["checkpoint-00000000000000000300.ubauc", "notes.txt"];
    assert_eq!(names(&dir.join("ck")), expected);
}

/// Writing fails for real: the shell limits the size of files, below that of a checkpoint.
#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_and_the_last_checkpoint_is_untouched() {
    let (directory, text) = learned(6_000, &[]);
    let dir = directory.path();
    success(&learn(dir, &first(&text, 4_000), &SAVING));
    let before: Vec<(String, Vec<u8>)> = names(&dir.join("ck"))
        .into_iter()
        .map(|name| (name.clone(), fs::read(dir.join("ck").join(&name)).unwrap()))
        .collect();
    fs::remove_file(dir.join("m.json")).unwrap();
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} learn x.svm {} --resume",
        assert_cmd::cargo::cargo_bin!("ubauc").display(),
        SAVING.join(" ")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(dir)
        .output()
        .unwrap();
    let printed = failure(&output);
    assert!(
        printed.contains("the checkpoint cannot be written"),
        "{printed}"
    );
    let after: Vec<(String, Vec<u8>)> = names(&dir.join("ck"))
        .into_iter()
        .map(|name| (name.clone(), fs::read(dir.join("ck").join(&name)).unwrap()))
        .collect();
    assert!(before == after, "{:?}", names(&dir.join("ck")));
    assert!(!dir.join("m.json").exists());
    assert_eq!(json(&resume(dir, &[]))["resumed_at"], 4_000);
    same_file(dir, "m.json", "whole.json");
}
