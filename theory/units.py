"""Means in units of the sub-Gaussian scale, which is what every bound is stated in."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, as_epsilon, as_means, as_numbers, shown

#: Scales below this, or above one over it, are refused: kernels square them.
LEAST_SCALE = 1e-150

#: So are scales of one objective whose ratio is smaller: kernels square that too.
LEAST_RATIO = 1e-120


def as_scale(scale: Any, K: int, D: int) -> FloatArray:
    """`scale` as a (K, D) array: a scalar serves all, (D,) one per objective, (K, D) each arm."""
    array = as_numbers(scale, name="scale", rule=f"a number, ({D},) or ({K}, {D}).")
    if array.shape not in ((), (D,), (K, D)):
        raise ValueError(
            f"scale has shape {array.shape}; it must be a scalar, one number per objective ({D},) "
            f"or one per arm and objective ({K}, {D})."
        )
    if not np.isfinite(array).all() or (array <= 0).any():
        raise ValueError(
            f"scale={shown(scale)} must be finite and above 0: it is the sub-Gaussian scale of the "
            f"outcomes. For 0/1 outcomes pass scale=0.5."
        )
    table = np.broadcast_to(array, (K, D)).copy()
    if table.min() < LEAST_SCALE or table.max() > 1 / LEAST_SCALE:
        raise ValueError(
            f"scale={scale!r} must lie between {LEAST_SCALE:g} and {1 / LEAST_SCALE:g}: squares of "
            f"others leave the range of floating-point numbers. Use other units."
        )
    if (table.min(axis=0) < table.max(axis=0) * LEAST_RATIO).any():
        raise ValueError(
            f"scale={scale!r} differs between arms by more than a factor of {1 / LEAST_RATIO:g}: "
            f"squares of their ratio would be lost. Check the units of each arm."
        )
    return table


def in_scale_units(means: Any, eps1: Any = 0.0, scale: Any = 1.0) -> tuple[FloatArray, FloatArray]:
    r"""(means, eps1) divided by one scale per objective: the largest of any arm, or more.

    .. math:: \mu_i^d / s_d, \qquad \varepsilon_1^d / s_d, \qquad
        s_d = \rho_d \max_{d'} \max_i s_i^{d'} / \rho_{d'}, \qquad
        \rho_d^2 = \tfrac1K \sum_i (s_i^d)^2

    Dividing by one number per objective keeps the Pareto set. Source: [kone2023, Appendix
    "Implementation", different scaling], for scales common to all arms, where s_d is that scale.
    We differ: with a scale per arm the proof's step from the pair (b_t, c_t) to (a_t, a_t) is false
    when the partner's scale is the larger one, so every arm is given the largest. And it compares
    objectives in the run's units, rho_d, so one factor serves all objectives: s_d >= max_i s_i^d,
    with equality where that factor is attained.

    >>> in_scale_units([[1.0, 4.0], [3.0, 2.0]], eps1=1.0, scale=[1.0, 2.0])
    (array([[1., 2.],
           [3., 1.]]), array([1. , 0.5]))
    """
    mu = as_means(means)
    scales = as_scale(scale, *mu.shape)
    largest = scales.max(axis=0)
    if (scales != scales[0]).any():
        rms = np.sqrt((scales**2).mean(axis=0))
        largest = np.maximum(largest, rms * (largest / rms).max())
    with np.errstate(over="ignore"):
        scaled, eps = mu / largest, as_epsilon(eps1, mu.shape[1]) / largest
    if max(np.abs(scaled).max(), eps.max()) > 1e300:
        raise ValueError(
            f"scale={scale!r} is so small that means or eps1 divided by it exceed 1e300, where "
            f"differences overflow. Check the units of both."
        )
    return scaled, eps
