"""What kind of number each objective is: Gaussian, 0 or 1, or between two stated ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretoid.text import meant
from paretoid.theory.checks import BoolArray, FloatArray, shown

#: "gaussian", "binary", or (low, high), which no outcome leaves
Kind = str | tuple[float, float]

_RULE = (
    "it must be 'gaussian' (log-normal outcomes: their logarithm), 'binary' (0 or 1) or a range "
    "[low, high] that no outcome can leave"
)


def as_kinds(outcomes: Any, objectives: Sequence[str]) -> tuple[Kind, ...]:
    """The kind of each objective, from a list in their order or a table by their names.

    >>> as_kinds({"pain": [0, 10], "response": "gaussian"}, ["response", "pain"])
    ('gaussian', (0.0, 10.0))
    """
    names = ", ".join(map(repr, objectives))
    if isinstance(outcomes, Mapping):
        for name in outcomes:
            if name not in objectives:
                hint = meant(str(name), objectives)
                raise ValueError(
                    f"outcomes names {name!r}, which is no objective{hint} There are: {names}."
                )
        silent = [name for name in objectives if name not in outcomes]
        if silent:
            raise ValueError(
                f"outcomes does not say what kind {silent[0]!r} is: {_RULE}. What a radius proves "
                f"depends on it, so nothing is assumed."
            )
        outcomes = [outcomes[name] for name in objectives]
    if isinstance(outcomes, str) or not isinstance(outcomes, (list, tuple)):
        raise ValueError(f"outcomes={shown(outcomes)} must say of each of {names} what kind it is.")
    if len(outcomes) != len(objectives):
        raise ValueError(
            f"outcomes has {len(outcomes)} entries for {len(objectives)} objectives ({names}); "
            f"give one for each."
        )
    return tuple(_kind(given, name) for given, name in zip(outcomes, objectives, strict=True))


def _kind(given: Any, name: str) -> Kind:
    if isinstance(given, str):
        if given not in ("gaussian", "binary"):
            raise ValueError(f"the kind of {name!r} is {given!r}, and {_RULE}.")
        return given
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise ValueError(f"the kind of {name!r} is {given!r}, and {_RULE}.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(
            f"the range of {name!r} is {low:g} to {high:g}; it must have a finite low end below a "
            f"finite high one, which no outcome can leave."
        )
    return low, high


def is_gaussian(kinds: Sequence[Kind]) -> BoolArray:
    """(D,) the Gaussian ones.

    >>> is_gaussian(["gaussian", "binary"])
    array([ True, False])
    """
    return np.array([kind == "gaussian" for kind in kinds])


def ranges(kinds: Sequence[Kind]) -> FloatArray:
    """(2, D) the ends of each range: 0 and 1 if binary, infinite if Gaussian.

    >>> ranges(["binary", (2.0, 5.0), "gaussian"])
    array([[  0.,   2., -inf],
           [  1.,   5.,  inf]])
    """
    ends = {"binary": (0.0, 1.0), "gaussian": (-math.inf, math.inf)}
    return np.array([ends[kind] if isinstance(kind, str) else kind for kind in kinds]).T


def plain_kinds(kinds: Sequence[Kind], objectives: Sequence[str]) -> dict[str, Any]:
    """The kinds as a table for files; `as_kinds` reads it back.

    >>> plain_kinds(["binary", (2.0, 5.0)], ["tox", "pain"])
    {'tox': 'binary', 'pain': [2.0, 5.0]}
    """
    return {
        name: kind if isinstance(kind, str) else list(kind)
        for name, kind in zip(objectives, kinds, strict=True)
    }


def kind_in_words(kind: Kind) -> str:
    """What is assumed of outcomes of a kind.

    >>> kind_in_words((0.0, 10.0))
    'lies between 0 and 10'
    """
    if kind == "gaussian":
        return "is Gaussian with a variance that is learnt"
    return "is 0 or 1" if isinstance(kind, str) else f"lies between {kind[0]:g} and {kind[1]:g}"
