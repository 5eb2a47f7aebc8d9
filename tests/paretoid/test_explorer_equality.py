"""Fed the engine's outcomes one at a time, an Explorer takes its arms, times and answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.engine.build import build_program
from paretoid.explorer.design import Design
from paretoid.explorer.inference import Data, Inference
from paretoid.loop import intervals, outcome, reference_run
from paretoid.runs.chunk import generator

RADII = [
    pt.Mixture(),
    pt.Mixture(rho=2.0, union="pairs"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(a=1.0, w=0.5),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5, union="pairs"),
    pt.SingleArm(),
]


@st.composite
def problems(draw):
    K, D = draw(st.sampled_from([(2, 1), (3, 2), (4, 3), (7, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    radius = draw(st.sampled_from(RADII))
    means = rng.random((K, D))
    if draw(st.booleans()):  # coarse means: ties between arms
        means = np.round(means * 3) / 3
    scale = 0.2 * (0.5 + rng.random((K, D) if draw(st.booleans()) else D))
    names = [f"objective {d}" for d in range(D)]
    bandit = pt.GaussianBandit(
        means, scale, objectives=names, minimize=[n for n in names if draw(st.booleans())]
    )
    eps1 = draw(st.sampled_from([0.0, 0.1]))
    goals = [pt.Cover(eps1, 0.2), pt.ParetoSet(eps1), pt.AtMost(1, eps1), pt.AtMost(2, eps1)]
    if draw(st.booleans()):
        goals = goals[1:]
    rule = pt.APE(pull=draw(st.sampled_from(["less sampled", "both"])))
    return bandit, goals, rule, radius, draw(st.sampled_from([0.1, 0.5]))


def explorer_for(bandit, goals, rule, radius, delta, **options):
    return pt.Explorer(
        bandit.arms, bandit.objectives, goals, delta, rule=rule, radius=radius,
        scale=bandit.scale if radius.needs_scale else None, minimize=bandit.minimize, **options,
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(0, 2**32 - 1))
def test_same_arms_same_stopping_times_same_answers_as_the_engine(problem, seed):
    bandit, goals, rule, radius, delta = problem
    program = build_program(bandit, goals, rule, radius, delta, None)
    noise = np.empty((bandit.K * program.first + 150, bandit.noise_width))
    bandit.fill(generator(seed, (0,)), noise)
    expected = reference_run(program, noise)
    explorer = explorer_for(bandit, goals, rule, radius, delta)
    for arm, row in zip(expected.arms, noise, strict=False):
        allocation = explorer.ask()
        assert allocation.arm == bandit.arms[arm]
        explorer.tell(allocation, outcome(program, arm, row) * bandit.sign)
    for goal, stop in zip(goals, expected.stops, strict=True):
        answer, time = explorer.answers[str(goal)], explorer.stopping_times[str(goal)]
        assert (answer is None) == (stop is None)
        if stop is not None:
            assert time == stop[0]
            assert answer == tuple(bandit.arms[i] for i in np.flatnonzero(stop[1]))
    if all(stop is not None for stop in expected.stops):
        with pytest.raises(ValueError, match="every goal has its answer"):
            explorer.ask()


@pytest.mark.parametrize("radius", RADII, ids=repr)
def test_a_run_of_the_engine_to_its_end(radius):
    """Longer than the property above, against the compiled engine; UnknownScale stops too."""
    bandit = pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0], [-0.5, 0.2]], 0.5, minimize=["objective 1"])
    run = pt.run_once(bandit, pt.ParetoSet(), radius=radius, delta=0.5, seed=8, max_samples=900)
    explorer = explorer_for(bandit, pt.ParetoSet(), pt.APE(), radius, 0.5)
    for arm, values in zip(run.arm, run.outcome, strict=True):
        assert explorer.answer is None
        allocation = explorer.ask()
        assert allocation.arm == bandit.arms[arm]
        explorer.tell(allocation, values)
    assert run.stopped == (explorer.answer is not None)
    if run.stopped:
        assert explorer.answer == tuple(bandit.arms[i] for i in np.flatnonzero(run.answer))
        assert explorer.stopping_times == {"ParetoSet(eps1=0)": run.stopping_time}


def test_most_runs_of_the_property_reach_a_decision():
    stopped = 0
    for seed in range(20):
        means = np.random.default_rng(seed).random((3, 2))
        run = pt.run_once(pt.GaussianBandit(means, 0.2), pt.AtMost(1), seed=seed, max_samples=153)
        stopped += run.stopped
    assert stopped >= 12


@pytest.mark.parametrize("radius", RADII, ids=repr)
@pytest.mark.parametrize("common", [True, False])
def test_intervals_equal_the_reference_bit_for_bit(radius, common):
    rng = np.random.default_rng(3)
    K, D = 6, 3
    scale = 0.2 + rng.random(D if common else (K, D))
    bandit = pt.GaussianBandit(rng.random((K, D)), scale)
    program = build_program(bandit, [pt.ParetoSet()], pt.APE(), radius, 0.1, None)
    given = bandit.scale if radius.needs_scale else None
    inference = Inference(Design(bandit.arms, bandit.objectives, scale=given, radius=radius))
    for most in (60, 5_000, 300_000, 3_000_000):  # within and beyond the tables of both
        counts = rng.integers(max(program.first, 2), most, K).astype(float)
        sums, ss = rng.normal(size=(K, D)) * counts[:, None], rng.random((K, D)) * counts[:, None]
        divisor = 0.5 + rng.random(D) if inference.unknown else np.array(program.divisor)
        t = int(counts.sum())
        expected = intervals(program, counts, sums, ss, 1 / divisor, t)
        data = Data(np.repeat(counts[:, None], D, axis=1), sums / counts[:, None], ss)
        view = inference.picture(data, divisor)
        np.testing.assert_array_equal(view.mean, expected.mean)
        np.testing.assert_array_equal(view.keep, expected.keep)
        np.testing.assert_array_equal(view.drop, expected.drop)


@pytest.mark.parametrize("radius", RADII, ids=repr)
def test_each_objective_uses_its_own_counts(radius):
    """Column d of the intervals is that of data where every objective has the counts of d."""
    rng = np.random.default_rng(4)
    K, D = 4, 3
    scale = 0.5 if radius.needs_scale else None
    inference = Inference(Design(list("ABCD"), list("xyz"), scale=scale, radius=radius))
    counts = rng.integers(inference.first, 90, (K, D)).astype(float)
    counts[0] = 200.0  # so that t, the largest total, is that of every column below
    counts[1:, 0] = 150.0
    data = Data(counts, rng.normal(size=(K, D)), rng.random((K, D)) * counts)
    view = inference.picture(data, np.ones(D))
    for d in range(D):
        alone = replace(data, counts=np.repeat(counts[:, d : d + 1], D, axis=1))
        if isinstance(radius, pt.SingleArm):
            alone.counts[:, (d + 1) % D] = 150.0
            alone.counts[0, (d + 1) % D] = 200.0
        same = inference.picture(alone, np.ones(D))
        np.testing.assert_array_equal(view.keep[:, :, d], same.keep[:, :, d])
        np.testing.assert_array_equal(view.drop[:, :, d], same.drop[:, :, d])


def test_several_vector_slacks_are_counted_each():
    """theory/PROOFS.md, Section 4: with differing vector eps2, delta is shared out by goal."""
    arms, objectives = list("ABCDE"), list("xyz")

    def level(*goals, **options):
        return Design(arms, objectives, list(goals), 0.1, scale=1.0, **options).level()

    first, second = pt.Cover(eps2=(0.1, 0.2, 0.3)), pt.Cover(eps2=(0.3, 0.2, 0.1))
    assert level(pt.ParetoSet(), pt.AtMost(1), pt.Cover(eps2=0.1), pt.Cover(eps2=0.2)) == 0.1
    assert level(pt.ParetoSet(), first) == 0.1
    assert level(first, second) == 0.05
    assert level(first, second, pt.Cover(eps2=0.1)) == 0.1 / 3
    third = pt.Cover(eps2=(0.1, 0.5, 0.1))
    assert level(first, second, third, pt.Cover(eps2=0.1)) == 0.1 / 3  # D objectives are all
    assert level(first, second, radius=pt.Mixture(union="pairs")) == 0.1
    wide = Inference(Design(arms, objectives, [first, second], 0.1, scale=1.0))
    plain = Inference(Design(arms, objectives, first, 0.1, scale=1.0))
    assert wide.keep == plain.keep
    assert wide.drop == pytest.approx(plain.drop + 2 * np.log(2), rel=1e-14)  # one rounding
