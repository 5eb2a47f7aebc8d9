"""What runs amount to, setting by setting: the numbers that terminal, JSON, reports and plots show.

A setting is an instance, a radius, a delta and a goal. Of its runs only the stopping times are
ever held together; answers and pulls are counted block by block, so a stored campaign of any
length is read in little memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.intervals import Interval, mean_interval, quantile_interval, share, standard_error
from paretoid.theory.checks import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr

#: runs, and values of one variable, read together
_RUNS, _VALUES = 1 << 14, 1 << 21

#: what is read of a run
VARIABLES = ("stopping_time", "stopped", "answer", "correct", "pulls")

#: shares of the runs whose quantiles are told
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Summary:
    """The runs of one setting; an `Interval` is (estimate, low, high) at 95%.

    at              positions of instance, radius, delta and goal
    runs, censored  how many there are, and those whose budget ran out
    wrong           runs that stopped with a wrong answer: the guarantee bounds their share of all
    mean            of the samples drawn; where runs are censored, less than it would have been
    standard_error  of the mean
    quantiles       of the samples drawn, by share; censored runs count with what they drew
    largest         number of samples that a run drew
    median          inf: at least half of the runs are censored; below 6 runs it has no interval
    error, late     share of wrong and of censored runs
    answers         (mask, how often) of the stopped runs, most frequent first
    returned        (K,) how many runs returned each arm
    pulls, pulls_error   (K,) mean samples of each arm, with standard errors
    settled         mean number of arms surely optimal, surely out and undecided at the end;
                    None where runs were stored without it
    """

    at: tuple[int, int, int, int]
    runs: int
    censored: int
    wrong: int
    mean: Interval
    standard_error: float
    quantiles: dict[float, float]
    largest: int
    median: Interval
    error: Interval
    late: Interval
    answers: list[tuple[tuple[bool, ...], int]]
    returned: IntArray
    pulls: FloatArray
    pulls_error: FloatArray
    settled: tuple[float, float, float] | None

    @property
    def stopped(self) -> int:
        """How many runs came to an answer."""
        return self.runs - self.censored


@dataclass
class _Tally:
    """Counts that grow with every block of runs of one setting."""

    arms: int
    times: list[IntArray] = field(default_factory=list)
    stopped: list[BoolArray] = field(default_factory=list)
    wrong: int = 0
    answers: Counter[bytes] = field(default_factory=Counter)
    n: int = 0

    def __post_init__(self) -> None:
        self.returned = np.zeros(self.arms, dtype=np.int64)
        self.mean, self.squares = np.zeros(self.arms), np.zeros(self.arms)
        self.settled: IntArray | None = np.zeros(3, dtype=np.int64)

    def add(self, block: dict[str, Any]) -> None:
        """`block` has (R,) and (R, K) arrays by name."""
        stopped, answer = block["stopped"], block["answer"]
        self.times.append(block["stopping_time"])
        self.stopped.append(stopped)
        self.wrong += int((stopped & ~block["correct"]).sum())
        self.returned += answer[stopped].sum(axis=0)
        if self.settled is not None:
            verdicts = block.get("settled")
            if verdicts is None:
                self.settled = None
            else:
                self.settled += np.array([(verdicts == kind).sum() for kind in (1, -1, 0)])
        packed = np.packbits(answer[stopped], axis=1)
        for row, often in zip(*np.unique(packed, axis=0, return_counts=True), strict=True):
            self.answers[row.tobytes()] += int(often)
        # Means and squared deviations of two parts, joined (Chan, Golub and LeVeque 1979).
        pulls = block["pulls"].astype(np.float64)
        size, mean = len(pulls), pulls.mean(axis=0)
        apart = mean - self.mean
        total = self.n + size
        self.squares += ((pulls - mean) ** 2).sum(axis=0) + apart**2 * (self.n * size / total)
        self.mean = self.mean + apart * (size / total)
        self.n = total

    def summary(self, at: tuple[int, int, int, int], quantiles: Sequence[float]) -> Summary:
        """The summary of all runs that were added."""
        time = np.concatenate(self.times).astype(np.float64)
        stopped = np.concatenate(self.stopped)
        runs, censored = len(time), int((~stopped).sum())
        error = np.full(self.arms, np.nan)
        if runs > 1:
            error = np.sqrt(self.squares / (runs - 1) / runs)
        middle, low, high = quantile_interval(np.where(stopped, time, math.inf), 0.5)
        return Summary(
            at=at, runs=runs, censored=censored, wrong=self.wrong,
            mean=mean_interval(time), standard_error=float(standard_error(time)),
            quantiles={q: float(np.quantile(time, q)) for q in quantiles}, largest=int(time.max()),
            median=(middle, low, high) if low > 0 else (middle, math.nan, math.nan),
            error=share(self.wrong, runs), late=share(censored, runs),
            answers=[(self._mask(row), often) for row, often in self.answers.most_common()],
            returned=self.returned, pulls=self.mean, pulls_error=error,
            settled=self._settled(runs),
        )  # fmt: skip

    def _settled(self, runs: int) -> tuple[float, float, float] | None:
        if self.settled is None:
            return None
        optimal, dominated, undecided = (self.settled / runs).tolist()
        return optimal, dominated, undecided

    def _mask(self, row: bytes) -> tuple[bool, ...]:
        bits = np.unpackbits(np.frombuffer(row, dtype=np.uint8), count=self.arms)
        return tuple(bool(bit) for bit in bits)


def summary_of(runs: Any) -> Summary:
    """The summary of one setting: `runs` has (R,) and (R, K) arrays by name, as a Dataset does.

    >>> from paretoid import BernoulliBandit, simulate
    >>> runs = simulate(BernoulliBandit([[0.9], [0.1]]), replications=20, seed=1)
    >>> summary = summary_of(runs.isel(goal=0))
    >>> summary.runs, summary.censored, summary.wrong, summary.returned.tolist()
    (20, 0, 0, [20, 0])
    """
    names = [*VARIABLES, *(["settled"] if "settled" in runs else [])]
    block = {name: np.asarray(runs[name]) for name in names}
    tally = _Tally(block["answer"].shape[1])
    tally.add(block)
    return tally.summary((0, 0, 0, 0), QUANTILES)


def summaries(runs: xr.Dataset, quantiles: Sequence[float] = QUANTILES) -> Iterator[Summary]:
    """The summary of every setting of a Dataset of runs, of `simulate` or of a campaign.

    They come radius by radius, then delta by delta and goal by goal, then instance by instance.

    >>> from paretoid import AtMost, BernoulliBandit, ParetoSet, simulate
    >>> goals = [ParetoSet(), AtMost(1)]
    >>> runs = simulate(BernoulliBandit([[0.9], [0.1]]), goals, replications=20, seed=1)
    >>> [(summary.at, summary.runs) for summary in summaries(runs)]
    [((0, 0, 0, 0), 20), ((0, 0, 0, 1), 20)]
    """
    for dim in ("instance", "radius", "delta"):
        if dim not in runs.stopping_time.dims:
            runs = runs.drop_vars(dim, errors="ignore").expand_dims(dim)
    sizes, K = runs.sizes, runs.sizes["arm"]
    names = [*VARIABLES, *(["settled"] if "settled" in runs else [])]
    together = max(1, min(_RUNS, _VALUES // K))
    instances = max(1, together // sizes["replication"])
    grid = product(range(sizes["radius"]), range(sizes["delta"]), range(sizes["goal"]))
    for q, d, g in grid:
        one = runs.isel(radius=q, delta=d, goal=g).transpose("instance", "replication", ...)
        for first in range(0, sizes["instance"], instances):
            part = one.isel(instance=slice(first, first + instances))
            tallies = [_Tally(K) for _ in range(part.sizes["instance"])]
            for start in range(0, sizes["replication"], together):
                block = part.isel(replication=slice(start, start + together))
                arrays = {name: block[name].values for name in names}
                for i, tally in enumerate(tallies):
                    tally.add({name: values[i] for name, values in arrays.items()})
            for i, tally in enumerate(tallies):
                yield tally.summary((first + i, q, d, g), quantiles)
