"""How to repeat a plan: the command, the calls of Python with the fit, and what is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.model import trial_of
from paretoid.estimation.planning import SCALE_QUANTILE, assurance_sizes
from paretoid.estimation.ranges import correlation_of, ranges_of
from paretoid.labels import label_of
from paretoid.registry import calls, goal_of, radius_of
from paretoid.report import methods
from paretoid.report.fitted import fit_call
from paretoid.report.page import Block, TextBlock, settings, versions_table

if TYPE_CHECKING:
    import xarray as xr


def repeat(fit: Any, shares: xr.Dataset, planned: xr.Dataset, command: str) -> list[Block]:
    """The command and the script that make the same plan, the settings and the versions."""
    trial = trial_of(fit)
    blocks: list[Block] = []
    if command:
        said = "On the command line, with another --out or with --force:"
        if "--out" not in command:
            said = "On the command line:"
        blocks += [TextBlock(said), TextBlock(command, "code")]
    fold, posterior = planned.attrs["fold"], group(fit, "posterior")
    blocks += [TextBlock("In Python, in the folder of this report:"),
               TextBlock(script(planned, shares, fit_call(posterior)), "code")]  # fmt: skip
    blocks.append(settings("Settings", [
        ("seed", planned.attrs["seed"]),
        ("seed of the fit", posterior.attrs.get("paretoid_seed", "not kept with the fit")),
        ("delta", planned.attrs["delta"]),
        ("margin", f"{fold:g}-fold" if fold else "as in the goals"),
        ("goals", "; ".join(label_of(str(goal), planned.attrs) for goal in planned.goal.values)),
        ("rule", planned.attrs["rule"]),
        ("radius", radius_said(planned)), ("guarantee", planned.attrs["guarantee"]),
        ("limit on participants", f"{planned.attrs['max_samples']:,}"),
        ("posterior draws simulated", planned.sizes["draw"]),
        ("variances", posterior.attrs["paretoid_variances"]),
        ("priors", posterior.attrs["paretoid_priors"]),
        ("source of the data", trial.provenance or trial.citation or "the user's table"),
        *([("source of the numbers", "; ".join(trial.sources))] if trial.sources else []),
    ]))  # fmt: skip
    blocks.append(versions_table())
    return blocks


def radius_said(planned: xr.Dataset) -> str:
    """The plan's radius by name, numbers to three digits; `exact` has all of them."""
    said = str(planned.attrs["radius"])
    return methods.radius_label(radius_of(said), said)


def exact(planned: xr.Dataset) -> list[Block]:
    """The goals and the radius with every digit, as Python reads them."""
    goals = planned.attrs.get("asked", "; ".join(map(str, planned.goal.values)))
    said = (
        "The goals as they were asked for and the radius that was simulated, to the last digit; "
        "design.toml holds the same for the trial itself."
    )
    radius = calls(str(planned.attrs["radius"]))
    code = f"import paretoid as pt\n\ngoals = [{calls(goals)}]\nradius = {radius}"
    return [TextBlock(said), TextBlock(code, "code")]


def script(planned: xr.Dataset, shares: xr.Dataset | None, made: str) -> str:
    """The calls that give the same fit, probabilities and plan, to the last digit.

    `made` is the call that made the fit, empty where it is not known.
    """
    said, limit = planned.attrs, int(planned.attrs["max_samples"])
    again, imported = "", ""
    if "priors=..." in made:
        again = f"# which was made by {made}\n# with priors that only its maker has\n"
    elif made:
        imported = "from paretoid.estimation.model import trial_of\n"
        again = (
            f"fit = {made.replace('(trial,', '(trial_of(fit),')}\n"
            f"# the line above makes the same fit again, on the same versions; it may be left out\n"
        )
    more = ""
    if "asked" in said:
        asked = calls(said["asked"])
        more += f"fold={float(said['fold'])!r}, " if said["fold"] else ""
    else:
        asked = calls("; ".join(repr(goal_of(str(goal))) for goal in planned.goal.values))
        again += "# margins to six digits: an older paretoid, which made the plan, kept no more\n"
    if "expected_samples_per_arm" not in said:  # else it is found again
        more += f"radius={calls(str(said['radius']))}, "
    elif said.get("shares", "informed") != "informed":
        more += f"shares={said['shares']!r}, "
    elif float(said.get("mix", 0.2)) != 0.2:
        more += f"mix={float(said['mix'])!r}, "
    if "conducted" in said:
        more += f"conduct={calls(said['conducted'])}, "
    if "correlation" in said:
        more += f"correlation={correlation_of(said)!r}, "
    if "ranges" in said:
        more += f"ranges={ranges_of(said)!r}, "
    if said.get("scale_quantile", SCALE_QUANTILE) != SCALE_QUANTILE:
        more += f"scale_quantile={float(said['scale_quantile'])!r}, "
    if not np.array_equal(planned.samples.values, assurance_sizes(None, limit)):
        more += f"samples={planned.samples.values.tolist()}, "
    return f"""import paretoid as pt
from paretoid import estimation
{imported}
fit = estimation.load_fit("fit.nc")    # written beside this report
{again}{_probabilities(shares)}plan = estimation.plan(
    fit, [{asked}],
    {more}delta={float(said["delta"])!r}, draws={planned.sizes["draw"]},
    replications={planned.sizes["replication"]}, max_samples={limit}, seed={int(said["seed"])},
)"""


def _probabilities(shares: xr.Dataset | None) -> str:
    """The call that gives the probabilities of being optimal."""
    if shares is None:
        return ""
    eps1 = np.asarray(shares.attrs["eps1"], dtype=np.float64).tolist()
    means = shares.attrs.get("margin_means", "any")
    margin = f", {eps1!r}" if np.any(eps1) else ""
    margin += f", margin_means={means!r}" if means != "any" else ""
    margin += f", limits={calls(shares.attrs['limits'])}" if "limits" in shares.attrs else ""
    return f"optimal = estimation.pareto_probability(fit{margin})\n"
