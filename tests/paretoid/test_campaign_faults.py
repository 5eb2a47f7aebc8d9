"""Campaigns under attack: killed drivers and workers, raising chunks, damaged files, full disks."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import xarray as xr

import paretoid as pt
from paretoid import writing
from paretoid.runs import dask_cluster, dask_executor, dispatch, store, tiles

TIED = pt.BernoulliBandit([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])  # runs to its budget


def long_campaign() -> pt.Campaign:
    """Ninety-six runs of 100,000 samples: two seconds of work."""
    return pt.Campaign(
        [TIED, TIED], [pt.ParetoSet(), pt.AtMost(1)], deltas=[0.1, 0.05], replications=24,
        max_samples=100_000, seed=5,
    )  # fmt: skip


DRIVER = """
import sys
sys.path.insert(0, {folder!r})
import test_campaign_faults as faults
from paretoid.runs import tiles
tiles._SLICE, tiles._LONGEST = 0.004, 0.014
faults.long_campaign().run(sys.argv[1])
"""


@pytest.fixture(scope="module")
def uninterrupted():
    return long_campaign().run()


@pytest.mark.slow
def test_a_driver_killed_again_and_again_at_random_loses_nothing(tmp_path, uninterrupted, request):
    """SIGKILL after a random number of further files; what is there is used, the rest computed."""
    dice = random.Random(11)
    code = DRIVER.format(folder=str(Path(__file__).parent))
    sizes = [0]
    for _ in range(5 if request.config.getoption("--full") else 2):
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
        begun = _files(tmp_path)
        enough = begun + dice.randint(1, 4)
        while child.poll() is None and _files(tmp_path) < enough:
            time.sleep(0.002)
        time.sleep(dice.random() * 0.02)  # perhaps in the middle of a file
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL, "the campaign ended before it could be killed"
        sizes.append(_files(tmp_path))
    assert sizes == sorted(set(sizes))  # every life added something
    assert not pt.open_campaign(tmp_path, partial=True).finished.all()
    xr.testing.assert_identical(uninterrupted, long_campaign().run(tmp_path).compute())
    assert not list(tmp_path.rglob(".paretoid-*"))


POOL_DRIVER = """
import sys
sys.path.insert(0, {folder!r})
from concurrent.futures import ProcessPoolExecutor
import test_campaign_faults as faults
from paretoid.runs import tiles
tiles._LONGEST = 0.014
with ProcessPoolExecutor(2) as pool:
    faults.long_campaign().run(sys.argv[1], executor=pool)
