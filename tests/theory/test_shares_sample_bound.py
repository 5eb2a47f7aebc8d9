"""How many samples APE needs with shares or a rho for each arm: PROOFS.md, Section 9.

`samples_to_separate` and `sample_bound` below are the reference implementations: written for
reading, in scale units, on the event that every lower and every upper interval holds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory
from paretoid.theory.one_sided import first_usable_count
from paretoid.theory.shares import Shares, informed_rho, informed_shares

exactly = settings(deadline=None, max_examples=300)


# --- the reference --------------------------------------------------------------------------------


@dataclass
class Design:
    """A mixture with shares and a rho for each arm."""

    K: int
    D: int
    delta: float
    rho: np.ndarray
    shares: Shares
    sides: str = "one"

    def __post_init__(self):
        self.terms = self.shares.role_terms(self.K, self.D, self.delta, sides=self.sides)
        self.first = np.ones(self.K, dtype=int)
        if self.sides == "one":
            self.first = np.asarray(first_usable_count(self.rho))

    def widths(self, b, c, n, q):
        """Half-widths of L_bc^d, the largest over d, and of U_bc, at counts n of b and q of c."""
        l = math.log1p(n / self.rho[b]) + math.log1p(q / self.rho[c])
        v = (n + self.rho[b]) / n**2 + (q + self.rho[c]) / q**2
        keep = self.terms.keep_arm[b] + self.terms.keep_objective.max()
        drop = self.terms.drop_arm[b] + self.terms.drop_rival[c]
        return math.sqrt((keep + l) * v), math.sqrt((drop + l) * v)

    def pairs(self, arm=None):
        """Ordered pairs (b, c), all or those in which `arm` has either role."""
        return [
            pair for pair in itertools.permutations(range(self.K), 2) if arm is None or arm in pair
        ]


def first_count(least, narrow):
    """The first n >= least with narrow(n), for a condition that stays true once it is."""
    high = least
    while not narrow(high):
        high *= 2
    low = least - 1 if high == least else high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high


def samples_to_separate(gap, design, arm=None):
    """The first n from which, at equal counts n, every pair's two half-widths together are < gap.

    Every pair in both roles (every pair that `arm` is in), the worst objective, counts from which
    the radius is finite for all arms concerned.
    """
    pairs = design.pairs(arm)
    least = max(2, int(max(design.first[list(pair)].max() for pair in pairs)))
    return first_count(least, lambda n: all(sum(design.widths(b, c, n, n)) < gap for b, c in pairs))


def sample_bound(gaps, design):
    """(K,) samples of each arm, at most: the widest interval over rivals, roles, their counts."""
    most = max(samples_to_separate(min(gaps), design), int(design.first.max()))

    def width(arm, n):
        largest = 0.0
        for b, c in design.pairs(arm):
            same = design.widths(b, c, n, n)
            far = design.widths(b, c, *((n, most) if b == arm else (most, n)))
            largest = max(largest, max(same[0], far[0]) + max(same[1], far[1]))
        return largest

    return np.array(
        [
            first_count(
                max(2, int(design.first[arm])), lambda n, arm=arm: width(arm, n) < gaps[arm]
            )
            for arm in range(design.K)
        ]
    )


def probability_of_the_event(design):
    """What the union bound leaves of the event that every lower and every upper bound holds.

    Each bound rests on one supermartingale: its constant says which. Where it is 2 log(1/level),
    that is the two-sided one of the pair and objective, else the half-plane on which the bound
    fails. Each supermartingale costs the largest level that rests on it.
    """
    keep = design.shares.keep_levels(design.K, design.D, design.delta)
    drop = design.shares.drop_levels(design.K, design.delta)
    terms, costs = design.terms, {}

    def pay(level, constant, over, under, d):
        half = constant < -2 * math.log(level) - 1e-9
        rests_on = (over, under, d) if half else (frozenset((over, under)), d)
        costs[rests_on] = max(costs.get(rests_on, 0.0), level)

    for i, j in design.pairs():
        for d in range(design.D):  # L_ij fails where i - j is overestimated, U_ij where j - i is
            pay(keep[i, d], terms.keep_arm[i] + terms.keep_objective[d], i, j, d)
            pay(drop[i, j], terms.drop_arm[i] + terms.drop_rival[j], j, i, d)
    return max(0.0, 1 - sum(costs.values()))


# --- the lemmas at (b_t, c_t), with intervals that differ by order and objective -----------------


@dataclass
class Round:
    """One round: truth, estimates, half-widths (K, K, D) of lower and upper bounds."""

    means: np.ndarray
    estimates: np.ndarray
    keep: np.ndarray
    drop: np.ndarray
    eps1: float

    def __post_init__(self):
        difference = self.estimates[:, None] - self.estimates[None]
        self.lower = (difference - self.keep).max(axis=2)  # M^-
        self.upper = (difference + self.drop).max(axis=2)  # M^+
        np.fill_diagonal(self.lower, np.inf)
        np.fill_diagonal(self.upper, np.inf)
        self.opt = self.lower.min(axis=1) + self.eps1 > 0
        self.going = not self.opt.all()
        if self.going:
            index = np.where(self.opt, -np.inf, self.upper.min(axis=1))
            self.b = int(index.argmax())
            self.c = int(self.lower[self.b].argmin())
            self.width = float((self.keep + self.drop)[self.b, self.c].max())
            self.going = bool(self.upper[self.b].min() >= 0)


@st.composite
def rounds(draw):
    """All numbers are multiples of 1/8, so exact; every interval holds, by chance only just."""
    K, D = draw(st.integers(2, 5)), draw(st.integers(1, 3))

    def table(low, high, size):
        values = st.lists(st.integers(low, high), min_size=size, max_size=size)
        return np.array(draw(values)) / 8

    means, noise = (table(low, -low, K * D).reshape(K, D) for low in (-12, -4))
    error = noise[:, None] - noise[None]
    extra = table(0, 6, 2 * K * K * D).reshape(2, K, K, D)
    keep, drop = np.maximum(error, 0) + extra[0], np.maximum(-error, 0) + extra[1]
    return Round(means, means + noise, keep, drop, draw(st.integers(0, 4)) / 8)


@settings(deadline=None, max_examples=1000)
@given(rounds())
def test_gaps_are_within_the_width_at_b_and_c_in_this_order(t):
    if t.going:
        gaps = theory.gaps(t.means)
        assert max(gaps[t.b], gaps[t.c], t.eps1) <= t.width
        for k in range(int(t.opt.sum()) + 1, len(t.means) + 1):
            assert theory.omega_k(t.means, k) <= t.width


def test_the_width_in_the_other_order_does_not_do():
    """U_bc and L_bc decide; with uneven shares the width at (c, b) can be too small."""
    means = np.array([[0.0], [1.0]])
    keep, drop = np.zeros((2, 2, 1)), np.zeros((2, 2, 1))
    keep[0, 1] = drop[0, 1] = 2.0  # arm 0's share is small, its intervals are wide
    t = Round(means, means, keep, drop, 0.0)
    assert t.going
    assert (t.b, t.c) == (0, 1)
    assert theory.gaps(means).max() > float((keep + drop)[1, 0].max())


# --- from (b_t, c_t) to counts --------------------------------------------------------------------


def test_in_the_partner_s_count_the_square_falls_and_then_rises():
    # g(q) = (B + log(1 + q/rho)) (V + (q + rho)/q^2); with x = q/rho it rises iff V > k(x),
    # k = (1 + x)((x + 2) Lam - x)/x^3 (in units of 1/rho), Lam = B + log(1 + x)
    x, rho, B, V, Lam = sp.symbols("x rho B V Lam", positive=True)
    q = sp.symbols("q", positive=True)
    g = (B + sp.log(1 + q / rho)) * (V + (q + rho) / q**2)
    k = (1 + x) * ((x + 2) * (B + sp.log(1 + x)) - x) / x**3 / rho
    slope = sp.diff(g, q).subs(q, rho * x)
    assert sp.simplify(slope - (V - k) / (rho * (1 + x))) == 0
    # k falls: its logarithmic slope falls in Lam, and Lam >= log(1 + x) >= 2x/(x + 2)
    part = (Lam + 1 / (1 + x)) / ((x + 2) * Lam - x)
    down = sp.diff(part, Lam) * ((x + 2) * Lam - x) ** 2
    assert sp.simplify(down + x + (x + 2) / (1 + x)) == 0
    log_slope = 1 / (1 + x) - 3 / x + part
    inner = (x + 2) * (B + sp.log(1 + x)) - x
    assert sp.simplify(sp.diff(sp.log((1 + x) * inner / x**3), x)
                       - log_slope.subs(Lam, B + sp.log(1 + x))) == 0  # fmt: skip
    at_least = log_slope.subs(Lam, 2 * x / (x + 2))
    assert sp.simplify(at_least - (2 / (x + 2) - 2 / x)) == 0  # negative
    assert sp.simplify(sp.diff(sp.log(1 + x) - 2 * x / (x + 2), x)
                       - x**2 / ((1 + x) * (x + 2) ** 2)) == 0  # fmt: skip


def test_at_equal_counts_the_square_falls():
    # l'/l <= (1/(2n)) (1 + rho/(n + rho)) < 1/n, and v'/v = -(1/n)(1 + rho/(n + rho)) < -1/n
    n, rho = sp.symbols("n rho", positive=True)
    v = (n + rho) / n**2
    assert sp.simplify(sp.diff(sp.log(v), n) + (1 + rho / (n + rho)) / n) == 0
    bound = (1 / (n + rho)) / (2 * (n / rho) / (n / rho + 2))  # l'/l with log(1+x) >= 2x/(x+2)
    assert sp.simplify(bound - (1 + rho / (n + rho)) / (2 * n)) == 0


@exactly
@given(
    st.floats(0, 50), st.floats(1e-2, 1e4), st.floats(1e-2, 1e4), st.integers(1, 1000),
    st.integers(1, 10**5),
)  # fmt: skip
def test_the_largest_square_over_partners_is_at_an_end_and_falls_in_n(C, rho_a, rho_j, n, more):
    def square(first, second):
        l = np.log1p(first / rho_a) + np.log1p(second / rho_j)
        return (C + l) * ((first + rho_a) / first**2 + (second + rho_j) / second**2)

    most = n + more
    partners = np.unique(np.geomspace(n, most, 400))
    assert square(n, partners).max() <= max(square(n, n), square(n, most)) * (1 + 1e-12)
    own = np.unique(np.geomspace(n, most, 400))
    worst = np.maximum(square(own, own), square(own, most))
    assert (np.diff(worst) <= 1e-12 * worst[1:]).all()
    assert (np.diff(square(own, own)) < 0).all()


def ape(means, design, noise, limit=100_000):
    """(counts, whether all intervals held): APE for the exact set; `noise` gives a draw's error."""
    K, D = means.shape
    counts = design.first.copy()
    sums = np.array([sum((means[i] + noise(D) for _ in range(counts[i])), np.zeros(D))
                     for i in range(K)])  # fmt: skip
    truth, held, terms = means[:, None] - means[None], True, design.terms
    for _ in range(limit):
        x = sums / counts[:, None]
        l = np.log1p(counts / design.rho)
        v = (counts + design.rho) / counts**2
        logs, spread = (l[:, None] + l)[..., None], (v[:, None] + v)[..., None]
        keep = np.sqrt((terms.keep_arm[:, None, None] + terms.keep_objective + logs) * spread)
        drop = np.sqrt((terms.drop_arm[:, None] + terms.drop_rival)[..., None] + logs)
        drop = np.broadcast_to(drop * np.sqrt(spread), keep.shape)
        t = Round(means, x, keep, drop, 0.0)
        error = x[:, None] - x[None] - truth
        off = ~np.eye(K, dtype=bool)
        held &= bool((error <= keep)[off].all() and (error >= -drop)[off].all())
        if not t.going:
            return counts, held
        a = t.b if counts[t.b] <= counts[t.c] else t.c
        sums[a] += means[a] + noise(D)
        counts[a] += 1
    raise AssertionError("APE did not stop")


