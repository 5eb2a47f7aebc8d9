"""The trials of a plan, made again: its design, its draws, its seed, from this fit or another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paretoid import registry
from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.estimation.instances import posterior_bandits, tell_scales
from paretoid.estimation.margins import with_margin
from paretoid.estimation.model import trial_of
from paretoid.estimation.ranges import correlation_of, ranges_of
from paretoid.estimation.summary import TrialSummary
from paretoid.goals import Goal
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr


def design_of(planned: xr.Dataset, trial: TrialSummary) -> tuple[list[Goal], Radius]:
    """The goals, with their margins, and the radius of a plan."""
    asked = registry.parse_all(planned.attrs["asked"], "goal")
    goals = with_margin(asked, trial, planned.attrs["fold"] or None)
    return goals, registry.parse(planned.attrs["radius"], "radius")


def conduct_of(attributes: Mapping[Any, Any]) -> Conduct | None:
    """How simulated trials ran, to the last digit; None where the attributes do not say.

    >>> conduct_of({"conducted": "Conduct(look=50)"}) == Conduct(look=50), conduct_of({})
    (True, None)
    """
    written = attributes.get("conducted")
    return Conduct(**registry.split(str(written))[1]) if written else None


def trials_of(planned: xr.Dataset, fit: Any, posterior: Any = None) -> dict[str, Any]:
    """The arguments with which `simulate` makes the trials of a plan again, but for max_samples.

    fit         that the plan was made of, whose quantiles are the scales that radii are told
    posterior   another fit of the same trial to take the draws from
    """
    goals, radius = design_of(planned, trial_of(fit))
    bandits: list[Bandit] = posterior_bandits(
        fit if posterior is None else posterior, planned.sizes["draw"],
        correlation_of(planned.attrs), ranges_of(planned.attrs),
    )  # fmt: skip
    return {
        "bandit": tell_scales(bandits, fit, radius, planned.attrs["scale_quantile"]),
        "goals": goals, "radius": radius, "replications": 1, "conduct": conduct_of(planned.attrs),
        "delta": float(planned.attrs["delta"]), "seed": int(planned.attrs["seed"]),
    }  # fmt: skip
