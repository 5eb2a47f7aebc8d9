"""The constants and inversions behind the upper bounds, derived symbolically or certified.

Where no closed proof is at hand, an inequality is certified by interval arithmetic (mpmath iv)
on cells that cover the range; each such test says so.
"""

import itertools
import math

import numpy as np
import pytest
import sympy as sp
from mpmath import iv

from paretoid import theory

t, n, p, q, C, rho, s = sp.symbols("t n p q C rho s", positive=True)
Delta, delta, H, K, D = sp.symbols("Delta delta H K D", positive=True)


def cells(low, high, count):
    """`count` intervals that cover [low, high], geometrically."""
    edges = np.geomspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    return (iv.mpf([float(a), float(b)]) for a, b in itertools.pairwise(edges))


# ---- Theorem 1


def test_twice_beta_is_the_function_of_the_inversion_lemma():
    beta = 2 * sp.sqrt((C + 2 * sp.log(4 + sp.log(n))) * 2 / n)
    f = sp.sqrt((32 * C + 64 * sp.log(4 + sp.log(n))) / n)
    assert sp.simplify((2 * beta) ** 2 - f**2) == 0
    assert sp.simplify(sp.expand_log(sp.log(sp.log(sp.exp(4) * n)))) == sp.log(4 + sp.log(n))


def test_alpha_star_and_its_two_constants():
    a = sp.symbols("alpha", positive=True)
    # 32/alpha C^g(log(1/delta)/2) <= 32/alpha (1 + 1/e) log(1/delta)/2
    left = 32 * (1 + 1 / sp.E) / 2 / a
    (star,) = sp.solve(sp.Eq(left, 64 / (1 - a)), a)
    assert sp.simplify(star - (1 + sp.E) / (1 + 5 * sp.E)) == 0
    first, second = sp.simplify(64 / (1 - star)), sp.simplify(96 / (1 - star))
    assert sp.simplify(first - (80 + 16 / sp.E)) == 0
    assert sp.simplify(second - (120 + 24 / sp.E)) == 0
    assert first < 88
    assert second < 144
    # log(x) <= x/e, used for C^g: the maximum of log(x)/x is at e
    assert sp.solve(sp.diff(sp.log(t) / t, t), t) == [sp.E]


def test_the_last_step_of_theorem_1():
    # 2 log(144 e^2/Delta^2) = 4 log(12 e/Delta), and 4 K1 = 2 K (K-1) D
    left = 2 * sp.log(144 * sp.E**2 / Delta**2)
    assert sp.simplify(sp.expand_log(left - 4 * sp.log(12 * sp.E / Delta), force=True)) == 0
    assert sp.simplify(4 * K * (K - 1) * D / 2 - 2 * K * (K - 1) * D) == 0


def test_loglog_lemma_step_by_step():
    # g(t) = t - log log(e^4 t)/Delta^2 rises once log(e^4 t) >= W_0(e^4/Delta^2)
    g = t - sp.log(4 + sp.log(t)) / Delta**2
    assert sp.simplify(sp.diff(g, t) - (1 - 1 / (Delta**2 * t * (4 + sp.log(t))))) == 0
    w = sp.symbols("w", positive=True)  # w = W_0(e^4/Delta^2): w e^w = e^4/Delta^2
    t0 = sp.exp(w - 4)
    level = sp.exp(4) / (w * sp.exp(w))  # Delta^2
    assert sp.simplify(level * t0 * (4 + sp.log(t0)) - 1) == 0
    assert sp.simplify(t0 - 1 / (level * w)) == 0
    assert (w * sp.exp(w)).subs(w, 3) == 3 * sp.E**3  # hence t0 <= 1/(3 Delta^2) for Delta^2 <= e/3
    assert sp.log(2 * sp.log(9 * sp.E / 2)) > sp.Rational(1, 3)
    # e^4/a * x/e^2 with a = 3 e^2/2 and x = a/Delta^2 leaves half of e^2/Delta^2
    a = 3 * sp.E**2 / 2
    rest = a / Delta**2 - sp.E**4 / a * (a / Delta**2) / sp.E**2
    assert sp.simplify(rest - sp.E**2 / Delta**2 / 2) == 0


