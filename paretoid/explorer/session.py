"""A log and the state it leads to: transactions, catching up, snapshots, verification.

Opening a ledger of a million events (500,000 subjects, 20 arms, 3 objectives, 196 MB) takes 0.2 s
from a snapshot, and at most 62,500 events (a sixteenth) of 16 microseconds each came after it:
about a second more. Without a snapshot, and in `verify`, every event is replayed: 16 s of one core.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import wraps
from itertools import islice
from threading import RLock
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from paretoid.explorer.design import Design
from paretoid.explorer.events import LedgerError, MemoryLedger, Row, as_head
from paretoid.explorer.progress import days_since
from paretoid.explorer.randomised import check_list
from paretoid.explorer.secret import Secret, new_secret
from paretoid.explorer.state import TrialState
from paretoid.loop import judged
from paretoid.rules import BestArmRule
from paretoid.theory.checks import FloatArray
from paretoid.view import Lens, View

S = TypeVar("S", bound="Session")
P = ParamSpec("P")
R = TypeVar("R")

#: a snapshot is kept once this many events, and a sixteenth of the log, came after the last
_SNAPSHOT = 5_000

#: most entries of a table of K x K x D in a new trial: 160 MB
_ENTRIES = 20_000_000


def alone(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of a session that threads enter one after another."""

    @wraps(method)
    def entered(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **options)

    return entered


