"""Fed the engine's outcomes one at a time, an Explorer takes its arms, times and answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import loop
from paretoid.engine.yardstick import formula_of
from paretoid.explorer.design import Design
from paretoid.explorer.session import lens_of
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.validation.levels import _one_sided_level
from paretoid.view import Samples

RADII = [
    pt.Mixture(),
    pt.Mixture(rho=2.0, union="pairs"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(a=1.0, w=0.5),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5, union="pairs"),
    pt.LUCB1Like(),
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
    setting = Setting(bandit, tuple(goals), rule, radius, delta, None)
    noise = np.empty((int(loop.lens_of(setting).first.sum()) + 150, bandit.noise_width))
    bandit.fill(generator(seed, (0,)), noise)
    expected = loop.run(setting, loop.outcomes_of(bandit, noise), np.random.default_rng(0))
    explorer = explorer_for(bandit, goals, rule, radius, delta)
    for arm, outcome in zip(expected.arms, expected.outcomes, strict=True):
        allocation = explorer.ask()
        assert allocation.arm == bandit.arms[arm]
        explorer.tell(allocation, outcome * bandit.sign)
    for goal, stop in zip(goals, expected.stops, strict=True):
        answer, time = explorer.answers[str(goal)], explorer.stopping_times[str(goal)]
        assert (answer is None) == (stop is None)
        if stop is not None:
            assert time == stop.time
            assert answer == tuple(bandit.arms[i] for i in np.flatnonzero(stop.answer))
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
def test_intervals_are_those_of_the_formulas(radius, common):
    """Entry by entry from the definition; exact up to 65,536 samples, never narrower beyond."""
    rng = np.random.default_rng(3)
    K, D = 6, 3
    scale = 0.2 + rng.random(D if common else (K, D))
    bandit = pt.GaussianBandit(rng.random((K, D)), scale)
    given = bandit.scale if radius.needs_scale else None
    lens = lens_of(Design(bandit.arms, bandit.objectives, scale=given, radius=radius))
    formula = formula_of(radius, K, D, 0.1)
    for most in (60, 5_000, 60_000, 3_000_000):
        counts = rng.integers(max(int(lens.first.max()), 2), most, K).astype(float)
        sums, ss = rng.normal(size=(K, D)) * counts[:, None], rng.random((K, D)) * counts[:, None]
        unit = 0.5 + rng.random(D) if lens.unknown else lens.unit
        samples = Samples(np.repeat(counts[:, None], D, axis=1), sums / counts[:, None], ss)
        view = lens.view(samples, int(counts.sum()), unit)
        for i, j, d in np.ndindex(K, K, D):
            mean = (sums[i, d] / counts[i] - sums[j, d] / counts[j]) / unit[d]
            assert view.difference[i, j, d] == pytest.approx(mean, abs=1e-12)
            for width, C in ((view.keep, formula.keep), (view.drop, formula.drop)):
                exact = half_width(radius, C, counts, ss, bandit.scale, unit, i, j, d)
                slack = 1e-12 if most <= 65_536 else 5e-4
                assert exact * (1 - 1e-12) <= width[i, j, d] <= exact * (1 + slack)


def half_width(radius, C, counts, ss, scale, unit, i, j, d):
    """One half-width by its formula, in plain arithmetic."""
    n, D = counts, ss.shape[1]
    if isinstance(radius, pt.LUCB1Like):
        growth = C + 4 * np.log(n.sum())
        return np.sqrt(growth) * sum(np.sqrt(2 / n[a]) * scale[a, d] / unit[d] for a in (i, j))
    l, v = radius.arm_terms(n[[i, j]], len(n), D, 0.1)
    unknown = not radius.needs_scale
    squares = [(ss[a, d] if unknown else scale[a, d] ** 2) / unit[d] ** 2 for a in (i, j)]
    return np.sqrt((C + l.sum()) * (v * squares).sum())


@pytest.mark.parametrize("radius", RADII, ids=repr)
def test_each_objective_uses_its_own_counts(radius):
    """Column d of the intervals is that of data where every objective has the counts of d."""
    rng = np.random.default_rng(4)
    K, D = 4, 3
    scale = 0.5 if radius.needs_scale else None
    lens = lens_of(Design(list("ABCD"), list("xyz"), scale=scale, radius=radius))
    counts = rng.integers(lens.first.max(), 90, (K, D)).astype(float)
    counts[0] = 200.0  # so that t, the largest total, is that of every column below
    counts[1:, 0] = 150.0
    data = Samples(counts, rng.normal(size=(K, D)), rng.random((K, D)) * counts)
    view = lens.view(data, 500, np.ones(D))
    for d in range(D):
        alone = replace(data, counts=np.repeat(counts[:, d : d + 1], D, axis=1))
        if isinstance(radius, pt.LUCB1Like):
            alone.counts[:, (d + 1) % D] = 150.0
            alone.counts[0, (d + 1) % D] = 200.0
        same = lens.view(alone, 500, np.ones(D))
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
    two = {"scale": 1.0, "radius": pt.Mixture(sides="two")}
    wide = lens_of(Design(arms, objectives, [first, second], 0.1, **two)).levels
    plain = lens_of(Design(arms, objectives, first, 0.1, **two)).levels
    assert (wide.keep == plain.keep).all()
    assert wide.drop == pytest.approx(plain.drop + 2 * np.log(2), rel=1e-14)  # one rounding


def _spent(design: Design) -> float:
    """What wrong claims can cost together, counted back from the constants that a trial uses.

    A constant C is proved for the level exp(-C/2) on both sides, so all intervals may be added up
    once for each pair; or for a smaller level on one side, and claims are added up by arm: an arm
    in S* can be dropped, in each family of goals, an arm outside it can be kept.
    """
    K, D, radius = design.K, design.D, design.radius
    lens = lens_of(design)
    levels, limits = lens.levels, lens.limits
    keeps = levels.keep[:, None] + levels.objective
    drops = (levels.drop[:, None] + levels.rival)[~np.eye(K, dtype=bool)].reshape(K, K - 1)
    single = [np.full(K, 1e3)] * 2 if limits is None else [limits.keep, limits.drop]
    q = len(design.goals[0].limits or ())

    def two_sided(C):
        return np.exp(-np.asarray(C) / 2)

    largest = max(float(two_sided(keeps).max()), float(two_sided(drops).max()))
    pairs = K * (K - 1) / 2 * D * largest + K * q * float(two_sided(single).max())
    level = two_sided
    if getattr(radius, "sides", "two") == "one":
        level = np.vectorize(lambda C: min(float(two_sided(C)), _one_sided_level(C)))
    dropped = design.families() * level(drops).sum(axis=1) + q * level(single[1])
    kept = np.maximum(level(keeps).sum(axis=1), level(single[0]))
    return min(pairs, float(np.maximum(dropped, kept).sum()))


UNEVEN = {K: pt.Shares(arms=[0.8] + [0.2 / (K - 1)] * (K - 1)) for K in (2, 3, 5)}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("delta", [0.1, 0.7])
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize(
    "radius",
    [
        lambda K: pt.Mixture(),
        lambda K: pt.Mixture(sides="two"),
        lambda K: pt.Mixture(union="pairs"),
        lambda K: pt.Mixture(shares=UNEVEN[K]),
        lambda K: pt.Mixture(sides="two", shares=UNEVEN[K]),
        lambda K: pt.BetaBinomial(),
        lambda K: pt.BetaBinomial(union="pairs"),
        lambda K: pt.BetaBinomial(shares=UNEVEN[K]),
    ],
)
def test_all_families_of_goals_are_paid_for(radius, K, delta, limited):
    if limited and isinstance(radius(K), pt.BetaBinomial):
        pytest.skip("limits need a bound on one arm alone, and this radius has none")
    limits = {"limits": {"x": pt.at_least(0.2)}} if limited else {}
    goals = [pt.Cover(eps2=(0.3, 0.0), **limits), pt.Cover(eps2=(0.0, 0.3), **limits)]
    names = [f"arm {i}" for i in range(K)]
    outcomes = "binary" if isinstance(radius(K), pt.BetaBinomial) else "bounded"
    design = Design(names, ["x", "y"], goals, delta, radius=radius(K), outcomes=outcomes, scale=0.5)
    assert design.families() == 2
    assert _spent(design) <= delta * (1 + 1e-9)


def test_a_radius_that_does_not_say_how_it_counts_pays_for_every_family():
    class Stranger(pt.PairwiseRadius):
        guarantee = "proved"

        def constants(self, K, D, delta):
            return 2 * np.log(K * D / delta), 2 * np.log(K * (K - 1) / delta)

        def arm_terms(self, counts, K, D, delta):
            return np.zeros(np.shape(counts)), 1 / np.asarray(counts)

    goals = [pt.Cover(eps2=(0.3, 0.0)), pt.Cover(eps2=(0.0, 0.3))]
    design = Design(["A", "B", "C"], ["x", "y"], goals, 0.1, radius=Stranger(), scale=1.0)
    assert design.level() == 0.05
