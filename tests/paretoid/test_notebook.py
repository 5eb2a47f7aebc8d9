"""What notebooks show is escaped, right, and there whichever was imported first."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from html.parser import HTMLParser

import pytest
import xarray as xr

import paretoid as pt
from paretoid.bounds import sample_bounds
from paretoid.cli import app
from paretoid.notebook import Shown
from paretoid.runs import progress

EVIL = "<script>alert('x')</script>"
BANDIT = pt.GaussianBandit([[4.0, 0.0], [0.0, 4.0], [-1.0, -1.0]], arms=["A & B", EVIL, "C"])


class Reader(HTMLParser):
    """The tags, those that were never closed, and the words between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.open, self.words = set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def shown(thing) -> Reader:
    read = Reader(thing._repr_html_())
    assert not read.open
    assert read.tags <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    return read


@pytest.fixture(scope="module")
def runs():
    goals = [pt.ParetoSet(), pt.AtMost(1)]
    return pt.simulate(BANDIT, goals, replications=20, seed=1)


def test_a_summary_of_runs_has_their_numbers(runs):
    summary = runs.paretoid.summary()
    assert runs.paretoid.kind == "runs"
    assert [row[0] for row in summary.rows] == runs.goal.values.tolist()
    mean = runs.stopping_time.mean("replication").values
    assert [float(row[1].replace(",", "")) for row in summary.rows] == pytest.approx(mean, abs=0.5)
    assert [row[4] for row in summary.rows] == ["0 of 20", "0 of 20"]
    words = shown(summary).words
    assert f"A & B, {EVIL}" in words
    assert any("proved" in word and "Mixture" in word and "0.1" in word for word in words)
    assert EVIL in str(summary)  # a terminal shows what it is


def test_a_campaign_names_what_differs_between_its_settings():
    grid = pt.Campaign(BANDIT, deltas=[0.1, 0.01], replications=3, max_samples=4).run()
    summary = grid.paretoid.summary()
    assert summary.heads[:2] == ["delta", "goal"]
    assert [row[0] for row in summary.rows] == ["0.1", "0.01"]
    assert [row[2] for row in summary.rows] == ["≥ 4", "≥ 4"]  # all were censored at 4
    assert [row[-1] for row in summary.rows] == ["none", "none"]


def test_a_plot_of_runs_is_that_of_their_stopping_times(runs):
    ours, theirs = runs.paretoid.plot(bounds=[]), pt.plots.stopping_times(runs, bounds=[])
    for mine, line in zip(ours.lines, theirs.lines, strict=True):
        assert mine.get_xydata().tolist() == line.get_xydata().tolist()


def test_a_dataset_of_something_else_is_refused():
    with pytest.raises(TypeError, match="none of paretoid's"):
        xr.Dataset({"x": 1.0}).paretoid.summary()


def test_a_run_a_status_and_bounds_are_tables_with_every_name_escaped():
    assert EVIL in shown(pt.run_once(BANDIT, max_samples=4)).words
    explorer = pt.Explorer(list(BANDIT.arms), ["<b>gain</b>"], scale=1.0)
    for allocation in explorer.ask(30):
        explorer.tell(allocation, [5.0 if allocation.arm == EVIL else 0.0])
    words = shown(explorer.status()).words
    assert {EVIL, "<b>gain</b>", "optimal", f"out (likely dominated by {EVIL})"} <= set(words)
    assert any(word == f"all optimal arms: {EVIL}" for word in words)
    bounds = sample_bounds(BANDIT)
    words = shown(bounds).words
    assert {"sharp_bound", bounds["theorem_1"].holds, bounds["theorem_1"].source} <= set(words)
    (number, said) = shown(bounds["theorem_1"]).words
    assert float(number.replace(",", "")) == pytest.approx(bounds["theorem_1"], rel=1e-3)
    assert bounds["theorem_1"].holds in said


def test_a_table_says_the_same_in_text_and_in_html():
    table = Shown("two", ["arm", "n"], [["A", "1"], ["B\x1b[2J", "20"]], ["a < b"])
    assert str(table).splitlines() == ["two", "", "arm" + 10 * " " + "n", "A" + 12 * " " + "1",
                                       "B\\u001b[2J  20", "", "a < b"]  # fmt: skip
    assert shown(table).words == ["two", "arm", "n", "A", "1", "B\\u001b[2J", "20", "a < b"]


def test_the_accessor_comes_with_results_and_import_paretoid_brings_no_xarray():
    code = (
        "import sys, paretoid; print('xarray' in sys.modules)\n"
        "paretoid.simulate; import xarray as xr; print(xr.Dataset.paretoid.__name__)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "ParetoidAccessor"]


def test_progress_is_logged_where_logging_is_set_up(caplog, capsys):
    caplog.set_level(logging.INFO, "paretoid")
    pt.simulate(BANDIT, replications=2, max_samples=4, progress=True)
    assert any("2/2 runs, " in record.getMessage() for record in caplog.records)
    assert {record.name for record in caplog.records} == {"paretoid"}
    assert capsys.readouterr().err == ""


def test_without_logging_it_goes_to_standard_error_and_leaves_no_handler(monkeypatch):
    log, err = logging.getLogger("paretoid"), io.StringIO()
    monkeypatch.setattr(log, "propagate", False)  # pytest has handlers at the root
    monkeypatch.setattr(sys, "stderr", err)
    progress.tell("hello")
    assert err.getvalue() == "paretoid: hello\n"
    assert log.handlers == []
    assert log.level == logging.NOTSET


def test_the_command_line_prints_what_is_logged(capsys):
    with app._noted():
        progress.tell("hello")
    progress.tell("unheard: pytest's handlers take warnings only")
    assert capsys.readouterr().err == "paretoid: hello\n"
