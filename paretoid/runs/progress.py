"""What a long campaign tells while it runs: a bar on a terminal and in notebooks, else a line.

Lines go to the logger "paretoid" at level INFO, so that an application has them where it has its
own. Where nobody has set up logging they go to standard error while the work lasts: who passes
`progress=True` wants to see something.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from paretoid.text import clock

#: seconds between two lines when standard error is no terminal
_PAUSE = 10.0
_LOG = logging.getLogger("paretoid")


class Progress:
    """Runs, samples per second, time left, censored runs; on standard error.

    The time left is that of the bounds: the rate at which expected seconds have been worked off
    so far, applied to those that remain.
    """

    def __init__(self, shown: bool, runs: int, seconds: float) -> None:
        self.shown, self.runs, self.seconds = shown, runs, seconds
        self.done = self.samples = self.censored = 0
        self.worked = 0.0
        self._bar: Any = None
        self._narrow = False

    def __enter__(self) -> Progress:
        self.began = self.last = time.monotonic()
        self._until = ExitStack()
        if self.shown:
            self._until.enter_context(heard())
        if self.shown and draws_bars():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            console = Console(stderr=True)
            self._narrow = console.width < 80
            room = [] if self._narrow else [BarColumn(bar_width=None)]
            self._bar = Bar(*room, TextColumn("{task.description}"), console=console)
            self._bar.start()
            self._task = self._bar.add_task(str(self), total=max(self.seconds, 1e-9))
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self.shown:
            self._line()
        self._until.close()

    def advance(self, runs: int, samples: int, censored: int, seconds: float) -> None:
        """Some runs ended, or a long one was continued; `seconds` is what was expected of it."""
        self.done += runs
        self.samples += samples
        self.censored += censored
        self.worked += seconds
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, description=str(self), completed=self.worked)
        elif self.shown and now - self.last >= _PAUSE:
            self.last = now
            self._line()

    def __str__(self) -> str:
        took = max(time.monotonic() - self.began, 1e-9)
        text = f"{self.done:,}/{self.runs:,} runs"
        if not self._narrow:
            text += f", {self.samples / took:.2g} samples/s"
        if self.censored:
            text += f", {self.censored:,} censored"
        if self.done < self.runs and self.worked > 0:
            text += f", {clock(took * (self.seconds / self.worked - 1))} left"
        return text

    def _line(self) -> None:
        tell(str(self))


def tell(sentence: str) -> None:
    """One line to the logger "paretoid"."""
    with heard():
        _LOG.info(sentence)


def draws_bars() -> bool:
    """True on a terminal, and in a notebook that can draw a bar (with ipywidgets).

    >>> draws_bars() in (True, False)
    True
    """
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = sys.modules.get("IPython")
    if shell is None or find_spec("ipywidgets") is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def heard() -> Iterator[None]:
    """Meanwhile the lines of paretoid go to standard error, unless logging has been set up.

    >>> with heard():
    ...     _LOG.hasHandlers()
    True
    """
    if _LOG.hasHandlers():
        yield
        return
    handler = logging.StreamHandler()  # standard error, as it is now
    handler.setFormatter(logging.Formatter("paretoid: %(message)s"))
    before = _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(before)
