"""Kernels compiled in a process of their own while something else takes its time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from paretoid.bandits import GaussianBandit
from paretoid.conduct import Conduct
from paretoid.engine.cache import is_compiled, keeps_kernels, what_compiling_takes
from paretoid.goals import Goal, ParetoSet, at_most
from paretoid.rules import APE
from paretoid.runs.chunk import run_chunk
from paretoid.runs.setting import Setting
from paretoid.theory.radii import BetaBinomial, LUCB1Like, Mixture

#: seconds after which a compiler that has not ended is given up; it takes half a minute
_PATIENCE = 300.0


#: two arms: kernels are the same for any number
_BANDIT = GaussianBandit([[0.0, 0.0], [1.0, 0.0]], objectives=["x", "y"])


def load(*loops: str) -> None:
    """Load or compile loops of APE: "ideal"; "limited", of goals with limits; "conducted"."""
    for loop in loops:
        asked = ParetoSet(limits={"y": at_most(0.5)} if loop == "limited" else None)
        goal = asked.bind(_BANDIT.objectives, _BANDIT.sign)
        run_chunk(_setting(goal, Conduct(look=2) if loop == "conducted" else None), 0, [(0,)])


def _setting(goal: Goal, conduct: Conduct | None) -> Setting:
    return Setting(_BANDIT, (goal,), APE(), Mixture(), 0.1, 1, conduct)


def loops_of(goals: Sequence[Goal], conduct: Conduct | None, radius: Any = None) -> list[str]:
    """Which loops plans with these goals need, at once and as conducted.

    `radius` is one or a kind of them. Those with loops of their own are not compiled ahead.

    >>> loops_of([ParetoSet(), ParetoSet(limits={"x": at_most(0.5)})], Conduct(look=2))
    ['conducted', 'ideal', 'limited']
    """
    kind = radius if isinstance(radius, type) else type(radius)
    if issubclass(kind, (BetaBinomial, LUCB1Like)):
        return []
    needed = set()
    for goal in goals:
        if _setting(goal, None).compiled:
            needed.add("ideal" if goal.limits is None else "limited")
        if conduct is not None and _setting(goal, conduct).compiled:
            needed.add("conducted")
    return sorted(needed)


@contextmanager
def compiling_ahead(
    goals: Sequence[Goal],
    conduct: Conduct | None,
    say: Callable[[str], None],
    radius: Any = None,
) -> Iterator[None]:
    """Compile what APE needs for `goals` while the block runs, if it is not compiled; and wait.

    Nothing depends on it: if the other process fails, what comes next compiles as ever. If the
    block fails or is interrupted, the process is ended.
    """
    loops = loops_of(goals, conduct, radius)
    wanted = bool(loops) and keeps_kernels() and bool(sys.executable)
    if not wanted or is_compiled(lambda: load(*loops)):
        yield
        return
    say(f"meanwhile {what_compiling_takes()}")
    process = _start(loops)
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


def _start(loops: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """A process that compiles, with the modules of this one; None if there cannot be one."""
    code = f"from paretoid.runs.ahead import load; load(*{list(loops)!r})"
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
