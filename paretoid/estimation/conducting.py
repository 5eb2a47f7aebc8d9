"""What a plan says of a trial on a calendar: the price of delay, looks, the curve against rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.goals import Goal
from paretoid.intervals import quantile
from paretoid.runs.conducted import timetable
from paretoid.runs.simulate import simulate
from paretoid.theory.checks import FloatArray
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    import xarray as xr

#: recruitment rates of the curve, as multiples of the planned one
RATES = (0.25, 0.5, 1.0, 2.0, 4.0)
#: draws that every other rate is simulated on, and looks that are listed
_DRAWS, _LOOKS = 50, 100


def conducted(
    runs: xr.Dataset,
    bandits: Sequence[Bandit],
    goals: Sequence[Goal],
    conduct: Conduct,
    **common: Any,
) -> dict[str, tuple[Any, ...]]:
    """Variables by name, with dims: what `runs`, one of each bandit, mean for the calendar.

    analysed, duration        (goal, draw) at the look that answers, or the last
    on_dominated              (goal, draw) participants on arms outside the Pareto set of the draw
    ideal_stopping_time       (goal, draw) the same draws with every outcome known at once
    ideal_stopped, ideal_needed
    rate                      participants a day of the curve
    needed_by_rate            (goal, rate) N by which 90% have their answer; inf: not within the
                              limit
    duration_by_rate          (goal, rate) mean days to the answer, or to the end
    look_enrolled, look_day, in_flight   (look,) enrolled, day, and outcomes still awaited then
    """
    limit = common["max_samples"]
    dominated = np.array([~pareto_set(bandit.oriented) for bandit in bandits])
    made: dict[str, tuple[Any, ...]] = {
        "analysed": (("goal", "draw"), runs.analysed.values),
        "duration": (("goal", "draw"), runs.duration.values),
        "on_dominated": (("goal", "draw"), (runs.pulls.values * dominated).sum(axis=2)),
    }
    ideal = _of_draws(simulate(bandits, list(goals), replications=1, **common))
    made["ideal_stopping_time"] = (("goal", "draw"), ideal.stopping_time.values)
    made["ideal_stopped"] = (("goal", "draw"), ideal.stopped.values)
    made["ideal_needed"] = ("goal", _by(ideal, 0.9))
    if conduct.rate is not None and not conduct.is_ideal:
        few = list(bandits[:: max(1, len(bandits) // _DRAWS)])
        needed, days = [], []
        for factor in RATES:
            faster, other = _at_rate(conduct, factor), runs
            if faster.delays(few[0].objectives).max() > faster.day_of(limit):
                needed.append(np.full(len(goals), np.inf))  # all are enrolled before any outcome
                days.append(np.full(len(goals), np.nan))
                continue
            if factor != 1.0:
                other = _of_draws(
                    simulate(few, list(goals), replications=1, conduct=faster, **common)
                )
            needed.append(_by(other, 0.9))
            days.append(other.duration.values.mean(axis=1))
        first = conduct.rate if isinstance(conduct.rate, float) else conduct.rate[0][1]
        made["rate"] = ("rate", np.array(RATES) * first)
        made["needed_by_rate"] = (("goal", "rate"), np.array(needed).T)
        made["duration_by_rate"] = (("goal", "rate"), np.array(days).T)
    table = timetable(conduct, bandits[0].objectives, limit)
    at = np.flatnonzero(table.looks)
    if len(at) <= _LOOKS:
        made["look_enrolled"] = ("look", at + 1)
        made["look_day"] = ("look", table.days[at])
        made["in_flight"] = ("look", at + 1 - table.after[at].min(axis=1))
    return made


def _of_draws(runs: xr.Dataset) -> xr.Dataset:
    return runs.isel(replication=0, drop=True).transpose("goal", "instance", ...)


def _by(runs: xr.Dataset, level: float) -> FloatArray:
    """(goal,) the smallest N by which that share of draws has its answer; inf if none."""
    times = np.where(runs.stopped.values, runs.stopping_time.values, np.inf)
    return np.array([quantile(goal, level) for goal in times])


def _at_rate(conduct: Conduct, factor: float) -> Conduct:
    """The same conduct with recruitment so many times as fast."""
    if isinstance(conduct.rate, float):
        return replace(conduct, rate=conduct.rate * factor)
    assert conduct.rate is not None
    return replace(conduct, rate=tuple((day, rate * factor) for day, rate in conduct.rate))
