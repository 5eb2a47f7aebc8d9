"""How many arms are settled at each N: what runs that go on know for certain by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.engine.build import opening_of
from paretoid.goals import Goal
from paretoid.loop import lens_of
from paretoid.parts import guarantee_of
from paretoid.registry import text
from paretoid.rules import Rule
from paretoid.runs.anytime import as_budgets, states
from paretoid.runs.setting import Setting, as_bandits, as_conduct, check_setting, streams_of
from paretoid.runs.simulate import simulate
from paretoid.theory.checks import check_count
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr


#: what is certain of an arm, in the order in which `mean_settled` counts them
VERDICTS = {"optimal": 1, "out": -1, "undecided": 0}


def mean_settled(known: xr.Dataset) -> xr.Dataset:
    """Means over all runs of `settled_by`, by goal and budget.

    arms_settled   (goal, budget, verdict) how many arms are surely optimal, surely out, undecided
    answered       (goal, budget) share of the runs that have their answer

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> means = mean_settled(settled_by(bandit, [30, 300], replications=20, seed=1))
    >>> means.arms_settled.values[0, 1], means.answered.values[0, 1]
    (array([2., 1., 0.]), np.float64(1.0))
    """
    import xarray as xr

    if "arms_settled" in known:  # of a plan
        return known[["arms_settled", "answered"]]
    verdicts = known.settled.transpose("goal", "budget", ..., "arm").values
    runs = tuple(range(2, verdicts.ndim - 1))
    means = [(verdicts == kind).sum(axis=-1).mean(axis=runs) for kind in VERDICTS.values()]
    answered = known.stopped.transpose("goal", "budget", ...).values.mean(axis=runs)
    return xr.Dataset(
        {"arms_settled": (("goal", "budget", "verdict"), np.stack(means, axis=-1)),
         "answered": (("goal", "budget"), answered)},
        coords={"goal": known.goal.values, "budget": known.budget.values,
                "verdict": list(VERDICTS)},
    )  # fmt: skip


def settled_by(
    bandit: Bandit | Sequence[Bandit],
    budgets: Sequence[int],
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    replications: int = 1,
    seed: int = 0,
    conduct: Conduct | None = None,
) -> xr.Dataset:
    """What is certain of each arm at each of `budgets`, in the runs that `simulate` makes.

    At every budget it is the `settled` of `simulate(..., max_samples=budget)`: 1 for arms surely
    optimal up to eps1, -1 for arms surely out, 0 for undecided ones; a run whose goal is
    answered knows no more than it did then. With a `conduct` it is what a trial of that size
    knows once its last outcomes have come. A compiled run is made once and read at each budget;
    with a conduct, and where no compiled loop serves the members, it is made for each of them.

    Returns a Dataset with dims budget, goal, replication and arm (and instance, for a sequence of
    bandits): settled, and stopped, has the goal its answer by then? `plots.settled` draws it.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> known = settled_by(bandit, [30, 300], replications=20, seed=1)
    >>> (known.settled != 0).mean(("replication", "arm")).values[1, 0]    # all arms by 300
    np.float64(1.0)
    """
    import xarray as xr

    bandits = as_bandits(bandit)
    steps = as_budgets(budgets)
    goal_list, rule, radius, delta, seed, _ = check_setting(
        bandits, goals, rule, radius, delta, seed, steps[-1]
    )
    runs = check_count(replications, name="replications", why="it is how many runs to make.")
    conduct = as_conduct(conduct, bandits[0], steps[-1])
    first, single = bandits[0], isinstance(bandit, Bandit)
    shape = len(steps), len(goal_list), len(bandits), runs
    settled, stopped = np.zeros((*shape, first.K), dtype=np.int8), np.zeros(shape, dtype=np.bool_)
    for stream in streams_of(goal_list, first.D):
        ordered = tuple(goal_list[position] for position in stream)
        settings = [
            Setting(one, ordered, rule, radius, delta, steps[-1], conduct) for one in bandits
        ]
        if settings[0].conducted or not settings[0].compiled:
            for b, budget in enumerate(steps):
                made = simulate(
                    bandit, ordered, rule=rule, radius=radius, delta=delta, replications=runs,
                    seed=seed, max_samples=budget, conduct=conduct,
                )  # fmt: skip
                if single:
                    made = made.expand_dims(instance=1)
                made = made.transpose("goal", "instance", "replication", "arm")
                settled[b, stream], stopped[b, stream] = made.settled.values, made.stopped.values
            continue
        # Before the first test nothing is settled.
        early = int(np.searchsorted(steps, len(opening_of(lens_of(settings[0]).first))))
        for i, setting in enumerate(settings if early < len(steps) else []):
            read = states(setting, seed, runs, steps[early:], () if single else (i,))
            for b, state in enumerate(read, start=early):
                done = state.stopped[:, :, None]
                known = np.where(done, state.verdict, state.settled[:, None, :])
                settled[b, stream, i] = known.transpose(1, 0, 2)
                stopped[b, stream, i] = state.stopped.T
    dims: tuple[str, ...] = ("budget", "goal", "instance", "replication")
    variables: dict[str, Any] = {"settled": ((*dims, "arm"), settled), "stopped": (dims, stopped)}
    result = xr.Dataset(
        variables,
        coords={"budget": steps, "goal": [str(goal) for goal in goal_list],
                "replication": np.arange(runs), "arm": list(first.arms)},
        attrs={"rule": text(rule), "radius": text(radius), "delta": delta, "seed": seed,
               "guarantee": guarantee_of(rule, radius, goal_list, first.K, first.D, delta)},
    )  # fmt: skip
    return result.isel(instance=0) if single else result
