r"""The characteristic time: what identifying the Pareto set exactly must cost.

For independent Gaussian outcomes, every algorithm that names S* with error at most delta draws in
expectation at least T* kl(delta, 1 - delta) samples [garivier2016; the argument for the best arm
uses only that the answer is unique], where

.. math::
    \frac1{T^\star} = \max_{w} F(w), \qquad
    F(w) = \inf_{\lambda : S^\star(\lambda) \ne S^\star(\mu)}
    \sum_a w_a \sum_d \frac{(\lambda_a^d - \mu_a^d)^2}{2 s_{ad}^2}

over weights w on the simplex. Two moves change the set, and nothing else does.

*Lift*: some arm outside S*(mu) is no longer strictly dominated by any arm of S*(mu).
*Drop*: some arm of S*(mu) becomes dominated by another arm of S*(mu).

Arms outside S*(mu) need no watching, neither as the dominated nor as the dominating ones. Strict
domination is a strict order, so a dominated arm is dominated by an undominated one. Without a
lift all arms outside S*(mu) stay dominated, so S*(lambda) is part of S*(mu), and an arm that left
it is dominated by one that did not. Conversely a lift and a drop each change the set: were
S*(lambda) still S*(mu), every arm outside it would be dominated by one of its arms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import (
    FloatArray,
    IntArray,
    as_means,
    check_between,
    check_count,
    check_delta,
    check_positive,
)
from paretoid.theory.dominance import domination
from paretoid.theory.gaps import gaps
from paretoid.theory.units import as_scale

#: Rounding forgiven before an assignment is discarded; far below the width of any bracket.
SLACK = 1e-12

#: Where planes are added, as shares of the best weights so far in a mixture with the linear
#: program's. Tuned: on eight instances up to K = 40, shares 0, 0.5 and 0.9 together took 8-14
#: programs, 0 alone 12-24, 0.5 alone 20-33. Above 0, so that no weight is ever 0.
PULLS = (0.01, 0.5, 0.9)

#: The solver's defaults, 1e-7, stall the bracket near a width of 1e-7.
SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

#: Means closer than this fraction of the largest one count as tied: squares must not underflow.
TIE = 1e-50


@dataclass(frozen=True, slots=True, eq=False)
class CharacteristicTime:
    """T* with a certificate, lower <= T* <= upper; unpacks as (T*, w*).

    time        the upper end, which `weights` attain: 1 / F(weights)
    weights     (K,) shares of the samples, all positive, summing to 1
    lower       the lower end: a mixture of alternatives that no weights tell apart faster
    iterations  linear programs solved

    Two arms, one objective, a gap of 1, scale 1: half the samples to each, and
    T* = 2 (1 + 1)^2 = 8.

    >>> found = characteristic_time([[1.0], [0.0]])
    >>> time, weights = found
    >>> round(time, 4), np.round(weights, 3)
    (8.0, array([0.5, 0.5]))
    >>> found.lower <= found.upper <= found.lower * (1 + 1e-6)
    True
    """

    time: float
    weights: FloatArray
    lower: float
    iterations: int

    @property
    def upper(self) -> float:
        """The upper end of the bracket: the same number as `time`."""
        return self.time

    def samples(self, delta: float) -> float:
        """What every delta-correct algorithm needs: see `characteristic_lower_bound`.

        Two arms a gap of 2 apart have T* = 2 (1 + 1) * 2 / 2^2 = 2.

        >>> round(characteristic_time([[0.0], [2.0]]).samples(0.1), 3)    # 2 kl(0.1, 0.9)
        3.516
        """
        delta = check_delta(delta)
        return self.lower * kl_bernoulli(delta, 1 - delta) if delta < 0.5 else 0.0

    def __iter__(self) -> Iterator[Any]:
        yield self.time
        yield self.weights


def characteristic_time(
    means: Any, scale: Any = 1.0, *, tolerance: float = 1e-6, max_iterations: int = 500
) -> CharacteristicTime:
    r"""T* and w* of exact Pareto set identification with Gaussian outcomes, certified.

    `means` is (K, D), larger is better; `scale` holds standard deviations: a scalar, (D,) or
    (K, D). The outcomes of one draw are taken as independent across objectives.

    The cost of an alternative lambda is linear in w, so each one is a plane above the concave F.
    A linear program over the planes found so far bounds 1/T* from above, and F(w) at any w from
    below. The upper bound is recomputed from the program's multipliers, so the bracket holds
    whatever the solver's tolerance. Stops once upper <= lower (1 + `tolerance`); after
    `max_iterations` programs it returns the bracket reached by then.

    At K = 20, D = 3 it takes some ten programs and well under a second. Costs that grow fastest:
    an arm with n arms of S* above it has C(n + D - 1, D - 1) ways out if scales do not depend on
    the arm; if they do, a search that is exponential in n in the worst case.

    Ties: if an arm of S* is weakly dominated, an arbitrarily small change drops it, and no
    algorithm is ever sure. Then T* is infinite and the weights are uniform.

    Two arms, one objective: F(w) = w_1 w_2 gap^2/2, so T* = 8/gap^2 at equal weights.

    >>> time, weights = characteristic_time([[0.0], [2.0]])
    >>> round(time, 5), np.round(weights, 3)
    (2.0, array([0.5, 0.5]))
    """
    mu = as_means(means)
    K, D = mu.shape
    s = as_scale(scale, K, D)
    if s.min() < s.max() * TIE:
        raise ValueError(
            f"scale ranges from {s.min()} to {s.max()}, too far apart for floating point. "
            f"Express each objective in units near its own standard deviation."
        )
    tolerance = check_positive(
        tolerance, name="tolerance", why="it is the relative width of the bracket on T*."
    )
    check_count(max_iterations, name="max_iterations", why="each step solves a linear program.")
    # Powers of two change no digit, so no tie appears or disappears.
    unit_mu, unit_s = _power_of_two(np.abs(mu).max()), _power_of_two(s.max())
    mu, s = mu / unit_mu, s / unit_s
    if gaps(mu).min() <= TIE:
        return CharacteristicTime(math.inf, np.full(K, 1 / K), math.inf, 0)
    w, best, bound, iterations = _cutting_planes(_Alternatives(mu, s**2), tolerance, max_iterations)
    unit = unit_s / unit_mu
    return CharacteristicTime(unit * unit / best, w, unit * unit / bound, iterations)


def characteristic_lower_bound(means: Any, delta: float, scale: Any = 1.0) -> float:
    r"""Samples that every delta-correct algorithm needs in expectation: T* kl(delta, 1 - delta).

    Uses the lower end of the certified bracket on T*. Infinite on ties. Zero for delta >= 1/2:
    there kl no longer bounds what telling two instances apart costs.

    With gap 2, T* = 2 and kl(0.1, 0.9) = 0.8 log 9 = 1.75778:

    >>> round(characteristic_lower_bound([[0.0], [2.0]], delta=0.1), 4)
    3.5156
    """
    delta = check_delta(delta)  # before T*, which may take a while
    return characteristic_time(means, scale).samples(delta)


def kl_bernoulli(p: float, q: float) -> float:
    r"""kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0; may be infinite.

    >>> kl_bernoulli(0.5, 0.5), kl_bernoulli(0.0, 0.5) == math.log(2), kl_bernoulli(0.5, 1.0)
    (0.0, True, inf)
    """
    for name, value in (("p", p), ("q", q)):
        check_between(
            value, 0, 1, name=name, closed=True,
            why="it is the success probability of a Bernoulli variable.",
        )  # fmt: skip
    total = 0.0
    for x, y in ((float(p), float(q)), (1 - float(p), 1 - float(q))):
        if x > 0:
            total += x * math.log(x / y) if y > 0 else math.inf
    return max(total, 0.0)


class _Alternatives:
    """The nearest instances with another Pareto set, as planes.

    `planes(w)` gives the costs (m,) and the planes (m, K) of the cheapest alternatives at weights
    w, one for each drop (i, j) and one for each arm to be lifted: cost = plane @ w with
    plane_a = sum_d (lambda_a^d - mu_a^d)^2 / (2 s_ad^2).
    """

    def __init__(self, mu: FloatArray, variance: FloatArray) -> None:
        strict = domination(mu)
        optimal = np.asarray(~strict.any(axis=1))
        self.mu, self.variance = mu, variance
        self.i, self.j = np.nonzero(np.outer(optimal, optimal) & ~np.eye(len(mu), dtype=bool))
        self.above = np.maximum(mu[self.i] - mu[self.j], 0.0) ** 2  # (mu_i^d - mu_j^d)_+^2
        self.lifts = [
            _Lift(int(i), np.flatnonzero(strict[i] & optimal), mu, variance)
            for i in np.flatnonzero(~optimal)
        ]

    def planes(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Costs (m,) and planes (m, K) at weights w, all positive."""
        i, j, var = self.i, self.j, self.variance
        # Arms i and j meet where i is above: i comes down by the share
        # (s_i^2/w_i) / (s_i^2/w_i + s_j^2/w_j) of the way and j goes up by the rest.
        pull_i, pull_j = var[i] * w[j, None], var[j] * w[i, None]
        share = pull_i / (pull_i + pull_j)
        planes = np.zeros((len(i) + len(self.lifts), len(w)))
        rows = np.arange(len(i))
        planes[rows, i] = (self.above * share**2 / (2 * var[i])).sum(axis=1)
        planes[rows, j] = (self.above * (1 - share) ** 2 / (2 * var[j])).sum(axis=1)
        for row, lift in enumerate(self.lifts, start=len(i)):
            planes[row] = lift.plane(w)
        return planes @ w, planes


