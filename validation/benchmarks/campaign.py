"""Do two threads halve the time of a campaign, and does memory stay flat?

    python -m paretoid.validation.benchmarks.campaign [--quick] [--check]

The campaign is the paper's Table 1, D = 2: random Bernoulli instances with K = 5, goals
`AtMost(1..5, 0.005)` off one stream, whose stopping times differ by a factor of 100,000. Reported
are rounds per second on one and two threads, the ratio of wall times, and what share of the last
10% of the wall time both threads were at work. Then the peak memory of a process that stores a
million replications of a small instance. `--check` exits with 1 if two threads take more than
0.6 of the time of one, if the end is one thread alone, or if memory passes 500 MB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

import paretoid as pt
from paretoid.validation.paper.setting import RADIUS, random_bandits

RATIO_CEILING = 0.6
OVERLAP_FLOOR = 0.5
MEMORY_CEILING = 500  # MB
MILLION = 1_000_000


class Watched(ThreadPoolExecutor):
    """A thread pool that remembers when its tasks ran."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.spans: list[tuple[float, float]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit `function`, timed."""

        def timed() -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.spans.append((start, time.perf_counter()))

        return super().submit(timed)


@dataclass(frozen=True)
class Pass:
    """One run of the campaign: wall time, samples, and how busy the threads were at the end."""

    threads: int
    seconds: float
    samples: int
    overlap: float


def together(spans: list[tuple[float, float]], start: float, end: float) -> float:
    """Share of start..end in which at least two of `spans` overlap.

    >>> together([(0.0, 3.0), (1.0, 2.0)], 0.0, 4.0)
    0.25
    """
    edges = sorted((time, step) for a, b in spans for time, step in ((a, 1), (b, -1)))
    busy, at, shared = 0, start, 0.0
    for time_, step in edges:
        if busy >= 2:
            shared += max(0.0, min(time_, end) - max(at, start))
        busy, at = busy + step, time_
    return shared / (end - start)


def table1(instances: int, threads: int) -> Pass:
    """Table 1 with D = 2 on so many threads."""
    goals = [pt.AtMost(k, 0.005) for k in range(1, 6)]
    campaign = pt.Campaign(random_bandits(instances, 5, 2, 1), goals, radii=RADIUS, seed=1)
    campaign.seconds  # noqa: B018  planning is not what is timed
    with Watched(threads) as pool:
        start = time.perf_counter()
        runs = campaign.run(executor=pool)
        end = time.perf_counter()
    return Pass(
        threads,
        end - start,
        int(runs.stopping_time.max("goal").sum()),
        together(pool.spans, end - 0.1 * (end - start), end),
    )


def compare(instances: int, repeats: int) -> tuple[Pass, Pass]:
    """The best pass on one thread and the best on two, taken in turns."""
    table1(50, 2)  # compile
    passes = [(table1(instances, 1), table1(instances, 2)) for _ in range(repeats)]
    ones, twos = zip(*passes, strict=True)
    return min(ones, key=lambda p: p.seconds), min(twos, key=lambda p: p.seconds)


_STORE = """
import resource, sys
import paretoid as pt
bandit = pt.BernoulliBandit([[0.95, 0.5], [0.5, 0.95], [0.05, 0.05]])  # some 140 samples a run
runs = pt.Campaign(bandit, replications=int(sys.argv[2]), seed=1).run(sys.argv[1])
print(float(runs.stopping_time.mean()), float(runs.correct.mean()))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def peak_memory(replications: int) -> float:
    """MB at the peak of a process that stores so many replications and averages them."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _STORE, folder, str(replications)],
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1])


def main(arguments: list[str] | None = None) -> int:
    """Print everything; with --check, 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description="Threads and memory of a campaign.")
    parser.add_argument("--quick", action="store_true", help="fewer instances and replications")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a promise is broken")
    options = parser.parse_args(arguments)
    one, two = compare(300 if options.quick else 2000, 1 if options.quick else 2)
    for timed in (one, two):
        print(
            f"{timed.threads} thread(s): {timed.seconds:.1f} s, "
            f"{timed.samples / timed.seconds / 1e6:.2f} million rounds/s"
        )
    ratio = two.seconds / one.seconds
    print(f"two threads take {ratio:.2f} of the time of one")
    print(f"both at work in {two.overlap:.0%} of the last 10% of the time", flush=True)
    few = peak_memory(1000)
    many = peak_memory(MILLION // 10 if options.quick else MILLION)
    print(f"peak memory: {few:.0f} MB with 1,000 replications, {many:.0f} MB with all", flush=True)
    good = ratio <= RATIO_CEILING and two.overlap >= OVERLAP_FLOOR and many <= MEMORY_CEILING
    return 1 if options.check and not np.all(good) else 0


if __name__ == "__main__":
    raise SystemExit(main())
