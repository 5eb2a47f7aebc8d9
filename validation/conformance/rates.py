"""Is it a radius on rates? Bounds from successes, and the coverage they promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretoid.bandits import BernoulliBandit, GaussianBandit
from paretoid.engine.build import check_radius
from paretoid.engine.levels import Levels
from paretoid.engine.rates import RateBounds
from paretoid.theory.member import worth
from paretoid.validation.conformance.member import MemberTests

DELTA = 0.1


def false_alarms(
    radius: Any, m: float, *, runs: int = 150, horizon: int = 300, seed: int = 1
) -> int:
    """Runs in which an interval of two arms of rate m ever leaves out their difference, 0.

    An adversary goes on with an arm while its outcomes move the estimated difference away from 0,
    and else draws the arm that was drawn less: runs of bad luck are followed up.

    >>> from paretoid.theory.radii import BetaBinomial
    >>> false_alarms(BetaBinomial(), 0.1, runs=2, horizon=5)
    0
    """
    levels = Levels.of(radius, 2, 1, DELTA)
    wrong = 0
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        bounds = RateBounds(radius, levels, np.ones(1))
        counts, successes = np.zeros((2, 1)), np.zeros((2, 1))
        arm, apart = 0, 0.0
        for outcome in (rng.random(horizon) < m).tolist():
            counts[arm] += 1
            successes[arm] += outcome
            means = successes / np.maximum(counts, 1)
            lower, upper = bounds.of(means, counts)
            if lower[0, 1, 0] > 0 or upper[0, 1, 0] < 0:
                wrong += 1
                break
            before, apart = apart, abs(float(means[0, 0] - means[1, 0]))
            if apart <= before or 0 in counts:
                arm = int(counts[1, 0] < counts[0, 0])
    return wrong


class RateTests(MemberTests):
    """Point `member` at a `BetaBinomial`, or at a subclass of it with two weights at most.

    >>> from paretoid.theory.radii import BetaBinomial
    >>> class TestMine(RateTests):
    ...     member = BetaBinomial(rho=10.0)
    >>> TestMine().test_a_smaller_delta_is_wider()
    """

    def bounds(self, delta: float, successes: Any, counts: Any) -> tuple[float, float]:
        """(lower, upper) on the difference of two rates.

        >>> from paretoid.theory.radii import BetaBinomial
        >>> mine = type("Mine", (RateTests,), {"member": BetaBinomial()})()
        >>> lower, upper = mine.bounds(0.1, [0, 90], [100, 100])
        >>> lower < -0.9 < upper < 0
        True
        """
        levels = Levels.of(self.member, 2, 1, delta)
        n = np.array(counts, dtype=float)[:, None]
        means = np.array(successes, dtype=float)[:, None] / np.maximum(n, 1)
        lower, upper = RateBounds(self.member, levels, np.ones(1)).of(means, n)
        return float(lower[0, 1, 0]), float(upper[0, 1, 0])

    def test_nothing_is_known_without_outcomes(self) -> None:
        """Rates lie between 0 and 1, and so do bounds of one arm that was never drawn."""
        assert self.bounds(DELTA, (0, 0), (0, 0)) == (-1.0, 1.0)
        lower, upper = self.bounds(DELTA, (0, 3), (0, 400))
        assert -1 < lower < 0
        assert 0.9 < upper <= 1

    def test_the_estimate_is_between_the_bounds(self) -> None:
        """At every count, for rare and for common events."""
        for s, n in (((0, 0), (1, 1)), ((2, 30), (100, 100)), ((999, 3), (1000, 4))):
            lower, upper = self.bounds(DELTA, s, n)
            assert -1 <= lower < s[0] / n[0] - s[1] / n[1] < upper <= 1

    def test_a_smaller_delta_is_wider(self) -> None:
        """Both bounds move outwards."""
        wide, narrow = (self.bounds(delta, (5, 40), (200, 300)) for delta in (0.01, 0.2))
        assert wide[0] < narrow[0]
        assert wide[1] > narrow[1]

    def test_ten_times_the_outcomes_are_narrower(self) -> None:
        """At the same shares of successes."""
        few, many = (self.bounds(DELTA, (5 * k, 40 * k), (200 * k, 300 * k)) for k in (1.0, 10.0))
        assert few[0] < many[0] < many[1] < few[1]

    def test_success_and_failure_are_exchangeable(self) -> None:
        """1 - m takes the place of m, and the difference changes its sign."""
        lower, upper = self.bounds(DELTA, (5, 40), (200, 300))
        other = self.bounds(DELTA, (195, 260), (200, 300))
        assert math.isclose(lower, -other[1], abs_tol=1e-9)
        assert math.isclose(upper, -other[0], abs_tol=1e-9)

    def test_other_outcomes_are_refused(self) -> None:
        """Gaussian ones are, and it takes those it is proved for."""
        assert check_radius(self.member, BernoulliBandit([[0.1], [0.2]])) is self.member
        with pytest.raises(ValueError, match="needs outcomes 0 or 1"):
            check_radius(self.member, GaussianBandit([[0.1], [0.2]]))

    def test_it_covers_if_it_says_so(self) -> None:
        """Two equal rates, drawn by an adversary: 150 runs, 15 expected to fail at most.

        A correct member fails in 39 or more with probability below 1e-6 (binomial, 0.1).
        """
        if worth(self.member) == "proved":
            assert false_alarms(self.member, 0.3) < 39
