"""The pictures of a plan's page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.model import trial_of
from paretoid.labels import label_of
from paretoid.report.figures import SvgPicture, drawing, new_axes, picture
from paretoid.report.plan_sentences import limits_in

if TYPE_CHECKING:
    import xarray as xr


def _stacked(rows: int, height: float, names: Sequence[str] = ()) -> Any:
    """Axes above each other: a telephone shows panels, legend and all, without scrolling."""
    from paretoid.plots.style import new_figure

    width = 5.2 + 0.08 * max(0, max(map(len, names), default=0) - 18)
    return new_figure(width, rows * height + 0.8).subplots(rows, 1, squeeze=False)


def plan_pictures(fit: Any, shares: xr.Dataset, planned: xr.Dataset) -> dict[str, list[SvgPicture]]:
    """The pictures of a plan's page, by the place where they stand."""
    from paretoid import plots

    trial = trial_of(fit)
    limits = limits_in(planned)
    pictures: dict[str, list[SvgPicture]] = {}
    with drawing():
        stops = plots.assurance(planned, ax=new_axes(4.4))
        pictures["assurance"] = [picture(stops, "assurance", (
            "Probability that the trial has its answer by N participants."
        ))]  # fmt: skip
        pictures["settled"] = [
            picture(plots.settled(planned, g, ax=new_axes(4.0)), f"settled{g}", (
                f"How many arms are settled by N participants, when the trial asks for "
                f"{label_of(str(goal), planned.attrs)}."
            ))
            for g, goal in enumerate(planned.goal.values)
            if "arms_settled" in planned and planned.sizes["budget"] > 1
        ]  # fmt: skip
        if "needed_by_rate" in planned:
            pictures["recruitment"] = [
                picture(plots.recruitment(planned, of=of, ax=new_axes(3.6)), f"recruitment-{of}", (
                    f"Recruitment rate against {of} to the answer."
                ))
                for of in ("participants", "days")
                if of == "days" or np.isfinite(planned.needed_by_rate).any()
            ]  # fmt: skip
        optimal = plots.pareto_probability(
            shares,
            fold=planned.attrs["fold"] or None,
            ax=new_axes(0.36 * len(trial.arms) + 1.5, names=trial.arms),
        )
        pictures["probability"] = [picture(optimal, "probability", (
            "Posterior probability that each arm meets the limits, and is optimal of those that do."
            if limits
            else "Posterior probability that each arm is optimal, and within the margin if there "
            "is one."
        ))]  # fmt: skip
        panels = _stacked(len(trial.endpoints), 0.3 * len(trial.arms) + 0.9, trial.arms)
        pictures["forest"] = [picture(plots.forest(fit, axes=panels, limits=limits)[0], "forest", (
            "Fitted means beside the published ones, with 95% intervals."
        ))]  # fmt: skip
        panels = _stacked(max(math.comb(len(trial.endpoints), 2), 1), 3.8)
        clouds = plots.projections(fit, draws=80, axes=panels, limits=limits)[0]
        pictures["projections"] = [picture(clouds, "projections", (
            "80 posterior draws of the arms' means, two endpoints at a time."
        ))]  # fmt: skip
    return pictures
