"""Faults under a campaign's store: drivers killed, bytes changed, the disk full, the power cut.

Whatever happened, the same campaign is then run again on what is there. Its results must be those
of an uninterrupted run, or the store be refused in a sentence (a manifest that was changed).
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import xarray as xr

import paretoid as pt
from paretoid.validation.faults.damage import damaged
from paretoid.validation.faults.disk import Disk, recorded

_TIED = pt.BernoulliBandit([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])  # runs to its budget

_CHILD = """
import sys
if int(sys.argv[2]):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from paretoid.validation.faults.store import run
run(sys.argv[1])
"""


def campaign() -> pt.Campaign:
    """Sixteen runs of 100,000 samples, a third of a second.

    >>> campaign().replications
    4
    """
    return pt.Campaign(
        [_TIED, _TIED], [pt.ParetoSet(), pt.AtMost(1)], deltas=[0.1, 0.05], replications=4,
        max_samples=100_000, seed=5,
    )  # fmt: skip


def run(folder: str | Path | None) -> xr.Dataset:
    """The campaign in this store, in slices so short that it is often in mid-course."""
    from paretoid.runs import tiles

    kept = tiles._SLICE, tiles._LONGEST
    tiles._SLICE, tiles._LONGEST = 0.004, 0.014
    try:
        with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged chunk is computed again
            return campaign().run(folder, executor=pool).compute()
    finally:
        tiles._SLICE, tiles._LONGEST = kept


def _writer(folder: Path, limit: int = 0) -> list[str]:
    return [sys.executable, "-c", _CHILD, str(folder), str(limit)]


def _check(folder: Path, right: xr.Dataset, counts: Counter[str]) -> None:
    """Count what comes of running the campaign again."""
    try:
        counts["same" if run(folder).identical(right) else "different"] += 1
    except ValueError:
        counts["refused"] += 1


def _counts(**first: int) -> Counter[str]:
    return Counter(**first, same=0, refused=0, different=0)


def kills(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of stores whose drivers were killed."""
    right, counts = run(None), _counts(kills=times)
    for number in range(times):
        store = folder / f"killed{number}"
        child = subprocess.Popen(_writer(store))
        while child.poll() is None and not (store / "campaign.json").exists():
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.3))
        child.send_signal(signal.SIGKILL)
        child.wait()
        _check(store, right, counts)
        shutil.rmtree(store)
    return counts


def _changed(pattern: str, times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of stores in which one file of this kind was changed."""
    right, whole, counts = run(None), folder / "whole", _counts(changed=times)
    run(whole)
    _half_way(whole)
    for number in range(times):
        store = folder / f"changed{number}"
        shutil.copytree(whole, store)
        victim = rng.choice(sorted(store.glob(pattern)))
        victim.write_bytes(damaged(victim.read_bytes(), rng))
        _check(store, right, counts)
        shutil.rmtree(store)
    return counts


changed_manifests = partial(_changed, "campaign.json")
changed_chunks = partial(_changed, "chunks/*.nc")
changed_checkpoints = partial(_changed, "checkpoints/*.npz")


def _half_way(store: Path) -> None:
    """Kill drivers of a store with one chunk until one leaves a checkpoint."""
    first, *_ = sorted(store.glob("chunks/*.nc"))
    while not list(store.glob("checkpoints/*.npz")):
        for path in set(store.glob("chunks/*.nc")) - {first}:
            path.unlink()
        child = subprocess.Popen(_writer(store))
        while child.poll() is None and not list(store.glob("checkpoints/*.npz")):
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()


def disk_full(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of stores whose drivers met a full disk: no file may exceed a random size."""
    right, counts = run(None), _counts(full_disks=times)
    for number in range(times):
        store = folder / f"full{number}"
        subprocess.run(_writer(store, rng.randint(1, 30_000)), capture_output=True, check=False)
        if store.exists():
            _check(store, right, counts)
            shutil.rmtree(store)
        else:
            counts["same"] += 1
    return counts


def power_cuts(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of what the disk may hold of a store when the power was cut under its driver."""
    right, home = run(None), folder / "power"
    calls = recorded(_writer(home), home)
    counts = _counts(power_cuts=times)
    for number in range(times):
        disk = Disk(str(home))
        for call in calls[: rng.randint(0, len(calls))]:
            disk.do(call)
        store = folder / f"after{number}"
        store.mkdir()
        for name, data in disk.after_power_cut(rng).items():
            path = store / Path(name).relative_to(home)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        _check(store, right, counts)
        shutil.rmtree(store)
    return counts
