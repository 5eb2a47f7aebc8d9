"""Explorer: what it proposes, what it uses, what it refuses, what it remembers."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import paretoid as pt
from paretoid.explorer import LedgerError, session
from paretoid.explorer.choice import Moment, choose, expected_samples
from paretoid.explorer.design import Design
from paretoid.explorer.ledger import FORMAT, Ledger
from paretoid.explorer.session import lens_of
from paretoid.view import Samples, Standing

ROOT = Path(pt.__file__).parents[1]
ARMS, OBJECTIVES = ["A", "B", "C"], ["gain", "harm"]


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def explorer(**options):
    settings = {"scale": 1.0, "minimize": ["harm"], "author": "ann", "clock": clock}
    if options.get("scale", 1.0) is not None:  # two-sided bounds: finite from one outcome on
        settings["radius"] = pt.Mixture(sides="two")
    return pt.Explorer(ARMS, OBJECTIVES, **{**settings, **options})


def fill(trial, rng, rounds, noise=1.0):
    """Ask and tell, in order; A is best in both objectives."""
    means = {"A": [3.0, 0.0], "B": [1.0, 1.0], "C": [0.0, 3.0]}
    for _ in range(rounds):
        a = trial.ask()
        trial.tell(a, np.array(means[a.arm]) + noise * rng.normal(size=2))


# -- what is used ------------------------------------------------------------------------------


def test_the_first_proposals_go_round_the_arms():
    trial = explorer()
    assert [trial.ask().arm for _ in range(4)] == ["A", "B", "C", "A"]


def test_an_outcome_beyond_a_gap_waits_for_it():
    trial = explorer()
    first, second, third = trial.ask(3)
    trial.tell(second, [1.0, 2.0])
    trial.tell(third, [3.0, 4.0])
    status = trial.status()
    assert status.counts.sum() == 0
    assert status.held == {"gain": (2, first.id), "harm": (2, first.id)}
    assert [(w.id, w.objectives) for w in status.waiting] == [(first.id, ("gain", "harm"))]
    trial.tell(first, {"harm": 5.0})  # one endpoint weeks before the other
    status = trial.status()
    assert status.counts.sum(axis=0).tolist() == [0, 3]
    assert status.held == {"gain": (2, first.id)}
    trial.tell(first, {"gain": "missing"})
    assert trial.status().counts.sum(axis=0).tolist() == [2, 3]


def test_a_subject_who_leaves_holds_nothing_up():
    trial = explorer()
    batch = trial.ask(3)
    trial.tell(batch[0], "missing")
    trial.tell(batch[1], [1.0, 2.0])
    assert trial.status().counts.sum(axis=0).tolist() == [1, 1]
    with pytest.raises(ValueError, match="nothing is missing"):
        trial.tell(batch[0], "missing")


def test_lost_outcomes_are_made_up_for_in_the_first_rounds():
    trial = explorer()
    trial.tell(trial.ask(), [None, "missing"])  # A has no harm yet, so A is next again
    assert trial.ask().arm == "A"


def test_the_order_of_arrival_changes_nothing():
    """Same outcomes, any order of arrival, any split: the same state, bit for bit."""
    rng = np.random.default_rng(1)
    trial, shuffled = explorer(seed=3), explorer(seed=3)
    values = {a.id: rng.normal(size=2) for a in trial.ask(30)}
    shuffled.ask(30)
    for id, value in values.items():
        trial.tell(id, value)
    for id in rng.permutation(list(values)):
        first = int(rng.integers(2))
        for d in (first, 1 - first):
            shuffled.tell(id, {OBJECTIVES[d]: values[id][d]})
    for name in ("counts", "means", "lower", "upper"):
        np.testing.assert_array_equal(
            getattr(trial.status(), name), getattr(shuffled.status(), name)
        )


def test_intervals_are_in_the_users_direction():
    trial = explorer(scale=[1.0, 2.0])
    fill(trial, np.random.default_rng(0), 60)
    status = trial.status()
    truth = np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    np.testing.assert_allclose(status.means, truth, atol=1.0)  # 4 sd of a mean of 15
    difference = truth[:, None] - truth[None]
    assert (status.lower <= difference).all()
    assert (difference <= status.upper).all()
    np.testing.assert_allclose(
        (status.lower + status.upper) / 2, status.means[:, None] - status.means[None], atol=1e-12
    )  # pairs (K = 3, D = 2): symmetric intervals; rounding of sums


def test_the_scale_is_fixed_once_and_recorded():
    trial = explorer(scale=None, radius=pt.UnknownScale(a=0.5, w=0.5), delta=0.5)
    fill(trial, np.random.default_rng(0), 30)
    kinds = [row[3] for row in trial.rows()]
    assert kinds.count("scaled") == 1
    at = kinds.index("scaled")
    body = json.loads(list(trial.rows())[at][4])
    told = [json.loads(row[4])["outcome"] for row in list(trial.rows())[:at] if row[3] == "told"]
    arms = [name for row in list(trial.rows())[:at] if row[3] == "asked"
            for name in json.loads(row[4])["arms"]]  # fmt: skip
    for name in OBJECTIVES:
        groups = [[t[name] for t, a in zip(told, arms, strict=True) if a == arm] for arm in ARMS]
        ss = sum(((np.array(g) - np.mean(g)) ** 2).sum() for g in groups)
        pooled = np.sqrt(ss / sum(len(g) - 1 for g in groups))
        assert body["divisor"][name] == pytest.approx(pooled, rel=1e-12)  # sums in another order


def test_constant_outcomes_decide_nothing_under_an_unknown_scale():
    trial = explorer(scale=None, radius=pt.UnknownScale(a=0.5, w=0.5), delta=0.5)
    rng = np.random.default_rng(0)
    for _ in range(60):
        a = trial.ask()
        trial.tell(a, [5.0 if a.arm == "A" else rng.normal(), rng.normal()])
    status = trial.status()
    assert "A" in status.undecided
    assert trial.answer is None
    assert "A gave the same gain 20 times" in status.notes[0]
    assert np.isinf(status.upper[0, :, 0]).all()
    assert np.isinf(status.lower[:, 0, 0]).all()


def test_an_endpoint_that_comes_first_can_decide_first():
    """One arm of the Pareto set is certain by one objective alone; the other has no outcome yet."""
    trial = explorer(goal=[pt.AtMost(1), pt.ParetoSet()])
    for _ in range(12):
        a = trial.ask()
        trial.tell(a, {"gain": {"A": 20.0, "B": 1.0, "C": 0.0}[a.arm]})
    assert list(trial.answers.values()) == [("A",), None]
    status = trial.status()
    assert status.optimal == ("A",)
    assert np.isfinite(status.lower[:, :, 0]).all()
    assert np.isinf(status.lower[:, :, 1]).all()
    trial.verify()


# -- batches -------------------------------------------------------------------------------------


def test_a_batch_spreads_over_the_arms_in_question():
    """Two near arms and one far below: one proposal repeated would be one arm twenty times."""
    trial = pt.Explorer(list("ABCD"), ["x"], pt.AtMost(1), scale=1.0, delta=0.1)
    means = {"A": 1.0, "B": 1.05, "C": 1.0, "D": -5.0}
    for _ in range(40):
        a = trial.ask()
        trial.tell(a, [means[a.arm]])
    arms = Counter(a.arm for a in trial.ask(30))
    assert arms["D"] == 0
    assert min(arms["A"], arms["B"], arms["C"]) >= 5


def test_a_batch_is_ape_on_counts_as_if_observed():
    """By hand: telling each proposal its arm's present mean gives the same sequence of arms."""
    design = Design(list("ABCD"), ["x", "y"], pt.ParetoSet(), scale=1.0)
    lens = lens_of(design)
    rng = np.random.default_rng(5)
    counts = np.repeat(rng.integers(5, 30, 4)[:, None], 2, axis=1).astype(float)
    data = Samples(counts, rng.normal(size=(4, 2)) * 0.3, np.zeros((4, 2)))
    moment = Moment(design, lens, data, lens.unit, counts, Standing.begin(4), {}, rng)
    arms = choose(moment, [], 25).arms
    for arm in arms:
        view = lens.view(data, 100)
        b, c = view.b, view.c
        assert arm == (b if data.counts[b, 0] <= data.counts[c, 0] else c)
        grown = data.counts.copy()
        grown[arm] += 1
        data = Samples(grown, data.means, data.ss)
    assert len(set(arms)) > 1


