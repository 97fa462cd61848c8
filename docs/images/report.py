"""The pictures of docs/report.md: a page about the census table `adult`, as Chromium shows it.

    UBAUC_DATA=… python docs/images/report.py [FOLDER]

writes them here, or the whole page in all widths and both schemes to a folder, to be looked at.
`python/tests/test_page.py` checks that they are there and small. UBAUC_BIN names the program.
"""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

from browser import Page, open_browser  # noqa: E402

LOSS = ["--features", "additive", "--beta", "0", "--softness", "1", "--gamma", "1e-4"]
WIDTH = 800
# File, colour scheme, where it begins, how high it is.
PICTURES = [
    ("report-verdict.png", "light", "h1", 968),
    ("report-effects.png", "dark", "#effects", 900),
]


def made_page(folder):
    """Learned from half of the rows, judged on the others."""
    program = os.environ.get("UBAUC_BIN", ROOT / "target" / "debug" / "ubauc")
    table = Path(os.environ["UBAUC_DATA"]) / "tables" / "adult.csv.zst"
    train, test, model = folder / "train.csv", folder / "test.csv", folder / "adult.json"

    def run(*arguments):
        command = [program, *map(str, arguments), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    run("data", "split", table, "--test-share", 0.5, "--stratify", "classification",
        "--output-train", train, "--output-test", test)  # fmt: skip
    run("train", train, "--label", "classification", *LOSS, "--model", model)
    page = folder / "adult.html"
    run("report", model, test, "-o", page)
    return page


def small(picture):
    """With 64 colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    out = io.BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def main(to=None):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = made_page(folder)
        driver = open_browser(folder / "profile")
        try:
            page = Page(driver, path)
            if to is not None:
                for width in (360, 800, 1400):
                    for scheme in ("light", "dark"):
                        page.media(scheme)
                        page.resize(width)
                        (Path(to) / f"{width}-{scheme}.png").write_bytes(page.screenshot())
                return
            page.resize(WIDTH)
            for file, scheme, begin, height in PICTURES:
                page.media(scheme)
                place = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
                top = page.run(place, begin) + page.run("return scrollY") - 12
                (HERE / file).write_bytes(small(page.part(max(0, top), height, WIDTH)))
        finally:
            driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
