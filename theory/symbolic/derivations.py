"""The constants and inversions behind radii and bounds, derived anew each time they are asked for.

Each function yields steps, True where they hold; its docstring is the statement. Steps of
theory/PROOFS.md that are not here are in the tests that it names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import sympy as sp
from sympy import E, Rational, exp, log, sqrt

from paretoid.theory.calibration import C_g
from paretoid.theory.symbolic.derivation import Derivation, cells, collector, zero
from paretoid.theory.symbolic.formulas import FORMULAS

t, n, p, q, C, rho, s, w = sp.symbols("t n p q C rho s w", positive=True)
Delta, delta, H, K, D, T = sp.symbols("Delta delta H K D T", positive=True)
alpha, a, c, u = sp.symbols("alpha a c u", positive=True)
x, S = sp.symbols("x S", real=True)

DERIVATIONS: dict[str, Derivation] = {}
derivation = collector(DERIVATIONS)

# --- radii ----------------------------------------------------------------------------------------


@derivation("symbolic", "[kone2023, Eq. (re-CI)]; K1")
def pairs_spend_delta() -> Iterator[bool]:
    """A union over K (K - 1) D / 2 differences, each at delta/K1, spends delta."""
    i, j = sp.symbols("i j", integer=True, positive=True)
    arms = sp.symbols("K", integer=True, positive=True)
    pairs = sp.summation(sp.summation(1, (j, i + 1, arms)), (i, 1, arms))
    K1 = arms * (arms - 1) * D / 2
    yield zero(pairs * D - K1)
    yield zero(pairs * D * delta / K1 - delta)


@derivation("symbolic", "PROOFS.md, Section 2; Mixture, ArmMixture")
def mixing_over_a_normal_prior() -> Iterator[bool]:
    """Mixing exp(x S - x^2 n/2) over x ~ N(0, 1/rho) gives the closed form of l and v."""
    prior = sqrt(rho / (2 * sp.pi)) * exp(-rho * x**2 / 2)
    mixed = sp.integrate(exp(x * S - x**2 * n / 2) * prior, (x, -sp.oo, sp.oo))
    closed = sqrt(rho / (n + rho)) * exp(S**2 / (2 * (n + rho)))
    yield zero(mixed / closed - 1)
    level = (n + rho) * (2 * log(1 / alpha) + log((n + rho) / rho))  # S^2 where closed = 1/alpha
    yield zero(closed.subs(S, sqrt(level)) * alpha - 1)


@derivation("symbolic", "PROOFS.md, Section 2; Mixture.tuned")
def the_best_rho() -> Iterator[bool]:
    """With equal counts n the radius is smallest at rho = n/(u - 1), u - log u = 1 + C/2."""
    L = sp.symbols("L", positive=True)
    square = (2 * L + 2 * log((n + rho) / rho)) * 2 * (n + rho) / n**2
    best = {rho: n / (u - 1), L: u - log(u) - 1}
    yield zero(sp.diff(square, rho).subs(best))
    yield zero(square.subs(best) - 4 * u / n)


@derivation("symbolic", "[kone2023, Appendix LUCB1-like instantiation]; LUCB1Like")
def hoeffding_spends_four_fifths() -> Iterator[bool]:
    """The LUCB1-like radius fails at time t with probability at most 4 delta/(5 t^3)."""
    beta = sqrt(2 / T * log(5 * K * D * t**4 / (2 * delta)))
    one = 2 * exp(-T * beta**2 / 2)  # two-sided, T samples of variance proxy 1
    yield zero(one - 4 * delta / (5 * K * D * t**4))
    yield zero(K * D * t * one - 4 * delta / (5 * t**3))


@derivation("interval", "[kone2023, Appendix LUCB1-like instantiation]; LUCB1Like")
def four_zeta_three_fifths() -> Iterator[bool]:
    """4 zeta(3)/5 < 1, so that these failures add up to less than delta."""
    from mpmath import iv

    zeta = sum(1 / iv.mpf(k) ** 3 for k in range(1, 200)) + iv.mpf([0, 1 / (2 * 199**2)])
    yield (4 * zeta / 5).b < 1


@derivation("symbolic", "PROOFS.md; Mixture, the sharp bound")
def mixture_width_falls() -> Iterator[bool]:
    """The radius of Mixture falls in the count, whatever C >= 0 is."""
    width = (C + 2 * log((n + rho) / rho)) * 2 * (n + rho) / n**2
    sign = 2 * n / (n + 2 * rho) - C - 2 * log((n + rho) / rho)
    yield zero(sp.diff(width, n) - sign * 2 * (n + 2 * rho) / n**3)
    gap = log(1 + u) - 2 * u / (2 + u)  # log(1 + u) >= 2u/(2 + u), with u = n/rho
    yield gap.subs(u, 0) == 0
    yield zero(sp.diff(gap, u) - u**2 / ((1 + u) * (2 + u) ** 2))


@derivation("symbolic", "PROOFS.md; Mixture, the sharp bound")
def mixture_falls_and_then_rises_in_the_partners_count() -> Iterator[bool]:
    """In the other arm's count the radius of Mixture falls and then rises: its slope has one zero.

    With F(q) = (A + log(q + rho))(V + (q + rho)/q^2), G has the sign of F', and G' that of V - R
    with R falling.
    """
    A, V = sp.symbols("A V", positive=True)
    F = (A + log(q + rho)) * (V + (q + rho) / q**2)
    G = (V * q**3 + q * (q + rho)) / ((q + rho) * (q + 2 * rho)) - A - log(q + rho)
    yield zero(sp.diff(F, q) - G * (q + 2 * rho) / q**3)
    R = (q**2 + 2 * rho * q + 2 * rho**2) * (q + rho) / (q**2 * (q**2 + 6 * rho * q + 6 * rho**2))
    factor = q**2 * (q**2 + 6 * rho * q + 6 * rho**2) / ((q + rho) ** 2 * (q + 2 * rho) ** 2)
    yield zero(sp.diff(G, q) - factor * (V - R))
    numerator = sp.Poly(sp.numer(sp.together(-sp.diff(R, q))), q, rho)
    yield all(coefficient > 0 for coefficient in numerator.coeffs())


@derivation("symbolic", "[kone2023, Eq. (beta)]; KaufmannKoolen, the sharp bound")
def kaufmann_koolen_width_falls() -> Iterator[bool]:
    """The radius of the paper falls in the count, whatever C >= 0 is.

    The sign of its slope falls in n and is negative at 1.
    """
    width = (C + 2 * log(4 + log(n))) / n
    sign = 2 / (4 + log(n)) - C - 2 * log(4 + log(n))
    yield zero(sp.diff(width, n) - sign / n**2)
    yield sign.subs({n: 1, C: 0}) < 0


@derivation("symbolic", "[kone2023, Eq. (beta)]; KaufmannKoolen, the sharp bound")
def kaufmann_koolen_falls_and_then_rises_in_the_partners_count() -> Iterator[bool]:
    """In the other arm's count the paper's radius falls and then rises: its sign is convex."""
    A, v = sp.symbols("A v", positive=True)  # A = C + l_p; v = 4 + log q >= 4
    width = (A + log(4 + log(q))) * (1 / p + 1 / q)
    sign = q / p + 1 - (4 + log(q)) * (A + log(4 + log(q)))
    yield zero(sp.diff(width, q) - sign / (q**2 * (4 + log(q))))
    curvature = sp.diff(sign, q, 2).subs(log(q), v - 4) * q**2
    yield zero(curvature - (A + log(v) + 1 - 1 / v))  # positive for v >= 1


# --- Theorem 1 ------------------------------------------------------------------------------------


@derivation("symbolic", "[kone2023, Theorem 1]; radius_time")
def twice_beta_is_the_function_of_the_inversion_lemma() -> Iterator[bool]:
    """Twice the radius at equal counts is sqrt((32 C + 64 log log(e^4 n))/n)."""
    beta = 2 * sqrt((C + 2 * log(4 + log(n))) * 2 / n)
    f = sqrt((32 * C + 64 * log(4 + log(n))) / n)
    yield zero((2 * beta) ** 2 - f**2)
    yield zero(log(log(exp(4) * n)) - log(4 + log(n)))


@derivation("symbolic", "[kone2023, Theorem 1]; theorem_1")
def alpha_star_and_its_two_constants() -> Iterator[bool]:
    """alpha = (1 + e)/(1 + 5e) balances the two terms; they are below 88 and 144."""
    left = 32 * (1 + 1 / E) / 2 / alpha  # with C^g(x) <= (1 + 1/e) x, as log(x) <= x/e
    (star,) = sp.solve(sp.Eq(left, 64 / (1 - alpha)), alpha)
    yield zero(star - (1 + E) / (1 + 5 * E))
    first, second = sp.simplify(64 / (1 - star)), sp.simplify(96 / (1 - star))
    yield zero(first - (80 + 16 / E))
    yield zero(second - (120 + 24 / E))
    yield first < 88
    yield second < 144
    yield sp.solve(sp.diff(log(t) / t, t), t) == [E]


@derivation("symbolic", "[kone2023, Theorem 1]; theorem_1")
def the_last_step_of_theorem_1() -> Iterator[bool]:
    """2 log(144 e^2/Delta^2) = 4 log(12 e/Delta), and 4 K1 = 2 K (K - 1) D."""
    yield zero(2 * log(144 * E**2 / Delta**2) - 4 * log(12 * E / Delta))
    yield zero(4 * K * (K - 1) * D / 2 - 2 * K * (K - 1) * D)


@derivation("symbolic", "[kone2023, Lemma bound_part_tps]; loglog_time")
def the_loglog_lemma() -> Iterator[bool]:
    """The steps from log log(e^4 t)/t < L to a time of the form log(2 log(3 e^2/(2 L)))/L."""
    # g(t) = t - log log(e^4 t)/Delta^2 rises once log(e^4 t) >= w = W_0(e^4/Delta^2)
    g = t - log(4 + log(t)) / Delta**2
    yield zero(sp.diff(g, t) - (1 - 1 / (Delta**2 * t * (4 + log(t)))))
    t0 = exp(w - 4)
    level = exp(4) / (w * exp(w))  # Delta^2
    yield zero(level * t0 * (4 + log(t0)) - 1)
    yield zero(t0 - 1 / (level * w))
    yield (w * exp(w)).subs(w, 3) == 3 * E**3  # hence t0 <= 1/(3 Delta^2) for Delta^2 <= e/3
    yield log(2 * log(9 * E / 2)) > Rational(1, 3)
    half = 3 * E**2 / 2  # e^4/a * x/e^2 with a = 3 e^2/2, x = a/Delta^2 leaves half of e^2/Delta^2
    rest = half / Delta**2 - E**4 / half * (half / Delta**2) / E**2
    yield zero(rest - E**2 / Delta**2 / 2)


@derivation("interval", "[kone2023, Lemma bound_part_tps]; loglog_time")
def double_log_is_below_its_line() -> Iterator[bool]:
    """log(2 log x) <= x/e^2 from 12 on: by intervals up to 100, beyond by slopes."""
    from mpmath import iv

    yield all((iv.log(2 * iv.log(cell)) - cell / iv.e**2).b < 0 for cell in cells(12, 100, 3000))
    slope = sp.diff(t / E**2 - log(2 * log(t)), t)
    yield slope.subs(t, 100) > 0  # and 1/(t log t) falls


@derivation("symbolic", "[kone2023, Lemma bound_part_tps]; loglog_time")
def double_log_is_below_e_third() -> Iterator[bool]:
    """log log(e^4 t) < e t/3 from 2 on: at 2, and beyond because the left grows slower."""
    yield log(4 + log(2)) < 2 * E / 3
    yield sp.diff(log(4 + log(t)), t).subs(t, 2) < E / 3


@derivation("symbolic", "[kone2023, Lemma bound_inv_beta]; radius_time")
def general_inversion_is_the_loglog_lemma_rescaled() -> Iterator[bool]:
    """The lemma at level (1 - alpha) Delta^2/c has 3 e^2 c/(2 (1 - alpha) Delta^2) inside."""
    inner = 3 * E**2 / (2 * (1 - alpha) * Delta**2 / c)
    yield zero(inner - 3 * E**2 * c / (2 * (1 - alpha) * Delta**2))
    yield zero(inner.subs(c, 64) - 96 * E**2 / ((1 - alpha) * Delta**2))


# --- Lambert's W ----------------------------------------------------------------------------------


@derivation("symbolic", "[kone2023, Lemma ineq_log]; log_crossings")
def lambert_inversion() -> Iterator[bool]:
    """x = e^(-W)/a with W e^W = -b/a solves log(a x) = b x, on either branch."""
    W = sp.symbols("W", real=True)
    b, root = -a * W * exp(W), exp(-W) / a
    yield zero(log(a * root) - b * root)


@derivation("symbolic", "[kone2023, Lemma bound_T_star]; lucb1_time_bound")
def t_star_is_the_lambert_root() -> Iterator[bool]:
    """128 H log(c s)/s = 1/2 has the bound 256 sqrt(e) H log(256 c H) on its larger root."""
    yield zero(128 * H * log(c * s) / s * 2 / (256 * H) - log(c * s) / s)
    inside = log(256 * c * H)
    yield zero(exp(inside) * inside * sqrt(E) / c - 256 * sqrt(E) * H * inside)


@derivation("symbolic", "[kone2023, Corollary bound_W_1]; lambert_exponential_bound")
def corollary_is_the_exponential_of_the_lambert_bound() -> Iterator[bool]:
    """exp(u + log u + 1/2) at u = log(1/a) is sqrt(e) log(1/a)/a."""
    inside = log(1 / a)
    yield zero(exp(inside) * inside * sqrt(E) - sqrt(E) / a * log(1 / a))


@derivation("symbolic", "[kone2023, Lemma lambert_dom]; lambert_bounds")
def lambert_bounds_closed_part() -> Iterator[bool]:
    """w = u + log w gives w >= u + log u, and log(w)/w <= 1/e < 1 - 1/sqrt(e) the constant 1/2."""
    yield 1 / E < 1 - 1 / sqrt(E)
    yield sp.solve(sp.diff(log(w) / w, w), w) == [E]


@derivation("interval", "[kone2023, Lemma lambert_dom]; lambert_bounds")
def lambert_bounds_other_part() -> Iterator[bool]:
    """log(w/u) <= u^(-1/2) with u = w - log w: by intervals for w in [1, 50], beyond by calculus.

    There -log(1 - z) <= z/(1 - z), z = log(w)/w, leaves log(w)^2 + log w <= w.
    """
    from mpmath import iv

    def below(cell: sp.Expr) -> bool:
        inside = cell - iv.log(cell)
        return bool((iv.log(cell / inside) * iv.sqrt(inside)).b < 1)

    yield all(map(below, cells(1, 50, 6000)))
    rest = w - log(w) ** 2 - log(w)
    yield rest.subs(w, 50) > 0
    yield (w * sp.diff(rest, w)).subs(w, 50) > 0  # w - 2 log w - 1, growing for w > 2


@derivation("symbolic", "[kone2023, Appendix LUCB1-like instantiation]; expected_samples_lucb1")
def sum_over_late_events() -> Iterator[bool]:
    """What late failures add to the mean is below 8 pi^2/15."""
    k = sp.symbols("k", positive=True, integer=True)
    total = sp.summation((k + 1) / k**3, (k, 1, sp.oo))  # each t serves n = t..2t
    yield zero(total - (sp.zeta(2) + sp.zeta(3)))
    printed = Rational(16, 5) * sp.pi**2 / 6
    yield zero(printed - 8 * sp.pi**2 / 15)
    yield Rational(4, 5) * (sp.zeta(2) + sp.zeta(3)) < printed


@derivation("symbolic", "[kone2023, Appendix LUCB1-like instantiation]; lucb1_time")
def counts_of_the_lucb1_argument() -> Iterator[bool]:
    """Delta <= 4 beta leaves an arm at most 128 log(c t)/Delta^2 samples, c^4 = 5KD/(2 delta)."""
    beta_squared = 2 / T * log(5 * K * D * t**4 / (2 * delta))
    (most,) = sp.solve(sp.Eq(Delta**2, 16 * beta_squared), T)
    root = (5 * K * D / (2 * delta)) ** Rational(1, 4)
    yield zero(most - 128 / Delta**2 * log(root * t))
    right = 64 * log(5 * K * D / (2 * delta)) + 256 * log(256 * H)
    yield zero(256 * log(256 * root * H) - right)


# --- lower bounds ---------------------------------------------------------------------------------


@derivation("symbolic", "[kone2023, Appendix Lower Bound]; lower_bound, characteristic_time")
def gaussian_divergence_of_a_shift() -> Iterator[bool]:
    """Two unit Gaussians u apart have the divergence u^2/2."""
    density = exp(-(S**2) / 2) / sqrt(2 * sp.pi)
    ratio = -(S**2) / 2 + (S - x) ** 2 / 2
    yield zero(sp.integrate(sp.expand(density * ratio), (S, -sp.oo, sp.oo)) - x**2 / 2)


@derivation("symbolic", "[kone2023, Theorem 2], corrected; lower_bound")
def binary_divergence_from_one_half() -> Iterator[bool]:
    """d(1/2, delta) = log(1/(4 delta (1 - delta)))/2; the printed constant is log 2 too large."""
    half = Rational(1, 2)
    entropy = half * log(half / delta) + half * log(half / (1 - delta))
    yield zero(entropy - log(1 / (4 * delta * (1 - delta))) / 2)
    yield zero(log(1 / (delta * (1 - delta))) / 2 - entropy - log(2))
    pieces = entropy / (D * u**2 / 2)  # E T_i >= d(1/2, delta)/(D u^2/2), u = Delta_i + omega^k
    yield zero(pieces - log(1 / (4 * delta * (1 - delta))) / (D * u**2))


@derivation("symbolic", "[garivier2016]; characteristic_time")
def cheapest_swap_is_harmonic_in_the_weights() -> Iterator[bool]:
    """Merging two arms with weights w_i, w_j costs w_i w_j/(w_i + w_j) (mu_j - mu_i)^2/2."""
    w_i, w_j = sp.symbols("w_i w_j", positive=True)
    mu_i, mu_j = sp.symbols("mu_i mu_j", real=True)
    cost = (w_i * (mu_i - x) ** 2 + w_j * (mu_j - x) ** 2) / 2
    (merged,) = sp.solve(sp.diff(cost, x), x)
    yield zero(cost.subs(x, merged) - w_i * w_j / (w_i + w_j) * (mu_j - mu_i) ** 2 / 2)


# --- on grids: evidence, no proof -----------------------------------------------------------------


@derivation("numerical", "theory/ERRATA.md; theorem_1")
def theorem_1_holds_with_the_exact_calibration() -> Iterator[bool]:
    """Theorem 1's time suffices although C^g(x) <= (1 + 1/e) x fails below x = 4.8.

    Below, twice the radius is under 0.99 Delta at max(2, printed time), on a dense grid.
    """
    for level in np.concatenate([np.geomspace(1e-6, 1, 20), np.linspace(1, 6, 40)]):
        gap = np.geomspace(1e-8, 12 * math.e, 1500)[:-1]
        inner = 4 * np.exp(2 * level) * np.log(12 * math.e / gap)
        time = np.maximum(88 / gap**2 * np.log(np.maximum(inner, 1.0)), 2.0)
        twice = 4 * np.sqrt((2 * C_g(float(level)) + 4 * np.log(4 + np.log(time))) / time)
        yield (twice < 0.99 * gap).all()
    yield all(
        C_g(float(level)) <= (1 + 1 / math.e) * level for level in np.geomspace(4.8, 1e4, 200)
    )


@derivation("numerical", "KaufmannKoolen, the sharp bound")
def partners_never_matter_for_kaufmann_koolen() -> Iterator[bool]:
    """(C + l_p + l_Q)(1 + p/Q) <= 2 (C + 2 l_p) up to the far end Q = e^100, for the smallest C."""
    smallest = C_g(1e-9)
    log_p = np.linspace(0.0, 100.0, 20001)
    l_p, l_Q = np.log(4 + log_p), np.log(104)
    left = (smallest + l_p + l_Q) * (1 + np.exp(log_p - 100))
    yield (left[:-1] < (2 * (smallest + 2 * l_p))[:-1]).all()


@derivation("numerical", "theory.symbolic.FORMULAS")
def formulas_are_what_is_computed() -> Iterator[bool]:
    """Every closed form agrees with the function of the package that stands for it."""
    rng = np.random.default_rng(1)
    for formula in FORMULAS.values():
        for _ in range(5):
            at = [
                int(rng.integers(int(low), int(high) + 1))
                if symbol.is_integer
                else float(rng.uniform(low, high))
                for symbol, (low, high) in zip(formula.symbols, formula.ranges, strict=True)
            ]
            ours, theirs = complex(formula.numeric()(*at)).real, float(formula.function(*at))
            yield abs(ours - theirs) <= 1e-9 * max(abs(theirs), 1e-6)
