"""A headless Chromium, and the pages of the program for it."""

import base64
import io
import os
import shutil
import subprocess
import time

import pytest

# Chromium is not to speak to anybody.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]


def install():
    """Chromium and its driver of the distribution, where that can be had; their paths."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if all(found) or not shutil.which("apt-get") or os.geteuid() != 0:
        return found
    command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "chromium-driver"]
    subprocess.run(command, capture_output=True, timeout=300)
    return [shutil.which(name) for name in ("chromium", "chromedriver")]


def open_browser(profile):
    """A browser with a new profile, or a loud skip."""
    try:
        chromium, driver = install()
    except (OSError, subprocess.SubprocessError):
        chromium = driver = None
    if not (chromium and driver):
        pytest.skip("NO BROWSER: install chromium and chromium-driver to test pages in one")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


class Page:
    """A page that is open in a browser."""

    def __init__(self, driver, path):
        self.driver = driver
        driver.get("about:blank")
        driver.get_log("browser"), driver.get_log("performance")
        driver.get(path.as_uri())
        self.url = path.as_uri()

    def resize(self, width):
        """As a device of this width has it; a window cannot be so narrow."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def media(self, scheme, kind="screen"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        given = {"media": kind, "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", given)

    def console(self):
        """What went wrong."""
        return [line for line in self.driver.get_log("browser") if line["level"] != "INFO"]

    def requests(self):
        """The addresses that were asked for since the last call."""
        import json

        sent = []
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                sent.append(message["params"]["request"]["url"])
        return sent

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def painted(self, script):
        """What a script answers once there is an answer: paint is recorded behind the load."""
        for _ in range(100):
            found = self.run(script)
            if found is not None:
                return found
            time.sleep(0.05)
        raise AssertionError("nothing was painted")

    def part(self, top, height, width):
        """A part of the page, as the bytes of a PNG."""
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        given = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", given)
        return base64.b64decode(found["data"])

    def screenshot(self):
        """The whole page, as the bytes of a PNG."""
        given = {"format": "png", "captureBeyondViewport": True}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", given)
        return base64.b64decode(found["data"])

    def pdf(self):
        """The pages of a print on A4."""
        from pypdf import PdfReader

        given = {"preferCSSPageSize": True, "printBackground": True}
        found = self.driver.execute_cdp_cmd("Page.printToPDF", given)
        return PdfReader(io.BytesIO(base64.b64decode(found["data"])))
