use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::server::{Habit, Server};
use super::{failure, files, stderr, stdout, success, ubauc_data};

/// diabetes is one plain file on the page, usps two bzip2 ones.
const DIABETES: &str = "binary/diabetes_scale";
const USPS: [&str; 2] = ["multiclass/usps.bz2", "multiclass/usps.t.bz2"];

fn rows(n: usize) -> Vec<u8> {
    (0..n)
        .flat_map(|i| format!("+1 1:{i} 2:0.5\n").into_bytes())
        .collect()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn fetch(directory: &Path, server: &Server, more: &[&str]) -> Output {
    let mut arguments = vec!["fetch", "--base-url", server.url()];
    arguments.extend_from_slice(more);
    ubauc_data(directory, &arguments)
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_str(stdout(output)).unwrap()
}

#[test]
fn fresh_download_is_stored_recorded_and_verified_later() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let bytes = rows(50_000);
    server.put(DIABETES, &bytes, Habit::Ranges);

    let output = fetch(dir, &server, &["diabetes"]);
    assert!(
        success(&output).contains("downloaded; content differs"),
        "{}",
        stdout(&output)
    );
    // Made-up rows are not the real ones, and that is said.
    assert!(
        stderr(&output).contains("warning: diabetes/all.svm"),
        "{}",
        stderr(&output)
    );
    assert_eq!(files(dir), ["data/SHA256SUMS", "data/diabetes/all.svm"]);
    assert_eq!(fs::read(dir.join("data/diabetes/all.svm")).unwrap(), bytes);
    let sums = fs::read_to_string(dir.join("data/SHA256SUMS")).unwrap();
    assert_eq!(sums, format!("{}  diabetes/all.svm\n", sha256(&bytes)));
    assert_eq!(server.requests(), [DIABETES]);

    let again = fetch(dir, &server, &["diabetes", "--json"]);
    success(&again);
    let file = &json(&again)["files"][0];
    assert_eq!(file["status"], "already-there");
    assert_eq!(file["sha256"], sha256(&bytes));
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn truncated_download_continues_from_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let bytes = rows(50_000);
    server.put(DIABETES, &bytes, Habit::Truncate(300_000));

    let output = fetch(dir, &server, &["diabetes"]);
    assert!(
        failure(&output).contains("stopped after 300,000 of"),
        "{}",
        stderr(&output)
    );
    assert_eq!(files(dir), ["data/diabetes/all.svm.part"]);

    // Cut short a second time, now while continuing.
    fetch(dir, &server, &["diabetes"]);
    let partial = fs::read(dir.join("data/diabetes/all.svm.part")).unwrap();
    assert!(partial == bytes[..600_000], "{} bytes", partial.len());

    server.put(DIABETES, &bytes, Habit::Ranges);
    let output = fetch(dir, &server, &["diabetes", "--json"]);
    success(&output);
    assert_eq!(json(&output)["files"][0]["resumed_from"], 600_000);
    assert_eq!(
        server.requests(),
        [
            DIABETES.to_owned(),
            format!("{DIABETES} from 300000"),
            format!("{DIABETES} from 600000")
        ]
    );
    assert!(fs::read(dir.join("data/diabetes/all.svm")).unwrap() == bytes);
    assert_eq!(files(dir), ["data/SHA256SUMS", "data/diabetes/all.svm"]);
}

#[test]
fn killed_download_continues_from_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let bytes = rows(50_000);
    server.put(DIABETES, &bytes, Habit::Stall(300_000));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ubauc"))
        .args([
            "data",
            "fetch",
            "diabetes",
            "--quiet",
            "--base-url",
            server.url(),
        ])
        .current_dir(dir)
        // Or it would fetch into the folder of the real data.
        .env_remove("UBAUC_DATA")
        .spawn()
        .unwrap();
    let partial = dir.join("data/diabetes/all.svm.part");
    let received = || fs::metadata(&partial).map_or(0, |metadata| metadata.len());
    let started = Instant::now();
    while received() < 300_000 && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(files(dir), ["data/diabetes/all.svm.part"]);

    server.put(DIABETES, &bytes, Habit::Ranges);
    success(&fetch(dir, &server, &["diabetes"]));
    let expected = [DIABETES.to_owned(), format!("{DIABETES} from 300000")];
    assert_eq!(server.requests(), expected);
    assert!(fs::read(dir.join("data/diabetes/all.svm")).unwrap() == bytes);
}

#[test]
fn servers_that_cannot_continue_start_over() {
    for habit in [Habit::NoRanges, Habit::WrongRange, Habit::Unsatisfiable] {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        let server = Server::start();
        let bytes = rows(1000);
        server.put(DIABETES, &bytes, habit);
        fs::create_dir_all(dir.join("data/diabetes")).unwrap();
        fs::write(
            dir.join("data/diabetes/all.svm.part"),
            "+1 1:an older version",
        )
        .unwrap();
        success(&fetch(dir, &server, &["diabetes"]));
        assert!(fs::read(dir.join("data/diabetes/all.svm")).unwrap() == bytes);
        assert_eq!(files(dir), ["data/SHA256SUMS", "data/diabetes/all.svm"]);
    }
}

