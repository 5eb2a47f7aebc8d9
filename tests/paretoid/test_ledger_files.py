"""A ledger is several files: copies are whole, and a moved file swallows nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import paretoid as pt
from paretoid.cli import main
from paretoid.explorer.backup import copy_ledger
from paretoid.explorer.events import LedgerError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trial.db"


def trial(path, outcomes=5):
    explorer = pt.Explorer(["A", "B"], ["gain"], scale=1.0, ledger=path)
    for allocation in explorer.ask(outcomes):
        explorer.tell(allocation, [1.0])
    return explorer


MISHAPS = {
    "moved": lambda path: path.rename(path.with_name("elsewhere.db")),
    "removed": lambda path: path.unlink(),
    "replaced": lambda path: (shutil.copy(path, path.with_name("new")),
                              os.replace(path.with_name("new"), path)),
    "log removed": lambda path: path.with_name("trial.db-wal").unlink(),
    "log replaced": lambda path: (
        shutil.copy(path.with_name("trial.db-wal"), path.with_name("new")),
        os.replace(path.with_name("new"), path.with_name("trial.db-wal"))),
}  # fmt: skip


@pytest.mark.parametrize("mishap", MISHAPS.values(), ids=MISHAPS)
def test_a_write_notices_that_its_file_is_gone(path, mishap):
    with trial(path) as explorer:
        waiting = explorer.ask()
        mishap(path)
        for _ in range(2):
            with pytest.raises(LedgerError, match=r"trial\.db.* was (moved|replaced)"):
                explorer.tell(waiting, [1.0])


def test_a_file_that_goes_while_it_is_written_is_not_acknowledged(path):
    with trial(path) as explorer:
        waiting = explorer.ask()
        before = explorer._ledger._execute

        def execute(statement, parameters=()):
            if statement == "COMMIT":
                path.rename(path.with_name("elsewhere.db"))
            return before(statement, parameters)

        explorer._ledger._execute = execute
        with pytest.raises(LedgerError, match="in the file that was there before"):
            explorer.tell(waiting, [1.0])


def test_another_folder_is_no_other_file(path, monkeypatch, tmp_path):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    with trial("trial.db") as explorer:
        monkeypatch.chdir(tmp_path / "below")
        explorer.ask()


def test_a_backup_of_an_open_trial_is_whole_and_one_file(path, tmp_path):
    with trial(path, 50) as explorer:
        shutil.copy(path, tmp_path / "cp.db")  # why there is a command for it
        with pytest.raises(LedgerError), pt.Explorer.open(tmp_path / "cp.db"):
            pass
        events, head = copy_ledger(path, tmp_path / "copy.db")
        assert (events, head) == (52, explorer.head)
        assert list(tmp_path.glob("copy.db*")) == [tmp_path / "copy.db"]
        explorer.ask()  # the trial goes on
    with pt.Explorer.open(tmp_path / "copy.db") as copy:
        assert copy.verify() == head
        copy.ask()  # and so could the copy
        assert copy._ledger._execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_backup_and_restore_from_the_command(path, tmp_path, cli):
    trial(path).close()
    code, out, _ = cli("trial", "backup", path, "monday.db")
    assert (code, out.splitlines()[0]) == (0, "7 events in monday.db, all sound")
    head = out.split()[-1]
    assert cli("trial", "backup", path, "monday.db")[0] == 2  # never overwritten
    path.unlink()
    code, out, _ = cli("trial", "restore", "monday.db", path, "--head", head)
    assert (code, out.split()[-1]) == (0, head)
    assert cli("trial", "verify", path, "--head", head)[0] == 0
    code, _, said = cli("trial", "restore", "monday.db", "other.db", "--head", "0" * 64)
    assert (code, "no ledger was made" in said) == (1, True)
    assert not (tmp_path / "other.db").exists()


def test_a_damaged_ledger_has_no_backup(path, tmp_path, cli):
    trial(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_stay")
        connection.execute("UPDATE events SET author = 'eve' WHERE seq = 3")
    code, _, said = cli("trial", "backup", path, "copy.db")
    assert code == 1
    assert "event 3 does not fit its hash" in said
    assert not (tmp_path / "copy.db").exists()


def test_a_truncated_ledger_is_unsound_and_another_file_is_bad_input(path, tmp_path, cli):
    trial(path, 60).close()
    whole = path.read_bytes()
    for length in (0, 10, 50, 100, 4096, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.db").write_bytes(whole[:length])
        assert cli("trial", "verify", "cut.db")[0] == 1, length
    (tmp_path / "text.db").write_text("arm,outcome\n" * 500)
    with closing(sqlite3.connect(tmp_path / "foreign.db")) as connection:
        connection.execute("CREATE TABLE things (x)")
    for name in ("text.db", "foreign.db", "nowhere.db", "."):
        assert cli("trial", "verify", name)[0] == 2, name


def test_clocks_that_run_backwards_are_said(path, cli):
    start = datetime(2026, 3, 1, tzinfo=UTC)
    days = iter([0, 1, 5, 2, 6])
    with pt.Explorer(
        ["A", "B"], ["gain"], scale=1.0, ledger=path, clock=lambda: start + timedelta(next(days))
    ) as explorer:
        for _ in range(4):
            explorer.ask()
        with pytest.warns(UserWarning, match="event 4 is dated before event 3: a clock"):
            explorer.verify()
    code, out, _ = cli("trial", "verify", path)
    assert code == 0  # two sites with two clocks are no fraud, but it is said
    assert "note: event 4 is dated before event 3" in out


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_new_ledger_does_not_take_over_what_another_left(path, ending):
    path.with_name(path.name + ending).write_bytes(b"old")
    with pytest.raises(LedgerError, match="left of another ledger"):
        trial(path)
    assert not path.exists()


@contextmanager
def nothing_can_be_written(folder):
    """As from a medium that is read-only; the superuser, who may write anyway, steps back."""
    for file in folder.iterdir():
        file.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    folder.chmod(0o555)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


@pytest.fixture
def medium():
    folder = Path(tempfile.mkdtemp())  # outside of tmp_path, which only its owner may enter
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_ledger_on_a_read_only_medium_is_read_and_not_written(medium):
    with trial(medium / "trial.db") as explorer:
        head = explorer.head
    out = Path(tempfile.mkdtemp())
    out.chmod(0o777)

    def read(name):
        for command in (["status"], ["verify", "--head", head], ["export", str(out / name)]):
            with pytest.raises(SystemExit) as ended:
                main(["trial", command[0], str(medium / "trial.db"), *command[1:]])
            assert not ended.value.code

    read("before.csv")  # Python's own modules may be readable for the superuser alone
    with nothing_can_be_written(medium):
        read("after.csv")
        with pt.Explorer.open(medium / "trial.db", author="ann") as explorer:
            assert explorer.status().samples == 5
            with pytest.raises(LedgerError, match="cannot be written here; nothing was recorded"):
                explorer.ask()
        assert copy_ledger(medium / "trial.db", out / "copy.db")[1] == head
    assert (out / "after.csv").read_text() == (out / "before.csv").read_text()
    assert [file.name for file in medium.iterdir()] == ["trial.db"]
    shutil.rmtree(out)


def test_a_log_that_cannot_be_read_on_a_read_only_medium_is_not_left_out(medium, path):
    with trial(path):
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", medium / f"trial.db{ending}")
    with (
        nothing_can_be_written(medium),
        pytest.raises(LedgerError, match="holds what was recorded last"),
    ):
        pt.Explorer.open(medium / "trial.db", author="ann")
