"""How many arms are settled at each N: what runs that go on know for certain by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine.build import opening_of
from paretoid.goals import Goal
from paretoid.loop import lens_of
from paretoid.registry import text
from paretoid.rules import Rule
from paretoid.runs.anytime import as_budgets, states
from paretoid.runs.setting import Setting, as_bandits, check_setting, streams_of
from paretoid.theory.checks import check_count
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr


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
) -> xr.Dataset:
    """What is certain of each arm at each of `budgets`, in the runs that `simulate` makes.

    At every budget it is the `settled` of `simulate(..., max_samples=budget)`: 1 for arms surely
    optimal up to eps1, -1 for arms surely out, 0 for undecided ones; a run whose goal is
    answered knows no more than it did then. Each run is made once, and read at each budget.

    Rules that run compiled, and goals with one eps1 and no limits. Returns a Dataset with dims
    budget, goal, replication and arm (and instance, for a sequence of bandits): settled, and
    stopped, has the goal its answer by then? `plots.settled` draws it.

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
    first = bandits[0]
    limited = any(goal.limits is not None for goal in goal_list)
    streams = streams_of(goal_list, first.D)
    setting = Setting(first, tuple(goal_list), rule, radius, delta, steps[-1])
    if limited or not setting.compiled or len(streams) > 1:
        raise ValueError(
            f"{rule!r} with {', '.join(map(str, goal_list))} cannot be read at every budget: it "
            f"takes a rule of ours such as APE(), and goals with one eps1 and no limits. Use "
            f"simulate with max_samples, whose runs say what is settled at their end."
        )
    single = isinstance(bandit, Bandit)
    shape = len(steps), len(goal_list), len(bandits), runs
    settled, stopped = np.zeros((*shape, first.K), dtype=np.int8), np.zeros(shape, dtype=np.bool_)
    # Before the first test nothing is settled.
    early = int(np.searchsorted(steps, len(opening_of(lens_of(setting).first))))
    for i, one in enumerate(bandits if early < len(steps) else []):
        key = () if single else (i,)
        ordered = tuple(goal_list[position] for position in streams[0])
        setting = Setting(one, ordered, rule, radius, delta, steps[-1])
        for b, state in enumerate(states(setting, seed, runs, steps[early:], key), start=early):
            done = state.stopped[:, :, None]
            known = np.where(done, state.verdict, state.settled[:, None, :])
            settled[b, streams[0], i] = known.transpose(1, 0, 2)
            stopped[b, streams[0], i] = state.stopped.T
    dims: tuple[str, ...] = ("budget", "goal", "instance", "replication")
    variables: dict[str, Any] = {"settled": ((*dims, "arm"), settled), "stopped": (dims, stopped)}
    made = xr.Dataset(
        variables,
        coords={"budget": steps, "goal": [str(goal) for goal in goal_list],
                "replication": np.arange(runs), "arm": list(first.arms)},
        attrs={"rule": text(rule), "radius": text(radius), "delta": delta, "seed": seed},
    )  # fmt: skip
    return made.isel(instance=0) if single else made
