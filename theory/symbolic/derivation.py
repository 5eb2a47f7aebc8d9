"""A derivation: a sentence about formulas, how it is proved, and the steps that prove it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

#: how a derivation may be proved, strongest first, and what that is worth
HOW = {
    "symbolic": "algebra and calculus by SymPy: the steps of a proof",
    "interval": "interval arithmetic on cells that cover a range: the steps of a proof, rounding "
    "included",
    "numerical": "evaluated on a dense grid: evidence, no proof",
}


@dataclass(frozen=True)
class Verdict:
    """What came out of a derivation: `holds` is True if every one of its `steps` does.

    >>> Verdict("one", "1 = 1", "symbolic", "arithmetic", 1, True).holds
    True
    """

    name: str
    statement: str
    how: str
    source: str
    steps: int
    holds: bool


@dataclass(frozen=True)
class Derivation:
    """A statement and the function that yields its steps, each True or False.

    >>> Derivation("one", "1 = 1", "symbolic", "arithmetic", lambda: [True, 1 == 1]).check().steps
    2
    """

    name: str
    statement: str
    how: str
    source: str
    steps: Callable[[], Iterable[Any]]

    def check(self) -> Verdict:
        """Carry it out; a derivation without a step proves nothing, and does not hold."""
        steps = [bool(step) for step in self.steps()]
        holds = bool(steps) and all(steps)
        return Verdict(self.name, self.statement, self.how, self.source, len(steps), holds)


def collector(
    listed: dict[str, Derivation],
) -> Callable[[str, str], Callable[[Callable[[], Iterator[Any]]], Callable[[], Iterator[Any]]]]:
    """A decorator (how, source) that lists a function of steps under its name.

    The statement is the function's docstring.

    >>> listed = {}
    >>> @collector(listed)("symbolic", "arithmetic")
    ... def one():
    ...     '''1 = 1.'''
    ...     yield 1 == 1
    >>> listed["one"].statement, listed["one"].check().holds
    ('1 = 1.', True)
    """

    def derivation(how: str, source: str) -> Any:
        if how not in HOW:
            raise ValueError(
                f"how={how!r} must be one of {', '.join(HOW)}: it says what is proved."
            )

        def enlist(steps: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[Any]]:
            words = " ".join((steps.__doc__ or "").split())
            listed[steps.__name__] = Derivation(steps.__name__, words, how, source, steps)
            return steps

        return enlist

    return derivation


def zero(expression: Any) -> bool:
    """True if SymPy simplifies the expression to 0; False also where it cannot tell.

    >>> x = sp.symbols("x", positive=True)
    >>> zero(sp.log(x**2) - 2 * sp.log(x)), zero(x)
    (True, False)
    """
    return bool(sp.simplify(sp.expand_log(sp.simplify(expression), force=True)) == 0)


def cells(low: float, high: float, count: int) -> Iterator[Any]:
    """`count` intervals of mpmath that cover [low, high], geometrically.

    >>> len(list(cells(1.0, 2.0, 3)))
    3
    """
    from mpmath import iv

    edges = np.geomspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    return (iv.mpf([float(a), float(b)]) for a, b in itertools.pairwise(edges))
