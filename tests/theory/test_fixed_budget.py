"""A fixed budget: schedules by hand, and the two bounds on the error held to their proofs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory

FRONT = [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]]


@given(K=st.integers(2, 70), extra=st.integers(0, 5000), scheme=st.sampled_from(["SR", "SH"]))
@settings(deadline=None, max_examples=200)
def test_a_schedule_spends_no_more_than_its_budget_and_ends_with_one_arm(K, extra, scheme):
    budget = K * max(math.ceil(math.log2(K)), 1) + 1 + extra
    phases = theory.schedule(scheme, K, budget)
    spent, before = 0, 0
    for active, samples, left in phases:
        assert samples >= max(before, 1)
        assert 1 <= left < active
        spent += active * (samples - before)
        before = samples
    assert phases[0][0] == K
    assert phases[-1][2] == 1
    assert spent <= budget


def test_schedules_by_hand():
    # log-bar 4 = 1/2 + 1/2 + 1/3 + 1/4 = 19/12, and (42 - 4) / (19/12) = 24
    assert theory.schedule("SR", 4, 42) == [(4, 6, 3), (3, 8, 2), (2, 12, 1)]
    # three halvings of 5 arms; 60 / (5 x 3), 60 / (3 x 3), 60 / (2 x 3)
    assert theory.schedule("SH", 5, 60) == [(5, 4, 3), (3, 10, 2), (2, 20, 1)]


@pytest.mark.parametrize(("scheme", "budget"), [("SR", 5), ("SR", 4), ("SH", 14), ("SH", 0)])
def test_a_budget_that_does_not_reach_every_arm_is_refused(scheme, budget):
    with pytest.raises(ValueError, match=f"budget={budget} .*5 arms at least one"):
        theory.schedule(scheme, 5, budget)


def test_h2_by_hand():
    # gaps: arm 2 is 1/4 below arm 0 in its best objective, 1/2 below arm 1: gap 1/2; see gaps
    assert theory.H_2(FRONT) == 3 / 0.25
    # gaps 1, 1, 3: 2 / 1 beats 3 / 9
    assert theory.H_2([[0.0], [1.0], [-2.0]]) == 2.0
    assert theory.H_2([[0.0], [1.0], [-2.0]], scale=2.0) == 8.0
    assert theory.H_2([[0.0], [0.0]]) == math.inf


def test_the_error_bound_by_hand_for_three_arms():
    # gaps 16, 16, 48 in increasing order; phases (3, 10, 2), (2, 15, 1)
    bound = theory.budget_error_bound([[0.0], [16.0], [-32.0]], 43, "SR")
    by_hand = 3 * 2 * (math.exp(-10 * 48**2 / 64) + math.exp(-15 * 16**2 / 64))
    assert math.isclose(bound, by_hand, rel_tol=1e-12)
    assert theory.budget_error_bound([[0.0], [0.0]], 50) == 1.0


@given(st.integers(0, 10**6), st.integers(20, 10**6))
@settings(deadline=None, max_examples=60)
def test_the_printed_form_with_h2_is_no_smaller_than_the_sum(seed, budget):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(6, 2))
    harmonic = 0.5 + sum(1 / i for i in range(2, 7))
    printed = 6 * 25 * 2 * math.exp(-(budget - 6) / (64 * harmonic * theory.H_2(means)))
    assert theory.budget_error_bound(means, budget) <= min(1.0, printed) * (1 + 1e-12)


def test_moving_an_arm_by_its_cost_and_a_little_more_changes_the_pareto_set():
    """Each cost belongs to a move that works, and by hand where moves are few."""
    costs = theory.moving_costs(FRONT)
    assert np.allclose(costs, [0.5, 0.5, 1.25**2 / 2])
    # arm 0 alone is above arm 1: it lets go in the first objective, arm 1 rises in it
    assert np.allclose(theory.moving_costs([[0.25, 3.0], [0.0, 0.0]]), [1 / 32, 1 / 32])
    rng = np.random.default_rng(3)
    for _ in range(200):
        means = rng.normal(size=(5, 2))
        before = theory.pareto_set(means)
        cost = theory.moving_costs(means)
        arm = int(np.argmin(cost))
        step = math.sqrt(2 * cost[arm]) * 1.001 + 1e-9
        turned = [
            np.array([math.cos(angle), math.sin(angle)]) * step
            for angle in np.linspace(0, 2 * np.pi, 721)
        ]
        moved = [means + np.eye(5)[arm][:, None] * direction for direction in turned]
        assert any((theory.pareto_set(other) != before).any() for other in moved)


def test_the_lower_bound_stays_below_what_the_best_test_achieves():
    """Two arms, one objective: the better mean of n samples each errs with Phi(-gap sqrt(n/2))."""
    for n in (1, 4, 16):
        error = 0.5 * math.erfc(math.sqrt(n / 2) / math.sqrt(2))
        assert theory.budget_lower_bound([[1.0], [0.0]], 2 * n) <= error
    assert theory.budget_lower_bound([[1.0], [0.0]], 8) == 0.25 * math.exp(-2.0)


def adversary(means, n, left, rng):
    """Estimates whose differences are off by less than a quarter of the gap that matters."""
    reach = np.sort(theory.gaps(means))[left] / 4
    return means + rng.choice([-0.5, 0.5, 0.0], size=means.shape) * reach * (1 - 1e-9)


@pytest.mark.parametrize("scheme", ["SR", "SH"])
def test_no_arm_is_misjudged_while_differences_are_off_by_less_than_a_quarter_gap(scheme):
    """Proposition 13: by brute force, with an elimination written from the text of the proof."""
    rng = np.random.default_rng(7)
    for _ in range(400):
        K = int(rng.integers(2, 8))
        means = rng.integers(0, 6, size=(K, 2)).astype(float) + rng.normal(size=(K, 2)) / 50
        active, accepted = list(range(K)), []
        for _, n, left in theory.schedule(scheme, K, 500):
            seen = adversary(means, n, left, rng)[active]
            gap = theory.gaps(seen)
            optimal = theory.pareto_set(seen)
            order = sorted(range(len(active)), key=lambda at: (-gap[at], optimal[at]))
            leaving = order[: len(active) - left]
            accepted += [active[at] for at in leaving if optimal[at]]
            active = [arm for at, arm in enumerate(active) if at not in leaving]
        answer = np.isin(np.arange(K), [*accepted, *active])
        assert (answer == theory.pareto_set(means)).all()
