"""One door to ArviZ: InferenceData (ArviZ 0.x, PyMC 5) and DataTree (ArviZ 1, PyMC 6) alike."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.theory.checks import FloatArray, WrongTypeError
from paretoid.writing import new_file

if TYPE_CHECKING:
    import xarray as xr

#: what makes the files that `load_fit` reads
_WRITER = "save_fit(fit, path) (paretoid fit ... --out FILE.nc)"


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what third parties say about their own future while they are imported or run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ 0.23 announces ArviZ 1 on import
        warnings.simplefilter("ignore", DeprecationWarning)  # fork() under threads, Python 3.12
        warnings.filterwarnings("ignore", message="Numba will use object mode")
        yield


@contextmanager
def quiet_sampler() -> Iterator[None]:
    """`quiet`, and PyMC's log too: what matters of it comes back as diagnostics."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with quiet():
            yield
    finally:
        logger.setLevel(level)


def import_arviz() -> Any:
    """The ArviZ module, 0 or 1, whichever is installed."""
    with quiet():
        import arviz
    return arviz


def import_pymc() -> Any:
    """The PyMC module, 5 or 6, whichever is installed."""
    with quiet():
        import pymc
    return pymc


def group(fit: Any, name: str) -> xr.Dataset:
    """One group of a fit as a Dataset."""
    if not hasattr(fit, "children") and not hasattr(fit, "groups"):
        raise WrongTypeError(
            f"a {type(fit).__name__} is no fit; pass what paretoid.estimation.fit or load_fit "
            f"returned."
        )
    try:
        member: Any = fit[name]
    except KeyError:
        raise ValueError(f"the fit has no group {name!r}; was it made by fit()?") from None
    result: xr.Dataset = member.to_dataset() if hasattr(member, "to_dataset") else member
    return result


def annotate(fit: Any, attributes: dict[str, Any]) -> None:
    """Write attributes on the posterior; they survive netCDF."""
    fit["posterior"].attrs.update(attributes)


def add_groups(fit: Any, **groups: xr.Dataset) -> None:
    """Add groups to a fit, in place of those of the same name."""
    if hasattr(fit, "add_groups"):  # InferenceData
        for name in groups:
            if name in fit:
                del fit[name]
        with quiet():
            fit.add_groups(groups)
        return
    import xarray as xr

    for name, data in groups.items():
        fit[name] = xr.DataTree(data)


def thin(fit: Any, every: int) -> None:
    """Keep every so-many-th draw; one that stands for a divergent transition counts as one."""
    posterior, stats = group(fit, "posterior"), group(fit, "sample_stats")
    kept = {"draw": slice(every - 1, None, every)}
    diverging = stats["diverging"].coarsen(draw=every).max().values
    stats = stats.isel(kept).assign(diverging=(("chain", "draw"), diverging))
    numbers = {"draw": range(diverging.shape[1])}
    thinned = {"posterior": posterior.isel(kept), "sample_stats": stats}
    add_groups(fit, **{name: data.assign_coords(numbers) for name, data in thinned.items()})


def save_fit(fit: Any, path: str | Path, *, force: bool = False) -> None:
    """Write a fit as netCDF; a file of that name is replaced only by `force`.

    >>> import tempfile
    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_fit(posterior, Path(folder) / "fit.nc")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['fit.nc']
    """
    group(fit, "posterior")
    with quiet(), new_file(path, force=force) as draft:
        fit.to_netcdf(str(draft), engine="h5netcdf")


def load_fit(path: str | Path) -> Any:
    """Read a fit written by `save_fit`, under either version of ArviZ.

    >>> import tempfile
    >>> from paretoid.estimation import fit, load_trial, plug_in_bandit
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_fit(posterior, Path(folder) / "fit.nc")
    ...     again = load_fit(Path(folder) / "fit.nc")
    ...     bool((plug_in_bandit(again).means == plug_in_bandit(posterior).means).all())
    True
    """
    if not Path(path).is_file():
        raise ValueError(f"{path} is no file; {_WRITER} writes one.")
    with quiet():
        arviz = import_arviz()
        try:
            fit = arviz.from_netcdf(str(path), engine="h5netcdf")
        except Exception as error:  # of a damaged file HDF5, xarray and ArviZ raise many kinds
            why = str(error) or type(error).__name__
            raise ValueError(f"{path} is no netCDF file, or damaged: {why}. Fit again.") from None
    if "paretoid_trial" not in group(fit, "posterior").attrs:
        raise ValueError(f"{path} holds no fit of a trial summary; {_WRITER} writes one.")
    return fit


def convergence(posterior: xr.Dataset) -> tuple[xr.Dataset, xr.Dataset]:
    """(r_hat, bulk effective sample size) of every variable."""
    arviz = import_arviz()
    # A constant, such as an assumed sigma, has no r_hat: 0/0.
    with quiet(), np.errstate(invalid="ignore", divide="ignore"):
        return arviz.rhat(posterior), arviz.ess(posterior)


def pareto_smoothed(log_weights: FloatArray) -> tuple[FloatArray, float]:
    """(normalised weights, k-hat) of Pareto-smoothed importance sampling, by ArviZ."""
    arviz = import_arviz()
    with quiet():
        if hasattr(arviz, "psislw"):
            smoothed, k = arviz.psislw(log_weights)
        else:
            stats = importlib.import_module("arviz_stats.base").array_stats
            smoothed, k = stats.psislw(log_weights)
    weights = np.exp(smoothed - np.max(smoothed))
    return weights / weights.sum(), float(k)
