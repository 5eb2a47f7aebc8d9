"""Where elimination keeps sampling arms long known to be optimal; eps1 = 0, delta = 0.1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import (
    ELIMINATION,
    OURS,
    RADIUS,
    flat,
    slow_bandit,
    slow_bandit_12,
)
from paretoid.validation.paper.statistics import Row, ratio, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK = 2000, 200
PULL_RATIOS = (3.08, 1.36, 5.68, 1.28, 1.40)  # [kone2023, Table "average-pull-ratio"]
BANDITS = {"K=5, D=2": slow_bandit, "K=12, D=10": slow_bandit_12}
RULES = {"APE": pt.APE(), ELIMINATION: pt.UniformElimination()}


def parts(count: int, seed: int) -> list[Part]:
    """APE with k = K and elimination on both instances."""
    listed = []
    for label, make in BANDITS.items():
        for name, rule in RULES.items():

            def run(make: object = make, rule: pt.Rule = rule) -> xr.Dataset:
                assert callable(make)
                bandit = make()
                return pt.simulate(
                    bandit, pt.AtMost(bandit.K), rule=rule, radius=RADIUS, delta=0.1,
                    replications=count, seed=seed,
                )  # fmt: skip

            listed.append(Part(f"{label} {name}", run))
    return listed


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples, their ratio, and the ratio of pulls for each of the five arms."""
    lines = []
    for label in BANDITS:
        ape, rival = results[f"{label} APE"], results[f"{label} {ELIMINATION}"]
        for who, data in (("APE", ape), (ELIMINATION, rival)):
            lines.append(
                row(label, who, "samples", flat(data, "stopping_time"),
                    correct=flat(data, "correct"), stopped=flat(data, "stopped"), note=OURS)
            )  # fmt: skip
        pair = np.stack([flat(rival, "stopping_time"), flat(ape, "stopping_time")], axis=1)
        lines.append(
            row(label, "elimination / APE", "ratio of means", pair, statistic=ratio,
                paper=3.0 if label.startswith("K=12") else 2.0, judged=False)
        )  # fmt: skip
        if label.startswith("K=12"):
            continue
        for i, printed in enumerate(PULL_RATIOS):
            pulls = np.stack([flat(d, "pulls")[:, i] for d in (rival, ape)], axis=1)
            lines.append(
                row(label, "elimination / APE", f"ratio of pulls, arm {i}", pulls,
                    statistic=ratio, paper=printed, judged=False)
            )  # fmt: skip
    return lines


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """The five-arm instance, samples on both instances, and pulls per arm."""
    figure, axes = drawing.new_figure(4, width=3.8)
    bandit = slow_bandit()
    optimal = [0, 2, 3]
    for i, (x, y) in enumerate(bandit.means):
        best = i in optimal
        axes[0].plot(x, y, "ko" if best else "kx", mfc="black" if best else "none")
        axes[0].annotate(str(i), (x, y), xytext=(6, 4), textcoords="offset points")
    axes[0].set_xlabel("mean of objective 0")
    axes[0].set_ylabel("mean of objective 1")
    axes[0].set_title("K=5, D=2 (dots: optimal)")
    for ax, label in zip(axes[1:3], BANDITS, strict=True):
        data = [results[f"{label} {name}"] for name in RULES]
        drawing.boxes(ax, [flat(d, "stopping_time") for d in data], ["APE", "PSI-Unif-Elim"])
        ax.set_title(label)
        ax.set_ylabel("samples until stopping")
    for q, name in enumerate(RULES):
        pulls = flat(results[f"K=5, D=2 {name}"], "pulls").mean(axis=0)
        axes[3].bar(
            np.arange(5) + 0.4 * q - 0.2, pulls, 0.38, label=name, edgecolor="black",
            facecolor=("#ffffff", "#999999")[q], hatch=("", "//")[q],
        )  # fmt: skip
    axes[3].set_xlabel("arm of K=5, D=2")
    axes[3].set_ylabel("mean samples of the arm")
    axes[3].set_ylim(top=1.25 * axes[3].get_ylim()[1])
    axes[3].legend(frameon=False, fontsize=8)
    return drawing.save(figure, path)
