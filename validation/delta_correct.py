"""Is an algorithm's delta true? A sequential test that may stop as soon as it knows.

`algorithm(bandit, delta, seed) -> (answer, stopping time)` is any callable. It is run on fresh
seeds, and on every bandit a bet is kept against "P(wrong answer) <= delta" (`validation.evidence`):
against a correct algorithm it is ever won with probability at most `false_alarm`, shared out over
the bandits, however many runs are made. Otherwise upper confidence bounds on the error rate are
reported, not a bare "passed": Clopper-Pearson's, valid for a number of runs fixed beforehand, and
one that holds at all numbers of runs together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal, ParetoSet
from paretoid.intervals import check_confidence, share_upper_bound
from paretoid.registry import GOALS
from paretoid.theory.checks import (
    BoolArray,
    WrongTypeError,
    check_between,
    check_count,
    check_delta,
    refusal,
)
from paretoid.validation.evidence import log_evidence, sequential_upper_bound
from paretoid.validation.guard import (
    OutOfBudget,
    OutOfTime,
    check_timer,
    fingerprint,
    guarded,
    time_limit,
)
from paretoid.validation.hard import HardBandit

Algorithm = Callable[[Bandit, float, int], Any]

FAULTS = {
    "raised": "it raised an exception",
    "malformed": "its result is no (mask of booleans (K,), number of samples)",
    "unfinished": "it did not stop within the budget, or returned None for an answer",
    "mutated": "it changed its bandit",
    "shared": "two runs with different seeds drew the very same noise",
    "irreproducible": "the same seed gave two different results",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A run without a usable answer: what happened, where, and the seed that shows it again."""

    kind: str
    bandit: int
    seed: int
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} on bandit {self.bandit}, seed {self.seed}: {self.detail}"


