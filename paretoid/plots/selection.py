"""What a Dataset of runs says about itself: one setting at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.bounds import Problem
from paretoid.intervals import quantile
from paretoid.summaries import Summary, summary_of
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, WrongTypeError, refusal

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Runs:
    """Runs of one instance, radius and delta: (G, R) and (G, R, K) tables."""

    goals: list[str]
    arms: list[str]
    time: IntArray
    stopped: BoolArray
    answer: BoolArray
    correct: BoolArray
    pulls: IntArray
    delta: float | None = None
    radius: str = ""
    rule: str = ""
    guarantee: str = ""

    def summary(self, g: int) -> Summary:
        """What the runs of goal g amount to."""
        return summary_of({
            "stopping_time": self.time[g], "stopped": self.stopped[g], "answer": self.answer[g],
            "correct": self.correct[g], "pulls": self.pulls[g],
        })  # fmt: skip

    def times(self, g: int) -> FloatArray:
        """(R,) sorted stopping times of goal g, inf for censored runs."""
        return np.sort(np.where(self.stopped[g], self.time[g], np.inf))

    def quantile(self, g: int, q: float) -> float:
        """The smallest time by which a share q of all runs has stopped; inf beyond the budget."""
        return quantile(self.times(g), q)


def one_setting(runs: Any) -> xr.Dataset:
    """`runs` with dims goal, replication, arm; refused if more than one setting is left."""
    import xarray as xr

    if not isinstance(runs, xr.Dataset) or not {"stopping_time", "stopped"} <= set(runs):
        raise refusal(isinstance(runs, xr.Dataset))(
            f"{type(runs).__name__} is no Dataset of runs, with stopping_time and stopped: pass "
            f"what pt.simulate or a campaign returns."
        )
    for dim in [d for d in runs.stopping_time.dims if d not in ("goal", "replication")]:
        size = runs.sizes[dim]
        if size != 1:
            there = ", ".join(map(str, runs[dim].values[:4])) if dim in runs.coords else size
            raise ValueError(
                f"runs hold {size} values of {dim} ({there}{', ...' if size > 4 else ''}), and a "
                f"picture mixes none of them up. Choose one: runs.isel({dim}=0)."
            )
        runs = runs.isel({dim: 0})
    for dim in ("replication", "goal"):
        if dim not in runs.stopping_time.dims:
            keep = runs[dim].values if dim in runs.coords else 0
            runs = runs.drop_vars(dim, errors="ignore").expand_dims({dim: [keep]})
    if 0 in (runs.sizes["goal"], runs.sizes["replication"]):
        raise ValueError("runs are empty: there is no goal or no replication in them.")
    ordered: xr.Dataset = runs.transpose("goal", "replication", ...)
    return ordered


def read(runs: Any) -> Runs:
    """A Dataset of `simulate` or of a campaign, or a `Run`, as plain tables."""
    from paretoid.runs.trace import Run

    if isinstance(runs, Run):
        setting = runs.setting
        return Runs(
            [str(setting.goals[0])], list(setting.bandit.arms), np.array([[runs.stopping_time]]),
            np.array([[runs.stopped]]), runs.answer[None, None], np.array([[runs.correct]]),
            runs.pulls[None, None],
            setting.delta, repr(setting.radius), repr(setting.rule),
            runs.guarantee,
        )  # fmt: skip
    one = one_setting(runs)
    R, G = one.sizes["replication"], one.sizes["goal"]
    names = [str(name) for name in one.arm.values] if "arm" in one.coords else []
    nothing = np.zeros((G, R, len(names)))
    delta = _said(one, "delta")
    return Runs(
        [str(goal) for goal in one.goal.values], names, one.stopping_time.values,
        one.stopped.values.astype(bool),
        (one.answer.values if "answer" in one else nothing).astype(bool),
        (one.correct if "correct" in one else one.stopped).values.astype(bool),
        one.pulls.values if "pulls" in one else nothing.astype(np.int64),
        None if delta is None else float(delta),
        str(_said(one, "radius") or ""), str(one.attrs.get("rule", "")),
        str(_said(one, "guarantee") or ""),
    )  # fmt: skip


def _said(runs: xr.Dataset, name: str) -> Any:
    """What the runs say under this name: a scalar coordinate, or else an attribute."""
    if name in runs.coords and runs[name].ndim == 0:
        return runs[name].item()
    return runs.attrs.get(name)


def problem(runs: Any, bandit: Bandit | None) -> Problem | None:
    """The instance that `runs` are of; None if they do not say.

    A campaign keeps means and scales, `simulate` does not, and then `bandit` says them.
    """
    from paretoid.runs.trace import Run

    if bandit is None and isinstance(runs, Run):
        bandit = runs.setting.bandit
    if bandit is not None:
        if not isinstance(bandit, Bandit):
            raise WrongTypeError(
                f"bandit={bandit!r} must be the Bandit that the runs are of: bounds are computed "
                f"from its means and scale."
            )
        _check_arms(runs, bandit)
        return Problem.of(bandit)
    if not {"means", "scale", "minimize"} <= {*runs.data_vars, *runs.coords}:
        return None
    one = one_setting(runs)
    means = one["means"].transpose("arm", "objective").values
    scale = one["scale"].transpose("arm", "objective").values
    sign = np.where(one["minimize"].values, -1.0, 1.0)
    known = "gaussian" if one.attrs["outcomes"] == "independent gaussian" else ""
    return Problem(means * sign, scale, scale, known)


def _check_arms(runs: Any, bandit: Bandit) -> None:
    names = read(runs).arms
    if names and tuple(names) != bandit.arms:
        raise ValueError(
            "bandit has other arms than the runs: its bounds would be about another problem. Pass "
            "the bandit that was simulated."
        )
