//! CSV by RFC 4180, but with lines ended by a line feed: quoted where a comma, a quote, a line end
//! or a blank at an end asks for it, quotes doubled. What is not there is an empty field.

use super::{SizeTableView, TableView, TimeTableView};

pub(super) fn auc(table: &TableView) -> String {
    let mut file = Csv::head(
        "dataset,column,mean,std,runs,wanted_runs,paper_mean,paper_std,difference,outside,best,\
         seconds,parameters,note",
    );
    for cell in &table.cells {
        let parameters = match cell.parameters.is_empty() {
            true => String::new(),
            // A map of strings to JSON values has nothing that cannot be written.
            false => serde_json::to_string(&cell.parameters).unwrap_or_default(),
        };
        file.line([
            cell.dataset.clone(),
            cell.column.clone(),
            number(cell.mean),
            number(cell.std),
            cell.runs.to_string(),
            cell.wanted_runs.to_string(),
            number(cell.paper.map(|[mean, _]| mean)),
            number(cell.paper.map(|[_, std]| std)),
            number(cell.difference),
            cell.outside.to_string(),
            cell.best.to_string(),
            number(Some(cell.seconds)),
            parameters,
            cell.note.clone().unwrap_or_default(),
        ]);
    }
    file.text
}

pub(super) fn times(table: &TimeTableView) -> String {
    let mut file = Csv::head(
        "dataset,column,seconds_per_pass,pass_ratio,paper_pass,paper_pass_ratio,\
         seconds_to_still,total_ratio,paper_total,paper_total_ratio,passes_to_still,stopped",
    );
    for time in &table.times {
        let passes = time.passes_to_still.map(|passes| passes.to_string());
        file.line([
            time.dataset.clone(),
            time.column.clone(),
            number(time.seconds_per_pass),
            number(time.ratios.pass),
            number(time.paper_pass),
            number(time.ratios.paper_pass),
            number(time.seconds_to_still),
            number(time.ratios.total),
            number(time.paper_total),
            number(time.ratios.paper_total),
            passes.unwrap_or_default(),
            time.stopped.clone().unwrap_or_default(),
        ]);
    }
    file.text
}

pub(super) fn sizes(table: &SizeTableView) -> String {
    let mut file =
        Csv::head("dataset,train,test,dim,paper_train,paper_test,paper_dim,differs,note");
    for size in &table.sizes {
        let whole = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let [train, test, dim] = size.ours().map(whole);
        let [paper_train, paper_test, paper_dim] =
            [0, 1, 2].map(|i| whole(size.paper.map(|paper| paper[i])));
        file.line([
            size.dataset.clone(),
            train,
            test,
            dim,
            paper_train,
            paper_test,
            paper_dim,
            size.differs().to_string(),
            size.note.clone().unwrap_or_default(),
        ]);
    }
    file.text
}

struct Csv {
    text: String,
}

impl Csv {
    fn head(names: &str) -> Self {
        let text = format!("{names}\n");
        Self { text }
    }

    fn line<const N: usize>(&mut self, fields: [String; N]) {
        self.text += &fields.map(|field| quoted(&field)).join(",");
        self.text.push('\n');
    }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) || field != field.trim() {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_string()
    }
}

/// The shortest text that reads back to the same bits.
fn number(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite())
        .map(|x| x.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must() {
        for (field, text) in [
            ("a9a", "a9a"),
            ("", ""),
            ("no data, no score", "\"no data, no score\""),
            ("{\"beta\":0.5}", "\"{\"\"beta\"\":0.5}\""),
            ("two\nlines", "\"two\nlines\""),
            (" blank", "\" blank\""),
        ] {
            assert_eq!(quoted(field), text);
        }
    }

    #[test]
    fn numbers_read_back_and_nan_is_empty() {
        let x = 0.1 + 0.2;
        assert_eq!(number(Some(x)).parse(), Ok(x));
        assert_eq!(number(Some(f64::NAN)), "");
        assert_eq!(number(None), "");
    }
}
