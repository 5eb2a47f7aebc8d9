"""A process compiles while a fit runs: it is started when needed, waited for, and never left."""

from __future__ import annotations

import subprocess
import sys

import pytest

import paretoid as pt
from paretoid.engine.cache import cache_directory
from paretoid.runs import ahead

GOALS = [pt.ParetoSet(), pt.AtMost(1)]


def started_instead(monkeypatch, code: str) -> list[subprocess.Popen[bytes]]:
    """Pretend that nothing is compiled, and start `code` in place of the compiler."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(loops: list[str]) -> subprocess.Popen[bytes]:
        processes.append(subprocess.Popen([sys.executable, "-c", code]))
        return processes[-1]

    monkeypatch.setattr(ahead, "is_compiled", lambda work: False)
    monkeypatch.setattr(ahead, "keeps_kernels", lambda: True)
    monkeypatch.setattr(ahead, "_start", start)
    return processes


def test_nothing_is_started_when_kernels_are_there_or_of_no_use(monkeypatch):
    ahead.load("ideal")
    said: list[str] = []

    def never(loops: list[str]) -> None:
        raise AssertionError(loops)

    monkeypatch.setattr(ahead, "_start", never)
    with ahead.compiling_ahead(GOALS, None, said.append):
        pass
    monkeypatch.setattr(ahead, "is_compiled", lambda work: False)
    with ahead.compiling_ahead([pt.PracticalSet(0.1)], None, said.append):
        pass  # runs in the readable loop
    monkeypatch.setattr(ahead, "keeps_kernels", lambda: False)
    with ahead.compiling_ahead(GOALS, None, said.append):
        pass  # what is compiled elsewhere would not be found
    assert said == []


def test_goals_with_limits_and_a_calendar_have_loops_of_their_own():
    limited = pt.ParetoSet(limits={"toxicity": pt.at_most(0.3)})
    late = pt.Conduct(rate=5.0, delay=28.0)
    assert ahead.loops_of([pt.ParetoSet()], None) == ["ideal"]
    assert ahead.loops_of([limited, pt.AtMost(1)], late) == ["conducted", "ideal", "limited"]
    assert ahead.loops_of([limited], late) == ["conducted", "limited"]
    assert ahead.loops_of([pt.PracticalSet(0.1)], late) == []
    assert ahead.loops_of([pt.ParetoSet()], None, pt.UnknownScale) == ["ideal"]
    assert ahead.loops_of([pt.ParetoSet()], None, pt.BetaBinomial) == []
    assert ahead.loops_of([pt.ParetoSet()], None, pt.LUCB1Like()) == []


@pytest.mark.parametrize("code", ["print(end='')", "raise SystemExit(3)"])
def test_the_process_is_waited_for_and_may_fail(monkeypatch, code):
    processes = started_instead(monkeypatch, code)
    said: list[str] = []
    with ahead.compiling_ahead(GOALS, None, said.append):
        done = True
    assert done
    assert [process.returncode for process in processes] == [3 if "3" in code else 0]
    assert len(said) == 1
    assert "compiling" in said[0]


def test_an_interruption_ends_the_process(monkeypatch):
    """And it is waited for, so no zombie is left."""
    processes = started_instead(monkeypatch, "import time; time.sleep(600)")
    with (
        pytest.raises(KeyboardInterrupt),
        ahead.compiling_ahead(GOALS, pt.Conduct(look=5), lambda words: None),
    ):
        raise KeyboardInterrupt
    assert processes[0].returncode not in (None, 0)


def test_a_process_that_never_ends_is_given_up(monkeypatch):
    processes = started_instead(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(ahead, "_PATIENCE", 0.01)
    with ahead.compiling_ahead(GOALS, None, lambda words: None):
        pass
    assert processes[0].returncode not in (None, 0)


def test_what_is_started_finds_this_package_and_its_kernels(monkeypatch):
    """All are compiled here, so it writes none: it looks where this process does."""
    ahead.load("ideal", "limited", "conducted")
    directory = cache_directory()
    before = None if directory is None else sorted(directory.iterdir())
    process = ahead._start(["ideal", "limited", "conducted"])
    assert process is not None
    assert process.wait() == 0
    assert before == (None if directory is None else sorted(directory.iterdir()))


def test_a_machine_that_starts_no_process_goes_on(monkeypatch):
    monkeypatch.setattr(ahead, "is_compiled", lambda work: False)
    monkeypatch.setattr(ahead, "keeps_kernels", lambda: True)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with ahead.compiling_ahead(GOALS, None, lambda words: None):
        done = True
    assert done
