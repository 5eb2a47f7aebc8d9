"""What the trials of a plan know for certain at each N."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paretoid.estimation.again import trials_of
from paretoid.runs.settling import settled_by

if TYPE_CHECKING:
    import xarray as xr


def settled_in_plan(
    fit: Any, planned: xr.Dataset, samples: Sequence[int] | None = None
) -> xr.Dataset:
    """What is settled at each of `samples` in the trials that `plan` simulated on posterior draws.

    samples     default those of the plan; the last may not exceed its max_samples

    The runs are the plan's own, made again: at max_samples `settled` is that of the plan. See
    `settled_by` for what is returned, with posterior draws for instances, and `plots.settled`.

    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=5, replications=5, shares="uniform")
    >>> known = settled_in_plan(posterior, planned)
    >>> bool((known.settled.values[-1, 0, :, 0] == planned.settled.values[0]).all())
    True
    """
    again = trials_of(planned, fit)
    return settled_by(
        again.pop("bandit"),
        planned.samples.values.tolist() if samples is None else samples,
        again.pop("goals"),
        **again,
    )
