"""Sentences and figures of a plan that its page and the terminal share, so that both agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.directions import directions
from paretoid.intervals import Interval, quantile_interval, share
from paretoid.labels import label_of
from paretoid.registry import goal_of
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.estimation.summary import TrialSummary
    from paretoid.summaries import Summary
    from paretoid.theory.limits import Limit

#: answers that are named; the others are counted
_NAMED = 4


def needed(plan: xr.Dataset, level: float) -> Interval:
    """N for one assurance and one goal, with the interval that simulating so few draws leaves."""
    times = np.where(plan.stopped.values, plan.stopping_time.values, np.inf)
    return quantile_interval(times, level)


def units_in(planned: xr.Dataset) -> Units:
    """How margins and limits of a plan are said; in numbers for plans that do not tell."""
    return Units.of(planned.attrs) or PLAIN


def limits_in(planned: xr.Dataset) -> Mapping[str, Limit]:
    """The limits that the arms of a plan must meet: all its goals have the same."""
    goal = goal_of(str(planned.goal.values[0]))
    return {} if goal is None else goal.limits or {}


def ways_of(planned: xr.Dataset, trial: TrialSummary) -> str:
    """Which way each endpoint is better, and which ones have a limit only."""
    return directions(trial.endpoints, trial.minimize, limits_in(planned), units_in(planned))


def conclusion(planned: xr.Dataset) -> str:
    """The plan in one sentence: how many participants, for what, how sure."""
    level, limit = float(planned.assurance_level.values[-1]), int(planned.attrs["max_samples"])
    parts: list[str] = []
    for g, name in enumerate(planned.goal.values):
        plan = planned.isel(goal=g)
        size, done = needed(plan, level)[0], float(plan.stopped.values.mean())
        label = label_of(str(name), planned.attrs)
        enough = f"{text.count(size)} participants are enough {level:.0%} of the time"
        if math.isinf(size):
            enough = f"even {limit:,} participants are enough only {done:.0%} of the time"
        parts.append(f"{enough} to find {label}")
    worth = "how often an answer is wrong is not proved: this is a heuristic"
    if planned.attrs["guarantee"] == "proved":
        worth = f"an answer is wrong with probability at most {planned.attrs['delta']:g}, proved"
    return f"In simulated trials {', and '.join(parts)}; {worth}."


def margin_head(shares: xr.Dataset) -> str:
    """The head of the column near_optimal; empty where there is no margin."""
    if not (np.asarray(shares.attrs["eps1"]) > 0).any():
        return ""
    if shares.attrs.get("margin_means") == "all":
        return "not practically dominated"
    return "in margin"


def simulation_error(interval: Interval, limit: int, beyond: str = "> ") -> str:
    """The ends of the interval of an N that simulation alone leaves open.

    >>> simulation_error((1833.0, 1618.0, math.inf), 3000)
    '1,618 to > 3,000'
    """
    _, low, high = interval
    return text.interval(low, high, partial(text.at_most, limit=limit, beyond=beyond))


def other_answers(summary: Summary, arms: Sequence[str]) -> list[tuple[str, int]]:
    """(arms, how many trials) of every answer, most frequent first; rare ones are put together.

    What is no answer, a trial whose participants ran out, comes last.
    """
    named = [(text.chosen(arms, mask) or "no arm", often)
             for mask, often in summary.answers[:_NAMED]]  # fmt: skip
    rest = summary.answers[_NAMED:]
    if rest:
        said = text.counted(len(rest), "rarer answer")
        named.append((said, sum(often for _, often in rest)))
    if summary.censored:
        named.append(("no answer within the limit", summary.censored))
    return named


def which_arms(summary: Summary, arms: Sequence[str]) -> str:
    """The answer most often given, with its share and its interval, and the others with theirs."""
    if not summary.answers:
        return "no simulated trial came to an answer within the limit."
    (first, often), *others = other_answers(summary, arms)
    part, low, high = share(often, summary.runs)
    said = (
        f"{first}, in {part:.1%} of simulated trials (simulation error: 95% interval "
        f"{text.shares(low, high)})"
    )
    if others:
        listed = "; ".join(f"{count / summary.runs:.1%} {name}" for name, count in others)
        said += f". Otherwise: {listed}"
    return f"{said}. The true means differ from draw to draw, and with them the right answer."


def bound_medians(plan: xr.Dataset) -> list[float] | None:
    """The sharp bound and that of Theorem 1 for one goal, median draw; None: none is known."""
    names = ("sharp_bound", "theorem_1")
    if any(bool(plan[name].isnull().any()) for name in names):
        return None
    return [float(plan[name].median()) for name in names]


def bounds_words(planned: xr.Dataset) -> str:
    """What the bounds hold for, without variable names; always said where a bound is."""
    said = str(planned.attrs["bounds_in_words"])
    said = said.replace("sharp_bound", "the sharp bound").replace("theorem_1", "Theorem 1")
    said = said[:1].upper() + said[1:].rstrip(".")
    return f"{said}. N is what the simulated trials of this plan took."


def bounds_text(planned: xr.Dataset) -> str:
    """Upper bounds of every goal and what they hold for; nothing where none is known."""
    listed = []
    for g, name in enumerate(planned.goal.values):
        medians = bound_medians(planned.isel(goal=g))
        if medians is not None:
            sharp, theorem = map(text.about, medians)
            label = label_of(str(name), planned.attrs)
            listed.append(f"{label}: sharp bound {sharp}, Theorem 1 {theorem}")
    if not listed:
        return ""
    return f"Upper bounds, median draw. {'; '.join(listed)}. {bounds_words(planned)}"


def least_words(planned: xr.Dataset) -> str:
    """What no exact method can be below on average; nothing where no such bound is known."""
    time, least = float(planned.characteristic_time), float(planned.lower_bound)
    if math.isnan(time):
        return ""
    if math.isinf(time):
        return "On the fitted means arms tie exactly, so without a margin no method ever ends."
    error = float(planned.get("characteristic_time_error", math.nan)) / time
    known = "" if math.isnan(error) else f" (Monte Carlo error of the fit {error:.1%})"
    return (
        f"All optimal arms, exactly: T* = {text.about(time)}{known}, so at least "
        f"{text.about(least)} samples on average for any exact method on the fitted means."
    )


def sources_words(trial: TrialSummary) -> str:
    """What the table's column `source` names; nothing without one."""
    if not trial.sources:
        return ""
    return f"Source of the numbers: {'; '.join(trial.sources)}."


def answers_data(summary: Summary, arms: Sequence[str]) -> list[dict[str, Any]]:
    """Every answer with its arms and share of the trials, for machines."""
    return [
        {
            "arms": [str(arm) for arm, inside in zip(arms, mask, strict=True) if inside],
            "share": often / summary.runs,
        }
        for mask, often in summary.answers
    ]