def test_the_order_within_a_batch_depends_on_the_seed_alone():
    batches = [[a.arm for a in explorer(seed=seed).ask(30)] for seed in (1, 1, 2)]
    assert batches[0] == batches[1] != batches[2]
    assert all(Counter(batch) == dict.fromkeys(ARMS, 10) for batch in batches)


def test_with_both_the_second_of_a_pair_comes_next():
    trial = explorer(rule=pt.APE(pull="both"))
    for _ in range(3):
        a = trial.ask()
        trial.tell(a, {"A": [0.3, 0.0], "B": [0.2, 0.0], "C": [-9.0, 9.0]}[a.arm])
    view = trial._view(trial._current())
    first = trial.ask()
    assert first.arm == ARMS[view.b]
    trial.tell(first, [0.0, 0.0])
    assert trial.ask().arm == ARMS[view.c]


# -- answers -------------------------------------------------------------------------------------


def test_several_goals_are_watched_at_once():
    goals = [pt.AtMost(1), pt.ParetoSet(), pt.Cover(eps2=(0.5, 0.2))]
    trial = explorer(goal=goals)
    with pytest.raises(ValueError, match=r"explorer\.answers"):
        _ = trial.answer
    rng = np.random.default_rng(2)
    while any(answer is None for answer in trial.answers.values()):
        fill(trial, rng, 1)
    assert set(trial.answers.values()) == {("A",)}
    assert trial.status().dominated.keys() == {"B", "C"}
    assert trial.status().expected == dict.fromkeys(map(str, goals), 0.0)
    with pytest.raises(ValueError, match="every goal has its answer"):
        trial.ask()
    trial.tell("B", [1.0, 1.0], id="walk-in", unplanned=True)


