"""The files of a stored campaign: their names, their hashes and what they hold.

`paretoid.runs.store` writes them and describes the layout.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretoid.runs.results import VARIABLES
from paretoid.runs.tiles import Tile
from paretoid.writing import DRAFT

#: version of the layout: a reader refuses what is newer than itself
FORMAT = 1
_HASH = 32  # hexadecimal digits kept of SHA-256
_NAME = re.compile(rf"(?P<tile>.+)-[0-9a-f]{{{_HASH}}}\.(nc|npz)")
#: all that a store makes in its directory; the manifest first
OWN = ("campaign.json", "lock", "chunks", "checkpoints")


def read_manifest(directory: Path) -> dict[str, Any]:
    """What campaign.json says; refused if it is missing, damaged or of a newer format."""
    path = directory / "campaign.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        newer = int(manifest["format"]) > FORMAT
        author = manifest["versions"]["paretoid"]
        if not newer:  # all that readers rely on
            _ = manifest["campaign"]["streams"], int(manifest["replications"]), manifest["kernels"]
    except FileNotFoundError:
        raise ValueError(
            f"{str(directory)!r} is no campaign: it has no campaign.json. Pass the directory that "
            f"was given as store=."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read: {error}. Restore it from a copy.") from error
    if newer:
        raise ValueError(
            f"{str(directory)!r} was written by paretoid {author} in format {manifest['format']}; "
            f"this version knows formats up to {FORMAT}. Upgrade paretoid to read it."
        )
    return dict(manifest)


def tiles_in(folder: Path) -> dict[Tile, Path]:
    """The tiles that the files of a folder hold, judged by their names alone."""
    tiles = {}
    for path in sorted(folder.iterdir()):
        tile = _tile_of(path.name)
        if tile is not None and path.is_file():
            tiles[tile] = path
    return tiles


def _tile_of(name: str) -> Tile | None:
    match = _NAME.fullmatch(name)
    return Tile.parse(match["tile"]) if match else None


def is_draft(path: Path, *, of_manifest: bool) -> bool:
    """True for a draft that a store made: of its manifest, or of the files in its folders.

    >>> is_draft(Path("my.draft"), of_manifest=True)
    False
    """
    match = DRAFT.fullmatch(path.name)
    name = match["name"] if match else path.name.removesuffix(".draft")  # as version 0.1.0 did
    if name == path.name or path.is_symlink() or not path.is_file():
        return False
    return name == OWN[0] if of_manifest else _tile_of(name) is not None


def digest(data: bytes) -> str:
    """What stands in the name of a file that holds `data`."""
    return hashlib.sha256(data).hexdigest()[:_HASH]


def verified(path: Path) -> bytes | None:
    """The bytes of a file, or None if they do not have the hash in its name."""
    data = path.read_bytes()
    return data if path.stem.endswith(f"-{digest(data)}") else None


def read_variable(path: Path, name: str) -> NDArray[Any]:
    """One variable of a finished tile."""
    import h5py

    try:
        now = path.stat()
    except FileNotFoundError:
        raise _damaged(path) from None
    _check(path, now.st_mtime_ns, now.st_size)
    with h5py.File(path, "r", locking=False) as file:
        return np.asarray(file[name][...].astype(VARIABLES[name][0]))


@lru_cache(maxsize=1 << 16)
def _check(path: Path, changed: int, size: int) -> None:
    """Raise if a chunk is not what its name says; checked again only when it has changed."""
    if verified(path) is None:
        raise _damaged(path)


def _damaged(path: Path) -> ValueError:
    return ValueError(
        f"{path} is missing or damaged. Run the campaign again with this store: what is missing "
        f"is computed again, with the same numbers."
    )
