"""Values that try to break whatever takes them, and the contract that they are held to.

A call with such a value returns, or raises a `ValueError` (a `WrongTypeError` for a wrong type) on
purpose: from a `raise` of paretoid's own, in a sentence. Anything else is a fault: an exception of
NumPy or Python that happened to be a ValueError says nothing about the argument, and says it after
whatever the call had done by then. Imports hypothesis, as `paretoid.validation.strategies` does.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import paretoid
from paretoid import theory, validation

_NAMES = (
    "", " ", "nul\0", "\x1b[2J", "line\nforged", "\u202eabc", "e\u0301", "\ud800", "=cmd()",
    "<script>", "../up", "/dev/null", "a,b", "a;b", "a=b", "%s", "{0}", "A" * 300, "nan", "0",
)  # fmt: skip
_NUMBERS = (
    10**400, -(10**400), 10**4000, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), 5e-324,
    -5e-324, 1e-310, 1e308, 1e-300, 1e150, 1e100, 0.1, 0.5, 1e-12, Fraction(1, 3), Decimal("NaN"),
    np.float32(0.5), np.float16(6e4), np.int8(3), np.uint64(2**64 - 1), np.longdouble("1e4000"),
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (
    True, False, None, 1j, np.bool_(True), np.datetime64("2020-01-01"), np.timedelta64(3, "D"),
    "0.5", "1", b"0.5", object(), print, int, ..., {}, set(), range(3), memoryview(b"ab"),
)  # fmt: skip
_ARRAYS = (
    np.zeros((0, 2)), np.zeros((2, 0)), np.zeros((2, 2, 2)), np.full((2, 2), np.nan),
    np.broadcast_to(0.5, (10**9, 2)), np.broadcast_to(0.5, (2, 10**9)), np.array(0.5),
    np.broadcast_to(0.5, 10**9), np.broadcast_to(0.5, (10**5, 2)), np.array([["0.5", "1"]] * 2),
    np.ma.array([[1.0, 2.0]] * 2, mask=True),
    np.array([[True, False]] * 2), np.array([[0.5, 0.25], [0.25, 0.5]], dtype=">f4"),
)  # fmt: skip

#: names with what a file, a terminal or a page may trip over
names: st.SearchStrategy[str] = st.sampled_from(_NAMES) | st.text(max_size=4)

#: one thing where a number may be asked for
scalars: st.SearchStrategy[Any] = st.one_of(
    st.floats(), st.integers(-3, 30), st.sampled_from(_NUMBERS), st.sampled_from(_OTHERS), names
)


def _arrays(rows: Any) -> Any:
    """Nested lists as an array of objects, which NumPy takes for numbers until it does not."""
    try:
        return np.array(rows, dtype=object)
    except ValueError:  # ragged
        return rows


_nested = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=9)

#: a scalar, or lists, arrays and tables of them
values: st.SearchStrategy[Any] = st.one_of(
    scalars,
    _nested,
    _nested.map(_arrays),
    st.lists(st.lists(st.floats(), min_size=2, max_size=2), min_size=2, max_size=3),
    st.dictionaries(names, scalars, max_size=2),
    st.sampled_from(_ARRAYS),
)

_OURS = tuple(
    str(Path(package.__path__[0]).resolve()) for package in (paretoid, theory, validation)
)
_RAW = re.compile(r"\b(Overflow|ZeroDivision|Index|Key|Attribute|Recursion|Assertion|Name)Error\b")


def fault_in(error: BaseException) -> str:
    """What is wrong with how `error` refuses something; empty if it does so as it should.

    >>> import paretoid as pt
    >>> try:
    ...     pt.AtMost(0)
    ... except ValueError as error:
    ...     fault_in(error)
    ''
    >>> try:
    ...     [] @ 3
    ... except TypeError as error:
    ...     fault_in(error)
    'TypeError is not a ValueError'
    """
    if not isinstance(error, ValueError):
        return f"{type(error).__name__} is not a ValueError"
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    if not str(Path(last.filename).resolve()).startswith(_OURS) or not line.startswith("raise"):
        return f"not raised on purpose, but at {last.filename}:{last.lineno}: {line}"
    return fault_in_words(str(error))


def fault_in_words(said: str) -> str:
    """What keeps `said` from being a sentence for the user; empty if nothing does.

    >>> fault_in_words("k=0 must be at least 1: nobody would be returned.")
    ''
    >>> fault_in_words("OverflowError")
    'it names an exception: OverflowError'
    """
    if _RAW.search(said):
        return f"it names an exception: {said[:300]}"
    if not 20 < len(said) < 3000 or " " not in said.strip():
        return f"no sentence of a few lines, but {len(said)} characters: {said[:200]!r}"
    return ""


#: members as they are printed and read, and what is said of their own arguments
_MEMBERS = re.compile(r"[A-Z]\w*\((?:[^()]|\([^()]*\))+\)|\b(?:rule|radius|goal) '[^'\n]*': .*")


def python_in(words: str, arguments: Iterable[str] = ()) -> str:
    """The first piece of Python in what a command prints, with what stands around it; or nothing.

    arguments   names that are options of the command line, so that `name=` must be `--name=`

    >>> python_in("pass unplanned=True, please")
    'pass unplanned=True, please'
    >>> python_in("k=7 of 3", ["k"]), python_in("--k=7 of 3, AtMost(k=2)", ["k"])
    ('k=7 of 3', '')
    """
    names = "|".join(map(re.escape, sorted(arguments)))
    found = re.search(
        r"\b\w+=(?:True|False|None)\b|\bPass None\b|\bpt\.|\bcorrect_arm\b|\bin the command\b"
        r"|\b[a-z]\w*\((?:\)|\.\.\.)|\bat_(?:most|least)\(|\b[A-Z]\w*\(\)"
        + (rf"|(?<![\w-])(?:{names})=" if names else ""),
        text := _MEMBERS.sub("", words),
    )
    return "" if found is None else text[max(found.start() - 80, 0) : found.end() + 80]