@dataclass(frozen=True, slots=True)
class BanditRecord:
    """The runs on one bandit.

    runs, errors   made, and wrong answers among them (empty sets included)
    empty          empty sets among the errors
    unanswered     stopped by the budget where nobody has to answer; neither errors nor faults
    faults         runs without a usable answer, by kind; no errors, see `Verdict.passed`
    evidence       E_n, the bet against "P(wrong) <= delta"
    clopper_pearson, upper   upper confidence bounds on P(wrong): for fixed n, and sequential
    worst          the sequential bound if every fault had been a wrong answer
    mean_time      mean stopping time of the runs that gave one
    first_error    a seed with a wrong answer, None if there is none
    """

    bandit: str
    runs: int
    errors: int
    empty: int
    unanswered: int
    faults: dict[str, int]
    evidence: float
    clopper_pearson: float
    upper: float
    worst: float
    mean_time: float
    first_error: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sequential test of delta-correctness found.

    rejected    the error rate is above delta on some bandit: wrong with chance <= false_alarm
    passed      not rejected and no fault: nothing speaks against delta
    certified   passed, and every sequential upper bound is at most delta
    words       which of these it is, and on how many bandits: of others it says nothing
    records     one `BanditRecord` per bandit
    faults      the first of each kind on each bandit, with its seed

    >>> import numpy as np, paretoid as pt
    >>> def oracle(bandit, delta, seed):
    ...     return np.array([False, True]), 0
    >>> verdict = delta_correctness(oracle, pt.GaussianBandit([[0.0], [1.0]]), max_runs=53)
    >>> verdict.passed, verdict.certified, verdict.runs, verdict.errors
    (True, True, 53, 0)
    >>> verdict.upper <= 0.1
    True
    >>> verdict.words
    'certified: P(wrong) <= delta=0.1 on this one bandit'
    >>> print(verdict.summary().splitlines()[0])
    oracle, ParetoSet(eps1=0): certified: P(wrong) <= delta=0.1 on this one bandit
    """

    algorithm: str
    goal: str
    delta: float
    false_alarm: float
    confidence: float
    seed: int
    records: tuple[BanditRecord, ...]
    faults: tuple[Fault, ...]
    rejected: bool

    @property
    def runs(self) -> int:
        """Runs made, all bandits together."""
        return sum(record.runs for record in self.records)

    @property
    def errors(self) -> int:
        """Wrong answers, all bandits together."""
        return sum(record.errors for record in self.records)

    @property
    def upper(self) -> float:
        """The largest sequential upper bound of any bandit."""
        return max(record.upper for record in self.records)

    @property
    def passed(self) -> bool:
        """Nothing speaks against delta: not rejected, and every run gave a usable answer."""
        return not self.rejected and not self.faults

    @property
    def certified(self) -> bool:
        """Passed, and the error rate is shown to be at most delta on every bandit."""
        return self.passed and self.upper <= self.delta

    @property
    def words(self) -> str:
        """The verdict, with the bandits that it is about."""
        n = len(self.records)
        on = "on this one bandit" if n == 1 else f"on these {n} bandits"
        if self.rejected:
            bad = sum(r.evidence >= n / self.false_alarm for r in self.records)
            where = "on this bandit" if n == 1 else f"on {bad} of these {n} bandits"
            return f"REJECTED: P(wrong) exceeds delta={self.delta:g} {where}"
        if self.faults:
            return f"FAULTY: not every run gave a usable answer {on}"
        if self.certified:
            return f"certified: P(wrong) <= delta={self.delta:g} {on}"
        return f"passed: nothing speaks against delta={self.delta:g} {on}; more runs say more"

    def summary(self) -> str:
        """What was found, in a few lines."""
        level = f"{100 * self.confidence:g}%"
        lines = [
            f"{self.algorithm}, {self.goal}: {self.words}",
            f"  {self.runs} runs, {self.errors} wrong answers, seed {self.seed}, "
            f"false alarm at most {self.false_alarm:g}",
        ]
        for r in self.records:
            silent = f", {r.unanswered} without an answer" if r.unanswered else ""
            time = "" if math.isnan(r.mean_time) else f"; mean time {r.mean_time:,.0f}"
            lines.append(
                f"  {r.bandit}: {r.errors}/{r.runs} wrong{silent}; P(wrong) <= {r.upper:.3g} at "
                f"any time, <= {r.clopper_pearson:.3g} for fixed runs ({level}){time}"
            )
            if r.first_error is not None:
                what = "empty set" if r.empty == r.errors else "wrong answer"
                lines.append(f"    {what} shown by seed {r.first_error}")
            if r.faults:
                counts = ", ".join(f"{n} {kind}" for kind, n in r.faults.items())
                lines.append(f"    faults: {counts}; if all were wrong, P(wrong) <= {r.worst:.3g}")
        lines += [f"  {fault}" for fault in self.faults]
        return "\n".join(lines)


def assert_delta_correct(
    algorithm: Algorithm,
    bandits: Bandit | HardBandit | Sequence[Bandit | HardBandit],
    delta: float = 0.1,
    *,
    goal: Goal | None = None,
    false_alarm: float = 1e-6,
    max_runs: int = 200,
    confidence: float = 0.95,
    budget: int = 10_000_000,
    seconds: float | None = None,
    seed: int = 0,
) -> Verdict:
    """`delta_correctness`, raising AssertionError with its summary unless it passed.

    A correct algorithm fails this with probability at most `false_alarm`, whatever `max_runs`. On
    easy bandits almost anything passes: `validation.hard_bandits(K, D, delta)` are hard ones.

    >>> import numpy as np, paretoid as pt
    >>> def oracle(bandit, delta, seed):
    ...     return np.array([False, True]), 0
    >>> assert_delta_correct(oracle, pt.GaussianBandit([[0.0], [1.0]]), max_runs=100).certified
    True
    >>> from paretoid.validation import engine, hard_bandits
    >>> ours = engine(max_samples=20_000)    # which refuses exact ties without a limit
    >>> print(assert_delta_correct(ours, hard_bandits(2, 1), max_runs=8).words)
    passed: nothing speaks against delta=0.1 on these 4 bandits; more runs say more
    """
    verdict = delta_correctness(
        algorithm, bandits, delta, goal=goal, false_alarm=false_alarm, max_runs=max_runs,
        confidence=confidence, budget=budget, seconds=seconds, seed=seed,
    )  # fmt: skip
    if not verdict.passed:
        raise AssertionError(verdict.summary())
    return verdict


def delta_correctness(
    algorithm: Algorithm,
    bandits: Bandit | HardBandit | Sequence[Bandit | HardBandit],
    delta: float = 0.1,
    *,
    goal: Goal | None = None,
    false_alarm: float = 1e-6,
    max_runs: int = 200,
    confidence: float = 0.95,
    budget: int = 10_000_000,
    seconds: float | None = None,
    seed: int = 0,
) -> Verdict:
    """Test sequentially whether `algorithm` errs with probability at most `delta`.

    algorithm     called as algorithm(bandit, delta, seed); returns a (K,) mask of booleans and
                  the number of samples. It draws by `bandit.sample(arm, size, rng)`, or hands the
                  bandit to `paretoid.simulate`, with randomness from `seed` alone
    bandits       one or several, such as `hard_bandits(K, D, delta)`; the promise must hold on
                  each, so each is tested by itself, and a pass says nothing of others
    goal          what a right answer is; the default is `ParetoSet()`
    max_runs      runs on each bandit; fewer on one where the algorithm is found out
    budget        samples one run may draw (`paretoid.simulate` draws up to twice ahead of need,
                  and 1,024 at first);
                  one more raises `OutOfBudget` inside the algorithm. A `HardBandit` has fewer
    seconds       a limit on each run's time, for one that loops without drawing; needs the main
                  thread and a system with timers. None: no limit
    seed          everything follows from it

    Bad algorithms are part of the job. One that raises, returns the wrong shape, never stops or
    changes its bandit is reported with the seed that shows it, and the remaining runs go on; so
    are two runs with different seeds that draw the same noise, and a seed whose run cannot be
    repeated. These count as runs, not as wrong answers: delta bounds the probability of stopping
    with a wrong answer. A verdict with a fault has not passed. Empty sets are wrong answers. What
    cannot be stopped from inside: a bare `except:` that swallows `OutOfBudget` and goes on.

    >>> import numpy as np, paretoid as pt
    >>> def guess(bandit, delta, seed):
    ...     x = bandit.sample(0, 1, seed).mean() < bandit.sample(1, 1, seed + 1).mean()
    ...     return np.array([not x, x]), 2
    >>> verdict = delta_correctness(guess, pt.GaussianBandit([[0.0], [0.1]]), delta=0.05)
    >>> verdict.rejected, verdict.runs < 100
    (True, True)
    """
    if not callable(algorithm):
        raise WrongTypeError(
            f"algorithm={algorithm!r} must be callable as algorithm(bandit, delta, seed) and "
            f"return (mask, stopping time)."
        )
    kinds = (Bandit, HardBandit)
    listed = [bandits] if isinstance(bandits, kinds) else list(bandits)
    if not listed or not all(isinstance(bandit, kinds) for bandit in listed):
        raise refusal(all(isinstance(bandit, kinds) for bandit in listed))(
            f"bandits={bandits!r} must be a Bandit or a non-empty sequence of them: their true "
            f"means say what a right answer is. Try GaussianBandit(means, scale)."
        )
    goal = ParetoSet() if goal is None else goal
    if not isinstance(goal, Goal):
        raise WrongTypeError(f"goal={goal!r} must be one of {', '.join(GOALS)}, or your own.")
    hard = [
        given if isinstance(given, HardBandit) else HardBandit("", given, budget, must_answer=True)
        for given in listed
    ]
    for given in hard:
        goal.check(given.bandit.K, given.bandit.D)
    delta = check_delta(delta)
    false_alarm = check_between(
        false_alarm, 0, 1, name="false_alarm", why="it is the probability of rejecting a correct "
        "algorithm. The default is 1e-6.",
    )  # fmt: skip
    confidence = check_confidence(confidence)
    max_runs = check_count(max_runs, name="max_runs", why="nothing would be tested otherwise.")
    budget = check_count(budget, name="budget", why="a run must draw something.")
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    if seconds is not None:
        seconds = check_timer(seconds)
    limit = math.log(len(listed) / false_alarm)
    trials = [
        _Trial(algorithm, given, position, delta, goal, min(budget, given.budget), seconds, seed)
        for position, given in enumerate(hard)
    ]
    for trial in trials:
        for r in range(max_runs):
            trial.run(r)
            if log_evidence(trial.runs, trial.errors, delta) >= limit:
                break
    return Verdict(
        algorithm=getattr(algorithm, "__name__", None) or type(algorithm).__name__,
        goal=str(goal),
        delta=delta,
        false_alarm=false_alarm,
        confidence=confidence,
        seed=seed,
        records=tuple(trial.record(confidence) for trial in trials),
        faults=tuple(fault for trial in trials for fault in trial.faults),
        rejected=any(log_evidence(t.runs, t.errors, delta) >= limit for t in trials),
    )


def engine(
    goal: Goal | None = None,
    *,
    rule: Any = None,
    radius: Any = None,
    max_samples: int | None = None,
) -> Algorithm:
    """Our engine as an `algorithm(bandit, delta, seed)`; out of budget it answers None.

    >>> import paretoid as pt
    >>> answer, time = engine()(pt.GaussianBandit([[0.0], [2.0]]), 0.1, 1)
    >>> answer
    array([False,  True])
    """
    from paretoid.runs.simulate import simulate

    def paretoid(bandit: Bandit, delta: float, seed: int) -> tuple[BoolArray | None, int]:
        runs = simulate(
            bandit, goal, rule=rule, radius=radius, delta=delta, seed=seed, max_samples=max_samples
        ).isel(goal=0, replication=0)
        time = int(runs.stopping_time)
        return (np.array(runs.answer) if runs.stopped else None), time

    parts = [str(part) for part in (rule, radius) if part is not None]
    paretoid.__name__ = f"paretoid({', '.join(parts)})" if parts else "paretoid"
    return paretoid


def run_seed(seed: int, bandit: int, run: int) -> int:
    """The seed that run number `run` on bandit number `bandit` is given.

    >>> run_seed(0, 0, 0) == run_seed(0, 0, 0) != run_seed(0, 0, 1)
    True
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(bandit, run))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass
class _Trial:
    """The runs of one algorithm on one bandit."""

    algorithm: Algorithm
    hard: HardBandit
    position: int
    delta: float
    goal: Goal
    budget: int
    seconds: float | None
    seed: int
    runs: int = 0
    errors: int = 0
    empty: int = 0
    unanswered: int = 0
    first_error: int | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    noises: set[bytes] = field(default_factory=set)
    faulty: int = 0

    @property
    def bandit(self) -> Bandit:
        return self.hard.bandit

    def run(self, r: int) -> None:
        """Run number r, and once for every bandit the first run again."""
        seed = run_seed(self.seed, self.position, r)
        self.runs += 1
        before = sum(self.kinds.values())
        answer, time = self._once(seed)
        if r == 0 and answer is not None:
            again, other = self._once(seed, repeat=True)
            if again is None or time != other or not np.array_equal(answer, again):
                self._fault("irreproducible", seed, FAULTS["irreproducible"])
        if answer is not None:
            self.times.append(time)
            if not self.goal.is_correct(answer, self.bandit.oriented):
                self.errors += 1
                self.empty += int(not answer.any())
                self.first_error = seed if self.first_error is None else self.first_error
                return
        self.faulty += int(sum(self.kinds.values()) > before)

    def _once(self, seed: int, repeat: bool = False) -> tuple[BoolArray | None, int]:
        given = guarded(self.bandit, self.budget)
        state = fingerprint(given)
        answer: BoolArray | None = None
        time = 0
        problem: tuple[str, str] | None = None
        may_stop = not self.hard.must_answer
        try:
            with time_limit(self.seconds):
                result = self.algorithm(given, self.delta, seed)
            answer, time, problem = _read(result, self.bandit.K)
        except OutOfBudget as error:
            problem = ("unfinished", str(error))
            may_stop = may_stop and not isinstance(error, OutOfTime)
        except (Exception, SystemExit) as error:
            problem = ("raised", f"{type(error).__name__}: {error}")
        if repeat:
            return answer, time
        if may_stop and problem is not None and problem[0] == "unfinished":
            self.unanswered += 1
        elif problem is not None:
            self._fault(problem[0], seed, problem[1])
        if fingerprint(given) != state:
            self._fault("mutated", seed, FAULTS["mutated"])
        noise = given.drawn_noise.digest() if given.drawn else None
        if noise is not None:
            if noise in self.noises:
                self._fault("shared", seed, FAULTS["shared"])
            self.noises.add(noise)
        return answer, time

    def _fault(self, kind: str, seed: int, detail: str) -> None:
        if kind not in self.kinds:
            self.faults.append(Fault(kind, self.position, seed, detail))
        self.kinds[kind] += 1

    def record(self, confidence: float) -> BanditRecord:
        """What is reported about this bandit."""
        return BanditRecord(
            bandit=", ".join(
                filter(None, (f"bandit {self.position}", self.hard.name, repr(self.bandit)))
            ),
            runs=self.runs,
            errors=self.errors,
            empty=self.empty,
            unanswered=self.unanswered,
            faults=dict(self.kinds),
            evidence=_exp(log_evidence(self.runs, self.errors, self.delta)),
            clopper_pearson=share_upper_bound(self.errors, self.runs, confidence),
            upper=sequential_upper_bound(self.runs, self.errors, confidence),
            worst=sequential_upper_bound(self.runs, self.errors + self.faulty, confidence),
            mean_time=float(np.mean(self.times)) if self.times else math.nan,
            first_error=self.first_error,
        )


def _exp(x: float) -> float:
    return math.exp(min(x, 700.0))


def _read(result: Any, K: int) -> tuple[BoolArray | None, int, tuple[str, str] | None]:
    """(answer, time, problem) from whatever an algorithm returned."""
    try:
        answer, time = result
    except (TypeError, ValueError):
        return None, 0, ("malformed", f"it returned {_short(result)}, not (mask, samples)")
    whole = isinstance(time, (int, np.integer)) and not isinstance(time, (bool, np.bool_))
    if not whole or time < 0:
        return None, 0, ("malformed", f"its stopping time is {_short(time)}, no number of samples")
    if answer is None:
        return None, 0, ("unfinished", f"it gave up after {int(time)} samples")
    try:
        mask = np.asarray(answer)
    except ValueError:
        return None, 0, ("malformed", f"its answer is {_short(answer)}, no mask")
    if mask.shape != (K,) or mask.dtype != np.bool_:
        return None, 0, (
            "malformed",
            f"its answer has shape {mask.shape} and type {mask.dtype}, not ({K},) booleans",
        )  # fmt: skip
    return np.array(mask), int(time), None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
