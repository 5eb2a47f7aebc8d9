"""The files of a stored campaign: their names, their hashes and what they hold.

`paretoid.runs.store` writes them and describes the layout.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretoid.registry import stored_member
from paretoid.runs.results import VARIABLES
from paretoid.runs.setting import guarantee_of
from paretoid.runs.tiles import Tile
from paretoid.theory.member import GUARANTEES
from paretoid.writing import DRAFT

#: version of the layout: a reader refuses what is newer than itself. 1 had no digest
FORMAT = 2
_HASH = 32  # hexadecimal digits kept of SHA-256
_NAME = re.compile(rf"(?P<tile>.+)-[0-9a-f]{{{_HASH}}}\.(nc|npz)")
#: all that a store makes in its directory; the manifest first
OWN = ("campaign.json", "lock", "chunks", "checkpoints")


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """A manifest as campaign.json, signed by the digest of all that it says.

    >>> manifest_text({"format": 2}).split("\\n")[:2]
    ['{', ' "format": 2,']
    """
    said = {key: value for key, value in manifest.items() if key != "digest"}
    return json.dumps({**said, "digest": _digest_of(said)}, indent=1)


def _digest_of(said: Mapping[str, Any]) -> str:
    """SHA-256 of what is said, however it is laid out."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read_manifest(directory: Path) -> dict[str, Any]:
    """What campaign.json says; refused if it is missing, damaged or of a newer format.

    Its guarantees are asked of the members that it names, not read.
    """
    path = directory / OWN[0]
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        newer = int(manifest["format"]) > FORMAT
        author = manifest["versions"]["paretoid"]
        if not newer:
            _check_digest(manifest)
            about = manifest["campaign"]
            _check_sizes(about, manifest["replications"], manifest["kernels"])
            about["guarantees"] = _guarantees(about)
    except FileNotFoundError:
        raise ValueError(
            f"{str(directory)!r} is no campaign: it has no campaign.json. Pass the directory that "
            f"was given as store=."
        ) from None
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        why = str(error) or type(error).__name__
        raise ValueError(f"{path} cannot be read: {why}. Restore it from a copy.") from error
    if newer:
        raise ValueError(
            f"{str(directory)!r} was written by paretoid {author} in format {manifest['format']}; "
            f"this version knows formats up to {FORMAT}. Upgrade paretoid to read it."
        )
    return dict(manifest)


def _check_digest(manifest: dict[str, Any]) -> None:
    if manifest["format"] == 1 and "digest" not in manifest:
        return  # begun by an early 0.1.0; signed when it goes on
    said = {key: value for key, value in manifest.items() if key != "digest"}
    if manifest.get("digest") != _digest_of(said):
        raise ValueError("it was changed after it was written: it does not have the digest in it")


def _check_sizes(about: dict[str, Any], replications: Any, kernels: Any) -> None:
    """Raise where a manifest lacks what its readers rely on."""
    lists = [about[key] for key in ("instances", "arms", "objectives", "minimize", "goals",
                                    "labels", "radii", "deltas", "streams")]  # fmt: skip
    if not all(isinstance(values, list) for values in lists):
        raise TypeError("what should be a list is none")
    texts = (about["rule"], about["outcomes"], kernels, *about["goals"], *about["radii"])
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("what should be a text is none")
    if type(replications) is not int or replications < 1 or not isinstance(about["single"], bool):
        raise ValueError(f"replications={replications!r} must be a positive integer")
    goals = sorted(goal for stream in about["streams"] for goal in stream)
    if goals != list(range(len(about["goals"]))) or len(about["labels"]) != len(goals):
        raise ValueError("streams do not list every goal once")
    shape = (len(about["arms"]), len(about["objectives"]))
    for case in about["instances"]:
        _ = case["label"], case["kind"]
        for key in ("means", "scale"):
            if np.array(case[key], dtype=float).shape != shape:
                raise ValueError(f"the {key} of instance {case['label']!r} are no table of numbers")
    _ = [float(delta) for delta in about["deltas"]], about["seed"], about["max_samples"]


def _guarantees(about: dict[str, Any]) -> list[str]:
    """For each radius what its class, the rule's and the goals' say today, of every delta.

    Who cannot be made again is heuristic: nobody can look up a proof of it.
    """
    others, K, D = about.get("others", []), len(about["arms"]), len(about["objectives"])
    rule = stored_member(about["rule"], "rule", others)
    goals = [stored_member(goal, "goal", others) for goal in about["goals"]]
    said = []
    for text in about["radii"]:
        radius = stored_member(text, "radius", others)
        try:
            if any(member is None for member in (rule, radius, *goals)):
                raise LookupError(text)
            levels = [guarantee_of(rule, radius, goals, K, D, delta) for delta in about["deltas"]]
            said.append(min(levels, key=GUARANTEES.index))
        except Exception:  # of somebody else's member: anything
            said.append("heuristic")
    return said


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
