r"""From a radius that shrinks to the time when it is small enough.

The technical lemmas of the paper invert log(a x)/x, log log(e^4 t)/t and their sums; two of them
are misprinted and one is false, see theory/ERRATA.md. Every function takes arrays and returns
arrays of the same shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.checks import (
    FloatArray,
    as_numbers,
    check_between,
    check_choice,
    check_positive,
    shown,
)

E = math.e


def _positive(value: Any, *, name: str, why: str) -> FloatArray:
    """`value` as an array of finite numbers above 0; `why` ends the sentence of the error."""
    array = as_numbers(value, name=name, rule=f"a number above 0: {why}")
    if not np.isfinite(array).all() or not (array > 0).all():
        raise ValueError(f"{name}={shown(value)} must be finite and above 0: {why}")
    return array


def log_crossings(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    r"""The two roots (x0, x1) of log(a x)/x = b; the ratio is below b exactly outside [x0, x1].

    .. math:: x_0 = \tfrac1a e^{-W_0(-b/a)}, \qquad x_1 = \tfrac1a e^{-W_{-1}(-b/a)}

    For b >= a/e the ratio never exceeds b and both roots are its peak, e/a.
    Source: [kone2023, Lemma ineq_log]. Erratum: the lemma says that the ratio is below b only
    for x <= 1/a or x >= x1; it is so up to x0, which is larger than 1/a. What the paper uses is
    the other direction, x > x1 implies the ratio is below b.

    >>> x0, x1 = log_crossings(1.0, math.log(2) / 2)       # log(2)/2 = log(4)/4
    >>> float(round(x0, 12)), float(round(x1, 12))
    (2.0, 4.0)
    """
    from scipy.special import lambertw

    a = _positive(a, name="a", why="it multiplies x under the logarithm.")
    b = _positive(b, name="b", why="log(a x)/x falls to 0, so only a positive level is crossed.")
    y = np.minimum(b / a, 1 / E)
    at_peak = y >= 1 / E  # there scipy may return a tiny imaginary part
    y = np.where(at_peak, 0.1, y)
    roots = (np.exp(-lambertw(-y, branch).real) for branch in (0, -1))
    x0, x1 = (np.where(at_peak, E, root) / a for root in roots)
    return x0, x1


def lambert_bounds(x: Any) -> tuple[FloatArray, FloatArray]:
    r"""Lower and upper bound of -W_{-1}(x) for x in [-1/e, 0).

    .. math::
        u + \log u \le -W_{-1}(x) \le u + \log u + \min(\tfrac12, u^{-1/2}),
        \qquad u = -\log(-x)

    Source: [kone2023, Lemma lambert_dom], after [jourdan2022]. Erratum: the paper prints the
    interval backwards and sqrt(-x log(-x)) for sqrt(-log(-x)); the former is imaginary there.

    >>> low, high = lambert_bounds(-math.exp(-1))          # u = 1, -W_{-1}(-1/e) = 1
    >>> float(low), float(high)
    (1.0, 1.5)
    """
    x = np.asarray(x, dtype=np.float64)
    if not (x < 0).all() or not (x >= -math.exp(-1)).all():
        raise ValueError(
            f"x={x} must lie in [-1/e, 0): the branch W_(-1) is real only there. "
            f"For log(a x)/x = b pass x = -b/a with b < a/e."
        )
    u = np.maximum(-np.log(-x), 1.0)
    low = u + np.log(u)
    return low, low + np.minimum(0.5, 1 / np.sqrt(u))


def lambert_exponential_bound(a: Any) -> FloatArray:
    r"""Upper bound of exp(-W_{-1}(-a)) for a in (0, 1/e]: sqrt(e) log(1/a)/a.

    Source: [kone2023, Corollary bound_W_1]. Erratum: stated for a < 1/e; it holds at 1/e too.

    >>> float(lambert_exponential_bound(math.exp(-2)) / math.exp(2.5))
    2.0
    """
    a = _positive(a, name="a", why="W_(-1)(-a) is real only for a in (0, 1/e].")
    if not (a <= math.exp(-1)).all():
        raise ValueError(f"a={a} must be at most 1/e: W_(-1)(-a) is real only for a in (0, 1/e].")
    return np.asarray(math.sqrt(E) * np.log(1 / a) / a)


def loglog_time(level: Any) -> FloatArray:
    r"""A time from which on log log(e^4 t)/t < level, at least 2.

    .. math:: t \ge \max\bigl(2, \tfrac1L \log_+(2 \log \tfrac{3e^2}{2L})\bigr)

    Source: [kone2023, Lemma bound_part_tps]. Erratum: the printed double logarithm has no value
    for L >= 3 e^2/2; for L >= e/3 the condition is t >= 2 alone, as in the proof.

    >>> float(loglog_time(100.0))
    2.0
    >>> round(float(loglog_time(0.5)), 3)                  # 2 log(2 log(3 e^2))
    3.648
    """
    level = _positive(level, name="level", why="log log(e^4 t)/t never reaches 0.")
    return np.asarray(np.maximum(2.0, _double_log(1.5 * E**2 / level) / level))


def _double_log(x: FloatArray) -> FloatArray:
    """log_+(2 log x), 0 where 2 log x <= 1."""
    inner = 2 * np.log(np.maximum(x, 1.0))
    return np.asarray(np.log(np.maximum(inner, 1.0)))


def radius_time(
    g: Any, c: Any, gap: Any, alpha: float = 0.5, *, form: str = "corrected"
) -> FloatArray:
    r"""A time from which on f(t) = sqrt((g + c log log(e^4 t))/t) < gap, at least 2.

    .. math::
        t \ge \max\Bigl(2, \frac{1}{\Delta^2} \Bigl(\frac{g}{\alpha} + \frac{c}{1-\alpha}
        \log_+\bigl(2 \log \tfrac{3 e^2 c}{2 (1-\alpha) \Delta^2}\bigr)\Bigr)\Bigr)

    for any alpha in (0, 1), which shares gap^2 between the two terms.
    Source: [kone2023, Lemma bound_inv_beta]. Erratum: the lemma prints c/((1-a) gap^2) and its
    proof 3 e^2/(2 (1-a) gap^2) in the inner logarithm. Lemma bound_part_tps at level
    (1-a) gap^2/c gives the product of both, which is what Theorem 1 uses; the other two,
    `form="printed"` and `form="proof"`, are false.

    >>> round(float(radius_time(1.0, 1.0, 1.0)), 3)       # 2 + 2 log(2 log(3 e^2))
    5.648
    """
    g = as_numbers(g, name="g", rule="a number or an array of numbers.")
    if not np.isfinite(g).all() or not (g >= 0).all():
        raise ValueError(f"g={g} must be finite and not negative: it is 32 C^g in Theorem 1.")
    c = _positive(c, name="c", why="it multiplies the iterated logarithm.")
    square = _positive(gap, name="gap", why="no time makes the radius 0.") ** 2
    alpha = check_between(
        alpha, 0, 1, name="alpha", why="it shares the squared gap between two terms. Theorem 1 "
        "uses alpha=(1+e)/(1+5e).",
    )  # fmt: skip
    check_choice(form, ("corrected", "printed", "proof"), name="form", why="see Erratum.")
    share = (1 - alpha) * square
    inner = {
        "corrected": 1.5 * E**2 * c / share,
        "printed": c / share,
        "proof": 1.5 * E**2 / share,
    }[form]
    return np.asarray(np.maximum(2.0, g / (alpha * square) + c / share * _double_log(inner)))


def lucb1_time(H: float, c: float) -> int:
    r"""T*, the first integer from which on 128 H log(c s)/s < 1/2; 1 if it always holds.

    Lambert's W brackets it and a bisection over integers decides: exact below 10^12, beyond
    that right to the precision of floats. Source: [kone2023, Appendix "LUCB1-like instantiation"].
    We differ: the paper takes the first s at which the inequality holds. For c < 2 it can hold
    at 1, fail at 2 and hold again, and the proof needs it for every later n.

    >>> lucb1_time(H=1 / 128, c=1.6)   # log(1.6 s)/s: 0.47, 0.58, 0.52, 0.46 for s = 1, 2, 3, 4
    4
    """
    H = check_positive(H, name="H", why="it is the sum of the inverse squared gaps.")
    c = check_positive(c, name="c", why="it is (5 K D/(2 delta))^(1/4).")

    def fails(s: int) -> bool:
        return 256 * H * math.log(c * s) >= s

    first = math.ceil(E / c)  # log(c s)/s rises to s = e/c and falls from there
    if not fails(first):
        return first if first > 1 and fails(first - 1) else 1
    low, high = first, math.ceil(float(log_crossings(c, 1 / (256 * H))[1]) * (1 + 1e-7)) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def lucb1_time_bound(H: float, c: float) -> float:
    r"""Closed form above T*: 1 + 256 sqrt(e) H log_+(256 c H).

    Source: [kone2023, Lemma bound_T_star]. Erratum: its two cases are printed the wrong way
    round (W_{-1} is the case 1/(256 H) < c/e), and without log_+ it fails for 256 c H < 1.

    >>> lucb1_time_bound(H=1 / 256, c=math.exp(2)) == 1 + 2 * math.sqrt(math.e)
    True
    """
    H = check_positive(H, name="H", why="it is the sum of the inverse squared gaps.")
    c = check_positive(c, name="c", why="it is (5 K D/(2 delta))^(1/4).")
    return 1 + 256 * math.sqrt(E) * H * max(0.0, math.log(256 * c * H))
