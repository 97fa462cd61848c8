"""The pictures of docs/report.md: the top of the page of a model of the census table `adult`.

    python docs/images/report.py report.html

with the page that the first command of docs/report.md makes. Needs chromium, chromium-driver,
selenium and pillow.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python" / "tests"))

from browser import Page, open_browser  # noqa: E402


def main(page):
    driver = open_browser(tempfile.mkdtemp())
    try:
        for name, width, scheme, height in (
            ("report", 1100, "light", 1000),
            ("report-dark", 360, "dark", 1200),
        ):
            shown = Page(driver, Path(page).resolve())
            shown.media(scheme)
            shown.resize(width)
            image = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
            image = image.crop((0, 0, width, height))
            image.thumbnail((800, 1200))
            image.quantize(64).save(HERE / f"{name}.png", optimize=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])
