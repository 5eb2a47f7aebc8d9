"""What all compiled loops do alike: which arm is due, how a goal ends, which k arms come first.

Private. `EngineState.clock` has the arm to sample next, and with two arms a test the one after it.
"""

from __future__ import annotations

from typing import Any

from paretoid.engine.cache import inlined, kernel
from paretoid.engine.program import NEXT, PENDING, TIME


@inlined
def _due(clock: Any) -> Any:
    """The arm to sample now."""
    return clock[NEXT] if clock[NEXT] >= 0 else clock[PENDING]


@inlined
def _taken(clock: Any) -> None:
    """The arm that was due is sampled."""
    clock[NEXT if clock[NEXT] >= 0 else PENDING] = -1


@kernel
def _close(state: Any, r: Any, g: Any) -> None:
    """Goal g of run r has its answer: when, after which samples, and what is certain then."""
    state.stopped[r, g] = True
    state.time[r, g] = state.clock[r, TIME]
    for i in range(state.counts.shape[1]):
        state.pulls[r, g, i] = state.counts[r, i]
        state.verdict[r, g, i] = state.settled[r, i]


@kernel
def _first_k(h: Any, k: Any, answer: Any) -> None:
    """The k arms with the largest lower index, the lowest ones on ties, are the answer."""
    for i in range(len(answer)):
        answer[i] = False
    for _ in range(k):
        best = -1
        for i in range(len(answer)):
            if not answer[i] and (best < 0 or h[i] > h[best]):
                best = i
        answer[best] = True
