r"""Practical domination: nowhere better by more than a margin, somewhere worse by more than it.

The relation is not transitive and can run in circles, so "dominated by nobody" may leave nothing.
An arm is therefore left out only for an arm from which no chain of the relation leads back: arms
that are beaten only round a circle are kept (theory/PROOFS.md, Section 11).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, as_means, shown


def practical_domination(
    means: Any, margin: Any, slack: Any = 0.0, *, must: bool = False
) -> BoolArray:
    r"""(K, K) mask: entry (i, j) says that arm i is practically dominated by arm j.

    .. math::
        \mu_i^d - \mu_j^d \le m^d + s^d \text{ for all } d, \quad
        \mu_i^d - \mu_j^d < s^d - m^d \text{ for some } d

    `margin` m and `slack` s <= m are scalars or one number per objective. With a slack this is
    what may be called so; `must` gives what must be: -s in place of s.

    >>> practical_domination([[0.0, 0.0], [2.0, -0.5]], margin=1.0)
    array([[False,  True],
           [False, False]])
    """
    mu = as_means(means, least_arms=1)
    m, size = thresholds(margin, slack, mu.shape[1])
    s = -size if must else size
    difference = mu[:, None, :] - mu[None, :, :]
    nowhere_better = (difference <= m + s).all(axis=2)
    somewhere_worse = (difference < s - m).any(axis=2)
    return np.asarray(nowhere_better & somewhere_worse)


def practical_set(means: Any, margin: Any) -> BoolArray:
    """(K,) mask of the arms kept: whoever practically dominates one is on a circle with it.

    Never empty. In the example each arm is 1.5 below the next in one objective and 0.75 above it
    in the two others; with a margin of 1 each is practically dominated, and all are kept.

    >>> practical_set([[0.0, 0.0], [2.0, -0.5], [9.0, -9.0]], margin=1.0)
    array([False,  True,  True])
    >>> practical_set([[0.0, 0.0, 0.0], [1.5, -0.75, -0.75], [0.75, 0.75, -1.5]], margin=1.0)
    array([ True,  True,  True])
    """
    relation = practical_domination(means, margin)
    return kept(relation, relation)


def kept(dominated: BoolArray, chained: BoolArray) -> BoolArray:
    """(K,) mask: from every j with `dominated[i, j]` a chain of `chained` leads back to i.

    Fewer entries of `dominated` and more of `chained` keep more arms; if the two are one relation,
    somebody is kept.

    >>> circle = np.array([[False, True], [True, False]])
    >>> kept(circle, circle), kept(circle, np.zeros((2, 2), dtype=bool))
    (array([ True,  True]), array([False, False]))
    """
    return np.asarray(~(dominated & ~chains(chained).T).any(axis=1))


def chains(relation: BoolArray) -> BoolArray:
    """(K, K) the transitive closure: entry (i, j) says that a chain leads from i to j.

    >>> chains(np.array([[False, True, False], [False, False, True], [False] * 3]))[0]
    array([False,  True,  True])
    """
    reach = relation.copy()
    if relation.any():
        for arm in range(len(reach)):  # Warshall: chains through the arms up to this one
            reach |= reach[:, arm, None] & reach[arm]
    return np.asarray(reach)


def practical_gaps(means: Any, margin: Any, slack: Any) -> FloatArray:
    r"""(K,) widths of intervals, in the units of `means`, below which every pair of an arm is told.

    .. math::
        y_{ij} &= \min(\min_d (m+s-x)^d,\; \max_d (s-m-x)^d), \qquad x = \mu_i - \mu_j \\
        n_{ij} &= \max(\max_d (x-m+s)^d,\; \min_d (x+m+s)^d) \\
        g_i &= \min_{j \ne i} \min(w_{ij}, w_{ji}), \qquad w = \max(y, n, 2 \min_d s^d)

    0 where a difference is exactly at a margin without slack: it may never be told.

    >>> practical_gaps([[0.0, 0.0], [3.0, -0.5]], margin=1.0, slack=0.5)
    array([1., 1.])
    >>> practical_gaps([[0.0, 0.0], [9.0, -9.0]], margin=1.0, slack=0.5)
    array([8.5, 8.5])
    """
    mu = as_means(means)
    m, s = thresholds(margin, slack, mu.shape[1])
    x = mu[:, None, :] - mu[None, :, :]
    yes = np.minimum((m + s - x).min(axis=2), (s - m - x).max(axis=2))
    no = np.maximum((x - m + s).max(axis=2), (x + m + s).min(axis=2))
    width = np.maximum(np.maximum(yes, no), 2 * float(s.min()))
    np.fill_diagonal(width, np.inf)
    return np.asarray(np.minimum(width, width.T).min(axis=1))


def thresholds(margin: Any, slack: Any, D: int) -> tuple[FloatArray, FloatArray]:
    """(m, s), (D,) each; a slack above the margin is refused.

    >>> thresholds(1.0, [0.5, 0.25], 2)
    (array([1., 1.]), array([0.5 , 0.25]))
    """
    m, s = as_epsilon(margin, D, name="margin"), as_epsilon(slack, D, name="slack")
    if (s > m).any():
        raise ValueError(
            f"slack={shown(slack)} must not exceed margin={shown(margin)} in any objective: an "
            f"arm could be "
            f"called practically worse than one that it beats everywhere. Use a smaller slack."
        )
    return m, s


__all__ = ["practical_domination", "practical_gaps", "practical_set"]
