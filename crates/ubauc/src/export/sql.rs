//! One expression of SQL that SQLite, DuckDB and PostgreSQL understand alike.
//!
//! - A term is a `CASE`: NULL first, then levels by equality or bins from the lowest cut on by `<`, the strict comparison of the model.
//! - Terms are added as a balanced tree, since dialects limit the depth of an expression (SQLite: 1,000).
//! - Numbers have an exponent: without one DuckDB would take them as decimals of limited precision.
//! - Every column is read once, in an inner query: numbers as double precision, categories as text without blanks and tabs around it, NULL where a text stands
//!   for a missing value. Branches that compare a column rather than an expression are planned many times faster where there are thousands.
//! - Names are quoted, with quotes inside doubled.
//!
//! The file is a query of the whole table, and behind it, as a comment, a query that tests itself on the rows of the self-test.

use super::program::{Input, Program, Term};
use super::{ExportOptions, SelfTest, Target, Value};
use crate::Result;
use crate::features::columns::{Cells, ColumnKind};

pub(super) fn write(
    program: &Program,
    test: &SelfTest,
    options: &ExportOptions,
) -> Result<(Vec<u8>, Vec<String>)> {
    if let Some(time) = program.columns.iter().find(|c| c.kind == ColumnKind::Time) {
        return Target::Sql.refuse(format!(
            "column '{}' is a time, which every dialect writes otherwise; export to python, or train with --ignore '{}'",
            time.name, time.name
        ));
    }
    let score = score(program);
    let (threshold, [negative, positive]) = (literal(program.threshold), &program.classes);
    let class = format!(
        "CASE WHEN score >= {threshold} THEN {} ELSE {} END AS class",
        text(positive),
        text(negative)
    );
    let mut columns = format!("SELECT scored.*, {class}");
    let mut notes = Vec::new();
    match &program.calibration {
        Some(calibration) if calibration.knots.is_empty() => {
            let log_odds = format!(
                "({} * (score - {threshold}) + {})",
                literal(calibration.slope),
                literal(calibration.offset)
            );
            columns.push_str(&format!(
                ",\n  CASE WHEN {log_odds} >= 0e0 THEN 1e0 / (1e0 + exp(-{log_odds}))\n    \
                 ELSE exp({log_odds}) / (1e0 + exp({log_odds})) END AS probability"
            ));
        }
        Some(_) => notes.push(
            "the isotonic probabilities are left out; scores and classes are those of the model"
                .to_string(),
        ),
        None => {}
    }
    let (table, readings) = (name(&options.table), readings(program));
    let query = format!(
        "-- Scores of the rows of {table}, for SQLite, DuckDB and PostgreSQL; written by `ubauc export`.\n{columns}\nFROM (\n\
         SELECT reading.*,\n{score} AS score\nFROM (\nSELECT {table}.*{readings}\nFROM {table}\n) AS reading\n) AS scored;\n"
    );
    let test = self_test(program, test, &score);
    Ok((format!("{query}\n{test}").into_bytes(), notes))
}

