"""A number for everything, or one by name: of arms, of endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paretoid.text import meant
from paretoid.theory.checks import FloatArray, WrongTypeError, is_number, shown

#: a number for everything, or pairs of a name and its number
ByName = float | tuple[tuple[str, float], ...]


def finite(value: Any, name: str) -> float:
    """`value` as a finite float; `name` begins the sentence of the refusal.

    >>> finite(2, "rate")
    2.0
    """
    if not is_number(value):
        raise ValueError(f"{name}={shown(value)} must be a finite number.")
    return float(value)


def by_name(given: Any, name: str, read: Callable[[Any, str], float]) -> ByName:
    """A number, or a mapping from names, each of them as `read` checks it.

    >>> by_name({"B": 2, "A": 1}, "delay", finite)
    (('A', 1.0), ('B', 2.0))
    """
    if isinstance(given, tuple):
        try:
            given = dict(given)
        except (TypeError, ValueError):
            raise WrongTypeError(
                f"{name}={given!r:.60} must be a number, or numbers by name: {{'IgG': 28}}. In "
                f"which order they would stand is nowhere said."
            ) from None
    if isinstance(given, Mapping):
        return tuple((str(key), read(value, name)) for key, value in sorted(given.items()))
    return read(given, name)


def row(given: ByName, names: Sequence[str], name: str, what: str) -> FloatArray:
    """One number for each of `names`, 0 for those not named; other names are refused.

    >>> row((("B", 2.0),), ["A", "B"], "delay", "endpoint")
    array([0., 2.])
    """
    if not isinstance(given, tuple):
        return np.full(len(names), given)
    for key, _ in given:
        if key not in names:
            raise ValueError(
                f"{name} names {key!r}, which is no {what}{meant(key, names)} There are "
                f"{', '.join(names)}."
            )
    stated = dict(given)
    return np.array([stated.get(known, 0.0) for known in names])


def named(given: ByName, write: Callable[[float], str]) -> str:
    """The number or numbers in words.

    >>> named((("A", 1.0), ("B", 2.0)), "{:g} days".format)
    '1 days (A), 2 days (B)'
    """
    if isinstance(given, tuple):
        return ", ".join(f"{write(value)} ({key})" for key, value in given)
    return write(given)
