"""What an engine did on one stream, as a record that can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid import loop
from paretoid.bandits import Bandit
from paretoid.engine.program import Program
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.rules import APE, Rule
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting, check_setting
from paretoid.runs.simulate import simulate
from paretoid.runs.trace import run_once
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_epsilon, check_count
from paretoid.theory.radii import Radius


@dataclass(frozen=True, slots=True)
class Path:
    """What an engine did on one stream of n samples, and what it claimed.

    setting   bandit, goals (of one eps1), rule, radius, delta, max_samples
    seed      (seed, replication)
    arm       (n,) arm sampled
    outcome   (n, D) what it gave, oriented so that larger is better
    b, c      (n,) b_t and c_t after that sample; -1 where there are none
    index     (n,) min_j M+(b_t, j) as the engine saw it, NaN where there is none
    stops     per goal None or (stopping time, answer)
    """

    setting: Setting
    seed: tuple[int, int]
    arm: IntArray
    outcome: FloatArray
    b: IntArray
    c: IntArray
    index: FloatArray
    stops: tuple[tuple[int, BoolArray] | None, ...]


def engine_path(
    bandit: Bandit,
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    seed: int = 0,
    replication: int = 0,
    max_samples: int | None = None,
) -> Path:
    """Replication `replication` of `paretoid.simulate(bandit, goals, ...)`, as a path.

    Stopping times and answers are those of `simulate` (the fast kernel); arms, b_t, c_t are those
    of `run_once` (the textbook kernel) on the same stream, which must be the same run.

    >>> import paretoid as pt
    >>> path = engine_path(pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), seed=1)
    >>> path.stops[0][0] == len(path.arm)
    True
    """
    replication = check_count(replication, name="replication", least=0, why="it is a position.")
    goal_list, rule, radius, delta, seed, max_samples = check_setting(
        [bandit], goals, rule, radius, delta, seed, max_samples
    )
    _check_stream(goal_list, rule, bandit)
    options: dict[str, Any] = {
        "rule": rule, "radius": radius, "delta": delta, "seed": seed, "max_samples": max_samples,
    }  # fmt: skip
    runs = simulate(bandit, goal_list, replications=replication + 1, **options)
    runs = runs.isel(replication=replication)
    # The longest goal has the whole stream; eps1-PSI stops last, the others may all stop sooner.
    last = int(np.argmax(runs.stopping_time.values - runs.stopped.values))
    run = run_once(bandit, goal_list[last], replication=replication, **options)
    stops = tuple(
        (int(runs.stopping_time[g]), np.array(runs.answer[g])) if runs.stopped[g] else None
        for g in range(len(goal_list))
    )
    return Path(
        setting=Setting(bandit, tuple(goal_list), rule, radius, delta, max_samples),
        seed=(seed, replication),
        arm=run.arm,
        outcome=run.outcome * bandit.sign,
        b=run.b,
        c=run.c,
        index=run.index,
        stops=stops,
    )


def reference_path(
    bandit: Bandit,
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    seed: int = 0,
    replication: int = 0,
    max_samples: int = 1000,
    change: Callable[[Program], Program] | None = None,
) -> Path:
    """The same run by the NumPy reference, whose functions and `Program` can be tampered with.

    `change` edits the numbers the run reads; functions of `paretoid.loop` may be replaced
    around the call. That is how `validation.mutants` breaks it. Slow: use small `max_samples`.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]])
    >>> path, same = reference_path(bandit, seed=1), engine_path(bandit, seed=1)
    >>> bool((path.arm == same.arm).all())
    True
    """
    goal_list, rule, radius, delta, seed, budget = check_setting(
        [bandit], goals, rule, radius, delta, seed, max_samples
    )
    _check_stream(goal_list, rule, bandit)
    assert budget is not None
    setting = Setting(bandit, tuple(goal_list), rule, radius, delta, budget)
    program = setting.program() if change is None else change(setting.program())
    noise = np.empty((budget, bandit.noise_width))
    bandit.fill(generator(seed, (replication,)), noise)
    b, c = np.full((2, budget), -1, dtype=np.int64)
    index = np.full(budget, np.nan)
    decide = loop.decide

    def watched(
        program: Program, run: Any, counts: Any, difference: Any, *eps: Any
    ) -> tuple[int, int]:
        pair = decide(program, run, counts, difference, *eps)
        t = len(run.arms) - 1
        b[t], c[t] = pair
        if pair[0] >= 0:
            upper = (difference.mean + difference.drop)[pair[0]].max(axis=1)
            index[t] = np.delete(upper, pair[0]).min()
        return pair

    loop.decide = watched  # type: ignore[assignment]
    try:
        run = loop.reference_run(program, noise)
    finally:
        loop.decide = decide
    n = len(run.arms)
    arm = np.array(run.arms, dtype=np.int64)
    outcome = np.zeros((n, bandit.D))  # a mutant may sample an arm that does not exist
    for i in range(bandit.K):
        outcome[arm == i] = bandit.outcome(i, noise[:n][arm == i]) * bandit.sign
    stops = tuple(None if stop is None else (stop[0], stop[1]) for stop in run.stops)
    return Path(setting, (seed, replication), arm, outcome, b[:n], c[:n], index[:n], stops)


def _check_stream(goals: Sequence[Goal], rule: Rule, bandit: Bandit) -> None:
    if not isinstance(rule, APE):
        raise ValueError(
            f"rule={rule} is not APE, and the lemmas replayed here are about APE's b_t and c_t. "
            f"For another rule's answers use assert_delta_correct."
        )
    if len({tuple(as_epsilon(goal.eps1, bandit.D)) for goal in goals}) > 1:
        raise ValueError(
            f"goals={', '.join(map(str, goals))} differ in eps1, so they have a stream each and no "
            f"common path: sampling depends on eps1. Replay them apart."
        )


def watched_goals(K: int, eps1: Any = 0.0, eps2: Any = 0.1) -> list[Goal]:
    """ParetoSet, Cover and AtMost for k = 1, 2 and K, of one eps1: one stream serves them all.

    >>> [str(goal) for goal in watched_goals(2, eps1=0.5)]
    ['ParetoSet(eps1=0.5)', 'Cover(eps1=0.5, eps2=0.1)', 'AtMost(k=1, eps1=0.5)', \
'AtMost(k=2, eps1=0.5)']
    """
    K = check_count(K, name="K", least=2, why="it is the number of arms.")
    ks = sorted({1, 2, K})
    return [ParetoSet(eps1), Cover(eps1, eps2), *(AtMost(k, eps1) for k in ks)]
