"""Which radius a plan takes: the one that is given, or a kind that is then tuned to the trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits.kinds import Kind, is_gaussian
from paretoid.goals import Goal
from paretoid.theory.checks import WrongTypeError
from paretoid.theory.radii import BetaBinomial, MixedScale, Mixture, Radius, UnknownScale

#: kinds of radius whose rho, shares and planned rates a plan chooses
TUNABLE: tuple[type[Radius], ...] = (Mixture, UnknownScale, MixedScale, BetaBinomial)


def plan_radius(
    radius: Any, kinds: Sequence[Kind], goals: Sequence[Goal], calendar: bool = False
) -> Any:
    """`radius`, an instance or one of `TUNABLE`, if it fits endpoints of these kinds.

    None asks for the default: `BetaBinomial` where all endpoints are binary, else None for the
    mixture that fits them. It needs fewer participants than `Mixture` does for 0 or 1
    (validation/benchmarks/README.md), but has no bounds for limits, and on a `calendar` no
    compiled loop: there the mixture is left.

    >>> plan_radius(None, ["binary", "binary"], []).__name__
    'BetaBinomial'
    >>> plan_radius(None, ["binary", "gaussian"], []) is None
    True
    >>> plan_radius(BetaBinomial, ["binary", "gaussian"], [])    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: BetaBinomial needs outcomes 0 or 1 in every endpoint, ...
    """
    limited = any(goal.limits is not None for goal in goals)
    binary = all(kind == "binary" for kind in kinds)
    if radius is None:
        return BetaBinomial if binary and not limited and not calendar else None
    if radius not in TUNABLE and not isinstance(radius, Radius):
        raise WrongTypeError(
            f"radius={radius!r} must be a radius, such as Mixture(rho=50.0), which stays as it is, "
            f"or one of {', '.join(kind.__name__ for kind in TUNABLE)} without arguments, which is "
            f"tuned to the trial."
        )
    kind = radius if isinstance(radius, type) else type(radius)
    gaussian = np.asarray(is_gaussian(kinds))
    if issubclass(kind, BetaBinomial):
        if not binary:
            raise ValueError(
                f"{kind.__name__} needs outcomes 0 or 1 in every endpoint, and not all of these "
                f"are binary. Leave out the radius: the default fits endpoints of every kind."
            )
        if limited:
            raise ValueError(
                f"{kind.__name__} bounds differences of two arms, and a limit needs a bound on one "
                f"arm. Leave out the radius, or the limits."
            )
    elif issubclass(kind, UnknownScale) and not gaussian.all():
        raise ValueError(
            f"{kind.__name__} learns scales, which only Gaussian outcomes allow, and not all "
            f"endpoints are Gaussian. Leave out the radius: the default learns them where it can."
        )
    return radius
