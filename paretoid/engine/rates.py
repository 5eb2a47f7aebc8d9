"""Intervals on differences of rates, for outcomes 0 or 1: what `BetaBinomial` is to a view.

Other radii are half-widths that counts determine; these bounds depend on the successes. The kernel
is `paretoid.engine.two_rates`, the mathematics `theory/binary.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.bandits import Bandit, MixedBandit, ResampledBandit
from paretoid.engine.levels import Levels
from paretoid.engine.program import Rates
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import BetaBinomial, Radius

#: (successes, counts, lower, upper)
Tables = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def is_binary(bandit: Bandit) -> bool:
    """True: every outcome of every objective is 0 or 1.

    >>> import paretoid as pt
    >>> is_binary(pt.BernoulliBandit([[0.5], [0.2]])), is_binary(pt.GaussianBandit([[0.5], [0.2]]))
    (True, False)
    >>> seen = pt.ResampledBandit([[[0.0], [1.0]], [[1.0], [1.0]]], bounds=(0, 1))
    >>> is_binary(seen)
    True
    """
    if isinstance(bandit, ResampledBandit):
        return bool(np.isin(bandit.data, (0.0, 1.0)).all())
    if isinstance(bandit, MixedBandit):
        return all(kind == "binary" for kind in bandit.kinds)
    return bandit.model == "bernoulli"


def refuse_other_outcomes(radius: BetaBinomial, what: str) -> None:
    """Say why the radius is not proved for the outcomes of `what`."""
    raise ValueError(
        f"{type(radius).__name__} needs outcomes 0 or 1 in every objective, and those of {what} "
        f"are others: it mixes Bernoulli likelihoods, which are no martingale there. Use "
        f"Mixture(), with a sub-Gaussian scale, or UnknownScale() for Gaussian outcomes."
    )


def rates_of(radius: Radius, sign: FloatArray, K: int) -> Rates:
    """What kernels read of a radius on rates, oriented and read-only; of others nothing.

    >>> import paretoid as pt
    >>> radius = pt.BetaBinomial(rho=10.0, planned=[[0.2], [0.5]], trust=1.0)
    >>> rates_of(radius, np.array([-1.0]), 2).ones.ravel()    # few are wanted: zeros are successes
    array([8., 5.])
    """
    D = len(sign)
    rates = Rates(np.zeros(0), np.zeros((0, D)), np.zeros((0, D)), np.asarray(sign) < 0)
    if isinstance(radius, BetaBinomial):
        ones, zeros = radius.planned_draws(K, D)
        flipped = rates.flipped
        rates = Rates(
            radius.weights(K), np.where(flipped, zeros, ones), np.where(flipped, ones, zeros),
            flipped,
        )  # fmt: skip
    for table in rates:
        table.setflags(write=False)
    return rates


class RateBounds:
    """Bounds on m_i - m_j of all pairs, computed anew where an arm has changed since the last time.

    radius, levels   say the prior and log(1/alpha) of each bound
    sign             (D,) -1 where an objective is minimised: its successes are the zeros

    They are a function of the samples alone: the last ones only save time.

    >>> import paretoid as pt
    >>> radius = pt.BetaBinomial()
    >>> bounds = RateBounds(radius, Levels.of(radius, 2, 1, 0.1), np.array([1.0]))
    >>> lower, upper = bounds.of(np.array([[0.3], [0.06]]), np.full((2, 1), 100.0))
    >>> bool(0 < lower[0, 1, 0] < 0.24 < upper[0, 1, 0] < 1)
    True
    >>> bool(lower[0, 1, 0] == -upper[1, 0, 0])    # one pair: both from one event
    True
    """

    def __init__(self, radius: BetaBinomial, levels: Levels, sign: FloatArray) -> None:
        K, D = len(levels.keep), len(levels.objective)
        self._rates = rates_of(radius, sign, K)
        # C is 2 log(1/alpha), lowered by roles
        self._keep = (levels.keep[:, None] + levels.objective[None, :]) / 2
        self._drop = (levels.drop[:, None] + levels.rival[None, :]) / 2
        self._radius, self._sign = radius, sign
        self._flipped = np.where(self._rates.flipped, 1.0, 0.0)
        nothing, one = np.zeros((K, D)), np.ones((K, K, D))
        self._last: Tables = nothing, nothing, -one, one

    def check(self, outcome: FloatArray, bandit: Bandit) -> None:
        """Refuse an outcome, (D,) and oriented, that is neither 0 nor 1."""
        if (outcome * (outcome - self._sign)).any():
            refuse_other_outcomes(self._radius, f"{type(bandit).__name__}, such as {outcome},")

    def of(self, means: Any, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(lower, upper), (K, K, D), from means, oriented, and counts, (K, D) each; not to change.

        With no outcome of an arm nothing is known but that rates lie between 0 and 1. A rule that
        imagines outcomes which are on their way may ask for successes that are no whole numbers;
        nothing is concluded from such bounds.
        """
        from paretoid.engine.two_rates import fill_bounds

        successes = (means + self._flipped) * counts  # minimised outcomes are 0 or -1
        whole = np.rint(successes)
        successes = np.where(np.abs(successes - whole) < 1e-3, whole, successes)
        if ((successes < 0) | (successes > counts)).any():
            raise ValueError(
                f"means of {means.min()} to {means.max()} cannot come from outcomes 0 or 1, and "
                f"BetaBinomial is proved for those only. Use Mixture(), with a scale."
            )
        before_s, before_n, lower, upper = self._last
        changed = (successes != before_s) | (counts != before_n)
        if changed.any():
            lower, upper = lower.copy(), upper.copy()
            fill_bounds(
                successes, counts, self._rates.rho, self._rates.ones, self._rates.zeros,
                self._keep, self._drop, changed, lower, upper,
            )  # fmt: skip
            self._last = successes, counts.copy(), lower, upper
        return lower, upper
