"""What people read of a live trial: ratios, units and directions, and no Python."""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import numpy as np
import pytest

import paretoid as pt
from paretoid.explorer import Design, Explorer
from paretoid.report.design_words import design_sections
from paretoid.report.page import render
from paretoid.report.trial import trial_report
from paretoid.report.trial_pictures import enrolled, enrolment_picture, means_picture, pointwise
from paretoid.units import Units

LOG = math.log
PYTHON = re.compile(r"eps[12]\b|rho=|ParetoSet\(|AtMost\(|Cover\(|PracticalSet\(")


def vaccine(goal=None, radius=None):
    """IgG recorded as logarithms, pain in mm and fever as 0 or 1; four outcomes of A, one of B."""
    units = {"IgG": "ELU/ml", "pain": "mm"}
    design = Design(
        ["A", "B", "C"], ["IgG", "pain", "fever"],
        goal or pt.ParetoSet((LOG(1.5), 2.0, 0.0)), 0.1, minimize=["pain", "fever"],
        outcomes={"IgG": "gaussian", "pain": "gaussian", "fever": "binary"},
        logs=["IgG"], units=units, radius=radius,
    )  # fmt: skip
    trial = Explorer.from_design(design)
    outcomes = [(100, 10, 0), (10_000, 14, 1), (100, 10, 0), (10_000, 14, 0)]
    for igg, pain, fever in outcomes:
        trial.tell("A", [LOG(igg), pain, fever], unplanned=True)
    trial.tell("B", [LOG(500), 7.5, 1], unplanned=True)
    return trial


def answered(goal):
    """Log IgG of B is 5 above that of A: all are told apart after 20 of each."""
    design = Design(
        ["A", "B"], ["IgG"], goal, 0.1, scale=1.0, logs=["IgG"], units={"IgG": "ELU/ml"}
    )
    trial = Explorer.from_design(design)
    for allocation in trial.ask(40):
        trial.tell(allocation, [LOG(500) + (5.0 if allocation.arm == "B" else 0.0)])
    return trial


def test_a_status_has_means_in_units_with_their_spread():
    """By hand: logs of 100 and 10,000 twice have mean log 1000 and sd log 10 sqrt(4/3) = 2.659;
    10 and 14 mm twice have mean 12 and sd sqrt(16/3) = 2.309; fever 1 of 4."""
    status = vaccine().status()
    assert status.sd[0] == pytest.approx([LOG(10) * math.sqrt(4 / 3), math.sqrt(16 / 3), 0.5])
    assert all(map(math.isnan, [*status.sd[1], *status.sd[2]]))
    assert status.means[0] == pytest.approx([LOG(1000), 12, 0.25])
    words = [status.estimate(arm, name) for arm in "ABC" for name in status.objectives]
    assert words == [
        ("1,000 ELU/ml", "sd of logs 2.66, n=4"), ("12 mm", "sd 2.31, n=4"), ("0.25", "1 of 4"),
        ("500 ELU/ml", "n=1"), ("7.5 mm", "n=1"), ("1", "1 of 1"),
        ("-", ""), ("-", ""), ("-", ""),
    ]  # fmt: skip
    for text in (str(status), status._repr_html_()):
        assert "1,000 ELU/ml (sd of logs 2.66, n=4)" in text
        assert "more IgG, less pain and less fever is better" in text
        assert "margin 1.5-fold in IgG, 2 mm in pain and 0 in fever" in text
        assert not PYTHON.search(text)


def test_a_status_is_read_at_80_columns():
    status = vaccine().status()
    lines = status.words(80).split("\n")
    assert "A, undecided" in lines
    assert "  IgG    1,000 ELU/ml (sd of logs 2.66, n=4)" in lines
    assert "  fever  0.25 (1 of 4)" in lines
    start = lines.index("A, undecided")
    assert max(map(len, lines[start:])) <= 80
    assert len(max(str(status).split("\n"), key=len)) > 80  # a table, where there is room


def test_names_that_take_two_columns_a_letter_are_counted_so():
    status = Explorer(["A", "B"], ["長" * 20]).status()
    assert "A, undecided" in status.words(53)  # 1 + 2 + 9 + 2 and 40 for the head
    assert "A  undecided  -" in status.words(54)


def test_json_keeps_what_is_recorded_and_its_keys():
    status = vaccine().status()
    data = json.loads(json.dumps(status.to_dict(), allow_nan=False))
    assert data["means"][0] == pytest.approx([LOG(1000), 12, 0.25])
    assert data["means"][2] == data["sd"][1] == [None] * 3
    assert data["units"] == {"logs": ["IgG"], "units": {"IgG": "ELU/ml", "pain": "mm"}}
    assert (data["minimize"], data["binary"]) == (["pain", "fever"], ["fever"])
    (goal,) = data["answers"]
    assert goal.startswith("ParetoSet(eps1=(0.405")
    assert list(data["labels"]) == list(data["expected"]) == [goal]


