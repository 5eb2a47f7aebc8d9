"""How fast is a round of the engine, beside the textbook kernel in the same run?

    python -m paretoid.validation.benchmarks.engine [--quick] [--check]

Times are microseconds per round on one core, random numbers included, compilation apart; the
bandit has random Bernoulli means, the goal is `ParetoSet()`, the radius the default. Each figure
is the best of several alternating measurements of both kernels. `--check` exits with 1 if a
ratio is below the floor we promise. Last figures: validation/benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import paretoid as pt
from paretoid.engine import program as P
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.feasibility import refuse_endless
from paretoid.runs.setting import Setting

#: K, D, rounds of the engine, rounds of the textbook, promised ratio
SIZES = [
    (5, 2, 50_000, 10_000, 6),
    (20, 3, 50_000, 1_000, 35),
    (100, 5, 20_000, 60, 350),
    (1000, 10, 5_000, 3, 3000),
]
#: the radius of these comparisons since they began
RADIUS = pt.Mixture(sides="two")
SHARES_CEILING = 1.1
UNKNOWN_CEILING = 2.2
THREADS_FLOOR = 1.7
MEMORY_CEILING = 200  # MB over the import, one run with K = 1000, D = 10


def bernoulli(K: int, D: int, seed: int) -> pt.Bandit:
    """The bandit of these comparisons since they began."""
    return pt.BernoulliBandit(np.random.default_rng(seed).random((K, D)))


def gaussian(K: int, D: int, seed: int) -> pt.Bandit:
    """The same means, and outcomes of the same scale that `UnknownScale` is proved for."""
    return pt.GaussianBandit(np.random.default_rng(seed).random((K, D)), scale=0.5)


def seconds_per_round(
    bandit: pt.Bandit,
    rounds: int,
    engine: bool,
    seed: int,
    radius: pt.PairwiseRadius = RADIUS,
) -> float:
    """Processor time of a round after the opening, noise included; the kernel is compiled."""
    from paretoid.engine import yardstick

    K, D = bandit.K, bandit.D
    first = int(np.broadcast_to(radius.first_count(K, D, 0.1), (K,)).sum())
    setting = Setting(bandit, (pt.ParetoSet(),), pt.APE(), radius, 0.1, first + rounds)
    fast = Engine(setting)
    state = P.new_state(fast.program, 1)
    formula = None if engine else yardstick.formula_of(radius, K, D, setting.delta)
    work = yardstick.workspace(K, D)
    nothing = np.zeros((0, 5), dtype=np.int64), np.zeros((0, 3))
    stream = generator(seed, (0,))

    def advance(size: int) -> None:
        noise = np.empty((1, size, D))
        bandit.fill(stream, noise[0])
        if engine:
            fast.advance(state, np.zeros(1, dtype=np.int64), noise)
        else:
            yardstick.advance(fast.program, formula, state, 0, noise[0], *nothing, work)

    advance(first)
    start = time.process_time()
    while state.clock[0, P.STATUS] == P.RUNNING:
        advance(min(4096, rounds))
    return (time.process_time() - start) / int(state.clock[0, P.TIME] - first)


def hard_seeds(K: int, D: int, rounds: int, how_many: int) -> list[int]:
    """Instances on which the engine runs for all of `rounds`: short runs would time set-up."""
    seeds = []
    for seed in range(10_000):
        runs = pt.simulate(bernoulli(K, D, seed), radius=RADIUS, seed=seed, max_samples=K + rounds)
        if not runs.stopped.item():
            seeds.append(seed)
        if len(seeds) == how_many:
            break
    return seeds


def compare_rounds(repeats: int) -> list[tuple[int, int, float, float, float]]:
    """(K, D, textbook us, engine us, ratio) for each size."""
    rows = []
    for K, D, fast_rounds, slow_rounds, _ in SIZES:
        ratios, slow_best, fast_best = [], np.inf, np.inf
        for seed in hard_seeds(K, D, fast_rounds, 3):
            bandit, slow, fast = bernoulli(K, D, seed), np.inf, np.inf
            for _ in range(repeats):  # alternating, so that a busy moment hits both
                slow = min(slow, seconds_per_round(bandit, slow_rounds, False, seed))
                for _ in range(3):
                    fast = min(fast, seconds_per_round(bandit, fast_rounds, True, seed))
            ratios.append(slow / fast)
            slow_best, fast_best = min(slow_best, slow), min(fast_best, fast)
        rows.append((K, D, slow_best * 1e6, fast_best * 1e6, float(np.median(ratios))))
        print(
            f"K={K:<5} D={D:<3} textbook {slow_best * 1e6:10.2f} us   engine "
            f"{fast_best * 1e6:7.3f} us   ratio {rows[-1][-1]:8.1f}",
            flush=True,
        )
    return rows


def uneven(K: int, D: int, seed: int) -> pt.Mixture:
    """A radius whose rho and shares all differ."""
    rng = np.random.default_rng(seed)
    arms, rivals = (w / w.sum() for w in rng.uniform(0.5, 1.5, (2, K)))
    shares = pt.Shares(arms=tuple(arms), rivals=tuple(rivals))
    return pt.Mixture(rho=tuple(rng.uniform(20, 40, K)), shares=shares)


def compare_radii(
    repeats: int,
    label: str,
    make_bandit: Callable[[int, int, int], pt.Bandit],
    make_radius: Callable[[int, int, int], pt.PairwiseRadius],
) -> list[tuple[int, float]]:
    """(K, time of a round with this radius over one with `Mixture()`), on the same bandits."""
    rows = []
    for K, D, rounds, _, _ in SIZES:
        ratios = []
        for seed in hard_seeds(K, D, rounds, 3):
            bandit, plain, other = make_bandit(K, D, seed), np.inf, np.inf
            for _ in range(3 * repeats):
                plain = min(plain, seconds_per_round(bandit, rounds, True, seed, pt.Mixture()))
                radius = make_radius(K, D, seed)
                other = min(other, seconds_per_round(bandit, rounds, True, seed, radius))
            ratios.append(other / plain)
        rows.append((K, float(np.median(ratios))))
        print(f"K={K:<5} {label}: {rows[-1][1]:.2f} times", flush=True)
    return rows


def compare_shares(repeats: int) -> list[tuple[int, float]]:
    """(K, time of a round with shares and a rho for each arm over one without)."""
    return compare_radii(repeats, "with shares and a rho for each arm", bernoulli, uneven)


def compare_unknown(repeats: int) -> list[tuple[int, float]]:
    """(K, time of a round with `UnknownScale()` over one with `Mixture()`)."""
    return compare_radii(repeats, "with unknown scales", gaussian, lambda *_: pt.UnknownScale())


def compare_threads(repeats: int, samples: int, replications: int) -> float:
    """Time on one thread over time on two, for runs of `samples` samples."""
    means = 0.5 + np.random.default_rng(3).random((5, 2)) / 100  # too close to stop early
    bandit = pt.BernoulliBandit(means)

    def campaign(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            pt.simulate(bandit, max_samples=samples, replications=replications, executor=pool)
            return time.perf_counter() - start

    one, two = np.inf, np.inf
    for _ in range(repeats):
        one, two = min(one, campaign(1)), min(two, campaign(2))
    return one / two


def in_subprocess(code: str, **environment: str) -> str:
    """The output of a Python program in a fresh interpreter."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return result.stdout.strip()


