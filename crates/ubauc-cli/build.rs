//! Tells the program which commit it is built from, for --version and results that name it; outside a checkout none.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = |args: &[&str]| -> Option<String> {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let mut version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&[
            "status",
            "--porcelain",
            "--untracked-files=no",
            "..",
            "../../experiments/*.toml",
        ]);
        let dirty = if changed.is_some_and(|c| !c.is_empty()) {
            "-dirty"
        } else {
            ""
        };
        println!("cargo:rustc-env=UBAUC_COMMIT={commit}{dirty}");
        version = format!("{version} ({commit}{dirty})");
    }
    println!("cargo:rustc-env=UBAUC_VERSION={version}");
    for source in [
        "src",
        "../ubauc/src",
        "../../experiments/table2.toml",
        "../../experiments/table3.toml",
    ] {
        println!("cargo:rerun-if-changed={source}");
    }
    // A commit moves the branch that HEAD names and writes its log; without git nothing is watched.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists());
    println!(
        "cargo:rerun-if-changed={}",
        log.as_deref().unwrap_or("build.rs")
    );
}
