"""The contract of simulate: shapes, streams, seeds, budgets, and published figures."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid.runs import chunk, tiles
from paretoid.runs.setting import Setting, streams_of

BANDIT = pt.GaussianBandit(
    [[1.0, 0.0], [0.0, 1.0], [0.4, 0.4], [-0.5, -0.2]],
    [0.5, 0.7],
    arms=["a", "b", "c", "d"],
    objectives=["gain", "speed"],
)
GOALS = [pt.ParetoSet(), pt.AtMost(k=2), pt.Cover(eps2=0.3), pt.ParetoSet(eps1=0.2)]


def test_the_dataset_has_the_promised_shape_and_attributes():
    runs = pt.simulate(BANDIT, GOALS, replications=3, seed=4, delta=0.2)
    assert runs.sizes == {"goal": 4, "replication": 3, "arm": 4}
    assert list(runs.arm.values) == ["a", "b", "c", "d"]
    assert list(runs.goal.values) == [str(g) for g in GOALS]
    assert runs.stopping_time.dims == ("goal", "replication")
    assert runs.answer.dims == runs.pulls.dims == ("goal", "replication", "arm")
    assert (runs.stopping_time == runs.pulls.sum("arm")).all()
    assert runs.stopped.all()
    attrs = runs.attrs
    assert (attrs["seed"], attrs["delta"], attrs["guarantee"]) == (4, 0.2, "proved")
    assert attrs["rule"] == "APE(pull='less sampled')"
    assert attrs["radius"] == "Mixture(rho=30.0, union='claims', sides='one')"
    assert attrs["paretoid"] == pt.__version__


def test_a_dataset_survives_netcdf(tmp_path):
    runs = pt.simulate(BANDIT, GOALS, replications=3)
    runs.to_netcdf(tmp_path / "runs.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "runs.nc", engine="h5netcdf") as back:
        xr.testing.assert_equal(back.load().astype(runs.dtypes), runs)


def test_a_sequence_of_bandits_gains_a_dimension():
    bandits = [pt.BernoulliBandit(np.random.default_rng(i).random((3, 2))) for i in range(5)]
    runs = pt.simulate(bandits, [pt.ParetoSet(0.1)], replications=2, seed=9, max_samples=5000)
    assert runs.sizes == {"instance": 5, "goal": 1, "replication": 2, "arm": 3}
    pulls = runs.pulls.values
    assert len({tuple(pulls[i, 0, r]) for i in range(5) for r in range(2)}) == 10


def test_workers_executors_and_chunks_change_nothing(monkeypatch):
    whole = pt.simulate(BANDIT, GOALS, replications=20, seed=1)
    with ThreadPoolExecutor(1) as one:
        xr.testing.assert_identical(
            whole, pt.simulate(BANDIT, GOALS, replications=20, seed=1, executor=one)
        )
    with ProcessPoolExecutor(2) as processes:
        xr.testing.assert_identical(
            whole, pt.simulate(BANDIT, GOALS, replications=20, seed=1, executor=processes)
        )
    monkeypatch.setattr(tiles, "_CHUNK", 3)
    monkeypatch.setattr(tiles, "_LONGEST", 0.001)
    monkeypatch.setattr(tiles, "_SHORTEST", 0.0)
    monkeypatch.setattr(tiles, "_SLICE", 1e-5)
    monkeypatch.setattr(chunk, "_NOISE", 100)
    xr.testing.assert_identical(whole, pt.simulate(BANDIT, GOALS, replications=20, seed=1))


def test_more_replications_extend_and_each_replays_alone():
    few = pt.simulate(BANDIT, GOALS[0], replications=4, seed=1)
    many = pt.simulate(BANDIT, GOALS[0], replications=9, seed=1)
    xr.testing.assert_equal(few, many.isel(replication=slice(4)))
    for r in (0, 3):
        alone = pt.run_once(BANDIT, GOALS[0], seed=1, replication=r)
        assert alone.stopping_time == many.stopping_time.values[0, r]
        assert list(alone.pulls) == list(many.pulls.values[0, r])
        assert list(alone.answer) == list(many.answer.values[0, r])
        assert list(np.bincount(alone.arm, minlength=4)) == list(alone.pulls)


def test_replications_and_seeds_differ():
    runs = pt.simulate(BANDIT, GOALS[0], replications=30, seed=1)
    other = pt.simulate(BANDIT, GOALS[0], replications=30, seed=2)
    assert len({tuple(p) for p in runs.pulls.values[0]}) == 30
    assert (runs.pulls.values != other.pulls.values).any()


def test_the_stream_is_the_prescribed_one():
    """Instance i, replication r: SFC64(SeedSequence(seed, spawn_key=(i, r))), or (r,)."""
    expected = np.random.Generator(np.random.SFC64(np.random.SeedSequence(7, spawn_key=(3,))))
    run = pt.run_once(BANDIT, seed=7, replication=3)
    noise = expected.standard_normal((len(run.arm), 2))
    np.testing.assert_array_equal(
        run.outcome, BANDIT.means[run.arm] + BANDIT.scale[run.arm] * noise
    )
    single = pt.simulate([BANDIT, BANDIT], GOALS[0], replications=1, seed=7)
    stream = np.random.Generator(np.random.SFC64(np.random.SeedSequence(7, spawn_key=(1, 0))))
    alone = chunk.run_chunk(
        Setting(BANDIT, (GOALS[0],), pt.APE(), pt.Mixture(), 0.1, None), 7, [(1, 0)]
    )
    assert single.stopping_time.values[1, 0, 0] == alone.stopping_time[0, 0]
    assert stream.random() == chunk.generator(7, (1, 0)).random()


def test_goals_are_read_off_one_stream_only_when_they_share_eps1():
    """Alone or together, a goal's result is the same: other goals never steer the sampling."""
    together = pt.simulate(BANDIT, GOALS, replications=6, seed=3)
    for g, goal in enumerate(GOALS):
        alone = pt.simulate(BANDIT, goal, replications=6, seed=3)
        xr.testing.assert_equal(together.isel(goal=[g]), alone)
    assert streams_of(GOALS, 2) == [[2, 0, 1], [3]]


