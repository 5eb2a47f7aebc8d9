"""What a plan says of the calendar, and of what is known at the end, answered or not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.conduct import rate_unit, rate_words
from paretoid.labels import inside_of
from paretoid.runs.settling import VERDICTS

if TYPE_CHECKING:
    import xarray as xr

#: heads of the curve against the recruitment rate
RATE_HEADS = ["recruitment", "N for 90% assurance", "mean days, answered or not"]


def nothing_settles(planned: xr.Dataset) -> list[str]:
    """What must be said first where no simulated trial came to any answer."""
    if bool(planned.stopped.any()):
        return []
    limit, draws = int(planned.attrs["max_samples"]), planned.sizes["draw"]
    first = settled_words(planned.isel(goal=0))
    known = f" What is known then: {first[0]}." if first else ""
    return [
        f"Nothing settles: none of {draws} simulated trials had an answer within {limit:,} "
        f"participants.{known} Plan for more participants, a larger margin or fewer arms."
    ]


def settled_words(plan: xr.Dataset) -> list[str]:
    """How many arms are certain at the mean N of one goal, and at the end; nothing in older plans.

    A trial that ends early knows less than one of that size, so the two are never put together.
    """
    if "settled" not in plan:
        return []
    mean, inside = float(plan.stopping_time.mean()), inside_of(str(plan.goal.values), plan.attrs)
    words = []
    if "arms_settled" in plan and round(mean) in plan.budget.values:
        late = ", once their outcomes have come," if "conduct" in plan.attrs else ""
        at = f"at {text.count(mean)} participants (the mean){late}"
        words.append(text.settled(plan.arms_settled.sel(budget=round(mean)).values, at, *inside))
    words.append(text.settled(_at_the_end(plan), "when a trial ends, answered or not,", *inside))
    return words


def _at_the_end(plan: xr.Dataset) -> list[float]:
    """Mean number of arms surely optimal, surely out and undecided when trials end."""
    verdicts = plan.settled.values
    return [float((verdicts == kind).sum() / len(verdicts)) for kind in VERDICTS.values()]


def conduct_words(planned: xr.Dataset) -> str:
    """How the trial runs, and how many outcomes are in flight at its looks."""
    if "conduct" not in planned.attrs:
        return ""
    said = f"The trial as it runs: {planned.attrs['conduct']}. N counts participants enrolled."
    if "in_flight" in planned and planned.sizes["look"]:
        flying = planned.in_flight.values
        said += (
            f" In flight at a look: {text.count(float(flying.mean()))} participants on average, at "
            f"most {int(flying.max())}."
        )
    return said


def calendar_rows(plan: xr.Dataset) -> list[list[str]]:
    """Name and value of what a calendar adds to the numbers of one goal."""
    if "analysed" not in plan:
        return []
    enrolled = float(plan.stopping_time.mean())
    analysed, days = float(plan.analysed.mean()), float(plan.duration.mean())
    least, ideally = ("" if bool(all_of.all()) else ">= "
                      for all_of in (plan.stopped, plan.ideal_stopped))  # fmt: skip
    rows = [
        ["enrolled at the answer, mean", least + text.count(enrolled)],
        ["analysed then, mean", least + text.count(analysed)],
        ["on dominated arms, mean", least + text.count(float(plan.on_dominated.mean()))],
        ["N for 90%, ideal", text.at_most(float(plan.ideal_needed), plan.attrs["max_samples"])],
        ["enrolled, mean, ideal", ideally + text.count(float(plan.ideal_stopping_time.mean()))],
    ]
    if math.isfinite(days):
        rows.insert(2, ["calendar time, mean", f"{least}{days:,.0f} days"])
    return rows


def rate_rows(plan: xr.Dataset) -> list[list[str]]:
    """The curve of N and of duration against the recruitment rate."""
    limit = plan.attrs["max_samples"]
    unit = rate_unit(planned_rate(plan))
    return [
        [
            rate_words(float(rate), unit=unit),
            text.at_most(float(needed), limit),
            "-" if np.isnan(days) else f"{days:,.0f}",
        ]
        for rate, needed, days in zip(
            plan.rate.values, plan.needed_by_rate.values, plan.duration_by_rate.values, strict=True
        )
    ]


def planned_rate(plan: xr.Dataset) -> float:
    """The rate that was planned, in the middle of the curve: the others are multiples of it."""
    return float(plan.rate.values[plan.sizes["rate"] // 2])


def calendar_data(plan: xr.Dataset) -> dict[str, Any]:
    """The same for machines."""
    said: dict[str, Any] = {}
    if "settled" in plan:
        names = ("optimal", "dominated", "undecided")
        said["settled"] = dict(zip(names, _at_the_end(plan), strict=True))
    if "arms_settled" in plan:
        said["settled_by"] = {
            str(n): dict(zip(VERDICTS, row, strict=True))
            for n, row in zip(plan.budget.values, plan.arms_settled.values.tolist(), strict=True)
        }
    for name in ("analysed", "duration", "on_dominated", "ideal_stopping_time"):
        if name in plan:
            said[f"mean_{name}"] = float(plan[name].mean())
    if "ideal_needed" in plan:
        said["ideal_needed"] = float(plan.ideal_needed)
    if "needed_by_rate" in plan:
        for name in ("needed_by_rate", "duration_by_rate"):
            rates = (f"{rate:g}" for rate in plan.rate.values)
            said[name] = dict(zip(rates, plan[name].values.tolist(), strict=True))
    return said