class _Lift:
    r"""Arm i lifted out from under the arms of S* that strictly dominate it.

    It must match each such arm j in some objective u_j. For a fixed assignment u the cost splits
    by objective: with x the height to which arm i is raised there,

    .. math:: \min_x \frac{w_i}{2 s_{id}^2} (x - \mu_i^d)^2
              + \sum_{j : u_j = d} \frac{w_j}{2 s_{jd}^2} (\mu_j^d - x)_+^2 .

    The derivative is piecewise linear and increasing; its root is the largest of the weighted
    means of mu_i^d with the k highest mu_j^d, k = 0, 1, ... (water-filling).
    """

    def __init__(self, i: int, arms: IntArray, mu: FloatArray, variance: FloatArray) -> None:
        self.i, self.mu_i, self.var_i = i, mu[i], variance[i]
        reach = ((mu[arms] - mu[i]) / np.sqrt(variance[arms])).min(axis=1)
        self.arms = arms[np.argsort(-reach, kind="stable")]  # the hardest first: bounds bite early
        self.mu, self.var = mu[self.arms], variance[self.arms]
        self.order = np.argsort(-self.mu, axis=0, kind="stable")  # highest first, per objective
        common = bool((self.var == self.var[0]).all())
        self.cells = _cells(self.mu / np.sqrt(self.var)) if common else None

    def plane(self, w: FloatArray) -> FloatArray:
        """(K,) the plane of the cheapest way to lift arm i at weights w."""
        u = self._search(w) if self.cells is None else self.cells
        cost, x = self._heights(u, w)
        best = int(cost.argmin())
        u, x = u[best], x[best]
        j = np.arange(len(u))
        plane = np.zeros(len(w))
        plane[self.i] = (x**2 / (2 * self.var_i)).sum()
        fall = np.maximum(self.mu[j, u] - self.mu_i[u] - x[u], 0.0)
        plane[self.arms] = fall**2 / (2 * self.var[j, u])
        return plane

    def _heights(self, u: IntArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Costs (N,) and rises x - mu_i (N, D) of assignments u (N, n) of the first n arms."""
        n = u.shape[1]
        cost = np.zeros(len(u))
        rises = np.empty((len(u), len(self.mu_i)))
        for d, m in enumerate(self.mu_i):
            order = self.order[:, d]
            order = order[order < n]
            a = w[self.i] / self.var_i[d]
            b = np.where(u[:, order] == d, w[self.arms[order]] / self.var[order, d], 0.0)
            height = self.mu[order, d] - m
            x = (np.cumsum(b * height, axis=1) / (a + np.cumsum(b, axis=1))).max(axis=1)
            fall = np.maximum(height - x[:, None], 0.0)
            cost += (a * x**2 + (b * fall**2).sum(axis=1)) / 2
            rises[:, d] = x
        return cost, rises

    def _search(self, w: FloatArray) -> IntArray:
        """The assignments that may be cheapest at w, by bounds: for scales of each arm's own.

        A part of an assignment costs no more than the whole, so it is discarded once it costs
        more than the assignment that a greedy choice finds.
        """
        D = len(self.mu_i)
        start = np.zeros((1, 0), dtype=np.int64)
        u = start
        for _ in self.arms:
            u = _extend(u, D)
            u = u[[int(self._heights(u, w)[0].argmin())]]
        most = float(self._heights(u, w)[0][0]) * (1 + SLACK)
        u = start
        for _ in self.arms:
            u = _extend(u, D)
            u = u[self._heights(u, w)[0] <= most]
        return u


def _extend(u: IntArray, D: int) -> IntArray:
    """Each assignment in u (N, n) with each choice for one more arm: (N D, n + 1)."""
    return np.column_stack([np.repeat(u, D, axis=0), np.tile(np.arange(D), len(u))])


def _cells(m: FloatArray) -> IntArray:
    r"""The assignments (N, n) that can be cheapest when scales do not depend on the arm.

    `m` (n, D) holds mu_j/s. At the best heights x, with y = x/s, u_j is where j has least to
    fall, argmin_d (m_j^d - y_d). So u minimises sum_j (m_j^{u_j} - y_{u_j}), hence
    sum_j m_j^{u_j} among all assignments with the same number of arms per objective; conversely,
    by duality of the transport problem, each such minimiser has a y. Up to ties that is one
    assignment for each way to write n as an ordered sum of D counts: C(n + D - 1, D - 1) of the
    D^n. With scales of each arm's own the argmin is taken in other units for each j, and more
    assignments occur: all four of two arms and two objectives instead of three.

    Grown arm by arm: u is possible if and only if the constraints
    y_d - y_{u_j} <= m_j^d - m_j^{u_j} have a solution, that is, no negative cycle.
    """
    n, D = m.shape
    u = np.zeros((1, 0), dtype=np.int64)
    most = np.full((1, D, D), np.inf)  # most[c, d]: bound on y_d - y_c
    most[:, np.arange(D), np.arange(D)] = 0.0
    slack = SLACK * float(np.ptp(m))
    for j in range(n):
        u = _extend(u, D)
        most = np.repeat(most, D, axis=0)
        rows, choice = np.arange(len(u)), u[:, -1]
        most[rows, choice] = np.minimum(most[rows, choice], m[j] - m[j, choice][:, None])
        for d in range(D):  # shortest paths through d
            np.minimum(most, most[:, :, [d]] + most[:, [d], :], out=most)
        possible = (np.diagonal(most, axis1=1, axis2=2) >= -slack).all(axis=1)
        u, most = u[possible], most[possible]
    return u


def _cutting_planes(
    problem: _Alternatives, tolerance: float, max_iterations: int
) -> tuple[FloatArray, float, float, int]:
    """(w, F(w), upper bound on max F, programs solved)."""
    from scipy.optimize import linprog

    K = len(problem.mu)
    w = _start(problem)
    cost, planes = problem.planes(w)
    best, bound = float(cost.min()), math.inf
    iteration = 0
    while iteration < max_iterations:
        iteration += 1
        # max t : t <= planes @ (w v) for every plane, w @ v = 1, v >= 0; t in units of `best`,
        # so that t and v are near 1 however small some weights are. Rows of remote alternatives
        # are divided by their `size`.
        table = planes * (w / best)
        size = np.maximum(table.max(axis=1, keepdims=True), 1.0)
        program = linprog(
            np.append(np.zeros(K), -1.0),
            A_ub=np.column_stack([-table / size, 1 / size]),
            b_ub=np.zeros(len(planes)),
            A_eq=np.append(w, 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * K + [(None, None)],
            method="highs",
            options=SOLVER,
        )
        if program.status != 0:
            break
        mixture = np.maximum(-program.ineqlin.marginals, 0.0) / size[:, 0]
        if not mixture.any():
            break
        # For any mixture p of planes, max F <= max_w p @ planes @ w = max_a (p @ planes)_a.
        bound = min(bound, float((mixture @ planes).max() / mixture.sum()))
        if bound <= best * (1 + tolerance):
            break
        target = w * np.maximum(program.x[:K], 0.0)
        target, center = target / target.sum(), w
        for pull in PULLS:
            trial = pull * center + (1 - pull) * target
            cost, new = problem.planes(trial)
            planes = np.concatenate([planes, new[cost < bound]])
            if cost.min() > best:
                best, w = float(cost.min()), trial
    return w, best, bound, iteration


def _start(problem: _Alternatives) -> FloatArray:
    """Weights 1/Delta_a^2, the shape of the paper's bounds."""
    gap = gaps(problem.mu / np.sqrt(problem.variance.mean(axis=0)))
    w = (gap.min() / gap) ** 2
    return np.asarray(w / w.sum())


def _power_of_two(x: float) -> float:
    """The power of two in (x, 2x]; 1 for x = 0."""
    return math.ldexp(1.0, min(math.frexp(x)[1], 1023)) if x > 0 else 1.0
