"""Why is APE's advantage over elimination in Table 1 not found? Hypotheses, tried one by one.

    python -m paretoid.validation.paper.elimination_variants [instances]

On the instances of `table1` each variant of PSI-Unif-Elim (or of APE) is run once; printed is
the ratio of mean samples, APE-5 over elimination, which the paper's table puts at 0.791, 0.787,
0.746 for D = 2, 4, 8, with a paired bootstrap interval, and the median ratio per instance. What
follows from it: validation/paper/README.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import paretoid as pt
from paretoid.theory.calibration import C_g, C_g_approximate
from paretoid.theory.checks import FloatArray
from paretoid.validation.paper.setting import (
    RADIUS,
    flat,
    random_bandits,
    random_means,
    slow_bandit,
)
from paretoid.validation.paper.slow_elimination import PULL_RATIOS
from paretoid.validation.paper.statistics import ratio, row
from paretoid.validation.paper.table1 import EPS1, PAPER

PAIRS, SUM = 0, 1  # radius on the pair, or the sum of two radii on single arms


def eliminate(
    means: Any,
    eps: float,
    C: float,
    form: int,
    second_eps: float,
    retire: bool,
    rng: Any,
    pulls: Any,
) -> int:
    """Samples of one run of PSI-Unif-Elim on Bernoulli arms, with the choices spelled out.

    form        PAIRS: 2 s sqrt((C + 2 l)(2/n)); SUM: twice 2 s sqrt((C + l)/n); s = 1/2
    second_eps  the slack in the test for P2, eps in the printed algorithm
    retire      False: an arm once in P1 is sampled until all arms are decided
    pulls       (K,) samples of each arm are added here
    """
    K, D = means.shape
    sums = np.zeros((K, D))
    active, first = np.ones(K, dtype=np.bool_), np.zeros(K, dtype=np.bool_)
    M = np.zeros((K, K))
    out = np.zeros(K, dtype=np.bool_)
    n, total = 0, 0
    while True:
        n += 1
        for i in range(K):
            if active[i]:
                total += 1
                pulls[i] += 1
                for d in range(D):
                    if rng.random() < means[i, d]:
                        sums[i, d] += 1.0
        l = math.log(4.0 + math.log(n))
        if form == PAIRS:
            beta = math.sqrt((C + 2.0 * l) * 2.0 / n)
        else:
            beta = 2.0 * math.sqrt((C + l) / n)
        for i in range(K):
            out[i] = False
            for j in range(K):
                if i != j and active[i] and active[j]:
                    best = -1.0
                    for d in range(D):
                        best = max(best, sums[i, d] / n - sums[j, d] / n)
                    M[i, j] = best
                    if -best > beta:
                        out[i] = True
        left, decided = 0, True
        for i in range(K):
            active[i] = active[i] and not out[i]
            left += 1 if active[i] else 0
        for i in range(K):
            first[i] = active[i]
            for j in range(K):
                if i != j and active[i] and active[j] and M[i, j] + eps < beta:
                    first[i] = False
            decided = decided and (first[i] or not active[i])
        if decided:
            return total
        if retire:
            for j in range(K):
                gone = first[j]
                for i in range(K):
                    blocked = active[i] and not first[i]
                    if gone and blocked and M[i, j] + second_eps <= beta:
                        gone = False
                out[j] = gone
            for j in range(K):
                active[j] = active[j] and not out[j]


def level(count: float) -> float:
    """C of the paper's radius with a union over `count` events, delta = 0.1."""
    return C_g_approximate(math.log(count / 0.1) / 2)


