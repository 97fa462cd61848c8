//! A graph of standard operators (`ai.onnx` 17, `ai.onnx.ml` 2).
//!
//! One input for each column, of shape [rows, 1]: numbers as doubles, NaN where missing, categories as texts, empty where missing. Outputs are `score`,
//! a double, `class` and, of a model with sigmoid probabilities, `probability`. A table is an index and a `Gather`:
//!
//! ```text
//! bin = Σ_k [x ≥ cut_k],    level = LabelEncoder(text),    pair = LabelEncoder(bin_a · n_b + bin_b)
//! ```
//!
//! A row in no cell has the index behind the last, where the table has a 0. Terms are added in the order of the model. The rows of the
//! self-test are in the metadata, as JSON, under `self_test`.

use super::program::{Input, Program, Term};
use super::protobuf::Message;
use super::{SelfTest, Target};
use crate::features::columns::{Cells, ColumnKind};
use crate::{Error, Result};

/// Types of tensors.
const INT64: i64 = 7;
const STRING: i64 = 8;
const DOUBLE: i64 = 11;
/// In front of the names of all that is inside the graph; columns may be called anything.
const INSIDE: &str = "ubauc:";
const ML: &str = "ai.onnx.ml";

pub(super) fn write(program: &Program, test: &SelfTest) -> Result<(Vec<u8>, Vec<String>)> {
    if let Some(time) = program.columns.iter().find(|c| c.kind == ColumnKind::Time) {
        return Target::Onnx.refuse(format!(
            "column '{}' is a time, for which ONNX has no type; export to python, or train with --ignore '{}'",
            time.name, time.name
        ));
    }
    let reserved = ["score", "class", "probability"];
    let clash =
        |input: &&Input| reserved.contains(&input.name.as_str()) || input.name.starts_with(INSIDE);
    if let Some(input) = program.columns.iter().find(clash) {
        return Target::Onnx.refuse(format!(
            "column '{}' has the name of an output; rename it",
            input.name
        ));
    }
    let mut graph = Graph::default();
    for input in &program.columns {
        let kind = match input.kind {
            ColumnKind::Category => STRING,
            ColumnKind::Number | ColumnKind::Time => DOUBLE,
        };
        graph.inputs.push(tensor_info(&input.name, kind));
    }
    let mut score = graph.doubles(&[0.0], &[1, 1]);
    if let Some(input) = program.columns.first() {
        // A model without terms still answers every row.
        score = graph.zeros_like(input, &score);
    }
    for term in &program.terms {
        let value = graph.term(program, term);
        score = graph.node("Add", &[&score, &value]);
    }
    let intercept = graph.doubles(&[program.intercept], &[]);
    graph.named("Add", &[&score, &intercept], "score");
    graph.outputs.push(tensor_info("score", DOUBLE));
    let notes = graph.class_and_probability(program);
    let test = SelfTestJson {
        columns: program.columns.iter().map(|c| c.name.as_str()).collect(),
        test,
    };
    let json = serde_json::to_string(&test).map_err(|_| Error::Numerical {
        what: "the self-test cannot be written as JSON",
    })?;
    Ok((graph.model(&json), notes))
}

#[derive(serde::Serialize)]
struct SelfTestJson<'a> {
    columns: Vec<&'a str>,
    #[serde(flatten)]
    test: &'a SelfTest,
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    initializers: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    /// How many names have been given.
    names: usize,
}

