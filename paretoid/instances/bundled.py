"""Instances by name: published ones that ship with the package, and the user's own files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.instances.files import SUFFIXES, read_instance
from paretoid.tables import read_bundled
from paretoid.text import meant

#: pooled variances of the three log outcomes, unrounded [kone2023, appendix, pooled variances]
_POOLED_VARIANCES = (0.70437039, 0.82845749, 1.53743137)

_COVBOOST = ("IgG", "NT50", "T cell")

INSTANCES = {
    "covboost": "COV-BOOST day 28: 20 booster strategies x 3 log immune responses, pooled "
    "variances of the paper; the cell ChAd/ChAd + BNT half, IgG corrected to 9.68",
    "covboost-printed": "the same as printed in the paper, rounded, with 8.71 in that cell",
}

#: where all of them come from
SOURCE = (
    "Kone, Kaufmann, Richert, Adaptive algorithms for relaxed Pareto set identification, NeurIPS "
    "2023, appendix; data of the COV-BOOST trial, Munro et al., Lancet 2021; 398: 2258-76"
)


def load_instance(
    name: str | Path,
    *,
    kind: str | None = None,
    scale: Any = None,
    minimize: Iterable[str] = (),
    maximize: Iterable[str] = (),
) -> Bandit:
    """A bundled bandit by name, see `INSTANCES`, or one from a file, see `read_instance`.

    >>> load_instance("covboost")
    GaussianBandit(K=20, D=3)
    >>> load_instance("covbost")
    Traceback (most recent call last):
    ...
    ValueError: no instance 'covbost'; did you mean 'covboost'? There are: covboost, \
covboost-printed. Or give a file that ends in .csv or .toml.
    """
    if name not in INSTANCES:
        path = Path(name)
        if path.suffix.lower() in SUFFIXES or path.exists() or path.name != str(name):
            return read_instance(path, kind=kind, scale=scale, minimize=minimize, maximize=maximize)
        raise ValueError(
            f"no instance {str(name)!r}{meant(str(name), INSTANCES)} There are: "
            f"{', '.join(INSTANCES)}. Or give a file that ends in .csv or .toml."
        )
    if kind is not None or scale is not None or list(minimize) or list(maximize):
        raise ValueError(
            f"{name} is bundled and says kind, scale and directions itself; they are for CSV files."
        )
    return _bundled(str(name))


def _bundled(name: str) -> Bandit:
    printed = name == "covboost-printed"
    file = "covboost_printed.csv" if printed else "covboost_day28.csv"
    table = read_bundled(file)
    means: dict[str, list[float]] = {}
    for _, row in table.rows:
        arm = f"{row['prime']} + {row['booster']}" + (" half" if row["dose"] == "half" else "")
        value, _ = table.number(row["log_mean" if printed else "geometric_mean"])
        means.setdefault(arm, []).append(value if printed else math.log(value))
    scale = [math.sqrt(variance) for variance in _POOLED_VARIANCES]
    arms = sorted(means, key=lambda arm: not arm.startswith("BNT"))  # the paper's order
    return GaussianBandit([means[arm] for arm in arms], scale, arms=arms, objectives=_COVBOOST)
