"""A campaign: a grid of simulated experiments, declared once, run anywhere, continued at will."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import registry
from paretoid.bandits import Bandit
from paretoid.bounds import exact_gaussian
from paretoid.conduct import Conduct
from paretoid.engine.cache import is_compiled, what_compiling_takes
from paretoid.goals import Goal
from paretoid.parts import guarantee_of, listed
from paretoid.rules import Rule
from paretoid.runs.chunk import Checkpoint, run_chunk
from paretoid.runs.dispatch import Task, dispatch, executor_for, runs_here, workers_of
from paretoid.runs.feasibility import expected_samples
from paretoid.runs.progress import Progress, tell
from paretoid.runs.results import Memory, tile_arrays
from paretoid.runs.setting import (
    Setting,
    as_bandits,
    as_conduct,
    certifies,
    check_setting,
    streams_of,
)
from paretoid.runs.tiles import Tile, cut, seconds_per_sample, work_of
from paretoid.text import counted
from paretoid.theory.checks import FloatArray, check_count, check_name, is_listed, refusal, shown
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.runs.store import Store


#: rules, radii, bandits, with a conduct, without limits: those whose kernels this process has
_READY: set[tuple[type, type, type, bool, bool]] = set()

#: levels of one campaign; views of arrays can have more than any memory
_MOST_DELTAS = 1000


class CampaignError(RuntimeError):
    """Some chunks failed; all others are finished.

    failures    (where, exception) for each failed chunk
    runs        Dataset of what there is; `finished` says where

    >>> from concurrent.futures import Future
    >>> from paretoid import BernoulliBandit
    >>> class Failing(Executor):
    ...     def submit(self, function, *arguments):
    ...         future = Future()
    ...         future.set_exception(MemoryError("no more"))
    ...         return future
    >>> try:
    ...     Campaign(BernoulliBandit([[0.9], [0.1]])).run(executor=Failing())
    ... except CampaignError as error:
    ...     print(len(error.failures), repr(error.failures[0][1]))
    1 MemoryError('no more')
    """

    def __init__(self, message: str, failures: list[tuple[str, Exception]], runs: Any) -> None:
        super().__init__(message)
        self.failures = failures
        self.runs = runs


class Campaign:
    """Instances x goals x radii x deltas x replications.

    `bandits` is one Bandit, a sequence of them, or a mapping from labels to them; all of one
    shape, names and kind of outcome. `radii` and `deltas` are one or several; other arguments
    are those of `simulate`, whose result for one radius and one delta is the same, bit for bit.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> campaign = Campaign(bandit, deltas=[0.1, 0.01], replications=3, seed=1)
    >>> campaign
    Campaign(1 instance x 1 goal x 1 radius x 2 deltas x 3 replications)
    >>> dict(campaign.run().stopping_time.sizes)
    {'radius': 1, 'delta': 2, 'goal': 1, 'replication': 3}
    """

    def __init__(
        self,
        bandits: Bandit | Sequence[Bandit] | Mapping[str, Bandit],
        goals: Goal | Sequence[Goal] | None = None,
        *,
        rule: Rule | None = None,
        radii: Radius | Sequence[Radius] | None = None,
        deltas: float | Sequence[float] = 0.1,
        replications: int = 1,
        seed: int = 0,
        max_samples: int | None = None,
        conduct: Conduct | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        self.single = isinstance(bandits, Bandit)
        if isinstance(bandits, Mapping):
            if labels is not None:
                raise ValueError("labels= goes with a sequence of bandits; a mapping has its own.")
            labels, bandits = list(bandits), list(bandits.values())
        self.bandits = as_bandits(bandits)
        self.labels = _as_labels(labels, len(self.bandits))
        self.replications = check_count(
            replications, name="replications", why="nothing would be simulated otherwise."
        )
        several: list[Radius | None] = [None]  # the default of the rule
        if radii is not None:
            several = listed(radii, Radius)
        given: Any = deltas
        if isinstance(given, np.ndarray) and given.size > _MOST_DELTAS:
            raise ValueError(
                f"deltas has {given.size:,} members; a grid takes at most {_MOST_DELTAS:,} of them."
            )
        levels = list(given) if is_listed(given) else [given]
        if is_listed(goals):
            goals = listed(goals, Goal)
        if not several or not levels:
            raise ValueError("the grid is empty: radii and deltas need at least one member each.")
        self.radii: list[Radius] = []
        for radius in several:
            self.deltas: list[float] = []
            for delta in levels:
                checked = check_setting(self.bandits, goals, rule, radius, delta, seed, max_samples)
                self.goals, self.rule, known, level, self.seed, self.max_samples = checked
                self.deltas.append(level)
            self.radii.append(known)
        _refuse_repeats(self.radii, "radii")
        _refuse_repeats(self.deltas, "deltas")
        self.streams = streams_of(self.goals, self.bandits[0].D)
        self.conduct = as_conduct(conduct, self.bandits[0], self.max_samples)
        #: True: the readable loop runs it all, with the same results; see `soonest`
        self.readable = False

    def __repr__(self) -> str:
        sizes = {
            "instance": len(self.bandits), "goal": len(self.goals), "radius": len(self.radii),
            "delta": len(self.deltas), "replication": self.replications,
        }  # fmt: skip
        plurals = {"radius": "radii"}
        words = [counted(n, name, plurals.get(name, "")) for name, n in sizes.items()]
        return f"Campaign({' x '.join(words)})"

    def key(self, instance: int, replication: int) -> tuple[int, ...]:
        """The spawn key of a run's stream.

        >>> from paretoid import BernoulliBandit
        >>> one, two = BernoulliBandit([[0.9], [0.1]]), BernoulliBandit([[0.8], [0.1]])
        >>> Campaign(one).key(0, 5), Campaign([one, two]).key(1, 5)
        ((5,), (1, 5))
        """
        return (replication,) if self.single else (instance, replication)

    @cached_property
    def guarantees(self) -> list[str]:
        """For each radius what `guarantee_of` says, of every delta.

        >>> from paretoid import BernoulliBandit, Mixture
        >>> radii = [Mixture(), Mixture(union="none")]
        >>> Campaign(BernoulliBandit([[0.9], [0.1]]), radii=radii).guarantees
        ['proved', 'heuristic']
        """
        K, D = self.bandits[0].K, self.bandits[0].D
        return [
            min(guarantee_of(self.rule, radius, self.goals, K, D, delta) for delta in self.deltas)
            for radius in self.radii
        ]  # "heuristic" comes before "proved"

    @cached_property
    def compiled(self) -> bool:
        """True: compiled loops run all of it; False: the readable loop runs some."""
        budget, conduct = self.max_samples, self.conduct
        streams = [tuple(self.goals[g] for g in stream) for stream in self.streams]
        return all(
            Setting(bandit, goals, self.rule, radius, 0.1, budget, conduct, self.readable).compiled
            for bandit in self.bandits
            for radius in self.radii
            for goals in streams
        )

    @cached_property
    def seconds(self) -> FloatArray:
        """(radii, deltas, streams, instances) what a run may take by its bound; only a guide."""
        K, D = self.bandits[0].means.shape
        result = np.empty((len(self.radii), len(self.deltas), len(self.streams), len(self.bandits)))
        limit = np.inf if self.max_samples is None else self.max_samples
        for q, d, s, i in np.ndindex(*result.shape):
            cost = seconds_per_sample(K, D, self.radii[q], self.compiled)
            samples = limit
            if limit * cost > 0.05:  # a shorter run is not worth its gaps, a K x K table
                goals = [self.goals[g] for g in self.streams[s]]
                samples = expected_samples(self.bandits[i], goals, self.radii[q], self.deltas[d])
            result[q, d, s, i] = min(samples, limit) * cost
        return result

    def describe(self) -> dict[str, Any]:
        """All that its results depend on but the number of replications, as plain JSON types.

        >>> from paretoid import BernoulliBandit
        >>> said = Campaign(BernoulliBandit([[0.9], [0.1]]), deltas=[0.1, 0.01]).describe()
        >>> said["deltas"], said["goals"], said["instances"][0]["means"]
        ([0.1, 0.01], ['ParetoSet(eps1=0.0)'], [[0.9], [0.1]])
        """
        from paretoid import __version__

        first = self.bandits[0]
        return {
            "instances": [
                {"label": label, **_describe(bandit)}
                for label, bandit in zip(self.labels, self.bandits, strict=True)
            ],
            "outcomes": _outcomes(self.bandits),
            "single": self.single,
            "arms": list(first.arms),
            "objectives": list(first.objectives),
            "minimize": list(first.minimize),
            "goals": [registry.text(goal) for goal in self.goals],
            "labels": [str(goal) for goal in self.goals],
            "streams": self.streams,
            "rule": registry.text(self.rule),
            "radii": [registry.text(radius) for radius in self.radii],
            "guarantees": self.guarantees,
            "certifies": all(certifies(self.rule, radius) for radius in self.radii),
            "deltas": self.deltas,
            "seed": self.seed,
            "max_samples": self.max_samples,
            **({} if self.conduct is None else {"conduct": self.conduct.to_dict()}),
            "paretoid": __version__,
        }

    def describe_for_files(self) -> dict[str, Any]:
        """`describe`, with the modules of members that are not ours; refused if none has one.

        >>> from paretoid import BernoulliBandit
        >>> campaign = Campaign(BernoulliBandit([[0.9], [0.1]]))
        >>> campaign.describe_for_files() == campaign.describe()
        True
        """
        members = [*self.goals, self.rule, *self.radii, *self.bandits]
        others = sorted(set(registry.identities(members)))
        return {**self.describe(), **({"others": others} if others else {})}

    def run(
        self,
        store: str | Path | None = None,
        *,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> xr.Dataset:
        """Run it, or what is missing of it in the directory `store`.

        `executor` is any `concurrent.futures.Executor`: threads (default: one per core),
        processes, Dask's `client.get_executor()`. It changes no result, and it is left open.

        With a store every finished chunk is on disk at once; run the same campaign again after
        an interruption, or with more replications, and it goes on. The Dataset is then read from
        the files when needed. Without a store it is in memory.

        A chunk that raises does not stop the others; at the end `CampaignError` lists them.
        """
        if store is None:
            memory = Memory(self)
            self.fill(memory, executor, progress)
            return memory.dataset()
        from paretoid.runs.store import Store

        with Store.attach(store, self) as kept:
            self.fill(kept, executor, progress)
            return kept.dataset()

    def fill(
        self,
        sink: Memory | Store,
        executor: Executor | None = None,
        progress: bool = False,
        patient: bool = True,
    ) -> None:
        """Compute what `sink` lacks; not `patient`: the first exception ends it.

        >>> from paretoid import BernoulliBandit
        >>> campaign = Campaign(BernoulliBandit([[0.9], [0.1]]), replications=3)
        >>> memory = Memory(campaign)
        >>> campaign.fill(memory)
        >>> memory.dataset().stopped.values.tolist()    # radius, delta, goal, replication
        [[[[True, True, True]]]]
        """
        failures: list[tuple[Tile, Exception]] = []
        seconds = float(self.seconds.sum()) * self.replications
        with executor_for(executor, self.compiled, self._sample_of_work(), seconds) as pool:
            if runs_here(pool) and self.compiled:
                self._get_ready(progress)
            tasks = self._tasks(sink, workers_of(pool))
            runs = sum(task.tile.runs for task in tasks)
            with Progress(progress, runs, sum(task.seconds for task in tasks)) as shown:
                try:
                    for task, outcome in dispatch(tasks, pool):
                        if isinstance(outcome, Checkpoint):
                            sink.pause(task.tile, outcome)
                        elif isinstance(outcome, Exception):
                            if not patient:
                                raise outcome
                            failures.append((task.tile, outcome))
                        else:
                            arrays = tile_arrays(self, task.tile, outcome)
                            sink.write(task.tile, arrays)
                            longest = arrays["stopping_time"].max(axis=0)
                            censored = ~arrays["stopped"].all(axis=0)
                            shown.advance(
                                task.tile.runs, int(longest.sum()), int(censored.sum()),
                                task.seconds,
                            )  # fmt: skip
                except BrokenExecutor as error:
                    raise CampaignError(
                        f"the executor broke down: {error}. A worker may have been killed or run "
                        f"out of memory. {shown.done:,} of {runs:,} runs were finished; run the "
                        f"same campaign with the same store to go on.",
                        [],
                        sink.dataset(partial=True),
                    ) from error
                except KeyboardInterrupt as stop:
                    stop.add_note(f"{shown.done:,} of {runs:,} runs were finished. {sink.how_to}")
                    raise
        if failures:
            raise self._failed(failures, sink)

    def _tasks(self, sink: Memory | Store, workers: int) -> list[Task]:
        """A task for everything that is missing, paused chunks first of all."""
        paused = {t: c for t, c in sink.checkpoints().items() if t.last <= self.replications}
        tiles = [*paused, *cut(self, [*sink.tiles(), *paused], workers)]
        tasks = []
        for tile in tiles:
            costs = self.seconds[tile.radius, tile.delta, tile.stream]
            seconds = costs[tile.first_instance : tile.last_instance].sum()
            seconds *= tile.last - tile.first
            tasks.append(Task(tile, work_of(self, tile), float(seconds), paused.get(tile)))
        return tasks

    def _sample_of_work(self) -> Any:
        """Something like what workers will be sent, to see whether it can be."""
        return None if self.compiled else (self.bandits, self.goals, self.rule, self.radii)

    def _get_ready(self, progress: bool) -> None:
        """Load kernels, or say that they are compiled and compile them; once in each process."""
        conducted = self.conduct is not None
        kinds = {
            (type(self.rule), type(radius), type(self.bandits[0]), conducted, goal.limits is None)
            for radius in self.radii
            for goal in self.goals
        }
        if kinds <= _READY:
            return
        if not is_compiled(self._compile):
            if progress:
                tell(what_compiling_takes())
            self._compile()
        _READY.update(kinds)

    def _compile(self) -> None:
        """Compile, or load from the cache, before any thread or process needs the kernels."""
        for radius, stream in product(self.radii, self.streams):
            goals = tuple(self.goals[g] for g in stream)
            setting = Setting(self.bandits[0], goals, self.rule, radius, 0.1, 1, self.conduct)
            run_chunk(setting, 0, [(0,)])

    def _failed(
        self, failures: list[tuple[Tile, Exception]], sink: Memory | Store
    ) -> CampaignError:
        listed = [(self.where(tile), error) for tile, error in failures]
        lines = [f"  {where}: {type(error).__name__}: {error}" for where, error in listed[:5]]
        if len(listed) > 5:
            lines.append(f"  and {len(listed) - 5} more")
        what = counted(len(listed), "chunk")
        return CampaignError(
            "\n".join([f"{what} failed, all others are finished:", *lines, sink.how_to]),
            listed,
            sink.dataset(partial=True),
        )

    def where(self, tile: Tile) -> str:
        """The coordinates and the seed of a tile, for people.

        >>> from paretoid import BernoulliBandit
        >>> campaign = Campaign(BernoulliBandit([[0.9], [0.1]]), replications=3, seed=8)
        >>> campaign.where(cut(campaign, [], workers=1)[0]).split(", ")[0]
        'replications 0 to 2'
        """
        goals = ", ".join(str(self.goals[g]) for g in self.streams[tile.stream])
        instances = self.labels[tile.first_instance : tile.last_instance]
        of = "" if self.single else f"instance {instances[0]!r}"
        if len(instances) > 1:
            of += f" to {instances[-1]!r}"
        which = f"replication {tile.first}"
        if tile.last - tile.first > 1:
            which = f"replications {tile.first} to {tile.last - 1}"
        return ", ".join(
            part
            for part in (
                of, which,
                repr(self.radii[tile.radius]), f"delta={self.deltas[tile.delta]:g}", goals,
                f"SeedSequence({self.seed}, "
                f"spawn_key={self.key(tile.first_instance, tile.first)}) and following",
            )
            if part
        )  # fmt: skip


def _describe(bandit: Bandit) -> dict[str, Any]:
    """A bandit in plain types; all that its outcomes are drawn from by a digest."""
    said: dict[str, Any] = {
        "kind": registry.kind_of(bandit),
        "means": bandit.means.tolist(),
        "scale": bandit.scale.tolist(),
    }
    for name in ("covariance", "correlation"):  # of the noise, which no law says
        table = getattr(bandit, name, None)
        if table is not None:
            said[name] = np.asarray(table).tolist()
    law = bandit.compiled_law
    if law is None:
        terms = registry.fingerprint(bandit)
    else:
        terms = b"".join(np.ascontiguousarray(term).tobytes() for term in law[1:])
    return {**said, "drawn from": hashlib.sha256(terms).hexdigest()[:16]}


def _outcomes(bandits: Sequence[Bandit]) -> str:
    """How outcomes are drawn, for who reads results without the bandits."""
    return "independent gaussian" if all(map(exact_gaussian, bandits)) else bandits[0].model


def _as_labels(labels: Sequence[str] | None, size: int) -> list[str] | list[int]:
    if labels is None:
        return list(range(size))
    if isinstance(labels, str) or not isinstance(labels, Sequence) or len(labels) != size:
        raise refusal(isinstance(labels, Sequence) and not isinstance(labels, str))(
            f"labels={shown(labels)} must be {size} names, one for each bandit."
        )
    names = [check_name(label, what="label") for label in labels]
    _refuse_repeats(names, "labels")
    return names


def _refuse_repeats(values: Sequence[Any], what: str) -> None:
    for position, value in enumerate(values):
        if value in values[:position]:
            raise ValueError(
                f"{what} repeats {value!r}: results are looked up by {what}, so each must be "
                f"different."
            )
