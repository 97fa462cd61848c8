//! Files that look odd and are right.

use std::fs;

use super::archives::{bzip2, gzip, xz, zstd};
use super::ubauc;

/// Rows and features of a file, as the program counts them.
fn size(file: &str, content: &[u8], more: &[&str]) -> (u64, u64) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(file), content).unwrap();
    let arguments = [&["data", "show", file, "--json"], more].concat();
    let output = ubauc(directory.path(), &arguments, b"");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{content:?}: {error}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    (
        report["rows"].as_u64().unwrap(),
        report["d"].as_u64().unwrap(),
    )
}

#[test]
fn odd_svmlight_is_read() {
    for (content, expected) in [
        (&b"\xef\xbb\xbf1 1:2\n-1 2:3"[..], (2, 2)),
        (b"1 1:2\r\n\r\n-1 2:3\r\n", (2, 2)),
        (b"\n\n# a comment\n  +1\t1:2  \n-1.0 7:3 # 8:1\n", (2, 7)),
        (b"1\n-1\n", (2, 0)),
        (b"1 qid:4 3:1e-400\n0 qid:5 3:-0\n", (2, 3)),
        (
            b"1 0000000000000000000000002:1 100000000:1\n0 1:1\n",
            (2, 100_000_000),
        ),
        (b"5\n", (1, 0)),
    ] {
        assert_eq!(size("a", content, &[]), expected, "{content:?}");
        for archive in [gzip(content), zstd(content), bzip2(content), xz(content)] {
            assert_eq!(size("a", &archive, &[]), expected, "{content:?}");
            let twice = [archive.as_slice(), &gzip(b"")].concat();
            if archive.starts_with(b"\x1f\x8b") {
                assert_eq!(size("a", &twice, &[]), expected, "{content:?}");
            }
        }
    }
}

#[test]
fn odd_csv_is_read() {
    let text = ["--ignore", "text"];
    for (content, more, expected) in [
        (&b"\xef\xbb\xbflabel,x\n1,2\n0,3"[..], &[][..], (2, 1)),
        (b"label,x\r\n1,2\r\n\r\n0,3\r\n", &[], (2, 1)),
        (b"\n\nlabel,x\n\n1,2\n\n", &[], (1, 1)),
        (b"label;x\n1;2\n0;3\n", &[], (2, 1)),
        (b" label , x \n yes , 2 \n", &[], (1, 1)),
        (b"\"label\",\"x\"\n\"1\",\"2\"\n\"0\",\"3\"", &[], (2, 1)),
        (
            b"text,label,x\n\"a\nb\",1,2\n\"c\r\n\r\nd\",0,3\n",
            &text,
            (2, 1),
        ),
        (
            b"text,label,x\n\"say \"\"hi\"\"\",1,2\n\"\",0,3\n",
            &text,
            (2, 1),
        ),
        (b"label,x,text\n1,2,\"\"\n0,3,\"\"", &text, (2, 1)),
        (b"label,x,text\n1,2,5\" disk\n0,3,a\"\n", &text, (2, 1)),
        (b"label\tx\n1\t2\n0\t3\n", &[], (2, 1)),
        (b"1,2\n0,3\n", &["--no-header", "--label", "1"], (2, 1)),
    ] {
        assert_eq!(size("a", content, more), expected, "{content:?}");
    }
}
