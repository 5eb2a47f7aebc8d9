r"""Limits: which arms are feasible, which of those are optimal, and what the claims cost.

A limit is met by a stream of outcomes compared with a fixed number. An arm is right in the answer
if it meets every limit and no arm that does dominates it (theory/PROOFS.md, Section 12).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.calibration import K1
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    WrongTypeError,
    as_epsilon,
    as_means,
    refusal,
    shown,
)
from paretoid.theory.one_sided import one_sided_constant
from paretoid.theory.radii.claims import MixtureRadius
from paretoid.theory.shares import Shares


@dataclass(frozen=True)
class Limit:
    """What an objective must reach, or must not exceed; made by `at_most` and `at_least`.

    most, least   one of them, in the objective's own units and direction
    slack         within this much of the limit either verdict is right
    compared      True: the objective also counts in domination

    >>> Limit(most=0.3)
    Limit(most=0.3)
    """

    most: float | None = None
    least: float | None = None
    slack: float = 0.0
    compared: bool = False

    def __post_init__(self) -> None:
        if (self.most is None) == (self.least is None):
            raise ValueError(
                "a limit needs one of most= and least=: write at_most(0.3) or at_least(0.3)."
            )
        for name in ("most", "least"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _number(value, name))
        slack = _number(self.slack, "slack")
        if slack < 0:
            raise ValueError(
                f"slack={slack} must not be negative: within it either verdict is right. For an "
                f"exact limit leave it out."
            )
        object.__setattr__(self, "slack", slack)
        if not isinstance(self.compared, bool):
            raise WrongTypeError(
                f"compared={shown(self.compared)} must be True, to count the objective in "
                f"domination too, or False."
            )

    def __repr__(self) -> str:
        said = "most" if self.least is None else "least"
        slack = f", slack={self.slack!r}" if self.slack else ""
        return f"Limit({said}={self.value!r}{slack}{', compared=True' if self.compared else ''})"

    @property
    def value(self) -> float:
        """The limit itself.

        >>> Limit(most=0.3).value
        0.3
        """
        value = self.most if self.least is None else self.least
        assert value is not None
        return value

    def words(self, value: str = "", slack: str = "") -> str:
        """The limit as it is said; `value` and `slack` where units say them better than numbers.

        >>> at_most(0.3, slack=0.05).words(), at_least(2).words("2 mm")
        ('at most 0.3 (± 0.05)', 'at least 2 mm')
        """
        said = f"at {'most' if self.least is None else 'least'} {value or f'{self.value:g}'}"
        return said + (f" (± {slack or f'{self.slack:g}'})" if self.slack else "")


def at_most(value: float, *, slack: float = 0.0, compared: bool = False) -> Limit:
    """A limit from above, in the objective's own units; see `Limit`.

    >>> at_most(0.30, slack=0.05)
    Limit(most=0.3, slack=0.05)
    """
    return Limit(most=value, slack=slack, compared=compared)


def at_least(value: float, *, slack: float = 0.0, compared: bool = False) -> Limit:
    """A limit from below, in the objective's own units; see `Limit`.

    >>> at_least(2.0, compared=True)
    Limit(least=2.0, compared=True)
    """
    return Limit(least=value, slack=slack, compared=compared)


class Limits(dict[str, Limit]):
    """Limits by the name of their objective: a dictionary that can be hashed.

    >>> limits = Limits({"toxicity": at_most(0.3)})
    >>> limits, len({limits, Limits(limits)})
    ({'toxicity': Limit(most=0.3)}, 1)
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping) or not given:
            raise refusal(isinstance(given, Mapping))(
                f"limits={shown(given)} must be a table from objectives to limits, such as "
                f"at_most(0.30) for 'toxicity'; leave it out for none."
            )
        for name, limit in given.items():
            if not isinstance(name, str) or not isinstance(limit, Limit):
                raise WrongTypeError(
                    f"limits[{shown(name)}]={shown(limit)} must be a limit, at_most(0.30) or "
                    f"at_least(0.30), under the name of an objective."
                )
        super().__init__(given)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items(), key=lambda item: item[0])))

    def bound(self, objectives: Iterable[str], sign: Any) -> Bounds:
        """The limits on the columns of these objectives; `sign` is -1 where less is better.

        >>> Limits({"cost": at_most(5.0)}).bound(["effect", "cost"], [1.0, -1.0]).floor
        array([-5.])
        """
        names = list(objectives)
        for name in self:
            if name not in names:
                raise ValueError(
                    f"there is a limit on {name!r}, which is no objective: there are "
                    f"{', '.join(map(repr, names))}."
                )
        columns = [names.index(name) for name in self]
        up = np.array([-1.0 if limit.least is None else 1.0 for limit in self.values()])
        compared = np.ones(len(names), dtype=bool)
        for name, column in zip(self, columns, strict=True):
            compared[column] = self[name].compared
        if not compared.any():
            raise ValueError(
                f"every objective has a limit and none is compared, so that nothing is left to be "
                f"optimal in: {', '.join(map(repr, self))}. Give one of them compared=True."
            )
        return Bounds(
            np.array(columns),
            up * np.asarray(sign, dtype=np.float64)[columns],
            up * np.array([limit.value for limit in self.values()]),
            np.array([limit.slack for limit in self.values()]),
            compared,
        )


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits on columns of means that are oriented so that larger is better.

    column     (q,) where each limit applies
    direction  (q,) 1 or -1: an arm meets it if direction * mean >= floor
    floor      (q,)
    slack      (q,)
    compared   (D,) the objectives that count in domination
    """

    column: Any
    direction: FloatArray
    floor: FloatArray
    slack: FloatArray
    compared: BoolArray

    def lead(self, means: FloatArray) -> FloatArray:
        """(K, q) by how much each arm meets each limit; negative where it does not.

        >>> Limits({"x": at_most(1.0)}).bound(["x", "y"], [1, 1]).lead(np.array([[0.5, 0.0]]))
        array([[0.5]])
        """
        return np.asarray(means[:, self.column] * self.direction - self.floor)

    def feasible(self, means: Any, *, may: bool = False) -> BoolArray:
        """(K,) arms that must be called feasible; with `may` those that may be.

        >>> limits = Limits({"x": at_most(1.0, slack=0.1)}).bound(["x", "y"], [1, 1])
        >>> means = [[0.8, 0.0], [1.05, 0.0], [1.2, 0.0]]
        >>> limits.feasible(means), limits.feasible(means, may=True)
        (array([ True, False, False]), array([ True,  True, False]))
        """
        lead = self.lead(as_means(means, least_arms=1))
        slack = -self.slack if may else self.slack
        return np.asarray((lead >= slack).all(axis=1))

    def sets(self, means: Any, eps1: Any = 0.0) -> tuple[BoolArray, BoolArray]:
        """(needed, allowed), (K,) each: arms that must be in an answer, and those that may be.

        Needed: surely feasible, and dominated by no arm that may be feasible. Allowed: it may be
        feasible, and no surely feasible arm is better by more than eps1 in every objective.

        >>> limits = Limits({"tox": at_most(0.3)}).bound(["effect", "tox"], [1, -1])
        >>> limits.sets([[3.0, -0.5], [2.0, -0.2], [1.0, -0.1]])[0]
        array([False,  True, False])
        """
        mu = as_means(means, least_arms=1)
        eps = as_epsilon(eps1, mu.shape[1])[self.compared]
        x = mu[:, self.compared]
        sure, maybe = self.feasible(mu), self.feasible(mu, may=True)
        below = (x[:, None] < x[None]).all(axis=2)
        far_below = (x[:, None] + eps < x[None]).all(axis=2)
        needed = sure & ~(below & maybe).any(axis=1)
        return np.asarray(needed), np.asarray(maybe & ~(far_below & sure).any(axis=1))


@dataclass(frozen=True, eq=False)
class LimitLevels:
    """What limits cost a mixture: constants of single arms, and the deltas of pairs.

    keep    (K,) C of the bound by which an arm is called feasible
    drop    (K,) C of the bound by which it is called infeasible
    pairs   delta of the lower bounds on pairs, which keep arms
    rivals  delta of the upper bounds on pairs, which drop them
    """

    keep: FloatArray
    drop: FloatArray
    pairs: float
    rivals: float


def limit_levels(radius: Any, K: int, D: int, delta: float, limits: int) -> LimitLevels:
    r"""The levels of a mixture under which goals with `limits` limits are delta-correct.

    Of an arm's share a_i = delta/K, calling it feasible costs a_i, calling it infeasible
    a_i/(K - 1 + q) for each of q limits, and dropping it for a rival as much for each rival;
    keeping it costs a_i/D for each objective (PROOFS.md, Section 12). Where pairs are counted the
    K q intervals of single arms are counted beside the K1 of pairs.

    >>> from paretoid.theory import Mixture
    >>> found = limit_levels(Mixture(sides="two"), 5, 3, 0.1, limits=1)
    >>> bool(np.isclose(found.keep[0], 2 * np.log(5 / 0.1)))     # delta/K
    True
    >>> bool(np.isclose(found.drop[0], 2 * np.log(25 / 0.1)))    # delta/(K (K - 1 + q))
    True
    >>> found.pairs, round(found.rivals, 6)                      # K (K - 1) of K (K - 1 + q)
    (0.1, 0.08)
    """
    if not isinstance(radius, MixtureRadius):
        raise ValueError(
            f"{radius!r} bounds differences of two arms, and a limit needs a bound on one arm "
            f"alone. Use Mixture() or UnknownScale(), which have one."
        )
    left = (K - 1) / (K - 1 + limits)
    part = radius.spent
    if radius.counts_pairs(K, D, delta) or radius.counts_pairs(K, D, left * delta):
        pairs = K1(K, D)
        less = delta * pairs / (pairs + K * limits)
        each = np.full(K, 2 * math.log((pairs + K * limits) / (part * delta)))
        return LimitLevels(each, each, less, less)
    arms = (radius.shares or Shares()).arm_levels(K, part * delta)
    constant = one_sided_constant if radius.sides == "one" else _two_sided
    return LimitLevels(constant(arms), constant(arms / (K - 1 + limits)), delta, left * delta)


def _two_sided(alpha: FloatArray) -> FloatArray:
    return np.asarray(-2 * np.log(alpha))


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, str, bytes)):
        raise WrongTypeError(
            f"{name}={shown(value)} must be a number, in the objective's own units."
        )
    kind = ValueError
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        kind, number = refusal(not isinstance(error, TypeError)), math.nan
    if not math.isfinite(number):
        raise kind(f"{name}={shown(value)} must be a finite number, in the objective's own units.")
    return number


__all__ = ["Limit", "Limits", "at_least", "at_most", "limit_levels"]
