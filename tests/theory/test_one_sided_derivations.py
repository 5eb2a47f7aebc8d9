"""Every step of theory/PROOFS.md, Section 8: identities by sympy, numbers at 50 digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import log_ndtr

from paretoid import theory
from paretoid.theory.one_sided import (
    CURVATURE_COST,
    LARGEST_SINE_SQUARED,
    LEAST_COSINE,
    LEAST_SHARE_OF_RHO,
    MILLS_AT_ZERO,
    first_usable_count,
    one_sided_constant,
    penalty,
)

p, q, rho_i, rho_j, s_i, s_j = sp.symbols("p q rho_i rho_j s_i s_j", positive=True)
x_i, x_j, l, k = sp.symbols("x_i x_j l k", real=True)
exactly = settings(deadline=None, max_examples=200)


def log_mixture(x, n, rho, h):
    """log M for sums x (..., 2) in units of the scales; n, rho, h are pairs."""
    x, n, rho, h = (np.asarray(value, dtype=float) for value in (x, n, rho, h))
    A = n + rho
    side = (h * x / A).sum(axis=-1) / math.sqrt((h * h / A).sum())
    return math.log(2) + np.log(rho / A).sum() / 2 + (x * x / A).sum(axis=-1) / 2 + log_ndtr(side)


def least_on_the_boundary(n, rho, scale, alpha, C, h=None):
    """(min log M - log(1/alpha) over all sums whose error is just the radius, cos f)."""
    n, rho, scale = (np.asarray(value, dtype=float) for value in (n, rho, scale))
    true_h = scale * np.array([1.0, -1.0])
    h = true_h if h is None else np.asarray(h, dtype=float)
    A, c = n + rho, true_h / n
    e = np.sqrt(A) * c / math.sqrt((A * c * c).sum())
    normal = h / np.sqrt(A) / math.sqrt((h * h / A).sum())
    y = math.sqrt(C + np.log(A / rho).sum())
    z = np.linspace(-12, 12, 4801)[:, None]
    x = np.sqrt(A) * (y * e + z * np.array([-e[1], e[0]]))
    error, radius = (c * x).sum(axis=1), y * math.sqrt((A * c * c).sum())
    assert np.allclose(error, radius, rtol=1e-9)
    return float(log_mixture(x, n, rho, h).min() - math.log(1 / alpha)), float(e @ normal)


# --- the half-plane mixture -----------------------------------------------------------------------


def test_completing_the_square_gives_the_posterior():
    exponent = l * x_i - l**2 * p / 2 + k * x_j - k**2 * q / 2 - rho_i * l**2 / 2 - rho_j * k**2 / 2
    A_i, A_j = p + rho_i, q + rho_j
    square = -A_i * (l - x_i / A_i) ** 2 / 2 - A_j * (k - x_j / A_j) ** 2 / 2
    rest = x_i**2 / (2 * A_i) + x_j**2 / (2 * A_j)
    assert sp.simplify(exponent - square - rest) == 0
    # normalised: prior sqrt(rho_i rho_j)/(2 pi), posterior sqrt(A_i A_j)/(2 pi)
    # s_i l - s_j k is normal with this mean and variance under the posterior N(A^-1 x, A^-1)
    mean, variance = s_i * x_i / A_i - s_j * x_j / A_j, s_i**2 / A_i + s_j**2 / A_j
    h, A = sp.Matrix([s_i, -s_j]), sp.diag(A_i, A_j)
    assert sp.simplify((h.T * A.inv() * sp.Matrix([x_i, x_j]))[0] - mean) == 0
    assert sp.simplify((h.T * A.inv() * h)[0] - variance) == 0


@pytest.mark.parametrize(
    ("x", "n", "rho", "h"),
    [
        ((1.0, -2.0), (3, 5), (2.0, 7.0), (1.0, -1.0)),
        ((-4.0, 1.5), (6, 2), (0.5, 1.0), (5.0, -0.3)),
        ((0.0, 0.0), (1, 1), (1.0, 30.0), (0.1, -4.0)),
    ],
)
def test_the_closed_form_is_the_integral_over_the_half_plane(x, n, rho, h):
    # The line s_i l = s_j k bounds it; l is integrated within 12 posterior sd of its mean.
    def integrand(b, a):
        prior = math.sqrt(rho[0] * rho[1]) / (2 * math.pi)
        prior *= math.exp(-(rho[0] * a * a + rho[1] * b * b) / 2)
        return 2 * prior * math.exp(a * x[0] - a * a * n[0] / 2 + b * x[1] - b * b * n[1] / 2)

    A = [n[0] + rho[0], n[1] + rho[1]]
    middle, sd = [x[0] / A[0], x[1] / A[1]], [A[0] ** -0.5, A[1] ** -0.5]
    low, high = middle[0] - 12 * sd[0], middle[0] + 12 * sd[0]
    bottom, top = middle[1] - 12 * sd[1], middle[1] + 12 * sd[1]

    def edge(a):  # h_i a + h_j b > 0, h_j < 0: b below a h_i/|h_j|
        return min(max(a * h[0] / -h[1], bottom), top)

    value, _ = dblquad(integrand, low, high, bottom, edge, epsabs=1e-10, epsrel=1e-10)
    assert math.exp(float(log_mixture(x, n, rho, h))) == pytest.approx(value, rel=1e-6)


@exactly
@given(
    st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
    st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
)
def test_the_half_plane_has_half_of_the_prior_whatever_the_scales(rho, scale):
    # so the doubled prior has mass 1: M = 1 before the first draw
    start = log_mixture((0.0, 0.0), (0, 0), rho, (scale[0], -scale[1]))
    assert float(start) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("arm", [0, 1])
@pytest.mark.parametrize("scale", [(1.0, 1.0), (0.2, 3.0)])
def test_one_draw_keeps_the_mean_of_the_mixture(arm, scale):
    # Gaussian outcomes: a martingale; two-point outcomes +-1, sub-Gaussian with scale 1: less
    x, n, rho = np.array([2.5, -1.0]), np.array([4, 9]), np.array([3.0, 8.0])
    h = (scale[0], -scale[1])
    step, more = np.eye(2)[arm], np.eye(2, dtype=int)[arm]
    before = math.exp(float(log_mixture(x, n, rho, h)))

    def after(outcome):
        return math.exp(float(log_mixture(x + outcome * step, n + more, rho, h)))

    with mpmath.workdps(20):
        mean = mpmath.quad(lambda o: after(float(o)) * mpmath.npdf(o), [-9, -3, 0, 3, 9, 15])
    assert float(mean) == pytest.approx(before, rel=1e-9)
    assert (after(1.0) + after(-1.0)) / 2 < before


# --- the angle ------------------------------------------------------------------------------------


def test_error_and_half_plane_differ_by_the_ratios_r():
    A, h = sp.diag(p + rho_i, q + rho_j), sp.Matrix([s_i, -s_j])
    c = sp.Matrix([s_i / p, -s_j / q])
    ratios = sp.diag((p + rho_i) / p, (q + rho_j) / q)
    difference = A ** sp.Rational(1, 2) * c - ratios * A ** sp.Rational(-1, 2) * h
    assert sp.simplify(difference) == sp.zeros(2, 1)
    v = s_i**2 * (p + rho_i) / p**2 + s_j**2 * (q + rho_j) / q**2
    assert sp.simplify((c.T * A * c)[0] - v) == 0  # c'Ac is v_i + v_j of the common form


def test_the_angle_inequality_is_a_perfect_square():
    # w'Rw/(|Rw| |w|) for R = diag(r, t), with X = r w_1^2 and Y = t w_2^2:
    r, t, X, Y = sp.symbols("r t X Y", positive=True)
    inner, longer, shorter = X + Y, r * X + t * Y, X / r + Y / t
    slack = inner**2 * (r + t) ** 2 - 4 * r * t * longer * shorter
    assert sp.expand(slack - ((r - t) * (X - Y)) ** 2) == 0
    # 2 sqrt(r t)/(r + t) depends on the ratio alone and falls as it moves away from 1
    ratio = sp.symbols("ratio", positive=True)
    cosine = 2 * sp.sqrt(ratio) / (1 + ratio)
    assert (
        sp.simplify(sp.diff(cosine, ratio) - (1 - ratio) / (sp.sqrt(ratio) * (1 + ratio) ** 2)) == 0
    )
    least = cosine.subs(ratio, 5)
    assert sp.simplify(least - 2 * sp.sqrt(5) / 6) == 0
    assert sp.simplify(1 - least**2) == sp.Rational(4, 9)
    assert float(least) == pytest.approx(LEAST_COSINE, rel=1e-15)
    assert pytest.approx(4 / 9, rel=1e-15) == LARGEST_SINE_SQUARED


@exactly
@given(
    st.floats(1e-3, 1e6), st.floats(1e-3, 1e6), st.integers(0, 10**7), st.integers(0, 10**7),
    st.floats(-4, 4),
)  # fmt: skip
def test_usable_counts_keep_the_angle(rho_first, rho_second, more, others, exponent):
    n = (first_usable_count(rho_first) + more, first_usable_count(rho_second) + others)
    _, cosine = least_on_the_boundary(n, (rho_first, rho_second), (1.0, 10**exponent), 0.01, 10.0)
    assert cosine >= LEAST_COSINE * (1 - 1e-12)


# --- the lemma ------------------------------------------------------------------------------------


def mills(value):
    """r = phi/Phi at the working precision."""
    return mpmath.npdf(value) / mpmath.ncdf(value)


def test_derivatives_of_the_mills_ratio():
    # m = x + r is the mean and v = 1 - r m the variance of W = x - Z given Z < x
    x = sp.symbols("x", real=True)
    phi = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
    r = phi / ((1 + sp.erf(x / sp.sqrt(2))) / 2)
    m, v = x + r, 1 - r * (x + r)
    assert sp.simplify(sp.diff(r, x) + r * m) == 0
    assert sp.simplify(sp.diff(m, x) - v) == 0
    assert sp.simplify(sp.diff(v, x) - r * (m**2 - v)) == 0
    assert sp.simplify((r * m).subs(x, 0) - 2 / sp.pi) == 0


def test_m_and_v_are_the_moments_and_the_second_is_an_integral_of_the_first():
    with mpmath.workdps(30):
        for x in map(mpmath.mpf, ("-2", "0", "0.7", "3")):
            density = lambda w, x=x: mpmath.npdf(x - w) / mpmath.ncdf(x)  # noqa: E731
            cuts = [0, 1, 3, 8, 20]
            first = mpmath.quad(lambda w, d=density: w * d(w), cuts)
            second = mpmath.quad(lambda w, d=density: w * w * d(w), cuts)
            m = x + mills(x)
            assert abs(first - m) < 1e-20
            assert abs(second - first**2 - (1 - mills(x) * m)) < 1e-20
            # E W^2/2 = int P(W > w) E[W - w | W > w] dw, and the inner mean is m at x - w
            tails = lambda w, x=x: mpmath.ncdf(x - w) / mpmath.ncdf(x) * (x - w + mills(x - w))  # noqa: E731
            assert abs(mpmath.quad(tails, cuts) - second / 2) < 1e-20
            assert second / 2 < m**2  # because m(x - w) < m(x): hence v < m^2 and v rises


def test_the_curvature_falls_to_its_value_at_zero():
    with mpmath.workdps(50):
        values = [mills(x) * (x + mills(x)) for x in mpmath.linspace(-12, 12, 961)]
        assert all(left > right for left, right in itertools.pairwise(values))
        assert all(0 < value < 1 for value in values)


def test_curvature_and_slope_of_the_lemma():
    a, u, z, x = sp.symbols("a u z x", real=True)
    log_Phi = sp.log((1 + sp.erf(x / sp.sqrt(2))) / 2)
    r = sp.diff(log_Phi, x)
    f = z**2 / 2 + log_Phi.subs(x, a - u * z)
    assert sp.simplify(sp.diff(f, z) - (z - u * r.subs(x, a - u * z))) == 0
    curvature = 1 - u**2 * (r * (x + r)).subs(x, a - u * z)
    assert sp.simplify(sp.diff(f, z, 2) - curvature) == 0
    # a parabola with that slope and curvature has the minimum of the lemma
    R, kappa = sp.symbols("R kappa", positive=True)
    parabola = -R * z + kappa * z**2 / 2
    lowest = parabola.subs(z, sp.solve(sp.diff(parabola, z), z)[0])
    assert sp.simplify(lowest + R**2 / (2 * kappa)) == 0


def test_constants_of_the_lemma_are_rounded_upwards():
    iv = mpmath.iv
    least_curvature = 1 - 2 / iv.pi
    assert least_curvature.a > 0.363
    assert (1 / (2 * least_curvature)).b < iv.mpf(CURVATURE_COST).a < 1.381
    assert iv.sqrt(2 / iv.pi).b < iv.mpf(MILLS_AT_ZERO).a < 0.801
    assert 1 + 1 / LEAST_SHARE_OF_RHO == 5


def lowest_point(a, u):
    """min over z of z^2/2 + log Phi(a - u z), a convex function, at the working precision."""
    low, high = mpmath.mpf(0), mpmath.mpf(40)
    for _ in range(90):
        middle = (low + high) / 2
        if middle - u * mills(a - u * middle) < 0:
            low = middle
        else:
            high = middle
    return high**2 / 2 + mpmath.log(mpmath.ncdf(a - u * high))


def test_the_lemma_holds_and_its_condition_is_needed():
    with mpmath.workdps(30):
        for u in map(mpmath.mpf, ("0.05", "0.3", "0.6667", "0.9", "1")):
            for extra in map(mpmath.mpf, ("0", "0.01", "0.2", "1", "3", "8")):
                a = mpmath.mpf("0.8") * u**2 + extra
                claimed = mpmath.log(mpmath.ncdf(a)) - mpmath.mpf("1.38") * mills(a) ** 2
                assert lowest_point(a, u) >= claimed
        # at a = 0, u = 1 the left side falls without bound, the right side does not
        claimed = mpmath.log(mpmath.mpf("0.5")) - mpmath.mpf("1.38") * mills(0) ** 2
        values = [z**2 / 2 + mpmath.log(mpmath.ncdf(-z)) for z in map(mpmath.mpf, (1, 10, 100))]
        assert values[0] > values[1] > values[2]
        assert values[2] < claimed - 3


def test_at_the_angles_in_use_the_lemma_has_room():
    # u enters twice, and u^2 <= 4/9: u^2/(2 (1 - 2 u^2/pi)) <= 0.31 would do in place of 1.38
    with mpmath.workdps(30):
        square = mpmath.mpf(4) / 9
        assert square / (2 * (1 - 2 * square / mpmath.pi)) < mpmath.mpf("0.31")
        for a in map(mpmath.mpf, ("0.36", "0.6", "1", "2", "4")):
            claimed = mpmath.log(mpmath.ncdf(a)) - mpmath.mpf("0.31") * mills(a) ** 2
            assert lowest_point(a, mpmath.sqrt(square)) >= claimed
        for alpha, most in ((0.05, 0.007), (1 / 600, 6e-5)):  # what it would take off C
            a = mpmath.sqrt(5) / 3 * mpmath.sqrt(2 * mpmath.log(1 / (2 * mpmath.mpf(alpha))))
            saved = 2 * mpmath.mpf("1.07") * mills(a) ** 2
            assert 0.5 * most < saved / float(one_sided_constant(alpha)) < most


# --- the result -----------------------------------------------------------------------------------


def test_the_left_side_grows_with_y_and_the_penalty_with_alpha():
    # with r' = -r (x + r): d/dx [log Phi - 1.38 r^2] = r + 2.76 r^2 (x + r) > 0 for x >= 0
    x = sp.symbols("x", real=True)
    r = sp.Function("r")(x)
    slope = r - sp.Rational(138, 100) * sp.diff(r**2, x)
    slope = slope.subs(sp.diff(r, x), -r * (x + r))
    assert sp.simplify(slope - (r + sp.Rational(276, 100) * r**2 * (x + r))) == 0
    # a falls in alpha, so pen rises
    alpha = sp.symbols("alpha", positive=True)
    assert sp.diff(-2 * sp.log(2 * alpha), alpha) == -2 / alpha
    levels = np.concatenate([10.0 ** np.arange(-300, -2, 2.0), np.linspace(0.01, 0.446, 500)])
    assert (np.diff(penalty(levels)) > 0).all()


def test_the_penalty_at_the_levels_of_the_table():
    assert float(penalty(0.05)) == pytest.approx(0.0755, abs=5e-5)  # four printed decimals
    assert float(penalty(0.01)) == pytest.approx(0.0217, abs=5e-5)
    with mpmath.workdps(30):
        for alpha, printed in (("0.05", 0.0755), ("0.01", 0.0217)):
            assert float(exact_penalty(mpmath.mpf(alpha))) == pytest.approx(printed, abs=5e-5)
        crossing = mpmath.findroot(lambda t: exact_penalty(t) - mpmath.log(2), (0.3, 0.42))
        assert float(crossing) == pytest.approx(0.389, abs=5e-4)
        # the lemma's condition ends later: 0.8 * 4/9 = c0 sqrt(2 log(1/(2 alpha)))
        end = mpmath.exp(-((mpmath.mpf("3.2") / 9 / (mpmath.sqrt(5) / 3)) ** 2) / 2) / 2
        assert float(end) == pytest.approx(0.446, abs=5e-4)
    assert np.isfinite(penalty(float(end) - 1e-9))
    assert np.isinf(penalty([float(end) + 1e-9, 0.5, 0.75])).all()
    two = 2 * math.log(1 / float(crossing))
    assert float(one_sided_constant(float(crossing))) == pytest.approx(two, rel=1e-9)


def exact_penalty(alpha):
    """pen at the working precision of mpmath."""
    a = mpmath.sqrt(5) / 3 * mpmath.sqrt(2 * mpmath.log(1 / (2 * alpha)))
    log_Phi = mpmath.log1p(-mpmath.erfc(a / mpmath.sqrt(2)) / 2)
    return -log_Phi + mpmath.mpf("1.38") * mpmath.exp(2 * (mpmath.log(mpmath.npdf(a)) - log_Phi))


@exactly
@given(st.one_of(st.floats(1e-300, 0.999), st.floats(-300, -0.01).map(lambda t: 10.0**t)))
def test_the_constant_is_never_below_the_proved_one(alpha):
    with mpmath.workdps(60):
        level = mpmath.mpf(alpha)
        proved = 2 * mpmath.log(1 / level)
        if alpha < 0.446:
            proved = min(proved, 2 * mpmath.log(1 / (2 * level)) + 2 * exact_penalty(level))
        value = mpmath.mpf(float(one_sided_constant(alpha)))
        assert proved <= value <= proved * (1 + mpmath.mpf("3e-12"))


def test_the_constant_falls_in_alpha_but_for_one_short_stretch():
    # C/2 = t + P(c0 sqrt(2 t)), t = log(1/(2 alpha)): P falls faster than t rises just above the
    # threshold. Both constants are proved at their own level, so nothing is lost by it.
    levels = np.linspace(1e-4, 0.999, 40_000)
    rising = levels[1:][np.diff(one_sided_constant(levels)) > 0]
    assert rising.min() == pytest.approx(0.362, abs=5e-4)
    assert rising.max() == pytest.approx(0.389, abs=5e-4)
    lowest, at_threshold = one_sided_constant([0.3622, 0.389])
    assert 1 < at_threshold / lowest < 1.01


def test_arrays_of_levels_are_treated_one_by_one():
    levels = np.array([[1e-300, 0.05], [0.3891, 0.75]])
    for function in (penalty, one_sided_constant):
        values = function(levels)
        assert values.shape == levels.shape
        assert values.ravel().tolist() == [float(function(level)) for level in levels.ravel()]


COUNTS = st.tuples(st.floats(0.01, 1e5), st.integers(0, 10**6))


@exactly
@given(COUNTS, COUNTS, st.floats(-3, 3), st.floats(-8, math.log10(0.389)))
def test_an_error_as_large_as_the_radius_makes_the_mixture_large(first, second, spread, exponent):
    """The whole of Proposition 6: for every z, at the exact boundary of the code's radius."""
    alpha, rho = 10**exponent, (first[0], second[0])
    n = [first_usable_count(r) + more for r, more in (first, second)]
    C = float(one_sided_constant(alpha))
    slack, _ = least_on_the_boundary(n, rho, (1.0, 10**spread), alpha, C)
    assert slack >= -1e-9