def test_an_answer_stays_when_a_correction_comes_and_the_status_says_so():
    trial = explorer()
    rng = np.random.default_rng(3)
    while trial.answer is None:
        fill(trial, rng, 1)
    assert trial.answer == ("A",)
    when = trial.stopping_times
    for id in range(1, 10):
        trial.correct(id, {"gain": -50.0}, reason="units")
    assert trial.answer == ("A",)
    assert trial.stopping_times == when
    assert "9 corrections came after the answer" in trial.status().notes[0]
    trial.verify()


def test_a_correction_counts_as_if_told_so_at_first():
    trial, clean = explorer(), explorer()
    rng = np.random.default_rng(4)
    for t in (trial, clean):
        t.ask(12)
    values = rng.normal(size=(12, 2))
    for id in range(1, 13):
        trial.tell(id, values[id - 1] + (id == 5) * 100.0)
        clean.tell(id, values[id - 1])
    trial.correct(5, values[4], reason="decimal point")
    np.testing.assert_array_equal(trial.status().lower, clean.status().lower)
    trial.correct(7, "missing", reason="wrong patient")
    assert trial.status().counts.sum() == 22


def test_an_arm_is_corrected_in_its_place_as_if_recorded_so_at_first(tmp_path):
    """Subject 3 was recorded under A and received C; the others came before and after it."""
    path = tmp_path / "trial.db"
    trial, clean = explorer(ledger=path), explorer()
    values = np.random.default_rng(4).normal(size=(12, 2))
    for at, arm in enumerate("ABABCCABCABC"):
        for t, given in ((trial, arm), (clean, "C" if at == 2 else arm)):
            rest = {2: "missing", 9: None}.get(at, values[at, 1])
            t.tell(given, [values[at, 0], rest], unplanned=True)
    trial.correct_arm(3, "C", reason="kits swapped")
    np.testing.assert_array_equal(trial.replay().awaited(), clean.replay().awaited())
    for field in ("counts", "means", "lower", "upper"):
        np.testing.assert_array_equal(
            getattr(trial.status(), field), getattr(clean.status(), field)
        )
    assert trial.status().held == clean.status().held
    assert [json.loads(row[4]) for row in trial.rows() if row[3] == "arm_corrected"] == [
        {"id": 3, "was": "A", "arm": "C", "reason": "kits swapped"}
    ]
    trial.close()
    with pt.Explorer.open(path) as again:
        assert again.verify() == again.head
        np.testing.assert_array_equal(again.status().lower, clean.status().lower)
        version = again._ledger._execute("PRAGMA user_version").fetchone()
        assert version == (FORMAT,)  # format 3 knows no such event


def test_a_scale_that_no_binary_outcome_can_have_is_refused_and_was_never_proved(tmp_path):
    """At a rate of 1/2 the scale of 0/1 outcomes is 1/2, whatever was stated."""
    path = tmp_path / "trial.db"
    with pytest.raises(ValueError, match=r"only 0\.5 is a sub-Gaussian scale"):
        pt.Explorer(["A", "B"], ["x"], scale=0.1, outcomes="binary", ledger=path)
    assert not path.exists()
    design = Design(["A", "B"], ["x"], scale=0.1, outcomes="binary")
    with Ledger(path, create=True) as ledger, ledger.transaction():  # of an earlier version
        ledger.append("created", {"design": design.to_dict()}, time="noon", author="ann")
    with pt.Explorer.open(path) as older:
        assert older.status().guarantee == "heuristic"
    assert (
        pt.Explorer(["A", "B"], ["x"], scale=0.5, outcomes="binary").status().guarantee == "proved"
    )


def test_what_is_known_keeps_its_place_and_what_is_not_is_overridden():
    trial = explorer()
    known, open_, gone = trial.ask(3)
    other = {"A": "B", "B": "C", "C": "A"}
    trial.tell(known, {"gain": 1.0})
    with pytest.raises(ValueError, match="correct that in its place") as refused:
        trial.override(known, other[known.arm], reason="too late")
    assert "missing" not in str(refused.value)
    with pytest.raises(ValueError, match="trial correct ID --arm"):
        trial.tell(other[known.arm], {"harm": 1.0}, id=known.id)
    with pytest.raises(ValueError, match="can be overridden"):
        trial.correct_arm(open_, other[open_.arm], reason="kits swapped")
    with pytest.raises(ValueError, match="override the allocation before"):
        trial.tell(other[open_.arm], {"harm": 1.0}, id=open_.id)
    trial.withdraw(gone, reason="nobody came")
    with pytest.raises(ValueError, match="was withdrawn"):
        trial.correct_arm(gone, other[gone.arm], reason="kits swapped")
    with pytest.raises(ValueError, match="has the arm"):
        trial.correct_arm(known, known.arm, reason="kits swapped")
    with pytest.raises(ValueError, match="recorded with its why"):
        trial.correct_arm(known, other[known.arm], reason="")
    trial.correct_arm(known, other[known.arm], reason="kits swapped")
    trial.tell(other[known.arm], {"harm": 1.0}, id=known.id)  # the rest of it, under its arm
    assert trial.status().counts[list("ABC").index(other[known.arm])].tolist() == [1, 1]


