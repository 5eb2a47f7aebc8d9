"""A campaign on disk: one netCDF file per finished chunk, written once, and a manifest.

DIR/campaign.json                 what is computed here, with versions and seed
DIR/chunks/TILE-SHA256.nc         finished: its name says what it holds and the hash of its bytes
DIR/checkpoints/TILE-SHA256.npz   a long chunk under way
DIR/lock                          held by the process that writes

Every file is written to a draft, flushed to the disk and renamed, so a name never stands for half
a file; a file whose bytes do not have the hash in its name is damaged, and computed again.

It writes and removes these files alone, and never through a link. A directory with anything else
in it and no campaign.json is somebody's, and refused.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paretoid import registry
from paretoid.arithmetic import CENTRED, reference_of
from paretoid.engine.cache import kernel_digest
from paretoid.engine.program import EngineState
from paretoid.runs.chunk import Checkpoint
from paretoid.runs.files import (
    FORMAT,
    OWN,
    digest,
    is_draft,
    manifest_text,
    read_manifest,
    tiles_in,
    verified,
)
from paretoid.runs.reading import open_part
from paretoid.runs.results import Arrays, variables_of
from paretoid.runs.tiles import Tile
from paretoid.text import short
from paretoid.versions import versions
from paretoid.writing import make_folder, whole_file

if TYPE_CHECKING:
    import xarray as xr
    from filelock import FileLock

    from paretoid.runs.campaign import Campaign


class Store:
    """The directory of one campaign, held by this process until it is closed."""

    def __init__(self, directory: Path, campaign: Campaign) -> None:
        self.directory, self.campaign = directory, campaign
        self._lock: FileLock | None = None
        self._kept: dict[Tile, Path] = {}  # checkpoints on disk

    @classmethod
    def attach(cls, directory: str | Path, campaign: Campaign) -> Store:
        """The store in `directory`, new or continued; refused if it holds another campaign."""
        self = cls(Path(directory), campaign)
        try:
            self._refuse_what_is_no_store()
            for folder in (self.chunks, self.paused):
                make_folder(folder)
            self._acquire()
        except OSError as error:
            raise ValueError(
                f"store={str(directory)!r} cannot be written: {error.strerror or error}. Choose a "
                f"directory on a disk that you may write to."
            ) from error
        try:
            self._agree()
        except BaseException:
            self.close()
            raise
        for folder in (self.directory, self.chunks, self.paused):
            for path in folder.iterdir():
                if is_draft(path, of_manifest=folder == self.directory):
                    path.unlink()  # of a writer that was killed; nobody else writes here now
        return self

    def _refuse_what_is_no_store(self) -> None:
        """Raise before anything is made in a directory that is not ours, or leads out of itself."""
        if not self.directory.is_dir():
            return  # nothing there, or a file: `make_folder` says so
        manifest, lock, chunks, paused = own = [self.directory / name for name in OWN]
        for path in own:
            if path.is_symlink():
                raise ValueError(
                    f"store={str(self.directory)!r}: {path} is a link, and a store writes only "
                    f"into its own directory. Remove the link, or use another directory."
                )
        if manifest.exists():
            read_manifest(self.directory)
            return
        if chunks.is_dir() and tiles_in(chunks):
            raise ValueError(
                f"store={str(self.directory)!r} has chunks but no campaign.json, so nobody knows "
                f"what they are. Restore the file, or use another directory."
            )
        foreign = [
            path
            for folder in (self.directory, chunks, paused)
            if folder.is_dir()
            for path in sorted(folder.iterdir())
            if path not in own and not is_draft(path, of_manifest=folder == self.directory)
        ]
        if lock.exists() and (lock.is_dir() or lock.stat().st_size):  # ours is an empty file
            foreign.append(lock)
        if foreign:
            first = short(str(foreign[0].relative_to(self.directory)), 40)
            more = f" and {len(foreign) - 1:,} more" if len(foreign) > 1 else ""
            raise ValueError(
                f"store={str(self.directory)!r} holds other files ({first!r}{more}) and no "
                f"campaign.json, so it is no store. Name a new or an empty directory."
            )

    @property
    def chunks(self) -> Path:
        """The folder of finished chunks."""
        return self.directory / "chunks"

    @property
    def paused(self) -> Path:
        """The folder of checkpoints."""
        return self.directory / "checkpoints"

    @property
    def how_to(self) -> str:
        """How to go on after an interruption."""
        return f"Finished runs are in {self.directory}; run the same campaign again to go on."

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the lock, so that another process may write."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _acquire(self) -> None:
        """One writer at a time, on every system; a killed one lets go, and so do its workers."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.directory / OWN[1], mode=0o644, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ValueError(
                f"store={str(self.directory)!r} is in use: another process runs this campaign. "
                f"Wait for it, or give this one a directory of its own."
            ) from None
        self._lock = lock

    def _agree(self) -> None:
        """Write the manifest of a new store; compare that of an old one."""
        path = self.directory / "campaign.json"
        asked = json.loads(json.dumps(self.campaign.describe_for_files()))
        now = {
            "format": FORMAT,
            "campaign": asked,
            "replications": self.campaign.replications,
            "variables": list(variables_of(self.campaign.conduct is not None)),
            "versions": versions("numpy", "numba", "xarray"),
            "kernels": kernel_digest(),
            "arithmetic": CENTRED,
        }
        if path.exists():
            old = read_manifest(self.directory)
            differing = differences(canonical(old["campaign"]), canonical(asked))
            if differing:
                raise ValueError(
                    f"store={str(self.directory)!r} holds another campaign: "
                    + "; ".join(f"{where} is {a} there, {b} here" for where, a, b in differing[:5])
                    + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
                    + ". Give this one a directory of its own."
                )
            moved = any(
                reference_of(bandit.oriented, bandit.scale).any()
                for bandit in self.campaign.bandits
            )
            if old.get("arithmetic") != CENTRED and moved:
                raise ValueError(
                    f"store={str(self.directory)!r} was begun by a paretoid that summed outcomes "
                    f"far from 0 without a reference, which loses digits: its runs and new ones "
                    f"must not be mixed. Give this campaign a directory of its own."
                )
            if old["kernels"] != now["kernels"]:
                warnings.warn(
                    f"the engine has changed since {self.directory} was begun (paretoid "
                    f"{old['versions']['paretoid']}): old and new runs may differ in the last bit.",
                    stacklevel=4,
                )
            if old["replications"] >= self.campaign.replications:
                return
            now = {**old, "format": FORMAT, "replications": self.campaign.replications}
        self._write(path, manifest_text(now).encode())

    def tiles(self) -> list[Tile]:
        """Finished tiles; damaged files are removed with a warning, to be computed again."""
        good = []
        for tile, path in tiles_in(self.chunks).items():
            if verified(path) is None:
                warnings.warn(
                    f"{path} is damaged (its bytes do not have the hash in its name); its runs "
                    f"are computed again.",
                    stacklevel=2,
                )
                path.unlink()
            else:
                good.append(tile)
        return good

    def write(self, tile: Tile, arrays: Arrays) -> None:
        """Keep a finished tile; from here on no crash can lose it."""
        self._write(self.chunks / tile.name, _as_netcdf(self.campaign, tile, arrays), ".nc")
        self._forget(tile)

    def checkpoints(self) -> dict[Tile, Checkpoint]:
        """Chunks that were under way; damaged ones are dropped and start again."""
        paused, finished = {}, set(tiles_in(self.chunks))
        for tile, path in tiles_in(self.paused).items():
            self._kept[tile] = path
            data = None if tile in finished else verified(path)
            if data is None:
                self._forget(tile)
            else:
                try:
                    paused[tile] = checkpoint_from(data)
                except KeyError:  # of an engine that kept other things: start again
                    self._forget(tile)
        return paused

    def pause(self, tile: Tile, checkpoint: Checkpoint) -> None:
        """Keep where a long chunk is, in place of where it was."""
        old = self._kept.get(tile)
        self._kept[tile] = self._write(
            self.paused / tile.name, checkpoint_bytes(checkpoint), ".npz"
        )
        if old is not None and old != self._kept[tile]:
            old.unlink(missing_ok=True)

    def _forget(self, tile: Tile) -> None:
        if tile in self._kept:
            self._kept.pop(tile).unlink(missing_ok=True)

    def dataset(self, *, partial: bool = False) -> xr.Dataset:
        """Results, read from the files when needed."""
        runs = open_part(self.directory, self.campaign.replications, partial=partial)
        return runs.assign_coords(guarantee=("radius", self.campaign.guarantees))

    def _write(self, path: Path, data: bytes, suffix: str = "") -> Path:
        """Keep `data` under its name, on the disk and whole.

        With a suffix the hash of its bytes becomes part of its name: `path`-HASH`suffix`.
        """
        if suffix:
            path = path.with_name(f"{path.name}-{digest(data)}{suffix}")
        try:
            with whole_file(path, force=True) as draft:
                draft.write_bytes(data)
        except OSError as error:
            raise OSError(
                error.errno,
                f"store={str(self.directory)!r} cannot be written ({error.strerror or error}). "
                f"What was written before is valid; make room and run the same campaign again to "
                f"go on",
            ) from error
        return path


