"""Means in units of the sub-Gaussian scale, which is what every bound is stated in."""

from __future__ import annotations

from typing import Any

import numpy as np

from theory._checks import FloatArray, as_epsilon, as_means


def as_scale(scale: Any, K: int, D: int) -> FloatArray:
    """`scale` as a (K, D) array: a scalar serves all, (D,) one per objective, (K, D) each arm."""
    try:
        array = np.array(scale, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scale={scale!r} must be a number, ({D},) or ({K}, {D}).") from error
    if array.shape not in ((), (D,), (K, D)):
        raise ValueError(
            f"scale has shape {array.shape}; it must be a scalar, one number per objective ({D},) "
            f"or one per arm and objective ({K}, {D})."
        )
    if not np.isfinite(array).all() or (array <= 0).any():
        raise ValueError(
            f"scale={scale!r} must be finite and above 0: it is the sub-Gaussian scale of the "
            f"outcomes. For 0/1 outcomes pass scale=0.5."
        )
    return np.broadcast_to(array, (K, D)).copy()


def in_scale_units(means: Any, eps1: Any = 0.0, scale: Any = 1.0) -> tuple[FloatArray, FloatArray]:
    r"""(means, eps1) divided, objective by objective, by the largest scale of any arm.

    .. math:: \mu_i^d / s_d, \qquad \varepsilon_1^d / s_d, \qquad s_d = \max_i s_i^d

    Dividing by one number per objective keeps the Pareto set. Source: [kone2023, Appendix
    "Implementation", different scaling], for scales common to all arms. We differ: with a scale
    per arm the largest is taken, because the proof replaces the pair (b_t, c_t) by (a_t, a_t),
    which is false when the partner's scale is the larger one.

    >>> in_scale_units([[1.0, 4.0], [3.0, 2.0]], eps1=1.0, scale=[1.0, 2.0])
    (array([[1., 2.],
           [3., 1.]]), array([1. , 0.5]))
    """
    mu = as_means(means)
    largest = as_scale(scale, *mu.shape).max(axis=0)
    with np.errstate(over="ignore"):
        scaled, eps = mu / largest, as_epsilon(eps1, mu.shape[1]) / largest
    if max(np.abs(scaled).max(), eps.max()) > 1e300:
        raise ValueError(
            f"scale={scale!r} is so small that means or eps1 divided by it exceed 1e300, where "
            f"differences overflow. Check the units of both."
        )
    return scaled, eps
