//! Each renderer by an example and by what holds for any text.

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;

/// Text that would break any format that does not escape it.
const ODD: &str = "a<b>&\"c'|*_`[x](y)\u{1b}[31m<script>alert(1)</script>";

fn titled(title: &str) -> Document {
    Document {
        title: Some(title.to_string()),
        ..Document::default()
    }
}

fn sample() -> Document {
    let mut facts = Facts::default();
    facts.add("AUC", "0.958333");
    facts.add("95 % interval", "[0.842841, 1.000000]");
    let mut table = Table::new(["data set", "algorithm", "AUC", "mark"]).left(&[1, 3]);
    table.grouped = true;
    table.row([
        Cell::from("a9a"),
        "ol-ubauc".into(),
        Cell::from(".9009").strong_if(true),
        "best".into(),
    ]);
    table
        .row([Cell::from("a9a"), "svm".into(), Cell::default()])
        .note = Some("not run".to_string());
    table
        .row([Cell::from("日本"), "svm".into(), Cell::exact(f64::NAN)])
        .note = Some("not run".to_string());
    table.foot = Some("… 2 more".to_string());
    titled("Results")
        .paragraph("One line\nand another.")
        .with(facts)
        .with(table)
        .with(Block::Notes(vec![
            "first".to_string(),
            "second".to_string(),
        ]))
        .with(Block::Command("ubauc train 'a b.csv'".to_string()))
}

#[test]
fn text_is_as_expected() {
    let expected = "\
Results

One line
and another.

AUC            0.958333
95 % interval  [0.842841, 1.000000]

data set  algorithm     AUC  mark
a9a       ol-ubauc   *.9009  best
          svm             –        [1]
日本      svm             –        [1]
… 2 more
[1] not run

first
second

  ubauc train 'a b.csv'
";
    assert_eq!(text::render(&sample()), expected);
}

#[test]
fn markdown_is_as_expected() {
    let expected = "\
# Results

One line and another.

| fact | value |
| :-- | :-- |
| AUC | 0.958333 |
| 95 % interval | \\[0.842841, 1.000000\\] |

| data set | algorithm | AUC | mark | note |
| :-- | :-- | --: | :-- | :-- |
| a9a | ol-ubauc | **.9009** | best |  |
| a9a | svm | – |  | not run |
| 日本 | svm | – |  | not run |

… 2 more

- first
- second

```sh
ubauc train 'a b.csv'
```
";
    assert_eq!(markdown::render(&sample()), expected);
}