def canonical(about: dict[str, Any]) -> dict[str, Any]:
    """A description with its members spelt as today, without what follows from them."""
    follow = ("labels", "guarantees", "certifies")
    kept = {key: value for key, value in about.items() if key not in follow}
    return {
        **kept,
        "goals": [registry.canonical(goal, "goal") for goal in about["goals"]],
        "radii": [registry.canonical(radius, "radius") for radius in about["radii"]],
        "rule": registry.canonical(about["rule"], "rule"),
    }


def differences(old: Any, new: Any, where: str = "") -> list[tuple[str, str, str]]:
    """Where two configurations differ: (place, old, new), without the version that wrote them.

    >>> differences({"seed": 1, "deltas": [0.1]}, {"seed": 2, "deltas": [0.1, 0.2]})
    [('seed', '1', '2'), ('deltas', '[0.1]', '[0.1, 0.2]')]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if key != "paretoid"]
        pairs = [
            (f"{where}.{key}".lstrip("."), old.get(key, "nothing"), new.get(key, "nothing"))
            for key in keys
        ]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and old != new:
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(old, new, strict=True))]
    else:
        return [] if old == new else [(where, _short(old), _short(new))]
    return [difference for place, a, b in pairs for difference in differences(a, b, place)]


def _short(value: Any) -> str:
    return short(json.dumps(value), 60)


def _as_netcdf(campaign: Campaign, tile: Tile, arrays: Arrays) -> bytes:
    """A tile as a netCDF file that explains itself.

    Made in memory: the HDF5 library does not survive a disk that is full (it crashes when the
    process ends).
    """
    import h5netcdf
    import h5py

    from paretoid import __version__

    labels = campaign.labels[tile.first_instance : tile.last_instance]
    coords: dict[str, Any] = {
        "goal": [str(campaign.goals[g]) for g in campaign.streams[tile.stream]],
        "instance": np.array(labels) if isinstance(labels[0], int) else labels,
        "replication": np.arange(tile.first, tile.last),
        "arm": list(campaign.bandits[0].arms),
    }
    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.dimensions = {name: len(values) for name, values in coords.items()}
        for name, values in coords.items():
            kind = h5py.string_dtype() if isinstance(values, list) else np.int64
            file.create_variable(name, (name,), kind, data=np.array(values, dtype=kind))
        for name, (dtype, arms) in variables_of(campaign.conduct is not None).items():
            dims = ("goal", "instance", "replication", *(["arm"] if arms else []))
            flag = dtype is np.bool_  # netCDF has no booleans; xarray reads these as such
            data: NDArray[Any] = arrays[name].astype(np.int8 if flag else dtype)
            variable = file.create_variable(name, dims, data.dtype, data=data)
            if flag:
                variable.attrs["dtype"] = "bool"
        radius = campaign.radii[tile.radius]
        file.attrs.update(
            radius=repr(radius),
            delta=campaign.deltas[tile.delta],
            rule=repr(campaign.rule),
            seed=campaign.seed,
            guarantee=radius.guarantee,
            paretoid=__version__,
        )
    return buffer.getvalue()


def checkpoint_bytes(checkpoint: Checkpoint) -> bytes:
    """A checkpoint as an .npz file: plain arrays, no pickles."""
    states = [stream.bit_generator.state for stream in checkpoint.streams]
    words = [[*s["state"]["state"], s["has_uint32"], s["uinteger"]] for s in states]
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        running=checkpoint.running,
        block=checkpoint.block,
        streams=np.array(words, dtype=np.uint64),
        **{f"state_{name}": array for name, array in checkpoint.state._asdict().items()},
    )
    return buffer.getvalue()


def checkpoint_from(data: bytes) -> Checkpoint:
    """The inverse of `checkpoint_bytes`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        streams = []
        for words in file["streams"]:
            bits = np.random.SFC64()
            bits.state = {
                "bit_generator": "SFC64",
                "state": {"state": words[:4]},
                "has_uint32": int(words[4]),
                "uinteger": int(words[5]),
            }
            streams.append(np.random.Generator(bits))
        state = EngineState(**{name: file[f"state_{name}"] for name in EngineState._fields})
        return Checkpoint(state, file["running"], tuple(streams), int(file["block"]))
