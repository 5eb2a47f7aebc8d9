"""Checks of arguments, and the arrays they give: one sentence with value, rule, reason, way out.

Public: whoever writes a radius, a rule or a goal refuses bad input as paretoid does. Each check
returns the argument as the type that the mathematics needs, or raises `ValueError`; for what has
the wrong type a `WrongTypeError`, which is a `TypeError` too.

>>> check_delta(1.5)
Traceback (most recent call last):
...
ValueError: delta=1.5 must lie strictly between 0 and 1: it is the allowed probability of a wrong \
answer. For 95% confidence pass delta=0.05.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray", "FloatArray", "IntArray", "SignArray", "WrongTypeError", "as_epsilon", "as_means",
    "as_numbers", "check_between", "check_choice", "check_count", "check_delta", "check_k",
    "check_name", "check_positive", "refusal", "shown",
]  # fmt: skip

#: what arrays hold, for annotations; shapes stand in docstrings
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
SignArray = NDArray[np.int8]

#: the largest integer that counters, kernels and files hold
LARGEST = 2**63 - 1
#: smaller probabilities of an error are refused: their logarithms would leave the floats
LEAST_DELTA = 1e-100
#: more are refused: gaps and verdicts compare every arm with every other, 800 MB for so many
MOST_ARMS = 10_000
#: more are refused: engines draw noise for a few hundred samples of all objectives ahead
MOST_OBJECTIVES = 1_000
#: numbers in an array; views can have more than any memory
_MOST_NUMBERS = 10**8


class WrongTypeError(TypeError, ValueError):
    """An argument of the wrong type: a text for a number, a list for a bandit.

    It is a `TypeError`, as everywhere in Python, and also a `ValueError`: whoever refuses bad input
    by `except ValueError` goes on to do so, and the command line tells a wrong argument, which it
    explains in a sentence, from a `TypeError` that would be a mistake of our own.

    >>> issubclass(WrongTypeError, TypeError), issubclass(WrongTypeError, ValueError)
    (True, True)
    """


def refusal(right_type: bool) -> type[ValueError]:
    """`ValueError`, for a wrong value of the right type; else `WrongTypeError`.

    >>> refusal(isinstance(7, int)).__name__, refusal(isinstance("7", int)).__name__
    ('ValueError', 'WrongTypeError')
    """
    return ValueError if right_type else WrongTypeError


def shown(value: Any) -> str:
    """`value` as an error shows it: its repr, with the middle left out where that is long.

    >>> shown(0.5), shown("x" * 500)[:10], len(shown(10**400)), shown(10**9000)
    ('0.5', "'xxxxxxxxx", 163, '<int: ValueError>')
    """
    try:
        text = repr(value)
    except Exception as error:  # an integer of more than 4300 digits; a repr that fails
        return f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) <= 300 else f"{text[:80]}...{text[-80:]}"


def is_real(value: Any) -> bool:
    """True for one real number of Python or NumPy, also NaN and infinity; no boolean, no text.

    >>> is_real(3), is_real(np.nan), is_real(True), is_real("3"), is_real(1j)
    (True, True, False, False, False)
    """
    if isinstance(value, (bool, np.bool_, np.timedelta64)):  # a span of time is a NumPy integer
        return False
    return isinstance(value, (int, float, np.floating, np.integer))


def is_listed(value: Any) -> bool:
    """True for what has members to go through: a list, an array with a dimension; no text.

    >>> is_listed([]), is_listed(range(3)), is_listed("ab"), is_listed(np.array(0.5)), is_listed(3)
    (True, True, False, False, False)
    """
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes))
        and getattr(value, "ndim", 1) != 0  # an array without a dimension has one value
    )


def is_number(value: Any) -> bool:
    """True for one finite real number that a float can hold; no boolean, no text.

    >>> is_number(3), is_number(True), is_number("3"), is_number(10**400), is_number(np.nan)
    (True, False, False, False, False)
    """
    if not is_real(value):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def as_numbers(values: Any, *, name: str, rule: str) -> FloatArray:
    """`values`, a number or nested lists of numbers, as a float array of its own; NaN is let in.

    Booleans and texts are refused, also those that look like numbers: they are seldom meant.
    `name` begins the sentence of the error and `rule` ends it, with a full stop.

    >>> as_numbers([[1, 2.5]], name="means", rule="a table of numbers.")
    array([[1. , 2.5]])
    >>> as_numbers(["1", "2"], name="means", rule="a table of numbers.")
    Traceback (most recent call last):
    ...
    paretoid.theory.checks.WrongTypeError: means=['1', '2'] must be a table of numbers.
    """
    if isinstance(values, np.ndarray) and values.size > _MOST_NUMBERS:
        raise ValueError(
            f"{name} has shape {values.shape}, {values.size:,} numbers: more than {_MOST_NUMBERS:,}"
            f" are not copied, because a view can have more of them than any memory. Pass fewer."
        )
    cause: Exception | None = None
    strange = False
    try:
        array = np.array(values)
        if isinstance(values, (list, tuple)) and array.dtype.kind in "iuf":
            strange = any(isinstance(value, (bool, np.bool_)) for value in _leaves(values))
        elif array.dtype.kind == "O":  # integers beyond 64 bits, Decimals, fractions, anything
            strange = not all(isinstance(v, Real) and not isinstance(v, bool) for v in array.flat)
        else:
            strange = array.dtype.kind not in "iuf"
        if not strange:
            with np.errstate(over="ignore"):
                return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        cause = error
    raise refusal(not strange)(f"{name}={shown(values)} must be {rule}") from cause


def _leaves(values: Any) -> Iterator[Any]:
    """The entries of nested lists and tuples."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def check_between(
    value: Any, low: float, high: float, *, name: str, why: str, closed: bool = False
) -> float:
    """`value` as a float strictly between `low` and `high`, or with `closed` from one to the other.

    >>> check_between(0.5, 0, 1, name="w", why="it is a share.")
    0.5
    >>> check_between("0.5", 0, 1, name="w", why="it is a share.")
    Traceback (most recent call last):
    ...
    paretoid.theory.checks.WrongTypeError: w='0.5' must lie strictly between 0 and 1: it is a share.
    """
    if is_number(value) and (low <= value <= high if closed else low < value < high):
        return float(value)
    rule = f"lie in [{low:g}, {high:g}]" if closed else f"lie strictly between {low:g} and {high:g}"
    raise refusal(is_real(value))(f"{name}={shown(value)} must {rule}: {why}")


