r"""Domination between arms, Pareto sets, and the margins M and m.

Three strengths, from [kone2023, Definition 1 (Section 2)]: arm i is *weakly* dominated by j if
mu_i^d <= mu_j^d for all d, *dominated* if moreover one inequality is strict, and *strictly*
dominated if all are. The Pareto set counts strict domination only, so a tie in any objective
keeps both arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, as_means, check_choice


def domination(means: Any, strength: str = "strict") -> BoolArray:
    """(K, K) mask: entry (i, j) says that arm i is dominated by arm j.

    `strength` is "weak", "plain" or "strict". Weak domination is reflexive.

    >>> domination([[0.0, 0.0], [0.0, 1.0]], "plain")
    array([[False,  True],
           [False, False]])
    >>> bool(domination([[0.0, 0.0], [0.0, 1.0]], "strict").any())
    False
    """
    mu = as_means(means, least_arms=1)
    check_choice(strength, ("weak", "plain", "strict"), name="strength", why="see Definition 1.")
    if strength == "strict":
        return -margins(mu) > 0  # m(i, j) > 0
    weak = -margins(mu) >= 0
    return weak if strength == "weak" else weak & ~weak.T


def margins(means: Any) -> FloatArray:
    r"""(K, K) table of M(i, j), by how much arm i beats arm j in its best objective.

    .. math:: M(i, j) = \max_d (\mu_i^d - \mu_j^d), \qquad m(i, j) = -M(i, j)

    M(i, j) < 0 if and only if j strictly dominates i; M(i, i) = 0.
    Source: [kone2023, Section 2]. O(K^2 D) time, no K x K x D temporary.

    >>> margins([[1.0, 0.0], [0.0, 0.5]])
    array([[0. , 1. ],
           [0.5, 0. ]])
    """
    mu = as_means(means, least_arms=1)
    table = np.subtract.outer(mu[:, 0], mu[:, 0])
    for d in range(1, mu.shape[1]):
        np.maximum(table, np.subtract.outer(mu[:, d], mu[:, d]), out=table)
    return table


def pareto_set(means: Any, eps: Any = 0.0) -> BoolArray:
    r"""(K,) mask of the eps-Pareto set: arms that nobody strictly dominates after a gift of eps.

    .. math:: S^\star_\varepsilon = \{i : \nexists j, \; \mu_i + \varepsilon \prec \mu_j\}

    `eps` is a scalar or one number per objective. Ties are no domination: identical arms are
    optimal together. Source: [kone2023, Section 2].

    >>> pareto_set([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])
    array([ True,  True, False])
    >>> pareto_set([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]], eps=0.5)
    array([ True,  True,  True])
    """
    mu = as_means(means, least_arms=1)
    lifted = mu + as_epsilon(eps, mu.shape[1], name="eps")
    beaten = np.less.outer(lifted[:, 0], mu[:, 0])
    for d in range(1, mu.shape[1]):
        beaten &= np.less.outer(lifted[:, d], mu[:, d])
    return np.asarray(~beaten.any(axis=1))
