"""Replications of one setting, run together on one thread; compiled ones can pause and go on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from paretoid import loop
from paretoid.arithmetic import check_digits
from paretoid.engine.build import loop_of, with_columns
from paretoid.engine.columns import Columns
from paretoid.engine.program import (
    CONSTANT_OUTCOMES,
    OUTGROWN,
    RUNNING,
    STATUS,
    TIME,
    EngineState,
    Program,
    new_state,
)
from paretoid.runs.setting import Setting
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, SignArray

#: doubles of noise drawn ahead for one call of a kernel: 1 MB, about what the cache holds
_NOISE = 1 << 17


#: ends the spawn key of the random numbers of a rule: no replication has this number
_RULE = 0x52554C45
#: the same for losses, so that outcomes are those of the ideal run
_LOSSES = 0x4C4F5353
#: the same for the lots of a randomised trial
_LOTS = 0x4C4F5453


@lru_cache(maxsize=8)
def _program(setting: Setting) -> tuple[Program, Columns | None]:
    """Built once for all chunks of a setting; programs are read-only."""
    return setting.program()


@dataclass(frozen=True)
class Chunk:
    """Results of consecutive replications: (R, G) and (R, G, K) arrays."""

    stopping_time: IntArray
    stopped: BoolArray
    answer: BoolArray
    pulls: IntArray
    settled: SignArray
    analysed: IntArray
    duration: FloatArray


@dataclass(frozen=True)
class Checkpoint:
    """Where a chunk is: going on from here equals never having stopped, bit for bit.

    state     of all its runs
    running   (n,) which of them go on
    streams   their generators, in the same order
    block     samples to draw ahead next
    """

    state: EngineState
    running: IntArray
    streams: tuple[np.random.Generator, ...]
    block: int

    @property
    def samples(self) -> int:
        """Samples drawn so far by all runs of the chunk."""
        return int(self.state.clock[:, TIME].sum())


def generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """The stream of one replication: key (r,), or (i, r) within a sequence of bandits.

    >>> generator(1, (0,)).random() == generator(1, (0,)).random()
    True
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def rule_generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """The random numbers of a rule in one replication, apart from those of the outcomes.

    >>> rule_generator(1, (0,)).random() != generator(1, (0,)).random()
    True
    """
    return generator(seed, (*key, _RULE))


def run_chunk(setting: Setting, seed: int, keys: Sequence[tuple[int, ...]]) -> Chunk:
    """The replications `keys`, on this thread, to their end."""
    result = advance_chunk(setting, seed, keys)
    assert isinstance(result, Chunk)
    return result


def advance_chunk(
    setting: Setting,
    seed: int,
    keys: Sequence[tuple[int, ...]],
    start: Checkpoint | None = None,
    samples: int | None = None,
) -> Chunk | Checkpoint:
    """Run `keys` from the beginning or from `start`; pause once `samples` more were drawn.

    How noise is blocked and where a chunk pauses change no result. The readable loop never pauses.
    """
    if setting.conducted:
        return _conducted_chunk(setting, seed, keys)
    if not setting.compiled:
        return _readable_chunk(setting, seed, keys)
    engine = Engine(setting)
    program = engine.program
    bandit, R = setting.bandit, len(keys)
    if start is None:
        state = new_state(program, R)
        running = np.arange(R)
        streams = [generator(seed, key) for key in keys]
        block = max(1024, len(program.opening))
    else:
        state, running, block = start.state, start.running, start.block
        streams = list(start.streams)
    width = bandit.noise_width
    ahead = np.empty(max(_NOISE, R * 256 * width))  # one buffer: fresh pages cost more than noise
    drawn = 0
    while len(running):
        if samples is not None and drawn >= samples:
            return Checkpoint(state, running, tuple(streams), block)
        most = len(ahead) // (len(running) * width)
        left = program.max_samples - int(state.clock[running, TIME].min())
        shape = len(running), min(block, most, left), width
        noise = ahead[: math.prod(shape)].reshape(shape)
        for stream, row in zip(streams, noise, strict=True):
            bandit.fill(stream, row)
        engine.advance(state, running, noise)
        drawn += shape[0] * shape[1]
        status = state.clock[running, STATUS]
        streams = [stream for stream, s in zip(streams, status, strict=True) if s == RUNNING]
        running = running[status == RUNNING]
        block = min(2 * block, len(ahead))
    pulls = np.where(state.stopped[:, :, None], state.pulls, state.counts[:, None, :])
    settled = np.where(state.stopped[:, :, None], state.verdict, state.settled[:, None, :])
    return _ideal(setting, state.stopped, state.answer, pulls, settled)


def _ideal(
    setting: Setting, stopped: BoolArray, answer: BoolArray, pulls: IntArray, settled: SignArray
) -> Chunk:
    """A chunk in which every outcome was known at once; with a rate there are days."""
    time = pulls.sum(axis=2)
    days = np.full(time.shape, np.nan)
    if setting.conduct is not None and setting.conduct.rate is not None:
        days = np.vectorize(setting.conduct.day_of, otypes=[np.float64])(time)
    return Chunk(time, stopped, answer, pulls, settled, time, days)