def test_double_log_is_below_its_line_from_twelve_on():
    # log(2 log x) <= x/e^2: by intervals up to 100, beyond because x/e^2 grows faster.
    for x in cells(12, 100, 3000):
        assert (iv.log(2 * iv.log(x)) - x / iv.e**2).b < 0
    slope = sp.diff(t / sp.E**2 - sp.log(2 * sp.log(t)), t)
    assert slope.subs(t, 100) > 0  # and 1/(t log t) falls
    assert math.log(2 * math.log(11.5)) > 11.5 / math.e**2  # twelve is not far from sharp


def test_double_log_is_below_e_third_of_t_from_two_on():
    # log log(e^4 t) < e t/3: at 2 by evaluation, beyond because the left grows slower.
    assert sp.log(4 + sp.log(2)) < 2 * sp.E / 3
    assert sp.diff(sp.log(4 + sp.log(t)), t).subs(t, 2) < sp.E / 3


def test_general_inversion_is_the_loglog_lemma_rescaled():
    c, alpha = sp.symbols("c alpha", positive=True)
    level = (1 - alpha) * Delta**2 / c
    inner = 3 * sp.E**2 / (2 * level)
    assert sp.simplify(inner - 3 * sp.E**2 * c / (2 * (1 - alpha) * Delta**2)) == 0
    assert sp.simplify(inner.subs(c, 64) - 96 * sp.E**2 / ((1 - alpha) * Delta**2)) == 0


# ---- Lambert's W


def test_lambert_inversion_by_substitution():
    # With W e^W = -b/a, x = e^-W/a solves log(a x) = b x, on either branch.
    a, W = sp.symbols("a", positive=True), sp.symbols("W", real=True)
    b = -a * W * sp.exp(W)
    x = sp.exp(-W) / a
    assert sp.simplify(sp.expand_log(sp.log(a * x), force=True) - b * x) == 0


def test_t_star_is_the_lambert_root():
    # 128 H log(c s)/s = 1/2 is log(c s)/s = 1/(256 H): a = c, b/a = 1/(256 c H)
    c = sp.symbols("c", positive=True)
    assert sp.simplify(128 * H * sp.log(c * s) / s * 2 / (256 * H) - sp.log(c * s) / s) == 0
    # closed form: exp(u + log u + 1/2)/c at u = log(256 c H)
    u = sp.log(256 * c * H)
    closed = sp.exp(u) * u * sp.exp(sp.Rational(1, 2)) / c
    assert sp.simplify(closed - 256 * sp.sqrt(sp.E) * H * u) == 0


def test_corollary_is_the_exponential_of_the_lambert_bound():
    a = sp.symbols("a", positive=True)
    u = sp.log(1 / a)
    assert sp.simplify(sp.exp(u) * u * sp.sqrt(sp.E) - sp.sqrt(sp.E) / a * sp.log(1 / a)) == 0


def test_lambert_bounds_closed_part():
    # w = -W_{-1}(x) has w >= 1 and w = u + log w, u = -log(-x), so w >= u and w >= u + log u.
    # log w <= log u + 1/2 is log(w)/w <= 1 - 1/sqrt(e); the maximum of the left is 1/e.
    assert 1 / sp.E < 1 - 1 / sp.sqrt(sp.E)
    w = sp.symbols("w", positive=True)
    assert sp.solve(sp.diff(sp.log(w) / w, w), w) == [sp.E]


def test_lambert_bounds_other_part_certified():
    # log(w/u) <= u^(-1/2) with u = w - log w: by intervals for w in [1, 50]; beyond,
    # -log(1 - z) <= z/(1 - z), z = log(w)/w, leaves log(w)^2 + log w <= w, true at 50 and growing.
    for w in cells(1, 50, 6000):
        u = w - iv.log(w)
        assert (iv.log(w / u) * iv.sqrt(u)).b < 1
    w = sp.symbols("w", positive=True)
    rest = w - sp.log(w) ** 2 - sp.log(w)
    assert rest.subs(w, 50) > 0
    assert (w * sp.diff(rest, w)).subs(w, 50) > 0  # w - 2 log w - 1, growing for w > 2


# ---- the LUCB1-like instantiation


def test_hoeffding_spends_four_fifths_of_delta_over_t_cubed():
    T = sp.symbols("T", positive=True)
    beta = sp.sqrt(2 / T * sp.log(5 * K * D * t**4 / (2 * delta)))
    one = 2 * sp.exp(-T * beta**2 / 2)  # two-sided, T samples of variance proxy 1
    assert sp.simplify(one - 4 * delta / (5 * K * D * t**4)) == 0
    assert sp.simplify(K * D * t * one - 4 * delta / (5 * t**3)) == 0
    # the code's radius is twice that beta for equal counts
    value = 2 * float(beta.subs({T: 9, K: 4, D: 2, t: 50, delta: 0.1}))
    assert float(theory.LUCB1Like().half_width(9, 9, 50, 4, 2, 0.1)) == pytest.approx(value)


