"""What does a call cost that hardly computes anything?

    python -m paretoid.validation.benchmarks.short_calls [--quick] [--check]

Milliseconds of processor time, the best of several: `simulate` of one run of 100 samples beside
the bare chunk that it wraps, a round of `run_once` on COV-BOOST, and an Explorer's ask and tell
with 100 arms. `--check` exits with 1 if `simulate` takes more than so many times its chunk. Last
figures: validation/benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import paretoid as pt
from paretoid.runs.chunk import run_chunk
from paretoid.runs.setting import Setting

#: `simulate` over its chunk
CEILING = 12.0


def milliseconds(call: Callable[[], object], calls: int, repeats: int) -> float:
    """Processor time of one call: the best of `repeats` means over `calls`."""
    call()
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, (time.process_time() - start) / calls * 1e3)
    return float(best)


def short_simulate(repeats: int) -> tuple[float, float]:
    """`simulate` of 100 samples, and the chunk in it."""
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [0.1, 0.1]], scale=0.5)
    setting = Setting(bandit, (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 0.1, 100)
    return (
        milliseconds(lambda: pt.simulate(bandit, max_samples=100, seed=1), 40, repeats),
        milliseconds(lambda: run_chunk(setting, 1, [(0,)]), 40, repeats),
    )


def traced_round(repeats: int) -> float:
    """A round of `run_once`, which keeps its trace, on COV-BOOST."""
    bandit, samples = pt.load_instance("covboost"), 4000

    def run() -> pt.Run:
        return pt.run_once(bandit, pt.ParetoSet(0.5), seed=1, max_samples=samples)

    return milliseconds(run, 1, repeats) / run().stopping_time


def ask_and_tell(repeats: int, K: int = 100) -> float:
    """One allocation and its outcome, in memory, after three of every arm."""
    rng = np.random.default_rng(0)
    arms = [f"arm {i}" for i in range(K)]
    means = dict(zip(arms, rng.random((K, 2)), strict=True))
    explorer = pt.Explorer(
        arms=arms, objectives=["x", "y"], goal=pt.ParetoSet(), delta=0.1, scale=0.5
    )

    def step() -> None:
        allocation = explorer.ask()
        explorer.tell(allocation, means[allocation.arm] + 0.5 * rng.standard_normal(2))

    for _ in range(3 * K):
        step()
    return milliseconds(step, 50, repeats)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; with --check, 1 if the ceiling is missed."""
    parser = argparse.ArgumentParser(description="The cost of calls that hardly compute.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--check", action="store_true", help="exit with 1 above the ceiling")
    options = parser.parse_args(arguments)
    repeats = 3 if options.quick else 9
    whole, chunk = short_simulate(repeats)
    print(
        f"simulate of 100 samples {whole:.2f} ms, its chunk {chunk:.2f} ms: {whole / chunk:.1f} "
        f"times (at most {CEILING:g})"
    )
    print(f"run_once on COV-BOOST {1e3 * traced_round(repeats):.1f} us a round", flush=True)
    print(f"ask and tell, K = 100: {ask_and_tell(repeats):.2f} ms")
    return 1 if options.check and whole / chunk > CEILING else 0


if __name__ == "__main__":
    raise SystemExit(main())
