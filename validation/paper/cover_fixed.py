"""Covers on one five-arm instance, delta = 0.01: eps1 = 0, 50 values of eps2 in [0, 1/2]."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import OURS, RADIUS, cover_bandit, flat
from paretoid.validation.paper.statistics import Row, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK, PAPER_RUNS = 2000, 200, 2000
GRID = np.linspace(0.0, 0.5, 50)
HISTOGRAMS = (0.05, 0.15, 0.4)
EPS2 = np.concatenate([GRID, HISTOGRAMS])


def parts(count: int, seed: int) -> list[Part]:
    """One stream serves all covers and APE-1."""

    def run() -> xr.Dataset:
        goals = [pt.AtMost(1), *(pt.Cover(0.0, float(e)) for e in EPS2)]
        return pt.simulate(
            cover_bandit(), goals, radius=RADIUS, delta=0.01, replications=count, seed=seed
        )

    return [Part("covers", run)]


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples and size of the cover for each eps2, and APE-1, to which large eps2 tends."""
    data = results["covers"]
    lines = [
        row("k=1", "APE-1", "samples", flat(data, "stopping_time"), correct=flat(data, "correct"),
            stopped=flat(data, "stopped"), paper=4073, paper_runs=PAPER_RUNS, judged=False,
            note=OURS)
    ]  # fmt: skip
    for g, eps2 in enumerate(EPS2, start=1):
        shown = eps2 in (0.0, *HISTOGRAMS, 0.5)
        lines.append(
            row(f"eps2={eps2:.4f}", "APE", "samples", flat(data, "stopping_time", g),
                correct=flat(data, "correct", g), stopped=flat(data, "stopped", g), shown=shown)
        )  # fmt: skip
        size = data["answer"].isel(goal=g).sum("arm").values
        lines.append(row(f"eps2={eps2:.4f}", "APE", "|answer|", size, shown=shown))
    for eps2 in HISTOGRAMS:
        g = 1 + int(np.flatnonzero(EPS2 == eps2)[-1])
        for i, share in enumerate(data["answer"].isel(goal=g).values.T):
            lines.append(row(f"eps2={eps2:.4f}", "APE", f"share of runs with arm {i}", share))
    return lines


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Size and samples against eps2, and how often each arm is recommended."""
    figure, axes = drawing.new_figure(3)
    for ax, what, label in (
        (axes[0], "|answer|", "mean |answer| (arms)"),
        (axes[1], "samples", "mean samples until stopping"),
    ):
        mine = [line for line in lines if line.what == what and line.who == "APE"][: len(GRID)]
        mean, low, high = drawing.ends(mine)
        ax.plot(GRID, mean, "ko-", markersize=3)
        ax.fill_between(GRID, low, high, color="#cccccc", label="95% interval")
        ax.set_xlabel("eps2 (success probability)")
        ax.set_ylabel(label)
    axes[1].axhline(lines[0].mean, color="#777777", linestyle="--", label="APE-1")
    axes[1].legend(frameon=False)
    for q, eps2 in enumerate(HISTOGRAMS):
        share = [x.mean for x in lines if x.setting == f"eps2={eps2:.4f}" and "share" in x.what]
        axes[2].bar(
            np.arange(5) + 0.27 * (q - 1), share, 0.25, label=f"eps2 = {eps2}",
            facecolor=("#ffffff", "#bbbbbb", "#555555")[q], edgecolor="black",
            hatch=("", "//", "")[q],
        )  # fmt: skip
    axes[2].set_xlabel("arm")
    axes[2].set_ylabel("share of runs recommending it")
    axes[2].legend(frameon=False, fontsize=8)
    return drawing.save(figure, path)
