"""The paper's lemmas, on every path on which the intervals were right."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import theory
from paretoid.validation import strategies as vs
from paretoid.validation.pathwise import (
    CHECKS,
    assert_path,
    check_path,
    engine_path,
    reference_path,
    watched_goals,
)


@st.composite
def problems(draw, max_samples):
    bandit = draw(vs.bandits())
    unit = float(bandit.scale.max())
    goals = draw(vs.goals(bandit.K, bandit.D, largest_eps=unit))
    return {
        "bandit": bandit,
        "goals": goals,
        "radius": draw(vs.radii(known_scale=True if bandit.model == "bernoulli" else None)),
        "rule": draw(st.sampled_from([pt.APE(), pt.APE(pull="both")])),
        "delta": draw(st.sampled_from([0.05, 0.3, 0.7])),
        "seed": draw(st.integers(0, 1000)),
        "max_samples": max_samples,
    }


@given(problem=problems(600))
@settings(deadline=None, max_examples=250)
def test_every_lemma_holds_on_every_path_of_the_engine(problem):
    report = assert_path(engine_path(**problem))
    event("an interval failed" if report.bad_paths else "all intervals held")
    event("compared with the sharp bound" if report.bounded else "no sharp bound")


@given(problem=problems(200))
@settings(deadline=None, max_examples=40)
def test_the_reference_takes_the_same_path_and_keeps_every_lemma(problem):
    path = reference_path(**problem)
    assert_path(path)
    same = engine_path(**problem)
    np.testing.assert_array_equal(path.arm, same.arm)
    for mine, theirs in zip(path.stops, same.stops, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine[0] == theirs[0]
            np.testing.assert_array_equal(mine[1], theirs[1])


def test_every_check_is_applied_somewhere():
    report = check_path(_front_path())
    assert set(report.checked) == set(CHECKS)
    assert report.violations == ()


def _front_path(**options):
    bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])
    settings_ = {"radius": pt.Mixture(union="pairs"), "delta": 0.2, "seed": 1, **options}
    return engine_path(bandit, watched_goals(3), **settings_)


def test_paths_with_failed_intervals_are_counted_and_not_dropped():
    bandit = pt.GaussianBandit([[0.0, 0.3], [0.3, 0.0], [0.0, 0.0]])
    reports = [
        check_path(
            engine_path(
                bandit, radius=pt.Mixture(union="none"), delta=0.9, seed=seed, max_samples=300
            )
        )
        for seed in range(20)
    ]
    total = sum(reports[1:], reports[0])
    assert total.paths == 20
    assert total.violations == ()
    # At delta = 0.9 without a union bound some interval of six fails in most runs.
    assert total.bad_paths > 2
    assert f"failed on {total.bad_paths} paths" in total.summary()


def _shifted(path, **changes):
    return check_path(replace(path, **changes))


def _names(report):
    return {violation.check for violation in report.violations}


def test_a_wrong_answer_on_the_good_event_is_found():
    path = _front_path()
    time, answer = path.stops[0]
    report = _shifted(path, stops=((time, ~answer), *path.stops[1:]))
    assert {"answer", "recommendation"} <= _names(report)
    assert report.violations[0].t == time


def test_a_stop_too_early_and_a_stop_too_late_are_found():
    path = _front_path()
    time, answer = path.stops[0]
    assert "stopping rule" in _names(_shifted(path, stops=((time - 1, answer), *path.stops[1:])))
    assert "stopping rule" in _names(_shifted(path, stops=(None, *path.stops[1:])))


def test_swapped_contenders_and_foreign_arms_are_found():
    path = _front_path()
    assert "sampling rule" in _names(_shifted(path, b=path.c, c=path.b))
    arm = path.arm.copy()
    arm[-1] = (arm[-1] + 1) % 3
    assert "sampling rule" in _names(_shifted(path, arm=arm))


def test_a_violation_reads_like_a_sentence_with_its_problem():
    path = _front_path()
    time, answer = path.stops[0]
    broken = replace(path, stops=((time, ~answer), *path.stops[1:]))
    with pytest.raises(AssertionError, match=r"means +\[\[2.0, 0.0\]") as caught:
        assert_path(broken)
    assert "ParetoSet(eps1=0) was answered by arms [2], which is wrong" in str(caught.value)


def test_an_uneven_eps1_breaks_the_gap_lemma_as_printed_but_not_by_more_than_its_spread():
    # Arm 1 dominates arm 0 by 1, arm 2 ties with it in the first objective. With eps1 = (0, 3)
    # arm 2 is always c_t, arm 1 is never sampled again, and arm 0 is never settled.
    bandit = pt.GaussianBandit([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    goal = pt.ParetoSet(eps1=(0.0, 3.0))
    runs = pt.simulate(bandit, goal, replications=60, seed=1, max_samples=3000)
    stuck = np.flatnonzero(~runs.stopped.values[0])
    assert len(stuck) >= 2  # about one in seven
    path = engine_path(bandit, goal, seed=1, replication=int(stuck[0]), max_samples=3000)
    report = check_path(path)
    assert report.violations == ()  # the lemma with the spread of eps1 added
    assert report.bounded == 0
    half_width = theory.Mixture().half_width(1000, 1000, 3, 2, 0.1)
    assert path.b[-2] == 0
    assert path.c[-2] == 2
    assert 2 * half_width < theory.gaps(bandit.oriented)[0]  # so as printed it fails


def test_goals_of_different_eps1_have_no_common_path():
    bandit = pt.GaussianBandit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="differ in eps1"):
        engine_path(bandit, [pt.ParetoSet(), pt.ParetoSet(0.1)])


def test_only_paths_are_replayed():
    with pytest.raises(ValueError, match="must be a Path"):
        check_path("run")


def test_a_rule_of_somebody_elses_is_replayed_without_the_lemmas_of_ape():
    class Turns(pt.Rule):
        def choose(self, view, rng):
            return [int(rng.integers(view.K))]

    bandit = pt.GaussianBandit([[0.0], [2.0]])
    report = assert_path(engine_path(bandit, watched_goals(2), rule=Turns(), seed=3))
    assert report.checked["correctness"] > 0
    assert report.checked["answer"] == 4
    assert "Delta" not in report.checked


def test_a_goal_and_a_radius_of_somebody_elses_are_replayed():
    class Wide(pt.PairwiseRadius):
        def constants(self, K, D, delta):
            return 2 * np.log(K * D / delta), 2 * np.log(K * (K - 1) / delta)

        def arm_terms(self, counts, K, D, delta):
            n = np.asarray(counts, dtype=float)
            return np.log((n + 5) / 5), (n + 5) / n**2

    class Best(pt.Goal):
        def __init__(self, hasty=False):
            self.hasty = hasty

        def is_correct(self, answer, means):
            return bool(answer.sum() == 1 and means[answer, 0] == means[:, 0].max())

        def decide(self, view):
            open_ = view.M_upper[:, :].min(axis=1) >= 0
            if self.hasty:
                return view.means[:, 0] == view.means[:, 0].max()
            return open_ if open_.sum() == 1 else None

    bandit = pt.GaussianBandit([[0.0], [0.4], [0.3]])
    report = assert_path(engine_path(bandit, Best(), radius=Wide(), seed=3))
    assert report.checked["answer"] == 1
    hasty = [engine_path(bandit, Best(True), radius=Wide(), seed=seed) for seed in range(8)]
    assert any(v.check == "answer" for path in hasty for v in check_path(path).violations)


def test_a_rule_that_judges_for_itself_is_refused():
    with pytest.raises(ValueError, match="stopping rule of its own"):
        engine_path(pt.GaussianBandit([[0.0], [1.0]]), rule=pt.UniformElimination())
