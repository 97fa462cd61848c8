//! A table as CSV by RFC 4180, but with lines ended by a line feed. Values that do not exist are empty fields.

use super::Table;

/// A line of names, then a line per row; notes of rows are a last column.
pub fn render(table: &Table) -> String {
    let table = table.with_note_column();
    let mut out = String::new();
    let mut line = |fields: Vec<String>| {
        out.push_str(&fields.join(","));
        out.push('\n');
    };
    line(table.columns.iter().map(|c| field(&c.name)).collect());
    for row in &table.rows {
        let texts = row.cells.iter().map(|cell| cell.text.as_deref());
        line(texts.map(|text| field(text.unwrap_or_default())).collect());
    }
    out
}

/// A field, quoted where a comma, a quote, a line end or a blank at either end requires it.
pub fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text != text.trim() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cell;
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, quoted) in [
            ("a9a", "a9a"),
            ("", ""),
            ("no data, no score", "\"no data, no score\""),
            ("{\"beta\":0.5}", "\"{\"\"beta\"\":0.5}\""),
            ("two\nlines", "\"two\nlines\""),
            (" blank", "\" blank\""),
        ] {
            assert_eq!(field(text), quoted);
        }
    }

    #[test]
    fn numbers_read_back_and_missing_ones_are_empty() {
        let x = 0.1 + 0.2;
        let mut table = Table::new(["a", "b", "c"]);
        table.row([
            Cell::exact(x),
            Cell::exact(f64::NAN),
            Cell::exact(None::<f64>),
        ]);
        let csv = render(&table);
        assert_eq!(csv, "a,b,c\n0.30000000000000004,,\n");
        assert_eq!(csv.lines().nth(1).unwrap()[..19].parse(), Ok(x));
    }

    #[test]
    fn notes_are_the_last_column() {
        let mut table = Table::new(["a"]);
        table.row(["x"]).note = Some("why, though".to_string());
        table.row(["y"]);
        assert_eq!(render(&table), "a,note\nx,\"why, though\"\ny,\n");
        assert_eq!(render(&Table::new(["a", "b"])), "a,b\n");
    }
}
