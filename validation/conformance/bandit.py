"""Is it a bandit? Outcomes of the right shape, means and spread, however noise is blocked."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np

import paretoid as pt
from paretoid import loop
from paretoid.bandits import Bandit
from paretoid.engine.program import new_state
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.setting import Setting
from paretoid.theory.radii import Mixture


class BanditTests:
    """Point `member` at a `Bandit`.

    >>> from paretoid.bandits import BernoulliBandit
    >>> class TestMine(BanditTests):
    ...     member = BernoulliBandit([[0.5], [0.2]])
    >>> TestMine().test_outcomes_are_rows_of_finite_numbers()
    """

    member: ClassVar[Bandit]

    def test_it_is_a_bandit(self) -> None:
        """It is derived from Bandit, with tables of one shape."""
        bandit = self.member
        assert isinstance(bandit, Bandit)
        assert bandit.means.shape == bandit.scale.shape == bandit.oriented.shape
        assert len(bandit.arms) == bandit.K
        assert len(bandit.objectives) == bandit.D

    def test_outcomes_are_rows_of_finite_numbers(self) -> None:
        """One row for each draw, one column for each objective."""
        for arm in range(self.member.K):
            for size in (0, 1, 5):
                x = self.member.sample(arm, size, 1)
                assert x.shape == (size, self.member.D)
                assert np.isfinite(x).all()

    def test_the_same_seed_gives_the_same_outcomes(self) -> None:
        """The same seed twice gives the same outcomes; another seed gives others."""
        x = self.member.sample(0, 40, 3)
        np.testing.assert_array_equal(x, self.member.sample(0, 40, 3))
        assert (x != self.member.sample(0, 40, 4)).any()

    def test_blocks_of_noise_make_no_difference(self) -> None:
        """Two half blocks equal a whole one."""
        if self.member.draws_singly:
            return
        whole, parts = np.empty((2, 20, self.member.noise_width))
        self.member.fill(np.random.default_rng(5), whole)
        rng = np.random.default_rng(5)
        for first, last in ((0, 7), (7, 8), (8, 20)):
            self.member.fill(rng, parts[first:last])
        np.testing.assert_array_equal(whole, parts)

    def test_means_are_those_it_states(self) -> None:
        """Of 4,000 draws, within six standard errors: wrong once in 10^8 for a correct bandit."""
        for arm in range(self.member.K):
            x = self.member.sample(arm, 4000, arm)
            error = np.maximum(x.std(axis=0, ddof=1), 1e-12) / np.sqrt(len(x))
            assert (np.abs(x.mean(axis=0) - self.member.means[arm]) <= 6 * error + 1e-9).all()

    def test_the_spread_does_not_exceed_the_scale_it_states(self) -> None:
        """A sub-Gaussian scale is never below the standard deviation; 10% are for chance."""
        for arm in range(self.member.K):
            x = self.member.sample(arm, 4000, arm)
            assert (x.std(axis=0) <= 1.1 * self.member.scale[arm]).all()

    def test_its_law_draws_what_outcome_draws(self) -> None:
        """Where it says how outcomes come from noise, kernels draw the same, bit for bit."""
        if self.member.compiled_law is None:
            return
        bandit = self.member
        setting = Setting(bandit, (pt.ParetoSet(),), pt.RoundRobin(), Mixture(), 0.1, None)
        engine = Engine(setting)
        state, rounds = new_state(engine.program, 1), 5
        noise = np.empty((rounds * bandit.K, bandit.noise_width))
        bandit.fill(generator(1, (0,)), noise)
        for row in range(len(noise)):
            engine.advance(state, np.zeros(1, np.int64), noise[None, row : row + 1])
        tally = loop.Tally(bandit.K, bandit.D)
        for row, x in enumerate(noise[: int(state.counts.sum())]):
            arm = row % bandit.K
            tally.add(arm, bandit.outcome(arm, x[None])[0] * bandit.sign)
        np.testing.assert_array_equal(state.sums[0].T, tally.sums)

    def test_it_travels_to_other_processes(self) -> None:
        """It is sent by pickle, if its class can be imported; a copy draws the same."""
        if "<locals>" in type(self.member).__qualname__:
            return
        twin = pickle.loads(pickle.dumps(self.member))
        np.testing.assert_array_equal(twin.sample(0, 9, 1), self.member.sample(0, 9, 1))

    def test_it_runs(self) -> None:
        """`simulate` runs it to a budget, twice with the same numbers."""
        runs = pt.simulate(self.member, replications=2, seed=1, max_samples=300)
        assert pt.simulate(self.member, replications=2, seed=1, max_samples=300).identical(runs)
        assert (runs.pulls.sum("arm") == runs.stopping_time).all()
