"""Cones: what they keep, by definition; outcomes, scales, statements and refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import kstest

import paretoid as pt
from paretoid.cones import as_cone, extreme_rays, in_cone, preferences
from paretoid.theory import pareto_set

W = np.array([[1.0, 0.5], [0.25, 1.0], [1.0, 1.0]])


def kept_by_definition(means, table):
    """Arms such that no other has W (mu_j - mu_i) > 0 in every row."""
    return [
        not any(((table @ (other - own)) > 0).all() for other in means) for own in means
    ]  # fmt: skip


def test_the_pareto_set_in_the_cone_is_what_the_definition_keeps():
    rng = np.random.default_rng(1)
    for _ in range(50):
        bandit = pt.GaussianBandit(rng.normal(size=(7, 2)), minimize=["objective 1"])
        inside = in_cone(bandit, W)
        assert pareto_set(inside.oriented).tolist() == kept_by_definition(bandit.oriented, W)
    plain = in_cone(bandit, np.eye(2))
    assert (pareto_set(plain.oriented) == pareto_set(bandit.oriented)).all()


def test_scales_are_those_of_w_sigma_w():
    covariance = np.array([[1.0, -0.6], [-0.6, 4.0]])
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0]], covariance=covariance)
    inside = in_cone(bandit, W)
    # row (1, 1/2): 1 - 0.6 + 1; row (1/4, 1): 1/16 - 0.3 + 4; row (1, 1): 1 - 1.2 + 4
    assert np.allclose(inside.scale[0] ** 2, [1.4, 3.7625, 3.8])
    assert np.allclose(inside.covariance, W @ covariance @ W.T)
    turned = pt.GaussianBandit(
        [[1.0, 0.0], [0.0, 1.0]], covariance=covariance, minimize=["objective 1"]
    )
    assert np.allclose(in_cone(turned, W).scale[0] ** 2, [2.6, 4.3625, 6.2])


def test_outcomes_have_the_means_and_the_covariance_of_w_times_the_old_ones():
    """30,000 draws; five standard errors are exceeded once in 10^5 seeds."""
    bandit = pt.GaussianBandit([[1.0, 3.0], [0.0, 1.0]], scale=[1.0, 2.0])
    inside = in_cone(bandit, W)
    draws = inside.sample(0, 30_000, np.random.default_rng(2))
    assert np.allclose(draws.mean(axis=0), W @ [1.0, 3.0], atol=5 * 2.3 / np.sqrt(30_000))
    assert np.allclose(np.cov(draws.T), W @ np.diag([1.0, 4.0]) @ W.T, atol=0.2)
    assert np.linalg.matrix_rank(np.cov(draws.T), tol=1e-6) == 2  # three rows of two outcomes


def test_it_runs_compiled_and_finds_what_the_cone_keeps():
    bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [0.8, 0.9], [-1.0, -1.0]])
    inside = in_cone(bandit, [[1.0, 0.5], [0.5, 1.0]])
    runs = pt.simulate(inside, replications=3, seed=1)
    assert runs.correct.all()
    assert runs.attrs["guarantee"] == "proved"


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ("x at most twice as important as y", [[0, 1], [1, 0.5]]),
        ("X is at least half as important as y.", [[0.5, 1], [1, 0]]),
        (["x at most 4 times as important as y", "x at least as important as y"],
         [[1, 0.25], [1, 1]]),
        ("y at most 2.5 times as important as x", [[0.4, 1], [1, 0]]),
    ],
)  # fmt: skip
def test_statements_become_their_extreme_weights(said, rows):
    assert np.allclose(preferences(said, ["x", "y"]), rows)


def test_every_allowed_weighting_is_a_mix_of_the_rays_and_no_other_is():
    """A statement about three objectives, checked against random weights."""
    from scipy.optimize import nnls

    said = ["a at most twice as important as b", "c at least half as important as a"]
    rays = preferences(said, ["a", "b", "c"])
    rng = np.random.default_rng(3)
    for w in rng.random((300, 3)):
        allowed = w[0] <= 2 * w[1] and w[2] >= 0.5 * w[0]
        _, distance = nnls(rays.T, w)
        assert (distance < 1e-9) == allowed


def test_units_turn_standard_deviations_into_weights():
    plain = preferences("x at most twice as important as y", ["x", "y"])
    assert np.allclose(
        preferences("x at most twice as important as y", ["x", "y"], units=[2.0, 4.0]),
        plain / [2.0, 4.0],
    )


def test_edges_of_a_cone_are_found_whatever_the_order_of_its_sides():
    sides = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [-1, 2.0, 0]])
    first = extreme_rays(sides)
    for order in itertools.permutations(range(4)):
        assert np.allclose(extreme_rays(sides[list(order)]), first)


@pytest.mark.parametrize(
    ("cone", "says"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], "row 1 of W is zero"),
        ([[1.0, 1.0]], "not pointed"),
        ([[1.0, 1.0], [2.0, 2.0]], "not pointed"),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], "contradict each other"),
        ([[1.0, np.nan]], "finite"),
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\)"),
        ([["a"]], "table of numbers"),
        (["x at least twice as important as y", "y at least as important as x"], "contradict"),
        (["x at most as important as y", "y at most as important as x"], "single weighting"),
        ("x at most twice as important as z", "no objective 'z'"),
        ("x at most very as important as y", "must be a number of times"),
        ("x at most 0 times as important as y", "above 0"),
        ("x at most twice as important as x", "with itself"),
        ("x beats y", "cannot be read"),
    ],
)
def test_what_is_no_cone_is_refused_in_a_sentence(cone, says):
    with pytest.raises(ValueError, match=says):
        as_cone(cone, ["x", "y"])


def test_other_bandits_and_scales_by_arm_are_refused():
    with pytest.raises(ValueError, match="takes a GaussianBandit"):
        in_cone(pt.BernoulliBandit([[0.5, 0.2], [0.1, 0.3]]), W)
    with pytest.raises(ValueError, match="common to all arms"):
        in_cone(pt.GaussianBandit(np.eye(2), [[1.0, 1.0], [2.0, 1.0]]), W)


def test_a_live_trial_under_a_cone_answers_what_the_cone_keeps(tmp_path):
    means = np.array([[2.0, 0.0], [0.0, -2.0], [0.3, -0.2], [-1.0, 1.0]])
    said = ["gain at most twice as important as harm", "harm at most twice as important as gain"]
    options = {"scale": 0.3, "minimize": ["harm"], "cone": said}
    path = tmp_path / "trial.db"
    trial = pt.Explorer(["A", "B", "C", "D"], ["gain", "harm"], ledger=path, **options)
    rng = np.random.default_rng(4)
    while trial.answer is None:
        allocation = trial.ask()
        at = trial.design.arms.index(allocation.arm)
        trial.tell(allocation, rng.normal(means[at], 0.3))
    oriented = means * [1, -1]
    expected = kept_by_definition(oriented, preferences(said, ["gain", "harm"]))
    assert [arm in trial.answer for arm in trial.design.arms] == expected
    assert expected == [True, True, False, False]
    trial.verify()
    again = pt.Explorer.open(path)
    assert again.answer == trial.answer
    assert again.design.same_as(trial.design)
    assert again.design.cone.objectives == ("gain", "harm")


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        ([1.0, None], "must have all of x, y"),
        ({"x": 1.0}, "must have all of x, y"),
        ({"z": 1.0, "x": 2.0}, "no objective 'z'"),
        ([1.0, "much"], "numbers or 'missing'"),
        ([1.0, float("nan")], "NaN"),
        (["1_0", 1.0], "must be numbers"),
        ([10**400, 1.0], "must be numbers"),
    ],
)
def test_outcomes_that_cannot_be_added_up_are_refused(outcome, says):
    trial = pt.Explorer(["A", "B"], ["x", "y"], cone=W, scale=1.0)
    with pytest.raises(ValueError, match=says):
        trial.tell(trial.ask(), outcome)


def test_gaussian_endpoints_may_add_up_to_something_else():
    """x and y are N(0, 1) and uncorrelated, but x + y is 0 in half of the draws."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal(20_000)
    y = x * rng.choice([-1.0, 1.0], len(x))
    # one of Kolmogorov's two distances exceeds 0.02 once in 2 10^6 seeds
    assert max(kstest(values, "norm").statistic for values in (x, y)) < 0.02
    assert abs(np.mean(x + y == 0.0) - 0.5) < 0.02  # five standard errors are 0.018


def test_a_missing_objective_loses_the_rows_that_need_it_only():
    trial = pt.Explorer(["A", "B"], ["x", "y"], cone=[[1.0, 0.0], [1.0, 2.0]], scale=[1.0, 3.0])
    assert np.allclose(trial.design.scale[0], [1.0, 7.0])  # sum of abs(w) s
    told = trial.design.cone.outcome([4.0, "missing"], 1)
    assert told == {"x": 4.0, "x + 2 y": "missing"}
    with pytest.raises(ValueError, match="outcomes='bounded'"):
        pt.Explorer(["A", "B"], ["x", "y"], cone=W, scale=0.5, outcomes="binary")


def test_the_picture_counts_what_is_kept():
    bandit = pt.load_instance("covboost")
    said = ["IgG at most twice as important as T cell", "T cell at most twice as important as IgG"]
    axes = pt.plots.cones(bandit, {"close": said})
    kept = sum(kept_by_definition(bandit.oriented, preferences(said, bandit.objectives)))
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["Pareto set (2)", f"close ({kept})"]
