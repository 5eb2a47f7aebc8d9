"""How a trial stands: what is certain, what waits, how much more to expect."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from paretoid import text
from paretoid.explorer.design import Design
from paretoid.explorer.progress import Progress
from paretoid.explorer.state import TrialState
from paretoid.goals import Goal
from paretoid.notebook import Shown
from paretoid.theory.checks import FloatArray, IntArray
from paretoid.view import Standing, View


@dataclass(frozen=True, slots=True)
class Waiting:
    """An allocation with outcomes still to come.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["IgG", "T cell"])
    >>> explorer.tell(explorer.ask(), {"IgG": 9.1})
    >>> explorer.status().waiting
    (Waiting(id=1, arm='A', objectives=('T cell',)),)
    """

    id: int | str
    arm: str
    objectives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """How a trial stands; directions and units are the user's own.

    allocations   made so far, lost and overridden ones included
    samples       outcomes used by the most advanced objective
    answers       goal to arms, None where its stopping rule does not hold yet
    optimal       arms certainly optimal, up to eps1, by the intervals now or accepted for good
    dominated     arms certainly out, each with the arm that shows it most clearly, or with
                  itself where it seems beyond a limit: that it is out is covered by delta,
                  the reason is only what the data point to; with eps1 > 0 an arm may be both
                  out and within eps1 of optimal; practically dominated ones count
    undecided     arms that are neither
    rivals        undecided arm to the arm that is most in its way, once there are intervals
    means         (K, D) estimates, NaN without outcomes
    counts        (K, D) outcomes used
    lower, upper  (K, K, D) bounds on mean i - mean j; infinite before there are enough outcomes.
                  Under union="claims" optimal, dominated and all answers are right together
                  with probability 1 - delta; the intervals themselves only under "pairs"
    waiting       allocations with outcomes still to come
    held          objective to (outcomes arrived but not used yet, the id that holds them up)
    expected      goal to an estimate of the allocations still to be made; no bound
    notes         what the investigator should know
    guarantee     "proved" or "heuristic", from the radius
    head          hash of the last event: keep it elsewhere
    control       the control of a randomised trial, which every arm is shown against; None: none
    progress      participants, burn-in and looks, where the design says how it runs; else None

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
    >>> for allocation in explorer.ask(20):
    ...     explorer.tell(allocation, [5.0 if allocation.arm == "B" else 0.0])
    >>> status = explorer.status()
    >>> status.optimal, status.dominated, status.undecided
    (('B',), {'A': 'B'}, ())
    >>> status.to_dict()["means"]
    [[0.0], [5.0]]
    """

    arms: tuple[str, ...]
    objectives: tuple[str, ...]
    allocations: int
    samples: int
    answers: dict[str, tuple[str, ...] | None]
    optimal: tuple[str, ...]
    dominated: dict[str, str]
    undecided: tuple[str, ...]
    rivals: dict[str, str]
    means: FloatArray
    counts: IntArray
    lower: FloatArray
    upper: FloatArray
    waiting: tuple[Waiting, ...]
    held: dict[str, tuple[int, int | str]]
    expected: dict[str, float]
    notes: tuple[str, ...]
    guarantee: str
    head: str
    control: str | None = None
    progress: Progress | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinite and undefined numbers are None."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["waiting"] = [asdict(allocation) for allocation in self.waiting]
        data["progress"] = None if self.progress is None else asdict(self.progress)
        data["held"] = {name: {"outcomes": n, "by": id} for name, (n, id) in self.held.items()}
        plain: dict[str, Any] = text.plain(data)
        return plain

    def __str__(self) -> str:
        lines = [f"{self.allocations} allocations, {self.samples} samples, {self.guarantee}"]
        lines += ["", *([] if self.progress is None else [str(self.progress), ""])]
        for goal, answer in self.answers.items():
            if answer is not None:
                lines.append(f"{goal}: {', '.join(map(text.visible, answer))}")
                continue
            more = self.expected[goal]
            about = "unknown"
            if math.isfinite(more):
                about = f"about {text.count(more)} more (an estimate)"
            lines.append(f"{goal}: no answer yet; samples to go: {about}")
        width = 2 + len(self.objectives)  # all columns stand to the left
        heads = ["", "verdict", *map(text.visible, self.objectives)]
        lines += ["", text.table(heads, [self._row(arm) for arm in self.arms], names=width)]
        if self.rivals:
            lines += ["", "undecided: the difference from the arm most in the way"]
            rows = [self._difference(*pair) for pair in self.rivals.items()]
            lines.append(text.table([""] * (width - 1), rows, names=width))
        if self.control is not None:
            lines += ["", f"the difference of each arm from {text.visible(self.control)}, the "
                      f"control (together these hold only under union='pairs')"]  # fmt: skip
            rows = [self._difference(arm, self.control) for arm in self.arms if arm != self.control]
            lines.append(text.table([""] * (width - 1), rows, names=width))
        if self.waiting:
            shown = ", ".join(
                text.visible(f"{waiting.id} ({waiting.arm})") for waiting in self.waiting[:8]
            )
            more_waiting = ", ..." if len(self.waiting) > 8 else ""
            lines += ["", f"waiting for {len(self.waiting)}: {shown}{more_waiting}"]
        for objective, (count, by) in self.held.items():
            if count:
                held_up = f"{objective}: {count} outcomes wait for that of allocation {by}"
                lines.append(text.visible(held_up))
        lines += [f"note: {text.visible(note)}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *lines = str(self).split("\n")
        rows = [self._row(arm) for arm in self.arms]
        heads = ["arm", "verdict", *self.objectives]
        goals = [line for line in lines[1 : 1 + len(self.answers)] if line]
        notes = [f"note: {note}" for note in self.notes]
        return Shown(head, heads, rows, [*goals, *notes], len(heads))._repr_html_()

    def _row(self, arm: str) -> list[str]:
        i = self.arms.index(arm)
        verdict = "optimal" if arm in self.optimal else "undecided"
        if arm in self.dominated:
            by = self.dominated[arm]
            reason = "beyond a limit" if by == arm else f"dominated by {text.visible(by)}"
            within = "within eps1 of optimal, and " if arm in self.optimal else ""
            verdict = f"{within}out (likely {reason})"
        row = zip(self.means[i], self.counts[i], strict=True)
        cells = (f"{text.measure(mean)} (n={n})" if n else "-" for mean, n in row)
        return [text.visible(arm), verdict, *cells]

    def _difference(self, arm: str, rival: str) -> list[str]:
        i, j = self.arms.index(arm), self.arms.index(rival)
        row = zip(self.objectives, self.lower[i, j], self.upper[i, j], strict=True)
        digits = partial(text.measure, digits=3)
        ends = [
            f"{text.visible(name)} {text.interval(low, high, digits)}" for name, low, high in row
        ]
        return [text.visible(f"{arm} - {rival}"), *ends]


def bounds(design: Design, view: View | None) -> tuple[FloatArray, FloatArray]:
    """(lower, upper), (K, K, D), in the user's direction and units."""
    K, D = design.K, design.D
    if view is None:
        return np.full((K, K, D), -np.inf), np.full((K, K, D), np.inf)
    low, high = view.lower, view.upper
    flip = design.sign < 0
    return np.where(flip, -high, low), np.where(flip, -low, high)


