"""Outcomes of sites that are odd: they wait until the statistician says what becomes of them.

Odd is what `paretoid.explorer.plausible` asks about. A site is asked by its own outcomes alone;
that an outcome is odd for its arm rests on everybody's, so that question goes to the statistician,
and the site is answered as about any outcome. It stays in the ledger as a `queried` event, which is
no outcome yet, until it is

* accepted, and told as it is, with a note;
* refused: then the site is asked to enter it again, and may enter anything;
* corrected by the site: what it says now stands in its place, and is told unless it is odd too.

The guarantee is that of late outcomes: what is allocated after on the same arm waits for it, so how
long it waits, or why, changes nothing that is counted before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paretoid.explorer.explorer import Explorer
from paretoid.explorer.messages import Message, as_mark
from paretoid.explorer.outcomes import Told, as_outcome, check_received, check_told
from paretoid.explorer.plausible import Entry, questions
from paretoid.explorer.state import TrialState

#: digits of a message's key by which an outcome that waits is named
_DIGITS = 8


@dataclass(frozen=True)
class Waiting:
    """An outcome that waits for the statistician.

    name            by which it is accepted or refused: the first digits of `key`
    site, code      whose participant it is, as the site calls it
    id              of the allocation that it is an outcome of
    outcome         objective to a number or "missing"
    questions       why it is odd, in sentences
    note            what the site wrote with it, or None
    key, mark       of the message that it came with, and what the ledger notes of that
    """

    name: str
    site: str
    code: str
    id: int | str
    outcome: Told
    questions: tuple[str, ...]
    note: str | None
    key: str
    mark: str


@dataclass
class Queue:
    """All outcomes that wait, in the order in which they came, and the messages that were refused.

    >>> Queue().waiting, Queue().refused
    ({}, set())
    """

    waiting: dict[str, Waiting] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, explorer: Explorer) -> Queue:
        """The queue as the ledger has it."""
        queue = cls()
        for _, _, _, kind, body, _ in explorer.rows():
            if kind == "queried":
                queue._move(json.loads(body))
            elif kind == "told" and queue.waiting and "(site " in body:
                mark = as_mark(json.loads(body).get("note") or "")
                queue.waiting.pop(mark[1] if mark else "", None)
        return queue

    def _move(self, body: Mapping[str, Any]) -> None:
        key = body["key"]
        if body.get("refused"):
            self.refused.add(key)
            self.waiting.pop(key, None)
            return
        for earlier in body["replaces"]:
            self.waiting.pop(earlier, None)
        self.waiting[key] = Waiting(
            key[:_DIGITS], body["site"], body["code"], body["id"], body["outcome"],
            tuple(body["questions"]), body["words"], key, body["note"],
        )  # fmt: skip

    def of_site(self, site: str) -> list[Waiting]:
        """Those of one site."""
        return [waiting for waiting in self.waiting.values() if waiting.site == site]

    def named(self, name: str) -> Waiting:
        """The one of that name; refused in words if there is none, or more than one."""
        found = [waiting for waiting in self.waiting.values()
                 if len(name) >= _DIGITS and waiting.key.startswith(name)]  # fmt: skip
        if len(found) == 1:
            return found[0]
        names = ", ".join(waiting.name for waiting in self.waiting.values()) or "none"
        why = "no outcome waits under it" if not found else "it begins the names of several"
        raise ValueError(
            f"{name!r:.60}: {why}. Outcomes that wait: {names}; `paretoid trial sync` lists them "
            f"with what is odd about each."
        )


def accept(explorer: Explorer, name: str) -> Waiting:
    """Tell an outcome that waits as it is, with what was asked in a note; see `Queue.named`.

    >>> accept(Explorer(["A", "B"], ["IgG"]), "3fa9c21b")
    Traceback (most recent call last):
    ...
    ValueError: '3fa9c21b': no outcome waits under it. Outcomes that wait: none; `paretoid trial \
sync` lists them with what is odd about each.
    """
    with explorer._lock, explorer._writing():
        waiting = Queue.of(explorer).named(name)
        state, id, position = _present(explorer, waiting.id)
        check_received(state, position, id)
        check_told(state, position, id, waiting.outcome)
        asked = f"asked back: {' '.join(waiting.questions)} Taken as it is."
        words = " ".join(part for part in (waiting.note, asked, waiting.mark) if part)
        explorer._record("told", {"id": id, "outcome": waiting.outcome, "note": words})
        explorer._look()
    return waiting


def refuse(explorer: Explorer, name: str) -> Waiting:
    """Drop an outcome that waits: the site is asked to enter it again; see `Queue.named`."""
    with explorer._lock, explorer._writing():
        waiting = Queue.of(explorer).named(name)
        explorer._record("queried", {"id": waiting.id, "key": waiting.key, "refused": True})
    return waiting


def take(explorer: Explorer, id: int | str, message: Message, site: str, code: str) -> bool:
    """Tell an outcome that a site entered, or let it wait if it is odd; True: it was told."""
    with explorer._lock, explorer._writing():
        state, own, position = _present(explorer, id)
        told = as_outcome(state, position, own, message.outcome)
        odd = questions(state, [Entry(own, state.arms[position], told)])[0]
        if odd:
            _hold(explorer, own, told, odd, message, site, code)
            return False
        words = " ".join(part for part in (message.note, message.mark(site)) if part)
        explorer._record("told", {"id": own, "outcome": told, "note": words})
        explorer._look()
    return True


def replace(
    explorer: Explorer,
    waiting: Sequence[Waiting],
    told: Told,
    message: Message,
    site: str,
) -> bool:
    """Take a site's correction of outcomes that wait, and of others; True: none of it waits."""
    with explorer._lock, explorer._writing():
        state, id, position = _present(explorer, waiting[0].id)
        before = {name: x for each in waiting for name, x in each.outcome.items()}
        now = {name: told.get(name, x) for name, x in before.items()}
        rest = {name: x for name, x in told.items() if name not in before}
        check_received(state, position, id)
        check_told(state, position, id, now)
        odd = questions(state, [Entry(id, state.arms[position], now)])[0]
        replaces = [each.key for each in waiting]
        _hold(explorer, id, now, odd, message, site, waiting[0].code, replaces)
        words = f"{message.reason} {message.mark(site)}"
        if rest:
            check_told(state, position, id, rest, correcting=True)
            explorer._record("corrected", {"id": id, "outcome": rest, "reason": words})
        if not odd:
            explorer._record("told", {"id": id, "outcome": now, "note": words})
        if rest or not odd:
            explorer._look(corrected=bool(rest))
    return not odd


def _hold(
    explorer: Explorer,
    id: int | str,
    told: Told,
    odd: Sequence[str],
    message: Message,
    site: str,
    code: str,
    replaces: Sequence[str] = (),
) -> None:
    """Record that an outcome waits."""
    explorer._record(
        "queried",
        {
            "id": id, "site": site, "code": code, "key": message.key, "outcome": told,
            "questions": list(odd), "replaces": list(replaces),
            "words": message.note or message.reason, "note": message.mark(site),
        },
    )  # fmt: skip


def _present(explorer: Explorer, id: int | str) -> tuple[TrialState, int | str, int]:
    """The state, and the allocation that a participant has now: another one if overridden."""
    state = explorer._current()
    position = state.present(explorer._subject(id)[1])
    return state, state.id_of(position), position