def check_name(value: Any, *, what: str) -> str:
    """`value` as a name of an arm, an objective or an instance, which files and pages can hold.

    >>> check_name("dose 1", what="arm")
    'dose 1'
    >>> check_name("dose\\x00", what="arm")
    Traceback (most recent call last):
    ...
    ValueError: the arm 'dose\\x00' has a control character, '\\x00', which files and terminals \
cannot hold as text. Leave it out of the name.
    """
    name = str(value)
    for character in name:
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise ValueError(
                f"the {what} {shown(name)} has a control character, {character!r}, which files and "
                f"terminals cannot hold as text. Leave it out of the name."
            )
    return name


def as_means(
    means: Any, *, name: str = "means", least_arms: int = 2, most_arms: int | None = MOST_ARMS
) -> FloatArray:
    """`means` as a finite float (K, D) array of its own, `least_arms` <= K <= `most_arms`, D >= 1.

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
    array = as_numbers(
        means, name=name, rule="a table of numbers with one row per arm. Pass a (K, D) array such "
        "as [[0.1, 0.4], [0.3, 0.2]].",
    )  # fmt: skip
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
    if (most_arms is not None and K > most_arms) or D > MOST_OBJECTIVES:
        raise ValueError(
            f"{name} has K={K:,} arms and D={D:,} objectives; at most {MOST_ARMS:,} and "
            f"{MOST_OBJECTIVES:,} are taken, because every arm is compared with every other. Leave "
            f"out arms that cannot matter."
        )
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
    array = as_numbers(eps, name=name, rule=f"a number or {D} numbers.")
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (D,)):
        raise ValueError(
            f"{name} has shape {array.shape}; it must be a scalar or one number per objective, "
            f"({D},), in each objective's own units."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(
            f"{name}={shown(eps)} must be finite and not negative: it is a slack added to the "
            f"means. For the exact problem pass {name}=0."
        )
    return np.broadcast_to(array, (D,)).copy()


def check_delta(delta: Any) -> float:
    """`delta`, the allowed probability of a wrong answer, as a float strictly between 0 and 1.

    >>> check_delta(0.05)
    0.05
    """
    level = check_between(
        delta, 0, 1, name="delta", why="it is the allowed probability of a wrong answer. For 95% "
        "confidence pass delta=0.05.",
    )  # fmt: skip
    if level < LEAST_DELTA:
        raise ValueError(
            f"delta={level!r} must be at least {LEAST_DELTA:g}: nobody can tell smaller "
            f"probabilities of a wrong answer from none, and their logarithms leave the floats."
        )
    return level


def check_count(value: Any, *, name: str, least: int = 1, most: int | None = None, why: str) -> int:
    """`value` as an int in least..most; `most=None` is the largest that 64 bits hold.

    Booleans and floats are refused, also whole ones: they are seldom meant. `name` begins the
    sentence of the error and `why` ends it, with the reason for the rule and a full stop.

    >>> check_count(3, name="k", most=5, why="there are five arms.")
    3
    >>> check_count(2.0, name="draws", why="quantiles need draws.")
    Traceback (most recent call last):
    ...
    paretoid.theory.checks.WrongTypeError: draws=2.0 must be an integer of at least 1: \
