"""Rules to compare APE with: what each of them samples, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt
from paretoid.rules.posterior_sampling import pareto_sets
from paretoid.view import Lens, Samples

MEANS = np.array([[2.0, 0.0], [0.0, 2.0], [0.9, 0.9], [-1.0, -1.0]])
BANDIT = pt.GaussianBandit(MEANS)


def view(counts, means=MEANS, memory=None):
    table = np.repeat(np.array(counts, dtype=float)[:, None], 2, axis=1)
    lens = Lens(BANDIT, pt.Mixture(), 0.1, eps1=0.0)
    samples = Samples(table, means, np.zeros((4, 2)))
    return lens.view(samples, int(sum(counts)), memory=memory)


def test_top_two_tosses_between_b_and_c():
    """300 tosses of a coin with 1/4: 45 to 110 of them once in 10^4 seeds outside."""
    now, rng = view([50, 50, 50, 50]), np.random.default_rng(1)
    chosen = [pt.TopTwo(0.25).choose(now, rng)[0] for _ in range(300)]
    assert set(chosen) == {now.b, now.c}
    assert 45 <= chosen.count(now.b) <= 110


def test_tracking_follows_the_weights_at_the_estimates():
    """Equal counts: the arm with the largest weight is furthest behind."""
    weights = pt.theory.characteristic_time(MEANS).weights
    now = view([100] * 4)
    assert pt.Tracking().choose(now, None) == [int(np.argmax(weights))]
    assert np.allclose(now.memory["weights"], weights, atol=0.02)
    held = view([100] * 4, memory={"weights": [0.0, 0.0, 0.0, 1.0], "next": 401})
    assert pt.Tracking().choose(held, None) == [3]  # not yet time to compute them again


def test_tracking_goes_first_to_an_arm_that_is_hardly_sampled():
    """sqrt(902) - 4/2 = 28.03, so that an arm with 2 samples is next whatever its weight."""
    assert pt.Tracking().choose(view([300, 300, 300, 2]), None) == [3]


def test_posterior_sampling_asks_for_the_arm_whose_doubt_matters():
    """Arm 2 has one sample; nothing else could change the Pareto set of well-known arms."""
    known = view([10**6, 10**6, 1, 10**6])
    rng = np.random.default_rng(3)
    assert {pt.PosteriorSampling().choose(known, rng)[0] for _ in range(20)} == {2}


def test_posterior_sampling_ends_where_nothing_differs():
    sure = view([10**12] * 4)
    assert pt.PosteriorSampling().choose(sure, np.random.default_rng(4))[0] in range(4)


def test_many_pareto_sets_at_once_are_those_one_by_one():
    means = np.random.default_rng(5).integers(0, 4, size=(200, 5, 3)).astype(float)
    one_by_one = [pt.theory.pareto_set(table) for table in means]
    assert (pareto_sets(means) == np.array(one_by_one)).all()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, "half", True])
def test_a_coin_that_always_falls_one_way_is_refused(share):
    with pytest.raises(ValueError, match="share="):
        pt.TopTwo(share)


@pytest.mark.parametrize("rule", [pt.TopTwo(), pt.Tracking(), pt.PosteriorSampling()])
def test_answers_are_proved_whatever_the_rule(rule):
    runs = pt.simulate(pt.GaussianBandit(MEANS, 0.3), rule=rule, replications=2, seed=1)
    assert runs.correct.all()
    assert runs.attrs["guarantee"] == "proved"
