"""Any order of asking, telling, losing, correcting, overriding, closing and opening."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import paretoid as pt

ARMS, OBJECTIVES = ["A", "B", "C"], ["gain", "harm"]
MEANS = {"A": (1.0, 0.2), "B": (0.3, 0.1), "C": (0.1, 0.9)}
RADII = [
    pt.Mixture(rho=3.0),
    pt.KaufmannKoolen(union="claims"),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5),
    pt.LUCB1Like(),
]
GOALS = [pt.AtMost(1), pt.ParetoSet(), pt.Cover(eps2=0.3)]
RULES = [pt.APE(), pt.APE(pull="both"), pt.RoundRobin(), pt.UniformElimination()]


class Trial(RuleBasedStateMachine):
    """Two processes (two open Explorers) on one file, and the raw events as plain lists."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "trial.db"
        self.explorers = []

    def teardown(self):
        for explorer in self.explorers:
            explorer.close()
        shutil.rmtree(self.folder)

    @initialize(radius=st.sampled_from(RADII), each=st.sampled_from(RULES), seed=st.integers(0, 99))
    def begin(self, radius, each, seed):
        if isinstance(radius, pt.LUCB1Like) and not isinstance(each, pt.APE):
            radius = RADII[0]  # which the other rules refuse
        self.radius = radius
        self.eliminates = isinstance(each, pt.UniformElimination)
        self.goals = [g for g in GOALS if not (self.eliminates and isinstance(g, pt.Cover))]
        self.rng = np.random.default_rng(seed)
        first = pt.Explorer(
            ARMS, OBJECTIVES, self.goals, 0.5, minimize=["harm"], radius=radius, seed=seed,
            scale=0.2 if radius.needs_scale else None, ledger=self.path, author="ann", rule=each,
        )  # fmt: skip
        self.explorers = [first, pt.Explorer.open(self.path, author="bob")]
        self.order = []  # ids in order of allocation
        self.arm = {}
        self.told = {}  # (id, objective) to a number or "missing"
        self.answers = {}
        self.settled = {}  # arm to "accepted" or whoever dominates it, since the last correction

    @property
    def any(self):
        return self.explorers[self.rng.integers(2)]

    def open_ids(self):
        return [i for i in self.order if any((i, name) not in self.told for name in OBJECTIVES)]

    def outcome(self, id):
        return [float(m + 0.2 * self.rng.normal()) for m in MEANS[self.arm[id]]]

    def allocated(self, allocation):
        assert allocation.id not in self.arm  # never handed out twice
        self.order.append(allocation.id)
        self.arm[allocation.id] = allocation.arm

    def finished(self):
        return len(self.answers) == len(self.goals)

    @precondition(lambda self: not self.finished())
    @rule(n=st.integers(1, 12))
    def ask(self, n):
        batch = self.any.ask(n)
        assert len(batch) == n
        assert not {a.arm for a in batch} & self.settled.keys()
        for allocation in batch:
            self.allocated(allocation)

    @precondition(lambda self: not self.finished())
    @rule()
    def ask_and_tell_at_once(self):
        for _ in range(12):
            if any(self.any.answers[str(g)] is None for g in self.goals):
                allocation = self.any.ask()
                self.allocated(allocation)
                values = self.outcome(allocation.id)
                self.any.tell(allocation, values)
                self.put(allocation.id, dict(zip(OBJECTIVES, values, strict=True)))

    def put(self, id, values):
        for name, value in values.items():
            self.told[id, name] = value

    @precondition(lambda self: self.open_ids())
    @rule(data=st.data(), part=st.sampled_from(["all", "gain", "harm", "lost", "gone"]))
    def tell(self, data, part):
        id = data.draw(st.sampled_from(self.open_ids()))
        rest = [name for name in OBJECTIVES if (id, name) not in self.told]
        values = dict(zip(OBJECTIVES, self.outcome(id), strict=True))
        if part == "gone":
            self.any.tell(id, "missing")
            self.put(id, dict.fromkeys(rest, "missing"))
            return
        if part == "lost":
            given = {rest[0]: "missing"}
        else:
            given = {name: values[name] for name in rest if part in ("all", name)}
        if given:
            self.any.tell(self.arm[id], given, id=id)
            self.put(id, given)
        else:
            before = self.any.head
            with pytest.raises(ValueError, match="was told before"):
                self.any.tell(id, {part: 1.0})
            assert self.any.head == before

    @precondition(lambda self: self.open_ids())
    @rule()
    def tell_everything_that_waits(self):
        records = []
        for id in self.rng.permutation(np.array(self.open_ids(), dtype=object)):
            rest = [name for name in OBJECTIVES if (id, name) not in self.told]
            values = dict(zip(OBJECTIVES, self.outcome(id), strict=True))
            records.append((id, {name: values[name] for name in rest}))
        self.any.tell_many(records)
        for id, values in records:
            self.put(id, values)

    @rule(arm=st.sampled_from(ARMS), labelled=st.booleans())
    def unplanned(self, arm, labelled):
        id = f"walk-in {len(self.order)}" if labelled else None
        values = {"gain": float(self.rng.normal())}
        self.any.tell(arm, values, id=id, unplanned=True)
        key = id or len(self.order) + 1
        self.order.append(key)
        self.arm[key] = arm
        self.put(key, values)

    @rule(data=st.data(), arm=st.sampled_from(ARMS))
    def override(self, data, arm):
        untold = [i for i in self.open_ids() if all((i, n) not in self.told for n in OBJECTIVES)]
        if untold:
            id = data.draw(st.sampled_from(untold))
            self.allocated(self.any.override(id, arm, reason="allergy"))
            self.put(id, dict.fromkeys(OBJECTIVES, "missing"))
            with pytest.raises(ValueError, match="was overridden"):
                self.any.tell(id, [1.0, 2.0])
            for name in OBJECTIVES:  # void: not even to be corrected
                self.told[id, name] = "void"

    @rule(data=st.data(), missing=st.booleans())
    def correct(self, data, missing):
        known = [key for key, value in self.told.items() if value != "void"]
        if known:
            id, name = data.draw(st.sampled_from(known))
            value = "missing" if missing else float(self.rng.normal())
            self.settled = {}
            self.any.correct(id, {name: value}, reason="typing error")
            self.told[id, name] = value

    @rule(data=st.data(), arm=st.sampled_from(ARMS))
    def correct_arm(self, data, arm):
        """At its own place in the order, whatever was recorded after it."""
        received = {id for (id, _), value in self.told.items() if value != "void"}
        if received:
            id = data.draw(st.sampled_from(sorted(received, key=str)))
            if arm == self.arm[id]:
                with pytest.raises(ValueError, match="already"):
                    self.any.correct_arm(id, arm, reason="no change")
                return
            self.settled = {}
            self.any.correct_arm(id, arm, reason="kits swapped")
            self.arm[id] = arm

    @rule(which=st.integers(0, 1))
    def close_and_open(self, which):
        self.explorers[which].close()
        self.explorers[which] = pt.Explorer.open(self.path)

    @rule()
    def refuse(self):
        before = self.any.head
        for outcome in ([1.0], [float("nan"), 1.0], "gone", {"gian": 1.0}, [None, None]):
            with pytest.raises(ValueError):
                self.any.tell("A", outcome, unplanned=True)
        with pytest.raises(ValueError, match="there is no allocation"):
            self.any.tell(len(self.order) + 1, [1.0, 1.0])
        assert self.any.head == before

    # -- what must hold at all times -----------------------------------------------------------

    @invariant()
    def state_is_the_replay_of_the_log(self):
        if not self.explorers:
            return
        first, second = self.explorers
        assert first._fresh().to_bytes() == first.replay().to_bytes() == second._fresh().to_bytes()

    @invariant()
    def answers_once_given_stay(self):
        if not self.explorers:
            return
        now = {goal: a for goal, a in self.any.answers.items() if a is not None}
        assert {goal: now[goal] for goal in self.answers} == self.answers
        self.answers = now

    @invariant()
    def arms_once_settled_stay_until_a_correction(self):
        if not self.explorers:
            return
        standing = self.any._fresh().standing
        now = {ARMS[i]: "accepted" for i in standing.accepted}
        now |= {ARMS[i]: ARMS[by] for i, by in standing.dropped.items()}
        assert self.settled.items() <= now.items()
        assert not now or self.eliminates
        assert sorted([*now, *(ARMS[i] for i in standing.active)]) == ARMS
        self.settled = now

    @invariant()
    def intervals_are_those_of_the_raw_events(self):
        if not self.explorers:
            return
        status = self.any.status()
        K, D = len(ARMS), len(OBJECTIVES)
        counts, means, ss = np.zeros((K, D)), np.full((K, D), np.nan), np.zeros((K, D))
        for d, name in enumerate(OBJECTIVES):
            reach = next(
                (at for at, i in enumerate(self.order) if (i, name) not in self.told),
                len(self.order),
            )
            for k, arm in enumerate(ARMS):
                told = [self.told[i, name] for i in self.order[:reach] if self.arm[i] == arm]
                used = np.array([x for x in told if not isinstance(x, str)])
                counts[k, d] = len(used)
                if len(used):
                    means[k, d] = used.mean()
                    ss[k, d] = ((used - used.mean()) ** 2).sum()
            held = sum(isinstance(self.told.get((i, name)), float) for i in self.order[reach:])
            assert status.held.get(name, (0,))[0] == held
        np.testing.assert_array_equal(status.counts, counts)
        np.testing.assert_allclose(status.means, means, rtol=1e-9)  # sums in another order
        lower, upper = brute_force(self.radius, counts, means, ss)
        np.testing.assert_allclose(status.lower, lower, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(status.upper, upper, rtol=1e-7, atol=1e-9)
        self.verdicts(status, lower, upper)
        waiting = {(w.id, name) for w in status.waiting for name in w.objectives}
        assert waiting == {
            (i, name) for i in self.order for name in OBJECTIVES if (i, name) not in self.told
        }

        gone = {key for key, value in self.told.items() if isinstance(value, str)}
        awaited = [
            [sum(self.arm[i] == arm and (i, name) not in gone for i in self.order)
             for name in OBJECTIVES]
            for arm in ARMS
        ]  # fmt: skip
        assert self.any._fresh().awaited().tolist() == awaited

    def verdicts(self, status, lower, upper):
        """Optimal, dominated and undecided, from the intervals by their definitions."""
        keep = np.stack([lower[:, :, 0], -upper[:, :, 1]])  # larger is better
        drop = np.stack([upper[:, :, 0], -lower[:, :, 1]])
        for i, arm in enumerate(ARMS):
            others = [j for j in range(len(ARMS)) if j != i]
            optimal = all((keep[:, i, j] > 0).any() for j in others)
            dominators = [ARMS[j] for j in others if (drop[:, i, j] < 0).all()]
            kept = self.settled.get(arm)
            assert (arm in status.optimal) == (optimal or kept == "accepted")
            assert (arm in status.dominated) == bool(dominators or kept in ARMS)
            if arm in status.dominated:
                assert status.dominated[arm] in (kept, *dominators)
            assert (arm in status.undecided) == (not optimal and not dominators and not kept)
            if arm in status.rivals and self.radius.needs_scale:  # one scale for both objectives
                left = [j for j in others if self.settled.get(ARMS[j]) not in ARMS]
                most = min(keep[:, i, j].max() for j in left)
                assert keep[:, i, ARMS.index(status.rivals[arm])].max() <= most + 1e-9
        assert status.rivals.keys() == set(status.undecided) or not status.rivals


def brute_force(radius, counts, means, ss):
    """(lower, upper) on mean i - mean j from the radius's own formulas, in the user's direction."""
    K, D = counts.shape
    lower, upper = np.full((K, K, D), -np.inf), np.full((K, K, D), np.inf)
    first = radius.first_count(K, D, 0.5) if hasattr(radius, "first_count") else 1
    t = counts.sum(axis=0).max()
    for i in range(K):
        for j in range(K):
            for d in range(D):
                p, q = counts[i, d], counts[j, d]
                if min(p, q) < first:
                    continue
                if isinstance(radius, pt.LUCB1Like):
                    keep = drop = 0.2 * float(radius.half_width(p, q, t, K, D, 0.5))
                else:
                    (l_i, v_i), (l_j, v_j) = (radius.arm_terms(n, K, D, 0.5) for n in (p, q))
                    factors = (0.04, 0.04) if radius.needs_scale else (ss[i, d], ss[j, d])
                    v = v_i * factors[0] + v_j * factors[1] if min(factors) > 0 else np.inf
                    C_keep, C_drop = radius.constants(K, D, 0.5)
                    keep, drop = (float(np.sqrt((C + l_i + l_j) * v)) for C in (C_keep, C_drop))
                below, above = (drop, keep) if OBJECTIVES[d] == "harm" else (keep, drop)
                lower[i, j, d] = means[i, d] - means[j, d] - below
                upper[i, j, d] = means[i, d] - means[j, d] + above
    return lower, upper


Trial.TestCase.settings = settings(
    deadline=None,
    max_examples=10,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestTrial = Trial.TestCase
