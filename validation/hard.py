"""Bandits on which a flawed algorithm errs: what to test an algorithm on that promises a delta.

On an easy bandit anybody is right: one that takes 20 samples of every arm and guesses keeps its
delta there, and a test on it says nothing. Wrong answers are likeliest at ties, where a run goes on
and on. Where arms tie, nobody has to answer: a correct algorithm draws until its budget is gone,
and the budget is part of the bandit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.theory.checks import as_epsilon, check_count, check_delta

#: samples of one run at a tie: enough for looking again and again to go wrong
TIE_BUDGET = 2_000
#: a margin is so much of the scale, and runs at a tie end
MARGIN = 0.3
CORRELATION = 0.99


@dataclass(frozen=True)
class HardBandit:
    """A bandit with a name, samples for one run, and whether a run must answer within them.

    Where `must_answer` is False a run that is stopped by the budget, or gives up, is without an
    answer: that is neither wrong nor a fault.

    >>> hard_bandits(2, 1)[2]
    HardBandit(exact tie: K=2, D=1, 2,000 samples)
    """

    name: str
    bandit: Bandit
    budget: int
    must_answer: bool = False

    def __repr__(self) -> str:
        size = f"K={self.bandit.K}, D={self.bandit.D}"
        return f"{type(self).__name__}({self.name}: {size}, {self.budget:,} samples)"


def hard_bandits(
    K: int, D: int, delta: float = 0.1, *, eps1: float = 0.0
) -> tuple[HardBandit, ...]:
    """Gaussian bandits of K arms and D objectives for `delta_correctness`, always the same ones.

    eps1    the margin of the goal. With one, ties are no obstacle to an answer: the outcomes are
            given a scale at which runs end, and arms just beyond the margin join

    | name | what is hard | who must answer |
    |---|---|---|
    | clear | nothing: every gap is a scale or more | everybody |
    | near tie | the two best differ by a little in every objective | nobody, most can |
    | exact tie | the two best are the same: both are optimal | nobody; at eps1 = 0 no one can |
    | unequal scales | the same with scales 1 and 1/5 | the same |
    | ahead by a hair | one arm is optimal by a last objective alone, D > 1 | the same |
    | crowd | all arms are the same, K > 2 | the same |
    | beyond the margin | all but the best are just beyond eps1, which is more than 0 | nobody |

    The gap of the near tie, 4 sqrt(log(K (K - 1) D/delta)/1000), is one that our engine takes some
    1,000 samples of the two arms to tell. Objectives are correlated where arms are the same in all.

    >>> [hard.name for hard in hard_bandits(2, 1)]
    ['clear', 'near tie', 'exact tie', 'unequal scales']
    >>> [hard.name for hard in hard_bandits(3, 2, eps1=0.5)][-3:]
    ['ahead by a hair', 'crowd', 'beyond the margin']
    >>> hard_bandits(2, 1)[1].bandit.means.round(4).tolist()    # log 20 = 2.9957
    [[0.0], [-0.2189]]

    An algorithm that takes 20 samples of each arm and guesses:

    >>> from paretoid import theory, validation
    >>> def guess(bandit, delta, seed):
    ...     rng = np.random.default_rng(seed)
    ...     x = np.array([bandit.sample(arm, 20, rng).mean(axis=0) for arm in range(bandit.K)])
    ...     return theory.pareto_set(x * bandit.sign), 20 * bandit.K
    >>> verdict = validation.delta_correctness(guess, hard_bandits(2, 1), max_runs=60)
    >>> print(verdict.words)
    REJECTED: P(wrong) exceeds delta=0.1 on 2 of these 4 bandits
    """
    K = check_count(K, name="K", least=2, why="a tie needs two arms.")
    D = check_count(D, name="D", why="an arm needs an objective.")
    delta = check_delta(delta)
    eps1 = float(as_epsilon(eps1, 1)[0])
    unit = eps1 / MARGIN if eps1 else 1.0
    gap = 4 * math.sqrt(math.log(K * (K - 1) * D / delta) / (TIE_BUDGET / 2))
    covariance = np.full((D, D), CORRELATION) + (1 - CORRELATION) * np.eye(D)
    budget = TIE_BUDGET if not eps1 else TIE_BUDGET * max(K, 4)

    tie = np.full((K, D), -3.0)
    tie[:2] = 0.0
    near, hair = tie.copy(), tie.copy()
    near[1] = -gap
    hair[0, :-1], hair[1, -1] = 3.0, gap / 100 if D > 1 else 0.0
    clear = -2.0 * np.arange(K)[:, None] * np.ones(D)
    if D > 1:
        clear[:, 0] = np.where(np.arange(K) % 3 == 2, clear[:, 0], -clear[:, 0])
    scales = np.where(np.arange(K) % 2, 1.0, 0.2)[:, None] * np.ones(D)

    def same(means: Any) -> Bandit:
        return GaussianBandit(means * unit, covariance=covariance * unit**2)

    def own(means: Any, scale: Any = 1.0) -> Bandit:
        return GaussianBandit(means * unit, scale=scale * unit)

    found = [
        HardBandit("clear", own(clear), 20_000 * K, must_answer=True),
        HardBandit("near tie", same(near), max(2 * TIE_BUDGET, budget)),
        HardBandit("exact tie", same(tie), budget),
        HardBandit("unequal scales", own(hair, scales), budget),
    ]
    if D > 1:
        found.append(HardBandit("ahead by a hair", own(hair), budget))
    if K > 2:
        found.append(HardBandit("crowd", same(np.zeros((K, D))), budget))
    if eps1:
        beyond = np.full((K, D), -1.001 * MARGIN)
        beyond[0] = 0.0
        found.append(HardBandit("beyond the margin", same(beyond), budget))
    return tuple(found)
