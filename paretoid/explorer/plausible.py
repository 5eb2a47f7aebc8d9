"""Is an outcome plausible? The rule by which `trial record` asks back before it records.

A heuristic about slips at entry, no part of the guarantee, which rests on outcomes being recorded
whatever they are: an outcome that is asked back and was measured so is recorded. Asked back are

* *far outside*: more than `FAR` robust standard deviations (1.4826 times the median absolute
  deviation) from the median of the endpoint's outcomes, all arms together, and as far from every
  other outcome of its own arm: an arm that differs from the others is asked about once;
* *a likely unit*: beyond `ODD` of them in the same sense, where a usual slip (a factor of 10 to
  10^6, a logarithm taken or forgotten) would bring it within `NEAR` of the median or of an outcome
  of its arm;
* *another logarithm*: a common logarithm among natural ones, or the other way round. Asked where
  times (or divided by) log 10 it would be within `NEAR` standard deviations of the mean of its arm,
  and as it stands it is so far from that mean that at most one in 1,000 right Gaussian outcomes of
  equal variance is (`BASE`; by Student's t, so after ten outcomes too) and no other of the arm is
  near. Where a mean is 10 standard deviations or more, as for logarithms of titres, it asks about
  less than one right outcome in 10,000. Endpoints that cannot be logarithms, being whole numbers
  or beyond log 10^12, are not asked about;
* *no logarithm*: in an endpoint that the design records as natural logarithms, more than log 10^12:
  asked from the first outcome on, for then no others show what is usual;
* *beyond bounds*: in a trial of bounded outcomes, further from some outcome of the endpoint than
  twice the scale, which is all that an outcome bounded with that scale can be;
* *a duplicate*: every number equal to those of another subject, with `DIGITS` significant digits or
  more among them. Coarse outcomes are often equal, and are not asked about.

The first two need at least `LEAST` outcomes of the endpoint: those in the ledger, and, while these
are fewer, those of the same file; and that not all of them are equal. Refused and not asked about
(`paretoid.explorer.outcomes`) are binary outcomes other than 0 and 1, those outside a range that
the design gives, a subject told twice, an id that is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.explorer.outcomes import Told
from paretoid.explorer.state import TrialState
from paretoid.theory.checks import FloatArray, IntArray

FAR, ODD, NEAR = 6.0, 4.0, 2.0
LEAST, DIGITS = 10, 6

#: standard deviations of a Gaussian in one median absolute deviation
_MAD = 1.4826

#: share of right Gaussian outcomes that lie where another logarithm is asked about, at most
BASE = 0.001

#: natural logarithms beyond that of 10^12 are none of a concentration or a titre
_LARGEST = 12 * math.log(10)

_LOGS: dict[str, Callable[[float], float]] = {
    "log({})": math.log, "log10({})": math.log10, "exp({})": math.exp,
    "10^{}": lambda x: math.pow(10.0, x),
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """An outcome about to be recorded: whose, on which arm, and what."""

    id: int | str | None
    arm: int
    told: Told

    def numbers(self) -> dict[str, float]:
        """Objective to number, without what is missing."""
        return {name: float(x) for name, x in self.told.items() if not isinstance(x, str)}


@dataclass(frozen=True)
class _Shown:
    """What an endpoint has shown: values and their arms; with the entries themselves or not."""

    values: FloatArray
    arms: IntArray
    own: int

    def far(self, x: float, arm: int, limit: float) -> bool:
        """True: further than `limit` from the middle, and from all else that its arm has shown."""
        middle, spread = self._spread()
        same = np.abs(self.values[self.arms == arm] - x) <= limit * spread
        far = spread > 0 and abs(x - middle) > limit * spread  # constant outcomes tell nothing
        return far and int(same.sum()) <= self.own

    def near(self, x: float, arm: int) -> bool:
        """True: within `NEAR` of the middle, or of an outcome of the arm."""
        middle, spread = self._spread()
        centres = np.append(self.values[self.arms == arm], middle)
        return bool((np.abs(centres - x) <= NEAR * spread).any())

    def other_base(self, x: float, arm: int) -> str:
        """What x would be if its logarithm had the other base, as a question; "" if it fits."""
        values, arms = self._without(x, arm)
        every = np.append(values, x)
        mine = values[arms == arm]
        names, at = np.unique(arms, return_inverse=True)
        df = len(values) - len(names)
        if len(mine) == 0 or df < 1 or np.abs(every).max() > _LARGEST or not (values % 1).any():
            return ""
        means = np.bincount(at, weights=values) / np.bincount(at)
        centre = float(mine.mean())
        sd = math.sqrt(float(((values - means[at]) ** 2).sum()) / df * (1 + 1 / len(mine)))
        for base, other, changed in (
            ("log10", "natural logarithm", x * math.log(10)),
            ("natural logarithm", "log10", x / math.log(10)),
        ):
            if abs(changed - centre) <= NEAR * sd and (np.abs(mine - x) > sd).all():
                from scipy.special import stdtrit

                if abs(x - centre) > stdtrit(df, 1 - BASE / 2) * sd:
                    return f"is this a {base}? The {other} would be {changed:.3g}."
        return ""

    def _without(self, x: float, arm: int) -> tuple[FloatArray, IntArray]:
        """Values and arms of all other entries: x itself is among them where `own` says so."""
        if not self.own:
            return self.values, self.arms
        itself = np.flatnonzero((self.values == x) & (self.arms == arm))[:1]
        return np.delete(self.values, itself), np.delete(self.arms, itself)

    def _spread(self) -> tuple[float, float]:
        middle = float(np.median(self.values))
        spread = _MAD * float(np.median(np.abs(self.values - middle)))
        return middle, spread or float(self.values.std())


def questions(state: TrialState, entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """What to ask back of each entry before it is recorded; () where nothing is odd.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["log IgG"])
    >>> for i, placed in enumerate(explorer.ask(12)):
    ...     explorer.tell(placed, [9.0 + i / 10])
    >>> placed = explorer.ask()
    >>> explorer.plausible(placed, [9.3])
    ()
    >>> print(*explorer.plausible(placed, [8103.1]))
    log IgG=8103.1 of 13 lies far outside the 12 outcomes of log IgG so far; log(8103.1) = 9 \
