"""Explorer: run a real adaptive experiment by asking for arms and telling outcomes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, overload

import numpy as np

from paretoid.explorer.choice import Moment, choose, expected_samples
from paretoid.explorer.design import Design
from paretoid.explorer.events import LedgerError
from paretoid.explorer.outcomes import as_outcome, check_received, subject
from paretoid.explorer.plausible import Entry, questions
from paretoid.explorer.progress import burn_in, progress_of
from paretoid.explorer.randomised import draw
from paretoid.explorer.requests import check_request, check_stratum, repeated
from paretoid.explorer.secret import Secret
from paretoid.explorer.session import Session, alone
from paretoid.explorer.state import TrialState
from paretoid.explorer.status import (
    Status,
    bounds,
    held,
    labels,
    notes,
    rivals,
    verdicts,
    waiting,
)
from paretoid.goals import Goal
from paretoid.randomisation import Randomisation
from paretoid.rules import Rule
from paretoid.theory.checks import check_count, refusal, shown
from paretoid.theory.radii import Radius

#: most subjects placed at once, and how often a choice is made anew after others have recorded
_MOST, _TRIES = 10_000, 20


@dataclass(frozen=True, slots=True)
class Allocation:
    """One subject's arm. `id` is a number from `ask`, or the user's own for unplanned ones.

    >>> Explorer(["A", "B"], ["response"], seed=1).ask()
    Allocation(id=1, arm='A')
    """

    id: int | str
    arm: str


class Explorer(Session):
    """A live experiment: `ask` for arms, `tell` outcomes, read `answer`.

    arms, objectives   names; `minimize` names objectives where less is better
    goal               one goal or several with a common eps1, watched at once and right together
                       with probability 1 - delta (`union="claims"` then counts each different
                       vector eps2)
    scale              scalar, (D,) or (K, D), known beforehand; without it the variances are
                       learnt (`UnknownScale`, Gaussian outcomes)
    outcomes           "gaussian", "bounded" or "binary"; the last two need a scale. If objectives
                       differ a table: {"response": "gaussian", "harm": "binary", "pain": (0, 10)},
                       a range being one that no outcome can leave; scales of Gaussian ones are then
                       learnt and the others follow (`MixedScale`), so scale is left out
    radius, rule       as in `simulate`, every rule; the default is `APE`
    seed               shuffles the order within a batch, nothing else
    cone               W or statements as in `in_cone`: outcomes are told as measured and judged by
                       its rows, which the goals' eps and the `status` are about. Where scales
                       are learnt outcomes must be jointly Gaussian, so that every row is
    randomise          a `Randomisation`: arms are drawn, with probabilities from the rule's wishes;
                       without it the rule alone decides, and who knows the outcomes knows the arm
    ledger             a file that does not exist yet; without it the log is in memory
    seed_file          of a randomised trial, a file that does not exist yet: the secret that arms
                       are drawn from. Keep it apart from the ledger, which has its hash
    author, clock      go into every event; by default the user and the time in UTC

    *What is guaranteed.* The answers are right with probability 1 - delta if each subject's
    outcome has the arm's mean whatever happened before, however arms are chosen: proposals may be
    overridden, batches be large, outcomes late. Each objective uses the longest beginning of the
    allocations, in their order, that is complete for it; later outcomes wait (`status`).

    *What breaks it.* Missingness that has to do with an outcome: whether one is missing may depend
    on the arm and on what happened before, not on any outcome of that subject, in this objective
    or another (a patient who leaves because a vaccine made them ill). Populations that change: if
    later patients respond differently, an arm has no one mean. Outcomes of different subjects that
    depend on each other (paired designs). A scale or radius chosen after seeing data.

    *Batches* cost samples, because outcomes within a batch cannot steer it. On COV-BOOST with a
    known scale and delta = 0.1 (validation/benchmarks/batching.py), relative to n = 1:

    ============  ======  =======  =======
    batch size    k = 1   k = 2    all
    ============  ======  =======  =======
    1 (samples)   2,038   11,503   31,833
    5             +0.3%   +0.2%    +0.1%
    20            +2.3%   +0.5%    +1.7%
    100           +17%    +1.8%    +2.7%
    ============  ======  =======  =======

    Fed complete outcomes one at a time it is the engine of `simulate`, whatever the rule: same
    arms, same stopping time, same answer. *Rules that sample in rounds* (`RoundRobin`,
    `UniformElimination`, `LUCB`, `LUCBpp`, `APE(pull="both")`) carry their rounds from batch to
    batch and are tested when the outcomes of a batch that completed a round are in; a subject who
    leaves is replaced in the round. Arms that `UniformElimination` has dropped or accepted stay so,
    until an outcome is corrected: then all are judged anew (`paretoid.explorer.state`).

    *Threads* may share one Explorer: its methods wait for each other. Processes may not: each opens
    the ledger by itself, also after a fork.

    >>> explorer = Explorer(["A", "B"], ["response"], delta=0.1, scale=1.0)
    >>> while explorer.answer is None:
    ...     a = explorer.ask()
    ...     explorer.tell(a, [5.0 if a.arm == "B" else 0.0])
    >>> explorer.answer
    ('B',)
    """

    def __init__(
        self,
        arms: Sequence[str],
        objectives: Sequence[str],
        goal: Goal | Sequence[Goal] | None = None,
        delta: float = 0.1,
        *,
        scale: Any = None,
        radius: Radius | None = None,
        minimize: Iterable[str] = (),
        outcomes: Any = "gaussian",
        rule: Rule | None = None,
        seed: int = 0,
        cone: Any = None,
        randomise: Randomisation | None = None,
        ledger: str | os.PathLike[str] | None = None,
        seed_file: str | os.PathLike[str] | None = None,
        author: str | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        design = Design(
            arms, objectives, goal, delta, scale=scale, radius=radius, minimize=minimize,
            outcomes=outcomes, rule=rule, seed=seed, cone=cone, randomise=randomise,
        )  # fmt: skip
        self._begin(design, ledger, author, clock, seed_file=seed_file)

    # -- asking ------------------------------------------------------------------------------

    @overload
    def ask(self, *, request: str | None = None, stratum: str | None = None) -> Allocation: ...

    @overload
    def ask(
        self, n: int, *, request: str | None = None, stratum: str | None = None
    ) -> list[Allocation]: ...

    def ask(
        self, n: int | None = None, *, request: str | None = None, stratum: str | None = None
    ) -> Allocation | list[Allocation]:
        """Allocate the next subject to an arm, or the next n (a list).

        Until every interval is finite the arm with fewest outcomes is next; then the rule, with
        everything awaited counted as if observed (`paretoid.explorer.choice`). Rules in rounds
        go round from the first. Refused once every goal has its answer.

        `request` is a word of your own for this call, a new one for each, such as the number of
        the visit. Repeated with the same word, as after a lost connection, the call places nobody
        and returns the allocations made then, with any overrides since.

        In a randomised trial arms are drawn from the list of the `stratum`, one of those declared
        in the design, if any are; the trial must have been made, or opened, with its seed file.

        >>> explorer = Explorer(["A", "B"], ["response"])
        >>> explorer.ask(2, request="visit 7") == explorer.ask(2, request="visit 7")
        True
        """
        size = check_count(
            1 if n is None else n, name="n", most=_MOST,
            why="it is how many subjects to place. Outcomes within a batch cannot steer it, so "
            "place the next ones when some have come in.",
        )  # fmt: skip
        made = self._ask(size, request, stratum)
        return made[0] if n is None else made

    @alone
    def _ask(self, size: int, request: str | None, stratum: str | None) -> list[Allocation]:
        if request is not None:
            request = check_request(request)
        for _ in range(_TRIES):
            state = self._fresh()
            if request in state.requests:
                check_stratum(state, str(request), stratum)
                return [Allocation(*made) for made in repeated(state, str(request), size)]
            chosen_at = state.hash
            body = self._proposal(state, size, stratum)  # slow, so others may write meanwhile
            if request is not None:
                body["request"] = request
            with self._writing():
                if self._current().hash == chosen_at:
                    self._record("asked", body)
                    break
        else:
            raise LedgerError(
                f"others have recorded something in the meantime {_TRIES} times while {size} arms "
                f"were chosen, so nobody was placed. Try again, or place fewer at a time."
            )
        return [Allocation(body["first"] + at, name) for at, name in enumerate(body["arms"])]

    def _proposal(self, state: TrialState, size: int, stratum: str | None) -> dict[str, Any]:
        """The body of the event that places the next subjects."""
        design = state.design
        if len(state.answers) == len(design.goals):
            raise ValueError(
                "every goal has its answer, so no further subject needs to be placed. To go "
                "on for other reasons, tell outcomes with `unplanned=True`, in the command "
                "`trial record --unplanned ARM`."
            )
        if design.randomise is not None:
            return self._drawn(state, size, stratum)
        if stratum is not None:
            raise ValueError(
                f"stratum={shown(stratum)} was not declared: the trial is not randomised, and "
                f"its rule knows no strata. Leave it out."
            )
        batch = choose(self._moment(state), state.queue, size, self._view(state), burn_in(state))
        names = [design.arms[arm] for arm in batch.arms]
        if size > 1:
            order = np.random.default_rng([design.seed, state.seq]).permutation(size)
            names = [names[at] for at in order]
        rest = [design.arms[arm] for arm in batch.rest]
        body: dict[str, Any] = {
            "first": len(state.arms) + 1, "arms": names, "rest": rest, "ended": batch.ended,
        }  # fmt: skip
        if batch.memory:
            body["memory"] = _plain_memory(design.rule, batch.memory)
        return body

    def _drawn(self, state: TrialState, size: int, stratum: str | None) -> dict[str, Any]:
        """The body of the event that places the next subjects of a randomised trial."""
        if self._secret is None:
            raise ValueError(
                "the trial is randomised, and who gets which arm follows from its seed file. "
                "Nobody was placed; open it with seed_file=, --seed-file in the command."
            )
        arms, said, memory = self._draw(state, self._secret, size, stratum)
        names = [state.design.arms[arm] for arm in arms]
        body: dict[str, Any] = {
            "first": len(state.arms) + 1, "arms": names, "rest": [], "ended": False, **said,
        }  # fmt: skip
        if memory:
            body["memory"] = _plain_memory(state.design.rule, memory)
        return body

    def _draw(
        self, state: TrialState, secret: Secret, size: int, stratum: str | None
    ) -> tuple[list[int], dict[str, Any], dict[str, Any]]:
        """What `paretoid.explorer.randomised` draws after the events of a state."""
        moment, view = self._moment(state), self._view(state)
        return draw(state.lists, secret.lots, moment, size, stratum, view)

    @alone
    def override(
        self, allocation: Allocation | int | str, arm: str | int, *, reason: str
    ) -> Allocation:
        """Give a subject another arm than proposed; recorded, with the reason.

        Only before any outcome of it is known. The allocation is void and a new one, with a new
        id, takes its place at the end of the order: an arm chosen now may rest on all that is
        known now. Override for reasons that have nothing to do with the outcome to come.
        """
        reason = _sentence(reason, "an override")
        with self._writing():
            state = self._current()
            id, position = self._subject(allocation)
            index = state.design.index(arm)
            check_received(state, position, id)
            if state.is_told(position):
                raise ValueError(
                    f"allocation {id!r} has outcomes already, so its arm stands. If the subject "
                    f"received another arm than was recorded, correct that in its place: "
                    f"`correct_arm`, in the command `trial correct ID --arm`."
                )
            name = state.design.arms[index]
            new = len(state.arms) + 1
            self._record("overridden", {"id": id, "arm": name, "new": new, "reason": reason})
            self._look()
        return Allocation(new, name)

    @alone
    def withdraw(self, *allocations: Allocation | int | str, reason: str) -> None:
        """Take back allocations that nobody received, all or none; recorded, with the reason.

        For those of an `ask` whose result was lost: without it later outcomes would wait for
        theirs. Only before any outcome is known, and only if no subject was given the arm; a
        subject who has left is told as "missing". Their ids are not given again.

        >>> explorer = Explorer(["A", "B"], ["response"])
        >>> lost, kept = explorer.ask(2)
        >>> explorer.withdraw(lost, reason="the printer jammed, nobody came")
        >>> [waiting.id for waiting in explorer.status().waiting]
        [2]
        """
        reason = _sentence(reason, "a withdrawal")
        if not allocations:
            raise ValueError("withdraw needs at least one allocation, by itself or by its id.")
        with self._writing():
            state = self._current()
            for allocation in allocations:
                id, position = self._subject(allocation)
                if state.is_told(position):
                    raise ValueError(
                        f"allocation {id!r} has outcomes already, or was overridden or withdrawn "
                        f"before, so it stands, and nothing was withdrawn."
                    )
                self._record("withdrawn", {"id": id, "reason": reason})
            self._look()

    # -- telling -----------------------------------------------------------------------------

    @alone
    def tell(
        self,
        allocation: Allocation | str | int,
        outcome: Any,
        *,
        id: int | str | None = None,
        unplanned: bool = False,
        note: str | None = None,
    ) -> None:
        """Record an outcome, whole or in part: `tell(allocation, outcome)`, `tell(arm, ..., id=)`.

        `outcome` is one number per objective in the user's own direction, None for what has not
        arrived yet, "missing" for what never will; or a mapping from objectives to these; or
        "missing" for a subject who has left. "Missing" is only for reasons that have nothing to
        do with any outcome of the subject, in any objective: missingness that depends on one
        (illness after a dose, a sample too weak to read) biases the means of all that are
        correlated with it, and no radius covers that.

        `unplanned=True` records the outcome of a subject that was never asked for, under an arm
        and, if wished, an id of your own. Decide to record it before seeing it.

        `note` is a sentence that goes into the log with it. Nothing is asked back here: see
        `plausible`.
        """
        with self._writing():
            state = self._current()
            if unplanned:
                body = self._unplanned(allocation, outcome, id)
            else:
                key, position = self._whose(allocation, id)
                body = {"id": key, "outcome": as_outcome(state, position, key, outcome)}
            self._record("told", _noted(body, note))
            self._look()

    @alone
    def tell_many(
        self,
        records: Iterable[tuple[Allocation | int | str, Any]],
        *,
        notes: Sequence[str | None] | None = None,
    ) -> int:
        """Record many outcomes, all or none; every bad one is listed. Returns how many.

        `notes`: one for each record, a sentence that goes into the log with it, or None.
        """
        rows = list(records)
        with self._writing():
            state = self._current()
            bodies: list[dict[str, Any]] = []
            wrong: list[str] = []
            seen: set[tuple[int, str]] = set()
            binary = list(state.only_binary)
            for at, (allocation, outcome) in enumerate(rows, start=1):
                try:
                    key, position = self._subject(allocation)
                    told = as_outcome(state, position, key, outcome, binary=binary)
                    twice = [name for name in told if (position, name) in seen]
                    if twice:
                        raise ValueError(f"{', '.join(twice)} of {key!r} comes twice.")
                    seen.update((position, name) for name in told)
                    bodies.append({"id": key, "outcome": told})
                except ValueError as error:
                    wrong.append(f"row {at}: {error}")
            if wrong:
                listed = "\n  ".join(wrong)
                raise ValueError(
                    f"{len(wrong)} of {len(rows)} rows are wrong, so none was recorded:\n  {listed}"
                )
            for body, note in zip(bodies, notes or [None] * len(bodies), strict=True):
                self._record("told", _noted(body, note))
            if bodies:
                self._look()
        return len(rows)

    def plausible(
        self,
        allocation: Allocation | str | int,
        outcome: Any,
        *,
        id: int | str | None = None,
        unplanned: bool = False,
    ) -> tuple[str, ...]:
        """What should be asked back before this is told, in sentences; () if nothing is odd.

        Arguments as in `tell`; nothing is recorded. An outcome far outside what its endpoint has
        shown, a likely wrong unit, a duplicate: the rule is in `paretoid.explorer.plausible`.

        >>> explorer = Explorer(["A", "B"], ["log IgG", "log T cell"])
        >>> first, second = explorer.ask(2)
        >>> explorer.tell(first, [9.137, 3.412])
        >>> explorer.plausible(second, [9.137, 3.412])
        ('2 has exactly the numbers of 1: was a row entered twice?',)
        """
        if not unplanned:
            return self.plausible_many([(self._named(allocation, id), outcome)])[0]
        with self._lock:
            state, body = self._fresh(), self._unplanned(allocation, outcome, id)
            arm = state.design.index(body["arm"])
            return questions(state, [Entry(id, arm, body["outcome"])])[0]

    @alone
    def plausible_many(
        self, records: Iterable[tuple[Allocation | int | str, Any]]
    ) -> list[tuple[str, ...]]:
        """`plausible` of each of many records, which are compared with each other too.

        What `tell_many` would refuse is left to it, without a question.

        >>> explorer = Explorer(["A", "B"], ["log IgG"])
        >>> rows = [(a, [9.0 + a.id / 10]) for a in explorer.ask(11)]
        >>> late = explorer.ask()
        >>> [len(asked) for asked in explorer.plausible_many([*rows, (late, [9500.0])])][-2:]
        [0, 1]
        """
        state = self._fresh()
        entries: list[Entry | None] = []
        for allocation, outcome in records:
            try:
                key, position = self._subject(allocation)
                told = as_outcome(state, position, key, outcome, binary=[-1] * state.design.D)
                entries.append(Entry(key, state.arms[position], told))
            except ValueError:
                entries.append(None)
        asked = iter(questions(state, [entry for entry in entries if entry is not None]))
        return [() if entry is None else next(asked) for entry in entries]

    def _named(self, allocation: Any, id: Any) -> Any:
        """The allocation that tell(arm, ..., id=id) means."""
        if id is None or isinstance(allocation, Allocation):
            return allocation
        return Allocation(id, self.design.arms[self.design.index(allocation)])

    def _whose(self, allocation: Any, id: Any) -> tuple[int | str, int]:
        """(id, position) from tell(allocation, ...) or tell(arm, ..., id=id)."""
        if id is None:
            return self._subject(allocation)
        if isinstance(allocation, Allocation):
            raise ValueError(f"{allocation} has its own id; leave out id={shown(id)}.")
        return self._subject(id, self.design.arms[self.design.index(allocation)])

    def _unplanned(self, arm: Any, outcome: Any, id: Any) -> dict[str, Any]:
        state = self._current()
        if isinstance(arm, Allocation):
            raise ValueError(f"{arm} was asked for, so it is not unplanned; leave that out.")
        if id is not None and (not isinstance(id, str) or not id.strip() or id.isdecimal()):
            raise refusal(isinstance(id, str))(
                f"id={shown(id)} must be a word of your own: numbers are the ids of allocations "
                f"that were asked for. For instance id='walk-in 7', or none."
            )
        if state.find(id) is not None:
            raise ValueError(f"the id {id!r} is taken; every subject has its own.")
        name = state.design.arms[state.design.index(arm)]
        told = as_outcome(state, None, name, outcome)
        return {"id": id, "arm": name, "unplanned": True, "outcome": told}

    @alone
    def correct(self, allocation: Allocation | int | str, outcome: Any, *, reason: str) -> None:
        """Replace outcomes told before, by a new event with a reason; the old ones stay in the log.

        `outcome` as in `tell`; what is None or not named stays. Answers given stay as given;
        `status` says that a correction came after them.
        """
        reason = _sentence(reason, "a correction")
        with self._writing():
            state = self._current()
            key, position = self._subject(allocation)
            body = as_outcome(state, position, key, outcome, correcting=True)
            self._record("corrected", {"id": key, "outcome": body, "reason": reason})
            self._look(corrected=True)

    @alone
    def correct_arm(
        self, allocation: Allocation | int | str, arm: str | int, *, reason: str
    ) -> None:
        """Say which arm a subject received, where another one was recorded; with the reason.

        For mistakes that come to light once something of the subject was told; before that,
        `override`. The subject keeps its place in the order, and everything is computed again from
        there. Never tell a known outcome again at a later place, as of an unplanned subject: it
        would then stand behind allocations that were chosen with it, which no proof covers.

        >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
        >>> first, second = explorer.ask(2)
        >>> explorer.tell(first, [3.0])
        >>> explorer.correct_arm(first, second.arm, reason="kits swapped, found at the audit")
        >>> explorer.status().counts.sum(axis=1)[explorer.design.arms.index(second.arm)]
        np.int64(1)
        """
        reason = _sentence(reason, "a correction")
        with self._writing():
            state = self._current()
            id, position = self._subject(allocation)
            check_received(state, position, id)
            name = state.design.arms[state.design.index(arm)]
            was = state.design.arms[state.arms[position]]
            if name == was:
                raise ValueError(f"allocation {id!r} has the arm {was!r} already.")
            if not state.is_told(position):
                raise ValueError(
                    f"nothing of allocation {id!r} was told yet, so it can be overridden: "
                    f"`override`, in the command `trial next --instead-of`. Only a known outcome "
                    f"must keep its place in the order."
                )
            self._record("arm_corrected", {"id": id, "was": was, "arm": name, "reason": reason})
            self._look(corrected=True)

    # -- reading -----------------------------------------------------------------------------

    @property
    @alone
    def answers(self) -> dict[str, tuple[str, ...] | None]:
        """Goal to arms; None until its stopping rule held. Once given, an answer stays."""
        state = self._fresh()
        arms = {g: answer.arms for g, answer in state.answers.items()}
        return {str(goal): arms.get(g) for g, goal in enumerate(state.design.goals)}

    @property
    def answer(self) -> tuple[str, ...] | None:
        """The arms that answer the goal, None until it may stop; several goals: `answers`."""
        answers = self.answers
        if len(answers) > 1:
            raise ValueError(f"there are {len(answers)} goals; read explorer.answers instead.")
        return next(iter(answers.values()))

    @property
    @alone
    def stopping_times(self) -> dict[str, int | None]:
        """Goal to the number of samples its answer rests on, None without answer."""
        state = self._fresh()
        samples = {g: answer.samples for g, answer in state.answers.items()}
        return {str(goal): samples.get(g) for g, goal in enumerate(state.design.goals)}

    @alone
    def status(self) -> Status:
        """How the trial stands: what is certain, what waits, how many samples more to expect."""
        state = self._fresh()
        design, view, data = state.design, self._view(state), state.outcomes()
        lower, upper = bounds(design, view)
        inside, by = verdicts(view, state.standing, design.goals[0])
        undecided = [i for i in range(design.K) if i not in inside and i not in by]
        against = rivals(view, state.standing, undecided)
        open_goals = [g for g in range(len(design.goals)) if g not in state.answers]
        more = expected_samples(self._moment(state), open_goals)
        return Status(
            arms=design.arms,
            objectives=design.objectives,
            allocations=len(state.arms),
            samples=state.samples,
            answers=self.answers,
            optimal=tuple(design.arms[i] for i in sorted(inside)),
            dominated={design.arms[i]: design.arms[by[i]] for i in sorted(by)},
            undecided=tuple(design.arms[i] for i in undecided),
            rivals={design.arms[i]: design.arms[j] for i, j in against.items()},
            means=np.where(data.counts > 0, data.estimates * design.sign, np.nan),
            counts=data.counts.astype(np.int64),
            lower=lower,
            upper=upper,
            waiting=waiting(state),
            held=held(state),
            expected={str(design.goals[g]): more.get(g, 0.0) for g in range(len(design.goals))},
            notes=notes(state),
            guarantee=design.guarantee,
            head=state.hash,
            control=None if design.randomise is None else design.randomise.control,
            progress=progress_of(state, self._day()),
            sd=np.sqrt(data.ss / np.where(data.counts > 1, data.counts - 1, np.nan)),
            minimize=design.minimize,
            binary=tuple(design.objectives[d] for d in np.flatnonzero(design.binary)),
            units=design.units,
            labels=labels(design.goals, design.units),
            inside=design.goals[0].verdict_words(design.units)[0],
            ways=design.ways,
        )

    @alone
    def __repr__(self) -> str:
        state = self._fresh()
        return (
            f"Explorer(K={state.design.K}, D={state.design.D}, {len(state.arms)} allocations, "
            f"{len(state.answers)} of {len(state.design.goals)} goals answered)"
        )

    def _moment(self, state: TrialState) -> Moment:
        """What a choice of arms rests on; the rule's random numbers follow from seed and event."""
        design = state.design
        return Moment(
            design, self._lens, state.outcomes(), self._decided_divisor(state), state.awaited(),
            state.standing, state.memory, np.random.default_rng([design.seed, state.seq, 1]),
        )  # fmt: skip

    def _subject(
        self, given: Allocation | int | str, arm: str | None = None
    ) -> tuple[int | str, int]:
        if isinstance(given, Allocation):
            return subject(self._current(), given.id, given.arm)
        return subject(self._current(), given, arm)


def _sentence(reason: Any, what: str) -> str:
    if not isinstance(reason, str) or not reason.strip():
        raise refusal(isinstance(reason, str))(
            f"reason={shown(reason)} must be a sentence: {what} is recorded with its why."
        )
    return reason.strip()


def _noted(body: dict[str, Any], note: str | None) -> dict[str, Any]:
    return body if note is None else {**body, "note": _sentence(note, "a note")}


def _plain_memory(rule: Rule, memory: dict[str, Any]) -> dict[str, Any]:
    """What a rule remembers, as it stands in the ledger."""
    try:
        restored: dict[str, Any] = json.loads(json.dumps(memory, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{type(rule).__name__} keeps something in view.memory that a ledger cannot hold "
            f"({error}). In a live trial it must be numbers, words, lists and tables."
        ) from None
    return restored