def test_the_samples_of_every_arm_stay_within_the_bound():
    means = np.array([[1.0, 0.0], [0.0, 1.2], [-0.8, -0.6], [0.2, -1.5]])
    gaps = theory.combined_gaps(means)
    expected = np.array([400.0, 40.0, 400.0, 10.0])
    checked = 0
    for seed, shares in itertools.product(
        range(6), (Shares(), informed_shares(expected), informed_shares(expected[::-1]))
    ):
        rng = np.random.default_rng(seed)
        design = Design(4, 2, 0.1, informed_rho(expected), shares)
        counts, held = ape(means, design, lambda D, rng=rng: rng.normal(size=D))
        if held:
            assert (counts <= sample_bound(gaps, design)).all()
            checked += 1
    assert checked >= 12


def test_an_arm_s_own_terms_do_not_bound_its_samples():
    """The paper's step to (a_t, a_t) is false, on a path without noise: all intervals hold."""
    means, gaps = np.array([[1.0], [0.0]]), np.array([1.0, 1.0])
    shares = Shares(arms=[1 - 1e-12, 1e-12])
    design = Design(2, 1, 0.1, np.array([5.0, 5.0]), shares)
    counts, held = ape(means, design, np.zeros)
    assert held
    terms = design.terms

    def own(n):  # beta_keep + beta_drop of arm 0 against itself
        l, v = 2 * math.log1p(n / 5), 2 * (n + 5) / n**2
        keep = terms.keep_arm[0] + terms.keep_objective[0]
        drop = terms.drop_arm[0] + terms.drop_rival[0]
        return math.sqrt((keep + l) * v) + math.sqrt((drop + l) * v)

    assert counts[0] > first_count(2, lambda n: own(n) < gaps[0])
    assert (counts <= sample_bound(gaps, design)).all()


