import copy
import math
import pickle

import mpmath as mp
import numpy as np
import pytest

from paretoid import theory
from paretoid.theory import KaufmannKoolen, LUCB1Like, Mixture, UnknownScale

THREE = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])  # gaps 0.5, 2, 0.5; omega 0.5, 2, -0.5
TIED = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


def summand(gap, count, delta):
    return 88 / gap**2 * math.log(count / delta * math.log(12 * math.e / gap))


# ---- Theorem 1 and its relatives


def test_theorem_1_by_hand():
    expected = 2 * summand(0.5, 2 * 3 * 2 * 2, 0.05) + summand(2.0, 24, 0.05)
    bound = theory.theorem_1(THREE, 0.05)
    assert bound == pytest.approx(expected, rel=1e-14)
    np.testing.assert_array_equal(bound.gaps, [0.5, 2.0, 0.5])
    assert bound.probability == 0.95
    assert bound.proved


def test_theorem_1_uses_the_largest_of_the_three_gaps():
    assert theory.theorem_1(THREE, 0.05, eps1=1.0).gaps.tolist() == [1.0, 2.0, 1.0]
    assert theory.theorem_1(THREE, 0.05, k=1).gaps.tolist() == [2.0, 2.0, 2.0]
    assert theory.theorem_1(THREE, 0.05, eps1=3.0, k=1).gaps.tolist() == [3.0, 3.0, 3.0]


def test_the_cover_version_has_no_omega():
    assert theory.cover_bound(THREE, 0.05) == theory.theorem_1(THREE, 0.05)
    assert theory.cover_bound(THREE, 0.05, eps1=1.0) == theory.theorem_1(THREE, 0.05, eps1=1.0)


def test_the_best_arm_versions_by_hand():
    means = [[0.0], [1.0], [0.5], [-1.0]]  # gaps 1, 0.5, 0.5, 2
    gaps = (1.0, 0.5, 0.5, 2.0)
    pairs = theory.best_arm_bound(means, 0.1)
    assert pairs == pytest.approx(sum(summand(g, 2 * 4 * 3, 0.1) for g in gaps), rel=1e-14)
    assert pairs == theory.theorem_1(means, 0.1)
    best = theory.best_arm_bound(means, 0.1, union="best")
    assert best == pytest.approx(sum(summand(g, 2 * 2 * 3, 0.1) for g in gaps), rel=1e-14)


def test_expected_samples_by_hand():
    # H = 4 + 1/4 + 4 = 8.25, c = (5 * 3 * 2 / 0.1)^(1/4)
    H, c = 8.25, (5 * 3 * 2 / (2 * 0.1)) ** 0.25
    closed = theory.expected_samples_lucb1(THREE, 0.1, form="closed")
    printed = (
        64 * math.sqrt(math.e) * H * math.log(5 * 3 * 2 / 0.2)
        + 256 * math.sqrt(math.e) * H * math.log(256 * H)
        + 8 * math.pi**2 / 15
        + 1
    )
    assert closed == pytest.approx(printed, rel=1e-13)
    exact = theory.expected_samples_lucb1(THREE, 0.1)
    T = round(exact - 8 * math.pi**2 / 15)
    assert 256 * H * math.log(c * T) < T
    assert 256 * H * math.log(c * (T - 1)) >= T - 1
    assert exact < closed


# ---- the sharp bound


def mp_width(radius, n, K, D, delta):
    """beta_keep^n + beta_drop^n at the working precision of mpmath, from the definitions."""
    keep, drop = theory.claim_counts(K, D, radius.union)
    n = mp.mpf(n)
    total = mp.mpf(0)
    for count in (keep, drop):
        log = mp.log(count / mp.mpf(delta))
        if isinstance(radius, Mixture):
            rho = mp.mpf(radius.rho)
            square = (2 * log + 2 * mp.log((n + rho) / rho)) * 2 * (n + rho) / n**2
        else:
            square = 4 * (mp_calibration(log / 2) + 2 * mp.log(4 + mp.log(n))) * 2 / n
        total += mp.sqrt(square)
    return total


