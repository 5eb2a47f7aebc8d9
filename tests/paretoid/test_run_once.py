from __future__ import annotations

import numpy as np

import paretoid as pt
from paretoid.theory import pareto_set

BANDIT = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-0.4, -0.3]], 0.4, arms=["a", "b", "c"])
TWO = pt.Mixture(sides="two")  # finite from the first sample on


def test_a_trace_can_be_replayed_by_hand():
    """From arms and outcomes alone: counts, the empirical Pareto set, the less sampled of b, c."""
    run = pt.run_once(BANDIT, radius=TWO, seed=5)
    assert len(run.arm) == run.stopping_time == run.pulls.sum()
    assert run.arm[:3].tolist() == [0, 1, 2]
    assert (run.b[:2] == -1).all()
    assert np.isnan(run.Z1[:2]).all()
    counts, sums = np.zeros(3), np.zeros((3, 2))
    for t, (arm, outcome) in enumerate(zip(run.arm, run.outcome, strict=True)):
        counts[arm] += 1
        sums[arm] += outcome
        if t < 2:
            continue
        assert run.size_S[t] == pareto_set(sums / counts[:, None]).sum()
        if t + 1 < len(run.arm):
            b, c = run.b[t], run.c[t]
            assert run.arm[t + 1] == (b if counts[b] <= counts[c] else c)
    assert run.answer.tolist() == [True, True, False]
    assert run.correct
    assert repr(run).startswith("Run(ParetoSet(eps1=0), ")
    assert "answer=['a', 'b'], proved" in repr(run)


def test_opt_only_shows_on_the_way_and_the_index_ends_negative():
    run = pt.run_once(BANDIT, radius=TWO, seed=5)
    assert run.size_OPT[-1] == 2
    assert run.index[-1] < 0
    assert (run.index[2:-1] >= 0).all()


def test_both_pulls_b_then_c():
    run = pt.run_once(BANDIT, radius=TWO, rule=pt.APE(pull="both"), seed=5)
    for t in range(2, run.stopping_time - 2, 2):
        assert run.arm[t + 1 : t + 3].tolist() == [run.b[t], run.c[t]]


def test_a_budget_shows_in_the_run():
    run = pt.run_once(BANDIT, radius=TWO, seed=5, max_samples=10)
    assert not run.stopped
    assert not run.correct
    assert not run.answer.any()
    assert "stopped=False" in repr(run)
