"""How a trial stands: what is certain, what waits, how much more to expect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from paretoid import text
from paretoid.explorer.design import Design
from paretoid.explorer.progress import Progress
from paretoid.explorer.state import TrialState
from paretoid.goals import Goal
from paretoid.notebook import Shown
from paretoid.theory.checks import FloatArray, IntArray
from paretoid.units import PLAIN, Units
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
    means         (K, D) estimates as outcomes are recorded: of an endpoint recorded as natural
                  logarithms the mean of these, of which the printed geometric mean is the
                  exponential; NaN without outcomes
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
    sd            (K, D) standard deviations of outcomes as recorded, NaN with fewer than two
    minimize      objectives where less is better
    binary        objectives whose outcomes are 0 or 1
    units         what numbers of the objectives stand for
    labels        goal to what it asks for, in words
    inside        what the arms in `optimal` are surely, in words
    ways          which way each objective is better, in words

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
    >>> for allocation in explorer.ask(20):
    ...     explorer.tell(allocation, [5.0 if allocation.arm == "B" else 0.0])
    >>> status = explorer.status()
    >>> status.optimal, status.dominated, status.undecided
    (('B',), {'A': 'B'}, ())
    >>> status.to_dict()["means"], status.sd.tolist(), status.labels
    ([[0.0], [5.0]], [[0.0], [0.0]], {'ParetoSet(eps1=0)': 'all optimal arms'})
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
    sd: FloatArray | None = None
    minimize: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()
    units: Units = PLAIN
    labels: dict[str, str] = field(default_factory=dict)
    inside: str = "optimal"
    ways: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinite and undefined numbers are None."""
        data = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        data["waiting"] = [asdict(allocation) for allocation in self.waiting]
        data["progress"] = None if self.progress is None else asdict(self.progress)
        data["units"] = self.units.to_dict()
        data["held"] = {name: {"outcomes": n, "by": id} for name, (n, id) in self.held.items()}
        plain: dict[str, Any] = text.plain(data)
        return plain

    def __str__(self) -> str:
        return self.words()

    def words(self, width: int | None = None) -> str:
        """All of it as text; what is wider than `width` is a list for each arm, not a table.

        >>> from paretoid import Explorer
        >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
        >>> explorer.tell("A", [5.0], unplanned=True)
        >>> print(explorer.status().words(width=20))    # doctest: +ELLIPSIS
        1 allocation, 1 sample, proved
        more response is better
        <BLANKLINE>
        all optimal arms: no answer yet; samples to go: unknown
        <BLANKLINE>
        A, undecided
          response  5 (n=1)
        B, undecided
          response  -
        ...
        """
        lines = [self._head(), text.visible(self.ways), ""]
        lines += [] if self.progress is None else [str(self.progress), ""]
        lines += self._goals()
        heads = ["", "verdict", *map(text.visible, self.objectives)]
        lines += ["", _table(heads, [self._row(arm) for arm in self.arms], 2, width)]
        heads = [""] * (1 + len(self.objectives))
        if self.rivals:
            lines += ["", f"undecided: {self.compared} the arm most in the way"]
            rows = [self._difference(*pair) for pair in self.rivals.items()]
            lines.append(_table(heads, rows, 1, width))
        if self.control is not None:
            lines += ["", f"{self.compared} {text.visible(self.control)}, the control (together "
                      f"these hold only under union='pairs')"]  # fmt: skip
            rows = [self._difference(arm, self.control) for arm in self.arms if arm != self.control]
            lines.append(_table(heads, rows, 1, width))
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
        rows = [self._row(arm) for arm in self.arms]
        heads = ["arm", "verdict", *self.objectives]
        notes = [f"note: {note}" for note in self.notes]
        sentences = [self.ways, *self._goals(), *notes]
        return Shown(self._head(), heads, rows, sentences, len(heads))._repr_html_()

    @property
    def compared(self) -> str:
        """What two arms are compared by: a difference of means, a ratio of geometric means.

        >>> from paretoid import Explorer
        >>> Explorer(["A", "B"], ["response"]).status().compared
        'the difference from'
        """
        logs = [name in self.units.logs for name in self.objectives]
        if all(logs):
            return "the ratio to"
        return "the difference from, or ratio to," if any(logs) else "the difference from"

    def estimate(self, arm: str, objective: str) -> tuple[str, str]:
        """(the mean, what it rests on) in words: in units, geometric where outcomes are logarithms.

        >>> from paretoid import Explorer
        >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
        >>> for arm, outcome in (("A", 1.0), ("A", 3.0), ("B", 2.0)):
        ...     explorer.tell(arm, [outcome], unplanned=True)
        >>> [explorer.status().estimate(arm, "response") for arm in ("A", "B")]
        [('2', 'sd 1.41, n=2'), ('2', 'n=1')]
        """
        i, d = self.arms.index(arm), self.objectives.index(objective)
        mean, n = float(self.means[i, d]), int(self.counts[i, d])
        if not n:
            return "-", ""
        if objective in self.binary:
            return text.measure(mean, 3), f"{round(mean * n)} of {n}"
        spread = ""
        if self.sd is not None and np.isfinite(self.sd[i, d]):
            spread = f"{self.units.spread(objective, float(self.sd[i, d]))}, "
        return self.units.value(objective, mean), f"{spread}n={n}"

    def difference(self, arm: str, rival: str) -> tuple[str, list[str]]:
        """(the two arms, the bounds in each objective) in words; ratios of geometric means.

        >>> from paretoid import Explorer
        >>> Explorer(["A", "B"], ["response"]).status().difference("A", "B")
        ('A - B', ['-'])
        """
        i, j = self.arms.index(arm), self.arms.index(rival)
        row = zip(self.objectives, self.lower[i, j], self.upper[i, j], strict=True)
        sign = "vs" if self.units.logs else "-"
        between = [self.units.difference(name, low, high, digits=3) for name, low, high in row]
        return f"{arm} {sign} {rival}", between

    def _head(self) -> str:
        made = text.counted(self.allocations, "allocation")
        return f"{made}, {text.counted(self.samples, 'sample')}, {self.guarantee}"

    def _goals(self) -> list[str]:
        lines = []
        for goal, answer in self.answers.items():
            label = text.visible(self.labels.get(goal, goal))
            if answer is not None:
                lines.append(f"{label}: {', '.join(map(text.visible, answer)) or 'no arm'}")
                continue
            more = self.expected[goal]
            about = "unknown"
            if math.isfinite(more):
                about = f"about {text.count(more)} more (an estimate)"
            lines.append(f"{label}: no answer yet; samples to go: {about}")
        return lines

    def _row(self, arm: str) -> list[str]:
        verdict = self.inside if arm in self.optimal else "undecided"
        if arm in self.dominated:
            by = self.dominated[arm]
            reason = "beyond a limit" if by == arm else f"dominated by {text.visible(by)}"
            within = f"{self.inside}, and " if arm in self.optimal else ""
            verdict = f"{within}out (likely {reason})"
        cells = [self.estimate(arm, name) for name in self.objectives]
        shown = [f"{mean} ({rest})" if rest else mean for mean, rest in cells]
        return list(map(text.visible, (arm, verdict, *shown)))

    def _difference(self, arm: str, rival: str) -> list[str]:
        pair, between = self.difference(arm, rival)
        ends = [f"{name} {ends}" for name, ends in zip(self.objectives, between, strict=True)]
        return list(map(text.visible, (pair, *ends)))


def _table(heads: list[str], rows: list[list[str]], names: int, width: int | None) -> str:
    """All columns to the left; where that is too wide, a list under the first `names` of a row."""
    from rich.cells import cell_len  # some letters are two columns wide

    table = text.table(heads, rows, names=len(heads))
    if width is None or max(map(cell_len, table.split("\n"))) <= width:
        return table
    return text.stacked(heads, rows, names=names, width=width)


def labels(goals: Sequence[Goal], units: Units) -> dict[str, str]:
    """Goal, as a ledger names it, to what it asks for in words; all different.

    >>> from paretoid import AtMost, ParetoSet
    >>> labels([ParetoSet(0.5), AtMost(1)], PLAIN)
    {'ParetoSet(eps1=0.5)': 'all optimal arms (margin 0.5)', 'AtMost(k=1, eps1=0)': 'one arm'}
    """
    return {str(goal): goal.label(units) for goal in goals}


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
            label = design.goals[g].label(design.units)
            said.append(
                f"{text.counted(later, 'correction')} came after the answer to {label!r}, which "
                f"stays as given: judge whether it rested on "
                f"{'it' if later == 1 else 'them'}"
            )
    return tuple(said)