def mp_calibration(x, memory={}):  # noqa: B006 - a cache
    if x not in memory:
        low, high = mp.mpf("0.500001"), 1 - mp.mpf(10) ** -9

        def value(s):
            g = 2 * s - 2 * s * mp.log(4 * s) + mp.log(mp.zeta(2 * s)) - mp.log(1 - s) / 2
            return (g + x) / s

        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if mp.diff(value, middle) < 0 else (low, middle)
        memory[x] = value(low)
    return memory[x]


@pytest.mark.parametrize("n", [3, 4, 17, 1000, 1_000_003, 987_654_321_987, 10**12])
@pytest.mark.parametrize(
    "radius", [Mixture(sides="two"), Mixture(rho=300.0, union="pairs"), KaufmannKoolen()]
)
def test_samples_to_separate_is_exact_to_the_last_sample(radius, n):
    # A gap half way between the widths at n - 1 and n needs n samples, by definition.
    with mp.workdps(40):
        widths = [mp_width(radius, m, 20, 3, 0.1) for m in (n - 1, n)]
        gap = float((widths[0] + widths[1]) / 2)
    assert theory.samples_to_separate(gap, radius, 20, 3, 0.1) == n


def test_samples_to_separate_by_hand():
    # rho = 1, K = 2, D = 1, delta = 0.1, C = 2 log 10. Twice beta: at n = 2
    # 2 sqrt((4.605 + 2 log 3) * 2 * 3/4) = 6.389, at n = 3 2 sqrt((4.605 + 2 log 4) * 8/9) = 5.122
    radius = Mixture(rho=1.0)
    gaps = [7.0, 6.39, 6.38, 5.13, 5.12]
    assert theory.samples_to_separate(gaps, radius, 2, 1, 0.1).tolist() == [2, 2, 3, 3, 4]


def test_samples_to_separate_is_the_first_count_and_at_least_two():
    radius = KaufmannKoolen()
    for gap in (0.3, 1.0, 5.0):
        n = theory.samples_to_separate(gap, radius, 5, 2, 0.05)
        assert isinstance(n, int)
        assert 2 * radius.half_width(n, n, 5, 2, 0.05) < gap
        assert 2 * radius.half_width(n - 1, n - 1, 5, 2, 0.05) >= gap
    assert theory.samples_to_separate(1e6, radius, 5, 2, 0.05) == 2
    assert theory.samples_to_separate(math.inf, radius, 5, 2, 0.05) == 2


def test_arrays_give_arrays_of_integers_and_zero_gaps_give_infinity():
    counts = theory.samples_to_separate(np.array([[0.5, 1.0]]), Mixture(), 4, 2, 0.1)
    assert counts.shape == (1, 2)
    assert counts.dtype == np.int64
    assert theory.samples_to_separate(0.0, Mixture(), 4, 2, 0.1) == math.inf
    with_zero = theory.samples_to_separate([0.0, 1.0], Mixture(), 4, 2, 0.1)
    assert with_zero[0] == math.inf
    assert with_zero[1] == counts[0, 1]


def test_gaps_beyond_any_experiment_are_infinite_without_a_warning():
    for gap in (1e-12, 1e-150, 5e-324):
        assert theory.samples_to_separate(gap, KaufmannKoolen(), 4, 2, 0.1) == math.inf


def test_a_width_that_rises_before_it_falls_is_inverted_correctly():
    # x + log x without union: at delta = 0.88, C + 2 log 4 = 0.09 and the width rises from n = 1.
    radius = KaufmannKoolen("approximate", union="none")
    n = np.arange(1.0, 300.0)
    width = 2 * radius.half_width(n, n, 2, 1, 0.88)
    assert width[1] > width[0]
    for gap in (0.5, 1.0, 2.0, 2.5, 2.6):
        first = 2 + int(np.argmax(width[1:] < gap))
        assert theory.samples_to_separate(gap, radius, 2, 1, 0.88) == first


