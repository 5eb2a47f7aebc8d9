r"""The state of a trial: a replay of its events, and nothing else.

For each objective d the sums run over the longest beginning 1, ..., T_d of the allocations, in
the order in which they were made, all of whose outcomes in d have arrived or are recorded as
missing. What arrived beyond T_d waits. This is what is proved (theory/PROOFS.md, Section 5): the
interval on mu_i - mu_j is a statement about the allocations 1, ..., T for every T at once. The
longest beginning of each *arm's own* allocations would use more outcomes, but in pairs of counts
that no T has. That is not covered: of the mixture's two factors each may exceed x at some time
with probability 1/x, so a laboratory that delays one arm at the other's expense could bring their
product above 1/alpha with probability up to alpha (1 + log(1/alpha)).
"""

from __future__ import annotations

import io
import json
import math
from array import array
from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paretoid.arithmetic import FAR, digits_lost
from paretoid.explorer.design import Design
from paretoid.explorer.events import KINDS, Event, LedgerError
from paretoid.explorer.lists import Lists
from paretoid.goals import Goal
from paretoid.goals.base import said
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.view import Samples, Standing

#: of snapshots; raised when they hold other things than before
_FORMAT = 6

WAITING, MISSING = math.nan, math.inf  # in `values`: not arrived yet, and never to arrive


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a goal was answered with, and when.

    arms      names
    samples   allocations told when it was given: those within some objective's beginning
    event     number of the event that records it
    """

    arms: tuple[str, ...]
    samples: int
    event: int


def count_binary(count: int, old: float, new: float) -> int:
    """Outcomes known while all were 0 or 1, -1 afterwards, once `old` has become `new`.

    >>> count_binary(3, WAITING, 1.0), count_binary(3, 0.0, 1.0), count_binary(3, 0.0, MISSING)
    (4, 3, 2)
    >>> count_binary(3, WAITING, 0.5), count_binary(-1, WAITING, 1.0)
    (-1, -1)
    """
    if count < 0 or not (math.isinf(new) or new in (0.0, 1.0)):
        return -1
    return count - (old in (0.0, 1.0)) + (new in (0.0, 1.0))


def is_label(label: str, goal: Goal) -> bool:
    """True: a ledger means `goal` by `label`; the first ones kept six digits of its numbers.

    >>> from paretoid import ParetoSet
    >>> goal = ParetoSet(eps1=1 / 3)
    >>> is_label(str(goal), goal), is_label("ParetoSet(eps1=0.333333)", goal), is_label("x", goal)
    (True, True, False)
    """

    def brief(value: Any) -> str:
        if isinstance(value, tuple):
            return "(" + ", ".join(map(brief, value)) + ")"
        return f"{value:g}" if isinstance(value, float) else str(value)

    inside = ", ".join(f"{name}={brief(value)}" for name, value in said(goal).items())
    return label in (str(goal), f"{type(goal).__name__}({inside})")


class TrialState:
    """Allocations and outcomes as they stand after the events applied so far."""

    def __init__(self, design: Design) -> None:
        K, D = design.K, design.D
        self.design = design
        self.seq, self.hash = 0, ""
        self.arms = array("q")  # of each allocation, in order
        self.values = [array("d") for _ in range(D)]  # of each objective, in the user's direction
        self.labels: dict[str, int] = {}  # the user's own ids of unplanned allocations
        self.unplanned: dict[int, str | None] = {}  # position to label
        self.replaced: dict[int, int] = {}  # overridden allocation to the one in its stead
        self.withdrawn: list[int] = []  # positions of allocations that nobody received
        self.requests: dict[str, list[int]] = {}  # the caller's id of an `ask` to [first id, n]
        self.corrected: list[int] = []  # numbers of the events
        self.queue: list[int] = []  # what is left of the round begun
        self.ends: list[int] = []  # allocations made when rounds of several arms ended
        self.lists = Lists(design)  # of a randomised trial
        self.standing = Standing.begin(K)
        self.memory: dict[str, Any] = {}  # the rule's own
        self.divisor: list[float | None] = [None] * D  # of scales that are learnt, once fixed
        self.answers: dict[int, GivenAnswer] = {}
        self.allocated = [0] * K
        self.lost = [[0] * K for _ in range(D)]
        self.only_binary = [0] * D  # as `count_binary` counts
        self._sign = [float(sign) for sign in design.sign]
        self._arm = {name: i for i, name in enumerate(design.arms)}
        self._objective = {name: d for d, name in enumerate(design.objectives)}
        self._restart()

    def _restart(self) -> None:
        K, D = self.design.K, self.design.D
        self.reach = [0] * D  # T_d
        self.counts = [[0] * K for _ in range(D)]
        self.sums = [[0.0] * K for _ in range(D)]
        self.ss = [[0.0] * K for _ in range(D)]
        self.reference = [0.0] * D  # subtracted from outcomes before they are summed
        self._stale = False

    # -- events ------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Move on by one event; one that makes no sense after the others is refused."""
        try:
            if event.kind not in KINDS:
                raise ValueError(f"there is no kind {event.kind!r}")
            getattr(self, f"_{event.kind}")(event, event.body)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise LedgerError(
                f"event {event.seq} ({event.kind}) does not fit the events before it: {error!r}. "
                f"The log was changed, or written by other software."
            ) from error
        self.seq, self.hash = event.seq, event.hash

    def _created(self, event: Event, body: dict[str, Any]) -> None:
        if event.seq != 1:
            raise ValueError("a trial begins once")
        written = body["design"]
        same = written == json.loads(json.dumps(self.design.described()))
        if not same and not self.design.same_as(Design.from_dict(written, stored=True)):
            raise ValueError("the design is not the one the trial was created with")
        self.lists.created(body)

    def _allocate(self, arm: int) -> int:
        self.arms.append(arm)
        for column in self.values:
            column.append(WAITING)
        self.allocated[arm] += 1
        return len(self.arms) - 1

    def _asked(self, event: Event, body: dict[str, Any]) -> None:
        if body["first"] != len(self.arms) + 1:
            raise ValueError(f"allocation {body['first']} is not the next")
        request = body.get("request")
        if request is not None:
            if not isinstance(request, str) or request in self.requests:
                raise ValueError(f"the request {request!r} is taken")
            self.requests[request] = [len(self.arms) + 1, len(body["arms"])]
        arms = [self._arm[name] for name in body["arms"]]
        self.lists.asked(body, arms)
        for arm in arms:
            self._allocate(arm)
        if "rest" not in body:  # format 1: at most the second arm of a pair
            rest = [] if body["partner"] is None else [body["partner"]]
            body = {**body, "rest": rest, "ended": not rest or len(body["arms"]) > 1}
        self.queue = [self._arm[name] for name in body["rest"]]
        self.memory = dict(body.get("memory", {}))
        if body["ended"]:
            self._end_round()

    def _told(self, event: Event, body: dict[str, Any]) -> None:
        if body.get("unplanned"):
            label = body["id"]
            if self.find(label) is not None or (label is not None and not isinstance(label, str)):
                raise ValueError(f"the id {label!r} is taken")
            position = self._allocate(self._arm[body["arm"]])
            self.unplanned[position] = label
            if label is not None:
                self.labels[label] = position
        else:
            position = self._position(body["id"])
        for name, value in body["outcome"].items():
            d = self._objective[name]
            if not math.isnan(self.values[d][position]):
                raise ValueError(f"{name} of {body['id']} is known already")
            self._put(d, position, value)
        self._make_up(position)
        self._advance()

    def _corrected(self, event: Event, body: dict[str, Any]) -> None:
        position = self._position(body["id"])
        for name, value in body["outcome"].items():
            d = self._objective[name]
            if math.isnan(self.values[d][position]):
                raise ValueError(f"{name} of {body['id']} is not known yet")
            if math.isinf(self.values[d][position]):
                self.lost[d][self.arms[position]] -= 1
            self._put(d, position, value)
        self._judge_anew(event)

    def _queried(self, event: Event, body: dict[str, Any]) -> None:
        """An outcome that waits for the statistician is none yet: `paretoid.explorer.queue`."""
        self._position(body["id"])

    def _arm_corrected(self, event: Event, body: dict[str, Any]) -> None:
        position = self._position(body["id"])
        before, arm = self._arm[body["was"]], self._arm[body["arm"]]
        if self.arms[position] != before or not self.is_told(position):
            raise ValueError(f"{body['id']} has no outcomes under {body['was']}")
        self.arms[position] = arm
        self.allocated[before] -= 1
        self.allocated[arm] += 1
        for lost, column in zip(self.lost, self.values, strict=True):
            if math.isinf(column[position]):
                lost[before] -= 1
                lost[arm] += 1
        self._judge_anew(event)

    def _judge_anew(self, event: Event) -> None:
        """Sums and verdicts may have rested on what was corrected: both start again."""
        self.corrected.append(event.seq)
        self.standing = Standing.begin(self.design.K)
        self._stale = True

    def _overridden(self, event: Event, body: dict[str, Any]) -> None:
        position = self._position(body["id"])
        if body["new"] != len(self.arms) + 1 or position in self.replaced:
            raise ValueError(f"allocation {body['id']} cannot be replaced by {body['new']}")
        self._void(position)
        self.replaced[position] = self._allocate(self._arm[body["arm"]])
        self._make_up(position)
        self._advance()

    def _withdrawn(self, event: Event, body: dict[str, Any]) -> None:
        position = self._position(body["id"])
        self._void(position)
        self.withdrawn.append(position)
        self._make_up(position)
        self._advance()

    def _void(self, position: int) -> None:
        """No outcome of an allocation will come; none may have come."""
        if self.is_told(position):
            raise ValueError(f"allocation {self.id_of(position)} has outcomes")
        for d in range(self.design.D):
            self._put(d, position, "missing")

    def _scaled(self, event: Event, body: dict[str, Any]) -> None:
        for name, value in body["divisor"].items():
            d = self._objective[name]
            if self.divisor[d] is not None:
                raise ValueError(f"the scale of {name} is fixed already")
            self.divisor[d] = float(value)
            self._stale = self._stale or self._reference(d) != self.reference[d]

    def _settled(self, event: Event, body: dict[str, Any]) -> None:
        dropped = {self._arm[name]: self._arm[by] for name, by in body["dropped"].items()}
        accepted = [self._arm[name] for name in body["accepted"]]
        if not {*accepted, *dropped} <= set(self.standing.active):
            raise ValueError("an arm is settled already")
        self.standing = self.standing.after(accepted, dropped)
        begun, active = bool(self.queue), self.standing.active
        self.queue = [arm for arm in self.queue if arm in active]
        if begun and not self.queue:
            self._end_round()

    def _stopped(self, event: Event, body: dict[str, Any]) -> None:
        goal = self.goal_position(body["goal"])
        if goal in self.answers:
            raise ValueError(f"{body['goal']} has an answer already")
        for name in body["answer"]:
            self._arm[name]
        self.answers[goal] = GivenAnswer(tuple(body["answer"]), int(body["samples"]), event.seq)

    def _kept(self, event: Event, body: dict[str, Any]) -> None:
        if not isinstance(body["digest"], str):
            raise ValueError("a snapshot goes by its digest")

    def goal_position(self, label: str) -> int:
        """The position of the goal that a ledger calls `label`."""
        for position, goal in enumerate(self.design.goals):
            if is_label(label, goal):
                return position
        raise ValueError(f"there is no goal {label!r}")

    def _put(self, d: int, position: int, value: float | str) -> None:
        number = MISSING if value == "missing" else float(value)
        if value == "missing":
            self.lost[d][self.arms[position]] += 1
        elif not math.isfinite(number):
            raise ValueError(f"{value!r} is no outcome")
        old, self.values[d][position] = self.values[d][position], number
        self.only_binary[d] = count_binary(self.only_binary[d], old, number)

    # -- rounds ------------------------------------------------------------------------------

    def _end_round(self) -> None:
        if self.design.in_rounds:
            self.ends.append(len(self.arms))

    def _make_up(self, position: int) -> None:
        """A subject of a round gone before any outcome: its arm is due again, the round goes on.

        The arms of a pair were of interest then; once the next pair is begun they are let go.
        """
        arm, rule = self.arms[position], self.design.rule
        by_hand = position in self.unplanned or position in self.replaced.values()
        if by_hand or not self.design.in_rounds or arm not in self.standing.active:
            return
        if not all(math.isinf(column[position]) for column in self.values):
            return
        later = len(self.ends) - bisect_right(self.ends, position)  # rounds ended since
        if later == 1 and not self.queue:
            self.ends.pop()
        elif later and rule.whole_rounds:
            return
        self.queue.insert(0, arm)

    def ended_since(self, reach: list[int]) -> bool:
        """True: a round has become complete, in some objective, since they reached `reach`."""
        self.settle()
        return any(
            bisect_right(self.ends, now) > bisect_right(self.ends, before)
            for before, now in zip(reach, self.reach, strict=True)
        )

    # -- sums --------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Extend each objective's beginning as far as it is complete."""
        if self._stale:
            return
        arms, size = self.arms, len(self.arms)
        for d, column in enumerate(self.values):
            at = self.reach[d]
            counts, sums, ss, sign = self.counts[d], self.sums[d], self.ss[d], self._sign[d]
            if not any(counts):
                self.reference[d] = self._reference(d)
            reference = self.reference[d]
            while at < size and (value := column[at]) == value:  # not NaN: no longer waiting
                if value != MISSING:
                    arm, x = arms[at], value * sign - reference
                    n = counts[arm]
                    before = sums[arm] / max(n, 1)
                    counts[arm] = n + 1
                    sums[arm] += x
                    if n:
                        ss[arm] += (x - before) * (x - sums[arm] / (n + 1))
                at += 1
            self.reach[d] = at

    def settle(self) -> None:
        """After corrections, sum again from the first allocation."""
        if self._stale:
            self._restart()
            self._advance()

    def outcomes(self) -> Samples:
        """Counts, oriented means (0 without outcomes) and squared deviations, (K, D) each."""
        self.settle()
        counts = np.array(self.counts, dtype=float).T
        sums = np.array(self.sums).T
        means = sums / np.maximum(counts, 1)
        return Samples(counts, means, np.array(self.ss).T, np.array(self.reference))

    def _reference(self, d: int) -> float:
        """The first outcome in objective d, if it is far from 0 in units of the scale; else 0.

        Ledgers that do not say it were summed without a reference, and stay so.
        """
        design = self.design
        spread = self.divisor[d] if design.learnt[d] else design.bandit.scale[:, d].min()
        known = (value for value in self.values[d] if value != MISSING)
        first = next(known, WAITING) * self._sign[d]
        if not design.centred or spread is None or first != first:
            return 0.0
        return first if abs(first) >= FAR * spread else 0.0

    def digits_lost(self) -> BoolArray:
        """(K, D) where outcomes are so far from the others' that sums say too little of them."""
        data, design = self.outcomes(), self.design
        return digits_lost(design.bandit, design.learnt, data.counts, data.means, data.ss)

    def awaited(self) -> FloatArray:
        """(K, D) counts once everything that waits has arrived: allocations less missing ones."""
        lost = np.array(self.lost, dtype=np.float64).T
        return np.asarray(np.array(self.allocated, dtype=np.float64)[:, None] - lost)

    @property
    def samples(self) -> int:
        """Allocations used by the most advanced objective."""
        self.settle()
        return max(sum(row) for row in self.counts)

    # -- ids ---------------------------------------------------------------------------------

    def find(self, id: int | str | None) -> int | None:
        """The position of an allocation, None if there is none. Ids from `ask` are 1, 2, ..."""
        if isinstance(id, str):
            if id in self.labels:
                return self.labels[id]
            id = int(id) if id.isdecimal() and id == str(int(id)) else None
        if isinstance(id, bool) or id is None or not 1 <= id <= len(self.arms):
            return None
        return None if self.unplanned.get(id - 1) is not None else id - 1

    def present(self, position: int) -> int:
        """The position of an allocation, or of the last one in its stead if it was overridden."""
        while position in self.replaced:
            position = self.replaced[position]
        return position

    def is_told(self, position: int) -> bool:
        """True: something of an allocation was told, if only that it is missing."""
        return not all(math.isnan(column[position]) for column in self.values)

    def _position(self, id: int | str) -> int:
        position = self.find(id)
        if position is None:
            raise ValueError(f"there is no allocation {id!r}")
        return position

    def id_of(self, position: int) -> int | str:
        """The id of an allocation: the user's own, else its number from 1."""
        return self.unplanned.get(position) or position + 1

    # -- snapshots ---------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """All of it, for a snapshot; equal states give equal bytes."""
        self.settle()
        rest = {
            "format": _FORMAT, "design": self.design.to_dict(), "seq": self.seq, "hash": self.hash,
            "memory": self.memory,
            "unplanned": [[p, label] for p, label in self.unplanned.items()],
            "replaced": [[p, new] for p, new in self.replaced.items()],
            "withdrawn": self.withdrawn, "requests": self.requests,
            "corrected": self.corrected, "divisor": self.divisor, "queue": self.queue,
            "ends": self.ends, "active": self.standing.active, "accepted": self.standing.accepted,
            "dropped": [[i, by] for i, by in self.standing.dropped.items()],
            "answers": [[g, asdict(answer)] for g, answer in self.answers.items()],
            "allocated": self.allocated, "lost": self.lost, "only_binary": self.only_binary,
            "reference": self.reference, "reach": self.reach, "counts": self.counts,
            "sums": self.sums, "ss": self.ss, **self.lists.to_dict(),
        }  # fmt: skip
        file = io.BytesIO()
        file.write(json.dumps(rest).encode() + b"\n")
        file.write(self.arms.tobytes())
        for column in self.values:
            file.write(column.tobytes())
        return file.getvalue()

    @classmethod
    def from_bytes(cls, blob: bytes) -> TrialState | None:
        """The state of `to_bytes`; None if another version, or nobody of ours, wrote it."""
        line, _, columns = blob.partition(b"\n")
        try:
            rest = json.loads(line)
            if rest["format"] != _FORMAT:
                return None
            return cls._restored(rest, columns)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None

    @classmethod
    def _restored(cls, rest: dict[str, Any], columns: bytes) -> TrialState:
        state = cls(Design.from_dict(rest["design"], stored=True))
        size = len(columns) // (1 + state.design.D)
        state.arms.frombytes(columns[:size])
        for at, column in enumerate(state.values, start=1):
            column.frombytes(columns[at * size : (at + 1) * size])
        for name in (
            "seq", "hash", "memory", "withdrawn", "requests", "corrected", "queue", "ends",
            "divisor", "allocated", "lost", "only_binary", "reference", "reach", "counts", "sums",
            "ss",
        ):  # fmt: skip
            setattr(state, name, rest[name])
        state.lists.restore(rest)
        state.unplanned = dict(rest["unplanned"])
        state.labels = {label: p for p, label in rest["unplanned"] if label is not None}
        state.replaced = dict(rest["replaced"])
        state.standing = Standing(
            tuple(rest["active"]), tuple(rest["accepted"]), dict(rest["dropped"])
        )
        state.answers = {
            g: GivenAnswer(tuple(a["arms"]), a["samples"], a["event"]) for g, a in rest["answers"]
        }
        return state
