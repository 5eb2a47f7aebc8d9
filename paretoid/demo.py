"""What `paretoid demo` prints: per goal the arms returned, the samples needed, the errors made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from paretoid.bandits import Bandit

if TYPE_CHECKING:
    import xarray as xr


def as_text(runs: xr.Dataset, bandit: Bandit) -> str:
    """A few lines that fit forty columns and need no colour."""
    size = runs.sizes["replication"]
    lines = [
        f"{bandit.K} arms, {bandit.D} objectives, {size} simulated experiments",
        f"delta = {runs.attrs['delta']}, {runs.attrs['radius']}: {runs.attrs['guarantee']}",
    ]
    for goal in runs.goal.values:
        each = runs.sel(goal=goal)
        time = each.stopping_time.values
        low, high = np.quantile(time, [0.05, 0.95])
        wrong = int((each.stopped & ~each.correct).sum())
        lines += ["", str(goal), f"  samples  {time.mean():,.0f} on average"]
        lines += [f"           {low:,.0f} to {high:,.0f} in 90% of runs", f"  wrong    {wrong}"]
        for name, share in _returned(each).items():
            lines.append(f"  {share:6.1%}  {name}")
    return "\n".join(lines)


def _returned(each: xr.Dataset) -> dict[str, float]:
    """Arms returned by some run, with the share of runs, most frequent first."""
    shares = each.answer.mean("replication")
    order = np.argsort(-shares.values, kind="stable")
    return {str(shares.arm.values[i]): float(shares[i]) for i in order if shares[i] > 0}


def as_json(runs: xr.Dataset) -> str:
    """The same for machines."""
    return json.dumps(
        {
            **{key: runs.attrs[key] for key in ("delta", "radius", "rule", "guarantee", "seed")},
            "goals": {
                str(goal): {
                    "mean_samples": float(runs.stopping_time.sel(goal=goal).mean()),
                    "wrong": int((runs.stopped & ~runs.correct).sel(goal=goal).sum()),
                    "returned": _returned(runs.sel(goal=goal)),
                }
                for goal in runs.goal.values
            },
        },
        indent=2,
    )