"""


def test_workers_that_outlive_a_killed_driver_do_not_keep_the_store(tmp_path, uninterrupted):
    code = POOL_DRIVER.format(folder=str(Path(__file__).parent))
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], start_new_session=True)
    try:
        while child.poll() is None and _files(tmp_path) < 2:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)  # the driver alone
        assert child.wait() == -signal.SIGKILL
        xr.testing.assert_identical(uninterrupted, long_campaign().run(tmp_path).compute())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _files(folder: Path) -> int:
    return len(list(folder.glob("chunks/*.nc")))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as running
    ):  # fmt: skip
        yield running


@pytest.mark.slow
def test_a_dask_cluster_of_two_processes_gives_the_same_and_survives_a_killed_worker(
    tmp_path, cluster, uninterrupted, monkeypatch
):
    monkeypatch.setattr(tiles, "_LONGEST", 0.02)
    monkeypatch.setattr(tiles, "_SLICE", 0.01)
    workers = [w.process.pid for w in cluster.workers.values()]
    killed = threading.Event()

    def kill() -> None:
        while _files(tmp_path) < 2:
            time.sleep(0.002)
        os.kill(workers[0], signal.SIGKILL)
        killed.set()

    assassin = threading.Thread(target=kill, daemon=True)
    assassin.start()
    with dask_executor(cluster.scheduler_address) as executor:
        runs = long_campaign().run(tmp_path, executor=executor)
    assassin.join(timeout=30)
    assert killed.is_set()
    xr.testing.assert_identical(uninterrupted, runs.compute())


class Servers:
    """A scheduler and a worker of their own, without a nanny that would revive them."""

    def __init__(self, folder: Path) -> None:
        self.file, self.running = folder / "scheduler.json", []
        self.start("scheduler", "--port", "0", "--no-dashboard")
        self.start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard")

    def start(self, what: str, *options: str) -> None:
        words = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        words += ["--scheduler-file", str(self.file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.running.append(subprocess.Popen(words, cwd=self.file.parent, **quiet))

    @property
    def address(self) -> str:
        while True:
            with contextlib.suppress(OSError, ValueError, KeyError):
                return str(json.loads(self.file.read_text())["address"])
            time.sleep(0.05)


@pytest.fixture
def servers(tmp_path_factory):
    pytest.importorskip("distributed")
    made = Servers(tmp_path_factory.mktemp("dask"))
    yield made
    for process in made.running:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("victim", "how", "trouble"),
    [
        (0, signal.SIGKILL, "does not answer"),
        pytest.param(0, signal.SIGSTOP, "does not answer", marks=pytest.mark.slow),
        # "does not answer" under load
        pytest.param(
            1, signal.SIGKILL, "(has no workers left|does not answer)", marks=pytest.mark.slow
        ),
    ],
    ids=["scheduler killed", "scheduler frozen", "only worker killed"],
)
def test_a_dask_cluster_that_dies_is_given_up_and_the_store_goes_on(
    tmp_path, servers, uninterrupted, monkeypatch, victim, how, trouble
):
    monkeypatch.setattr(tiles, "_LONGEST", 0.02)
    monkeypatch.setattr(tiles, "_SLICE", 0.01)
    monkeypatch.setattr(dispatch, "BEAT", 0.2)
    from distributed import Client

    with Client(servers.address, set_as_default=False) as client:
        client.wait_for_workers(1)

    def kill() -> None:
        while _files(tmp_path) < 2:
            time.sleep(0.002)
        monkeypatch.setattr(dask_cluster, "_PATIENCE", 1)
        monkeypatch.setattr(dask_cluster, "_LIMIT", 2.0)
        servers.running[victim].send_signal(how)

    threading.Thread(target=kill, daemon=True).start()

    def run() -> None:
        with dask_executor(servers.address) as executor:
            long_campaign().run(tmp_path, executor=executor)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(pt.CampaignError, match=rf"{trouble}.* with the same store to go on"):
            run()
    assert any("the Dask scheduler" in str(warning.message) for warning in said)
    assert _files(tmp_path) >= 2
    assert not pt.open_campaign(tmp_path, partial=True).finished.all()
    xr.testing.assert_identical(uninterrupted, long_campaign().run(tmp_path).compute())


def test_a_killed_process_of_a_pool_is_reported_and_the_rest_goes_on_later(tmp_path, uninterrupted):
    def kill_one(pool: ProcessPoolExecutor) -> None:
        while _files(tmp_path) < 1:
            time.sleep(0.002)
        os.kill(next(iter(pool._processes)), signal.SIGKILL)

    with ProcessPoolExecutor(2) as pool:
        assassin = threading.Thread(target=kill_one, args=(pool,), daemon=True)
        assassin.start()
        with pytest.raises(pt.CampaignError, match="with the same store to go on"):
            long_campaign().run(tmp_path, executor=pool)
    assert _files(tmp_path) >= 1
    xr.testing.assert_identical(uninterrupted, long_campaign().run(tmp_path).compute())


class Broken(pt.BernoulliBandit):
    """Raises in the middle, as long as it is told to."""

    broken = True

    def fill(self, rng, noise):
        if self.broken and self.means[0, 0] == 0.8:
            raise ArithmeticError("no such number")
        super().fill(rng, noise)


def test_a_chunk_that_raises_is_reported_with_its_coordinates_and_the_others_finish(
    tmp_path, monkeypatch
):
    bandits = {
        name: Broken([[first, 0.2], [0.1, 0.8]])
        for name, first in (("a", 0.9), ("b", 0.8), ("c", 0.95))
    }
    campaign = pt.Campaign(bandits, replications=1, seed=8, deltas=[0.1])
    monkeypatch.setattr(tiles, "_SHORTEST", 0.0)  # a tile for each instance
    monkeypatch.setattr(pt.Campaign, "_compile", lambda self: None)
    for folder in (None, tmp_path):
        with pytest.raises(pt.CampaignError) as caught:
            campaign.run(folder)
        message = str(caught.value)
        assert "1 chunk failed" in message
        assert "instance 'b', replication 0," in message
        assert "delta=0.1" in message
        assert "SeedSequence(8, spawn_key=(1, 0))" in message
        assert "ArithmeticError: no such number" in message
        there = caught.value.runs
        assert there.finished.sel(instance=["a", "c"]).all()
        assert not there.finished.sel(instance="b").any()
        assert there.stopped.sel(instance=["a", "c"]).all()
        ((where, error),) = caught.value.failures
        assert isinstance(error, ArithmeticError)
        assert where in message
    monkeypatch.setattr(Broken, "broken", False)
    xr.testing.assert_identical(campaign.run(tmp_path).compute(), campaign.run())
    monkeypatch.setattr(Broken, "broken", True)
    with pytest.raises(ArithmeticError):  # simulate is small: it stops at once
        pt.simulate(list(bandits.values()))


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty"])
def test_a_damaged_chunk_is_noticed_and_computed_again(tmp_path, damage, monkeypatch):
    monkeypatch.setattr(tiles, "_LONGEST", 0.02)
    campaign = pt.Campaign([TIED, TIED], replications=8, max_samples=20_000, seed=1)
    whole = campaign.run(tmp_path).compute()
    path = sorted(tmp_path.glob("chunks/*.nc"))[1]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    new = {"truncated": data[: len(data) // 2], "flipped": data, "empty": b""}[damage]
    path.write_bytes(bytes(new))
    with pytest.raises(ValueError, match=f"{path.name} is missing or damaged"):
        pt.open_campaign(tmp_path).compute()
    with pytest.warns(UserWarning, match="is damaged"):
        again = campaign.run(tmp_path)
    xr.testing.assert_identical(whole, again.compute())


def test_a_damaged_checkpoint_only_costs_time(tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "_SLICE", 0.002)
    campaign = pt.Campaign(TIED, max_samples=300_000, seed=1)
    expected = campaign.run()
    keep = store.Store.pause

    def pause_and_stop(self, tile, checkpoint):
        keep(self, tile, checkpoint)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "pause", pause_and_stop)
        with pytest.raises(KeyboardInterrupt):
            campaign.run(tmp_path)
    (path,) = (tmp_path / "checkpoints").iterdir()
    path.write_bytes(path.read_bytes()[:-10])
    xr.testing.assert_identical(expected, campaign.run(tmp_path).compute())


def test_a_full_disk_is_a_clear_error_and_the_store_stays_valid(tmp_path, monkeypatch):
    monkeypatch.setattr(tiles, "_LONGEST", 0.02)
    campaign = pt.Campaign([TIED, TIED], replications=8, max_samples=20_000, seed=1)
    expected, flush, room = campaign.run(), writing.sync, iter(range(4))

    def full(path: Path) -> None:
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(path)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "sync", full)
        with pytest.raises(OSError, match=r"No space left.*make room and run the same campaign"):
            campaign.run(tmp_path)
    assert _files(tmp_path) == 3  # and the manifest
    assert not list(tmp_path.rglob(".paretoid-*"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is damaged
        xr.testing.assert_identical(expected, campaign.run(tmp_path).compute())


def test_one_writer_at_a_time(tmp_path):
    campaign = pt.Campaign(TIED, max_samples=100)
    with (
        store.Store.attach(tmp_path, campaign),
        pytest.raises(ValueError, match="another process runs this campaign"),
    ):
        campaign.run(tmp_path)
    campaign.run(tmp_path)


def test_an_unreachable_scheduler_says_what_to_check():
    with socket.socket() as silent:  # it listens and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(ValueError, match=r"no Dask scheduler answers.*Check that it runs"),
            dask_executor(address),
        ):
            pass
    for bad in ("nonsense", "tcp://127.0.0.1", "", "tls://127.0.0.1:1", "ucx://127.0.0.1:1"):
        with pytest.raises(ValueError, match="no Dask scheduler"), dask_executor(bad):
            pass
