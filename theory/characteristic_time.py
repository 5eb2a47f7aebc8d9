r"""The characteristic time: what identifying the Pareto set exactly must cost.

For outcomes independent between objectives, every algorithm that names S* with error at most delta
draws in expectation at least T* kl(delta, 1 - delta) samples [garivier2016; the argument for the
best arm uses only that the answer is unique], where

.. math::
    \frac1{T^\star} = \max_{w} F(w), \qquad
    F(w) = \inf_{\lambda : S^\star(\lambda) \ne S^\star(\mu)}
    \sum_a w_a \sum_d \mathrm{KL}_{ad}(\mu_a^d, \lambda_a^d)

over weights w on the simplex. The divergence of one outcome, KL, is (lambda - mu)^2 / (2 s^2) for
Gaussian outcomes and kl(mu, lambda) for outcomes 0 or 1. The latter is larger, far larger near 0
and 1, than that of a Gaussian outcome with s = 1/2, the scale with which such outcomes are
sub-Gaussian: a T* from that scale is no lower bound. Two moves change the set, and nothing else.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.alternatives import Alternatives
from paretoid.theory.checks import (
    FloatArray,
    IntArray,
    as_means,
    check_between,
    check_choice,
    check_count,
    check_delta,
    check_positive,
)
from paretoid.theory.gaps import gaps
from paretoid.theory.units import as_scale

#: what one outcome may be, in the order of `alternatives.divergence`
OUTCOMES = ("gaussian", "bernoulli")

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

    >>> bracket = characteristic_time([[1.0], [0.0]])
    >>> time, weights = bracket
    >>> round(time, 4), np.round(weights, 3)
    (8.0, array([0.5, 0.5]))
    >>> bracket.lower <= bracket.upper <= bracket.lower * (1 + 1e-6)
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
    means: Any,
    scale: Any = 1.0,
    *,
    outcomes: str | Sequence[str] = "gaussian",
    tolerance: float = 1e-6,
    max_iterations: int = 500,
) -> CharacteristicTime:
    r"""T* and w* of exact Pareto set identification, certified.

    means       (K, D), larger is better
    scale       standard deviations of Gaussian outcomes: a scalar, (D,) or (K, D)
    outcomes    "gaussian" or "bernoulli", one word or one per objective. Means of "bernoulli"
                are probabilities, negated where fewer are better; their scale is not read.

    The outcomes of one draw are taken as independent across objectives.

    The cost of an alternative lambda is linear in w, so each one is a plane above the concave F.
    A linear program over the planes found so far bounds 1/T* from above, and F(w) at any w from
    below. The upper bound is recomputed from the program's multipliers, so the bracket holds
    whatever the solver's tolerance. Stops once upper <= lower (1 + `tolerance`); after
    `max_iterations` programs it returns the bracket reached by then.

    At K = 20, D = 3 it takes some ten programs and well under a second. Costs that grow fastest:
    an arm with n arms of S* above it has C(n + D - 1, D - 1) ways out if scales do not depend on
    the arm; if they do, or outcomes are 0 or 1, a search that is exponential in n in the worst
    case.

    Ties: if an arm of S* is weakly dominated, an arbitrarily small change drops it, and no
    algorithm is ever sure. Then T* is infinite and the weights are uniform.

    Two arms, one objective: F(w) = w_1 w_2 gap^2/2, so T* = 8/gap^2 at equal weights.

    >>> time, weights = characteristic_time([[0.0], [2.0]])
    >>> round(time, 5), np.round(weights, 3)
    (2.0, array([0.5, 0.5]))

    Two coins, 1/2 - x and 1/2 + x: equal weights again, they meet at 1/2, and
    1/T* = kl(1/2 - x, 1/2), at x = 1/4 0.1308.

    >>> time, weights = characteristic_time([[0.25], [0.75]], outcomes="bernoulli")
    >>> round(1 / time, 4), np.round(weights, 3)
    (0.1308, array([0.5, 0.5]))
    """
    mu = as_means(means)
    K, D = mu.shape
    side = _sides(outcomes, mu)
    s = np.where(side != 0, 1.0, as_scale(scale, K, D))
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
    unit_mu = unit_s = 1.0
    if not side.any():
        unit_mu, unit_s = _power_of_two(np.abs(mu).max()), _power_of_two(s.max())
    mu, s = mu / unit_mu, s / unit_s
    if gaps(mu).min() <= TIE:
        return CharacteristicTime(math.inf, np.full(K, 1 / K), math.inf, 0)
    alternatives = Alternatives(mu, s**2, side)
    w, best, bound, iterations = _cutting_planes(alternatives, tolerance, max_iterations)
    unit = unit_s / unit_mu
    return CharacteristicTime(unit * unit / best, w, unit * unit / bound, iterations)


def _sides(outcomes: str | Sequence[str], mu: FloatArray) -> IntArray:
    """(D,) what `divergence` asks for: 0 Gaussian, 1 outcomes 0 or 1, -1 such ones negated."""
    D = mu.shape[1]
    words = [outcomes] * D if isinstance(outcomes, str) else list(outcomes)
    if len(words) != D:
        raise ValueError(
            f"outcomes={outcomes!r} names {len(words)} objectives, and means has {D}. Give one "
            f"word for all, or one for each."
        )
    for word in words:
        check_choice(word, OUTCOMES, name="outcomes", why="T* is about outcomes of a known law.")
    side = np.array([OUTCOMES.index(word) for word in words], dtype=np.int64)
    side[(mu < 0).any(axis=0)] *= -1
    wrong = (side != 0) & ~((side * mu >= 0) & (side * mu <= 1)).all(axis=0)
    if wrong.any():
        d = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"means[:, {d}]={mu[:, d].tolist()} must lie in [0, 1], or all in [-1, 0]: they are "
            f"probabilities, negated where fewer successes are better."
        )
    return side


def characteristic_lower_bound(
    means: Any, delta: float, scale: Any = 1.0, *, outcomes: str | Sequence[str] = "gaussian"
) -> float:
    r"""Samples that every delta-correct algorithm needs in expectation: T* kl(delta, 1 - delta).

    Uses the lower end of the certified bracket on T*. Infinite on ties. Zero for delta >= 1/2:
    there kl no longer bounds what telling two instances apart costs.

    With gap 2, T* = 2 and kl(0.1, 0.9) = 0.8 log 9 = 1.75778:

    >>> round(characteristic_lower_bound([[0.0], [2.0]], delta=0.1), 4)
    3.5156
    """
    delta = check_delta(delta)  # before T*, which may take a while
    return characteristic_time(means, scale, outcomes=outcomes).samples(delta)


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


def _cutting_planes(
    problem: Alternatives, tolerance: float, max_iterations: int
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
            cost, new = problem.planes(trial, bound)
            planes = np.concatenate([planes, new[cost < bound]])
            if cost.min() > best:
                best, w = float(cost.min()), trial
    return w, best, bound, iteration


def _start(problem: Alternatives) -> FloatArray:
    """Weights 1/Delta_a^2, the shape of the paper's bounds."""
    gap = gaps(problem.mu / np.sqrt(problem.variance.mean(axis=0)))
    w = (gap.min() / gap) ** 2
    return np.asarray(w / w.sum())


def _power_of_two(x: float) -> float:
    """The power of two in (x, 2x]; 1 for x = 0."""
    return math.ldexp(1.0, min(math.frexp(x)[1], 1023)) if x > 0 else 1.0
