"""One replication with everything that happened in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine import program as P
from paretoid.goals import Goal
from paretoid.rules import APE, Rule
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting, check_setting
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, check_count
from paretoid.theory.radii import Radius


@dataclass(frozen=True, slots=True)
class Run:
    """One replication of one rule on one bandit, with its trace; n samples.

    stopping_time   samples drawn
    stopped         False: the budget ran out, so the time is a lower bound
    answer          (K,) arms returned, in none if not stopped
    correct         is the answer right for the bandit's true means?
    pulls           (K,) samples per arm
    arm             (n,) arm sampled
    outcome         (n, D) what it gave, in the user's own direction
    b, c            (n,) b_t and c_t after that sample; -1 in the first rounds, or if all are in OPT
    size_S          (n,) |S(t)|, the empirical Pareto set; -1 in the first rounds
    size_OPT        (n,) |OPT(t)|
    Z1, Z2, index   (n,) the stopping statistics and min_j M+(b_t, j); NaN in the first rounds
    guarantee       "proved" or "heuristic", from the radius
    setting, seed   what it takes to repeat it

    >>> from paretoid import GaussianBandit, run_once
    >>> run = run_once(GaussianBandit([[4.0, 0.0], [0.0, 4.0]], arms=["A", "B"]), seed=1)
    >>> run.answer, run.correct, run.guarantee
    (array([ True,  True]), True, 'proved')
    >>> run.stopping_time == len(run.arm) == int(run.pulls.sum())
    True
    >>> run.arm[:2]    # every arm once, to begin with
    array([0, 1])
    """

    stopping_time: int
    stopped: bool
    answer: BoolArray
    correct: bool
    pulls: IntArray
    arm: IntArray
    outcome: FloatArray
    b: IntArray
    c: IntArray
    size_S: IntArray
    size_OPT: IntArray
    Z1: FloatArray
    Z2: FloatArray
    index: FloatArray
    guarantee: str
    setting: Setting
    seed: tuple[int, ...]

    def __repr__(self) -> str:
        arms = self.setting.bandit.arms
        names = [arms[i] for i in np.flatnonzero(self.answer)]
        end = f"answer={names}" if self.stopped else "stopped=False"
        return (
            f"Run({self.setting.goals[0]}, {self.stopping_time} samples, {end}, {self.guarantee})"
        )


def run_once(
    bandit: Bandit,
    goal: Goal | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    seed: int = 0,
    replication: int = 0,
    max_samples: int | None = None,
) -> Run:
    """Replication `replication` of `simulate(bandit, goal, seed=seed, ...)`, traced.

    It is the same run, sample for sample; only slower, because every round is recomputed by the
    textbook so that all of its quantities can be shown.

    >>> from paretoid import BernoulliBandit
    >>> run_once(BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), seed=1).answer
    array([ True,  True])
    """
    from paretoid.engine import yardstick

    replication = check_count(replication, name="replication", least=0, why="it is a position.")
    goals, rule, radius, delta, seed, max_samples = check_setting(
        [bandit], goal, rule, radius, delta, seed, max_samples
    )
    if not isinstance(rule, APE):
        raise ValueError(
            f"rule={rule!r} leaves no trace: b_t, c_t and the other columns of a Run are APE's. "
            f"Use rule=APE(), or simulate() for stopping times, answers and pulls."
        )
    setting = Setting(bandit, (goals[0],), rule, radius, delta, max_samples)
    program = setting.program()
    state = P.new_state(program, 1)
    stream = generator(seed, (replication,))
    work = yardstick.workspace(bandit.K, bandit.D)
    arms, blocks, stats = [], [], []
    size = max(256, bandit.K * program.first)
    while state.clock[0, P.STATUS] == P.RUNNING:
        noise = np.empty((size, bandit.noise_width))
        bandit.fill(stream, noise)
        trace, stat = np.zeros((size, 5), dtype=np.int64), np.zeros((size, 3))
        used = yardstick.advance(program, state, 0, noise, trace, stat, work)
        arms.append(trace[:used])
        stats.append(stat[:used])
        blocks.append(noise[:used])
        size = min(2 * size, 1 << 16)
    trace, stat, noise = np.concatenate(arms), np.concatenate(stats), np.concatenate(blocks)
    outcome = np.empty((len(trace), bandit.D))
    for i in range(bandit.K):
        outcome[trace[:, 0] == i] = bandit.outcome(i, noise[trace[:, 0] == i])
    stopped = bool(state.stopped[0, 0])
    answer = state.answer[0, 0]
    return Run(
        stopping_time=int(state.clock[0, P.TIME]),
        stopped=stopped,
        answer=answer,
        correct=stopped and goals[0].is_correct(answer, bandit.oriented),
        pulls=state.counts[0],
        arm=trace[:, 0],
        outcome=outcome,
        b=trace[:, 1],
        c=trace[:, 2],
        size_S=trace[:, 3],
        size_OPT=trace[:, 4],
        Z1=stat[:, 0],
        Z2=stat[:, 1],
        index=stat[:, 2],
        guarantee=radius.guarantee,
        setting=setting,
        seed=(seed, replication),
    )
