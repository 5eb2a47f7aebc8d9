"""Events chained by their hashes, and a log of them in memory. Standard library only."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

#: what an event may be; `arm_corrected` records the arm that a subject received in place of the one
#: that was written down, `scaled` records the divisors of UnknownScale when they are fixed,
#: `settled` the arms that UniformElimination has accepted or dropped, `kept` the digest of a
#: snapshot of the state at the event before, `queried` an outcome of a site that waits for the
#: statistician (`paretoid.explorer.queue`), or that it was refused
KINDS = (
    "created", "asked", "told", "corrected", "arm_corrected", "overridden", "withdrawn", "scaled",
    "settled", "stopped", "kept", "queried",
)  # fmt: skip

#: the hash before the first event
GENESIS = ""


class LedgerError(ValueError):
    """A ledger that cannot be read, written or believed.

    >>> from paretoid import Explorer
    >>> explorer = Explorer(["A", "B"], ["response"])
    >>> try:
    ...     explorer.verify(head="0" * 64)    # a hash that was never in this log
    ... except LedgerError as error:
    ...     print("not believed")
    not believed
    """


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log; `hash` covers it and, through the one before, all that precede it."""

    seq: int
    time: str
    author: str
    kind: str
    body: dict[str, Any]
    hash: str


#: seq, time, author, kind, body as JSON text, hash
Row = tuple[int, str, str, str, str, str]


def chained(before: str, seq: int, time: str, author: str, kind: str, body: str) -> str:
    """The hash of an event after one with hash `before`.

    Lengths are hashed with the fields, so that no text can move from one field to the next.

    >>> chained("", 1, "noon", "ann", "told", "{}") == chained("", 1, "no", "onann", "told", "{}")
    False
    """
    fields = (before, str(seq), time, author, kind, body)
    text = "".join(f"{len(field)}:{field}" for field in fields)
    return hashlib.sha256(text.encode()).hexdigest()


def as_row(before: str, seq: int, time: str, author: str, kind: str, body: dict[str, Any]) -> Row:
    """An event as it is stored."""
    if kind not in KINDS:
        raise LedgerError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
    text = json.dumps(body, allow_nan=False, separators=(",", ":"))
    return seq, time, author, kind, text, chained(before, seq, time, author, kind, text)


def as_events(rows: Iterable[Row], seq: int, head: str) -> Iterator[Event]:
    """The events after number `seq`, whose hash is `head`; refuses a broken chain."""
    for row in rows:
        number, time, author, kind, text, digest = row
        if number != seq + 1:
            raise LedgerError(
                f"event {seq + 1} is missing: number {number} follows number {seq}. Events were "
                f"deleted or renumbered; go back to a copy of the ledger."
            )
        try:
            sound = chained(head, number, time, author, kind, text) == digest
            body = json.loads(text)
        except (TypeError, ValueError):
            sound, body = False, {}
        if not sound or not isinstance(body, dict):
            raise LedgerError(
                f"event {number} does not fit its hash: it, or its place in the log, was changed "
                f"after it was written. Go back to a copy of the ledger."
            )
        seq, head = number, digest
        yield Event(number, time, author, kind, body, digest)


def as_head(head: str | None) -> str | None:
    """A hash as it is written, from one copied by hand or from an e-mail; None stays None.

    What is no hash is refused: a check against nothing would always pass.

    >>> as_head(" DEAD BEEF\\n" * 8)[:16]
    'deadbeefdeadbeef'
    """
    if head is None:
        return None
    plain = "".join(head.split()).lower() if isinstance(head, str) else ""
    if re.fullmatch("[0-9a-f]{64}", plain) is None:
        raise ValueError(
            f"head={head!r:.100} must be the hash that an earlier command printed, 64 digits and "
            f"letters a to f, else nothing is compared. Leave it out if none was kept."
        )
    return plain


class MemoryLedger:
    """A log that lives as long as its process; for simulations and tests.

    >>> ledger = MemoryLedger()
    >>> with ledger.transaction():
    ...     event = ledger.append("asked", {"arms": ["A"]}, time="noon", author="ann")
    >>> event.seq, ledger.head() == (1, event.hash)
    (1, True)
    """

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def head(self) -> tuple[int, str]:
        """Number and hash of the last event; (0, "") of an empty log."""
        return (self._rows[-1][0], self._rows[-1][5]) if self._rows else (0, GENESIS)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after number `after`."""
        head = self._rows[after - 1][5] if after else GENESIS
        return as_events(self._rows[after:], after, head)

    def rows(self) -> Iterator[Row]:
        """The events as stored."""
        return iter(self._rows)

    def hash_of(self, seq: int) -> str | None:
        """The hash of event `seq`, None if there is none."""
        if seq == 0:
            return GENESIS
        return self._rows[seq - 1][5] if 0 < seq <= len(self._rows) else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All appended events, or none if it fails."""
        before = len(self._rows)
        try:
            yield
        except BaseException:
            del self._rows[before:]
            raise

    def append(self, kind: str, body: dict[str, Any], *, time: str, author: str) -> Event:
        """Add an event at the end."""
        seq, head = self.head()
        row = as_row(head, seq + 1, time, author, kind, body)
        self._rows.append(row)
        return Event(seq + 1, time, author, kind, json.loads(row[4]), row[5])

    def snapshot(self) -> tuple[int, str, bytes] | None:
        """Returns None: a log in memory keeps no snapshot."""
        return None

    def stored_snapshot(self) -> None:
        """Returns None: a log in memory keeps no snapshot."""

    def keep_snapshot(
        self, seq: int, head: str, state: bytes, *, time: str, author: str
    ) -> Event | None:
        """Returns None and does nothing: a log in memory keeps no snapshot."""
        return None

    def check_storage(self) -> None:
        """Does nothing: a log in memory has no file that could be damaged."""

    def check_schema(self) -> None:
        """Does nothing: a log in memory has no tables."""

    def close(self) -> None:
        """Does nothing: a log in memory holds no file open."""
