"""A plan in words and numbers: for a terminal of any width, and for machines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paretoid import text
from paretoid.estimation.model import trial_of
from paretoid.labels import label_of
from paretoid.report.calendar_words import (
    RATE_HEADS,
    calendar_data,
    calendar_rows,
    conduct_words,
    nothing_settles,
    rate_rows,
    settled_words,
)
from paretoid.report.plan_sentences import (
    answers_data,
    bounds_text,
    conclusion,
    least_words,
    margin_head,
    needed,
    other_answers,
    simulation_error,
    sources_words,
    ways_of,
)
from paretoid.report.prior_table import prior_dict, prior_text
from paretoid.summaries import summary_of

if TYPE_CHECKING:
    import xarray as xr


def as_text(
    fit: Any,
    shares: xr.Dataset,
    planned: xr.Dataset,
    width: int = 80,
    *,
    priors: xr.Dataset | None = None,
) -> str:
    """Tables and sentences that keep within `width` columns, from 40 on.

    `priors` is what `paretoid.estimation.sensitivity` returned.
    """
    trial = trial_of(fit)
    width = max(width, 40)
    arms = text.counted(len(trial.arms), "arm")
    endpoints = text.counted(len(trial.endpoints), "endpoint")
    ways = ways_of(planned, trial)
    first = [
        *(nothing_settles(planned) or [conclusion(planned)]), f"{arms}, {endpoints}: {ways}.",
        trial.citation, sources_words(trial), *trial.assumptions, *trial.readings,
    ]  # fmt: skip
    lines = [*_wrapped([*first, _problems(fit)], width), ""]
    heads, columns = ["posterior probability", "optimal"], [shares.optimal.values]
    if "feasible" in shares:
        heads = ["posterior probability", "meets limits", "optimal of those"]
        columns.insert(0, shares.feasible.values)
    if margin_head(shares):
        heads.append(margin_head(shares))
        columns.append(shares.near_optimal.values)
    rows = [
        [arm, *(f"{p:.1%}" for p in row)] for arm, *row in zip(trial.arms, *columns, strict=True)
    ]
    lines.append(text.table(heads, rows, width=width))
    for goal in planned.goal.values:
        lines += _of_goal(planned.sel(goal=goal), width)
    words = [
        _margin_in_words(shares),
        "Optimal of those: it meets the limits, and is optimal among the arms that do."
        if "feasible" in shares
        else "",
        f"N counts participants. {planned.sizes['draw']} posterior draws, at most "
        f"{planned.attrs['max_samples']:,} participants, delta = {planned.attrs['delta']:g}. "
        f"Intervals of N and of shares are simulation error alone, and shrink with --draws.",
        conduct_words(planned),
        planned.attrs["guarantee_in_words"],
        planned.attrs.get("shares_in_words", ""),
        least_words(planned),
        bounds_text(planned),
        planned.attrs["near_ties"],
    ]
    lines += ["", *_wrapped(words, width)]
    return "\n".join(lines if priors is None else [*lines, "", prior_text(priors, width)])


def _of_goal(plan: xr.Dataset, width: int) -> list[str]:
    """Participants, errors and arms when a trial asks for one goal."""
    limit = plan.attrs["max_samples"]
    label = label_of(str(plan.goal.values), plan.attrs)
    least = "" if bool(plan.plug_in_stopped.all()) else ">= "
    facts = [
        row
        for position, level in enumerate(plan.assurance_level.values)
        for row in _of_level(plan.isel(assurance_level=position), float(level), limit)
    ] + [
        [
            "N on the fitted means, mean",
            least + text.count(float(plan.plug_in_stopping_time.mean())),
        ],
        *([["mean N saved by informed shares", saved(plan)]] if "saved" in plan else []),
        ["censored at the limit", f"{float(plan.censored):.1%}"],
        ["wrong answers", f"{float(plan.error_rate):.1%}"],
        ["  simulation error, 95%", text.shares(float(plan.error_lower), float(plan.error_upper))],
        *calendar_rows(plan),
    ]
    arms = [
        [str(arm), text.count(samples), f"{share:.0%}"]
        for arm, samples, share in zip(
            plan.arm.values, plan.allocation.values, plan.returned.values, strict=True
        )
    ]
    summary = summary_of(plan)
    answers = [
        [name, f"{often / summary.runs:.1%}"]
        for name, often in other_answers(summary, [str(arm) for arm in plan.arm.values])
    ]
    tables = [
        text.table(["", ""], facts, width=width - 2),
        text.table(["per arm", "samples", "returned"], arms, width=width - 2),
        text.table(["answer", "of trials"], answers, width=width - 2),
    ]
    goal = f"{label[:1].upper()}{label[1:]}: {'; '.join(settled_words(plan))}".rstrip(": ")
    if "needed_by_rate" in plan:
        tables.append(text.table(RATE_HEADS, rate_rows(plan), names=0, width=width - 2))
    return ["", *_wrapped([goal], width), *(textwrap.indent(table, "  ") for table in tables)]


def _margin_in_words(shares: xr.Dataset) -> str:
    """What the margin means; nothing if there is none."""
    if not (shares.attrs["eps1"] > 0).any():
        return ""
    return text.MARGINS[shares.attrs.get("margin_means", "any")]


def _of_level(plan: xr.Dataset, level: float, limit: int) -> list[list[str]]:
    """N for one assurance, its simulation error, and what it would be without published data."""
    size = needed(plan, level)
    rows = [
        [f"N for {level:.0%} assurance", text.at_most(size[0], limit)],
        ["  simulation error, 95%", simulation_error(size, limit)],
    ]
    if "uniform_needed" in plan:
        rows.append(["  with uniform shares", text.at_most(float(plan.uniform_needed), limit)])
    return rows


def saved(plan: xr.Dataset) -> str:
    """The part of the mean N that the published data save, with its standard error."""
    part, error = float(plan.saved), float(plan.saved_error)
    return f"{part:.0%} +- {error:.0%}"


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    """The lines of sentences, a paragraph each; there are none of an empty one."""
    return [line for said in sentences for line in textwrap.wrap(said, width)]


def _problems(fit: Any) -> str:
    said = fit["posterior"].attrs["paretoid_problems"]
    return f"The fit has problems that were accepted: {said}." if said else ""


def _uniform(plan: xr.Dataset) -> dict[str, Any]:
    if "uniform_needed" not in plan:
        return {}
    levels = (f"{level:g}" for level in plan.assurance_level.values)
    return {
        "uniform_needed": dict(zip(levels, plan.uniform_needed.values, strict=True)),
        "saved": float(plan.saved),
        "saved_error": float(plan.saved_error),
    }


def as_dict(
    fit: Any, shares: xr.Dataset, planned: xr.Dataset, *, priors: xr.Dataset | None = None
) -> dict[str, Any]:
    """The same for machines; null stands for infinity, which JSON cannot say."""
    trial = trial_of(fit)
    goals = {}
    for goal in planned.goal.values:
        plan = planned.sel(goal=goal)
        goals[goal] = {
            "samples_needed": dict(
                zip((f"{level:g}" for level in plan.assurance_level.values),
                    plan.samples_needed.values, strict=True)
            ),
            "samples_needed_interval": {
                f"{level:g}": needed(plan, float(level))[1:]
                for level in plan.assurance_level.values
            },
            "answers": answers_data(summary_of(plan), trial.arms),
            **_uniform(plan),
            **calendar_data(plan),
            "assurance": dict(zip(plan.samples.values, plan.assurance.values, strict=True)),
            "plug_in_mean_samples": plan.plug_in_stopping_time.values.mean(),
            "sharp_bound_median": plan.sharp_bound.median().item(),
            "theorem_1_median": plan.theorem_1.median().item(),
            **{name: plan[name].item()
               for name in ("censored", "error_rate", "error_lower", "error_upper")},
            **{name: dict(zip(trial.arms, plan[name].values, strict=True))
               for name in ("allocation", "returned")},
        }  # fmt: skip
    data: dict[str, Any] = text.plain({
        "arms": trial.arms,
        "endpoints": trial.endpoints,
        "citation": trial.citation,
        "sources": trial.sources,
        "assumptions": trial.assumptions,
        "readings": trial.readings,
        "fit_problems": fit["posterior"].attrs["paretoid_problems"],
        "better": {name: "smaller" if name in trial.minimize else "larger"
                   for name in trial.endpoints},
        "conclusion": conclusion(planned),
        **({"probability_meets_limits": dict(zip(trial.arms, shares.feasible.values, strict=True))}
           if "feasible" in shares else {}),
        "probability_optimal": dict(zip(trial.arms, shares.optimal.values, strict=True)),
        "probability_within_margin": dict(zip(trial.arms, shares.near_optimal.values, strict=True)),
        "goals": goals,
        "characteristic_time": planned.characteristic_time.item(),
        "lower_bound": planned.lower_bound.item(),
        **{name: planned[name].item() for name in ("characteristic_time_error", "lower_bound_error")
           if name in planned},
        **{key: value for key, value in planned.attrs.items()
           if key not in ("citation", "assumptions", "fold", "units")},
    })  # fmt: skip
    return data if priors is None else data | {"prior_sensitivity": prior_dict(priors)}
