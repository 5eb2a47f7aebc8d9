"""`paretoid trial report`: the flow counted by hand, what is claimed, and what is left alone."""

from __future__ import annotations

import json
import re
import stat
from html import unescape

import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer import Design, Explorer, LedgerError
from paretoid.report.design_words import design_sections
from paretoid.report.page import render
from paretoid.report.trial import Flow, trial_report


def said(page):
    body = page[page.index("<main>") : page.index("</main>")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.fixture
def trial(tmp_path):
    """Nine allocations by hand, in a ledger; see the table below."""
    design = Design(
        ["A", "B"], ["IgG", "fever"], pt.AtMost(1), 0.1, scale=[1.0, 0.5], minimize=["fever"],
        conduct=pt.Conduct(look=5, burn_in=4), max_samples=60,
    )  # fmt: skip
    with Explorer.from_design(design, tmp_path / "t.db", author="ann") as explorer:
        for _ in range(8):
            explorer.ask()  # A, B, A, B, ...
        explorer.tell(1, [1.0, 0.5])
        explorer.tell(2, {"IgG": 2.0, "fever": "missing"})
        explorer.withdraw(3, reason="nobody came")
        explorer.override(4, "A", reason="allergy")  # becomes 9
        explorer.tell(5, "missing")
        explorer.tell(6, {"IgG": 3.0})  # its fever is awaited, which holds up the next
        explorer.tell(7, [1.5, 0.25])
        explorer.tell("B", [2.5, 1.0], id="walk-in", unplanned=True)
        explorer.correct(1, {"IgG": 1.25}, reason="misread")
        yield explorer


def test_the_flow_is_what_was_done(trial):
    """By hand: A has 1, 3 (withdrawn), 5 (lost), 7, 9; B has 2, 4 (overridden), 6, 8, walk-in."""
    flow = Flow.of(trial.replay())
    assert flow.allocated.tolist() == [5, 5]
    assert flow.withdrawn.tolist() == [1, 0]
    assert flow.overridden.tolist() == [0, 1]
    assert flow.participants.tolist() == [4, 4]
    assert flow.unplanned.tolist() == [0, 1]
    assert flow.lost.tolist() == [1, 0]
    assert flow.complete.tolist() == [2, 1]  # 1 and 7; the walk-in
    assert flow.waiting.tolist() == [1, 2]  # 9; 6 and 8
    assert flow.known.tolist() == [[2, 2], [3, 1]]
    assert flow.missing.tolist() == [[1, 1], [0, 1]]
    assert flow.awaited.tolist() == [[1, 1], [1, 2]]
    # IgG is complete up to 7 (8 is awaited), fever up to 5 (6 is awaited)
    assert flow.used.tolist() == [[2, 1], [2, 0]]
    status = trial.status()
    assert (flow.used == status.counts).all()
    assert (flow.known + flow.missing + flow.awaited == flow.participants[:, None]).all()


def test_the_page_shows_flow_verdicts_bounds_design_and_head(trial):
    text = said(trial_report(trial))
    for words in (
        "To find one Pareto-optimal arm: No answer yet",
        "8 participants enrolled of 60; the last look fell due after 5; the next look is after 10.",
        "A 5 0 1 4 0 1 2 1",
        "B 5 1 0 4 1 0 1 2",
        "all arms 10 1 1 8 1 1 3 3",
        "A IgG 2 2 0 1 1",
        "B fever 1 0 1 1 2",
        "ann overridden 4 allergy",
        "ann withdrawn 3 nobody came",
        "ann corrected 1 misread",
        "A undecided 1.375 sd 0.177, n=2 0.5 n=1",  # of 1.25 and 1.5: sd 0.25 / sqrt(2)
        "More IgG and less fever is better.",
        "0 optimal, 0 out (dominated), 2 undecided of 2 arms",
        "that all bounds of this table hold at once is not claimed",
        "is at most delta = 0.1",
        f"paretoid trial verify TRIAL.DB --head {trial.head}",
    ):
        assert words in text, words


def test_an_answer_is_shown_with_its_event_and_what_is_proved():
    explorer = Explorer(["A", "B"], ["x"], delta=0.05, scale=1.0)
    for allocation in explorer.ask(20):
        explorer.tell(allocation, [5.0 if allocation.arm == "B" else 0.0])
    text = said(trial_report(explorer))
    event = explorer.replay().answers[0].event
    assert "To find all Pareto-optimal arms: B Given on" in text
    assert f"(event {event})" in text
    assert "the trial ever gives a wrong answer is at most 0.05" in text
    assert "B surely optimal 5" in text
    assert "A surely out (likely dominated) 0" in text


LIMITS = {"x": pt.at_least(2.0, compared=True)}


@pytest.mark.parametrize(
    "goal",
    [
        pt.ParetoSet(limits=LIMITS),
        pt.AtMost(1, limits=LIMITS),
        pt.ParetoSet(0.5),
        pt.PracticalSet(0.5),
    ],
)
def test_only_in_or_out_is_called_sure_and_never_why(goal):
    """Of what is certain, only "optimal" and "out" are covered by delta; a reason is likely."""
    explorer = Explorer(["A", "B", "C"], ["x"], goal, scale=1.0)
    for allocation in explorer.ask(300):
        explorer.tell(allocation, [{"A": 0.0, "B": 5.0, "C": 1.0}[allocation.arm]])
    status = explorer.status()
    assert set(status.dominated) == {"A", "C"}
    pages = [trial_report(explorer), render("", "", design_sections(explorer.design))]
    text = " ".join([str(status), status._repr_html_(), *map(said, pages)])
    sure = set(re.findall(r"(?:surely|certainly) (?:not )?(\w+)", text))
    assert {"out"} < sure <= {"optimal", "within", "practically", "out"}, sure
    assert "surely practically dominated" not in text
    assert not re.findall(r"(?<!likely )(?:dominated by|beyond a limit) [AB]", text)
    assert str(status).count("out (likely ") == 2


def test_nothing_is_called_sure_where_no_theorem_says_so():
    explorer = Explorer(["A", "B"], ["x"], scale=1.0, radius=pt.Mixture(union="none"))
    for allocation in explorer.ask(20):
        explorer.tell(allocation, [5.0 if allocation.arm == "B" else 0.0])
    text = said(trial_report(explorer))
    assert "B by the intervals optimal" in text
    assert "surely optimal 5" not in text
    assert "Heuristic: no theorem bounds the probability of a wrong answer." in text
    assert "No theorem covers what the intervals suggest" in text


def test_a_trial_without_any_participant_has_a_report():
    text = said(trial_report(Explorer(["A", "B"], ["x"])))
    assert "all arms 0 0 0 0 0 0 0 0" in text
    assert "Nothing was overridden, withdrawn or corrected." in text


def test_names_and_reasons_are_text(nasty_trial):
    page = trial_report(nasty_trial)
    assert "<script>document" not in page
    assert "<b>lost" not in page
    assert "<u>ann" not in page
    assert "&lt;b&gt;lost&lt;/b&gt; &amp; gone" in page
    assert page.count("<script") == 1


def test_the_command_writes_a_new_private_file_and_leaves_the_ledger_alone(trial, tmp_path):
    trial.close()
    ledger, out = tmp_path / "t.db", tmp_path / "report.html"
    before = ledger.read_bytes()
    code, shown = call("report", ledger, "--out", out, "--json")
    assert code == 0
    head = json.loads(shown)["head"]
    assert head in out.read_text(encoding="utf-8")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert ledger.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["report.html", "t.db"]
    first = out.read_bytes()
    with pytest.raises(ValueError, match="nothing is overwritten unasked"):
        call("report", ledger, "--out", out)
    assert out.read_bytes() == first
    assert call("report", ledger, "--out", out, "--force")[0] == 0
    with pytest.raises(ValueError, match=r"must end in \.html"):
        call("report", ledger, "--out", tmp_path / "report.txt")
    with pytest.raises(ValueError, match="Name another file"):
        call("report", ledger, "--out", tmp_path / "nowhere" / "report.html")
    named = tmp_path / "named.html"
    named.write_bytes(before)
    with pytest.raises(ValueError, match="the ledger itself"):
        call("report", named, "--out", named, "--force")
    assert named.read_bytes() == before


def test_a_log_that_was_changed_gets_no_report(trial, tmp_path):
    trial._ledger._execute("DROP TRIGGER events_stay")
    trial._ledger._execute("UPDATE events SET author = 'eve' WHERE seq = 4")
    with pytest.raises(LedgerError, match="event 4 does not fit its hash"):
        trial_report(trial)
    trial.close()
    assert call("report", tmp_path / "t.db", "--out", tmp_path / "r.html")[0] == 1
    assert not (tmp_path / "r.html").exists()
    with pytest.raises(LedgerError, match="no ledger"):
        call("report", tmp_path / "none.db", "--out", tmp_path / "r.html")
