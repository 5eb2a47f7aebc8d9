"""A bandit that counts and remembers what is drawn from it, and limits on a run."""

from __future__ import annotations

import copy
import hashlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.theory.checks import FloatArray, check_count, check_positive


class OutOfBudget(BaseException):
    """Raised inside an algorithm that draws more than its budget; no `except Exception` eats it.

    >>> import numpy as np, paretoid as pt
    >>> from paretoid import validation
    >>> def endless(bandit, delta, seed):
    ...     while True:
    ...         bandit.sample(0, 100, seed)
    >>> bandit = pt.GaussianBandit([[0.0], [1.0]])
    >>> verdict = validation.delta_correctness(endless, bandit, budget=1000, max_runs=2)
    >>> verdict.faults[0].kind, verdict.faults[0].detail
    ('unfinished', 'it drew more than its budget of 1000 samples')
    """


class OutOfTime(OutOfBudget):
    """Raised inside an algorithm that takes longer than it may."""


def guarded(bandit: Bandit, budget: int) -> Any:
    """A copy of `bandit` that counts and remembers what is drawn, up to `budget` samples.

    >>> import paretoid as pt
    >>> copy = guarded(pt.GaussianBandit([[0.0], [1.0]]), budget=10)
    >>> _ = copy.sample(0, 7, 1)
    >>> copy.drawn
    7
    """
    kind = type(bandit)
    inside = threading.local()  # a `draw` that calls `fill` is one sample, not two

    def charge(self: Any, samples: int) -> None:
        with self.drawn_lock:
            self.__dict__["drawn"] = self.drawn + samples
        if self.drawn > budget:
            raise OutOfBudget(f"it drew more than its budget of {budget} samples")

    def fill(self: Any, rng: np.random.Generator, noise: FloatArray) -> None:
        if not getattr(inside, "draw", False):
            charge(self, len(noise))
        kind.fill(self, rng, noise)
        with self.drawn_lock:
            self.drawn_noise.update(noise.tobytes())

    def draw(self: Any, rng: np.random.Generator, arm: int) -> FloatArray:
        charge(self, 1)
        with self.drawn_lock:
            self.drawn_noise.update(_position(rng))
        inside.draw = True
        try:
            outcome: FloatArray = kind.draw(self, rng, arm)
        finally:
            inside.draw = False
        return outcome

    given = copy.copy(bandit)
    for name, value in given.__dict__.items():
        if isinstance(value, np.ndarray):  # its own, whatever is done to it
            given.__dict__[name] = value.copy()
            given.__dict__[name].setflags(write=value.flags.writeable)
    given.__class__ = _with(kind, bandit, fill, draw)
    given.__dict__.update(
        drawn=0, drawn_noise=hashlib.blake2b(digest_size=16), drawn_lock=threading.Lock()
    )
    return given


def _with(kind: type[Any], bandit: Bandit, fill: Any, draw: Any) -> type[Any]:
    """`kind` with another `fill`, and another `draw` where that is what draws outcomes.

    One that draws noise in blocks keeps its `draw`: with a new one it would draw singly.
    """
    methods = {"fill": fill, "draw": draw} if bandit.draws_singly else {"fill": fill}
    return type(kind.__name__, (kind,), methods)


def _position(rng: np.random.Generator) -> bytes:
    """Where a stream stands; outcomes would not do, as two runs may see the same few coins."""
    return repr(rng.bit_generator.state).encode()


def fingerprint(bandit: Any) -> tuple[Any, ...]:
    """The state of a bandit, apart from what its guard counts.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[0.0], [1.0]])
    >>> fingerprint(bandit) == fingerprint(guarded(bandit, 10))
    True
    """
    own = {k: v for k, v in bandit.__dict__.items() if not k.startswith("drawn")}
    return tuple(
        (name, value.tobytes() if isinstance(value, np.ndarray) else repr(value))
        for name, value in sorted(own.items())
    )


#: the longest time limit in seconds, a year: timers of some systems know no longer one
LONGEST = 365 * 86_400.0


def check_timer(seconds: Any) -> float:
    """A time limit as a float; refused where runs cannot be interrupted, or not so late."""
    limit = check_positive(
        seconds, name="seconds", most=LONGEST,
        why="it is a limit on one run, and no timer runs for more than a year. Leave it out for "
        "none.",
    )  # fmt: skip
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        raise ValueError(
            "seconds= needs the main thread and a system with timers (Unix): without them a run "
            "that loops without drawing cannot be interrupted. Leave it out and rely on budget=."
        )
    return limit


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` in the body after so many seconds; None is no limit."""
    if seconds is None:
        yield
        return

    def ring(*_: object) -> None:
        raise OutOfTime(f"it took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def assert_independent_replications(
    simulate: Callable[..., Any], bandit: Bandit, replications: int = 16, seed: int = 0
) -> None:
    """No two replications of `simulate(bandit, replications=, seed=)` draw the same noise.

    `simulate` is `paretoid.simulate` or anything called like it that draws from `bandit`.

    >>> import paretoid as pt
    >>> assert_independent_replications(pt.simulate, pt.GaussianBandit([[0.0], [2.0]]))
    """
    check_count(replications, name="replications", least=2, why="one has nothing to share.")
    given = guarded(bandit, budget=1 << 60)
    kind = type(given)
    first: dict[int, bytes] = {}
    lock = threading.Lock()

    streams: list[Any] = []

    def note(rng: np.random.Generator, beginning: bytes) -> None:
        with lock:
            streams.append(rng)  # kept alive, so that identities stay different
            first.setdefault(id(rng), beginning)

    def fill(self: Any, rng: np.random.Generator, noise: FloatArray) -> None:
        kind.fill(self, rng, noise)
        note(rng, noise[0].tobytes())

    def draw(self: Any, rng: np.random.Generator, arm: int) -> FloatArray:
        note(rng, _position(rng))
        outcome: FloatArray = kind.draw(self, rng, arm)
        return outcome

    given.__class__ = _with(kind, bandit, fill, draw)
    simulate(given, replications=replications, seed=seed)
    different = len(set(first.values()))
    # One stream may be drawn twice: compiling beforehand, say.
    if different < replications:
        raise AssertionError(
            f"{replications} replications drew only {different} different streams of noise: seeds "
            f"are shared, so the replications are copies and every interval built on them lies."
        )