would be among them: is the unit right?
    """
    asked: list[list[str]] = [[] for _ in entries]
    arms = np.array(state.arms, dtype=np.int64)
    for d, name in enumerate(state.design.objectives):
        told = np.array(state.values[d])
        known = np.isfinite(told)
        coming = [
            (entry.numbers()[name], entry.arm) for entry in entries if name in entry.numbers()
        ]
        shown = _Shown(told[known], arms[known], 0)
        if len(shown.values) < LEAST:
            values, on = zip(*coming, strict=True) if coming else ((), ())
            both = np.append(shown.values, values), np.append(shown.arms, on).astype(np.int64)
            shown = _Shown(*both, 1)
        for entry, words in zip(entries, asked, strict=True):
            x = entry.numbers().get(name)
            if x is not None and _kind(state, d) != "binary":
                words += _odd(state, d, entry, x, shown)
    for entry, words, twin in zip(entries, asked, _twins(state, entries), strict=True):
        if twin is not None:
            words.append(
                f"{_whose(entry)} has exactly the numbers of {twin}: was a row entered twice?"
            )
    return [tuple(words) for words in asked]


def _kind(state: TrialState, d: int) -> Any:
    """The kind of an endpoint's outcomes: a word, or its range."""
    return state.design.outcomes if state.design.kinds is None else state.design.kinds[d]


def _odd(state: TrialState, d: int, entry: Entry, x: float, shown: _Shown) -> list[str]:
    """The question about one number, if there is one."""
    name = state.design.objectives[d]
    what, others = f"{name}={x:g} of {_whose(entry)}", len(shown.values) - shown.own
    if _kind(state, d) == "bounded" and state.design.scale is not None and others > 0:
        width = 2 * float(state.design.scale[:, d].max())
        if float(np.abs(shown.values - x).max()) > width * (1 + 1e-9):
            return [
                f"{what} is further than {width:g} from another outcome of {name}, and outcomes "
                f"bounded with the scale of the design cannot be: is the number right?"
            ]
    if others < LEAST:
        raw = name in state.design.measured_in.logs and x > _LARGEST
        words = f"{what} would be the natural logarithm of a value beyond 10^12; log({x:g}) = "
        return [f"{words}{math.log(x):.6g}: was the logarithm not taken?"] if raw else []
    far = shown.far(x, entry.arm, FAR)
    slip = _slip(x, entry.arm, shown) if far or shown.far(x, entry.arm, ODD) else ""
    if slip:
        return [
            f"{what} lies far outside the {others} outcomes of {name} so far; {slip} would be "
            f"among them: is the unit right?"
        ]
    base = shown.other_base(x, entry.arm) if _kind(state, d) == "gaussian" else ""
    if not far and not base:
        return []
    where = "lies far outside" if far else "is unlike"
    end = f"; {base}" if base else "."
    return [f"{what} {where} the {others} outcomes of {name} so far{end}"]


def _slip(x: float, arm: int, shown: _Shown) -> str:
    """The conversion after which x would be plausible, in words; "" if there is none."""
    for words, change in _LOGS.items():
        try:
            changed = change(x)
        except (ValueError, OverflowError):
            continue
        if shown.near(changed, arm):
            return f"{words.format(f'{x:.6g}')} = {changed:.6g}"
    for power in range(1, 7):
        for words, changed in ((f"{x:g} / 10^{power}", x / 10**power),
                               (f"{x:g} * 10^{power}", x * 10**power)):  # fmt: skip
            if x and shown.near(changed, arm):
                return f"{words} = {changed:.6g}"
    return ""


def _twins(state: TrialState, entries: Sequence[Entry]) -> list[str | None]:
    """For each entry the other subject with exactly its numbers, in the ledger or before it."""
    twins: list[str | None] = []
    columns = dict(zip(state.design.objectives, map(np.array, state.values), strict=True))
    before: dict[tuple[tuple[str, float], ...], str] = {}
    for entry in entries:
        numbers = entry.numbers()
        row = tuple(sorted(numbers.items()))
        if sum(map(_digits, numbers.values())) < DIGITS:
            twins.append(None)
            continue
        same = np.ones(len(state.arms), dtype=np.bool_)
        for name, x in numbers.items():
            same &= columns[name] == x
        known = np.flatnonzero(same)
        twins.append(str(state.id_of(int(known[0]))) if len(known) else before.get(row))
        before.setdefault(row, _whose(entry))
    return twins


def _digits(x: float) -> int:
    """Significant digits of a number as it is written.

    >>> _digits(0.0120), _digits(9.1), _digits(1200.0), _digits(0.0)
    (2, 2, 2, 1)
    """
    mantissa = f"{x!r}".lower().partition("e")[0].replace("-", "")
    digits = mantissa.replace(".", "").strip("0")
    return max(1, len(digits))


def _whose(entry: Entry) -> str:
    return "the new subject" if entry.id is None else str(entry.id)
