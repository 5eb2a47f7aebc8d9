"""The constants of mixtures: unions, sides and shares [theory/PROOFS.md, Sections 4, 8 and 9]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from paretoid.theory.calibration import K1, levels
from paretoid.theory.checks import (
    MOST_ARMS,
    FloatArray,
    WrongTypeError,
    check_choice,
    check_delta,
    check_positive,
    shown,
)
from paretoid.theory.member import arguments
from paretoid.theory.one_sided import first_usable_count, one_sided_constant
from paretoid.theory.radii.base import PairwiseRadius, RoleTerms, check_union
from paretoid.theory.shares import Shares

SIDES = ("one", "two")
#: a precision of more samples than anybody draws: an arm may be used from a quarter of it
LARGEST_RHO = 1e12


@dataclass(frozen=True, eq=False)
class Constants:
    """What a union costs.

    keep, drop   C of lower and upper bounds, the largest of any arm, rival and objective
    roles        what each of these has less than the largest; None: all have the same
    sides        "one": an arm may be used once its count is a quarter of its rho
    """

    keep: float
    drop: float
    roles: RoleTerms | None
    sides: str


@lru_cache(maxsize=256)
def claim_constants(
    K: int, D: int, delta: float, union: str, sides: str, shares: Shares | None, part: float
) -> Constants:
    """The constants of a mixture whose claims may spend `part` of delta.

    With few arms one-sided claims can cost more than two-sided pairs, summed over keep and drop;
    the cheaper is taken, by K, D and delta alone. Unequal shares belong to claims.

    >>> claim_constants(20, 3, 0.1, "claims", "one", None, 1.0).sides
    'one'
    >>> claim_constants(2, 1, 0.1, "claims", "one", None, 1.0).sides    # one pair: both sides
    'two'
    """
    delta = check_delta(delta)
    if shares is not None and not shares.is_uniform:
        return _shared(shares, K, D, part * delta, sides)
    if shares is not None:
        shares.check(K, D)
    if union == "claims" and sides == "one":
        pairs = 2 * math.log(K1(K, D) / (part * delta))
        keep, drop = (
            float(one_sided_constant(part * delta / count)) for count in (K * D, K * (K - 1))
        )
        if keep + drop <= 2 * pairs:
            return Constants(keep, drop, None, "one")
        return Constants(pairs, pairs, None, "two")
    keep, drop = levels(K, D, delta, union)
    return Constants(2 * math.log(1 / (part * keep)), 2 * math.log(1 / (part * drop)), None, "two")


def _shared(shares: Shares, K: int, D: int, delta: float, sides: str) -> Constants:
    terms = shares.role_terms(K, D, delta, sides=sides)
    objective, rival = float(terms.keep_objective.max()), float(terms.drop_rival.max())
    keep = float(terms.keep_arm.max()) + objective
    against = terms.drop_arm[:, None] + terms.drop_rival
    drop = float(against[~np.eye(K, dtype=bool)].max())
    roles = RoleTerms(  # exactly 0 where objectives or rivals share uniformly
        terms.keep_arm + objective - keep,
        terms.keep_objective - objective,
        terms.drop_arm + rival - drop,
        terms.drop_rival - rival,
    )
    return Constants(keep, drop, roles, sides)


class MixtureRadius(PairwiseRadius):
    """What `Mixture` and `UnknownScale` share: rho by arm, union, sides and shares.

    >>> from paretoid.theory import Mixture, UnknownScale
    >>> all(issubclass(kind, MixtureRadius) for kind in (Mixture, UnknownScale))
    True
    """

    rho: float | tuple[float, ...]
    union: str
    sides: str
    shares: Shares | None

    def _check_fields(self) -> None:
        """rho as a float or a tuple; pairs have both sides; shares belong to claims."""
        object.__setattr__(self, "rho", _as_rho(self.rho))
        check_union(self.union)
        check_choice(
            self.sides, SIDES, name="sides", why="a claim is wrong on one side, 'two' costs more."
        )
        if self.union != "claims":
            object.__setattr__(self, "sides", "two")
        if self.shares is None:
            return
        if not isinstance(self.shares, Shares):
            raise WrongTypeError(
                f"shares={shown(self.shares)} must be Shares(arms=..., rivals=..., "
                f"objectives=...), or left out to share delta uniformly."
            )
        if self.union != "claims":
            raise ValueError(
                f"shares belong to union='claims', whose claims have an arm of their own; with "
                f"union={self.union!r} there is nothing to share out. Leave one of them out."
            )

    def __repr__(self) -> str:
        shown = {name: value for name, value in arguments(self).items() if value is not None}
        inside = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({inside})"

    @property
    def by_arm(self) -> bool:
        """True: arms have different rho."""
        return isinstance(self.rho, tuple) and len(set(self.rho)) > 1

    def with_design(self, rho: Any, shares: Shares | None) -> Self:
        """The same radius with another rho and other shares.

        >>> from paretoid.theory import UnknownScale
        >>> UnknownScale(w=0.2).with_design(50.0, None).w
        0.2
        """
        return type(self)(**{**arguments(self), "rho": rho, "shares": shares})

    def _rho(self, n: FloatArray, K: int) -> Any:
        """rho for counts n; one that differs by arm along their first axis."""
        if not isinstance(self.rho, tuple):
            return self.rho
        if len(self.rho) != K:
            raise ValueError(
                f"rho has {len(self.rho)} entries and there are {K} arms: give one for each, or a "
                f"single number."
            )
        if not self.by_arm:
            return self.rho[0]
        if n.ndim == 0 or len(n) != K:
            raise ValueError(
                f"counts of shape {n.shape} do not say whose they are: rho differs by arm, so "
                f"their first axis must have one entry for each of {K} arms."
            )
        return np.array(self.rho).reshape(K, *[1] * (n.ndim - 1))

    def _spent(self) -> float:
        """The part of delta that is left for claims."""
        return 1.0

    @property
    def spent(self) -> float:
        """The part of delta that claims may spend; unknown scales take the rest.

        >>> from paretoid.theory import Mixture, UnknownScale
        >>> Mixture().spent, UnknownScale(w=0.25).spent
        (1.0, 0.75)
        """
        return self._spent()

    def _constants(self, K: int, D: int, delta: float) -> Constants:
        return claim_constants(K, D, delta, self.union, self.sides, self.shares, self._spent())

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """(C_keep, C_drop); with shares those of the worst arm, rival and objective."""
        known = self._constants(K, D, delta)
        return known.keep, known.drop

    def role_terms(self, K: int, D: int, delta: float) -> RoleTerms | None:
        """What arms, rivals and objectives with larger shares have less than the worst."""
        return self._constants(K, D, delta).roles

    def counts_pairs(self, K: int, D: int, delta: float) -> bool:
        """True: all intervals hold together, so that several goals need no level of their own.

        >>> from paretoid.theory import Mixture
        >>> Mixture().counts_pairs(2, 1, 0.1), Mixture().counts_pairs(5, 2, 0.1)
        (True, False)
        """
        if self.union != "claims" or (self.shares is not None and not self.shares.is_uniform):
            return self.union == "pairs"
        few = K <= 3 and D <= 2  # there two-sided claims count pairs
        return few if self.sides == "two" else self._constants(K, D, delta).sides == "two"

    def _usable(self, n: FloatArray, v: FloatArray, K: int, D: int, delta: float) -> FloatArray:
        """v, infinite below a quarter of rho where bounds are one-sided."""
        if self._constants(K, D, delta).sides == "two":
            return v
        rho = self._rho(n, K)
        return np.where(n >= first_usable_count(rho), v, np.inf)


def _as_rho(rho: Any) -> float | tuple[float, ...]:
    """One rho, or one for each arm."""
    why = "it is the prior precision, in samples."
    if isinstance(rho, np.ndarray) and rho.ndim == 0:
        rho = rho.item()
    by_arm = isinstance(rho, (list, tuple, np.ndarray))
    if by_arm and len(rho) > MOST_ARMS:
        raise ValueError(f"rho has {len(rho):,} numbers, and there are at most {MOST_ARMS:,} arms.")
    values = {f"rho[{arm}]": value for arm, value in enumerate(rho)} if by_arm else {"rho": rho}
    if not values or any(isinstance(value, (list, tuple, np.ndarray)) for value in values.values()):
        raise ValueError(f"rho={shown(rho)} must be a number, or one for each arm.")
    checked = [
        check_positive(value, name=name, why=why, most=LARGEST_RHO)
        for name, value in values.items()
    ]
    for name, value in zip(values, checked, strict=True):
        if value < 1 / LARGEST_RHO:
            raise ValueError(
                f"{name}={shown(value)} must be at least {1 / LARGEST_RHO:g}: it is the prior "
                f"precision, in samples, and no trial has so few. Try 30."
            )
    return tuple(checked) if by_arm else checked[0]