def test_an_override_moves_the_subject_to_the_end_of_the_order():
    trial = explorer()
    first, second = trial.ask(2)
    new = trial.override(first, "C", reason="allergy")
    assert (new.id, new.arm) == (3, "C")
    trial.tell(second, [1.0, 1.0])
    assert trial.status().counts.sum() == 2  # nothing waits for the void allocation
    with pytest.raises(ValueError, match="now allocation 3"):
        trial.tell(first, [1.0, 1.0])
    with pytest.raises(ValueError, match="its arm stands"):
        trial.override(second, "C", reason="too late")
    trial.tell(new, [0.0, 2.0])
    assert trial.status().counts.tolist() == [
        [int(second.arm == "A")] * 2, [int(second.arm == "B")] * 2,
        [1 + int(second.arm == "C")] * 2,
    ]  # fmt: skip


def test_expected_samples_are_about_right_when_the_estimates_are():
    """Outcomes that fall on their means: the estimate differs by its steps of 5% alone."""
    goal = pt.ParetoSet()
    trial = pt.Explorer(list("ABC"), ["x", "y"], goal, scale=1.0)
    means = {"A": [1.0, 0.0], "B": [0.0, 1.0], "C": [-0.4, -0.4]}
    for _ in range(30):
        a = trial.ask()
        trial.tell(a, means[a.arm])
    said, more = trial.status().expected[str(goal)], 0
    while trial.answer is None:
        a = trial.ask()
        trial.tell(a, means[a.arm])
        more += 1
    assert said == pytest.approx(more, rel=0.1)
    assert more > 200


def test_expected_samples_of_equal_arms_are_infinite_and_unknown_at_first():
    trial = pt.Explorer(list("AB"), ["x"], scale=1.0)
    assert np.isnan(trial.status().expected["ParetoSet(eps1=0)"])
    for _ in range(10):
        trial.tell(trial.ask(), [1.0])
    assert trial.status().expected["ParetoSet(eps1=0)"] == np.inf
    early = replace(trial._moment(trial._current()), unit=None)
    assert np.isnan(expected_samples(early, [0])[0])


# -- bad input: an error in words, an unchanged log ------------------------------------------------

BAD_TELLS = {
    "unknown arm": (("Z", [1.0, 1.0]), {"unplanned": True}, "arm='Z' must be one of"),
    "never asked": ((99, [1.0, 1.0]), {}, "there is no allocation 99; 3 were made"),
    "an arm alone": (("A", [1.0, 1.0]), {}, "whose outcome is it"),
    "too short": ((1, [1.0]), {}, "1 numbers for 2 objectives"),
    "too long": ((1, [1.0, 2.0, 3.0]), {}, "3 numbers for 2 objectives"),
    "NaN": ((1, [float("nan"), 1.0]), {}, "say 'missing' for one that never will"),
    "infinite": ((1, [float("inf"), 1.0]), {}, "must be finite"),
    "text": ((1, ["high", 1.0]), {}, "must be a number or 'missing'"),
    "another word": ((1, "lost"), {}, "must be numbers, or 'missing'"),
    "nothing": ((1, [None, None]), {}, "tell at least one"),
    "unknown objective": ((1, {"gian": 1.0}), {}, "did you mean 'gain'"),
    "told twice": ((2, [1.0, 1.0]), {}, "told before, as 1.0"),
    "id twice": (("A", [1.0, 1.0]), {"id": "walk-in", "unplanned": True}, "is taken"),
    "a number as own id": (("A", [1.0, 1.0]), {"id": 3, "unplanned": True}, "a word of your own"),
    "wrong arm for the id": (("B", [1.0, 1.0]), {"id": 1}, "was given"),
}


@pytest.mark.parametrize(("given", "options", "words"), BAD_TELLS.values(), ids=BAD_TELLS)
def test_bad_outcomes_are_refused_in_words_and_leave_the_log_alone(given, options, words):
    trial = explorer()
    trial.tell("B", [0.0, 0.0], id="walk-in", unplanned=True)
    trial.ask()  # allocation 2, since the walk-in was the first
    trial.tell(2, [1.0, 1.0])
    trial.ask()
    given = (3 if given[0] == 1 else given[0], *given[1:])
    if options.get("id") == 1:
        options = {"id": 3}
        given = ("B" if trial._current().arms[2] != 1 else "A", *given[1:])
    before = trial.head
    with pytest.raises(ValueError, match=words):
        trial.tell(*given, **options)
    assert trial.head == before
    assert trial._current().to_bytes() == trial.replay().to_bytes()