impl Graph {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("{INSIDE}{}", self.names)
    }

    /// A node with one output, whose name is the answer.
    fn node(&mut self, op: &str, inputs: &[&str]) -> String {
        let output = self.name();
        self.named(op, inputs, &output);
        output
    }

    fn named(&mut self, op: &str, inputs: &[&str], output: &str) {
        self.nodes.push(node(op, inputs, output));
    }

    fn with(&mut self, op: &str, inputs: &[&str], attributes: Vec<Message>) -> String {
        let output = self.name();
        let node = node(op, inputs, &output);
        self.nodes.push(add_attributes(node, attributes));
        output
    }

    fn encoder(&mut self, input: &str, attributes: Vec<Message>, output: &str) {
        let node = node("LabelEncoder", &[input], output).bytes(7, ML);
        self.nodes.push(add_attributes(node, attributes));
    }

    fn doubles(&mut self, values: &[f64], dims: &[i64]) -> String {
        let raw = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(DOUBLE, raw, dims)
    }

    fn ints(&mut self, values: &[i64], dims: &[i64]) -> String {
        let raw = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(INT64, raw, dims)
    }

    fn constant(&mut self, kind: i64, raw: Vec<u8>, dims: &[i64]) -> String {
        let name = self.name();
        let tensor = Message::default()
            .ints(1, dims.iter().copied())
            .int(2, kind);
        self.initializers.push(tensor.bytes(8, &name).bytes(9, raw));
        name
    }

    /// Zeros, one for each row.
    fn zeros_like(&mut self, input: &Input, zero: &str) -> String {
        let shape = self.node("Shape", &[&input.name]);
        self.node("Expand", &[zero, &shape])
    }

    fn term(&mut self, program: &Program, term: &Term) -> String {
        match term {
            Term::Linear {
                column,
                weight,
                mean,
                deviation,
            } => {
                let input = &program.columns[*column];
                let [weight, mean, deviation] =
                    [weight, mean, deviation].map(|x| self.doubles(&[*x], &[]));
                let from_mean = self.node("Sub", &[&input.name, &mean]);
                let z = self.node("Div", &[&from_mean, &deviation]);
                let product = self.node("Mul", &[&z, &weight]);
                match input.required {
                    true => product,
                    false => {
                        let zero = self.doubles(&[0.0], &[]);
                        let present = self.node("Equal", &[&input.name, &input.name]);
                        self.node("Where", &[&present, &product, &zero])
                    }
                }
            }
            Term::Table {
                column,
                cells,
                values,
            } => {
                let cell = self.cell(program, *column, cells);
                let mut table = values.clone();
                table.resize(cells.len() + 1, 0.0);
                self.gather(&table, &cell)
            }
            Term::Pair {
                columns,
                cells,
                values,
            } => {
                let [a, b] = [0, 1].map(|side| self.cell(program, columns[side], &cells[side]));
                let width = cells[1].len() as i64 + 1;
                let factor = self.ints(&[width], &[]);
                let scaled = self.node("Mul", &[&a, &factor]);
                let key = self.node("Add", &[&scaled, &b]);
                let keys = values
                    .iter()
                    .map(|(a, b, _)| i64::from(*a) * width + i64::from(*b));
                let index = self.name();
                let attributes = vec![
                    ints_attribute("keys_int64s", keys.collect()),
                    ints_attribute("values_int64s", (0..values.len() as i64).collect()),
                    int_attribute("default_int64", values.len() as i64),
                ];
                self.encoder(&key, attributes, &index);
                let mut table: Vec<f64> = values.iter().map(|(_, _, value)| *value).collect();
                table.push(0.0);
                self.gather(&table, &index)
            }
        }
    }

    fn gather(&mut self, table: &[f64], index: &str) -> String {
        let table = self.doubles(table, &[table.len() as i64]);
        self.node("Gather", &[&table, index])
    }

    /// The cell of every row; behind the last one for none.
    fn cell(&mut self, program: &Program, column: usize, cells: &Cells) -> String {
        let input = &program.columns[column];
        let none = cells.len() as i64;
        let or_none = |cell: Option<u32>| cell.map_or(none, i64::from);
        match cells {
            Cells::Levels {
                cell_of_level,
                rare,
                missing,
            } => {
                let levels = input.levels.iter().cloned();
                let mut keys: Vec<String> = levels.take(cell_of_level.len()).collect();
                let mut values: Vec<i64> = cell_of_level.iter().map(|c| i64::from(*c)).collect();
                for token in missing_texts(program) {
                    if !keys.contains(&token) {
                        keys.push(token);
                        values.push(or_none(*missing));
                    }
                }
                let index = self.name();
                let attributes = vec![
                    texts_attribute("keys_strings", &keys),
                    ints_attribute("values_int64s", values),
                    int_attribute("default_int64", or_none(*rare)),
                ];
                self.encoder(&input.name, attributes, &index);
                index
            }
            Cells::Bins { cuts, missing } => {
                let cuts = self.doubles(cuts, &[cuts.len() as i64]);
                let above = self.node("GreaterOrEqual", &[&input.name, &cuts]);
                let counted = self.with("Cast", &[&above], vec![int_attribute("to", INT64)]);
                let axis = self.ints(&[1], &[1]);
                let cell = self.node("ReduceSum", &[&counted, &axis]);
                self.unless_missing(input, &cell, or_none(*missing))
            }
            Cells::Missing => {
                let none = self.ints(&[none], &[]);
                self.unless_missing(input, &none, 0)
            }
            // Refused with its column.
            Cells::Part { .. } | Cells::Hashed { .. } => self.ints(&[none], &[1, 1]),
        }
    }

    fn unless_missing(&mut self, input: &Input, cell: &str, missing: i64) -> String {
        let missing = self.ints(&[missing], &[]);
        match input.kind {
            ColumnKind::Category => {
                let index = self.name();
                let attributes = vec![
                    texts_attribute("keys_strings", &[String::new()]),
                    ints_attribute("values_int64s", vec![1]),
                    int_attribute("default_int64", 0),
                ];
                self.encoder(&input.name, attributes, &index);
                let one = self.ints(&[1], &[]);
                let is_missing = self.node("Equal", &[&index, &one]);
                self.node("Where", &[&is_missing, &missing, cell])
            }
            ColumnKind::Number | ColumnKind::Time => {
                let present = self.node("Equal", &[&input.name, &input.name]);
                self.node("Where", &[&present, cell, &missing])
            }
        }
    }

    fn class_and_probability(&mut self, program: &Program) -> Vec<String> {
        let threshold = self.doubles(&[program.threshold], &[]);
        let above = self.node("GreaterOrEqual", &["score", &threshold]);
        let index = self.with("Cast", &[&above], vec![int_attribute("to", INT64)]);
        let attributes = vec![
            ints_attribute("keys_int64s", vec![0, 1]),
            texts_attribute("values_strings", &program.classes),
        ];
        self.encoder(&index, attributes, "class");
        self.outputs.push(tensor_info("class", STRING));
        match &program.calibration {
            None => Vec::new(),
            Some(calibration) if calibration.knots.is_empty() => {
                let slope = self.doubles(&[calibration.slope], &[]);
                let offset = self.doubles(&[calibration.offset], &[]);
                let distance = self.node("Sub", &["score", &threshold]);
                let scaled = self.node("Mul", &[&distance, &slope]);
                let log_odds = self.node("Add", &[&scaled, &offset]);
                self.named("Sigmoid", &[&log_odds], "probability");
                self.outputs.push(tensor_info("probability", DOUBLE));
                Vec::new()
            }
            Some(_) => vec![
                "the isotonic probabilities are left out; scores and classes are those of the model"
                    .to_string(),
            ],
        }
    }

    fn model(self, self_test: &str) -> Vec<u8> {
        let mut graph = Message::default();
        for node in self.nodes {
            graph = graph.message(1, node);
        }
        graph = graph.bytes(2, "ubauc");
        for (field, messages) in [
            (5, self.initializers),
            (11, self.inputs),
            (12, self.outputs),
        ] {
            for message in messages {
                graph = graph.message(field, message);
            }
        }
        let opset =
            |domain: &str, version: i64| Message::default().bytes(1, domain).int(2, version);
        let property = Message::default().bytes(1, "self_test").bytes(2, self_test);
        Message::default()
            .int(1, 8)
            .bytes(2, "ubauc")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .message(7, graph)
            .message(8, opset("", 17))
            .message(8, opset(ML, 2))
            .message(14, property)
            .into_bytes()
    }
}

