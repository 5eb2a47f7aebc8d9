"""Samples that `BetaBinomial` needs to tell two rates apart, beside `Mixture` with scale 1/2.

`python -m paretoid.validation.benchmarks.rare_events` prints two tables; `--runs 5` is quicker.

The first has means of simulated runs at delta = 0.1, two arms drawn in turn as
APE does, with the default rho, with one planned for these rates, and with one 3 times too low and
too high. There is no centre to plan: the prior is centred at the hypothesis (theory/PROOFS.md,
Section 14), and rho is all that is fixed beforehand.
The second compares both with their defaults on all pairs of rates in [0.01, 0.99] that are 0.02 or
more apart, on the path without noise, both arms drawn in turn: for one pair of arms, and for a pair
among 20 arms with 3 objectives, where `Mixture` is one-sided and `BetaBinomial` is not.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paretoid import text
from paretoid.theory.radii import BetaBinomial, Mixture
from paretoid.validation.benchmarks.participants import Mean

DELTA = 0.1
#: rates, the rho planned for them, and the samples that were asked for
TASKS = (((0.02, 0.06), 100.0, 2000), ((0.01, 0.02), 1000.0, 8000))
#: rates of the grid, from which gaps of 0.02 and more are taken
GRID = np.concatenate([[0.01, 0.03], np.arange(0.05, 0.951, 0.05), [0.97, 0.99]])


def rows(runs: int) -> Iterator[list[str]]:
    """Rates, rho, samples with their standard error, wrong answers, what was asked for."""
    for rates, planned, asked in TASKS:
        named = (("default", 30.0), ("planned", planned), ("3 times too low", planned / 3),
                 ("3 times too high", planned * 3))  # fmt: skip
        for name, rho in named:
            ended = [one_run(rates, rho, 10 * asked, (1, run)) for run in range(runs)]
            wrong = sum(lower == 1 for _, lower in ended)
            unfinished = sum(lower is None for _, lower in ended)
            said = f"{wrong} of {runs}" + (f", {unfinished} unfinished" if unfinished else "")
            yield [
                f"{rates[0]}, {rates[1]}", f"{rho:,.0f}, {name}",
                str(Mean.of([samples for samples, _ in ended])), said, text.count(asked),
            ]  # fmt: skip


def one_run(
    rates: tuple[float, float], rho: float, most: int, seed: tuple[int, int]
) -> tuple[int, int | None]:
    """(samples, the arm shown to have the lower rate; None if `most` samples show nothing).

    Two arms drawn in turn, and both bounds asked after every draw: what APE does with two arms, at
    the speed of the bounds alone.
    """
    from paretoid.engine.two_rates import _upper

    level = BetaBinomial(rho=rho).constants(2, 1, DELTA)[0] / 2
    uniform = np.random.default_rng(seed).random(most).tolist()
    s, n = [0.0, 0.0], [0.0, 0.0]
    for drawn, number in enumerate(uniform, start=1):
        arm = drawn % 2
        n[arm] += 1
        s[arm] += number < rates[arm]
        for i, j in ((0, 1), (1, 0)):
            # the bound is not below the estimate, so only the lower arm can be shown to be that
            if s[i] * n[j] < s[j] * n[i] and _upper(s[i], n[i], rho, s[j], n[j], rho, level) < 0:
                return drawn, i
    return most, None


def ratios(K: int, D: int) -> list[tuple[float, float, float]]:
    """(ratio of samples, smaller rate, larger rate) on the path without noise, worst first."""
    found = []
    plain, rare = Mixture(), BetaBinomial()
    for p in GRID:
        for gap in (0.02, *(GRID[GRID > p + 0.0201] - p)):
            q = float(p + gap)
            if q > 0.9901:
                continue
            ours = _samples(_told_apart(rare, K, D, float(p), q))
            theirs = _samples(_wide(plain, K, D, q - float(p)))
            found.append((ours / theirs, float(p), q))
    return sorted(found, reverse=True)


def _told_apart(radius: BetaBinomial, K: int, D: int, p: float, q: float) -> Callable[..., bool]:
    """Do both bounds at the levels of claims exclude 0, with n draws of each arm?"""
    from paretoid.engine.two_rates import _upper

    levels = [constant / 2 for constant in radius.constants(K, D, DELTA)]
    rho = float(radius.rho)

    def shown(n: float) -> bool:
        return all(_upper(n * p, n, rho, n * q, n, rho, level) < 0 for level in levels)

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=40, help="runs of each row; default 40")
    runs = parser.parse_args(arguments).runs
    made = []
    for row in rows(runs):
        made.append(row)
        print("  ".join(row), file=sys.stderr, flush=True)
    print(text.markdown(["rates", "rho", "samples", "wrong", "asked for"], made))
    print()
    heads = ["arms, objectives", "pairs of rates", "worst ratio", "at", "best ratio", "at"]
    cells = []
    for K, D in ((2, 1), (20, 3)):
        found = ratios(K, D)
        (worst, *at), (best, *where) = found[0], found[-1]
        cells.append([
            f"{K}, {D}", str(len(found)), f"{worst:.3f}", "{:.2f}, {:.2f}".format(*at),
            f"{best:.3f}", "{:.2f}, {:.2f}".format(*where),
        ])  # fmt: skip
    print(text.markdown(heads, cells))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