# --- what breaks it -------------------------------------------------------------------------------

#: r = 5 for one arm and 1.1 for the other; the angle is largest where s^2/n is the same.
WORST = {"n": (1000, 1000), "rho": (4000.0, 100.0), "scale": (1.0, 1.0)}
#: r = 401 and 1.1: one arm is far from a quarter of its rho.
EARLY = {"n": (10, 10), "rho": (4000.0, 1.0), "scale": (1.0, 1.0)}


def test_without_the_penalty_it_fails():
    for alpha in (0.3, 0.05, 0.01):
        slack, cosine = least_on_the_boundary(**WORST, alpha=alpha, C=2 * math.log(0.5 / alpha))
        assert cosine == pytest.approx(2 * math.sqrt(5.5) / 6.1, abs=1e-6)
        assert slack < -0.005
        C = float(one_sided_constant(alpha))
        assert least_on_the_boundary(**WORST, alpha=alpha, C=C)[0] >= 0


def test_used_before_a_quarter_of_rho_it_fails():
    alpha = 0.05
    slack, cosine = least_on_the_boundary(**EARLY, alpha=alpha, C=float(one_sided_constant(alpha)))
    assert cosine == pytest.approx(2 * math.sqrt(401 * 1.1) / 402.1, abs=1e-6)
    assert slack < -0.5


