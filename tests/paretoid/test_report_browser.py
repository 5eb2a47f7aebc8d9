"""The reports in a browser: Debian's Chromium, headless, driven by Selenium; nothing downloaded."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from pathlib import Path

import pytest

from paretoid.report import campaign_report, plan_report, read_store, trial_report
from paretoid.report.plan_files import plan_design
from paretoid.report.protocol import protocol_page

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


@pytest.fixture(scope="module", params=["plan", "campaign", "design", "trial"])
def page(request, tmp_path_factory):
    """The address of a report."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    if request.param == "plan":
        html = plan_report(*request.getfixturevalue("nasty_plan"), command="paretoid plan")
    elif request.param == "trial":
        html = trial_report(request.getfixturevalue("nasty_trial"))
    elif request.param == "design":
        fit, _, planned = request.getfixturevalue("nasty_plan")
        html = protocol_page(fit, planned, plan_design(fit, planned)[0], command="paretoid plan")
    else:
        html = campaign_report(read_store(request.getfixturevalue("nasty_store")))
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
    if "Report of an adaptive trial" not in browser.title:  # which has tables alone
        assert len(seen["figures"]) >= 1
    for figure in seen["figures"]:
        assert figure["width"] > 200
        assert figure["height"] > 100
        assert figure["texts"] > 3
        assert figure["outside"] == []
        assert figure["smallest"] > 7  # CSS pixels, the height of a line


#: Clicks every head twice; for each table and column: the cells and the states of the heads
SORT = """
    const cells = (table, c) => [...table.tBodies[0].rows].map((row) => row.cells[c].dataset.sort);
    const states = (table) => [...table.tHead.rows[0].cells].map((h) => h.ariaSort);
    return [...document.querySelectorAll("table")].map((table) =>
      [...table.querySelectorAll("thead button")].map((button, c) => {
        const found = {before: cells(table, c)};
        for (const way of ["up", "down"]) {
          button.click();
          found[way] = cells(table, c);
          found[way + "Heads"] = states(table);
        }
        return found;
      }));
"""
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?|-?Infinity|")


def as_numbers(cells):
    return [float(each.replace("Infinity", "inf") or "nan") for each in cells]


def test_every_column_of_every_table_sorts_up_and_down(browser, page):
    visit(browser, page)
    tables = browser.execute_script(SORT)
    assert len(tables) >= 4
    numeric = 0
    for table in tables:
        for c, seen in enumerate(table):
            assert sorted(seen["before"]) == sorted(seen["up"]) == sorted(seen["down"])
            for way, said in (("upHeads", "ascending"), ("downHeads", "descending")):
                expected = ["none"] * len(table)
                expected[c] = said
                assert seen[way] == expected
            if not all(NUMBER.fullmatch(each) for each in seen["before"]):
                continue
            numeric += 1
            up, down = as_numbers(seen["up"]), as_numbers(seen["down"])
            filled = [x for x in up if not math.isnan(x)]
            assert filled == sorted(filled) == up[: len(filled)]  # empty ones are last
            assert down[: len(filled)] == filled[::-1]
    assert numeric > 2


def test_texts_sort_as_texts(browser, page):
    visit(browser, page)
    rows = browser.execute_script(SORT)[-1][0]  # the last table: versions
    assert rows["up"] == sorted(rows["before"], key=str.casefold)
    assert rows["up"] != rows["before"]


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