quantiles need draws.
    """
    allowed = (
        f"an integer of at least {least}" if most is None else f"an integer in {least}..{most}"
    )
    if not is_real(value) or not isinstance(value, (int, np.integer)):
        raise WrongTypeError(f"{name}={shown(value)} must be {allowed}: {why}")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name}={shown(value)} must be {allowed}: {why}")
    if most is None and value > LARGEST:
        raise ValueError(f"{name}={shown(value)} must be {allowed} and below 2^63: {why}")
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


def check_positive(value: Any, *, name: str, why: str, most: float | None = None) -> float:
    """`value` as a finite float above 0, at most `most`; `why` ends the sentence of the error.

    >>> check_positive(3, name="rho", why="it is a number of samples.")
    3.0
    >>> check_positive(0, name="rho", why="it is a number of samples.")
    Traceback (most recent call last):
    ...
    ValueError: rho=0 must be a finite number above 0: it is a number of samples.
    """
    if is_number(value) and float(value) > 0 and (most is None or value <= most):
        return float(value)
    limit = "" if most is None else f" and at most {most:g}"
    rule = f"must be a finite number above 0{limit}"
    raise refusal(is_real(value))(f"{name}={shown(value)} {rule}: {why}")


def check_choice(value: Any, allowed: tuple[str, ...], *, name: str, why: str) -> str:
    """`value`, which must be one of `allowed`; `why` ends the sentence of the error.

    >>> check_choice("pairs", ("claims", "pairs"), name="union", why="it is the union taken.")
    'pairs'
    >>> check_choice("all", ("claims", "pairs"), name="union", why="it is the union taken.")
    Traceback (most recent call last):
    ...
    ValueError: union='all' must be one of 'claims', 'pairs': it is the union taken.
    """
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(repr(a) for a in allowed)
        raise refusal(isinstance(value, str))(
            f"{name}={shown(value)} must be one of {choices}: {why}"
        )
    return str(value)
