"""Threads may share an Explorer; a process that was forked is told to open its own."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import paretoid as pt
from paretoid.explorer import LedgerError


@pytest.fixture(params=["memory", "file"])
def trial(request, tmp_path):
    path = tmp_path / "trial.db" if request.param == "file" else None
    with pt.Explorer(["A", "B", "C"], ["gain"], scale=1e6, ledger=path) as explorer:
        yield explorer


def test_four_threads_lose_nothing_acknowledged(trial):
    """Each asks and tells 12 times; without a lock some of 48 outcomes are lost nearly always."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def site(number):
        told = []
        for turn in range(12):
            allocation = trial.ask()
            trial.tell(allocation, [float(number)])
            told.append((allocation.id, float(number)))
            if turn % 10 == 0:
                trial.status()
                assert sum(1 for _ in trial.rows()) > turn
        return told

    try:
        with ThreadPoolExecutor(4) as pool:
            told = dict(pair for site in pool.map(site, range(4)) for pair in site)
    finally:
        sys.setswitchinterval(interval)
    assert sorted(told) == list(range(1, 49))
    state = trial.replay()
    assert {id: state.values[0][id - 1] for id in told} == told
    assert trial.status().samples == 48
    trial.verify()


def test_a_closed_explorer_says_so_in_any_thread(tmp_path):
    trial = pt.Explorer(["A", "B"], ["gain"], ledger=tmp_path / "trial.db")
    trial.close()
    with ThreadPoolExecutor(1) as pool, pytest.raises(LedgerError, match="is closed"):
        pool.submit(trial.ask).result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded")
def test_a_forked_process_is_refused_in_words_and_does_no_harm(tmp_path):
    with pt.Explorer(["A", "B"], ["gain"], ledger=tmp_path / "trial.db") as trial:
        trial.ask(5)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                trial.ask()
                said = "recorded"
            except LedgerError as error:
                said = str(error)
            trial.close()
            os.write(writing, said.encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert "Open it again in this process" in os.read(reading, 1000).decode()
        trial.ask()
        trial.verify()
    with pt.Explorer.open(tmp_path / "trial.db") as again:
        assert again.status().allocations == 6
