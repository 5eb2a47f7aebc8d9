"""Argument checks shared by the three packages: what came, what is allowed, why, the way out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def as_means(means: Any, *, name: str = "means", least_arms: int = 2) -> FloatArray:
    """`means` as a finite float (K, D) array, K >= `least_arms`, D >= 1; larger is better."""
    try:
        array = np.array(means, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a table of numbers with one row per arm: {error}. "
            f"Pass a (K, D) array such as [[0.1, 0.4], [0.3, 0.2]]."
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be (K, D), one row per arm and one column "
            f"per objective. For a single objective pass {name} of shape (K, 1)."
        )
    K, D = array.shape
    if K < least_arms:
        raise ValueError(
            f"{name} has K={K} arm(s); at least {least_arms} are needed, because an arm is "
            f"optimal only relative to another. Pass one row per arm."
        )
    if D < 1:
        raise ValueError(f"{name} has D=0 objectives; at least one column is needed.")
    if not np.isfinite(array).all():
        i, d = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name}[{i}, {d}]={array[i, d]} is not finite; every mean must be a number. "
            f"Drop the arm or fill in the missing value first."
        )
    return array


def as_epsilon(eps: Any, D: int, *, name: str = "eps1") -> FloatArray:
    """`eps` as a (D,) array: a scalar is the same slack on every objective."""
    try:
        array = np.array(eps, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={eps!r} must be a number or {D} numbers: {error}.") from error
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (D,)):
        raise ValueError(
            f"{name} has shape {array.shape}; it must be a scalar or one number per objective, "
            f"({D},), in each objective's own units."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(
            f"{name}={eps!r} must be finite and not negative: it is a slack added to the means. "
            f"For the exact problem pass {name}=0."
        )
    return np.broadcast_to(array, (D,)).copy()


def check_delta(delta: Any) -> float:
    """`delta` as a float strictly between 0 and 1."""
    if not isinstance(delta, (int, float, np.floating, np.integer)) or not 0 < float(delta) < 1:
        raise ValueError(
            f"delta={delta!r} must lie strictly between 0 and 1: it is the allowed probability "
            f"of a wrong answer. For 95% confidence pass delta=0.05."
        )
    return float(delta)


def check_count(value: Any, *, name: str, least: int = 1, most: int | None = None, why: str) -> int:
    """`value` as an int in least..most; `why` ends the sentence of the error."""
    allowed = (
        f"an integer of at least {least}" if most is None else f"an integer in {least}..{most}"
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r} must be {allowed}: {why}")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name}={value!r} must be {allowed}: {why}")
    return int(value)


def check_k(k: Any, K: int) -> int:
    """`k` as an int in 1..K."""
    return check_count(
        k, name="k", most=K, why=f"it is how many of the {K} arms are asked for. "
        f"For the whole Pareto set leave k out or pass k={K}.",
    )  # fmt: skip


def check_positive(value: Any, *, name: str, why: str) -> float:
    """`value` as a finite float > 0; `why` ends the sentence of the error."""
    good = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name}={value!r} must be a finite number above 0: {why}")
    return float(value)


def check_choice(value: Any, allowed: tuple[str, ...], *, name: str, why: str) -> str:
    """`value`, one of `allowed`; `why` ends the sentence of the error."""
    if value not in allowed:
        choices = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{name}={value!r} must be one of {choices}: {why}")
    return str(value)
