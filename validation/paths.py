"""What an engine did on one stream, as a record that can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid import loop
from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.rules import Rule
from paretoid.runs.chunk import generator, rule_generator
from paretoid.runs.setting import Setting, check_setting
from paretoid.runs.simulate import simulate
from paretoid.runs.trace import record
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    WrongTypeError,
    as_epsilon,
    check_count,
)
from paretoid.theory.radii import LUCB1Like, PairwiseRadius, Radius
from paretoid.view import Lens, View


@dataclass(frozen=True, slots=True)
class Path:
    """What an engine did on one stream of n samples, and what it claimed.

    setting   bandit, goals (of one eps1), rule, radius, delta, max_samples
    seed      (seed, replication)
    arm       (n,) arm sampled
    outcome   (n, D) what it gave, oriented so that larger is better
    b, c      (n,) b_t and c_t after that sample; -1 where there are none
    index     (n,) min_j M+(b_t, j) as the engine saw it, NaN where there is none
    tested    (n,) were the stopping rules tested after that sample?
    stops     per goal None or (stopping time, answer)
    """

    setting: Setting
    seed: tuple[int, int]
    arm: IntArray
    outcome: FloatArray
    b: IntArray
    c: IntArray
    index: FloatArray
    tested: BoolArray
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

    Stopping times and answers are those of `simulate`; arms, b_t, c_t are those of the same stream
    run once more with its trace, which must be the same run.

    >>> import paretoid as pt
    >>> path = engine_path(pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), seed=1)
    >>> path.stops[0][0] == len(path.arm)
    True
    """
    replication = check_count(replication, name="replication", least=0, why="it is a position.")
    goal_list, rule, radius, delta, seed, max_samples = check_setting(
        [bandit], goals, rule, radius, delta, seed, max_samples
    )
    setting = Setting(bandit, tuple(goal_list), rule, radius, delta, max_samples)
    _check_stream(setting)
    options: dict[str, Any] = {
        "rule": rule, "radius": radius, "delta": delta, "seed": seed, "max_samples": max_samples,
    }  # fmt: skip
    runs = simulate(bandit, goal_list, replications=replication + 1, **options)
    runs = runs.isel(replication=replication)
    happened = record(setting, seed, (replication,))
    stops = tuple(
        (int(runs.stopping_time[g]), np.array(runs.answer[g])) if runs.stopped[g] else None
        for g in range(len(goal_list))
    )
    return Path(
        setting=setting,
        seed=(seed, replication),
        arm=happened.arm,
        outcome=happened.outcome,
        b=happened.whole[:, 0],
        c=happened.whole[:, 1],
        index=happened.real[:, 2],
        tested=happened.whole[:, 2] >= 0,
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
    change: Callable[[Lens], None] | None = None,
) -> Path:
    """The same run by the readable loop, whose functions and `Lens` can be tampered with.

    `change` edits the numbers the run reads; functions may be replaced around the call. That is
    how `validation.mutants` breaks it. Slow: use small `max_samples`.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]])
    >>> path, same = reference_path(bandit, seed=1), engine_path(bandit, seed=1)
    >>> bool((path.arm == same.arm).all())
    True
    """
    goal_list, rule, radius, delta, seed, budget = check_setting(
        [bandit], goals, rule, radius, delta, seed, max_samples
    )
    assert budget is not None
    setting = Setting(bandit, tuple(goal_list), rule, radius, delta, budget)
    _check_stream(setting)
    lens = loop.lens_of(setting)
    if change is not None:
        change(lens)
    noise = np.empty((budget, bandit.noise_width))
    bandit.fill(generator(seed, (replication,)), noise)
    b, c = np.full((2, budget), -1, dtype=np.int64)
    index, tested = np.full(budget, np.nan), np.zeros(budget, dtype=bool)

    def watch(view: View, open_goals: int) -> None:
        at = view.time - 1
        tested[at] = True
        if not view.optimal.all():
            b[at], c[at], index[at] = view.b, view.c, -view.g[view.b]

    outcomes = loop.outcomes_of(bandit, noise)
    history = loop.run(setting, outcomes, rule_generator(seed, (replication,)), watch, lens)
    n = len(history.arms)
    arm = np.array(history.arms, dtype=np.int64)
    outcome = np.zeros((n, bandit.D))
    for i in range(bandit.K):
        outcome[arm == i] = bandit.outcome(i, noise[:n][arm == i]) * bandit.sign
    stops = tuple(None if stop is None else (stop.time, stop.answer) for stop in history.stops)
    key = (seed, replication)
    return Path(setting, key, arm, outcome, b[:n], c[:n], index[:n], tested[:n], stops)


def _check_stream(setting: Setting) -> None:
    rule, radius, goals = setting.rule, setting.radius, setting.goals
    if type(rule).judge is not Rule.judge:
        raise ValueError(
            f"rule={rule} has a stopping rule of its own, and what is replayed here is that of the "
            f"goals. For its answers use assert_delta_correct."
        )
    if not isinstance(radius, (PairwiseRadius, LUCB1Like)):
        raise WrongTypeError(f"radius={radius} is none on pairs of arms, which are replayed here.")
    if len({tuple(as_epsilon(goal.eps1, setting.bandit.D)) for goal in goals}) > 1:
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
