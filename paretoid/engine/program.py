"""One run as numbers: what the kernels need of bandit, rule, radius, goals and delta.

`Program` is read-only and shared by all runs; `EngineState` is what changes, one row per run. Both
are named tuples of arrays because Numba reads those without copying. Everything here is
oriented so that larger is better; eps is in the objectives' own units until `EngineState.eps1`.
Kernels know no radius: they read columns of l and v by count, and constants by role.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, IntArray, SignArray

AFFINE, THRESHOLD, TABLE, LATENT = 0, 1, 2, 3
PARETO_SET, COVER, AT_MOST = 0, 1, 2
RUNNING, FINISHED, OUT_OF_BUDGET, CONSTANT_OUTCOMES, OUTGROWN = 0, 1, 2, 3, 4

#: columns of EngineState.clock
TIME, NEXT, PENDING, OPTIMAL, STATUS, FORMER = 0, 1, 2, 3, 4, 5


class Rates(NamedTuple):
    """The priors of `BetaBinomial`, oriented; empty for other radii."""

    rho: FloatArray  # (K,)
    ones: FloatArray  # (K, D) draws that a plan adds
    zeros: FloatArray  # (K, D)
    flipped: BoolArray  # (D,) the objective is minimised


class LimitTable(NamedTuple):
    """Limits of q objectives, and what bounds on single arms cost; without limits q = 0."""

    column: IntArray  # (q,) the objective of each
    direction: FloatArray  # (q,) 1 or -1: an arm meets it if direction * mean >= floor
    floor: FloatArray  # (q,)
    slack: FloatArray  # (q,)
    keep: FloatArray  # (K,) C of the bound by which an arm is called feasible
    drop: FloatArray  # (K,) C of the bound by which it is called infeasible


class Program(NamedTuple):
    """What a run needs to know and never changes."""

    outcomes: int  # AFFINE, THRESHOLD, TABLE or LATENT: how an outcome comes from noise
    location: FloatArray  # (K, D) oriented means; THRESHOLD: below which noise is a success
    spread: FloatArray  # (K, D) signed factor of the noise; THRESHOLD: the value of a success
    data: FloatArray  # (sum of sizes, D) outcomes to draw from, oriented; LATENT: (3, D) ranges
    starts: IntArray  # (K + 1,) where each arm's data begin
    reference: FloatArray  # (D,) subtracted from outcomes before they are summed
    keep: FloatArray  # (K,) C of the lower bounds that keep an arm
    drop: FloatArray  # (K,) C of the upper bounds that drop it
    rival: FloatArray  # (K,) added to l of the arm that shows another to be dominated
    objective: FloatArray  # (D,) added to C of lower bounds
    column_l: FloatArray  # l by count, arm after arm
    column_v: FloatArray  # v by count, arm after arm; once more for each objective, or once for all
    offset: IntArray  # (K,) where an arm's columns begin
    size: IntArray  # (K,) how many counts they hold
    unknown: bool  # some scales are unknown: v is multiplied by squared deviations
    common: bool  # all pairs with equal counts have one radius
    wide: bool  # v, or C, differs by objective
    factor: FloatArray  # (K, D) squared scale over squared divisor; 0 where it is unknown
    divisor: FloatArray  # (D,) each objective is divided by this; unknown scales: set by the run
    opening: IntArray  # arms sampled, in this order, before the first decision
    both: bool  # two arms are sampled before the next test
    eps1: FloatArray  # (D,) -inf where an objective is not compared
    goal: IntArray  # (G,) PARETO_SET, COVER or AT_MOST
    k: IntArray  # (G,)
    eps2: FloatArray  # (G, D) infinite where an objective is not compared
    chain: bool  # covers come with decreasing eps2, so a failing one fails the rest
    max_samples: int
    limits: LimitTable  # what arms must meet besides
    zero: FloatArray  # (D,) zeros; infinite where an objective is not compared
    rates: Rates


class EngineState(NamedTuple):
    """Where each of R runs is."""

    counts: IntArray  # (R, K)
    sums: FloatArray  # (R, D, K)
    ss: FloatArray  # (R, D, K) squared deviations; (R, 0, 0) unless scales are unknown
    means: FloatArray  # (R, D, K) divided by the divisor
    l: FloatArray  # (R, K)
    rivals: FloatArray  # (R, K) l plus what its role as a rival adds
    v: FloatArray  # (R, 1 or D, K); with rates (R, 2 D K, K): see `paretoid.engine.rate_loop`
    inverse: FloatArray  # (R, D) one over the divisor
    eps1: FloatArray  # (R, D) divided by the divisor
    eps2: FloatArray  # (R, G, D) the same
    clock: IntArray  # (R, 6) samples so far, next arm, pending arm, |OPT|, status, arm before
    optimal: BoolArray  # (R, K) OPT(t)
    blocker: IntArray  # (R, K) for arms outside OPT: a j whose lower bound keeps them out
    ceiling: FloatArray  # (R, K) an upper bound of min_j M+(i, j), attained at `witness`; OPT: -inf
    witness: IntArray  # (R, K)
    uncovered: IntArray  # (R, G) for covers: an arm last seen uncovered
    stopped: BoolArray  # (R, G)
    time: IntArray  # (R, G)
    answer: BoolArray  # (R, G, K)
    pulls: IntArray  # (R, G, K)
    settled: SignArray  # (R, K) 1 certainly optimal at some test, -1 certainly dominated, else 0
    verdict: SignArray  # (R, G, K) the same when a goal was answered
    scratch: FloatArray  # (2, K); with limits also 4 rows of weights and both tables, (6 + 2K, K)


def new_state(program: Program, runs: int) -> EngineState:
    """`runs` runs that have sampled nothing yet."""
    K, D = program.location.shape
    G = len(program.goal)
    clock = np.zeros((runs, 6), dtype=np.int64)
    clock[:, PENDING] = -1
    v = np.zeros((runs, D if program.wide else 1, K))
    if len(program.rates.rho):
        v = np.full((runs, 2 * D * K, K), np.nan)
    inverse = np.tile(1 / program.divisor, (runs, 1))
    return EngineState(
        counts=np.zeros((runs, K), dtype=np.int64),
        sums=np.zeros((runs, D, K)),
        ss=np.zeros((runs, D, K) if program.unknown else (runs, 0, 0)),
        means=np.zeros((runs, D, K)),
        l=np.zeros((runs, K)),
        rivals=np.zeros((runs, K)),
        v=v,
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
        settled=np.zeros((runs, K), dtype=np.int8),
        verdict=np.zeros((runs, G, K), dtype=np.int8),
        scratch=np.zeros((6 + 2 * K if len(program.limits.column) else 2, K)),
    )
