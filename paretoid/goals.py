"""Goals: what a correct answer is. Stopping and recommending are in `paretoid.loop`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.engine.program import AT_MOST, COVER, PARETO_SET
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    as_epsilon,
    as_means,
    check_count,
    check_k,
)
from paretoid.theory.dominance import pareto_set
from paretoid.theory.gaps import combined_gaps


def _frozen(eps: Any, name: str) -> float | tuple[float, ...]:
    """eps as a float or a tuple of floats: hashable, checked before the bandit is known."""
    size = np.size(eps) if np.ndim(eps) == 1 else 1
    values = as_epsilon(eps, size, name=name)
    return tuple(float(v) for v in values) if np.ndim(eps) == 1 else float(values[0])


def _show(eps: float | tuple[float, ...]) -> str:
    return f"{eps:g}" if isinstance(eps, float) else "(" + ", ".join(f"{e:g}" for e in eps) + ")"


class Goal:
    """What a run is after. `eps1` is common to all goals and alone steers the sampling.

    >>> means = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])
    >>> ParetoSet().is_correct([True, True, False], means)
    True
    >>> ParetoSet().gaps(means, np.ones(2)), ParetoSet(eps1=1.0).gaps(means, np.ones(2))
    (array([0.5, 2. , 0.5]), array([1., 2., 1.]))
    >>> AtMost(k=4).check(K=3, D=2)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: k=4 ...
    """

    kind: int
    eps1: Any

    def is_correct(self, answer: Any, means: Any) -> bool:
        """Is `answer`, a (K,) mask, right for these means (larger is better)?"""
        raise NotImplementedError

    def check(self, K: int, D: int) -> None:
        """Refuse a goal that does not fit K arms and D objectives."""
        as_epsilon(self.eps1, D)

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """(K,) the gap APE must resolve at each arm, in units of `divisor`; 0: it may never end."""
        return combined_gaps(means / divisor, _scaled(self.eps1, divisor))


def _scaled(eps: Any, divisor: FloatArray) -> FloatArray:
    return as_epsilon(eps, len(divisor)) / divisor


def _as_answer(answer: Any, K: int) -> BoolArray:
    mask = np.asarray(answer)
    if mask.shape != (K,) or mask.dtype != np.bool_:
        raise ValueError(
            f"answer has shape {mask.shape} and type {mask.dtype}; it must be a mask of {K} "
            f"booleans, True for the arms returned."
        )
    return mask


@dataclass(frozen=True)
class ParetoSet(Goal):
    """eps1-PSI: all optimal arms, and perhaps some that are within eps1 of optimal.

    eps1 is a scalar or one number per objective, in the objectives' own units.

    >>> ParetoSet().is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    False
    """

    eps1: Any = 0.0
    kind = PARETO_SET

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", _frozen(self.eps1, "eps1"))

    def is_correct(self, answer: Any, means: Any) -> bool:
        """S* <= answer <= S*_eps1 [kone2023, Section 2]."""
        mu = as_means(means)
        mask = _as_answer(answer, len(mu))
        return bool(mask[pareto_set(mu)].all() and pareto_set(mu, self.eps1)[mask].all())

    def __str__(self) -> str:
        return f"ParetoSet(eps1={_show(self.eps1)})"


@dataclass(frozen=True)
class Cover(Goal):
    """(eps1, eps2)-cover: near-optimal arms such that every optimal arm left out is within eps2.

    >>> Cover(eps2=1.5).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    eps1: Any = 0.0
    eps2: Any = 0.0
    kind = COVER

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", _frozen(self.eps1, "eps1"))
        object.__setattr__(self, "eps2", _frozen(self.eps2, "eps2"))

    def check(self, K: int, D: int) -> None:
        """Both eps must fit D objectives."""
        super().check(K, D)
        as_epsilon(self.eps2, D, name="eps2")

    def is_correct(self, answer: Any, means: Any) -> bool:
        """answer <= S*_eps1, and i left out is sub-optimal or mu_i < mu_j + eps2 for a j in it."""
        mu = as_means(means)
        mask = _as_answer(answer, len(mu))
        lifted = mu[mask] + as_epsilon(self.eps2, mu.shape[1], name="eps2")
        covered = np.array([(row < lifted).all(axis=1).any() for row in mu])
        fine = mask | ~pareto_set(mu) | covered
        return bool(fine.all() and pareto_set(mu, self.eps1)[mask].all())

    def __str__(self) -> str:
        return f"Cover(eps1={_show(self.eps1)}, eps2={_show(self.eps2)})"


@dataclass(frozen=True)
class AtMost(Goal):
    """eps1-PSI-k: any k near-optimal arms, or all of the optimal ones if they are fewer.

    >>> AtMost(k=1).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    k: int
    eps1: Any = 0.0
    kind = AT_MOST

    def __post_init__(self) -> None:
        check_count(self.k, name="k", why="it is how many arms are asked for.")
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "eps1", _frozen(self.eps1, "eps1"))

    def check(self, K: int, D: int) -> None:
        """k must not exceed K."""
        super().check(K, D)
        check_k(self.k, K)

    def is_correct(self, answer: Any, means: Any) -> bool:
        """Exactly k arms of S*_eps1, or fewer and then right for eps1-PSI."""
        mu = as_means(means)
        mask = _as_answer(answer, len(mu))
        size = int(mask.sum())
        if size > self.k:
            return False
        if size == self.k:
            return bool(pareto_set(mu, self.eps1)[mask].all())
        return ParetoSet(self.eps1).is_correct(mask, mu)

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """As for the Pareto set, but never below omega^k."""
        return combined_gaps(means / divisor, _scaled(self.eps1, divisor), self.k)

    def __str__(self) -> str:
        return f"AtMost(k={self.k}, eps1={_show(self.eps1)})"
