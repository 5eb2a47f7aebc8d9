"""How many samples each radius needs on COV-BOOST: the table in README.md and CERTIFICATE.md.

`python -m paretoid.validation.benchmarks.participants` prints it; `--quick` takes fewer runs.

Mixture at delta = 0.1, for the exact set, k = 1 and k = 2. Rows that are informed take the expected
counts of their own column. An earlier trial is simulated: means measured on so many participants an
arm, and draws around them as a posterior would give. Every row has the same number of runs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid import text
from paretoid.bandits import Bandit, GaussianBandit
from paretoid.design import informed
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.instances import load_instance
from paretoid.runs.simulate import simulate
from paretoid.theory.gaps import gaps
from paretoid.theory.radii import KaufmannKoolen, Mixture, Radius, UnknownScale

DELTA = 0.1
GOALS: tuple[Goal, ...] = (ParetoSet(), AtMost(1), AtMost(2))
HEADS = ("exact", "k = 1", "k = 2")

#: Samples at which the simulated allocations of a guess end, for each column.
CEILINGS = (40_000, 8_000, 20_000)

#: rho of which the best is taken for each column of the uninformed row.
RHOS = (10.0, 15.0, 25.0, 40.0, 60.0, 100.0, 200.0)


@dataclass(frozen=True)
class Mean:
    """Samples on average, and the standard error of that."""

    mean: float
    error: float

    @classmethod
    def of(cls, times: Any) -> Mean:
        """The mean of independent groups of runs, one row each, or of single runs."""
        groups = np.asarray(times, dtype=float)
        means = groups.mean(axis=1) if groups.ndim == 2 and len(groups) > 1 else groups.ravel()
        return cls(float(groups.mean()), float(means.std(ddof=1) / math.sqrt(len(means))))

    def __str__(self) -> str:
        return f"{text.count(self.mean)} ± {text.count(self.error)}"


def earlier_trial(rng: np.random.Generator, participants: int, draws: int) -> list[GaussianBandit]:
    """Draws around the means that a trial of so many participants an arm would publish."""
    truth = load_instance("covboost")
    error = truth.scale / math.sqrt(participants)
    published = truth.means + error * rng.standard_normal(truth.means.shape)
    return [
        GaussianBandit(published + error * rng.standard_normal(published.shape), truth.scale)
        for _ in range(draws)
    ]


def opposite(truth: Bandit) -> GaussianBandit:
    """The instance with its arms permuted so that those with the smallest gaps have the largest."""
    order = np.argsort(gaps(truth.oriented / truth.scale.max(axis=0)))
    means = np.empty_like(truth.means)
    means[order] = truth.means[order[::-1]]
    return GaussianBandit(means, truth.scale)


def rows(
    trials: int = 20, runs: int = 20, draws: int = 100, seed: int = 1,
    said: Callable[[str], None] = lambda line: None,
) -> dict[str, list[Mean]]:  # fmt: skip
    """The table: a row for each radius, a cell for each of `GOALS`; `trials * runs` runs a cell."""
    truth = load_instance("covboost")
    wrong = opposite(truth)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    past = [earlier_trial(rng, 100, draws) for _ in range(trials)]
    permuted = [[GaussianBandit(rng.permutation(truth.means), truth.scale)] for _ in range(trials)]

    def times(radius: Radius, column: int, first: int, count: int) -> Any:
        data = simulate(
            truth, GOALS[column], radius=radius, delta=DELTA, replications=count, seed=seed + first
        )
        return data.stopping_time.values.ravel()

    def whole(radius: Radius, column: int) -> Mean:
        return Mean.of([times(radius, column, 1 + trial, runs) for trial in range(trials)])

    def from_guesses(
        guesses: Sequence[list[GaussianBandit]], column: int, kind: Any = Mixture, mix: float = 0.2
    ) -> Mean:
        by_guess = []
        for trial, guess in enumerate(guesses):
            radius = informed(guess, GOALS[column], DELTA, mix, kind, seed=seed + trial,
                              max_samples=CEILINGS[column],
                              replications=draws // len(guess))  # fmt: skip
            by_guess.append(times(radius, column, 1 + trial, runs))
        return Mean.of(by_guess)

    def own(guess: Bandit, column: int, mix: float) -> Radius:
        return informed(guess, GOALS[column], DELTA, mix, Mixture, replications=draws,
                        max_samples=CEILINGS[column], seed=seed)  # fmt: skip

    columns = range(len(GOALS))
    table: dict[str, list[Mean]] = {}
    wanted: dict[str, Callable[[int], Mean]] = {
        "the paper's proved radius": lambda c: whole(KaufmannKoolen(), c),
        "two-sided, uniform shares, best rho": lambda c: min(
            (whole(Mixture(rho, sides="two"), c) for rho in RHOS), key=lambda cell: cell.mean
        ),
        "one-sided, uniform shares, best rho": lambda c: min(
            (whole(Mixture(rho), c) for rho in RHOS), key=lambda cell: cell.mean
        ),
        "informed by the instance itself": lambda c: whole(own(truth, c, 0.2), c),
        "informed by an earlier trial, 100 an arm": lambda c: from_guesses(past, c),
        "informed by a wrong trial, arms permuted, mix 0.3": lambda c: from_guesses(
            permuted, c, mix=0.3
        ),
        "informed by the opposite: hardest arms taken for easiest, mix 0.3": lambda c: whole(
            own(wrong, c, 0.3), c
        ),
        "UnknownScale, informed by an earlier trial": lambda c: from_guesses(past, c, UnknownScale),
    }
    for name, cell in wanted.items():
        table[name] = [cell(column) for column in columns]
        said(f"{name}: {', '.join(map(str, table[name]))}")
    return table


def markdown(table: dict[str, list[Mean]]) -> str:
    """The rows as a Markdown table."""
    lines = ["| Mixture, delta = 0.1, COV-BOOST | " + " | ".join(HEADS) + " |", "|---|---|---|---|"]
    for name, cells in table.items():
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="4 trials of 5 runs each")
    chosen = parser.parse_args(arguments)
    size = {"trials": 4, "runs": 5, "draws": 20} if chosen.quick else {}
    table = rows(**size, said=lambda line: print(line, file=sys.stderr, flush=True))
    print(markdown(table))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
