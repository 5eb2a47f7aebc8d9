"""Outcomes of different kinds in one bandit: Gaussian, 0 or 1, or within a range."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretoid.bandits.base import Bandit, Law
from paretoid.bandits.censored import censored
from paretoid.bandits.gaussian import as_covariance, correlate
from paretoid.bandits.kinds import Kind, as_kinds, is_gaussian, ranges
from paretoid.theory.checks import BoolArray, FloatArray, as_means, as_numbers, is_number, shown


class MixedBandit(Bandit):
    """Objectives of different kinds; outcomes of one draw may be correlated.

    outcomes     of each objective, in order or by name: "gaussian", "binary" or (low, high)
    sd           standard deviations: a number, (D,) or (K, D); entries of binary objectives are not
                 read, for the mean says it. Outcomes in a range are a Gaussian cut at its ends
    correlation  of the standard Gaussians behind the outcomes: one number for all pairs, or (D, D).
                 It is for simulation: no guarantee leans on it
    scale        sub-Gaussian scales of Gaussian ones, shaped like sd and not below it; default sd

    A binary outcome is 1 where its Gaussian exceeds the quantile that its mean asks for, so a
    positive correlation goes with larger outcomes of both.

    >>> bandit = MixedBandit(
    ...     [[1.0, 0.3, 4.0], [0.5, 0.1, 3.0]], ["gaussian", "binary", (0.0, 10.0)],
    ...     sd=[1.0, np.nan, 2.0], correlation=0.6, objectives=["response", "tox", "pain"],
    ...     minimize=["tox", "pain"],
    ... )
    >>> bandit.gaussian, bandit.scale[0]    # of a range: half of it
    (array([ True, False, False]), array([1. , 0.5, 5. ]))
    >>> x = bandit.sample(0, 4000, 1)
    >>> np.unique(x[:, 1]), bool(x[:, 2].min() >= 0 and x[:, 2].max() <= 10)
    (array([0., 1.]), True)
    >>> bool(abs(np.corrcoef(x[:, 0], x[:, 2])[0, 1] - 0.6) < 0.05)
    True
    """

    model = "mixed"

    def __init__(
        self,
        means: Any,
        outcomes: Any,
        *,
        sd: Any = 1.0,
        correlation: Any = 0.0,
        scale: Any = None,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        table = as_means(means)
        K, D = table.shape
        named = tuple(objectives) if objectives is not None else None
        self.kinds: tuple[Kind, ...] = as_kinds(
            outcomes, named or tuple(f"objective {d}" for d in range(D))
        )
        if len(self.kinds) != D:
            raise ValueError(f"outcomes has {len(self.kinds)} entries for {D} objectives.")
        gaussian = is_gaussian(self.kinds)
        self.low, self.high = ranges(self.kinds)
        outside = (table < self.low) | (table > self.high)
        if outside.any():
            i, d = np.argwhere(outside)[0]
            raise ValueError(
                f"means[{i}, {d}]={table[i, d]:g} must lie in the range of its objective, "
                f"{self.low[d]:g} to {self.high[d]:g}."
            )
        binary = np.array([kind == "binary" for kind in self.kinds])
        spread = _as_sd(sd, K, D, binary)
        stated = spread if scale is None else _as_sd(scale, K, D, ~gaussian)
        for i, d in np.argwhere((stated < spread) & gaussian):
            raise ValueError(
                f"scale[{i}, {d}]={stated[i, d]:g} must not be below the standard deviation of its "
                f"outcomes, {spread[i, d]:g}: radii would lean on it, and be called proved. Leave "
                f"scale out."
            )
        super().__init__(table, self._as_scale(stated), arms, objectives, minimize)
        #: (K, D) standard deviations of the outcomes
        self.noise = np.where(binary, np.sqrt(table * (1 - table) * binary), spread)
        self.correlation = as_correlation(correlation, D)
        self._root = np.asarray(np.linalg.cholesky(self.correlation), dtype=np.float64)
        self._binary = binary
        self._location, self._spread = self._latent(table, spread)

    def _as_scale(self, scale: FloatArray) -> FloatArray:
        """(K, D) `scale` where outcomes are Gaussian, else half of the range."""
        gaussian = self.gaussian
        return np.where(gaussian, scale, np.where(gaussian, 1.0, self.high - self.low) / 2)

    def with_scale(self, scale: Any) -> MixedBandit:
        """The same outcomes, where radii believe another scale of the Gaussian ones, true or not.

        For plans: the scale of a trial is an assumption, and a plan shows what it is worth. None:
        the scale that it has.

        >>> MixedBandit([[0.0, 0.1], [1.0, 0.2]], ["gaussian", "binary"]).with_scale(0.4).scale[0]
        array([0.4, 0.5])
        """
        if scale is None:
            return self
        other = copy.copy(self)
        other.scale = self._as_scale(_as_sd(scale, self.K, self.D, ~self.gaussian))
        other.scale.setflags(write=False)
        return other

    def _latent(self, means: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(K, D) location and spread of the Gaussian behind each outcome."""
        from scipy.special import ndtri

        location, spread = np.array(means), np.array(sd)
        location[:, self._binary] = ndtri(means[:, self._binary])
        spread[:, self._binary] = 1.0
        for d, kind in enumerate(self.kinds):
            for i in range(self.K) if not isinstance(kind, str) else ():
                try:
                    location[i, d], spread[i, d] = censored(means[i, d], sd[i, d], *kind)
                except ValueError as error:
                    raise ValueError(
                        f"{self.objectives[d]!r} of {self.arms[i]!r}: {error}"
                    ) from None
        return location, spread

    @property
    def gaussian(self) -> BoolArray:
        """(D,) objectives whose outcomes are Gaussian."""
        return is_gaussian(self.kinds)

    def fill(self, rng: np.random.Generator, noise: FloatArray) -> None:
        """Standard normals, correlated between objectives."""
        rng.standard_normal(out=noise)
        correlate(self._root, noise)

    def law(self) -> Law:
        """The Gaussian behind each outcome, oriented, and what becomes of it."""
        up = self.sign > 0
        low, high = np.where(up, self.low, -self.high), np.where(up, self.high, -self.low)
        turn = np.where(self._binary, 1.0, self.sign)  # of 0 or 1 the value of a success is turned
        low, high = np.where(self._binary, 0.0, low), np.where(self._binary, self.sign, high)
        return Law.latent(self._location * turn, self._spread * turn, low, high, self._binary)

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D): the Gaussians behind the outcomes, cut or turned into 0 or 1."""
        x = self._location[arm] + self._spread[arm] * noise
        return np.where(self._binary, np.where(x > 0, 1.0, 0.0), np.clip(x, self.low, self.high))


def as_correlation(correlation: Any, D: int) -> FloatArray:
    """A (D, D) correlation matrix, from one number for all pairs or the whole of it.

    >>> as_correlation(0.5, 2)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    why = "it is the correlation of the Gaussians behind the outcomes of one subject"
    if is_number(correlation):
        least = -1 / (D - 1) if D > 1 else -1.0
        if not least < correlation < 1:
            raise ValueError(
                f"correlation={correlation} must lie above {least:.3g}, the least that {D} "
                f"objectives can have in common, and below 1: {why}."
            )
        return np.where(np.eye(D, dtype=bool), 1.0, float(correlation))
    array = as_numbers(correlation, name="correlation", rule=f"a number, or ({D}, {D}) of them.")
    if array.shape != (D, D) or not np.isfinite(array).all() or not (np.diag(array) == 1).all():
        raise ValueError(
            f"correlation={shown(correlation)} must be a number, or a ({D}, {D}) table with 1 on "
            f"its diagonal: {why}."
        )
    return as_covariance(array, D, name="correlation")


def _as_sd(sd: Any, K: int, D: int, unread: BoolArray) -> FloatArray:
    """(K, D) standard deviations; 1 in the columns that are not read."""
    array = as_numbers(sd, name="sd", rule=f"a number, ({D},) or ({K}, {D}).")
    if array.shape not in ((), (D,), (K, D)):
        raise ValueError(
            f"sd has shape {array.shape}; it must be a number, one per objective ({D},) or one per "
            f"arm and objective ({K}, {D})."
        )
    table = np.where(unread, 1.0, np.broadcast_to(array, (K, D)))
    if not ((table > 0) & (table < math.inf)).all():
        raise ValueError(
            f"sd={shown(sd)} must be finite and above 0: it is the standard deviation of an "
            f"outcome. That of binary objectives is not read."
        )
    return table
