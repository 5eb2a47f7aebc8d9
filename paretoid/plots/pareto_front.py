"""The Pareto front in two objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.explorer import Explorer
from paretoid.plots import style
from paretoid.plots.rectangles import half_widths
from paretoid.runs.trace import Run
from paretoid.text import goal_label, objective
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Arms:
    """What is drawn: (K, D) centres in the user's direction, half-widths, and who is marked.

    centre      NaN for arms without outcomes
    half        half-widths of rectangles, inf: unbounded; None: the means are known
    marked      (K,) the arms said to be in the set, `words` says which set
    limits      of the goal, by objective; drawn as lines
    """

    names: tuple[str, ...]
    objectives: tuple[str, ...]
    sign: FloatArray
    centre: FloatArray
    half: FloatArray | None
    marked: BoolArray
    words: tuple[str, str]
    delta: float = 0.0
    limits: Any = None


def front(
    source: Run | Bandit | Explorer,
    objectives: tuple[int | str, int | str] = (0, 1),
    *,
    rectangles: bool = True,
    labels: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """The Pareto front in two objectives, with confidence rectangles; better is up and right.

    source       a `Bandit`: its true means, arms of the true Pareto set marked, no rectangles;
                 a `Run` of `run_once`: the means it saw, arms of its answer marked;
                 an `Explorer`: the means so far, arms certainly optimal marked
    objectives   two names or positions: the horizontal and the vertical axis. An objective that
                 is minimised is drawn on a reversed axis, which its label says

    A rectangle holds the arm's true mean in both objectives: all rectangles, of all arms and of
    every other pair of objectives too, hold together with probability at least 1 - delta, proved
    for the outcomes that the run's radius supposes, also along the run and at its end
    (`paretoid.plots.rectangles` has the proof). They are *not* the intervals the run decided
    with: these bound differences of two arms, and are narrower where it matters, so arms may be
    told apart although their rectangles overlap. An arm with too few outcomes for a rectangle
    has none.

    The shaded region is dominated by some arm's (estimated) means in these two objectives alone:
    with more than two, an optimal arm may lie in it. Arms without outcomes are named below.

    >>> import paretoid as pt
    >>> axes = front(pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], minimize=[]))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('objective 0', 'objective 1')
    """
    arms = _arms(source)
    D = len(arms.objectives)
    if D < 2:
        raise ValueError(
            "a front needs two objectives and there is one, where the best arm is the front. Use "
            "plots.parallel, which draws one objective too."
        )
    chosen = style.positions(arms.objectives, objectives, "objective")
    if len(chosen) != 2:
        raise ValueError(
            f"objectives={objectives!r} must be two: one for each axis. For more use "
            f"plots.parallel, or a picture for each pair."
        )
    seen = np.asarray(np.isfinite(arms.centre[:, chosen]).all(axis=1))
    axes = style.one_axes(ax, 7.0, 5.6)
    xy, sign = arms.centre[:, chosen][seen], arms.sign[chosen]
    half = arms.half[:, chosen][seen] if rectangles and arms.half is not None else None
    _limits(axes, xy, half)
    if len(xy):
        _region(axes, xy, sign)
    if half is not None:
        _rectangles(axes, xy, half, arms.marked[seen], arms.delta)
    for inside, text in zip((True, False), arms.words, strict=True):
        these = xy[arms.marked[seen] == inside]
        axes.plot(
            these[:, 0], these[:, 1], "o" if inside else "s", ms=7 if inside else 5,
            mfc=style.DARK if inside else "white", mec="black" if inside else "0.35", mew=0.9,
            ls="none", zorder=4, label=text if len(these) else None,
        )  # fmt: skip
    for side, d in zip("xy", chosen, strict=True):
        less = arms.sign[d] < 0
        said = objective(arms.objectives[d], bool(less), reversed_=True)
        getattr(axes, f"set_{side}label")(style.wrap(said, 60))
        if less:
            getattr(axes, f"{side}axis").set_inverted(True)
        limit = (arms.limits or {}).get(arms.objectives[d])
        if limit is not None:
            draw = axes.axvline if side == "x" else axes.axhline
            said = f"limit: {arms.objectives[d]} {limit.words()}"
            draw(limit.value, ls="--", lw=1.2, color="0.35", zorder=3, label=said)
    style.grid(axes)
    style.legend(axes)
    missing = [name for name, there in zip(arms.names, seen, strict=True) if not there]
    if missing:
        style.note(axes.get_figure(root=True), f"No outcomes of: {', '.join(missing)}.")
    if labels and len(xy):
        from paretoid.plots.labels import label_points

        names = [name for name, there in zip(arms.names, seen, strict=True) if there]
        label_points(axes, xy[:, 0], xy[:, 1], names, bold=arms.marked[seen], grow=ax is None)
    return axes


def _arms(source: Any) -> Arms:
    if isinstance(source, Bandit):
        inside = pareto_set(source.oriented)
        words = ("optimal", "dominated")
        return Arms(source.arms, source.objectives, source.sign, source.means, None, inside, words)
    if isinstance(source, Run):
        return _of_run(source)
    if isinstance(source, Explorer):
        return _of_explorer(source)
    raise ValueError(
        f"{type(source).__name__} is no Run, Bandit or Explorer: a front needs the means of every "
        f"arm. Pass run_once(...), a bandit such as load_instance('covboost'), or an Explorer."
    )


def _of_run(run: Run) -> Arms:
    bandit, setting = run.setting.bandit, run.setting
    K, D = bandit.K, bandit.D
    centre, ss = np.full((K, D), np.nan), np.zeros((K, D))
    for i in range(K):
        outcomes = run.outcome[run.arm == i]
        if len(outcomes):
            centre[i] = outcomes.mean(axis=0)
            ss[i] = ((outcomes - centre[i]) ** 2).sum(axis=0)
    counts = np.repeat(run.pulls[:, None], D, axis=1)
    half = half_widths(counts, bandit.scale, ss, setting.radius, setting.delta)
    words = (f"in the answer to {goal_label(str(setting.goals[0]))}", "not in it")
    if not run.stopped:
        words = ("", f"mean seen; no answer after {run.stopping_time:,} samples")
    return Arms(
        bandit.arms, bandit.objectives, bandit.sign, centre, half, run.answer, words,
        setting.delta, setting.goals[0].limits,
    )  # fmt: skip


def _of_explorer(explorer: Explorer) -> Arms:
    design, status = explorer.design, explorer.status()
    data = explorer._fresh().outcomes()
    half = half_widths(data.counts, design.bandit.scale, data.ss, design.radius, design.delta)
    marked = np.array([arm in status.optimal for arm in design.arms])
    words = ("certainly optimal", "undecided or out")
    return Arms(
        design.arms, design.objectives, design.sign, status.means, half, marked, words,
        design.delta, design.goals[0].limits,
    )  # fmt: skip


def _limits(axes: Axes, xy: FloatArray, half: FloatArray | None) -> None:
    """Room for points and finite rectangles; fixed, because the region reaches the border."""
    reach = np.zeros_like(xy) if half is None else np.where(np.isfinite(half), half, 0.0)
    if not len(xy):
        return
    low, high = (xy - reach).min(axis=0), (xy + reach).max(axis=0)
    room = np.where(high > low, 0.08 * (high - low), 0.5)
    axes.set_xlim(low[0] - room[0], high[0] + room[0])
    axes.set_ylim(low[1] - room[1], high[1] + room[1])


def _region(axes: Axes, xy: FloatArray, sign: FloatArray) -> None:
    """Shade what some arm dominates in these two objectives, and draw the border: a staircase."""
    corner = np.array(
        [axes.get_xlim()[0 if sign[0] > 0 else 1], axes.get_ylim()[0 if sign[1] > 0 else 1]]
    )
    better = xy * sign
    steps = better[pareto_set(better)] if len(better) > 1 else better
    # From the left, worse first and better second; of arms on one vertical the best alone counts:
    # the others, which no arm beats strictly in both, lie on the border.
    steps = steps[np.lexsort((-steps[:, 1], steps[:, 0]))]
    steps = steps[np.unique(steps[:, 0], return_index=True)[1]] * sign
    x, y = [corner[0]], [steps[0, 1]]
    for this, following in zip(steps, [*steps[1:, 1], corner[1]], strict=True):
        x += [this[0], this[0]]
        y += [this[1], following]
    axes.fill(
        [*x, corner[0]], [*y, corner[1]], color="0.93", lw=0, zorder=0,
        label="dominated in these two objectives",
    )  # fmt: skip
    axes.plot(x, y, color="0.6", lw=1.0, zorder=1)


def _rectangles(
    axes: Axes, xy: FloatArray, half: FloatArray, marked: BoolArray, delta: float
) -> None:
    from matplotlib.patches import Rectangle

    said = f"rectangles: all hold with probability {1 - delta:g}"
    for centre, reach, inside in sorted(
        zip(xy, half, marked, strict=True), key=lambda row: bool(row[2])
    ):
        if np.isfinite(reach).all():
            axes.add_patch(
                Rectangle(
                    (centre[0] - reach[0], centre[1] - reach[1]), 2 * reach[0], 2 * reach[1],
                    facecolor=(0, 0.45, 0.7, 0.13) if inside else "none", zorder=3 if inside else 2,
                    edgecolor=style.DARK if inside else "0.7", lw=1.4 if inside else 0.6,
                    label=said,
                )
            )  # fmt: skip
            said = ""  # named once
