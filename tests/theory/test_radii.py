"""The radii: hand-computed values, refusals, and coverage by simulation."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import lambertw

from paretoid import theory
from paretoid.theory.calibration import levels
from paretoid.theory.one_sided import one_sided_constant
from paretoid.theory.radii import (
    CHI_EXACT,
    KaufmannKoolen,
    LUCB1Like,
    Mixture,
    PairwiseRadius,
    UnknownScale,
    chi,
)
from paretoid.theory.shares import Shares

PAIRWISE = [
    Mixture(),
    Mixture(rho=100.0, union="pairs"),
    KaufmannKoolen(),
    KaufmannKoolen("approximate", union="none"),
    UnknownScale(),
    UnknownScale(union="none"),
]


# --- values by hand -------------------------------------------------------------------------------


def test_mixture_by_hand():
    # K = 2, D = 1: one pair, alpha = 0.1. rho = 1, p = q = 1: l = log 2, v = 2, so
    # beta^2 = (2 log 10 + 2 log 2) * 4 = 8 log 20
    radius = Mixture(rho=1.0)
    assert float(radius.half_width(1, 1, 2, 1, 0.1)) == pytest.approx(math.sqrt(8 * math.log(20)))
    # K = 4, D = 3: keep at 0.1/12, drop at 0.1/12: K D = K (K - 1)
    two = Mixture(rho=1.0, sides="two")
    keep, drop = two.constants(4, 3, 0.1)
    assert keep == drop == pytest.approx(2 * math.log(120))
    # K = 20, D = 3: keep at 0.1/60, drop at 0.1/380
    assert two.constants(20, 3, 0.1) == pytest.approx((2 * math.log(600), 2 * math.log(3800)))
    assert radius.half_width(5, 5, 20, 3, 0.1, drop=True) > radius.half_width(5, 5, 20, 3, 0.1)
    # one-sided: half of the level, and pen by its formula at a = c0 sqrt(2 log(1/(2 alpha)))
    a = 2 * math.sqrt(5) / 6 * math.sqrt(2 * math.log(300))
    Phi = (1 + math.erf(a / math.sqrt(2))) / 2
    r = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) / Phi
    expected = 2 * math.log(300) + 2 * (-math.log(Phi) + 1.38 * r * r)
    assert radius.constants(20, 3, 0.1)[0] == pytest.approx(expected, rel=1e-11)


def test_kaufmann_koolen_by_hand():
    # K1 = 1, delta = 0.1, n = 1: C = x + log x with x = log(10)/2, l = log 4, v = 4
    x = math.log(10) / 2
    expected = math.sqrt((x + math.log(x) + 2 * math.log(4)) * 8)
    radius = KaufmannKoolen("approximate", union="none")
    assert float(radius.half_width(1, 1, 7, 5, 0.1)) == pytest.approx(expected)
    exact = KaufmannKoolen().constants(20, 3, 0.1)
    assert exact == pytest.approx((6.047, 6.047), abs=5e-4)  # C^g at K1 = 570, three decimals


def test_single_arm_by_hand():
    # 5 K D t^4/(2 delta) with K = 4, D = 1, t = 2, delta = 0.1: 5 * 4 * 16/0.2 = 1600
    radius = LUCB1Like()
    assert float(radius.growth(2, 4, 1, 0.1)) == pytest.approx(math.log(1600))
    assert float(radius.half_width(2, 8, 2, 4, 1, 0.1)) == pytest.approx(
        math.sqrt(math.log(1600)) * (1 + 0.5)
    )


def test_unknown_scale_is_the_mixture_with_the_variance_bounded():
    radius = UnknownScale(rho=20.0, w=0.25, union="pairs")
    counts = np.array([40, 300])
    l, v = radius.arm_terms(counts, 5, 2, 0.1)
    known_l, known_v = Mixture(rho=20.0).arm_terms(counts, 5, 2, 0.1)
    threshold = math.log(5 * 2 / (0.25 * 0.1))
    assert radius.threshold(5, 2, 0.1) == pytest.approx(threshold)
    assert l == pytest.approx(known_l)
    assert v == pytest.approx(known_v / chi(counts, threshold))
    assert radius.constants(5, 2, 0.1)[0] == pytest.approx(2 * math.log(20 / (0.75 * 0.1)))


def test_unknown_scale_is_infinite_before_its_first_count():
    radius = UnknownScale()
    first = radius.first_count(20, 3, 0.1)
    _, v = radius.arm_terms([1, first - 1, first], 20, 3, 0.1)
    assert v[:2].tolist() == [math.inf, math.inf]
    assert math.isfinite(v[2])
    assert radius.half_width(first - 1, 1000, 20, 3, 0.1) == math.inf
    # a narrow prior and a tiny delta, to walk past the first counts tried
    slow = UnknownScale(a=1000.0)
    assert slow.first_count(2, 1, 1e-99) > 256
    assert slow.arm_terms(slow.first_count(2, 1, 1e-99) - 1, 2, 1, 1e-99)[1] == math.inf


def test_first_counts_of_two_sided_bounds_are_one_and_of_one_sided_ones_a_quarter_of_rho():
    two = Mixture(sides="two")
    assert two.first_count(20, 3, 0.1) == KaufmannKoolen().first_count(20, 3, 0.1) == 1
    assert Mixture(rho=33.0).first_count(20, 3, 0.1) == 9
    assert Mixture(rho=33.0).first_count(2, 1, 0.1) == 1  # one pair has both sides
    assert Mixture(rho=[4.0, 40.0, 41.0, 0.1]).first_count(4, 3, 0.1).tolist() == [1, 10, 11, 1]
    late = UnknownScale(rho=400.0)
    assert late.first_count(20, 3, 0.1) == 100
    assert np.isinf(late.arm_terms([99.0], 20, 3, 0.1)[1]).all()


def test_few_arms_choose_between_one_sided_claims_and_two_sided_pairs_by_their_sum():
    """Keep and drop together, by K, D and delta alone (PROOFS.md, Section 9)."""
    pairs = {(2, 1): True, (2, 2): False, (2, 3): False, (3, 1): False, (3, 2): False}
    for (K, D), expected in pairs.items():
        for radius in (Mixture(), Mixture(shares=Shares(arms=[1 / K] * K))):
            assert radius.counts_pairs(K, D, 0.1) == expected
            keep, drop = radius.constants(K, D, 0.1)
            level = 2 * math.log(K * (K - 1) * D / 2 / 0.1)
            assert (keep == drop == pytest.approx(level)) == expected
    assert Mixture().counts_pairs(2, 2, 0.7)
    assert not Mixture(shares=Shares(arms=[0.4, 0.6])).counts_pairs(2, 2, 0.7)


def test_uniform_shares_are_the_radius_without_them_bit_for_bit():
    for K, D in ((2, 1), (3, 2), (20, 3)):
        for radius, shared in (
            (kind(), kind(shares=Shares([1 / K] * K, [1 / K] * K, [1 / D] * D)))
            for kind in (Mixture, UnknownScale)
        ):
            assert shared.constants(K, D, 0.1) == radius.constants(K, D, 0.1)
            assert shared.role_terms(K, D, 0.1) is None
    equal = Mixture(rho=[30.0] * 4)
    assert not equal.by_arm
    assert (equal.arm_terms([5.0, 9.0], 4, 2, 0.1)[1] == Mixture().arm_terms(
        [5.0, 9.0], 4, 2, 0.1)[1]).all()  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mixture(sides="both"), "sides='both' must be one of 'one', 'two'"),
        (lambda: Mixture(shares=[0.5, 0.5]), "must be Shares"),
        (lambda: Mixture(union="pairs", shares=Shares([0.5, 0.5])), "belong to union='claims'"),
        (lambda: UnknownScale(union="none", shares=Shares()), "belong to union='claims'"),
        (lambda: Mixture(rho=[1.0, -2.0]), r"rho\[1\]=-2.0"),
        (lambda: Mixture(rho=[[1.0]]), "a number, or one for each arm"),
        (lambda: Mixture(rho=[1.0, 2.0]).arm_terms(np.ones((3, 1)), 3, 2, 0.1), "2 entries and th"),
        (lambda: Mixture(rho=[1.0, 2.0]).arm_terms(5.0, 2, 2, 0.1), "do not say whose they are"),
        (lambda: Mixture(shares=Shares([0.3, 0.7])).constants(3, 2, 0.1), "have length 2"),
    ],
)
def test_what_sides_shares_and_rho_cannot_be_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_guarantees_are_declared():
    assert [r.guarantee for r in PAIRWISE] == ["proved"] * 3 + ["heuristic", "proved", "heuristic"]
    assert KaufmannKoolen("approximate").guarantee == "heuristic"
    assert LUCB1Like().guarantee == "proved"
    assert not UnknownScale.needs_scale
    assert Mixture.needs_scale


# --- shape ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", PAIRWISE)
def test_symmetric_in_the_arms_and_shrinking_in_equal_counts(radius):
    n = np.unique(np.round(np.logspace(0, 7, 300)))
    n = n[n >= radius.first_count(20, 3, 0.1)]
    width = radius.half_width(n, n, 20, 3, 0.1)
    if not radius.needs_scale:
        width = width * np.sqrt(n - 1)  # v is for ss = 1; ss grows as n - 1
    assert (np.diff(width) < 0).all()
    assert radius.half_width(30, 70, 20, 3, 0.1) == radius.half_width(70, 30, 20, 3, 0.1)


@pytest.mark.parametrize("radius", [Mixture(), KaufmannKoolen()])
def test_not_shrinking_while_only_one_arm_is_sampled(radius):
    # The other arm's v stays, and l grows without bound: logarithmically for the mixture.
    one, many = radius.half_width(np.array([10**4, 10**8]), 10, 20, 3, 0.1)
    assert many > one
    few = radius.half_width(10, 10, 20, 3, 0.1)
    assert few > one  # though at first it does shrink


@pytest.mark.parametrize("radius", PAIRWISE)
def test_a_smaller_delta_widens(radius):
    widths = [float(radius.half_width(50, 60, 20, 3, d)) for d in (0.5, 0.1, 0.01, 1e-6)]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4


def test_unions_order_the_radii():
    for make in (Mixture, KaufmannKoolen, UnknownScale):
        none, claims, pairs = (
            float(make(union=u).half_width(500, 500, 20, 3, 0.1))
            for u in ("none", "claims", "pairs")
        )
        assert none < claims < pairs


def test_chi_grows_in_proportion_beyond_its_table():
    at, twice = chi(np.array([CHI_EXACT, 2 * CHI_EXACT]), 9.0)
    assert twice == pytest.approx(2 * at, rel=1e-14)


# --- tuning ---------------------------------------------------------------------------------------


def test_tuned_for_a_count_beats_its_neighbours():
    for samples in (50.0, 5000.0):
        best = Mixture.tuned(20, 3, 0.1, samples=samples, union="pairs")
        alpha = levels(20, 3, 0.1, "pairs")[0]
        u = samples / best.rho + 1
        assert u - math.log(u) == pytest.approx(1 + math.log(1 / alpha), rel=1e-12)
        width = float(best.half_width(samples, samples, 20, 3, 0.1))
        for factor in (0.8, 0.99, 1.01, 1.25):
            other = dataclasses.replace(best, rho=best.rho * factor)
            assert width < float(other.half_width(samples, samples, 20, 3, 0.1))


def test_tuned_for_claims_uses_the_geometric_mean_of_the_levels():
    keep, drop = (float(one_sided_constant(0.1 / count)) for count in (60, 380))
    level = math.exp(-(keep + drop) / 4)
    u = -float(lambertw(-level / math.e, -1).real)
    assert Mixture.tuned(20, 3, 0.1, samples=100).rho == pytest.approx(100 / (u - 1))


def test_tuned_for_a_gap():
    assert Mixture.tuned(20, 3, 0.1, gap=0.5, union="pairs") == Mixture(64.0, "pairs")


@pytest.mark.parametrize("arguments", [{}, {"samples": 10, "gap": 0.1}])
def test_tuned_wants_one_target(arguments):
    with pytest.raises(ValueError, match="exactly one"):
        Mixture.tuned(20, 3, 0.1, **arguments)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mixture(rho=0.0), "rho=0.0"),
        (lambda: Mixture(rho=math.inf), "rho=inf"),
        (lambda: Mixture(union="some"), "union='some'"),
        (lambda: UnknownScale(rho=-1.0), "rho=-1.0"),
        (lambda: UnknownScale(w=0.0), "w=0.0"),
        (lambda: UnknownScale(w=1.0), "w=1.0"),
        (lambda: UnknownScale(a=0.0), "a=0.0"),
        (lambda: UnknownScale(union="all"), "union='all'"),
        (lambda: KaufmannKoolen("rough"), "calibration='rough'"),
        (lambda: KaufmannKoolen(union="all"), "union='all'"),
        (lambda: Mixture.tuned(20, 3, 0.1, gap=0.0), "gap=0.0"),
        (lambda: Mixture.tuned(20, 3, 0.1, samples=-1), "samples=-1"),
        (lambda: chi(10, 0.0), "threshold=0.0"),
        (lambda: chi(0, 1.0), "at least 1"),
        (lambda: chi(10, 1.0, a=-1.0), "a=-1.0"),
        (lambda: UnknownScale(a=1e10).first_count(20, 3, 0.1), "too narrow"),
        (lambda: LUCB1Like().constant(1, 1, 0.1), "K=1"),
        (lambda: LUCB1Like().half_width(0, 1, 1, 2, 1, 0.1), "at least 1"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("radius", PAIRWISE)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 5, 20, 3, 0.1), "at least 1"),
        ((5, math.nan, 20, 3, 0.1), "at least 1"),
        ((5, math.inf, 20, 3, 0.1), "finite"),
        ((5, 5, 1, 3, 0.1), "K=1"),
        ((5, 5, 20, 0, 0.1), "D=0"),
        ((5, 5, 20, 3, 0.0), "delta=0.0"),
        ((5, 5, 20, 3, 1.0), "delta=1.0"),
    ],
)
def test_bad_arguments_are_refused(radius, arguments, message):
    with pytest.raises(ValueError, match=message):
        radius.half_width(*arguments)


def test_the_paper_s_heuristic_is_refused_where_its_root_is_negative():
    radius = KaufmannKoolen("approximate", union="none")
    for delta in (0.9, 0.95, 0.999):
        with pytest.raises(ValueError, match="negative under its root"):
            radius.half_width(10, 10, 5, 2, delta)
    assert np.isfinite(radius.half_width(10, 10, 5, 2, 0.8))
    assert np.isfinite(KaufmannKoolen("exact", union="none").half_width(10, 10, 5, 2, 0.9))


def test_the_base_class_promises_nothing():
    with pytest.raises(NotImplementedError):
        PairwiseRadius().constants(2, 1, 0.1)
    with pytest.raises(NotImplementedError):
        PairwiseRadius().arm_terms(1, 2, 1, 0.1)


# --- coverage -------------------------------------------------------------------------------------

SCALES = np.array([1.0, 5.0])
REPLICATIONS, ROUNDS, DELTA = 4000, 600, 0.1
#: Five standard deviations above delta: a radius that fails with probability exactly delta (ours
#: fail far less) would be blamed once in 3 million seeds.
ALARM = DELTA + 5 * math.sqrt(DELTA * (1 - DELTA) / REPLICATIONS)


def freeze_the_extreme(sums, counts, t):
    """Leave the stream that looks worst alone and move the other one."""
    extreme = np.abs(sums) / (SCALES * np.sqrt(counts))
    return extreme.argmin(axis=1)


def chase_the_difference(sums, counts, t):
    """Sample the arm that is ahead."""
    return (sums / counts).argmax(axis=1)


def take_turns(sums, counts, t):
    return np.full(len(sums), t % 2)


RULES = [freeze_the_extreme, chase_the_difference, take_turns]


def violated(radius, rule, seed=1, shrink=1.0):
    """How often |error| exceeds the radius at some time, for one pair of means 0."""
    rng = np.random.default_rng(seed)
    start = radius.first_count(2, 1, DELTA)
    C = radius.constants(2, 1, DELTA)[0]
    l, v = radius.arm_terms(np.maximum(np.arange(ROUNDS + start + 1), 1), 2, 1, DELTA)
    first = rng.normal(size=(start, REPLICATIONS, 2)) * SCALES
    sums, squares = first.sum(axis=0), (first**2).sum(axis=0)
    counts = np.full((REPLICATIONS, 2), start)
    rows, ever = np.arange(REPLICATIONS), np.zeros(REPLICATIONS, dtype=bool)
    for t in range(ROUNDS):
        means = sums / counts
        variance = SCALES**2 if radius.needs_scale else squares - sums * means
        square = (C + l[counts].sum(axis=1)) * (v[counts] * variance).sum(axis=1)
        ever |= (means[:, 0] - means[:, 1]) ** 2 > shrink**2 * square
        arm = rule(sums, counts, t)
        outcome = rng.normal(size=REPLICATIONS) * SCALES[arm]
        sums[rows, arm] += outcome
        squares[rows, arm] += outcome**2
        counts[rows, arm] += 1
    return ever.mean()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("radius", [Mixture(), UnknownScale()])
def test_adaptive_sampling_keeps_the_promise(radius, rule):
    assert violated(radius, rule) < ALARM


@pytest.mark.parametrize(("radius", "shrink"), [(Mixture(), 0.5), (UnknownScale(), 0.5)])
def test_half_the_radius_does_not(radius, shrink):
    assert max(violated(radius, rule, shrink=shrink) for rule in RULES) > ALARM


def test_the_variance_bound_holds_at_all_counts_together():
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(REPLICATIONS, 800)).astype(np.float64)
    n = np.arange(1, 801)
    ss = np.cumsum(draws**2, axis=1) - np.cumsum(draws, axis=1) ** 2 / n
    bound = chi(n, math.log(1 / DELTA))
    rate = (ss[:, bound > 0] <= bound[bound > 0]).any(axis=1).mean()
    assert 0.2 * DELTA < rate < ALARM  # neither broken nor idle
    bold = chi(n, math.log(1 / (4 * DELTA)))
    assert (ss[:, bold > 0] <= bold[bold > 0]).any(axis=1).mean() > ALARM


def test_intervals_need_the_prefix_of_allocations_when_outcomes_are_late():
    """High outcomes arrive at once and low ones 40 rounds later; both arms have mean 0."""
    rng = np.random.default_rng(3)
    radius, runs, rounds, delay = Mixture(), 1000, 300, 40
    C = radius.constants(2, 1, DELTA)[0]
    l, v = radius.arm_terms(np.maximum(np.arange(rounds + 1), 1), 2, 1, DELTA)
    outcomes = rng.normal(size=(2, runs, rounds))  # stream of each arm, sampled in turn
    times = np.arange(rounds)
    late = np.zeros((2, runs, rounds), dtype=int)
    late[0] = np.where(outcomes[0] < 0, delay, 0)  # arm 0's low values wait
    arrival = times + late
    wrong = {"arrived": np.zeros(runs, dtype=bool), "prefix": np.zeros(runs, dtype=bool)}
    for now in range(20, rounds, 5):
        arrived = arrival <= now
        prefix = np.logical_and.accumulate(arrived, axis=2)
        for name, used in (("arrived", arrived), ("prefix", prefix)):
            counts = used.sum(axis=2)
            some = (counts > 0).all(axis=0)
            means = (outcomes * used).sum(axis=2) / np.maximum(counts, 1)
            square = (C + l[counts].sum(axis=0)) * v[counts].sum(axis=0)
            wrong[name] |= some & ((means[0] - means[1]) ** 2 > square)
    alarm = DELTA + 5 * math.sqrt(DELTA * (1 - DELTA) / runs)
    assert wrong["prefix"].mean() < alarm
    assert wrong["arrived"].mean() > alarm


def test_losses_that_depend_on_another_endpoint_shift_the_mean():
    """y is lost where x < 0: E[y | x > 0] = r sqrt(2/pi) for correlated standard normals."""
    rng, draws, r = np.random.default_rng(6), 20_000, 0.8
    x, noise, chance = rng.standard_normal((3, draws))
    y = r * x + math.sqrt(1 - r * r) * noise
    shift = r * math.sqrt(2 / math.pi)  # 0.638
    assert y[x > 0].mean() == pytest.approx(shift, abs=0.04)  # the standard error is below 0.008
    assert y[chance > 0].mean() == pytest.approx(0, abs=0.05)  # 0.01: lost for other reasons


def test_the_package_exports_the_radii():
    for name in ("KaufmannKoolen", "Mixture", "LUCB1Like", "UnknownScale", "chi"):
        assert name in theory.__all__
