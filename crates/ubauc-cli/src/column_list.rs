//! Names of columns as they are typed: separated by commas, in quotes where a name has a comma.

use std::fmt;

/// What follows one `--ignore`, `--numeric` and so on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnList(Vec<String>);

impl ColumnList {
    /// Of these names.
    pub(crate) fn new(names: Vec<String>) -> ColumnList {
        ColumnList(names)
    }

    /// Splits at commas outside of quotes; two quotes inside of quotes are one. An empty text has no names.
    pub(crate) fn parse(text: &str) -> Result<ColumnList, String> {
        let mut names = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => in_quotes(quoted)?,
                None => {
                    let end = rest.find(',').unwrap_or(rest.len());
                    (rest[..end].to_string(), &rest[end..])
                }
            };
            names.push(name);
            rest = match after.strip_prefix(',') {
                // A comma at the end is followed by an empty name.
                Some("") => {
                    names.push(String::new());
                    ""
                }
                Some(more) => more,
                None if after.is_empty() => "",
                None => return Err("a comma must follow the closing quote".to_string()),
            };
        }
        Ok(ColumnList(names))
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }
}

/// The names of all lists that were typed.
pub(crate) fn all_names(lists: &[ColumnList]) -> Vec<String> {
    lists.iter().flat_map(|list| list.0.clone()).collect()
}

impl fmt::Display for ColumnList {
    /// As it can be typed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |name: &String| match name.contains([',', '"']) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.clone(),
        };
        let fields: Vec<String> = self.0.iter().map(field).collect();
        f.write_str(&fields.join(","))
    }
}

/// What is between quotes, of which the first is gone, and what follows.
fn in_quotes(text: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let Some(end) = rest.find('"') else {
            return Err("the closing quote is missing".to_string());
        };
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Ok((name, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_quotes_are_part_of_a_name() {
        for (text, names) in [
            ("", &[][..]),
            ("age", &["age"]),
            ("a,b c,d", &["a", "b c", "d"]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("x,\"say \"\"no\"\"\"", &["x", "say \"no\""]),
            ("a,", &["a", ""]),
            (",a", &["", "a"]),
        ] {
            let list = ColumnList::parse(text).unwrap();
            assert_eq!(list.names(), names, "{text}");
            assert_eq!(ColumnList::parse(&list.to_string()).unwrap(), list);
        }
        for wrong in ["\"a", "\"a\"b"] {
            assert!(ColumnList::parse(wrong).is_err(), "{wrong}");
        }
    }
}
