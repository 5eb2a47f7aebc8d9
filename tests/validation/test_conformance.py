"""Our own members pass the tests that authors of others are given; bad ones do not."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt
from paretoid import registry
from paretoid.validation.conformance import (
    BanditTests,
    GoalTests,
    RadiusTests,
    RateTests,
    RuleTests,
)
from paretoid.validation.conformance import goal as goal_module

RADII = [
    pt.Mixture(),
    pt.Mixture(rho=5.0, union="pairs"),
    pt.Mixture(union="none"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen(union="claims"),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(a=1.0),
    pt.UnknownScale(w=0.3, union="pairs"),
]
RATE_RADII = [pt.BetaBinomial(), pt.BetaBinomial(rho=(3.0, 100.0), union="pairs")]
MIXED_RADII = [pt.MixedScale(["unknown", "known"])]
GOALS = [pt.ParetoSet(), pt.ParetoSet((0.5, 0.1)), pt.AtMost(1), pt.AtMost(2, 0.3),
         pt.Cover(), pt.Cover(0.2, 0.7), pt.Cover(0.0, (1.0, 0.2)),
         pt.PracticalSet(0.6), pt.PracticalSet((0.5, 1.0), 0.2)]  # fmt: skip
PAIR_RULES = [pt.APE(), pt.APE(pull="both"), pt.RoundRobin(), pt.UniformElimination(),
              pt.TopTwo(), pt.Tracking(), pt.PosteriorSampling()]  # fmt: skip
BUDGET_RULES = [pt.EGE("SR", budget=40), pt.EGE("SH", budget=41)]
BEST_ARM_RULES = [pt.LUCB(), pt.LUCBpp(), pt.UGapEc()]
BANDITS = [
    pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0]], [0.5, 2.0], minimize=["objective 1"]),
    pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0]], covariance=[[1.0, 0.5], [0.5, 2.0]]),
    pt.BernoulliBandit([[0.2, 0.9], [0.5, 0.01]], minimize=["objective 0"]),
    pt.ResampledBandit([[[1.0], [3.0]], [[0.0], [4.0], [2.0]]], bounds=(0, 4)),
    pt.MixedBandit(
        [[0.0, 0.2, 4.0], [1.0, 0.5, 3.0]],
        ["gaussian", "binary", (0, 10)],
        sd=[2.0, 0.0, 3.0],
        correlation=0.6,
        minimize=["objective 1", "objective 2"],
    ),
]


def marked(member):
    """Rules that compute for long, or are much like another one, are tested by --full."""
    slow = isinstance(member, (pt.Tracking, pt.PosteriorSampling, pt.LUCBpp, pt.UGapEc))
    return {"pytestmark": [pytest.mark.slow]} if slow else {}


def classes(base, members, **attributes):
    """A test class for each member, as an author would write it."""
    return {
        f"Test{base.__name__.removesuffix('Tests')}{at}": type(
            f"Test{at}", (base,), {"member": member, **marked(member), **attributes}
        )
        for at, member in enumerate(members)
    }


globals().update(classes(RadiusTests, RADII))
globals().update(classes(RateTests, RATE_RADII))
globals().update({
    f"{name}Mixed": kind
    for name, kind in classes(RadiusTests, MIXED_RADII, sizes=[(2, 2), (6, 2)]).items()
})  # fmt: skip
globals().update(classes(GoalTests, GOALS))
globals().update(classes(RuleTests, [*PAIR_RULES, *BUDGET_RULES]))
globals().update({
    f"{name}BestArm": type(name, (kind,), {"goals": [pt.AtMost(1, 0.1)], "objectives": 1})
    for name, kind in classes(RuleTests, BEST_ARM_RULES).items()
})  # fmt: skip
globals().update(classes(BanditTests, BANDITS))


def test_every_member_of_the_registry_is_in_a_list_above():
    rules = (*PAIR_RULES, *BUDGET_RULES, *BEST_ARM_RULES)
    radii = (*RADII, *RATE_RADII, *MIXED_RADII)
    listed = {type(m) for m in (*radii, *GOALS, *rules, *BANDITS)}
    shipped = {*registry.GOALS.values(), *registry.RULES.values(), *registry.BANDITS.values()}
    pairwise = set(registry.PAIR_RADII.values()) - {pt.LUCB1Like}  # of another form
    assert listed == shipped | pairwise | set(registry.RATE_RADII.values())


def failing(base, member, **attributes):
    """Names of the tests that fail for `member`."""
    suite = type("Suite", (base,), {"member": member, **attributes})
    names = []
    for name in dir(suite):
        if not name.startswith("test_"):
            continue
        marks = getattr(getattr(suite, name), "pytestmark", [])
        cases = [{}]
        for mark in marks:
            cases = [{mark.args[0]: value} for value in mark.args[1]]
        for case in cases:
            try:
                getattr(suite(), name)(**case)
            except pytest.skip.Exception:
                continue
            except Exception:
                names.append(name)
                break
    return names


class Shrunk(pt.Mixture):
    """Says it is proved, with half of the constant."""

    guarantee = "proved"

    def constants(self, K, D, delta):
        return tuple(0.02 * C for C in super().constants(K, D, delta))

    def arm_terms(self, counts, K, D, delta):
        l, v = super().arm_terms(counts, K, D, delta)
        return 0 * l, v


class Growing(pt.Mixture):
    def arm_terms(self, counts, K, D, delta):
        l, v = super().arm_terms(counts, K, D, delta)
        return l, 1 / v


class Changing(pt.Mixture):
    calls = 0

    def arm_terms(self, counts, K, D, delta):
        type(self).calls += 1
        l, v = super().arm_terms(counts, K, D, delta)
        return l, v * (1 + 1e-3 / self.calls)


@pytest.mark.parametrize(
    ("radius", "test"),
    [
        (Shrunk(), "test_it_covers_if_it_says_so"),
        (Growing(), "test_v_never_grows_with_the_count"),
        (Changing(), "test_it_gives_the_same_numbers_every_time"),
    ],
)
def test_a_bad_radius_is_found_out(radius, test):
    assert test in failing(RadiusTests, radius)


class Hasty(pt.ParetoSet):
    """Answers with what looks optimal, and says that is proved."""

    guarantee = "proved"

    def decide(self, view):
        return view.S


class Fickle(pt.ParetoSet):
    calls = 0

    def is_correct(self, answer, means):
        type(self).calls += 1
        return self.calls % 2 == 0


class FirstArm(pt.ParetoSet):
    def is_correct(self, answer, means):
        return bool(answer[0])


@pytest.mark.parametrize(
    ("goal", "test"),
    [
        (Hasty(), "test_no_answer_is_wrong_while_all_intervals_hold"),
        (Fickle(), "test_verdicts_are_true_or_false_and_last"),
        (FirstArm(), "test_relabelling_arms_relabels_what_is_right"),
    ],
)
def test_a_bad_goal_is_found_out(goal, test):
    assert test in failing(GoalTests, goal)


class Nobody(pt.Rule):
    def choose(self, view, rng):
        return []


class Clock(pt.Rule):
    """Takes its chances from elsewhere than rng."""

    stream = np.random.default_rng(1)

    def choose(self, view, rng):
        return [int(self.stream.integers(view.K))]


@pytest.mark.parametrize(
    ("rule", "test"),
    [
        (Nobody(), "test_it_names_arms_that_exist_each_once"),
        (Clock(), "test_a_run_repeats_whatever_the_number_of_workers"),
    ],
)
def test_a_bad_rule_is_found_out(rule, test):
    assert test in failing(RuleTests, rule)


class Shifted(pt.GaussianBandit):
    def draw(self, rng, arm):
        return self.means[arm] + 0.5 + rng.standard_normal(self.D)


class Lawless(pt.GaussianBandit):
    """Its law is not what its outcomes are."""

    def law(self):
        return super().law()._replace(location=self.oriented + 1)


class Blocked(pt.GaussianBandit):
    def fill(self, rng, noise):
        rng.standard_normal(out=noise)
        noise -= noise.mean(axis=0)


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (Shifted, "test_means_are_those_it_states"),
        (Lawless, "test_its_law_draws_what_outcome_draws"),
        (Blocked, "test_blocks_of_noise_make_no_difference"),
    ],
)
def test_a_bad_bandit_is_found_out(kind, test):
    assert test in failing(BanditTests, kind([[0.0], [1.0]]))


def test_random_moments_of_the_goal_tests_hold_and_some_that_should_not_do_not():
    """The intervals are right by construction; shifted ones are not."""
    suite = type("Suite", (GoalTests,), {"member": pt.ParetoSet()})()
    rng = np.random.default_rng(0)
    for wrong, expected in ((0.0, True), (3.0, False)):
        view, means = suite.view(rng, wrong)
        truth = means[:, None] - means[None]
        error = np.abs(view.difference - truth)
        off = ~np.eye(len(means), dtype=bool)
        holds = bool((error <= np.minimum(view.keep, view.drop))[off].all())
        assert holds == expected
    assert goal_module.__doc__
