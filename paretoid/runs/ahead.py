"""Kernels compiled in a process of their own while something else takes its time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from paretoid.bandits import GaussianBandit
from paretoid.conduct import Conduct
from paretoid.engine.cache import is_compiled, keeps_kernels, what_compiling_takes
from paretoid.goals import Goal, ParetoSet
from paretoid.rules import APE
from paretoid.runs.chunk import run_chunk
from paretoid.runs.setting import Setting
from paretoid.theory.radii import Mixture

#: seconds after which a compiler that has not ended is given up; it takes half a minute
_PATIENCE = 300.0


def load(conducted: bool) -> None:
    """Load or compile the loop of APE, and if `conducted` that of trials on a calendar."""
    for setting in _settings((ParetoSet(),), Conduct(look=2) if conducted else None):
        run_chunk(setting, 0, [(0,)])


def _settings(goals: tuple[Goal, ...], conduct: Conduct | None) -> list[Setting]:
    """Two arms with these goals, at once and as conducted: kernels are the same for any size."""
    bandit = GaussianBandit([[0.0], [1.0]])
    conducts = [None] if conduct is None else [None, conduct]
    return [Setting(bandit, goals, APE(), Mixture(), 0.1, 1, conduct) for conduct in conducts]


@contextmanager
def compiling_ahead(
    goals: Sequence[Goal], conduct: Conduct | None, say: Callable[[str], None]
) -> Iterator[None]:
    """Compile what APE needs for `goals` while the block runs, if it is not compiled; and wait.

    Nothing depends on it: if the other process fails, what comes next compiles as ever. If the
    block fails or is interrupted, the process is ended.
    """
    ideal, *others = (setting.compiled for setting in _settings(tuple(goals), conduct))
    conducted = any(others)
    wanted = (ideal or conducted) and keeps_kernels() and bool(sys.executable)
    if not wanted or is_compiled(lambda: load(conducted)):
        yield
        return
    say(f"meanwhile {what_compiling_takes()}")
    process = _start(conducted)
    try:
        yield
        if process is not None:
            process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process is not None:
            process.kill()
            process.wait()


def _start(conducted: bool) -> subprocess.Popen[bytes] | None:
    """A process that compiles, with the modules of this one; None if there cannot be one."""
    code = f"from paretoid.runs.ahead import load; load({conducted})"
    modules = os.pathsep.join(path for path in sys.path if path)
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            env={**os.environ, "PYTHONPATH": modules},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