def test_a_rho_for_each_arm_breaks_that_step_too():
    # at equal counts and shares: rho = 5 for arm 0, 5,000 for arm 1
    design = Design(2, 1, 0.1, np.array([5.0, 5000.0]), Shares())
    same = Design(2, 1, 0.1, np.array([5.0, 5.0]), Shares())
    assert sum(design.widths(0, 1, 1250, 1250)) > 1.3 * sum(same.widths(0, 1, 1250, 1250))


@pytest.mark.parametrize("case", ["plain", "one-sided", "rho", "shares", "both", "objectives"])
def test_the_package_computes_what_the_reference_does(case):
    rng = np.random.default_rng(3)
    counts = np.array([900.0, 90.0, 9.0, 300.0, 20.0])
    rho = informed_rho(counts) if case in ("rho", "both") else np.full(5, 7.0)
    shares = {
        "shares": informed_shares(counts),
        "both": informed_shares(counts, 0.3),
        "objectives": Shares(objectives=[0.9, 0.1]),
    }.get(case, Shares())
    sides = "two" if case == "plain" else "one"
    design = Design(5, 2, 0.1, rho, shares, sides)
    radius = theory.Mixture(rho=tuple(rho), shares=shares, sides=sides)
    compared = 0
    for _ in range(6):
        means = rng.normal(size=(5, 2)).round(1)
        gaps = theory.combined_gaps(means)
        if gaps.min() <= 0:
            continue
        known = theory.sample_bound(means, 0.1, radius)
        assert sample_bound(gaps, design).tolist() == known.per_arm.tolist()
        gap = float(gaps.min())
        for arm in (None, 0, 2):
            expected = samples_to_separate(gap, design, arm)
            assert theory.samples_to_separate(gap, radius, 5, 2, 0.1, arm=arm) == expected
        if sides == "one":
            assert known.probability == pytest.approx(probability_of_the_event(design))
        compared += 1
    assert compared >= 3