def test_tau_is_monotone_in_k_and_eps2_on_one_stream():
    bandit = pt.GaussianBandit(np.random.default_rng(5).normal(size=(6, 2)), 0.5)
    by_k = pt.simulate(bandit, [pt.AtMost(k, 0.05) for k in range(1, 7)], replications=40, seed=2)
    assert (by_k.stopping_time.diff("goal") >= 0).all()
    assert (by_k.stopping_time.diff("goal") > 0).any()
    covers = [pt.Cover(0.05, e) for e in (0.0, 0.1, 0.3, 1.0)]
    by_eps = pt.simulate(bandit, covers, replications=40, seed=2)
    assert (by_eps.stopping_time.diff("goal") <= 0).all()
    assert (by_eps.stopping_time.diff("goal") < 0).any()
    whole = pt.simulate(bandit, [pt.ParetoSet(0.05), covers[0]], replications=40, seed=2)
    assert (whole.stopping_time[0] == whole.stopping_time[1]).all()  # eps2 = 0 is the same test


def test_at_most_answers_with_exactly_k_arms_when_k_stops_it():
    bandit = pt.GaussianBandit([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0]], 0.3)
    runs = pt.simulate(bandit, [pt.AtMost(k) for k in (1, 2, 3)], replications=30, seed=1)
    assert (runs.answer.sum("arm").values == np.array([[1], [2], [3]])).all()
    assert runs.correct.all()