/// The texts that stand for a missing value; ONNX compares letter by letter.
fn missing_texts(program: &Program) -> Vec<String> {
    let mut texts = vec![String::new()];
    for token in &program.missing {
        let mut forms = vec![token.clone()];
        if program.missing_any_case {
            forms.extend([token.to_ascii_lowercase(), token.to_ascii_uppercase()]);
        }
        for form in forms {
            if !texts.contains(&form) {
                texts.push(form);
            }
        }
    }
    texts
}

fn node(op: &str, inputs: &[&str], output: &str) -> Message {
    let node = Message::default().texts(1, inputs).bytes(2, output);
    node.bytes(4, op)
}

fn add_attributes(node: Message, attributes: Vec<Message>) -> Message {
    let all = attributes.into_iter();
    all.fold(node, |node, attribute| node.message(5, attribute))
}

fn int_attribute(name: &str, value: i64) -> Message {
    Message::default().bytes(1, name).int(3, value).int(20, 2)
}

fn ints_attribute(name: &str, values: Vec<i64>) -> Message {
    Message::default().bytes(1, name).ints(8, values).int(20, 7)
}

fn texts_attribute(name: &str, values: &[String]) -> Message {
    Message::default()
        .bytes(1, name)
        .texts(9, values)
        .int(20, 8)
}

/// [rows, 1] of a type.
fn tensor_info(name: &str, kind: i64) -> Message {
    let rows = Message::default().bytes(2, "rows");
    let one = Message::default().int(1, 1);
    let shape = Message::default().message(1, rows).message(1, one);
    let tensor = Message::default().int(1, kind).message(2, shape);
    let of_tensor = Message::default().message(1, tensor);
    Message::default().bytes(1, name).message(2, of_tensor)
}
