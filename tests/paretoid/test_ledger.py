"""The ledger: nothing acknowledged is lost, nothing written can be changed unseen."""

from __future__ import annotations

import hashlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import paretoid
from paretoid.explorer.events import LedgerError, MemoryLedger, chained
from paretoid.explorer.ledger import _SCHEMA, FORMAT, Ledger

ROOT = Path(paretoid.__file__).parents[1]


def write(ledger, *numbers):
    with ledger.transaction():
        for number in numbers:
            ledger.append("told", {"number": number}, time="noon", author="ann")


def numbers(ledger):
    return [event.body["number"] for event in ledger.events()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trial.db"


@pytest.fixture
def ten(path):
    """A closed ledger with ten events, and the hashes of all of them."""
    with Ledger(path, create=True) as ledger:
        hashes = []
        for number in range(10):
            write(ledger, number)
            hashes.append(ledger.head()[1])
    return path, hashes


def test_events_come_back_in_order(path):
    with Ledger(path, create=True) as ledger:
        write(ledger, 1, 2)
        write(ledger, 3)
    with Ledger(path) as ledger:
        assert numbers(ledger) == [1, 2, 3]
        assert [event.seq for event in ledger.events(after=1)] == [2, 3]
        assert ledger.head()[0] == 3
        assert ledger.verify() == ledger.head()[1]


def test_memory_and_file_have_the_same_hashes(path):
    memory = MemoryLedger()
    write(memory, 1, 2, 3)
    with Ledger(path, create=True) as ledger:
        write(ledger, 1, 2, 3)
        assert ledger.head() == memory.head()
        assert list(ledger.rows()) == list(memory.rows())


def test_the_disk_is_asked_before_anything_is_acknowledged(path):
    with Ledger(path, create=True) as ledger:
        assert ledger._execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ledger._execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    with Ledger(path) as ledger:
        assert ledger._execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ledger._execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("make", [MemoryLedger, None], ids=["memory", "file"])
def test_a_failed_transaction_leaves_nothing(make, path):
    ledger = make() if make else Ledger(path, create=True)
    with closing(ledger):
        write(ledger, 1)

        def fail():
            with ledger.transaction():
                ledger.append("told", {"number": 2}, time="noon", author="ann")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert numbers(ledger) == [1]
        write(ledger, 2)
        assert numbers(ledger) == [1, 2]


def test_the_log_is_append_only_also_for_sql(path):
    with Ledger(path, create=True) as ledger:
        write(ledger, 1, 2)
        for statement in ("UPDATE events SET author = 'bob'", "DELETE FROM events WHERE seq = 2"):
            with pytest.raises(sqlite3.Error, match="append-only"):
                ledger._connection.execute(statement)
        assert numbers(ledger) == [1, 2]


TAMPERING = {
    "edited body": "UPDATE events SET body = '{\"number\":99}' WHERE seq = 4",
    "edited author": "UPDATE events SET author = 'bob' WHERE seq = 4",
    "edited time": "UPDATE events SET time = 'midnight' WHERE seq = 4",
    "edited kind": "UPDATE events SET kind = 'asked' WHERE seq = 4",
    "edited hash": "UPDATE events SET hash = 'feed' WHERE seq = 4",
    "deleted": "DELETE FROM events WHERE seq = 4",
    "deleted and closed up": "DELETE FROM events WHERE seq = 4;"
    "UPDATE events SET seq = seq - 1 WHERE seq > 4",
    "reordered": "UPDATE events SET seq = -seq WHERE seq IN (4, 5);"
    "UPDATE events SET seq = 9 + seq WHERE seq < 0",
    "inserted": "UPDATE events SET seq = 11 WHERE seq = 10;"
    "INSERT INTO events SELECT 10, time, author, kind, body, hash FROM events WHERE seq = 9",
    "first deleted": "DELETE FROM events WHERE seq = 1",
}


@pytest.mark.parametrize("statements", TAMPERING.values(), ids=TAMPERING)
def test_tampering_is_detected(ten, statements):
    path, _ = ten
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_stay")
        connection.execute("DROP TRIGGER events_remain")
        for statement in statements.split(";"):
            connection.execute(statement)
    with Ledger(path) as ledger, pytest.raises(LedgerError, match=r"event \d+"):
        ledger.verify()


def test_an_edited_event_with_a_hash_made_to_fit_breaks_the_next(ten):
    path, hashes = ten
    row = (4, "noon", "ann", "told", '{"number":99}')
    forged = chained(hashes[2], *row)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_stay")
        statement = "UPDATE events SET body = ?, hash = ? WHERE seq = 4"
        connection.execute(statement, (row[4], forged))
    with Ledger(path) as ledger, pytest.raises(LedgerError, match="event 5 does not fit"):
        ledger.verify()


def test_a_head_kept_elsewhere_shows_a_cut_tail(ten):
    path, hashes = ten
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_remain")
        connection.execute("DELETE FROM events WHERE seq > 7")
        connection.execute(_SCHEMA[3])  # as a careful forger would
    with Ledger(path) as ledger:
        assert ledger.verify() == hashes[6]  # the chain alone cannot see it
        assert ledger.verify(head=hashes[4]) == hashes[6]
        with pytest.raises(LedgerError, match="cut before it or rewritten"):
            ledger.verify(head=hashes[9])


def test_a_head_kept_elsewhere_shows_a_rewritten_log(ten, tmp_path):
    _, hashes = ten
    with Ledger(tmp_path / "other.db", create=True) as other:
        write(other, *range(100, 112))
        other.verify()
        with pytest.raises(LedgerError, match="another trial"):
            other.verify(head=hashes[9])


def test_an_empty_head_is_refused(ten):
    with Ledger(ten[0]) as ledger, pytest.raises(ValueError, match="must be the hash"):
        ledger.verify(head="")


def test_a_head_copied_by_hand_is_the_same_head(ten):
    path, hashes = ten
    with Ledger(path) as ledger:
        by_hand = "  " + hashes[4][:32].upper() + "\n" + hashes[4][32:] + " "
        assert ledger.verify(head=by_hand) == hashes[9]
        for wrong in (hashes[4][:-1], hashes[4] + "0", "g" * 64):
            with pytest.raises(ValueError, match="must be the hash"):
                ledger.verify(head=wrong)


SCHEMAS = {
    "dropped": ["DROP TRIGGER events_stay"],
    "disarmed": ["DROP TRIGGER events_stay",
                 "CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT 1; END"],
    "added": ["CREATE TRIGGER eve AFTER INSERT ON events BEGIN SELECT 1; END"],
    "a view": ["CREATE VIEW eve AS SELECT * FROM events"],
}  # fmt: skip


@pytest.mark.parametrize("statements", SCHEMAS.values(), ids=SCHEMAS)
def test_changed_tables_and_triggers_are_found(ten, statements):
    path, _ = ten
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    with Ledger(path) as ledger, pytest.raises(LedgerError, match=r"(events_stay|eve) was "):
        ledger.verify()


@pytest.mark.parametrize("number", [0, -1, -(2**63)])
def test_events_below_the_first_are_found(ten, number):
    path, _ = ten
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = (number, "noon", "eve", "told", "{}", "feed")
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
    with Ledger(path) as ledger, pytest.raises(LedgerError, match="a number below 1"):
        ledger.verify()


def test_a_trigger_that_swallows_events_is_noticed_before_anything_is_acknowledged(ten):
    path, hashes = ten
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "CREATE TRIGGER eve BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END"
        )
    with Ledger(path) as ledger:
        with pytest.raises(LedgerError, match="swallows events"):
            write(ledger, 10)
        assert ledger.head() == (10, hashes[9])