def test_four_zeta_three_fifths_is_below_one():
    iv_zeta_3 = sum(1 / iv.mpf(k) ** 3 for k in range(1, 200)) + iv.mpf([0, 1 / (2 * 199**2)])
    assert (4 * iv_zeta_3 / 5).b < 1
    assert 4 * sp.zeta(3) / 5 < 1


def test_sum_over_late_events():
    # P(E(n)^c) <= sum over n/2 <= t <= n of 4 delta/(5 t^3); each t serves n = t..2t.
    k = sp.symbols("k", positive=True, integer=True)
    total = sp.summation((k + 1) / k**3, (k, 1, sp.oo))
    assert sp.simplify(total - (sp.zeta(2) + sp.zeta(3))) == 0
    printed = sp.Rational(16, 5) * sp.pi**2 / 6
    assert sp.simplify(printed - 8 * sp.pi**2 / 15) == 0
    assert sp.Rational(4, 5) * (sp.zeta(2) + sp.zeta(3)) < printed


def test_counts_of_the_lucb1_argument():
    # Delta <= 4 beta_a(t) with T_a samples: T_a <= 128 log(c t)/Delta^2
    T = sp.symbols("T", positive=True)
    beta_squared = 2 / T * sp.log(5 * K * D * t**4 / (2 * delta))
    (most,) = sp.solve(sp.Eq(Delta**2, 16 * beta_squared), T)
    c = (5 * K * D / (2 * delta)) ** sp.Rational(1, 4)
    target = 128 / Delta**2 * sp.log(c * t)
    assert sp.simplify(sp.expand_log(most - target, force=True)) == 0
    # and 256 sqrt(e) H log(256 c H) = 64 sqrt(e) H log(5KD/(2 delta)) + 256 sqrt(e) H log(256 H)
    left = 256 * sp.log(256 * c * H)
    right = 64 * sp.log(5 * K * D / (2 * delta)) + 256 * sp.log(256 * H)
    assert sp.simplify(sp.expand_log(left - right, force=True)) == 0


# ---- the sharp bound


def test_kaufmann_koolen_width_falls_from_two_on():
    # sign of d/dn of (C + 2 log(4 + log n))/n is that of 2/(4 + log n) - C - 2 log(4 + log n),
    # which falls in n and is negative at 1 for every C >= 0.
    width = (C + 2 * sp.log(4 + sp.log(n))) / n
    sign = 2 / (4 + sp.log(n)) - C - 2 * sp.log(4 + sp.log(n))
    assert sp.simplify(sp.diff(width, n) - sign / n**2) == 0
    assert sign.subs({n: 1, C: 0}) < 0


def test_mixture_width_falls_everywhere():
    # sign of d/dn is that of 2n/(n + 2 rho) - C - 2 log(1 + n/rho): at u = n/rho the last beats
    # the first because log(1 + u) >= 2u/(2 + u), a difference that starts at 0 and rises.
    width = (C + 2 * sp.log((n + rho) / rho)) * 2 * (n + rho) / n**2
    sign = 2 * n / (n + 2 * rho) - C - 2 * sp.log((n + rho) / rho)
    assert sp.simplify(sp.diff(width, n) - sign * 2 * (n + 2 * rho) / n**3) == 0
    u = sp.symbols("u", positive=True)
    gap = sp.log(1 + u) - 2 * u / (2 + u)
    assert gap.subs(u, 0) == 0
    assert sp.simplify(sp.diff(gap, u) - u**2 / ((1 + u) * (2 + u) ** 2)) == 0


def test_kaufmann_koolen_width_falls_and_then_rises_in_the_partners_count():
    # d/dq (C + l_p + l_q)(1/p + 1/q) has the sign of q/p + 1 - (4 + log q)(C + l_p + l_q).
    # That is a line minus a concave function, hence convex, and negative at q = p by the test
    # above (half the derivative along the diagonal): it changes sign once.
    A = sp.symbols("A", positive=True)  # C + l_p
    width = (A + sp.log(4 + sp.log(q))) * (1 / p + 1 / q)
    sign = q / p + 1 - (4 + sp.log(q)) * (A + sp.log(4 + sp.log(q)))
    assert sp.simplify(sp.diff(width, q) - sign / (q**2 * (4 + sp.log(q)))) == 0
    v = sp.symbols("v", positive=True)  # v = 4 + log q >= 4
    curvature = sp.diff(sign, q, 2).subs(sp.log(q), v - 4) * q**2
    assert sp.simplify(curvature - (A + sp.log(v) + 1 - 1 / v)) == 0  # positive for v >= 1


