"""Samples that `BetaBinomial` needs to tell two rates apart, beside `Mixture` with scale 1/2.

`python -m paretoid.validation.benchmarks.rare_events` prints three tables; `--runs 5` is quicker.

The first has means of simulated runs at delta = 0.1, two arms drawn in turn as APE does: with the
default rho, and with one planned for these rates; without planned rates, with right ones, and with
rates planned 3 times too low and too high.
The second compares both radii on all pairs of rates in [0.01, 0.99] that are 0.02 or more apart, on
the path without noise, both arms drawn in turn: for one pair of arms, and for a pair among 20 arms
with 3 objectives, where `Mixture` is one-sided; with and without planned rates.
The third has the time of a round of the compiled loop beside that of the readable one.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paretoid import text
from paretoid.bandits import BernoulliBandit
from paretoid.goals import ParetoSet
from paretoid.rules import APE
from paretoid.runs.setting import Setting
from paretoid.theory.radii import BetaBinomial, Mixture
from paretoid.theory.radii.beta_binomial import TRUST
from paretoid.validation.benchmarks.participants import Mean

DELTA = 0.1
#: rates, the rho planned for them, and the samples that were asked for
TASKS = (((0.02, 0.06), 100.0, 2000), ((0.01, 0.02), 1000.0, 8000))
#: rates of the grid, from which gaps of 0.02 and more are taken
GRID = np.concatenate([[0.01, 0.03], np.arange(0.05, 0.951, 0.05), [0.97, 0.99]])


#: how far off rates are planned, and how that is said
PLANS = ((None, "none"), (1.0, "right"), (1 / 3, "3 times too low"), (3.0, "3 times too high"))


def radius_of(
    rates: Sequence[float], rho: float, off: float | None, trust: float = TRUST
) -> BetaBinomial:
    """The radius with rates planned `off` times the true ones; None: not planned.

    >>> radius_of((0.02, 0.06), 30.0, 3.0).planned
    ((0.06,), (0.18,))
    """
    if off is None:
        return BetaBinomial(rho=rho)
    return BetaBinomial(rho=rho, planned=[[round(off * rate, 12)] for rate in rates], trust=trust)


def rows(runs: int) -> Iterator[list[str]]:
    """Rates, rho, the plan, samples and their error, wrong answers, what was asked for."""
    for rates, tuned, asked in TASKS:
        for rho, (off, name) in itertools.product((30.0, tuned), PLANS):
            radius = radius_of(rates, rho, off)
            ended = [one_run(rates, radius, 10 * asked, (1, run)) for run in range(runs)]
            wrong = sum(lower == 1 for _, lower in ended)
            unfinished = sum(lower is None for _, lower in ended)
            said = f"{wrong} of {runs}" + (f", {unfinished} unfinished" if unfinished else "")
            yield [
                f"{rates[0]}, {rates[1]}", f"{rho:,.0f}", name,
                str(Mean.of([samples for samples, _ in ended])), said, text.count(asked),
            ]  # fmt: skip


def one_run(
    rates: tuple[float, float], radius: BetaBinomial, most: int, seed: tuple[int, int]
) -> tuple[int, int | None]:
    """(samples, the arm shown to have the lower rate; None if `most` samples show nothing).

    Two arms drawn in turn, and both bounds asked after every draw: what APE does with two arms, at
    the speed of the bounds alone.
    """
    from paretoid.engine.two_rates import _upper

    level, rho = radius.constants(2, 1, DELTA)[0] / 2, float(radius.rho)
    ones, zeros = radius.planned_draws(2, 1)
    priors = [(float(ones[i, 0]), float(zeros[i, 0])) for i in (0, 1)]
    uniform = np.random.default_rng(seed).random(most).tolist()
    s, n = [0.0, 0.0], [0.0, 0.0]
    for drawn, number in enumerate(uniform, start=1):
        arm = drawn % 2
        n[arm] += 1
        s[arm] += number < rates[arm]
        for i, j in ((0, 1), (1, 0)):
            # the bound is not below the estimate, so only the lower arm can be shown to be that
            first = s[i], n[i], rho, *priors[i]
            second = s[j], n[j], rho, *priors[j]
            if s[i] * n[j] < s[j] * n[i] and _upper(*first, *second, level) < 0:
                return drawn, i
    return most, None


def ratios(K: int, D: int, trust: float | None = None) -> list[tuple[float, float, float]]:
    """(ratio of samples, smaller rate, larger rate) on the path without noise, worst first.

    With `trust` the rates are planned, and right.
    """
    found = []
    plain = Mixture()
    for p in GRID:
        for gap in (0.02, *(GRID[GRID > p + 0.0201] - p)):
            q = float(p + gap)
            if q > 0.9901:
                continue
            rare = radius_of((float(p), q), 30.0, None if trust is None else 1.0, trust or TRUST)
            ours = _samples(_told_apart(rare, K, D, float(p), q))
            theirs = _samples(_wide(plain, K, D, q - float(p)))
            found.append((ours / theirs, float(p), q))
    return sorted(found, reverse=True)


def _told_apart(radius: BetaBinomial, K: int, D: int, p: float, q: float) -> Callable[..., bool]:
    """Do both bounds at the levels of claims exclude 0, with n draws of each arm?"""
    from paretoid.engine.two_rates import _upper

    levels = [constant / 2 for constant in radius.constants(K, D, DELTA)]
    rho = float(radius.rho)
    ones, zeros = radius.planned_draws(2, 1)
    first, second = ((rho, float(ones[i, 0]), float(zeros[i, 0])) for i in (0, 1))

    def shown(n: float) -> bool:
        return all(_upper(n * p, n, *first, n * q, n, *second, level) < 0 for level in levels)

    return shown


def _wide(radius: Mixture, K: int, D: int, gap: float) -> Callable[..., bool]:
    """The same for half-widths with scale 1/2."""

    def shown(n: float) -> bool:
        widths = (radius.half_width(n, n, K, D, DELTA, drop=drop) / 2 for drop in (False, True))
        return max(float(width) for width in widths) < gap

    return shown


def _samples(shown: Callable[..., bool]) -> float:
    """The least n, within 0.1%, from which a condition that stays true is true."""
    low, high = 2.0, 1e8
    while high / low > 1.001:
        n = math.sqrt(low * high)
        low, high = (low, n) if shown(n) else (n, high)
    return high


def seconds_a_round(K: int, D: int, rounds: int) -> tuple[float, float]:
    """(compiled, readable) processor time of a round, in one run; means of the first `rounds`."""
    from paretoid import loop
    from paretoid.engine.program import TIME, new_state
    from paretoid.runs.chunk import Engine

    rng = np.random.default_rng((K, D))
    bandit = BernoulliBandit(rng.uniform(0.02, 0.6, (K, D)))
    noise, only = np.empty((rounds, D)), np.zeros(1, dtype=np.int64)
    bandit.fill(rng, noise)
    setting = Setting(bandit, (ParetoSet(),), APE(), BetaBinomial(), DELTA, None)
    engine = Engine(setting)
    engine.advance(new_state(engine.program, 1), only, noise[None, : K + 1])  # compiles
    state, start = new_state(engine.program, 1), time.process_time()
    engine.advance(state, only, noise[None])
    compiled = (time.process_time() - start) / int(state.clock[0, TIME])
    outcomes, start = loop.outcomes_of(bandit, noise), time.process_time()
    history = loop.run(setting, outcomes, np.random.default_rng(0))
    return compiled, (time.process_time() - start) / len(history.arms)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=40, help="runs of each row; default 40")
    runs = parser.parse_args(arguments).runs
    made = []
    for row in rows(runs):
        made.append(row)
        print("  ".join(row), file=sys.stderr, flush=True)
    print(text.markdown(["rates", "rho", "rates planned", "samples", "wrong", "asked for"], made))
    print()
    heads = ["arms, objectives", "trust in a right plan", "pairs of rates", "worst ratio", "at",
             "best ratio", "at"]  # fmt: skip
    cells = []
    for (K, D), trust in itertools.product(((2, 1), (20, 3)), (None, TRUST, 1.0)):
        found = ratios(K, D, trust)
        (worst, *at), (best, *where) = found[0], found[-1]
        cells.append([
            f"{K}, {D}", "no plan" if trust is None else f"{trust:.2g}", str(len(found)),
            f"{worst:.3f}", "{:.2f}, {:.2f}".format(*at),
            f"{best:.3f}", "{:.2f}, {:.2f}".format(*where),
        ])  # fmt: skip
    print(text.markdown(heads, cells))
    print()
    heads = ["arms, objectives", "compiled, us a round", "readable, us a round", "ratio"]
    cells = []
    for K, D in ((2, 1), (4, 2), (20, 3)):
        quick, slow = seconds_a_round(K, D, 1500)
        cells.append(
            [f"{K}, {D}", f"{quick * 1e6:.0f}", f"{slow * 1e6:,.0f}", f"{slow / quick:.0f}"]
        )
    print(text.markdown(heads, cells))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
