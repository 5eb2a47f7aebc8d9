"""Tracking: sample in the proportions that would be best if the estimates were the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.rules.base import Rule
from paretoid.theory.characteristic_time import characteristic_time
from paretoid.theory.checks import FloatArray

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class Tracking(Rule):
    """Follow w*, the weights of the characteristic time, recomputed as the estimates change.

    The arm furthest behind t w* is next; an arm below sqrt(t) - K/2 samples goes before
    [garivier2016, D-tracking]. w* is that of `theory.characteristic_time` at the estimates, for
    exact identification and independent Gaussian objectives of the common scale, computed again
    whenever the samples have grown by a tenth. The idea is that of the track-and-stop algorithms
    for Pareto fronts (Crepon, Garivier and Koolen 2024), whose threshold is another: here the
    radius decides, and the guarantee is its.

    >>> Tracking()
    Tracking()
    """

    guarantee = "proved"

    @property
    def in_rounds(self) -> bool:
        """False: one arm is sampled before the next test."""
        return False

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """The arm furthest behind, or one that is hardly sampled at all."""
        memory, counts = view.memory, view.counts
        if view.time >= memory.get("next", 0):
            memory["weights"] = _weights(view.means / view.unit)
            memory["next"] = view.time + max(1, view.time // 10)
        if counts.min() < np.sqrt(view.time) - view.K / 2:
            return [int(np.argmin(counts))]
        return [int(np.argmax(view.time * np.array(memory["weights"]) - counts))]


def _weights(means: FloatArray) -> list[float]:
    """w* at these means, to a hundredth of its value."""
    found: list[float] = characteristic_time(
        means, tolerance=0.01, max_iterations=30
    ).weights.tolist()
    return found
