"""Plausibility at entry: what is asked back, what is not, and what the ledger keeps of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, poisson
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer import Design, Explorer
from paretoid.explorer.plausible import BASE, FAR, _Shown

#: medians 9.0 and 4.0, and a median absolute deviation of 0.5: one robust sd is 0.7413
LOGS = [8.0, 8.5, 8.5, 9.0, 9.0, 9.0, 9.0, 9.5, 9.5, 10.0]


def trial(values=LOGS, n=14, arms=("A", "B"), **options):
    """A trial whose first subjects, all on arm A or B by turns, have these outcomes."""
    explorer = pt.Explorer(list(arms), ["IgG"], author="", **options)
    placed = explorer.ask(n)
    for allocation, x in zip(placed, values, strict=False):
        explorer.tell(allocation, [x])
    return explorer, placed[len(values) :]


def asked(explorer, allocation, x):
    """The one question about an outcome, or none."""
    questions = explorer.plausible(allocation, [x])
    assert len(questions) <= 1
    return questions[0] if questions else ""


def test_a_raw_titre_among_logarithms_is_asked_back_and_a_logarithm_is_not():
    explorer, (new, *_) = trial()
    assert "log(9500) = 9.15905 would be among them: is the unit right?" in asked(
        explorer, new, 9500.0
    )
    assert asked(explorer, new, 9.7) == ""


def test_a_raw_titre_is_asked_back_before_there_are_others_to_compare_with():
    """e^27.63 is 10^12, more than any titre or concentration; 27 may be a logarithm."""
    explorer = Explorer.from_design(Design(["A", "B"], ["IgG"], pt.ParetoSet(), 0.1, logs=["IgG"]))
    new = explorer.ask()
    assert asked(explorer, new, 9000.0).endswith(
        "IgG=9000 of 1 would be the natural logarithm of a value beyond 10^12; "
        "log(9000) = 9.10498: was the logarithm not taken?"
    )
    assert asked(explorer, new, 27.7)
    assert asked(explorer, new, 27.6) == ""
    assert asked(explorer, new, -9000.0) == ""
    explorer, (new, *_) = trial([])
    assert asked(explorer, new, 9000.0) == ""


def test_what_is_far_is_six_robust_standard_deviations():
    explorer, (new, *_) = trial([8.5, 8.5, 8.5, 9.0, 9.0, 9.5, 9.5, 9.5, 9.0, 9.25, 8.75])
    sd = 1.4826 * 0.5  # by hand: deviations 0, 0, 0, 0.25, 0.25, and six of 0.5: the median is 0.5
    for side in (-1, 1):
        assert asked(explorer, new, 9.0 + side * 5.9 * sd - side * 0.5) == ""
        beyond = 9.0 + side * (6.01 * sd + 0.5)  # and as far from the arm's own 8.5 and 9.5
        assert "lies far outside the 11 outcomes of IgG so far" in asked(explorer, new, beyond)


@pytest.mark.parametrize(
    ("x", "slip"),
    [
        (500.0, "500 / 10^1 = 50"),
        (0.052, "0.052 * 10^3 = 52"),
        (5e6, "5e+06 / 10^5 = 50"),
        (3.91, "exp(3.91) = 49.899"),
        (1.7, "10^1.7 = 50.1187"),
    ],
)
def test_a_likely_unit_is_named(x, slip):
    rng = np.random.default_rng(1)
    explorer, (new, *_) = trial(list(rng.normal(50, 5, 40)), n=41)
    assert f"; {slip} would be among them" in asked(explorer, new, x)


NATURAL = [9.2, 8.4, 9.9, 9.0, 9.5, 8.7, 9.3, 10.1, 8.9, 9.6, 9.1, 8.6]


@pytest.mark.parametrize(
    ("told", "x", "question"),
    [
        # 10^4 is log10 4 and natural 9.21; 10^3.5 is 8.06
        (NATURAL, 4.02, "is this a log10? The natural logarithm would be 9.26."),
        (NATURAL, 3.68, "is this a log10? The natural logarithm would be 8.47."),
        ([y / np.log(10) for y in NATURAL], 9.21,
         "is this a natural logarithm? The log10 would be 4."),
        (NATURAL, 6.5, ""),  # low, and as a log10 it would be 15
        (NATURAL, 9.7, ""),
        ([10 * y for y in NATURAL], 40.2, ""),  # 92 is no natural logarithm of anything measured
        ([round(y) for y in NATURAL], 4.0, ""),  # scores from 0 to 10
    ],
)  # fmt: skip
def test_a_logarithm_of_another_base_is_asked_about(told, x, question):
    explorer, (new, *_) = trial([round(y, 2) for y in told], n=14, arms=("A", "B"))
    said = asked(explorer, new, x)
    if question:
        assert said.startswith(f"IgG={x:g} of {new.id} ")
        assert said.endswith(f" the 12 outcomes of IgG so far; {question}")
    else:
        assert "log10" not in said


def test_a_log10_that_is_not_far_outside_is_asked_about_too():
    """Of NT50 with sd 0.7 a log10 is 4.4 sd low: too near for FAR, and no usual unit is near."""
    rng = np.random.default_rng(1)
    told = [round(y, 2) for y in rng.normal(5.5, 0.7, 40)]
    explorer, (new, *_) = trial(told, n=41, arms=("A", "B"))
    spread = 1.4826 * np.median(np.abs(np.array(told) - np.median(told)))
    assert 3 < (np.median(told) - 2.4) / spread < FAR
    assert asked(explorer, new, 2.4).endswith(
        "is unlike the 40 outcomes of IgG so far; is this a log10? The natural logarithm would be "
        "5.53."
    )
    assert asked(explorer, new, 4.0) == ""


def test_bounded_and_binary_outcomes_are_no_logarithms():
    for kind, told, scale in (("bounded", NATURAL, 7.5), ("binary", [0.0] * 12, 0.5)):
        explorer, (new, *_) = trial(told, outcomes=kind, scale=scale)
        said = asked(explorer, new, 4.02 if kind == "bounded" else 1.0)
        assert said.endswith("far outside the 12 outcomes of IgG so far.") == (kind == "bounded")
        assert "log" not in said


def rate(means, n, seed=1, draws=20_000):
    """How often the rule asks about a right outcome, after n of two arms with these means, sd 1."""
    rng = np.random.default_rng(seed)
    arms = np.arange(n) % 2
    asked_about = 0
    for _ in range(draws):
        values = np.asarray(means)[arms] + rng.normal(size=n)
        asked_about += bool(_Shown(values, arms, 0).other_base(rng.normal(means[0]), 0))
    return asked_about / draws


@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("mean", [3.0, 4.0, 6.0])
def test_of_right_gaussian_outcomes_at_most_one_in_1000_is_asked_about(mean, n):
    """At most BASE = 0.001 whatever the mean: 20 of 20,000, so more than 45 once in 10^6 seeds."""
    assert rate((mean, mean - 2), n) * 20_000 <= poisson.isf(1e-6, 20_000 * BASE)


def test_of_right_logarithms_of_titres_next_to_none_is_asked_about():
    """With many outcomes, mean m, sd 1: beyond z, and within 2 of m once the base is changed."""
    z = norm.isf(BASE / 2)

    def exactly(m):
        low, high = ((m - 2) / np.log(10) - m, (m + 2) / np.log(10) - m)
        below = norm.cdf(min(-z, high)) - norm.cdf(min(-z, low))
        low, high = ((m - 2) * np.log(10) - m, (m + 2) * np.log(10) - m)
        return below + norm.sf(max(z, low)) - norm.sf(max(z, high))

    assert 1e-4 < max(map(exactly, np.linspace(0.1, 30, 3000))) <= BASE
    assert max(map(exactly, np.linspace(10, 30, 200))) < 1e-4
    assert exactly(9.2 / 0.8) < 1e-7  # IgG


def test_nothing_is_far_before_there_are_ten_outcomes():
    explorer, (new, *_) = trial(LOGS[:9])
    assert asked(explorer, new, 9500.0) == ""
    explorer.tell(new, [9.0])
    assert asked(explorer, explorer.ask(), 9500.0) != ""


def test_an_arm_that_differs_from_the_others_is_asked_about_once():
    explorer = pt.Explorer(["placebo", "low", "high"], ["IgG"], author="")
    rng = np.random.default_rng(1)
    placed = explorer.ask(30)
    treated = [a for a in placed if a.arm != "placebo"]
    first, second, *_ = (a for a in placed if a.arm == "placebo")
    for allocation in treated:
        explorer.tell(allocation, [rng.normal(9, 0.3)])
    assert "far outside" in asked(explorer, first, 2.0)
    explorer.tell(first, [2.0])
    assert asked(explorer, second, 2.5) == ""
    assert "far outside" in asked(explorer, second, 20.0)


def test_equal_rows_are_asked_about_if_they_have_six_digits_between_them():
    explorer = pt.Explorer(["A", "B"], ["IgG", "T cell"], author="")
    first, second, third = explorer.ask(3)
    explorer.tell(first, [9.137, 3.412])
    (question,) = explorer.plausible(second, [9.137, 3.412])
    assert question == "2 has exactly the numbers of 1: was a row entered twice?"
    assert explorer.plausible(second, [9.137, 3.413]) == ()
    assert explorer.plausible(second, {"IgG": 9.137}) == ()  # four digits
    explorer.tell(second, [9.1, 3.4])
    assert explorer.plausible(third, [9.1, 3.4]) == ()
    rows = [(second.id + 1, [7.125, 1.0625]), (explorer.ask(), [7.125, 1.0625])]
    assert [len(words) for words in explorer.plausible_many(rows)] == [0, 1]


def test_a_subject_told_twice_stays_refused_and_has_no_question():
    explorer, _ = trial()
    with pytest.raises(ValueError, match="was told before"):
        explorer.tell(1, [9500.0])
    assert explorer.plausible_many([(1, [9500.0]), (99, [1.0])]) == [(), ()]


def test_bounded_outcomes_further_apart_than_their_range_are_asked_back():
    explorer, (new, other, *_) = trial([0.2], outcomes="bounded", scale=0.5)
    assert asked(explorer, new, 1.2) == ""
    assert "further than 1 from another outcome of IgG" in asked(explorer, new, 1.3)
    assert "further than 1" in asked(explorer, other, -0.9)


def test_binary_outcomes_are_refused_and_never_asked_about():
    explorer, (new, *_) = trial([0.0] * 12, outcomes="binary", scale=0.5)
    assert asked(explorer, new, 1.0) == ""
    with pytest.raises(ValueError, match="must be 0 or 1"):
        explorer.tell(new, [2.0])


def test_the_first_event_of_a_binary_endpoint_among_others_is_not_asked_about():
    kinds = {"IgG": "gaussian", "fever": "binary"}
    explorer = pt.Explorer(["A", "B"], ["IgG", "fever"], outcomes=kinds, author="")
    *placed, new = explorer.ask(13)
    for allocation, x in zip(placed, [*LOGS, 9.1, 8.9], strict=True):
        explorer.tell(allocation, [x, 0.0])
    assert explorer.plausible(new, [9.0, 1.0]) == ()
    (question,) = explorer.plausible(new, [9000.0, 1.0])
    assert "IgG=9000" in question


def test_constant_outcomes_say_nothing_of_another_value():
    explorer, (new, *_) = trial([5.0] * 12)
    assert asked(explorer, new, 7.0) == ""


def test_asking_records_nothing_and_a_note_is_kept_and_verified():
    explorer, (new, *_) = trial()
    head = explorer.head
    assert explorer.plausible("A", [9500.0], id="walk-in", unplanned=True) != ()
    asked(explorer, new, 9500.0)
    assert explorer.head == head
    explorer.tell(new, [9500.0], note="measured twice")
    assert json.loads(list(explorer.rows())[-1][4])["note"] == "measured twice"
    explorer.verify()
    with pytest.raises(ValueError, match="must be a sentence"):
        explorer.tell(explorer.ask(), [9.0], note=" ")


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Call `paretoid trial`; returns (exit code, stdout, stderr) or the refusal."""
    monkeypatch.chdir(tmp_path)
    with pt.Explorer(["A", "B"], ["IgG"], ledger="t.db", author="") as explorer:
        for allocation, x in zip(explorer.ask(20), LOGS, strict=False):
            explorer.tell(allocation, [x])

    def call(*words, **options):
        result = CliRunner().invoke(app, ["record", "t.db", *map(str, words)], **options)
        if isinstance(result.exception, ValueError):
            return str(result.exception)
        return result.exit_code, result.stdout, result.stderr

    return call


