"""A plan as a folder of files: netCDF, JSON, CSV, text, pictures, and the page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.estimation.compat import save_fit
from paretoid.estimation.model import trial_of
from paretoid.estimation.planning import posterior_draws
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.registry import goal_of, radius_of
from paretoid.report.page import write_page
from paretoid.report.plan import plan_report
from paretoid.report.plan_text import as_dict, as_text
from paretoid.tables import write_csv

if TYPE_CHECKING:
    import xarray as xr


def write_plan(
    fit: Any,
    shares: xr.Dataset,
    planned: xr.Dataset,
    folder: str | Path,
    *,
    command: str = "",
    priors: xr.Dataset | None = None,
) -> list[Path]:
    """Fit and plan as netCDF, tables as CSV, the report as HTML, text and JSON, all pictures.

    `command`, the line that made the plan, stands in the HTML report. `priors`, from
    `paretoid.estimation.sensitivity`, stands in text and JSON. Returns the files.

    >>> import tempfile
    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial, pareto_probability, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> shares = pareto_probability(posterior, fold=1.5)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=20, replications=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_plan(posterior, shares, planned, folder)][:3]
    ['fit.nc', 'plan.nc', 'plan.json']
    """
    from paretoid import plots

    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {folder} cannot be made a directory: {error}.") from None
    save_fit(fit, out / "fit.nc")
    planned.to_netcdf(out / "plan.nc", engine="h5netcdf")
    data = text.as_json(as_dict(fit, shares, planned, priors=priors))
    (out / "plan.json").write_text(data + "\n", encoding="utf-8")
    words = as_text(fit, shares, planned, priors=priors)
    (out / "plan.txt").write_text(words + "\n", encoding="utf-8")
    write_page(out / "report.html", plan_report(fit, shares, planned, command=command))
    (out / "design.toml").write_text(plan_design_toml(fit, planned), encoding="utf-8")
    written = ["fit.nc", "plan.nc", "plan.json", "plan.txt", "report.html", "design.toml"]
    note = " ".join(trial_of(fit).assumptions)
    for name, rows in (("arms.csv", _arms(shares, planned)), ("assurance.csv", _sizes(planned))):
        heads, *body = rows
        write_csv(out / name, [*heads, "assumptions"], [[*row, note] for row in body])
        written.append(name)
    panels: dict[str, Any] = {
        "forest": plots.forest(fit)[0],
        "pareto_probability": plots.pareto_probability(shares, fold=planned.attrs["fold"] or None),
        "projections": plots.projections(fit)[0],
        "stopping_time": plots.assurance(planned),
    }
    for name, axes in panels.items():
        for suffix in ("png", "svg"):
            axes.get_figure(root=True).savefig(out / f"{name}.{suffix}", dpi=150)
            written.append(f"{name}.{suffix}")
    return [out / name for name in written]


def plan_design_toml(fit: Any, planned: xr.Dataset) -> str:
    """The design that was simulated, for `paretoid trial new DIR/design.toml trial.db`."""
    trial = trial_of(fit)
    radius = radius_of(planned.attrs["radius"])
    goals = [goal_of(str(goal)) for goal in planned.goal.values]
    if radius is None or None in goals:
        raise ValueError("the plan's goals or radius are none of ours, and no file can name them.")
    binary = set(trial.scales) == {"binary"}
    scale: Any = None
    if radius.needs_scale:
        quantile = float(planned.attrs["scale_quantile"])
        scale = 0.5 if binary else np.quantile(posterior_draws(fit)[1], quantile, axis=0)
    design = Design(
        trial.arms, trial.endpoints, [goal for goal in goals if goal is not None],
        float(planned.attrs["delta"]), scale=scale, radius=radius, minimize=trial.minimize,
        outcomes="binary" if binary else "gaussian", seed=int(planned.attrs["seed"]),
    )  # fmt: skip
    logs = [name for name, kind in zip(trial.endpoints, trial.scales, strict=True)
            if kind == "log-normal"]  # fmt: skip
    remarks = ["The design of the plan beside this file; `paretoid trial new design.toml trial.db` "
               "starts the trial. Nothing in it may change once outcomes are known."]  # fmt: skip
    if logs:
        remarks.append(f"Record natural logarithms of {', '.join(logs)}.")
    if planned.attrs.get("shares_in_words"):
        remarks.append(planned.attrs["shares_in_words"])
    return design_toml(design, remarks)


def _arms(shares: xr.Dataset, planned: xr.Dataset) -> list[list[str]]:
    """Heads, then a row for each goal and arm."""
    known = ["optimal", "optimal_error", "near_optimal", "near_optimal_error"]
    rows = [["goal", "arm", *known, "samples", "returned"]]
    for goal in planned.goal.values:
        plan = planned.sel(goal=goal)
        columns = [*(shares[name] for name in known), plan.allocation, plan.returned]
        for i, arm in enumerate(planned.arm.values):
            rows.append([str(goal), str(arm), *(f"{float(column[i]):.6g}" for column in columns)])
    return rows


def _sizes(planned: xr.Dataset) -> list[list[str]]:
    """Heads, then a row for each goal and size of a trial."""
    rows = [["goal", "samples", "assurance", "assurance_error"]]
    for goal in planned.goal.values:
        plan = planned.sel(goal=goal)
        for j, size in enumerate(planned.samples.values):
            pair = (plan.assurance[j], plan.assurance_error[j])
            rows.append([str(goal), str(size), *(f"{float(share):.6g}" for share in pair)])
    return rows