def test_other_bad_calls_are_refused_in_words():
    trial = explorer()
    a = trial.ask()
    before = trial.head
    for call, words in [
        (lambda: trial.ask(0), "n=0 must be an integer in 1..10000"),
        (lambda: trial.tell(a, [1.0, 1.0], id=1), "has its own id"),
        (lambda: trial.tell(a, [1.0, 1.0], unplanned=True), "is not unplanned"),
        (lambda: trial.correct(a, [1.0, 1.0], reason="x"), "not known yet"),
        (lambda: trial.correct(a, [1.0, 1.0], reason=" "), "recorded with its why"),
        (lambda: trial.override(a, "Z", reason="x"), "must be one of"),
        (lambda: trial.tell_many([(1, [1.0]), (7, [1.0, 1.0]), (1, [1.0, None]), (1, "missing")]),
         r"3 of 4 rows are wrong.*\n.*row 1:.*1 num.*\n.*row 2:.*no allocation 7.*\n.*row 4: gain"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()
    assert trial.head == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arms": ["A"]}, "the number of arms=1"),
        ({"arms": ["A", "A"]}, "arms repeats 'A'"),
        ({"arms": "AB"}, "must be a list of names"),
        ({"objectives": []}, "the number of objectives=0"),
        ({"minimize": ["pain"]}, "which is no objective"),
        ({"outcomes": "binary"}, r"scale=0\.5 for 0 or 1, and radius=Mixture"),
        ({"outcomes": "bounded"}, r"\(high - low\)/2"),
        ({"outcomes": "binary", "scale": 0.5, "radius": pt.UnknownScale()}, "Gaussian outcomes"),
        ({"outcomes": "counts"}, "must be one of"),
        ({"radius": pt.Mixture()}, "needs the scale of each objective"),
        ({"radius": pt.UnknownScale(), "scale": 1.0}, "would ignore the one given"),
        ({"radius": "Mixture"}, "must be one of"),
        ({"delta": 1.5}, "must lie strictly between 0 and 1"),
        ({"goal": [pt.ParetoSet(0.1), pt.AtMost(1)]}, "differ in eps1"),
        ({"goal": pt.AtMost(5)}, "k=5"),
        ({"rule": "APE"}, "must be a sampling rule"),
        ({"rule": pt.LUCB(), "scale": 1.0}, "has 2 objectives"),
        ({"rule": pt.UGapEc(), "objectives": ["x"]}, "none of those is proved for an unknown"),
        ({"rule": pt.RoundRobin(), "scale": 1.0, "radius": pt.LUCB1Like()}, "widens with the"),
        ({"rule": pt.UniformElimination(), "goal": pt.Cover(eps2=0.1)}, "cannot stop for Cover"),
        ({"radius": pt.ArmMixture(), "scale": 1.0}, "or your own subclass of PairwiseRadius"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_designs_are_refused_in_words_and_make_no_file(options, words, tmp_path):
    path = tmp_path / "trial.db"
    with pytest.raises(ValueError, match=words):
        pt.Explorer(**{"arms": ["A", "B"], "objectives": ["x", "y"], "ledger": path, **options})
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"arms": 5}, "arms=5 must be a list of names"),
        ({"arms": {"a": 1, "b": 2}}, "must be a list of names"),
        ({"arms": ["a", ""]}, "none of them empty"),
        ({"objectives": 3}, "objectives=3 must be a list of names"),
        ({"objectives": ["x", " "]}, "none of them empty"),
        ({"minimize": 3}, "minimize=3 must be a list of objectives"),
        ({"minimize": {"x": 1}}, "must be a list of objectives"),
        ({"objectives": ["x", "id"]}, "no objective can be named 'id'"),
        ({"objectives": ["arm"]}, "no objective can be named 'arm'"),
        ({"objectives": ["how"]}, "no objective can be named 'how'"),
    ],
)
def test_a_design_of_other_things_than_names_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Design.from_dict({"arms": ["a", "b"], "objectives": ["x"], **change})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(10**400, "must be finite"), ("1_0", "must be a number")],
    ids=["huge", "underscore"],
)
def test_numbers_that_only_python_reads_are_refused(value, sentence):
    trial = explorer()
    with pytest.raises(ValueError, match=sentence):
        trial.tell(trial.ask(), [value, 1.0])


def test_binary_outcomes_are_noticed_within_a_batch_once():
    trial = pt.Explorer(["A", "B"], ["x", "y"])
    rows = [(a, [float(at % 2), 0.1 * at]) for at, a in enumerate(trial.ask(30))]
    with pytest.raises(ValueError, match=r"1 of 30 rows.*\n  row 10: .* of x are all 0 or 1"):
        trial.tell_many(rows)
    assert trial.status().samples == 0
    trial.tell_many(rows[:9])
    with pytest.raises(ValueError, match=r"1 of 21 rows.*\n  row 1: "):
        trial.tell_many(rows[9:])
    trial.tell_many([(rows[9][0], [0.5, 0.5]), *rows[10:]])  # not all of the first are 0 or 1
    assert trial.status().samples == 30


