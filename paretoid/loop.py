"""The readable loop: one run in NumPy, straight from the definitions. The tests' authority.

Everything is recomputed at every test. The compiled loops of `paretoid.engine` must take the same
arms, stop at the same times and give the same answers on the same noise, and members that are not
ours run here. The loop alone judges, answers, counts the budget; a rule only names arms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.arithmetic import check_digits, reference_of
from paretoid.engine.build import opening_of
from paretoid.goals.base import as_answer
from paretoid.rules import BestArmRule, Rule
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, SignArray
from paretoid.view import Lens, Samples, Standing, View, steered

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.goals import Goal
    from paretoid.runs.setting import Setting

#: rows of noise drawn at a time
_BLOCK = 256


@dataclass(frozen=True)
class Stop:
    """When a goal was answered, how, with how many samples of each arm, and what was certain."""

    time: int
    answer: BoolArray
    pulls: IntArray
    settled: SignArray


@dataclass
class History:
    """What happened in a run.

    arms      sampled, in order
    outcomes  oriented, in the same order
    stops     per goal; None where the budget ran out, or the noise did
    counts    (K,) samples of each arm at the end
    settled   per goal (K,) what was certain then: see `certified`
    """

    arms: list[int] = field(default_factory=list)
    outcomes: list[FloatArray] = field(default_factory=list)
    stops: list[Stop | None] = field(default_factory=list)
    counts: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    settled: list[SignArray] = field(default_factory=list)


class Tally:
    """Counts, sums and squared deviations of the arms as outcomes come in."""

    def __init__(self, K: int, D: int, reference: Any = 0.0) -> None:
        self.counts = np.zeros(K)
        self.sums, self.ss = np.zeros((2, K, D))
        self.reference = reference

    def add(self, arm: int, outcome: FloatArray) -> None:
        """Count one outcome of `arm`, oriented, summed from the reference."""
        outcome = outcome - self.reference
        before = self.sums[arm] / max(self.counts[arm], 1)
        self.counts[arm] += 1
        self.sums[arm] += outcome
        if self.counts[arm] > 1:
            now = self.sums[arm] / self.counts[arm]
            self.ss[arm] += (outcome - before) * (outcome - now)

    def samples(self) -> Samples:
        """What the intervals rest on now."""
        counts = np.repeat(self.counts[:, None], self.sums.shape[1], axis=1)
        means = self.sums / np.maximum(counts, 1)
        return Samples(counts, means, self.ss.copy(), self.reference)


class ConstantOutcomesError(ValueError):
    """An arm gave the same outcome every time, so that its variance cannot be bounded."""


def run(
    setting: Setting,
    outcomes: Callable[[int], FloatArray | None],
    rng: np.random.Generator,
    watch: Callable[[View, int], None] | None = None,
    lens: Lens | None = None,
) -> History:
    """One run of `setting` until every goal has its answer or something runs out.

    outcomes   the next outcome of an arm, oriented; None: there are no more
    rng        for the rule
    watch      called at every test with the view and the number of goals still open
    """
    bandit, rule, goals = setting.bandit, setting.rule, setting.goals
    lens = lens_of(setting) if lens is None else lens
    K, limit = bandit.K, setting.max_samples
    reference = reference_of(bandit.oriented, bandit.scale)
    tally, history = Tally(K, bandit.D, reference), History(stops=[None] * len(goals))
    queue = opening_of(lens.first).tolist()
    standing, unit = Standing.begin(K), None
    memory: dict[str, Any] = {}
    settled = [np.zeros(K, dtype=np.int8)] * len(goals)
    while limit is None or len(history.arms) < limit:
        arm = queue.pop(0)
        outcome = outcomes(arm)
        if outcome is None:
            break
        if lens.rates is not None:
            lens.rates.check(outcome, bandit)
        history.arms.append(arm)
        history.outcomes.append(outcome)
        tally.add(arm, outcome)
        if queue:
            continue
        samples = tally.samples()
        if lens.unknown and unit is None:
            unit = lens.pooled(samples)
            if np.isnan(unit).any():
                raise ConstantOutcomesError(constant_outcomes(bandit))
        check_digits(bandit, ~lens.known, samples.counts, samples.means, samples.ss)
        view = lens.view(samples, len(history.arms), unit, standing, memory)
        answers = [None if stop else judged(rule, view, goal)
                   for stop, goal in zip(history.stops, goals, strict=True)]  # fmt: skip
        standing = concluded(rule, view, standing)
        if setting.certifies:
            settled = [certified(before, view, standing, goal)
                       for before, goal in zip(settled, goals, strict=True)]  # fmt: skip
        for position, answer in enumerate(answers):
            if answer is not None:
                pulls = tally.counts.astype(np.int64)
                history.stops[position] = Stop(view.time, answer, pulls, settled[position])
        pairs = zip(goals, history.stops, strict=True)
        open_goals = [goal for goal, stop in pairs if stop is None]
        view = steered(view, open_goals)
        if watch is not None:
            watch(view, len(open_goals))
        if not open_goals:
            break
        queue = chosen(rule, view.with_standing(standing), rng)
        if limit is not None and rule.whole_rounds and view.time + len(queue) > limit:
            break
    history.counts, history.settled = tally.counts.astype(np.int64), settled
    return history


def certified(before: SignArray, view: View, standing: Standing, goal: Goal) -> SignArray:
    """(K,) what is certain of each arm after a test: once certified it stays.

    1 for arms that are certainly in, as `goal.certain` has it, or that the rule accepted, also if
    they are certainly out as well; -1 for arms certainly out or dropped and not 1; else 0.
    `before` is the same after the test before.
    """
    inside, out = goal.certain(view)
    accepted, dropped = np.zeros((2, view.K), dtype=np.bool_)
    accepted[list(standing.accepted)] = True
    dropped[[*standing.dropped, *out]] = True
    after = np.where((before == 0) & dropped, -1, before)
    return np.where(inside | accepted, 1, after).astype(np.int8)


def lens_of(setting: Setting) -> Lens:
    """What turns the samples of a setting into views."""
    single = None
    if isinstance(setting.rule, BestArmRule):
        single = setting.rule.levels(setting.bandit.K, setting.delta)
    first = setting.goals[0]
    return Lens(
        setting.bandit, setting.radius, setting.delta, eps1=first.eps1, levels=single,
        limits=len(first.limits or ()),
    )  # fmt: skip


def judged(rule: Rule, view: View, goal: Goal) -> BoolArray | None:
    """The answer to `goal`, if it may be given; one of the wrong kind is refused by name."""
    answer: Any = rule.judge(view, goal)
    if answer is None:
        return None
    try:
        return as_answer(answer, view.K).copy()
    except ValueError as error:
        own = type(rule).judge is not Rule.judge
        name = f"{type(rule).__name__}.judge" if own else f"{type(goal).__name__}.decide"
        raise ValueError(f"{name}: {error}") from None


def concluded(rule: Rule, view: View, standing: Standing) -> Standing:
    """The standing with what the rule concludes now; conclusions that are none are refused."""
    given: Any = rule.settle(view)
    name = type(rule).__name__
    try:
        accepted, dropped = given
        accepted, dropped = list(accepted), dict(dropped)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}.settle returned {given!r}; it must return the arms that are accepted, as a "
            f"list, and those that are dropped, each with the arm that showed it, as a dictionary."
        ) from None
    strange = [arm for arm in (*accepted, *dropped) if arm not in standing.active]
    strange += [arm for arm in dropped.values() if arm not in range(view.K)]
    strange += [arm for arm in accepted if arm in dropped]
    if strange:
        raise ValueError(
            f"{name}.settle concluded something about arm {strange[0]!r} that cannot be: arms are "
            f"accepted or dropped once, while they are active, and rivals are 0..{view.K - 1}."
        )
    return standing.after(accepted, dropped)


def chosen(rule: Rule, view: View, rng: np.random.Generator) -> list[int]:
    """The arms of the next round; what is no list of different arms is refused by name."""
    named: Any = rule.choose(view, rng)
    name = type(rule).__name__
    try:
        arms = [int(arm) for arm in named]
        whole = all(arm == given for arm, given in zip(arms, named, strict=True))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}.choose returned {named!r}; it must return arms, as a list of positions in "
            f"0..{view.K - 1}."
        ) from None
    if not arms:
        raise ValueError(f"{name}.choose named no arm, so the run could never go on. Name one.")
    strange = [given for given, arm in zip(named, arms, strict=True) if not 0 <= arm < view.K]
    if strange or not whole:
        raise ValueError(
            f"{name}.choose named {(strange or [named])[0]!r}, which is no arm: there are "
            f"0..{view.K - 1}."
        )
    if len(set(arms)) < len(arms):
        raise ValueError(
            f"{name}.choose named an arm twice, {arms}: outcomes of one round must not depend on "
            f"each other. Name it again in the next round."
        )
    return arms


def constant_outcomes(bandit: Bandit) -> str:
    """Why unknown scales cannot be learnt from an arm that never varies."""
    return (
        f"an arm of {bandit!r} gave the same outcome every time, so its variance cannot be "
        f"estimated and UnknownScale is not proved. Use Mixture() with a known scale."
    )


def outcomes_from(bandit: Bandit, rng: np.random.Generator) -> Callable[[int], FloatArray]:
    """The next outcome of an arm, oriented: from blocks of noise, or drawn singly."""
    if bandit.draws_singly:
        return lambda arm: checked(bandit, arm, bandit.draw(rng, arm))
    rows = noise_rows(bandit, rng)
    return lambda arm: checked(bandit, arm, bandit.outcome(arm, next(rows)[None])[0])


def noise_rows(bandit: Bandit, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Rows of noise, without end."""
    while True:
        block = np.empty((_BLOCK, bandit.noise_width))
        bandit.fill(rng, block)
        yield from block


def outcomes_of(bandit: Bandit, noise: FloatArray) -> Callable[[int], FloatArray | None]:
    """The next outcome of an arm, oriented, from the rows of `noise`, until they are used up."""
    rows: Iterator[FloatArray] = iter(noise)

    def outcome(arm: int) -> FloatArray | None:
        row = next(rows, None)
        return None if row is None else checked(bandit, arm, bandit.outcome(arm, row[None])[0])

    return outcome


def checked(bandit: Bandit, arm: int, outcome: Any) -> FloatArray:
    """An outcome, oriented; what is no row of D numbers is refused by the bandit's name."""
    try:
        values = np.asarray(outcome, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(0, np.nan)
    if values.shape != (bandit.D,) or not np.isfinite(values).all():
        raise ValueError(
            f"{type(bandit).__name__} gave {outcome!r} as an outcome of {bandit.arms[arm]!r}; it "
            f"must be {bandit.D} finite numbers, one for each objective."
        )
    return values * bandit.sign
