"""Intervals on differences between arms, as they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.explorer import Status
from paretoid.loop import lens_of
from paretoid.plots import style
from paretoid.runs.trace import Run
from paretoid.text import objective
from paretoid.theory.checks import FloatArray, WrongTypeError
from paretoid.view import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: how many arms `intervals` compares with where `against` is not given
_FEW = 4
#: times at which a run's intervals are computed
_TIMES = 240


@dataclass(frozen=True)
class Closing:
    """Bounds on mean i - mean j, user's direction: (T,) times and (T, len(against), D) tables."""

    times: FloatArray
    lower: FloatArray
    upper: FloatArray


def intervals(
    run: Run | Sequence[tuple[float, Status]],
    arm: int | str | None = None,
    against: Sequence[int | str] | None = None,
    objectives: Sequence[int | str] | None = None,
    *,
    truth: Any = None,
    time: str | None = None,
    axes: Any = None,
) -> np.ndarray[Any, Any]:
    """How the intervals on `arm` minus each of `against` close, one row for each objective.

    run         a `Run` of `run_once`, or pairs (time, `Explorer.status()`)
    arm         default: of the arms in the answer the one sampled most
    against     default: the four other arms sampled most, those hardest to tell from others
    objectives  default: all
    truth       (K, D) true means to draw; a run knows its own
    time        what the horizontal axis counts: "samples" unless said

    These are the bounds the run decided with, in the user's units and direction: below, the
    lower bound that keeps arms, above, the upper bound that drops them. Under union="pairs" all
    of them hold together with probability 1 - delta; under "claims", the default, that is proved
    of the decisions and not of every interval. Early intervals leave the panel: the range
    shown is that of the last nine tenths. Returns the (objectives, against) array of Axes.

    >>> import paretoid as pt
    >>> run = pt.run_once(pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.0, 0.1]]), seed=1)
    >>> panels = intervals(run, "arm 0")
    >>> panels.shape, panels[0, 0].get_title()
    ((2, 2), 'arm 0 minus\\narm 1')
    """
    if isinstance(run, Run):
        bandit = run.setting.bandit
        names, whole = bandit.arms, bandit.objectives
        pulls, answer, sign = run.pulls, run.answer, bandit.sign
        truth = bandit.means if truth is None else truth
    else:
        weeks = _as_weeks(run)
        last = weeks[-1][1]
        names, whole = last.arms, last.objectives
        pulls, sign = last.counts.max(axis=1), np.ones(len(whole))
        answer = np.array([name in last.optimal for name in names])
    i = _first(names, arm, pulls, answer)
    others = _others(names, against, pulls, i)
    rows = list(range(len(whole))) if objectives is None else style.positions(
        whole, objectives, "objective"
    )  # fmt: skip
    closing = _of_run(run, i, others) if isinstance(run, Run) else _of_weeks(weeks, i, others)
    grid = style.many_axes(
        axes, len(rows), len(others), 2.6 if len(others) > 2 else 3.6, 2.4, sharex=True,
        sharey="row",
    )  # fmt: skip
    for row, d in enumerate(rows):
        limits = _limits(closing, d)
        for column, j in enumerate(others):
            true = None if truth is None else float(np.asarray(truth)[i, d] - truth[j][d])
            _panel(grid[row, column], closing, column, d, true)
            grid[row, column].set_ylim(*limits)
            grid[row, column].set_xlim(closing.times[0], max(closing.times[-1], 1))
            if isinstance(run, Run) and closing.times[-1] > 10 * closing.times[0]:
                style.log_axis(grid[row, column], "x")
            if row == 0:
                title = f"{style.wrap(names[i], 24)} minus\n{style.wrap(names[j], 24)}"
                grid[row, column].set_title(title, fontsize="small")
            if row == len(rows) - 1:
                grid[row, column].set_xlabel(time or "samples")
        said = objective(f"difference in {whole[d]}", bool(sign[d] < 0))
        grid[row, 0].set_ylabel(style.wrap(said, 26))
    style.legend_above(grid)
    grid[0, 0].get_figure(root=True).align_ylabels(grid[:, 0])
    return grid


def _as_weeks(run: Any) -> list[tuple[float, Status]]:
    try:
        weeks = [(float(when), status) for when, status in run]
    except (TypeError, ValueError):
        weeks = []
    if not weeks or not all(isinstance(status, Status) for _, status in weeks):
        raise WrongTypeError(
            f"{type(run).__name__} is no Run and no list of (time, Explorer.status()): intervals "
            f"over time need every sample. Use run_once, which traces one replication of simulate."
        )
    return weeks


