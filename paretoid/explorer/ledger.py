"""The log of a trial in an SQLite file: append-only, hash-chained, safe against crashes.

What is acknowledged is on the disk, in the file that has the ledger's name: WAL,
`synchronous=FULL`, one `BEGIN IMMEDIATE` transaction for each command, so that several processes
take turns and a killed one leaves nothing behind, and a look at the files before and after each
commit. Where nothing can be written a ledger is read as it is.
No WAL on network disks: keep the file on a local one.

A chain cannot see a cut tail or a log rewritten from the start. Keep the head hash elsewhere, on
paper or in an e-mail, and compare with `verify`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paretoid.explorer.events import GENESIS, Event, LedgerError, Row, as_events, as_head, as_row
from paretoid.explorer.place import Place, beside
from paretoid.explorer.place import create as make

#: "ptid" in the file's header: this SQLite file is a ledger of ours
APPLICATION = 0x70746964

#: raised when an older paretoid could no longer read what is written. 2: rounds of several arms,
#: settled arms. 3: snapshots named in the log, requests, withdrawn allocations. 4: arms corrected
#: in their place. 5: outcomes that wait for the statistician. Ledgers of earlier formats are read,
#: and become ones of the last when written to.
FORMAT = 5

#: connections that a fork brought along; only the process that opened them may close them
_INHERITED: list[Any] = []

_SCHEMA = (
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY, time TEXT NOT NULL, author TEXT NOT NULL,
        kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT""",
    """CREATE TABLE snapshots (
        seq INTEGER PRIMARY KEY, hash TEXT NOT NULL, digest TEXT NOT NULL,
        state BLOB NOT NULL) STRICT""",
    """CREATE TRIGGER events_stay BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    """CREATE TRIGGER events_remain BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    f"PRAGMA application_id={APPLICATION}",
    f"PRAGMA user_version={FORMAT}",
)


class NewerFormatError(LedgerError):
    """A ledger that only a newer paretoid can read: not damaged, and not to be judged here."""