#[test]
fn changed_file_is_detected_and_force_replaces_it() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let bytes = rows(1000);
    server.put(DIABETES, &bytes, Habit::Ranges);
    success(&fetch(dir, &server, &["diabetes"]));
    let path = dir.join("data/diabetes/all.svm");
    fs::write(&path, "+1 1:damaged\n").unwrap();

    let output = fetch(dir, &server, &["diabetes"]);
    assert!(
        failure(&output).contains("--force downloads it again"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read(&path).unwrap(), b"+1 1:damaged\n");

    success(&fetch(dir, &server, &["diabetes", "--force"]));
    assert!(fs::read(&path).unwrap() == bytes);
    assert!(success(&fetch(dir, &server, &["diabetes"])).contains("already there, as recorded"));
}

#[test]
fn force_leaves_one_file_for_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    server.put(DIABETES, &rows(1000), Habit::Ranges);
    fs::create_dir_all(dir.join("data/diabetes")).unwrap();
    fs::write(dir.join("data/diabetes/all.svm.zst"), "by hand").unwrap();
    // What was put there by hand is taken, and recorded.
    let output = fetch(dir, &server, &["diabetes"]);
    assert!(
        success(&output).contains("already there, recorded now"),
        "{}",
        stdout(&output)
    );
    assert_eq!(server.requests(), [""; 0]);

    success(&fetch(dir, &server, &["diabetes", "--force"]));
    assert_eq!(files(dir), ["data/SHA256SUMS", "data/diabetes/all.svm"]);
    let sums = fs::read_to_string(dir.join("data/SHA256SUMS")).unwrap();
    assert_eq!(sums, format!("{}  diabetes/all.svm\n", sha256(&rows(1000))));
}

#[test]
fn other_name_is_tried_after_404() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let packed = bzip2(&rows(1000));
    server.put("binary/diabetes_scale.bz2", &packed, Habit::Ranges);
    server.put("multiclass/usps", &rows(10), Habit::Ranges);
    server.put(USPS[1], &packed, Habit::Ranges);
    success(&fetch(dir, &server, &["diabetes", "usps"]));
    assert_eq!(
        server.requests(),
        [
            DIABETES,
            "binary/diabetes_scale.bz2",
            USPS[0],
            "multiclass/usps",
            USPS[1]
        ]
    );
    let data = dir.join("data");
    assert_eq!(
        files(&data),
        [
            "SHA256SUMS",
            "diabetes/all.svm.bz2",
            "usps/test.svm.bz2",
            "usps/train.svm"
        ]
    );
    assert!(fs::read(data.join("diabetes/all.svm.bz2")).unwrap() == packed);
}

#[test]
fn one_failure_does_not_stop_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    server.put(USPS[0], &[], Habit::Status(503));
    server.put(USPS[1], &bzip2(&rows(10)), Habit::Ranges);
    let output = fetch(dir, &server, &["usps", "diabetes", "--json"]);
    let message = failure(&output);
    assert!(message.contains("2 files failed"), "{message}");
    assert!(message.contains("status 503"), "{message}");
    assert!(message.contains("the server has neither"), "{message}");
    let report = json(&output);
    assert_eq!(report["files"][0]["name"], "usps/test.svm.bz2");
    assert_eq!(report["failed"].as_array().unwrap().len(), 2);
}

#[test]
fn damaged_or_foreign_content_never_gets_the_final_name() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let server = Server::start();
    let mut packed = bzip2(&rows(1000));
    packed.truncate(packed.len() - 10);
    server.put(USPS[0], &packed, Habit::Ranges);
    server.put(USPS[1], b"<html>please log in</html>", Habit::Ranges);
    server.put(DIABETES, b"<html>please log in</html>", Habit::Ranges);
    let output = fetch(dir, &server, &["usps", "diabetes"]);
    assert!(
        failure(&output).contains("3 files failed"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("is damaged, and was removed"),
        "{}",
        stderr(&output)
    );
    assert_eq!(files(dir), [""; 0]);
}

#[test]
fn offline_message_says_what_to_get_and_where_to_put_it() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    // A port that nobody listens on any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/datasets/", listener.local_addr().unwrap());
    drop(listener);
    let output = ubauc_data(dir, &["fetch", "a9a", "--base-url", &url, "--quiet"]);
    let message = failure(&output);
    assert!(message.contains("offline?"), "{message}");
    assert!(
        message.contains(&format!("wanted {url}binary/a9a:")),
        "{message}"
    );
    let place = Path::new("data").join("a9a/train.svm");
    assert!(message.contains(place.to_str().unwrap()), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(files(dir), [""; 0]);
}

#[test]
fn unknown_names_are_wrong_usage() {
    let directory = tempfile::tempdir().unwrap();
    let output = ubauc_data(directory.path(), &["fetch", "a8a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("a9a"), "{}", stderr(&output));
    assert_eq!(
        ubauc_data(directory.path(), &["fetch"]).status.code(),
        Some(2)
    );
}
