use std::fs;

use super::{success, ubauc_data};

#[test]
fn files_that_are_there_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    for name in [
        "a9a/train.svm.zst",
        "a9a/test.svm",
        "german/all.svm.bz2",
        "w8a/train.svm.xz",
    ] {
        let path = dir.join("data").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let output = ubauc_data(dir, &["list", "--json"]);
    let listing: serde_json::Value = serde_json::from_str(success(&output)).unwrap();
    let sets = listing["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 13);
    for set in sets {
        let expected = match set["name"].as_str().unwrap() {
            "a9a" | "german" => "yes",
            "w8a" => "train-only",
            _ => "no",
        };
        assert_eq!(set["present"], expected, "{set}");
        let differ = set["paper"]["differ"].as_bool().unwrap_or(false);
        assert_eq!(differ, set["name"] == "diabetes", "{set}");
    }
    let text = ubauc_data(dir, &["list"]);
    assert!(
        success(&text).contains("2 of 13 sets are in data"),
        "{}",
        success(&text)
    );
}

#[test]
fn directory_comes_from_the_option_or_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let output = ubauc_data(directory.path(), &["list", "--dir", "elsewhere"]);
    assert!(success(&output).contains("0 of 13 sets are in elsewhere"));
    let output = assert_cmd::Command::cargo_bin("ubauc")
        .unwrap()
        .env("UBAUC_DATA", "from-environment")
        .args(["data", "list"])
        .output()
        .unwrap();
    assert!(success(&output).contains("0 of 13 sets are in from-environment"));
}
