from __future__ import annotations

import tracemalloc

import numpy as np

import paretoid as pt
from paretoid.runs.feasibility import refuse_endless


def test_a_large_run_allocates_no_table_of_pairs_and_objectives():
    """K = 1000, D = 10: a K x K x D array of floats would be 80 MB, a few of them 200."""
    bandit = pt.BernoulliBandit(np.random.default_rng(0).random((1000, 10)))
    pt.simulate(bandit, max_samples=2)  # compile
    tracemalloc.start()
    try:
        pt.simulate(bandit, pt.ParetoSet(0.1), max_samples=1200)
        run = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.reset_peak()
        refuse_endless(bandit, [pt.ParetoSet(0.1)], pt.Mixture(), 0.1)
        checks = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    assert run < 10  # the run itself keeps nothing of size K x K either
    assert checks < 80
