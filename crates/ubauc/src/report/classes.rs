//! The page of many classes: a scorer for each, judged by Hand and Till's M.

use std::path::Path;

use serde::Serialize;

use super::heat_map::{HeatCell, heat_map};
use super::markup::{Section, figure, name, number, paragraph, remark, short, table};
use super::{
    Candidate, ColumnPart, JudgedOn, Reproduction, certificate, columns, page, reproduction,
    search, verdict, write_page,
};
use crate::Result;
use crate::document::numbers::thousands;
use crate::document::{Cell, Table};
use crate::many_classes::WholeCertificate;
use crate::metrics::ClassPair;

/// Of more classes no pairs are drawn.
pub const MOST_DRAWN: usize = 40;
/// Classes in the table, and pairs.
const CLASSES: usize = 300;
const PAIRS: usize = 20;
/// Cells of the heat map show their numbers up to this many classes.
const NUMBERED: usize = 10;

/// All that a page of many classes says.
#[derive(Debug, Clone, Serialize)]
pub struct ClassesReport {
    /// Heading.
    pub title: String,
    /// Which examples the scorers were judged on.
    pub judged_on: JudgedOn,
    /// Hand and Till's M on these.
    pub m: f64,
    /// The same on the examples that were learned from, where others are judged on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_m: Option<f64>,
    /// Those that the examples have.
    pub classes: Vec<ClassPart>,
    /// All pairs of them, by their places; may be left out where there are more than [`MOST_DRAWN`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<ClassPair>,
    /// What the search tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<Candidate>,
    /// How near the optimum all scorers are together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<WholeCertificate>,
    /// What was done to each column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnPart>,
    /// How to make it again.
    pub reproduction: Reproduction,
    /// What a reader should know besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One class and its scorer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassPart {
    /// As the data has it.
    pub name: String,
    /// Examples.
    pub n: usize,
    /// Of its scorer: the mean over the other classes of the AUC against each.
    pub auc: f64,
    /// The most by which its objective can be above the minimum, as a share of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

impl ClassesReport {
    /// The page.
    pub fn to_html(&self) -> String {
        page::framed(&self.title, &self.verdict(), &self.sections())
    }

    /// Writes the page: whole, or the old one stays. `-` is standard output.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_page(&self.to_html(), path)
    }

    fn verdict(&self) -> String {
        let mut out = String::from("<div class=\"verdict\">\n");
        out += &verdict::card("How good is it?", &self.how_good());
        if let Some(hard) = self.what_is_hard() {
            out += &verdict::card("Which classes are hard?", &hard);
        }
        out += "</div>\n";
        let n: usize = self.classes.iter().map(|class| class.n).sum();
        let rows = format!(
            "{} rows of {} classes",
            thousands(n as u64),
            thousands(self.classes.len() as u64)
        );
        out + &verdict::basis_of(self.judged_on, &rows, "", &self.notes)
    }

    fn how_good(&self) -> String {
        let mut out = format!(
            "<p class=\"grade\">{}</p>\n\
             <p>Take one row of each of two classes: the scorer of one of them gives its own row the higher score <strong>{} times in 100</strong>, \
             in the mean over all pairs of the {} classes (Hand and Till’s M). 50 would be guessing, 100 perfect.</p>\n",
            verdict::grade(self.m, false),
            times("m", self.m),
            thousands(self.classes.len() as u64)
        );
        if let Some(train) = self.train_m {
            let train = times("train_m", train);
            out += &format!("<p>On the rows that were learned from it is {train}.</p>\n");
        }
        out
    }

    /// The class, and the pair, of the smallest AUC.
    fn what_is_hard(&self) -> Option<String> {
        let (at, class) = lowest(&self.classes, |class| class.auc)?;
        let mut out = format!(
            "<p>Most of all <strong>{}</strong>: its scorer is right {} times in 100, in the mean over the other classes.</p>\n",
            name(&class.name),
            times(&format!("classes.{at}.auc"), class.auc)
        );
        if let Some((at, pair)) = lowest(&self.pairs, |pair| pair.auc) {
            let [first, second] = [pair.i, pair.j].map(|k| name(&self.classes[k].name));
            out += &format!(
                "<p>{first} and {second} are the hardest pair to tell apart: right {} times in 100.</p>\n",
                times(&format!("pairs.{at}.auc"), pair.auc)
            );
        }
        Some(out + "<p><a href=\"#classes\">See every class</a>.</p>\n")
    }

    fn sections(&self) -> Vec<Section> {
        let mut all = Vec::new();
        let mut add = |id, heading, body: String| {
            if !body.is_empty() {
                all.push(Section { id, heading, body });
            }
        };
        add("classes", "How well each class is known", self.per_class());
        add("pairs", "Which classes look alike", self.per_pair());
        if !self.search.is_empty() {
            add("search", "What was tried", search::section(&self.search));
        }
        if let Some(found) = &self.certificate {
            let proof = certificate::proof(found.gap, found.objective);
            let remark = remark(
                "All scorers together: what is minimised is the mean of their objectives. The gap of each is in the table of the classes.",
            );
            add("certificate", "How near the optimum it is", proof + &remark);
        }
        if !self.columns.is_empty() {
            add(
                "columns",
                "What was done to each column",
                columns::section(&self.columns),
            );
        }
        add(
            "again",
            "How to make it again",
            reproduction::section(&self.reproduction),
        );
        all
    }

