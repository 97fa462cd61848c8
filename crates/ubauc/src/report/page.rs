//! The page around the sections.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::markup::{Section, escape, folded, name, short, side_by_side};
use super::{
    Report, calibration, certificate, columns, comparison, effects, histogram, points,
    precision_recall, reproduction, roc, search, thresholds, verdict,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub(super) fn render(report: &Report) -> String {
    framed(&report.title, &verdict::section(report), &sections(report))
}

/// The page of a verdict and sections.
pub(super) fn framed(title: &str, verdict: &str, sections: &[Section]) -> String {
    let links: String = sections
        .iter()
        .map(|s| format!("<li><a href=\"#{}\">{}</a></li>\n", s.id, s.heading))
        .collect();
    let body: String = sections
        .iter()
        .map(|s| {
            format!(
                "<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n",
                s.id, s.heading, s.body
            )
        })
        .collect();
    let title = escape(&short(title));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"ubauc {}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <header>\n<h1>{title}</h1>\n</header>\n<main id=\"main\">\n{verdict}<nav aria-label=\"Sections\">\n<ul>\n{links}</ul>\n</nav>\n{body}</main>\n\
         <footer>\n<p>Made by ubauc {}. This page needs no other file and no network.</p>\n</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        sum(STYLE),
        sum(SCRIPT),
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_VERSION"),
    )
}

/// The source of a content security policy that lets this text in.
fn sum(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

fn sections(report: &Report) -> Vec<Section> {
    let mut all = Vec::new();
    let mut add = |id, heading, body: String| {
        if !body.is_empty() {
            all.push(Section { id, heading, body });
        }
    };
    if report.scorers.len() > 1 {
        add("comparison", "Side by side", comparison::section(report));
    }
    add(
        "curves",
        "How well it tells the classes apart",
        curves(report),
    );
    if let Some(found) = report
        .effects
        .as_ref()
        .filter(|found| !found.terms.is_empty())
    {
        add("effects", "What it looks at", effects::section(found));
    }
    if let Some(card) = &report.points {
        add("points", "Points", points::section(card));
    }
    add("cuts", "What each cut does", cuts(report));
    add(
        "scores",
        "What a score means",
        per_scorer(report, |scorer| {
            calibration::section(scorer, &report.classes[1])
        }),
    );
    if !report.search.is_empty() {
        add("search", "What was tried", search::section(&report.search));
    }
    if let Some(found) = &report.certificate {
        add(
            "certificate",
            "How near the optimum it is",
            certificate::section(report, found),
        );
    }
    if !report.columns.is_empty() {
        add(
            "columns",
            "What was done to each column",
            columns::section(&report.columns),
        );
    }
    add(
        "again",
        "How to make it again",
        reproduction::section(&report.reproduction),
    );
    all
}

fn curves(report: &Report) -> String {
    let Some(main) = report.main() else {
        return String::new();
    };
    let mut charts = vec![roc::chart(report), precision_recall::chart(report)];
    if report.scorers.len() == 1 {
        charts.push(histogram::chart(main, &report.classes));
        return side_by_side(&charts) + &thinned(report);
    }
    let of_each = per_scorer(report, |scorer| histogram::chart(scorer, &report.classes));
    side_by_side(&charts) + &thinned(report) + &of_each
}

fn thinned(report: &Report) -> String {
    let is_thinned = report.scorers.iter().any(|s| s.distinct + 1 > s.roc.len());
    match is_thinned {
        true => super::markup::remark(
            "Curves of many points are drawn through some hundred of them; what is left out lies within a pixel or two of the line.",
        ),
        false => String::new(),
    }
}

fn cuts(report: &Report) -> String {
    let mut out = String::new();
    for (k, scorer) in report.scorers.iter().enumerate().take(roc::DRAWN) {
        let section = thresholds::section(report, scorer, k);
        out += &match k {
            0 if report.scorers.len() == 1 => section,
            0 => format!("<h3>{}</h3>\n{section}", name(&scorer.name)),
            _ => folded(&short(&scorer.name), &section),
        };
    }
    out
}

/// The same for every scorer; of several those behind the first are folded away.
fn per_scorer(report: &Report, section: impl Fn(&super::Judged) -> String) -> String {
    let mut out = String::new();
    for (k, scorer) in report.scorers.iter().enumerate().take(roc::DRAWN) {
        let body = section(scorer);
        out += &match k {
            0 if report.scorers.len() == 1 => body,
            0 => format!("<h3>{}</h3>\n{body}", name(&scorer.name)),
            _ => folded(&short(&scorer.name), &body),
        };
    }
    out
}