#[test]
fn html_is_as_expected() {
    let page = html::render(&sample());
    let (head, main) = page.split_once("<main>\n").unwrap();
    let expected = "\
<h1>Results</h1>
<p>One line and another.</p>
<div class=\"scroll\" tabindex=\"0\">
<table>
<thead>
<tr><th scope=\"col\">fact</th><th scope=\"col\">value</th></tr>
</thead>
<tbody>
<tr><td>AUC</td><td>0.958333</td></tr>
<tr><td>95 % interval</td><td>[0.842841, 1.000000]</td></tr>
</tbody>
</table>
</div>
<div class=\"scroll\" tabindex=\"0\">
<table>
<thead>
<tr><th scope=\"col\">data set</th><th scope=\"col\">algorithm</th><th scope=\"col\" class=\"right\">AUC</th>\
<th scope=\"col\">mark</th><th scope=\"col\">note</th></tr>
</thead>
<tbody>
<tr><td>a9a</td><td>ol-ubauc</td><td class=\"right\"><strong>.9009</strong></td><td>best</td><td></td></tr>
<tr><td>a9a</td><td>svm</td><td class=\"right\">–</td><td></td><td>not run</td></tr>
<tr><td>日本</td><td>svm</td><td class=\"right\">–</td><td></td><td>not run</td></tr>
</tbody>
</table>
</div>
<p class=\"foot\">… 2 more</p>
<ul>
<li>first</li>
<li>second</li>
</ul>
<pre><code>ubauc train &#39;a b.csv&#39;</code></pre>
</main>
</body>
</html>
";
    assert_eq!(main, expected);
    assert!(head.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    assert!(head.contains("<title>Results</title>") && head.contains("prefers-color-scheme:dark"));
    // Nothing is loaded from elsewhere.
    for outside in ["src=", "href=", "url(", "@import", "http"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// A document with `text` wherever text can be.
fn full_of(text: &str) -> Document {
    let own = || text.to_string();
    let mut facts = Facts::default();
    facts.add(text, text);
    let mut table = Table::new([own(), own()]);
    table.grouped = true;
    table.row([own(), own()]).note = Some(own());
    table.row([Cell::from(own()).strong_if(true)]);
    table.foot = Some(own());
    titled(text)
        .paragraph(own())
        .with(facts)
        .with(table)
        .with(Block::Figure(figure(text, [0.5, 1.5])))
        .with(Block::Figure(bars(text, [0.5, 1.5])))
        .with(Block::Notes(vec![own()]))
        .with(Block::Command(own()))
}

/// Dots on a linear scale.
fn figure(text: &str, values: [f64; 2]) -> Figure {
    let own = || text.to_string();
    let value = PanelValue {
        value: values[0],
        interval: Some(values),
        label: own(),
    };
    let row = PanelRow {
        description: own(),
        mark: own(),
        values: vec![None, Some(value.clone()), Some(value)],
    };
    let panel = Panel {
        title: own(),
        rows: vec![row.clone(), row, PanelRow::default()],
    };
    Figure {
        title: own(),
        alternative: own(),
        file: Some(own()),
        rows: vec![own(), own(), own()],
        series: vec![own(), own(), own()],
        axis: Axis {
            label: own(),
            ..Axis::default()
        },
        panels: vec![panel; 4],
        notes: vec![own()],
    }
}

/// Bars on a logarithmic scale.
fn bars(text: &str, values: [f64; 2]) -> Figure {
    let mut figure = figure(text, values);
    figure.axis.scale = Scale::Log;
    figure.axis.bars_from = Some(1.0);
    figure
}

/// Follows the tags: names must nest, attributes be quoted, `&` begin an entity.
fn well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let (tag, after) = after.split_once('>').unwrap();
        for entity in text.split('&').chain(tag.split('&').skip(1)).skip(1) {
            let (name, _) = entity.split_once(';').unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{name}");
        }
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let empty = ["meta", "!DOCTYPE", "?xml"].contains(&tag.split(' ').next().unwrap());
        if !tag.ends_with('/') && !empty {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

/// What is inside the body of a page.
fn body(page: &str) -> &str {
    let (_, rest) = page.split_once("<body>").unwrap();
    rest.split_once("</body>").unwrap().0
}

#[test]
fn odd_text_is_shown_and_not_interpreted() {
    let document = full_of(ODD);
    let page = html::render(&document);
    assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains("<b>"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let page = markdown::render(&document);
    assert!(!page.contains('\u{1b}'));
    let outside_code = page.split("```sh").next().unwrap();
    for raw in ["<script", "[x](y)", "c'|*"] {
        assert!(!outside_code.contains(raw), "{raw}: {page}");
    }
    let plain = text::render(&document);
    assert!(!plain.contains('\u{1b}') && plain.contains("<script>"));
}

#[test]
fn markdown_text_is_no_heading_list_or_rule() {
    for (text, escaped) in [
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("+ a", "\\+ a"),
        ("12. a", "12\\. a"),
        ("1) a", "1\\) a"),
        ("12 a.", "12 a."),
        ("a | b", "a \\| b"),
    ] {
        let document = Document::default().paragraph(text);
        assert_eq!(markdown::render(&document), format!("{escaped}\n"));
    }
    let document = Document::default().with(Block::Command("a ```` b".to_string()));
    assert_eq!(markdown::render(&document), "`````sh\na ```` b\n`````\n");
}

#[test]
fn empty_documents_and_tables_render() {
    let nothing = Document::default();
    assert_eq!(text::render(&nothing), "");
    assert_eq!(markdown::render(&nothing), "");
    well_formed(body(&html::render(&nothing)));
    let mut no_columns = Table::new([""; 0]);
    no_columns.grouped = true;
    no_columns.row([""; 0]);
    no_columns.row([""; 0]);
    for table in [Table::new(["a", "b"]), Table::new([""]), no_columns] {
        let document = Document::default().with(table).with(Facts::default());
        text::render(&document);
        markdown::render(&document);
        html::render(&document);
    }
    let empty = Document::default().with(Table::new(["a", "b"]));
    assert_eq!(text::render(&empty), "a  b\n");
    assert_eq!(markdown::render(&empty), "| a | b |\n| :-- | --: |\n");
    assert!(svg::render(&Figure::default()).contains("nothing yet"));
}

#[test]
fn long_names_are_cut_to_the_page() {
    let long = "name ".repeat(2000);
    let mut document = full_of(&long);
    document.width = Some(120);
    document
        .blocks
        .retain(|block| !matches!(block, Block::Facts(_) | Block::Command(_)));
    let page = text::render(&document);
    assert!(page.lines().all(|line| line.width() <= 120) && page.contains('…'));
    // Without a page all is there.
    document.width = None;
    assert!(text::render(&document).contains(long.trim_end()));
}

#[test]
fn figures_draw_every_value_and_describe_themselves() {
    let drawn = svg::render(&figure("AUC", [0.5, 1.5]));
    assert!(drawn.contains("role=\"img\"") && drawn.contains("<desc>AUC</desc>"));
    // Four panels of two rows with a value of an odd series and one of an even; one sign of each series in the legend.
    assert_eq!(drawn.matches("<polygon").count(), 4 * 2 + 1);
    assert_eq!(drawn.matches("<circle").count(), 4 * 2 + 2);
    assert_eq!(drawn.matches("<g><title>AUC</title>").count(), 4 * (1 + 2));
    let bars = svg::render(&bars("AUC", [0.5, 1.5]));
    assert_eq!(bars.matches("height=\"7.0\"").count(), 4 * 2 * 2 + 3);
    assert_eq!(bars.matches('–').count(), 4 * 2);
    for drawn in [drawn, bars] {
        well_formed(drawn.split_once("?>").unwrap().1);
        for unwanted in ["NaN", "inf", "None", "width=\"-", "<style", "href"] {
            assert!(!drawn.contains(unwanted), "{unwanted}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_keeps_columns_aligned(names in proptest::collection::vec("[a-z0-9éß日本語한글| ]{0,12}", 1..6)) {
        let mut table = Table::new(["name", "value"]);
        for name in &names {
            table.row([name.as_str(), "1"]);
        }
        let document = Document::default().with(table);
        let page = text::render(&document);
        let widths: Vec<usize> = page.lines().map(UnicodeWidthStr::width).collect();
        prop_assert_eq!(page.lines().count(), names.len() + 1);
        prop_assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{}", page);
    }

    #[test]
    fn any_text_is_rendered_whole_and_well_formed(text in "\\PC{0,40}|(?s).{0,40}", width in 0usize..60) {
        let mut document = full_of(&text);
        let page = html::render(&document);
        well_formed(body(&page));
        for block in markdown::render(&document).split("\n\n").filter(|block| block.starts_with('|')) {
            let cells = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            let first = cells(block.lines().next().unwrap());
            prop_assert!(block.lines().all(|line| cells(line) == first), "{}", block);
        }
        document.width = Some(width);
        text::render(&document);
    }

    #[test]
    fn any_values_are_drawn_inside(a in proptest::num::f64::ANY, b in proptest::num::f64::ANY) {
        for figure in [figure("x", [a, b]), bars("x", [a, b])] {
            let drawn = svg::render(&figure);
            well_formed(drawn.split_once("?>").unwrap().1);
            prop_assert!(!drawn.contains("NaN\"") && !drawn.contains("inf\""), "{}", drawn);
        }
    }
}

#[test]
fn bars_of_html_keep_their_blanks() {
    let mut table = Table::new(["a", "b"]);
    table.row(["1 < 2", "  █│"]);
    let fragment = html::fragment(&Document::default().with(table));
    assert!(fragment.contains("<td>1 &lt; 2</td>"), "{fragment}");
    assert!(
        fragment.contains("<code>&#160;&#160;█│</code>"),
        "{fragment}"
    );
    assert!(!fragment.contains("<html"), "{fragment}");
}
