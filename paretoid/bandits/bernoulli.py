"""Outcomes 0 or 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretoid.bandits.base import Bandit, Law
from paretoid.theory.checks import FloatArray, as_means


class BernoulliBandit(Bandit):
    """Outcomes 0 or 1, independent between objectives; sub-Gaussian with scale 1/2.

    >>> BernoulliBandit([[0.2, 0.7], [0.4, 0.1]]).scale[0]
    array([0.5, 0.5])
    """

    model = "bernoulli"

    def __init__(
        self,
        means: Any,
        *,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        table = as_means(means)
        if ((table < 0) | (table > 1)).any():
            i, d = np.argwhere((table < 0) | (table > 1))[0]
            raise ValueError(
                f"means[{i}, {d}]={table[i, d]} must lie in [0, 1]: it is the probability of a "
                f"success. For other outcomes use GaussianBandit or ResampledBandit."
            )
        super().__init__(table, 0.5, arms, objectives, minimize)

    def law(self) -> Law:
        """The location is the probability of success, the spread what a success is worth."""
        return Law.threshold(self.means, np.tile(self.sign, (self.K, 1)))

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D): 1 where the noise, uniform on [0, 1), is below the arm's mean, else 0."""
        return np.where(noise < self.means[arm], 1.0, 0.0)