/// A query whose answer is the number of rows that do not agree, as comments: rows of a table without a name.
fn self_test(program: &Program, test: &SelfTest, score: &str) -> String {
    let cast = |input: &Input, value: &Value| match value {
        Value::Missing => match input.kind {
            ColumnKind::Category => "CAST(NULL AS TEXT)".to_string(),
            ColumnKind::Number | ColumnKind::Time => "CAST(NULL AS DOUBLE PRECISION)".to_string(),
        },
        Value::Number(x) | Value::Time(x) => format!("CAST({} AS DOUBLE PRECISION)", literal(*x)),
        Value::Text(level) => text(level),
    };
    let names = program.columns.iter().map(|input| name(&input.name));
    let mut selects = Vec::new();
    for (row, expected) in test.rows.iter().zip(&test.scores) {
        let values = program.columns.iter().zip(row);
        let mut cells: Vec<String> = (values.zip(names.clone()))
            .map(|((input, value), name)| format!("{} AS {name}", cast(input, value)))
            .collect();
        cells.push(format!("{} AS {}", literal(*expected), name(EXPECTED)));
        selects.push(format!("SELECT {}", cells.join(", ")));
    }
    let (expected, count) = (name(EXPECTED), selects.len());
    let query = format!(
        "SELECT COUNT(*) - SUM(CASE WHEN ABS(score - {expected}) <= 1e-9 * (1e0 + ABS({expected})) THEN 1 ELSE 0 END) AS wrong\n\
         FROM (\nSELECT {expected},\n{score} AS score\nFROM (\nSELECT self_test.*{}\nFROM (\n{}\n) AS self_test\n) AS reading\n) AS scored;\n",
        readings(program),
        selects.join("\nUNION ALL ")
    );
    let commented: Vec<String> = query.lines().map(|line| format!("{MARK}{line}")).collect();
    format!(
        "-- Self-test: {count} rows with missing values, unseen levels and values on cuts. Without the marks `{}`\n\
         -- the lines below are a query whose answer is 0.\n{}\n",
        MARK.trim_end(),
        commented.join("\n")
    )
}

/// In front of the lines of the self-test.
const MARK: &str = "--| ";
/// A column of the self-test.
const EXPECTED: &str = "expected score";

/// The sum of all terms.
fn score(program: &Program) -> String {
    let mut terms: Vec<String> = program
        .terms
        .iter()
        .map(|term| of_term(program, term))
        .collect();
    terms.push(format!(
        "CAST({} AS DOUBLE PRECISION)",
        literal(program.intercept)
    ));
    sum(&terms)
}

/// As a balanced tree.
fn sum(terms: &[String]) -> String {
    match terms {
        [] => literal(0.0),
        [term] => term.clone(),
        terms => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({}\n+ {})", sum(left), sum(right))
        }
    }
}

fn of_term(program: &Program, term: &Term) -> String {
    match term {
        Term::Linear {
            column,
            weight,
            mean,
            deviation,
        } => {
            let input = &program.columns[*column];
            let x = value(input);
            let product = match (*mean == 0.0, *deviation == 1.0) {
                (true, true) => format!("{} * {x}", literal(*weight)),
                _ => format!(
                    "{} * (({x} - {}) / {})",
                    literal(*weight),
                    literal(*mean),
                    literal(*deviation)
                ),
            };
            match input.required {
                true => product,
                false => format!("CASE WHEN {x} IS NULL THEN 0e0 ELSE {product} END"),
            }
        }
        Term::Table {
            column,
            cells,
            values,
        } => {
            let of_cell = |cell: Option<u32>| {
                let value = cell.and_then(|cell| values.get(cell as usize).copied());
                literal(value.unwrap_or(0.0))
            };
            case(program, *column, cells, &of_cell)
        }
        Term::Pair {
            columns,
            cells,
            values,
        } => {
            let zero = literal(0.0);
            let of_first = |a: Option<u32>| {
                let with_a = |(first, _, _): &&(u32, u32, f64)| Some(*first) == a;
                let of_a: Vec<_> = values.iter().filter(with_a).collect();
                if of_a.is_empty() {
                    return zero.clone();
                }
                let of_second = |b: Option<u32>| {
                    let found = of_a.iter().find(|(_, second, _)| Some(*second) == b);
                    literal(found.map_or(0.0, |(_, _, value)| *value))
                };
                case(program, columns[1], &cells[1], &of_second)
            };
            case(program, columns[0], &cells[0], &of_first)
        }
    }
}

