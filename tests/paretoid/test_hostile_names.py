"""Names from files reach neither a terminal nor a spreadsheet as anything but text."""

from __future__ import annotations

import csv
import json

import pytest

import paretoid as pt
from paretoid.explorer.files import export, read_outcomes
from paretoid.tables import read_table, write_csv
from paretoid.text import visible

ARMS = ["A\x1b[2J\x9b", "B\u202egolb\u2066", "C\nhead 0000", "=cmd|'/c calc'!A0"]
HIDDEN = "\x1b\x9b\u202e\u2066"


@pytest.fixture
def path(tmp_path):
    """A ledger as an earlier version, or other software, may have written it."""
    with pt.Explorer(ARMS, ["+gain"], scale=1.0, ledger=tmp_path / "t.db") as trial:
        trial.ask(4)
        trial.tell("=cmd|'/c calc'!A0", [-0.5], id="@walk-in", unplanned=True)
    return tmp_path / "t.db"


def test_hidden_characters_are_written_out_on_the_terminal(path, cli):
    for words in (["status", path], ["next", path, "-n", 4]):
        code, out, _ = cli("trial", *words)
        assert code == 0
        assert not set(out) & set(HIDDEN)
        assert "A\\u001b[2J\\u009b" in out
        assert "B\\u202egolb\\u2066" in out
        assert "C\\u000ahead 0000" in out
        assert [line for line in out.splitlines() if line.startswith("head")] == [
            out.splitlines()[-1]
        ]  # the true one alone


def test_json_keeps_the_names_and_hides_nothing(path, cli):
    _, out, _ = cli("trial", "status", path, "--json")
    assert not set(out) & set(HIDDEN)
    assert json.loads(out)["arms"] == ARMS


@pytest.mark.parametrize("letter", ["\x00", "\x07", "\x7f", "\u2028", "\ufeff", "\U000e0041", "\n"])
def test_every_hidden_character_can_be_seen_and_read_back(letter):
    shown = visible(f"a{letter}b")
    assert letter not in shown
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == f"a{letter}b"


@pytest.mark.parametrize("words", ["", "plain", "süß 中", "क्‍ष", "👩‍👧", "a\\b"])
def test_what_can_be_seen_stays(words):
    assert visible(words) == words


def test_an_export_holds_no_formula(path, tmp_path):
    with pt.Explorer.open(path) as trial:
        export(trial, tmp_path / "out.csv")
        export(trial, tmp_path / "log.csv", events=True)
    for name in ("out.csv", "log.csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                for cell in row:
                    assert cell[:1] not in tuple("=+-@\t\r") or float(cell) == -0.5, cell


def test_outcomes_come_back_from_a_file_with_such_names(path, tmp_path):
    with pt.Explorer.open(path) as trial:
        waiting = next(w for w in trial.status().waiting if w.arm.startswith("="))
        write_csv(tmp_path / "in.csv", ["id", "arm", "+gain"], [[waiting.id, waiting.arm, -0.5]])
        records = read_outcomes(tmp_path / "in.csv", trial.design.objectives)
        assert trial.tell_many(records) == 1


def test_cells_come_back_as_they_were_written(tmp_path):
    cells = ["=1", "'=1", "''=1", "+x", "'quoted'", "'", "-", "@a", "-1"]
    write_csv(tmp_path / "x.csv", ["=arm", "n"], [[cell, 1] for cell in cells])
    table = read_table(tmp_path / "x.csv", exact=True)
    assert table.columns == ("=arm", "n")
    assert [row["=arm"] for _, row in table.rows] == cells
