//! What is written and printed: Markdown, CSV, a figure, JSON, all of the same numbers.

use std::fs;

use super::{OPAUC, PROTOCOL, SETS, experiment, put, reproduce, results, table2};
use crate::process::{json, success};

/// `.8326`
fn short(x: f64) -> String {
    format!("{x:.4}").trim_start_matches('0').to_string()
}

#[test]
fn files_and_report_have_the_same_numbers() {
    let directory = experiment(&table2());
    let dir = directory.path();
    let table = json(&reproduce(dir, "table2", &["--json"]));
    let text = reproduce(dir, "table2", &[]);
    let text = success(&text);
    let read = |file: &str| fs::read_to_string(dir.join("r").join(file)).unwrap();
    let (md, csv, svg) = (read("table2.md"), read("table2.csv"), read("table2.svg"));
    assert_eq!(csv.lines().count(), 7);
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for (cell, line) in table["cells"]
        .as_array()
        .unwrap()
        .iter()
        .zip(csv.lines().skip(1))
    {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |name: &str| fields[names.iter().position(|n| *n == name).unwrap()];
        for name in ["dataset", "column"] {
            assert_eq!(cell[name], field(name));
        }
        let (mean, std) = (
            cell["mean"].as_f64().unwrap(),
            cell["std"].as_f64().unwrap(),
        );
        assert_eq!(field("mean").parse(), Ok(mean));
        assert_eq!(field("std").parse(), Ok(std));
        assert_eq!(field("best"), cell["best"].to_string());
        let shown = format!("{}±{}", short(mean), short(std));
        assert!(md.matches(&shown).count() >= 2, "{shown}: {md}");
        assert!(text.contains(&shown), "{shown}: {text}");
        if cell["best"] == true {
            assert!(md.contains(&format!("**{shown}**")), "{shown}: {md}");
        }
    }
    assert!(md.contains("a note") && text.contains("a note"));
    assert!(svg.contains("<svg ") && svg.trim_end().ends_with("</svg>"));
    for name in ["halves", "parts", "svm", "one pass", "logistic"] {
        assert!(svg.contains(name) && md.contains(name), "{name}");
    }
    // Nothing else is left lying about.
    let mut files: Vec<_> = fs::read_dir(dir.join("r"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "lock",
            "table2.csv",
            "table2.json",
            "table2.md",
            "table2.svg"
        ]
    );
}

#[test]
fn one_run_has_no_deviation() {
    let directory = experiment(&table2());
    let table = json(&reproduce(
        directory.path(),
        "table2",
        &["--runs", "1", "--json"],
    ));
    for cell in table["cells"].as_array().unwrap() {
        assert!(cell["mean"].is_f64() && cell["std"].is_null(), "{cell}");
    }
}

#[test]
fn cells_of_the_paper_stand_beside_ours() {
    let config = [PROTOCOL, "[[datasets]]\nname = \"a9a\"\n", OPAUC].concat();
    let config = config.replace("one pass", "opauc");
    let directory = experiment(&config);
    let dir = directory.path();
    put(
        dir,
        "data/a9a/train.svm",
        &crate::train::overlapping(100, 3),
    );
    put(dir, "data/a9a/test.svm", &crate::train::overlapping(60, 3));
    let table = json(&reproduce(dir, "table2", &["--json"]));
    let cell = &table["cells"][0];
    let (mean, paper) = (cell["mean"].as_f64().unwrap(), &cell["paper"]);
    let [paper_mean, paper_std] = [0, 1].map(|i| paper[i].as_f64().unwrap());
    let difference = cell["difference"].as_f64().unwrap();
    assert!((difference - (mean - paper_mean)).abs() < 1e-15, "{cell}");
    assert_eq!(
        cell["outside"],
        difference.abs() > 2.0 * paper_std,
        "{cell}"
    );
    let sizes = json(&reproduce(dir, "table1", &["--json"]));
    assert_eq!(sizes["sizes"][0]["train"], 100);
    assert_eq!(sizes["sizes"][0]["paper"][0], 32561);
    assert!(
        fs::read_to_string(dir.join("r/table1.csv"))
            .unwrap()
            .contains(",true,")
    );
}

#[test]
fn sizes_are_those_of_the_files() {
    let directory = experiment(&table2());
    let dir = directory.path();
    let found = json(&reproduce(dir, "table1", &["--json"]));
    let sizes: Vec<[u64; 3]> = found["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| ["train", "test", "dim"].map(|key| size[key].as_u64().unwrap()))
        .collect();
    let lines = |file: &str| {
        let text = fs::read_to_string(dir.join("data").join(file)).unwrap();
        text.lines().count() as u64
    };
    let parts = [lines("parts/train.svm"), lines("parts/test.svm"), 4];
    assert_eq!(sizes, [[80, 80, 3], parts]);
}

#[test]
fn table3_times_online_learners_once() {
    let online = "[[columns]]\nname = \"ol-ubauc\"\nalgorithm = \"ol-ubauc\"\n\
                  most_passes = 9\nfixed = { passes = 3, eta0 = 1.0, beta = 0.5 }\ngrid = { gamma = [1e-4, 1e-2] }\n";
    let directory = experiment(&[PROTOCOL, SETS, online, OPAUC].concat());
    let dir = directory.path();
    let table = json(&reproduce(dir, "table3", &["--json"]));
    assert_eq!(table["times"].as_array().unwrap().len(), 4);
    for time in table["times"].as_array().unwrap() {
        assert!(time["seconds_per_pass"].as_f64().unwrap() > 0.0, "{time}");
        if time["column"] == "ol-ubauc" {
            assert_eq!(time["ratios"]["pass"], 1.0, "{time}");
        }
    }
    let made = results(dir, "table3.json")["cells"].clone();
    for cell in made.as_object().unwrap().values() {
        let most = if cell["parameters"]["beta"].is_null() {
            100
        } else {
            9
        };
        let passes = cell["passes"].as_u64().unwrap();
        assert!(cell["still"] == true || passes == most, "{cell}");
    }
    for file in ["table3.md", "table3.csv", "table3.svg"] {
        let text = fs::read_to_string(dir.join("r").join(file)).unwrap();
        assert!(text.contains("one pass"), "{file}");
    }
    success(&reproduce(dir, "table3", &[]));
    assert_eq!(results(dir, "table3.json")["cells"], made);
}
