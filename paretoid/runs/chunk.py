"""Replications of one setting, advanced together on one thread; they can pause and go on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from paretoid.engine.program import (
    CONSTANT_OUTCOMES,
    RUNNING,
    STATUS,
    TIME,
    Program,
    State,
    new_state,
)
from paretoid.runs.setting import Setting
from paretoid.theory.checks import BoolArray, IntArray

#: doubles of noise drawn ahead for one call of a kernel: 1 MB, about what the cache holds
_NOISE = 1 << 17


@lru_cache(maxsize=8)
def _program(setting: Setting) -> Program:
    """Built once for all chunks of a setting; programs are read-only."""
    return setting.program()


@dataclass(frozen=True)
class Chunk:
    """Results of consecutive replications: (R, G) and (R, G, K) arrays."""

    stopping_time: IntArray
    stopped: BoolArray
    answer: BoolArray
    pulls: IntArray


@dataclass(frozen=True)
class Checkpoint:
    """Where a chunk is: going on from here equals never having stopped, bit for bit.

    state     of all its runs
    running   (n,) which of them go on
    streams   their generators, in the same order
    block     samples to draw ahead next
    """

    state: State
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

    How noise is blocked and where a chunk pauses change no result.
    """
    program = _program(setting)
    bandit, R = setting.bandit, len(keys)
    if start is None:
        state = new_state(program, R)
        running = np.arange(R)
        streams = [generator(seed, key) for key in keys]
        block = max(1024, bandit.K * program.first)
    else:
        state, running, block = start.state, start.running, start.block
        streams = list(start.streams)
    advance = setting.rule.kernel(program)
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
        advance(program, state, running, noise)
        drawn += shape[0] * shape[1]
        status = state.clock[running, STATUS]
        if (status == CONSTANT_OUTCOMES).any():
            raise ValueError(
                f"an arm of {bandit!r} gave the same outcome every time, so its variance cannot "
                f"be estimated and UnknownScale is not proved. Use Mixture() with a known scale."
            )
        streams = [stream for stream, s in zip(streams, status, strict=True) if s == RUNNING]
        running = running[status == RUNNING]
        block = min(2 * block, len(ahead))
    pulls = np.where(state.stopped[:, :, None], state.pulls, state.counts[:, None, :])
    return Chunk(pulls.sum(axis=2), state.stopped, state.answer, pulls)
