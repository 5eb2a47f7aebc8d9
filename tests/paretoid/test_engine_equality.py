"""Kernel, textbook and NumPy reference: the same arms, the same times, the same answers."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.engine import ape, arms, yardstick
from paretoid.engine import program as P
from paretoid.engine.build import build_program
from paretoid.loop import reference_run
from paretoid.runs.chunk import generator
from paretoid.runs.setting import streams_of

RADII = [
    pt.Mixture(),
    pt.Mixture(rho=2.0, union="pairs"),
    pt.Mixture(rho=1.0, union="none"),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.KaufmannKoolen(union="claims"),
    pt.UnknownScale(a=1.0, w=0.5),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5, union="pairs"),
    pt.SingleArm(),
]


@st.composite
def problems(draw):
    """A bandit with its goals, rule and radius; ties and near ties are common."""
    K = draw(st.sampled_from([2, 3, 5, 20, 60]))
    D = draw(st.sampled_from([1, 2, 3, 8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    radius = draw(st.sampled_from(RADII))
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
    first = build_program(bandit, goals, rule, radius, delta, None).first
    rounds = 400 if bandit.K <= 5 else 120 if bandit.K <= 20 else 40
    size = bandit.K * first + min(rounds, budget)
    noise = np.empty((size, bandit.noise_width))
    bandit.fill(generator(seed, (0,)), noise)
    # The budget ends some runs before the noise does.
    program = build_program(bandit, goals, rule, radius, delta, max(1, size - 7))
    expected = reference_run(program, noise)

    textbook = P.new_state(program, 1)
    trace, stats = np.zeros((size, 5), dtype=np.int64), np.zeros((size, 3))
    work = yardstick.workspace(bandit.K, bandit.D)
    used = yardstick.advance(program, textbook, 0, noise, trace, stats, work)
    assert list(trace[:used, 0]) == expected.arms
    _check_stops(textbook, expected, bandit.K)

    if isinstance(radius, pt.SingleArm):
        return  # served by the textbook
    engine = P.new_state(program, 1)
    at, rng = 0, np.random.default_rng(seed)
    while at < size and engine.clock[0, P.STATUS] == P.RUNNING:  # blocks of any size
        step = int(rng.integers(1, 60))
        ape.advance(program, engine, np.zeros(1, dtype=np.int64), noise[None, at : at + step])
        at += step
        seen = expected.arms[: engine.clock[0, P.TIME]]
        assert list(engine.counts[0]) == list(np.bincount(seen, minlength=bandit.K))
    assert engine.clock[0, P.TIME] == len(expected.arms)
    _check_stops(engine, expected, bandit.K)


def _check_stops(state, expected, K):
    for g, stop in enumerate(expected.stops):
        assert bool(state.stopped[0, g]) == (stop is not None)
        if stop is not None:
            time, answer, pulls = stop
            assert state.time[0, g] == time
            assert list(state.answer[0, g]) == list(answer)
            assert list(state.pulls[0, g]) == list(pulls)


def test_most_examples_reach_a_decision():
    """The property above would be empty if no goal ever stopped."""
    rng = np.random.default_rng(0)
    stops = []
    for seed in range(40):
        bandit = pt.GaussianBandit(rng.random((5, 2)), 0.1)
        program = build_program(bandit, [pt.ParetoSet(0.1)], pt.APE(), pt.Mixture(), 0.5, None)
        noise = np.empty((400, 2))
        bandit.fill(generator(seed, (0,)), noise)
        stops.append(reference_run(program, noise).stops[0] is not None)
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


def test_tables_and_the_formulas_beyond_them_agree():
    """At the end of the tables l(n), v(n) go on by formula, chi_n by its last ratio."""
    for radius in (pt.Mixture(rho=5.0), pt.KaufmannKoolen(), pt.UnknownScale()):
        bandit = pt.GaussianBandit([[0.0], [1.0]])
        program = build_program(bandit, [pt.ParetoSet()], pt.APE(), radius, 0.1, None)
        last = len(program.table_l) - 1
        for n in (last, last + 1, 10 * last):
            l = arms._arm_l(program.radius, program.rho, float(n))
            v = arms._arm_v(program.radius, program.rho, program.chi, program.chi_ratio, float(n))
            expected_l, expected_v = radius.arm_terms(n, 2, 1, 0.1)
            np.testing.assert_allclose([l, v], [expected_l, expected_v], rtol=1e-14)
        assert program.table_l[last] == arms._arm_l(program.radius, program.rho, float(last))


def test_an_engine_past_its_tables_still_equals_the_reference(monkeypatch):
    """With tables of 8 entries every run leaves them at once."""
    from paretoid.engine import build

    monkeypatch.setattr(build, "_TABLE", 8)
    build._tables.cache_clear()
    try:
        bandit = pt.GaussianBandit([[0.0, 0.3], [0.2, 0.1], [0.1, 0.0]], 0.3)
        program = build_program(bandit, [pt.ParetoSet()], pt.APE(), pt.Mixture(7.0), 0.2, None)
        assert len(program.table_l) == 8
        noise = np.empty((600, 2))
        bandit.fill(generator(3, (0,)), noise)
        expected = reference_run(program, noise)
        engine = P.new_state(program, 1)
        ape.advance(program, engine, np.zeros(1, dtype=np.int64), noise[None])
        assert list(engine.counts[0]) == list(np.bincount(expected.arms, minlength=3))
    finally:
        build._tables.cache_clear()
