import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory
from paretoid.validation import strategies as vs


@given(data=st.data(), shape=st.sampled_from(vs.SHAPES))
@settings(deadline=None, max_examples=100)
def test_shapes_are_what_they_say(data, shape):
    mu = data.draw(vs.means(shape=shape))
    K, D = mu.shape
    assert 2 <= K <= 8
    assert 1 <= D <= 5
    optimal = theory.pareto_set(mu)
    equal = (mu[:, None, :] == mu[None, :, :]) & ~np.eye(K, dtype=bool)[:, :, None]
    if shape == "chain":
        assert theory.domination(mu).sum() == K * (K - 1) // 2
    elif shape == "one optimum":
        assert optimal.sum() == 1
    elif shape == "all optimal":
        assert optimal.all()
    elif shape == "ties":
        assert equal.any()
    elif shape == "duplicates":
        assert equal.all(axis=2).any()
    elif shape == "near ties":
        near = np.abs(mu[:, None, :] - mu[None, :, :])
        assert (near[~np.eye(K, dtype=bool)] < 0.04).any()


@given(mu=vs.means(ties=False, minimum_gap=0.5))
@settings(deadline=None, max_examples=50)
def test_without_ties_every_gap_reaches_the_minimum(mu):
    assert all(len(set(column)) == len(mu) for column in mu.T)
    assert theory.gaps(mu).min() >= 0.5 * (1 - 1e-12)  # stretched by a rounded factor


@given(mu=vs.means(ties=True))
@settings(deadline=None, max_examples=50)
def test_ties_appear_when_wanted(mu):
    assert any(len(set(column)) < len(mu) for column in mu.T)


@given(bandit=vs.bandits(minimize=True, bernoulli=False, shape="one optimum"))
@settings(deadline=None, max_examples=50)
def test_minimised_objectives_keep_the_shape_in_the_oriented_means(bandit):
    assert bandit.minimize
    assert theory.pareto_set(bandit.oriented).sum() == 1


@given(bandit=vs.bandits(bernoulli=True))
@settings(deadline=None, max_examples=50)
def test_bernoulli_bandits_have_probabilities(bandit):
    assert bandit.model == "bernoulli"
    assert ((bandit.means > 0) & (bandit.means < 1)).all()


@given(radius=vs.radii("proved", known_scale=True))
@settings(deadline=None)
def test_radii_obey_their_knobs(radius):
    assert radius.guarantee == "proved"
    assert radius.needs_scale


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: vs.means(arms=3), "must be a pair"),
        (lambda: vs.means(arms=(1, 3)), "at least 2"),
        (lambda: vs.means(objectives=(3, 2)), "at least 3"),
        (lambda: vs.means(shape="cloud"), "must be one of"),
        (lambda: vs.means(minimum_gap=-1), "not negative"),
        (lambda: vs.means(minimum_gap=1.0, ties=True), "do not go together"),
        (lambda: vs.means(shape="duplicates", ties=False), "has ties"),
        (lambda: vs.bandits(scales="row"), "must be one of"),
        (lambda: vs.goals(3, 2, largest_eps=-1), "not negative"),
        (lambda: vs.radii("maybe"), "must be one of"),
    ],
)
def test_bad_knobs_are_refused_in_sentences(build, words):
    with pytest.raises(ValueError, match=words):
        build()
