"""The gaps of the paper: how far each arm is from changing its place on or below the front."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, as_means, check_k
from paretoid.theory.dominance import margins


def gaps(means: Any) -> FloatArray:
    r"""(K,) sub-optimality gaps Delta_i.

    .. math::
        \Delta_i &= \max_{j \in S^\star} m(i, j) && i \notin S^\star \\
        \Delta_i &= \min_{j \ne i} \Delta_j && S^\star = \{i\} \\
        \Delta_i &= \min(\delta_i^+, \delta_i^-) && \text{otherwise} \\
        \delta_i^+ &= \min_{j \in S^\star \setminus i} \min(M(i, j), M(j, i)) \\
        \delta_i^- &= \min_{j \notin S^\star} (M(j, i))^+ + \Delta_j

    Zero for optimal arms that tie with another optimal arm; never negative.
    Source: [kone2023, Section 4], after [auer2016].

    >>> gaps([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])
    array([0.5, 0.5, 0.5])
    """
    M = margins(as_means(means))
    optimal = ~(M < 0).any(axis=1)  # S*
    result = np.empty(len(M))
    result[~optimal] = (-M[np.ix_(~optimal, optimal)]).max(axis=1)  # max over S* of m(i, j)
    if optimal.sum() == 1:
        result[optimal] = result[~optimal].min()
        return result
    both = np.minimum(M, M.T)[np.ix_(optimal, optimal)]
    np.fill_diagonal(both, np.inf)
    result[optimal] = both.min(axis=1)  # delta_i^+
    if not optimal.all():
        below = np.maximum(M[np.ix_(~optimal, optimal)], 0.0) + result[~optimal, None]
        result[optimal] = np.minimum(result[optimal], below.min(axis=0))  # delta_i^-
    return result


def omega(means: Any) -> FloatArray:
    r"""(K,) how clearly each arm is optimal: omega_i = min over j != i of M(i, j).

    Positive for strictly optimal arms, zero where an optimal arm is tied or weakly dominated,
    negative for sub-optimal arms. Source: [kone2023, Section 4].

    >>> omega([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])
    array([ 1. ,  1. , -0.5])
    """
    M = margins(as_means(means))
    np.fill_diagonal(M, np.inf)
    return np.asarray(M.min(axis=1))


def omega_k(means: Any, k: int) -> float:
    r"""omega^k, the k-th largest omega_i. Positive exactly if k arms are strictly optimal.

    We differ: the paper says "if and only if |S*| >= k", which fails on ties, where an optimal
    arm has omega_i = 0.

    >>> omega_k([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]], k=3)
    -0.5
    """
    values = omega(means)
    return float(np.sort(values)[::-1][check_k(k, len(values)) - 1])


def easiest_arms(means: Any, k: int) -> BoolArray:
    r"""(K,) mask of S^{*,k}, the k arms with the largest omega_i; ties take the lowest index.

    >>> easiest_arms([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]], k=1)
    array([ True, False, False])
    """
    values = omega(means)
    mask = np.zeros(len(values), dtype=bool)
    mask[np.argsort(-values, kind="stable")[: check_k(k, len(values))]] = True
    return mask


def combined_gaps(means: Any, eps1: Any = 0.0, k: int | None = None) -> FloatArray:
    r"""(K,) the gaps of Theorem 1: max(Delta_a, eps1, omega^k); `k=None` is the whole Pareto set.

    .. math:: \max\bigl(\Delta_a - (\max_d \varepsilon_1^d - \min_d \varepsilon_1^d),\;
        \min_d \varepsilon_1^d,\; \omega^k\bigr)

    We differ for a vector eps1, which the paper [kone2023, Conclusion] enters as its minimum only:
    c_t minimises max_d (L^d + eps1^d), so the best dominator of b_t may lose that comparison by
    the spread of eps1, and Delta_a is known to be resolved only up to it (PROOFS.md, Section 7).

    >>> combined_gaps([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]], k=2)
    array([1., 1., 1.])
    >>> combined_gaps([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]], eps1=[0.0, 0.125])
    array([0.375, 0.375, 0.375])
    """
    mu = as_means(means)
    K, D = mu.shape
    eps = as_epsilon(eps1, D)
    floor = float(eps.min())
    if k is not None:
        floor = max(floor, omega_k(mu, check_k(k, K)))
    return np.maximum(gaps(mu) - float(eps.max() - eps.min()), floor)
