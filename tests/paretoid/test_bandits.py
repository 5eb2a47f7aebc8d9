from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest

import paretoid as pt
from paretoid.theory import pareto_set


def test_scales_broadcast_to_arms_and_objectives():
    means = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
    assert (pt.GaussianBandit(means, 2.0).scale == 2.0).all()
    per_objective = pt.GaussianBandit(means, [1.0, 3.0])
    assert (per_objective.scale == [[1.0, 3.0]] * 3).all()
    assert per_objective.common_scale
    per_arm = pt.GaussianBandit(means, np.arange(1.0, 7.0).reshape(3, 2))
    assert not per_arm.common_scale
    assert (pt.GaussianBandit(means, covariance=[[4.0, 1.0], [1.0, 9.0]]).scale == [2.0, 3.0]).all()


def test_outcomes_have_the_stated_mean_and_covariance():
    """20,000 draws: the standard error of a mean is 0.7% of its scale, the margin is 5 of them."""
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    bandit = pt.GaussianBandit([[1.0, -1.0], [0.0, 0.0]], covariance=covariance)
    x = bandit.sample(0, 20_000, 3)
    np.testing.assert_allclose(x.mean(axis=0), [1.0, -1.0], atol=0.08)
    np.testing.assert_allclose(np.cov(x.T), covariance, atol=0.2)
    coin = pt.BernoulliBandit([[0.2, 0.9], [0.5, 0.5]]).sample(0, 20_000, 3)
    np.testing.assert_allclose(coin.mean(axis=0), [0.2, 0.9], atol=0.02)
    assert set(np.unique(coin)) == {0.0, 1.0}
    data = [[[1.0], [2.0], [6.0]], [[0.0], [0.0], [9.0]]]
    drawn = pt.ResampledBandit(data, bounds=(0, 9)).sample(0, 30_000, 3)
    assert {1.0, 2.0, 6.0} == set(np.unique(drawn))
    np.testing.assert_allclose([(drawn == v).mean() for v in (1.0, 2.0, 6.0)], 1 / 3, atol=0.02)


def test_noise_does_not_depend_on_how_it_is_blocked():
    for bandit in (
        pt.GaussianBandit(np.eye(3), covariance=np.eye(3) + 0.3),
        pt.GaussianBandit(np.eye(3)),
        pt.BernoulliBandit(np.eye(3)),
        pt.ResampledBandit([np.eye(3), np.zeros((2, 3))], scale=1.0),
    ):
        whole, parts = np.empty((2, 10, bandit.noise_width))
        bandit.fill(np.random.default_rng(1), whole)
        stream = np.random.default_rng(1)
        for piece in (parts[:3], parts[3:4], parts[4:]):
            bandit.fill(stream, piece)
        assert (whole == parts).all()


def test_bandits_are_immutable_and_travel_to_other_processes():
    bandit = pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0]], 2.0, minimize=["objective 1"])
    with pytest.raises(ValueError, match="read-only"):
        bandit.means[0, 0] = 5.0
    twin = pickle.loads(pickle.dumps(bandit))
    assert (twin.oriented == bandit.oriented).all()
    assert (bandit.oriented == [[0.0, -1.0], [1.0, 0.0]]).all()


def test_a_bandit_copies_what_it_is_given():
    means = np.array([[0.0, 1.0], [1.0, 0.0]])
    bandit = pt.GaussianBandit(means)
    means[0, 0] = 7.0
    assert bandit.means[0, 0] == 0.0


def test_covboost_is_the_papers_instance_with_one_corrected_cell():
    """Log means as printed, to their two decimals, but for ChAd/ChAd + BNT half: IgG 9.68."""
    ours, printed = pt.load_instance("covboost"), pt.load_instance("covboost-printed")
    assert ours.arms == printed.arms
    assert (ours.K, ours.D) == (20, 3)
    different = np.argwhere(abs(ours.means - printed.means) > 0.0051)
    row = ours.arms.index("ChAd/ChAd + BNT half")
    assert different.tolist() == [[row, 0]]
    assert (printed.means[row, 0], round(ours.means[row, 0], 2)) == (8.71, 9.68)
    assert printed.means[ours.arms.index("BNT/BNT + m1273")].tolist() == [10.43, 7.61, 4.72]
    np.testing.assert_allclose(ours.scale[0] ** 2, [0.70, 0.83, 1.54], atol=0.005)
    optimal = [ours.arms[i] for i in np.flatnonzero(pareto_set(ours.means))]
    assert optimal == ["BNT/BNT + m1273", "ChAd/ChAd + m1273"]
    assert ours.means[row, 0] == math.log(16045)


@pytest.mark.parametrize("data", [[[-1.0], [1.0]], [[0.0]] * 49 + [[1.0]]])
def test_a_scale_that_the_data_contradict_is_refused(data):
    """49 zeros and a one: sd 0.14, and 0.96/(2 log 49) = 0.351^2 by hand; else proved and wrong."""
    here = np.array(data)
    least = 1.0 if len(data) == 2 else math.sqrt(0.96 / (2 * math.log(49)))
    assert least >= here.std()
    for scale in (0.5 * here.std(), 0.99 * here.std(), 0.99 * least):
        with pytest.raises(ValueError, match="least sub-Gaussian scale of draws from these data"):
            pt.ResampledBandit([here + 5, here], scale=scale)
        with pytest.raises(ValueError, match=r"data\[1\], objective 0"):
            pt.ResampledBandit([here + 5, here], scale=[[least * 1.01], [scale]])
    with pytest.raises(ValueError) as refused:
        pt.ResampledBandit([here + 5, here], scale=0.01)
    wayout = float(re.search(r"at least ([\d.e-]+),", str(refused.value))[1])
    assert wayout == pytest.approx(least, rel=2e-3)
    assert pt.ResampledBandit([here + 5, here], scale=wayout).scale[0, 0] == wayout


def test_a_mixed_bandit_refuses_a_scale_below_its_own_sd():
    means, kinds = [[0.0, 0.1], [1.0, 0.2]], ["gaussian", "binary"]
    with pytest.raises(ValueError, match="must not be below the standard deviation"):
        pt.MixedBandit(means, kinds, sd=[1.0, np.nan], scale=[0.9, np.nan])
    assert pt.MixedBandit(means, kinds, sd=1.0, scale=1.5).scale.tolist() == [[1.5, 0.5]] * 2