def test_mixture_width_falls_and_then_rises_in_the_partners_count():
    # F(q) = (A + log(q + rho))(V + (q + rho)/q^2); G has the sign of F'. G' has the sign of V - R
    # with R falling, so G falls and then rises; G(p) < 0, so G changes sign once.
    A, V = sp.symbols("A V", positive=True)
    F = (A + sp.log(q + rho)) * (V + (q + rho) / q**2)
    G = (V * q**3 + q * (q + rho)) / ((q + rho) * (q + 2 * rho)) - A - sp.log(q + rho)
    assert sp.simplify(sp.diff(F, q) - G * (q + 2 * rho) / q**3) == 0
    R = (q**2 + 2 * rho * q + 2 * rho**2) * (q + rho) / (q**2 * (q**2 + 6 * rho * q + 6 * rho**2))
    factor = q**2 * (q**2 + 6 * rho * q + 6 * rho**2) / ((q + rho) ** 2 * (q + 2 * rho) ** 2)
    assert sp.simplify(sp.diff(G, q) - factor * (V - R)) == 0
    numerator = sp.Poly(sp.numer(sp.together(-sp.diff(R, q))), q, rho)
    assert all(c > 0 for c in numerator.coeffs())


def test_partners_never_matter_for_kaufmann_koolen_in_practice():
    # (C + l_p + l_Q)(1 + p/Q) <= 2 (C + 2 l_p) at the far end Q = e^100, for all p; C^g(0+) is the
    # smallest C. On a dense grid, at double precision.
    smallest = theory.C_g(1e-9)
    log_p = np.linspace(0.0, 100.0, 20001)
    l_p, l_Q = np.log(4 + log_p), math.log(104)
    left = (smallest + l_p + l_Q) * (1 + np.exp(log_p - 100))
    right = 2 * (smallest + 2 * l_p)
    assert (left[:-1] < right[:-1]).all()


def test_theorem_1_holds_with_the_exact_calibration():
    # The proof has C^g(x) <= (1 + 1/e) x, which the exact C^g meets from x = 4.8 on only. Below,
    # f < 0.99 Delta at max(2, printed time): dense grid, double precision.
    for x in np.concatenate([np.geomspace(1e-6, 1, 20), np.linspace(1, 6, 40)]):
        gap = np.geomspace(1e-8, 12 * math.e, 1500)[:-1]
        inner = 4 * np.exp(2 * x) * np.log(12 * math.e / gap)
        time = np.maximum(88 / gap**2 * np.log(np.maximum(inner, 1.0)), 2.0)
        f = 4 * np.sqrt((2 * theory.C_g(float(x)) + 4 * np.log(4 + np.log(time))) / time)
        assert (f < 0.99 * gap).all()
    for x in np.geomspace(4.8, 1e4, 200):
        assert theory.C_g(float(x)) <= (1 + 1 / math.e) * x


# ---- the best-arm remark


def test_controlling_pairs_with_the_best_arm_is_enough():
    # In case 2.2 with b_t and c_t both sub-optimal, pairs with the best arm * give
    # Delta_c <= beta_*c - beta_*b + beta_bc; when c is sampled (n_c <= n_b) that is at most
    # 2 beta_cc. Closed: if n_b is the largest, beta_*c^2 <= beta_*b^2 + beta_bc^2; else
    # n_* >= n_b >= n_c and both beta_*c and beta_bc are at most beta_cc. Here on a grid.
    counts = np.unique(np.geomspace(1, 1e12, 60).round())
    best, b, c = np.meshgrid(counts, counts, counts, indexing="ij")
    for level in (0.9, 0.1, 1e-4):
        radius = theory.KaufmannKoolen()
        beta = {
            pair: radius.half_width(*pair_counts, 2, 1, level)
            for pair, pair_counts in {
                "*c": (best, c), "*b": (best, b), "bc": (b, c), "cc": (c, c)
            }.items()
        }  # fmt: skip
        chosen = c <= b
        excess = beta["*c"] - beta["*b"] + beta["bc"] - 2 * beta["cc"]
        assert (excess[chosen] <= 1e-12).all()  # rounding where all counts agree
