"""`is_correct` by the paper's definitions, on cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt

# Arms 0, 1, 2 are optimal; 3 is dominated by 1 with margin 0.1; 4 is far below everything.
MEANS = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [0.9, 0.8], [-1.0, -1.0]])


def mask(*arms: int) -> np.ndarray:
    return np.isin(np.arange(5), arms)


@pytest.mark.parametrize(
    ("goal", "answer", "correct"),
    [
        (pt.ParetoSet(), mask(0, 1, 2), True),
        (pt.ParetoSet(), mask(0, 1), False),
        (pt.ParetoSet(), mask(0, 1, 2, 3), False),
        (pt.ParetoSet(0.1), mask(0, 1, 2, 3), True),  # 0.9 + 0.1 is not below 1
        (pt.ParetoSet(0.09), mask(0, 1, 2, 3), False),
        (pt.ParetoSet((0.0, 0.2)), mask(0, 1, 2, 3), True),  # 0.8 + 0.2 is not below 1
        (pt.ParetoSet((0.05, 0.15)), mask(0, 1, 2, 3), False),
        (pt.ParetoSet(0.1), mask(0, 1, 2, 4), False),
        (pt.AtMost(2), mask(0, 2), True),
        (pt.AtMost(2), mask(0), False),  # fewer than k must be the whole set
        (pt.AtMost(2), mask(0, 3), False),
        (pt.AtMost(2), mask(0, 1, 2), False),  # more than k
        (pt.AtMost(4), mask(0, 1, 2), True),
        (pt.AtMost(4), mask(0, 1, 2, 3), False),
        (pt.AtMost(4, 0.1), mask(0, 1, 2, 3), True),
        (pt.Cover(), mask(0, 1, 2), True),
        (pt.Cover(), mask(0, 1), False),
        (pt.Cover(0.0, 1.0), mask(1), False),  # mu_0 = (0, 2) is not strictly below (2, 2)
        (pt.Cover(0.0, 1.01), mask(1), True),
        (pt.Cover(0.0, (0.0, 1.01)), mask(1), False),  # arm 2 needs the first objective
        (pt.Cover(0.0, 5.0), mask(), False),  # nobody covers
        (pt.Cover(0.0, 5.0), mask(3), False),  # covers, but is not optimal
        (pt.Cover(0.1, 5.0), mask(3), True),
    ],
)
def test_correctness_by_the_definitions(goal, answer, correct):
    assert goal.is_correct(answer, MEANS) is correct


def test_tied_arms_are_both_optimal():
    twins = [[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]  # the third ties in one objective
    assert pt.ParetoSet().is_correct(np.array([True, True, True]), twins)
    assert not pt.ParetoSet().is_correct(np.array([True, True, False]), twins)


def test_goals_are_values():
    assert pt.Cover(0.1, [0.2, 0.3]) == pt.Cover(0.1, (0.2, 0.3))
    assert len({pt.AtMost(2), pt.AtMost(2), pt.AtMost(3)}) == 2
    assert str(pt.AtMost(2, (0.1, 0.2))) == "AtMost(k=2, eps1=(0.1, 0.2))"


def test_the_gap_of_a_goal_says_whether_it_can_end():
    one = np.ones(2)
    tied = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]])  # a duplicated optimal arm
    assert pt.ParetoSet().gaps(tied, one).min() == 0
    assert pt.Cover(0.0, 0.5).gaps(tied, one).min() == 0
    assert pt.ParetoSet(0.25).gaps(tied, one).min() == 0.25
    assert pt.AtMost(1).gaps(tied, one).min() == 3.0  # omega of the third arm
    assert pt.AtMost(2).gaps(tied, one).min() == 0
    # By hand: Delta_3 = m(3, 1) = 0.1, Delta_4 = m(4, 1) = 2; arm 0: min(1, 0.9 + 0.1); arm 1:
    # 0 + 0.1; arm 2: min(1, 0.8 + 0.1).
    np.testing.assert_allclose(pt.ParetoSet().gaps(MEANS, one), [1.0, 0.1, 0.9, 0.1, 2.0])


def test_an_uneven_slack_can_hide_a_dominator_for_ever():
    """Arm 0 is dominated by arm 1, but with eps1 = (0, 3) its contender is arm 2, which ties.

    The bound says so (a gap of 0), and runs indeed go on: about one in eight, for good.
    """
    bandit = pt.GaussianBandit([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    goal = pt.ParetoSet((0.0, 3.0))
    assert goal.gaps(bandit.oriented, np.ones(2)).min() == 0
    with pytest.raises(ValueError, match="may never stop"):
        pt.simulate(bandit, goal)
    runs = pt.simulate(bandit, goal, replications=100, seed=1, max_samples=20_000)
    assert 0.02 < 1 - runs.stopped.mean() < 0.4  # one seed in 10^3 would leave this range
    assert (runs.correct | ~runs.stopped).all()
