"""Empirical Gap Elimination: held to a slow reference, refusals, and budgets that are kept."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop, theory
from paretoid.runs.setting import Setting

MEANS = np.array([[2.0, 0.0], [0.0, 2.0], [1.2, 1.1], [0.1, 0.3], [1.0, -0.5], [0.4, 0.2]])


def margin(rows, i, j):
    """M(i, j) of the definition."""
    return max(rows[i][d] - rows[j][d] for d in range(len(rows[i])))


def slow_gap(rows, i, arms):
    """The empirical gap of arm i among `arms`, by the definition; and whether it looks optimal."""
    front = [a for a in arms if all(margin(rows, a, b) >= 0 for b in arms if b != a)]
    star = {j: max(-margin(rows, j, b) for b in arms if b != j) for j in arms}
    if i not in front:
        return star[i], False
    plus = [min(margin(rows, i, j), margin(rows, j, i)) for j in front if j != i]
    minus = [max(margin(rows, j, i), 0) + star[j] for j in arms if j not in front]
    return min(plus + minus), True


def slow_ege(streams, scheme, budget):
    """(accepted in order, samples of each arm), from whole streams of outcomes."""
    K = len(streams)
    active, accepted, pulls = list(range(K)), [], [0] * K
    for _, n, left in theory.schedule(scheme, K, budget):
        rows = {arm: streams[arm][:n].mean(axis=0) for arm in active}
        for arm in active:
            pulls[arm] = n
        judged = {arm: slow_gap(rows, arm, active) for arm in active}
        order = sorted(active, key=lambda arm: (-judged[arm][0], judged[arm][1], arm))
        for arm in order[: len(active) - left]:
            active.remove(arm)
            if judged[arm][1]:
                accepted.append(arm)
    return [*accepted, *active], pulls


@pytest.mark.parametrize("scheme", ["SR", "SH"])
@pytest.mark.parametrize("K", [2, 3, 5, 6])
def test_it_takes_the_arms_and_gives_the_answer_of_the_slow_reference(scheme, K):
    bandit = pt.GaussianBandit(MEANS[:K])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        streams = [bandit.sample(arm, 90, rng) for arm in range(K)]
        rows = [iter(stream) for stream in streams]
        rule = pt.EGE(scheme, budget=90)
        goals = (pt.ParetoSet(), pt.AtMost(1), pt.AtMost(2))
        setting = Setting(bandit, goals, rule, rule.default_radius, 0.1, None)
        history = loop.run(setting, lambda arm, rows=rows: next(rows[arm]), rng)
        accepted, pulls = slow_ege(streams, scheme, 90)
        assert history.counts.tolist() == pulls
        for goal, stop in zip(goals, history.stops, strict=True):
            most = getattr(goal, "k", K)
            assert set(np.flatnonzero(stop.answer)) == set(accepted[:most])


def test_of_equal_gaps_the_arm_that_looks_dominated_leaves_first():
    """Arm 1 is below arm 0 alone, so both have gap 1; arm 1 must go while arm 0 can show it."""
    bandit = pt.GaussianBandit([[0.0, 0.0], [-1.0, -1.0]])
    rule = pt.EGE("SR", budget=20)
    setting = Setting(bandit, (pt.ParetoSet(),), rule, rule.default_radius, 0.1, None)
    history = loop.run(setting, lambda arm: bandit.means[arm], np.random.default_rng(0))
    assert history.stops[0].answer.tolist() == [True, False]


@pytest.mark.parametrize("scheme", ["SR", "SH"])
def test_budgets_are_kept_and_ties_end(scheme):
    bandit = pt.GaussianBandit(np.zeros((5, 2)))
    for budget in (16, 33, 100):
        runs = pt.simulate(bandit, rule=pt.EGE(scheme, budget), replications=4, seed=2)
        assert runs.stopped.all()
        assert (runs.stopping_time <= budget).all()
        assert runs.attrs["guarantee"] == "heuristic"


def test_the_error_stays_below_its_bound_and_falls_with_the_budget():
    """By hand: gaps 2 and 400 samples of each arm in the first phase give 12 exp(-18.7), twice.

    An error in 8 runs would be seen once in 10^5 seeds; with 2 samples of each arm of noise that
    hides everything, fewer than 4 errors once in 10^6.
    """
    means = np.array([[12.0, 0.0], [0.0, 12.0], [-6.0, -6.0]])
    sure, blind = pt.GaussianBandit(means, scale=3.0), pt.GaussianBandit(means, scale=300.0)
    assert theory.budget_error_bound(means, 1200, "SR", sure.scale) < 1e-6
    runs = pt.simulate(sure, rule=pt.EGE("SR", 1200), replications=8, seed=3)
    assert runs.correct.all()
    assert theory.budget_error_bound(means, 8, "SR", blind.scale) == 1.0
    runs = pt.simulate(blind, rule=pt.EGE("SR", 8), replications=40, seed=3)
    assert (~runs.correct).sum() >= 4


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: pt.EGE("SR"), "budget=0 .*Pass EGE"),
        (lambda: pt.EGE("halves", budget=9), "scheme='halves'"),
        (lambda: pt.EGE("SR", budget=2.5), "budget=2.5"),
        (lambda: pt.simulate(pt.GaussianBandit(MEANS), rule=pt.EGE("SR", 6)), "budget=6 .*6 arms"),
        (lambda: pt.simulate(pt.GaussianBandit(MEANS), rule=pt.EGE("SH", 17)), "budget=17 "),
        (
            lambda: pt.simulate(pt.GaussianBandit(MEANS), pt.Cover(), rule=pt.EGE("SR", 60)),
            "EGE cannot answer Cover",
        ),
        (
            lambda: pt.simulate(
                pt.GaussianBandit(MEANS),
                pt.ParetoSet(limits={"objective 0": pt.at_least(0.5)}),
                rule=pt.EGE("SR", 60),
            ),
            "not with limits",
        ),
        (
            lambda: pt.simulate(
                pt.GaussianBandit(MEANS), rule=pt.EGE("SR", 60), radius=pt.UnknownScale()
            ),
            "uses no radius",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_its_text_is_read_back():
    from paretoid.registry import parse, text

    rule = pt.EGE("SH", budget=123)
    assert parse(text(rule), "rule") == rule
    assert parse("ege:scheme=SH,budget=123", "rule") == rule


def test_a_live_trial_with_a_budget_answers():
    bandit = pt.GaussianBandit(MEANS[:3] * 3)
    trial = pt.Explorer(
        bandit.arms, bandit.objectives, scale=1.0, rule=pt.EGE("SR", 43),
        radius=pt.EGE.default_radius,
    )  # fmt: skip
    rng = np.random.default_rng(4)
    for _ in range(60):
        if trial.answer is not None:
            break
        allocation = trial.ask()
        trial.tell(allocation, bandit.sample(allocation.arm, 1, rng)[0])
    assert trial.answer is not None
    trial.verify()
