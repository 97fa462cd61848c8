"""The report in a real browser: what a reader sees, on a screen, on a phone and on paper."""

import json
import pathlib
import re
from html.parser import HTMLParser

import html5lib
import numpy as np
import pandas as pd
import pytest
from browser import Page, open_browser

NASTY = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def pages(program, tmp_path_factory):
    """A page of each kind, with the JSON of its numbers."""
    folder = tmp_path_factory.mktemp("pages")
    random = np.random.default_rng(3)
    n = 1500
    age = random.integers(18, 80, n).astype(float)
    gain = np.where(random.random(n) < 0.9, 0.0, random.exponential(5000, n)).round()
    town = random.choice(["Rome", "Oslo", NASTY, "x" * 10_000], n)
    job = random.choice([f"job {k}" for k in range(40)], n)
    even = np.where((age > 40) == (town == "Rome"), 1.0, -1.0)
    score = (age - 45) / 20 + (town == "Oslo") + gain / 5000 + even + random.logistic(size=n)
    table = pd.DataFrame(
        {"age": age, "gain": gain, NASTY: town, "job": job, "noise": random.normal(size=n)}
    )
    table.loc[random.random(n) < 0.1, "age"] = np.nan
    table["label"] = np.where(score > 1.3, "yes & <b>", "no")
    train, test = folder / "train.csv", folder / "test <i>.csv"
    table[:1000].to_csv(train, index=False)
    table[1000:].to_csv(test, index=False)
    loss = ["--beta", "0", "--softness", "1", "--gamma", "1e-3", "--positive", "yes & <b>"]
    made = {}
    for kind, more in {"linear": [], "additive": [], "pairs": ["--pairs", "2"]}.items():
        model, page = folder / f"{kind}.json", folder / f"{kind}.html"
        program("train", train, "--features", kind, *more, *loss, "--model", model)
        found = program("report", model, test, "-o", page, "--json", "--cost-fn", 5)
        made[kind] = page, json.loads(found)
    groups, weights = folder / "groups.html", folder / "weights.html"
    points = ["--points", "pdo=20,odds=50,base=600"]
    report = ["report", folder / "additive.json", test, "--json", "--cost-fn", 5]
    found = program(*report, "-o", groups, "--group", "job", *points)
    made["groups"] = groups, json.loads(found)
    found = program(*report, "-o", weights, "--weight", "gain")
    made["weights"] = weights, json.loads(found)
    page = folder / "compare.html"
    models = ["--model", folder / "linear.json", "--model", folder / "pairs.json"]
    found = program("compare", *models, test, "--report", page, "--json")
    made["compare"] = page, json.loads(found)
    page = folder / "train.html"
    short = ["--folds", "2", "--time-limit", "2", "--features", "additive"]
    given = ["--positive", "yes & <b>", "--report", page, "--json"]
    found = program("train", train, *short, *given)
    made["train"] = page, json.loads(found)
    return made


