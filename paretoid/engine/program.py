"""One run as numbers: what the kernels need of bandit, rule, radius, goals and delta.

`Program` is read-only and shared by all runs; `State` is what changes, one row per run. Both
are named tuples of arrays because Numba reads those without copying. Everything here is
oriented so that larger is better; eps is in the objectives' own units until `State.eps1`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, IntArray

GAUSSIAN, BERNOULLI, RESAMPLED = 0, 1, 2
MIXTURE, KAUFMANN_KOOLEN, UNKNOWN_SCALE, SINGLE_ARM = 0, 1, 2, 3
ITERATED_LOGARITHM = 4  # radii on one arm: this, and MIXTURE for ArmMixture
PARETO_SET, COVER, AT_MOST = 0, 1, 2
RUNNING, FINISHED, OUT_OF_BUDGET, CONSTANT_OUTCOMES = 0, 1, 2, 3

#: columns of State.clock
TIME, NEXT, PENDING, OPTIMAL, STATUS = 0, 1, 2, 3, 4


class Program(NamedTuple):
    """What a run needs to know and never changes."""

    outcomes: int  # GAUSSIAN, BERNOULLI or RESAMPLED
    location: FloatArray  # (K, D) oriented means; Bernoulli: the probabilities, not oriented
    spread: FloatArray  # (K, D) signed factor of the noise; Bernoulli: the value of a success
    data: FloatArray  # (sum of sizes, D) outcomes to resample, oriented
    starts: IntArray  # (K + 1,) where each arm's data begin
    radius: int  # MIXTURE, KAUFMANN_KOOLEN, UNKNOWN_SCALE, SINGLE_ARM or ITERATED_LOGARITHM
    keep: float  # C of lower bounds; SINGLE_ARM: log(5 K D / (2 delta))
    drop: float  # C of upper bounds
    rho: float
    table_l: FloatArray  # (N,) l(n)
    table_v: FloatArray  # (N,) v(n)
    chi: FloatArray  # (N,) chi_n of UNKNOWN_SCALE, else (1,)
    chi_ratio: float  # chi_n / n beyond the table
    common: bool  # the scale of an objective is the same for all arms
    factor: FloatArray  # (K, D) squared scale over squared divisor
    divisor: FloatArray  # (D,) each objective is divided by this; UNKNOWN_SCALE: set by the run
    first: int  # samples of each arm before the first decision
    both: bool  # APE(pull="both")
    eps1: FloatArray  # (D,)
    goal: IntArray  # (G,) PARETO_SET, COVER or AT_MOST
    k: IntArray  # (G,)
    eps2: FloatArray  # (G, D)
    chain: bool  # covers come with decreasing eps2, so a failing one fails the rest
    max_samples: int
    zero: FloatArray  # (D,) zeros


class State(NamedTuple):
    """Where each of R runs is."""

    counts: IntArray  # (R, K)
    sums: FloatArray  # (R, D, K)
    ss: FloatArray  # (R, D, K) squared deviations; (R, 0, 0) unless UNKNOWN_SCALE
    means: FloatArray  # (R, D, K) divided by the divisor
    l: FloatArray  # (R, K)
    v: FloatArray  # (R, 1 or D, K)
    inverse: FloatArray  # (R, D) one over the divisor
    eps1: FloatArray  # (R, D) divided by the divisor
    eps2: FloatArray  # (R, G, D) the same
    clock: IntArray  # (R, 5) samples so far, next arm, pending arm, |OPT|, status
    optimal: BoolArray  # (R, K) OPT(t)
    blocker: IntArray  # (R, K) for arms outside OPT: a j whose lower bound keeps them out
    ceiling: FloatArray  # (R, K) an upper bound of min_j M+(i, j), attained at `witness`; OPT: -inf
    witness: IntArray  # (R, K)
    uncovered: IntArray  # (R, G) for covers: an arm last seen uncovered
    stopped: BoolArray  # (R, G)
    time: IntArray  # (R, G)
    answer: BoolArray  # (R, G, K)
    pulls: IntArray  # (R, G, K)
    scratch: FloatArray  # (2, K)


def new_state(program: Program, runs: int) -> State:
    """`runs` runs that have sampled nothing yet."""
    K, D = program.location.shape
    G = len(program.goal)
    unknown = program.radius == UNKNOWN_SCALE
    clock = np.zeros((runs, 5), dtype=np.int64)
    clock[:, PENDING] = -1
    inverse = np.tile(1 / program.divisor, (runs, 1))
    return State(
        counts=np.zeros((runs, K), dtype=np.int64),
        sums=np.zeros((runs, D, K)),
        ss=np.zeros((runs, D, K) if unknown else (runs, 0, 0)),
        means=np.zeros((runs, D, K)),
        l=np.zeros((runs, K)),
        v=np.zeros((runs, 1 if program.common else D, K)),
        inverse=inverse,
        eps1=np.tile(program.eps1 / program.divisor, (runs, 1)),
        eps2=np.tile(program.eps2 / program.divisor, (runs, 1, 1)),
        clock=clock,
        optimal=np.zeros((runs, K), dtype=np.bool_),
        blocker=np.zeros((runs, K), dtype=np.int64),
        ceiling=np.zeros((runs, K)),
        witness=np.zeros((runs, K), dtype=np.int64),
        uncovered=np.zeros((runs, G), dtype=np.int64),
        stopped=np.zeros((runs, G), dtype=np.bool_),
        time=np.zeros((runs, G), dtype=np.int64),
        answer=np.zeros((runs, G, K), dtype=np.bool_),
        pulls=np.zeros((runs, G, K), dtype=np.int64),
        scratch=np.zeros((2, K)),
    )