def test_narrowing_to_an_arm_never_needs_more():
    shares = informed_shares([900.0, 90.0, 9.0, 9.0])
    design = Design(4, 3, 0.1, informed_rho([900.0, 90.0, 9.0, 9.0]), shares)
    single = [samples_to_separate(0.7, design, arm) for arm in range(4)]
    assert max(single) == samples_to_separate(0.7, design)
    assert single[0] < single[3]  # the share of arm 0 is larger


def test_the_event_of_all_intervals_by_hand():
    # uniform: K (K - 1) D max(delta/(K D), delta/(K (K - 1))) = delta max(K - 1, D)
    design = Design(4, 2, 0.01, np.full(4, 30.0), Shares())
    assert probability_of_the_event(design) == pytest.approx(1 - 0.03, rel=1e-9)
    assert probability_of_the_event(Design(20, 3, 0.1, np.full(20, 30.0), Shares())) == 0
    uneven = Design(2, 1, 0.1, np.full(2, 30.0), Shares(arms=[0.75, 0.25]))
    # (0, 1): max(0.075, 0.025), (1, 0): max(0.025, 0.075)
    assert probability_of_the_event(uneven) == pytest.approx(0.85, rel=1e-9)


def test_a_one_sided_and_a_two_sided_bound_do_not_fail_together():
    # Two arms, one objective: a lower and an upper bound of each arm have its share of 0.65, which
    # is 0.4 or 0.25. 0.4 is above the threshold of 0.389: L_01 and U_01 rest on the two-sided
    # supermartingale, 0.4 for both; U_10 rests on the half-plane on which L_01 fails, L_10 on that
    # of U_01: 0.25 each. So 0.9, where the larger level of each side would say 0.8.
    shares = Shares(arms=[0.4 / 0.65, 0.25 / 0.65])
    known = theory.sample_bound([[0.0], [1.0]], 0.65, theory.Mixture(shares=shares))
    assert known.probability == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize("sides", ["one", "two"])
def test_levels_on_either_side_of_the_threshold_cost_what_they_rest_on(sides):
    rng, some = np.random.default_rng(8), 0
    for _ in range(300):
        K, D = rng.integers(2, 4), rng.integers(1, 3)
        uneven = (0.98 * rng.dirichlet(np.full(size, 0.4)) + 0.02 / size for size in (K, K, D))
        design = Design(K, D, rng.uniform(0.4, 0.9), np.full(K, 30.0), Shares(*uneven), sides)
        expected = min(probability_of_the_event(design), 1 - design.delta)
        radius = theory.Mixture(shares=design.shares, sides=sides)
        known = theory.sample_bound(9.0 * np.arange(K * D).reshape(K, D), design.delta, radius)
        assert known.probability == pytest.approx(expected, abs=1e-9)
        some += 0 < expected
    assert some > 10
