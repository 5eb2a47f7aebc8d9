"""0.1-APE-1000 on a random Bernoulli instance, K = 1000, D = 10, delta = 0.01: how long?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import RADIUS, flat, random_bandits
from paretoid.validation.paper.statistics import AGREES, DIFFERS, Row, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK = 1, 1
K, D = 1000, 10


def parts(count: int, seed: int) -> list[Part]:
    """Each run alone on one thread, timed, compilation apart."""

    def run() -> xr.Dataset:
        import xarray as xr

        goal = pt.AtMost(K, 0.1)
        runs = []
        for i, bandit in enumerate(random_bandits(count, K, D, seed)):
            pt.simulate(bandit, goal, radius=RADIUS, delta=0.01, max_samples=K)  # compile
            start, busy = time.perf_counter(), time.process_time()
            data = pt.simulate([bandit], goal, radius=RADIUS, delta=0.01, seed=seed + i)
            data["wall_time"] = ("instance", [time.perf_counter() - start], {"units": "s"})
            data["cpu_time"] = ("instance", [time.process_time() - busy], {"units": "s"})
            runs.append(data)
        return xr.concat(
            runs, "instance", data_vars="minimal", coords="minimal", compat="override",
            join="override", combine_attrs="override",
        ).assign_coords(instance=np.arange(count)) if count > 1 else runs[0]  # fmt: skip

    return [Part("0.1-APE-1000", run)]


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples, wall time, time per sample and size of the answer."""
    data = results["0.1-APE-1000"]
    label, who = f"K={K}, D={D}", "0.1-APE-1000"
    wall = data["wall_time"].values
    samples = flat(data, "stopping_time")
    timed = row(label, who, "wall time (s)", wall)
    return [
        row(label, who, "samples", samples, correct=flat(data, "correct"),
            stopped=flat(data, "stopped")),
        Row(label, who, "wall time (s)", timed.runs, timed.mean, timed.low, timed.high,
            timed.median, paper=240.0, verdict=AGREES if 210 <= timed.mean < 270 else DIFFERS,
            note="the paper: around 4 minutes, another machine; agrees if ours rounds to 4"),
        row(label, who, "processor time (s)", data["cpu_time"].values),
        row(label, who, "processor time per sample (us)", data["cpu_time"].values / samples * 1e6),
        row(label, who, "|answer|", data["answer"].sum("arm").values.reshape(-1)),
    ]  # fmt: skip


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Samples per arm of the first run, most sampled first; the paper has no picture of it."""
    figure, axes = drawing.new_figure(1)
    pulls = np.sort(results["0.1-APE-1000"]["pulls"].values.reshape(-1, K)[0])[::-1]
    axes[0].plot(np.arange(1, K + 1), pulls, "k-")
    axes[0].set_xlabel("arms, most sampled first")
    axes[0].set_ylabel("samples of the arm")
    axes[0].set_yscale("log")
    axes[0].set_title(f"{int(pulls.sum()):,} samples, {lines[1].mean:.0f} s")
    return drawing.save(figure, path)
