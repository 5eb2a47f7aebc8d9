"""One trial as it is conducted: enrolled by the day, outcomes late or lost, tested at looks.

The readable form, an Explorer that is stepped through the calendar: the same allocations, prefixes
and tests as in a live trial. `paretoid.engine.conducted` computes the same, compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from paretoid import loop
from paretoid.bandits import MixedBandit
from paretoid.conduct import Conduct
from paretoid.engine.build import with_columns
from paretoid.explorer.design import Design
from paretoid.explorer.explorer import Explorer
from paretoid.explorer.randomised import draw
from paretoid.explorer.secret import Lots, Secret
from paretoid.explorer.state import TrialState
from paretoid.randomisation import Randomisation
from paretoid.runs.setting import Setting
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, SignArray
from paretoid.theory.radii import BetaBinomial

#: one replication from its streams of outcomes, losses and the rule's random numbers, and the lots
#: of a randomised trial
Replicate = Callable[
    [np.random.Generator, FloatArray, np.random.Generator, FloatArray | None], "list[Ended]"
]


@dataclass(frozen=True)
class Timetable:
    """When what happens in a trial of n participants; the same in every replication.

    days     (n,) of enrolment, NaN without a rate
    before   (n, D) participants whose outcome d is due by the day of each enrolment
    after    (n, D) the same once the participant is enrolled: one more where nothing is late
    looks    (n,) is there a look right after each enrolment?
    end      the day of the last look, when every outcome is due
    """

    days: FloatArray
    before: IntArray
    after: IntArray
    looks: BoolArray
    end: float


@lru_cache(maxsize=16)
def timetable(conduct: Conduct, objectives: tuple[str, ...], n: int) -> Timetable:
    """The timetable of n participants.

    >>> table = timetable(Conduct(rate=1.0, delay={"x": 1.5}, look=2), ("x", "y"), 4)
    >>> table.before.tolist(), table.after.tolist()
    ([[0, 0], [0, 1], [1, 2], [2, 3]], [[0, 1], [0, 2], [1, 3], [2, 4]])
    >>> table.looks, table.end
    (array([False,  True, False,  True]), 4.5)
    """
    days, delays = conduct.days(n), conduct.delays(objectives)
    order = np.arange(n)
    clock = order.astype(np.float64) if conduct.rate is None else days
    due = clock[:, None] + delays  # (n, D), increasing
    reach = np.stack([np.searchsorted(column, clock, side="right") for column in due.T], axis=1)
    return Timetable(
        days,
        np.minimum(reach, order[:, None]).astype(np.int64),
        np.minimum(reach, order[:, None] + 1).astype(np.int64),
        conduct.looks(clock),
        float(days[-1] + delays.max()),
    )


@dataclass(frozen=True)
class Ended:
    """A goal of a trial at the look that answered it, or at the last one.

    stopped    False: all participants were enrolled and there is no answer
    answer     (K,)
    pulls      (K,) enrolled
    settled    (K,) what is certain of each arm
    analysed   participants with a known outcome in every endpoint
    duration   days since the first enrolment; NaN without a rate
    """

    stopped: bool
    answer: BoolArray
    pulls: IntArray
    settled: SignArray
    analysed: int
    duration: float


class Stepped(Explorer):
    """An Explorer that is tested when it is told to, and not whenever outcomes come in.

    If it is randomised, its lots are those of a table and no secret.
    """

    lots: Lots

    def _new_secret(self, seed_file: Any) -> AbstractContextManager[Secret | None]:
        return nullcontext(None if self._design.randomise is None else Secret("", b""))

    def _draw(self, state: TrialState, secret: Secret, size: int, stratum: str | None) -> Any:
        moment, view = self._moment(state), self._view(state)
        return draw(state.lists, self.lots, moment, size, stratum, view)

    def _look(self, *, corrected: bool = False) -> None:
        state = self._current()
        for kind, body in self._scaling(state):
            self._record(kind, body)

    def place(self, arm: int) -> None:
        """Give the next participant this arm, whatever the rule would say."""
        with self._writing():
            state = self._current()
            names = state.design.arms
            rest = [names[waiting] for waiting in state.queue]
            body = {"first": len(state.arms) + 1, "arms": [names[arm]], "rest": rest}
            self._record("asked", {**body, "ended": False})

    def hold_look(self) -> tuple[dict[int, BoolArray], SignArray]:
        """(answers that this look gives, by goal; what it certifies of each arm)."""
        with self._writing():
            state = self._current()
            names = np.array(state.design.arms)
            settled = np.zeros(state.design.K, dtype=np.int8)
            for kind, body in self._conclusions(state):
                self._record(kind, body)
            view = self._view(self._current())
            if view is not None:
                standing, goal = self._current().standing, state.design.goals[0]
                settled = loop.certified(settled, view, standing, goal)
            given = {g: np.isin(names, answer.arms) for g, answer in state.answers.items()}
        return given, settled


def design_of(setting: Setting, seed: int = 0) -> Design:
    """The design of a live trial that asks for the goals of a setting."""
    bandit, radius = setting.bandit, setting.radius
    kinds: Any = "binary" if isinstance(radius, BetaBinomial) else "gaussian"
    if isinstance(bandit, MixedBandit):
        kinds = bandit.kinds
    return Design(
        bandit.arms, bandit.objectives, setting.goals, setting.delta,
        scale=bandit.scale if radius.known(bandit.D).all() else None, radius=radius,
        minimize=bandit.minimize, rule=setting.rule, seed=seed,
        outcomes=kinds,
        randomise=None if setting.conduct is None else setting.conduct.randomise,
    )  # fmt: skip


def strata_of(scheme: Randomisation, lots: FloatArray) -> IntArray:
    """(n,) the stratum of each participant, by position; 0 in a trial without strata."""
    return np.asarray(lots[:, 3] * max(len(scheme.strata), 1)).astype(np.int64)


def tabled(scheme: Randomisation, lots: FloatArray) -> Lots:
    """The lots of the m-th participant of a stratum, from a table with a row for each participant.

    >>> table = np.array([[0.1, 0.2, 0.3, 0.0], [0.4, 0.5, 0.6, 0.9], [0.7, 0.8, 0.9, 0.1]])
    >>> tabled(Randomisation(strata=["north", "south"]), table)("north", 2)
    (0.7, 0.8, 0.9)
    """
    strata = strata_of(scheme, lots)
    names = scheme.strata or ("",)
    rows = {name: np.flatnonzero(strata == s) for s, name in enumerate(names)}

    def lot(stratum: str, number: int) -> tuple[float, float, float]:
        arm, mixed, length, _ = lots[rows[stratum][number - 1]].tolist()
        return arm, mixed, length

    return lot


def run(
    setting: Setting,
    outcomes: Callable[[int], FloatArray],
    losses: FloatArray,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
    lots: FloatArray | None = None,
) -> list[Ended]:
    """One trial of `setting`, which has a conduct and max_samples, until every goal is answered.

    outcomes   the next outcome of an arm, oriented
    losses     (n, 1 + D) uniform numbers: below the share of its arm a participant is lost, below
               that of its endpoint an outcome; (0, 1 + D) where nothing is lost
    seed       for the rule
    watch      called with the number and the arm of every participant
    lots       (n, 4) uniform numbers of a randomised trial: for the arm of each participant, for
               what a block is made of and for its length where one begins, for the stratum
    """
    bandit, conduct, n = setting.bandit, setting.conduct, setting.max_samples
    assert conduct is not None
    assert n is not None
    K, D, G = bandit.K, bandit.D, len(setting.goals)
    table = timetable(conduct, bandit.objectives, n)
    dropout, missing = conduct.lost(bandit.arms, bandit.objectives)
    trial = Stepped.from_design(design_of(setting, seed), author="")
    sites: list[str | None] = [None] * n
    if conduct.randomise is not None:
        assert lots is not None
        trial.lots = tabled(conduct.randomise, lots)
        if conduct.randomise.strata:
            sites = [conduct.randomise.strata[s] for s in strata_of(conduct.randomise, lots)]
    told, arms, values = np.zeros(D, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros((n, D))
    settled, ended = np.zeros(K, dtype=np.int8), dict[int, Ended]()

    def arrive(reach: IntArray) -> None:
        rows: list[tuple[int, dict[str, float | str]]] = []
        for d, name in enumerate(bandit.objectives):
            for j in range(told[d], reach[d]):
                value = values[j, d] * bandit.sign[d]
                rows.append((j + 1, {name: "missing" if math.isnan(value) else float(value)}))
        told[:] = reach
        trial.tell_many(rows)

    def look(enrolled: int, day: float) -> None:
        nonlocal settled
        answers, certain = trial.hold_look()
        settled = np.where((settled == 1) | (certain == 1), 1, np.minimum(settled, certain))
        settled = settled.astype(np.int8) if setting.certifies else np.zeros(K, dtype=np.int8)
        last = enrolled == n and bool((told == n).all())
        for g in range(G):
            if g not in ended and (g in answers or last):
                answer = answers.get(g, np.zeros(K, dtype=np.bool_))
                pulls = np.bincount(arms[:enrolled], minlength=K)
                known = int((~np.isnan(values[: told.min()]).any(axis=1)).sum())
                ended[g] = Ended(g in answers, answer, pulls, settled, known, day)

    for i in range(n):
        arrive(table.before[i])
        if i < K * conduct.burn_in:
            arm = i % K
            trial.place(arm)
        else:
            arm = bandit.index(trial.ask(stratum=sites[i]).arm)
        arms[i], values[i] = arm, outcomes(arm)
        if len(losses):
            values[i, (losses[i, 0] < dropout[arm]) | (losses[i, 1:] < missing)] = np.nan
        if watch is not None:
            watch(i + 1, arm)
        arrive(table.after[i])
        if table.looks[i]:
            look(i + 1, float(table.days[i]))
        if len(ended) == G:
            break
    else:
        arrive(np.full(D, n))
        look(n, table.end)
    return [ended[g] for g in range(G)]


def readable(setting: Setting) -> Replicate:
    """A function that runs one replication by `run`."""

    def replicate(
        stream: np.random.Generator,
        losses: FloatArray,
        rng: np.random.Generator,
        lots: FloatArray | None = None,
    ) -> list[Ended]:
        outcomes = loop.outcomes_from(setting.bandit, stream)
        return run(setting, outcomes, losses, int(rng.integers(1 << 62)), lots=lots)

    return replicate


def compiled(setting: Setting) -> Replicate:
    """A function that runs one replication by `paretoid.engine.conducted`; it draws no lots."""
    from paretoid.engine.conducted import conduct as run_compiled
    from paretoid.engine.conducted import new_trial

    bandit, conduct, n = setting.bandit, setting.conduct, setting.max_samples
    assert conduct is not None
    assert n is not None
    table = timetable(conduct, bandit.objectives, n)
    after = np.concatenate([table.after, np.full((1, bandit.D), n)])
    dropout, missing = conduct.lost(bandit.arms, bandit.objectives)
    program, columns = setting.program()
    assert columns is not None
    columns.reserve(np.full(bandit.K, n + 1))
    program = with_columns(program, columns)
    first = np.bincount(program.opening, minlength=bandit.K)
    noise = np.empty((n, bandit.noise_width))

    def replicate(
        stream: np.random.Generator,
        losses: FloatArray,
        rng: np.random.Generator,
        lots: FloatArray | None = None,
    ) -> list[Ended]:
        bandit.fill(stream, noise)
        trial, *scratch = new_trial(program, n)
        run_compiled(
            program, trial, first, table.before, after, table.looks, conduct.burn_in, dropout,
            missing, noise, losses, *scratch,
        )  # fmt: skip
        days = [table.end if look > n else float(table.days[look - 1]) for look in trial.look]
        return [
            Ended(bool(trial.stopped[g]), trial.answer[g], trial.pulls[g], trial.verdict[g],
                  int(trial.analysed[g]), days[g])
            for g in range(len(setting.goals))
        ]  # fmt: skip

    return replicate
