"""What is committed is never reported as failed, and what nobody received can be taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import paretoid as pt

DESIGN = 'arms = ["Plazebo süß", "中"]\nobjectives = ["IgG"]\nscale = 1.0\n'
FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="the system has no /dev/full")


@pytest.fixture
def command(tmp_path):
    """Run `paretoid trial` in a process of its own, in an empty folder."""
    (tmp_path / "design.toml").write_text(DESIGN, encoding="utf-8")

    def run(*words, stdout=subprocess.PIPE, encoding="utf-8"):
        return subprocess.run(
            [sys.executable, "-m", "paretoid", "trial", *map(str, words)],
            stdout=stdout, stderr=subprocess.PIPE, cwd=tmp_path, text=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )  # fmt: skip

    assert run("new", "design.toml", "t.db").returncode == 0
    return run


def allocations(folder):
    with pt.Explorer.open(folder / "t.db") as trial:
        return trial.status().allocations


def test_names_that_a_terminal_lacks_are_escaped_and_not_refused(command, tmp_path):
    done = command("next", "t.db", "-n", 2, "--json", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    placed = json.loads(done.stdout)["allocations"]
    assert {a["arm"] for a in placed} == {"Plazebo süß", "中"}
    done = command("next", "t.db", "-n", 2, encoding="ascii")
    assert done.returncode == 0
    assert "Plazebo s\\u00fc\\u00df" in done.stdout
    assert allocations(tmp_path) == 4


@needs_full
def test_what_is_recorded_and_cannot_be_printed_is_said_with_a_code_of_its_own(command, tmp_path):
    with open(FULL, "w") as full:
        done = command("next", "t.db", "-n", 2, "--request", "visit 1", stdout=full)
    assert done.returncode == 4
    assert "allocations are made: 1 (" in done.stderr
    assert "must not be repeated" in done.stderr
    assert "withdraw" in done.stderr
    assert allocations(tmp_path) == 2
    again = command("next", "t.db", "-n", 2, "--request", "visit 1", "--json")  # idempotent
    assert [a["id"] for a in json.loads(again.stdout)["allocations"]] == [1, 2]
    assert allocations(tmp_path) == 2
    with open(FULL, "w") as full:
        done = command("record", "t.db", 1, "0.5", stdout=full)
        assert (done.returncode, "recorded 1" in done.stderr) == (4, True)
        done = command("status", "t.db", stdout=full)
        assert done.returncode == 2  # nothing was recorded


def test_nobody_is_placed_where_stdout_is_closed(command, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import os, sys; os.close(1); os.execv(sys.executable, "
         "[sys.executable, '-m', 'paretoid', 'trial', 'next', 't.db'])"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "stdout is closed" in done.stderr
    assert allocations(tmp_path) == 0


def test_allocations_that_nobody_received_are_withdrawn(command, tmp_path):
    command("next", "t.db", "-n", 4)
    assert "needs --reason" in command("withdraw", "t.db", 1, "--yes").stderr
    done = command("withdraw", "t.db", 1, 3, "--reason", "never printed", "--yes")
    assert done.returncode == 0, done.stderr
    for id in (2, 4):
        assert command("record", "t.db", id, "0.5").returncode == 0
    with pt.Explorer.open(tmp_path / "t.db") as trial:
        status = trial.status()
        assert (status.samples, status.waiting, status.held) == (2, (), {})  # nothing waits
        kinds = [row[3] for row in trial.rows()]
        assert kinds.count("withdrawn") == 2
        trial.verify()
    command("export", "t.db", "out.csv")
    how = [line.split(",")[2] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert how == ["withdrawn", "asked", "withdrawn", "asked"]


def trial(**options):
    return pt.Explorer(["A", "B", "C"], ["gain"], scale=1.0, **options)


def test_a_request_is_answered_once(tmp_path):
    with trial(ledger=tmp_path / "t.db") as first:
        made = first.ask(3, request="visit 1")
        head = first.head
        assert first.ask(3, request="visit 1") == made
        assert first.head == head
        with pytest.raises(ValueError, match="placed 3 before, and now asks for 2"):
            first.ask(2, request="visit 1")
        new = first.override(made[1], "C", reason="allergy")
    with pt.Explorer.open(tmp_path / "t.db") as again:  # another process, after a crash
        assert again.ask(3, request="visit 1") == [made[0], new, made[2]]
        again.withdraw(made[0], reason="nobody came")
        with pytest.raises(ValueError, match="withdrawn since"):
            again.ask(3, request="visit 1")
        assert again.ask(request="visit 2").id == 5
        assert again.ask(request="visit 2").id == 5
        again.verify()


def test_a_repeated_request_is_answered_after_the_end():
    explorer = trial(delta=0.5)
    made = explorer.ask(9, request="last")
    while explorer.answer is None:
        for allocation in explorer.ask(9):
            explorer.tell("ABC".index(allocation.arm), [50.0 * (allocation.arm == "A")],
                          unplanned=True)  # fmt: skip
        for waiting in explorer.status().waiting:
            explorer.tell(waiting.id, "missing")
    assert explorer.ask(9, request="last") == made


@pytest.mark.parametrize("request_", ["", "  ", 7, "x" * 201])
def test_a_request_is_a_word(request_):
    with pytest.raises(ValueError, match="must be a word"):
        trial().ask(request=request_)


def test_a_withdrawal_is_whole_final_and_for_allocations_without_outcomes():
    explorer = trial()
    first, second, third = explorer.ask(3)
    explorer.tell(second, [1.0])
    before = explorer.head
    with pytest.raises(ValueError, match="2 has outcomes already"):
        explorer.withdraw(first, second, reason="nobody came")
    assert explorer.head == before
    explorer.withdraw(first, reason="nobody came")
    with pytest.raises(ValueError, match="withdrawn"):
        explorer.tell(first, [1.0])
    with pytest.raises(ValueError, match="withdrawn"):
        explorer.correct(first, [1.0], reason="somebody came")
    for again in (first, third.id + 1, "x"):
        with pytest.raises(ValueError, match=r"withdrawn|no allocation"):
            explorer.withdraw(again, reason="nobody came")
    with pytest.raises(ValueError, match="withdrawn"):
        explorer.override(first, "B", reason="allergy")
    assert explorer.verify() == explorer.head


def test_a_withdrawn_arm_of_a_round_is_due_again():
    explorer = trial(rule=pt.RoundRobin())
    a, b = explorer.ask(), explorer.ask()
    explorer.withdraw(b, reason="nobody came")
    assert (a.arm, b.arm, explorer.ask().arm, explorer.ask().arm) == ("A", "B", "B", "C")


def test_withdrawals_and_requests_survive_a_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr("paretoid.explorer.session._SNAPSHOT", 3)
    with trial(ledger=tmp_path / "t.db") as first:
        first.ask(2, request="visit 1")
        first.withdraw(1, reason="nobody came")
        for _ in range(8):
            first.ask()
        assert first._ledger.snapshot() is not None
    with pt.Explorer.open(tmp_path / "t.db") as again:
        state = again._current()
        assert (state.withdrawn, state.requests) == ([0], {"visit 1": [1, 2]})
        assert state.to_bytes() == again.replay().to_bytes()
        np.testing.assert_array_equal(again.status().counts, np.zeros((3, 1)))
        again.verify()