def verdicts(view: View | None, standing: Standing, goal: Goal) -> tuple[set[int], dict[int, int]]:
    """(arms certainly in the answer, arms certainly out and for whom), now or settled before."""
    inside, by = set(standing.accepted), dict(standing.dropped)
    if view is not None:
        certainly, out = goal.certain(view)
        inside |= set(np.flatnonzero(certainly).tolist())
        by = out | by
    return inside, by


def rivals(view: View | None, standing: Standing, undecided: Iterable[int]) -> dict[int, int]:
    """Undecided arm to the one, not dropped, whose lower bound keeps it out of OPT by most."""
    if view is None:
        return {}
    blocking = view.M_lower.copy()
    blocking[:, list(standing.dropped)] = np.inf
    return {i: int(np.argmin(blocking[i])) for i in undecided}


def waiting(state: TrialState) -> tuple[Waiting, ...]:
    """Allocations with outcomes still to come, oldest first."""
    missing: dict[int, list[str]] = {}
    for d, column in enumerate(state.values):
        rest = np.array(column[state.reach[d] :])
        for at in np.flatnonzero(np.isnan(rest)):
            missing.setdefault(state.reach[d] + int(at), []).append(state.design.objectives[d])
    return tuple(
        Waiting(state.id_of(p), state.design.arms[state.arms[p]], tuple(missing[p]))
        for p in sorted(missing)
    )


def held(state: TrialState) -> dict[str, tuple[int, int | str]]:
    """Objective to outcomes beyond its beginning and the allocation that holds them up."""
    result = {}
    for d, column in enumerate(state.values):
        rest = np.array(column[state.reach[d] :])
        if len(rest):
            arrived = int(np.isfinite(rest).sum())
            result[state.design.objectives[d]] = arrived, state.id_of(state.reach[d])
    return result


def notes(state: TrialState) -> tuple[str, ...]:
    """What the investigator should know: constant outcomes, corrections after an answer."""
    design, data = state.design, state.outcomes()
    said = []
    if design.learnt.any():
        for i, d in np.argwhere((data.counts >= 5) & (data.ss == 0) & design.learnt):
            said.append(
                f"{design.arms[i]} gave the same {design.objectives[d]} {int(data.counts[i, d])} "
                f"times: that is no Gaussian outcome, so its intervals are infinite"
            )
    if state.digits_lost().any():
        i, d = np.argwhere(state.digits_lost())[0]
        said.append(
            f"the outcomes of {design.arms[i]} in {design.objectives[d]} are so far from the "
            f"others' that sums have too few digits for the guarantee, so nothing is concluded: "
            f"check their units, and correct them"
        )
    for g, answer in state.answers.items():
        later = sum(seq > answer.event for seq in state.corrected)
        if later:
            said.append(
                f"{later} corrections came after the answer to {design.goals[g]}, which stays as "
                f"given: judge whether it rested on them"
            )
    return tuple(said)
