"""What each cone keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.plots import style
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cones(bandit: Bandit, by_name: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """A row for each arm, a column for each cone: filled if the cone keeps the arm.

    by_name   the cones, W or statements as for `in_cone`; the Pareto set is the first column

    The more is said about weights, the wider the cone and the fewer arms are kept.

    >>> import paretoid as pt
    >>> bandit = pt.load_instance("covboost")
    >>> said = "IgG at least as important as T cell"
    >>> axes = cones(bandit, {"IgG first": said})
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['Pareto set (2)', 'IgG first (2)']
    """
    from paretoid.cones import in_cone

    kept = {"Pareto set": pareto_set(bandit.oriented)}
    for name, W in by_name.items():
        kept[name] = pareto_set(in_cone(bandit, W).oriented)
    axes = style.one_axes(ax, 2.4 + 1.1 * len(kept), 1.2 + 0.24 * bandit.K)
    rows = np.arange(bandit.K)
    for column, mask in enumerate(kept.values()):
        at = np.full(bandit.K, column)
        axes.scatter(at[mask], rows[mask], s=48, color="black", zorder=3)
        axes.scatter(at[~mask], rows[~mask], s=20, facecolor="white", edgecolor="0.6", zorder=3)
    names = [f"{style.wrap(name, 16)} ({mask.sum()})" for name, mask in kept.items()]
    axes.set_xticks(range(len(kept)), [style.literal(name) for name in names])
    axes.set_yticks(rows, style.row_names(bandit.arms))
    axes.set_xlim(-0.6, len(kept) - 0.4)
    axes.set_ylim(bandit.K - 0.5, -0.5)
    axes.set_xlabel("filled: kept by the cone")
    style.grid(axes, "y")
    return axes
