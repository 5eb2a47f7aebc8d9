"""Certify an identification algorithm written by somebody else, and ours.

The first is a rule many would write in an afternoon: sample every arm n times, return the arms
whose empirical means nobody beats. Its author claims "95% sure". The second adds a union bound
and a Hoeffding interval at a fixed n, and stops only for gaps it is told beforehand. The third is
paretoid's engine. Run it:

    python examples/certify_your_own.py
"""

import math

import numpy as np

import paretoid as pt
from theory import gaps, pareto_set
from validation import delta_correctness, engine


def naive(bandit, delta, seed):
    """Sample each arm n times and believe the averages."""
    rng = np.random.default_rng(seed)
    n = math.ceil(10 * math.log(1 / delta))
    averages = np.array([bandit.sample(arm, n, rng).mean(axis=0) for arm in range(bandit.K)])
    return pareto_set(averages * bandit.sign), bandit.K * n


def planned(gap):
    """The same with n from a union bound over all differences, for gaps of at least `gap`."""

    def fixed_design(bandit, delta, seed):
        rng = np.random.default_rng(seed)
        s = float(bandit.scale.max())
        pairs = bandit.K * (bandit.K - 1) * bandit.D / 2
        n = math.ceil(4 * s**2 * math.log(2 * pairs / delta) / gap**2)
        averages = np.array([bandit.sample(arm, n, rng).mean(axis=0) for arm in range(bandit.K)])
        return pareto_set(averages * bandit.sign), bandit.K * n

    return fixed_design


def main() -> None:
    easy = pt.GaussianBandit([[4.0, 0.0], [0.0, 4.0], [-2.0, -2.0]])
    hard = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.9, -0.1], [-0.3, 0.7]])
    gap = float(gaps(hard.oriented).min())
    for algorithm in (naive, planned(gap), engine()):
        verdict = delta_correctness(algorithm, [easy, hard], delta=0.05, max_runs=200, seed=1)
        print(verdict.summary(), end="\n\n")


if __name__ == "__main__":
    main()