class Ledger:
    """An event log in a file. Close it, or use it in a `with` statement.

    A new one is of mode 0600, with `group` 0660; that of an existing file is left alone. Threads
    that share it must take turns, as the methods of `Explorer` do.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger(Path(folder) / "trial.db", create=True) as ledger:
    ...         with ledger.transaction():
    ...             event = ledger.append("asked", {"arms": ["A"]}, time="noon", author="ann")
    ...         ledger.verify() == event.hash
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        group: bool = False,
        timeout: float = 30.0,
    ) -> None:
        import sqlite3

        self.path = Path(path)
        self._connection: Any = None
        if create:
            make(self.path, group=group)
        elif self.path.is_dir():
            raise LedgerError(f"{self.path} is a directory; name the ledger, a file in it.")
        elif not self.path.is_file():
            raise LedgerError(f"there is no ledger at {self.path}. Create the trial first.")
        self._place = Place(self.path)
        try:
            with self._sentences():
                self._connect("mode=rw", timeout)
                try:
                    if create:
                        self._build()
                    self._check_format()
                except sqlite3.OperationalError as error:
                    if create or not _may_only_read(error):
                        raise
                    self._reconnect(timeout)
                self._execute("PRAGMA synchronous=FULL")
            self._place.settle()
        except BaseException:
            self.close()
            raise

    def _connect(self, how: str, timeout: float) -> None:
        import sqlite3

        self.close()
        uri = f"{self.path.resolve().as_uri()}?{how}"
        self._process = os.getpid()
        self._connection = sqlite3.connect(
            uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
        )

    def _reconnect(self, timeout: float) -> None:
        """Open for reading, where neither the ledger nor a file beside it can be written."""
        import sqlite3

        try:
            self._connect("mode=ro", timeout)
            self._check_format()
        except sqlite3.OperationalError:
            log = beside(self.path.resolve(), "-wal")
            if log.exists() and log.stat().st_size:
                raise LedgerError(
                    f"{self.path} was not closed, and {log.name} holds what was recorded last; it "
                    f"cannot be read where nothing can be written. Copy both files, under these "
                    f"names, to a disk that can be written, and open them there."
                ) from None
            self._connect("immutable=1", timeout)  # it cannot change: there is nobody to lock out
            self._check_format()

    def _build(self) -> None:
        (mode,) = self._execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise LedgerError(
                f"{self.path} cannot use a write-ahead log (SQLite says {mode!r}), as on network "
                f"disks, so a crash could lose outcomes. Keep the ledger on a local disk."
            )
        self._execute("PRAGMA synchronous=FULL")
        self._execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            self._execute(statement)
        self._execute("COMMIT")

    def _check_format(self) -> None:
        (application,) = self._execute("PRAGMA application_id").fetchone()
        (version,) = self._execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise LedgerError(
                f"{self.path} is no ledger of paretoid, or its creation was interrupted before "
                f"anything was recorded. Create the trial under another name."
            )
        if version > FORMAT:
            raise NewerFormatError(
                f"{self.path} was written by a newer paretoid (format {version}, this one reads "
                f"up to {FORMAT}), so some events could be misread. Upgrade paretoid."
            )
        self._current = version == FORMAT

    # -- reading ---------------------------------------------------------------------------

    def head(self) -> tuple[int, str]:
        """Number and hash of the last event; (0, "") of an empty log."""
        with self._sentences():
            row = self._execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        return (row[0], row[1]) if row else (0, GENESIS)

    def hash_of(self, seq: int) -> str | None:
        """The hash of event `seq`, None if there is none."""
        if seq == 0:
            return GENESIS
        with self._sentences():
            row = self._execute("SELECT hash FROM events WHERE seq = ?", (seq,)).fetchone()
        return str(row[0]) if row else None

    def rows(self, after: int = 0) -> Iterator[Row]:
        """The events after number `after`, as stored."""
        with self._sentences():
            cursor = self._execute(
                "SELECT seq, time, author, kind, body, hash FROM events WHERE seq > ? ORDER BY seq",
                (after,),
            )
        while True:
            with self._sentences():
                some = cursor.fetchmany(10_000)
            if not some:
                return
            yield from some

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after number `after`, each checked against the chain."""
        head = self.hash_of(after)
        if head is None:
            raise LedgerError(
                f"{self.path} has lost event {after}, which was there before. Go back to a copy."
            )
        return as_events(self.rows(after), after, head)

    def verify(self, head: str | None = None) -> str:
        """Check the file and the whole chain; with `head`, that this event is still in it.

        Returns the present head. Detects an edited, deleted or reordered event; with a head kept
        elsewhere also a cut tail and a log rewritten from the start.
        """
        head = as_head(head)
        self.check_storage()
        last, seen = GENESIS, head is None
        for event in self.events():
            last = event.hash
            seen = seen or last == head
        if not seen:
            raise LedgerError(
                f"no event has the hash {head}: the log was cut before it or rewritten, or the "
                f"hash belongs to another trial. Go back to a copy of the ledger."
            )
        self.check_schema()
        return last

    def check_storage(self) -> None:
        """Ask SQLite whether the file is whole."""
        with self._sentences():
            (answer,) = self._execute("PRAGMA integrity_check(1)").fetchone()
        if answer != "ok":
            raise LedgerError(f"{self.path} is damaged: SQLite says {answer}. Go back to a copy.")

    def check_schema(self) -> None:
        """That the tables and triggers are those of a ledger, and no event is out of sight."""
        with self._sentences():
            rows = self._execute("SELECT name, sql FROM sqlite_master").fetchall()
            hidden = self._execute("SELECT count(*) FROM events WHERE seq < 1").fetchone()[0]
        stored, ours = dict(rows), {sql.split()[2]: sql for sql in _SCHEMA if "CREATE" in sql}
        for name in sorted({*stored, *ours}):
            if stored.get(name) != ours.get(name):
                what = "changed" if name in stored and name in ours else "added"
                raise LedgerError(
                    f"{self.path}: the table or trigger {name} was "
                    f"{'dropped' if name not in stored else what}, so events may have been changed "
                    f"or left out since. Compare with a copy, and go on from that."
                )
        if hidden:
            raise LedgerError(
                f"{self.path} has {hidden} events with a number below 1, which no command wrote: "
                f"the log was changed. Go back to a copy."
            )

    # -- writing ---------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One writer at a time; every appended event, or none if it fails."""
        with self._sentences():
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
                self._place.check("nothing was recorded")
                self._execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite ends some failures by itself
                    self._execute("ROLLBACK")
                raise
        self._place.check("what was just recorded is in the file that was there before")

    def append(self, kind: str, body: dict[str, Any], *, time: str, author: str) -> Event:
        """Add an event at the end; within a `transaction`."""
        seq, head = self.head()
        row = as_row(head, seq + 1, time, author, kind, body)
        with self._sentences():
            if not self._current:
                self._check_format()  # by another process since
                self._execute(f"PRAGMA user_version={FORMAT}")  # undone with the transaction
            added = self._execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row).rowcount
        if added != 1:
            raise LedgerError(
                f"{self.path} has a trigger that swallows events, which is none of ours; nothing "
                f"was recorded. Go back to a copy."
            )
        return Event(seq + 1, time, author, kind, json.loads(row[4]), row[5])

    def copy_from(self, rows: Iterator[Row]) -> None:
        """Take over the log of another ledger, hashes included, into an empty one."""
        with self.transaction():
            self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)

    def copy_to(self, path: str | os.PathLike[str], *, group: bool = False) -> None:
        """Copy everything into a new file, by SQLite's online backup, while others may write."""
        import sqlite3

        target = Path(path)
        make(target, group=group)
        try:
            with self._sentences():
                copy = sqlite3.connect(target)
                try:
                    copy.execute("PRAGMA synchronous=FULL")
                    self._connection.backup(copy)
                finally:
                    copy.close()
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    # -- snapshots: a state to start from, never the authority -------------------------------

    def stored_snapshot(self) -> tuple[int, str, str, bytes] | None:
        """(seq, hash, digest, state) of the last snapshot as stored; nothing is checked."""
        with self._sentences():
            row = self._execute(
                "SELECT seq, hash, digest, state FROM snapshots ORDER BY seq DESC LIMIT 1"
            ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]), str(row[2]), bytes(row[3]))

    def snapshot(self) -> tuple[int, str, bytes] | None:
        """(seq, hash, state) of the last snapshot; None if there is none that the log vouches for.

        The event after the one it stands for is of kind `kept` and has the digest of the state,
        so a forged snapshot needs a forged chain, and that shows against a head kept elsewhere.
        Any other snapshot, those of formats 1 and 2 included, is as good as none.
        """
        row = self.stored_snapshot()
        if row is None:
            return None
        seq, head, digest, state = row
        if hashlib.sha256(state).hexdigest() != digest or self.hash_of(seq) != head:
            return None
        event = next(as_events(self.rows(seq), seq, head), None)
        if event is None or event.kind != "kept" or event.body.get("digest") != digest:
            return None
        return seq, head, state

    def keep_snapshot(
        self, seq: int, head: str, state: bytes, *, time: str, author: str
    ) -> Event | None:
        """Replace the snapshot; returns the event that vouches for it.

        None, and nothing written, if others have written since `seq`, or if the ledger is of an
        older format. Failing to is no loss either: the log has everything.
        """
        if not self._current:
            self._check_format()
            if not self._current:  # an older paretoid may still read this ledger
                return None
        digest = hashlib.sha256(state).hexdigest()
        with self.transaction():
            if self.head() != (seq, head):
                return None
            self._execute("DELETE FROM snapshots")
            self._execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", (seq, head, digest, state))
            return self.append("kept", {"digest": digest}, time=time, author=author)

    # -- the connection ----------------------------------------------------------------------

    def _execute(self, statement: str, parameters: tuple[Any, ...] = ()) -> Any:
        if self._connection is None:
            raise LedgerError(f"the ledger {self.path} is closed. Open it again.")
        if self._process != os.getpid():
            raise LedgerError(
                f"the ledger {self.path} was opened by process {self._process}, and SQLite cannot "
                f"share it across a fork; nothing was recorded. Open it again in this process."
            )
        return self._connection.execute(statement, parameters)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """SQLite's errors in words that say what happened to the outcomes."""
        import sqlite3

        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # of a message about damaged names
            text = str(error)
            if "full" in text or "disk I/O" in text:
                why = "the disk is full or failing; nothing of this command was recorded"
            elif "locked" in text or "busy" in text:
                why = "another process has kept it busy; nothing was recorded. Try again"
            elif _may_only_read(error):
                why = "it cannot be written here; nothing was recorded. Check its permissions"
            else:
                why = "the file is no ledger, or is damaged or cut short. Go back to a copy"
            raise LedgerError(f"{self.path}: {why} (SQLite: {text}).") from error

    def close(self) -> None:
        """Close the file; twice is no harm."""
        if self._connection is not None:
            if self._process == os.getpid():
                self._connection.close()
            else:  # closing it here would take the locks of the process that opened it
                _INHERITED.append(self._connection)
            self._connection = None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _may_only_read(error: Exception) -> bool:
    """Does SQLite mean that it cannot write, or make the files beside its own?"""
    return "readonly" in str(error) or "unable to open" in str(error)
