"""Evidence about two success rates: every step of theory/PROOFS.md, Section 14, and its figures.

`python tests/theory/test_binary.py 60` prints the tables of Section 14 with so many runs.
"""

from __future__ import annotations

import math
import sys

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid.theory import binary
from paretoid.theory.binary import difference_bound, log_evidence, log_mixture
from paretoid.theory.radii import Mixture
from paretoid.validation.rates import mean_evidence

NONE = (0.0, 0.0)


def exact_mixture(m, s, n, rho, plan=NONE):
    """l(m) with 40 digits, from the beta functions of the definition."""
    with mpmath.workdps(40):
        m, rho = mpmath.mpf(m), mpmath.mpf(rho)
        a, b = rho * m + plan[0], rho * (1 - m) + plan[1]
        marginal = mpmath.beta(a + s, b + n - s) / mpmath.beta(a, b)
        return mpmath.log(marginal / (m**s * (1 - m) ** (n - s)))


# --- the martingale -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "rho", "plan"),
    [((0.3, 0.3), 2.0, NONE), ((0.05, 0.4), 30.0, NONE), ((0.9, 0.5), 0.5, NONE),
     ((0.3, 0.3), 2.0, (0.5, 4.0)), ((0.05, 0.4), 30.0, (20.0, 1.0))],
)  # fmt: skip
def test_the_product_of_both_mixtures_has_mean_one_under_any_rule(m, rho, plan):
    """All 2^7 histories of an adaptive rule, each with its probability."""
    mean = mean_evidence(m, rho, plan, draws=7)
    assert mean == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("plan", [NONE, (0.7, 2.5)])
def test_the_closed_form_is_the_integral_over_the_prior(plan):
    m, s, n, rho = 0.2, 3, 8, 7.0
    a, b = rho * m + plan[0], rho * (1 - m) + plan[1]
    with mpmath.workdps(30):

        def integrand(theta):
            prior = theta ** (a - 1) * (1 - theta) ** (b - 1)
            return prior * (theta / m) ** s * ((1 - theta) / (1 - m)) ** (n - s)

        whole = mpmath.quad(integrand, [0, 0.2, 0.5, 1]) / mpmath.beta(a, b)
    found = float(log_mixture(m, s, n, rho, plan))
    assert found == pytest.approx(float(mpmath.log(whole)), rel=1e-10)


# --- the least value over the null ----------------------------------------------------------------


def test_every_term_of_the_logarithm_is_convex_in_the_rate():
    m, rho, k = sp.symbols("m rho k", positive=True)
    curvature = sp.diff(sp.log(rho + k / m), m, 2)
    assert sp.simplify(curvature - k * (2 * rho * m + k) / (m**2 * (rho * m + k) ** 2)) == 0
    # B(a + s, .)/B(a, .) is a product of a + k over k < s, so m^-s takes one m each. What a plan
    # adds to a = rho m stands beside k, and is as positive.
    s, plan = 4, sp.symbols("p", nonnegative=True)
    for x, more in ((rho * m, 0), (rho * m + plan, plan)):
        product = sp.expand_func(sp.gamma(x + s) / sp.gamma(x)) / m**s
        assert sp.simplify(product - sp.prod([rho + (i + more) / m for i in range(s)])) == 0


COUNTS = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
PLANS = st.sampled_from([NONE, NONE, (0.3, 9.7), (20.0, 5.0)])
GRID = 1 / (1 + np.exp(-np.linspace(-12, 12, 301)))
LINE = 1 / (1 + np.exp(-np.linspace(-20, 20, 4001)))


@settings(deadline=None, max_examples=60)
@given(
    COUNTS, COUNTS, st.sampled_from([0.5, 3.0, 30.0]), st.sampled_from([0.0, 0.1, -0.25]),
    PLANS, PLANS,
)  # fmt: skip
def test_the_evidence_is_the_least_over_the_whole_region(i, j, rho, eps, plan_i, plan_j):
    """On a grid of the square, on the border x = y + eps, and on the edges of the square."""

    def total_at(x, y):
        return log_mixture(x, *i, rho, plan_i) + log_mixture(y, *j, rho, plan_j)

    total = total_at(GRID[:, None], GRID[None])
    least = [total[GRID[:, None] >= GRID[None] + eps].min()]
    for x, y in (
        (LINE + eps, LINE), (LINE, LINE - eps), (LINE, np.full_like(LINE, 1e-12)),
        (np.full_like(LINE, 1 - 1e-12), LINE),
    ):  # fmt: skip
        inside = (x > 0) & (x < 1) & (y > 0) & (y < 1) & (x >= y + eps - 1e-15)
        least.append(total_at(x, y)[inside].min())
    found = float(log_evidence(*i, *j, rho, eps, (plan_i, plan_j)))
    assert found <= max(min(least), 0.0) + 1e-9
    assert found >= max(min(least), 0.0) - 0.01  # a step of the line is 1% of a rate