class Engine:
    """The compiled loop of a setting with its program, whose columns grow as counts do."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        program, self.columns = _program(setting)
        self.program = program if self.columns is None else with_columns(program, self.columns)
        self._advance = loop_of(setting.rule, setting.radius, setting.goals)

    def advance(
        self,
        state: EngineState,
        runs: IntArray,
        noise: FloatArray,
        trace: IntArray | None = None,
    ) -> None:
        """Advance `runs` by `noise`, (runs, samples, width); `trace` is given the arms sampled."""
        if trace is None:
            trace = np.empty((len(runs), 0), dtype=np.int64)
        before = state.clock[runs, TIME]
        self._advance(self.program, state, runs, noise, trace)
        if (state.clock[runs, STATUS] == CONSTANT_OUTCOMES).any():
            raise loop.ConstantOutcomesError(loop.constant_outcomes(self.setting.bandit))
        for q, run in enumerate(runs):
            while state.clock[run, STATUS] == OUTGROWN:
                self._grow(state, int(run))
                used = int(state.clock[run, TIME] - before[q])
                self._advance(
                    self.program, state, runs[q : q + 1], noise[q : q + 1, used:],
                    trace[q : q + 1, used:],
                )  # fmt: skip
        self._check_digits(state, runs)
        moved = state.clock[runs, TIME] > before
        stuck = runs[(state.clock[runs, STATUS] == RUNNING) & ~moved]
        if len(stuck):
            raise RuntimeError(
                f"the loop of {self.setting.rule!r} took no sample in {noise.shape[1]} tries, so "
                f"the run would never end. This is a mistake of the loop's."
            )

    def _check_digits(self, state: EngineState, runs: IntArray) -> None:
        counts = np.repeat(state.counts[runs, :, None], self.setting.bandit.D, axis=2)
        means = state.sums[runs].transpose(0, 2, 1) / np.maximum(counts, 1)
        ss = state.ss[runs].transpose(0, 2, 1)
        bandit = self.setting.bandit
        check_digits(bandit, ~self.setting.radius.known(bandit.D), counts, means, ss)

    def _grow(self, state: EngineState, run: int) -> None:
        """Give the columns room for the next samples of a run."""
        assert self.columns is not None
        self.columns.reserve(state.counts[run] + 1)
        self.program = with_columns(self.program, self.columns)
        state.clock[run, STATUS] = RUNNING


def _readable_chunk(setting: Setting, seed: int, keys: Sequence[tuple[int, ...]]) -> Chunk:
    """The replications `keys`, one after the other, by `paretoid.loop`."""
    K, G, R = setting.bandit.K, len(setting.goals), len(keys)
    stopped, answer = np.zeros((R, G), dtype=np.bool_), np.zeros((R, G, K), dtype=np.bool_)
    pulls, settled = np.zeros((R, G, K), dtype=np.int64), np.zeros((R, G, K), dtype=np.int8)
    lens = loop.lens_of(setting)
    for r, key in enumerate(keys):
        outcomes = loop.outcomes_from(setting.bandit, generator(seed, key))
        history = loop.run(setting, outcomes, rule_generator(seed, key), lens=lens)
        for g, stop in enumerate(history.stops):
            stopped[r, g] = stop is not None
            pulls[r, g] = history.counts if stop is None else stop.pulls
            settled[r, g] = history.settled[g] if stop is None else stop.settled
            if stop is not None:
                answer[r, g] = stop.answer
    return _ideal(setting, stopped, answer, pulls, settled)


def _conducted_chunk(setting: Setting, seed: int, keys: Sequence[tuple[int, ...]]) -> Chunk:
    """The replications `keys` as trials on a calendar, compiled or by `paretoid.runs.conducted`."""
    from paretoid.runs import conducted

    assert setting.conduct is not None
    assert setting.max_samples is not None
    bandit, n = setting.bandit, setting.max_samples
    shares = np.concatenate(setting.conduct.lost(bandit.arms, bandit.objectives))
    size = 1 + bandit.D if shares.any() else 0
    run = conducted.compiled(setting) if setting.compiled else conducted.readable(setting)
    rows = []
    for key in keys:
        losses = np.zeros((0, 1 + bandit.D))
        if size:
            losses = generator(seed, (*key, _LOSSES)).random((n, size))
        lots = None
        if setting.conduct.randomise is not None:
            lots = generator(seed, (*key, _LOTS)).random((n, 4))
        rows.append(run(generator(seed, key), losses, rule_generator(seed, key), lots))
    return Chunk(
        np.array([[int(end.pulls.sum()) for end in row] for row in rows]),
        np.array([[end.stopped for end in row] for row in rows]),
        np.array([[end.answer for end in row] for row in rows]),
        np.array([[end.pulls for end in row] for row in rows]),
        np.array([[end.settled for end in row] for row in rows]),
        np.array([[end.analysed for end in row] for row in rows]),
        np.array([[end.duration for end in row] for row in rows]),
    )
