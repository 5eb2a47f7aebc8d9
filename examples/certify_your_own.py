# %% [markdown]
# # Regression-test your own algorithm
#
# An identification algorithm promises "wrong with probability at most delta". Three that make this
# promise are put to the test: a rule that many would write in an afternoon, a planned design, and
# paretoid's engine. An algorithm is any function of a bandit, delta and a seed that returns a mask
# of arms and the number of samples.

# %%
import math

import numpy as np

import paretoid as pt
from paretoid.theory import gaps, pareto_set
from paretoid.validation import assert_delta_correct, delta_correctness, engine

# %% [markdown]
# **Naive**: sample every arm n times, return the arms whose averages nobody beats. "95% sure."


# %%
def naive(bandit, delta, seed):
    """Sample each arm n times and believe the averages."""
    rng = np.random.default_rng(seed)
    n = math.ceil(10 * math.log(1 / delta))
    averages = np.array([bandit.sample(arm, n, rng).mean(axis=0) for arm in range(bandit.K)])
    return pareto_set(averages * bandit.sign), bandit.K * n


# %% [markdown]
# **Planned**: the same with n from a union bound, right if no gap is smaller than it was told.


# %%
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


# %% [markdown]
# The promise must hold on every bandit, so choose hard ones. The test is sequential: it stops as
# soon as an algorithm is found out, and rejects a correct one with probability at most 1e-6.

# %%
easy = pt.GaussianBandit([[4.0, 0.0], [0.0, 4.0], [-2.0, -2.0]])
hard = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.9, -0.1], [-0.3, 0.7]])
gap = float(gaps(hard.oriented).min())
for algorithm in (naive, planned(gap), engine()):
    verdict = delta_correctness(algorithm, [easy, hard], delta=0.05, max_runs=200, seed=1)
    print(verdict.summary(), end="\n\n")

# %% [markdown]
# **In your test suite** one line does it. It raises `AssertionError` with the summary above unless
# the algorithm passes; with paretoid installed, pytest also has a fixture `delta_correct` and
# lists at the end of its run what was certified (validation/README.md).


# %%
def test_my_algorithm():
    assert_delta_correct(planned(gap), [easy, hard], delta=0.05, max_runs=120)


test_my_algorithm()
print("test_my_algorithm passed")