/// A `CASE` over the cells of a column.
fn case(
    program: &Program,
    column: usize,
    cells: &Cells,
    of_cell: &dyn Fn(Option<u32>) -> String,
) -> String {
    let input = &program.columns[column];
    let x = value(input);
    match cells {
        Cells::Missing => format!(
            "CASE WHEN {x} IS NULL THEN {} ELSE {} END",
            of_cell(Some(0)),
            of_cell(None)
        ),
        Cells::Bins { cuts, missing } => {
            let mut whens = vec![format!("WHEN {x} IS NULL THEN {}", of_cell(*missing))];
            let last = of_cell(Some(cuts.len() as u32));
            let mut below: Vec<(f64, String)> = Vec::new();
            for (cell, cut) in (0_u32..).zip(cuts) {
                let result = of_cell(Some(cell));
                match below.last_mut() {
                    Some((to, before)) if *before == result => *to = *cut,
                    _ => below.push((*cut, result)),
                }
            }
            whens.extend(
                below
                    .into_iter()
                    .map(|(cut, result)| format!("WHEN {x} < {} THEN {result}", literal(cut))),
            );
            format!("CASE {} ELSE {last} END", whens.join(" "))
        }
        Cells::Levels {
            cell_of_level,
            rare,
            missing,
        } => {
            let (other, of_missing) = (of_cell(*rare), of_cell(*missing));
            let mut whens = Vec::new();
            for (level, cell) in input.levels.iter().zip(cell_of_level) {
                let result = of_cell(Some(*cell));
                if result != other {
                    whens.push(format!("WHEN {} THEN {result}", text(level)));
                }
            }
            let known = match whens.is_empty() {
                true => other.clone(),
                false => format!("CASE {x} {} ELSE {other} END", whens.join(" ")),
            };
            match of_missing == other {
                true => known,
                false => format!("CASE WHEN {x} IS NULL THEN {of_missing} ELSE {known} END"),
            }
        }
        // Refused with its column.
        Cells::Part { .. } | Cells::Hashed { .. } => of_cell(None),
    }
}

/// The columns as the terms read them, each under a name of its own.
fn readings(program: &Program) -> String {
    let reading = |input: &Input| format!(",\n{} AS {}", reading(program, input), value(input));
    program.columns.iter().map(reading).collect()
}

/// A double, or a text without blanks around it unless a level has some; NULL where it is missing.
fn reading(program: &Program, input: &Input) -> String {
    let column = name(&input.name);
    if input.kind != ColumnKind::Category {
        return format!("CAST({column} AS DOUBLE PRECISION)");
    }
    let whole = format!("CAST({column} AS TEXT)");
    // Blanks and tabs; line ends would not survive the comment that holds the self-test.
    let trimmed = format!("TRIM({whole}, ' \t')");
    let folded = |text: &str| match program.missing_any_case {
        true => text.to_ascii_lowercase(),
        false => text.to_string(),
    };
    // A level that reads as missing must not be taken for it.
    let is_level = |token: &String| {
        input
            .levels
            .iter()
            .any(|level| folded(level.trim()) == folded(token))
    };
    let tokens = program.missing.iter().filter(|token| !is_level(token));
    let tokens = std::iter::once(String::new()).chain(tokens.map(|token| folded(token)));
    let tokens: Vec<String> = tokens.map(|token| text(&token)).collect();
    let compared = match program.missing_any_case {
        true => format!("LOWER({trimmed})"),
        false => trimmed.clone(),
    };
    let has_blanks = input.levels.iter().any(|level| level.trim() != level);
    let read = if has_blanks { whole } else { trimmed };
    format!(
        "CASE WHEN {compared} IN ({}) THEN NULL ELSE {read} END",
        tokens.join(", ")
    )
}

/// The column of the inner query.
fn value(input: &Input) -> String {
    name(&format!("ubauc: {}", input.name))
}

/// A number as no dialect takes for a decimal.
fn literal(x: f64) -> String {
    format!("{x:e}")
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_quoted() {
        assert_eq!(name("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(text("it's"), "'it''s'");
        assert_eq!(literal(0.1), "1e-1");
        assert_eq!(literal(-1234.5), "-1.2345e3");
    }

    #[test]
    fn a_thousand_terms_are_no_deeper_than_ten() {
        let terms: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let sum = sum(&terms);
        let mut depth = 0_i32;
        let deepest = sum.chars().map(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth
        });
        assert!(deepest.max() <= Some(10));
    }
}
