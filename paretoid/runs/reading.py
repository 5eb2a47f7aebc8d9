"""Results of a stored campaign, read from its files when they are needed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from paretoid.runs.files import read_manifest, tiles_in
from paretoid.runs.results import VARIABLES, as_dataset, finished, shape_of

if TYPE_CHECKING:
    import xarray as xr

#: runs that one Dask task reads
_TOGETHER = 1 << 14


def open_campaign(directory: str | Path, *, partial: bool = False) -> xr.Dataset:
    """The Dataset of the campaign stored in `directory`; values are read when they are used.

    With Dask installed its variables are Dask arrays, else xarray's own lazy ones; either way
    memory does not grow with the number of replications. Every file is checked against the hash
    in its name as it is read. A campaign that is not finished is refused, unless `partial`:
    then the variable `finished` says which runs are there; all others are zero or False.

    >>> import tempfile, paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = pt.Campaign(bandit, replications=5, seed=1).run(folder)
    ...     int(pt.open_campaign(folder).stopped.sum())
    5
    """
    return open_part(directory, None, partial=partial)


def open_part(
    directory: str | Path, replications: int | None, *, partial: bool = False
) -> xr.Dataset:
    """The first `replications` of a stored campaign, or all; see `open_campaign`."""
    from xarray.core.indexing import LazilyIndexedArray

    from paretoid.runs.lazy import StoredVariable

    folder = Path(directory)
    manifest = read_manifest(folder)
    about = manifest["campaign"]
    replications = manifest["replications"] if replications is None else replications
    files = tiles_in(folder / "chunks")
    there = finished(about, list(files), replications)
    if not partial and not there.all():
        missing = int((~there).sum())
        raise ValueError(
            f"the campaign in {str(directory)!r} is not finished: {missing:,} of {there.size:,} "
            f"results are missing. Run it again with this store to go on, or pass partial=True."
        )
    sizes = shape_of(about, replications)
    arrays = {
        name: LazilyIndexedArray(StoredVariable(name, sizes, about["streams"], files))
        for name in VARIABLES
    }
    runs = as_dataset(about, arrays, replications)
    if about["single"]:
        runs = runs.isel(instance=0, drop=True)
    if partial:
        runs["finished"] = runs.stopped.copy(data=there.reshape(runs.stopped.shape))
    if find_spec("dask") is None:
        return runs
    run = min(replications, _TOGETHER)
    sizes = {"instance": max(1, _TOGETHER // run), "radius": 1, "delta": 1, "replication": run}
    return runs.assign(
        {
            name: runs[name].chunk({d: n for d, n in sizes.items() if d in runs[name].dims})
            for name in VARIABLES
        }
    )