KINDS = ["linear", "additive", "pairs", "compare", "train", "groups", "weights"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_error_and_no_request_leaves_the_file(browser, pages, kind):
    page = Page(browser, pages[kind][0])
    page.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.console() == []
    assert page.requests() == [page.url]
    assert page.run("return document.querySelectorAll('script, img, iframe, link').length") == 1
    assert page.run("return document.querySelectorAll('[style]:not(#tip), [onclick]').length") == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_overflows(browser, pages, kind, width):
    page = Page(browser, pages[kind][0])
    page.resize(width)
    page.run("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.run("return document.documentElement.scrollWidth") <= width
    # All but what scrolls by itself stays within the page; charts within their own borders.
    wide = page.run(
        """
        const out = [];
        for (const e of document.querySelectorAll('main *')) {
          if (e.closest('.scroll, pre')) continue;
          const box = e.getBoundingClientRect();
          const svg = e.closest('svg');
          const frame = svg ? svg.getBoundingClientRect() : { left: 0, right: innerWidth };
          if (box.width && (box.right > frame.right + 2 || box.left < frame.left - 2))
            out.push([e.tagName, e.textContent.slice(0, 40), box.left, box.right, frame.right]);
        }
        return out.slice(0, 5)"""
    )
    assert wide == []


@pytest.mark.parametrize("kind", ["linear", "compare", "weights"])
def test_the_slider_moves_the_table_the_sentence_and_the_mark(browser, pages, kind):
    page = Page(browser, pages[kind][0])
    page.resize(800)
    state = """
        const c = document.querySelector('.cutter');
        const numbers = ['tp', 'fn', 'fp', 'tn'].map(
          n => Number(c.querySelector(`[data-is=${n}]`).textContent.replaceAll(',', '')));
        return [numbers, c.querySelector('[data-is=sentence]').textContent,
          document.querySelector('.at-cut').getAttribute('transform')]"""
    assert page.run("return document.querySelector('.slider').hidden") is False
    before, sentence, _ = page.run(state)
    moved = """
        const s = document.querySelector('.cutter input');
        s.value = arguments[0]; s.dispatchEvent(new Event('input'))"""
    # The sentence that was written and the one of the script are the same.
    page.run(moved, page.run("return document.querySelector('.cutter input').value"))
    again, by_script, _ = page.run(state)
    if again == before:
        assert by_script == sentence
    page.run(moved, 0)
    first, text, transform = page.run(state)
    # Weights are shown to one digit.
    assert first[0] == first[2] == 0 and sum(first) == pytest.approx(sum(before), abs=0.2)
    assert text != sentence and transform
    page.run(moved, 10_000)
    last, *_ = page.run(state)
    assert last[1] == last[3] == 0
    assert page.console() == []


def test_values_are_under_the_pointer_and_tables_can_be_sorted(browser, pages):
    page = Page(browser, pages["additive"][0])
    page.resize(800)
    page.run(
        """const e = document.querySelector('.tip.hit'); const b = e.getBoundingClientRect();
        e.dispatchEvent(new PointerEvent('pointermove',
          {bubbles: true, clientX: b.left, clientY: b.top}))"""
    )
    assert page.run("return document.querySelector('#tip').hidden") is False
    assert "finds" in page.run("return document.querySelector('#tip').textContent")
    values = """
        const t = [...document.querySelectorAll('table')].find(
          t => t.caption && t.caption.textContent.startsWith('Terms'));
        t.tHead.querySelectorAll('button')[1].click();
        return [...t.tBodies[0].rows].map(r => Number(r.cells[1].querySelector('data').value))"""
    rising = page.run(values)
    assert rising == sorted(rising) and len(set(rising)) > 1
    assert page.run(values) == rising[::-1]


@pytest.mark.parametrize("kind", KINDS)
def test_print_cuts_no_chart(browser, pages, kind):
    page = Page(browser, pages[kind][0])
    rules = page.run(
        """return [...document.styleSheets[0].cssRules].filter(
          r => r.conditionText === 'print').map(r => r.cssText).join()"""
    )
    assert "break-inside: avoid" in rules
    # A figure that is not higher than a sheet is moved to the next one whole.
    page.media("light", "print")
    page.resize(688)
    highest = page.run(
        """return Math.max(...[...document.querySelectorAll('figure')].map(
          f => f.getBoundingClientRect().height))"""
    )
    assert highest < 1000
    document = page.pdf()
    page.media("light")
    width, height = (float(x) for x in document.pages[0].mediabox[2:])
    assert abs(width - 595) < 2 and abs(height - 842) < 2
    assert 2 <= len(document.pages) <= 30
    captions = sum(sheet.extract_text().count("ROC curve:") for sheet in document.pages)
    assert captions == 1


def test_without_a_script_all_is_there(browser, pages):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page = Page(browser, pages["additive"][0])
        assert page.console() == []
        text = browser.find_element("tag name", "main").text
        assert "times in 100" in text and "really" in text
        assert not browser.find_element("css selector", ".slider").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_dark_and_light_have_enough_contrast(browser, pages):
    page = Page(browser, pages["pairs"][0])
    for scheme in ("light", "dark"):
        page.media(scheme)
        seen = page.run(
            """const of = (c) => c.match(/[\\d.]+/g).slice(0, 3).map(x => {
              x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
            const light = (c) => { const [r, g, b] = of(c); return .2126*r + .7152*g + .0722*b; };
            const ground = light(getComputedStyle(document.documentElement).backgroundColor);
            const low = [];
            for (const e of document.querySelectorAll('p, th, td, h1, h2, a, figcaption, text')) {
              const style = getComputedStyle(e);
              const ink = light(e.tagName === 'text' ? style.fill : style.color);
              const ratio = (Math.max(ink, ground) + .05) / (Math.min(ink, ground) + .05);
              if (ratio < 4.5 && !e.closest('.warning')) low.push([e.tagName, style.color, ratio]);
            }
            return low.slice(0, 3)"""
        )
        assert seen == [], scheme
    page.media("light")


def test_the_pictures_of_the_docs_are_small():
    """`python docs/images/report.py` makes them."""
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    names = re.findall(r"\(images/(.*?\.png)\)", (docs / "report.md").read_text())
    assert set(names) == {path.name for path in (docs / "images").glob("*.png")}
    assert len(names) == 2
    for name in names:
        picture = (docs / "images" / name).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) < 100_000
        # Width and height are in the header.
        width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
        assert width == 800 and 600 < height <= 1000


class Numbers(HTMLParser):
    """Every number with a key, and what it stands for."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "data" and "data-key" in given:
            self.found[given["data-key"]] = float(given["value"])


def at(report, key):
    for part in key.split("."):
        report = report[int(part)] if isinstance(report, list) else report[part]
    return report


@pytest.mark.parametrize("kind", ["linear", "additive", "pairs", "groups", "weights"])
def test_numbers_are_those_of_the_json(pages, kind):
    path, report = pages[kind]
    text = path.read_text()
    numbers = Numbers()
    numbers.feed(text)
    assert {"scorers.0.auc", "scorers.0.ci95.0", "certificate.gap"} <= numbers.found.keys()
    for key, value in numbers.found.items():
        assert value == at(report, key), key
    # Tables row by row.
    document = html5lib.parse(text, namespaceHTMLElements=False)
    tables = {
        t.find("caption").text: t for t in document.iter("table") if t.find("caption") is not None
    }
    rows = tables["Cuts worth a look, from strict to lenient"].findall("tbody/tr")
    scorer = report["scorers"][0]
    fields = ["cut", "recall", "false_alarms", "precision", "flagged", "cost"]
    assert len(rows) == len(scorer["table"]) > 5
    for row, cut in zip(rows, scorer["table"], strict=True):
        shown = [None if (d := c.find(".//data")) is None else float(d.get("value")) for c in row][
            1:
        ]
        assert shown == [cut[field] for field in fields]
    rows = tables["All cuts of the slider"].findall("tbody/tr")
    assert [float(r.findall(".//data")[-5].get("value")) for r in rows[1:]] == [
        c["false_alarms"] for c in scorer["cuts"][1:]
    ]
    terms = tables["Terms, the most important first"].findall("tbody/tr")
    shown = [[float(data.get("value")) for data in row.findall(".//data")][:3] for row in terms]
    terms = report["effects"]["terms"]
    assert shown == [[term["importance"], *term["interval"]] for term in terms]
    for term in report.get("points", {"terms": []})["terms"]:
        if "<" not in term["name"] and term["cells"]:
            rows = tables[f"Points of {term['name']}"].findall("tbody/tr")
            shown = [[float(d.get("value")) for d in row.findall(".//data")] for row in rows]
            cells = [[cell["rows"], cell["points"]] for cell in term["cells"][:60]]
            assert shown[: len(cells)] == cells


def test_groups_and_weights_say_what_they_count(pages):
    text, report = pages["groups"][0].read_text(), pages["groups"][1]
    assert "only groups are independent" in text and report["scorers"][0]["n_groups"] == 40
    plain = pages["additive"][1]["scorers"][0]
    width = lambda scorer: scorer["ci95"][1] - scorer["ci95"][0]  # noqa: E731
    assert report["scorers"][0]["auc"] == plain["auc"]
    assert width(report["scorers"][0]) != width(plain)
    assert all(a > b for a, b in zip(report["scorers"][0]["band"], plain["band"], strict=True))
    text, report = pages["weights"][0].read_text(), pages["weights"][1]
    assert "Rows have weights" in text and report["scorers"][0]["auc"] != plain["auc"]


def test_numbers_of_a_comparison_are_those_of_the_json(pages):
    path, report = pages["compare"]
    document = html5lib.parse(path.read_text(), namespaceHTMLElements=False)
    tables = {
        t.find("caption").text: t for t in document.iter("table") if t.find("caption") is not None
    }
    rows = tables["AUC and average precision"].findall("tbody/tr")
    shown = [[float(d.get("value")) for d in row.iter("data")][:3] for row in rows]
    assert shown == [[s["auc"], *s["ci95"]] for s in report["scorers"]]
    row = tables["Every pair: DeLong's paired test"].find("tbody/tr")
    test = report["tests"][0]
    shown = [float(d.get("value")) for d in row.iter("data")]
    assert shown == [test["difference"], *test["ci95"], test["p"], test["p_holm"]]


def test_numbers_of_training_are_those_of_the_json(pages):
    path, report = pages["train"]
    numbers = Numbers()
    numbers.feed(path.read_text())
    verdict = report["verdict"]
    assert numbers.found["scorers.0.auc"] == verdict["ours"]["auc"]
    assert numbers.found["scorers.0.ci95.1"] == verdict["ours"]["ci95"][1]
    assert numbers.found["certificate.gap"] == report["gap"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_markup_is_valid_and_nothing_typed_is_obeyed(pages, kind):
    text = pages[kind][0].read_text()
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    document = parser.parse(text)
    ids = [e.get("id") for e in document.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    targets = {a.get("href")[1:] for a in document.iter("a") if a.get("href").startswith("#")}
    assert targets <= set(ids)
    for svg in (e for e in document.iter() if str(e.tag).endswith("svg")):
        titled = svg.get("role") == "img" and svg[0].tag.endswith("title") and svg[0].text
        assert titled or svg.get("aria-hidden") == "true"
    for head in document.iter("th"):
        assert head.get("scope") in ("col", "row")
    assert "onerror=alert" not in re.sub(r"&lt;.*?(?:&gt;|…)", "", text)
    assert "<script>alert" not in text and "<b>" not in text and "<i>" not in text
    assert "x" * 1100 not in text
    assert text.count("<script") == 1 and "http" not in text.replace("http-equiv", "")
    assert len(text) < 1_000_000
