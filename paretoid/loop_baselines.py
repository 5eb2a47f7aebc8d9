"""The baseline rules in readable NumPy, straight from their definitions. Slow; for the tests.

Everything is recomputed at every test. The kernels of `paretoid.engine.baselines` must take
the same arms, stop at the same times and give the same answers. What a rule concludes
from its bounds, `eliminate`, `most_certain`, `lucb_pair` and `ugapec_pair`, is what the Explorer
calls too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from paretoid.engine.program import AT_MOST, ITERATED_LOGARITHM, UNKNOWN_SCALE, Program
from paretoid.loop import Intervals, ReferenceRun, decide, intervals, outcome
from paretoid.theory.checks import BoolArray, FloatArray


class _Samples:
    """Counts, sums and squared deviations of the arms, and the scale they are measured in."""

    def __init__(self, program: Program) -> None:
        K, D = program.location.shape
        self.program = program
        self.counts, self.sums, self.ss = np.zeros(K), np.zeros((K, D)), np.zeros((K, D))
        self.divisor = np.array(program.divisor)

    def add(self, arm: int, row: FloatArray) -> None:
        """One outcome of `arm`."""
        x = outcome(self.program, arm, row)
        before = self.sums[arm] / max(self.counts[arm], 1)
        self.counts[arm] += 1
        self.sums[arm] += x
        if self.counts[arm] > 1:
            self.ss[arm] += (x - before) * (x - self.sums[arm] / self.counts[arm])

    def pool(self) -> None:
        """Unknown scales: measure everything in pooled standard deviations from now on."""
        total = np.zeros(len(self.divisor))
        for row in self.ss:  # in order: np.sum is pairwise
            total = total + row
        self.divisor = np.sqrt(total / float((self.counts - 1).sum()))

    def intervals(self) -> Intervals:
        """Pairwise intervals now."""
        return intervals(self.program, self.counts, self.sums, self.ss, 1 / self.divisor, 0)

    def eps(self, own_units: FloatArray) -> FloatArray:
        """eps in units of the divisor."""
        if self.program.radius == UNKNOWN_SCALE:
            return np.asarray(own_units * (1 / self.divisor))
        return np.asarray(own_units / self.divisor)


#: after each full round: the active arms of the next one; it records the goals that stop
Test = Callable[[_Samples, ReferenceRun, list[int]], list[int]]


def _by_rounds(program: Program, noise: FloatArray, test: Test) -> ReferenceRun:
    K = len(program.location)
    run = ReferenceRun(stops=[None] * len(program.goal))
    samples, active, queue = _Samples(program), list(range(K)), list(range(K))
    for row in noise[: program.max_samples]:
        arm = queue.pop(0)
        run.arms.append(arm)
        samples.add(arm, row)
        if queue:
            continue
        if samples.counts[arm] == program.first and program.radius == UNKNOWN_SCALE:
            samples.pool()
        if samples.counts[arm] >= program.first:
            active = test(samples, run, active)
            if all(stop is not None for stop in run.stops):
                break
        queue = list(active)
    return run


def round_robin(program: Program, noise: FloatArray) -> ReferenceRun:
    """Every arm in turn; after each round APE's stopping rules, as `_reference.decide` has them."""

    def test(samples: _Samples, run: ReferenceRun, active: list[int]) -> list[int]:
        eps1, eps2 = samples.eps(program.eps1), samples.eps(program.eps2)
        decide(program, run, samples.counts, samples.intervals(), eps1, eps2)
        return active

    return _by_rounds(program, noise, test)