def variants(D: int) -> dict[str, Callable[[list[pt.Bandit], FloatArray, int], FloatArray]]:
    """Name: samples of elimination, or of what stands in for it, on each instance."""
    import numba

    compiled = numba.njit(eliminate)

    def engine(rule: pt.Rule, radius: pt.Radius = RADIUS) -> Any:
        def run(bandits: list[pt.Bandit], means: FloatArray, seed: int) -> FloatArray:
            goal = pt.ParetoSet(EPS1)
            return flat(
                pt.simulate(bandits, goal, rule=rule, radius=radius, delta=0.1, seed=seed),
                "stopping_time",
            )

        return run

    def spelled(C: float, form: int = PAIRS, second_eps: float = EPS1, retire: bool = True) -> Any:
        def run(bandits: list[pt.Bandit], means: FloatArray, seed: int) -> FloatArray:
            rng = np.random.default_rng(seed)
            unread = np.zeros(means.shape[1])
            return np.array(
                [
                    compiled(table, EPS1, C, form, second_eps, retire, rng, unread)
                    for table in means
                ],
                dtype=np.float64,
            )

        return run

    elimination = pt.UniformElimination()
    return {
        "as printed, our engine": engine(elimination),
        "as printed, spelled out here": spelled(level(1)),
        "P2 tested without eps1": spelled(level(1), second_eps=0.0),
        "arms of P1 sampled to the end": spelled(level(1), retire=False),
        "every arm sampled to the end (RoundRobin)": engine(pt.RoundRobin()),
        "sum of single-arm radii": spelled(level(1), form=SUM),
        "single-arm radii, level delta/(K D)": spelled(level(5 * D), form=SUM),
        "union over K arms, APE without": spelled(level(5)),
        "union over K1 pairs, APE without": spelled(level(10 * D)),
        "exact C^g, APE with x + log x": engine(
            elimination, pt.KaufmannKoolen("exact", union="none")
        ),
    }


def main(count: int = 300, seed: int = 1) -> None:
    """Print one line for each variant and D."""
    for D, printed in PAPER.items():
        bandits, means = random_bandits(count, 5, D, seed), random_means(count, 5, D, seed)
        print(f"D={D}, {count} instances; paper {printed[4] / printed[5]:.3f}", flush=True)
        goal = pt.AtMost(5, EPS1)

        def ape(rule: pt.Rule, bandits: Any = bandits, goal: pt.Goal = goal) -> FloatArray:
            runs = pt.simulate(bandits, goal, rule=rule, radius=RADIUS, delta=0.1, seed=seed)
            return flat(runs, "stopping_time")

        ours = ape(pt.APE())
        base = np.empty(0)
        for name, run in variants(D).items():
            theirs = run(bandits, means, seed)
            base = theirs if not base.size else base
            _line(name, ours, theirs)
        _line("APE(pull='both') over elimination as printed", ape(pt.APE(pull="both")), base)


def slow_instance(runs: int = 300, seed: int = 1) -> None:
    """Pulls of each arm, elimination over APE, on the five arms of `slow-elimination`.

    Arms 1 and 3 have to be told apart by both algorithms: with the same radius they need the same
    number of samples, whatever the instance.
    """
    import numba

    compiled = numba.njit(eliminate)
    bandit = slow_bandit()
    ape = pt.simulate(bandit, pt.AtMost(5), radius=RADIUS, delta=0.1, replications=runs, seed=seed)
    pulls = flat(ape, "pulls").mean(axis=0)
    print(f"pulls of arms 0-4, elimination / APE; paper {PULL_RATIOS}")
    tried = {
        "as printed": (level(1), PAIRS),
        "sum of single-arm radii": (level(1), SUM),
        "exact C^g": (C_g(math.log(1 / 0.1) / 2), PAIRS),
        "union over K arms": (level(5), PAIRS),
        "union over K1 pairs": (level(20), PAIRS),
    }
    for name, (C, form) in tried.items():
        rng, total = np.random.default_rng(seed), np.zeros(5)
        for _ in range(runs):
            compiled(bandit.means, 0.0, C, form, 0.0, True, rng, total)
        print(f"  {name:46} {np.round(total / runs / pulls, 2)}", flush=True)


def _line(name: str, ours: FloatArray, theirs: FloatArray) -> None:
    line = row("", name, "", np.stack([ours, theirs], axis=1), statistic=ratio)
    median = float(np.median(ours / theirs))
    print(
        f"  {name:46} {line.mean:5.3f} [{line.low:5.3f}, {line.high:5.3f}]   median {median:5.3f}",
        flush=True,
    )


if __name__ == "__main__":
    slow_instance()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
