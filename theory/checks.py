"""Checks of arguments, and the arrays they give: one sentence with value, rule, reason, way out.

Public: whoever writes a radius, a rule or a goal refuses bad input as paretoid does. Each check
returns the argument as the type that the mathematics needs, or raises `ValueError`.

>>> check_delta(1.5)
Traceback (most recent call last):
...
ValueError: delta=1.5 must lie strictly between 0 and 1: it is the allowed probability of a wrong \
answer. For 95% confidence pass delta=0.05.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray", "FloatArray", "IntArray", "as_epsilon", "as_means", "check_choice", "check_count",
    "check_delta", "check_k", "check_positive",
]  # fmt: skip

#: what arrays hold, for annotations; shapes stand in docstrings
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def as_means(means: Any, *, name: str = "means", least_arms: int = 2) -> FloatArray:
    """`means` as a finite float (K, D) array of its own, K >= `least_arms`, D >= 1.

    Larger is better, so objectives that are minimised come negated. `name` is what the error
    calls the argument. The result is a copy: changing it leaves the caller's table alone.

    >>> as_means([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    >>> as_means([1.0, 2.0])
    Traceback (most recent call last):
    ...
    ValueError: means has shape (2,); it must be (K, D), one row per arm and one column per \
objective. For a single objective pass means of shape (K, 1).
    """
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
    """`eps` as a (D,) array, finite and not negative: a slack in each objective's own units.

    A scalar is the same slack on every objective; `name` is what the error calls the argument.

    >>> as_epsilon(0.5, D=2), as_epsilon([0.0, 0.1], D=2)
    (array([0.5, 0.5]), array([0. , 0.1]))
    >>> as_epsilon(-1, D=2, name="eps2")
    Traceback (most recent call last):
    ...
    ValueError: eps2=-1 must be finite and not negative: it is a slack added to the means. For the \
exact problem pass eps2=0.
    """
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
    """`delta`, the allowed probability of a wrong answer, as a float strictly between 0 and 1.

    >>> check_delta(0.05)
    0.05
    """
    if not isinstance(delta, (int, float, np.floating, np.integer)) or not 0 < float(delta) < 1:
        raise ValueError(
            f"delta={delta!r} must lie strictly between 0 and 1: it is the allowed probability "
            f"of a wrong answer. For 95% confidence pass delta=0.05."
        )
    return float(delta)


def check_count(value: Any, *, name: str, least: int = 1, most: int | None = None, why: str) -> int:
    """`value` as an int in least..most; `most=None` is no upper end.

    Booleans and floats are refused, also whole ones: they are seldom meant. `name` begins the
    sentence of the error and `why` ends it, with the reason for the rule and a full stop.

    >>> check_count(3, name="k", most=5, why="there are five arms.")
    3
    >>> check_count(2.0, name="draws", why="quantiles need draws.")
    Traceback (most recent call last):
    ...
    ValueError: draws=2.0 must be an integer of at least 1: quantiles need draws.
    """
    allowed = (
        f"an integer of at least {least}" if most is None else f"an integer in {least}..{most}"
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r} must be {allowed}: {why}")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name}={value!r} must be {allowed}: {why}")
    return int(value)


def check_k(k: Any, K: int) -> int:
    """`k`, the number of arms asked for, as an int in 1..K.

    >>> check_k(2, K=20)
    2
    """
    return check_count(
        k, name="k", most=K, why=f"it is how many of the {K} arms are asked for. "
        f"For the whole Pareto set leave k out or pass k={K}.",
    )  # fmt: skip


def check_positive(value: Any, *, name: str, why: str) -> float:
    """`value` as a finite float above 0; `name` begins the sentence of the error, `why` ends it.

    >>> check_positive(3, name="rho", why="it is a number of samples.")
    3.0
    >>> check_positive(0, name="rho", why="it is a number of samples.")
    Traceback (most recent call last):
    ...
    ValueError: rho=0 must be a finite number above 0: it is a number of samples.
    """
    good = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name}={value!r} must be a finite number above 0: {why}")
    return float(value)


def check_choice(value: Any, allowed: tuple[str, ...], *, name: str, why: str) -> str:
    """`value`, which must be one of `allowed`; `why` ends the sentence of the error.

    >>> check_choice("pairs", ("claims", "pairs"), name="union", why="it is the union taken.")
    'pairs'
    >>> check_choice("all", ("claims", "pairs"), name="union", why="it is the union taken.")
    Traceback (most recent call last):
    ...
    ValueError: union='all' must be one of 'claims', 'pairs': it is the union taken.
    """
    if value not in allowed:
        choices = ", ".join(repr(a) for a in allowed)
        raise ValueError(f"{name}={value!r} must be one of {choices}: {why}")
    return str(value)
