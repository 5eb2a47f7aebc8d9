"""`design.html`: the statistical design section of a protocol, from a plan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.model import trial_of
from paretoid.explorer.design import Design
from paretoid.intervals import Interval, mean_interval, quantile_interval, share
from paretoid.labels import inside_of
from paretoid.report import methods
from paretoid.report.calendar_words import nothing_settles
from paretoid.report.design_words import design_sections
from paretoid.report.figures import SvgPicture, drawing, new_axes, picture
from paretoid.report.operating import operating_section
from paretoid.report.page import (
    Block,
    Cell,
    PictureBlock,
    Section,
    TableBlock,
    TextBlock,
    percent,
    render,
    samples,
    settings,
    versions_table,
)
from paretoid.text import count, counted, interval

if TYPE_CHECKING:
    import xarray as xr


def protocol_page(
    fit: Any,
    planned: xr.Dataset,
    design: Design,
    *,
    command: str = "",
    digest: str = "",
    operating: xr.Dataset | None = None,
) -> str:
    """The statistical design of a plan as one HTML page.

    design      as `plan_design` reads it from the plan
    command     the line that made the plan
    digest      of the design file that is written beside the page
    operating   of `operating_characteristics`, to be shown too
    """
    sections = design_sections(design)
    at = [section.anchor for section in sections].index("unsettled")
    sections.insert(
        at, Section("Operating characteristics", _characteristics(fit, planned, design), "oc")
    )
    if operating is not None:
        goals = list(map(str, planned.goal.values))
        sections.insert(at + 1, operating_section(operating, goals, planned))
    sections.append(
        Section("Software and seeds", _software(fit, planned, design, command, digest), "software")
    )
    if design.guarantee == "proved":
        said = str(planned.attrs["guarantee_in_words"])
        sections = [
            Section(part.title, [*part.blocks, TextBlock(f"For this design: {said}")], part.anchor)
            if part.anchor == "guarantee"
            else part
            for part in sections
        ]
    return render(
        "Statistical design of an adaptive trial",
        f"{counted(design.K, 'arm')}, {counted(design.D, 'endpoint')}, delta = {design.delta:g}; "
        f"for the statistical section of a protocol",
        sections,
    )


def _characteristics(fit: Any, planned: xr.Dataset, design: Design) -> list[Block]:
    trial, draws = trial_of(fit), planned.sizes["draw"]
    source = trial.citation or "a table of the planner's own"
    run = "one look after every participant, every outcome known at once, nobody lost"
    if design.conduct is not None:
        run = f"{design.conduct}; tests were held at the looks alone"
    said = (
        f"From {draws} simulated trials, one on each of {draws} draws from the posterior given "
        f"published data ({source}), with at most {int(planned.attrs['max_samples']):,} "
        f"participants: {run}. These figures describe the simulation and average over what the "
        f"data leave open about the means; no theorem covers them."
    )
    if design.conduct is not None:
        said += (
            " The trial itself is tested whenever outcomes are recorded, so it may have its answer "
            "earlier than simulated."
        )
    heads = ["figure", *methods.labels(design.goals, design.units)]
    columns = [_column(planned.isel(goal=g), planned) for g in range(len(design.goals))]
    rows = [[Cell(name), *(column[name] for column in columns)] for name in columns[0]]
    note = (
        "Small print: 95% intervals of the simulation error. N counts participants enrolled; a "
        "trial without an answer counts with the limit, so such means (≥) are too small. Right and "
        "wrong are judged by the means of the draw."
    )
    if "participants on dominated arms, mean" in columns[0]:
        note += " Dominated arms are those outside the Pareto set of the draw."
    warnings = [TextBlock(words, "warning") for words in nothing_settles(planned)]
    problems = group(fit, "posterior").attrs["paretoid_problems"]
    if problems:
        warnings.insert(0, TextBlock(
            f"The fit behind these figures has problems that its maker accepted: {problems}.",
            "warning",
        ))  # fmt: skip
    assumed = [TextBlock(f"Assumed, not reported: {' '.join(trial.assumptions)}")]
    return [
        *warnings, TextBlock(said), TableBlock("Simulated trials, by goal", heads, rows, note),
        PictureBlock([_curve(planned)]),
        *(assumed if trial.assumptions else []),
    ]  # fmt: skip


def _curve(planned: xr.Dataset) -> SvgPicture:
    from paretoid import plots

    with drawing():
        return picture(plots.assurance(planned, ax=new_axes(4.0)), "assurance", (
            "Share of simulated trials that have their answer by N participants."
        ))  # fmt: skip


def _column(plan: xr.Dataset, planned: xr.Dataset) -> dict[str, Cell]:
    """What one goal's simulated trials came to, by name."""
    limit, runs = int(planned.attrs["max_samples"]), plan.sizes["draw"]
    stopped, correct = plan.stopped.values, plan.correct.values
    times, late = plan.stopping_time.values, not stopped.all()
    right, wrong = int((stopped & correct).sum()), int((stopped & ~correct).sum())
    cells = {
        "N, mean": samples(*mean_interval(times), least=late),
        **{
            f"N by which {level:.0%} have their answer": samples(
                *_by(times, stopped, level), limit=limit
            )
            for level in (0.5, 0.8, 0.9)
        },
        "answered, and right": percent(*share(right, runs)),
        "answered, and wrong": percent(*share(wrong, runs)),
        "no answer within the limit": percent(*share(runs - right - wrong, runs)),
    }
    if "settled" in plan:
        inside, sure = inside_of(str(plan.goal.values), plan.attrs)
        for name, kind in ((f"{sure} {inside}", 1), (f"{sure} out", -1), ("undecided", 0)):
            verdicts = (plan.settled.values == kind).sum(axis=-1)
            cells[f"arms {name} at the end, mean"] = _number(mean_interval(verdicts))
    if "analysed" in plan:
        cells["analysed at the end, mean"] = samples(*mean_interval(plan.analysed.values))
        on = mean_interval(plan.on_dominated.values)
        cells["participants on dominated arms, mean"] = samples(*on, least=late)
    if "duration" in plan and bool(np.isfinite(plan.duration).all()):
        days = plan.duration.values
        cells["days, mean"] = samples(*mean_interval(days), least=late)
        cells["days by which 90% have their answer"] = _beyond(_by(days, stopped, 0.9))
    mean = mean_interval(plan.plug_in_stopping_time.values)
    cells["N on the fitted means, mean"] = samples(
        *mean, least=not bool(plan.plug_in_stopped.all())
    )
    return cells


