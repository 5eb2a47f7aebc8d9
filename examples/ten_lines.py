# %% [markdown]
# # Ten lines: an instance, APE, the answer
#
# Four treatments, two outcomes, both better when larger. A and B are each best at something, C is
# a compromise that neither beats in both, D is beaten in both. So the Pareto set is A, B, C, which
# the experiment has to find out from noisy measurements.

# %%
import paretoid as pt

bandit = pt.GaussianBandit(
    means=[[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [0.1, 0.1]],  # arms x objectives
    scale=0.5,  # standard deviation of one measurement
    arms=["A", "B", "C", "D"],
    objectives=["efficacy", "safety"],
)
run = pt.run_once(bandit, pt.ParetoSet(), delta=0.1, seed=1)
print(run)

# %% [markdown]
# `proved` is the radius's word: an answer is wrong with probability at most `delta`. Adaptive
# sampling went where the question was hard:

# %%
print("samples per arm:", dict(zip(bandit.arms, run.pulls.tolist(), strict=True)))

# %% [markdown]
# One experiment says little about what to expect. The same a thousand times, and at the same time
# the easier question "name me one optimal arm", read off the same samples:

# %%
runs = pt.simulate(bandit, [pt.ParetoSet(), pt.AtMost(k=1)], replications=1000, seed=1)
print(runs.stopping_time.mean("replication").to_series().round(1).to_string())
print("wrong answers:", int((~runs.correct).sum()), "of", runs.correct.size)