def test_the_sharp_bound_is_the_sum_over_arms():
    for radius in (Mixture(), KaufmannKoolen()):
        bound = theory.sample_bound(THREE, 0.1, radius)
        single = theory.samples_to_separate([0.5, 2.0, 0.5], radius, 3, 2, 0.1)
        assert bound == single.sum()
        assert bound.per_arm.tolist() == single.tolist()


def test_the_sharp_bound_covers_partners_with_many_more_samples():
    # One pair 0.001 apart, one arm far below: while the pair is sampled 10^8 times the far arm's
    # radius grows with its partner's count, and n such that beta(n, n) < gap is not enough.
    means = np.array([[0.0], [-0.001], [-0.5], [-1.0]])
    radius = Mixture()
    bound = theory.sample_bound(means, 0.1, radius)
    alone = theory.samples_to_separate(bound.gaps, radius, 4, 1, 0.1)
    assert bound.per_arm[:2].tolist() == alone[:2].tolist()
    assert (bound.per_arm[2:] > alone[2:]).all()
    for n, gap in zip(bound.per_arm, bound.gaps, strict=True):
        partners = np.unique(np.geomspace(n, alone[0], 2000).round())
        width = sum(radius.half_width(n, partners, 4, 1, 0.1, drop=drop) for drop in (False, True))
        assert width.max() < gap


def test_the_result_says_what_claims_do_to_its_probability():
    pairs = theory.sample_bound(THREE, 0.1, Mixture(union="pairs"))
    assert pairs.probability == 0.9
    assert "1 - delta" in pairs.holds
    means = np.vstack([THREE, THREE - 1.0])  # K = 6, D = 2: keep 12, drop 30, pairs 30
    claims = theory.sample_bound(means, 0.1, Mixture(sides="two"))
    assert claims.probability == pytest.approx(1 - 30 / 12 * 0.1)
    assert "not 1 - delta" in claims.holds
    assert claims.proved
    one = theory.sample_bound(means, 0.1, Mixture())  # each of two sides: max(K - 1, D) delta
    assert one.probability == pytest.approx(0.5)
    few = theory.sample_bound(THREE, 0.1, Mixture(sides="two"))  # K <= 3, D <= 2: the pairs
    assert few.probability == 0.9
    assert theory.sample_bound(THREE, 0.1, Mixture()).probability == pytest.approx(0.8)
    none = theory.sample_bound(means, 0.1, Mixture(union="none"))
    assert none.probability == 0.0
    assert not none.proved


def test_radii_that_depend_on_more_than_the_count_are_refused_with_a_reason():
    with pytest.raises(ValueError, match="total number of samples"):
        theory.samples_to_separate(1.0, LUCB1Like(), 2, 1, 0.1)
    with pytest.raises(ValueError, match="variances"):
        theory.sample_bound(THREE, 0.1, UnknownScale())
    with pytest.raises(ValueError, match="Mixture and KaufmannKoolen"):
        theory.sample_bound(THREE, 0.1, "mixture")


DENSE = np.concatenate([np.geomspace(1e-6, 1.0, 300), np.linspace(1.0, 40.0, 4000)])


@pytest.mark.parametrize(("K", "D"), [(2, 1), (2, 2), (3, 1), (5, 2), (20, 3), (300, 10)])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 0.9999])
def test_the_sharp_bound_never_exceeds_the_printed_one(K, D, delta):
    sharp = theory.samples_to_separate(DENSE, KaufmannKoolen(), K, D, delta)
    count = 2 * K * (K - 1) * D
    inner = np.maximum(np.log(12 * math.e / DENSE), 1e-9)
    printed = np.maximum(2, 88 / DENSE**2 * np.log(np.maximum(count / delta * inner, 1)))
    assert (sharp <= np.ceil(printed)).all()
    if theory.K1(K, D) / delta >= 4:
        assert (sharp <= printed).all()


