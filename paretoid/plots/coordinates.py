"""Parallel coordinates: arms in more objectives than a page has directions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.plots import style
from paretoid.plots.labels import spread
from paretoid.text import measure, short_names
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: of optimal arms
_MARKERS = "osD^vPX<>*hp"


def parallel(
    means: Bandit | Any,
    *,
    arms: Sequence[str] | None = None,
    objectives: Sequence[str] | None = None,
    minimize: Iterable[str] = (),
    labels: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """One line for each arm over all objectives, better always up; optimal arms stand out.

    means    a `Bandit`, or (K, D) means with `arms`, `objectives` and `minimize` as a Bandit has

    Every objective has an axis of its own from the worst to the best mean, with these two numbers
    at its ends; of a minimised one the smallest is on top, which its label says. Optimal arms are
    dark with a marker each, dominated ones thin and grey. Names stand at the right, as far apart
    as they need, with a line to where the arm ends.

    >>> axes = parallel([[1, 5, 2, 0.1], [2, 4, 3, 0.2], [0, 3, 1, 0.3]], minimize=["objective 3"])
    >>> [text.get_text() for text in axes.get_xticklabels()][-1]
    'objective 3,\\nless is better\\n(reversed)'
    """
    minimize = [minimize] if isinstance(minimize, str) else list(minimize)
    bandit = means if isinstance(means, Bandit) else GaussianBandit(
        means, arms=arms, objectives=objectives, minimize=minimize
    )  # fmt: skip
    if bandit is means and (arms is not None or objectives is not None or minimize):
        raise ValueError(
            "a Bandit has names and directions of its own: leave out arms, objectives and "
            "minimize, or pass its means."
        )
    K, D = bandit.K, bandit.D
    mu = bandit.oriented
    low, high = mu.min(axis=0), mu.max(axis=0)
    flat = high == low
    heights = np.where(flat, 0.5, (mu - low) / np.where(flat, 1.0, high - low))
    optimal = pareto_set(mu)
    names = short_names(bandit.arms, 48)
    wide = 1.6 * D + 1.0 + 0.065 * max(map(len, names))
    axes = style.one_axes(ax, wide, max(4.2, 0.13 * K + 1.6))
    x = np.arange(D)
    for d in range(D):
        axes.axvline(d, color="0.75", lw=1.0, zorder=0)
    look = _looks(optimal)
    for i in np.argsort(optimal, kind="stable"):  # optimal ones last, on top
        axes.plot(x, heights[i], zorder=3 if optimal[i] else 2, **look[i])
    _ends(axes, bandit)
    axes.set_xticks(x, [_tick(bandit, d) for d in range(D)])
    axes.tick_params(axis="x", length=0, pad=16)
    axes.set_yticks([])
    axes.set_ylabel("worst to best arm, objective by objective")
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlim(-0.25, D - 1 + 0.25)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for inside in (True, False):
        if (optimal == inside).any():
            i = int(np.flatnonzero(optimal == inside)[0])
            words = f"{'optimal' if inside else 'dominated'} ({int((optimal == inside).sum())})"
            axes.plot([], [], label=words, **look[i])
    style.legend(axes, pad=1.8)
    if labels:
        _names(axes, names, D - 1, heights[:, -1], optimal, look)
    return axes


def _looks(optimal: Any) -> list[dict[str, Any]]:
    """Lines of the arms: optimal ones differ in marker, dashes and lightness."""
    looks: list[dict[str, Any]] = []
    rank = 0
    for inside in optimal:
        if not inside:
            looks.append({"color": "0.72", "lw": 0.9, "ls": "-", "marker": ".", "ms": 4})
            continue
        shade = (rank + rank // len(_MARKERS)) % 3  # so that 36 arms differ in marker or colour
        color, _, dashes = style.STYLES[(0, 1, 5)[shade]]
        marker = _MARKERS[rank % len(_MARKERS)]
        if shade == 0:
            dashes = "-"
        looks.append({"color": color, "lw": 1.9, "ls": dashes, "marker": marker, "ms": 5.5,
                      "mec": "white", "mew": 0.6})  # fmt: skip
        rank += 1
    return looks


def _tick(bandit: Bandit, d: int) -> str:
    name = style.wrap(bandit.objectives[d], 16)
    return f"{name},\nless is better\n(reversed)" if bandit.sign[d] < 0 else name


def _ends(axes: Axes, bandit: Bandit) -> None:
    """The best mean above and the worst below every axis."""
    for d in range(bandit.D):
        best, worst = (float(f(bandit.oriented[:, d]) * bandit.sign[d]) for f in (np.max, np.min))
        for value, y, va, shift in ((best, 1.0, "bottom", 8), (worst, 0.0, "top", -8)):
            axes.annotate(
                measure(value), (d, y), xytext=(0, shift), textcoords="offset points",
                ha="center", va=va, fontsize="x-small", annotation_clip=False,
            )  # fmt: skip


def _names(
    axes: Axes, names: list[str], right: int, ends: Any, optimal: Any, look: list[dict[str, Any]]
) -> None:
    size = 7.5
    figure: Any = axes.get_figure(root=True)
    figure.draw_without_rendering()
    inches = axes.get_window_extent().height / figure.dpi
    lines = 1.08 * (size * 1.25 / 72) / inches * 1.08  # of one name, as a share of the axes
    y = spread(ends, lines, -0.03, 1.03)
    for i, name in enumerate(names):
        axes.annotate(
            style.literal(name), (right, ends[i]), xytext=(right + 0.22, y[i]),
            textcoords="data", va="center", fontsize=size, annotation_clip=False,
            fontweight="bold" if optimal[i] else "normal",
            color="black" if optimal[i] else "0.35",
            arrowprops={"arrowstyle": "-", "lw": 0.6, "color": look[i]["color"], "shrinkA": 1,
                        "shrinkB": 3, "relpos": (0.0, 0.5)},
        )  # fmt: skip
