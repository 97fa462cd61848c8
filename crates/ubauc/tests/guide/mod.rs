//! `docs/add-an-algorithm.md` quotes an example and names files and functions: they are as it says.

use std::path::Path;

const GUIDE: &str = include_str!("../../../../docs/add-an-algorithm.md");
const EXAMPLE: &str = include_str!("../../examples/spam.rs");
const TESTS: &str = include_str!("../../examples/spam/tests.rs");

/// What a reader will write.
const OF_THE_READER: [&str; 4] = [
    "crates/ubauc/src/solver/spam.rs",
    "spam/tests.rs",
    "my.toml",
    "my-results/table2.json",
];

/// The inside of every block of that kind.
fn blocks(kind: &str) -> Vec<&'static str> {
    let parts = GUIDE.split("```").skip(1).step_by(2);
    parts
        .filter_map(|part| part.strip_prefix(kind)?.strip_prefix('\n'))
        .collect()
}

/// Everything between back quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The guide without its blocks.
fn prose() -> String {
    GUIDE.split("```").step_by(2).collect()
}

fn section(number: usize) -> String {
    let prose = prose();
    let start = format!("\n## {number}. ");
    let after = prose.split_once(&start).expect("a section").1;
    after.split("\n## ").next().unwrap_or_default().to_string()
}

/// Cells of the tables' rows, without heads and lines.
fn rows(section: &str) -> Vec<Vec<&str>> {
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn blocks_of_rust_are_those_of_the_example() {
    let blocks = blocks("rust");
    assert!(blocks.len() >= 7, "{}", blocks.len());
    for block in blocks {
        assert!(EXAMPLE.contains(block) || TESTS.contains(block), "{block}");
    }
}

#[test]
fn every_file_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["", "crates", "crates/ubauc/src/solver"];
    let prose = prose();
    let is_file = |word: &&str| {
        let endings = [".rs", ".toml", ".json", ".md"];
        endings.iter().any(|ending| word.ends_with(ending))
    };
    let files: Vec<&str> = quoted(&prose).filter(is_file).collect();
    assert!(files.len() >= 20, "{files:?}");
    for file in files.iter().filter(|file| !OF_THE_READER.contains(file)) {
        let exists = folders.iter().any(|f| root.join(f).join(file).is_file());
        assert!(exists, "the guide names {file}");
    }
}

#[test]
fn every_place_is_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let section = section(4);
    let rows = rows(&section);
    assert!(rows.len() >= 10, "{}", rows.len());
    for row in rows {
        let file = row[0].trim_matches('`');
        let source = std::fs::read_to_string(root.join(file)).expect(file);
        let is_place = |word: &&str| {
            let kinds = ["fn ", "struct ", "enum ", "impl ", "--"];
            kinds.iter().any(|kind| word.starts_with(kind))
        };
        let places: Vec<&str> = row[1..]
            .iter()
            .flat_map(|cell| quoted(cell))
            .filter(is_place)
            .collect();
        assert!(!places.is_empty(), "{row:?}");
        let missing = places.into_iter().find(|place| {
            // An option is a field, or stands in a table by its name.
            let field = format!("{}: Option", place.trim_start_matches("--"));
            !source.contains(place) && !source.contains(&field)
        });
        assert_eq!(missing, None, "{file}");
    }
}

#[test]
fn every_test_named_exists() {
    let section = section(3);
    let is_test = |word: &&str| word.contains('_') && !word.contains(['/', '.', ' ']);
    let names: Vec<&str> = quoted(&section).filter(is_test).collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        assert!(TESTS.contains(&format!("fn {name}()")), "{name}");
    }
}

#[test]
fn every_method_of_the_trait_is_described() {
    let source = include_str!("../../src/solver/passes.rs");
    let body = source
        .split_once("pub trait Online {")
        .expect("the trait")
        .1;
    let body = body.split_once("\n}").expect("its end").0;
    let methods: Vec<&str> = body
        .split("    fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .collect();
    let section = section(1);
    let described: Vec<&str> = rows(&section)
        .iter()
        .map(|row| row[0].trim_matches('`'))
        .collect();
    assert_eq!(described, methods);
}
