"""Radii under adversarial sampling. Seeds are fixed; how often a correct radius fails is said."""

import numpy as np
import pytest

import paretoid as pt
from paretoid.validation import coverage
from paretoid.validation.radius_coverage import RULES, _claims

FRONT = [[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0], [-2.0, -1.5]]
UNEQUAL = np.array([[1.0, 100.0], [0.01, 1.0], [10.0, 0.1], [1.0, 3.0]])
SMALL = {"replications": 300, "horizon": 300}


@pytest.mark.parametrize(
    ("radius", "setting"),
    [
        (pt.Mixture(), {}),
        (pt.Mixture(5.0), {"scale": [[1.0], [100.0]]}),
        (pt.Mixture(), {"outcomes": "bernoulli", "means": [[0.5], [0.5]]}),
        (pt.Mixture(), {"means": FRONT}),
        (pt.Mixture(union="pairs"), {"means": FRONT}),
        (pt.KaufmannKoolen(), {}),
        (pt.KaufmannKoolen(union="claims"), {"means": FRONT}),
        (pt.LUCB1Like(), {}),
        (pt.UnknownScale(), {"scale": [[1.0], [100.0]]}),
        (pt.UnknownScale(), {"means": FRONT, "scale": UNEQUAL}),
    ],
)
def test_every_proved_radius_keeps_its_level(radius, setting):
    result = coverage(radius, **setting, **SMALL)
    assert result.guarantee == "proved"
    # A radius exactly at its level fails this once in 10^6 seeds.
    assert result.holds(1e-6)
    # These radii are far inside: failures beyond delta would be a surprise, not a fluctuation.
    assert result.worst <= result.delta


def test_a_radius_divided_by_two_is_found_out():
    assert not coverage(pt.Mixture(), shrink=2.0, **SMALL).holds(1e-6)


def test_without_a_union_bound_many_intervals_fail():
    means = np.concatenate([np.eye(4) * 3, -np.arange(1, 5)[:, None] * np.ones((4, 4))])
    result = coverage(
        pt.Mixture(union="none"), means=means, rules=["alternate"], replications=300, horizon=800
    )
    assert result.guarantee == "heuristic"
    assert result.worst > 0.15  # delta is 0.1
    assert not result.holds(1e-6)


def test_claims_fail_no_more_often_than_intervals():
    result = coverage(pt.Mixture(), means=FRONT, delta=0.5, **SMALL)
    assert result.event == "claims"
    assert all(a <= b for a, b in zip(result.failures, result.interval_failures, strict=True))
    assert max(result.interval_failures) > 0


def test_claims_of_three_arms_are_those_of_the_proof():
    # Arms 0, 1 optimal; arm 2 is dominated, by most by arm 0.
    keep, drop = _claims(np.array([[2.0, 1.0], [0.0, 3.0], [0.5, 0.0]]))
    assert np.argwhere(keep).tolist() == [[2, 0, 0], [2, 0, 1]]
    assert np.argwhere(drop).tolist() == [[0, 1, 0], [0, 2, 0], [1, 0, 1], [1, 2, 1]]


def test_for_one_pair_claims_are_all_intervals():
    assert coverage(pt.Mixture(), replications=20, horizon=50).event == "all intervals"


def test_a_rule_gives_the_same_figures_alone_and_in_company():
    small = {"replications": 50, "horizon": 100, "shrink": 2.0, "seed": 3}
    together = coverage(pt.Mixture(), **small)
    assert together == coverage(pt.Mixture(), **small)
    for rule, failures in zip(RULES, together.failures, strict=True):
        assert coverage(pt.Mixture(), rules=[rule], **small).failures == (failures,)


def test_the_summary_names_radius_worst_rule_and_level():
    text = coverage(pt.Mixture(), replications=50, horizon=60).summary()
    assert "Mixture(rho=30.0, union='claims', sides='one') (proved), K=2, D=1" in text
    assert "against delta=0.1" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radius": 1}, "must be a radius"),
        ({"outcomes": "poisson"}, "must be one of"),
        ({"outcomes": "bernoulli", "means": [[2.0], [0.0]]}, "probabilities"),
        ({"outcomes": "bernoulli", "radius": pt.UnknownScale()}, "Gaussian outcomes alone"),
        ({"replications": 0}, "replications=0"),
        ({"horizon": 1}, "horizon=1"),
        ({"rules": []}, "rules is empty"),
        ({"rules": ["greedy"]}, "must be one of"),
        ({"shrink": 0}, "shrink=0"),
        ({"scale": -1}, "scale=-1"),
        ({"delta": 0}, "delta=0"),
    ],
)
def test_bad_arguments_are_refused_in_sentences(change, words):
    arguments = {"radius": pt.Mixture(), **change}
    with pytest.raises(ValueError, match=words):
        coverage(arguments.pop("radius"), **arguments)
