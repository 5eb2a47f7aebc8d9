r"""The one-sided constant: what a mixture costs when only one side of an interval can be wrong.

A claim is wrong on one side only. Cutting the prior of the two-stream mixture to the half-plane on
which the difference is overestimated, and doubling it, gives

.. math:: C = 2\log\frac{1}{2\alpha} + 2\,\mathrm{pen}(\alpha) \quad\text{in place of}\quad
          2\log\frac1\alpha

and leaves l and v as they are. It holds from the count at which every arm has a quarter of its
rho (`first_usable_count`); until then the radius must be infinite. Proof: theory/PROOFS.md,
Section 8; its steps are in tests/theory/test_one_sided_derivations.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, IntArray, as_numbers, shown

#: An arm is used only once its count is this share of its rho, so that
#: r = (n + rho)/n is at most 1 + 1/LEAST_SHARE_OF_RHO = 5.
LEAST_SHARE_OF_RHO = 0.25

#: c0: with r between 1 and 5 for both arms the angle f between the error and the half-plane has
#: cos f >= 2 sqrt(5)/(1 + 5) = 0.7453 (Polya and Szego), whatever the scales.
LEAST_COSINE = 2 * math.sqrt(5) / 6

#: 1 - c0^2: the largest sin^2 f that goes with it, 4/9.
LARGEST_SINE_SQUARED = 4 / 9

#: 1/(2 (1 - 2/pi)) = 1.37596..., rounded up: 1 - 2/pi = 0.3634 is the least curvature of
#: z^2/2 + log Phi(a - u z) while the argument of Phi is not negative.
CURVATURE_COST = 1.38

#: r(0) = phi(0)/Phi(0) = sqrt(2/pi) = 0.7979, rounded up: the lemma asks a >= 0.8 sin^2 f.
MILLS_AT_ZERO = 0.8

#: Twenty operations in floating point are right to 1e-13; penalties and constants are raised by
#: this fraction, so that the number returned is never below the one that is proved.
CONSTANT_ROUNDING = 1e-12


def penalty(alpha: Any) -> FloatArray:
    r"""pen(alpha): what the half-plane costs beside its gain of log 2.

    .. math:: \mathrm{pen}(\alpha) = -\log\Phi(a) + 1.38\, r(a)^2, \qquad r = \phi/\Phi, \qquad
              a = \tfrac{2\sqrt5}{6}\sqrt{2\log\tfrac{1}{2\alpha}}

    It rises with alpha and passes log 2, beyond which it is of no use, at 0.389. Above 0.446, where
    a < 0.8 * 4/9 and nothing is proved, it is inf. `alpha` may be an array.

    >>> [round(float(penalty(alpha)), 4) for alpha in (0.05, 0.01)]
    [0.0755, 0.0217]
    >>> penalty([0.389, 0.45]) < math.log(2)
    array([ True, False])
    """
    from scipy.special import log_ndtr

    level = _levels(alpha)
    a = LEAST_COSINE * np.sqrt(np.maximum(-2 * np.log(2 * level), 0.0))  # 2 alpha is exact
    log_Phi = log_ndtr(a)
    log_r = -a * a / 2 - math.log(2 * math.pi) / 2 - log_Phi
    cost = (CURVATURE_COST * np.exp(2 * log_r) - log_Phi) * (1 + CONSTANT_ROUNDING)
    return np.where(a >= MILLS_AT_ZERO * LARGEST_SINE_SQUARED, cost, np.inf)


def one_sided_constant(alpha: Any) -> FloatArray:
    r"""C of a one-sided bound at level alpha, for `Mixture`; decided by alpha alone.

    .. math:: C = \min\Bigl(2\log\frac1\alpha,\;
                            2\log\frac1{2\alpha} + 2\,\mathrm{pen}(\alpha)\Bigr)

    The first is the two-sided constant, which bounds each side too; it is the smaller one from
    alpha = 0.389 on. C falls as alpha grows, except between 0.362 and 0.389, where it rises by 1%:
    it is a valid constant there all the same. `alpha` may be an array.

    At alpha = 0.05: 2 log 20 = 5.991, and 2 log 10 + 2 * 0.07545 = 4.756.

    >>> round(float(one_sided_constant(0.05)), 3)
    4.756
    >>> bool(abs(one_sided_constant(0.5) - 2 * math.log(2)) < 1e-11)
    True
    """
    level = _levels(alpha)
    two = -2 * np.log(level) * (1 + CONSTANT_ROUNDING)
    one = (2 * penalty(level) - 2 * np.log(2 * level)) * (1 + CONSTANT_ROUNDING)
    return np.asarray(np.minimum(two, one))


def first_usable_count(rho: Any) -> int | IntArray:
    """The smallest count n >= 1 with n >= rho/4, from which the one-sided constant holds.

    Before it the radius of the arm must be infinite: a two-sided bound first and a one-sided one
    later are two events. Exact: a quarter of a float is a float. One rho gives an int, of any
    size; an array gives an int64 array.

    >>> first_usable_count(30.0), first_usable_count(32.0), first_usable_count(0.1)
    (8, 8, 1)
    >>> first_usable_count([5.0, 200.0])
    array([ 2, 50])
    """
    values = as_numbers(rho, name="rho", rule="a number or an array of numbers.")
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"rho={shown(rho)} must be finite and above 0: it is the prior precision, in samples."
        )
    counts = np.maximum(np.ceil(values * LEAST_SHARE_OF_RHO), 1.0)
    if values.ndim == 0:
        return int(counts)
    if (counts >= 2.0**63).any():
        raise ValueError(
            f"rho={shown(rho)} asks for more than 2^63 samples before an arm may be used. "
            f"Choose rho near a tenth of the samples expected of the arm."
        )
    return counts.astype(np.int64)


def _levels(alpha: Any) -> FloatArray:
    """`alpha` as an array of floats strictly between 0 and 1."""
    level = as_numbers(alpha, name="alpha", rule="a number or an array of numbers.")
    if not ((level > 0) & (level < 1)).all():
        raise ValueError(
            f"alpha={shown(alpha)} must lie strictly between 0 and 1: it is the probability that "
            f"the bound ever fails."
        )
    return level


__all__ = [
    "CONSTANT_ROUNDING", "CURVATURE_COST", "LARGEST_SINE_SQUARED", "LEAST_COSINE",
    "LEAST_SHARE_OF_RHO", "MILLS_AT_ZERO", "first_usable_count", "one_sided_constant", "penalty",
]  # fmt: skip
