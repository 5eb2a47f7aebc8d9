"""Many replications of one configuration, or of a sequence of bandits, as an xarray Dataset."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid._build import build_program, check_radius
from paretoid._program import CONSTANT_OUTCOMES, RUNNING, STATUS, TIME, Program, new_state
from paretoid.bandits import Bandit
from paretoid.endless import refuse_endless
from paretoid.goals import Cover, Goal, ParetoSet
from paretoid.rules import APE, BestArmRule, Rule
from theory._checks import BoolArray, FloatArray, IntArray, as_epsilon, check_count, check_delta
from theory.radii import Mixture, Radius

if TYPE_CHECKING:
    import xarray as xr

#: doubles of noise drawn ahead for one call of a kernel: 1 MB, about what the cache holds
_NOISE = 1 << 17
_CHUNK = 64


@dataclass(frozen=True)
class Setting:
    """All that a stream depends on besides its seed; `goals` share one eps1."""

    bandit: Bandit
    goals: tuple[Goal, ...]
    rule: Rule
    radius: Radius
    delta: float
    max_samples: int | None

    def program(self) -> Program:
        """The numbers the kernels read."""
        return build_program(
            self.bandit, self.goals, self.rule, self.radius, self.delta, self.max_samples
        )


@lru_cache(maxsize=8)
def _program(setting: Setting) -> Program:
    """Built once for all chunks of a campaign; programs are read-only."""
    return setting.program()


@dataclass(frozen=True)
class Chunk:
    """Results of consecutive replications: (R, G) and (R, G, K) arrays."""

    stopping_time: IntArray
    stopped: BoolArray
    answer: BoolArray
    pulls: IntArray


def generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """The stream of one replication: key (r,), or (i, r) within a sequence of bandits.

    >>> generator(1, (0,)).random() == generator(1, (0,)).random()
    True
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def run_chunk(setting: Setting, seed: int, keys: Sequence[tuple[int, ...]]) -> Chunk:
    """The replications `keys`, on this thread. How noise is blocked changes no result."""
    program = _program(setting)
    bandit, R = setting.bandit, len(keys)
    state = new_state(program, R)
    streams = [generator(seed, key) for key in keys]
    advance = setting.rule.kernel(program)
    running = np.arange(R)
    block = max(1024, bandit.K * program.first)
    width = bandit.noise_width
    ahead = np.empty(max(_NOISE, R * 256 * width))  # one buffer: fresh pages cost more than noise
    while len(running):
        most = len(ahead) // (len(running) * width)
        left = program.max_samples - int(state.clock[running, TIME].min())
        shape = len(running), min(block, most, left), width
        noise = ahead[: math.prod(shape)].reshape(shape)
        for q, r in enumerate(running):
            bandit.fill(streams[r], noise[q])
        advance(program, state, running, noise)
        status = state.clock[running, STATUS]
        if (status == CONSTANT_OUTCOMES).any():
            raise ValueError(
                f"an arm of {bandit!r} gave the same outcome every time, so its variance cannot "
                f"be estimated and UnknownScale is not proved. Use Mixture() with a known scale."
            )
        running = running[status == RUNNING]
        block *= 2
    pulls = np.where(state.stopped[:, :, None], state.pulls, state.counts[:, None, :])
    return Chunk(pulls.sum(axis=2), state.stopped, state.answer, pulls)