    /// A row for each class, the hardest first.
    fn per_class(&self) -> String {
        let has_gaps = self.classes.iter().any(|class| class.gap.is_some());
        let mut head = vec!["class", "rows", "AUC against the others"];
        if has_gaps {
            head.push("gap to the optimum");
        }
        let mut rows = Table::new(head);
        let mut order: Vec<&ClassPart> = self.classes.iter().collect();
        order.sort_by(|a, b| a.auc.total_cmp(&b.auc));
        for class in order.iter().take(CLASSES) {
            let mut cells = vec![
                Cell::from(short(&class.name)),
                Cell::rounded(class.n as f64, thousands(class.n as u64)),
                Cell::rounded(class.auc, format!("{:.4}", class.auc)),
            ];
            if has_gaps {
                let gap = |gap: f64| Cell::rounded(gap, format!("{gap:.1e}"));
                cells.push(class.gap.map_or(Cell::from("–"), gap));
            }
            rows.row(cells);
        }
        let more = self.classes.len().saturating_sub(CLASSES);
        rows.foot = (more > 0).then(|| format!("… {more} more classes (all with --json)"));
        paragraph(
            "Every class has a scorer of its own. Its AUC is the mean over the other classes, which count alike whatever their sizes; the mean over the \
             classes is M.",
        ) + &table(&rows, "Classes, the hardest first")
    }

    fn per_pair(&self) -> String {
        if self.pairs.is_empty() {
            return String::new();
        }
        let mut order: Vec<&ClassPair> = self.pairs.iter().collect();
        order.sort_by(|a, b| a.auc.total_cmp(&b.auc));
        let mut rows = Table::new(["pair", "AUC", "by the first", "by the second"]);
        for pair in order.iter().take(PAIRS) {
            let [first, second] = [pair.i, pair.j].map(|k| short(&self.classes[k].name));
            let shown = |auc: f64| Cell::rounded(auc, format!("{auc:.4}"));
            let pair_name = Cell::from(format!("{first} / {second}"));
            let [auc, by_first, by_second] = [pair.auc, pair.auc_i, pair.auc_j].map(shown);
            rows.row([pair_name, auc, by_first, by_second]);
        }
        let more = self.pairs.len().saturating_sub(PAIRS);
        rows.foot = (more > 0).then(|| {
            let more = thousands(more as u64);
            format!("… {more} more pairs, all easier to tell apart (all with --json)")
        });
        self.map() + &table(&rows, "Pairs of classes, the hardest first")
    }

    /// A(i|j): the scorer of class i down, against class j across.
    fn map(&self) -> String {
        let k = self.classes.len();
        if k > MOST_DRAWN {
            return String::new();
        }
        let names: Vec<String> = self.classes.iter().map(|c| c.name.clone()).collect();
        let mut aucs = vec![None; k * k];
        for pair in &self.pairs {
            aucs[pair.i * k + pair.j] = Some(pair.auc_i);
            aucs[pair.j * k + pair.i] = Some(pair.auc_j);
        }
        let wrong = aucs.iter().flatten().map(|auc| 1.0 - auc);
        let most = wrong.fold(0.0, f64::max);
        let chart = heat_map(&names, &names, |i, j| {
            let auc: f64 = aucs[i * k + j]?;
            let strength = if most > 0.0 { (1.0 - auc) / most } else { 0.0 };
            let numbered = k <= NUMBERED;
            Some(HeatCell {
                text: format!(
                    "the scorer of {} against {}: {auc:.4}",
                    short(&names[i]),
                    short(&names[j])
                ),
                strength,
                series: 1,
                mark: if numbered {
                    hundredths(auc)
                } else {
                    String::new()
                },
            })
        });
        let numbers = match k <= NUMBERED {
            true => " Numbers are times in 100.",
            false => "",
        };
        figure(
            &chart.finish("Heat map of the AUC of every scorer against every other class"),
            &format!(
                "The scorer of the class on the left against the class below: the stronger the colour, the more often it is wrong, up to {:.1} times in 100.{numbers}",
                100.0 * most
            ),
        )
    }
}

/// 0.927 as 92.7, with its digits.
fn times(key: &str, auc: f64) -> String {
    number(key, auc, format!("{:.1}", 100.0 * auc))
}

/// 0.987 as 99; what is not quite 1 is not 100.
fn hundredths(auc: f64) -> String {
    let shown = (100.0 * auc).round();
    let shown = if auc < 1.0 { shown.min(99.0) } else { shown };
    format!("{shown:.0}")
}

/// The first one of the smallest value, and its place.
fn lowest<T>(all: &[T], of: impl Fn(&T) -> f64) -> Option<(usize, &T)> {
    (all.iter().enumerate()).min_by(|a, b| of(a.1).total_cmp(&of(b.1)))
}