def test_the_half_plane_must_use_the_true_scales():
    # h = (1, -1) and scales s, 1: R is diag(r_i s, r_j), so the cosine can fall to
    # 2 sqrt(t)/(1 + t) with t = s r_i/r_j: 0.42 for s = 5, r = 5 and 1.2, and there is no floor
    alpha = 0.05
    C = float(one_sided_constant(alpha))
    slacks = []
    for s in (5.0, 50.0):
        n, rho, scale = (1000, 1000 / s), (4000.0, 200 / s), (s, 1.0)
        t = 5 * s / 1.2
        slack, cosine = least_on_the_boundary(n, rho, scale, alpha, C, h=(1.0, -1.0))
        assert cosine == pytest.approx(2 * math.sqrt(t) / (1 + t), abs=1e-6)
        assert least_on_the_boundary(n, rho, scale, alpha, C)[0] >= 0
        slacks.append(slack)
    assert slacks[0] < -0.1
    assert slacks[1] < -0.7


def test_the_other_side_is_not_bounded():
    n, rho, scale, alpha = (50, 50), (30.0, 30.0), (1.0, 1.0), 0.05
    A = np.array(n) + np.array(rho)
    y = math.sqrt(float(one_sided_constant(alpha)) + float(np.log(A / rho).sum()))
    x = y * np.sqrt(A / 2) * np.array([1.0, -1.0])
    h = (scale[0], -scale[1])
    assert float(log_mixture(x, n, rho, h)) >= math.log(1 / alpha)
    assert float(log_mixture(-x, n, rho, h)) < 0


