use std::io::{self, Cursor};
use std::sync::mpsc;

use super::*;

fn options() -> StreamOptions {
    StreamOptions {
        read: TableOptions {
            label: Some("label".to_string()),
            ..TableOptions::default()
        },
        classes: StreamClasses::default(),
        weight: None,
        features: StreamFeatures::Numbers(FeatureMap::Identity),
        on_error: OnError::Stop,
    }
}

/// All examples of a text, in order: features, label, weight.
type Example = (Vec<(usize, f64)>, Option<bool>, f64);

fn read_all_of(reader: impl Read + Send + 'static, options: StreamOptions) -> Result<Vec<Example>> {
    let mut stream = LabelledStream::from_reader(reader, Path::new("t"), options);
    let mut all = Vec::new();
    loop {
        match stream.next(Duration::from_secs(60))? {
            Next::Batch(batch) => all.extend((0..batch.rows.len()).map(|i| {
                let weight = batch.weights.as_ref().map_or(1.0, |w| w[i]);
                (
                    batch.rows.row(i).entries().collect(),
                    batch.labels[i],
                    weight,
                )
            })),
            Next::Waiting => {}
            Next::End => return Ok(all),
        }
    }
}

fn of_text(text: &str, options: StreamOptions) -> Result<Vec<Example>> {
    read_all_of(Cursor::new(text.to_string()), options)
}

/// Hands out a few bytes at a time.
struct Drops(Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(self.1);
        self.0.read(&mut buffer[..n])
    }
}

#[test]
fn labels_are_of_both_classes_or_none() {
    let all = of_text("# c\n1 1:2\n\n? 3:1\n-1 2:0.5 # d\n0\n+1 1:1", options()).unwrap();
    let labels: Vec<Option<bool>> = all.iter().map(|e| e.1).collect();
    assert_eq!(
        labels,
        [Some(true), None, Some(false), Some(false), Some(true)]
    );
    assert_eq!(all[1].0, [(2, 1.0)]);
    let all = of_text("label,a\n1,2\n,3\n?,4\n0,5\n", options()).unwrap();
    let labels: Vec<Option<bool>> = all.iter().map(|e| e.1).collect();
    assert_eq!(labels, [Some(true), None, None, Some(false)]);
}

#[test]
fn errors_have_their_line_and_come_after_what_is_before_them() {
    let refused = |text: &str, options| match of_text(text, options).unwrap_err() {
        Error::Parse {
            line, column, what, ..
        } => (line, column, what),
        other => panic!("{other}"),
    };
    let (line, column, what) = refused("1 1:1\n\n2 1:1\n", options());
    assert_eq!((line, column), (3, 1));
    assert!(what.contains("positive VALUE"), "{what}");
    assert_eq!(refused("1 1:1\n1 1:x\n", options()).0, 2);
    assert_eq!(refused("1 1:1\nyes 1:1\n", options()).0, 2);
    let (line, column, _) = refused("a,label\n1,1\n1,spam\n", options());
    assert_eq!((line, column), (3, 2));
    let (line, _, what) = refused("a,label\n\"1\",1\n1,NA\n", options());
    assert_eq!(line, 3);
    assert!(what.contains("missing"), "{what}");
    for (text, word) in [
        ("", "empty"),
        ("a,b\n1,2\n", "label"),
        ("PAR1xx\n", "Parquet"),
    ] {
        let error = of_text(text, options()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn batches_do_not_change_what_is_read() {
    let (mut svmlight, mut csv) = (String::new(), "label,a,w,b\n".to_string());
    for i in 0..20_000 {
        let label = ["1", "-1", "?"][i % 3];
        svmlight += &format!("{label} {}:{} {}:0.25\n", i % 7 + 1, i, i % 50 + 9);
        csv += &format!("{label},{i},{},\"{}\"\n", i % 5, i % 3);
    }
    let mut weighted = options();
    weighted.weight = Some("w".to_string());
    for (text, options) in [(svmlight, options()), (csv, weighted)] {
        let whole = of_text(&text, options.clone()).unwrap();
        assert_eq!(whole.len(), 20_000);
        for size in [7, 5_000] {
            let drops = Drops(Cursor::new(text.clone().into_bytes()), size);
            assert!(
                read_all_of(drops, options.clone()).unwrap() == whole,
                "{size}"
            );
        }
        let mut hashed = options.clone();
        hashed.features = StreamFeatures::Numbers(FeatureMap::Hash { bits: 3 });
        let drops = Drops(Cursor::new(text.clone().into_bytes()), 911);
        let other = read_all_of(drops, hashed.clone()).unwrap();
        assert!(of_text(&text, hashed).unwrap() == other);
        assert!(other.iter().flat_map(|e| &e.0).all(|(j, _)| *j < 8));
    }
}

#[test]
fn weights_are_a_column_and_no_feature() {
    let mut weighted = options();
    weighted.weight = Some("w".to_string());
    let all = of_text("w,a,label,b\n2,3,1,4\n0.5,6,0,7\n", weighted.clone()).unwrap();
    assert_eq!(all[0], (vec![(0, 3.0), (1, 4.0)], Some(true), 2.0));
    assert_eq!(all[1], (vec![(0, 6.0), (1, 7.0)], Some(false), 0.5));
    assert!(of_text("a,label\n1,1\n", weighted.clone()).is_err());
    assert!(of_text("w,label\n1,1\n", weighted.clone()).is_err());
    assert!(of_text("1 1:1\n", weighted).is_err());
}

#[test]
fn labels_are_optional_on_request() {
    let mut optional = options();
    optional.classes.optional = true;
    let all = of_text("a,b\n1,2\n3,4\n", optional).unwrap();
    assert!(all.iter().all(|e| e.1.is_none()));
    assert_eq!(all[1].0, [(0, 3.0), (1, 4.0)]);
}

/// Bytes as somebody sends them.
struct Pipe(mpsc::Receiver<Vec<u8>>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.recv().unwrap_or_default();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[test]
fn a_line_is_there_as_soon_as_it_comes_and_nobody_waits_for_more() {
    let (send, receive) = mpsc::channel();
    let mut stream = LabelledStream::from_reader(Pipe(receive), Path::new("t"), options());
    let short = Duration::from_millis(1);
    assert!(matches!(stream.next(short), Ok(Next::Waiting)));
    for line in ["1 1:1\n", "0 2:1\n"] {
        send.send(line.as_bytes().to_vec()).unwrap();
        match stream.next(Duration::from_secs(60)) {
            Ok(Next::Batch(batch)) => assert_eq!(batch.rows.len(), 1),
            _ => panic!("{line}"),
        }
        assert!(matches!(stream.next(short), Ok(Next::Waiting)));
    }
    drop(send);
    assert!(matches!(
        stream.next(Duration::from_secs(60)),
        Ok(Next::End)
    ));
    assert!(matches!(stream.next(short), Ok(Next::End)));
}

#[test]
fn the_first_negative_label_gives_the_class_its_name() {
    let negative = |text: &'static str| {
        let mut stream = LabelledStream::from_reader(text.as_bytes(), Path::new("t"), options());
        match stream.next(Duration::from_secs(60)) {
            Ok(Next::Batch(batch)) => batch.negative,
            _ => panic!("{text}"),
        }
    };
    assert_eq!(negative("1 1:1\n-0 1:1\n-1 1:1\n"), Some("0".to_string()));
    assert_eq!(negative("1 1:1\n-1.0 1:1\n0 1:1\n"), Some("-1".to_string()));
    assert_eq!(negative("1 1:1\n"), None);
}
