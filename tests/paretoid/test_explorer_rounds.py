"""Rules in a live trial: rounds over batches, lost and late outcomes, settled arms, old ledgers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import paretoid as pt
from paretoid.explorer import Design, LedgerError, session
from paretoid.explorer.ledger import FORMAT
from paretoid.explorer.state import TrialState

ARMS = list("ABCDE")
MEANS = {"A": [3.0, 0.0], "B": [0.0, 3.0], "C": [2.0, 2.0], "D": [-4.0, -5.0], "E": [-5.0, -4.0]}
ELIMINATION, TURNS = pt.UniformElimination(), pt.RoundRobin()


def trial(rule, goal=None, **options):
    settings = {"scale": 1.0, "rule": rule, **options}
    if not isinstance(rule, pt.LUCB):  # two-sided bounds are finite from the first outcome on
        settings.setdefault("radius", pt.Mixture(sides="two"))
    return pt.Explorer(ARMS, ["x", "y"], goal or [pt.AtMost(1), pt.ParetoSet()], **settings)


def tell(explorer, allocations):
    for a in allocations:
        explorer.tell(a, MEANS[a.arm])


def kinds(explorer):
    return [row[3] for row in explorer.rows()]


def until(explorer, kind):
    while kind not in kinds(explorer):
        tell(explorer, [explorer.ask()])


# -- rounds over batches ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [TURNS, ELIMINATION], ids=repr)
@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_rounds_go_on_from_batch_to_batch(rule, n):
    explorer = trial(rule)
    asked = [a.arm for _ in range(10) for a in explorer.ask(n)]
    rounds = len(asked) // 5
    counts = Counter(asked)
    assert min(counts.values()) >= rounds
    assert max(counts.values()) <= rounds + 1


@pytest.mark.parametrize("rule", [TURNS, ELIMINATION, pt.APE(pull="both")], ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("lead", [0, 1])
def test_batches_out_of_step_with_the_rounds_come_to_an_answer(rule, n, lead):
    """However batches fall on rounds, a test comes with every batch that completes one."""
    explorer = trial(rule)
    size = n
    for _ in range(lead):
        tell(explorer, [explorer.ask()])
    for _ in range(400):
        if all(explorer.answers.values()):
            break
        batch = explorer.ask(size)
        explorer.tell_many([(a.id, MEANS[a.arm]) for a in batch])
    assert explorer.answers["ParetoSet(eps1=0)"] == ("A", "B", "C")


def test_a_pair_out_of_step_is_tested_too():
    """Six singles, then pairs: every batch ends with the first arm of a pair."""
    explorer = pt.Explorer(ARMS, ["x"], pt.AtMost(1), scale=1.0, rule=pt.APE(pull="both"))
    for _ in range(6):
        a = explorer.ask()
        explorer.tell(a, [float(ord(a.arm))])
    for _ in range(100):
        if explorer.answer is not None:
            break
        explorer.tell_many([(a.id, [float(ord(a.arm))]) for a in explorer.ask(2)])
    assert explorer.answer == ("E",)


def test_a_round_is_tested_when_all_of_it_has_come():
    alone = trial(ELIMINATION)
    until(alone, "settled")
    rounds = alone.status().samples // 5
    explorer = trial(ELIMINATION)
    tell(explorer, explorer.ask(5 * (rounds - 1)))
    batch = explorer.ask(5)
    tell(explorer, batch[:4])
    assert explorer.status().samples == 5 * rounds - 1
    assert "settled" not in kinds(explorer)
    tell(explorer, batch[4:])
    assert kinds(explorer)[-1] == "settled"


def test_a_subject_who_leaves_or_is_overridden_is_made_up_for_in_the_round():
    explorer = trial(TURNS)
    explorer.tell(explorer.ask(), "missing")
    assert explorer.ask().arm == "A"  # again
    explorer.override(2, "E", reason="allergy")
    assert [explorer.ask().arm for _ in range(5)] == ["A", "B", "C", "D", "E"]
    explorer.tell(8, "missing")  # the last of the round: the round is open again
    assert explorer.ask().arm == "E"
    explorer.tell(3, "missing")  # overridden to by hand: nobody asked for it
    explorer.tell("D", {"x": 1.0}, unplanned=True)
    assert explorer.ask().arm == "A"


def test_a_pair_is_made_up_for_until_the_next_is_begun():
    explorer = pt.Explorer(["A", "B"], ["x"], scale=1.0, rule=pt.LUCB())
    for _ in range(2):
        a = explorer.ask()
        explorer.tell(a, [float(a.arm == "B")])
    first, second = explorer.ask(), explorer.ask()
    assert (first.arm, second.arm) == ("B", "A")  # the best, and its rival
    explorer.tell(first, "missing")
    third = explorer.ask()
    assert third.arm == "B"
    explorer.ask()
    explorer.tell(third, "missing")  # weeks later
    assert explorer._current().queue == [0]  # the rest of the open pair alone


# -- settled arms ----------------------------------------------------------------------------------


def test_dropped_and_accepted_arms_are_recorded_and_not_asked_for_again(tmp_path):
    path = tmp_path / "trial.db"
    with trial(ELIMINATION, ledger=path) as explorer:
        until(explorer, "settled")
        body = json.loads(next(row[4] for row in explorer.rows() if row[3] == "settled"))
        assert body["dropped"].keys() == {"D", "E"}
        assert set(body["dropped"].values()) <= {"A", "B", "C"}
        assert explorer.status().dominated == body["dropped"]
        assert {a.arm for a in explorer.ask(9)} == {"A", "B", "C"}
    with pt.Explorer.open(path) as again:
        assert again.design.rule == ELIMINATION
        assert again.status().dominated == body["dropped"]
        assert {a.arm for a in again.ask(6)} == {"A", "B", "C"}
        again.verify()


def test_two_arms_settled_at_once_answer_each_goal_and_can_be_verified():
    goals = [pt.AtMost(1), pt.ParetoSet()]
    explorer = pt.Explorer(["A", "B"], ["x", "y"], goals, scale=1.0, rule=ELIMINATION)
    while not all(explorer.answers.values()):
        a = explorer.ask()
        explorer.tell(a, [3.0, 0.0] if a.arm == "A" else [0.0, 3.0])
    assert list(explorer.answers.values()) == [("A",), ("A", "B")]  # equal: the lowest index
    assert kinds(explorer)[-3:] == ["stopped", "stopped", "settled"]
    explorer.verify()


def test_arms_settled_while_their_round_is_open_leave_it():
    explorer = trial(ELIMINATION)
    tell(explorer, explorer.ask(20))
    late = explorer.ask(5)
    begun = explorer.ask()  # the next round begins before the outcomes of the last
    assert begun.arm == "A"
    assert [ARMS[i] for i in explorer._current().queue] == ["B", "C", "D", "E"]
    for a in late:
        explorer.tell(a, 4 * np.array(MEANS[a.arm]))  # far enough apart
    assert set(explorer.status().dominated) == {"D", "E"}
    assert [explorer.ask().arm for _ in range(3)] == ["B", "C", "A"]


def test_a_correction_judges_all_arms_anew_on_the_corrected_outcomes():
    """D was dropped for typing errors; corrected, it is the best."""
    explorer = trial(ELIMINATION, goal=pt.ParetoSet())
    told = []
    while "settled" not in kinds(explorer):
        told.append(explorer.ask())
        tell(explorer, told[-1:])
    assert "D" in explorer.status().dominated
    for a in told:
        if a.arm == "D":
            explorer.correct(a, [9.0, 9.0], reason="sign")
    assert "D" not in explorer.status().dominated
    truth = {**MEANS, "D": [9.0, 9.0]}
    while explorer.answer is None:
        a = explorer.ask()
        explorer.tell(a, truth[a.arm])
    assert explorer.answer == ("D",)
    explorer.verify()


def test_verify_finds_a_verdict_that_the_outcomes_do_not_give(tmp_path):
    path = tmp_path / "trial.db"
    with trial(ELIMINATION, ledger=path) as explorer:
        tell(explorer, explorer.ask(10))
        with explorer._ledger.transaction():
            body = {"accepted": [], "dropped": {"A": "D"}}
            explorer._ledger.append("settled", body, time="noon", author="bob")
        explorer._ledger.verify()  # the chain is sound
        with pytest.raises(LedgerError, match=r"\(settled\) is not what the outcomes"):
            explorer.verify()


@pytest.mark.parametrize(
    "body",
    [
        {"accepted": ["A", "A"], "dropped": {}, "twice": True},
        {"accepted": ["Z"], "dropped": {}},
        {"accepted": [], "dropped": {"A": "Z"}},
        {"dropped": {}},
    ],
)
def test_a_verdict_that_makes_no_sense_is_refused(tmp_path, body):
    path = tmp_path / "trial.db"
    with trial(ELIMINATION, ledger=path) as explorer, explorer._ledger.transaction():
        if body.pop("twice", False):
            body["accepted"] = ["A"]
            explorer._ledger.append("settled", body, time="noon", author="bob")
        explorer._ledger.append("settled", body, time="noon", author="bob")
    with pytest.raises(LedgerError, match=r"\(settled\) does not fit"):
        pt.Explorer.open(path)


def test_the_state_of_every_rule_survives_a_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SNAPSHOT", 20)
    seen = set()
    for rule in (ELIMINATION, TURNS, pt.APE(pull="both")):
        path = tmp_path / f"{type(rule).__name__}.db"
        with trial(rule, ledger=path) as explorer:
            for _ in range(8):
                tell(explorer, explorer.ask(7))
            explorer.override(explorer.ask(), "B", reason="allergy")
            explorer.tell("C", [None, "missing"], id="walk-in", unplanned=True)
            assert explorer._ledger.snapshot() is not None
            live = explorer._current()
            state = live.to_bytes()
            copy = vars(TrialState.from_bytes(state))
            for name, value in vars(live).items():  # all of it, not only what it writes
                if name != "design":
                    assert repr(copy[name]) == repr(value)  # NaN differs from itself
            seen |= {"queue" * bool(live.queue), "ends" * bool(live.ends), *live.standing.dropped}
        with pt.Explorer.open(path) as again:
            assert again._current().to_bytes() == state == again.replay().to_bytes()
    assert {"queue", "ends", 3, 4} <= seen


# -- status ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [TURNS, ELIMINATION], ids=repr)
def test_expected_samples_are_those_of_the_rule(rule):
    """Outcomes that fall on their means: the estimate differs by its steps of 5%, and a round."""
    explorer = pt.Explorer(list("ABC"), ["x", "y"], scale=1.0, rule=rule)
    means = {"A": [1.0, 0.0], "B": [0.0, 1.0], "C": [-0.4, -0.4]}
    for _ in range(30):
        a = explorer.ask()
        explorer.tell(a, means[a.arm])
    said, more = explorer.status().expected["ParetoSet(eps1=0)"], 0
    while explorer.answer is None:
        a = explorer.ask()
        explorer.tell(a, means[a.arm])
        more += 1
    assert said == pytest.approx(more, rel=0.15)
    assert more > 200


def test_bounds_on_single_arms_show_as_intervals_of_differences():
    """By hand: C = 2 log(K/delta), l = log((n + 30)/30), v = (n + 30)/n^2 at n = 4."""
    explorer = pt.Explorer(["A", "B"], ["x"], scale=2.0, rule=pt.LUCB(), delta=0.1)
    for _ in range(8):
        a = explorer.ask()
        explorer.tell(a, [1.0 if a.arm == "A" else 0.5])
    status = explorer.status()
    half = 2.0 * np.sqrt((2 * np.log(2 / 0.1) + np.log(34 / 30)) * 34 / 16)
    assert status.upper[0, 1, 0] == pytest.approx(0.5 + 2 * half)
    assert status.lower[1, 0, 0] == pytest.approx(-0.5 - 2 * half)
    assert status.guarantee == "proved"
    plus = pt.Explorer(
        ["A", "B"], ["x"], scale=1.0, rule=pt.UGapEc(), radius=pt.IteratedLogarithm()
    )
    assert plus.status().guarantee == "heuristic"


# -- designs and ledgers ---------------------------------------------------------------------------


def test_a_design_keeps_its_rule():
    for rule in (pt.APE(pull="both"), ELIMINATION, TURNS):
        design = Design(ARMS, ["x"], scale=1.0, rule=rule)
        assert Design.from_dict(json.loads(json.dumps(design.to_dict()))).rule == rule
    for rule in (pt.LUCB(), pt.LUCBpp(), pt.UGapEc()):
        for radius in (None, pt.ArmMixture(rho=7.0), pt.IteratedLogarithm()):
            design = Design(ARMS, ["x"], scale=1.0, rule=rule, radius=radius)
            again = Design.from_dict(json.loads(json.dumps(design.to_dict())))
            assert (again.rule, again.radius) == (rule, radius or pt.ArmMixture())
    plain = {"arms": ARMS, "objectives": ["x"], "rule": {"pull": "both"}}  # as in format 1
    assert Design.from_dict(plain).rule == pt.APE(pull="both")
    for rule, words in [
        ({"kind": "Ape"}, "kind='Ape' must be one of 'APE'"),
        ({"kind": "RoundRobin", "pull": "both"}, "no argument 'pull'"),
        ({"pul": "both"}, "did you mean 'pull'"),
        ("APE", "must be a table with a kind"),
    ]:
        with pytest.raises(ValueError, match=words):
            Design.from_dict({**plain, "rule": rule})


def test_a_ledger_of_the_first_format_opens_verifies_and_goes_on(tmp_path):
    """Written before rounds and settled arms: APE(pull="both"), an answer, a pair half asked."""
    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).with_name("ledger_format_1.db"), path)
    head = "168bbe43ac451c2fb88641d7e4868bf18b7c1241d620fb4bdfac9e4a3c0fed2e"
    with pt.Explorer.open(path) as explorer:
        assert explorer.verify(head=head) == head
        assert list(explorer.answers.values()) == [("A",), None]
        assert explorer.stopping_times["AtMost(k=1, eps1=0)"] == 55
        assert explorer.design.rule == pt.APE(pull="both")
        assert explorer._ledger._execute("PRAGMA user_version").fetchone() == (1,)  # only read
        assert explorer.ask().arm == "A"  # the second of the pair
        assert explorer._ledger._execute("PRAGMA user_version").fetchone() == (FORMAT,)
        rng, means = np.random.default_rng(0), {"A": [3, 0], "B": [1, 1], "C": [0, 3]}
        for w in explorer.status().waiting:
            told = dict(zip(w.objectives, means[w.arm][2 - len(w.objectives) :], strict=True))
            explorer.tell(w.id, {name: float(x) for name, x in told.items()})
        while explorer.answers["ParetoSet(eps1=0)"] is None:
            a = explorer.ask()
            explorer.tell(a, means[a.arm] + 0.7 * rng.normal(size=2))
        assert explorer.answers["ParetoSet(eps1=0)"] == ("A",)
        explorer.verify(head=head)


def test_a_ledger_that_could_not_be_written_stays_of_its_format(tmp_path):
    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).with_name("ledger_format_1.db"), path)
    with pt.Explorer.open(path) as explorer:

        def fail():
            with explorer._writing():
                explorer._record("asked", {"first": 61, "arms": ["A"], "rest": [], "ended": True})
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert explorer._ledger._execute("PRAGMA user_version").fetchone() == (1,)


def test_opening_an_old_ledger_to_read_leaves_it_to_older_software(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_SNAPSHOT", 1)
    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).with_name("ledger_format_1.db"), path)
    before = path.read_bytes()
    for _ in range(2):
        with pt.Explorer.open(path) as explorer:
            explorer.status()
    assert path.read_bytes() == before
    with pt.Explorer.open(path) as first, pt.Explorer.open(path) as second:
        second.ask()
        second._ledger._execute(
            f"PRAGMA user_version={FORMAT + 1}"
        )  # somebody newer came in between
        with pytest.raises(LedgerError, match="newer paretoid"):
            first.ask()
        assert first._ledger._execute("PRAGMA user_version").fetchone() == (FORMAT + 1,)