def test_a_status_without_units_has_numbers_only():
    status = Explorer(["A", "B"], ["x"]).status()
    assert status.to_dict()["units"] == {}
    assert "more x is better" in str(status)


def test_what_is_sure_is_said_with_the_margin():
    """B is optimal outright; that is shown only up to the margin, and A is out."""
    status = answered(pt.ParetoSet(LOG(1.5))).status()
    assert "all optimal arms (margin 1.5-fold): B" in str(status)
    assert re.search(r"^B +within 1.5-fold of optimal  ", str(status), re.M)
    both = str(replace(status, dominated={"B": "A"}))
    assert "within 1.5-fold of optimal, and out (likely dominated by A)" in both


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(
    "goal", [pt.ParetoSet, pt.AtMost, lambda *args, **with_: pt.Cover(*args, 1.0, **with_)]
)
def test_an_endpoint_with_a_limit_only_does_not_count_and_has_no_margin(goal, counts):
    """Less pain makes no arm better than another there, so nothing may sound as if it did."""
    limits = {"pain": pt.at_most(40.0, compared=counts)}
    slack = (LOG(1.5), 2.0, LOG(1.5))
    asked = goal(1, slack, limits=limits) if goal is pt.AtMost else goal(slack, limits=limits)
    design = Design(
        ["A", "B"], ["IgG", "pain", "IgA"], asked, minimize=["pain"], logs=["IgG", "IgA"],
        units={"pain": "mm"},
    )  # fmt: skip
    status = Explorer.from_design(design).status()
    page = render("", "", design_sections(design))
    texts = [asked.words(design.units), *status.labels.values(), status.inside, str(status), page]
    assert all(("2 mm" in text) == counts for text in texts)
    assert all("1.5-fold" in text for text in texts)
    assert ("within that it does not count" in texts[0]) == (not counts)
    ways = "more IgG, less pain and more IgA is better"
    if not counts:
        ways = ("more IgG and more IgA is better; pain must be at most 40 mm, and within that it "
                "does not count")  # fmt: skip
    assert design.ways == status.ways == str(status).splitlines()[1] == ways


def test_a_margin_in_what_does_not_count_is_none():
    goal = pt.ParetoSet((0.0, 2.0), limits={"pain": pt.at_most(40.0)})
    units = Units(("IgG", "pain"))
    assert goal.words(units).startswith("all Pareto-optimal arms, of those with pain at most 40")
    assert goal.label(units) == "all optimal arms (pain at most 40)"
    assert goal.verdict_words(units)[0] == "optimal"


def test_a_practical_set_has_a_word_of_its_own():
    assert re.search(
        "^B +not practically dominated  ",
        str(answered(pt.PracticalSet(LOG(1.5))).status()),
        re.M,
    )


def test_bounds_of_logarithms_are_ratios():
    """All is told of 5 in logarithms with 20 outcomes each: B is 148 times A, A 0.0067 times B."""
    status = answered(pt.ParetoSet()).status()
    (pair, (between,)) = status.difference("B", "A")
    low, high = math.exp(status.lower[1, 0, 0]), math.exp(status.upper[1, 0, 0])
    assert pair == "B vs A"
    assert between == f"{low:.3g} to {high:,.0f}-fold"
    assert low < math.exp(5) < high
    assert status.compared == "the ratio to"
    assert vaccine().status().compared == "the difference from, or ratio to,"


def test_a_note_on_corrections_names_the_goal_in_words():
    trial = answered(pt.ParetoSet(LOG(1.5)))
    trial.correct(1, [6.0], reason="misread")
    (note,) = trial.status().notes
    assert "1 correction came after the answer to 'all optimal arms (margin 1.5-fold)'" in note
    trial.correct(2, [6.0], reason="misread")
    assert "2 corrections came" in trial.status().notes[0]


def test_goals_that_do_not_fit_each_other_are_named_in_words():
    goals = [pt.ParetoSet(LOG(1.5)), pt.AtMost(1)]
    words = r"the goals \(all optimal arms \(margin 1.5-fold\), one arm\) differ in eps1"
    with pytest.raises(ValueError, match=words):
        Design(["A", "B"], ["IgG"], goals, logs=["IgG"])


