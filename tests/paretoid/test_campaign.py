"""Campaigns: the grid, equality with simulate on every executor, growing, pausing, bad input."""

from __future__ import annotations

import json
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid.estimation.instances import PlannedBandit
from paretoid.runs import dispatch, progress, tiles
from paretoid.runs.chunk import Checkpoint, advance_chunk, run_chunk
from paretoid.runs.dispatch import Task
from paretoid.runs.feasibility import expected_samples
from paretoid.runs.setting import Setting
from paretoid.runs.store import checkpoint_bytes, checkpoint_from
from paretoid.runs.tiles import Tile, Work
from paretoid.theory import sample_bound

MEANS = [[1.0, 0.0], [0.0, 1.0], [0.4, 0.4], [-0.5, -0.2]]
BANDIT = pt.GaussianBandit(MEANS, [0.5, 0.7], arms=list("abcd"), objectives=["gain", "speed"])
BANDITS = {
    "easy": BANDIT,
    "middle": pt.GaussianBandit(np.array(MEANS) / 2, [0.5, 0.7], arms=list("abcd"),
                                objectives=["gain", "speed"]),
    "hard": pt.GaussianBandit(np.array(MEANS) / 5, [0.5, 0.7], arms=list("abcd"),
                              objectives=["gain", "speed"]),
}  # fmt: skip
OTHER = pt.BernoulliBandit([[0.9, 0.1], [0.1, 0.9]])
GOALS = [pt.ParetoSet(), pt.AtMost(k=2), pt.Cover(eps2=0.3), pt.ParetoSet(eps1=0.2)]
RADII = [pt.Mixture(), pt.KaufmannKoolen("approximate", union="none")]


def campaign(replications=6, **changes):
    return pt.Campaign(
        **{
            "bandits": BANDITS, "goals": GOALS, "radii": RADII, "deltas": [0.1, 0.01],
            "replications": replications, "seed": 3, **changes,
        }
    )  # fmt: skip


