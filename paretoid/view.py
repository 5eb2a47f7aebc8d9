"""One moment of a run, as rules, goals, plots and checks see it, and the lens that makes it.

Everything is oriented so that larger is better. Inside, objectives are divided by one number each
(`View.unit`), because b_t and c_t compare across objectives; `means`, `lower` and `upper` are in
the objectives' own units. The formulas and their order of operations are those of the kernels: on
the same samples both give the same numbers, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine.columns import Columns
from paretoid.engine.levels import Levels
from paretoid.engine.rates import RateBounds
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_epsilon
from paretoid.theory.limits import LimitLevels, limit_levels
from paretoid.theory.radii import BetaBinomial, PairwiseRadius, Radius
from paretoid.theory.single_stream import ArmRadius


@dataclass(frozen=True)
class Samples:
    """What intervals rest on; all (K, D), because endpoints may arrive at different times.

    counts   outcomes of each arm and objective
    means    their means from the reference, oriented, in the objectives' own units; 0 without any
    ss       their squared deviations from the arm's own mean
    reference  (D,) what was subtracted from outcomes before they were summed; 0: nothing
    """

    counts: FloatArray
    means: FloatArray
    ss: FloatArray
    reference: Any = 0.0

    @property
    def estimates(self) -> FloatArray:
        """(K, D) means, oriented, in the objectives' own units."""
        return np.asarray(self.means + self.reference)


@dataclass(frozen=True)
class Standing:
    """What a rule has concluded about arms for good; most rules leave it alone.

    active    arms still in question, in order
    accepted  arms that are certainly optimal up to eps1
    dropped   arms that are certainly dominated, each with an arm that showed it
    """

    active: tuple[int, ...]
    accepted: tuple[int, ...] = ()
    dropped: dict[int, int] = field(default_factory=dict)

    @classmethod
    def begin(cls, K: int) -> Standing:
        """Every arm is in question.

        >>> Standing.begin(3).active
        (0, 1, 2)
        """
        return cls(tuple(range(K)))

    def after(self, accepted: Sequence[int], dropped: dict[int, int]) -> Standing:
        """The standing with new conclusions.

        >>> Standing.begin(3).after([2], {0: 2}).active
        (1,)
        """
        gone = {*accepted, *dropped}
        return Standing(
            tuple(arm for arm in self.active if arm not in gone),
            (*self.accepted, *accepted),
            {**self.dropped, **dropped},
        )


