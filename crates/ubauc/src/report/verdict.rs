//! The answer first: how good it is, what it looks at, where to cut, in words that need no statistics.

use super::markup::{counted, escape, name, number, percent, share};
use super::{AucPart, Judged, JudgedOn, Report, Why, comparison, effects};
use crate::document::numbers::{p_value, thousands};

pub(super) fn section(report: &Report) -> String {
    let Some(main) = report.main() else {
        return String::new();
    };
    let mut out = String::from("<div class=\"verdict\">\n");
    out += &card("How good is it?", &how_good(report, main));
    if let Some(found) = &report.effects {
        let link = "<p>A score is a sum that can be taken apart: <a href=\"#effects\">see every term</a>.</p>\n";
        let answer = effects::sentence(found);
        if !answer.is_empty() {
            out += &card("What does it look at?", &(answer + link));
        }
    }
    out += &card("Where to cut?", &where_to_cut(report, main));
    out += "</div>\n";
    out + &basis(report, main)
}

/// How good it is, and what that rests on.
pub(super) fn summary(report: &Report) -> String {
    let Some(main) = report.main() else {
        return String::new();
    };
    format!(
        "<div>\n{}{}</div>\n",
        how_good(report, main),
        basis(report, main)
    )
}

pub(super) fn card(question: &str, answer: &str) -> String {
    format!("<section class=\"card\">\n<h2>{question}</h2>\n{answer}</section>\n")
}

fn how_good(report: &Report, main: &Judged) -> String {
    let [negative, positive] = report.classes.each_ref().map(|class| name(class));
    let AucPart { auc, ci95, .. } = main.auc;
    let is_chance = ci95[0] <= 0.5 && ci95[1] >= 0.5;
    let times = |key: &str, x: f64| number(key, x, format!("{:.1}", 100.0 * x));
    let mut out = format!(
        "<p class=\"grade\">{}</p>\n\
         <p>Take one row of class {positive} and one of class {negative}: {} gives the {positive} one the higher score \
         <strong>{} times in 100</strong> (95 % confidence: {} to {}). 50 would be guessing, 100 perfect.</p>\n",
        grade(main.auc.auc, is_chance),
        who(report, main),
        times("scorers.0.auc", auc),
        times("scorers.0.ci95.0", ci95[0]),
        times("scorers.0.ci95.1", ci95[1]),
    );
    for (at, pair) in report
        .tests
        .iter()
        .enumerate()
        .filter(|(_, pair)| pair.a == 0)
        .take(3)
    {
        let Some(rival) = report.scorers.get(pair.b) else {
            continue;
        };
        let words = comparison::words(pair, [&main.name, &rival.name]);
        out += &format!(
            "<p>{} reaches {}. Difference: {}, p = {} — {}.</p>\n",
            name(&rival.name),
            times(&format!("scorers.{}.auc", pair.b), rival.auc.auc),
            number(
                &format!("tests.{at}.difference"),
                pair.test.difference,
                format!("{:+.2}", 100.0 * pair.test.difference)
            ),
            escape(&p_value(pair.p_holm)),
            escape(&words)
        );
    }
    out
}

fn who(report: &Report, main: &Judged) -> String {
    match report.scorers.len() {
        1 => "the model".to_string(),
        _ => name(&main.name),
    }
}

/// A word for an AUC, as is the custom.
pub(super) fn grade(auc: f64, is_chance: bool) -> &'static str {
    match auc {
        _ if is_chance => "Not to be told from guessing.",
        x if x < 0.5 => "Worse than guessing: high scores go with the wrong class.",
        x if x < 0.6 => "Hardly better than guessing.",
        x if x < 0.7 => "Weak.",
        x if x < 0.8 => "Fair.",
        x if x < 0.9 => "Good.",
        x if x < 0.97 => "Very good.",
        _ => "Excellent. Make sure that no column gives the answer away.",
    }
}

