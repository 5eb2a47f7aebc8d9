r"""Estimates with intervals, error rates, and whether a figure of the paper agrees with ours.

**Intervals** are 95% percentile bootstrap intervals over the runs (over the instances, where each
run has its own): whole rows are drawn again, so comparisons stay paired.

**Verdicts.** The paper's figure is a mean over N' runs, so it carries noise of its own. With
e and e' the errors of our mean over n runs and of the paper's over N', its figure should be our
mean plus e' - e. Both errors are bootstrapped from our runs, e from samples of size n and e' from
samples of size N'; the figure *agrees* if it lies in the central 95% of that, else it *differs*.
One true figure in twenty then differs by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.intervals import LEVEL, share
from paretoid.theory.checks import FloatArray

DRAWS = 1000  # resamples: the ends of a 95% interval then move by about 4% of its width
AGREES, DIFFERS, NO_FIGURE = "agrees", "differs", "no figure"


def mean(columns: FloatArray) -> FloatArray:
    """The mean of the first column; `columns` is (..., c), means of each column."""
    return np.asarray(columns[..., 0])


def ratio(columns: FloatArray) -> FloatArray:
    """The ratio of the first column's mean to the second's."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(columns[..., 0] / columns[..., 1])


def reduction(columns: FloatArray) -> FloatArray:
    """By which share the first column's mean is below the second's."""
    return 1 - ratio(columns)


Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Row:
    """One line of a result table; None where a column does not apply.

    setting, who, what  which instances, which algorithm, which quantity
    runs                how many values
    mean, low, high     estimate and its bootstrap interval
    median, ...         the same for the median of the runs
    errors, stopped     wrong answers among the runs that stopped
    error_low, ...      Clopper-Pearson interval of the error rate
    censored            share of the runs whose budget ran out
    paper               the paper's figure, where its text gives one
    verdict             agrees, differs or no figure
    shown               also on the terminal, or only in the CSV file
    """

    setting: str
    who: str
    what: str
    runs: int
    mean: float
    low: float | None = None
    high: float | None = None
    median: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    errors: int | None = None
    stopped: int | None = None
    error_rate: float | None = None
    error_low: float | None = None
    error_high: float | None = None
    censored: float | None = None
    paper: float | None = None
    verdict: str = NO_FIGURE
    note: str = ""
    shown: bool = True


def resample(
    values: FloatArray, size: int, seed: int, average: Callable[..., Any] = np.mean
) -> FloatArray:
    """(DRAWS, c) means, or medians, of the columns of resamples of `size` rows."""
    rng = np.random.default_rng(seed)
    averages = np.empty((DRAWS, values.shape[1]))
    block = max(1, (1 << 18) // size)
    for b in range(0, DRAWS, block):
        last = min(b + block, DRAWS)
        rows = values[rng.integers(0, len(values), (last - b, size))]
        averages[b:last] = average(rows, axis=1)
    return averages


def compare(
    values: FloatArray, statistic: Statistic, paper: float | None, paper_runs: int | None
) -> str:
    """Does the paper's figure, a `statistic` of `paper_runs` runs, agree with ours? See above.

    >>> ours = np.random.default_rng(1).exponential(size=(400, 1))
    >>> compare(ours, mean, 1.0, 2000), compare(ours, mean, 1.5, 2000)
    ('agrees', 'differs')
    """
    if paper is None or len(values) < 2:  # one run says nothing about its spread
        return NO_FIGURE
    low, high = predicted(values, statistic, paper_runs or len(values))
    return AGREES if low <= paper <= high else DIFFERS


def predicted(values: FloatArray, statistic: Statistic, paper_runs: int) -> tuple[float, float]:
    """The central 95% of what a paper with `paper_runs` runs should have found."""
    here = statistic(values.mean(axis=0))
    ours = statistic(resample(values, len(values), 1)) - here
    theirs = statistic(resample(values, paper_runs, 2)) - here
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(here + theirs - ours, [tail, 1 - tail])
    return float(low), float(high)


def row(
    setting: str,
    who: str,
    what: str,
    values: Any,
    *,
    statistic: Statistic = mean,
    correct: Any = None,
    stopped: Any = None,
    paper: float | None = None,
    paper_runs: int | None = None,
    judged: bool = True,
    note: str = "",
    shown: bool = True,
) -> Row:
    """A line from per-run values: (n,) numbers, or (n, 2) for a ratio of two means.

    `correct` and `stopped` are (n,) masks: errors are wrong answers among runs that stopped.
    `judged=False` shows the paper's figure without a verdict, because its instance is unknown.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    n = len(table)
    if n == 0:
        return Row(setting, who, what, 0, float("nan"), note="no run stopped", shown=shown)
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(statistic(resample(table, n, 0)), [tail, 1 - tail])
    plain = table.shape[1] == 1
    medians = resample(table, n, 0, np.median) if plain else np.empty(0)
    rates: dict[str, Any] = {}
    if correct is not None:
        done = np.ones(n, dtype=bool) if stopped is None else np.asarray(stopped, dtype=bool)
        errors = int((done & ~np.asarray(correct, dtype=bool)).sum())
        rates = {"errors": errors, "stopped": int(done.sum()), "censored": float((~done).mean())}
        if done.any():
            names = ("error_rate", "error_low", "error_high")
            rates |= dict(zip(names, share(errors, int(done.sum())), strict=True))
    return Row(
        setting=setting,
        who=who,
        what=what,
        runs=n,
        mean=float(statistic(table.mean(axis=0))),
        low=float(low) if n > 1 else None,
        high=float(high) if n > 1 else None,
        median=float(np.median(table[:, 0])) if plain else None,
        median_low=float(np.quantile(medians, tail)) if plain and n > 1 else None,
        median_high=float(np.quantile(medians, 1 - tail)) if plain and n > 1 else None,
        paper=paper,
        verdict=compare(table, statistic, paper, paper_runs) if judged else NO_FIGURE,
        note=note,
        shown=shown,
        **rates,
    )
