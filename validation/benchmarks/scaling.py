"""How does the time of a round grow with the number of arms and of objectives?

    python -m paretoid.validation.benchmarks.scaling [--check]

Microseconds per round of APE on one core, noise included, after `WARM` samples of each arm (the
first rounds are full of ties). Random Bernoulli means, `ParetoSet()`, default radius; the best of
several rounds over all sizes, so that a busy moment hits all alike. The exponent is the slope of
log time on log K, or log D. `--check` exits with 1 if that in K is above 1.1.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import paretoid as pt
from paretoid.engine import program as P
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.setting import Setting

ARMS = [(K, 5) for K in (10, 30, 100, 300, 1000, 3000)]
OBJECTIVES = [(100, D) for D in (1, 2, 5, 10, 20)]
EXPONENT_CEILING = 1.1
WARM = 10


class Stream:
    """One run that is advanced bit by bit, timed."""

    def __init__(self, K: int, D: int) -> None:
        self.bandit = pt.BernoulliBandit(0.45 + 0.1 * np.random.default_rng(0).random((K, D)))
        setting = Setting(self.bandit, (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 0.1, None)
        self.engine = Engine(setting)
        self.state = P.new_state(self.engine.program, 1)
        self.stream = generator(0, (0,))
        self.best = np.inf
        for _ in range(WARM):
            self.advance(K)

    def advance(self, rounds: int) -> float:
        """Seconds per round of the next `rounds`."""
        start = time.perf_counter()
        noise = np.empty((1, rounds, self.bandit.D))
        self.bandit.fill(self.stream, noise[0])
        self.engine.advance(self.state, np.zeros(1, dtype=np.int64), noise)
        return (time.perf_counter() - start) / rounds


def times(sizes: list[tuple[int, int]], repeats: int = 7) -> list[float]:
    """Seconds per round of each size."""
    streams = [Stream(K, D) for K, D in sizes]
    best = np.full(len(sizes), np.inf)
    for _ in range(repeats):
        for at, (stream, (K, D)) in enumerate(zip(streams, sizes, strict=True)):
            rounds = max(200, 2_000_000 // (K * D))
            best[at] = min(best[at], stream.advance(rounds))
    if any(stream.state.clock[0, P.STATUS] != P.RUNNING for stream in streams):
        raise RuntimeError("a run ended while it was timed; bring the means closer together")
    return [float(t) for t in best]


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Exponent of a power law, by least squares on logarithms.

    >>> round(slope([1, 10, 100], [2.0, 200.0, 20000.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure(repeats: int = 7) -> dict[str, list[tuple[int, float]]]:
    """{"K": [(arms, seconds)], "D": [(objectives, seconds)]}."""
    by_arms, by_objectives = times(ARMS, repeats), times(OBJECTIVES, repeats)
    return {
        "K": [(K, t) for (K, _), t in zip(ARMS, by_arms, strict=True)],
        "D": [(D, t) for (_, D), t in zip(OBJECTIVES, by_objectives, strict=True)],
    }


def exponent(rows: list[tuple[int, float]]) -> float:
    """The fitted exponent of one column of `measure`."""
    return slope([size for size, _ in rows], [t for _, t in rows])


def main(arguments: list[str] | None = None) -> int:
    """Print both tables and exponents."""
    parser = argparse.ArgumentParser(description="Time of a round by arms and objectives.")
    parser.add_argument("--check", action="store_true", help="exit with 1 above the ceiling")
    options = parser.parse_args(arguments)
    times = measure()
    for name, fixed in (("K", "D = 5"), ("D", "K = 100")):
        for size, t in times[name]:
            print(f"{name} = {size:<5} {fixed}: {t * 1e6:8.3f} us per round")
        print(f"time grows as {name} to the power {exponent(times[name]):.2f}", flush=True)
    return 1 if options.check and exponent(times["K"]) > EXPONENT_CEILING else 0


if __name__ == "__main__":
    raise SystemExit(main())
