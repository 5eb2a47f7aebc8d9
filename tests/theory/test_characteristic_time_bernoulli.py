"""T* of outcomes 0 or 1, against references that share no code with it.

The reference writes every way to change the Pareto set as linear constraints on lambda, over *all*
other arms, and minimises the sum of Bernoulli divergences under them by a general solver.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize, minimize_scalar

import paretoid as pt
from paretoid import theory
from paretoid.bounds import Problem, sample_bounds
from paretoid.theory.alternatives import Alternatives, divergence


def kl(p, q):
    """The textbook formula, with 0 log 0 = 0."""
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


def systems(mu):
    """Constraints (a, b, d), lambda_a^d >= lambda_b^d, of which one set must hold to change S*."""
    K, D = mu.shape
    optimal = theory.pareto_set(mu)
    for i in range(K):
        others = [j for j in range(K) if j != i]
        if optimal[i]:
            yield from ([(j, i, d) for d in range(D)] for j in others)
        else:
            for u in itertools.product(range(D), repeat=K - 1):
                yield [(i, j, d) for j, d in zip(others, u, strict=True)]


def slow_cost(mu, w, binary):
    """F(w), by a general solver on every system; the Gaussian objectives have scale 1."""

    def parts(values):
        lam = np.clip(values.reshape(mu.shape), 1e-9, 1 - 1e-9) * binary
        lam = np.where(binary, lam, values.reshape(mu.shape))
        p, q = np.where(binary, mu, 0.5), np.where(binary, lam, 0.5)
        cost = (
            p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)) + ~binary * (mu - lam) ** 2 / 2
        )
        slope = (q - p) / (q * (1 - q)) + ~binary * (lam - mu)
        return float((w[:, None] * cost).sum()), (w[:, None] * slope).ravel()

    best = math.inf
    for system in systems(mu):
        rows = np.zeros((len(system), *mu.shape))
        for row, (a, b, d) in zip(rows, system, strict=True):
            row[a, d], row[b, d] = 1.0, -1.0
        limits = [
            (1e-6, 1 - 1e-6) if b else (None, None)
            for b in np.broadcast_to(binary, mu.shape).ravel()
        ]
        solved = minimize(
            parts, mu.ravel(), jac=True, method="SLSQP", bounds=limits,
            constraints=LinearConstraint(rows.reshape(len(system), -1), lb=0.0),
            options={"maxiter": 300, "ftol": 1e-13},
        )  # fmt: skip
        if solved.success:
            best = min(best, solved.fun)
    return best


@pytest.mark.parametrize(("K", "D"), [(2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (3, 3)])
@pytest.mark.parametrize("mixed", [False, True])
def test_the_cheapest_alternative_is_that_of_a_general_solver(K, D, mixed):
    rng = np.random.default_rng([K, D, mixed])
    binary = np.arange(D) >= (1 if mixed else 0)
    for _ in range(4):
        mu, w = rng.uniform(0.1, 0.9, size=(K, D)), rng.dirichlet(np.full(K, 3.0))
        F = Alternatives(mu, np.ones((K, D)), binary.astype(int)).planes(w)[0].min()
        # 1e-5: the solver stops when a step gains less than 1e-13, costs are of the order 1e-3
        assert F == pytest.approx(slow_cost(mu, w, binary), rel=1e-5)


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-9, 1 - 1e-9) | st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1 - 1e-9))
def test_two_coins_are_the_best_of_all_shares(p, q):
    if abs(p - q) < 1e-3:
        return

    def cost(share):
        meet = share * p + (1 - share) * q
        return share * kl(p, meet) + (1 - share) * kl(q, meet)

    best = minimize_scalar(lambda x: -cost(x), bounds=(0, 1), options={"xatol": 1e-9})
    time = theory.characteristic_time([[p], [q]], outcomes="bernoulli")
    assert 1 / time.time == pytest.approx(-best.fun, rel=3e-6)  # the bracket is 1e-6 wide
    assert time.weights[0] == pytest.approx(best.x, abs=0.01)


def test_no_random_alternative_is_cheaper_than_the_characteristic_cost():
    rng = np.random.default_rng(4)
    changed = 0
    for _ in range(20):
        mu = rng.uniform(0.02, 0.98, size=(4, 2))
        time = theory.characteristic_time(mu, outcomes="bernoulli")
        for lam in np.clip(mu + rng.normal(size=(300, 4, 2)) * 0.15, 0.001, 0.999):
            if (theory.pareto_set(lam) != theory.pareto_set(mu)).any():
                parts = [
                    [kl(p, q) for p, q in zip(*rows, strict=True)]
                    for rows in zip(mu, lam, strict=True)
                ]
                assert time.weights @ np.sum(parts, axis=1) >= (1 - 1e-9) / time.time
                changed += 1
    assert changed > 1000


def test_less_is_better_is_the_probability_of_the_complement():
    mu = np.random.default_rng(2).uniform(0.05, 0.95, size=(6, 2))
    negated = theory.characteristic_time(mu * [1, -1], outcomes="bernoulli")
    complement = theory.characteristic_time(
        np.column_stack([mu[:, 0], 1 - mu[:, 1]]), outcomes="bernoulli"
    )
    assert negated.time == pytest.approx(complement.time, rel=2e-6)
    bandit = pt.BernoulliBandit(mu, minimize=["objective 1"])
    assert Problem.of(bandit).time.time == negated.time


def test_near_one_half_coins_are_almost_gaussian_with_scale_one_half_and_elsewhere_far_from_it():
    close = [[0.5, 0.502], [0.503, 0.5], [0.499, 0.499]]
    coins, normal = (
        theory.characteristic_time(close, 0.5, outcomes=law).time
        for law in ("bernoulli", "gaussian")
    )
    assert coins == pytest.approx(normal, rel=1e-4)  # kl(1/2 + x, 1/2) = 2 x^2 (1 + 2 x^2/3 + ...)
    rare = [[0.02], [0.06]]
    coins, normal = (
        theory.characteristic_time(rare, 0.5, outcomes=law).time
        for law in ("bernoulli", "gaussian")
    )
    assert coins < normal / 6


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("p", [1e-4, 0.3, 0.999])
@pytest.mark.parametrize("sign", [1, -1])
def test_divergence_keeps_its_digits_where_means_almost_meet(p, shift, sign):
    shift *= min(p, 1 - p) * sign
    with mpmath.workdps(60):
        a, b = mpmath.mpf(p), mpmath.mpf(p) + mpmath.mpf(shift)
        exact = a * mpmath.log(a / b) + (1 - a) * mpmath.log((1 - a) / (1 - b))
    found = divergence(np.array([p]), np.array([shift]), np.ones(1), np.array([1]))[0]
    assert found == pytest.approx(float(exact), rel=1e-13)


def test_sure_events_have_a_finite_time_and_ties_have_none():
    assert theory.characteristic_time([[0.0], [1.0]], outcomes="bernoulli").time == pytest.approx(
        1 / math.log(2),
        rel=1e-5,  # equal shares meet at 1/2, kl(0, 1/2) = log 2
    )
    tied = theory.characteristic_time([[0.0, 1.0], [0.0, 1.0]], outcomes="bernoulli")
    assert math.isinf(tied.time)


def test_bernoulli_bounds_are_those_of_their_own_divergence_and_theorem_2_is_silent():
    bounds = sample_bounds(pt.BernoulliBandit([[0.02], [0.06]]))
    assert "lower_bound" not in bounds
    time = theory.characteristic_time([[0.02], [0.06]], outcomes="bernoulli")
    assert bounds["characteristic"] == time.samples(0.1)
    assert "Bernoulli" in bounds["characteristic"].holds

    class Together(pt.BernoulliBandit):
        """Objectives may be drawn together."""

    assert "characteristic" not in sample_bounds(Together([[0.02], [0.06]]))


def test_the_gaussian_bound_with_scale_one_half_is_no_bound_for_rare_events():
    """By hand: gap 0.04, T* = 8 (1/2)^2 / 0.04^2 = 1250, times kl(0.1, 0.9) = 0.8 log 9."""
    gaussian = theory.characteristic_lower_bound([[0.02], [0.06]], 0.1, 0.5)
    assert gaussian == pytest.approx(1250 * 0.8 * math.log(9), rel=1e-5)  # 2,197
    assert sample_bounds(pt.BernoulliBandit([[0.02], [0.06]]))["characteristic"] < 400


@pytest.mark.parametrize(
    ("means", "outcomes", "said"),
    [
        ([[0.5], [1.5]], "bernoulli", r"means\[:, 0\]=\[0.5, 1.5\] must lie in \[0, 1\]"),
        ([[0.5], [-0.5]], "bernoulli", "must lie in"),
        ([[0.5], [0.4]], "poisson", "outcomes='poisson' must be one of 'gaussian', 'bernoulli'"),
        ([[0.5], [0.4]], ["gaussian", "bernoulli"], "names 2 objectives, and means has 1"),
        ([[0.5], [0.4]], "", "must be one of"),
    ],
)  # fmt: skip
def test_other_outcomes_are_refused(means, outcomes, said):
    with pytest.raises(ValueError, match=said):
        theory.characteristic_time(means, outcomes=outcomes)