def test_an_old_head_still_verifies_after_more_events(ten):
    path, hashes = ten
    with Ledger(path) as ledger:
        write(ledger, 10)
        assert ledger.verify(head=hashes[9]) == ledger.head()[1]


def test_a_cut_file_is_refused_at_any_length(tmp_path):
    whole = tmp_path / "whole.db"
    with Ledger(whole, create=True) as ledger:
        write(ledger, *range(300))  # several pages
    size = whole.stat().st_size
    assert size > 5 * 4096
    for length in sorted({*range(0, size, 1531), *range(0, size, 4096), size - 1}):
        cut = tmp_path / f"cut{length}.db"
        cut.write_bytes(whole.read_bytes()[:length])
        with pytest.raises(LedgerError), Ledger(cut) as ledger:
            ledger.verify()


def test_flipped_bytes_are_detected(tmp_path):
    """Any change to the stored events: SQLite, the chain or the replay notices."""
    whole = tmp_path / "whole.db"
    with Ledger(whole, create=True) as ledger:
        write(ledger, *range(60))
    content = whole.read_bytes()
    at = content.index(b'{"number":30}')
    for offset in (-70, -3, 0, 11, 20, 60):
        changed = bytearray(content)
        changed[at + offset] ^= 0x01
        other = tmp_path / f"changed{offset}.db"
        other.write_bytes(bytes(changed))
        with pytest.raises(LedgerError), Ledger(other) as ledger:
            ledger.verify()


def test_a_damaged_schema_that_is_no_text_is_a_damaged_file(ten):
    path, _ = ten
    path.write_bytes(path.read_bytes().replace(b"state BLOB NOT", b"state BL\xc4B NOT"))
    with pytest.raises(LedgerError, match="damaged or cut short"), Ledger(path) as ledger:
        ledger.verify()


def test_other_files_and_newer_ledgers_are_refused(tmp_path, path):
    with pytest.raises(LedgerError, match="no ledger at"):
        Ledger(path)
    path.write_text("arm,outcome\nA,1\n" * 100)
    with pytest.raises(LedgerError, match="no ledger, or is damaged"):
        Ledger(path)
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE things (x)")
    with pytest.raises(LedgerError, match="is no ledger of paretoid"):
        Ledger(foreign)
    newer = tmp_path / "newer.db"
    with Ledger(newer, create=True) as ledger:
        write(ledger, 1)
        ledger._execute(f"PRAGMA user_version={FORMAT + 1}")
    before = newer.read_bytes()
    with pytest.raises(LedgerError, match="newer paretoid"):
        Ledger(newer)
    assert newer.read_bytes() == before


