"""Endpoints that cannot leave a stated range: which trials and posterior draws allow that.

And what a plan remembers of ranges and of the correlation it was simulated with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoid.bandits.kinds import Kind, as_kinds
from paretoid.estimation.summary import TrialSummary
from paretoid.theory.checks import BoolArray, FloatArray, IntArray

#: share of posterior draws that a range must allow: fewer, and the fit contradicts the range
LEAST_POSSIBLE = 0.5


def kinds_of(trial: TrialSummary, ranges: Mapping[str, Any] | None = None) -> tuple[Kind, ...]:
    """The kind of each endpoint: binary, within a stated range, or Gaussian (as a logarithm).

    `ranges` are of endpoints on their own scale, by name or a part of it that one name alone has;
    published means and spreads that no outcome in the range has are refused.

    >>> from paretoid.estimation import load_trial
    >>> kinds_of(load_trial("covboost-groupB"))
    ('gaussian', 'gaussian', 'gaussian')
    >>> kinds_of(load_trial("covboost-groupB"), {"IgG": (0, 1e6)})    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the range of 'IgG' is for an endpoint on its own scale, and it is log-normal: ...
    """
    table: dict[str, Any] = {
        name: "binary" if scale == "binary" else "gaussian"
        for name, scale in zip(trial.endpoints, trial.scales, strict=True)
    }
    for asked, ends in (ranges or {}).items():
        (name,) = trial.match([asked], "range")
        scale = trial.scales[trial.endpoints.index(name)]
        if scale != "normal":
            raise ValueError(
                f"the range of {name!r} is for an endpoint on its own scale, and it is {scale}: "
                + ("outcomes are 0 or 1 anyway." if scale == "binary" else "logarithms have none.")
            )
        if isinstance(ends, str):
            raise ValueError(f"the range of {name!r} is {ends!r}; give two numbers, low and high.")
        table[name] = ends
    kinds = as_kinds(table, trial.endpoints)
    for i, d in np.argwhere(~_allowed(trial.mean, trial.sd, kinds)):
        low, high = kinds[d]
        raise ValueError(
            f"{trial.endpoints[d]} of {trial.arms[i]} has mean {trial.mean[i, d]:g} and standard "
            f"deviation {trial.sd[i, d]:g}, which no outcome between {low} and {high} has. Check "
            f"the range, or leave it out."
        )
    return kinds


def _allowed(means: FloatArray, sd: FloatArray, kinds: tuple[Kind, ...]) -> BoolArray:
    """Where mean and sd, (..., D), are those of some outcome of its kind; NaN is no objection."""
    allowed = np.ones(means.shape, dtype=bool)
    for d, kind in enumerate(kinds):
        if not isinstance(kind, str):
            low, high = kind
            m, s = means[..., d], sd[..., d]
            room = (m - low) * (high - m)
            allowed[..., d] = ~((m <= low) | (m >= high) | (s * s >= room))
    return allowed


def possible_draws(means: FloatArray, sd: FloatArray, kinds: tuple[Kind, ...]) -> IntArray:
    """Positions of the posterior draws, (S, K, D) tables, that the stated ranges allow.

    The likelihood of a mean is Gaussian and knows no range; leaving out draws that cannot be is
    conditioning on it. Where it leaves out most of them, fit and range contradict each other.

    >>> means = np.array([[[9.0], [2.0]], [[11.0], [2.0]], [[8.0], [3.0]]])
    >>> possible_draws(means, np.ones((3, 2, 1)), ((0.0, 10.0),))
    array([0, 2])
    """
    rows = np.flatnonzero(_allowed(means, sd, kinds).all(axis=(1, 2)))
    if len(rows) < LEAST_POSSIBLE * len(means):
        raise ValueError(
            f"{len(rows):,} of {len(means):,} posterior draws have means and spreads that the "
            f"stated ranges allow: the data contradict them. Check the ranges, or leave them out."
        )
    return rows


def ranges_of(attributes: Mapping[Any, Any]) -> dict[str, Any] | None:
    """The ranges that a plan was made with, from its attributes.

    >>> ranges_of({"ranges": '{"pain": [0, 10]}'}), ranges_of({})
    ({'pain': [0, 10]}, None)
    """
    return json.loads(attributes["ranges"]) if "ranges" in attributes else None


def correlation_of(attributes: Mapping[Any, Any]) -> float | list[list[float]] | None:
    """The correlation that a plan was simulated with: a number, a matrix, or None.

    >>> correlation_of({"correlation": [0.6]})
    0.6
    >>> correlation_of({"correlation": [1.0, 0.2, 0.2, 1.0]})
    [[1.0, 0.2], [0.2, 1.0]]
    """
    if "correlation" not in attributes:
        return None
    given = np.ravel(attributes["correlation"])
    if given.size == 1:
        return float(given[0])
    rows: list[list[float]] = given.reshape(math.isqrt(given.size), -1).tolist()
    return rows
