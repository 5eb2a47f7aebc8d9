"""Lost digits never break delta: outcomes are summed from a reference, and runs keep in range."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.arithmetic import (
    RANGE,
    SHARE,
    LostDigitsError,
    out_of_range,
    reference_of,
)
from paretoid.loop import Tally
from paretoid.runs.files import manifest_text
from paretoid.runs.setting import Setting
from paretoid.validation.equality import assert_engine_equals_loop

MEANS = np.array([[0.0, 0.0], [1.0, 0.25], [0.25, 1.0]])


def wrong(bandit, radius=None, replications=200):
    runs = pt.simulate(
        bandit, pt.ParetoSet(), radius=radius, replications=replications, seed=3,
        max_samples=60_000,
    )  # fmt: skip
    assert runs.stopped.mean() > 0.9
    return int((runs.stopped & ~runs.correct).sum())


def test_a_large_offset_takes_no_digits_from_the_guarantee():
    # 226 of 1,000 runs were wrong when plain sums were compared. With delta = 0.1 a correct engine
    # errs in 20 of 200 runs at most on average: more than 50 has probability below 1e-9.
    close = pt.GaussianBandit([[2.0**46 + 7.75], [2.0**46 + 7.8125]])
    assert wrong(close) <= 50


@pytest.mark.parametrize("radius", [pt.Mixture(), pt.UnknownScale()])
@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 9e14])
def test_an_offset_changes_neither_answers_nor_what_they_cost(radius, offset):
    # The noise is the same; outcomes near 9e14 are rounded to 1/8 of the scale.
    plain, moved = (
        pt.simulate(
            pt.GaussianBandit(MEANS + shift), pt.ParetoSet(), radius=radius, replications=300,
            seed=1,
        )
        for shift in (0.0, offset)
    )  # fmt: skip
    assert moved.correct.all()
    np.testing.assert_allclose(moved.stopping_time.mean(), plain.stopping_time.mean(), rtol=0.1)


@pytest.mark.parametrize("radius", [pt.Mixture(), pt.UnknownScale()])
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_units_change_nothing_but_rounding(radius, scale):
    plain, other = (
        pt.simulate(
            pt.GaussianBandit(MEANS * s, s), pt.ParetoSet(), radius=radius, replications=20, seed=1
        ).stopping_time.values
        for s in (1.0, scale)
    )  # fmt: skip
    np.testing.assert_allclose(other, plain, rtol=0.01)


@pytest.mark.parametrize("scale", [5e153, 5e-309, [[1.0], [1e-200]], 1e-151])
def test_scales_whose_squares_are_lost_are_refused(scale):
    with pytest.raises(ValueError, match="scale="):
        pt.GaussianBandit([[0.0], [1.0]], scale)


def test_means_without_digits_for_the_noise_are_refused():
    with pytest.raises(ValueError, match="no digits for their noise"):
        pt.GaussianBandit([[1e17], [0.0]])


@pytest.mark.parametrize("rule", [pt.APE(), pt.RoundRobin()])
def test_a_run_that_leaves_the_range_is_refused_compiled_or_not(rule):
    apart = pt.GaussianBandit([[0.0], [1e12], [1e12 + 0.1]])

    class Mine(pt.ParetoSet):
        guarantee = "heuristic"

    for goal in (pt.ParetoSet(), Mine()):
        with pytest.raises(LostDigitsError, match="too few digits left"):
            pt.simulate(apart, goal, rule=rule, replications=1)


@settings(deadline=None, max_examples=10)
@given(offset=st.sampled_from([0.0, 2e3, -1e7, 1e12]), seed=st.integers(0, 99))
def test_the_compiled_engine_and_the_loop_agree_at_any_offset(offset, seed):
    bandit = pt.GaussianBandit(MEANS + offset, minimize=["objective 1"])
    noise = np.random.default_rng(seed).standard_normal((400, 2))
    for radius in (pt.Mixture(), pt.UnknownScale()):
        setting = Setting(bandit, (pt.ParetoSet(),), pt.APE(), radius, 0.1, 400)
        assert_engine_equals_loop(setting, noise, [50])


def test_ordinary_means_have_no_reference():
    scale = np.ones((3, 2))
    assert not reference_of(MEANS * 1000, scale).any()
    assert reference_of(MEANS + 1e5, scale).tolist() == [1e5 + 1, 1e5 + 1]


def level_growth(x, n=np.inf):
    """PROOFS.md, Proposition 17, at x = C + l_i + l_j; n the smaller count if scales are learnt."""
    return np.exp(SHARE * (4.3 * np.sqrt(x) + 3 * x / np.sqrt(n)))


def summed(values):
    """(mean, ss) as the package sums them, and both exactly, of outcomes given as floats."""
    tally = Tally(1, 1)
    for value in values:
        tally.add(0, np.array([value]))
    samples = tally.samples()
    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact) / len(exact)
    ss = sum((value - mean) ** 2 for value in exact)
    return float(samples.means[0, 0]), float(samples.ss[0, 0]), mean, ss


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12, 200, 2000])
def test_means_and_spreads_err_by_no_more_than_the_proof_says(n, falling):
    """PROOFS.md, Section 16, in exact fractions at the edge of the range."""
    rng, worst = np.random.default_rng(n), 0.0
    for _ in range(30 if n < 200 else 3):
        streams = []
        for s in (1.0, rng.uniform(0.1, 10)):
            m = s * (0.99 * RANGE / n**1.5 - 1) * rng.uniform(0.9, 0.99)
            values = m + s * rng.standard_normal(n)
            mean, ss, exact, exact_ss = summed(np.sort(values)[::-1] if falling else values)
            spread = math.sqrt(exact_ss / n)
            if n > 3 and not out_of_range(n, m, spread):
                assert abs(Fraction(ss) - exact_ss) <= 6 * SHARE / math.sqrt(n) * exact_ss
            assert not out_of_range(n, m, s)
            streams.append((mean, exact, s * s / n))
        (one, first, v), (two, second, w) = streams
        error = abs(Fraction(one - two) - (first - second)) / Fraction(SHARE * math.sqrt(v + w))
        worst = max(worst, float(error))
    assert worst <= (4.3 if n < 12 else math.sqrt(2))
    assert out_of_range(n, RANGE, 1.0)


def test_by_what_factor_a_level_can_grow():
    """x = C + l_i + l_j, with C <= 2 log(1/level), at the ends of what the package takes."""
    longest = RANGE ** (2 / 3)  # outcomes of one arm, by the range
    tails = 2 * math.log1p(longest / 1e-12)  # rho is at least 1e-12
    assert level_growth(2 * math.log(1e97) + tails) < 1.001
    assert level_growth(2 * math.log(1e300) + tails) < 1.0017
    assert level_growth(2 * math.log(1e300) + tails, 4) < 1.025
    n = np.arange(4, 100)
    assert (level_growth(np.minimum(120, 16 * np.sqrt(n)), n) < 1.001).all()
    for K, D, rho in ((2, 1, 5.0), (20, 3, 30.0), (1000, 20, 5.0), (1000, 20, 300.0)):
        radius = pt.UnknownScale(rho=rho)
        n = np.geomspace(radius.first_count(K, D, 1e-12), longest, 500).astype(int)
        x = max(radius.constants(K, D, 1e-12)) + np.log1p(n / rho) + math.log1p(longest / rho)
        assert (level_growth(x, n) < 1.001).all()


def test_a_bound_that_is_narrower_by_the_rounding_has_that_level():
    # exp(-y^2/2) at y = sqrt(x) - eta, over exp(-x/2), is below exp(eta sqrt(x)): 4.3e-5 = eta
    for x in (1.0, 100.0, 1470.0):
        grown = math.exp(-((math.sqrt(x) - 4.3e-5) ** 2) / 2 + x / 2)
        assert 1 < grown <= level_growth(x)


@pytest.mark.parametrize("known", [True, False])
def test_a_live_trial_far_from_zero_ends_as_the_same_one_near_zero(known):
    # Outcomes are multiples of 2^-12, so that adding 2^30 to them loses nothing.
    rng = np.random.default_rng(8)
    noise = np.round(rng.standard_normal((900, 1)) * 4096) / 4096
    ends = []
    for offset in (0.0, 2.0**30):
        trial = pt.Explorer(["A", "B", "C"], ["x"], scale=1.0 if known else None)
        rows = iter(noise)
        while not any(trial.status().answers.values()) and trial.status().samples < 900:
            for allocation in trial.ask(1):
                value = offset + [0.0, 1.0, 2.0][["A", "B", "C"].index(allocation.arm)]
                trial.tell(allocation.id, [value + float(next(rows)[0])])
        status = trial.status()
        ends.append((status.samples, status.answers))
        np.testing.assert_allclose(
            status.means[:, 0] - offset, [0.0, 1.0, 2.0], atol=1.5, err_msg=str(offset)
        )
    assert ends[0] == ends[1]


def test_a_trial_with_a_value_beyond_all_digits_concludes_nothing_and_says_why():
    trial = pt.Explorer(["A", "B"], ["x"], scale=1.0)
    for value in (0.0, 1e13):
        (allocation,) = trial.ask(1)
        trial.tell(allocation.id, [value])
    assert any("too few digits" in note for note in trial.status().notes)
    assert not any(trial.status().answers.values())


@pytest.mark.parametrize(("offset", "refused"), [(0.0, False), (1e9, True)])
def test_a_store_without_a_reference_never_takes_runs_that_have_one(tmp_path, offset, refused):
    campaign = pt.Campaign(
        pt.GaussianBandit(MEANS + offset), pt.ParetoSet(), replications=2, seed=1
    )
    campaign.run(tmp_path)
    path = tmp_path / "campaign.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    assert manifest.pop("arithmetic") == "centred"
    path.write_text(manifest_text(manifest), encoding="utf-8")
    more = pt.Campaign(pt.GaussianBandit(MEANS + offset), pt.ParetoSet(), replications=4, seed=1)
    if refused:
        with pytest.raises(ValueError, match="without a reference"):
            more.run(tmp_path)
    else:
        assert more.run(tmp_path).sizes["replication"] == 4