def last():
    """The body of the last event that told an outcome."""
    with pt.Explorer.open("t.db") as explorer:
        return [json.loads(row[4]) for row in explorer.rows() if row[3] == "told"][-1]


def test_the_command_asks_back_and_records_nothing_unless_told_to(command):
    before = last()
    code, _, said = command(11, 9500, input="n\n")
    assert code == 1
    assert "IgG=9500 of 11 lies far outside" in said
    assert "Record it all the same" in said
    assert "nobody is there to confirm" in command(11, 9500)
    assert "pass --yes, and it is recorded with a note" in command(11, 9500, "--json")
    assert last() == before
    assert command(11, 9500, input="y\n")[0] == 0
    assert last()["note"].startswith("asked back: IgG=9500 of 11 lies far outside")
    assert command(12, 9.25)[0] == 0
    assert "note" not in last()
    assert command("walk-in", 12000, "--unplanned", "B", "--yes")[0] == 0
    assert last()["note"].endswith("is the unit right? Confirmed.")


def test_a_file_is_asked_back_row_by_row_and_recorded_whole_or_not_at_all(command):
    Path("week.csv").write_text("id,IgG\n11,9.137251\n12,8800\n13,9.137251\n")
    before = last()
    code, _, said = command("--csv", "week.csv", input="n\n")
    assert code == 1
    assert "IgG=8800 of 12 lies far outside" in said
    assert "13 has exactly the numbers of 11" in said
    assert last() == before
    assert command("--csv", "week.csv", "--yes")[0] == 0
    with pt.Explorer.open("t.db") as explorer:
        told = [json.loads(row[4]) for row in explorer.rows() if row[3] == "told"][-3:]
        explorer.verify()
    assert [("note" in body) for body in told] == [False, True, True]