fn where_to_cut(report: &Report, main: &Judged) -> String {
    let Some(row) = main.first_cut() else {
        return String::new();
    };
    let at = main
        .table
        .iter()
        .position(|other| other == row)
        .unwrap_or(0);
    let key = |field: &str| format!("scorers.0.table.{at}.{field}");
    let cut = row.cut;
    let why = match () {
        () if row.why.contains(&Why::Cheapest) => "no other cut costs less",
        () if row.why.contains(&Why::Model) && cut.flagged > 0.0 => "the model's own cut",
        () if row.why.contains(&Why::AsMany) => "as many as there are positives",
        () => "the best balance of both mistakes",
    };
    let idle = main.idle_cut().map_or(String::new(), |own| {
        format!(" The model's own cut, {own:.4}, flags none of these rows.")
    });
    let positive = name(&report.classes[1]);
    let shown = match cut.cut {
        Some(value) => format!(
            "at least {}",
            number(&key("cut"), value, format!("{value:.4}"))
        ),
        None => "more than any row here".to_string(),
    };
    let right = match cut.precision {
        Some(precision) => format!(
            " Of 100 flagged, {} are right.",
            number(
                &key("precision"),
                precision,
                format!("{:.0}", 100.0 * precision)
            )
        ),
        None => String::new(),
    };
    format!(
        "<p>Flag rows that score <strong>{shown}</strong> ({why}): that is {} of all rows, finds {} of class {positive} and raises a false alarm for {} \
         of the others.{right}{idle}</p>\n<p>If misses cost more than false alarms, cut lower: <a href=\"#cuts\">see what each cut does</a>.</p>\n",
        share(&key("flagged"), cut.flagged),
        share(&key("recall"), cut.recall),
        share(&key("false_alarms"), cut.false_alarms),
    )
}

/// How rows count, where they do not count once and for themselves.
fn counting(auc: &AucPart) -> String {
    let mut out = String::new();
    if let Some(groups) = auc.n_groups {
        out += &format!(
            " Rows come in {} groups, and only groups are independent: intervals, bands and tests are those of groups.",
            number(
                "scorers.0.n_groups",
                groups as f64,
                thousands(groups as u64)
            )
        );
    }
    if let Some([neg, pos]) = auc.weights {
        out += &format!(
            " Rows have weights, {} and {} in all; every share, curve and count below is weighted.",
            number("scorers.0.weights.1", pos, counted(pos)),
            number("scorers.0.weights.0", neg, counted(neg))
        );
    }
    out
}

/// What the numbers rest on.
fn basis(report: &Report, main: &Judged) -> String {
    let AucPart { n_pos, n_neg, .. } = main.auc;
    let [pos, neg] = [n_pos, n_neg].map(|n| thousands(n as u64));
    let [negative, positive] = report.classes.each_ref().map(|class| name(class));
    let rows = format!(
        "{} rows: {pos} of class {positive} ({}) and {neg} of class {negative}",
        thousands((n_pos + n_neg) as u64),
        percent(main.prevalence())
    );
    basis_of(report.judged_on, &rows, &counting(&main.auc), &report.notes)
}

/// Which rows, how they count, and what else a reader should know. What is said of the rows is markup.
pub(super) fn basis_of(
    judged_on: JudgedOn,
    rows: &str,
    counting: &str,
    notes: &[String],
) -> String {
    let (class, text) = match judged_on {
        JudgedOn::Given => ("basis", format!("Judged on {rows}.")),
        JudgedOn::HeldOut => (
            "basis",
            format!(
                "Judged on {rows}, held out at random and seen neither by the learning nor by the choice of parameters. The curves and cuts are those of a model \
                 learned from the other rows with the same parameters; the model that was saved has learned from all rows, so that its cuts may lie a little \
                 elsewhere."
            ),
        ),
        JudgedOn::Training => (
            "basis warning",
            format!(
                "⚠ Judged on the rows that the model was learned from, so it looks better than it is on new ones: {rows}. Give rows that it has not \
                 seen (--test FILE)."
            ),
        ),
    };
    let text = text + counting;
    let notes: String = notes
        .iter()
        .map(|note| format!("<li>{}</li>\n", escape(&super::markup::clipped(note))))
        .collect();
    let notes = if notes.is_empty() {
        notes
    } else {
        format!("<ul class=\"notes\">\n{notes}</ul>\n")
    };
    format!("<p class=\"{class}\">{text}</p>\n{notes}")
}
