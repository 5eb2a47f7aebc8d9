r"""What every delta-correct algorithm must pay, in expectation.

Theorem 2 of the paper speaks of one family of instances, which `lower_bound_instance` builds;
elsewhere its formula is a yardstick, and the result says so. For a bound proved on every
instance see `theory.characteristic_time`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.bound import Bound
from paretoid.theory.checks import (
    FloatArray,
    as_means,
    check_choice,
    check_count,
    check_delta,
    check_k,
    check_positive,
)
from paretoid.theory.gaps import gaps, omega_k
from paretoid.theory.units import as_scale
from paretoid.theory.upper_bounds import check_single_objective


def lower_bound(
    means: Any, delta: float, k: int, constant: str = "corrected", scale: Any = 1.0
) -> Bound:
    r"""The formula of Theorem 2, for Gaussian outcomes of the given `scale`.

    .. math::
        \mathbb E[\tau] \ge \frac1D \log\frac{1}{4\delta(1-\delta)}
        \sum_a \frac{1}{(\Delta_a + \omega^k)^2}

    Proved for delta < 1/2 on the instances of `lower_bound_instance`, up to a shift and the order
    of the arms, with k in {p, p-1, p-2}; the result's `proved` and `holds` say so. From
    delta = 1/2 on it is 0, because nothing is proved there. A negative omega^k counts as 0. inf
    if some Delta_a + omega^k is 0. Of scales per arm the smallest of each objective counts.

    Source: [kone2023, Theorem 2]. Erratum: the proof turns d(1/2, delta) =
    log(1/(4 delta (1-delta)))/2 into log(1/(delta (1-delta)))/2 and so prints log(1/delta), which
    is available as `constant="printed"`; see theory/ERRATA.md, where a guess without samples
    beats it.

    >>> means = lower_bound_instance(p=3, D=2, omega=1.0)      # gaps 2, 1, 1 and omega^3 = 1
    >>> b = lower_bound(means, delta=0.1, k=3)
    >>> round(float(b / math.log(1 / 0.36)), 12) == round((1 / 9 + 1 / 4 + 1 / 4) / 2, 12)
    True
    >>> b.proved
    True
    """
    delta = check_delta(delta)
    mu = as_means(means)
    K, D = mu.shape
    k = check_k(k, K)
    check_choice(constant, ("corrected", "printed"), name="constant", why="see Erratum.")
    mu = mu / as_scale(scale, K, D).min(axis=0)
    distances = gaps(mu) + max(omega_k(mu, k), 0.0)
    if constant == "printed":
        level = math.log(1 / delta)
    else:
        level = -math.log(4 * delta * (1 - delta)) if delta < 0.5 else 0.0
    per_arm = _inverse_squares(distances) * level / D if level > 0 else np.zeros(K)
    proved = constant == "corrected" and delta < 0.5 and k >= K - 2 and _is_proof_instance(mu)
    return Bound(
        float(per_arm.sum()),
        holds="in expectation, for every delta-correct algorithm for 0-PSI-k"
        if proved
        else "as a yardstick: Theorem 2 is proved for delta < 1/2, its corrected constant, "
        "k in {p, p-1, p-2} and the instances of lower_bound_instance alone",
        source="[kone2023, Theorem 2]" + ("" if constant == "corrected" else ", as printed"),
        proved=proved,
        gaps=distances,
        per_arm=per_arm,
    )


def lower_bound_instance(p: int, D: int, omega: float) -> FloatArray:
    r"""(p, D) means of the instance in the proof of Theorem 2: p arms, all optimal.

    .. math::
        \mu_i = (x_i, -x_i, 0, \dots, 0), \qquad
        x_i = (4 + 2i)\,\omega \; (i \le p-3), \quad 2^{p-i}\,\omega \; (i \ge p-2)

    Outcomes are Gaussian with identity covariance. Source: [kone2023, Appendix "Lower Bound"].
    Erratum: D >= 2 is needed and not said; with one objective only one of the arms is optimal.

    >>> lower_bound_instance(p=5, D=2, omega=1.0)[:, 0]
    array([6., 8., 4., 2., 1.])
    """
    p = check_count(p, name="p", least=3, why="Theorem 2 is about at least three optimal arms.")
    D = check_count(
        D, name="D", least=2, why="with one objective the arms of the proof are not all optimal."
    )
    omega = check_positive(omega, name="omega", why="it is the smallest gap of the instance.")
    x = omega * np.array([4.0 + 2 * i for i in range(1, p - 2)] + [4.0, 2.0, 1.0])
    means = np.zeros((p, D))
    means[:, 0], means[:, 1] = x, -x
    return means


def _is_proof_instance(mu: FloatArray) -> bool:
    """Whether `mu` is a `lower_bound_instance` up to a shift and the order of its arms."""
    K, D = mu.shape
    if K < 3 or D < 2:
        return False
    x = np.sort(mu[:, 0])
    width = x[-1] - x[0]
    if width <= 0:
        return False
    model = np.sort(lower_bound_instance(K, D, 1.0)[:, 0])
    tolerance = 1e-9 * (width + np.abs(mu).max())  # rounding of shifted and scaled means
    shifted = (model - model[0]) * (width / (model[-1] - model[0]))
    mirrored = mu[:, 0] + mu[:, 1]
    return bool(
        np.allclose(x - x[0], shifted, rtol=0, atol=tolerance)
        and np.allclose(mirrored, mirrored[0], rtol=0, atol=tolerance)
        and np.allclose(mu[:, 2:], mu[0, 2:], rtol=0, atol=tolerance)
    )


def best_arm_lower_bound(means: Any, delta: float, scale: Any = 1.0) -> Bound:
    r"""Samples any delta-correct algorithm needs to find the best of Gaussian arms, one objective.

    .. math:: H \log\frac{1}{2.4\,\delta}, \qquad H = \sum_a \frac{2 s_a^2}{\Delta_a^2}

    0 where the logarithm is negative; inf if the best arm is tied. For s = 1/2, H is the sum of
    1/(2 Delta_a^2) that the paper prints for Bernoulli outcomes.
    Source: [kone2023, Appendix "Comparison to some BAI algorithms"], after [kaufmann2016].

    >>> b = best_arm_lower_bound([[1.0], [0.0]], delta=0.1, scale=0.5)    # H = 1/2 + 1/2
    >>> b == math.log(1 / 0.24)
    True
    """
    delta = check_delta(delta)
    mu = as_means(means)
    check_single_objective(mu)
    variances = as_scale(scale, *mu.shape)[:, 0] ** 2
    distances = gaps(mu)
    level = math.log(1 / (2.4 * delta))
    per_arm = (
        2 * variances * _inverse_squares(distances) * level if level > 0 else np.zeros(len(mu))
    )
    return Bound(
        float(per_arm.sum()),
        holds="in expectation, for every delta-correct algorithm on Gaussian arms",
        source="[kaufmann2016], as quoted by [kone2023]",
        gaps=distances,
        per_arm=per_arm,
    )


def _inverse_squares(distances: FloatArray) -> FloatArray:
    """1/x^2, inf at 0 (and where x^2 underflows)."""
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / distances / distances
