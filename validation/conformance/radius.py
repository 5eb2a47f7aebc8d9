"""Is it a radius? The common form, its monotonicity, and the coverage it promises."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from paretoid.engine.columns import Columns
from paretoid.engine.levels import Levels
from paretoid.goals import AtMost, ParetoSet
from paretoid.rules import APE
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.theory.checks import FloatArray
from paretoid.theory.member import worth
from paretoid.theory.radii import PairwiseRadius, RoleTerms
from paretoid.validation.conformance.member import MemberTests, problems
from paretoid.validation.equality import assert_engine_equals_loop
from paretoid.validation.radius_coverage import coverage

_COUNTS = np.unique(np.geomspace(1, 1e7, 200).round())


class RadiusTests(MemberTests):
    """Point `member` at a `PairwiseRadius`; `sizes` are the (K, D) it serves, the first of K = 2.

    >>> from paretoid.theory.radii import Mixture
    >>> class TestMine(RadiusTests):
    ...     member = Mixture(rho=10.0)
    >>> TestMine().test_v_never_grows_with_the_count()
    >>> TestMine().terms(2, 1)[0].shape == TestMine().terms(2, 1)[1].shape
    True
    """

    sizes: ClassVar[list[tuple[int, int]]] = [(2, 1), (3, 2), (6, 3)]

    def terms(self, K: int, D: int) -> tuple[FloatArray, FloatArray]:
        """(l, v) by count, one row for each arm; of v for each objective too, if it says so."""
        l, v = self.member.arm_terms(np.tile(_COUNTS, (K, 1)), K, D, 0.1)
        l, v = np.asarray(l, dtype=float), np.asarray(v, dtype=float)
        return l, np.concatenate(np.moveaxis(v, -1, 0)) if self.member.by_objective else v

    def test_it_is_of_the_common_form(self) -> None:
        """Engines read constants and arm_terms alone, so nothing else may make a difference."""
        assert isinstance(self.member, PairwiseRadius)
        assert type(self.member).half_width is PairwiseRadius.half_width

    def test_terms_have_the_shape_of_the_counts(self) -> None:
        """One l and one v for each count, whatever shape these have; v by objective if it says."""
        for K, D in self.sizes:
            last = (D,) if self.member.by_objective else ()
            for counts in (np.ones((K, 1)), np.full((K, 7), 50.0), np.full((K, D), 9.0)):
                l, v = self.member.arm_terms(counts, K, D, 0.1)
                assert np.shape(l) == counts.shape
                assert np.shape(v) == counts.shape + last
            if not self.member.by_arm:
                l, v = self.member.arm_terms(np.float64(30.0), K, D, 0.1)
                assert (np.shape(l), np.shape(v)) == ((), last)

    def test_terms_are_numbers_and_v_is_not_negative(self) -> None:
        """v may be infinite at small counts, and only there."""
        for K, D in self.sizes:
            l, v = self.terms(K, D)
            assert np.isfinite(l).all()
            assert not np.isnan(v).any()
            assert (v >= 0).all()
            assert np.isfinite(v[:, -1]).all(), "it never becomes finite"

    def test_v_never_grows_with_the_count(self) -> None:
        """More samples never know less."""
        for K, D in self.sizes:
            _, v = self.terms(K, D)
            with np.errstate(invalid="ignore"):
                assert not (v[:, 1:] > v[:, :-1] * (1 + 1e-9)).any()

    def test_l_is_monotone_in_the_count(self) -> None:
        """Beyond 65,536 samples engines take the larger l of the two ends of a step."""
        for K, D in self.sizes:
            steps = np.diff(self.terms(K, D)[0], axis=1)
            assert (steps >= -1e-9).all() or (steps <= 1e-9).all()

    def test_a_smaller_delta_is_wider(self) -> None:
        """The constants grow as delta falls; what stands under the root is never negative."""
        for K, D in self.sizes:
            levels = [Levels.of(self.member, K, D, delta) for delta in (0.2, 0.1, 0.01)]
            for wide, narrow in zip(levels[1:], levels, strict=False):
                assert (wide.keep >= narrow.keep).all()
                assert (wide.drop >= narrow.drop).all()
            for delta, level in zip((0.2, 0.1, 0.01), levels, strict=True):
                level.check(self.member, Columns(self.member, K, D, delta))

    def test_roles_have_one_number_for_each_arm_and_objective(self) -> None:
        """None, or tables of K, D, K and K numbers."""
        for K, D in self.sizes:
            roles = self.member.role_terms(K, D, 0.1)
            if roles is not None:
                assert isinstance(roles, RoleTerms)
                assert (
                    roles.keep_arm.shape == roles.drop_arm.shape == roles.drop_rival.shape == (K,)
                )
                assert roles.keep_objective.shape == (D,)

    def test_the_first_count_is_the_first_with_a_finite_radius(self) -> None:
        """Arms are sampled until then, and no longer, before the first decision."""
        for K, D in self.sizes:
            first = np.broadcast_to(self.member.first_count(K, D, 0.1), (K,))
            n = np.tile(np.arange(1.0, first.max() + 1), (K, 1))
            _, v = self.member.arm_terms(n, K, D, 0.1)
            v = np.max(v, axis=-1) if self.member.by_objective else v
            for arm, count in enumerate(first):
                assert np.isfinite(v[arm, count - 1])
                assert not np.isfinite(v[arm, : count - 1]).any()

    def test_it_gives_the_same_numbers_every_time(self) -> None:
        """Counts in another order get the numbers they had."""
        K, D = self.sizes[-1]
        l, v = self.terms(K, D)
        some = _COUNTS[[3, 1, 100]]
        again_l, again_v = self.member.arm_terms(np.tile(some, (K, 1)), K, D, 0.1)
        if self.member.by_objective:
            again_v = np.concatenate(np.moveaxis(again_v, -1, 0))
        np.testing.assert_array_equal(again_l, l[:, [3, 1, 100]])
        np.testing.assert_array_equal(again_v, v[:, [3, 1, 100]])

    @pytest.mark.parametrize("at", range(4))
    def test_compiled_and_readable_loops_agree(self, at: int) -> None:
        """They take the same arms, on a problem with ties and on three without."""
        bandit = problems()[at]
        if (~self.member.known(bandit.D) & ~bandit.gaussian).any():
            pytest.skip("it is for Gaussian outcomes")
        goals = (ParetoSet(), AtMost(1))
        setting = Setting(bandit, goals, APE(), self.member, 0.3, 400)
        noise = np.empty((400, bandit.noise_width))
        bandit.fill(generator(at, (0,)), noise)
        assert_engine_equals_loop(setting, noise, [100, 101])

    @pytest.mark.parametrize("case", ["pair", "front", "unequal"])
    def test_it_covers_if_it_says_so(self, case: str) -> None:
        """Against adversarial sampling; a proved radius fails once in 10^6 seeds at most."""
        if worth(self.member) != "proved":
            pytest.skip("it promises nothing")
        front = [[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0], [-2.0, -1.5]]
        single = np.zeros((2, self.sizes[0][1]))
        options: dict[str, Any] = {"means": single if case == "pair" else front}
        if case == "unequal":
            options["scale"] = [[1.0, 3.0], [0.1, 1.0], [1.0, 0.1], [3.0, 1.0]]
        K, D = np.shape(options["means"])
        first = int(np.broadcast_to(self.member.first_count(K, D, 0.1), (K,)).sum())
        result = coverage(self.member, **options, replications=200, horizon=first + 150, seed=1)
        assert result.holds(1e-6), result.summary()