def test_two_sided_early_and_one_sided_later_are_two_events():
    """Neither event contains the other, so using both costs up to 2 alpha."""
    alpha = 0.05
    # early: the error reaches the two-sided radius, the half-plane mixture is below 1/alpha
    slack, _ = least_on_the_boundary(**EARLY, alpha=alpha, C=2 * math.log(1 / alpha))
    assert slack < -0.1
    # later: the error reaches the one-sided radius, the two-sided mixture is below 1/alpha
    n, rho = np.array([50, 50]), np.array([30.0, 30.0])
    y2 = float(one_sided_constant(alpha)) + float(np.log((n + rho) / rho).sum())
    two_sided = y2 / 2 - float(np.log((n + rho) / rho).sum()) / 2  # at z = 0
    assert two_sided < math.log(1 / alpha) - 0.5
    # once usable, the two-sided event lies inside the one-sided one: nothing to add
    later, _ = least_on_the_boundary(**WORST, alpha=alpha, C=2 * math.log(1 / alpha))
    assert later > 0


# --- counts and refusals --------------------------------------------------------------------------


@exactly
@given(st.floats(min_value=5e-324, max_value=1.7e308))
def test_the_first_usable_count_is_exact(rho):
    n = first_usable_count(rho)
    assert isinstance(n, int)
    assert n >= 1
    assert Fraction(n) >= Fraction(rho) / 4
    assert n == 1 or Fraction(n - 1) < Fraction(rho) / 4
    if n < 2**62:
        assert first_usable_count([rho]).tolist() == [n]
        assert first_usable_count(np.array([rho])).dtype == np.int64


@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, math.inf, "many", [1.0, 0.0], None])
def test_impossible_rho_are_refused(rho):
    with pytest.raises(ValueError, match="rho="):
        first_usable_count(rho)


def test_an_array_of_rho_beyond_any_trial_is_refused():
    with pytest.raises(ValueError, match=r"2\^63 samples"):
        first_usable_count([1.0, 1e30])


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "much", [0.1, 0.0]])
def test_impossible_levels_are_refused(alpha):
    for function in (penalty, one_sided_constant):
        with pytest.raises(ValueError, match="alpha="):
            function(alpha)


def test_the_package_exports_the_one_sided_functions():
    for name in ("first_usable_count", "one_sided_constant", "penalty"):
        assert name in theory.__all__
