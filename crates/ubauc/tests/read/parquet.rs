use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::basic::Type;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use ubauc::Error;
use ubauc::read::{PARQUET_THREAD, ReadOptions, read};

use super::{entries, labels, place};

/// Two row groups; `null` leaves out a value of column x in the second.
fn write(path: &Path, schema: &str, null: bool) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for group in 0..2i32 {
        let descriptor = writer.schema_descr().clone();
        let mut columns = writer.next_row_group().unwrap();
        for physical in descriptor
            .columns()
            .iter()
            .map(|column| column.physical_type())
        {
            let mut column = columns.next_column().unwrap().unwrap();
            match physical {
                Type::BYTE_ARRAY => {
                    let texts = [ByteArray::from("no"), ByteArray::from("yes")];
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&texts, None, None)
                        .unwrap();
                }
                Type::DOUBLE if null && group == 1 => {
                    let level = [1, 0];
                    column
                        .typed::<DoubleType>()
                        .write_batch(&[1.5], Some(&level), None)
                        .unwrap();
                }
                Type::DOUBLE => {
                    let x = [0.5 + f64::from(group), -1e-300];
                    column
                        .typed::<DoubleType>()
                        .write_batch(&x, Some(&[1, 1]), None)
                        .unwrap();
                }
                Type::INT32 => {
                    column
                        .typed::<Int32Type>()
                        .write_batch(&[-1, 7], None, None)
                        .unwrap();
                }
                Type::INT64 => {
                    column
                        .typed::<Int64Type>()
                        .write_batch(&[-1, 9], None, None)
                        .unwrap();
                }
                Type::BOOLEAN => {
                    column
                        .typed::<BoolType>()
                        .write_batch(&[true, false], None, None)
                        .unwrap();
                }
                other => panic!("{other}"),
            };
            column.close().unwrap();
        }
        columns.close().unwrap();
    }
    writer.close().unwrap();
}

const SCHEMA: &str = "message s { required binary y (UTF8); optional double x; \
    required int32 i; required int64 u (INTEGER(64,false)); required boolean b; }";

fn options() -> ReadOptions<'static> {
    ReadOptions {
        label: "y".to_string(),
        ..Default::default()
    }
}

#[test]
fn columns_of_all_number_types_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path, SCHEMA, false);
    let examples = read(&path, &options()).unwrap();
    assert_eq!(examples.names, ["x", "i", "u", "b"]);
    assert_eq!(labels(&examples), ["no", "yes", "no", "yes"]);
    let unsigned = u64::MAX as f64;
    assert_eq!(
        entries(&examples)[2..],
        [
            vec![(0, 1.5), (1, -1.0), (2, unsigned), (3, 1.0)],
            vec![(0, -1e-300), (1, 7.0), (2, 9.0)],
        ]
    );
}

#[test]
fn a_null_is_refused_with_its_row_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path, SCHEMA, true);
    assert_eq!(place(read(&path, &options())), (4, 2));
}

#[test]
fn what_is_not_a_plain_number_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    for column in [
        "binary s (UTF8)",
        "int32 d (DATE)",
        "int32 m (DECIMAL(5,2))",
    ] {
        let schema = format!("message s {{ required binary y (UTF8); required {column}; }}");
        write(&path, &schema, false);
        assert_eq!(place(read(&path, &options())), (1, 2));
    }
}

#[test]
fn damaged_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path, SCHEMA, false);
    let bytes = std::fs::read(&path).unwrap();
    for cut in [4, 12, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert!(matches!(read(&path, &options()), Err(Error::File { .. })));
    }
}

/// Any byte may be wrong, also those that the crate underneath panics over. The panic hook belongs to
/// the program: it sees those panics, by the name of their thread, and stays in place.
#[test]
fn files_with_one_wrong_byte_are_read_or_refused() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some(PARQUET_THREAD) {
            SEEN.fetch_add(1, Ordering::Relaxed);
        } else {
            others(info);
        }
    }));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path, SCHEMA, false);
    let bytes = std::fs::read(&path).unwrap();
    let (mut refused, mut panicked) = (0, 0);
    for at in 0..bytes.len() {
        for wrong in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = wrong;
            std::fs::write(&path, damaged).unwrap();
            if let Err(error) = read(&path, &options()) {
                refused += 1;
                panicked += usize::from(error.to_string().ends_with("contradict each other"));
            }
        }
    }
    assert!(refused > bytes.len(), "{refused} of {}", 3 * bytes.len());
    // Tests beside this one read damaged files too. If no byte makes the crate panic any more, the
    // thread of its own can go.
    assert!(
        SEEN.load(Ordering::Relaxed) >= panicked && panicked > 0,
        "{panicked}"
    );
}

#[test]
fn a_page_header_without_end_is_refused() {
    // 418 bytes that kept a reader busy for minutes.
    let bytes = include_bytes!("files/endless_header.parquet");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    std::fs::write(&path, bytes).unwrap();
    let options = ReadOptions {
        format: Some(ubauc::read::Format::Parquet),
        ..options()
    };
    assert!(matches!(read(&path, &options), Err(Error::File { .. })));
}
