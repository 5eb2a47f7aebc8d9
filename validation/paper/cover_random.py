"""Covers on random Bernoulli instances, K = 5, D = 2: eps1 = 0, eps2 from 0.01 to 0.05.

With eps1 = 0 two nearly equal arms can make a run endless, so each run has a budget; runs that
exhaust it count with the budget as their time (a lower bound) and are reported as censored.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.theory.checks import FloatArray
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import (
    RADIUS,
    flat,
    pareto_sizes,
    random_bandits,
    random_means,
)
from paretoid.validation.paper.statistics import Row, reduction, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK, PAPER_RUNS = 2000, 300, 2000
BUDGET = 5_000_000
EPS2 = np.linspace(0.01, 0.05, 20)


def parts(count: int, seed: int) -> list[Part]:
    """One stream per instance serves all twenty covers."""

    def run() -> xr.Dataset:
        return pt.simulate(
            random_bandits(count, 5, 2, seed), [pt.Cover(0.0, float(e)) for e in EPS2],
            radius=RADIUS, delta=0.1, seed=seed, max_samples=BUDGET,
        )  # fmt: skip

    return [Part("covers", run)]


def kept(data: xr.Dataset, seed: int) -> list[FloatArray]:
    """For each eps2: |answer| / |S*| of the runs that stopped."""
    sizes = pareto_sizes(random_means(data.sizes["instance"], 5, 2, seed))
    answers = data["answer"].isel(replication=0).sum("arm").values  # (instance, goal)
    return [
        answers[flat(data, "stopped", g), g] / sizes[flat(data, "stopped", g)]
        for g in range(len(EPS2))
    ]


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples and share of the Pareto set kept for each eps2, and the saving over the range."""
    data = results["covers"]
    lines = []
    for g, eps2 in enumerate(EPS2):
        shown = g in (0, 9, 19)
        lines.append(
            row(f"eps2={eps2:.4f}", "APE", "samples", flat(data, "stopping_time", g),
                correct=flat(data, "correct", g), stopped=flat(data, "stopped", g),
                note=f"budget {BUDGET:,} samples per run", shown=shown)
        )  # fmt: skip
        lines.append(
            row(f"eps2={eps2:.4f}", "APE", "|answer| / |S*|", kept(data, seed)[g], shown=shown)
        )
    pair = np.stack([flat(data, "stopping_time", 19), flat(data, "stopping_time", 0)], axis=1)
    lines.append(
        row("0.05 against 0.01", "APE", "samples saved", pair, statistic=reduction, paper=0.86,
            paper_runs=PAPER_RUNS, note="the paper says up to 86%")
    )  # fmt: skip
    last = row("eps2=0.0500", "APE", "|answer| / |S*|", kept(data, seed)[19])
    high = 0.0 if last.high is None else last.high
    lines.append(
        Row("eps2=0.0500", "APE", "|answer| / |S*| above 0.9", last.runs, last.mean, last.low,
            last.high, paper=0.9, verdict="agrees" if high > 0.9 else "differs",
            note="the paper says more than 90% is kept")
    )  # fmt: skip
    return lines


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Mean samples and mean share kept against eps2, with 95% intervals."""
    figure, axes = drawing.new_figure(2)
    for ax, what, label in (
        (axes[0], "samples", "mean samples until stopping"),
        (axes[1], "|answer| / |S*|", "mean |answer| / |S*|"),
    ):
        mine = [line for line in lines if line.what == what]
        mean, low, high = drawing.ends(mine)
        ax.plot(EPS2, mean, "ko-", markersize=4)
        ax.fill_between(EPS2, low, high, color="#cccccc", label="95% interval")
        ax.set_xlabel("eps2 (success probability)")
        ax.set_ylabel(label)
    axes[0].set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    return drawing.save(figure, path)