def _first(names: Sequence[str], arm: Any, pulls: Any, answer: Any) -> int:
    if arm is not None:
        return style.positions(names, arm, "arm")[0]
    return int(np.argmax(np.where(answer, pulls, -1) if np.any(answer) else pulls))


def _others(names: Sequence[str], against: Any, pulls: Any, i: int) -> list[int]:
    if against is None:
        ranked = [int(j) for j in np.argsort(-np.asarray(pulls), kind="stable") if j != i]
        return sorted(ranked[:_FEW])
    others = style.positions(names, against, "arm")
    if i in others or not others:
        raise ValueError(
            f"against={against!r} must name other arms than {names[i]!r}: an arm's difference "
            f"from itself is 0."
        )
    return others


def trace(run: Run, times: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
    """(lower, upper), (K, K, D) each, after each of `times`: bounds on mean i - mean j.

    The numbers the run's decisions rest on, in the user's units and direction.
    """
    lens, bandit = lens_of(run.setting), run.setting.bandit
    K, D = bandit.K, bandit.D
    outcome = run.outcome * bandit.sign
    centre = np.array(
        [outcome[run.arm == i].mean(axis=0) if run.pulls[i] else np.zeros(D) for i in range(K)]
    )
    off = outcome - centre[run.arm]  # squares of small numbers: no digits are lost
    counts, sums, squares = np.zeros(K), np.zeros((K, D)), np.zeros((K, D))
    bounds, before = [], 0
    for now in times:
        arms = run.arm[before:now]
        np.add.at(counts, arms, 1.0)
        np.add.at(sums, arms, off[before:now])
        np.add.at(squares, arms, off[before:now] ** 2)
        before = now
        means = sums / counts[:, None] + centre
        ss = squares - sums**2 / counts[:, None]
        view = lens.view(Samples(np.repeat(counts[:, None], D, axis=1), means, ss), now)
        less = bandit.sign < 0
        bounds.append(
            (np.where(less, -view.upper, view.lower), np.where(less, -view.lower, view.upper))
        )
    return bounds


def _of_run(run: Run, i: int, others: list[int]) -> Closing:
    first = int(lens_of(run.setting).first.sum())
    if run.stopping_time < first:
        raise ValueError(
            f"the budget of {run.stopping_time} samples ran out before every arm had its first "
            f"samples ({first} in all), so there are no intervals. Raise max_samples."
        )
    times = np.unique(np.geomspace(first, run.stopping_time, _TIMES).round().astype(np.int64))
    tables = trace(run, times.tolist())
    lower, upper = (np.array([table[q][i, others] for table in tables]) for q in (0, 1))
    return Closing(times.astype(np.float64), lower, upper)


def _of_weeks(weeks: list[tuple[float, Status]], i: int, others: list[int]) -> Closing:
    return Closing(
        np.array([when for when, _ in weeks]),
        np.array([status.lower[i, others] for _, status in weeks]),
        np.array([status.upper[i, others] for _, status in weeks]),
    )


def _limits(closing: Closing, d: int) -> tuple[float, float]:
    late = closing.times >= closing.times[-1] / 10
    low, high = closing.lower[late][..., d], closing.upper[late][..., d]
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return -1.0, 1.0
    least, most = min(low[finite].min(), 0.0), max(high[finite].max(), 0.0)
    room = 0.05 * (most - least) or 1.0
    return float(least - room), float(most + room)


def _panel(ax: Axes, closing: Closing, column: int, d: int, true: float | None) -> None:
    low, high = closing.lower[:, column, d], closing.upper[:, column, d]
    shown = np.isfinite(low) & np.isfinite(high)
    times = closing.times[shown]
    ax.fill_between(
        times,
        low[shown],
        high[shown],
        color=style.DARK,
        alpha=0.25,
        lw=0,
        label="bounds the run decided with",
    )
    for edge in (low, high):
        ax.plot(times, edge[shown], color=style.DARK, lw=1.0)
    ax.axhline(0, color="black", lw=0.8, ls=":", label="no difference")
    if true is not None:
        ax.axhline(true, color="black", lw=1.2, ls="--", label="true difference")
    style.grid(ax)
