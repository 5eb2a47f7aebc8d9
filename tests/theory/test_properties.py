"""Exact properties. Means are multiples of 1/8, so ties are common and floats are exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory
from paretoid.theory import KaufmannKoolen, Mixture

exactly = settings(deadline=None, max_examples=60)


@st.composite
def eighths(draw, least_objectives=1):
    K = draw(st.integers(2, 6))
    D = draw(st.integers(least_objectives, 4))
    row = st.lists(st.integers(-16, 16), min_size=D, max_size=D)
    return np.array(draw(st.lists(row, min_size=K, max_size=K))) / 8


epsilons = st.integers(0, 12).map(lambda n: n / 8)
deltas = st.floats(1e-6, 0.999)
radii = st.sampled_from([Mixture(), Mixture(rho=200.0, union="pairs"), KaufmannKoolen()])

UPPER = [
    theory.theorem_1,
    theory.expected_samples_lucb1,
    lambda *a, **b: theory.expected_samples_lucb1(*a, **b, form="closed"),
    lambda *a, **b: theory.sample_bound(*a, Mixture(), **b),
    lambda *a, **b: theory.sample_bound(*a, KaufmannKoolen(), **b),
]


def rational_gaps(means):
    """(pareto set, omega, gaps) in exact arithmetic, each from its definition alone."""
    mu = [[Fraction(float(x)) for x in row] for row in means]
    K = len(mu)
    M = [[max(x - y for x, y in zip(a, b, strict=True)) for b in mu] for a in mu]
    optimal = [not any(all(x < y for x, y in zip(a, b, strict=True)) for b in mu) for a in mu]
    omega = [min(M[i][j] for j in range(K) if j != i) for i in range(K)]
    delta = [None] * K
    for i in range(K):
        if not optimal[i]:
            delta[i] = max(-M[i][j] for j in range(K) if optimal[j])
    for i in range(K):
        if optimal[i]:
            others = [j for j in range(K) if optimal[j] and j != i]
            below = [j for j in range(K) if not optimal[j]]
            if not others:
                delta[i] = min(delta[j] for j in below)
            else:
                plus = [min(M[i][j], M[j][i]) for j in others]
                minus = [max(M[j][i], 0) + delta[j] for j in below]
                delta[i] = min(plus + minus)
    return optimal, omega, delta


@exactly
@given(eighths())
def test_floats_agree_with_rational_arithmetic_also_on_ties(means):
    optimal, omega, delta = rational_gaps(means)
    assert theory.pareto_set(means).tolist() == optimal
    assert [Fraction(float(w)) for w in theory.omega(means)] == omega
    assert [Fraction(float(g)) for g in theory.gaps(means)] == delta


@exactly
@given(eighths(), st.randoms(use_true_random=False))
def test_relabelling_arms_relabels_everything(means, random):
    order = list(range(len(means)))
    random.shuffle(order)
    for function in (theory.gaps, theory.omega, theory.pareto_set):
        np.testing.assert_array_equal(function(means[order]), function(means)[order])
    for k in range(1, len(means) + 1):
        assert theory.omega_k(means[order], k) == theory.omega_k(means, k)
    M = theory.margins(means)
    np.testing.assert_array_equal(theory.margins(means[order]), M[np.ix_(order, order)])


@exactly
@given(eighths(), st.randoms(use_true_random=False))
def test_relabelling_objectives_changes_nothing(means, random):
    order = list(range(means.shape[1]))
    random.shuffle(order)
    for function in (theory.gaps, theory.omega, theory.pareto_set, theory.margins):
        np.testing.assert_array_equal(function(means[:, order]), function(means))


@exactly
@given(eighths(), st.lists(st.integers(-40, 40), min_size=4, max_size=4))
def test_shifting_changes_nothing(means, shift):
    moved = means + np.array(shift[: means.shape[1]]) / 8
    for function in (theory.gaps, theory.omega, theory.pareto_set, theory.margins):
        np.testing.assert_array_equal(function(moved), function(means))


@exactly
@given(eighths(), st.integers(-8, 8), deltas, epsilons)
def test_scaling_scales_gaps_and_leaves_scaled_bounds_alone(means, power, delta, eps):
    c = 2.0**power
    np.testing.assert_array_equal(theory.gaps(c * means), c * theory.gaps(means))
    np.testing.assert_array_equal(theory.omega(c * means), c * theory.omega(means))
    for bound in UPPER:
        assert bound(c * means, delta, eps1=c * eps, scale=c) == bound(means, delta, eps1=eps)


@exactly
@given(eighths())
def test_gaps_of_optimal_arms_are_at_most_omega(means):
    optimal = theory.pareto_set(means)
    assert (theory.gaps(means) <= theory.omega(means))[optimal].all()


@exactly
@given(eighths())
def test_gaps_are_positive_below_the_front_and_never_negative(means):
    gaps, optimal = theory.gaps(means), theory.pareto_set(means)
    assert (gaps[~optimal] > 0).all()
    assert (gaps >= 0).all()


@exactly
@given(eighths())
def test_maximum_over_the_front_is_the_maximum_over_all_arms(means):
    m = -theory.margins(means)
    optimal = theory.pareto_set(means)
    below = np.flatnonzero(~optimal)
    np.testing.assert_array_equal(m[below].max(axis=1), m[np.ix_(below, optimal)].max(axis=1))


@exactly
@given(eighths())
def test_closest_suboptimal_arm_is_dominated_by_one_arm_only(means):
    # Lemma existence_dom ii)
    M = theory.margins(means)
    optimal = theory.pareto_set(means)
    dominated = theory.domination(means)
    for j in np.flatnonzero(optimal):
        row = np.where(np.arange(len(M)) == j, np.inf, M[j])
        for i in np.flatnonzero(row == row.min()):
            if not optimal[i]:
                assert np.flatnonzero(dominated[i]).tolist() == [j]


@exactly
@given(eighths())
def test_omega_k_is_positive_iff_k_arms_are_optimal_up_to_ties(means):
    size = int(theory.pareto_set(means).sum())
    strict = int((theory.omega(means) > 0).sum())
    for k in range(1, len(means) + 1):
        value = theory.omega_k(means, k)
        assert (value > 0) == (strict >= k)
        assert (value >= 0) == (size >= k)


@exactly
@given(eighths(), st.data())
def test_beyond_the_k_easiest_optimal_arms_cost_what_the_kth_costs(means, data):
    optimal = theory.pareto_set(means)
    k = data.draw(st.integers(1, int(optimal.sum())))
    easiest = theory.easiest_arms(means, k)
    assert optimal[easiest].all()
    others = optimal & ~easiest
    assert (theory.combined_gaps(means, k=k)[others] == theory.omega_k(means, k)).all()


@exactly
@given(eighths(), epsilons, epsilons)
def test_eps_sets_are_nested(means, first, second):
    small, large = sorted((first, second))
    inner, outer = theory.pareto_set(means, small), theory.pareto_set(means, large)
    assert (inner <= outer).all()
    assert (theory.pareto_set(means) <= inner).all()
    assert theory.pareto_set(means).any()


@exactly
@given(eighths(), deltas, deltas)
def test_bounds_fall_as_delta_rises(means, first, second):
    small, large = sorted((first, second))
    K = len(means)
    calls = [*UPPER, theory.cover_bound, lambda m, d: theory.lower_bound(m, d, K)]
    if means.shape[1] == 1:
        calls += [theory.best_arm_bound, theory.best_arm_lower_bound]
    for bound in calls:
        assert bound(means, large) <= bound(means, small)


@exactly
@given(eighths(), deltas, epsilons, epsilons)
def test_bounds_fall_as_eps_rises(means, delta, first, second):
    small, large = sorted((first, second))
    for bound in (*UPPER, theory.cover_bound):
        assert bound(means, delta, eps1=large) <= bound(means, delta, eps1=small)


@pytest.mark.slow
@exactly
@given(eighths(), deltas)
def test_bounds_rise_with_k_up_to_the_whole_set(means, delta):
    K = len(means)
    for bound in UPPER:
        values = [bound(means, delta, k=k) for k in range(1, K + 1)]
        assert values == sorted(values)
        assert values[-1] <= bound(means, delta)
    lower = [theory.lower_bound(means, delta, k) for k in range(1, K + 1)]
    assert lower == sorted(lower)


@exactly
@given(eighths(), deltas, radii)
def test_the_sharp_bound_is_below_theorem_1_and_above_two_an_arm(means, delta, radius):
    sharp = theory.sample_bound(means, delta, radius)
    assert sharp >= 2 * len(means)
    if isinstance(radius, KaufmannKoolen):
        assert sharp <= theory.theorem_1(means, delta)


@exactly
@given(eighths(), deltas)
def test_nothing_is_nan(means, delta):
    for bound in UPPER:
        value = bound(means, delta)
        assert value > 0
        assert (value == np.inf) == bool((value.gaps == 0).any())


@exactly
@given(st.lists(st.integers(-16, 16), min_size=2, max_size=6, unique=True), deltas)
def test_counting_pairs_with_the_best_arm_never_costs_more(values, delta):
    means = np.array(values)[:, None] / 8
    best = theory.best_arm_bound(means, delta, union="best")
    assert best <= theory.best_arm_bound(means, delta)
    assert theory.best_arm_lower_bound(means, delta) <= theory.best_arm_bound(means, delta)


@exactly
@given(st.floats(1e-4, 50.0), st.floats(1e-4, 50.0), deltas, radii, st.integers(2, 50))
def test_larger_gaps_need_fewer_samples(first, second, delta, radius, K):
    small, large = sorted((first, second))
    counts = theory.samples_to_separate([small, large], radius, K, 2, delta)
    assert counts[0] >= counts[1] >= 2