def test_theorem_1_rounds_up_where_integers_need_it():
    gaps = np.geomspace(1.0, 14.0, 1500)
    for delta in (0.5, 0.9, 0.99999):
        sharp = theory.samples_to_separate(gaps, KaufmannKoolen(), 2, 1, delta)
        stated = [theory.theorem_1([[g], [0.0]], delta).per_arm[0] for g in gaps]
        assert (sharp <= stated).all()


# ---- scales


def test_scales_divide_means_and_eps_in_every_upper_bound():
    scale = np.array([2.0, 0.5])
    eps = np.array([1.0, 0.25])
    calls = [
        lambda m, e, s: theory.theorem_1(m, 0.1, eps1=e, scale=s),
        lambda m, e, s: theory.theorem_1(m, 0.1, eps1=e, k=1, scale=s),
        lambda m, e, s: theory.cover_bound(m, 0.1, eps1=e, scale=s),
        lambda m, e, s: theory.expected_samples_lucb1(m, 0.1, eps1=e, scale=s),
        lambda m, e, s: theory.sample_bound(m, 0.1, Mixture(), eps1=e, scale=s),
    ]
    for call in calls:
        expected = call(THREE, eps / scale, 1.0)
        assert call(THREE * scale, eps, scale) == expected
        assert call(THREE * 4.0, eps / scale * 4.0, 4.0) == expected


def test_of_scales_per_arm_the_largest_counts_above_and_the_smallest_below():
    """One factor r = max_d max_i s_i^d / rms_d serves all objectives, in units of their rms."""
    scales = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]])  # rms^2: 14/3 and 3
    units = [3.0, 3.0 * math.sqrt(3 / (14 / 3))]  # the second above its own largest, 2
    for bound in (
        lambda s: theory.theorem_1(THREE, 0.1, scale=s),
        lambda s: theory.sample_bound(THREE, 0.1, Mixture(), scale=s),
    ):
        assert bound(scales) == pytest.approx(bound(units), rel=1e-12)
        assert bound(scales) >= bound([3.0, 2.0])
    doubled = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]])  # one ratio: the largest alone
    assert theory.theorem_1(THREE, 0.1, scale=doubled) == pytest.approx(
        theory.theorem_1(THREE, 0.1, scale=[3.0, 6.0]), rel=1e-12
    )
    assert theory.lower_bound(THREE, 0.1, 2, scale=scales) == theory.lower_bound(
        THREE, 0.1, 2, scale=[1.0, 1.0]
    )


def test_halving_the_scale_quarters_the_single_objective_lower_bound():
    means = [[0.0], [1.0]]
    assert theory.best_arm_lower_bound(means, 0.1, scale=0.5) * 4 == pytest.approx(
        theory.best_arm_lower_bound(means, 0.1)
    )


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, [1.0], [1.0, 0.0], np.ones((2, 2)), "x"])
def test_bad_scales_are_refused(scale):
    for call in (
        lambda: theory.theorem_1(THREE, 0.1, scale=scale),
        lambda: theory.sample_bound(THREE, 0.1, Mixture(), scale=scale),
        lambda: theory.expected_samples_lucb1(THREE, 0.1, scale=scale),
        lambda: theory.lower_bound(THREE, 0.1, 2, scale=scale),
    ):
        with pytest.raises(ValueError, match="scale"):
            call()


def test_scales_that_overflow_the_means_are_refused():
    for call in (
        lambda: theory.theorem_1(1e10 * THREE, 0.1, scale=1e-300),
        lambda: theory.sample_bound(THREE, 0.1, Mixture(), eps1=1e20, scale=1e-290),
    ):
        with pytest.raises(ValueError, match=r"exceed|must lie between"):
            call()


