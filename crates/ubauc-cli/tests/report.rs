//! Pages: written whole, of odd data too, or refused with a reason.

use std::fs;
use std::path::Path;

use crate::process::{command, directory_with, failure, json, stderr, success, ubauc, wrong_usage};

const SCORES: &str = "label,score\n1,0.9\n1,0.8\n1,0.3\n0,0.5\n0,0.3\n0,0.2\n0,0.1\n";

/// 400 rows of a number with gaps, and of a category whose name and levels are of no good will.
fn table() -> String {
    let mut text = String::from("label,size,\"<script>alert(1)</script>\"\n");
    for i in 0..400_u32 {
        let x = (i * 7919 % 400) as f64 / 100.0;
        let size = if i % 11 == 0 {
            String::new()
        } else {
            x.to_string()
        };
        let level = ["a&b", "<img src=x>", "\"\"q\"\"", "plain"][(i % 4) as usize];
        let label = u8::from(x + f64::from(i % 4) + f64::from(i * 31 % 17) / 8.0 > 4.0);
        text += &format!("{label},{size},\"{level}\"\n");
    }
    text
}

fn page(directory: &Path, name: &str) -> String {
    let text = fs::read_to_string(directory.join(name)).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
    assert!(text.contains("Content-Security-Policy") && !text.contains("NaN"));
    assert_eq!(text.matches("<script").count(), 1);
    text
}

const LOSS: [&str; 6] = ["--beta", "0", "--softness", "1", "--gamma", "1e-3"];

#[test]
fn a_model_has_a_page_and_its_numbers_are_those_of_evaluate() {
    let directory = directory_with(&[("t.csv", &table())]);
    let dir = directory.path();
    let train = [
        "train",
        "t.csv",
        "--features",
        "additive",
        "--model",
        "m.json",
    ];
    success(&ubauc(dir, &[&train[..], &LOSS].concat()));
    let found = json(&ubauc(
        dir,
        &["report", "m.json", "t.csv", "-o", "p.html", "--json"],
    ));
    let text = page(dir, "p.html");
    assert!(text.contains("&lt;script&gt;alert(1)") && text.contains("&lt;img src=x&gt;"));
    let judged = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "t.csv", "--json"],
    ));
    for field in ["auc", "ci95", "n_pos", "n_neg", "ties"] {
        assert_eq!(found["scorers"][0][field], judged[field], "{field}");
    }
    let explained = json(&ubauc(dir, &["explain", "m.json", "--json"]));
    let most = &found["effects"]["terms"][0];
    let terms = explained["terms"].as_array().unwrap();
    assert!(
        terms
            .iter()
            .any(|term| term["name"] == most["name"] && term["importance"] == most["importance"])
    );
    assert_eq!(
        found["reproduction"]["files"][0]["xxh3"]
            .as_str()
            .unwrap()
            .len(),
        16
    );
    // The same page by another way, but for the command; and any number of threads.
    success(&ubauc(
        dir,
        &[
            "evaluate", "--model", "m.json", "t.csv", "--report", "q.html",
        ],
    ));
    let body = |name: &str| {
        page(dir, name)
            .split("id=\"again\"")
            .next()
            .unwrap()
            .to_string()
    };
    assert_eq!(body("p.html"), body("q.html"));
    success(&ubauc(
        dir,
        &[
            "--threads",
            "3",
            "report",
            "m.json",
            "t.csv",
            "-o",
            "r.html",
        ],
    ));
    assert_eq!(body("p.html"), body("r.html"));
}