def _by(values: Any, stopped: Any, level: float) -> Interval:
    return quantile_interval(np.where(stopped, values, np.inf), level)


def _beyond(days: Interval) -> Cell:
    """Days, where infinite means that fewer have their answer within the limit."""
    value, low, high = days
    if math.isinf(value):
        return Cell("not within the limit", key=math.inf)
    if math.isinf(high):
        return Cell(count(value), f"{count(low)} to not within the limit", value)
    return samples(*days)


def _number(mean: Interval) -> Cell:
    value, low, high = mean
    form = "{:.2f}".format
    return Cell(form(value), "" if math.isnan(low) else interval(max(low, 0), high, form), value)


def _software(
    fit: Any, planned: xr.Dataset, design: Design, command: str, digest: str
) -> list[Block]:
    posterior = group(fit, "posterior")
    blocks: list[Block] = []
    if command:
        blocks += [TextBlock("The plan was made by"), TextBlock(command, "code")]
    blocks += [
        TextBlock(
            "The design file beside this page, design.toml, holds the design to the last digit. "
            "The trial is created from it, and every allocation and outcome is kept in its ledger, "
            "in which each event carries the hash of all before it:"
        ),
        TextBlock(
            "paretoid trial new design.toml trial.db\n"
            "paretoid trial status trial.db\n"
            "paretoid trial verify trial.db --head HASH", "code",
        ),
        settings("Seeds and settings", [
            ("design.toml", digest or "written beside this page"),
            ("seed of the simulations, and of the order within batches", planned.attrs["seed"]),
            ("seed of the fit", posterior.attrs.get("paretoid_seed", "not kept with the fit")),
            ("goals", "; ".join(goal.label(design.units) for goal in design.goals)),
            ("rule", str(design.rule)),
            ("radius", methods.radius_label(design.radius, str(design.radius))),
            ("guarantee", design.guarantee), ("delta", f"{design.delta:g}"),
            ("participants at most", f"{int(planned.attrs['max_samples']):,}"),
            ("simulated draws", planned.sizes["draw"]),
        ]),
        versions_table(),
    ]  # fmt: skip
    return blocks
