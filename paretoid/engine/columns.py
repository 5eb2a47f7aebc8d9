"""l and v of a radius by count, as columns that the kernels and the readable loop look up.

A column is filled from the radius's own `arm_terms` and grows when a count outgrows it. Counts up
to `EXACT` have an entry each; beyond, a doubling of the count has `STEPS` entries, and an entry
takes the larger l and the larger v of its two ends: the radius is never narrower than the formula.
Kernels and views read the same numbers, so that they agree bit for bit.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from paretoid.theory.checks import FloatArray, IntArray
from paretoid.theory.radii.base import PairwiseRadius
from paretoid.theory.single_stream import ArmRadius

#: counts below this have their own entry
EXACT = 1 << 16
#: entries for each doubling of the count beyond; both are powers of 2
STEPS = 1 << 12
_LOST = EXACT.bit_length() - STEPS.bit_length()  # binary digits of a count that are not looked at
#: entries of a new column
_BEGIN = 1 << 8
#: v may seem to grow by this fraction, and C + l + l to be this far below 0: rounding
_ROUNDING = 1e-9


def position(n: Any) -> Any:
    """The entry of count n. Kernels compile this very function.

    >>> position(65_535), position(65_536), position(65_551), position(65_552)
    (65535, 65536, 65536, 65537)
    >>> position(2 * 65_536) - position(65_536) == STEPS
    True
    """
    if n < EXACT:
        return n
    shift = _LOST
    while (n >> shift) >= 2 * STEPS:
        shift += 1
    return EXACT + (shift - _LOST) * STEPS + (n >> shift) - STEPS


#: entries of a column that holds every count there can be
_LONGEST = position(1 << 62) + 1


def ends(positions: IntArray) -> tuple[FloatArray, FloatArray]:
    """(smallest, largest) count of each entry; entry 0 is not used and stands for 1.

    >>> low, high = ends(np.array([7, 65_536, 65_536 + STEPS]))
    >>> low.tolist(), high.tolist()
    ([7.0, 65536.0, 131072.0], [7.0, 65551.0, 131103.0])
    """
    beyond = np.maximum(positions - EXACT, 0)
    width = np.left_shift(1, beyond // STEPS + _LOST)
    low = (beyond % STEPS + STEPS) * width
    exact = np.maximum(positions, 1)
    inside = positions < EXACT
    return (
        np.where(inside, exact, low).astype(np.float64),
        np.where(inside, exact, low + width - 1).astype(np.float64),
    )


class Tables(NamedTuple):
    """Columns laid out one after the other, read-only; arms with the same terms share one.

    l, v     entries of all columns; where v differs by objective, those of the first objective for
             all arms, then those of the second, as long as l each
    offset   (K,) where the column of an arm begins
    size     (K,) how many entries it has
    """

    l: FloatArray
    v: FloatArray
    offset: IntArray
    size: IntArray


class Columns:
    """The columns of one radius, for K arms, D objectives and delta; shared by runs and threads.

    tables   as they are now; replaced as a whole when a column grows
    """

    tables: Tables

    def __init__(self, radius: PairwiseRadius | ArmRadius, K: int, D: int, delta: float) -> None:
        self.radius, self.K, self.D, self.delta = radius, K, D, delta
        self.by_arm = isinstance(radius, PairwiseRadius) and radius.by_arm
        self.by_objective = isinstance(radius, PairwiseRadius) and radius.by_objective
        columns = K if self.by_arm else 1
        self._columns = [(np.zeros(0), np.zeros((D if self.by_objective else 1, 0)))] * columns
        self._lock = Lock()
        self._least_l = -math.inf
        self.reserve(np.full(K, _BEGIN - 1))

    def reserve(self, counts: Any) -> bool:
        """Make sure that `counts`, (K,), have their entries; True if columns had to grow."""
        most = np.asarray(counts, dtype=np.int64)
        if not self.by_arm:
            most = np.array([most.max()])
        with self._lock:
            held = [len(l) for l, _ in self._columns]
            short = [at for at, n in enumerate(most.tolist()) if position(n) >= held[at]]
            if short:
                needed = max(position(int(most[at])) + 1 for at in short)
                doubled = min(2 * min(held[at] for at in short), _LONGEST)
                self._extend(short, max(needed, doubled, _BEGIN))
                self._lay_out()
        return bool(short)

    def require(self, least: float) -> None:
        """Refuse every l below `least`, now and in columns to come: it stands under a root."""
        with self._lock:
            self._least_l = max(self._least_l, least)
            for l, _ in self._columns:
                self._check_least(l)

    def _check_least(self, l: FloatArray) -> None:
        low = l[1:] < self._least_l
        if low.any():
            at = int(np.argmax(low)) + 1
            raise ValueError(
                f"{self._name}: C + l_i + l_j = {2 * (l[at] - self._least_l):.4g} is negative for "
                f"arms sampled {int(ends(np.array([at]))[0][0]):,} times, and it stands under a "
                f"root. The constant is too small for this delta, or l is wrong."
            )

    def _lay_out(self) -> None:
        sizes = np.array([len(l) for l, _ in self._columns], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        tables = Tables(
            np.concatenate([l for l, _ in self._columns]),
            np.concatenate([v for _, v in self._columns], axis=1).ravel(),
            np.ascontiguousarray(np.broadcast_to(starts, self.K)),
            np.ascontiguousarray(np.broadcast_to(sizes, self.K)),
        )
        for array in tables:
            array.setflags(write=False)
        self.tables = tables

    def _extend(self, short: list[int], size: int) -> None:
        """Give the columns `short` that many entries."""
        begin = min(len(self._columns[at][0]) for at in short)
        low, high = ends(np.arange(begin, size))
        l, v = self._terms(low)
        l = np.maximum(l, self._terms(high)[0]) if size > EXACT else l
        for at in short:
            old_l, old_v = self._columns[at]
            new = slice(len(old_l) - begin, None)
            column = np.concatenate([old_l, l[at][new]])
            columns_v = np.concatenate([old_v, v[at][:, new]], axis=1)
            for column_v in columns_v:
                self._check(column, column_v)
            self._check_least(column)
            self._columns[at] = column, columns_v

    def _terms(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(l, v) of each column at these counts, from the radius itself.

        l is (columns, counts) and v (columns, objectives or 1, counts).
        """
        given = np.tile(counts, (self.K, 1)) if self.by_arm else counts
        if isinstance(self.radius, PairwiseRadius):
            terms = self.radius.arm_terms(given, self.K, self.D, self.delta)
        else:
            terms = self.radius.arm_terms(given)
        try:
            l, v = (np.asarray(term, dtype=np.float64) for term in terms)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self._name}.arm_terms must return two arrays of numbers, l and v; it returned "
                f"{terms!r}."
            ) from None
        last = (self.D,) if self.by_objective else ()
        for name, term, shape in (("l", l, given.shape), ("v", v, given.shape + last)):
            if term.shape != shape:
                raise ValueError(
                    f"{self._name}.arm_terms returned {name} of shape {term.shape} for counts of "
                    f"shape {given.shape}: there is one number for each count"
                    + (f" and objective, {shape}." if shape != given.shape else ".")
                )
        v = np.moveaxis(v, -1, -2) if self.by_objective else v[..., None, :]
        return np.atleast_2d(l), v if self.by_arm else v[None]

    @property
    def _name(self) -> str:
        return type(self.radius).__name__

    def _check(self, l: FloatArray, v: FloatArray) -> None:
        """Refuse columns that cannot be those of a radius."""
        wrong = np.isnan(l) | np.isnan(v) | np.isinf(l) | (v < 0)
        wrong[0] = False  # entry 0 is not used
        if wrong.any():
            n = int(ends(np.flatnonzero(wrong)[:1])[0][0])
            at = int(np.argmax(wrong))
            raise ValueError(
                f"{self._name}.arm_terms gives l={l[at]} and v={v[at]} for an arm sampled {n:,} "
                f"times: l must be a number, and v, a squared half-width, one that is not negative "
                f"(it may be infinite at small counts)."
            )
        with np.errstate(invalid="ignore"):
            grows = v[2:] > v[1:-1] * (1 + _ROUNDING)
        if grows.any():
            n = ends(np.flatnonzero(grows)[:1] + 1)[0][0]
            raise ValueError(
                f"{self._name}.arm_terms gives a v that grows with the count, at {int(n):,} "
                f"samples: more samples would know less. v must not increase."
            )

    def look_up(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(l, v) for counts (K, ...), the first axis being the arm; infinite v at a count of 0.

        Where v differs by objective the last axis of `counts` is the objective.
        """
        self.reserve(counts.reshape(self.K, -1).max(axis=1))
        tables = self.tables
        whole = counts.astype(np.int64)
        at = whole if whole.max() < EXACT else np.vectorize(position, otypes=[np.int64])(whole)
        at = at + tables.offset.reshape(self.K, *[1] * (counts.ndim - 1))
        own = at + len(tables.l) * np.arange(self.D) if self.by_objective else at
        return tables.l[at], np.where(whole > 0, tables.v[own], np.inf)
