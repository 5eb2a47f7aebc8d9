"""The mixture for endpoints of different kinds: some scales known, the others learnt.

Proved in theory/PROOFS.md, Section 15.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, IntArray, check_choice, check_delta, shown
from paretoid.theory.radii.base import as_counts
from paretoid.theory.radii.claims import MixtureRadius
from paretoid.theory.radii.unknown_scale import check_variances, chi, too_narrow
from paretoid.theory.shares import Shares

SCALES = ("known", "unknown")


@dataclass(frozen=True, repr=False)
class MixedScale(MixtureRadius):
    r"""`UnknownScale` for the Gaussian objectives of a trial and `Mixture` for its others.

    .. math::
        C = 2\log\frac{1}{2(1-w)\alpha} + 2\,\mathrm{pen}((1-w)\alpha), \quad
        l(n) = \log\frac{n+\rho}{\rho}, \quad
        v^d = \frac{n+\rho}{n^2} \cdot \begin{cases} s_d^2 & \text{known} \\
              ss^d/\chi_n & \text{unknown} \end{cases}

    scales   "known" or "unknown", one for each objective. Known: outcomes are sub-Gaussian with the
             scale stated, as between low and high with (high - low)/2. Unknown: they are Gaussian,
             and their variance is learnt
    w        the share of delta spent on the variances of the unknown ones, K for each of them; the
             claims of all objectives share the rest in one union

    a is the shape of the prior on precisions; rho, union, sides and shares are as for `Mixture`.
    Outcomes of one subject may depend on each other in any way.

    >>> radius = MixedScale(["unknown", "known"])
    >>> radius.guarantee, radius.known(2)
    ('proved', array([False,  True]))
    >>> radius.first_count(20, 2, 0.1)    # the 20 variances at 0.01/20 each
    20
    >>> _, v = radius.arm_terms(100, 20, 2, 0.1)
    >>> v.shape, float(v[1])              # known: 130/100^2
    ((2,), 0.013)
    """

    scales: Any
    rho: Any = 30.0
    w: float = 0.1
    a: float = 3.0
    union: str = "claims"
    sides: str = "one"
    shares: Shares | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", _as_scales(self.scales))
        self._check_fields()
        check_variances(self)

    @property
    def guarantee(self) -> str:
        """ "proved", unless there is no union bound."""
        return "heuristic" if self.union == "none" else "proved"

    @property
    def by_objective(self) -> bool:
        """True: v is for scale 1 where the scale is known, for ss = 1 where it is not."""
        return True

    def known(self, D: int) -> BoolArray:
        """(D,) objectives whose scale is known."""
        if len(self.scales) != D:
            raise ValueError(
                f"{self!r} says of {len(self.scales)} objectives whether their scale is known, and "
                f"there are {D}. Say it of each, in their order."
            )
        return np.array([scale == "known" for scale in self.scales])

    def _spent(self) -> float:
        return 1 - self.w

    def threshold(self, K: int, D: int, delta: float) -> float:
        """log(K U/(w delta)), U being the objectives of unknown scale.

        >>> mixed = MixedScale(["unknown", "known", "unknown"], w=0.1)
        >>> round(mixed.threshold(20, 3, 0.1), 4)    # log 4000
        8.294
        """
        streams = 1 if self.union == "none" else K * int((~self.known(D)).sum())
        return math.log(streams / (self.w * check_delta(delta)))

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho) and, along a last axis, v of each objective."""
        n = as_counts(counts)
        rho = self._rho(n, K)
        v = (n + rho) / (n * n)
        with np.errstate(divide="ignore"):
            learnt = (n + rho) / (n * n * chi(n, self.threshold(K, D, delta), self.a))
        v, learnt = (self._usable(n, table, K, D, delta) for table in (v, learnt))
        by_objective = [v if known else learnt for known in self.known(D)]
        return np.log((n + rho) / rho), np.stack(by_objective, axis=-1)

    def first_count(self, K: int, D: int, delta: float) -> int | IntArray:
        """The first n at which the intervals of all objectives are finite."""
        try:
            return super().first_count(K, D, delta)
        except ValueError:
            self.known(D)  # the number of objectives may be what is wrong
            raise too_narrow(self.a) from None


def _as_scales(scales: Any) -> tuple[str, ...]:
    if isinstance(scales, str) or not isinstance(scales, (list, tuple)) or not scales:
        raise ValueError(
            f"scales={shown(scales)} must say of each objective whether its scale is known, such "
            f"as ['unknown', 'known']."
        )
    for scale in scales:
        check_choice(
            scale, SCALES, name="scales", why="unknown ones are learnt, of Gaussian outcomes."
        )
    if len(set(scales)) == 1:
        instead = "Mixture()" if scales[0] == "known" else "UnknownScale()"
        raise ValueError(
            f"scales={list(scales)} are all {scales[0]}, for which {instead} is made; MixedScale "
            f"has some of both."
        )
    return tuple(scales)
