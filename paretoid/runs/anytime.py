"""What a run would answer if it were stopped at N: the arms it is sure of, and its best guess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine.program import RUNNING, STATUS, TIME, EngineState, new_state
from paretoid.goals import AtMost, Goal
from paretoid.loop import lens_of
from paretoid.registry import text
from paretoid.rules import Rule
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.setting import Setting, check_setting, one_bandit, streams_of
from paretoid.theory.checks import BoolArray, FloatArray, check_count, shown
from paretoid.theory.gaps import omega
from paretoid.theory.radii import Radius
from paretoid.view import Samples, View

if TYPE_CHECKING:
    import xarray as xr

#: doubles of noise drawn ahead
_NOISE = 1 << 20


def anytime(
    bandit: Bandit,
    budgets: Sequence[int],
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    replications: int = 1,
    seed: int = 0,
) -> xr.Dataset:
    """Answers at each of `budgets`, read off the runs that `simulate` would make with this seed.

    A run whose stopping rule held by N gives its answer, which is worth what the radius is worth
    (`stopped`). One that is still going gives its best guess: the empirical Pareto set, or for
    `AtMost(k)` those k arms of it that beat their nearest rival most clearly. `settled` says what
    it knows for certain by then: 1 optimal, -1 out, 0 undecided, as in `simulate`.

    Rules that run compiled, and goals with one eps1. Returns a Dataset with dims budget, goal,
    replication, arm: answer, correct, stopped, pulls, settled (without goal).

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> guesses = anytime(bandit, [30, 300], replications=20, seed=1)
    >>> guesses.correct.mean("replication").values[:, 0], bool(guesses.stopped[1].all())
    (array([1., 1.]), True)
    """
    import xarray as xr

    one = one_bandit(bandit)
    steps = as_budgets(budgets)
    goal_list, rule, radius, delta, seed, _ = check_setting(
        [one], goals, rule, radius, delta, seed, steps[-1]
    )
    runs = check_count(replications, name="replications", why="it is how many runs to make.")
    setting = Setting(one, tuple(goal_list), rule, radius, delta, steps[-1])
    if any(goal.limits is not None for goal in goal_list):
        raise ValueError(
            "a best guess compares arms with each other and not with limits. Leave the limits out, "
            "or use simulate."
        )
    if not setting.compiled or len(streams_of(goal_list, one.D)) > 1:
        raise ValueError(
            f"{rule!r} cannot be stopped here: it takes a rule of ours that samples until a goal "
            f"is reached, such as APE() or RoundRobin(), and goals with one eps1. EGE answers at "
            f"its own budget: use simulate."
        )
    shape = len(steps), len(goal_list), runs
    answer = np.zeros((*shape, one.K), dtype=np.bool_)
    pulls = np.zeros((*shape, one.K), dtype=np.int64)
    stopped = np.zeros(shape, dtype=np.bool_)
    settled = np.zeros((len(steps), runs, one.K), dtype=np.int64)
    lens = lens_of(setting)
    for b, state in enumerate(states(setting, seed, runs, steps)):
        stopped[b] = state.stopped.T
        for r in range(runs):
            view = lens.view(*_moment(state, r))
            settled[b, r] = state.settled[r]
            for g, goal in enumerate(goal_list):
                done = state.stopped[r, g]
                answer[b, g, r] = state.answer[r, g] if done else best_guess(view, goal)
                pulls[b, g, r] = state.pulls[r, g] if done else state.counts[r]
    correct = np.array(
        [[[goal.is_correct(guess, one.oriented) for guess in answer[b, g]]
          for g, goal in enumerate(goal_list)] for b in range(len(steps))]
    )  # fmt: skip
    dims = "budget", "goal", "replication"
    return xr.Dataset(
        {
            "answer": ((*dims, "arm"), answer), "correct": (dims, correct),
            "stopped": (dims, stopped), "pulls": ((*dims, "arm"), pulls, {"units": "samples"}),
            "settled": (("budget", "replication", "arm"), settled),
        },
        coords={"budget": steps, "goal": [str(goal) for goal in goal_list],
                "replication": np.arange(runs), "arm": list(one.arms)},
        attrs={"rule": text(rule), "radius": text(radius), "delta": delta, "seed": seed},
    )  # fmt: skip


def best_guess(view: View, goal: Goal) -> BoolArray:
    """The empirical Pareto set; for `AtMost(k)` its k arms with the largest min_j M(i, j)."""
    guess = view.S.copy()
    if isinstance(goal, AtMost) and guess.sum() > goal.k:
        clear = np.where(guess, omega(view.means / view.unit), -np.inf)
        guess = np.isin(np.arange(view.K), np.argsort(-clear, kind="stable")[: goal.k])
    return guess


def as_budgets(budgets: Any) -> list[int]:
    """Increasing numbers of samples."""
    given = list(budgets) if np.ndim(budgets) == 1 else [budgets]
    steps = [check_count(n, name="budget", why="it is the samples of a run.") for n in given]
    if not steps or sorted(set(steps)) != steps:
        raise ValueError(
            f"budgets={shown(budgets)} must increase: a run passes them one after another."
        )
    return steps


def states(
    setting: Setting, seed: int, runs: int, steps: list[int], key: tuple[int, ...] = ()
) -> Iterator[EngineState]:
    """The state of all runs at each budget; `key` is the instance, as in `simulate`."""
    engine, bandit = Engine(setting), setting.bandit
    if steps[0] < len(engine.program.opening):
        raise ValueError(
            f"budget={steps[0]} ends before {len(engine.program.opening)} samples, which "
            f"{setting.radius!r} needs before its first test. Allow more samples."
        )
    state = new_state(engine.program, runs)
    streams = [generator(seed, (*key, r)) for r in range(runs)]
    for step in steps:
        running = np.flatnonzero(state.clock[:, STATUS] == RUNNING)
        while len(running):
            left = step - int(state.clock[running, TIME].min())
            if left <= 0:
                break
            rows = min(left, max(1, _NOISE // (len(running) * bandit.noise_width)))
            noise = np.empty((len(running), rows, bandit.noise_width))
            for run, block in zip(running, noise, strict=True):
                bandit.fill(streams[run], block)
            engine.advance(state, running, noise)
            running = running[state.clock[running, STATUS] == RUNNING]
        yield state


def _moment(state: EngineState, r: int) -> tuple[Samples, int, FloatArray]:
    counts = np.repeat(state.counts[r].astype(float)[:, None], state.sums.shape[1], axis=1)
    ss = state.ss[r].T if state.ss.shape[1] else np.zeros_like(counts)
    return (
        Samples(counts, state.sums[r].T / counts, ss),
        int(counts[:, 0].sum()),
        1 / state.inverse[r],
    )