def test_a_corrected_binary_outcome_counts_once():
    trial = pt.Explorer(["A", "B"], ["x"])
    made = trial.ask(10)
    for a in made[:9]:
        trial.tell(a, [1.0])
    for value in (0.0, 1.0, "missing", 0.0):
        trial.correct(made[0], {"x": value}, reason="misread")
    with pytest.raises(ValueError, match="all 0 or 1"):
        trial.tell(made[9], [1.0])
    trial.correct(made[0], "missing", reason="of another patient")
    trial.tell(made[9], [1.0])  # the ninth that is known
    trial.correct(made[1], [0.5], reason="misread")
    trial.tell(trial.ask(), [1.0])


def test_binary_outcomes_under_an_unknown_scale_are_noticed():
    trial = pt.Explorer(["A", "B"], ["x"])
    for at in range(9):
        trial.tell(trial.ask(), [at % 2])
    with pytest.raises(ValueError, match="outcomes='binary' and scale"):
        trial.tell(trial.ask(), [1])
    trial.tell(10, [0.5])
    binary = pt.Explorer(["A", "B"], ["x"], outcomes="binary", scale=0.5)
    with pytest.raises(ValueError, match="must be 0 or 1"):
        binary.tell(binary.ask(), [0.5])


# -- the ledger ------------------------------------------------------------------------------------


def test_saving_and_opening_goes_on_where_it_was(tmp_path):
    rng, path = np.random.default_rng(6), tmp_path / "trial.db"
    trial = explorer(scale=None)
    fill(trial, rng, 40)
    trial.ask(5)
    head = trial.head
    trial.save(path)
    with trial, pt.Explorer.open(path, clock=clock, author="ann") as again:
        assert again.head == head
        assert again.design.to_dict() == trial.design.to_dict()
        assert again.verify(head=head) == head
        a = again.ask()
        assert trial.head == again.head  # the same file now
        trial.tell(a, [1.0, 1.0])
        assert again.status().waiting == trial.status().waiting
    with pytest.raises(ValueError, match="never overwritten"):
        explorer(ledger=path)


def test_the_same_calls_give_the_same_hashes():
    def run():
        trial = explorer()
        fill(trial, np.random.default_rng(7), 10)
        return trial.head

    assert run() == run()


def test_every_event_has_time_and_author():
    trial = explorer()
    trial.ask()
    assert {(row[1], row[2]) for row in trial.rows()} == {("2026-01-01T00:00:00+00:00", "ann")}


def test_a_snapshot_opens_to_the_same_state_as_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SNAPSHOT", 20)
    path = tmp_path / "trial.db"
    with explorer(ledger=path, scale=None) as trial:
        fill(trial, np.random.default_rng(8), 60)
        trial.correct(3, {"gain": 1.0}, reason="typing error")
        trial.override(trial.ask(), "C", reason="allergy")
        trial.tell("B", [None, 2.5], id="walk-in", unplanned=True)
        assert trial._ledger.snapshot()[0] > 60
        state = trial._current().to_bytes()
    with pt.Explorer.open(path) as again:
        assert again._current().to_bytes() == state == again.replay().to_bytes()
        again.verify()


def forge_snapshot(path, state):
    """Put a snapshot into a ledger as anybody with SQLite can, digest and all."""
    blob = state.to_bytes()
    row = (state.seq, state.hash, hashlib.sha256(blob).hexdigest(), blob)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM snapshots")
        connection.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", row)


def test_a_forged_snapshot_is_believed_by_no_command(tmp_path):
    """Sums that make C win, with a digest that fits: the answer still comes from the log."""
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        fill(trial, np.random.default_rng(9), 15)
        truth, forged = trial.status(), trial.replay()
        waiting = trial.ask()
    for d in range(2):
        forged.sums[d][2] += 1e6 * forged.design.sign[d]
    forge_snapshot(path, forged)
    with pt.Explorer.open(path) as again:
        np.testing.assert_array_equal(again.status().means, truth.means)
        again.tell(waiting, [0.0, 0.0])
        assert set(again.answers.values()) == {None}
        with pytest.raises(LedgerError, match="snapshot at event"):
            again.verify()


def test_a_snapshot_vouched_for_by_the_log_may_lack_any_field(tmp_path):
    """The log says that it was written; what cannot be read in it is rebuilt."""
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        fill(trial, np.random.default_rng(9), 15)
        truth, state = trial.status(), trial._current()
        line, _, columns = state.to_bytes().partition(b"\n")
        whole = json.loads(line)
        for field in whole:
            rest = {name: value for name, value in whole.items() if name != field}
            blob = json.dumps(rest).encode() + b"\n" + columns
            state = trial._current()
            event = trial._ledger.keep_snapshot(
                state.seq, state.hash, blob, time="noon", author="ann"
            )
            state.apply(event)
            with pt.Explorer.open(path) as again:
                np.testing.assert_array_equal(again.status().means, truth.means)