def test_a_ledger_is_never_overwritten(ten, tmp_path):
    path, hashes = ten
    with pytest.raises(LedgerError, match="never overwritten"):
        Ledger(path, create=True)
    with Ledger(path) as ledger:
        assert ledger.verify() == hashes[9]
    with pytest.raises(LedgerError, match="cannot be created"):
        Ledger(tmp_path / "nowhere" / "trial.db", create=True)


def test_a_full_disk_loses_nothing_acknowledged(path):
    with Ledger(path, create=True) as ledger:
        (pages,) = ledger._execute("PRAGMA page_count").fetchone()
        ledger._execute(f"PRAGMA max_page_count={pages + 3}")
        acknowledged = []

        def go_on():
            for number in range(10_000):
                write(ledger, number, -number)
                acknowledged.append(number)

        with pytest.raises(LedgerError, match="nothing of this command was recorded"):
            go_on()
        assert acknowledged
        assert numbers(ledger)[::2] == acknowledged
        ledger.verify()
    with Ledger(path) as ledger:  # space again
        write(ledger, 7)
        assert numbers(ledger)[-1] == 7


def test_a_snapshot_counts_only_while_the_log_vouches_for_it(ten):
    path, hashes = ten
    with Ledger(path) as ledger:
        assert ledger.keep_snapshot(9, hashes[8], b"old", time="noon", author="ann") is None
        event = ledger.keep_snapshot(10, hashes[9], b"state", time="noon", author="ann")
        assert (event.seq, event.kind) == (11, "kept")
        assert ledger.snapshot() == (10, hashes[9], b"state")
        write(ledger, 11)
        assert ledger.snapshot() == (10, hashes[9], b"state")  # replayed from event 10 on
        ledger.verify()
    forged = hashlib.sha256(b"forged").hexdigest()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE snapshots SET state = ?, digest = ?", (b"forged", forged))
    with Ledger(path) as ledger:
        assert ledger.snapshot() is None


def test_a_busy_ledger_says_so(path):
    with Ledger(path, create=True) as first, Ledger(path, timeout=0.05) as second:
        with first.transaction(), pytest.raises(LedgerError, match="another process"):
            write(second, 1)
        write(second, 1)


def test_a_closed_ledger_says_so(path):
    ledger = Ledger(path, create=True)
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.head()


# The child imports the ledger alone, so that a hundred of them are quick: the packages above it
# are stand-ins that only know where the files are.
CHILD = """
import os, signal, sys, types
root, path, fatal = sys.argv[1], sys.argv[2], int(sys.argv[3])
for name in ("paretoid", "paretoid.explorer"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(root, *name.split("."))]
from paretoid.explorer.ledger import Ledger
ledger = Ledger(path)
statements = 0
def trace(statement):
    global statements
    statements += 1
    if statements == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
ledger._connection.set_trace_callback(trace)
for number in range(1000):
    with ledger.transaction():
        event = ledger.append("told", {"number": number}, time="noon", author=str(fatal))
        last = ledger.append("asked", {"number": -number}, time="noon", author=str(fatal))
    os.write(1, f"{event.seq} {event.hash}\\n".encode())  # acknowledged
    if number % 3 == 2:
        ledger.keep_snapshot(last.seq, last.hash, b"state" * 100, time="noon", author=str(fatal))
"""


def test_sigkill_between_any_two_statements_loses_nothing_acknowledged(path):
    """Children on one file, one after the other, killed before their k-th statement."""
    Ledger(path, create=True).close()
    total = 0
    for fatal in range(1, 101, 4):
        child = subprocess.run(
            [sys.executable, "-S", "-c", CHILD, str(ROOT), str(path), str(fatal)],
            capture_output=True,
            text=True,
        )
        assert child.returncode == -signal.SIGKILL, child.stderr
        acknowledged = [line.split() for line in child.stdout.splitlines()]
        total += len(acknowledged)
        with Ledger(path) as ledger:
            ledger.verify()
            commands = sum(event.kind != "kept" for event in ledger.events())
            assert commands % 2 == 0  # both events of a command, or neither
            for seq, digest in acknowledged:
                assert ledger.hash_of(int(seq)) == digest
    assert total > 100  # it was not always killed before the first command


def test_the_file_as_it_was_at_the_kill_can_be_copied(path, tmp_path):
    """What a crash leaves, file and write-ahead log, opens elsewhere with everything in it."""
    Ledger(path, create=True).close()
    child = subprocess.run(
        [sys.executable, "-S", "-c", CHILD, str(ROOT), str(path), "60"],
        capture_output=True,
        text=True,
    )
    last = child.stdout.splitlines()[-1].split()
    assert path.with_name("trial.db-wal").exists()
    (tmp_path / "copy").mkdir()
    for file in tmp_path.glob("trial.db*"):
        shutil.copy(file, tmp_path / "copy" / file.name)
    with Ledger(tmp_path / "copy" / "trial.db") as ledger:
        assert ledger.hash_of(int(last[0])) == last[1]
        ledger.verify()
