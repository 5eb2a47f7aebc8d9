"""Anybody's algorithm, in any language: a program that talks in lines of JSON.

One run, larger is better throughout; `->` is sent to the program, `<-` comes back, a line each:

    -> {"begin": true, "K": 3, "D": 2, "delta": 0.1, "sigma": 0.5, "seed": 7, "scale": [[...], ...]}
    <- {"sample": 0}                     an arm, counted from 0; or {"sample": 0, "size": 20}
    -> {"outcome": [0.31, -0.2]}         or {"outcomes": [[...], ...]}, one for each of the 20
    <- {"answer": [0, 2]}                the arms of the answer; [] is the empty set

`sigma` is the largest scale. With `means=True` the first line has "means" and the program may
simulate by itself; it then says how many samples it took: {"answer": [0, 2], "samples": 310}.
A program is started for every run, or once for all with `long_lived=True`: then the next "begin"
follows the answer, and the end of input says that there are no more.

The program runs with the rights of whoever starts it: nothing here is a sandbox. Run programs that
you do not trust in one of your own.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from paretoid.bandits import Bandit
from paretoid.theory.checks import BoolArray, check_positive
from paretoid.validation.guard import OutOfTime


class CrashedError(Exception):
    """The program ended, or could not be talked to, before it had answered."""


class MalformedError(Exception):
    """The program sent a line that says nothing that can be understood."""


class Program:
    """A program as an `algorithm(bandit, delta, seed)` for `delta_correctness`.

    command     what to start: a text as in a shell, without its other features, or a list
    seconds     a limit on one run: a program that says nothing for so long is stopped
    means       send the true means too, for programs that simulate by themselves
    long_lived  start it once for all runs

    >>> import sys, paretoid as pt
    >>> from paretoid.validation import delta_correctness
    >>> code = "import json; input(); print(json.dumps({'answer': [1], 'samples': 0}))"
    >>> with Program([sys.executable, "-c", code]) as oracle:
    ...     verdict = delta_correctness(oracle, pt.GaussianBandit([[0.0], [1.0]]), max_runs=2)
    >>> verdict.passed, verdict.errors
    (True, 0)
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        seconds: float = 60.0,
        means: bool = False,
        long_lived: bool = False,
    ) -> None:
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise ValueError(f"--program {command!r} cannot be read: {error}.") from None
        if not words or shutil.which(words[0]) is None:
            raise ValueError(
                f"--program {command!r} cannot be started: there is no program "
                f"{words[0] if words else ''!r} here. A path begins with ./ and must be executable."
            )
        self.words = words
        self.seconds = check_positive(seconds, name="seconds", why="it is a limit on one run.")
        self.means, self.long_lived = means, long_lived
        self.__name__ = " ".join(words)
        self._talk: _Talk | None = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program, if it still runs."""
        if self._talk is not None:
            self._talk.end()
            self._talk = None

    def __call__(self, bandit: Bandit, delta: float, seed: int) -> tuple[BoolArray, int]:
        """One run; whatever goes wrong is raised, and the program is started anew afterwards."""
        whole = False
        try:
            if self._talk is None:
                self._talk = _Talk(self.words)
            result = self._run(self._talk, bandit, delta, seed)
            whole = True
        finally:
            if not (whole and self.long_lived):
                self.close()
        return result

    def _run(self, talk: _Talk, bandit: Bandit, delta: float, seed: int) -> tuple[BoolArray, int]:
        deadline = time.monotonic() + self.seconds
        begin: dict[str, Any] = {
            "begin": True, "K": bandit.K, "D": bandit.D, "delta": delta,
            "sigma": float(bandit.scale.max()), "seed": seed, "scale": bandit.scale.tolist(),
        }  # fmt: skip
        if self.means:
            begin["means"] = bandit.oriented.tolist()
        talk.say(begin)
        rng = np.random.default_rng(seed)
        drawn = 0
        while True:
            line = talk.hear(deadline, self.seconds)
            said = _understood(line)
            if "answer" in said:
                return _answer(said, line, bandit.K, drawn)
            arm, size = said.get("sample"), said.get("size", 1)
            if not _whole(arm) or not 0 <= arm < bandit.K or not _whole(size) or size < 1:
                raise MalformedError(
                    f"it sent {_short(line)}, which asks for no arm: 0..{bandit.K - 1}, and a size "
                    f"of at least 1"
                )
            outcomes = (bandit.sample(arm, size, rng) * bandit.sign).tolist()
            drawn += size
            talk.say({"outcomes": outcomes} if "size" in said else {"outcome": outcomes[0]})


def _understood(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedError(f"it sent {_short(line)}, which is no JSON") from None
    if not isinstance(said, dict) or not ("answer" in said or "sample" in said):
        raise MalformedError(f'it sent {_short(line)}, which has neither "sample" nor "answer"')
    return said


def _answer(said: dict[str, Any], line: str, K: int, drawn: int) -> tuple[BoolArray, int]:
    arms, samples = said["answer"], said.get("samples", drawn)
    fits = isinstance(arms, list) and all(_whole(arm) and 0 <= arm < K for arm in arms)
    if not fits or len(set(arms)) < len(arms) or not _whole(samples) or samples < drawn:
        raise MalformedError(
            f"it sent {_short(line)}, which is no answer: a list of different arms of 0..{K - 1}, "
            f"and no fewer samples than it drew"
        )
    return np.isin(np.arange(K), arms), samples


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")


class _Talk:
    """A running program: lines in, lines out, and a thread that waits for them."""

    def __init__(self, words: list[str]) -> None:
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115  (open while it runs)
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints,
                text=True, encoding="utf-8", errors="replace", start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self.complaints.close()
            raise CrashedError(f"it could not be started: {error}") from None
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):  # closed while it was read
            for line in self.process.stdout:
                self.lines.put(line)
        self.lines.put(None)

    def say(self, what: dict[str, Any]) -> None:
        """Send a line; a program that has ended says why in `hear`."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()

    def hear(self, deadline: float, seconds: float) -> str:
        """The next line, before `deadline`."""
        try:
            line = self.lines.get(timeout=max(deadline - time.monotonic(), 1e-3))
        except queue.Empty:
            raise OutOfTime(f"it did not answer within {seconds:g} seconds") from None
        if line is None:
            code = self.process.wait()
            self.complaints.seek(0)
            said = self.complaints.read().decode("utf-8", "replace").strip().splitlines()
            last = f"; its last words: {_short(said[-1])}" if said else ""
            raise CrashedError(f"it ended with code {code} before it had answered{last}")
        return line.strip()

    def end(self) -> None:
        """Stop the program and what it started."""
        for stream in (self.process.stdin,):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            with contextlib.suppress(OSError, ValueError):
                self.process.stdout.close()
        self.complaints.close()
