"""What a long campaign tells while it runs: a Rich bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

from paretoid.text import clock

#: seconds between two lines when standard error is no terminal
_PAUSE = 10.0


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
        if self.shown and sys.stderr.isatty():
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
    """One line on standard error."""
    print(f"paretoid: {sentence}", file=sys.stderr, flush=True)