class Immediate(Executor):
    """Runs a task as it is submitted, and remembers it; raises Ctrl-C at the n-th."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.tasks: list[tuple[Work, Checkpoint | None]] = []
        self.stop_at = stop_at
        self._max_workers = 1

    def submit(self, function, *arguments):
        if len(self.tasks) == self.stop_at:
            raise KeyboardInterrupt
        self.tasks.append((function, arguments[0]))
        future: Future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    @property
    def runs(self) -> int:
        return sum(work.runs for work, start in self.tasks if start is None)


@pytest.fixture
def small_tiles(monkeypatch):
    """Many tiles, and long runs in many slices."""
    monkeypatch.setattr(tiles, "_LONGEST", 1e-3)
    monkeypatch.setattr(tiles, "_SHORTEST", 0.0)
    monkeypatch.setattr(tiles, "_SLICE", 1e-4)


def test_the_dataset_names_every_dimension_of_the_grid():
    runs = campaign().run()
    assert runs.sizes == {
        "instance": 3, "radius": 2, "delta": 2, "goal": 4, "replication": 6, "arm": 4,
        "objective": 2,
    }  # fmt: skip
    assert list(runs.instance.values) == ["easy", "middle", "hard"]
    assert list(runs.radius.values) == [repr(radius) for radius in RADII]
    assert list(runs.guarantee.values) == ["proved", "heuristic"]
    assert list(runs.goal.values) == [str(goal) for goal in GOALS]
    assert (runs.means.sel(instance="easy").values == MEANS).all()
    assert (runs.stopping_time == runs.pulls.sum("arm")).all()
    assert runs.stopped.all()
    assert runs.attrs["seed"] == 3
    assert runs.attrs["outcomes"] == "independent gaussian"
    assert campaign(1, bandits=OTHER).run().attrs["outcomes"] == "bernoulli"


def test_each_cell_is_what_simulate_gives():
    runs = campaign().run()
    for q, radius in enumerate(RADII):
        for d, delta in enumerate((0.1, 0.01)):
            cell = runs.isel(radius=q, delta=d)
            alone = pt.simulate(
                list(BANDITS.values()), GOALS, radius=radius, delta=delta, replications=6, seed=3
            )
            for name in alone.data_vars:
                assert (cell[name].values == alone[name].values).all()
    single = campaign(bandits=BANDIT).run()
    alone = pt.simulate(BANDIT, GOALS, radius=RADII[1], delta=0.01, replications=6, seed=3)
    assert "instance" not in single.dims
    assert (single.pulls.isel(radius=1, delta=1).values == alone.pulls.values).all()


def test_executors_stores_tiles_and_slices_change_nothing(tmp_path, small_tiles):
    whole = campaign(3).run(executor=Immediate())
    assert len(list(tiles.cut(campaign(3), [], 2))) > 20
    with ThreadPoolExecutor(2) as threads:
        xr.testing.assert_identical(whole, campaign(3).run(executor=threads))
    with ProcessPoolExecutor(2) as processes:
        stored = campaign(3).run(tmp_path / "store", executor=processes)
    xr.testing.assert_identical(whole, stored.compute())
    xr.testing.assert_identical(whole, pt.open_campaign(tmp_path / "store").compute())
    assert not list((tmp_path / "store").rglob(".paretoid-*"))
    assert not list((tmp_path / "store" / "checkpoints").iterdir())


def test_a_finished_campaign_computes_nothing_again(tmp_path):
    first = campaign().run(tmp_path).compute()
    again = Immediate()
    xr.testing.assert_identical(first, campaign().run(tmp_path, executor=again).compute())
    assert again.tasks == []


def test_growing_reuses_what_exists(tmp_path):
    small = campaign(4).run(tmp_path).compute()
    more = Immediate()
    large = campaign(9).run(tmp_path, executor=more).compute()
    streams, cells = 2, 3 * 2 * 2  # two values of eps1; instances x radii x deltas
    assert more.runs == 5 * streams * cells
    xr.testing.assert_identical(large, campaign(9).run())
    xr.testing.assert_identical(large.isel(replication=slice(4)), small)
    xr.testing.assert_identical(campaign(4).run(tmp_path).compute(), small)  # fewer: a part of it


def test_a_chunk_goes_on_from_a_checkpoint_as_if_it_had_never_stopped():
    """Through bytes and back at every pause, for every kind of radius and outcome."""
    bernoulli = pt.BernoulliBandit([[0.58, 0.43], [0.43, 0.57], [0.5, 0.4]])
    cases = [
        (BANDITS["hard"], pt.APE(), pt.UnknownScale()),
        (bernoulli, pt.APE(pull="both"), pt.Mixture()),
        (bernoulli, pt.APE(), pt.LUCB1Like()),
        (bernoulli, pt.UniformElimination(), pt.KaufmannKoolen()),
    ]
    for bandit, rule, radius in cases:
        setting = Setting(bandit, (pt.ParetoSet(),), rule, radius, 0.1, None)
        keys = [(r,) for r in range(5)]
        whole = run_chunk(setting, 7, keys)
        pauses, reached = 0, [0]
        state = advance_chunk(setting, 7, keys, None, 1)
        while isinstance(state, Checkpoint):
            reached.append(state.samples)
            state = advance_chunk(setting, 7, keys, checkpoint_from(checkpoint_bytes(state)), 1)
            pauses += 1
        assert pauses >= 2
        assert reached == sorted(set(reached))
        for name in ("stopping_time", "stopped", "answer", "pulls"):
            assert (getattr(state, name) == getattr(whole, name)).all()


def test_goals_may_be_an_iterator():
    assert campaign(1, deltas=[0.1, 0.2], goals=iter(GOALS)).goals == GOALS


def test_fewer_replications_of_an_unfinished_store_are_what_was_asked_for(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        campaign(8, bandits=BANDIT).run(tmp_path, executor=Immediate(stop_at=0))
    few = campaign(2, bandits=BANDIT).run(tmp_path).compute()
    xr.testing.assert_identical(few, campaign(2, bandits=BANDIT).run())
    with pytest.raises(ValueError, match="is not finished"):
        pt.open_campaign(tmp_path)


def test_a_slice_is_never_empty(monkeypatch):
    """With so many arms the loop takes longer than a slice for one sample."""
    means = np.random.default_rng(0).random((3100, 10))
    large = pt.Campaign(pt.BernoulliBandit(means), radii=pt.LUCB1Like(), max_samples=5)
    monkeypatch.setattr(tiles, "_SLICE", 1e-6)
    assert tiles.work_of(large, Tile(0, 0, 0, 0, 1, 0, 1)).samples == 1


def test_ctrl_c_leaves_a_store_that_goes_on_where_a_long_run_was(tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "_SLICE", 2e-3)
    tied = pt.GaussianBandit([[0.0, 0.0], [0.0, 0.0]], 1.0)
    far = pt.Campaign(tied, max_samples=600_000, seed=1)
    whole = Immediate()
    expected = far.run(executor=whole)
    assert len(whole.tasks) > 4
    with pytest.raises(KeyboardInterrupt) as caught:
        far.run(tmp_path, executor=Immediate(stop_at=3))
    assert "run the same campaign again to go on" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="not finished: 1 of 1"):
        pt.open_campaign(tmp_path)
    assert not pt.open_campaign(tmp_path, partial=True).finished.any()
    rest = Immediate()
    xr.testing.assert_identical(expected, far.run(tmp_path, executor=rest).compute())
    assert len(rest.tasks) == len(whole.tasks) - 3  # nothing was computed twice
    assert isinstance(rest.tasks[0][1], Checkpoint)


def test_the_longest_expected_goes_first_and_a_paused_one_is_not_forgotten():
    ended = []
    work = Work(0, (), 0, 0, 1)
    tasks = [Task(Tile(0, 0, 0, i, i + 1, 0, 1), work, s) for i, s in enumerate([1.0, 3.0, 2.0])]
    pause = Checkpoint(None, None, (), 0)
    outcomes = iter([pause, (), (), ()])  # in the order of submission: the first one pauses once
    order = []

    class Recorder(Immediate):
        def submit(self, function, start):
            order.append(start)
            return super().submit(lambda _: next(outcomes), start)

    for task, outcome in dispatch.dispatch(tasks, Recorder()):
        ended.append((task.seconds, outcome))
    assert (3.0, pause) in ended  # so it was the first
    assert sorted(seconds for seconds, outcome in ended if outcome == ()) == [1.0, 2.0, 3.0]
    assert order.count(pause) == 1  # and went on from there


def test_what_is_expected_is_about_the_sharp_bound():
    """Within 10%: the inversion interpolates between powers of two."""
    for bandit in BANDITS.values():
        for radius in (pt.Mixture(), pt.KaufmannKoolen()):
            for goals, k in (([pt.ParetoSet(), pt.AtMost(1)], None), ([pt.AtMost(1)], 1)):
                sharp = sample_bound(bandit.means, 0.1, radius, k=k, scale=bandit.scale)
                ours = expected_samples(bandit, goals, radius, 0.1)
                assert abs(ours / float(sharp) - 1) < 0.1
    tied = pt.GaussianBandit([[0.0, 0.0], [0.0, 0.0]], 1.0)
    assert expected_samples(tied, [pt.ParetoSet()], pt.Mixture(), 0.1) == np.inf


@pytest.mark.parametrize("seconds", [1e-3, 10.0])
def test_tiles_cover_every_missing_run_once(seconds, monkeypatch):
    monkeypatch.setattr(tiles, "_LONGEST", seconds)
    monkeypatch.setattr(tiles, "_SHORTEST", seconds)  # 10: as many instances as can be in a tile
    grid = campaign(11)
    done = [Tile(0, 0, 0, 0, 2, 3, 7), Tile(1, 1, 1, 2, 3, 0, 11), Tile(0, 1, 0, 1, 2, 0, 11)]
    count = np.zeros((2, 2, 2, 3, 11), dtype=int)
    for tile in [*done, *tiles.cut(grid, done, 3)]:
        count[tile.radius, tile.delta, tile.stream, tile.first_instance : tile.last_instance,
              tile.first : tile.last] += 1  # fmt: skip
    assert (count == 1).all()


@pytest.mark.parametrize("seconds", [2e-3, 10.0])
def test_results_open_lazily_with_and_without_dask(tmp_path, monkeypatch, seconds):
    monkeypatch.setattr(tiles, "_LONGEST", seconds)
    monkeypatch.setattr(tiles, "_SHORTEST", seconds)  # 10: parts of a tile are read
    whole = campaign(deltas=0.1).run(tmp_path).compute()
    lazy = pt.open_campaign(tmp_path)
    assert all(lazy[name].chunks is not None for name in ("pulls", "answer", "stopping_time"))
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setattr("paretoid.runs.reading.find_spec", lambda name: None)
    plain = pt.open_campaign(tmp_path)
    assert plain.pulls.chunks is None
    assert not plain.pulls.variable._in_memory
    picks = {"goal": [2, 0], "replication": slice(5, 1, -2), "instance": 1, "arm": [3, 1]}
    xr.testing.assert_identical(plain.isel(picks).load(), whole.isel(picks))
    xr.testing.assert_identical(plain.load(), whole)


def test_progress_is_a_line_where_there_is_no_terminal_and_a_bar_where_there_is(
    capsys, caplog, monkeypatch
):
    caplog.set_level("INFO", "paretoid")
    campaign(1, max_samples=20, deltas=0.1).run(progress=True)
    assert capsys.readouterr().out == ""
    assert "12/12 runs" in caplog.text
    assert "12 censored" in caplog.text
    assert "\x1b" not in caplog.text
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    campaign(1).run(progress=True)
    assert "samples/s" in capsys.readouterr().err


def test_the_time_left_is_that_of_the_bounds(monkeypatch):
    """A quarter of the expected work took 10 s, so the rest takes 30."""
    clock = iter([100.0, 110.0, 110.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.Progress(False, 10, 8.0) as shown:
        shown.advance(1, 5, 0, 2.0)
        assert "0:30 left" in str(shown)


BAD = [
    ({"bandits": []}, "non-empty"),
    ({"bandits": {}}, "non-empty"),
    ({"radii": []}, "the grid is empty"),
    ({"deltas": []}, "the grid is empty"),
    ({"goals": []}, "must be one or more"),
    ({"replications": 0}, "replications=0"),
    ({"deltas": [0.1, 0.1]}, "deltas repeats 0.1"),
    ({"deltas": [0.1, 1.5]}, "delta=1.5"),
    ({"deltas": "0.1"}, "delta='0.1'"),
    ({"bandits": 5}, "must be a Bandit"),
    ({"goals": 5}, "must be one or more"),
    ({"radii": 5}, "radius=5 must be one of"),
    ({"bandits": [BANDIT], "labels": 5}, "labels=5 must be 1 names"),
    ({"radii": [pt.Mixture(), pt.Mixture()]}, "radii repeats"),
    ({"radii": ["Mixture"]}, "must be one of Mixture"),
    ({"bandits": [BANDIT, BANDIT], "labels": ["x", "x"]}, "labels repeats 'x'"),
    ({"bandits": [BANDIT, BANDIT], "labels": ["x"]}, "must be 2 names"),
    ({"labels": ["x"]}, "a mapping has its own"),
    ({"seed": -1}, "seed=-1"),
    ({"bandits": pt.GaussianBandit([[0.0, 0.0], [0.0, 0.0]], 1.0), "goals": None}, "never stop"),
]


@pytest.mark.parametrize(("changes", "words"), BAD, ids=lambda x: str(x)[:30])
def test_a_bad_grid_is_refused_with_a_reason(changes, words):
    with pytest.raises(ValueError, match=words):
        campaign(**changes)


def test_an_executor_must_be_one():
    with pytest.raises(ValueError, match=r"client\.get_executor"):
        campaign().run(executor=3)


def test_another_campaign_in_the_same_directory_is_refused_and_the_difference_shown(tmp_path):
    campaign(1).run(tmp_path)
    with pytest.raises(ValueError, match=r"deltas\[1\] is 0.01 there, 0.02 here"):
        campaign(1, deltas=[0.1, 0.02]).run(tmp_path)
    with pytest.raises(ValueError, match="seed is 3 there, 4 here"):
        campaign(1, seed=4).run(tmp_path)
    other = {**BANDITS, "easy": BANDITS["hard"]}
    with pytest.raises(ValueError, match=r"instances\[0\].means\[0\]\[0\] is 1.0 there, 0.2 here"):
        campaign(1, bandits=other).run(tmp_path)


def test_bandits_of_the_same_means_and_scale_are_told_apart_by_what_they_draw(tmp_path):
    def resampled(second):
        return pt.ResampledBandit([[[0.0], [1.0]], second], bounds=(0, 4))

    pairs = [
        (resampled([[2.0], [4.0]]), resampled([[3.0], [3.0]])),
        (PlannedBandit(MEANS, 0.5, 1.0), PlannedBandit(MEANS, 0.6, 1.0)),
    ]
    for number, (one, other) in enumerate(pairs):
        assert (one.means == other.means).all()
        assert (one.scale == other.scale).all()
        pt.Campaign(one, max_samples=50).run(tmp_path / str(number))
        with pytest.raises(ValueError, match="drawn from is"):
            pt.Campaign(other, max_samples=50).run(tmp_path / str(number))


def test_stores_that_cannot_be_used_say_why(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be written: Not a directory"):
        campaign(1).run(tmp_path / "file" / "store")
    with pytest.raises(ValueError, match="is no campaign"):
        pt.open_campaign(tmp_path)
    store = tmp_path / "store"
    campaign(1).run(store)
    manifest = json.loads((store / "campaign.json").read_text())
    (store / "campaign.json").write_text(json.dumps({**manifest, "format": 99}))
    for use in (lambda: campaign(1).run(store), lambda: pt.open_campaign(store)):
        with pytest.raises(ValueError, match=r"format 99.*Upgrade paretoid"):
            use()
    for lost in ("campaign", "replications", "kernels"):
        part = {key: value for key, value in manifest.items() if key != lost}
        (store / "campaign.json").write_text(json.dumps(part))
        with pytest.raises(ValueError, match="cannot be read"):
            pt.open_campaign(store)
    (store / "campaign.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        pt.open_campaign(store)
    (store / "campaign.json").unlink()
    with pytest.raises(ValueError, match="nobody knows what they are"):
        campaign(1).run(store)


def test_the_manifest_names_configuration_versions_and_seed(tmp_path):
    campaign(1).run(tmp_path)
    manifest = json.loads((tmp_path / "campaign.json").read_text())
    assert manifest["campaign"]["seed"] == 3
    assert manifest["campaign"]["radii"] == [repr(radius) for radius in RADII]
    assert manifest["campaign"]["instances"][0]["means"] == MEANS
    assert manifest["versions"]["paretoid"] == pt.__version__
    assert manifest["versions"]["numpy"] == np.__version__


def test_a_chunk_file_explains_itself(tmp_path):
    runs = campaign(2).run(tmp_path).compute()
    for path in (tmp_path / "chunks").iterdir():
        with xr.open_dataset(path, engine="h5netcdf") as chunk:
            there = runs.sel(radius=chunk.attrs["radius"], delta=chunk.attrs["delta"]).sel(
                goal=chunk.goal, instance=chunk.instance, replication=chunk.replication
            )
            assert chunk.attrs["seed"] == 3
            for name in chunk.data_vars:
                assert (there[name].transpose(*chunk[name].dims).values == chunk[name].values).all()