def test_commands_say_goals_in_words_and_json_keeps_their_names(tmp_path, cli, monkeypatch):
    (tmp_path / "design.toml").write_text(
        """arms = ["A", "B"]
objectives = ["IgG", "fever"]
minimize = ["fever"]
scale = 1.0
logs = ["IgG"]
[[goals]]
kind = "AtMost"
k = 1
eps1 = [0.4054651081081644, 0.0]
[radius]
kind = "Mixture"
rho = [5.0, 17.534]
"""
    )
    code, new, _ = cli("trial", "new", "design.toml", "t.db")
    assert code == 0
    assert "one arm (margin 1.5-fold in IgG and 0 in fever)" in new
    assert "more IgG and less fever is better" in new
    assert "Mixture, rho by arm, 5 to 17.5: proved" in new
    cli("trial", "next", "t.db", "-n", 40)
    with Explorer.open("t.db") as trial:
        arms = {waiting.id: waiting.arm for waiting in trial.status().waiting}
    rows = [f"{id},{arm},{9 * (arm == 'B')},{-9 * (arm == 'B')}" for id, arm in arms.items()]
    (tmp_path / "all.csv").write_text("\n".join(["id,arm,IgG,fever", *rows]))
    code, recorded, _ = cli("trial", "record", "t.db", "--csv", "all.csv", "--yes")
    assert code == 0
    assert "one arm (margin 1.5-fold in IgG and 0 in fever): B" in recorded
    monkeypatch.setenv("COLUMNS", "80")
    code, status, _ = cli("trial", "status", "t.db")
    lines = status.split("\n")
    assert "B, within 1.5-fold in IgG and 0 in fever of optimal" in lines
    assert max(map(len, lines[:-2])) <= 80
    for text in (new, recorded, status):
        assert not re.search(r"eps1|rho=|AtMost\(", text)
    _, printed, _ = cli("trial", "status", "t.db", "--json")
    assert list(json.loads(printed)["answers"]) == ["AtMost(k=1, eps1=(0.4054651081081644, 0))"]


