"""What a member of somebody else's may not return: each refusal names its class."""

import numpy as np
import pytest

import paretoid as pt
from paretoid.theory.radii import PairwiseRadius

BANDIT = pt.GaussianBandit([[0.0], [0.05], [0.1]])


class Falling(PairwiseRadius):
    """l is fine at first and falls below -C/2 after 300 samples."""

    guarantee = "heuristic"

    def constants(self, K, D, delta):
        return 16.0, 16.0

    def arm_terms(self, counts, K, D, delta):
        n = np.asarray(counts, dtype=float)
        return np.where(n > 300, -9.0, 0.0), 1 / n


class Told(PairwiseRadius):
    """Returns what it is told to."""

    guarantee = "heuristic"
    given = (16.0, 16.0)
    roles = None

    def constants(self, K, D, delta):
        return self.given

    def role_terms(self, K, D, delta):
        return self.roles

    def arm_terms(self, counts, K, D, delta):
        n = np.asarray(counts, dtype=float)
        return np.zeros_like(n), 1 / n


def test_a_negative_root_is_refused_whenever_it_comes():
    with pytest.raises(ValueError, match=r"C \+ l_i \+ l_j = -2 is negative .* 301 times"):
        pt.simulate(BANDIT, pt.ParetoSet(), radius=Falling(), replications=1, max_samples=3000)


@pytest.mark.parametrize("given", [3.0, None, "ab", (1.0, 2.0, 3.0), np.ones((2, 2))])
def test_constants_that_are_no_pair_are_refused(given):
    radius = Told()
    radius.given = given
    with pytest.raises(ValueError, match=r"Told\.constants must return two numbers"):
        pt.simulate(BANDIT, pt.ParetoSet(), radius=radius, replications=1, max_samples=10)


def test_roles_that_are_none_are_refused():
    radius = Told()
    radius.roles = 7
    with pytest.raises(ValueError, match=r"Told\.role_terms must return RoleTerms"):
        pt.simulate(BANDIT, pt.ParetoSet(), radius=radius, replications=1, max_samples=10)
    radius.roles = pt.theory.radii.RoleTerms.zero(4, 1)
    with pytest.raises(ValueError, match=r"keep_arm of shape \(4,\); it must be \(3,\)"):
        pt.simulate(BANDIT, pt.ParetoSet(), radius=radius, replications=1, max_samples=10)


class Settling(pt.APE):
    """Concludes what it is told to."""

    guarantee = "heuristic"
    given = None

    def settle(self, view):
        return self.given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "settle returned None"),
        (([7], {}), "about arm 7"),
        (([0], {0: 1}), "about arm 0"),
        (([], {1: 9}), "about arm 9"),
    ],
)
def test_conclusions_that_cannot_be_are_refused(given, said):
    rule = Settling()
    rule.__dict__["given"] = given
    with pytest.raises(ValueError, match=f"Settling.*{said}"):
        pt.simulate(BANDIT, pt.ParetoSet(), rule=rule, replications=1, max_samples=100)


class Judging(pt.APE):
    """Answers with the wrong shape itself."""

    guarantee = "heuristic"

    def judge(self, view, goal):
        return [True]


def test_a_wrong_answer_of_the_rule_s_own_is_not_blamed_on_the_goal():
    with pytest.raises(ValueError, match=r"Judging\.judge"):
        pt.simulate(BANDIT, pt.ParetoSet(), rule=Judging(), replications=1, max_samples=100)