class Session:
    """What an `Explorer` is behind its commands. Its state is always a replay of the log.

    A trial in a file, from its design; two subjects placed, told in part, overridden, corrected:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from paretoid import AtMost, Explorer, ParetoSet
    >>> folder = tempfile.TemporaryDirectory()
    >>> design = Design(["A", "B"], ["IgG", "fever"], [AtMost(1), ParetoSet()], minimize=["fever"])
    >>> trial = Explorer.from_design(design, Path(folder.name) / "trial.db", author="north")
    >>> first, second = trial.ask(2)
    >>> new = trial.override(second, second.arm, reason="the vial was broken, same arm again")
    >>> new.id
    3
    >>> trial.tell_many([(first, {"IgG": 9.1}), (new, [8.8, 0.0])])
    2
    >>> trial.correct(first, {"IgG": 9.2}, reason="misread the table")
    >>> status = trial.status()
    >>> status.samples, trial.answers == trial.stopping_times    # nothing is known yet: all None
    (2, True)

    Everything is in the log, which can be checked, copied and opened again:

    >>> [row[3] for row in trial.rows()]
    ['created', 'asked', 'overridden', 'told', 'told', 'corrected']
    >>> trial.verify(head=status.head) == trial.head
    True
    >>> trial.replay().samples, trial.design.minimize
    (2, ('fever',))
    >>> trial.save(Path(folder.name) / "copy.db")
    >>> trial.close()
    >>> with Explorer.open(Path(folder.name) / "copy.db", author="south") as again:
    ...     again.status().waiting[0].objectives
    ('fever',)
    >>> folder.cleanup()
    """

    _secret: Secret | None

    @classmethod
    def from_design(
        cls,
        design: Design,
        ledger: str | os.PathLike[str] | None = None,
        *,
        author: str | None = None,
        clock: Callable[[], datetime] | None = None,
        group: bool = False,
        seed_file: str | os.PathLike[str] | None = None,
    ) -> Self:
        """A new trial with a design already made; with `group` its ledger is of mode 0660.

        A randomised one needs a `seed_file`, a new file that its secret is written to.
        """
        explorer = cls.__new__(cls)
        explorer._begin(design, ledger, author, clock, group, seed_file)
        return explorer

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        author: str | None = None,
        clock: Callable[[], datetime] | None = None,
        seed_file: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The trial in a ledger, as it stands. Close it, or use it in a `with` statement.

        `seed_file`: of a randomised trial, to place participants; all else goes without it.
        """
        from paretoid.explorer.ledger import Ledger

        explorer = cls.__new__(cls)
        secret = None if seed_file is None else Secret.load(seed_file)
        explorer._prepare(Ledger(path), author, clock)
        try:
            explorer._load()
            if secret is not None:
                secret.check(explorer._current().lists.public)
                explorer._secret = secret
        except BaseException:
            explorer.close()
            raise
        return explorer

    def _begin(
        self, design: Design, path: Any, author: Any, clock: Any, group: bool = False,
        seed_file: Any = None,
    ) -> None:  # fmt: skip
        _check_new(design)
        self._design, self._lens = design, lens_of(design)  # refuses misfits before there is a file
        written = design.described() if path is None else design.to_dict()
        with self._new_secret(seed_file) as secret:
            self._begin_with(secret, written, path, author, clock, group)

    def _new_secret(self, seed_file: Any) -> AbstractContextManager[Secret | None]:
        return new_secret(self._design.randomise is not None, seed_file)

    def _begin_with(
        self, secret: Secret | None, written: Any, path: Any, author: Any, clock: Any, group: bool
    ) -> None:
        self._prepare(new_ledger(path, group), author, clock)
        self._secret = secret
        self._state: TrialState | None = TrialState(self._design)
        try:
            with self._writing():
                public = {} if secret is None else {"secret": secret.public}
                self._record("created", {"design": written, **public})
        except BaseException:
            self.close()
            raise

    def _prepare(self, ledger: Any, author: str | None, clock: Any) -> None:
        self._ledger = ledger
        self._lock = RLock()
        self.author = user() if author is None else str(author)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._secret = None
        self._snapshot_at = 0
        self._before: list[int] = []
        self._seen: tuple[str, View | None] = ("", None)

    @property
    def design(self) -> Design:
        """What was fixed at the start."""
        return self._design

    @property
    @alone
    def head(self) -> str:
        """Hash of the last event. Keep it elsewhere, for `verify(head=...)`."""
        return self._fresh().hash

    def _day(self) -> float:
        """Days since the first allocation, where looks are by days; NaN before it and elsewhere."""
        if self.design.conduct is None or self.design.conduct.look_days is None:
            return math.nan
        first = (event.time for event in self._ledger.events() if event.kind in ("asked", "told"))
        return days_since(next(first, None), self._clock())

    # -- the ledger --------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """The log as stored: number, time, author, kind, body as JSON, hash."""
        rows = self._ledger.rows()
        while some := self._some(rows):
            yield from some

    @alone
    def _some(self, rows: Iterator[Row]) -> list[Row]:
        return list(islice(rows, 1000))

    @alone
    def replay(self) -> TrialState:
        """The state that the whole log leads to, from the first event, without a snapshot."""
        state = TrialState(self.design)
        for event in self._ledger.events():
            state.apply(event)
        state.settle()
        return state

    @alone
    def save(self, path: str | os.PathLike[str]) -> None:
        """Copy the log, hashes and all, into a new ledger; from now on events go there."""
        target = new_ledger(path)
        try:
            target.copy_from(self._ledger.rows())
        except BaseException:
            target.close()
            raise
        self._ledger.close()
        self._ledger = target
        self._snapshot_at = 0

    @alone
    def verify(
        self, head: str | None = None, *, seed_file: str | os.PathLike[str] | None = None
    ) -> str:
        """Check everything the ledger says; with `head`, that this event is still in it.

        The chain; that each event makes sense after those before it; that every recorded scale
        and answer is what the outcomes gave at the time; that the snapshot is the state the log
        leads to; that no trigger was dropped. Raises an error that names the first event at fault;
        returns the present head. Warns if clocks ran backwards: several sites may do that.
        With the `seed_file` of a randomised trial also that its list was followed: that every arm
        is what the secret of the first event and the outcomes known at the time give.
        """
        head = as_head(head)
        secret = None if seed_file is None else Secret.load(seed_file)
        if secret is not None:
            secret.check(self._fresh().lists.public)
        self._ledger.check_storage()
        kept = self._checked_snapshot()
        state = self._fresh()  # what others write from now on is for the next time
        replay, met_head = TrialState(self.design), head is None
        latest: tuple[datetime, int] | None = None
        backwards: list[str] = []
        for event in self._ledger.events():
            if event.seq > state.seq:
                break
            moment = _moment(event.time)
            if moment is not None:
                if latest is not None and moment < latest[0]:
                    backwards.append(f"event {event.seq} is dated before event {latest[1]}")
                else:
                    latest = moment, event.seq
            if event.kind in ("scaled", "settled", "stopped"):
                self._check_decision(replay, event)
            replay.apply(event)
            met_head = met_head or event.hash == head
            if kept is not None and kept[0] == event.seq:
                if kept[1] != event.hash or replay.to_bytes() != kept[2].to_bytes():
                    raise _forged(event.seq)
                kept = None
        if kept is not None:
            raise _forged(kept[0])
        if not met_head:
            raise LedgerError(
                f"no event has the hash {head}: the log was cut before it or rewritten, or the "
                f"hash belongs to another trial. Go back to a copy of the ledger."
            )
        if state.to_bytes() != replay.to_bytes():
            raise LedgerError("the ledger changed while it was open. Go back to a copy.")
        self._ledger.check_schema()
        if secret is not None:
            check_list(self, secret, state.seq)
        if backwards:
            more = f", and {len(backwards) - 1} more" if len(backwards) > 1 else ""
            warnings.warn(
                f"{backwards[0]}{more}: a clock ran backwards, or two sites' clocks differ. The "
                f"order of the events is that of the log; their times are only what was written.",
                stacklevel=3,
            )
        return replay.hash

    def _check_decision(self, state: TrialState, event: Any) -> None:
        """That a recorded scale, verdict or answer is what the outcomes so far give.

        Whether a test was due is not asked: one held at any time is as good.
        """
        expected = [body for kind, body in self._decisions(state) if kind == event.kind]
        written = event.body
        if event.kind == "stopped":  # earlier ledgers have other labels of the same goals
            try:
                goal = state.design.goals[state.goal_position(written["goal"])]
                written = {**written, "goal": str(goal)}
            except (KeyError, TypeError, ValueError):
                expected = []  # it names no goal of this trial
        if written not in expected:
            raise LedgerError(
                f"event {event.seq} ({event.kind}) is not what the outcomes before it give. The "
                f"log was changed, or written by other software."
            )

    @alone
    def close(self) -> None:
        """Close the ledger; everything told is already in it."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- events and state --------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: catch up, change, write; a failure leaves log and state as before."""
        seq = -1
        try:
            with self._ledger.transaction():
                state = self._catch_up()
                state.settle()
                seq, self._before = state.seq, list(state.reach)
                yield
        except BaseException:
            if self._state is not None and self._state.seq != seq:
                self._state = None  # it has events that the log has not: start again from there
            raise
        self._keep_snapshot()

    def _record(self, kind: str, body: dict[str, Any]) -> None:
        state, self._state = self._current(), None  # lost, if applying fails half-way
        time = self._clock().isoformat()
        state.apply(self._ledger.append(kind, body, time=time, author=self.author))
        self._state = state

    def _look(self, *, corrected: bool = False) -> None:
        """Hold the tests that are due, once for each command that brings outcomes.

        A rule that samples several arms between two tests is tested where a round has ended
        since the command began, and after a correction.
        """
        state = self._current()
        for kind, body in self._scaling(state):
            self._record(kind, body)
        if len(state.answers) == len(self.design.goals):
            return
        rounds = self.design.in_rounds
        if not rounds or corrected or state.ended_since(self._before):
            for kind, body in self._conclusions(state):
                self._record(kind, body)

    def _decisions(self, state: TrialState) -> list[tuple[str, dict[str, Any]]]:
        """What the outcomes decide now that is not recorded yet: the scale first."""
        return self._scaling(state) or self._conclusions(state)

    def _scaling(self, state: TrialState) -> list[tuple[str, dict[str, Any]]]:
        """The divisors of scales that are learnt and can be fixed now."""
        if self._all_fixed(state):
            return []
        pooled = self._lens.pooled(state.outcomes()).tolist()
        learnt = (~self._lens.known).tolist()
        fixed = zip(state.design.objectives, pooled, state.divisor, learnt, strict=True)
        named = {
            name: new for name, new, old, unknown in fixed if unknown and old is None and new == new
        }
        return [("scaled", {"divisor": named})] if named else []

    def _conclusions(self, state: TrialState) -> list[tuple[str, dict[str, Any]]]:
        """Answers and settled arms, by a test of the outcomes as they are."""
        design, names = state.design, state.design.arms
        goals = [g for g in range(len(design.goals)) if g not in state.answers]
        divisor = self._divisor_of(state)
        if divisor is None or state.digits_lost().any():
            return []
        view = self._view(state)
        assert view is not None
        events: list[tuple[str, dict[str, Any]]] = []
        for g in goals:
            mask = judged(design.rule, view, design.goals[g])
            if mask is not None:
                arms = [names[i] for i in np.flatnonzero(mask)]
                body = {"goal": str(design.goals[g]), "answer": arms, "samples": state.samples}
                events.append(("stopped", body))
        accepted, dropped = design.rule.settle(view)
        if accepted or dropped:  # last: the answers came from what was before
            shown = {names[i]: names[by] for i, by in dropped.items()}
            body = {"accepted": [names[i] for i in accepted], "dropped": shown}
            events.append(("settled", body))
        return events

    def _divisor_of(self, state: TrialState) -> FloatArray | None:
        """(D,) what objectives are divided by, 1 where not fixed yet; None without outcomes."""
        if not state.samples:
            return None
        learnt = np.array([1.0 if divisor is None else divisor for divisor in state.divisor])
        return np.where(self._lens.known, self._lens.unit, learnt)

    def _all_fixed(self, state: TrialState) -> bool:
        """True: every scale that is learnt has its divisor."""
        pairs = zip(self._lens.known, state.divisor, strict=True)
        return all(known or divisor is not None for known, divisor in pairs)

    def _decided_divisor(self, state: TrialState) -> FloatArray | None:
        """The same, None while some interval is infinite: the rule begins afterwards."""
        fixed = self._all_fixed(state)
        return self._divisor_of(state) if fixed and self._lens.ready(state.outcomes()) else None

    def _view(self, state: TrialState) -> View | None:
        """The view of a state, None without outcomes; the last one is remembered."""
        if self._seen[0] != state.hash:
            divisor, view = self._divisor_of(state), None
            if divisor is not None:
                view = self._lens.view(
                    state.outcomes(), state.samples, divisor, state.standing, state.memory
                )
            self._seen = state.hash, view
        return self._seen[1]

    def _current(self) -> TrialState:
        if self._state is None:
            self._load()
        assert self._state is not None
        return self._state

    def _fresh(self) -> TrialState:
        """The state with whatever other processes have written since."""
        return self._catch_up()

    def _catch_up(self) -> TrialState:
        state = self._current()
        if self._ledger.hash_of(state.seq) != state.hash:
            raise LedgerError(
                f"event {state.seq} is no longer what it was when this process read it: the "
                f"ledger was replaced or changed. Go back to a copy, or open it again."
            )
        for event in self._ledger.events(state.seq):
            state.apply(event)
        return state

    def _load(self) -> None:
        """The state from the last snapshot and the events after it."""
        kept = self._snapshot()
        if kept is not None and not kept[2].design.same_as(self._first_design()):
            kept = None  # not of this trial, or changed: the log alone counts
        state: TrialState | None = None if kept is None else kept[2]
        for event in self._ledger.events(0 if state is None else state.seq):
            if state is None:
                state = TrialState(self._first_design())
            state.apply(event)
        if state is None:
            raise LedgerError(
                "the ledger holds no trial: its creation was interrupted. Delete the file and "
                "create the trial again."
            )
        state.settle()
        self._snapshot_at = 0 if kept is None else kept[0]
        self._design, self._lens = state.design, lens_of(state.design)
        self._state = state

    def _first_design(self) -> Design:
        """The design in the first event."""
        first = next(self._ledger.events(), None)
        if first is None or first.kind != "created":
            raise LedgerError("the log does not begin with the creation of a trial.")
        try:
            return Design.from_dict(first.body["design"], stored=True)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LedgerError(
                f"event 1 (created) holds no design that can be read: {error!r}. The log was "
                f"changed, or written by other software."
            ) from error

    def _snapshot(self) -> tuple[int, str, TrialState] | None:
        """(seq, hash, state) of the last snapshot; None if the log does not vouch for it."""
        kept = self._ledger.snapshot()
        state = None if kept is None else TrialState.from_bytes(kept[2])
        return None if kept is None or state is None else (kept[0], kept[1], state)

    def _checked_snapshot(self) -> tuple[int, str, TrialState] | None:
        """The snapshot as stored, vouched for or not; None if none, or another version's."""
        row = self._ledger.stored_snapshot()
        if row is None:
            return None
        seq, head, digest, blob = row
        if hashlib.sha256(blob).hexdigest() != digest:
            raise _forged(seq)
        state = TrialState.from_bytes(blob)
        return None if state is None else (seq, head, state)

    def _keep_snapshot(self) -> None:
        state = self._state
        if state is None or state.seq - self._snapshot_at < max(_SNAPSHOT, state.seq // 16):
            return
        self._snapshot_at = state.seq
        time = self._clock().isoformat()
        with contextlib.suppress(LedgerError):  # a full disk: the log is complete without it
            event = self._ledger.keep_snapshot(
                state.seq, state.hash, state.to_bytes(), time=time, author=self.author
            )
            if event is not None:
                state.apply(event)


def _check_new(design: Design) -> None:
    """Refuse a trial whose tables would not fit into memory, or whose scale cannot be right."""
    if not design.scale_is_credible:
        raise ValueError(
            f"scale={design.bandit.scale.min():g} is below 0.5, and outcomes='binary': of outcomes "
            f"0 or 1 only 0.5 is a sub-Gaussian scale at every rate, and with less intervals "
            f"called proved would fail. Pass scale=0.5."
        )
    entries = design.K * design.K * design.D
    if entries > _ENTRIES:
        raise ValueError(
            f"{design.K} arms with {design.D} objectives need tables of {8 * entries / 1e9:.1f} GB "
            f"each, as every arm is compared with every other. A live trial takes at most "
            f"{int((_ENTRIES / design.D) ** 0.5)} arms with {design.D} objectives; leave out arms, "
            f"or simulate, which keeps no such table."
        )


def _moment(time: str) -> datetime | None:
    """The time of an event with its zone; None of other software's words."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _forged(seq: int) -> LedgerError:
    return LedgerError(
        f"the snapshot at event {seq} is not what the log leads to: it was changed. It is not "
        f"used, and the log itself is sound up to there."
    )


def lens_of(design: Design) -> Lens:
    """What turns the outcomes of a trial into views."""
    single = None
    if isinstance(design.rule, BestArmRule):
        single = design.rule.levels(design.K, design.delta)
    return Lens(
        design.bandit, design.radius, design.delta, eps1=design.goals[0].eps1, levels=single,
        drop=design.level(), limits=len(design.limits),
    )  # fmt: skip


def new_ledger(path: str | os.PathLike[str] | None, group: bool = False) -> Any:
    """A new ledger in a file that does not exist yet, or in memory."""
    if path is None:
        return MemoryLedger()
    from paretoid.explorer.ledger import Ledger

    return Ledger(path, create=True, group=group)


def user() -> str:
    """Who runs this process, by the name that the system has for them."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