#: (K,) each: estimates, lower bounds, upper bounds of the arms' means
ArmBounds = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class View:
    """One moment of a run, read-only; larger is better.

    arms, objectives  names
    time              samples so far
    samples           counts, means and squared deviations, (K, D) each
    unit              (D,) what objectives are divided by in the tables below
    eps1              (D,) the slack that steers the sampling, in these units
    difference        (K, K, D) estimates of mu_i - mu_j, in these units
    keep, drop        (K, K, D) half-widths of its lower and upper bounds, in these units
    single            estimates and bounds (K,) of single arms under a radius on these, else None
    standing          what a rule has concluded for good
    memory            a dictionary of the rule's own, empty when a run begins
    alone             half-widths (K, D) of lower and upper bounds on single arms, for limits, in
                      these units; None without limits
    contest           the arms that the goal wants compared, in place of b_t and c_t; else None

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0]], scale=[1.0, 2.0])
    >>> lens = Lens(bandit, pt.Mixture(union="pairs"), 0.1, eps1=0.0)
    >>> counts = np.full((2, 2), 100.0)
    >>> view = lens.view(Samples(counts, bandit.oriented, np.zeros((2, 2))), time=200)
    >>> view.counts, view.time, view.optimal, view.dominated
    (array([100, 100]), 200, array([ True,  True]), array([False, False]))
    >>> view.means[1], view.b, view.c, view.settled
    (array([0., 1.]), 1, 0, True)
    >>> bool((view.lower[0, 1] < [1.0, -1.0]).all() and (view.upper[0, 1] > [1.0, -1.0]).all())
    True
    >>> view.K, view.ready, view.Z1 > 0, view.Z2, view.in_units(1.0)
    (2, True, True, inf, array([1. , 0.5]))
    >>> view.with_standing(Standing.begin(2).after([0], {})).standing.active
    (1,)
    """

    arms: tuple[str, ...]
    objectives: tuple[str, ...]
    time: int
    samples: Samples
    unit: FloatArray
    eps1: FloatArray
    difference: FloatArray
    keep: FloatArray
    drop: FloatArray
    single: ArmBounds | None
    standing: Standing
    memory: dict[str, Any]
    reciprocal: bool
    alone: tuple[FloatArray, FloatArray] | None = None
    contest: tuple[int, int] | None = None

    @property
    def K(self) -> int:
        """The number of arms."""
        return len(self.arms)

    @cached_property
    def counts(self) -> IntArray:
        """(K,) samples of each arm: of its scarcest objective."""
        return np.asarray(self.samples.counts.min(axis=1), dtype=np.int64)

    @property
    def means(self) -> FloatArray:
        """(K, D) estimated means, in the objectives' own units; larger is better."""
        return self.samples.estimates

    @cached_property
    def lower(self) -> FloatArray:
        """(K, K, D) lower bounds on mu_i - mu_j, in the objectives' own units."""
        return np.asarray((self.difference - self.keep) * self.unit)

    @cached_property
    def upper(self) -> FloatArray:
        """(K, K, D) upper bounds on mu_i - mu_j, in the objectives' own units."""
        return np.asarray((self.difference + self.drop) * self.unit)

    @cached_property
    def M_upper(self) -> FloatArray:
        """(K, K) M+(i, j) = max_d U_ij^d in units; infinite for i = j."""
        return _off_diagonal(_largest(self.difference + self.drop))

    @cached_property
    def M_lower(self) -> FloatArray:
        """(K, K) max_d (L_ij^d + eps1^d) in units; infinite for i = j."""
        return _off_diagonal(_largest(self.difference + self.eps1 - self.keep))

    @cached_property
    def h(self) -> FloatArray:
        """(K,) h_i^{eps1} = min_j max_d (L_ij^d + eps1^d)."""
        return np.asarray(self.M_lower.min(axis=1))

    @cached_property
    def g(self) -> FloatArray:
        """(K,) g_i = max_j -M+(i, j)."""
        return np.asarray(-self.M_upper.min(axis=1))

    @cached_property
    def S(self) -> BoolArray:
        """(K,) the empirical Pareto set: no strict domination, so that tied arms are both in it."""
        below = _largest(self.difference) < 0
        np.fill_diagonal(below, False)
        return np.asarray(~below.any(axis=1))

    @property
    def optimal(self) -> BoolArray:
        """(K,) OPT(t): certainly optimal, up to eps1."""
        return self.h > 0

    @property
    def dominated(self) -> BoolArray:
        """(K,) certainly dominated by another arm."""
        return self.g > 0

    @property
    def Z1(self) -> float:
        """The smallest h over S(t)."""
        return float(min(self.h[self.S], default=math.inf))

    @property
    def Z2(self) -> float:
        """The smallest max(g, h) outside S(t)."""
        return float(min(np.maximum(self.g, self.h)[~self.S], default=math.inf))

    @property
    def settled(self) -> bool:
        """True: every arm is certainly optimal, up to eps1, or certainly dominated."""
        return bool(self.Z1 > 0 and self.Z2 > 0)

    @cached_property
    def b(self) -> int:
        """b_t: the arm outside OPT with the largest min_j M+(i, j); the lowest index on ties.

        If every arm is in OPT it is the least certain one, for goals that still go on.
        """
        if self.contest is not None:
            return self.contest[0]
        outside = ~self.optimal
        if outside.any():
            return int(np.argmax(np.where(outside, -self.g, -np.inf)))
        return int(np.argmin(self.h))

    @cached_property
    def c(self) -> int:
        """c_t: the arm most likely to dominate b_t, argmin_j max_d (L^d + eps1^d)."""
        if self.contest is not None:
            return self.contest[1]
        return int(np.argmin(self.M_lower[self.b]))

    @property
    def ready(self) -> bool:
        """True: every interval is finite."""
        others = ~np.eye(self.K, dtype=bool)
        return bool(np.isfinite(self.keep[others]).all() and np.isfinite(self.drop[others]).all())

    def in_units(self, slack: Any) -> FloatArray:
        """(D,) a slack, given in the objectives' own units, in units of the tables."""
        values = as_epsilon(slack, len(self.objectives), name="slack")
        return np.asarray(values * (1 / self.unit) if self.reciprocal else values / self.unit)

    def with_standing(self, standing: Standing) -> View:
        """The same moment with another standing."""
        return replace(self, standing=standing)


