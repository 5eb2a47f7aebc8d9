"""A plan in words and numbers: for a terminal of any width, for machines, and as files."""

from __future__ import annotations

import csv
import json
import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoid.estimation.compat import save_fit
from paretoid.estimation.model import trial_of
from paretoid.plots.style import goal_label

if TYPE_CHECKING:
    import xarray as xr


def as_text(fit: Any, shares: xr.Dataset, planned: xr.Dataset, width: int = 80) -> str:
    """Tables and sentences that keep within `width` columns, from 40 on."""
    trial = trial_of(fit)
    width = max(width, 40)
    lines = textwrap.wrap(
        f"{len(trial.arms)} arms, {len(trial.endpoints)} endpoints: {', '.join(trial.endpoints)}",
        width,
    )
    for sentence in (trial.citation, *trial.assumptions, _problems(fit)):
        lines += textwrap.wrap(sentence, width)
    margin = bool((shares.attrs["eps1"] > 0).any())
    heads = ["optimal", "in margin"] if margin else ["optimal"]
    columns = [[f"{x:.1%}" for x in shares.optimal.values]]
    if margin:
        columns.append([f"{x:.1%}" for x in shares.near_optimal.values])
    lines += ["", *_table("posterior probability", list(trial.arms), heads, columns, width)]
    draws = planned.sizes["draw"]
    for goal in planned.goal.values:
        each = planned.sel(goal=goal)
        lines += ["", *textwrap.wrap(_goal(str(goal), planned), width)]
        facts = [
            (f"N for {level:.0%} assurance", _size(each, level))
            for level in each.assurance_level.values
        ]
        facts += [
            ("N on the fitted means, mean", _average(each)),
            ("not settled within the limit", f"{float(each.censored):.1%}"),
            ("wrong answers", f"{float(each.error_rate):.1%}"),
            ("  95% interval", f"{float(each.error_lower):.1%}-{float(each.error_upper):.1%}"),
            ("sharp bound, median draw", _number(float(each.sharp_bound.median()))),
            ("Theorem 1, median draw", _number(float(each.theorem_1.median()))),
        ]
        lines += [f"  {name:<32}{value:>{max(min(width, 50) - 34, 6)}}" if width >= 46
                  else f" {name:<29.29}{value:>10}" for name, value in facts]  # fmt: skip
        columns = [
            [f"{x:,.0f}" for x in each.allocation.values],
            [f"{x:.0%}" for x in each.returned.values],
        ]
        lines += _table("  per arm", list(trial.arms), ["samples", "returned"], columns, width)
    lines.append("")
    words = [
        f"N counts participants. {draws} posterior draws, at most "
        f"{planned.attrs['max_samples']:,} participants, delta = {planned.attrs['delta']:g}.",
        planned.attrs["guarantee_in_words"],
        f"Exact problem: T* = {_number(float(planned.characteristic_time))}, so at least "
        f"{_number(float(planned.lower_bound))} samples on average for any exact method on the "
        f"fitted means.",
        planned.attrs["near_ties"],
    ]
    for sentence in words:
        lines += textwrap.wrap(sentence, width)
    return "\n".join(line.rstrip() for line in lines)


def _goal(goal: str, planned: xr.Dataset) -> str:
    fold = planned.attrs["fold"]
    return goal_label(goal) + (f": a {fold:g}-fold margin" if fold else "")


def _problems(fit: Any) -> str:
    said = fit["posterior"].attrs["paretoid_problems"]
    return f"The fit has problems that were accepted: {said}." if said else ""


def _size(each: xr.Dataset, level: float) -> str:
    needed = float(each.samples_needed.sel(assurance_level=level))
    return f"> {each.attrs['max_samples']:,}" if math.isinf(needed) else _number(needed)


def _average(each: xr.Dataset) -> str:
    least = "" if bool(each.plug_in_stopped.all()) else ">= "
    return least + _number(float(each.plug_in_stopping_time.mean()))


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:,.0f}"


def _table(
    title: str, names: list[str], heads: list[str], columns: list[list[str]], width: int
) -> list[str]:
    """One line per name, or two where the width asks for it."""
    sizes = [max(len(h), *map(len, c)) + 2 for h, c in zip(heads, columns, strict=True)]
    first = max(len(title), *(len(n) + 2 for n in names))
    numbers = ["".join(f"{v:>{s}}" for v, s in zip(row, sizes, strict=True))
               for row in zip(*columns, strict=True)]  # fmt: skip
    head = "".join(f"{h:>{s}}" for h, s in zip(heads, sizes, strict=True))
    if first + sum(sizes) <= width:
        return [f"{title:<{first}}{head}"] + [
            f"  {name:<{first - 2}}{number}" for name, number in zip(names, numbers, strict=True)
        ]
    lines = [title, head.rjust(width)]
    for name, number in zip(names, numbers, strict=True):
        short = "  " + name
        if len(short) + len(number) <= width:
            lines.append(short + number.rjust(width - len(short)))
        else:
            lines += textwrap.wrap(name, width, initial_indent="  ", subsequent_indent="    ")
            lines.append(number.rjust(width))
    return lines


def as_dict(fit: Any, shares: xr.Dataset, planned: xr.Dataset) -> dict[str, Any]:
    """The same for machines; null stands for infinity, which JSON cannot say."""
    trial = trial_of(fit)
    goals = {}
    for goal in planned.goal.values:
        each = planned.sel(goal=goal)
        goals[str(goal)] = {
            "samples_needed": {
                f"{level:g}": _finite(each.samples_needed.sel(assurance_level=level))
                for level in each.assurance_level.values
            },
            "assurance": {
                str(int(n)): float(p)
                for n, p in zip(each.samples.values, each.assurance.values, strict=True)
            },
            "plug_in_mean_samples": float(each.plug_in_stopping_time.mean()),
            "sharp_bound_median": _finite(each.sharp_bound.median()),
            "theorem_1_median": _finite(each.theorem_1.median()),
            **{name: float(each[name])
               for name in ("censored", "error_rate", "error_lower", "error_upper")},
            **{name: dict(zip(trial.arms, map(float, each[name].values), strict=True))
               for name in ("allocation", "returned")},
        }  # fmt: skip
    return {
        "arms": list(trial.arms),
        "endpoints": list(trial.endpoints),
        "citation": trial.citation,
        "assumptions": list(trial.assumptions),
        "fit_problems": fit["posterior"].attrs["paretoid_problems"],
        "probability_optimal": _column(shares, "optimal"),
        "probability_within_margin": _column(shares, "near_optimal"),
        "goals": goals,
        "characteristic_time": _finite(planned.characteristic_time),
        "lower_bound": _finite(planned.lower_bound),
        **{key: value for key, value in planned.attrs.items()
           if key not in ("citation", "assumptions", "fold")},
    }  # fmt: skip


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(float(value)) else None


def _column(shares: xr.Dataset, name: str) -> dict[str, float]:
    return dict(zip(map(str, shares.arm.values), map(float, shares[name].values), strict=True))


def as_json(fit: Any, shares: xr.Dataset, planned: xr.Dataset) -> str:
    """`as_dict` as text."""
    return json.dumps(as_dict(fit, shares, planned), indent=2)


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
    save_fit(fit, out / "fit.nc")
    planned.to_netcdf(out / "plan.nc", engine="h5netcdf")
    (out / "plan.json").write_text(as_json(fit, shares, planned) + "\n", encoding="utf-8")
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
