"""Compiled loops, yardstick and readable loop: the same arms, times and answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import loop
from paretoid.engine import columns, yardstick
from paretoid.engine import program as P
from paretoid.engine.build import columns_of
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.setting import Setting, streams_of
from paretoid.theory.radii import PairwiseRadius, RoleTerms
from paretoid.validation.equality import assert_engine_equals_loop
from paretoid.view import Samples

RADII = [
    pt.Mixture(),
    pt.Mixture(rho=2.0, union="pairs"),
    pt.Mixture(rho=1.0, union="none"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.KaufmannKoolen(union="claims"),
    pt.UnknownScale(a=1.0, w=0.5),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5, union="pairs"),
    pt.LUCB1Like(),
]


class ByArm(PairwiseRadius):
    """Everything that may differ by arm, rival and objective does; first counts too."""

    by_arm = True

    def constants(self, K, D, delta):
        return 1.0, 2.0

    def arm_terms(self, counts, K, D, delta):
        n = np.asarray(counts, dtype=float)
        rho = 1.0 + np.arange(K).reshape(K, *[1] * (n.ndim - 1))
        v = np.where(n >= rho / 2, (n + rho) / n**2, np.inf)
        return np.log((n + rho) / rho), v

    def role_terms(self, K, D, delta):
        arms, objectives = np.arange(K) / K, np.arange(D) / D
        return RoleTerms(arms[::-1].copy(), objectives, arms, arms**2)


class ByRival(PairwiseRadius):
    """Roles of arms alone: scales common to all arms stay on the narrow path of the kernels."""

    def constants(self, K, D, delta):
        return 1.5, 1.0

    def arm_terms(self, counts, K, D, delta):
        return np.zeros(np.shape(counts)), 2 / np.asarray(counts)

    def role_terms(self, K, D, delta):
        arms = np.arange(K) / K
        return RoleTerms(arms, np.zeros(D), arms[::-1].copy(), arms**2)


OTHERS = [ByArm(), ByRival()]


@st.composite
def problems(draw):
    """A bandit with its goals, rule and radius; ties and near ties are common."""
    K = draw(st.sampled_from([2, 3, 5, 20, 60]))
    D = draw(st.sampled_from([1, 2, 3, 8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    radius = draw(st.sampled_from([*RADII, *OTHERS]))
    kinds = ["normal", "per arm", "covariance"]
    if radius.needs_scale:
        kinds += ["bernoulli", "resampled", "resampled per arm"]
    kind = draw(st.sampled_from(kinds))
    means = rng.random((K, D))
    grid = draw(st.sampled_from([0, 2, 5]))
    if grid:  # coarse means: ties between arms
        means = np.round(means * grid) / grid
    names = [f"objective {d}" for d in range(D)]
    options = {"minimize": [n for n in names if draw(st.booleans())]}
    small = draw(st.sampled_from([0.1, 0.5]))
    if kind == "bernoulli":
        bandit = pt.BernoulliBandit(means, **options)
    elif kind == "resampled":
        data = [np.round(m + rng.uniform(-0.3, 0.3, (4, D)), 1) for m in means]
        bandit = pt.ResampledBandit(data, bounds=(-1, 2), **options)
    elif kind == "resampled per arm":  # scales per arm and exact ties between some of them
        data = [np.round(m + rng.choice([-0.2, 0.2], (4, D)), 1) for m in means]
        scale = np.where(np.arange(K)[:, None] == K - 1, 0.7, np.full((K, D), 0.5))
        bandit = pt.ResampledBandit(data, scale=scale, **options)
    elif kind == "covariance":
        root = rng.random((D, D)) * small
        covariance = root @ root.T + small**2 * np.eye(D)
        bandit = pt.GaussianBandit(means, covariance=covariance, **options)
    elif kind == "per arm":
        bandit = pt.GaussianBandit(means, small * (0.2 + rng.random((K, D))), **options)
    else:
        bandit = pt.GaussianBandit(means, small * (0.5 + rng.random(D)), **options)
    eps1 = draw(st.sampled_from([0.0, 0.1, "vector"]))
    if eps1 == "vector":
        eps1 = tuple(np.round(rng.random(D) * 0.3, 2))
    goals = [pt.ParetoSet(eps1)]
    goals += [pt.AtMost(k, eps1) for k in sorted({1, 2, draw(st.integers(1, K))})]
    goals += [pt.Cover(eps1, e) for e in (0.0, 0.2, 1.5)]
    if draw(st.booleans()):
        goals.append(pt.Cover(eps1, tuple(np.round(rng.random(D), 2))))
    order = streams_of(goals, D)[0]
    rule = pt.APE(pull=draw(st.sampled_from(["less sampled", "both"])))
    delta = draw(st.sampled_from([0.1, 0.5]))
    return bandit, [goals[g] for g in order], rule, radius, delta


@settings(deadline=None, max_examples=220)
@given(problems(), st.integers(0, 2**32 - 1), st.integers(0, 400))
def test_three_implementations_agree_sample_by_sample(problem, seed, budget):
    bandit, goals, rule, radius, delta = problem
    setting = Setting(bandit, tuple(goals), rule, radius, delta, None)
    rounds = 400 if bandit.K <= 5 else 120 if bandit.K <= 20 else 40
    size = len(Engine(setting).program.opening) + min(rounds, budget)
    noise = np.empty((size, bandit.noise_width))
    bandit.fill(generator(seed, (0,)), noise)
    # The budget ends some runs before the noise does.
    setting = Setting(bandit, tuple(goals), rule, radius, delta, max(1, size - 7))
    cuts = np.cumsum(np.random.default_rng(seed).integers(1, 60, 40))
    expected = assert_engine_equals_loop(setting, noise, cuts[cuts < size])
    if radius in OTHERS:
        return  # the yardstick knows our own formulas alone
    program = Engine(setting).program
    textbook = P.new_state(program, 1)
    trace, stats = np.zeros((size, 5), dtype=np.int64), np.zeros((size, 3))
    work = yardstick.workspace(bandit.K, bandit.D)
    formula = yardstick.formula_of(radius, bandit.K, bandit.D, delta)
    used = yardstick.advance(program, formula, textbook, 0, noise, trace, stats, work)
    assert list(trace[:used, 0]) == expected.arms
    for g, stop in enumerate(expected.stops):
        assert bool(textbook.stopped[0, g]) == (stop is not None)
        if stop is not None:
            assert textbook.time[0, g] == stop.time
            assert list(textbook.answer[0, g]) == list(stop.answer)


def test_most_examples_reach_a_decision():
    """The property above would be empty if no goal ever stopped."""
    rng = np.random.default_rng(0)
    stops = []
    for seed in range(40):
        bandit = pt.GaussianBandit(rng.random((5, 2)), 0.1)
        setting = Setting(bandit, (pt.ParetoSet(0.1),), pt.APE(), pt.Mixture(), 0.5, None)
        noise = np.empty((400, 2))
        bandit.fill(generator(seed, (0,)), noise)
        history = loop.run(setting, loop.outcomes_of(bandit, noise), np.random.default_rng(0))
        stops.append(history.stops[0] is not None)
    assert sum(stops) >= 30


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.3]), st.sampled_from([2, 4, 7]))
def test_stopping_by_the_index_of_b_is_the_printed_rule(seed, eps1, K):
    """Z1 > 0 and Z2 > 0 exactly when no arm is outside OPT or b_t's own index is negative.

    Ties included: Bernoulli outcomes make them common, and K = 2 often has OPT = everything.
    """
    means = np.random.default_rng(seed).random((K, 2)).round(1)
    run = pt.run_once(
        pt.BernoulliBandit(means), pt.AtMost(K, eps1), delta=0.5, seed=seed, max_samples=600
    )
    after = run.b >= -1
    printed = (run.Z1 > 0) & (run.Z2 > 0)
    by_index = np.where(run.b < 0, run.size_OPT == K, run.index < 0)
    decided = run.size_S >= 0
    assert after.all()
    assert (printed[decided] == by_index[decided]).all()
    assert printed[decided][:-1].sum() == 0  # it stops at once


def test_columns_are_the_formula_up_to_65536_and_never_narrower_beyond():
    rng = np.random.default_rng(0)
    for radius in (pt.Mixture(rho=5.0), pt.KaufmannKoolen(), pt.UnknownScale()):
        table = columns.Columns(radius, 2, 1, 0.1)
        counts = np.array([1, 7, 255, 256, 65_535, 65_536, 131_072, 10**7, 10**12])
        counts = np.concatenate([counts, rng.integers(1, 2**40, 300)])
        for n in counts.tolist():
            l, v = table.look_up(np.full((2, 1), float(n)))
            exact_l, exact_v = radius.arm_terms(float(n), 2, 1, 0.1)
            if n < columns.EXACT:
                assert l[0, 0] == exact_l
                assert v[0, 0] == exact_v
            else:  # a step of the grid is 1/4096 of the count, and v falls like 1/n^2 at most
                assert exact_l <= l[0, 0] <= exact_l + 1 / 4096
                assert exact_v <= v[0, 0] <= exact_v * (1 + 2.01 / 4096)


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 2**53))
def test_every_count_lies_between_the_ends_of_its_entry(n):
    at = np.array([columns.position(n)])
    low, high = columns.ends(at)
    assert low[0] <= n <= high[0]
    assert columns.ends(at + 1)[0][0] > n


def test_an_engine_whose_columns_grow_on_the_way_equals_the_readable_loop(monkeypatch):
    """Columns of 2 entries at first: every run outgrows them at once."""
    monkeypatch.setattr(columns, "_BEGIN", 2)
    bandit = pt.GaussianBandit([[0.0, 0.3], [0.2, 0.1], [0.1, 0.0]], 0.3)
    for radius in (pt.Mixture(7.0), pt.UnknownScale(a=1.0, w=0.5), *OTHERS):
        for rule in (pt.APE(), pt.APE("both"), pt.RoundRobin(), pt.UniformElimination()):
            columns_of.cache_clear()
            setting = Setting(bandit, (pt.ParetoSet(),), rule, radius, 0.2, None)
            noise = np.empty((600, 2))
            bandit.fill(generator(3, (0,)), noise)
            before = Engine(setting).columns.tables.size.max()
            history = assert_engine_equals_loop(setting, noise, [1, 50, 51])
            assert len(history.arms) > 20
            assert Engine(setting).columns.tables.size.max() > before
    columns_of.cache_clear()


@pytest.mark.parametrize("K", [24, 70])
def test_many_arms_with_unknown_scales_equal_the_readable_loop(K):
    """Rows are sieved together from 24 arms on; rounded outcomes make ties common."""
    rng = np.random.default_rng(K)
    bandit = pt.GaussianBandit(rng.integers(0, 4, (K, 3)) / 2, scale=rng.uniform(0.5, 1.5, (K, 3)))
    goals = (pt.ParetoSet(0.5), pt.Cover(0.5, 0.5), pt.AtMost(2, 0.5))
    for radius in (pt.UnknownScale(a=1.0, w=0.5), pt.Mixture()):
        setting = Setting(bandit, goals, pt.APE(), radius, 0.1, 1500)
        noise = np.round(2 * rng.standard_normal((1500, 3))) / 2
        history = assert_engine_equals_loop(setting, noise)
        assert len(history.arms) > 500


def test_runs_that_start_beyond_the_exact_columns_equal_the_readable_loop():
    """A hundred thousand samples of each arm: kernels and views read the same coarse entries."""
    bandit = pt.GaussianBandit([[0.0], [0.004]])
    runs = pt.simulate(bandit, radius=pt.Mixture(), delta=0.5, seed=2, max_samples=300_000)
    assert runs.pulls.max() > columns.EXACT
    setting = Setting(bandit, (pt.ParetoSet(),), pt.RoundRobin(), pt.Mixture(), 0.5, None)
    lens = loop.lens_of(setting)
    program = Engine(setting).program
    engine = P.new_state(program, 1)
    counts = 100_003
    engine.counts[0], engine.sums[0] = counts, np.array([[0.0, 0.01]]) * counts
    engine.clock[0, P.TIME] = 2 * counts
    Engine(setting).advance(engine, np.zeros(1, np.int64), np.zeros((1, 2, 1)))
    sums = np.array([[0.0], [0.01]]) * counts + bandit.means
    n = np.full((2, 1), counts + 1.0)
    view = lens.view(Samples(n, sums / n, np.zeros((2, 1))), 2 * counts + 2)
    l, v = engine.l[0], engine.v[0, 0]
    assert view.keep[0, 1, 0] == np.sqrt((program.keep[0] + (l[0] + l[1])) * (v[0] + v[1]))