#[test]
fn training_writes_a_page_with_its_search_and_its_steps() {
    let directory = directory_with(&[("t.csv", &table())]);
    let dir = directory.path();
    let search = [
        "train",
        "t.csv",
        "--folds",
        "2",
        "--time-limit",
        "1",
        "--report",
        "p.html",
        "--json",
    ];
    let found = json(&ubauc(dir, &search));
    assert_eq!(found["report"], "p.html");
    let text = page(dir, "p.html");
    for id in [
        "curves",
        "effects",
        "cuts",
        "scores",
        "search",
        "certificate",
        "columns",
        "again",
    ] {
        assert!(text.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    let auc = found["verdict"]["ours"]["auc"].as_f64().unwrap();
    assert!(text.contains(&format!(
        "<data value=\"{auc}\" data-key=\"scorers.0.auc\">"
    )));
    assert!(text.contains("held out") && !text.contains("looks better than it is"));
    let given = [
        "train",
        "t.csv",
        "--features",
        "linear",
        "--report",
        "p.html",
    ];
    let output = ubauc(dir, &[&given[..], &LOSS].concat());
    let named = success(&output)
        .lines()
        .find(|line| line.starts_with("report "));
    assert!(
        named.is_some_and(|line| line.ends_with(" p.html")),
        "{named:?}"
    );
    assert!(page(dir, "p.html").contains("looks better than it is"));
    let tested = [&given[..], &LOSS, &["--test", "t.csv"]].concat();
    success(&ubauc(dir, &tested));
    assert!(!page(dir, "p.html").contains("looks better than it is"));
}

#[test]
fn scores_alone_have_a_page_and_costs_mark_the_cheapest_cut() {
    let directory = directory_with(&[("s.csv", SCORES)]);
    let dir = directory.path();
    let words = success(&ubauc(dir, &["evaluate", "s.csv"])).to_string();
    let output = ubauc(
        dir,
        &["evaluate", "s.csv", "--report", "p.html", "--cost-fn", "10"],
    );
    assert_eq!(success(&output), words);
    let text = page(dir, "p.html");
    // Missing none costs two false alarms, at .3: ties are flagged together.
    assert!(text.contains("no other cut costs less") && text.contains("<data value=\"0.3\""));
    // All from 0 to 1: they may be probabilities.
    assert!(text.contains("Brier score"));
}

#[test]
fn scorers_are_compared_on_one_page() {
    let other = SCORES.replace("0.8", "0.15");
    let directory = directory_with(&[("a.csv", SCORES), ("<b>.csv", &other)]);
    let dir = directory.path();
    success(&ubauc(
        dir,
        &["compare", "a.csv", "<b>.csv", "--report", "p.html"],
    ));
    let text = page(dir, "p.html");
    assert!(text.contains("&lt;b&gt;.csv") && !text.contains("<b>"));
    assert!(text.contains("paired test") && text.contains("class=\"legend\""));
}

#[test]
fn tied_and_huge_scores_make_a_page_and_one_class_an_error() {
    let tied = "label,score\n1,0.5\n0,0.5\n1,0.5\n0,0.5\n";
    let huge = "label,score\n1,1e308\n0,-1e308\n1,3\n0,1e-308\n";
    let directory = directory_with(&[
        ("tied.csv", tied),
        ("huge.csv", huge),
        ("one.csv", "label,score\n1,0.5\n1,0.7\n"),
        ("none.csv", "label,score\n"),
    ]);
    let dir = directory.path();
    for name in ["tied.csv", "huge.csv"] {
        success(&ubauc(dir, &["evaluate", name, "--report", "p.html"]));
        page(dir, "p.html");
    }
    fs::write(dir.join("p.html"), "old").unwrap();
    for name in ["one.csv", "none.csv"] {
        failure(&ubauc(dir, &["evaluate", name, "--report", "p.html"]));
        assert_eq!(fs::read_to_string(dir.join("p.html")).unwrap(), "old");
    }
}

#[test]
fn many_levels_and_long_names_stay_within_a_megabyte() {
    let long = "n".repeat(10_000);
    let mut text = format!("label,many,{long}\n");
    for i in 0..100_000_u32 {
        // Every level six times, so that it has a weight; some are positive more often.
        let positive = (i / 6) % 3 == 0 || i % 5 == 0;
        text += &format!("{},level {},{}\n", u8::from(positive), i / 6, i % 7);
    }
    let directory = directory_with(&[("t.csv", &text)]);
    let dir = directory.path();
    let train = [
        "train",
        "t.csv",
        "--features",
        "linear",
        "--model",
        "m.json",
        "--report",
        "p.html",
    ];
    success(&ubauc(dir, &[&train[..], &LOSS].concat()));
    let text = page(dir, "p.html");
    assert!(text.len() < 1_000_000, "{}", text.len());
    assert!(text.contains("more levels with") && !text.contains(&"n".repeat(1100)));
}

#[test]
fn what_cannot_be_is_refused_before_the_work() {
    let directory = directory_with(&[("s.csv", SCORES)]);
    let dir = directory.path();
    let refused = |arguments: &[&str]| wrong_usage(&ubauc(dir, arguments)).to_string();
    assert!(
        refused(&["evaluate", "s.csv", "--report", "s.csv"]).contains("would replace an input")
    );
    assert!(refused(&["evaluate", "s.csv", "--report", "-"]).contains("name a file"));
    assert!(refused(&["evaluate", "s.csv", "--cost-fp", "2"]).contains("give --report too"));
    let negative = ["evaluate", "s.csv", "--report", "p.html", "--cost-fp", "-2"];
    assert!(refused(&negative).contains("not negative"));
    let nowhere = failure(&ubauc(dir, &["evaluate", "s.csv", "--report", "no/p.html"])).to_string();
    assert!(nowhere.contains("no/p.html"), "{nowhere}");
    assert_eq!(fs::read_to_string(dir.join("s.csv")).unwrap(), SCORES);
}

/// A file that may not grow stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_page() {
    let directory = directory_with(&[("s.csv", SCORES), ("p.html", "old")]);
    let dir = directory.path();
    let program = command(dir, &[]).get_program().to_os_string();
    let mut shell = assert_cmd::Command::new("sh");
    let line = "trap '' XFSZ; ulimit -f 4; exec \"$0\" evaluate s.csv --report p.html";
    let output = shell
        .current_dir(dir)
        .args(["-c", line])
        .arg(program)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(fs::read_to_string(dir.join("p.html")).unwrap(), "old");
    let left = fs::read_dir(dir).unwrap().count();
    assert_eq!(left, 2);
}

/// 240 visits of 40 patients: scores, a weight and a patient whose name is a text.
fn visits() -> String {
    let mut text = "label,score,other,weight,who\n".to_string();
    for i in 0..240_u32 {
        let (who, label) = (i / 6, u32::from(i / 6 % 5 < 2));
        // What a patient adds to all scores is why visits are not independent.
        let own = f64::from(who * 37 % 40) / 8.0;
        let score = own + f64::from(i * 7919 % 240) / 60.0 + 2.0 * f64::from(label);
        let other = own + f64::from(i * 6007 % 240) / 40.0 + f64::from(label);
        text += &format!("{label},{score},{other},{},p{who}\n", 1 + i % 4);
    }
    text
}

#[test]
fn groups_have_their_own_intervals_and_tests() {
    let directory = directory_with(&[("v.csv", &visits())]);
    let dir = directory.path();
    let of = |more: &[&str]| {
        json(&ubauc(
            dir,
            &[&["evaluate", "v.csv", "--json"], more].concat(),
        ))
    };
    let (plain, grouped) = (of(&[]), of(&["--group", "who", "--at-fpr", "0.2"]));
    assert_eq!(plain["auc"], grouped["auc"]);
    let width = |ci95: &serde_json::Value| ci95[1].as_f64().unwrap() - ci95[0].as_f64().unwrap();
    assert!(width(&grouped["ci95"]) > 1.1 * width(&plain["ci95"]));
    let precision = |of: &serde_json::Value| width(&of["average_precision"]["ci95"]);
    assert!(precision(&grouped) > precision(&plain));
    let recall = of(&["--at-fpr", "0.2"]);
    let recall_width = |of: &serde_json::Value| width(&of["recall_at_fpr"][0]["ci95"]);
    assert!(recall_width(&grouped) > recall_width(&recall));
    // The page has the same numbers, and says so.
    of(&["--group", "who", "--report", "p.html"]);
    let text = page(dir, "p.html");
    assert!(
        text.contains("40</data> groups, and only groups are independent"),
        "{text}"
    );
    let low = &grouped["ci95"][0];
    assert!(text.contains(&format!(
        "<data value=\"{low}\" data-key=\"scorers.0.ci95.0\">"
    )));
    let compare = ["compare", "v.csv", "--score", "score,other", "--json"];
    let plain = json(&ubauc(dir, &compare));
    let by_group = [&compare[..], &["--group", "who", "--report", "p.html"]].concat();
    let grouped = json(&ubauc(dir, &by_group));
    let test = |of: &serde_json::Value| of["tests"][0].clone();
    assert_eq!(test(&plain)["difference"], test(&grouped)["difference"]);
    assert_ne!(test(&plain)["p"], test(&grouped)["p"]);
    let text = page(dir, "p.html");
    assert!(text.contains("Obuchowski") && !text.contains("DeLong"));
    let p = test(&grouped)["p"].as_f64().unwrap();
    assert!(text.contains(&format!("value=\"{p}\"")), "{p}");
    // What cannot be.
    let refused =
        |more: &[&str]| stderr(&ubauc(dir, &[&["evaluate", "v.csv"], more].concat())).to_string();
    assert!(
        refused(&["--group", "who", "--weight", "weight"]).contains("no interval of AUC for both")
    );
    assert!(refused(&["--group", "nobody"]).contains("nobody"));
}

#[test]
fn weights_are_on_the_page() {
    let directory = directory_with(&[("v.csv", &visits())]);
    let dir = directory.path();
    let weighted = [
        "evaluate", "v.csv", "--weight", "weight", "--report", "p.html", "--json",
    ];
    let found = json(&ubauc(dir, &weighted));
    let text = page(dir, "p.html");
    for (key, value) in [("auc", &found["auc"]), ("ci95.1", &found["ci95"][1])] {
        assert!(text.contains(&format!(
            "<data value=\"{value}\" data-key=\"scorers.0.{key}\">"
        )));
    }
    assert!(text.contains("Rows have weights"));
    assert!(text.contains(&format!(
        "data-pos=\"{}\"",
        found["weight_pos"].as_f64().unwrap()
    )));
}

#[test]
fn training_in_groups_or_with_weights_has_a_page() {
    let directory = directory_with(&[("v.csv", &visits())]);
    let dir = directory.path();
    let train = ["train", "v.csv", "--report", "p.html", "--json"];
    let with = |more: &[&str]| {
        json(&ubauc(dir, &[&train[..], more].concat()));
        page(dir, "p.html")
    };
    let groups = [
        "--group",
        "who",
        "--ignore",
        "weight",
        "--features",
        "linear",
    ];
    // The training rows, those of a test file, and those held out by a search.
    assert!(with(&[&groups[..], &LOSS].concat()).contains("only groups are independent"));
    let tested = with(&[&groups[..], &LOSS, &["--test", "v.csv"]].concat());
    assert!(tested.contains("only groups are independent"));
    let searched = with(&[&groups[..], &["--folds", "2", "--time-limit", "1"]].concat());
    assert!(searched.contains("only groups are independent") && searched.contains("held out"));
    assert!(!searched.contains("DeLong"));
    let without = visits().replace(",who", ",nobody");
    fs::write(dir.join("other.csv"), without).unwrap();
    let other = ubauc(
        dir,
        &[&train[..], &groups, &LOSS, &["--test", "other.csv"]].concat(),
    );
    assert!(
        stderr(&other).contains("independent ones"),
        "{}",
        stderr(&other)
    );
    assert!(page(dir, "p.html").contains("taken as independent"));
    let weights = [
        "--weight",
        "weight",
        "--ignore",
        "who",
        "--features",
        "linear",
    ];
    assert!(with(&[&weights[..], &LOSS].concat()).contains("Rows have weights"));
    let tested = with(&[&weights[..], &LOSS, &["--test", "v.csv"]].concat());
    assert!(tested.contains("count alike"));
}

#[test]
fn points_and_intervals_of_importances_are_on_the_page() {
    let directory = directory_with(&[("t.csv", &table())]);
    let dir = directory.path();
    let train = [
        "train",
        "t.csv",
        "--features",
        "additive",
        "--model",
        "m.json",
    ];
    success(&ubauc(dir, &[&train[..], &LOSS].concat()));
    let points = ["--points", "pdo=20,odds=50,base=600"];
    let report = ["report", "m.json", "t.csv", "-o", "p.html", "--json"];
    let found = json(&ubauc(dir, &[&report[..], &points].concat()));
    let card = json(&ubauc(
        dir,
        &[&["export", "m.json", "--json"][..], &points].concat(),
    ));
    assert_eq!(found["points"], card);
    let text = page(dir, "p.html");
    assert!(text.contains("<section id=\"points\">"));
    let base = &card["base_points"];
    assert!(text.contains(&format!(
        "<data value=\"{base}\" data-key=\"points.base_points\">"
    )));
    let first = card["terms"][0]["cells"][0]["points"].as_f64().unwrap();
    assert!(text.contains(&format!("value=\"{first}\"")));
    let term = &found["effects"]["terms"][0];
    let end = term["interval"][1].as_f64().unwrap();
    assert!(text.contains(&format!("value=\"{end}\"")) && text.contains("95 % intervals"));
    let wrong = [&["evaluate", "t.csv", "--report", "p.html"][..], &points].concat();
    wrong_usage(&ubauc(dir, &wrong));
    let alone = [&["evaluate", "t.csv", "--model", "m.json"][..], &points].concat();
    assert!(wrong_usage(&ubauc(dir, &alone)).contains("give --report too"));
    // A loss without log-odds is refused before anything is read; the choice of a search may be one.
    let train = |more: &[&str]| {
        let words = [
            "train",
            "t.csv",
            "--features",
            "additive",
            "--report",
            "q.html",
        ];
        ubauc(dir, &[&words[..], &points, more].concat())
    };
    let hinge = train(&["--beta", "0.5", "--gamma", "0.1"]);
    assert!(wrong_usage(&hinge).contains("--points"));
    let soft = [
        "--softness",
        "0.5",
        "--class-weight",
        "none",
        "--gamma",
        "0.1",
        "--folds",
        "3",
    ];
    success(&train(&soft));
    let text = page(dir, "q.html");
    let has_points = text.contains("<section id=\"points\">");
    assert!(has_points != text.contains("There are no points of this model"));
    let compare = ["compare", "t.csv", "--score", "x,y", "--report", "q.html"];
    assert!(wrong_usage(&ubauc(dir, &[&compare[..], &points].concat())).contains("unexpected"));
}
