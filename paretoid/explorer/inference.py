"""Intervals, b_t and c_t, and stopping rules on counts that differ by objective.

The formulas and their order of operations are those of `paretoid.loop`, so that complete
outcomes told one at a time give the engine's numbers bit for bit. Everything is oriented so that
larger is better and divided by one number per objective.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from paretoid.engine.build import divisors
from paretoid.explorer.design import Design
from paretoid.goals import AtMost, Cover, Goal
from paretoid.rules import BestArmRule
from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon
from paretoid.theory.radii import (
    CHI_EXACT,
    KaufmannKoolen,
    PairwiseRadius,
    SingleArm,
    UnknownScale,
    chi,
)
from paretoid.theory.single_stream import ArmRadius, IteratedLogarithm


@dataclass(frozen=True)
class Data:
    """What the intervals rest on; all (K, D)."""

    counts: FloatArray
    means: FloatArray  # oriented, in the objectives' own units
    ss: FloatArray  # squared deviations from the arm's own mean


#: (K,) each: estimates, lower bounds, upper bounds of the arms' means
Bounds = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Picture:
    """Everything APE and the stopping rules read off one table of data.

    mean, keep, drop  (K, K, D) mu_i - mu_j: its estimate, half-widths of lower and upper bounds
    h                 (K,) h_i = min_j max_d (L_ij^d + eps1^d); OPT where it is positive
    g                 (K,) g_i = max_j -M+(i, j); certainly dominated where it is positive
    S                 (K,) the empirical Pareto set
    b, c              b_t and c_t; if every arm is in OPT, b is the least certain one
    M_upper, M_lower  (K, K) M+(i, j) and max_d (L_ij^d + eps1^d), inf on the diagonal
    single            means, lower and upper bounds (K,) under a radius on single arms, else None
    """

    mean: FloatArray
    keep: FloatArray
    drop: FloatArray
    h: FloatArray
    g: FloatArray
    S: BoolArray
    b: int
    c: int
    M_upper: FloatArray
    M_lower: FloatArray
    single: Bounds | None

    @property
    def OPT(self) -> BoolArray:
        """(K,) certainly eps1-optimal."""
        return self.h > 0

    def settled(self) -> bool:
        """Z1 > 0 and Z2 > 0: every arm is certainly optimal or certainly dominated."""
        Z1 = min(self.h[self.S], default=math.inf)
        Z2 = min(np.maximum(self.g, self.h)[~self.S], default=math.inf)
        return bool(Z1 > 0 and Z2 > 0)

    def answer(self, goal: Goal, eps2: FloatArray) -> BoolArray | None:
        """The answer to `goal` if its stopping rule holds; eps2 divided like the means."""
        OPT = self.OPT
        if isinstance(goal, AtMost) and OPT.sum() >= goal.k:
            mask = np.zeros(len(OPT), dtype=bool)
            ranked = sorted(np.flatnonzero(OPT), key=lambda i: (-self.h[i], i))
            mask[ranked[: goal.k]] = True
            return mask
        if isinstance(goal, Cover):
            credit = np.where(OPT[:, None], eps2, 0.0)  # (K, D): eps2 for j in OPT
            within = (self.mean - credit + self.drop).max(axis=2)
            np.fill_diagonal(within, np.inf)
            return OPT if bool((np.maximum(-within.min(axis=1), self.h) > 0).all()) else None
        return self.S | ~(self.g > 0) if self.settled() else None


@lru_cache(maxsize=8)
def _chi_table(threshold: float, a: float) -> FloatArray:
    """chi_n by count. The whole table at once: its Newton steps end together."""
    table = np.concatenate([[0.0], chi(np.arange(1, CHI_EXACT + 1), threshold, a)])
    table.setflags(write=False)
    return table


class Inference:
    """The numbers of a design and what they make of data."""

    def __init__(self, design: Design) -> None:
        K, D, delta, radius = design.K, design.D, design.delta, design.radius
        self.design, self.radius = design, radius
        self.unknown = isinstance(radius, UnknownScale)
        self.first = 1
        self.rho = float(getattr(radius, "rho", 1.0))
        if isinstance(radius, PairwiseRadius):
            self.keep = radius.constants(K, D, delta)[0]
            self.drop = radius.constants(K, D, design.level())[1]
            self.first = radius.first_count(K, D, delta)
        elif isinstance(radius, ArmRadius):
            assert isinstance(design.rule, BestArmRule)
            levels = design.rule.levels(K, delta)
            self.keep, self.drop = (radius.constant(alpha) for alpha in levels)
        else:
            assert isinstance(radius, SingleArm)
            self.keep = self.drop = radius.constant(K, D, delta)
        if isinstance(radius, UnknownScale):
            self.chi = _chi_table(radius.threshold(K, D, delta), radius.a)
        divisor = np.ones(D) if self.unknown else divisors(design.bandit)
        self.inverse = None if self.unknown else 1 / divisor
        self.factor = (design.bandit.scale / divisor) ** 2
        self.divisor = divisor
        self._logs = np.zeros(0)
        self._others = ~np.eye(K, dtype=bool)

    def pooled(self, data: Data) -> FloatArray:
        """(D,) divisors of UnknownScale: each objective's pooled sd; NaN before it exists.

        It exists once every arm has `first` outcomes in that objective and none of them gave the
        same outcome every time, which is no Gaussian outcome.
        """
        total, freedom = np.zeros(self.design.D), np.zeros(self.design.D)
        for i in range(self.design.K):  # in order: np.sum is pairwise
            total = total + data.ss[i]
            freedom = freedom + (data.counts[i] - 1)
        ready = ((data.counts >= self.first) & (data.ss > 0)).all(axis=0)
        return np.where(ready, np.sqrt(total / np.where(ready, freedom, 1.0)), np.nan)

    def ready(self, data: Data) -> bool:
        """Is every interval finite?"""
        enough = bool((data.counts >= self.first).all())
        return enough and (not self.unknown or bool((data.ss > 0).all()))

    def scaled_eps(self, eps: object, divisor: FloatArray) -> FloatArray:
        """(D,) a slack in units of the divisor."""
        values = as_epsilon(eps, self.design.D, name="eps")
        return values * (1 / divisor) if self.unknown else values / divisor

    def picture(self, data: Data, divisor: FloatArray) -> Picture:
        """Intervals and indices; infinite intervals where an arm has too few outcomes.

        An arm all of whose intervals are infinite is neither optimal nor dominated and keeps all
        others out of OPT, so with complete outcomes nothing stops within the first rounds.
        """
        mean, keep, drop = self._intervals(data, 1 / divisor)
        eps1 = self.scaled_eps(self.design.goals[0].eps1, divisor)
        others = self._others
        M_upper = (mean + drop).max(axis=2)  # M+(i, j)
        M_lower = (mean + eps1 - keep).max(axis=2)  # max_d (L + eps1)
        np.fill_diagonal(M_lower, np.inf)
        np.fill_diagonal(M_upper, np.inf)
        h = M_lower.min(axis=1)
        g = -M_upper.min(axis=1)
        S = np.asarray(~((mean < 0).all(axis=2) & others).any(axis=1))  # no strict domination
        outside = ~(h > 0)
        if outside.any():
            b = int(np.argmax(np.where(outside, -g, -np.inf)))
        else:
            b = int(np.argmin(h))
        c = int(np.argmin(M_lower[b]))
        single = self._single(data, 1 / divisor) if isinstance(self.radius, ArmRadius) else None
        return Picture(mean, keep, drop, h, g, S, b, c, M_upper, M_lower, single)

    def _intervals(
        self, data: Data, inverse: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        n = data.counts
        x = data.means * inverse
        mean = x[:, None, :] - x[None, :, :]
        if isinstance(self.radius, SingleArm):
            # n_i^d <= t for every arm and objective, which is all the union over times needs
            growth = math.sqrt(self.keep + 4 * math.log(max(n.sum(axis=0).max(), 1.0)))
            beta = np.where(n > 0, np.sqrt(2.0 * self.factor / np.maximum(n, 1)), np.inf)
            width = growth * (beta[:, None, :] + beta[None, :, :])
            return mean, width, width
        l, v = self._log_terms(n), self._variances(n, data.ss, inverse)
        if isinstance(self.radius, ArmRadius):  # lower_i - upper_j, upper_i - lower_j
            low, high = np.sqrt((self.keep + l) * v), np.sqrt((self.drop + l) * v)
            keep = low[:, None, :] + high[None, :, :]
            return mean, keep, keep.transpose(1, 0, 2)
        spread = v[:, None, :] + v[None, :, :]
        logs = l[:, None, :] + l[None, :, :]
        keep = np.sqrt((self.keep + logs) * spread)
        return mean, keep, keep if self.keep == self.drop else np.sqrt((self.drop + logs) * spread)

    def _single(self, data: Data, inverse: FloatArray) -> Bounds:
        """Bounds on the mean of each arm, one objective."""
        l, v = self._log_terms(data.counts), self._variances(data.counts, data.ss, inverse)
        x = data.means * inverse
        lower, upper = x - np.sqrt((self.keep + l) * v), x + np.sqrt((self.drop + l) * v)
        return x[:, 0], lower[:, 0], upper[:, 0]

    def _log_terms(self, n: FloatArray) -> FloatArray:
        """l(n), by `math.log` like the engine's tables; remembered up to a million; l(0) = l(1)."""
        most = int(n.max())
        if most >= 1 << 20:
            return np.array([[self._log_term(max(c, 1.0)) for c in row] for row in n])
        if most >= len(self._logs):
            size = max(64, 2 * most)
            old = len(self._logs)
            new = [self._log_term(float(max(c, 1))) for c in range(old, size)]
            self._logs = np.concatenate([self._logs, new])
        return np.asarray(self._logs[n.astype(np.int64)])

    def _log_term(self, n: float) -> float:
        if isinstance(self.radius, KaufmannKoolen):
            return math.log(4 + math.log(n))
        if isinstance(self.radius, IteratedLogarithm):
            return 3 * math.log(1 + math.log(n))
        return math.log((n + self.rho) / self.rho)

    def _variances(self, n: FloatArray, ss: FloatArray, inverse: FloatArray) -> FloatArray:
        """v(n) times the squared scale; infinite with too few outcomes, or all the same."""
        some = np.maximum(n, 1)
        if isinstance(self.radius, KaufmannKoolen):
            return np.where(n > 0, self.factor * (4 / some), np.inf)
        if isinstance(self.radius, IteratedLogarithm):
            return np.where(n > 0, self.factor * (1 / some), np.inf)
        if not self.unknown:
            return np.where(n > 0, self.factor * ((some + self.rho) / (some * some)), np.inf)
        size = len(self.chi)
        inside = self.chi[np.minimum(n, size - 1).astype(np.int64)]
        chis = np.where(n < size, inside, n * float(self.chi[-1] / (size - 1)))
        finite = (chis > 0) & (ss > 0)
        unit = (some + self.rho) / (some * some * np.where(finite, chis, 1.0))
        return np.where(finite, ss * unit * (inverse * inverse), np.inf)