@pytest.mark.parametrize(
    ("i", "j", "rho", "plan"),
    [((6, 100), (30, 100), 30.0, NONE), ((0, 50), (9, 40), 3.0, NONE),
     ((20, 1000), (60, 1000), 300.0, NONE), ((1, 400), (12, 300), 30.0, NONE),
     ((400, 20_000), (700, 21_000), 1000.0, NONE), ((6, 100), (30, 100), 30.0, (2.0, 8.0)),
     ((1, 400), (12, 300), 30.0, (0.01, 9.99))],
)  # fmt: skip
def test_the_number_returned_is_never_above_the_exact_one(i, j, rho, plan):
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    with mpmath.workdps(40):

        def total(y):
            return exact_mixture(y, *i, rho, plan) + exact_mixture(y, *j, rho, plan)

        for _ in range(130):  # ternary search of a convex function
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, b) if total(a) < total(b) else (a, high)
        exact = float(total((low + high) / 2))
    found = float(log_evidence(*i, *j, rho, planned=(plan, plan)))
    assert found <= exact
    assert found == pytest.approx(exact, abs=1e-6)


def test_bounds_invert_the_evidence_and_both_sides_come_from_one_event():
    counts = (6, 100, 30, 100)
    high = float(difference_bound(*counts, alpha=0.05))
    low = -float(difference_bound(30, 100, 6, 100, alpha=0.05))
    assert low < -0.24 < high < 0
    for eps, shown in ((high, True), (high - 1e-6, False)):
        assert (float(log_evidence(*counts, eps=eps)) >= math.log(20)) is shown
    # E(x, y) < 1/alpha is one region of pairs; both bounds are extremes of x - y over it.
    rates = np.linspace(0.001, 0.999, 999)
    total = log_mixture(rates, 6, 100, 30.0)[:, None] + log_mixture(rates, 30, 100, 30.0)[None]
    inside = (rates[:, None] - rates[None])[total < math.log(20)]
    assert inside.max() == pytest.approx(high, abs=0.003)
    assert inside.min() == pytest.approx(low, abs=0.003)


def test_exchanging_success_and_failure_or_both_arms_changes_nothing_else():
    assert float(log_evidence(6, 100, 30, 90)) == pytest.approx(
        float(log_evidence(60, 90, 94, 100)),
        rel=1e-9,  # failures of j below failures of i
    )
    assert float(log_evidence(30, 90, 6, 100)) == 0.0


def test_impossible_counts_are_refused():
    for counts in ((3, 2, 0, 1), (-1, 2, 0, 1), (0.5, 2, 0, 1), (0, 1, 0, math.nan)):
        with pytest.raises(ValueError, match="whole numbers with 0 <= successes <= draws"):
            log_evidence(*counts)
    with pytest.raises(ValueError, match="rho"):
        log_evidence(1, 2, 1, 2, rho=0.0)
    with pytest.raises(ValueError, match="eps=1"):
        log_evidence(1, 2, 1, 2, eps=1.0)
    for planned in ((-1.0, 1.0), (NONE,), ((0.0, math.nan), NONE)):
        with pytest.raises(ValueError, match="the draws that a plan adds"):
            log_evidence(1, 2, 1, 2, planned=planned)
    with pytest.raises(ValueError, match="alpha=0"):
        difference_bound(1, 2, 1, 2, alpha=0)


# --- simulated ------------------------------------------------------------------------------------


