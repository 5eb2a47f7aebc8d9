"""APE-k against elimination that stops at k arms; random instances, D = 2, delta = 0.1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.plots.style import STYLES
from paretoid.validation.paper import drawing
from paretoid.validation.paper.setting import (
    ELIMINATION,
    RADIUS,
    flat,
    pareto_sizes,
    random_bandits,
    random_means,
)
from paretoid.validation.paper.statistics import Row, row
from paretoid.validation.paper.store import Part

if TYPE_CHECKING:
    import xarray as xr

FULL, QUICK = 2000, 200
KS = (1, 2, 3, 4, 5)
#: K: (eps1, share of the instances, optimal arms and instances in the paper)
SETTINGS = {10: (0.05, 1.0, 2.90, 2000), 50: (0.1, 0.25, 4.51, 500)}
RULES = {"APE": pt.APE(), ELIMINATION: pt.UniformElimination()}


def _count(count: int, K: int) -> int:
    return max(1, round(count * SETTINGS[K][1]))


def parts(count: int, seed: int) -> list[Part]:
    """Both rules, one stream for all k, on `count` instances with K = 10 and a quarter for 50."""
    listed = []
    for K, (eps1, *_) in SETTINGS.items():
        for name, rule in RULES.items():

            def run(K: int = K, eps1: float = eps1, rule: pt.Rule = rule) -> xr.Dataset:
                return pt.simulate(
                    random_bandits(_count(count, K), K, 2, seed), [pt.AtMost(k, eps1) for k in KS],
                    rule=rule, radius=RADIUS, delta=0.1, seed=seed,
                )  # fmt: skip

            listed.append(Part(f"K={K} {name}", run))
    return listed


def rows(results: dict[str, xr.Dataset], seed: int) -> list[Row]:
    """Samples of both for each k, and their ratio per instance."""
    lines = []
    for K, (_, _, size, paper_runs) in SETTINGS.items():
        ape, rival = results[f"K={K} APE"], results[f"K={K} {ELIMINATION}"]
        sizes = pareto_sizes(random_means(ape.sizes["instance"], K, 2, seed))
        lines.append(row(f"K={K}", "", "optimal arms", sizes, paper=size, paper_runs=paper_runs))
        for g, k in enumerate(KS):
            for who, data in ((f"APE-{k}", ape), (f"{ELIMINATION}-{k}", rival)):
                lines.append(
                    row(f"K={K}", who, "samples", flat(data, "stopping_time", g),
                        correct=flat(data, "correct", g), stopped=flat(data, "stopped", g))
                )  # fmt: skip
            share = flat(ape, "stopping_time", g) / flat(rival, "stopping_time", g)
            lines.append(row(f"K={K}", f"APE-{k} / elimination", "ratio per instance", share))
    return lines


def draw(results: dict[str, xr.Dataset], lines: list[Row], path: Path) -> Path:
    """Mean samples against k, one panel for each K."""
    figure, axes = drawing.new_figure(2)
    for ax, (K, (eps1, *_)) in zip(axes, SETTINGS.items(), strict=True):
        for q, who in enumerate(("APE", ELIMINATION)):
            mine = [x for x in lines if x.setting == f"K={K}" and x.what == "samples"]
            mine = [x for x in mine if x.who.startswith(who)]
            color, marker, line = STYLES[q]
            mean, low, high = drawing.ends(mine)
            ax.errorbar(
                np.array(KS) + 0.06 * q, mean, yerr=[mean - low, high - mean], color=color,
                marker=marker, linestyle=line, capsize=3, label=who,
            )  # fmt: skip
        ax.set_title(f"K = {K}, D = 2, eps1 = {eps1}")
        ax.set_xlabel("k (arms asked for)")
        ax.set_xticks(KS)
        ax.set_ylabel("mean samples until stopping")
        ax.set_ylim(bottom=0)
    axes[0].legend(frameon=False)
    return drawing.save(figure, path)
