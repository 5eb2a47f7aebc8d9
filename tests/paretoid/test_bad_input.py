"""Every mistake gets a sentence: what came, what is allowed, why, and the way out."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt

GOOD = [[0.0, 1.0], [1.0, 0.0]]
BANDIT = pt.GaussianBandit(GOOD, 0.5)


def nan_table():
    return [[0.0, float("nan")], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pt.GaussianBandit(nan_table()), r"means\[0, 1\]=nan is not finite"),
        (lambda: pt.GaussianBandit([[0.0, np.inf], [1, 0]]), "not finite"),
        (lambda: pt.GaussianBandit([0.0, 1.0]), r"shape \(2,\).*\(K, D\)"),
        (lambda: pt.GaussianBandit([[0.0, 1.0]]), "K=1 arm.*at least 2"),
        (lambda: pt.GaussianBandit(np.zeros((3, 0))), "D=0 objectives"),
        (lambda: pt.GaussianBandit([["x", 1], [0, 1]]), "table of numbers"),
        (lambda: pt.GaussianBandit(GOOD, arms=["a"]), "1 names for 2 arms"),
        (lambda: pt.GaussianBandit(GOOD, arms=["a", "a"]), "repeats 'a'"),
        (lambda: pt.GaussianBandit(GOOD, arms="ab"), "one string"),
        (lambda: pt.GaussianBandit(GOOD, objectives=["x", "x"]), "repeats 'x'"),
        (lambda: pt.GaussianBandit(GOOD, minimize=["speed"]), "'speed', which is no objective"),
        (lambda: pt.GaussianBandit(GOOD, 0.0), "must be finite and above 0"),
        (lambda: pt.GaussianBandit(GOOD, [1.0, -1.0]), "must be finite and above 0"),
        (lambda: pt.GaussianBandit(GOOD, [1.0, 1.0, 1.0]), r"scale has shape \(3,\)"),
        (lambda: pt.GaussianBandit(GOOD, 1.0, covariance=np.eye(2)), "not both"),
        (lambda: pt.GaussianBandit(GOOD, covariance=np.ones((2, 2))), "not positive definite"),
        (lambda: pt.GaussianBandit(GOOD, covariance=[[1, 0.5], [0.1, 1]]), "symmetric"),
        (lambda: pt.GaussianBandit(GOOD, covariance=np.eye(3)), r"must be \(2, 2\)"),
        (lambda: pt.BernoulliBandit([[0.0, 1.2], [1, 0]]), r"means\[0, 1\]=1.2 must lie in"),
        (lambda: pt.ResampledBandit([[[1.0]], [[2.0]]]), "exactly one of bounds"),
        (lambda: pt.ResampledBandit([[[1.0]], [[2.0]]], bounds=(0, 1)), "leaves the bounds"),
        (lambda: pt.ResampledBandit([[[1.0]], [[2.0, 1.0]]], scale=1), "objectives"),
        (lambda: pt.ResampledBandit([[[1.0]]], scale=1), "at least 2"),
        (lambda: BANDIT.sample("nobody", 3, 0), "'nobody' must be one of"),
        (lambda: BANDIT.sample(2, 3, 0), "arm=2"),
        (lambda: pt.AtMost(0), "k=0 must be an integer of at least 1"),
        (lambda: pt.AtMost(1.5), "k=1.5"),
        (lambda: pt.ParetoSet(-0.1), "eps1=-0.1 must be finite and not negative"),
        (lambda: pt.Cover(0.0, float("nan")), "eps2=nan"),
        (lambda: pt.ParetoSet(np.zeros((2, 2))), "shape"),
        (lambda: pt.ParetoSet().is_correct([1, 0], GOOD), "mask of 2 booleans"),
        (lambda: pt.APE(pull="none"), "'less sampled', 'both'"),
        (lambda: pt.Mixture(rho=0.0), "rho=0.0"),
        (lambda: pt.Mixture(union="all"), "'claims', 'pairs', 'none'"),
        (lambda: pt.UnknownScale(w=1.0), "w=1.0"),
        (lambda: pt.KaufmannKoolen("rough"), "'exact', 'approximate'"),
        (lambda: pt.load_instance("covbost"), "did you mean 'covboost'"),
    ],
)
def test_a_bad_argument_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bandit": [1, 2]}, "must be a Bandit"),
        ({"bandit": []}, "non-empty"),
        ({"bandit": [BANDIT, pt.GaussianBandit(GOOD, arms=["x", "y"])]}, "bandit 1 differs"),
        ({"goals": []}, "nothing could stop a run"),
        ({"goals": "ParetoSet"}, "one or more of ParetoSet"),
        ({"goals": [pt.ParetoSet(), pt.ParetoSet()]}, "repeats"),
        ({"goals": pt.AtMost(3)}, r"k=3 must be an integer in 1\.\.2"),
        ({"goals": pt.ParetoSet((0.1, 0.1, 0.1))}, "eps1 has shape"),
        ({"goals": pt.Cover(0.0, (0.1, 0.1, 0.1))}, "eps2 has shape"),
        ({"delta": 1.5}, "delta=1.5 must lie strictly between 0 and 1"),
        ({"delta": 0}, "delta=0"),
        ({"delta": float("nan")}, "delta=nan"),
        ({"replications": 0}, "replications=0"),
        ({"replications": 2.5}, "replications=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"max_samples": 0}, "max_samples=0"),
        ({"rule": "APE"}, "must be a sampling rule"),
        ({"radius": "Mixture"}, "must be one of Mixture"),
        ({"executor": 2}, "concurrent.futures.Executor"),
        (
            {"radius": pt.KaufmannKoolen("approximate", union="none"), "delta": 0.95},
            "negative under its root",
        ),
    ],
)
def test_simulate_refuses_with_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        pt.simulate(**{"bandit": BANDIT, **arguments})


def test_unknown_scale_is_refused_where_its_theorem_fails():
    for bandit in (pt.BernoulliBandit(GOOD), pt.ResampledBandit([GOOD, GOOD], scale=1.0)):
        with pytest.raises(ValueError, match="no martingale"):
            pt.simulate(bandit, radius=pt.UnknownScale())


def test_constant_outcomes_are_refused_by_unknown_scale():
    class Still(pt.GaussianBandit):
        def outcome(self, arm, noise):
            return np.full((len(noise), self.D), float(arm))

    still = Still([[0.0], [1.0]])
    with pytest.raises(ValueError, match="same outcome every time"):
        pt.simulate(still, radius=pt.UnknownScale(), max_samples=1000)


def test_arms_that_can_never_be_separated_are_refused_by_name():
    tied = pt.GaussianBandit([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]], 1.0, arms=["x", "y", "z"])
    with pytest.raises(ValueError, match="'x', 'y' tie, so no number of samples"):
        pt.simulate(tied)
    with pytest.raises(ValueError, match="may never stop"):
        pt.run_once(tied)
    for radius in (pt.UnknownScale(), pt.LUCB1Like(), pt.KaufmannKoolen()):
        with pytest.raises(ValueError, match="tie"):
            pt.simulate(tied, radius=radius)
    runs = pt.simulate(tied, max_samples=2000)
    assert not runs.stopped.any()
    assert pt.simulate(tied, pt.AtMost(1)).correct.all()  # the third arm is clear
    assert pt.simulate(tied, pt.ParetoSet(0.5)).correct.all()


def test_near_ties_beyond_1e11_samples_are_refused():
    """Gap 1e-5 sd: 2 beta < gap needs about 16 u/gap^2 > 1e11 samples an arm; 1e-3 does not."""
    near = pt.GaussianBandit([[0.0], [1e-5]], 1.0)
    with pytest.raises(ValueError, match="standard deviations from changing place"):
        pt.simulate(near)
    assert not pt.simulate(near, max_samples=1000).stopped.any()
    from paretoid.runs.feasibility import refuse_endless

    refuse_endless(pt.GaussianBandit([[0.0], [1e-3]]), [pt.ParetoSet()], pt.Mixture(), 0.1)


def test_nothing_is_lost_by_a_refusal():
    """A refused call leaves no thread behind and the next one works."""
    import threading

    before = threading.active_count()
    with pytest.raises(ValueError, match="delta"):
        pt.simulate(BANDIT, delta=2.0)
    assert pt.simulate(BANDIT).correct.all()
    assert threading.active_count() == before
