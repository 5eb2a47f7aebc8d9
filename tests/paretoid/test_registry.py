"""Members as text and as plain data, and back, without losing a digit."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import registry

TINY = 5e-324  # the smallest number above 0, a subnormal one

slack = st.floats(0, 1.7e308)
slacks = slack | st.lists(slack, min_size=1, max_size=4)
positive = st.floats(TINY, 1.7e308, allow_subnormal=True)
precision = st.floats(1e-12, 1e12)
rho = precision | st.lists(precision, min_size=1, max_size=4)
one_or_two = st.sampled_from(["one", "two"])


@st.composite
def parts_of_one(draw):
    """Positive shares that sum to 1, or nothing."""
    weights = draw(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5))
    total = math.fsum(weights)
    return draw(st.sampled_from([None, [weight / total for weight in weights]]))


shares = st.none() | st.builds(pt.Shares, parts_of_one(), parts_of_one(), parts_of_one())


def mixtures(kind, **more):
    claims = st.builds(kind, rho=rho, sides=one_or_two, shares=shares, **more)
    return claims | st.builds(kind, rho=rho, union=st.sampled_from(["pairs", "none"]), **more)


shape = st.floats(0, 1, exclude_min=True, exclude_max=True)
limits = st.none() | st.dictionaries(
    st.sampled_from(["toxicity", "cost"]),
    st.builds(pt.at_most, st.floats(-1e300, 1e300), slack=st.floats(0, 1e300)),
    min_size=1,
)
MEMBERS = {
    "goal": {
        pt.ParetoSet: st.builds(pt.ParetoSet, slacks, limits=limits),
        pt.Cover: st.builds(pt.Cover, slacks, slacks),
        pt.AtMost: st.builds(pt.AtMost, st.integers(1, 2**63 - 1), slacks),
        pt.PracticalSet: st.builds(pt.PracticalSet, slack),
    },
    "radius": {
        pt.Mixture: mixtures(pt.Mixture),
        pt.UnknownScale: mixtures(pt.UnknownScale, w=shape, a=positive),
        pt.KaufmannKoolen: st.builds(
            pt.KaufmannKoolen,
            st.sampled_from(["exact", "approximate"]),
            union=st.sampled_from(["claims", "pairs", "none"]),
        ),
        pt.BetaBinomial: st.builds(pt.BetaBinomial, rho=rho, shares=shares)
        | st.builds(pt.BetaBinomial, union=st.sampled_from(["pairs", "none"]))
        | st.builds(
            pt.BetaBinomial,
            planned=st.lists(st.lists(shape, min_size=2, max_size=2), min_size=2, max_size=3),
            trust=st.none() | st.floats(1e-3, 10.0),
        ),
        pt.MixedScale: st.builds(
            pt.MixedScale,
            st.sampled_from([("known", "unknown"), ("unknown", "known", "unknown")]),
            st.one_of(precision, st.lists(precision, min_size=2, max_size=3)),
        ),
        pt.LUCB1Like: st.just(pt.LUCB1Like()),
        pt.ArmMixture: st.builds(pt.ArmMixture, precision),
        pt.IteratedLogarithm: st.just(pt.IteratedLogarithm()),
    },
    "rule": {
        pt.APE: st.builds(pt.APE, st.sampled_from(["less sampled", "both"])),
        pt.UniformElimination: st.just(pt.UniformElimination()),
        pt.RoundRobin: st.just(pt.RoundRobin()),
        pt.EGE: st.builds(pt.EGE, st.sampled_from(["SR", "SH"]), st.integers(3, 2**63 - 1)),
        pt.TopTwo: st.builds(pt.TopTwo, shape),
        pt.Tracking: st.just(pt.Tracking()),
        pt.PosteriorSampling: st.just(pt.PosteriorSampling()),
        pt.LUCB: st.just(pt.LUCB()),
        pt.LUCBpp: st.just(pt.LUCBpp()),
        pt.UGapEc: st.just(pt.UGapEc()),
    },
}
CASES = [(what, kind) for what, kinds in MEMBERS.items() for kind in kinds]
any_member = st.one_of(
    st.tuples(st.just(what), member) for what, kinds in MEMBERS.items() for member in kinds.values()
)


def test_every_member_of_the_registry_is_made_above():
    assert set(MEMBERS["goal"]) == set(registry.GOALS.values())
    assert set(MEMBERS["radius"]) == set(registry.RADII.values())
    assert set(MEMBERS["rule"]) == set(registry.RULES.values())


@given(case=any_member)
@example(case=("radius", pt.Mixture(rho=[1e-12, 1e12, 0.1])))
@example(case=("radius", pt.Mixture(shares=pt.Shares([1 / 3, 2 / 3], None, [0.1, 0.9]))))
@example(case=("radius", pt.UnknownScale(rho=1 / 3, w=TINY, a=1e300)))
@example(case=("goal", pt.AtMost(2, (1e-7, 123456.7890123456))))
@settings(deadline=None, max_examples=400)
def test_text_and_plain_data_are_read_back_without_loss(case):
    what, member = case
    again = registry.parse(registry.text(member), what)
    assert type(again) is type(member)
    assert again == member
    assert registry.text(again) == registry.text(member)  # each digit, each tuple
    plain = json.loads(json.dumps(registry.to_dict(member)))
    restored = registry.from_dict(plain, what)
    assert restored == member
    assert registry.text(restored) == registry.text(member)
    stored = registry.from_dict(plain, what, stored=True)  # what is written is not guessed again
    assert registry.text(stored) == registry.text(member)


@given(goal=st.one_of(*MEMBERS["goal"].values()))
@settings(deadline=None, max_examples=200)
def test_the_label_of_a_goal_in_a_dataset_is_read_back_without_loss(goal):
    assert registry.goal_of(str(goal)) == goal


@given(radius=st.one_of(*MEMBERS["radius"].values()))
@settings(deadline=None, max_examples=200)
def test_a_radius_as_results_print_it_is_read_back_without_loss(radius):
    assert registry.radius_of(registry.text(radius)) == radius


@pytest.mark.parametrize(("what", "kind"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_capitals_and_hyphens_do_not_matter(what, kind):
    name = kind.__name__
    assert registry.type_of(name.lower(), what) is kind
    assert registry.type_of("-".join(name), what) is kind
