"""Best arm identification, D = 1, delta = 0.01, in units of H log(1/(2.4 delta))."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.theory.checks import FloatArray
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import RADIUS, flat
from paretoid.validation.paper.statistics import Row, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK = 1000, 200
DELTA = 0.01
#: printed (rounded) means, and the H of the paper's unrounded ones
INSTANCES = {
    "K=5": ((0.25, 0.16, 0.87, 0.22, 0.98), 94.84),
    "K=10": ((0.43, 0.33, 0.56, 0.85, 0.20, 0.93, 0.70, 0.82, 0.56, 0.78), 223.20),
}
#: the paper's radii, then proved ones
ALGORITHMS: dict[str, tuple[pt.Rule, pt.Radius]] = {
    "APE": (pt.APE(), RADIUS),
    "LUCB": (pt.LUCB(), pt.IteratedLogarithm()),
    "LUCB++": (pt.LUCBpp(), pt.IteratedLogarithm()),
    "UGapEc": (pt.UGapEc(), pt.IteratedLogarithm()),
    "APE, proved": (pt.APE(), pt.Mixture()),
    "LUCB, proved": (pt.LUCB(), pt.ArmMixture()),
    "LUCB++, proved": (pt.LUCBpp(), pt.ArmMixture()),
    "UGapEc, proved": (pt.UGapEc(), pt.ArmMixture()),
}


def complexity(means: FloatArray) -> float:
    """H = sum of 1/(2 gap^2); the best arm's gap is the smallest [kone2023, appendix, BAI].

    >>> round(complexity(np.array([0.5, 0.3, 0.0])), 2)  # 12.5 + 12.5 + 2
    27.0
    """
    order = np.sort(np.asarray(means, dtype=np.float64))[::-1]
    gaps = order[0] - order
    gaps[0] = gaps[1]
    return float((1 / (2 * gaps**2)).sum())


def complexity_range(means: FloatArray, half: float = 0.005) -> tuple[float, float]:
    """Smallest and largest H of means that round to these: the best arm alone moves all gaps."""
    best = int(np.argmax(means))
    ends = []
    for up, down in itertools.product((-half, half), repeat=2):
        moved = means + down
        moved[best] = means[best] + up
        ends.append(complexity(moved))
    return min(ends), max(ends)


def parts(count: int, seed: int) -> list[Part]:
    """Each algorithm on both instances."""
    listed = []
    for label, (means, _) in INSTANCES.items():
        for name, (rule, radius) in ALGORITHMS.items():

            def run(
                means: tuple[float, ...] = means, rule: pt.Rule = rule, radius: pt.Radius = radius
            ) -> xr.Dataset:
                return pt.simulate(
                    pt.BernoulliBandit(np.array(means)[:, None]), rule=rule, radius=radius,
                    delta=DELTA, replications=count, seed=seed,
                )  # fmt: skip

            listed.append(Part(f"{label} {name}", run))
    return listed


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """H from the printed means, then samples over H log(1/(2.4 delta)) of each algorithm."""
    lines = []
    for label, (means, printed) in INSTANCES.items():
        table = np.array(means)
        H, (low, high) = complexity(table), complexity_range(table)
        lines.append(
            Row(label, "", "H", 1, H, low, high, paper=printed,
                verdict="agrees" if low <= printed <= high else "differs",
                note="interval of H: all means that round to the printed ones")
        )  # fmt: skip
        for name in ALGORITHMS:
            data = results[f"{label} {name}"]
            unit = H * math.log(1 / (2.4 * DELTA))
            lines.append(
                row(label, name, "samples / bound", flat(data, "stopping_time") / unit,
                    correct=flat(data, "correct"), stopped=flat(data, "stopped"))
            )  # fmt: skip
    return lines


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Distributions in units of the lower bound, which is the line at 1."""
    figure, axes = drawing.new_figure(2, width=6.4)
    for ax, (label, (means, _)) in zip(axes, INSTANCES.items(), strict=True):
        H = complexity(np.array(means))
        unit = H * math.log(1 / (2.4 * DELTA))
        values = [flat(results[f"{label} {name}"], "stopping_time") / unit for name in ALGORITHMS]
        drawing.boxes(ax, values, [name.replace(", ", ",\n") for name in ALGORITHMS])
        ax.tick_params(axis="x", labelrotation=45)
        ax.axhline(1.0, color="#0072b2", linewidth=1.5, label="lower bound")
        ax.legend(frameon=False, fontsize=8)
        ax.set_ylim(bottom=0)
        ax.set_title(f"{label}, H = {H:.1f}")
        ax.set_ylabel("samples / (H log(1/(2.4 delta)))")
    return drawing.save(figure, path)
