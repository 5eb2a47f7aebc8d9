"""The grid cut into tiles: rectangles of runs that are computed, and stored, together.

Stopping times are heavy-tailed, so a tile's size is a time, not a count: thousands of easy runs
of many instances, or a single hard one. Results do not depend on how the grid is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.runs.chunk import Checkpoint, Chunk, advance_chunk, run_chunk
from paretoid.runs.setting import Setting
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.theory.radii import BetaBinomial, LUCB1Like, Radius

if TYPE_CHECKING:
    from paretoid.runs.campaign import Campaign

#: runs of one setting advanced together: more of them would fall out of the cache
_CHUNK = 64
#: runs, and runs x goals x arms, of one tile: 20 MB of results
_MOST_RUNS, _MOST_CELLS = 4096, 1 << 21
#: seconds, by the bound, after which a tile ends; the bound is a few times the truth
_LONGEST, _SHORTEST = 1.0, 0.02
#: seconds after which a single chunk pauses and can be stored
_SLICE = 1.0

_NAME = re.compile(r"q(\d+)-d(\d+)-s(\d+)-i(\d+)-(\d+)-r(\d+)-(\d+)")


@dataclass(frozen=True, order=True)
class Tile:
    """One radius, delta and stream; instances and replications from the first up to the last."""

    radius: int
    delta: int
    stream: int
    first_instance: int
    last_instance: int
    first: int
    last: int

    @property
    def runs(self) -> int:
        """How many runs: replications of every instance."""
        return (self.last_instance - self.first_instance) * (self.last - self.first)

    @property
    def name(self) -> str:
        """What it holds, as the stem of a file name.

        >>> tile = Tile(0, 1, 0, 3, 5, 0, 64)
        >>> tile.name, Tile.parse(tile.name) == tile
        ('q0-d1-s0-i3-5-r0-64', True)
        """
        q, d, s, i, j, a, b = (
            self.radius, self.delta, self.stream, self.first_instance, self.last_instance,
            self.first, self.last,
        )  # fmt: skip
        return f"q{q}-d{d}-s{s}-i{i}-{j}-r{a}-{b}"

    @classmethod
    def parse(cls, name: str) -> Tile | None:
        """The tile of that name; None if it is no such name."""
        match = _NAME.fullmatch(name)
        return cls(*map(int, match.groups())) if match else None


@dataclass(frozen=True)
class Work:
    """A tile as a task for a worker: it pickles, is small, and knows nothing of the grid.

    streams     a setting for each instance, and what comes before the replication in its keys
    first, last replications
    samples     pause after so many; only a tile that is a single chunk does
    """

    seed: int
    streams: tuple[tuple[Setting, tuple[int, ...]], ...]
    first: int
    last: int
    samples: int

    @property
    def runs(self) -> int:
        """How many runs: replications of every instance."""
        return len(self.streams) * (self.last - self.first)

    def chunks(self) -> Iterator[tuple[Setting, list[tuple[int, ...]]]]:
        """Settings and keys, run one after the other."""
        for setting, before in self.streams:
            for first in range(self.first, self.last, _CHUNK):
                numbers = range(first, min(first + _CHUNK, self.last))
                yield setting, [(*before, r) for r in numbers]

    def __call__(self, start: Checkpoint | None = None) -> tuple[Chunk, ...] | Checkpoint:
        """Run to the end, or to a pause if it is a single chunk."""
        if len(self.streams) > 1 or self.last - self.first > _CHUNK:
            return tuple(run_chunk(setting, self.seed, keys) for setting, keys in self.chunks())
        ((setting, keys),) = self.chunks()
        result = advance_chunk(setting, self.seed, keys, start, self.samples)
        return result if isinstance(result, Checkpoint) else (result,)


def seconds_per_sample(K: int, D: int, radius: Radius, compiled: bool = True) -> float:
    """About what a round costs on one core; tuned to validation/benchmarks/README.md."""
    if isinstance(radius, BetaBinomial):
        return 1e-5 * K if compiled else 1e-4 + 2e-5 * K * D
    if not compiled:
        return 1e-4 + 5e-9 * K * K * D
    if isinstance(radius, LUCB1Like):
        return 2e-7 + 8e-9 * K * D
    return 1.2e-7 + 1.8e-9 * K * D


def cut(campaign: Campaign, done: Iterable[Tile], workers: int) -> list[Tile]:
    """Tiles for all runs of `campaign` that `done` does not hold."""
    stored: dict[tuple[int, int, int], list[Tile]] = {}
    for tile in done:
        stored.setdefault((tile.radius, tile.delta, tile.stream), []).append(tile)
    total = float(campaign.seconds.sum()) * campaign.replications
    longest = min(_LONGEST, max(_SHORTEST, total / (8 * workers)))
    cells = len(campaign.goals) * campaign.bandits[0].K
    most_runs = max(1, min(_MOST_RUNS, _MOST_CELLS // cells))
    tiles: list[Tile] = []
    for q, d, s in np.ndindex(*campaign.seconds.shape[:3]):
        missing = ~covered(campaign, stored.get((q, d, s), []))
        tiles += _cut_cell((q, d, s), missing, campaign.seconds[q, d, s], longest, most_runs)
    return tiles


def work_of(campaign: Campaign, tile: Tile) -> Work:
    """What a worker needs to compute `tile`."""
    goals = tuple(campaign.goals[g] for g in campaign.streams[tile.stream])
    radius, delta = campaign.radii[tile.radius], campaign.deltas[tile.delta]
    streams = []
    for i in range(tile.first_instance, tile.last_instance):
        bandit = campaign.bandits[i]
        setting = Setting(
            bandit, goals, campaign.rule, radius, delta, campaign.max_samples, campaign.conduct,
            campaign.readable,
        )  # fmt: skip
        streams.append((setting, campaign.key(i, 0)[:-1]))
    K, D = campaign.bandits[0].means.shape
    samples = max(1, int(_SLICE / seconds_per_sample(K, D, radius, campaign.compiled)))
    return Work(campaign.seed, tuple(streams), tile.first, tile.last, samples)


def covered(campaign: Campaign, tiles: Iterable[Tile]) -> BoolArray:
    """(instances, replications) which runs the tiles of one radius, delta and stream hold."""
    mask = np.zeros((len(campaign.bandits), campaign.replications), dtype=bool)
    for tile in tiles:
        mask[tile.first_instance : tile.last_instance, tile.first : tile.last] = True
    return mask


def _cut_cell(
    cell: tuple[int, int, int],
    missing: BoolArray,
    seconds: FloatArray,
    longest: float,
    most_runs: int,
) -> Iterator[Tile]:
    """Neighbouring instances share a tile while all their missing runs take less than `longest`."""
    waiting: Tile | None = None
    spent = 0.0
    for i, row in enumerate(missing):
        for a, b in _gaps(row):
            size = max(1, min(most_runs, int(longest / seconds[i])))
            cost = seconds[i] * (b - a)
            if waiting is not None:
                joins = (i, a, b) == (waiting.last_instance, waiting.first, waiting.last)
                if joins and spent + cost <= longest and waiting.runs + (b - a) <= most_runs:
                    waiting = Tile(*cell, waiting.first_instance, i + 1, a, b)
                    spent += cost
                    continue
                yield waiting
                waiting = None
            for first in range(a, b, size):
                last = min(first + size, b)
                tile = Tile(*cell, i, i + 1, first, last)
                if (first, last) == (a, b):
                    waiting, spent = tile, cost
                else:
                    yield tile
    if waiting is not None:
        yield waiting


def _gaps(row: BoolArray) -> list[tuple[int, int]]:
    """Where `row` is True, as ranges.

    >>> _gaps(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
