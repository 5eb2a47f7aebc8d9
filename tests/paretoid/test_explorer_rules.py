"""Every rule, radius and goal: an Explorer is the engine, also through delays, losses and files."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import paretoid as pt
from paretoid import loop, rules
from paretoid.registry import RULES as NAMED
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.theory.dominance import pareto_set
from paretoid.view import Standing

PAIRWISE = [
    pt.Mixture(),
    pt.Mixture(rho=2.0, union="pairs"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5),
    pt.UnknownScale(a=1.0, w=0.5, union="pairs"),
]
SINGLE = [pt.ArmMixture(), pt.ArmMixture(rho=3.0), pt.IteratedLogarithm()]
#: rule, its radii
RULES = [
    (pt.APE(), [*PAIRWISE, pt.LUCB1Like()]),
    (pt.APE(pull="both"), [*PAIRWISE, pt.LUCB1Like()]),
    (pt.RoundRobin(), PAIRWISE),
    (pt.UniformElimination(), PAIRWISE),
    (pt.LUCB(), SINGLE),
    (pt.LUCBpp(), SINGLE),
    (pt.UGapEc(), SINGLE),
]
CASES = [(sampling, radius) for sampling, radii in RULES for radius in radii]


def goals_for(each, eps1):
    if isinstance(each, rules.BestArmRule):
        return [pt.AtMost(1, eps1)] if eps1 else [pt.ParetoSet(), pt.AtMost(1)]
    goals = [pt.AtMost(1, eps1), pt.AtMost(2, eps1), pt.ParetoSet(eps1)]
    return goals if isinstance(each, pt.UniformElimination) else [pt.Cover(eps1, 0.2), *goals]


def bandit_for(each, seed, own=False):
    rng = np.random.default_rng(seed)
    K, D = int(rng.integers(2, 6)), 1 if isinstance(each, rules.BestArmRule) else 2
    names = [f"objective {d}" for d in range(D)]
    scale = 0.1 * (0.5 + rng.random((K, D) if own else D))
    return pt.GaussianBandit(rng.random((K, D)), scale, minimize=names[1:])


def explorer_for(bandit, goals, each, radius, delta, **options):
    return pt.Explorer(
        bandit.arms, bandit.objectives, goals, delta, rule=each, radius=radius,
        scale=bandit.scale if radius.needs_scale else None, minimize=bandit.minimize, **options,
    )  # fmt: skip


def test_every_rule_can_run_live():
    bases = {rules.Rule, rules.BestArmRule}
    known = {getattr(rules, name) for name in rules.__all__} - bases
    uncompiled = {pt.EGE, pt.TopTwo, pt.Tracking, pt.PosteriorSampling}  # test_conformance.py
    assert set(NAMED.values()) == known == {type(case[0]) for case in RULES} | uncompiled


@pytest.mark.parametrize(("each", "radius"), CASES, ids=repr)
@pytest.mark.parametrize("eps1", [0.0, 0.1])
def test_asked_and_told_one_at_a_time_it_is_simulate(each, radius, eps1):
    """Same pulls, stopping times and answers as the compiled engine on the same noise."""
    bandit, goals, seed = bandit_for(each, 5, own=bool(eps1)), goals_for(each, eps1), 3
    runs = pt.simulate(
        bandit, goals, rule=each, radius=radius, delta=0.2, seed=seed, max_samples=260
    ).isel(replication=0)
    noise = np.empty((260, bandit.noise_width))
    bandit.fill(generator(seed, (0,)), noise)
    explorer = explorer_for(bandit, goals, each, radius, 0.2)
    for t in range(int(runs.stopping_time.max())):
        allocation = explorer.ask()
        explorer.tell(allocation, bandit.outcome(bandit.index(allocation.arm), noise[t : t + 1])[0])
    for goal in map(str, goals):
        found, answer = runs.sel(goal=goal), explorer.answers[goal]
        assert (answer is not None) == bool(found.stopped)
        if answer is not None:
            assert explorer.stopping_times[goal] == int(found.stopping_time)
            assert set(answer) == {name for name in bandit.arms if found.answer.sel(arm=name)}
    last = runs.isel(goal=int(np.argmax(runs.stopping_time.values)))
    assert explorer.status().counts[:, 0].tolist() == last.pulls.values.tolist()
    explorer.verify()


def elimination_errs(rng, keep=True, drop=True):
    """Does a trial go wrong whose bounds are arbitrary except for those that are counted?

    Several tests, each on new bounds as if counts and times were anything. `keep`: the lower
    bounds hold on i - j for each i outside S*_eps1 and one of the arms of S* that show it.
    `drop`: the upper bounds hold on i - j for each i in S*, in one objective where it is not below.
    """
    K, D, eps1 = int(rng.integers(2, 6)), int(rng.integers(1, 4)), float(rng.choice([0.0, 0.5, 1]))
    means = rng.integers(0, 3, (K, D)).astype(float)
    truth = means[:, None] - means[None]
    best, near = pareto_set(means), pareto_set(means, eps1)
    goals = [pt.AtMost(k, eps1) for k in range(1, K + 1)] + [pt.ParetoSet(eps1)]
    elimination, standing, answers = pt.UniformElimination(), Standing.begin(K), {}
    for _ in range(int(rng.integers(1, 9))):
        lower, upper = rng.choice(
            [-3.0, -0.25, 0.25, 3.0], (2, K, K, D), p=[0.15, 0.35, 0.35, 0.15]
        )
        for i in range(K):
            if keep and not near[i]:
                j = next(j for j in np.flatnonzero(best) if (truth[i, j] < -eps1).all())
                lower[i, j] = np.minimum(lower[i, j], truth[i, j])
            for j in range(K) if drop and best[i] else ():
                d = int(np.argmax(truth[i, j]))
                upper[i, j, d] = max(upper[i, j, d], truth[i, j, d])
        view = SimpleNamespace(
            M_upper=upper.max(axis=2), M_lower=(lower + eps1).max(axis=2), standing=standing, K=K
        )
        for g, goal in enumerate(goals):
            mask = elimination.judge(view, goal)
            if g not in answers and mask is not None:
                answers[g] = mask
        standing = standing.after(*elimination.settle(view))
    settled = standing.dropped.keys() & set(np.flatnonzero(best))
    kept = set(standing.accepted) - set(np.flatnonzero(near))
    wrong = [g for g, mask in answers.items() if not goals[g].is_correct(mask, means)]
    return bool(settled or kept or wrong)


def test_elimination_is_right_at_any_counts_and_times_while_the_counted_bounds_hold():
    """theory/PROOFS.md, Proposition 5; and each of the two kinds of bounds is needed."""
    seeds = range(1500)
    assert not any(elimination_errs(np.random.default_rng(seed)) for seed in seeds)
    assert any(elimination_errs(np.random.default_rng(seed), keep=False) for seed in seeds)
    assert any(elimination_errs(np.random.default_rng(seed), drop=False) for seed in seeds)


class Twin(RuleBasedStateMachine):
    """The engine's run, and an Explorer whose rounds are late, lost in part and reopened.

    Within one round outcomes come in any order, endpoint by endpoint, and some subjects leave and
    are replaced. The Explorer must ask for the engine's arms, round by round, and answer with the
    engine's answers at the engine's times.
    """

    depth: Counter  # how often what happened, over all runs
    case: tuple

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.explorer = None

    def teardown(self):
        if self.explorer is not None:
            self.depth["answers"] += len(self.explorer._current().answers)
            self.depth["lost"] += sum(self.explorer._current().lost[0])
            self.depth["opened"] += self.file is not None
            settled = sum(row[3] == "settled" for row in self.explorer.rows())
            self.depth["settled"] += settled
            self.explorer.close()
        shutil.rmtree(self.folder)

    @initialize(
        data=st.data(), seed=st.integers(0, 9999), own=st.booleans(),
        eps1=st.sampled_from([0.0, 0.1]), delta=st.sampled_from([0.1, 0.3]),
    )  # fmt: skip
    def begin(self, data, seed, own, eps1, delta):
        each, radii = self.case
        radius = data.draw(st.sampled_from(radii))
        self.bandit = bandit_for(each, seed, own)
        self.goals = goals_for(each, eps1)
        setting = Setting(self.bandit, tuple(self.goals), each, radius, delta, None)
        first = int(loop.lens_of(setting).first.sum())
        noise = np.empty((first + 120, self.bandit.noise_width))
        self.bandit.fill(generator(seed, (0,)), noise)
        outcomes = loop.outcomes_of(self.bandit, noise)
        self.engine = loop.run(setting, outcomes, np.random.default_rng(0))
        self.rows = [outcome * self.bandit.sign for outcome in self.engine.outcomes]
        self.rng = np.random.default_rng(seed)
        self.explorer = explorer_for(self.bandit, self.goals, each, radius, delta, seed=seed)
        self.file = None
        self.time = 0  # samples of complete rounds
        self.due = {}  # arm to its row, of the round that is open
        self.open = {}  # allocation to what has not arrived of it
        self.over = self.apart = False
        self.left = 0  # subjects so far

    def more(self):
        return self.explorer is not None and not self.over and not self.open

    def ask(self, n=None):
        """Ask for one, or n; each must be an arm that the engine samples in this round."""
        asked = [self.explorer.ask()] if n is None else self.explorer.ask(n)
        names = self.bandit.arms
        if not self.due:  # a new round: the whole of it must be the engine's
            queue = self.explorer._current().queue
            arms = [names.index(asked[0].arm), *queue]
            expected = self.engine.arms[self.time : self.time + len(arms)]
            assert arms[: len(expected)] == expected
            if len(expected) < len(arms):  # the noise was used up within the round
                self.over = True
                return
            self.due = {arm: self.time + at for at, arm in enumerate(arms)}
            self.size = len(arms)
        for allocation in asked:
            row = self.rows[self.due[names.index(allocation.arm)]]
            self.open[allocation] = dict(zip(self.bandit.objectives, row, strict=True))
        assert len({a.arm for a in self.open}) == len(self.open)

    def arrive(self, allocation, values):
        self.tell(allocation, values)
        if allocation not in self.open:
            del self.due[self.bandit.arms.index(allocation.arm)]
            if not self.due:
                self.time += self.size
                self.over = self.over or self.time >= len(self.engine.arms)

    def leave(self, allocation):
        self.left += 1
        names = list(self.open[allocation])
        if self.rng.random() < 0.5:
            self.tell(allocation, dict.fromkeys(names, "missing"))
        else:
            for name in names:
                self.tell(allocation, {name: "missing"})

    def tell(self, allocation, values):
        self.explorer.tell(allocation, values)
        for name in values:
            del self.open[allocation][name]
        if not self.open[allocation]:
            del self.open[allocation]
        awaited = {name for left in self.open.values() for name in left}
        ahead = awaited and awaited != set(self.bandit.objectives)  # one endpoint has all it can
        if ahead and list(self.explorer.rows())[-1][3] in ("settled", "stopped"):
            self.over = self.apart = True  # it sufficed, which the engine never sees

    @precondition(lambda self: self.more())
    @rule(n=st.integers(1, 20))
    def one_at_a_time(self, n):
        for _ in range(n):
            if not self.more():
                return
            self.ask()
            for allocation in list(self.open):
                self.arrive(allocation, dict(self.open[allocation]))

    @precondition(lambda self: self.more() and self.left >= 4)
    @rule()
    def to_the_end(self):
        self.one_at_a_time(len(self.rows))

    @precondition(lambda self: self.more())
    @rule()
    def one_leaves(self):
        self.ask()
        for allocation in list(self.open):
            self.leave(allocation)

    @precondition(lambda self: self.more())
    @rule()
    def ask_for_the_rest_of_the_round(self):
        self.ask()
        rest = len(self.explorer._current().queue)
        if rest and not self.over:
            self.ask(rest)

    @precondition(lambda self: self.explorer is not None and self.open)
    @rule(data=st.data(), fate=st.sampled_from(["whole", "part", "part", "leaves"]))
    def something_arrives(self, data, fate):
        allocation = data.draw(st.sampled_from(sorted(self.open, key=lambda a: a.id)))
        left = dict(self.open[allocation])
        if fate == "part":
            name = data.draw(st.sampled_from(sorted(left)))
            left = {name: left[name]}
        if fate == "leaves" and len(left) == self.bandit.D:
            self.leave(allocation)
        else:
            self.arrive(allocation, left)

    @precondition(lambda self: self.explorer is not None and self.open)
    @rule()
    def all_arrives(self):
        for at in self.rng.permutation(len(self.open)):
            allocation = sorted(self.open, key=lambda a: a.id)[at % len(self.open)]
            self.arrive(allocation, dict(self.open[allocation]))

    @precondition(lambda self: self.explorer is not None)
    @rule()
    def save_and_open(self):
        if self.file is None:
            self.file = self.folder / "trial.db"
            self.explorer.save(self.file)
        head = self.explorer.head
        self.explorer.close()
        self.explorer = pt.Explorer.open(self.file)
        assert self.explorer.verify(head=head) == head

    @invariant()
    def the_answers_are_the_engines(self):
        if self.explorer is None or self.apart:
            return
        answers, times = self.explorer.answers, self.explorer.stopping_times
        for goal, stop in zip(map(str, self.goals), self.engine.stops, strict=True):
            if stop is None or stop.time > self.time:
                assert answers[goal] is None
            else:
                names = [self.bandit.arms[i] for i in np.flatnonzero(stop.answer)]
                assert (answers[goal], times[goal]) == (tuple(names), stop.time)


@pytest.mark.parametrize("case", RULES, ids=lambda case: repr(case[0]))
def test_late_lost_and_reopened_rounds_are_the_engines(case):
    """It is seen to go deep: every rule answers, loses subjects and is reopened."""

    class Each(Twin):
        pass

    Each.depth, Each.case = Counter(), case
    run_state_machine_as_test(
        Each,
        settings=settings(
            deadline=None,
            derandomize=True,  # so that how deep it goes is the same every time
            max_examples=20,
            stateful_step_count=25,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
    assert min(Each.depth[what] for what in ("answers", "lost", "opened")) > 0
    assert (Each.depth["settled"] > 0) == isinstance(case[0], pt.UniformElimination)
