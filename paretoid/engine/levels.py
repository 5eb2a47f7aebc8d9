"""The constants of a radius, by arm, rival and objective, and the first count it can use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoid.engine.columns import Columns
from paretoid.theory.checks import FloatArray, IntArray
from paretoid.theory.radii import BetaBinomial, LUCB1Like, PairwiseRadius, Radius, RoleTerms
from paretoid.theory.single_stream import ArmRadius


@dataclass(frozen=True, eq=False)
class Levels:
    """What stands beside l and v under the root.

    keep       (K,) C of the lower bounds that keep an arm
    drop       (K,) C of the upper bounds that drop it
    rival      (K,) added to l of the arm that shows another to be dominated
    objective  (D,) added to C of lower bounds
    first      (K,) samples an arm needs before its radius is finite
    """

    keep: FloatArray
    drop: FloatArray
    rival: FloatArray
    objective: FloatArray
    first: IntArray

    @property
    def same(self) -> bool:
        """True: lower and upper bounds have one half-width."""
        plain = not self.rival.any() and not self.objective.any()
        return plain and bool((self.keep == self.drop).all())

    @property
    def by_objective(self) -> bool:
        """True: lower bounds of different objectives have different constants."""
        return bool(self.objective.any())

    @classmethod
    def of(
        cls,
        radius: Radius,
        K: int,
        D: int,
        delta: float,
        levels: tuple[float, float] | None = None,
        drop_delta: float | None = None,
    ) -> Levels:
        """The levels of `radius`; `levels` of lower and upper bounds, for radii on single arms."""
        first: int | IntArray = 1
        roles = RoleTerms.zero(K, D)
        if isinstance(radius, (PairwiseRadius, BetaBinomial)):
            keep, drop = _constants(radius, K, D, delta)
            roles = _roles(radius, K, D, delta) or roles
            if drop_delta is not None and drop_delta != delta:
                drop = _constants(radius, K, D, drop_delta)[1]
                shared = _roles(radius, K, D, drop_delta) or roles
                roles = replace(roles, drop_arm=shared.drop_arm, drop_rival=shared.drop_rival)
            first = radius.first_count(K, D, delta)
        elif isinstance(radius, ArmRadius):
            assert levels is not None, "a radius on single arms needs the levels of its rule"
            keep, drop = (radius.constant(alpha) for alpha in levels)
        else:
            assert isinstance(radius, LUCB1Like)
            keep = drop = radius.constant(K, D, delta)
        return cls(
            keep + roles.keep_arm,
            drop + roles.drop_arm,
            np.array(roles.drop_rival),
            np.array(roles.keep_objective),
            np.array(np.broadcast_to(np.asarray(first, dtype=np.int64), (K,))),
        )

    def check(self, radius: Radius, columns: Columns) -> None:
        """Refuse constants that are no numbers, or negative under the root."""
        name = type(radius).__name__
        K, D = len(self.keep), len(self.objective)
        tables = (self.keep, self.drop, self.rival, self.objective)
        shapes = ((K,), (K,), (K,), (D,))
        if any(table.shape != shape for table, shape in zip(tables, shapes, strict=True)):
            raise ValueError(
                f"{name}.role_terms must return one number for each of {K} arms and {D} objectives."
            )
        if not all(np.isfinite(table).all() for table in tables):
            raise ValueError(f"{name}.constants and role_terms must be finite numbers.")
        least = min(
            float(self.keep.min() + self.objective.min()),
            float((self.drop + self.rival.min()).min()),
        )
        columns.require(-least / 2)


def _constants(
    radius: PairwiseRadius | BetaBinomial, K: int, D: int, delta: float
) -> tuple[float, float]:
    """C of lower and of upper bounds; what is no pair of numbers is refused by name."""
    given: Any = radius.constants(K, D, delta)
    try:
        keep, drop = given
        return float(keep), float(drop)
    except (TypeError, ValueError):
        raise ValueError(
            f"{type(radius).__name__}.constants must return two numbers, C of lower and C of upper "
            f"bounds; it returned {given!r}."
        ) from None


def _roles(radius: PairwiseRadius | BetaBinomial, K: int, D: int, delta: float) -> RoleTerms | None:
    """What roles add to the constants; what is none is refused by name."""
    given: Any = radius.role_terms(K, D, delta)
    if given is None:
        return None
    name = type(radius).__name__
    if not isinstance(given, RoleTerms):
        raise ValueError(
            f"{name}.role_terms must return RoleTerms, or None where roles do not matter; it "
            f"returned {given!r}."
        )
    for field, length in (("keep_arm", K), ("keep_objective", D), ("drop_arm", K),
                          ("drop_rival", K)):  # fmt: skip
        if np.shape(getattr(given, field)) != (length,):
            raise ValueError(
                f"{name}.role_terms returned {field} of shape {np.shape(getattr(given, field))}; "
                f"it must be ({length},), for {K} arms and {D} objectives."
            )
    return given
