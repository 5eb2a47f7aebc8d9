"""Is it a rule? Arms that exist, a budget that is kept, runs that repeat."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop
from paretoid.bandits import Bandit
from paretoid.goals import Goal, ParetoSet
from paretoid.rules import Rule
from paretoid.runs.chunk import generator, rule_generator
from paretoid.runs.setting import Setting
from paretoid.theory.member import worth
from paretoid.theory.radii import Mixture, Radius
from paretoid.validation.conformance.member import MemberTests, problems
from paretoid.validation.delta_correct import delta_correctness, engine
from paretoid.validation.equality import assert_engine_equals_loop


class RuleTests(MemberTests):
    """Point `member` at a `Rule`; `goals` are those it serves, `objectives` how many.

    >>> from paretoid.rules import RoundRobin
    >>> class TestMine(RuleTests):
    ...     member = RoundRobin()
    >>> TestMine().test_a_budget_is_kept()
    >>> TestMine().radius
    Mixture(rho=30.0, union='claims', sides='one')
    >>> TestMine().runs(problems()[0], max_samples=9).sizes["arm"]
    3
    """

    goals: ClassVar[list[Goal]] = [ParetoSet(0.1)]
    objectives: ClassVar[int] = 2

    @property
    def radius(self) -> Radius:
        """The radius that it runs with when none is given."""
        return self.member.default_radius or Mixture()

    def runs(self, bandit: Bandit, **options: Any) -> Any:
        """`simulate` with this rule."""
        return pt.simulate(bandit, self.goals, rule=self.member, **options)

    def test_it_is_a_rule(self) -> None:
        """It is derived from Rule and says which arms."""
        assert isinstance(self.member, Rule)
        assert type(self.member).choose is not Rule.choose

    @pytest.mark.parametrize("at", range(4))
    def test_it_names_arms_that_exist_each_once(self, at: int) -> None:
        """Through two hundred tests on small problems, ties included."""
        bandit = problems(self.objectives)[at]
        setting = Setting(bandit, tuple(self.goals), self.member, self.radius, 0.01, 400)
        outcomes = loop.outcomes_from(bandit, generator(at, (0,)))
        history = loop.run(setting, outcomes, rule_generator(at, (0,)))
        assert history.arms
        assert set(history.arms) <= set(range(bandit.K))

    def test_a_budget_is_kept(self) -> None:
        """No run draws more than it may, and one that ran out is censored, not wrong."""
        for budget in (1, 2, 5, 17, 60):
            runs = self.runs(problems(self.objectives)[1], replications=3, max_samples=budget)
            assert (runs.stopping_time <= budget).all()
            assert (runs.stopping_time == runs.pulls.sum("arm")).all()
            assert not runs.answer.where(~runs.stopped, False).any()

    def test_a_run_repeats_whatever_the_number_of_workers(self) -> None:
        """The same seed gives the same run; another replication another one."""
        bandit = problems(self.objectives)[0]
        options = {"replications": 4, "seed": 5, "max_samples": 300}
        first = self.runs(bandit, **options)
        with ThreadPoolExecutor(2) as pool:
            assert self.runs(bandit, executor=pool, **options).identical(first)
        assert self.runs(bandit, **options).identical(first)

    def test_it_does_not_need_to_see_names_or_truth(self) -> None:
        """Renamed arms are sampled like the old ones."""
        bandit = problems(self.objectives)[0]
        named = pt.GaussianBandit(bandit.means, bandit.scale, arms=["x", "y", "z"])
        options = {"replications": 2, "seed": 5, "max_samples": 300}
        one, other = self.runs(bandit, **options), self.runs(named, **options)
        assert (one.pulls.values == other.pulls.values).all()

    def test_compiled_and_readable_loops_agree(self) -> None:
        """If the rule has a compiled loop, both loops take the same arms on the same noise."""
        for at, bandit in enumerate(problems(self.objectives)):
            setting = Setting(bandit, tuple(self.goals), self.member, self.radius, 0.2, 300)
            if not setting.compiled:
                return
            noise = np.empty((300, bandit.noise_width))
            bandit.fill(generator(at, (0,)), noise)
            assert_engine_equals_loop(setting, noise, [11, 50])

    def test_a_live_trial_asks_for_the_arms_of_the_simulation(self) -> None:
        """Asked and told one at a time, an Explorer takes the simulation's arms: rng aside."""
        bandit = problems(self.objectives)[0]
        trial = pt.Explorer(
            bandit.arms, bandit.objectives, self.goals, 0.2, scale=bandit.scale, rule=self.member,
            radius=self.radius,
        )  # fmt: skip
        rng = np.random.default_rng(1)
        for _ in range(40):
            if all(answer is not None for answer in trial.answers.values()):
                break
            allocation = trial.ask()
            trial.tell(allocation, bandit.sample(allocation.arm, 1, rng)[0])
        trial.verify()
        assert trial.replay().arms == trial._fresh().arms

    def test_it_is_right_if_it_says_so(self) -> None:
        """A proved rule errs with probability delta at most; caught once in 10^6 by chance."""
        if worth(self.member) != "proved":
            pytest.skip("it promises nothing")
        for goal in self.goals:
            verdict = delta_correctness(
                engine(goal, rule=self.member, max_samples=4_000),
                problems(self.objectives)[0], delta=0.3, goal=goal, max_runs=20,
            )  # fmt: skip
            assert not verdict.rejected, verdict.summary()
