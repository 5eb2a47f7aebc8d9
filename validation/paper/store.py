"""Raw results on disk: each configuration as soon as it is finished, all in one file at the end.

NAME-N-seedS.parts/PART.nc   while it runs; a rerun with the same arguments continues here
NAME-N-seedS.nc              finished: one netCDF group for each configuration
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from paretoid import __version__
from paretoid.writing import make_folder, new_file

if TYPE_CHECKING:
    import xarray as xr

_ENGINE: Literal["h5netcdf"] = "h5netcdf"


@dataclass(frozen=True)
class Part:
    """One configuration: its name, also its netCDF group, and how to compute it."""

    name: str
    run: Callable[[], xr.Dataset]


@dataclass(frozen=True)
class ResultFiles:
    """The files of one experiment at one size and seed."""

    folder: Path
    stem: str

    @property
    def final(self) -> Path:
        """The finished netCDF file."""
        return self.folder / f"{self.stem}.nc"

    @property
    def pending(self) -> Path:
        """Where single configurations wait for the others."""
        return self.folder / f"{self.stem}.parts"

    def load(self, part: str) -> xr.Dataset | None:
        """The stored results of `part`; None if there are none, or none of this version."""
        import xarray as xr

        single = self.pending / f"{_slug(part)}.nc"
        for path, group in ((single, None), (self.final, _slug(part))):
            if not path.exists():
                continue
            try:
                with xr.open_dataset(path, group=group, engine=_ENGINE) as data:
                    loaded = data.load()
            except (OSError, KeyError, ValueError):  # cut short, or without this group
                continue
            if loaded.attrs.get("paretoid") == __version__:
                return loaded
        return None

    def save(self, part: str, data: xr.Dataset) -> None:
        """Keep a finished configuration; a crash while writing leaves no half file behind."""
        make_folder(self.pending)
        target = self.pending / f"{_slug(part)}.nc"
        with new_file(target, force=True) as draft:
            data.to_netcdf(draft, engine=_ENGINE)

    def finish(self, results: dict[str, xr.Dataset], about: dict[str, str | int]) -> Path:
        """All configurations in one file, a group each; the single files are removed."""
        import xarray as xr

        with new_file(self.final, force=True) as draft:
            xr.Dataset(attrs=about).to_netcdf(draft, engine=_ENGINE)
            for part, data in results.items():
                data.to_netcdf(draft, mode="a", group=_slug(part), engine=_ENGINE)
        for part in results:
            (self.pending / f"{_slug(part)}.nc").unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody keeps files of their own in it
            self.pending.rmdir()
        return self.final


def _slug(part: str) -> str:
    """A name for files and groups."""
    return "".join(c if c.isalnum() or c in "+-=." else "_" for c in part)