@pytest.mark.parametrize(
    ("kind", "body"),
    [("stopped", {"answer": ["A"], "samples": 3}), ("stopped", {}), ("asked", {}), ("told", {}),
     ("scaled", {}), ("settled", {}), ("corrected", {}), ("arm_corrected", {}),
     ("arm_corrected", {"id": 1, "was": "B", "arm": "B"}), ("overridden", {}), ("kept", {})],
)  # fmt: skip
def test_an_event_without_its_fields_is_a_sentence(tmp_path, kind, body):
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        fill(trial, np.random.default_rng(9), 5)
        with trial._ledger.transaction():
            trial._ledger.append(kind, body, time="noon", author="eve")
        with pytest.raises(LedgerError, match=r"event \d+ \("):
            trial.verify()
    with pytest.raises(LedgerError, match=rf"event \d+ \({kind}\)"):
        pt.Explorer.open(path)


@pytest.mark.parametrize("body", [{}, {"design": None}, {"design": {"arms": 3}}, {"design": []}])
def test_a_log_without_a_design_is_a_sentence(tmp_path, body):
    path = tmp_path / "trial.db"
    with Ledger(path, create=True) as ledger, ledger.transaction():
        ledger.append("created", body, time="noon", author="eve")
    with pytest.raises(LedgerError, match=r"event 1 \(created\) holds no design"):
        pt.Explorer.open(path)


def test_a_changed_snapshot_is_found_by_verify_and_an_unsound_one_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SNAPSHOT", 20)
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        fill(trial, np.random.default_rng(9), 15)
        _, _, state = trial._ledger.snapshot()
        truth = trial.status()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE snapshots SET state = ?", (state[:-1] + b"\x01",))
    with pt.Explorer.open(path) as again:  # its digest does not fit: replayed from the log
        np.testing.assert_array_equal(again.status().lower, truth.lower)
        changed = again._current()
        changed.sums[0][0] += 1.0
        forge_snapshot(path, changed)
    with pt.Explorer.open(path) as forged, pytest.raises(LedgerError, match="snapshot at event"):
        forged.verify()


def test_a_snapshot_with_another_design_is_found_by_verify_and_not_used(tmp_path):
    path = tmp_path / "trial.db"
    with explorer(ledger=path, delta=0.01) as trial:
        fill(trial, np.random.default_rng(9), 15)
        truth = trial.status()
        state = trial._current()
        state.design.delta = 0.9
        forge_snapshot(path, state)
        with pytest.raises(LedgerError, match=r"event 1 .* not the one the trial was created with"):
            trial.verify()
    with pt.Explorer.open(path) as again:
        assert again.design.delta == 0.01
        np.testing.assert_array_equal(again.status().lower, truth.lower)
        with pytest.raises(LedgerError, match="snapshot at event"):
            again.verify()


def test_verify_lets_others_write_meanwhile(tmp_path, monkeypatch):
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial, pt.Explorer.open(path) as other:
        made = trial.ask(5)
        events = trial._ledger.events

        def slow(after=0):
            if made:
                other.tell(made.pop(), [1.0, 2.0])
            return events(after)

        monkeypatch.setattr(trial._ledger, "events", slow)
        trial.verify()
        assert len(made) < 5
        assert trial.status().head == other.head


@pytest.mark.parametrize("head", ["", " ", 7])
def test_a_head_that_is_no_hash_is_refused(head):
    trial = explorer()
    with pytest.raises(ValueError, match=r"head=.* must be the hash"):
        trial.verify(head=head)


def test_verify_finds_an_answer_that_the_outcomes_do_not_give(tmp_path):
    """A log with a sound chain, written by other software, with an answer out of thin air."""
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        fill(trial, np.random.default_rng(10), 5)
        assert trial.answer is None
        with trial._ledger.transaction():
            body = {"goal": "ParetoSet(eps1=0)", "answer": ["C"], "samples": 5}
            trial._ledger.append("stopped", body, time="noon", author="bob")
        trial._ledger.verify()  # the chain is sound
        with pytest.raises(LedgerError, match=r"\(stopped\) is not what the outcomes"):
            trial.verify()


def test_an_event_that_makes_no_sense_is_refused(tmp_path):
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial, trial._ledger.transaction():
        body = {"id": 7, "outcome": {"gain": 1.0}}
        trial._ledger.append("told", body, time="noon", author="bob")
    with pytest.raises(LedgerError, match=r"event 2 \(told\) does not fit"):
        pt.Explorer.open(path)


