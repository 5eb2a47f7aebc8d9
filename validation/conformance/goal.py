"""Is it a goal? Verdicts that last, answers that are masks, and never a wrong one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop
from paretoid.bandits import GaussianBandit
from paretoid.goals import Goal
from paretoid.goals.base import as_answer
from paretoid.runs.setting import Setting
from paretoid.theory.member import worth
from paretoid.theory.radii import Mixture
from paretoid.units import Units
from paretoid.validation.conformance.member import MemberTests, problems
from paretoid.validation.delta_correct import delta_correctness, engine
from paretoid.view import Samples, Standing, View


class GoalTests(MemberTests):
    """Point `member` at a `Goal`; `objectives` is how many it is about.

    >>> from paretoid.goals import AtMost
    >>> class TestMine(GoalTests):
    ...     member = AtMost(1)
    >>> TestMine().test_verdicts_are_true_or_false_and_last()
    >>> view, means = TestMine().view(np.random.default_rng(1))
    >>> view.difference.shape == (*means.shape[:1], *means.shape)
    True
    """

    objectives: ClassVar[int] = 2

    def test_it_is_a_goal(self) -> None:
        """It is derived from Goal and says what is right and when to stop."""
        assert isinstance(self.member, Goal)
        assert type(self.member).is_correct is not Goal.is_correct
        assert type(self.member).decide is not Goal.decide

    def test_verdicts_are_true_or_false_and_last(self) -> None:
        """Each answer to small problems is judged twice, with one verdict."""
        rng = np.random.default_rng(1)
        for _ in range(20):
            means = rng.integers(0, 4, (3, self.objectives)) / 2  # ties are common
            for answer in np.ndindex(2, 2, 2):
                mask = np.array(answer, dtype=bool)
                verdict = self.member.is_correct(mask, means)
                assert type(verdict) in (bool, np.bool_)
                assert self.member.is_correct(mask.copy(), means.copy()) == verdict

    def test_some_answer_is_right(self) -> None:
        """A goal that no answer reaches would run for ever."""
        rng = np.random.default_rng(2)
        for _ in range(20):
            means = rng.normal(size=(4, self.objectives))
            answers = (np.array(a, dtype=bool) for a in np.ndindex(2, 2, 2, 2))
            assert any(self.member.is_correct(answer, means) for answer in answers)

    def test_relabelling_arms_relabels_what_is_right(self) -> None:
        """No arm is privileged: arms and answer in another order get the same verdict."""
        rng = np.random.default_rng(3)
        for _ in range(20):
            means, order = rng.normal(size=(4, self.objectives)), rng.permutation(4)
            mask = rng.random(4) < 0.5
            verdict = self.member.is_correct(mask, means)
            assert self.member.is_correct(mask[order], means[order]) == verdict

    def view(self, rng: np.random.Generator, wrong: float = 0.0) -> tuple[View, Any]:
        """(view, means): intervals of random width around the truth that all hold, or do not."""
        K, D = int(rng.integers(2, 6)), self.objectives
        means = rng.integers(0, 5, (K, D)) / 2 + rng.normal(size=(K, D)) * rng.choice([0.0, 0.1])
        bandit = GaussianBandit(means)
        truth = means[:, None] - means[None]
        width = rng.exponential(rng.choice([0.05, 0.5]), (K, K, D))
        width = (width + width.transpose(1, 0, 2)) / 2
        error = rng.uniform(-1, 1, (K, K, D)) * width
        error = (error - error.transpose(1, 0, 2)) / 2  # smaller than the width, and antisymmetric
        keep, drop = width * rng.uniform(1, 1.5), width * rng.uniform(1, 1.5)
        eps1 = np.broadcast_to(np.asarray(self.member.eps1, dtype=float), (D,)).copy()
        counts = np.full((K, D), 10.0)
        return View(
            bandit.arms, bandit.objectives, 10 * K, Samples(counts, means, counts), np.ones(D),
            eps1, truth + error + wrong * width, keep, drop, None, Standing.begin(K), {}, False,
        ), means  # fmt: skip

    def test_it_decides_with_masks_and_the_same_every_time(self) -> None:
        """A decision is a (K,) mask of booleans, or None."""
        rng = np.random.default_rng(4)
        for _ in range(200):
            view, _ = self.view(rng)
            if self._fits(view.K):
                answer = self.member.decide(view)
                if answer is not None:
                    as_answer(answer, view.K)
                    assert (self.member.decide(view) == answer).all()

    def test_no_answer_is_wrong_while_all_intervals_hold(self) -> None:
        """The correctness lemma, on three thousand random moments; no statistics involved."""
        if worth(self.member) != "proved":
            pytest.skip("it promises nothing")
        rng, answered = np.random.default_rng(5), 0
        for _ in range(3000):
            view, means = self.view(rng)
            if self._fits(view.K):
                answer = self.member.decide(view)
                answered += answer is not None
                assert answer is None or self.member.is_correct(answer, means), (means, answer)
        assert answered > 100, "it hardly ever decided, so hardly anything was tested"

    def _fits(self, K: int) -> bool:
        try:
            self.member.check(K, self.objectives)
        except ValueError:
            return False
        return True

    def test_it_stops_once_the_means_are_known(self) -> None:
        """With a million samples of each arm, well apart, a decision is there, and right."""
        bandit = problems(self.objectives)[0]
        setting = Setting(bandit, (self.member,), pt.APE(), Mixture(), 0.1, 10)
        counts = np.full((bandit.K, bandit.D), 1e6)
        view = loop.lens_of(setting).view(Samples(counts, bandit.oriented, counts), 3_000_000)
        answer = self.member.decide(view)
        assert answer is not None
        assert self.member.is_correct(answer, bandit.oriented)

    def test_it_speaks(self) -> None:
        """words() is a phrase for reports, label() one for legends; units are told to both."""
        units = Units(tuple(f"objective {d}" for d in range(self.objectives)))
        for phrase in (self.member.words(), self.member.words(units), self.member.label(),
                       self.member.label(units)):  # fmt: skip
            assert isinstance(phrase, str)
            assert phrase.strip()
        assert " at 0x" not in str(self.member)

    def test_gaps_have_one_number_for_each_arm(self) -> None:
        """Gaps are in units of the divisor, and none is negative."""
        bandit = problems(self.objectives)[0]
        gaps = self.member.gaps(bandit.oriented, np.ones(bandit.D))
        assert np.shape(gaps) == (bandit.K,)
        assert (np.asarray(gaps) >= 0).all()

    def test_it_is_right_if_it_says_so(self) -> None:
        """A proved goal is answered wrongly with probability delta at most; 10^-6 by chance."""
        if worth(self.member) != "proved":
            pytest.skip("it promises nothing")
        verdict = delta_correctness(
            engine(self.member, max_samples=4_000), problems(self.objectives)[0], delta=0.3,
            goal=self.member, max_runs=20,
        )  # fmt: skip
        assert not verdict.rejected, verdict.summary()
