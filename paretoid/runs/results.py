"""From chunks to arrays to the Dataset of a campaign, in memory or read lazily from files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paretoid.conduct import Conduct
from paretoid.goals import Goal
from paretoid.registry import is_ours
from paretoid.runs.chunk import Checkpoint, Chunk
from paretoid.runs.tiles import Tile
from paretoid.theory.checks import BoolArray, FloatArray

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.runs.campaign import Campaign

INT = np.int64
#: name: type, and whether there is one value per arm
VARIABLES: dict[str, tuple[type, bool]] = {
    "stopping_time": (INT, False),
    "stopped": (np.bool_, False),
    "answer": (np.bool_, True),
    "correct": (np.bool_, False),
    "pulls": (INT, True),
    "settled": (np.int8, True),
    "analysed": (INT, False),
    "duration": (np.float64, False),
}
#: of trials on a calendar alone
CONDUCTED = ("analysed", "duration")
#: what stores held before they said it themselves
FIRST_VARIABLES = ("stopping_time", "stopped", "answer", "correct", "pulls")
RUNS = ("instance", "radius", "delta", "goal", "replication")
_SAMPLES = {"units": "samples"}
_SETTLED = (
    "1: certainly optimal, up to eps1; -1: certainly out (dominated or beyond a limit); "
    "0: undecided"
)
_UNSETTLED = "0 everywhere: without intervals on pairs of arms no single arm can be settled"

#: results of a tile: (goals of its stream, instances, replications[, arms]) by name
Arrays = dict[str, NDArray[Any]]


def tile_arrays(campaign: Campaign, tile: Tile, chunks: tuple[Chunk, ...]) -> Arrays:
    """The chunks of a tile, joined, with a verdict on each answer."""
    instances = range(tile.first_instance, tile.last_instance)
    arrays: Arrays = {}
    for name in variables_of(campaign.conduct is not None):
        if name == "correct":
            continue
        joined = np.concatenate([getattr(chunk, name) for chunk in chunks])
        shaped = joined.reshape(len(instances), tile.last - tile.first, *joined.shape[1:])
        arrays[name] = np.moveaxis(shaped, 2, 0)
    correct = [
        [
            _correct(campaign.goals[g], answers, campaign.bandits[i].oriented)
            for i, answers in zip(instances, arrays["answer"][position], strict=True)
        ]
        for position, g in enumerate(campaign.streams[tile.stream])
    ]
    arrays["correct"] = np.array(correct) & arrays["stopped"]
    return arrays


def _correct(goal: Goal, answers: BoolArray, means: FloatArray) -> BoolArray:
    """(R,) is each answer right? Each different answer is judged once, by others' goals twice."""
    different, which = answers, np.zeros(1, dtype=np.intp)
    if len(answers) > 1:  # sorting one answer takes longer than judging it
        different, which = np.unique(answers, axis=0, return_inverse=True)
    verdicts = [goal.is_correct(answer, means) for answer in different]
    if not is_ours(goal):
        for answer, verdict in zip(different, verdicts, strict=True):
            again = goal.is_correct(answer, means)
            if type(verdict) not in (bool, np.bool_) or again != verdict:
                raise ValueError(
                    f"{type(goal).__name__}.is_correct says {verdict!r} and then {again!r} of the "
                    f"same answer and means; it must say True or False, always the same."
                )
    return np.array(verdicts, dtype=np.bool_)[which.reshape(-1)]


def variables_of(conducted: bool) -> dict[str, tuple[type, bool]]:
    """The variables of a campaign, with their types and whether there is one value per arm."""
    return {name: kind for name, kind in VARIABLES.items() if conducted or name not in CONDUCTED}


def shape_of(about: Mapping[str, Any], replications: int) -> dict[str, int]:
    """Sizes of the dimensions of a campaign described by `about`."""
    return {
        "instance": len(about["instances"]),
        "radius": len(about["radii"]),
        "delta": len(about["deltas"]),
        "goal": len(about["goals"]),
        "replication": replications,
        "arm": len(about["arms"]),
    }