def test_a_full_disk_is_an_error_and_nothing_acknowledged_is_lost(tmp_path):
    path = tmp_path / "trial.db"
    with explorer(ledger=path) as trial:
        (pages,) = trial._ledger._execute("PRAGMA page_count").fetchone()
        trial._ledger._execute(f"PRAGMA max_page_count={pages + 2}")
        told = []

        def go_on():
            for _ in range(500):
                a = trial.ask()
                trial.tell(a, [float(a.id), 0.0])
                told.append(a.id)

        with pytest.raises(LedgerError, match="disk is full"):
            go_on()
        assert told
        assert trial._current().to_bytes() == trial.replay().to_bytes()
        trial._ledger._execute("PRAGMA max_page_count=100000")
        trial.tell("A", [1.0, 1.0], unplanned=True)
    with pt.Explorer.open(path) as again:
        assert again.verify()
        assert [x for x in again._current().values[0] if x == x][:-1] == [float(i) for i in told]


def test_a_write_that_fails_half_way_leaves_log_and_state_as_they_were(tmp_path, monkeypatch):
    """The told event is written and applied, then the one after it fails."""
    path = tmp_path / "trial.db"
    with explorer(ledger=path, goal=[pt.AtMost(1), pt.ParetoSet()], delta=0.9) as trial:
        fill(trial, np.random.default_rng(11), 2, noise=0.01)
        a = trial.ask()
        before = trial.head
        append = trial._ledger.append

        def failing(kind, body, **rest):
            if kind == "stopped":
                raise OSError("No space left on device")
            return append(kind, body, **rest)

        monkeypatch.setattr(trial._ledger, "append", failing)
        trial.tell(a, [-40.0, 40.0])
        with pytest.raises(OSError, match="No space"):
            fill(trial, np.random.default_rng(0), 100, noise=0.01)
        state = trial._current().to_bytes()
        assert state == trial.replay().to_bytes()
        monkeypatch.undo()
        assert trial.verify(head=before) == trial.head


def test_a_commit_that_fails_leaves_log_and_state_as_they_were(tmp_path, monkeypatch):
    """Everything is written and applied, and then the disk is full."""
    with explorer(ledger=tmp_path / "trial.db") as trial:
        trial.ask(3)
        before = trial.head
        execute = trial._ledger._execute

        def failing(statement, parameters=()):
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return execute(statement, parameters)

        monkeypatch.setattr(trial._ledger, "_execute", failing)
        with pytest.raises(LedgerError, match="nothing of this command was recorded"):
            trial.tell(1, [1.0, 1.0])
        monkeypatch.undo()
        assert trial.head == before
        trial.tell(1, [2.0, 2.0])
        assert trial.status().means[trial._current().arms[0]].tolist() == [2.0, 2.0]
        trial.verify(head=before)


WORKER = """
import sys
import paretoid as pt
with pt.Explorer.open(sys.argv[1], author=sys.argv[2]) as trial:
    for number in range(25):
        batch = trial.ask(2)
        for a in batch:
            print(a.id, flush=True)
            trial.tell(a, [0.1 * number, 1.0])
"""


def test_processes_at_once_never_share_an_allocation(tmp_path):
    path = tmp_path / "trial.db"
    explorer(ledger=path, scale=50.0).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), f"site {number}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for number in range(3)
    ]  # fmt: skip
    ids = []
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert worker.returncode == 0, err
        ids += map(int, out.split())
    assert sorted(ids) == list(range(1, 151))
    with pt.Explorer.open(path) as trial:
        trial.verify()
        assert trial.status().samples == 150
        assert {row[2] for row in trial.rows()} >= {"site 0", "site 1", "site 2"}


def test_many_events_open_in_linear_time(tmp_path):
    """50,000 events: replayed once, then opened from the snapshot, which is a few times faster.

    One is a loop over events, the other a copy of arrays; `paretoid.explorer.session` has the
    figures for a million.
    """
    path = tmp_path / "trial.db"
    explorer(ledger=path, scale=1e6).close()
    with pt.Explorer.open(path) as trial:
        rng = np.random.default_rng(0)
        with trial._ledger.transaction():
            for first in range(1, 25_001, 100):
                arms = [ARMS[i] for i in rng.integers(0, 3, 100)]
                body = {"first": first, "arms": arms, "rest": [], "ended": True}
                trial._ledger.append("asked", body, time="noon", author="ann")
                for id in range(first, first + 100):
                    body = {"id": id, "outcome": {"gain": float(id % 7), "harm": float(id % 5)}}
                    trial._ledger.append("told", body, time="noon", author="ann")
    start = datetime.now(UTC)
    trial = pt.Explorer.open(path)
    replayed = (datetime.now(UTC) - start).total_seconds()
    with trial:
        assert trial._ledger.snapshot() is None  # reading writes nothing
        trial.ask()
        state = trial._current().to_bytes()
    start = datetime.now(UTC)
    with pt.Explorer.open(path) as trial:
        assert trial._current().to_bytes() == state
        assert trial._ledger.snapshot()[0] == trial._current().seq - 1
    opened = (datetime.now(UTC) - start).total_seconds()
    assert replayed < 20  # about 0.5 s on an idle core
    assert opened < replayed
