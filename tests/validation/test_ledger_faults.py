"""The batteries of faults run, and count what they are there to find."""

from __future__ import annotations

import os
import random

import pytest

from paretoid.explorer.ledger import Ledger
from paretoid.explorer.session import Session
from paretoid.validation import ledger_faults


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_nothing_acknowledged_is_lost_and_nothing_changed_is_unnoticed(capsys):
    assert ledger_faults.main(["--kills", "5", "--corruptions", "30"]) == 0
    assert '"noticed"' in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_lost_event_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(Ledger, "hash_of", lambda self, seq: "lost")
    counts = ledger_faults.kills(4, random.Random(1), tmp_path)
    assert counts["acknowledged"] > 0
    assert counts["lost"] == counts["acknowledged"]


def test_a_change_that_verify_lets_pass_is_counted(tmp_path, monkeypatch):
    """With a verify that believes everything, what SQLite and the chain still read differs."""
    monkeypatch.setattr(Session, "verify", lambda self, head=None: head)
    monkeypatch.setattr(Session, "_load", lambda self: None)
    counts = ledger_faults.corruptions(40, random.Random(1), tmp_path)
    assert counts["unnoticed"] + counts["other_errors"] > 0
