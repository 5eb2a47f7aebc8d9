"""COV-BOOST, K = 20, D = 3, eps1 = 0, delta = 0.1: the paper's radius and proved ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.theory.dominance import pareto_set
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import ELIMINATION, RADIUS, flat
from paretoid.validation.paper.statistics import Row, ratio, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK = 2000, 200
KS = (1, 2, 3, 20)
RADII = {
    "paper's radius": RADIUS,
    "Mixture (proved)": pt.Mixture(),
    "paper's radius, proved": pt.KaufmannKoolen("exact", union="pairs"),
}


def parts(count: int, seed: int) -> list[Part]:
    """APE (one stream for all k) and elimination, for each radius."""
    listed = []
    for label, radius in RADII.items():
        for name, rule in (("APE", pt.APE()), (ELIMINATION, pt.UniformElimination())):

            def run(
                name: str = name, rule: pt.Rule = rule, radius: pt.Radius = radius
            ) -> xr.Dataset:
                goals: list[pt.Goal] = [pt.ParetoSet()]
                if name == "APE":
                    goals = [pt.AtMost(k) for k in KS]
                return pt.simulate(
                    pt.load_instance("covboost"), goals, rule=rule, radius=radius, delta=0.1,
                    replications=count, seed=seed,
                )  # fmt: skip

            listed.append(Part(f"{label} {name}", run))
    return listed


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples of every algorithm for each radius; the paper shows them only in a picture."""
    size = float(pareto_set(pt.load_instance("covboost").oriented).sum())
    lines = [
        Row("instance", "", "optimal arms", 1, size, size, size, paper=2.0,
            verdict="agrees" if size == 2 else "differs")
    ]  # fmt: skip
    for label in RADII:
        ape, rival = results[f"{label} APE"], results[f"{label} {ELIMINATION}"]
        for g, k in enumerate(KS):
            lines.append(_samples(label, f"APE-{k}", ape, g))
        lines.append(_samples(label, ELIMINATION, rival, 0))
        pair = np.stack([flat(ape, "stopping_time", 3), flat(rival, "stopping_time")], axis=1)
        lines.append(row(label, "APE-20 / elimination", "ratio of means", pair, statistic=ratio))
    return lines


def _samples(label: str, who: str, data: xr.Dataset, goal: int) -> Row:
    return row(
        label, who, "samples", flat(data, "stopping_time", goal),
        correct=flat(data, "correct", goal), stopped=flat(data, "stopped", goal),
    )  # fmt: skip


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Distributions of the stopping time on a log scale, one panel for each radius."""
    figure, axes = drawing.new_figure(len(RADII))
    for ax, label in zip(axes, RADII, strict=True):
        ape, rival = results[f"{label} APE"], results[f"{label} {ELIMINATION}"]
        values = [flat(ape, "stopping_time", g) for g in range(len(KS))]
        drawing.boxes(
            ax, [*values, flat(rival, "stopping_time")],
            [*(f"APE-{k}" for k in KS), "PSI-\nUnif-Elim"],
        )  # fmt: skip
        ax.set_yscale("log")
        ax.set_title(label)
        ax.set_ylabel("samples until stopping")
    low = min(ax.get_ylim()[0] for ax in axes)
    high = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(low, high)
    return drawing.save(figure, path)