def first_crossing(success_i, success_j, rho, alpha):
    """Pairs of draws until one of two rates is shown to be below the other, and which; 0 if never.

    Both arms are drawn in turn. The value at the pooled rate is above the least one, so that only
    where it is large enough the least one is computed.
    """
    n = np.arange(1, success_i.shape[1] + 1)
    s_i, s_j = np.cumsum(success_i, axis=1), np.cumsum(success_j, axis=1)
    level = math.log(1 / alpha)
    pooled = np.clip((s_i + s_j) / (2 * n), 1e-12, 1 - 1e-12)
    promising = log_mixture(pooled, s_i, n, rho) + log_mixture(pooled, s_j, n, rho) >= level
    times, lower = np.zeros(len(s_i), dtype=int), np.zeros(len(s_i), dtype=int)
    for run in range(len(s_i)):
        at = np.flatnonzero(promising[run])
        for part in np.array_split(at, max(1, len(at) // 200)):
            a, b, m = s_i[run, part], s_j[run, part], n[part]
            below, above = log_evidence(a, m, b, m, rho), log_evidence(b, m, a, m, rho)
            crossed = np.flatnonzero(np.maximum(below, above) >= level)
            if len(crossed):
                times[run] = m[crossed[0]]
                lower[run] = -1 if below[crossed[0]] >= level else 1
                break
    return times, lower


def drawn(rng, p, q, runs, length):
    return rng.random((runs, length)) < p, rng.random((runs, length)) < q


@pytest.mark.parametrize("m", [0.02, 0.3])
def test_equal_rates_are_told_apart_no_more_often_than_alpha(m):
    """200 runs to 1,000 pairs at alpha = 0.1, both directions together: at most 20 expected; more
    than 41 would happen to a correct test with probability below 1e-5 (binomial, p = 0.1)."""
    times, _ = first_crossing(*drawn(np.random.default_rng(5), m, m, 200, 1000), 30.0, 0.1)
    assert (times > 0).sum() <= 41


@pytest.mark.parametrize(
    ("p", "q", "rho", "most"), [(0.02, 0.06, 30.0, 2000), (0.01, 0.02, 300.0, 8000)]
)
def test_rare_events_are_told_apart_with_few_samples(p, q, rho, most):
    """Means of 60 runs lie 25% and more below `most`, five standard errors and more."""
    length = 4 * most
    times, lower = first_crossing(*drawn(np.random.default_rng(7), p, q, 60, length), rho, 0.1)
    assert (times > 0).all()
    assert 2 * times.mean() < most
    assert (lower == 1).sum() <= 16  # expected at most 6 of 60; a correct one fails below 1e-4


def path_samples(p, q, rho, alpha=0.1):
    """Samples of both arms on the path without noise, s = n p: where the evidence is enough."""
    r = binary._Prior(rho, *NONE)

    def evidence(n):
        low, high = 0.0, 1.0
        for _ in range(50):
            y = (low + high) / 2
            rising = binary._slope(y, n * p, n, r) + binary._slope(y, n * q, n, r) > 0
            low, high = (low, y) if rising else (y, high)
        return float(binary._value(y, n * p, n, r)[0] + binary._value(y, n * q, n, r)[0])

    return 2 * crossing(lambda n: evidence(n) >= math.log(1 / alpha))


def subgaussian_samples(p, q, rho, alpha=0.1):
    """The same with Mixture on one pair, scale 1/2, both sides."""
    radius = Mixture(rho=rho, union="pairs")
    return 2 * crossing(lambda n: float(radius.half_width(n, n, 2, 1, alpha)) / 2 < abs(p - q))


def crossing(enough):
    """The least n, within 0.1%, at which a condition that stays true becomes true."""
    low, high = 2.0, 1e8
    while high / low > 1.001:
        n = math.sqrt(low * high)
        low, high = (low, n) if enough(n) else (n, high)
    return high


def test_with_the_same_rho_it_is_never_behind_a_sub_gaussian_interval():
    """A grid of [0.01, 0.99]^2 with gaps of 0.02 or more; worst at 0.50 against 0.52."""
    rates = [0.01, 0.08, 0.22, 0.36, 0.5, 0.64, 0.85, 0.99]
    pairs = {(p, q) for p in rates for q in (*rates, p + 0.02, p + 0.1) if 0.0199 < q - p and q < 1}
    ratios = [path_samples(p, q, 30.0) / subgaussian_samples(p, q, 30.0) for p, q in pairs]
    assert len(ratios) > 35
    assert max(ratios) < 1.01
    assert min(ratios) < 0.06  # 0.01 against 0.03


def table(runs):
    """The tables of Section 14: paths without noise for several rho, and runs for two."""
    for (p, q), rhos in (((0.02, 0.06), (30, 33, 100, 300)), ((0.01, 0.02), (30, 333, 1000, 3000))):
        for rho in rhos:
            ours, theirs = path_samples(p, q, rho), subgaussian_samples(p, q, rho)
            print(f"| {p} {q} | {rho} | {ours:,.0f} | {theirs:,.0f} |", flush=True)
    for p, q, rho in (
        (0.02, 0.06, 30.0),
        (0.02, 0.06, 100.0),
        (0.01, 0.02, 30.0),
        (0.01, 0.02, 1000.0),
    ):
        length = int(1.5 * path_samples(p, q, rho))  # three times the path: a limit
        times, lower = first_crossing(
            *drawn(np.random.default_rng(1), p, q, runs, length), rho, 0.1
        )
        ended = np.where(times == 0, length, times)
        error = 2 * ended.std() / math.sqrt(runs)
        print(
            f"{p} {q} rho {rho:.0f}: {2 * ended.mean():,.0f} +- {error:,.0f}, {(lower == 1).sum()} "
            f"wrong, {(times == 0).sum()} at the limit of {2 * length:,}", flush=True
        )  # fmt: skip


if __name__ == "__main__":
    table(int(sys.argv[1]))
