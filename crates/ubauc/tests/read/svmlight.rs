use std::io::Write;

use proptest::prelude::*;
use ubauc::read::ReadOptions;

use super::{entries, from_bytes, from_file, labels, place};

/// The obvious reader: split and parse.
fn naive(text: &str) -> Vec<(f64, Vec<(usize, f64)>)> {
    text.lines()
        .map(|line| {
            line.split('#')
                .next()
                .unwrap()
                .split_whitespace()
                .collect::<Vec<_>>()
        })
        .filter(|tokens| !tokens.is_empty())
        .map(|tokens| {
            let row = tokens[1..]
                .iter()
                .filter(|token| !token.starts_with("qid:"))
                .map(|token| {
                    let (index, value) = token.split_once(':').unwrap();
                    (
                        index.parse::<usize>().unwrap() - 1,
                        value.parse::<f64>().unwrap(),
                    )
                })
                .filter(|entry| entry.1 != 0.0)
                .collect();
            (tokens[0].parse().unwrap(), row)
        })
        .collect()
}

/// A number in one of the ways in which programs write them.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_string()),
        (0..10u32).prop_map(|d| d.to_string()),
        (-1e4..1e4f64).prop_map(|x| format!("{x:.3}")),
        (-1e4..1e4f64).prop_map(|x| format!("{x}")),
        any::<f64>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| format!("{x:e}")),
        any::<i64>().prop_map(|i| i.to_string()),
        (1..1000u32).prop_map(|i| format!("+{i}.")),
        (1..1000u32).prop_map(|i| format!(".{i}")),
        Just("0.000000000000000000000000000001".to_string()),
        Just("123456789012345678901234567890".to_string()),
        Just("-0".to_string()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let label = prop_oneof![Just("+1"), Just("-1"), Just("1.0"), Just("-1.0"), Just("1")];
    let gap = prop_oneof![8 => Just(" "), 1 => Just("  "), 1 => Just("\t")];
    let entry = (1..60usize, value(), gap);
    let tail = prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\r"), 1 => Just(" # 1:2 x")];
    let before = prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\n"), 1 => Just("# c\n")];
    let qid = prop_oneof![6 => Just(""), 1 => Just(" qid:3")];
    (
        before,
        label,
        qid,
        proptest::collection::vec(entry, 0..8),
        tail,
    )
        .prop_map(|(before, label, qid, entries, tail)| {
            let mut line = format!("{before}{label}{qid}");
            let mut index = 0;
            for (step, value, gap) in entries {
                index += step;
                line.push_str(&format!("{gap}{index}:{value}"));
            }
            line + tail
        })
}

proptest! {
    #[test]
    fn agrees_with_the_naive_reader_from_file_and_stream(
        lines in proptest::collection::vec(line(), 1..30),
        closed in any::<bool>(),
    ) {
        let text = lines.join("\n") + if closed { "\n" } else { "" };
        let expected = naive(&text);
        for examples in [
            from_bytes(text.as_bytes(), &ReadOptions::default()).unwrap(),
            from_file(text.as_bytes(), &ReadOptions::default()).unwrap(),
        ] {
            let rows: Vec<_> = expected.iter().map(|(_, row)| row.clone()).collect();
            prop_assert_eq!(entries(&examples), rows);
            let got: Vec<f64> = labels(&examples).iter().map(|l| l.parse().unwrap()).collect();
            prop_assert_eq!(got, expected.iter().map(|(label, _)| *label).collect::<Vec<_>>());
            prop_assert_eq!(!examples.notices.is_empty(), text.contains("qid:"));
        }
    }

    /// Whatever bytes come: an answer or an error, the same from a file and a stream.
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(
        prop_oneof![4 => proptest::sample::select(b"0123456789:.-+e #\n\r\tqid,;\"".to_vec()),
                    1 => any::<u8>()], 0..200)) {
        let a = from_bytes(&bytes, &ReadOptions::default());
        let b = from_file(&bytes, &ReadOptions::default());
        prop_assert_eq!(a.is_ok(), b.is_ok());
    }
}

/// 3 MB in lines of all lengths, so that blocks begin and end anywhere.
fn long_text() -> String {
    (0..60_000usize)
        .map(|i| {
            let row: String = (1..=i % 17)
                .map(|j| format!(" {}:{}", j * (1 + i % 5), (i + j) % 13))
                .collect();
            let comment = if i % 97 == 0 { " # a comment 7:7" } else { "" };
            format!("{}{row}{comment}\n", if i % 3 == 0 { "+1" } else { "-1" })
        })
        .collect()
}