class Memory:
    """Results of a campaign without a store; `Store` keeps them on disk instead."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.about = campaign.describe()
        sizes = shape_of(self.about, campaign.replications)
        runs = tuple(sizes[dim] for dim in RUNS)
        self.arrays: Arrays = {
            name: np.zeros((*runs, sizes["arm"]) if arms else runs, dtype=dtype)
            for name, (dtype, arms) in variables_of(campaign.conduct is not None).items()
        }
        self.done: list[Tile] = []

    how_to = "Without store= they are lost when this process ends; with one they are kept."

    def tiles(self) -> list[Tile]:
        """The tiles whose results it holds."""
        return self.done

    def checkpoints(self) -> dict[Tile, Checkpoint]:
        """Returns an empty dictionary: without a store no checkpoint outlives its process."""
        return {}

    def pause(self, tile: Tile, checkpoint: Checkpoint) -> None:
        """Does nothing: the task that paused goes on in this process, from what it holds."""

    def write(self, tile: Tile, arrays: Arrays) -> None:
        """Keep the results of a tile."""
        instances = slice(tile.first_instance, tile.last_instance)
        for name, values in arrays.items():
            for position, g in enumerate(self.campaign.streams[tile.stream]):
                self.arrays[name][instances, tile.radius, tile.delta, g, tile.first : tile.last] = (
                    values[position]
                )
        self.done.append(tile)

    def dataset(self, *, partial: bool = False, without: Collection[str] = ()) -> xr.Dataset:
        """Everything but dimensions `without`; with `partial` also what is `finished`."""
        about, replications = self.about, self.campaign.replications
        without = {*without, *(["instance"] if self.campaign.single else [])}
        runs = as_dataset(about, self.arrays, replications, without)
        if partial:
            done = finished(about, self.done, replications)
            runs["finished"] = runs.stopped.copy(data=done.reshape(runs.stopped.shape))
        return runs


def finished(about: Mapping[str, Any], tiles: list[Tile], replications: int) -> BoolArray:
    """(instance, radius, delta, goal, replication) which runs `tiles` hold."""
    sizes = shape_of(about, replications)
    mask = np.zeros([sizes[dim] for dim in RUNS], dtype=bool)
    for tile in tiles:
        for g in about["streams"][tile.stream]:
            mask[
                tile.first_instance : tile.last_instance, tile.radius, tile.delta, g,
                tile.first : tile.last,
            ] = True  # fmt: skip
    return mask


def as_dataset(
    about: Mapping[str, Any],
    arrays: Mapping[str, Any],
    replications: int,
    without: Collection[str] = (),
) -> xr.Dataset:
    """The Dataset of a campaign: `arrays` may be NumPy's, or read from files when needed.

    `without` names dimensions, of size 1, that are left out with all that belongs to them;
    building them first and dropping them then would double the time of a short `simulate`.
    """
    import xarray as xr

    cases, table = about["instances"], ("instance", "arm", "objective")
    given: dict[str, tuple[Any, ...]] = {
        name: ((*RUNS, "arm") if arms else RUNS, arrays[name], _SAMPLES if dtype is INT else {})
        for name, (dtype, arms) in VARIABLES.items()
        if name in arrays
    }
    if "settled" in given:
        meaning = _SETTLED if about["certifies"] else _UNSETTLED
        given["settled"] = (*given["settled"][:2], {"meaning": meaning})
    if "duration" in given:
        given["duration"] = (*given["duration"][:2], {"units": "days"})
    coords: dict[str, tuple[str, Any]] = {
        "instance": ("instance", tuple(case["label"] for case in cases)),
        "radius": ("radius", tuple(about["radii"])),
        "guarantee": ("radius", tuple(about["guarantees"])),
        "delta": ("delta", tuple(about["deltas"])),
        "goal": ("goal", tuple(about["labels"])),
        "replication": ("replication", range(replications)),
        "arm": ("arm", tuple(about["arms"])),
        "objective": ("objective", tuple(about["objectives"])),
        "minimize": ("objective", tuple(name in about["minimize"] for name in about["objectives"])),
    }
    if "objective" not in without:
        for name in ("means", "scale"):
            given[name] = (table, np.array([case[name] for case in cases]))
    variables = {}
    for name, (dims, values, *units) in given.items():
        gone = tuple(at for at, dim in enumerate(dims) if dim in without)
        kept = tuple(dim for dim in dims if dim not in without)
        variables[name] = (kept, values.squeeze(gone) if gone else values, *units)
    return xr.Dataset(
        variables,
        coords=_coordinates(
            tuple((name, *pair) for name, pair in coords.items() if pair[0] not in without)
        ),
        attrs={
            "seed": about["seed"],
            "rule": about["rule"],
            "outcomes": about["outcomes"],
            "max_samples": -1 if about["max_samples"] is None else about["max_samples"],
            "paretoid": about["paretoid"],
            **({"conduct": str(Conduct.from_dict(about["conduct"]))} if "conduct" in about else {}),
        },
    )


@lru_cache(maxsize=16)
def _coordinates(said: tuple[tuple[str, str, Any], ...]) -> Any:
    """Coordinates by name, dimension and values; their indexes are most of the time of a Dataset.

    They are shared by Datasets, so the arrays behind them are read-only.
    """
    import xarray as xr

    made = {name: (dim, np.array(values)) for name, dim, values in said}
    for _, values in made.values():
        values.setflags(write=False)
    return xr.Coordinates(made)
