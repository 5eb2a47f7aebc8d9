"""What the trials of a plan know for certain at each N."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.instances import posterior_bandits, tell_scales
from paretoid.estimation.model import trial_of
from paretoid.estimation.planning import design_of
from paretoid.runs.settling import settled_by

if TYPE_CHECKING:
    import xarray as xr


def settled_in_plan(
    fit: Any, planned: xr.Dataset, samples: Sequence[int] | None = None
) -> xr.Dataset:
    """What is settled at each of `samples` in the trials that `plan` simulated on posterior draws.

    samples     default those of the plan; the last may not exceed its max_samples

    The runs are the plan's own, made again: at max_samples `settled` is that of the plan. See
    `settled_by` for what is returned, with posterior draws for instances, and `plots.settled`. A
    plan with late outcomes or looks is refused: between looks nothing is tested.

    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=5, replications=5, shares="uniform")
    >>> known = settled_in_plan(posterior, planned)
    >>> bool((known.settled.values[-1, 0, :, 0] == planned.settled.values[0]).all())
    True
    """
    if "conducted" in planned.attrs:
        raise ValueError(
            "this plan has a conduct, and between its looks nothing is tested, so what is settled "
            "at each N is not known. Plan without one, or read `settled` of the plan, at the end."
        )
    goals, radius = design_of(planned, trial_of(fit))
    bandits = posterior_bandits(fit, planned.sizes["draw"], _correlation(planned))
    bandits = tell_scales(bandits, fit, radius, planned.attrs["scale_quantile"])
    return settled_by(
        bandits, planned.samples.values.tolist() if samples is None else samples, goals,
        radius=radius, delta=float(planned.attrs["delta"]), seed=int(planned.attrs["seed"]),
    )  # fmt: skip


def _correlation(planned: xr.Dataset) -> Any:
    """What `plan` was told of correlated endpoints: nothing, a number or a matrix."""
    given = planned.attrs.get("correlation")
    if given is None:
        return None
    table = np.atleast_1d(np.asarray(given, dtype=np.float64))
    side = math.isqrt(table.size)
    return float(table[0]) if table.size == 1 else table.reshape(side, side)