#[test]
fn many_blocks_join_without_a_seam() {
    let text = long_text();
    let expected = naive(&text);
    for examples in [
        from_bytes(text.as_bytes(), &ReadOptions::default()).unwrap(),
        from_file(text.as_bytes(), &ReadOptions::default()).unwrap(),
    ] {
        let rows: Vec<_> = expected.iter().map(|(_, row)| row.clone()).collect();
        assert!(entries(&examples) == rows);
        assert_eq!(examples.labels.counts(), [40_000, 20_000]);
    }
}

#[test]
fn every_compression_gives_the_same_rows() {
    let text = long_text();
    let plain = from_bytes(text.as_bytes(), &ReadOptions::default()).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text.as_bytes()).unwrap();
    let mut xz =
        lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
    xz.write_all(text.as_bytes()).unwrap();
    let archives = [
        gzip.finish().unwrap(),
        bzip2.finish().unwrap(),
        xz.finish().unwrap(),
        zstd::encode_all(text.as_bytes(), 1).unwrap(),
    ];
    for archive in archives {
        let examples = from_file(&archive, &ReadOptions::default()).unwrap();
        assert!(examples.rows == plain.rows && examples.labels == plain.labels);
        // Two archives one after the other are one text.
        let twice = from_bytes(
            &[archive.clone(), archive.clone()].concat(),
            &<_>::default(),
        );
        assert_eq!(twice.unwrap().rows.len(), 2 * plain.rows.len());
        // Cut anywhere, an archive is an error and not a shorter file.
        for cut in [
            7,
            11,
            20,
            archive.len() / 2,
            archive.len() - 5,
            archive.len() - 1,
        ] {
            let cut_short = from_bytes(&archive[..cut], &ReadOptions::default());
            assert!(cut_short.is_err(), "cut at {cut} of {:x?}", &archive[..4]);
        }
    }
}

#[test]
fn the_first_error_is_reported_with_its_line_and_column() {
    let mut text = long_text();
    text.push_str("+1 3:1 2:1\n");
    text.push_str(&long_text());
    text.push_str("bad line\n");
    for result in [
        from_bytes(text.as_bytes(), &ReadOptions::default()),
        from_file(text.as_bytes(), &ReadOptions::default()),
    ] {
        assert_eq!(place(result), (60_001, 8));
    }
}

#[test]
fn zero_based_indices_are_read_when_asked_for() {
    let options = ReadOptions {
        zero_based: true,
        ..Default::default()
    };
    let examples = from_bytes(b"1 0:5 3:1\n-1 1:2\n", &options).unwrap();
    assert_eq!(
        entries(&examples),
        [vec![(0, 5.0), (3, 1.0)], vec![(1, 2.0)]]
    );
}

#[test]
fn indices_of_any_length_up_to_the_limit_are_read() {
    let text = b"1 0000000000000000002:1 12345678:2 123456789:3 2147483648:4\n-1 1:1\n";
    let options = ReadOptions {
        max_features: 1 << 31,
        ..Default::default()
    };
    let examples = from_bytes(text, &options).unwrap();
    assert_eq!(examples.rows.cols(), 1 << 31);
    let row = examples.rows.row(0);
    let values = [1, 12_345_677, 123_456_788, 2_147_483_647].map(|j| row.get(j));
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    assert!(from_bytes(b"1 2147483649:1\n-1\n", &options).is_err());
    // Short indices are looked at in another way than long ones.
    for (most, zero_based, good) in [
        (100, false, 100),
        (100, true, 99),
        (123_456_789, false, 123_456_789),
    ] {
        let options = ReadOptions {
            max_features: most,
            zero_based,
            ..Default::default()
        };
        let with = |index: usize| format!("1 {index}:1\n-1 {good}:1 # a comment\n");
        let examples = from_bytes(with(good).as_bytes(), &options).unwrap();
        assert_eq!(examples.rows.cols(), most);
        assert_eq!(
            place(from_bytes(with(good + 1).as_bytes(), &options)),
            (1, 3)
        );
    }
    assert_eq!(place(from_bytes(text, &ReadOptions::default())), (1, 36));
}

#[test]
fn byte_order_mark_and_missing_last_line_end_are_no_trouble() {
    for result in [
        from_bytes(b"\xef\xbb\xbf1 1:2\n-1 2:3", &ReadOptions::default()),
        from_file(b"\xef\xbb\xbf1 1:2\n-1 2:3", &ReadOptions::default()),
    ] {
        assert_eq!(entries(&result.unwrap()), [vec![(0, 2.0)], vec![(1, 3.0)]]);
    }
}
