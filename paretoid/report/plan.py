"""The report of a plan: how many participants, which arms, how sure; then how that was found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.model import trial_of
from paretoid.goals import Goal
from paretoid.intervals import (
    credible_interval,
    mean_interval,
    share,
)
from paretoid.registry import goal_of, radius_of
from paretoid.report import methods
from paretoid.report.calendar_words import (
    RATE_HEADS,
    calendar_rows,
    conduct_words,
    nothing_settles,
    rate_rows,
    settled_words,
)
from paretoid.report.figures import SvgPicture
from paretoid.report.fitted import fit_methods, means_table
from paretoid.report.operating import operating_section
from paretoid.report.page import (
    AnswerBlock,
    Block,
    Cell,
    PictureBlock,
    Section,
    TableBlock,
    TextBlock,
    percent,
    plus_minus,
    render,
    samples,
)
from paretoid.report.plan_pictures import plan_pictures
from paretoid.report.plan_repeat import exact, radius_said, repeat
from paretoid.report.plan_sentences import (
    bound_medians,
    bounds_words,
    least_words,
    margin_head,
    needed,
    simulation_error,
    units_in,
    ways_of,
    which_arms,
)
from paretoid.report.plan_text import saved
from paretoid.report.prior_table import prior_blocks
from paretoid.summaries import Summary, summary_of
from paretoid.text import MARGINS, about, at_most, count, counted, interval, shares
from paretoid.theory.radii import Radius
from paretoid.units import Units

if TYPE_CHECKING:
    import xarray as xr


def plan_report(
    fit: Any,
    shares: xr.Dataset,
    planned: xr.Dataset,
    *,
    command: str = "",
    operating: xr.Dataset | None = None,
    priors: xr.Dataset | None = None,
) -> str:
    """A plan as one HTML page, from what `fit`, `pareto_probability` and `plan` returned.

    command     the line that made it, where there is one; shown under "How to repeat this"
    operating   of `operating_characteristics`, to be shown too
    priors      of `estimation.sensitivity`, to be shown too

    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial, pareto_probability, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> shares = pareto_probability(posterior, fold=1.5)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=20, replications=5)
    >>> page = plan_report(posterior, shares, planned)
    >>> page[:15], "BNT/BNT + BNT" in page
    ('<!DOCTYPE html>', True)
    """
    trial = trial_of(fit)
    goals = _goals(planned)
    told = [summary_of(planned.isel(goal=g)) for g in range(len(goals))]
    units = units_in(planned)
    pictures = plan_pictures(fit, shares, planned)
    sections = [
        Section("The answer", _answers(planned, goals, told, units, fit), "answer"),
        Section("Participants", [
            _sizes(planned, goals, told), *_calendar(planned, goals, pictures), *_ties(planned),
            PictureBlock([*pictures["assurance"], *pictures["settled"]]),
            _assurance(planned, goals),
            *_bounds(planned, goals),
        ], "participants"),
        Section("Arms", [
            *(_arms(shares, summary, goal, units)
              for goal, summary in zip(goals, told, strict=True)),
            PictureBlock(pictures["probability"]),
        ], "arms"),
        Section("What the published data say", [
            means_table(fit), PictureBlock([*pictures["forest"], *pictures["projections"]]),
        ], "data"),
        Section("Methods", list(map(TextBlock, _methods(fit, planned))), "methods"),
        Section("How to repeat this", repeat(fit, shares, planned, command), "repeat"),
        Section("Appendix: the exact calls", exact(planned), "exact"),
    ]  # fmt: skip
    if priors is not None:
        at = [section.anchor for section in sections].index("methods")
        sections.insert(at, Section("Other priors", prior_blocks(priors), "priors"))
    if operating is not None:
        sections.insert(
            3, operating_section(operating, list(map(str, planned.goal.values)), planned)
        )
    return render(
        "Plan of an adaptive trial",
        f"{counted(len(trial.arms), 'arm')}, {counted(len(trial.endpoints), 'endpoint')}: "
        f"{ways_of(planned, trial)}",
        sections,
    )


def _goals(planned: xr.Dataset) -> list[Goal]:
    goals = [goal_of(str(name)) for name in planned.goal.values]
    if None in goals:
        raise ValueError(
            f"{list(planned.goal.values)} are no goals of ours; was it made by plan()?"
        )
    return [goal for goal in goals if goal is not None]


def _answers(
    planned: xr.Dataset, goals: list[Goal], told: list[Summary], units: Units, fit: Any
) -> list[Block]:
    blocks: list[Block] = []
    draws, limit = planned.sizes["draw"], int(planned.attrs["max_samples"])
    level = float(planned.assurance_level.values[-1])
    for g, (goal, summary) in enumerate(zip(goals, told, strict=True)):
        size = needed(planned.isel(goal=g), level)
        said = f"More than {limit:,} participants"
        if math.isfinite(size[0]):
            ends = simulation_error(size, limit, "more than ")
            said = f"{count(size[0])} participants (simulation error: 95% interval {ends})"
        if not summary.stopped:
            said = f"No answer within {limit:,} participants"
            known = settled_words(planned.isel(goal=g))
            sentences = [
                f"None of {draws} simulated trials had its answer by then, so how sure it would be "
                f"cannot be said. Enrol more, widen the margin or ask for fewer arms.",
                *(f"What is known then: {words}." for words in known),
            ]
            blocks.append(AnswerBlock(f"To find {goal.words(units)}:", said, sentences))
            continue
        sentences = [
            f"How many: {_how_many(math.isfinite(size[0]), level, summary, limit)}, averaged over "
            f"{draws} draws of the posterior.{_saved(planned.isel(goal=g), limit)}",
            f"Which arms: {which_arms(summary, planned.arm.values)}",
            f"How sure: {_wrong(summary, planned)}",
            *(f"What is known: {words}." for words in settled_words(planned.isel(goal=g))),
        ]
        blocks.append(AnswerBlock(f"To find {goal.words(units)}:", said, sentences))
    if planned.attrs["guarantee"] == "proved":
        blocks.append(TextBlock(f"What the proof assumes: {_assumed(planned)}"))
        if planned.attrs.get("shares_in_words"):
            blocks.append(TextBlock(planned.attrs["shares_in_words"]))
    else:
        blocks.insert(0, TextBlock(planned.attrs["guarantee_in_words"], "warning"))
    assumed = trial_of(fit).assumptions
    if assumed:
        blocks.append(TextBlock(f"Assumed, not reported: {' '.join(assumed)}"))
    blocks = [*(TextBlock(said, "warning") for said in nothing_settles(planned)), *blocks]
    problems = group(fit, "posterior").attrs["paretoid_problems"]
    if problems:
        said = f"The fit has problems that its maker accepted: {problems}. "
        blocks.insert(0, TextBlock(said + "All numbers below inherit them.", "warning"))
    return blocks


def _how_many(enough: bool, level: float, summary: Summary, limit: int) -> str:
    if enough:
        return f"with so many a trial has its answer with probability {level:.0%}"
    done = summary.stopped / summary.runs
    return f"by {limit:,} a trial has its answer with probability {done:.0%}, not {level:.0%}"


def _saved(plan: xr.Dataset, limit: int) -> str:
    """What informed shares save at the last level of assurance; nothing without them."""
    if "saved" not in plan:
        return ""
    uniform = at_most(float(plan.uniform_needed[-1]), limit, beyond="more than ")
    return (
        f" With uniform shares of delta it takes {uniform}; over all draws informed ones save "
        f"{saved(plan)} of the mean."
    )


def _wrong(summary: Summary, planned: xr.Dataset) -> str:
    promise = "the answer is a heuristic, without a guarantee"
    if planned.attrs["guarantee"] == "proved":
        delta = float(planned.attrs["delta"])
        promise = f"the probability of a wrong answer is proved to be at most {delta:g}"
    rate, low, high = summary.error
    return (
        f"{promise}; {summary.wrong} of {summary.runs} simulated trials gave a wrong one "
        f"({rate:.1%}, simulation error: 95% interval {shares(low, high)})."
    )


def _sizes(planned: xr.Dataset, goals: list[Goal], told: list[Summary]) -> TableBlock:
    limit = planned.attrs["max_samples"]
    levels = [float(level) for level in planned.assurance_level.values]
    rows = []
    for g, (label, summary) in enumerate(
        zip(methods.labels(goals, units_in(planned)), told, strict=True)
    ):
        plan = planned.isel(goal=g)
        mean = mean_interval(plan.plug_in_stopping_time.values)
        rows.append([
            Cell(label),
            *(samples(*needed(plan, level), limit=limit) for level in levels),
            samples(*mean, least=not bool(plan.plug_in_stopped.all())),
            percent(*summary.late), percent(*summary.error),
        ])  # fmt: skip
    heads = ["goal", *(f"N for {level:.0%} assurance" for level in levels),
             "mean N on the fitted means", "censored at the limit", "wrong answers"]  # fmt: skip
    note = (
        f"N counts participants; at most {limit:,}. Small print: 95% intervals of the simulation "
        f"error, which more draws make narrower; they say nothing about other data or assumptions."
    )
    return TableBlock("Participants by goal", heads, rows, note)


def _bounds(planned: xr.Dataset, goals: list[Goal]) -> list[Block]:
    """Upper bounds in a table of their own, with what they hold for; nothing if none is known."""
    rows = []
    for g, label in enumerate(methods.labels(goals, units_in(planned))):
        plan = planned.isel(goal=g)
        if bound_medians(plan) is not None:
            ranges = [credible_interval(plan[name].values) for name in ("sharp_bound", "theorem_1")]
            cells = [_rounded(*map(float, bound)) for bound in ranges]
            rows.append([Cell(label), *cells])
    if not rows:
        return []
    heads = ["goal", "sharp bound, median draw", "Theorem 1, median draw"]
    note = f"Small print: the middle 95% of the posterior draws. {bounds_words(planned)}"
    return [TableBlock("Upper bounds, for comparison", heads, rows, note)]


def _rounded(value: float, low: float, high: float) -> Cell:
    return Cell(about(value), interval(low, high, about), value)


def _calendar(
    planned: xr.Dataset, goals: list[Goal], pictures: dict[str, list[SvgPicture]]
) -> list[Block]:
    """The trial as it will run: people, days, what is in flight, the curve against the rate."""
    if "analysed" not in planned:
        return []
    plans = [planned.isel(goal=g) for g in range(len(goals))]
    columns = [calendar_rows(plan) for plan in plans]
    rows = [
        [Cell(names[0][0]), *(Cell(value) for _, value in names)]
        for names in zip(*columns, strict=True)
    ]
    labels = methods.labels(goals, units_in(planned))
    blocks: list[Block] = [
        TextBlock(conduct_words(planned)),
        TableBlock("The trial as it runs, beside the ideal one", ["", *labels], rows, (
            "Ideal: every outcome is known before the next participant. Dominated arms: outside "
            "the Pareto set of the simulated draw."
        )),
    ]  # fmt: skip
    if "in_flight" in planned and planned.sizes["look"]:
        looks = zip(planned.look_enrolled.values, planned.look_day.values,
                    planned.in_flight.values, strict=True)  # fmt: skip
        blocks.append(TableBlock("Looks", ["enrolled", "day", "in flight"], [
            [Cell(f"{int(n):,}", key=float(n)), Cell("-" if np.isnan(day) else f"{day:,.0f}"),
             Cell(f"{int(flying):,}")]
            for n, day, flying in looks
        ]))  # fmt: skip
    if "needed_by_rate" in planned:
        for label, plan in zip(labels, plans, strict=True):
            cells = [[Cell(value) for value in row] for row in rate_rows(plan)]
            blocks.append(TableBlock(f"Recruitment, {label}", RATE_HEADS, cells))
        blocks.append(PictureBlock(pictures["recruitment"]))
    return blocks


def _ties(planned: xr.Dataset) -> list[Block]:
    said = planned.attrs["near_ties"]
    return [TextBlock(said, "warning")] if said else []


def _assurance(planned: xr.Dataset, goals: list[Goal]) -> TableBlock:
    rows = []
    for j, n in enumerate(planned.samples.values):
        cells = [
            plus_minus(float(share), float(planned.assurance_error[g, j]), percent=True)
            for g, share in enumerate(planned.assurance.values[:, j])
        ]
        rows.append([Cell(f"{int(n):,}", key=float(n)), *cells])
    heads = ["participants N", *methods.labels(goals, units_in(planned))]
    caption = "Assurance: probability that the trial has its answer by N"
    return TableBlock(f"{caption} (± standard error, in percentage points)", heads, rows)


def _arms(shares: xr.Dataset, summary: Summary, goal: Goal, units: Units) -> TableBlock:
    columns = {
        **({"feasible": "P(meets the limits)"} if "feasible" in shares else {}),
        "optimal": "P(optimal of those)" if "feasible" in shares else "P(optimal)",
        **({"near_optimal": f"P({margin_head(shares)})"} if margin_head(shares) else {}),
    }
    rows = []
    for i, arm in enumerate(map(str, shares.arm.values)):
        rows.append([
            Cell(arm), *(_probability(shares, name, i) for name in columns),
            plus_minus(float(summary.pulls[i]), float(summary.pulls_error[i])),
            percent(*share(int(summary.returned[i]), summary.runs)),
        ])  # fmt: skip
    return TableBlock(
        f"Arms, when the trial asks for {goal.words(units)}",
        ["arm", *columns.values(), "mean participants", "returned by simulated trials"],
        rows,
        "Probabilities are posterior, ± Monte Carlo standard errors from batch means; "
        f"participants are means over {summary.runs} simulated trials ± standard errors; shares of "
        "trials have 95% intervals. Censored trials return no arm."
        + (f" {MARGINS[shares.attrs.get('margin_means', 'any')]}" if margin_head(shares) else ""),
    )


def _probability(shares: xr.Dataset, name: str, i: int) -> Cell:
    return plus_minus(float(shares[name][i]), float(shares[f"{name}_error"][i]), percent=True)


def _methods(fit: Any, planned: xr.Dataset) -> list[str]:
    radius = radius_of(planned.attrs["radius"])
    simulated = (
        f"{planned.sizes['draw']} instances, draws spread evenly over the posterior, were "
        f"simulated once each, so that assurance averages over what is not known about the means; "
        f"{planned.sizes['replication']} further trials were simulated at the posterior means. A "
        f"trial that reached {planned.attrs['max_samples']:,} participants without an answer was "
        f"counted as censored, never as wrong."
    )
    tuned = planned.attrs.get("expected_samples_per_arm")
    if planned.attrs.get("shares_in_words"):
        simulated += f" {planned.attrs['shares_in_words']}"
    elif tuned is not None:
        simulated += (
            f" The radius's rho was chosen, before any new data, for {float(tuned):,.0f} "
            f"participants per arm, the need of a small pilot simulation at the posterior means."
        )
    bound = least_words(planned)
    if bound and not math.isinf(float(planned.characteristic_time)):
        law = "0/1" if set(trial_of(fit).scales) == {"binary"} else "Gaussian"
        bound += f" T*, the characteristic time, is that of {law} outcomes."
    return [
        *fit_methods(fit), f"{methods.PARETO} {methods.APE}",
        f"{methods.intervals_of(radius, radius_said(planned))} {_promise(radius, planned)}",
        simulated, *([bound] if bound else []), methods.INTERVALS,
    ]  # fmt: skip


def _assumed(planned: xr.Dataset) -> str:
    said = str(planned.attrs["guarantee_in_words"])
    return said[:1].lower() + said[1:]


def _promise(radius: Radius | None, planned: xr.Dataset) -> str:
    proved = planned.attrs["guarantee"] == "proved"
    said = methods.guarantee(radius, proved, float(planned.attrs["delta"]))
    return f"{said} For this plan: {_assumed(planned)}" if proved else said
