"""A plan as a folder of files: netCDF, JSON, CSV, text, pictures, and the page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.bandits.kinds import plain_kinds
from paretoid.estimation.again import conduct_of
from paretoid.estimation.compat import save_fit
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.margins import units_of
from paretoid.estimation.model import trial_of
from paretoid.estimation.ranges import kinds_of, ranges_of
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.registry import goal_of, radius_of
from paretoid.report.page import write_page
from paretoid.report.plan import plan_report
from paretoid.report.plan_text import as_dict, as_text
from paretoid.report.protocol import protocol_page
from paretoid.tables import digest, write_csv
from paretoid.writing import make_folder, may_write, new_file, write_text

if TYPE_CHECKING:
    import xarray as xr


#: what a plan consists of, in the order in which it is written
PICTURES = ("forest", "pareto_probability", "projections", "stopping_time")
NAMES = (
    "fit.nc", "plan.nc", "plan.json", "plan.txt", "report.html", "design.toml",
    "design.html", "arms.csv", "assurance.csv",
    *(f"{name}.{suffix}" for name in PICTURES for suffix in ("png", "svg")),
)  # fmt: skip


def write_plan(
    fit: Any,
    shares: xr.Dataset,
    planned: xr.Dataset,
    folder: str | Path,
    *,
    command: str = "",
    priors: xr.Dataset | None = None,
    source: str = "",
    operating: xr.Dataset | None = None,
    force: bool = False,
) -> list[Path]:
    """Fit and plan as netCDF, tables as CSV, the report as HTML, text and JSON, all pictures.

    Besides `design.toml`, which `paretoid trial new` takes, and `design.html`, the same as the
    statistical section of a protocol.

    `command`, the line that made the plan, stands in the HTML report, and the digest of `source`,
    the file it began with, in the design. `priors`, from
    `paretoid.estimation.sensitivity`, stands in text, JSON and report; `operating`, from
    `operating_characteristics`, on both pages. A folder that has one of the files
    already is refused, unless `force`. Returns the files.

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
        make_folder(out)
    except OSError as error:
        raise ValueError(f"--out {folder} cannot be made a directory: {error}.") from None
    for name in NAMES:
        may_write(out / name, force=force)
    save_fit(fit, out / "fit.nc", force=force)
    with new_file(out / "plan.nc", force=force) as draft:
        planned.to_netcdf(draft, engine="h5netcdf")
    data = text.as_json(as_dict(fit, shares, planned, priors=priors))
    write_text(out / "plan.json", data, force=force)
    write_text(out / "plan.txt", as_text(fit, shares, planned, priors=priors), force=force)
    page = plan_report(fit, shares, planned, command=command, operating=operating, priors=priors)
    write_page(out / "report.html", page, force=force)
    design, remarks = plan_design(fit, planned, source)
    write_text(out / "design.toml", design_toml(design, remarks), force=force)
    page = protocol_page(
        fit, planned, design, command=command, digest=digest(out / "design.toml"),
        operating=operating,
    )  # fmt: skip
    write_page(out / "design.html", page, force=force)
    note = " ".join(trial_of(fit).assumptions)
    for name, rows in (("arms.csv", _arms(shares, planned)), ("assurance.csv", _sizes(planned))):
        heads, *body = rows
        write_csv(out / name, [*heads, "assumptions"], [[*row, note] for row in body], force=force)
    limits = design.limits
    panels = (
        plots.forest(fit, limits=limits)[0],
        plots.pareto_probability(shares, fold=planned.attrs["fold"] or None),
        plots.projections(fit, limits=limits)[0],
        plots.assurance(planned),
    )
    for name, axes in zip(PICTURES, panels, strict=True):
        for suffix in ("png", "svg"):
            with new_file(out / f"{name}.{suffix}", force=force) as draft:
                axes.get_figure(root=True).savefig(draft, dpi=150)
    return [out / name for name in NAMES]


def plan_design(fit: Any, planned: xr.Dataset, source: str = "") -> tuple[Design, list[str]]:
    """The design that was simulated, and what its file says above it.

    It names the data that shaped its radius, by citation and, where `source` is a file, by digest:
    `trial record` warns of a file that is counted again.
    """
    trial = trial_of(fit)
    radius = radius_of(planned.attrs["radius"])
    goals = [goal_of(str(goal)) for goal in planned.goal.values]
    if radius is None or None in goals:
        raise ValueError("the plan's goals or radius are none of ours, and no file can name them.")
    kinds = plain_kinds(kinds_of(trial, ranges_of(planned.attrs)), trial.endpoints)
    binary = set(trial.scales) == {"binary"}
    scale: Any = None
    if radius.known(len(kinds)).all():
        quantile = float(planned.attrs["scale_quantile"])
        scale = 0.5 if binary else np.quantile(posterior_draws(fit)[1], quantile, axis=0)
        for d, kind in enumerate(kinds.values()):
            if isinstance(kind, list):
                scale[:, d] = (kind[1] - kind[0]) / 2
    design = Design(
        trial.arms, trial.endpoints, [goal for goal in goals if goal is not None],
        float(planned.attrs["delta"]), scale=scale, radius=radius, minimize=trial.minimize,
        outcomes="binary" if binary else kinds, seed=int(planned.attrs["seed"]),
        conduct=conduct_of(planned.attrs), max_samples=int(planned.attrs["max_samples"]),
        **units_of(trial).to_dict(),
    )  # fmt: skip
    logs = design.measured_in.logs
    remarks = ["The design of the plan beside this file; `paretoid trial new design.toml trial.db` "
               "starts the trial. Nothing in it may change once outcomes are known."]  # fmt: skip
    if logs:
        remarks.append(f"Record natural logarithms of {', '.join(logs)}.")
    if planned.attrs.get("shares_in_words"):
        remarks.append(planned.attrs["shares_in_words"])
        design.informed_by = tuple(filter(None, [trial.citation, digest(source)]))
    return design, remarks


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
