"""The closed forms of `paretoid.theory`, one entry each, beside the function that computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy import E, Max, Rational, exp, log, pi, sqrt

from paretoid import theory
from paretoid.theory import calibration, radii, upper_bounds


@dataclass(frozen=True)
class Formula:
    """A closed form: a SymPy expression, its symbols in order, its source, and who computes it.

    symbols    the arguments, in the order of `function` and of `numeric()`
    ranges     for each a lowest and a highest value between which the two were compared
    function   the numerical function of these arguments: of the package, or one line around it

    >>> formula = FORMULAS["C_g_approximate"]
    >>> formula.expression, formula.latex, formula.source
    (x + log(x), 'x + \\\\log{\\\\left(x \\\\right)}', '[kone2023, Section 5]')
    >>> formula.function(1.0) == float(formula.numeric()(1.0)) == 1.0
    True
    """

    name: str
    expression: Any
    symbols: tuple[Any, ...]
    ranges: tuple[tuple[float, float], ...]
    source: str
    function: Callable[..., float]

    @property
    def latex(self) -> str:
        """The expression as LaTeX.

        >>> FORMULAS["lucb1_time_bound"].latex.startswith("256")
        True
        """
        return str(sp.latex(self.expression))

    def numeric(self) -> Callable[..., Any]:
        """The expression as a function of numbers, made by SymPy alone, with SciPy's functions.

        >>> round(float(FORMULAS["kl_bernoulli"].numeric()(0.5, 0.25)), 6)
        0.143841
        """
        made: Callable[..., Any] = sp.lambdify(self.symbols, self.expression, ["scipy", "numpy"])
        return made


K, D, n, p, q, N = sp.symbols("K D n p q N", integer=True, positive=True)
draws, successes = sp.symbols("n s", integer=True, nonnegative=True)
delta, alpha, rho, w, t, l, x, u, g, c = sp.symbols("delta alpha rho w t l x u g c", positive=True)
Delta, omega, H, C, a, b, m, L, s = sp.symbols("Delta omega H C a b m L s", positive=True)
y = sp.symbols("x", negative=True)
first, second = sp.symbols("p q", positive=True)

_COUNT, _LEVEL, _RHO = (1, 10**6), (1e-12, 0.9), (0.1, 1e4)
FORMULAS: dict[str, Formula] = {}


def _add(
    name: str,
    expression: Any,
    arguments: Sequence[tuple[Any, tuple[float, float]]],
    source: str,
    function: Callable[..., Any],
) -> None:
    symbols, ranges = zip(*arguments, strict=True)
    FORMULAS[name] = Formula(name, expression, symbols, ranges, source, function)


# --- levels and calibration -----------------------------------------------------------------------

_arms = ((K, (2, 500)), (D, (1, 20)))
_many = ((K, (4, 500)), (D, (1, 20)), (delta, _LEVEL))
_add("K1", K * (K - 1) * D / 2, _arms, "[kone2023, Section 3.2]", theory.K1)
_add("level_pairs", 2 * delta / (K * (K - 1) * D), _many, "[kone2023, Section 3.2]",
     lambda K, D, delta: theory.levels(K, D, delta, "pairs")[0])  # fmt: skip
_add("level_keep", delta / (K * D), _many, "PROOFS.md, Section 4",
     lambda K, D, delta: theory.levels(K, D, delta, "claims")[0])  # fmt: skip
_add("level_drop", delta / (K * (K - 1)), _many, "PROOFS.md, Section 4",
     lambda K, D, delta: theory.levels(K, D, delta, "claims")[1])  # fmt: skip
_add("C_g_objective",
     (2 * l - 2 * l * log(4 * l) + log(sp.zeta(2 * l)) - log(1 - l) / 2 + x) / l,
     ((l, (0.51, 0.99)), (x, (0.01, 50.0))), "[kaufmann2021, Proposition 24]; C^g is its minimum",
     lambda l, x: calibration._slope(l, 1 - l, x))  # fmt: skip
_add("C_g_approximate", x + log(x), ((x, (0.01, 100.0)),), "[kone2023, Section 5]",
     theory.C_g_approximate)  # fmt: skip

# --- radii ----------------------------------------------------------------------------------------

_counts = ((p, _COUNT), (q, _COUNT))
_add("kaufmann_koolen_l", log(4 + log(n)), ((n, _COUNT),), "[kone2023, Eq. (beta)]",
     lambda n: radii.KaufmannKoolen().arm_terms(n, 4, 2, 0.1)[0])  # fmt: skip
_add("kaufmann_koolen_v", 4 / n, ((n, _COUNT),), "[kone2023, Eq. (beta)]",
     lambda n: radii.KaufmannKoolen().arm_terms(n, 4, 2, 0.1)[1])  # fmt: skip
_add("mixture_l", log((n + rho) / rho), ((n, _COUNT), (rho, _RHO)), "PROOFS.md, Section 2",
     lambda n, rho: radii.Mixture(rho, sides="two").arm_terms(n, 4, 2, 0.1)[0])  # fmt: skip
_add("mixture_v", (n + rho) / n**2, ((n, _COUNT), (rho, _RHO)), "PROOFS.md, Section 2",
     lambda n, rho: radii.Mixture(rho, sides="two").arm_terms(n, 4, 2, 0.1)[1])  # fmt: skip
_add("mixture_half_width",
     sqrt((2 * log(1 / alpha) + log((p + rho) / rho) + log((q + rho) / rho))
          * ((p + rho) / p**2 + (q + rho) / q**2)),
     (*_counts, (rho, _RHO), (alpha, _LEVEL)), "PROOFS.md, Section 2, two-sided, at level alpha",
     lambda p, q, rho, alpha: radii.Mixture(rho, union="none", sides="two").half_width(
         p, q, 4, 2, alpha))  # fmt: skip
_add("mixture_rho_for_a_gap", 16 / Delta**2, ((Delta, (0.01, 10.0)),), "PROOFS.md, Section 2",
     lambda gap: radii.Mixture.tuned(4, 2, 0.1, gap=gap).rho)  # fmt: skip
_add("informed_rho", Max(n / 12, 5), ((n, (1, 10**6)),), "PROOFS.md, Section 9; tuned",
     lambda n: theory.informed_rho([float(n), float(n)])[0])  # fmt: skip
_add("first_usable_count", Max(1, sp.ceiling(rho / 4)), ((rho, _RHO),), "PROOFS.md, Section 8",
     theory.first_usable_count)  # fmt: skip

_a = sqrt(5) / 3 * sqrt(2 * log(1 / (2 * alpha)))
_Phi = (1 + sp.erf(_a / sqrt(2))) / 2
_mills = exp(-(_a**2) / 2) / sqrt(2 * pi) / _Phi
_penalty = -log(_Phi) + Rational(138, 100) * _mills**2
_add("penalty", _penalty, ((alpha, (1e-12, 0.44)),), "PROOFS.md, Section 8", theory.penalty)
_add("one_sided_constant", 2 * log(1 / (2 * alpha)) + 2 * _penalty, ((alpha, (1e-12, 0.38)),),
     "PROOFS.md, Section 8", theory.one_sided_constant)  # fmt: skip
_add("unknown_scale_threshold", log(K * D / (w * delta)), (*_many, (w, (0.01, 0.99))),
     "PROOFS.md, Section 3",
     lambda K, D, delta, w: radii.UnknownScale(w=w).threshold(K, D, delta))  # fmt: skip
_add("lucb1_half_width",
     sqrt(log(5 * K * D * t**4 / (2 * delta))) * (sqrt(2 / p) + sqrt(2 / q)),
     (*_counts, (t, _COUNT), *_many), "[kone2023, Appendix LUCB1-like instantiation]",
     lambda p, q, t, K, D, delta: radii.LUCB1Like().half_width(p, q, t, K, D, delta))  # fmt: skip
_add("arm_mixture_half_width",
     sqrt((2 * log(1 / alpha) + log((n + rho) / rho)) * (n + rho)) / n,
     ((n, _COUNT), (rho, _RHO), (alpha, _LEVEL)), "the docstring of ArmMixture",
     lambda n, rho, alpha: theory.ArmMixture(rho).half_width(n, alpha))  # fmt: skip
_add("iterated_logarithm_half_width",
     sqrt((2 * log(1 / alpha) + 6 * log(log(1 / alpha)) + 3 * log(log(E * n))) / n),
     ((n, _COUNT), (alpha, (1e-12, 0.3))), "[katzsamuels2019], as quoted by [kone2023]",
     lambda n, alpha: theory.IteratedLogarithm().half_width(n, alpha))  # fmt: skip
_add("log_mixture",
     sp.loggamma(rho * m + successes) + sp.loggamma(rho * (1 - m) + draws - successes)
     - sp.loggamma(rho + draws) - sp.loggamma(rho * m) - sp.loggamma(rho * (1 - m))
     + sp.loggamma(rho) - successes * log(m) - (draws - successes) * log(1 - m),
     ((m, (0.01, 0.99)), (successes, (0, 50)), (draws, (50, 200)), (rho, (0.5, 100.0))),
     "PROOFS.md, Section 14", theory.log_mixture)  # fmt: skip

# --- inversions -----------------------------------------------------------------------------------


def _double_log(inside: Any) -> Any:
    """log_+(2 log_+ inside)."""
    return log(Max(2 * log(Max(inside, 1)), 1))


_add("log_crossing_low", exp(-sp.LambertW(-b / a)) / a, ((a, (0.5, 100.0)), (b, (1e-6, 0.18))),
     "[kone2023, Lemma ineq_log]", lambda a, b: theory.log_crossings(a, b)[0])  # fmt: skip
_add("log_crossing_high", exp(-sp.LambertW(-b / a, -1)) / a,
     ((a, (0.5, 100.0)), (b, (1e-6, 0.18))), "[kone2023, Lemma ineq_log]",
     lambda a, b: theory.log_crossings(a, b)[1])  # fmt: skip
_u = -log(-y)
_add("lambert_bound_low", _u + log(_u), ((y, (-0.36, -1e-9)),), "[kone2023, Lemma lambert_dom]",
     lambda x: theory.lambert_bounds(x)[0])  # fmt: skip
_add("lambert_bound_high", _u + log(_u) + sp.Min(Rational(1, 2), 1 / sqrt(_u)),
     ((y, (-0.36, -1e-9)),), "[kone2023, Lemma lambert_dom], corrected",
     lambda x: theory.lambert_bounds(x)[1])  # fmt: skip
_add("lambert_exponential_bound", sqrt(E) * log(1 / a) / a, ((a, (1e-9, 0.36)),),
     "[kone2023, Corollary bound_W_1]", theory.lambert_exponential_bound)  # fmt: skip
_add("loglog_time", Max(2, _double_log(3 * E**2 / (2 * L)) / L), ((L, (1e-6, 100.0)),),
     "[kone2023, Lemma bound_part_tps], corrected", theory.loglog_time)  # fmt: skip
_share = (1 - alpha) * Delta**2
_add("radius_time",
     Max(2, g / (alpha * Delta**2) + c / _share * _double_log(3 * E**2 * c / (2 * _share))),
     ((g, (0.01, 500.0)), (c, (0.1, 100.0)), (Delta, (0.01, 10.0)), (alpha, (0.05, 0.95))),
     "[kone2023, Lemma bound_inv_beta], corrected", theory.radius_time)  # fmt: skip
_add("lucb1_time_bound", 256 * sqrt(E) * H * Max(0, log(256 * c * H)) + 1,
     ((H, (1e-6, 1e6)), (c, (1.0, 100.0))), "[kone2023, Lemma bound_T_star], corrected",
     theory.lucb1_time_bound)  # fmt: skip

# --- bounds ---------------------------------------------------------------------------------------

_add("theorem_1_summand",
     88 / Delta**2 * log(2 * K * (K - 1) * D / delta * log(12 * E / Delta)),
     ((Delta, (1e-6, 2.0)), (K, (2, 500)), (D, (1, 20)), (delta, _LEVEL)),
     "[kone2023, Theorem 1], where it is 8 or more",
     lambda gap, K, D, delta: float(
         upper_bounds._printed(np.array([gap]), 2 * K * (K - 1) * D, delta, "")))  # fmt: skip
_add("best_arm_bound_of_two", 176 / Delta**2 * log(4 / delta * log(12 * E / Delta)),
     ((Delta, (1e-6, 1.5)), (delta, _LEVEL)), "[kone2023, Theorem sampl_compl_BAI]",
     lambda gap, delta: float(theory.best_arm_bound([[gap], [0.0]], delta)))  # fmt: skip
_add("cover_bound_of_two", 176 / Delta**2 * log(8 / delta * log(12 * E / Delta)),
     ((Delta, (1e-6, 1.5)), (delta, _LEVEL)), "[kone2023, Theorem sampcompl2]: K = D = 2",
     lambda gap, delta: float(
         theory.cover_bound([[gap, 0.0], [0.0, gap]], delta)))  # fmt: skip
_add("lower_bound_of_three_arms",
     log(1 / (4 * delta * (1 - delta))) / (D * omega**2) * Rational(11, 18),
     ((D, (2, 20)), (omega, (0.01, 10.0)), (delta, (1e-12, 0.49))),
     "[kone2023, Theorem 2], corrected: its instance with p = k = 3, where 1/9 + 1/4 + 1/4 = 11/18",
     lambda D, omega, delta: float(
         theory.lower_bound(theory.lower_bound_instance(3, D, omega), delta, 3)))  # fmt: skip
_add("best_arm_lower_bound_of_two", 4 * s**2 / Delta**2 * log(1 / (Rational(12, 5) * delta)),
     ((s, (0.01, 10.0)), (Delta, (0.01, 10.0)), (delta, (1e-12, 0.4))),
     "[kaufmann2016], as quoted by [kone2023]",
     lambda s, gap, delta: float(
         theory.best_arm_lower_bound([[gap], [0.0]], delta, s)))  # fmt: skip
_add("kl_bernoulli", first * log(first / second) + (1 - first) * log((1 - first) / (1 - second)),
     ((first, (0.01, 0.99)), (second, (0.01, 0.99))), "[garivier2016]",
     theory.kl_bernoulli)  # fmt: skip
_add("budget_error_bound_of_two", sp.Min(1, 4 * exp(-n * Delta**2 / 64)),
     ((n, (1, 1000)), (Delta, (0.01, 1.0))), "PROOFS.md, Section 13: K = D = 2, n samples an arm",
     lambda n, gap: float(
         theory.budget_error_bound([[gap, 0.0], [0.0, gap]], 2 * n + 2)))  # fmt: skip
_add("budget_lower_bound_of_two", exp(-N * Delta**2 / 4) / 4,
     ((N, (2, 1000)), (Delta, (0.01, 1.0))),
     "PROOFS.md, Section 13: costs Delta^2/2, so H = 4/Delta^2",
     lambda N, gap: float(
         theory.budget_lower_bound([[gap, 0.0], [0.0, gap]], N)))  # fmt: skip
_add("expected_samples_lucb1_of_two",
     Max(256 * sqrt(E) * 2 / Delta**2
         * Max(0, log(256 * (5 / delta) ** Rational(1, 4) * 2 / Delta**2)) + 1, 5)
     + 8 * pi**2 / 15,
     ((Delta, (0.01, 10.0)), (delta, _LEVEL)),
     "[kone2023, Appendix LUCB1-like instantiation]: H = 2/Delta^2, K = 2, D = 1",
     lambda gap, delta: float(theory.expected_samples_lucb1(
         [[gap], [0.0]], delta, form="closed")))  # fmt: skip
