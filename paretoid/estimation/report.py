"""A plan in words and numbers: for a terminal of any width, for machines, and as files."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoid import text
from paretoid.estimation.compat import save_fit
from paretoid.estimation.model import trial_of

if TYPE_CHECKING:
    import xarray as xr


def as_text(fit: Any, shares: xr.Dataset, planned: xr.Dataset, width: int = 80) -> str:
    """Tables and sentences that keep within `width` columns, from 40 on."""
    trial = trial_of(fit)
    width = max(width, 40)
    arms = text.counted(len(trial.arms), "arm")
    endpoints = text.counted(len(trial.endpoints), "endpoint")
    sentences = [f"{arms}, {endpoints}: {', '.join(trial.endpoints)}", trial.citation]
    lines = [*_wrapped([*sentences, *trial.assumptions, _problems(fit)], width), ""]
    heads, columns = ["posterior probability", "optimal"], [shares.optimal.values]
    if (shares.attrs["eps1"] > 0).any():
        heads.append("in margin")
        columns.append(shares.near_optimal.values)
    rows = [
        [arm, *(f"{p:.1%}" for p in row)] for arm, *row in zip(trial.arms, *columns, strict=True)
    ]
    lines.append(text.table(heads, rows, width=width))
    for goal in planned.goal.values:
        lines += _of_goal(planned.sel(goal=goal), width)
    words = [
        f"N counts participants. {planned.sizes['draw']} posterior draws, at most "
        f"{planned.attrs['max_samples']:,} participants, delta = {planned.attrs['delta']:g}.",
        planned.attrs["guarantee_in_words"],
        f"Exact problem: T* = {text.count(float(planned.characteristic_time))}, so at least "
        f"{text.count(float(planned.lower_bound))} samples on average for any exact method on the "
        f"fitted means.",
        planned.attrs["near_ties"],
    ]
    return "\n".join([*lines, "", *_wrapped(words, width)])


def _of_goal(plan: xr.Dataset, width: int) -> list[str]:
    """Participants, errors and arms when a trial asks for one goal."""
    fold, limit = plan.attrs["fold"], plan.attrs["max_samples"]
    goal = text.goal_label(str(plan.goal.values)) + (f": a {fold:g}-fold margin" if fold else "")
    least = "" if bool(plan.plug_in_stopped.all()) else ">= "
    facts = [
        [f"N for {level:.0%} assurance", text.at_most(float(needed), limit)]
        for level, needed in zip(
            plan.assurance_level.values, plan.samples_needed.values, strict=True
        )
    ] + [
        [
            "N on the fitted means, mean",
            least + text.count(float(plan.plug_in_stopping_time.mean())),
        ],
        ["censored at the limit", f"{float(plan.censored):.1%}"],
        ["wrong answers", f"{float(plan.error_rate):.1%}"],
        ["  95% interval", text.shares(float(plan.error_lower), float(plan.error_upper))],
        ["sharp bound, median draw", text.count(float(plan.sharp_bound.median()))],
        ["Theorem 1, median draw", text.count(float(plan.theorem_1.median()))],
    ]
    arms = [
        [str(arm), text.count(samples), f"{share:.0%}"]
        for arm, samples, share in zip(
            plan.arm.values, plan.allocation.values, plan.returned.values, strict=True
        )
    ]
    tables = [
        text.table(["", ""], facts, width=width - 2),
        text.table(["per arm", "samples", "returned"], arms, width=width - 2),
    ]
    return ["", *_wrapped([goal], width), *(textwrap.indent(table, "  ") for table in tables)]


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    """The lines of sentences, a paragraph each; there are none of an empty one."""
    return [line for said in sentences for line in textwrap.wrap(said, width)]


def _problems(fit: Any) -> str:
    said = fit["posterior"].attrs["paretoid_problems"]
    return f"The fit has problems that were accepted: {said}." if said else ""


def as_dict(fit: Any, shares: xr.Dataset, planned: xr.Dataset) -> dict[str, Any]:
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
            "assurance": dict(zip(plan.samples.values, plan.assurance.values, strict=True)),
            "plug_in_mean_samples": plan.plug_in_stopping_time.values.mean(),
            "sharp_bound_median": plan.sharp_bound.median().item(),
            "theorem_1_median": plan.theorem_1.median().item(),
            **{name: plan[name].item()
               for name in ("censored", "error_rate", "error_lower", "error_upper")},
            **{name: dict(zip(trial.arms, plan[name].values, strict=True))
               for name in ("allocation", "returned")},
        }  # fmt: skip
    found: dict[str, Any] = text.plain({
        "arms": trial.arms,
        "endpoints": trial.endpoints,
        "citation": trial.citation,
        "assumptions": trial.assumptions,
        "fit_problems": fit["posterior"].attrs["paretoid_problems"],
        "probability_optimal": dict(zip(trial.arms, shares.optimal.values, strict=True)),
        "probability_within_margin": dict(zip(trial.arms, shares.near_optimal.values, strict=True)),
        "goals": goals,
        "characteristic_time": planned.characteristic_time.item(),
        "lower_bound": planned.lower_bound.item(),
        **{key: value for key, value in planned.attrs.items()
           if key not in ("citation", "assumptions", "fold")},
    })  # fmt: skip
    return found


def write_all(
    fit: Any,
    shares: xr.Dataset,
    planned: xr.Dataset,
    folder: str | Path,
    *,
    command: str = "",
    **margin: Any,
) -> list[Path]:
    """Fit and plan as netCDF, tables as CSV, the report as HTML, text and JSON, all pictures.

    `command`, the line that made the plan, stands in the HTML report.
    """
    from paretoid.report import plan_report
    from paretoid.report.page import write_page

    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {folder} cannot be made a directory: {error}.") from None
    data = as_dict(fit, shares, planned)
    save_fit(fit, out / "fit.nc")
    planned.to_netcdf(out / "plan.nc", engine="h5netcdf")
    (out / "plan.json").write_text(text.as_json(data) + "\n", encoding="utf-8")
    (out / "plan.txt").write_text(as_text(fit, shares, planned) + "\n", encoding="utf-8")
    note = " ".join(trial_of(fit).assumptions)
    arm_rows = [["goal", "arm", "optimal", "optimal_error", "near_optimal", "near_optimal_error",
                 "samples", "returned", "assumptions"]]  # fmt: skip
    size_rows = [["goal", "samples", "assurance", "assurance_error", "assumptions"]]
    for goal in planned.goal.values:
        each = planned.sel(goal=goal)
        for i, arm in enumerate(map(str, planned.arm.values)):
            numbers = [float(shares[v][i]) for v in arm_rows[0][2:6]]
            numbers += [float(each.allocation[i]), float(each.returned[i])]
            arm_rows.append([str(goal), arm, *(f"{x:.6g}" for x in numbers), note])
        for j, n in enumerate(planned.samples.values):
            pair = float(each.assurance[j]), float(each.assurance_error[j])
            size_rows.append([str(goal), str(int(n)), *(f"{x:.6g}" for x in pair), note])
    page = write_page(out / "report.html", plan_report(fit, shares, planned, command=command))
    written = [page, *(out / name for name in ("fit.nc", "plan.nc", "plan.json", "plan.txt"))]
    for name, rows in (("arms.csv", arm_rows), ("assurance.csv", size_rows)):
        with (out / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        written.append(out / name)
    return written + _save_plots(fit, shares, planned, out, margin.get("fold"))


def _save_plots(
    fit: Any, shares: xr.Dataset, planned: xr.Dataset, out: Path, fold: float | None
) -> list[Path]:
    """All pictures as PNG and SVG."""
    from paretoid import plots

    panels: dict[str, Any] = {
        "forest": plots.forest(fit)[0],
        "pareto_probability": plots.pareto_probability(shares, fold=fold),
        "projections": plots.projections(fit)[0],
        "stopping_time": plots.assurance(planned),
    }
    written = []
    for name, axes in panels.items():
        for kind in ("png", "svg"):
            axes.get_figure(root=True).savefig(out / f"{name}.{kind}", dpi=150)
            written.append(out / f"{name}.{kind}")
    return written