def eliminate(
    upper: FloatArray, lower: FloatArray, active: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """(A, P1, P2) of one test, see `paretoid.rules.UniformElimination`.

    upper  (K, K) M+(i, j): i is dropped for a j with a negative one
    lower  (K, K) max_d (L + eps1)
    """
    A = [i for i in active if not any(upper[i, j] < 0 for j in active if j != i)]
    P1 = [i for i in A if all(lower[i, j] >= 0 for j in A if j != i)]
    rest = [i for i in A if i not in P1]
    return A, P1, [j for j in P1 if not any(lower[i, j] <= 0 for i in rest)]


def most_certain(lower: FloatArray, A: Sequence[int], P1: Sequence[int]) -> list[int]:
    """P1, the largest min over A of `lower` first."""
    h = {i: min((lower[i, j] for j in A if j != i), default=math.inf) for i in P1}
    return sorted(P1, key=lambda i: (-h[i], i))


def uniform_elimination(program: Program, noise: FloatArray) -> ReferenceRun:
    """Algorithm "Adaptation of PSI-Unif-Elim" [kone2023, appendix], line by line."""
    K = len(program.location)
    P: set[int] = set()

    def test(samples: _Samples, run: ReferenceRun, active: list[int]) -> list[int]:
        difference = samples.intervals()
        upper = (difference.mean + difference.drop).max(axis=2)  # M + beta: < 0 iff m > beta
        lower = (difference.mean + samples.eps(program.eps1) - difference.keep).max(axis=2)
        A, P1, P2 = eliminate(upper, lower, active)
        for g, kind in enumerate(program.goal):  # with P(t-1)
            if kind == AT_MOST and run.stops[g] is None and len(P) + len(P1) >= program.k[g]:
                chosen = list(P) + most_certain(lower, A, P1)[: program.k[g] - len(P)]
                run.stops[g] = (len(run.arms), _mask(chosen, K), samples.counts.copy())
        P.update(P2)
        A = [i for i in A if i not in P2]
        for g in range(len(program.goal)):
            if not A and run.stops[g] is None:
                run.stops[g] = (len(run.arms), _mask(list(P), K), samples.counts.copy())
        return A

    return _by_rounds(program, noise, test)


def lucb_pair(mean: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[int, int, float]:
    """h = empirical best, l = largest upper bound among the others; (h, l, their gap)."""
    h = int(np.argmax(mean))
    others = np.where(np.arange(len(mean)) == h, -np.inf, upper)
    l = int(np.argmax(others))
    return h, l, float(upper[l] - lower[h])


def ugapec_pair(mean: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[int, int, float]:
    """B_i = max over j != i of upper(j), minus lower(i); J = argmin B, its rival, and B_J."""
    others = np.where(np.eye(len(mean), dtype=bool), -np.inf, upper)  # row i: upper(j), j != i
    B = others.max(axis=1) - lower
    J = int(np.argmin(B))
    return J, int(np.argmax(others[J])), float(B[J])


def lucb(program: Program, noise: FloatArray) -> ReferenceRun:
    """Sample both of the pair."""
    return _best_arm(program, noise, lucb_pair, both=True)


def ugapec(program: Program, noise: FloatArray) -> ReferenceRun:
    """Sample the less sampled of the pair."""
    return _best_arm(program, noise, ugapec_pair, both=False)


#: (means, lower bounds, upper bounds) -> (candidate, rival, upper(rival) - lower(candidate))
Choose = Callable[[FloatArray, FloatArray, FloatArray], tuple[int, int, float]]


def _best_arm(program: Program, noise: FloatArray, choose: Choose, both: bool) -> ReferenceRun:
    K = len(program.location)
    run = ReferenceRun(stops=[None] * len(program.goal))
    samples, queue = _Samples(program), list(range(K))
    eps = program.eps1[0] / program.divisor[0]
    for row in noise[: program.max_samples]:
        arm = queue.pop(0)
        run.arms.append(arm)
        samples.add(arm, row)
        if queue:
            continue
        n = samples.counts
        mean = samples.sums[:, 0] / n * (1 / program.divisor[0])
        if program.radius == ITERATED_LOGARITHM:
            l, v = np.array([3 * math.log(1 + math.log(c)) for c in n]), 1 / n
        else:
            rho = program.rho
            l, v = np.array([math.log((c + rho) / rho) for c in n]), (n + rho) / (n * n)
        v = v * program.factor[:, 0]
        upper = mean + np.sqrt((program.drop + l) * v)
        lower = mean - np.sqrt((program.keep + l) * v)
        best, rival, gap = choose(mean, lower, upper)
        if gap < eps:
            run.stops = [(len(run.arms), _mask([best], K), n.copy())] * len(program.goal)
            break
        if len(run.arms) + (2 if both else 1) > program.max_samples:
            break
        queue = [best, rival] if both else [best if n[best] <= n[rival] else rival]
    return run


def _mask(arms: list[int], K: int) -> BoolArray:
    mask = np.zeros(K, dtype=bool)
    mask[arms] = True
    return mask
