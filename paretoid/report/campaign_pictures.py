"""Pictures of a campaign: stopping times and samples per arm of a setting, means of an instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paretoid.report.figures import SvgPicture, drawing, new_axes, picture

if TYPE_CHECKING:
    import xarray as xr

#: a curve of more runs looks the same and makes the page heavy
_RUNS = 1000
_GOALS, _ARMS = 8, 40


def setting_pictures(
    runs: xr.Dataset, places: Sequence[tuple[tuple[int, int, int], str]]
) -> list[SvgPicture]:
    """Two pictures for each place: positions of instance, radius and delta, and its title."""
    from paretoid import plots

    pictures = []
    for number, ((i, q, d), title) in enumerate(places):
        one = runs.isel(instance=i, radius=q, delta=d)
        few = one.isel(replication=slice(_RUNS), goal=slice(_GOALS)).load()
        part = "" if one.sizes["replication"] <= _RUNS else f", the first {_RUNS:,} runs"
        with drawing():
            stops = plots.stopping_times(few, ax=new_axes(4.4))
            pictures.append(picture(
                stops, f"stops-{number}", f"Share of runs that have stopped: {title}{part}."
            ))  # fmt: skip
            if few.sizes["arm"] > _ARMS:  # the table says it, and sorts
                continue
            height = 1.6 + few.sizes["arm"] * max(0.25, 0.12 * few.sizes["goal"])
            spent = plots.pulls(few, ax=new_axes(height, names=[str(a) for a in few.arm.values]))
            pictures.append(picture(spent, f"pulls-{number}", f"Samples per arm: {title}{part}."))
    return pictures


def instance_pictures(case: dict[str, Any], about: dict[str, Any], name: str) -> list[SvgPicture]:
    """The true means: the front for two objectives, parallel coordinates for more."""
    from paretoid import plots
    from paretoid.bandits import GaussianBandit

    K, D = case["means"].shape
    if D < 2 or K > 60:
        return []
    bandit = GaussianBandit(
        case["means"], case["scale"], arms=about["arms"], objectives=about["objectives"],
        minimize=about["minimize"],
    )  # fmt: skip
    with drawing():
        if D == 2:
            axes = plots.front(bandit, ax=new_axes(4.4))
            return [picture(axes, name, "True means; arms of the Pareto set are marked.")]
        axes = plots.parallel(bandit, ax=new_axes(max(4.4, 0.2 * K), 6.5))
        return [picture(axes, name, "True means in all objectives; better is up.")]