def streams_of(goals: Sequence[Goal], D: int) -> list[list[int]]:
    """Positions of goals that share a stream: those with one eps1, covers by decreasing eps2."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for position, goal in enumerate(goals):
        groups.setdefault(tuple(as_epsilon(goal.eps1, D)), []).append(position)

    def slack(position: int) -> float:
        goal = goals[position]
        return -float(as_epsilon(goal.eps2, D).sum()) if isinstance(goal, Cover) else 0.0

    return [sorted(group, key=slack) for group in groups.values()]


def simulate(
    bandit: Bandit | Sequence[Bandit],
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    replications: int = 1,
    seed: int = 0,
    max_samples: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Run `rule` on `bandit` until each goal's stopping rule holds, `replications` times.

    Goals with the same eps1 are read off one stream of samples, others get a stream of their
    own with the same seed. `bandit` may be a sequence of bandits of one shape, names and
    direction; then results gain a leading dimension `instance`.

    Replication r draws from `SeedSequence(seed, spawn_key=(r,))`, of instance i from
    `spawn_key=(i, r)`: the same whatever the executor, the number of workers and the order.
    `executor` is any `concurrent.futures.Executor`; by default one thread per core.

    Returns a Dataset with dims goal, replication, arm (and instance):
    stopping_time, stopped (False: `max_samples` ran out, so the time is a lower bound, the
    answer is empty and `correct` is False; count those apart, they are no errors), answer,
    correct, pulls. Attributes name what it takes to repeat it, and the `guarantee`.

    Without `max_samples`, a problem that this goal can never settle, or only with more than 1e11
    samples, is refused.

    >>> from paretoid import BernoulliBandit
    >>> bandit = BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> runs = simulate(bandit, replications=2, seed=1)
    >>> runs.answer.isel(goal=0, replication=0).values
    array([ True,  True, False])
    >>> runs.attrs["guarantee"]
    'proved'
    """
    many = not isinstance(bandit, Bandit)
    bandits = _as_bandits(bandit)
    replications = check_count(
        replications, name="replications", why="nothing would be simulated otherwise."
    )
    goal_list, rule, radius, delta, seed, max_samples = check_setting(
        bandits, goals, rule, radius, delta, seed, max_samples
    )
    groups = streams_of(goal_list, bandits[0].D)
    tasks: list[tuple[int, list[int], Setting, list[tuple[int, ...]]]] = []
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    size = -(-replications * len(bandits) * len(groups) // (8 * workers))
    for i, each in enumerate(bandits):
        for group in groups:
            setting = Setting(
                each, tuple(goal_list[g] for g in group), rule, radius, delta, max_samples
            )
            for first in range(0, replications, max(1, min(size, _CHUNK))):
                last = min(first + max(1, min(size, _CHUNK)), replications)
                keys: list[tuple[int, ...]] = [(i, r) if many else (r,) for r in range(first, last)]
                tasks.append((i, group, setting, keys))

    K, G = bandits[0].K, len(goal_list)
    shape = (len(bandits), G, replications)
    time = np.zeros(shape, dtype=np.int64)
    stopped = np.zeros(shape, dtype=bool)
    answer = np.zeros((*shape, K), dtype=bool)
    pulls = np.zeros((*shape, K), dtype=np.int64)
    for task, chunk in _run(tasks, seed, executor, progress):
        i, group, _, keys = task
        where = slice(keys[0][-1], keys[-1][-1] + 1)
        for position, g in enumerate(group):
            time[i, g, where] = chunk.stopping_time[:, position]
            stopped[i, g, where] = chunk.stopped[:, position]
            answer[i, g, where] = chunk.answer[:, position]
            pulls[i, g, where] = chunk.pulls[:, position]
    correct = np.array(
        [
            [_correct(goal, answer[i, g], each.oriented) for g, goal in enumerate(goal_list)]
            for i, each in enumerate(bandits)
        ]
    )
    return _dataset(
        bandits, many, goal_list, time, stopped, answer, correct & stopped, pulls,
        {"seed": seed, "delta": delta, "rule": repr(rule), "radius": repr(radius),
         "guarantee": radius.guarantee, "max_samples": -1 if max_samples is None else max_samples},
    )  # fmt: skip


def check_setting(
    bandits: Sequence[Bandit],
    goals: Any,
    rule: Rule | None,
    radius: Radius | None,
    delta: float,
    seed: int,
    max_samples: int | None,
) -> tuple[list[Goal], Rule, Radius, float, int, int | None]:
    """The arguments of a run, checked and with defaults filled in."""
    goal_list = _as_goals(ParetoSet() if goals is None else goals, bandits[0])
    rule = APE() if rule is None else rule
    if not isinstance(rule, Rule):
        raise ValueError(f"rule={rule!r} must be a sampling rule; try rule=APE().")
    if radius is None:
        radius = rule.default_radius if isinstance(rule, BestArmRule) else Mixture()
    delta = check_delta(delta)
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    if max_samples is not None:
        max_samples = check_count(max_samples, name="max_samples", why="it is a budget per run.")
    for each in bandits:
        rule.check(each, goal_list, radius)
        check_radius(radius, each, rule)
        if max_samples is None:
            refuse_endless(each, goal_list, radius, delta)
    return goal_list, rule, radius, delta, seed, max_samples


def _run(
    tasks: list[Any], seed: int, executor: Executor | None, progress: bool
) -> Iterator[tuple[Any, Chunk]]:
    """Yield (task, chunk) as chunks finish; a bar on stderr if asked for."""
    if not isinstance(executor, (Executor, type(None))):
        raise ValueError(f"executor={executor!r} must be a concurrent.futures.Executor or None.")
    _compile(tasks[0][2])
    own = executor is None
    pool = ThreadPoolExecutor(os.cpu_count() or 1) if executor is None else executor
    futures: dict[Future[Chunk], Any] = {}
    try:
        futures = {pool.submit(run_chunk, task[2], seed, task[3]): task for task in tasks}
        with _Bar(progress, sum(len(task[3]) for task in tasks)) as advance:
            for future in as_completed(futures):
                task = futures[future]
                chunk = future.result()
                advance(len(task[3]), int(chunk.stopping_time.max(axis=1).sum()))
                yield task, chunk
    finally:
        for future in futures:
            future.cancel()
        if own:
            pool.shutdown(wait=True, cancel_futures=True)


def _compile(setting: Setting) -> None:
    """Compile, or load from the cache, before any thread or process needs the kernel."""
    run_chunk(
        Setting(setting.bandit, setting.goals, setting.rule, setting.radius, setting.delta, 1),
        0,
        [(0,)],
    )


class _Bar:
    """A Rich progress bar on stderr, or nothing."""

    def __init__(self, shown: bool, runs: int) -> None:
        self.shown, self.runs = shown, runs

    def __enter__(self) -> Any:
        if not self.shown:
            return lambda runs, samples: None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self.samples = 0
        self.progress = Progress(
            TextColumn("runs"), BarColumn(), MofNCompleteColumn(), Remaining(),
            TextColumn("{task.fields[samples]:,} samples"), console=Console(stderr=True),
        )  # fmt: skip
        self.progress.start()
        task = self.progress.add_task("runs", total=self.runs, samples=0)

        def advance(runs: int, samples: int) -> None:
            self.samples += samples
            self.progress.update(task, advance=runs, samples=self.samples)

        return advance

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.progress.stop()


def _as_bandits(bandit: Any) -> list[Bandit]:
    bandits = [bandit] if isinstance(bandit, Bandit) else list(bandit)
    if not bandits or not all(isinstance(each, Bandit) for each in bandits):
        raise ValueError(
            f"bandit={bandit!r} must be a Bandit or a non-empty sequence of them, for instance "
            f"GaussianBandit(means, scale) or load_instance('covboost')."
        )
    first = bandits[0]
    for i, each in enumerate(bandits):
        same = (each.arms, each.objectives, each.minimize, each.model)
        if same != (first.arms, first.objectives, first.minimize, first.model):
            raise ValueError(
                f"bandit {i} differs from bandit 0 in arms, objectives, direction or kind of "
                f"outcome; one Dataset holds one shape. Simulate them apart."
            )
    return bandits


def _as_goals(goals: Any, bandit: Bandit) -> list[Goal]:
    goal_list = [goals] if isinstance(goals, Goal) else list(goals)
    if not goal_list or not all(isinstance(goal, Goal) for goal in goal_list):
        raise ValueError(
            f"goals={goals!r} must be one or more of ParetoSet, Cover, AtMost: without a goal "
            f"nothing could stop a run. Try goals=[ParetoSet()]."
        )
    if len(set(map(str, goal_list))) < len(goal_list):
        raise ValueError(
            f"goals repeats one of {', '.join(map(str, goal_list))}: results are looked up by "
            f"goal, so each must be different."
        )
    for goal in goal_list:
        goal.check(bandit.K, bandit.D)
    return goal_list


def _correct(goal: Goal, answers: BoolArray, means: FloatArray) -> BoolArray:
    """(R,) is each answer right? Each different answer is judged once."""
    different, which = np.unique(answers, axis=0, return_inverse=True)
    return np.array([goal.is_correct(a, means) for a in different])[which.reshape(-1)]


def _dataset(
    bandits: list[Bandit],
    many: bool,
    goals: list[Goal],
    time: IntArray,
    stopped: BoolArray,
    answer: BoolArray,
    correct: BoolArray,
    pulls: IntArray,
    attrs: dict[str, Any],
) -> xr.Dataset:
    import xarray as xr

    from paretoid import __version__

    runs = ("instance", "goal", "replication")
    result = xr.Dataset(
        {
            "stopping_time": (runs, time, {"units": "samples"}),
            "stopped": (runs, stopped),
            "answer": ((*runs, "arm"), answer),
            "correct": (runs, correct),
            "pulls": ((*runs, "arm"), pulls, {"units": "samples"}),
        },
        coords={
            "instance": np.arange(len(bandits)),
            "goal": [str(goal) for goal in goals],
            "replication": np.arange(time.shape[2]),
            "arm": list(bandits[0].arms),
        },
        attrs={**attrs, "paretoid": __version__},
    )
    return result if many else result.isel(instance=0, drop=True)