# ---- lower bounds


def test_lower_bound_on_its_own_instance_by_hand():
    # p = 4, omega = 0.5: x = 3, 2, 1, 0.5; gaps 1, 1, 0.5, 0.5;
    # omega^4 = omega^3 = 0.5, omega^2 = 1
    means = theory.lower_bound_instance(4, 3, 0.5)
    np.testing.assert_array_equal(means[:, 0], [3.0, 2.0, 1.0, 0.5])
    np.testing.assert_array_equal(means[:, 1], -means[:, 0])
    level = math.log(1 / (4 * 0.05 * 0.95))
    for k, sums in ((4, 2 / 1.5**2 + 2 / 1.0**2), (3, 2 / 1.5**2 + 2), (2, 2 / 4 + 2 / 1.5**2)):
        bound = theory.lower_bound(means, 0.05, k)
        assert bound == pytest.approx(level / 3 * sums, rel=1e-14)
        assert bound.proved


def test_the_printed_constant_is_available_by_name_and_never_proved():
    means = theory.lower_bound_instance(4, 2, 1.0)
    printed = theory.lower_bound(means, 0.1, 4, constant="printed")
    assert printed / theory.lower_bound(means, 0.1, 4) == pytest.approx(
        math.log(10) / math.log(1 / 0.36)
    )
    assert not printed.proved


def test_the_instance_is_recognised_after_shifts_and_relabelling_only():
    means = theory.lower_bound_instance(6, 3, 0.3)
    moved = means[[3, 0, 5, 1, 4, 2]] + np.array([1.0, -7.0, 0.25])
    assert theory.lower_bound(moved, 0.1, 6).proved
    assert theory.lower_bound(2 * moved, 0.1, 5).proved  # omega = 0.6
    assert not theory.lower_bound(moved, 0.1, 3).proved  # k = p - 3
    assert not theory.lower_bound(moved, 0.5, 6).proved
    assert not theory.lower_bound(moved * [1.0, 2.0, 1.0], 0.1, 6).proved
    assert not theory.lower_bound(THREE, 0.1, 2).proved
    assert "yardstick" in theory.lower_bound(THREE, 0.1, 2).holds


def test_nothing_is_claimed_from_one_half_on():
    means = theory.lower_bound_instance(3, 2, 1.0)
    assert theory.lower_bound(means, 0.5, 3) == 0
    assert theory.lower_bound(means, 0.9, 3) == 0
    assert theory.best_arm_lower_bound([[0.0], [1.0]], 0.5) == 0


def test_best_arm_lower_bound_by_hand():
    # gaps 1, 1, 2: H = 2 (1 + 1 + 1/4)
    bound = theory.best_arm_lower_bound([[3.0], [2.0], [1.0]], 0.01)
    assert bound == pytest.approx(4.5 * math.log(1 / 0.024), rel=1e-14)
    own = theory.best_arm_lower_bound([[3.0], [2.0], [1.0]], 0.01, scale=[[1.0], [2.0], [4.0]])
    assert own == pytest.approx((2 + 8 + 8) * math.log(1 / 0.024), rel=1e-14)


@pytest.mark.parametrize(("p", "D", "omega"), [(2, 2, 1.0), (3, 1, 1.0), (3, 2, 0.0), (3.0, 2, 1)])
def test_impossible_instances_are_refused(p, D, omega):
    with pytest.raises(ValueError, match="must be"):
        theory.lower_bound_instance(p, D, omega)


# ---- limits and bad input


ALL = [
    lambda m, d=0.1: theory.theorem_1(m, d),
    lambda m, d=0.1: theory.cover_bound(m, d),
    lambda m, d=0.1: theory.expected_samples_lucb1(m, d),
    lambda m, d=0.1: theory.expected_samples_lucb1(m, d, form="closed"),
    lambda m, d=0.1: theory.sample_bound(m, d, Mixture()),
    lambda m, d=0.1: theory.sample_bound(m, d, KaufmannKoolen()),
    lambda m, d=0.1: theory.lower_bound(m, d, 2),
]