def words_of(page):
    """(the text of a page before its appendix, the appendix)"""
    body = page[page.index("<main>") : page.index("</main>")]
    plain = re.sub(r"\s+", " ", unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", body, flags=re.S)))
    before, _, appendix = plain.partition("Appendix: the exact design")
    return before, appendix


def test_a_report_is_in_units_and_only_its_appendix_is_exact():
    radius = pt.MixedScale(scales=("unknown", "unknown", "known"), rho=(5.0, 17.534, 20.0))
    design = vaccine(radius=radius).design
    text, appendix = words_of(trial_report(vaccine(radius=radius)))
    for words in (
        "More IgG, less pain and less fever is better.",
        "geometric mean IgG mean pain share fever",
        "A undecided 1,000 ELU/ml sd of logs 2.66, n=4 12 mm sd 2.31, n=4 0.25 1 of 4",
        "C undecided - - -",
        "In IgG these are ratios of geometric means, of the first arm to the second, elsewhere the "
        "mean of the first less that of the second.",
        "A vs B",
    ):
        assert words in text, words
    assert not PYTHON.search(text)
    assert "17.534" not in text
    assert Design.from_dict(tomllib.loads(toml_of(trial_report(vaccine(radius=radius))))).same_as(
        design
    )
    assert "17.534" in appendix


def toml_of(page):
    return unescape(page[page.rindex("<pre") : page.rindex("</code>")].partition("<code>")[2])


def test_intervals_of_the_picture_are_pointwise():
    """By hand: 12 mm of 4 with sd 4/sqrt(3) is 12 -+ 3.1824 * 2.3094 / 2; 1 of 4 is Clopper and
    Pearson's 0.0063 to 0.8059; 1 of 1 is 0.025 to 1; one number has no spread."""
    status = vaccine().status()
    low, high = pointwise(status, 1)
    assert (low[0], high[0]) == pytest.approx((12 - 3.6748, 12 + 3.6748), abs=1e-4)
    assert np.isnan([low[1:], high[1:]]).all()
    low, high = pointwise(status, 2)
    assert (low[0], high[0]) == pytest.approx((0.0063, 0.8059), abs=1e-4)
    assert (low[1], high[1]) == pytest.approx((0.025, 1.0))
    assert np.isnan([low[2], high[2]]).all()


@pytest.fixture
def drawn(monkeypatch):
    """The axes of the pictures made, by name."""
    from paretoid.report import trial_pictures

    kept, picture = {}, trial_pictures.picture

    def keep(axes, name, caption):
        kept[name] = axes.get_figure(root=True).axes
        return picture(axes, name, caption)

    monkeypatch.setattr(trial_pictures, "picture", keep)
    return kept


def points(axis):
    (line,) = [line for line in axis.lines if line.get_marker() == "o"]
    return line.get_xydata()


def test_means_are_drawn_in_units_with_their_limits(drawn):
    limits = {"IgG": pt.at_least(LOG(700)), "fever": pt.at_most(0.3)}
    trial = vaccine(goal=pt.ParetoSet(limits=limits))
    made = means_picture(trial.status(), limits)
    igg, pain, fever = drawn["means"]
    assert points(igg) == pytest.approx(np.array([[1000, 2], [500, 1]]))  # A is above B
    assert igg.get_xscale() == "log"
    assert points(pain) == pytest.approx(np.array([[12, 2], [7.5, 1]]))
    assert igg.get_title(loc="left") == "IgG [ELU/ml]; dashed: at least 700 ELU/ml"
    dashed = [line.get_xdata()[0] for line in igg.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([700])
    assert fever.get_title(loc="left") == "fever, less is better; dashed: at most 0.3"
    assert "no part of the guarantee" in made.caption
    assert "1.0 mm" not in made.svg
    page = trial_report(trial)
    assert page.count("<svg") == 2


def test_an_interval_that_would_hide_the_others_goes_on_with_an_arrow(drawn):
    """Halves by t: A 1.24, B 2.48 and C of two outcomes 63.5; three times the median is 7.45."""
    trial = Explorer(["A", "B", "C"], ["x"])
    for arm, outcomes in {"A": (0, 1, 2, 1), "B": (0, 2, 4, 2), "C": (0, 10)}.items():
        for outcome in outcomes:
            trial.tell(arm, [float(outcome)], unplanned=True)
    means_picture(trial.status(), {})
    (axis,) = drawn["means"]
    left, right = (line for line in axis.lines if line.get_marker() in "<>")
    low, high = pointwise(trial.status(), 0)
    assert (high - low) / 2 == pytest.approx([1.2992, 2.5985, 63.531], abs=1e-3)
    assert left.get_xydata() == pytest.approx(np.array([[5 - 3 * 2.5985, 0]]), abs=1e-3)
    assert right.get_xydata() == pytest.approx(np.array([[5 + 3 * 2.5985, 0]]), abs=1e-3)


def test_pictures_stand_whatever_the_outcomes(drawn):
    design = Design([f"arm {i}" for i in range(20)], ["IgG", "raw", "none"], logs=["IgG", "raw"])
    trial = Explorer.from_design(design)
    assert means_picture(trial.status(), {}) is None
    assert enrolment_picture(trial.replay(), trial.rows()) is None
    assert trial_report(trial).count("<svg") == 0
    for id, arm in enumerate(design.arms):  # one of each arm; raw is no logarithm, none missing
        trial.tell(arm, {"IgG": 6.0, "raw": 20_000.0 + id, "none": "missing"}, unplanned=True)
    trial.tell("arm 0", {"IgG": 9.0, "raw": 2.0, "none": "missing"}, unplanned=True)
    means_picture(trial.status(), {})
    igg, raw, nothing = drawn["means"]
    assert len(points(igg)) == 20
    assert len(points(raw)) == len(points(nothing)) == 0
    assert trial_report(trial).count("<svg") == 2


def test_participants_are_those_who_received_an_arm_when_they_came():
    """Day 0: A, B, A; the second is overridden with A on day 1, the third withdrawn; day 7: C."""
    day = {"now": datetime(2026, 1, 5, tzinfo=UTC)}
    trial = Explorer(["A", "B", "C"], ["x"], clock=lambda: day["now"])
    placed = [trial.ask() for _ in range(3)]
    assert [allocation.arm for allocation in placed] == ["A", "B", "C"]
    day["now"] += timedelta(days=1)
    trial.override(placed[1], "A", reason="allergy")
    trial.withdraw(placed[2], reason="nobody came")
    arms, when, unit = enrolled(trial.replay(), trial.rows())
    assert (arms.tolist(), when.tolist()) == ([0, 0], [0, 1])
    assert unit == "participants enrolled, of all arms"  # within two days: in order
    day["now"] += timedelta(days=6)
    trial.tell("C", [1.0], unplanned=True)
    arms, when, unit = enrolled(trial.replay(), trial.rows())
    assert (arms.tolist(), when.tolist()) == ([0, 0, 2], [0, 1, 7])
    assert unit == "days since the first participant (2026-01-05)"


def test_the_picture_of_enrolment_counts_by_arm(drawn):
    trial = Explorer(["A", "B", "C"], ["x"])
    trial.ask(5)
    enrolment_picture(trial.replay(), trial.rows())
    (axis,) = drawn["enrolment"]
    assert [label.get_text() for label in axis.texts] == ["2", "2", "1"]
    assert axis.get_xlim() == (0, 5)


def test_names_in_pictures_are_letters(nasty_trial, drawn):
    page = trial_report(nasty_trial)
    assert page.count("<svg") == 2
    pictures = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.S))
    for words in ("&lt;script&gt;document.title=7", "cost $5_{ or $6", "&lt;i&gt;gain&lt;/i&gt;"):
        assert words in pictures, words
    assert "<script" not in pictures
