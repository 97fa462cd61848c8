use std::io::Write;

use super::{Case, check, show};
#[cfg(feature = "parquet")]
use crate::process::{failure, ubauc};

/// 2000 rows that do not compress to nothing.
pub(super) fn text() -> Vec<u8> {
    let mut state = 1u64;
    let mut text = Vec::new();
    for i in 0..2000u64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        writeln!(text, "{} 1:{} 2:{}", i % 2, state >> 40, state % 1000).unwrap();
    }
    text
}

pub(super) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn xz(text: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The first half of the bytes, and more.
fn cut(archive: &[u8], at: usize) -> Vec<u8> {
    archive[..at].to_vec()
}

fn flipped(mut archive: Vec<u8>, at: usize) -> Vec<u8> {
    archive[at] ^= 0x55;
    archive
}

fn followed_by(mut archive: Vec<u8>, more: &[u8]) -> Vec<u8> {
    archive.extend(more);
    archive
}

#[test]
fn archives_cut_short_are_refused() {
    let text = text();
    let mut cases = Vec::new();
    for (archive, what) in [
        (gzip(&text), "gzip data is cut short"),
        (zstd(&text), "zstd data is cut short"),
        (bzip2(&text), "bzip2 data is cut short"),
        (xz(&text), "xz data is cut short"),
    ] {
        let n = archive.len();
        // In the header, just behind it, in the middle, and in what checks the whole.
        for at in [8, 20, n / 2, n - 3, n - 1] {
            cases.push(show("cut", cut(&archive, at), "", what));
        }
        // A second archive that has hardly begun.
        let second = followed_by(archive.clone(), &archive[..8]);
        cases.push(show("second", second, "", what));
    }
    check(&cases);
}

#[test]
fn damaged_archives_are_refused() {
    let text = text();
    let mut cases = Vec::new();
    for (archive, what) in [
        (gzip(&text), "gzip data is damaged"),
        (zstd(&text), "zstd data is damaged"),
        (bzip2(&text), "bzip2 data is damaged"),
        (xz(&text), "xz data is damaged"),
    ] {
        let n = archive.len();
        cases.push(show("middle", flipped(archive.clone(), n / 2), "", what));
        // Bytes behind the archive, which are neither an archive nor padding.
        let garbage = followed_by(archive, b"garbage after the end of it");
        cases.push(show("garbage", garbage, "", what));
    }
    cases.push(show(
        "checksum",
        flipped(gzip(&text), gzip(&text).len() - 6),
        "",
        "damaged",
    ));
    cases.push(show(
        "method",
        flipped(gzip(&text), 2),
        "",
        "gzip data is damaged",
    ));
    check(&cases);
}

#[test]
fn what_is_in_an_archive_is_checked_as_a_plain_file_is() {
    check(&[
        show("a.gz", gzip(b""), "", "the file is empty"),
        show("a.zst", zstd(b""), "", "the file is empty"),
        show("a.bz2", bzip2(b""), "", "the file is empty"),
        show("a.xz", xz(b""), "", "the file is empty"),
        show(
            "a.gz",
            gzip(b"1 1:1\n-1 1:x\n"),
            ":2:6",
            "value 'x' is not a finite",
        ),
        show(
            "a.csv.zst",
            zstd(b"label,x\n1,2\n0,y\n"),
            ":3:2",
            "'y' in column 'x'",
        )
        .and(&["--numeric", "x"]),
        show(
            "a.gz",
            gzip(&gzip(b"1 1:1\n")),
            "",
            "compressed twice: gzip data within gzip data",
        ),
        show(
            "a.xz",
            xz(&bzip2(b"1 1:1\n")),
            "",
            "compressed twice: bzip2 data within xz data",
        ),
        show(
            "a.gz",
            gzip(b"PAR1...."),
            "",
            "Parquet is read from a plain file only",
        ),
    ]);
}

/// The crate underneath panics over some damage; a user sees an error of the file, and only that.
#[test]
#[cfg(feature = "parquet")]
fn a_panic_of_the_parquet_reader_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let whole = include_bytes!("table.parquet");
    let what = "damaged Parquet file: its lengths and offsets contradict each other";
    let mut damages = (0..whole.len()).flat_map(|at| [1_u8, 0x80].map(|bit| (at, bit)));
    let found = damages.find(|&(at, bit)| {
        let mut damaged = whole.to_vec();
        damaged[at] ^= bit;
        std::fs::write(&path, damaged).unwrap();
        let result = ubauc::read::read(&path, &Default::default());
        result.is_err_and(|error| error.to_string().ends_with(what))
    });
    assert!(found.is_some());
    let output = ubauc(directory.path(), &["data", "show", "t.parquet", "--quiet"]);
    assert_eq!(failure(&output), format!("ubauc: t.parquet: {what}\n"));
}

#[test]
fn parquet_junk_is_refused_with_and_without_the_reader() {
    let what = if cfg!(feature = "parquet") {
        "damaged Parquet file"
    } else {
        "this build has no Parquet reader"
    };
    let cases: Vec<Case> = [
        b"PAR1".to_vec(),
        b"PAR1 and then something else".to_vec(),
        b"PAR1\0\0\0\0\x04\0\0\0PAR1".to_vec(),
        b"PAR1\xff\xff\xff\xff\xff\xff\xff\x7fPAR1".to_vec(),
        b"PAR1\x15\x04\x19\x5c\x48\x06schema\x15\x02\0\x0e\0\0\0PAR1".to_vec(),
    ]
    .into_iter()
    .map(|content| show("a", content, "", what))
    .collect();
    check(&cases);
}