@pytest.mark.parametrize("bound", ALL)
def test_tied_optimal_arms_cost_infinitely_many_samples(bound):
    assert bound(TIED) == math.inf


@pytest.mark.parametrize("bound", ALL)
@pytest.mark.parametrize("gap", [12 * math.e, 32.0, 33.0, 1e6, 1e150, 1e200, 1e-160, 5e-324])
def test_extreme_gaps_give_a_number_and_no_warning(bound, gap):
    value = bound(np.array([[gap, 0.0], [0.0, gap]]))
    assert value >= 0
    assert not math.isnan(value)


def test_huge_gaps_cost_two_samples_an_arm():
    means = np.array([[100.0, 0.0], [0.0, 100.0]])
    assert theory.theorem_1(means, 0.1) == 4
    assert theory.sample_bound(means, 0.1, KaufmannKoolen()) == 4


@pytest.mark.parametrize("bound", ALL)
@pytest.mark.parametrize(
    ("means", "sentence"),
    [
        ([[1.0, 2.0]], "K=1"),
        (np.empty((3, 0)), "D=0"),
        ([[1.0], [math.nan]], "not finite"),
        ([[1.0], [math.inf]], "not finite"),
        ([1.0, 2.0], "K, D"),
    ],
)
def test_bad_means_are_refused_by_every_bound(bound, means, sentence):
    with pytest.raises(ValueError, match=sentence):
        bound(means)


@pytest.mark.parametrize("bound", ALL)
@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan, "0.1", None])
def test_bad_delta_is_refused_by_every_bound(bound, delta):
    with pytest.raises(ValueError, match="delta="):
        bound(THREE, delta)


@pytest.mark.parametrize("k", [0, 4, 1.5, True])
def test_k_out_of_range_is_refused_by_every_bound(k):
    for call in (
        lambda: theory.theorem_1(THREE, 0.1, k=k),
        lambda: theory.sample_bound(THREE, 0.1, Mixture(), k=k),
        lambda: theory.expected_samples_lucb1(THREE, 0.1, k=k),
        lambda: theory.lower_bound(THREE, 0.1, k),
    ):
        with pytest.raises(ValueError, match="k="):
            call()


def test_single_objective_bounds_refuse_several():
    for function in (theory.best_arm_bound, theory.best_arm_lower_bound):
        with pytest.raises(ValueError, match="D=2"):
            function(THREE, 0.1)


def test_negative_gaps_are_refused():
    for gap in (-1.0, math.nan, [1.0, -1.0], "wide"):
        with pytest.raises(ValueError, match="gap="):
            theory.samples_to_separate(gap, Mixture(), 2, 1, 0.1)


def test_unknown_choices_are_refused():
    with pytest.raises(ValueError, match="form"):
        theory.expected_samples_lucb1(THREE, 0.1, form="rough")
    with pytest.raises(ValueError, match="union"):
        theory.best_arm_bound([[0.0], [1.0]], 0.1, union="claims")
    with pytest.raises(ValueError, match="constant"):
        theory.lower_bound(THREE, 0.1, 2, constant="true")


def test_a_bound_is_a_frozen_number_that_travels():
    bound = theory.sample_bound(THREE, 0.1, Mixture())
    assert isinstance(bound, float)
    assert f"{bound:.0f}" == str(int(bound))
    with pytest.raises(AttributeError, match="frozen"):
        bound.holds = "always"
    with pytest.raises(ValueError, match="read-only"):
        bound.per_arm[0] = 0
    for other in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound)):
        assert other == bound
        assert other.holds == bound.holds
        np.testing.assert_array_equal(other.per_arm, bound.per_arm)
