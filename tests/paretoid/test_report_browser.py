"""The reports in a browser: Debian's Chromium, headless, driven by Selenium; nothing downloaded."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from pathlib import Path

import pytest

from paretoid.report import plan_report

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
if not CHROMIUM.exists() or not DRIVER.exists():
    pytest.skip(
        f"{CHROMIUM} and {DRIVER} are needed: apt-get install chromium chromium-driver",
        allow_module_level=True,
    )

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=["plan"])
def page(request, nasty_plan, tmp_path_factory):
    """The address of a report."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    html = plan_report(*nasty_plan, command="paretoid plan")
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def visit(browser, address, width=1400):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.get_log("browser"), browser.get_log("performance")  # forget what was before
    browser.get(address)


def test_nothing_is_complained_about_and_nothing_else_is_asked_for(browser, page):
    visit(browser, page)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        event["params"]["request"]["url"].split("#")[0]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert asked - {"data:,"} == {page}  # the empty icon is in the page
    assert browser.title != "7"  # the arm that is called <script>


def test_a_script_that_got_into_the_page_would_not_run(browser, page, tmp_path):
    # The policy, seen at work: the same page with a line of somebody else's.
    html = Path(page.removeprefix("file://")).read_text(encoding="utf-8")
    foul = tmp_path / "foul.html"
    foul.write_text(html + "<script>document.title = 7</script>", encoding="utf-8")
    visit(browser, foul.as_uri())
    assert browser.title != "7"
    assert any("Content Security Policy" in e["message"] for e in browser.get_log("browser"))


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_never_scrolls_sideways_and_figures_can_be_read(browser, page, width):
    visit(browser, page, width)
    seen = browser.execute_script("""
        const root = document.documentElement;
        return {
          page: root.scrollWidth, window: window.innerWidth,
          figures: [...document.querySelectorAll("figure svg")].map((svg) => {
            const box = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
            return {
              width: box.width, height: box.height, texts: texts.length,
              smallest: Math.min(...texts.map((t) => t.getBBox().height
                * box.width / svg.viewBox.baseVal.width)),
              outside: texts.filter((t) => t.getBoundingClientRect().right > box.right + 2
                || t.getBoundingClientRect().left < box.left - 2).map((t) => t.textContent),
            };
          }),
          wide: [...document.querySelectorAll("main *")].filter((e) =>
            !e.closest(".scroll, pre") && e.getBoundingClientRect().right > root.clientWidth + 1
          ).map((e) => e.outerHTML.slice(0, 80)),
          boxes: [...document.querySelectorAll(".scroll")].every(
            (e) => e.getBoundingClientRect().right <= root.clientWidth + 1),
        };
    """)
    assert seen["window"] == width
    assert seen["page"] <= width
    assert seen["wide"] == []
    assert seen["boxes"]
    assert len(seen["figures"]) >= 3
    for figure in seen["figures"]:
        assert figure["width"] > 200
        assert figure["height"] > 100
        assert figure["texts"] > 3
        assert figure["smallest"] > 7  # CSS pixels, the height of a line


def column(browser, table, index):
    return browser.execute_script(
        "return [...document.querySelectorAll('table')[arguments[0]].tBodies[0].rows]"
        ".map((row) => row.cells[arguments[1]].dataset.sort)", table, index
    )  # fmt: skip


def test_every_column_of_every_table_sorts_up_and_down(browser, page):
    visit(browser, page)
    tables = browser.find_elements("css selector", "table")
    assert len(tables) >= 4
    numbers = 0
    for t, table in enumerate(tables):
        for c, button in enumerate(table.find_elements("css selector", "thead th button")):
            before = column(browser, t, c)
            browser.execute_script("arguments[0].click()", button)
            up = column(browser, t, c)
            head = button.find_element("xpath", "..")
            assert head.get_attribute("aria-sort") == "ascending"
            browser.execute_script("arguments[0].click()", button)
            down = column(browser, t, c)
            assert head.get_attribute("aria-sort") == "descending"
            assert sorted(before) == sorted(up) == sorted(down)
            others = table.find_elements("css selector", "th[aria-sort]:not([aria-sort=none])")
            assert len(others) == 1
            if all(re.fullmatch(r"-?[\d.e+-]+|-?Infinity|", each) for each in before):
                numbers += 1
                key = [float(each.replace("Infinity", "inf") or "nan") for each in up]
                filled = [x for x in key if not math.isnan(x)]
                assert filled == sorted(filled)
                assert not any(math.isnan(x) for x in key[: len(filled)])
                turned = [float(each.replace("Infinity", "inf") or "nan") for each in down]
                assert turned[: len(filled)] == sorted(filled, reverse=True)
    assert numbers > 5


def test_the_keyboard_sorts_too(browser, page):
    visit(browser, page)
    button = browser.find_elements("css selector", "tbody")[1].find_element(
        "xpath", "../thead//button"
    )
    button.send_keys("\ue007")  # Enter
    assert button.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"


def test_it_prints_whole(browser, page):
    visit(browser, page)
    pdf = base64.b64decode(browser.print_page())
    assert pdf.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 1 < pages < 40
    # On paper nothing can be scrolled: with the print rules no figure is wider than its page.
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visit(browser, page, 680)  # A4 less its margins, in CSS pixels
    cut = browser.execute_script("""
        return [...document.querySelectorAll("figure svg, table")].filter((e) =>
          e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
          .map((e) => e.outerHTML.slice(0, 200));
    """)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert cut == []
    assert io.BytesIO(pdf).seek(0, 2) > 10_000
