"""One variable of a stored campaign as an array that reads its files when it is indexed.

Imports xarray, which is slow: import this only where a store is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from paretoid.runs.files import read_variable
from paretoid.runs.results import RUNS, VARIABLES
from paretoid.runs.tiles import Tile


class StoredVariable(BackendArray):
    """A variable by name, spread over the `files` of its tiles; `streams` list their goals."""

    def __init__(
        self,
        name: str,
        sizes: Mapping[str, int],
        streams: list[list[int]],
        files: dict[Tile, Path],
    ) -> None:
        dtype, arms = VARIABLES[name]
        self.name, self.streams, self.files = name, streams, files
        self.dtype = np.dtype(dtype)
        self.shape = tuple(sizes[dim] for dim in (*RUNS, *(["arm"] if arms else [])))

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._read
        )

    def _read(self, key: tuple[int | slice, ...]) -> NDArray[Any]:
        """An integer or a slice for each dimension; runs that no file holds are zero."""
        wanted = [
            np.arange(size)[one] if isinstance(one, slice) else np.array([one])
            for one, size in zip(key, self.shape, strict=True)
        ]
        instances, radii, deltas, goals, replications, *arms = wanted
        result = np.zeros([len(positions) for positions in wanted], dtype=self.dtype)
        for tile, path in self.files.items():
            # where the tile lies in the result, and the result in the tile
            to_i, from_i = _overlap(instances, tile.first_instance, tile.last_instance)
            to_r, from_r = _overlap(replications, tile.first, tile.last)
            q, d = np.flatnonzero(radii == tile.radius), np.flatnonzero(deltas == tile.delta)
            if not (len(to_i) and len(to_r) and len(q) and len(d)):
                continue
            here = [
                (position, int(at))
                for position, g in enumerate(self.streams[tile.stream])
                for at in np.flatnonzero(goals == g)
            ]
            values = read_variable(path, self.name) if here else np.zeros(0)
            for position, at in here:
                part = values[position][np.ix_(from_i, from_r)]
                result[to_i[:, None], q[0], d[0], at, to_r] = part[..., arms[0]] if arms else part
        return result.reshape([len(w) for w, k in zip(wanted, key, strict=True)
                               if isinstance(k, slice)])  # fmt: skip


def _overlap(wanted: NDArray[Any], first: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(positions in `wanted`, positions counted from `first`) of what lies in first..last - 1."""
    here = np.flatnonzero((wanted >= first) & (wanted < last))
    return here, wanted[here] - first
