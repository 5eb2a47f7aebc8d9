"""Run one experiment of the paper from start to finish, or from where it was interrupted."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoid import __version__
from paretoid.text import meant
from paretoid.theory.checks import check_count
from paretoid.validation.paper.report import write_rows
from paretoid.validation.paper.statistics import Row
from paretoid.validation.paper.store import ResultFiles

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

EXPERIMENTS = {
    "table1": "random Bernoulli instances, K=5, D=2, 4, 8: APE-1..5 and PSI-Unif-Elim",
    "covboost": "the COV-BOOST instance: APE-k and PSI-Unif-Elim, the paper's and proved radii",
    "cover-random": "covers with 20 values of eps2 on random Bernoulli instances",
    "cover-fixed": "covers with 50 values of eps2 on one five-arm instance",
    "slow-elimination": "instances where PSI-Unif-Elim keeps sampling an easy optimal arm",
    "k-elimination": "APE-k against PSI-Unif-Elim stopped at k arms, K=10 and K=50",
    "best-arm": "one objective: APE, LUCB, LUCB++ and UGapEc in units of the lower bound",
    "large": "0.1-APE-1000 with K=1000, D=10: wall time of one run",
}


@dataclass(frozen=True)
class Reproduction:
    """The results of one experiment.

    rows        the table
    data        configuration: raw results, as in the netCDF file's groups
    netcdf, csv, picture    the files written
    count       runs, or instances where each run has its own
    seconds     time spent computing; configurations found on disk cost none

    >>> import io, tempfile
    >>> from rich.console import Console
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = reproduce(
    ...         "cover-fixed", replications=2, out=folder, console=Console(file=io.StringIO())
    ...     )
    ...     made.csv.name, made.netcdf.is_file(), made.picture.suffix
    ('cover-fixed-2-seed1.csv', True, '.png')
    """

    name: str
    rows: list[Row]
    data: dict[str, xr.Dataset]
    netcdf: Path
    csv: Path
    picture: Path
    count: int
    seconds: float


def reproduce(
    name: str,
    *,
    quick: bool = False,
    replications: int | None = None,
    out: str | os.PathLike[str] = "reproduced",
    seed: int = 1,
    console: Console | None = None,
) -> Reproduction:
    """Repeat experiment `name`, one of `EXPERIMENTS`, and write its results to folder `out`.

    `quick` takes about a minute on two cores; otherwise the paper's number of runs is made, or
    `replications`: runs for a fixed instance, instances for random ones (a quarter of them for
    K=50 in k-elimination, as in the paper). Files are named by experiment, size and seed. Every
    finished configuration is kept at once, so that after Ctrl-C the same call continues.

    Writes a netCDF file with one group for each configuration, a CSV table and a PNG picture.
    Progress goes to `console`, by default on stderr; `validation.paper.report.show` has the table.

    >>> reproduce("tabel1")
    Traceback (most recent call last):
        ...
    ValueError: no experiment 'tabel1'; did you mean 'table1'? There are: table1, covboost, \
cover-random, cover-fixed, slow-elimination, k-elimination, best-arm, large.
    """
    if name not in EXPERIMENTS:
        hint = meant(str(name), EXPERIMENTS)
        raise ValueError(f"no experiment {name!r}{hint} There are: {', '.join(EXPERIMENTS)}.")
    experiment: Any = import_module(f"paretoid.validation.paper.{name.replace('-', '_')}")
    count = experiment.QUICK if quick else experiment.FULL
    if replications is not None:
        count = check_count(
            replications,
            name="replications",
            why=f"nothing would be run otherwise. The paper's size is {experiment.FULL}.",
        )
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    folder = _folder(out)
    screen = _console() if console is None else console
    store = ResultFiles(folder, f"{name}-{count}-seed{seed}")
    parts = experiment.parts(count, seed)
    data: dict[str, xr.Dataset] = {}
    started = time.perf_counter()
    try:
        for i, part in enumerate(parts, start=1):
            runs = store.load(part.name)
            before = time.perf_counter()
            if runs is None:
                runs = part.run()
                store.save(part.name, runs)
            spent = time.perf_counter() - before
            data[part.name] = runs
            screen.print(f"{name} {i}/{len(parts)}: {part.name}, {spent:.1f} s", highlight=False)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(data)} of {len(parts)} configurations are kept in {store.pending}; the same "
            f"command with the same arguments continues there."
        ) from None
    seconds = time.perf_counter() - started
    about: dict[str, str | int] = {
        "experiment": name,
        "description": EXPERIMENTS[name],
        "replications": count,
        "seed": seed,
        "paretoid": __version__,
    }
    netcdf = store.finish(data, about)
    rows = experiment.rows(data, seed)
    csv = write_rows(rows, folder / f"{store.stem}.csv")
    picture = experiment.draw(data, rows, folder / f"{store.stem}.png")
    screen.print(f"Raw results {netcdf}, table {csv}, picture {picture}.", soft_wrap=True)
    return Reproduction(name, rows, data, netcdf, csv, picture, count, seconds)


def _folder(out: str | os.PathLike[str]) -> Path:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"out={str(out)!r} is a file, and results need a directory. Name another.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"out={str(out)!r} cannot be created: {error}. Name a directory you may write to."
        ) from error
    if not os.access(folder, os.W_OK):
        raise ValueError(f"out={str(out)!r} may not be written to. Name another directory.")
    return folder


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True)