def import_times(repeats: int) -> tuple[float, float]:
    """Seconds to import numpy, and paretoid, each in a fresh interpreter."""

    def best(module: str) -> float:
        code = f"import time; t = time.perf_counter(); import {module}"
        return min(
            float(in_subprocess(code + "; print(time.perf_counter() - t)")) for _ in range(repeats)
        )

    return best("numpy"), best("paretoid")


def compile_times() -> tuple[float, float]:
    """Processor time of the first simulate with an empty cache, and of the next process."""
    code = (
        "import time, xarray, paretoid as pt; b = pt.BernoulliBandit([[.9, .1], [.1, .2]]);"
        "t = time.process_time(); pt.simulate(b); print(time.process_time() - t)"
    )
    with tempfile.TemporaryDirectory() as empty:
        first = float(in_subprocess(code, NUMBA_CACHE_DIR=empty))
        return first, float(in_subprocess(code, NUMBA_CACHE_DIR=empty))


def memory() -> float:
    """MB allocated at the peak of one run with K = 1000, D = 10, its checks included.

    Counted by tracemalloc, which NumPy reports to: the peak of the process itself is reached
    earlier, by the compiler.
    """
    bandit = pt.BernoulliBandit(np.random.default_rng(0).random((1000, 10)))
    tracemalloc.start()
    refuse_endless(bandit, [pt.ParetoSet(0.1)], pt.Mixture(), 0.1)
    pt.simulate(bandit, pt.ParetoSet(0.1), max_samples=20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main(arguments: list[str] | None = None) -> int:
    """Print the table; with --check, 1 if a floor is missed."""
    parser = argparse.ArgumentParser(description="Engine against textbook, in one run.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--check", action="store_true", help="exit with 1 below a floor")
    options = parser.parse_args(arguments)
    repeats = 2 if options.quick else 5
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores"
    )
    checks: list[tuple[str, bool]] = []
    first, next_one = compile_times()
    print(
        f"first simulate: {first:.1f} s of processor time with an empty cache, "
        f"{next_one:.2f} s from the cache"
    )
    numpy_time, our_time = import_times(repeats)
    print(f"import numpy {numpy_time:.3f} s, import paretoid {our_time:.3f} s (NumPy included)")
    for size, row in zip(SIZES, compare_rounds(repeats), strict=True):
        checks.append((f"K={size[0]}: at least {size[-1]}x", row[-1] >= size[-1]))
    for K, ratio in compare_shares(repeats):
        checks.append((f"K={K}: shares at most {SHARES_CEILING}", ratio <= SHARES_CEILING))
    for K, ratio in compare_unknown(repeats):
        label = f"K={K}: unknown scales at most {UNKNOWN_CEILING}"
        checks.append((label, ratio <= UNKNOWN_CEILING))
    threads: list[tuple[str, Callable[[], float]]] = [
        ("runs of 100,000 samples", lambda: compare_threads(repeats, 100_000, 64)),
        ("runs of 1,000 samples", lambda: compare_threads(repeats, 1_000, 4096)),
    ]
    for label, measure in threads:
        speedup = measure()
        print(f"two threads over one, {label}: {speedup:.2f}", flush=True)
        checks.append((f"two threads, {label}: at least {THREADS_FLOOR}", speedup >= THREADS_FLOOR))
    extra = memory()
    print(f"memory of a run with K=1000, D=10: {extra:.0f} MB over the import")
    checks.append((f"memory below {MEMORY_CEILING} MB", extra < MEMORY_CEILING))
    missed = [label for label, good in checks if not good]
    print("all floors met" if not missed else f"missed: {'; '.join(missed)}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
