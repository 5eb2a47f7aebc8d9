"""The documentation site: what goes in, and, with `pytest --full`, the built pages in a browser."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import paretoid

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "make_site.py"
CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
PAGES = [
    "index", "examples/README", "theory/PROOFS", "validation/CERTIFICATE", "reference/paretoid",
    "reference/paretoid.theory",
]  # fmt: skip


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_site", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_document_of_a_clone_is_on_the_site(script):
    folders = ("examples", "theory", "validation")  # a clone may hold anything beside them
    below = (path for folder in folders for path in (ROOT / folder).rglob("*.md"))
    ours = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *below)]
    assert {"README.md", *(name for part in script.PARTS.values() for name in part)} == set(ours)


def test_the_example_of_the_script_is_true(script):
    assert doctest.testmod(script) == (0, 1)


def test_what_would_be_markup_is_escaped_and_layout_by_hand_is_kept(script):
    rst = script.as_rst(
        "A `name`s |t| and x_ of *this* kind **kwargs\n\n- one\n- two\n  more\n\nK  a\n   b\n\n"
        ".. math::\n    a_*\n\n    b\n\n(a) first\n\n>>> 1 * 2\n2"
    )
    assert rst == (
        "A ``name``\\ s \\|t\\| and x\\_ of *this* kind \\*\\*kwargs\n\n- one\n- two\n  more\n\n"
        "::\n\n    K  a\n       b\n\n.. math::\n    a_*\n\n    b\n\n\\(a) first\n\n>>> 1 * 2\n2"
    )


# --- built, with pytest --full --------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for name in ("sphinx", "myst_parser", "furo", "latex2mathml"):
        pytest.importorskip(name, reason="pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    return folder


class Page(HTMLParser):
    """The names of places on a page, and where its links and files lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.places.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 20
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            target, _, place = unquote(link).partition("#")
            if re.match(r"[a-z]+:", target) or "?" in target:
                continue
            there = (path.parent / target).resolve() if target else path
            assert there.is_file(), f"{path.name}: {link}"
            if place and there in pages:
                assert place in pages[there].places, f"{path.name}: {link}"
            followed += 1
    assert followed > 1000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not CHROMIUM.exists() or not DRIVER.exists():
        pytest.skip(f"{CHROMIUM} and {DRIVER} are needed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=str(DRIVER)))
    yield driver
    driver.quit()


def visit(browser, address, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.get_log("browser"), browser.get_log("performance")  # forget what was before
    browser.get(address)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_on_a_telephone_and_asks_nobody_for_anything(site, browser, name):
    visit(browser, (site / f"{name}.html").as_uri(), 400)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert all(url.startswith(("file:", "data:")) for url in asked), asked
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    size = browser.execute_script(
        "return parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    )
    assert size >= 14
    assert paretoid.__version__ in browser.title


@pytest.mark.slow
def test_formulas_are_drawn(site, browser):
    visit(browser, (site / "reference" / "paretoid.theory.html").as_uri(), 1200)
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('math')].map(m => {"
        "const box = m.getBoundingClientRect(); return [box.width, box.height]})"
    )
    assert len(sizes) >= 15
    assert min(width for width, _ in sizes) > 20
    assert min(height for _, height in sizes) > 8
    assert browser.execute_script("return document.querySelectorAll('merror').length") == 0
    # A fraction stands above its line: MathML that is not understood would be one row of letters.
    assert max(height for _, height in sizes) > 40
    assert "\\frac" not in browser.find_element("tag name", "article").text


@pytest.mark.slow
def test_search_finds_a_name_without_a_server(site, browser):
    visit(browser, (site / "search.html").as_uri() + "?q=Mixture", 1200)
    end = time.monotonic() + 30
    results = []
    while not results and time.monotonic() < end:
        results = browser.find_elements("css selector", "#search-results li a")
        time.sleep(0.2)
    assert any("Mixture" in result.text for result in results)
