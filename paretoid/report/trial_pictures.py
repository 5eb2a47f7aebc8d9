"""The pictures of a live trial's report: means by arm, and how participants were enrolled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from paretoid import text
from paretoid.explorer.progress import days_since
from paretoid.explorer.state import TrialState
from paretoid.explorer.status import Status
from paretoid.intervals import share_interval, t_quantile
from paretoid.report.figures import SvgPicture, drawing, picture
from paretoid.theory.checks import FloatArray
from paretoid.theory.limits import Limit

#: logarithms beyond it are of numbers that no axis can show
_LARGEST = 300.0


def pointwise(status: Status, d: int) -> tuple[FloatArray, FloatArray]:
    """(K,) ends of 95% intervals of the means of objective d, each for itself, as recorded.

    Student's t, and Clopper and Pearson's where outcomes are 0 or 1; NaN with too few outcomes.
    They suppose numbers of outcomes that were fixed beforehand.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["x"])
    >>> for outcome in (1.0, 3.0):
    ...     explorer.tell("A", [outcome], unplanned=True)
    >>> low, high = pointwise(explorer.status(), 0)    # 2 -+ 12.706 sqrt(2) / sqrt(2)
    >>> low.round(3), high.round(3)
    (array([-10.706,     nan]), array([14.706,    nan]))
    """
    means, counts = status.means[:, d], status.counts[:, d]
    if status.objectives[d] in status.binary:
        ends = [
            share_interval(round(mean * n), int(n)) if n else (np.nan, np.nan)
            for mean, n in zip(means, counts, strict=True)
        ]
        low, high = np.array(ends, dtype=np.float64).T
        return low, high
    sd = np.full(means.shape, np.nan) if status.sd is None else status.sd[:, d]
    half = t_quantile(counts) * sd / np.sqrt(np.maximum(counts, 1))
    return means - half, means + half


def means_picture(status: Status, limits: Mapping[str, Limit]) -> SvgPicture | None:
    """Each arm's mean with a pointwise 95% interval, a panel an endpoint; None without outcomes.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["x"])
    >>> means_picture(explorer.status(), {}) is None
    True
    >>> explorer.tell("A", [1.0], unplanned=True)
    >>> "<svg" in means_picture(explorer.status(), {}).svg
    True
    """
    from paretoid.plots import style

    if not status.counts.any():
        return None
    K, D = status.counts.shape
    names = style.row_names(status.arms)
    with drawing():
        width = 5.2 + 0.08 * max(0, max(map(len, names)) - 18)
        figure = style.new_figure(width, D * (0.26 * K + 1.1) + 0.3)
        panels = figure.subplots(D, 1, squeeze=False)[:, 0]
        for d, axis in enumerate(panels):
            _forest(axis, status, d, limits.get(status.objectives[d]), names)
        return picture(panels[0], "means", (
            "Means of the outcomes in use, with 95% intervals of each mean for itself (Student's "
            "t; Clopper and Pearson's where outcomes are 0 or 1), as if the numbers of outcomes "
            "had been fixed beforehand. They show what the data look like and are no part of the "
            "guarantee: verdicts and answers rest on other, wider bounds. An arrow: the interval "
            "goes on."
        ))  # fmt: skip


def _forest(
    axis: Any, status: Status, d: int, limit: Limit | None, names: Sequence[str]
) -> None:  # fmt: skip
    from paretoid.plots import style

    name, rows = status.objectives[d], np.arange(len(names))[::-1]
    log = name in status.units.logs
    natural = np.exp if log else np.asarray
    means, (low, high) = status.means[:, d], pointwise(status, d)
    drawn = np.isfinite(means) & (np.abs(means) < _LARGEST if log else True)
    whole = drawn & np.isfinite(low) & np.isfinite(high)
    farthest = _farthest((high - low)[whole] / 2, log)
    left, right = np.maximum(low, means - farthest), np.minimum(high, means + farthest)
    bars = {"color": style.DARK, "lw": 2.2}
    axis.hlines(rows[whole], natural(left[whole]), natural(right[whole]), **bars)
    for end, on, marker in ((left, low < left, "<"), (right, high > right, ">")):
        goes_on = whole & on
        axis.plot(natural(end[goes_on]), rows[goes_on], marker, color=style.DARK, ms=6)
    axis.plot(
        natural(means[drawn]), rows[drawn], "o", color=style.DARK, ms=4.5, mec="black", mew=0.5
    )
    if limit is not None:
        axis.axvline(float(natural(limit.value)), ls="--", lw=1.3, color="#D55E00", zorder=1)
    if not drawn.any():
        axis.set_xticks([])
    elif log:
        style.log_axis(axis, "x")
    axis.set_ylim(-0.7, len(names) - 0.3)
    axis.set_yticks(rows, names)
    said = text.objective(name, name in status.minimize, unit=status.units.units.get(name, ""))
    if limit is not None:
        said += f"; dashed: {status.units.limit(name, limit)}"
    axis.set_title(style.wrap(said, 60), fontsize="medium", loc="left")
    style.grid(axis, "x")


def _farthest(halves: FloatArray, log: bool) -> float:
    """How far from its mean an interval is drawn: those of two or three outcomes hide the rest."""
    most = float(3 * np.median(halves)) if len(halves) else np.inf
    return min(most, np.log(1e6)) if log else most


def enrolment_picture(state: TrialState, rows: Sequence[Any]) -> SvgPicture | None:
    """Participants by arm, added up as they were enrolled; None without any.

    rows   events of the ledger, (number, time, author, kind, body, hash) each

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["x"])
    >>> made = explorer.ask(3)
    >>> "<svg" in enrolment_picture(explorer.replay(), explorer.rows()).svg
    True
    """
    from paretoid.plots import style

    arms, when, unit = enrolled(state, rows)
    if not len(arms):
        return None
    names = style.row_names(state.design.arms)
    K = len(names)
    totals = np.bincount(arms, minlength=K)
    end = float(when[-1]) + 1
    with drawing():
        width = 5.2 + 0.08 * max(0, max(map(len, names)) - 18)
        axis: Any = style.new_figure(width, 0.34 * K + 1.0).subplots()
        for row, arm in zip(range(K)[::-1], range(K), strict=True):
            own = when[arms == arm]
            steps = np.concatenate([[0.0], own, [end]])
            heights = np.append(np.arange(len(own) + 1), len(own)) / totals.max()
            axis.fill_between(
                steps, row, row + 0.85 * heights, step="post", color=style.DARK, lw=0.8
            )
            axis.axhline(row, color="0.8", lw=0.6, zorder=1)
            axis.annotate(
                f"{totals[arm]:,}", (1.0, row), xycoords=("axes fraction", "data"), xytext=(4, 2),
                textcoords="offset points", fontsize="small", annotation_clip=False,
            )  # fmt: skip
        axis.set_yticks(np.arange(K)[::-1] + 0.1, names)
        axis.set_xlim(0, end)
        axis.set_ylim(-0.1, K)
        axis.set_xlabel(style.wrap(unit, 60))
        style.grid(axis, "x")
        axis.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        return picture(axis, "enrolment", (
            f"Participants by arm, added up as they were enrolled, all rows to one scale; to the "
            f"right the numbers now, of {text.counted(len(arms), 'participant')} in all."
        ))  # fmt: skip


def enrolled(state: TrialState, rows: Sequence[Any]) -> tuple[Any, Any, str]:
    """(arms of the participants in order, when each came, in which unit).

    Days since the first, where they came over two days or more; else how many came before.
    Allocations that were overridden or withdrawn are no participants.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["x"])
    >>> made = explorer.ask(3)
    >>> explorer.withdraw(made[0], reason="nobody came")
    >>> arms, when, unit = enrolled(explorer.replay(), explorer.rows())
    >>> when.tolist(), unit
    ([0.0, 1.0], 'participants enrolled, of all arms')
    """
    times: list[str] = []
    for _, time, _, kind, body, _ in rows:
        told = json.loads(body) if kind in ("asked", "told") else {}
        made = len(told.get("arms", ())) if kind == "asked" else 0
        if kind == "overridden" or told.get("unplanned"):
            made = 1
        times += [time] * made
    gone = {*state.replaced, *state.withdrawn}
    stay = [at for at in range(len(state.arms)) if at not in gone]
    arms = np.array([state.arms[at] for at in stay], dtype=np.int64)
    days = np.array([_days(times[stay[0]], times[at]) for at in stay])
    if len(days) and np.isfinite(days).all() and (np.diff(days) >= 0).all() and days[-1] >= 2:
        return arms, days, f"days since the first participant ({times[stay[0]][:10]})"
    return arms, np.arange(float(len(stay))), "participants enrolled, of all arms"


def _days(first: str, time: str) -> float:
    try:
        return days_since(first, datetime.fromisoformat(time))
    except ValueError:
        return float("nan")
