"""Which theorem speaks about a setting."""

from dataclasses import replace

import numpy as np
import pytest

import paretoid as pt
from paretoid import theory
from paretoid.bounds import NAMES, Problem, exact_gaussian, sample_bounds, setting_bounds
from paretoid.estimation.instances import PlannedBandit
from paretoid.registry import goal_of, radius_of

MEANS = [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]]
PLAIN = pt.GaussianBandit(MEANS)
PLANNED = PlannedBandit(MEANS, 2.0, 3.0)
JOINT = pt.GaussianBandit(MEANS, covariance=[[1.0, 0.5], [0.5, 1.0]])
UPPER = {"sharp_bound", "theorem_1"}


def test_lower_bounds_are_about_the_outcomes_and_upper_ones_about_the_stated_scale():
    found = sample_bounds(PLANNED)
    assert found["characteristic"] == theory.characteristic_lower_bound(MEANS, 0.1, 2.0)
    assert found["lower_bound"] == theory.lower_bound(MEANS, 0.1, 3, scale=2.0)
    assert found["theorem_1"] == theory.theorem_1(MEANS, 0.1, scale=3.0)
    assert found["sharp_bound"] == theory.sample_bound(MEANS, 0.1, pt.Mixture(), scale=3.0)
    assert found["expected_lucb1"] == theory.expected_samples_lucb1(MEANS, 0.1, scale=3.0)
    assert set(found) == {*NAMES, "sharp_bound_pairs"}


@pytest.mark.parametrize("bandit", [PLAIN, pt.load_instance("covboost")])
@pytest.mark.parametrize("goal", [pt.ParetoSet(), pt.AtMost(1), pt.AtMost(2)])
@pytest.mark.parametrize(
    "radius",
    [
        pt.Mixture(), pt.Mixture(union="pairs"), pt.Mixture(union="none"),
        pt.Mixture(shares=pt.Shares(arms=(0.5, 0.25, 0.25))),
        pt.KaufmannKoolen(union="claims"), pt.KaufmannKoolen("approximate", "none"),
    ],
)  # fmt: skip
def test_what_comes_first_is_proved_with_probability_1_minus_delta(bandit, goal, radius):
    """Only a bound that leaves less than 1 - delta may come last; union='pairs' leaves 1 - delta"""
    if getattr(radius, "shares", None) is not None and bandit.K > 3:
        pytest.skip("shares of three arms")
    found = sample_bounds(bandit, goal, 0.1, radius)
    first = next(iter(found.values()))
    assert first.probability == pytest.approx(0.9, abs=1e-12)
    weaker = found["sharp_bound"].probability < 0.9 - 1e-9
    assert (list(found)[-1] == "sharp_bound") == weaker
    if weaker and getattr(radius, "calibration", "exact") == "exact":
        plain = {"shares": None} if isinstance(radius, pt.Mixture) else {}
        pairs = replace(radius, union="pairs", **plain)
        k = goal.k if isinstance(goal, pt.AtMost) else None
        known = (bandit.oriented, 0.1, pairs, 0.0, k, bandit.scale)
        assert next(iter(found)) == "sharp_bound_pairs"
        assert first == theory.sample_bound(*known)


def test_means_and_scale_say_all_of_a_plain_gaussian_bandit_alone():
    assert exact_gaussian(PLAIN)
    coins = pt.BernoulliBandit(np.abs(MEANS))
    assert not any(map(exact_gaussian, (PLANNED, JOINT, coins)))
    for other in (PLANNED, JOINT):  # a campaign keeps the scale, and not how outcomes are drawn
        assert pt.Campaign([PLAIN, other], replications=1).describe()["outcomes"] == "gaussian"


@pytest.mark.parametrize(
    ("bandit", "goal", "radius", "said", "names"),
    [
        (PLAIN, pt.ParetoSet(), pt.Mixture(), {}, UPPER),
        (PLAIN, pt.ParetoSet(), None, {}, {"theorem_1"}),
        (PLAIN, pt.ParetoSet(), pt.LUCB1Like(), {}, {"theorem_1"}),
        (PLAIN, pt.Cover(eps2=0.5), pt.LUCB1Like(), {"proved": True},
         {"theorem_1", "expected_lucb1"}),
        (PLAIN, pt.AtMost(2), pt.Mixture(), {"proved": True}, UPPER | {"lower_bound"}),
        (PLAIN, pt.ParetoSet((0.0, 0.1)), pt.Mixture(), {"proved": True}, UPPER),
        (JOINT, pt.ParetoSet(), pt.Mixture(), {"proved": True}, UPPER),
        (PLAIN, pt.ParetoSet(), pt.Mixture(), {"proved": True, "rule": "APE(pull='both')"},
         {"characteristic", "lower_bound"}),
        (PLAIN, pt.ParetoSet(), pt.Mixture(), {"proved": True, "names": ["theorem_1"]},
         {"theorem_1"}),
    ],
)  # fmt: skip
def test_a_bound_is_given_where_its_theorem_speaks(bandit, goal, radius, said, names):
    assert set(setting_bounds(Problem.of(bandit), goal, 0.1, radius, **said)) == names


@pytest.mark.parametrize(
    "text",
    [
        "ParetoSet", "ParetoSet:eps1=1", "AtMost(2)", "AtMost()", "ParetoSet(eps1=word)",
        "ParetoSet(eps3=1)", "paretoset()", "Mixture", "Mixture(rho=-1.0)", "print(1)",
        "Mixture(rho=print(1))", "Mixture(rho=np.float64(3.0))", "APE()", "", "(", ")",
    ],
)  # fmt: skip
def test_what_no_result_prints_is_neither_a_goal_nor_a_radius(text):
    assert goal_of(text) is None
    assert radius_of(text) is None


def test_a_goal_is_no_radius_and_a_radius_no_goal():
    for goal in (pt.Cover((0.0, 1.0), (0.25, 0.5)), pt.AtMost(2, (1.0,))):
        assert goal_of(repr(goal)) == goal
        assert radius_of(repr(goal)) is None
    for radius in (pt.Mixture(3.0), pt.ArmMixture(), pt.KaufmannKoolen("approximate")):
        assert radius_of(repr(radius)) == radius
        assert goal_of(repr(radius)) is None
