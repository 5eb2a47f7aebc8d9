"""How many samples a second do the baseline rules draw, beside the textbook APE in the same run?

    python -m paretoid.validation.benchmarks.baselines [--check]

One core, K = 5, D = 2, random numbers and tests included, compilation apart. The arms are equal,
so every run lasts for its whole budget with all arms active. Each figure is the best of several
alternating measurements. `--check` exits with 1 if a uniform rule is below FLOOR samples for each
round of the textbook (5 million a second where the textbook makes 0.8 million rounds).

2026-11-16, x86_64, 2 cores shared with other work, Python 3.11.7, NumPy 2.4.6, Numba 0.65.1:

    textbook APE               0.61 million rounds/s
    UniformElimination        19.48 million samples/s     32.0 for each textbook round
    RoundRobin                22.69 million samples/s     37.3 for each textbook round
    APE                        7.36 million samples/s     12.1 for each textbook round
    LUCB                      25.71 million samples/s     42.3 for each textbook round
    UGapEc                    14.97 million samples/s     24.6 for each textbook round

Rounds are cheap because a test serves K samples and one square root serves every pair.
"""

from __future__ import annotations

import argparse
import os
import platform
import time

import numpy as np

import paretoid as pt
from paretoid.engine import program as P
from paretoid.rules import BestArmRule
from paretoid.runs.chunk import Engine, generator
from paretoid.runs.setting import Setting

FLOOR = 6.25
SAMPLES = 400_000
BLOCK = 1 << 15
UNIFORM = (pt.UniformElimination(), pt.RoundRobin())
RULES: tuple[pt.Rule, ...] = (*UNIFORM, pt.APE(), pt.LUCB(), pt.UGapEc())


def samples_per_second(rule: pt.Rule | None, samples: int) -> float:
    """Samples a second of one run; None is the textbook APE, a sample for each round."""
    one = isinstance(rule, BestArmRule)
    bandit = pt.BernoulliBandit(np.full((5, 1 if one else 2), 0.5))
    radius = pt.ArmMixture() if one else pt.Mixture(union="pairs")  # one radius per pair
    setting = Setting(bandit, (pt.ParetoSet(),), rule or pt.APE(), radius, 0.001, samples)
    engine = Engine(setting)
    state = P.new_state(engine.program, 1)
    stream = generator(1, (0,))
    noise = np.empty((1, BLOCK, bandit.noise_width))
    if rule is None:
        from paretoid.engine import yardstick

        formula = yardstick.formula_of(radius, bandit.K, bandit.D, setting.delta)
        work = yardstick.workspace(bandit.K, bandit.D)
        nothing = np.zeros((0, 5), dtype=np.int64), np.zeros((0, 3))
    start = time.perf_counter()
    while state.clock[0, P.STATUS] == P.RUNNING:
        bandit.fill(stream, noise[0])
        if rule is None:
            yardstick.advance(engine.program, formula, state, 0, noise[0], *nothing, work)
        else:
            engine.advance(state, np.zeros(1, dtype=np.int64), noise)
    return int(state.clock[0, P.TIME]) / (time.perf_counter() - start)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; with --check, 1 if the floor is missed."""
    parser = argparse.ArgumentParser(description="Baseline rules against the textbook APE.")
    parser.add_argument("--check", action="store_true", help="exit with 1 below the floor")
    options = parser.parse_args(arguments)
    import numba

    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores"
    )
    samples_per_second(None, 1000)  # compile, or load from the cache
    for rule in RULES:
        samples_per_second(rule, 1000)
    textbook, best = 0.0, dict.fromkeys(RULES, 0.0)
    for _ in range(5):  # alternating, so that a busy moment hits all
        textbook = max(textbook, samples_per_second(None, SAMPLES // 10))
        for rule in RULES:
            best[rule] = max(best[rule], samples_per_second(rule, SAMPLES))
    print(f"{'textbook APE':24} {textbook / 1e6:6.2f} million rounds/s")
    for rule, speed in best.items():
        print(
            f"{type(rule).__name__:24} {speed / 1e6:6.2f} million samples/s   "
            f"{speed / textbook:6.1f} for each textbook round"
        )
    missed = [type(rule).__name__ for rule in UNIFORM if best[rule] < FLOOR * textbook]
    print(f"missed: {', '.join(missed)}" if missed else f"floor of {FLOOR} met")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
