"""The comparison that keeps a trial from its answer, by hand and by an independent loop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import paretoid as pt
from paretoid.estimation import plan
from paretoid.estimation.blocking import advice, blocking_pair, ties_in_words

# Arms 0 and 1 nearly tie; arm 2 is 0.45 behind arm 1 at best; arm 3 is far behind everybody.
TIED = [[1.0, 0.0], [1.01, 0.5], [0.56, 0.05], [-3.0, -3.0]]


def slowly(mu, eps1, settled):
    """The definition in loops: the arm that is nearest to being neither in nor out."""
    hardest, pair = np.inf, (-1, -1)
    for i, row in enumerate(mu):
        if settled[i]:
            continue
        rivals = [j for j in range(len(mu)) if j != i]
        inside = {j: max(a - b + eps1 for a, b in zip(row, mu[j], strict=True)) for j in rivals}
        outside = {j: min(b - a for a, b in zip(row, mu[j], strict=True)) for j in rivals}
        let_in, left_out = min(inside.values()), max(outside.values())
        if max(let_in, left_out) < hardest:
            hardest = max(let_in, left_out)
            by_in, by_out = min(inside, key=inside.get), max(outside, key=outside.get)
            pair = (i, by_in if let_in > left_out else by_out)
    return pair


@pytest.mark.parametrize(
    ("goal", "settled", "pair"),
    [
        (pt.ParetoSet(), [0, 0, 0, 0], (0, 1)),  # a gap of 0.01
        (pt.ParetoSet(0.9), [0, 0, 0, 0], (2, 1)),  # 0.45 from in and from out: nothing is harder
        (pt.ParetoSet(0.9), [0, 0, -1, -1], (0, 1)),  # 0.91 - 0.01, against 1.39 for arm 1
        (pt.AtMost(1), [0, 0, 0, 0], (1, 2)),  # the easiest one to let in: 0.45 ahead of arm 2
        (pt.AtMost(2), [0, 1, 0, 0], (0, 1)),  # arm 0 is dominated: all must be settled
        (pt.AtMost(2, 0.9), [0, 1, 0, 0], (0, 1)),  # let in by 0.89, and arm 2 by 0.45 only
        (pt.AtMost(3, 0.9), [0, 1, 0, 0], (2, 1)),
        (pt.Cover(0.0, 0.9), [0, 1, 0, 0], (0, 1)),  # 0.01 + 0.9; arm 2 is 0.45 + 0.9 behind
    ],
)
def test_the_pair_depends_on_margin_and_goal_as_calculated_by_hand(goal, settled, pair):
    assert blocking_pair(pt.GaussianBandit(TIED), goal, settled) == pair


def test_the_pair_is_that_of_the_definition_in_loops():
    rng = np.random.default_rng(3)
    for eps1 in (0.0, 0.4, 1.0):
        for _ in range(40):
            mu = rng.normal(size=(5, 2))
            settled = rng.choice([-1, 0, 0, 1], size=5)
            found = blocking_pair(pt.GaussianBandit(mu), pt.ParetoSet(eps1), settled)
            assert found == slowly(mu, eps1, settled)


def test_distances_are_in_standard_deviations():
    # Arm 0 is 1 ahead in an objective with sd 10, arm 2 is 0.5 behind in one with sd 0.1.
    mu, scale = [[1.0, 0.0], [0.0, 0.0], [-9.0, -0.5]], [10.0, 0.1]
    bandit = pt.GaussianBandit(mu, scale=scale)
    assert blocking_pair(bandit, pt.ParetoSet(), [1, 0, 0])[0] == 1  # 0 sd behind arm 0
    assert blocking_pair(bandit, pt.ParetoSet(), [1, 1, 0]) == (2, 0)  # 1 sd, not 0.5


def test_every_arm_named_by_a_plan_is_one_that_its_trial_had_not_settled(nasty_fit):
    goals = [pt.ParetoSet(0.3), pt.AtMost(2, 0.3)]
    planned = plan(nasty_fit, goals, draws=40, replications=2, max_samples=120)
    open_trials = ~planned.stopped.values
    assert open_trials.sum() > 20
    arms = planned.blocking_arm.values
    assert (arms[~open_trials] == -1).all()
    for g, s in itertools.product(range(2), range(40)):
        if open_trials[g, s]:
            assert planned.settled.values[g, s, arms[g, s]] == 0
            assert planned.blocking_rival.values[g, s] != arms[g, s]
    said = planned.attrs["near_ties"]
    names = planned.arm.values
    often = np.bincount(arms[0][open_trials[0]], minlength=4)
    assert str(names[often.argmax()]) in said.split("AtMost")[0]


def test_a_goal_with_limits_names_the_arm_alone():
    bandit = pt.GaussianBandit([[1.0, 0.1], [0.0, 0.29], [0.5, 2.0]], minimize=["objective 1"])
    goal = pt.ParetoSet(limits={"objective 1": pt.at_most(0.3)})
    assert blocking_pair(bandit, goal, [0, 0, 0]) == (1, -1)  # 0.01 from the limit
    pairs = np.array([[[1, -1], [-1, -1]]])
    said = ties_in_words(pairs, np.array([[False, True]]), [goal], bandit.arms, 50)
    assert "1 of 2 simulated trials had no answer by 50 participants" in said
    assert "arm 1 (1)." in said


@pytest.mark.parametrize("goal", [pt.ParetoSet(), pt.AtMost(1), pt.AtMost(1, 0.3), pt.Cover(),
                                  pt.AtMost(2), pt.AtMost(3), pt.PracticalSet(0.5)])  # fmt: skip
def test_nobody_is_advised_to_ask_for_less_than_one_arm(goal):
    said = advice(goal)
    if isinstance(goal, pt.AtMost):
        assert ("asking for one arm" in said) == (goal.k == 2)
        assert ("asking for fewer arms" in said) == (goal.k > 2)
    assert said.startswith("more participants")
