"""The compiled loops take the same arms, stop at the same times, answer the same: bit for bit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from paretoid import loop
from paretoid.engine.program import CONSTANT_OUTCOMES, FINISHED, RUNNING, STATUS, TIME, new_state
from paretoid.runs.chunk import Engine
from paretoid.runs.setting import Setting
from paretoid.theory.checks import FloatArray, IntArray


def assert_engine_equals_loop(
    setting: Setting, noise: FloatArray, cuts: Iterable[int] = ()
) -> loop.History:
    """Run `noise` through the compiled loop, in blocks that end at `cuts`, and the readable one.

    Raises AssertionError at the first difference; returns what happened.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[0.0], [2.0]])
    >>> setting = Setting(bandit, (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 0.1, 50)
    >>> noise = np.random.default_rng(1).standard_normal((50, 1))
    >>> assert_engine_equals_loop(setting, noise, [7, 20]).stops[0].answer
    array([False,  True])
    """
    if not setting.compiled:
        raise ValueError(f"{setting} has no compiled loop, so there is nothing to compare.")
    unused = np.random.default_rng(0)  # rules that run compiled take no chances
    outcomes = loop.outcomes_of(setting.bandit, noise)
    try:
        expected = loop.run(setting, outcomes, unused)
    except loop.ConstantOutcomesError:
        expected = None
    engine = Engine(setting)
    state, only = new_state(engine.program, 1), np.zeros(1, dtype=np.int64)
    arms: list[IntArray] = []
    edges = [0, *sorted(cuts), len(noise)]
    try:
        for first, last in pairwise(edges):
            if state.clock[0, STATUS] != RUNNING or first == last:
                continue
            trace, before = np.empty((1, last - first), np.int64), int(state.clock[0, TIME])
            engine.advance(state, only, noise[None, first:last], trace)
            arms.append(trace[0, : int(state.clock[0, TIME]) - before])
    except loop.ConstantOutcomesError:
        assert expected is None, "the compiled loop alone saw constant outcomes"
        return loop.History()
    assert state.clock[0, STATUS] != CONSTANT_OUTCOMES
    assert expected is not None, "the readable loop alone saw constant outcomes"
    assert np.concatenate([*arms, np.zeros(0, np.int64)]).tolist() == expected.arms
    for g, stop in enumerate(expected.stops):
        assert bool(state.stopped[0, g]) == (stop is not None), setting.goals[g]
        if stop is not None:
            assert state.time[0, g] == stop.time, setting.goals[g]
            assert (state.answer[0, g] == stop.answer).all(), setting.goals[g]
            assert (state.pulls[0, g] == stop.pulls).all(), setting.goals[g]
            assert state.verdict[0, g].tolist() == stop.settled.tolist(), setting.goals[g]
    for settled in expected.settled:
        assert state.settled[0].tolist() == settled.tolist()
    finished = all(stop is not None for stop in expected.stops)
    assert (state.clock[0, STATUS] == FINISHED) == finished
    return expected
