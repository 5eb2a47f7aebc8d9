"""One replication with everything that happened in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoid import loop
from paretoid.bandits import Bandit
from paretoid.engine.program import RUNNING, STATUS, TIME, new_state
from paretoid.goals import Goal
from paretoid.notebook import Shown
from paretoid.rules import APE, Rule
from paretoid.runs.chunk import Engine, generator, rule_generator
from paretoid.runs.setting import Setting, check_setting, one_bandit
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, check_count, shown
from paretoid.theory.radii import BetaBinomial, Radius
from paretoid.view import View


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
    b, c            (n,) b_t and c_t after that sample; -1 without a test, or if all are in OPT.
                    Under another rule than APE, what APE would have sampled then
    size_S          (n,) |S(t)|, the empirical Pareto set; -1 without a test
    size_OPT        (n,) |OPT(t)|; -1 without a test
    Z1, Z2, index   (n,) the stopping statistics and min_j M+(b_t, j); NaN without a test
    guarantee       "proved" or "heuristic": the weakest of rule, radius and goal
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

    def _repr_html_(self) -> str:
        rows = [
            [arm, "yes" if inside else "", f"{pulls:,}"]
            for arm, inside, pulls in zip(
                self.setting.bandit.arms, self.answer, self.pulls, strict=True
            )
        ]
        end = "" if self.stopped else ", the budget ran out"
        head = f"{self.setting.goals[0]}: {self.stopping_time:,} samples{end}; {self.guarantee}"
        return Shown(head, ["arm", "answer", "samples"], rows, (), 2)._repr_html_()


@dataclass(frozen=True)
class Record:
    """One stream, with the quantities of its tests; n samples.

    arm      (n,) sampled
    outcome  (n, D) oriented so that larger is better
    stops    per goal None or (samples, answer)
    whole    (n, 4) b_t, c_t, |S(t)|, |OPT(t)|; -1 where there is none
    real     (n, 3) Z1, Z2, min_j M+(b_t, j); NaN where there is none
    """

    arm: IntArray
    outcome: FloatArray
    stops: tuple[tuple[int, BoolArray] | None, ...]
    whole: IntArray
    real: FloatArray


def record(setting: Setting, seed: int, key: tuple[int, ...]) -> Record:
    """One replication of `setting`, whose goals share a stream, with everything that happened."""
    pairwise = not isinstance(setting.radius, BetaBinomial)  # whose tests are replayed by nobody
    if setting.compiled and isinstance(setting.rule, APE) and pairwise:
        return _compiled_record(setting, seed, key)
    whole: list[tuple[int, ...]] = []
    real: list[tuple[float, ...]] = []

    def watch(view: View, open_goals: int) -> None:
        while len(whole) < view.time - 1:
            whole.append((-1, -1, -1, -1))
            real.append((np.nan, np.nan, np.nan))
        done = bool(view.optimal.all())
        pair = (-1, -1) if done else (view.b, view.c)
        whole.append((*pair, int(view.S.sum()), int(view.optimal.sum())))
        real.append((view.Z1, view.Z2, np.nan if done else -float(view.g[view.b])))

    outcomes = loop.outcomes_from(setting.bandit, generator(seed, key))
    history = loop.run(setting, outcomes, rule_generator(seed, key), watch)
    n = len(history.arms)
    missing = n - len(whole)
    return Record(
        np.array(history.arms, dtype=np.int64),
        np.array(history.outcomes).reshape(n, setting.bandit.D),
        tuple(None if stop is None else (stop.time, stop.answer) for stop in history.stops),
        np.array(whole + [(-1,) * 4] * missing, dtype=np.int64).reshape(n, 4),
        np.array(real + [(np.nan,) * 3] * missing, dtype=np.float64).reshape(n, 3),
    )


def _compiled_record(setting: Setting, seed: int, key: tuple[int, ...]) -> Record:
    """The arms from the compiled loop, the quantities of its tests from a second pass."""
    from paretoid.engine.replay import statistics

    bandit, engine = setting.bandit, Engine(setting)
    state, stream = new_state(engine.program, 1), generator(seed, key)
    arms, blocks, only = [], [], np.zeros(1, dtype=np.int64)
    size = max(256, len(engine.program.opening))
    while state.clock[0, STATUS] == RUNNING:
        noise = np.empty((1, size, bandit.noise_width))
        bandit.fill(stream, noise[0])
        trace = np.empty((1, size), dtype=np.int64)
        before = int(state.clock[0, TIME])
        engine.advance(state, only, noise, trace)
        used = int(state.clock[0, TIME]) - before
        arms.append(trace[0, :used])
        blocks.append(noise[0, :used])
        size = min(2 * size, 1 << 16)
    arm, noise = np.concatenate(arms), np.concatenate(blocks)
    whole, real = statistics(engine.program, arm, noise)
    outcome = np.empty((len(arm), bandit.D))
    for i in range(bandit.K):
        outcome[arm == i] = bandit.outcome(i, noise[arm == i]) * bandit.sign
    stops = tuple(
        (int(state.time[0, g]), state.answer[0, g]) if state.stopped[0, g] else None
        for g in range(len(setting.goals))
    )
    return Record(arm, outcome, stops, whole, real)


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

    It is the same run, sample for sample, with every quantity of every test beside it.

    >>> from paretoid import BernoulliBandit
    >>> run_once(BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), seed=1).answer
    array([ True,  True])
    """
    replication = check_count(replication, name="replication", least=0, why="it is a position.")
    bandit = one_bandit(bandit)
    goals, rule, radius, delta, seed, max_samples = check_setting(
        [bandit], goal, rule, radius, delta, seed, max_samples
    )
    if len(goals) > 1:
        raise ValueError(
            f"goal={shown(goal)} is {len(goals)} goals, and a traced run has one. Trace one after "
            f"another with the same seed, or use simulate."
        )
    setting = Setting(bandit, (goals[0],), rule, radius, delta, max_samples)
    happened = record(setting, seed, (replication,))
    (stop,) = happened.stops
    answer = np.zeros(bandit.K, dtype=np.bool_) if stop is None else stop[1]
    b, c, size_S, size_OPT = happened.whole.T
    Z1, Z2, index = happened.real.T
    return Run(
        stopping_time=len(happened.arm),
        stopped=stop is not None,
        answer=answer,
        correct=stop is not None and goals[0].is_correct(answer, bandit.oriented),
        pulls=np.bincount(happened.arm, minlength=bandit.K),
        arm=happened.arm,
        outcome=happened.outcome * bandit.sign,
        b=b,
        c=c,
        size_S=size_S,
        size_OPT=size_OPT,
        Z1=Z1,
        Z2=Z2,
        index=index,
        guarantee=setting.guarantee,
        setting=setting,
        seed=(seed, replication),
    )
