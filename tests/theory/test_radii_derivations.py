"""Every step of theory/PROOFS.md: integrals and roots by sympy, the rest at 50 digits."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import lambertw

from paretoid import theory
from paretoid.theory import symbolic
from paretoid.theory.calibration import claim_counts, levels
from paretoid.theory.radii import CHI_EXACT, Mixture, UnknownScale, chi
from paretoid.theory.radii.unknown_scale import _chi_exact

n, p, q, rho, theta = sp.symbols("n p q rho theta", positive=True)
s_i, s_j, a, z, g = sp.symbols("s_i s_j a z g", positive=True)
S, x, y = sp.symbols("S x y", real=True)


# --- Section 2: known scale -----------------------------------------------------------------------


def test_mixing_over_a_normal_prior_gives_the_closed_form():
    assert symbolic.DERIVATIONS["mixing_over_a_normal_prior"].check().holds


def test_one_draw_keeps_the_mean_of_the_exponential_at_one():
    density = sp.exp(-(S**2) / 2) / sp.sqrt(2 * sp.pi)
    kept = sp.integrate(sp.exp(x * S - x**2 / 2) * density, (S, -sp.oo, sp.oo))
    assert sp.simplify(kept) == 1


def test_an_outcome_moved_behind_choices_made_with_it_breaks_the_supermartingale():
    """Told again where it is positive, else the trial ends before it."""
    density = sp.exp(-(S**2) / 2) / sp.sqrt(2 * sp.pi)
    l = sp.Symbol("l", positive=True)
    ended = sp.integrate(density, (S, -sp.oo, 0))
    told = sp.integrate(sp.exp(l * S - l**2 / 2) * density, (S, 0, sp.oo))
    Phi = (1 + sp.erf(l / sp.sqrt(2))) / 2
    assert sp.simplify((ended + told - sp.Rational(1, 2) - Phi).rewrite(sp.erf)) == 0
    in_its_place = sp.integrate(sp.exp(l * S - l**2 / 2) * density, (S, -sp.oo, sp.oo))
    assert sp.simplify(in_its_place) == 1


def test_dependent_outcomes_in_one_round_break_the_martingale():
    # Two arms drawn together with correlation r: E exp(l X + k Y - l^2/2 - k^2/2) = exp(r l k),
    # whose mean over the prior is (1 - r^2/rho^2)^(-1/2) > 1.
    r, l, k = sp.symbols("r l k", real=True)
    m, tau2 = sp.symbols("m", real=True), sp.symbols("tau2", positive=True)
    prior = sp.sqrt(rho / (2 * sp.pi)) * sp.exp(-rho * l**2 / 2)
    moment = sp.integrate(sp.exp(l * m) * prior, (l, -sp.oo, sp.oo))  # over l, with m = r k
    assert sp.simplify(moment - sp.exp(m**2 / (2 * rho))) == 0
    # over k: E exp(r^2 k^2/(2 rho)), a normal integral with precision tau2 = rho - r^2/rho
    integral = sp.integrate(sp.exp(-tau2 * k**2 / 2), (k, -sp.oo, sp.oo))
    value = sp.sqrt(rho / (2 * sp.pi)) * integral.subs(tau2, rho - r**2 / rho)
    assert sp.simplify(value**2 - 1 / (1 - r**2 / rho**2)) == 0


def test_ville_and_the_mixture_give_the_ellipse():
    # sqrt(rho/(p+rho)) sqrt(rho/(q+rho)) exp(x^2/(2(p+rho)) + y^2/(2(q+rho))) = 1/alpha
    # is x^2/(p+rho) + y^2/(q+rho) = 2 theta with theta as in the radius
    alpha = sp.symbols("alpha", positive=True)
    exponent = sp.log(1 / alpha) + sp.log((p + rho) / rho) / 2 + sp.log((q + rho) / rho) / 2
    product = sp.sqrt(rho / (p + rho)) * sp.sqrt(rho / (q + rho)) * sp.exp(exponent)
    assert sp.simplify(product * alpha) == 1


def test_cauchy_schwarz_is_attained_on_the_ellipse():
    # The error is s_i x/p - s_j y/q with x = S_i/s_i, y = S_j/s_j on the ellipse above.
    u, v = s_i * sp.sqrt(p + rho) / p, s_j * sp.sqrt(q + rho) / q
    X, Y = x / sp.sqrt(p + rho), y / sp.sqrt(q + rho)
    error = s_i * x / p - s_j * y / q
    assert sp.simplify(error - (u * X - v * Y)) == 0
    # Lagrange's identity: (X^2 + Y^2)(u^2 + v^2) - (u X - v Y)^2 = (v X + u Y)^2 >= 0
    product = (X**2 + Y**2) * (u**2 + v**2)
    assert sp.simplify(product - (u * X - v * Y) ** 2 - (v * X + u * Y) ** 2) == 0
    # equality at X : Y = u : -v
    scale = sp.sqrt(2 * theta / (u**2 + v**2))
    top = error.subs({x: scale * u * sp.sqrt(p + rho), y: -scale * v * sp.sqrt(q + rho)})
    beta = sp.sqrt(2 * theta * (s_i**2 * (p + rho) / p**2 + s_j**2 * (q + rho) / q**2))
    assert sp.simplify(top**2 - beta**2) == 0


def test_the_common_form_is_the_radius_of_the_proof():
    radius = Mixture(rho=7.0, union="pairs")
    alpha = 0.03 / theory.K1(4, 2)
    by_hand = math.log(1 / alpha) + math.log(12 / 7) / 2 + math.log(18 / 7) / 2
    by_hand = math.sqrt(2 * by_hand * (12 / 25 + 18 / 121))
    assert float(radius.half_width(5, 11, 4, 2, 0.03)) == pytest.approx(by_hand, rel=1e-14)


# --- choosing rho ---------------------------------------------------------------------------------


def test_the_best_rho_solves_u_minus_log_u():
    # 2 beta = gap: 4 * 4u/n = gap^2, so n = 16 u/gap^2
    assert symbolic.DERIVATIONS["the_best_rho"].check().holds


def test_lambert_w_solves_the_equation_for_u():
    for alpha in (0.5, 0.1, 1e-4, 1e-12):
        u = -mpmath.lambertw(-mpmath.mpf(alpha) / mpmath.e, -1)
        assert abs(u - mpmath.log(u) - 1 - mpmath.log(1 / mpmath.mpf(alpha))) < 1e-12
        assert u > 1


def samples_mixture(L, rho, gap):
    """n with 2 beta = gap, equal counts, scale 1, as a real number."""
    return brentq(
        lambda n: 8 * (2 * L + 2 * math.log1p(n / rho)) * (n + rho) / n**2 - gap**2, 1e-3, 1e15
    )


def samples_kaufmann_koolen(L, gap):
    C = theory.C_g(L / 2)
    return brentq(lambda n: 32 * (C + 2 * math.log(4 + math.log(n))) / n - gap**2, 1, 1e15)


# K1/delta; cost of rho ten times too high and too low; the factors over Kaufmann-Koolen
RHO_TABLE = [
    (10, 1.52, 1.30, 2.9, 3.3),
    (5700, 1.32, 1.12, 1.75, 1.9),
    (5e8, 1.20, 1.06, 1.37, 1.45),
]


@pytest.mark.parametrize(("ratio", "high", "low", "least", "most"), RHO_TABLE)
def test_what_a_wrong_rho_costs_and_what_the_mixture_saves(ratio, high, low, least, most):
    L = math.log(ratio)
    u = -float(lambertw(-1 / (ratio * math.e), -1).real)
    for gap in (0.1, 0.3, 1.0):
        best = 16 * u / gap**2
        rho = best / (u - 1)
        assert samples_mixture(L, rho, gap) == pytest.approx(best, rel=1e-9)
        # two printed digits
        assert samples_mixture(L, 10 * rho, gap) / best == pytest.approx(high, abs=0.006)
        assert samples_mixture(L, rho / 10, gap) / best == pytest.approx(low, abs=0.006)
        assert 1 <= samples_mixture(L, 16 / gap**2, gap) / best <= 1.005
        assert least - 0.05 <= samples_kaufmann_koolen(L, gap) / best <= most + 0.05


# --- Section 3: unknown scales --------------------------------------------------------------------


def f_n(n_, z_, a_):
    A = a_ + mpmath.mpf(n_ - 1) / 2
    constant = a_ * mpmath.log(a_) + mpmath.loggamma(A) - mpmath.loggamma(a_)
    return z_ - A * mpmath.log(a_ + z_) + constant


def test_squared_deviations_are_a_sum_of_squared_innovations():
    values = sp.symbols("x1:7", real=True)
    for count in range(2, 7):
        xs = values[:count]
        mean = sum(xs) / sp.Integer(count)
        ss = sum((v - mean) ** 2 for v in xs)
        innovations = sum(
            sp.Rational(k - 1, k) * (xs[k - 1] - sum(xs[: k - 1]) / sp.Integer(k - 1)) ** 2
            for k in range(2, count + 1)
        )
        assert sp.expand(ss - innovations) == 0


def test_the_induction_step_holds_for_every_count():
    total, squares, new = sp.symbols("total squares new", real=True)
    before = squares - total**2 / (n - 1)  # ss of the first n - 1
    after = squares + new**2 - (total + new) ** 2 / n
    assert sp.simplify(after - before - (n - 1) / n * (new - total / (n - 1)) ** 2) == 0


def test_innovations_are_orthonormal_and_free_of_the_mean():
    count = 7
    rows = sp.zeros(count - 1, count)
    for k in range(2, count + 1):
        for m in range(k - 1):
            rows[k - 2, m] = -sp.sqrt(sp.Rational(k - 1, k)) / (k - 1)
        rows[k - 2, k - 1] = sp.sqrt(sp.Rational(k - 1, k))
    assert sp.simplify(rows * rows.T - sp.eye(count - 1)) == sp.zeros(count - 1)
    assert sp.simplify(rows * sp.ones(count, 1)) == sp.zeros(count - 1, 1)


def test_mixing_the_likelihood_ratio_over_a_gamma_prior_gives_f():
    nu = sp.symbols("nu", positive=True)  # (n - 1)/2
    prior = a**a / sp.gamma(a) * g ** (a - 1) * sp.exp(-a * g)
    ratio = g**nu * sp.exp(-(g - 1) * z)  # nu innovations pairs, z = ss/(2 s^2)
    mixed = sp.integrate(sp.expand_power_exp(ratio * prior), (g, 0, sp.oo))
    closed = sp.exp(z) * a**a * sp.gamma(a + nu) / sp.gamma(a) / (a + z) ** (a + nu)
    assert sp.simplify(sp.powsimp(mixed / closed, force=True)) == 1


def test_the_likelihood_ratio_of_a_draw_has_mean_one():
    e, s = sp.symbols("e", real=True), sp.symbols("s", positive=True)
    density = sp.exp(-(e**2) / (2 * s**2)) / (s * sp.sqrt(2 * sp.pi))
    ratio = sp.sqrt(g) * sp.exp(-(g - 1) * e**2 / (2 * s**2))
    combined = sp.powsimp(sp.expand(ratio * density), force=True)
    mean = sp.integrate(sp.simplify(combined), (e, -sp.oo, sp.oo))
    assert sp.simplify(mean) == 1


def test_f_is_convex_and_falls_until_A_minus_a():
    A = sp.symbols("A", positive=True)
    f = z - A * sp.log(a + z)
    assert sp.simplify(sp.diff(f, z) - (z - (A - a)) / (a + z)) == 0
    assert sp.simplify(sp.diff(f, z, 2) - A / (a + z) ** 2) == 0


def test_newton_climbs_to_the_root_from_below():
    with mpmath.workdps(50):
        threshold, shape = mpmath.log(6000), mpmath.mpf(3)
        for count in (22, 50, 1000):
            A, point = shape + mpmath.mpf(count - 1) / 2, mpmath.mpf(0)
            for _ in range(60):
                value = f_n(count, point, shape) - threshold
                assert value >= -(mpmath.mpf(10) ** -40)
                step = value / (A / (shape + point) - 1)
                point += step
                if step < mpmath.mpf(10) ** -40:
                    break
            code = float(chi(count, math.log(6000))) / 2
            assert code == pytest.approx(float(point), rel=1e-10)
            assert code <= point


@pytest.mark.parametrize("shape", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("threshold", [0.5, 3.0, math.log(6000), 40.0])
def test_chi_never_overshoots(threshold, shape):
    counts = [2, 4, 9, 14, 22, 60, 126, 500, 4000, 10**5, CHI_EXACT, 10**6, 10**9]
    with mpmath.workdps(50):
        for count, value in zip(counts, chi(np.array(counts), threshold, shape), strict=True):
            at_zero = f_n(count, mpmath.mpf(0), mpmath.mpf(shape))
            assert (value > 0) == (at_zero > threshold)
            half = mpmath.mpf(float(value)) / 2
            assert half <= mpmath.mpf(count - 1) / 2  # on the falling branch
            if value > 0:
                excess = f_n(count, half, mpmath.mpf(shape)) - threshold
                assert excess >= 0
                assert count > CHI_EXACT or excess < 1e-5  # and it is the root, not less


def test_once_finite_always_finite():
    # f_n(0) is convex in A, and 0 at A = a: above a positive threshold it stays there.
    A = sp.symbols("A", positive=True)
    at_zero = sp.loggamma(A) - sp.loggamma(a) - (A - a) * sp.log(a)
    assert at_zero.subs(A, a) == 0
    assert sp.diff(at_zero, A, 2) == sp.polygamma(1, A)  # trigamma, a sum of squares
    for shape in (0.05, 0.5, 3.0, 30.0):
        positive = chi(np.arange(2.0, 3000.0), 5.0, shape) > 0
        assert not (positive[:-1] & ~positive[1:]).any()


@pytest.mark.parametrize(("shape", "expected"), [(3.0, 22), (0.5, 13)])
def test_first_finite_count_at_6000(shape, expected):
    # K D/(w delta) = 20 * 3/(0.1 * 0.1) = 6000
    assert UnknownScale(a=shape).first_count(20, 3, 0.1) == expected
    with mpmath.workdps(50):
        values = [f_n(m, mpmath.mpf(0), mpmath.mpf(shape)) for m in (expected - 1, expected)]
        assert values[0] <= mpmath.log(6000) < values[1]


def test_inflation_of_the_variance_at_6000():
    counts = np.array([50, 100, 300, 1000, 10000])
    inflation = counts / chi(counts, math.log(6000))
    # two printed digits, 1.25 and 1.07 three
    assert inflation[:3] == pytest.approx([3.4, 2.2, 1.5], abs=0.05)
    assert inflation[3:] == pytest.approx([1.25, 1.07], abs=0.005)


# n/chi_n never increases: Lemma 3 of theory/PROOFS.md, step by step.


def test_slope_of_the_root_in_A():
    A = sp.symbols("A", positive=True)
    Y = sp.symbols("Y", positive=True)  # a + z
    F = z - A * sp.log(a + z) + sp.loggamma(A)
    slope = (-sp.diff(F, A) / sp.diff(F, z)).subs(z, Y - a)
    expected = Y * (sp.digamma(A) - sp.log(Y)) / (A - Y)
    assert sp.simplify(slope - expected) == 0


def test_the_slack_of_the_leading_terms():
    A, r = sp.symbols("A r", positive=True)
    width = A - a + sp.Rational(1, 2)  # n/2
    slack = r - (r * A - a) / width
    assert sp.simplify(slack - (a * (1 - r) + r / 2) / width) == 0


def test_classical_bounds_on_gamma_functions_hold():
    with mpmath.workdps(50):
        for A in [mpmath.mpf(10) ** mpmath.mpf(k) for k in np.linspace(-1, 6, 141)]:
            assert mpmath.digamma(A) > mpmath.log(A) - 1 / (2 * A) - 1 / (12 * A**2)
            stirling = A * mpmath.log(A) - A - mpmath.log(A) / 2 + mpmath.log(2 * mpmath.pi) / 2
            assert 0 < mpmath.loggamma(A) - stirling < 1 / (12 * A)


def test_the_root_is_far_enough_below_A():
    # If (1 - r)^2 < e2 = (1 + 1/(6A))/A then A (r - 1 - log r) < A e2/(2 (1 - sqrt(e2))), while
    # the root has A (r - 1 - log r) >= threshold + log(A/a)/2 - 1/(12 A). Both ends only fall
    # apart further as A grows; certified at the least A with interval arithmetic.
    iv = mpmath.iv
    for least_A, threshold, ratio in (
        (iv.mpf(2), iv.mpf("2.1"), iv.mpf(1)),
        (iv.mpf("3.5"), iv.mpf("1.2"), iv.mpf(1)),
        (iv.mpf(CHI_EXACT - 1) / 2, iv.mpf(0), iv.mpf("4.9")),  # a <= 2^14: A/a > 1 + 65535/2^14
    ):
        e2 = (1 + 1 / (6 * least_A)) / least_A
        most = least_A * e2 / (2 * (1 - iv.sqrt(e2)))
        assert (threshold + iv.log(ratio) / 2 - 1 / (12 * least_A) - most).a > 0


def test_for_three_draws_or_fewer_chi_is_zero():
    # nu = (n - 1)/2 <= 1: log-convexity of gamma gives f_n(0) <= 0
    for shape in (0.01, 0.1, 0.5, 3.0, 100.0):
        assert not chi([1, 2, 3], 1e-6, shape).any()


@pytest.mark.parametrize("shape", [0.05, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("threshold", [0.1, 1.0, 2.1, math.log(6000), 40.0])
def test_inflation_never_increases(threshold, shape):
    counts = np.arange(2.0, CHI_EXACT + 1)
    value = _chi_exact(counts, threshold, shape)
    inflation = counts[value > 0] / value[value > 0]
    assert (np.diff(inflation) <= 0).all()
    beyond = np.array([1.5, 2, 10, 1e4]) * CHI_EXACT
    assert beyond / chi(beyond, threshold, shape) == pytest.approx(inflation[-1], rel=1e-12)


# --- Section 4: the claims union ------------------------------------------------------------------


def test_the_levels_add_up_to_delta_whatever_the_pareto_set():
    K, D, size, delta = sp.symbols("K D size delta", positive=True)
    keep, drop = delta / (K * D), delta / (K * (K - 1))
    assert sp.simplify((K - size) * D * keep + size * (K - 1) * drop - delta) == 0


def counted_events(mu, eps1, eps2):
    """Keep events (i, j, d) and drop events (i, j, d) of the proof, from the means alone."""
    K, D = mu.shape
    near, optimal = theory.pareto_set(mu, eps1), theory.pareto_set(mu)
    keep, drop = set(), set()
    for i in range(K):
        others = [j for j in range(K) if j != i]
        if not near[i]:
            j = next(j for j in others if (mu[i] + eps1 < mu[j]).all())
            keep |= {(i, j, d) for d in range(D)}
        if optimal[i]:
            for j in others:
                ahead = mu[i] - mu[j]
                d = next((d for d in range(D) if ahead[d] >= eps2[d]), int(ahead.argmax()))
                drop.add((i, j, d))
    return keep, drop


def mistakes(mu, eps1, eps2, lower, upper):
    """What can go wrong with these bounds on mu_i^d - mu_j^d, for each goal."""
    K = len(mu)
    near, optimal = theory.pareto_set(mu, eps1), theory.pareto_set(mu)
    found = set()
    for i in range(K):
        others = [j for j in range(K) if j != i]
        if not near[i] and all((lower[i, j] > -eps1).any() for j in others):
            found |= {"exact", "at most k", "cover"}  # OPT holds a wrong arm
        if optimal[i]:
            for j in others:
                if (upper[i, j] < 0).all():
                    found |= {"exact", "cover"}  # dropped, whether or not j is recommended
                covered = (mu[i] < mu[j] + eps2).all()
                if (upper[i, j] < eps2).all() and not covered:
                    found.add("cover")  # dropped for a recommended j that does not cover it
    return found


def worst_bounds(mu, keep, drop):
    """Counted bounds just hold; all others are as wrong as can be."""
    difference = mu[:, None] - mu[None]
    lower, upper = np.full(difference.shape, np.inf), np.full(difference.shape, -np.inf)
    for event in keep:
        lower[event] = difference[event]
    for event in drop:
        upper[event] = difference[event]
    return lower, upper


@pytest.mark.parametrize(
    ("K", "D", "heights"), [(2, 1, 3), (3, 1, 4), (2, 3, 3), (3, 2, 3), (4, 2, 2), (3, 3, 2)]
)
@pytest.mark.parametrize(("eps1", "eps2"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 1.5)])
def test_no_goal_goes_wrong_while_the_counted_bounds_hold(K, D, heights, eps1, eps2):
    """All domination patterns; mistakes only grow with lower and shrink with upper bounds."""
    eps1, eps2 = np.full(D, eps1), np.full(D, eps2)
    for flat in itertools.product(range(heights), repeat=K * D):
        mu = np.array(flat, dtype=float).reshape(K, D)
        keep, drop = counted_events(mu, eps1, eps2)
        size = int(theory.pareto_set(mu).sum())
        assert len(keep) <= (K - size) * D
        assert len(drop) == size * (K - 1)
        assert not mistakes(mu, eps1, eps2, *worst_bounds(mu, keep, drop))


def test_no_counted_event_is_superfluous():
    """On one pattern: with any single counted bound wrong, some goal can go wrong."""
    mu, eps = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]]), np.zeros(2)
    keep, drop = counted_events(mu, eps, eps)
    for event in keep:
        assert mistakes(mu, eps, eps, *worst_bounds(mu, keep - {event}, drop))
    for event in drop:
        assert mistakes(mu, eps, eps, *worst_bounds(mu, keep, drop - {event}))


def test_the_largest_lead_serves_every_scalar_eps2_at_once():
    rng = np.random.default_rng(0)
    for _ in range(300):
        mu = rng.integers(0, 5, size=(4, 3)).astype(float)
        zero = np.zeros(3)
        keep, _ = counted_events(mu, zero, zero)
        optimal = np.flatnonzero(theory.pareto_set(mu))
        drop = {(i, j, int((mu[i] - mu[j]).argmax())) for i in optimal for j in range(4) if j != i}
        for eps2 in (0.0, 0.5, 1.0, 2.5):
            bounds = worst_bounds(mu, keep, drop)
            assert not mistakes(mu, zero, np.full(3, eps2), *bounds)


def test_vector_slacks_are_covered_too():
    rng = np.random.default_rng(1)
    for _ in range(300):
        mu = rng.integers(0, 5, size=(4, 3)).astype(float)
        eps1, eps2 = rng.integers(0, 3, size=(2, 3)).astype(float)
        keep, drop = counted_events(mu, eps1, eps2)
        assert not mistakes(mu, eps1, eps2, *worst_bounds(mu, keep, drop))


def test_few_arms_and_objectives_fall_back_on_pairs():
    for K, D in itertools.product(range(2, 8), range(1, 6)):
        keep, drop = claim_counts(K, D, "claims")
        pairs = theory.K1(K, D)
        if K <= 3 and D <= 2:
            assert keep == drop == pairs
            assert K * D >= pairs
            assert K * (K - 1) >= pairs
        else:
            assert (keep, drop) == (K * D, K * (K - 1))
            assert min(keep, drop) < pairs  # one of the two is smaller
        assert levels(K, D, 0.1, "claims") == (0.1 / keep, 0.1 / drop)


# --- Section 6: the trap --------------------------------------------------------------------------


def scale_free_ratio(y1, y2, rho):
    """t-mixture ratio of two draws: N(m, s^2) with m ~ N(0, s^2/rho) to N(0, s^2), ds/s on both."""
    V, total = y1**2 + y2**2, y1 + y2
    return math.sqrt(rho / (2 + rho)) * V / (V - total**2 / (2 + rho))


def expected_ratio(y1, rho):
    """E[B_2 | Y_1 = y1] for s = 1."""

    def weighted(y2):
        return scale_free_ratio(y1, y2, rho) * math.exp(-(y2**2) / 2) / math.sqrt(2 * math.pi)

    cuts = [-12.0, y1 - 0.2, y1, y1 + 0.2, 12.0]
    return sum(quad(weighted, *pair, limit=400)[0] for pair in itertools.pairwise(cuts))


def test_scale_free_mixtures_are_no_martingales_in_the_full_past():
    rho = 1e-3
    assert expected_ratio(1.0, rho) > 1.45  # B_1 = 1, yet the second draw is worth more
    assert expected_ratio(0.05, rho) < 0.5

    def over_first(low, high):
        normal = math.sqrt(2 / math.pi)  # both signs of Y_1
        integrand = lambda y: expected_ratio(y, rho) * normal * math.exp(-(y**2) / 2)  # noqa: E731
        return quad(integrand, low, high, epsabs=1e-6)[0]

    inside = over_first(0.5, 1.8)
    total = over_first(1e-9, 0.5) + inside + over_first(1.8, 8)
    assert total == pytest.approx(1, abs=2e-3)  # a martingale in its own filtration
    # Draw again only after 0.5 < |Y_1| < 1.8: the mean of the stopped ratio exceeds 1.
    stopped = 1 - (math.erf(1.8 / math.sqrt(2)) - math.erf(0.5 / math.sqrt(2)))
    assert inside + stopped > 1.1
