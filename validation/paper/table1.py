"""Table 1: random Bernoulli instances, K = 5, D in {2, 4, 8}, eps1 = 0.005, delta = 0.1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import (
    ELIMINATION,
    RADIUS,
    flat,
    pareto_sizes,
    random_bandits,
    random_means,
)
from paretoid.validation.paper.statistics import Row, ratio, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK, PAPER_RUNS = 2000, 300, 2000
EPS1 = 0.005
#: D: samples of APE-1..5 and of PSI-Unif-Elim [kone2023, Table "bayes-commun"]
PAPER = {
    2: (811, 39530, 109020, 145777, 150844, 190625),
    4: (214, 6410, 19908, 68061, 124001, 157584),
    8: (119, 204, 405, 1448, 20336, 27270),
}
SIZES = {2: 2.295, 4: 4.0625, 8: 4.931}  # its caption


def parts(count: int, seed: int) -> list[Part]:
    """APE (one stream for k = 1..5) and elimination on the same instances, for each D."""
    every_k: list[pt.Goal] = [pt.AtMost(k, EPS1) for k in range(1, 6)]
    runs: dict[str, tuple[pt.Rule, list[pt.Goal]]] = {
        "APE": (pt.APE(), every_k),
        ELIMINATION: (pt.UniformElimination(), [pt.ParetoSet(EPS1)]),
    }
    listed = []
    for D in PAPER:
        for name in runs:

            def run(D: int = D, name: str = name) -> xr.Dataset:
                rule, goals = runs[name]
                bandits = random_bandits(count, 5, D, seed)
                return pt.simulate(bandits, goals, rule=rule, radius=RADIUS, delta=0.1, seed=seed)

            listed.append(Part(f"D={D} {name}", run))
    return listed


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples of every algorithm, then ratios of APE-5 to elimination, for each D."""
    lines = []
    for D, printed in PAPER.items():
        ape, rival = results[f"D={D} APE"], results[f"D={D} {ELIMINATION}"]
        label, count = f"D={D}", ape.sizes["instance"]
        sizes = pareto_sizes(random_means(count, 5, D, seed))
        lines.append(row(label, "", "optimal arms", sizes, paper=SIZES[D], paper_runs=PAPER_RUNS))
        lines += [_samples(label, f"APE-{k}", ape, k - 1, printed[k - 1]) for k in range(1, 6)]
        lines.append(_samples(label, ELIMINATION, rival, 0, printed[5]))
        pair = np.stack([flat(ape, "stopping_time", 4), flat(rival, "stopping_time")], axis=1)
        lines.append(
            row(label, "APE-5 / elimination", "ratio of means", pair, statistic=ratio,
                paper=printed[4] / printed[5], paper_runs=PAPER_RUNS)
        )  # fmt: skip
        lines.append(
            row(label, "APE-5 / elimination", "ratio per instance", pair[:, 0] / pair[:, 1])
        )
    return lines


def _samples(label: str, who: str, data: xr.Dataset, goal: int, printed: float) -> Row:
    return row(
        label, who, "samples", flat(data, "stopping_time", goal),
        correct=flat(data, "correct", goal), stopped=flat(data, "stopped", goal),
        paper=printed, paper_runs=PAPER_RUNS,
    )  # fmt: skip


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Mean samples with intervals, ours beside the paper's table; one panel for each D."""
    figure, axes = drawing.new_figure(3)
    names = [f"APE-{k}" for k in range(1, 6)] + [ELIMINATION]
    for ax, (D, printed) in zip(axes, PAPER.items(), strict=True):
        mine = [
            next(x for x in lines if (x.setting, x.who, x.what) == (f"D={D}", name, "samples"))
            for name in names
        ]
        x = np.arange(6)
        mean, low, high = drawing.ends(mine)
        ax.errorbar(
            x - 0.1, mean, yerr=[mean - low, high - mean], fmt="ko", capsize=3, label="mean, 95%"
        )
        ax.plot(x, [line.median for line in mine], "_k", markersize=12, label="median")
        ax.plot(x + 0.1, printed, "D", color="#d55e00", mfc="white", label="paper (mean)")
        ax.set_yscale("log")
        ax.set_xticks(x, [*names[:5], "PSI-\nUnif-Elim"], rotation=30)
        ax.set_title(f"D = {D}")
        ax.set_ylabel("samples until stopping")
    axes[0].legend(frameon=False, fontsize=8)
    return drawing.save(figure, path)
