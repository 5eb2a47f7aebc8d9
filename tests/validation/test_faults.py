"""The batteries of faults run, and count what they are there to find."""

from __future__ import annotations

import os
import random

import pytest

from paretoid.explorer import LedgerError
from paretoid.explorer.ledger import Ledger
from paretoid.explorer.session import Session
from paretoid.validation import faults
from paretoid.validation.faults import ledger, store


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_nothing_acknowledged_is_lost_and_nothing_changed_is_unnoticed():
    names = [name for name in faults.batteries.BATTERIES if name.startswith("ledger")]
    counts = faults.run(0.02, names=names)
    assert faults.failures(counts) == []
    assert all(battery.get("acknowledged", 1) > 0 for battery in counts.values())


@pytest.mark.slow
def test_a_store_is_whole_after_every_fault():
    names = [name for name in faults.batteries.BATTERIES if not name.startswith("ledger")]
    assert faults.failures(faults.run(0.02, names=names)) == []


@pytest.mark.skipif(not faults.can_record(), reason="records system calls")
def test_a_disk_that_never_syncs_loses_what_was_acknowledged(tmp_path, monkeypatch):
    do = faults.Disk.do
    monkeypatch.setattr(
        faults.Disk, "do", lambda self, call: None if call.name == "fsync" else do(self, call)
    )
    try:
        counts = ledger.power_cuts(20, random.Random(1), tmp_path)
    except (LedgerError, ValueError):
        return  # not even a ledger is left
    assert counts["lost"] > 0


def test_what_is_not_synced_may_be_missing_torn_or_out_of_order():
    seen = set()
    for seed in range(200):
        disk = faults.Disk("/d")
        disk.do(faults.Call("open", ("/d/a",), flags="O_CREAT"))
        disk.do(faults.Call("write", ("/d/a",), b"old"))
        disk.do(faults.Call("fsync", ("/d/a",)))
        disk.do(faults.Call("fsync", ("/d",)))
        disk.do(faults.Call("write", ("/d/a",), b"NEW"))
        disk.do(faults.Call("write", ("/d/a",), b"x", 4))
        seen.add(disk.after_power_cut(random.Random(seed))["/d/a"])
    assert {b"old", b"NEW", b"NEWld"[:3], b"Nld", b"old\0x", b"NEW\0x"} <= seen


def test_a_store_that_forgets_is_counted(tmp_path, monkeypatch):
    """Results of another seed stand for those of a store that lost something."""
    real = store.run
    monkeypatch.setattr(
        store, "run", lambda folder: real(None).assign(stopped=lambda runs: ~runs.stopped)
        if folder else real(None),
    )  # fmt: skip
    counts = store.Counter(same=0, different=0)
    store._check(tmp_path, real(None), counts)
    assert counts == {"same": 0, "different": 1}


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_lost_event_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(Ledger, "hash_of", lambda self, seq: "lost")
    counts = ledger.kills(4, random.Random(1), tmp_path)
    assert counts["acknowledged"] > 0
    assert counts["lost"] == counts["acknowledged"]


def test_a_change_that_verify_lets_pass_is_counted(tmp_path, monkeypatch):
    """With a verify that believes everything, what SQLite and the chain still read differs."""
    monkeypatch.setattr(Session, "verify", lambda self, head=None: head)
    monkeypatch.setattr(Session, "_load", lambda self: None)
    counts = ledger.corruptions(40, random.Random(1), tmp_path)
    assert counts["unnoticed"] + counts["other_errors"] > 0