def steered(view: View, goals: Sequence[Any]) -> View:
    """The view with the arms that the first of `goals`, those still open, wants compared.

    >>> import paretoid as pt
    >>> lens = Lens(pt.GaussianBandit([[0.0], [3.0], [3.1]]), pt.Mixture(), 0.1, eps1=0.0)
    >>> counts = np.full((3, 1), 20.0)
    >>> view = lens.view(Samples(counts, lens.bandit.oriented, counts), 60)
    >>> steered(view, [pt.ParetoSet()]).contest, steered(view, [pt.PracticalSet(0.5)]).contest
    (None, (1, 2))
    """
    pair = goals[0].contest(view) if goals else None
    return view if pair is None else replace(view, contest=pair)


def _largest(table: FloatArray) -> FloatArray:
    """(K, K) the maximum over objectives of a table (K, K, D): NumPy's own is slow for few."""
    result = table[:, :, 0].copy()
    for d in range(1, table.shape[2]):
        np.maximum(result, table[:, :, d], out=result)
    return result


def _off_diagonal(table: FloatArray) -> FloatArray:
    np.fill_diagonal(table, np.inf)
    return table


class Lens:
    """Turns samples into views: the columns and constants of a radius, scales and names.

    bandit   says names and scales; its means are not looked at
    radius   on pairs of arms, or on single arms with `levels`
    delta    allowed probability of a wrong answer
    eps1     the slack that steers the sampling
    levels   of lower and upper bounds, for radii on single arms
    drop     the delta of upper bounds, where several goals share it out; default: `delta`
    limits   how many limits arms must meet: their claims share delta with the others
    """

    def __init__(
        self,
        bandit: Bandit,
        radius: Radius,
        delta: float,
        *,
        eps1: Any,
        levels: tuple[float, float] | None = None,
        drop: float | None = None,
        limits: int = 0,
    ) -> None:
        K, D = bandit.K, bandit.D
        self.limits: LimitLevels | None = None
        if limits:
            self.limits = limit_levels(radius, K, D, delta, limits)
            drop = self.limits.rivals * (1.0 if drop is None else drop / delta)
            delta = self.limits.pairs
        self.bandit, self.radius, self.K, self.D = bandit, radius, K, D
        self.known = radius.known(D)
        self.unknown = not self.known.all()
        self.eps1 = eps1
        self.columns: Columns | None = None
        if isinstance(radius, (PairwiseRadius, ArmRadius)):
            self.columns = Columns(radius, K, D, delta)  # refuses terms that are none
        self.levels = Levels.of(radius, K, D, delta, levels, drop)
        if self.columns is not None:
            self.levels.check(radius, self.columns)
        self.rates: RateBounds | None = None
        if isinstance(radius, BetaBinomial):
            self.rates = RateBounds(radius, self.levels, bandit.sign)
        self.first = self.levels.first
        self.unit = np.where(self.known, divisors(bandit), 1.0)
        self.factor = (bandit.scale / self.unit) ** 2

    def view(
        self,
        samples: Samples,
        time: int,
        unit: FloatArray | None = None,
        standing: Standing | None = None,
        memory: dict[str, Any] | None = None,
    ) -> View:
        """The view of these samples; `unit` is the divisor of unknown scales, once it is fixed.

        An arm with too few outcomes has infinite intervals: it is neither optimal nor dominated,
        and it keeps all others out of OPT.
        """
        unit = self.unit if unit is None else unit
        inverse = 1 / unit
        x = samples.means * inverse
        difference = x[:, None, :] - x[None, :, :]
        single = alone = None
        if self.rates is not None:
            lower, upper = self.rates.of(samples.estimates, samples.counts)
            keep, drop = difference - lower * inverse, upper * inverse - difference
        elif self.columns is None:
            keep = drop = self._growing(samples.counts)
        else:
            l, v = self._terms(samples, inverse)
            if isinstance(self.radius, ArmRadius):
                low, high = self._widths(l, v)
                keep = low[:, None, :] + high[None, :, :]  # lower_i - upper_j
                drop = keep.transpose(1, 0, 2)  # upper_i - lower_j
                single = x[:, 0], (x - low)[:, 0], (x + high)[:, 0]
            else:
                keep, drop = self._pairs(l, v)
            if self.limits is not None:
                low, high = self.limits.keep[:, None], self.limits.drop[:, None]
                alone = np.sqrt((low + l) * v), np.sqrt((high + l) * v)
        eps1 = as_epsilon(self.eps1, self.D)
        return View(
            self.bandit.arms, self.bandit.objectives, time, samples, unit,
            eps1 * inverse if self.unknown else eps1 / unit,
            difference, keep, drop, single,
            Standing.begin(self.K) if standing is None else standing,
            {} if memory is None else memory,
            self.unknown, alone,
        )  # fmt: skip

    def _terms(self, samples: Samples, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(l, v), (K, D) each; v infinite with too few outcomes, or all the same."""
        assert self.columns is not None
        l, v = self.columns.look_up(samples.counts)
        usable = np.isfinite(v) & (self.known | (samples.ss > 0))
        finite = np.where(usable, v, 0.0)
        learnt = samples.ss * finite * (inverse * inverse)
        return l, np.where(usable, np.where(self.known, self.factor * finite, learnt), np.inf)

    def _pairs(self, l: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(keep, drop), (K, K, D) half-widths of the common form."""
        levels = self.levels
        spread = v[:, None, :] + v[None, :, :]
        own = levels.keep[:, None] + levels.objective  # (K, D)
        keep = np.sqrt((own[:, None, :] + (l[:, None, :] + l[None, :, :])) * spread)
        if levels.same:
            return keep, keep
        rival = l + levels.rival[:, None]
        drop = levels.drop[:, None, None] + (l[:, None, :] + rival[None, :, :])
        return keep, np.sqrt(drop * spread)

    def _widths(self, l: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(low, high), (K, D) half-widths of lower and upper bounds on single arms."""
        levels = self.levels
        return np.sqrt((levels.keep[:, None] + l) * v), np.sqrt((levels.drop[:, None] + l) * v)

    def _growing(self, counts: FloatArray) -> FloatArray:
        """(K, K, D) half-widths that are a sum over the two arms and widen with all samples.

        n_i^d <= t for every arm and objective, which is all the union over times needs.
        """
        t = max(float(counts.sum(axis=0).max()), 1.0)
        growth = math.sqrt(float(self.levels.keep[0]) + 4 * math.log(t))
        with np.errstate(divide="ignore"):
            beta = np.sqrt(2.0 * self.factor / counts)
        return np.asarray(growth * (beta[:, None, :] + beta[None, :, :]))

    def pooled(self, samples: Samples) -> FloatArray:
        """(D,) divisors: of unknown scales the pooled sd, NaN before it exists; else as known.

        It exists once every arm has enough outcomes in that objective and none of them gave the
        same outcome every time, which is no Gaussian outcome.
        """
        total, freedom = np.zeros(self.D), np.zeros(self.D)
        for i in range(self.K):  # in order: np.sum is pairwise
            total = total + samples.ss[i]
            freedom = freedom + (samples.counts[i] - 1)
        ready = ((samples.counts >= self.first[:, None]) & (samples.ss > 0)).all(axis=0)
        learnt = np.where(ready, np.sqrt(total / np.where(ready, freedom, 1.0)), np.nan)
        return np.where(self.known, self.unit, learnt)

    def ready(self, samples: Samples) -> bool:
        """True: every interval is finite."""
        enough = bool((samples.counts >= self.first[:, None]).all())
        return enough and bool((self.known | (samples.ss > 0)).all())


def divisors(bandit: Bandit) -> FloatArray:
    """(D,) what each objective is divided by: the rms of the arms' scales.

    >>> import paretoid as pt
    >>> divisors(pt.GaussianBandit([[0.0], [1.0]], scale=[[1.0], [7.0]]))
    array([5.])
    """
    if bandit.common_scale:
        return np.array(bandit.scale[0])
    return np.asarray(np.sqrt((bandit.scale**2).mean(axis=0)))
