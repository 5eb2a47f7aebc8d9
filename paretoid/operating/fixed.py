"""The trial of fixed size: as many participants on every arm, and the naive answer at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_epsilon
from paretoid.theory.dominance import pareto_set
from paretoid.theory.gaps import omega
from paretoid.theory.practical import practical_set


def naive_answer(goal: Goal, means: FloatArray, unit: FloatArray) -> BoolArray:
    """What one would answer from estimated means alone, larger is better.

    The arms that no other exceeds by more than half the margin in every objective: optimal arms
    must be in, arms beyond the margin out, and half of it is as far from either mistake. Without
    a margin that is the estimated Pareto set. Where k arms are asked for and there are more, those
    with the largest omega in units of the scales; for `PracticalSet` the estimated one.

    >>> means = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])
    >>> naive_answer(ParetoSet(), means, np.ones(2)), naive_answer(ParetoSet(1.2), means, 1.0)
    (array([ True,  True, False]), array([ True,  True,  True]))
    >>> naive_answer(AtMost(1), np.array([[3.0, 0.0], [0.0, 1.0]]), np.ones(2))
    array([ True, False])
    """
    if isinstance(goal, PracticalSet):
        return np.asarray(practical_set(means, goal.margin))
    kept = pareto_set(means, as_epsilon(goal.eps1, means.shape[1]) / 2)
    if isinstance(goal, AtMost) and kept.sum() > goal.k:
        clear = np.where(kept, omega(means / unit), -np.inf)
        return np.isin(np.arange(len(means)), np.argsort(-clear, kind="stable")[: goal.k])
    return kept


def naive_words(goals: Sequence[Goal]) -> str:
    """What the naive answer to these goals is, in one sentence; the definition is `naive_answer`.

    >>> print(naive_words([ParetoSet()]))
    The naive answer takes estimated means for the truth: the arms that no other exceeds in every \
endpoint.
    """
    kept = "the arms that no other exceeds in every endpoint"
    if any(isinstance(goal, PracticalSet) for goal in goals):
        kept = "the arms that the goal's margin keeps"
    elif any(np.any(goal.eps1) for goal in goals):
        kept = "the arms that no other exceeds by more than half the margin in every endpoint"
    few = " and, where k arms are asked for and there are more, the k clearest of them"
    some = any(isinstance(goal, AtMost) for goal in goals)
    return f"The naive answer takes estimated means for the truth: {kept}{few * some}."


def has_naive_answer(goal: Goal) -> bool:
    """True for goals of ours without limits; nobody knows what else one would answer naively.

    >>> has_naive_answer(ParetoSet())
    True
    """
    return goal.limits is None and type(goal) in (ParetoSet, AtMost, Cover, PracticalSet)


def equal_allocation(samples: int, K: int) -> IntArray:
    """(K,) participants of each arm; the first arms have one more where K does not divide.

    >>> equal_allocation(10, 4).tolist()
    [3, 3, 2, 2]
    """
    return samples // K + (np.arange(K) < samples % K).astype(np.int64)


def fixed_trials(
    bandits: list[Bandit],
    goal: Goal,
    samples: int,
    runs: int,
    seed: int,
    conduct: Conduct | None = None,
) -> dict[str, Any]:
    """`runs` trials of fixed size, one of each bandit or all of the one there is.

    Returns (R,) and (R, K) arrays by name, as `simulate` has them for one goal: stopping_time,
    stopped (False: an arm lost all its outcomes of an objective), answer, correct, pulls,
    duration. Nothing is settled: a naive answer says of no single arm how sure it is.

    >>> from paretoid import GaussianBandit
    >>> trials = fixed_trials([GaussianBandit([[0.0], [9.0]])], ParetoSet(), 20, 3, seed=1)
    >>> trials["answer"].tolist(), trials["pulls"][0].tolist()
    ([[False, True], [False, True], [False, True]], [10, 10])
    """
    first = bandits[0]
    K, D = first.K, first.D
    pulls = equal_allocation(samples, K)
    dropout, missing = np.zeros(K), np.zeros(D)
    duration = np.nan
    if conduct is not None:
        dropout, missing = conduct.lost(first.arms, first.objectives)
        duration = conduct.day_of(samples) + float(conduct.delays(first.objectives).max())
    loses = bool(dropout.any() or missing.any())
    answer, correct = np.zeros((runs, K), dtype=np.bool_), np.zeros(runs, dtype=np.bool_)
    stopped = np.zeros(runs, dtype=np.bool_)
    for run in range(runs):
        bandit = bandits[run % len(bandits)]
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(15, run)))
        means = np.empty((K, D))
        for arm in range(K):
            outcomes = bandit.sample(arm, int(pulls[arm]), rng)
            if loses:
                chance = rng.random((len(outcomes), 1 + D))
                gone = (chance[:, :1] < dropout[arm]) | (chance[:, 1:] < missing)
                outcomes = np.where(gone, np.nan, outcomes)
            known = np.isfinite(outcomes).sum(axis=0)
            with np.errstate(invalid="ignore"):
                means[arm] = np.nansum(outcomes, axis=0) / known
        if np.isfinite(means).all():
            unit = np.sqrt((bandit.scale**2).mean(axis=0))
            answer[run] = naive_answer(goal, means * bandit.sign, unit)
            correct[run] = goal.is_correct(answer[run], bandit.oriented)
            stopped[run] = True
    return {
        "stopping_time": np.full(runs, int(pulls.sum())), "stopped": stopped, "answer": answer,
        "correct": correct, "pulls": np.tile(pulls, (runs, 1)),
        "duration": np.full(runs, duration),
    }  # fmt: skip