def test_a_budget_that_runs_out_is_a_value_not_an_error():
    runs = pt.simulate(BANDIT, GOALS[0], replications=5, seed=1, max_samples=30)
    assert not runs.stopped.any()
    assert not runs.correct.any()
    assert not runs.answer.any()
    assert (runs.stopping_time == 30).all()
    tiny = pt.simulate(BANDIT, GOALS[0], max_samples=2)  # not even one sample of each arm
    assert tiny.pulls.values.tolist() == [[[1, 1, 0, 0]]]
    both = pt.simulate(
        BANDIT, GOALS[0], rule=pt.APE(pull="both"), radius=pt.Mixture(sides="two"), max_samples=31
    )
    assert both.stopping_time.item() == 30  # a pair does not fit into one sample


def test_a_run_may_stop_exactly_at_its_budget():
    free = pt.simulate(BANDIT, GOALS[0], seed=1)
    time = free.stopping_time.item()
    exact = pt.simulate(BANDIT, GOALS[0], seed=1, max_samples=time)
    short = pt.simulate(BANDIT, GOALS[0], seed=1, max_samples=time - 1)
    assert exact.stopped.item()
    assert exact.stopping_time.item() == time
    assert not short.stopped.item()


def test_minimised_objectives_mirror_the_problem():
    mirrored = pt.GaussianBandit(
        BANDIT.means * [1, -1], [0.5, 0.7], objectives=["gain", "time"], minimize=["time"]
    )
    runs = pt.simulate(mirrored, GOALS, replications=20, seed=6)
    assert runs.correct.all()
    assert (runs.answer.isel(goal=0).values == [True, True, True, False]).all()
    trace = pt.run_once(mirrored, seed=6)
    assert abs(trace.outcome[trace.arm == 1].mean(axis=0) - [0, -1]).max() < 0.3


def test_units_do_not_matter():
    """Rescaling an objective, its scale and its eps changes no sample."""
    factor = np.array([1000.0, 0.25])  # 0.25 is exact, 1000 rounds: times may not be bit-equal
    scaled = pt.GaussianBandit(BANDIT.means * factor, BANDIT.scale[0] * factor)
    eps = np.array([0.2, 0.1])
    ours = pt.simulate(BANDIT, pt.Cover(eps, eps), replications=20, seed=8)
    theirs = pt.simulate(scaled, pt.Cover(eps * factor, eps * factor), replications=20, seed=8)
    assert (ours.stopping_time.values == theirs.stopping_time.values).mean() >= 0.9


# Independent implementations gave these means over 400 runs (exact set; k = 1; k = 2), standard
# error about 1.5%. Ours has about the same, so 8% is 3.8 standard errors of the difference: a
# correct engine fails one of the 13 comparisons for about 1 seed in 500.
COVBOOST = [
    (pt.KaufmannKoolen("approximate", union="none"), (27_600, 2_400, 12_100)),
    pytest.param(pt.KaufmannKoolen(), (49_000, 4_540, 21_900), marks=pytest.mark.slow),
    pytest.param(
        pt.Mixture(rho=100.0, union="pairs"), (29_500, 3_100, 12_900), marks=pytest.mark.slow
    ),
    pytest.param(
        pt.Mixture(rho=100.0, sides="two"), (27_700, 2_560, 10_800), marks=pytest.mark.slow
    ),
    (pt.Mixture(rho=100.0), (26_100, 2_360, 10_700)),
    pytest.param(
        pt.UnknownScale(rho=100.0, w=0.1, a=3.0, union="pairs"), (32_700,), marks=pytest.mark.slow
    ),
]


@pytest.mark.parametrize(("radius", "expected"), COVBOOST, ids=lambda x: str(x)[:40])
def test_covboost_needs_the_published_number_of_samples(radius, expected):
    goals = [pt.ParetoSet(), pt.AtMost(1), pt.AtMost(2)][: len(expected)]
    runs = pt.simulate(
        pt.load_instance("covboost"), goals, radius=radius, delta=0.1, replications=400, seed=1
    )
    np.testing.assert_allclose(runs.stopping_time.mean("replication"), expected, rtol=0.08)
    assert runs.correct.mean() > 0.99  # delta is 0.1; errors are far rarer in practice
