"""`MixedScale`: each objective as in the radius made for it, one union, and its coverage."""

import math

import numpy as np
import pytest

from paretoid import registry
from paretoid.theory import MixedScale, Mixture, Shares, UnknownScale, chi
from paretoid.theory.limits import limit_levels
from paretoid.theory.radii.claims import claim_constants
from paretoid.validation.radius_coverage import coverage

RADIUS = MixedScale(["unknown", "known"])
K, D, DELTA = 5, 2, 0.1


def test_known_objectives_have_the_terms_of_mixture_and_unknown_ones_those_of_their_variance():
    """v by the formula of Section 15, with chi at a level of K streams and not K D."""
    n = np.array([40.0, 400.0, 4e6])
    l, v = RADIUS.arm_terms(n, K, D, DELTA)
    expected_l, expected_v = Mixture().arm_terms(n, K, D, DELTA)
    np.testing.assert_array_equal(l, expected_l)
    np.testing.assert_array_equal(v[:, 1], expected_v)
    bound = chi(n, math.log(K / (0.1 * DELTA)))
    np.testing.assert_allclose(v[:, 0], (n + 30) / n**2 / bound, rtol=1e-14)
    assert (v[:, 0] < UnknownScale().arm_terms(n, K, D, DELTA)[1]).all()  # fewer variances


def test_all_claims_together_spend_one_less_w_of_delta():
    assert RADIUS.constants(K, D, DELTA) == UnknownScale().constants(K, D, DELTA)
    known = claim_constants(K, D, DELTA, "claims", "one", None, 0.9)
    assert RADIUS.constants(K, D, DELTA) == (known.keep, known.drop)
    assert RADIUS.spent == 0.9


def test_levels_and_variances_add_up_to_delta():
    """Two-sided constants are -2 log of a level: summed over claims, with the variances, delta."""
    radius = MixedScale(["unknown", "known", "unknown"], sides="two", w=0.25)
    keep, drop = (math.exp(-C / 2) for C in radius.constants(K, 3, DELTA))
    streams = K * 2 * math.exp(-radius.threshold(K, 3, DELTA))
    assert streams == pytest.approx(0.25 * DELTA)
    assert K * 3 * keep + streams == pytest.approx(DELTA)
    assert K * (K - 1) * drop + streams == pytest.approx(DELTA)


def test_limits_have_their_levels_from_what_claims_may_spend():
    ours = limit_levels(RADIUS, K, D, DELTA, 1)
    theirs = limit_levels(UnknownScale(), K, D, DELTA, 1)
    np.testing.assert_array_equal(ours.keep, theirs.keep)
    np.testing.assert_array_equal(ours.drop, theirs.drop)


def test_it_is_kept_as_text_and_as_plain_data():
    radius = MixedScale(
        ("known", "unknown"), rho=[20.0, 40.0], shares=Shares(arms=[0.75, 0.25]), w=0.2
    )
    assert registry.parse(registry.text(radius), "radius") == radius
    assert registry.from_dict(registry.to_dict(radius), "radius") == radius
    assert radius.with_design(30.0, None).scales == ("known", "unknown")


@pytest.mark.parametrize(
    ("scales", "word"),
    [
        (["known", "known"], "Mixture"), (["unknown"], "UnknownScale"), ("known", "each objective"),
        (["known", "unkown"], "unkown"), ([], "each objective"), (3, "each objective"),
    ],
)  # fmt: skip
def test_scales_that_are_none_are_refused(scales, word):
    with pytest.raises(ValueError, match=word):
        MixedScale(scales)


def test_another_number_of_objectives_is_refused():
    for ask in (RADIUS.known, lambda D: RADIUS.first_count(K, D, DELTA)):
        with pytest.raises(ValueError, match="of 2 objectives"):
            ask(3)


@pytest.mark.parametrize("case", ["pair", "front"])
def test_it_covers_mixed_outcomes_under_adversarial_sampling(case):
    """A Gaussian endpoint, its scale unknown and not the same, beside a correlated 0/1 one.

    A proved radius fails once in 10^6 seeds at most.
    """
    means, scale = [[0.0, 0.3], [0.0, 0.3]], [[1.0, 1.0], [7.0, 1.0]]
    if case == "front":
        means = [[3.0, 0.2], [0.0, 0.5], [-1.0, 0.15], [-2.0, 0.1]]
        scale = [[1.0, 1.0], [0.1, 1.0], [3.0, 1.0], [1.0, 1.0]]
    kinds = ("gaussian", "bernoulli")
    result = coverage(
        RADIUS, means=means, scale=scale, outcomes=kinds, correlation=0.6, replications=200,
        horizon=240, seed=1,
    )  # fmt: skip
    assert result.holds(1e-6), result.summary()
    assert not coverage(
        RADIUS, means=means, scale=scale, outcomes=kinds, correlation=0.6, replications=100,
        horizon=300, shrink=4.0, rules=["chase"],
    ).holds()  # fmt: skip


class _TooNarrow(MixedScale):
    """The mistake: the scale of objective `narrow` is taken for a sixth of it."""

    guarantee = "proved"

    def arm_terms(self, counts, K, D, delta):
        l, v = super().arm_terms(counts, K, D, delta)
        return l, v / np.where(np.arange(D) == self.narrow, 36.0, 1.0)


@pytest.mark.parametrize("objective", [0, 1])
def test_a_scale_that_is_too_small_in_one_objective_is_seen_to_fail(objective):
    """Else the coverage above would say nothing of that objective."""
    wrong = _TooNarrow(["unknown", "known"])
    object.__setattr__(wrong, "narrow", objective)
    result = coverage(
        wrong, means=[[0.0, 0.3]] * 2, outcomes=("gaussian", "bernoulli"), replications=100,
        horizon=300, rules=["chase"], correlation=0.6,
    )  # fmt: skip
    assert not result.holds(), result.summary()


def test_coverage_of_a_learnt_scale_is_refused_where_outcomes_are_not_gaussian():
    with pytest.raises(ValueError, match="learns the scale"):
        coverage(RADIUS, means=[[0.3, 0.0]] * 2, outcomes=("bernoulli", "gaussian"))
