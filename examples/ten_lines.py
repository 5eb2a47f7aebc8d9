"""The shortest road: an instance, one adaptive experiment, the answer, and what it cost."""

import paretoid as pt

bandit = pt.GaussianBandit(
    means=[[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [0.1, 0.1]],  # arms x objectives
    scale=0.5,
    arms=["A", "B", "C", "D"],
    objectives=["efficacy", "safety"],
)
run = pt.run_once(bandit, pt.ParetoSet(), delta=0.1, seed=1)
print(run)
print("samples per arm:", dict(zip(bandit.arms, run.pulls.tolist(), strict=True)))

# The same question asked a thousand times: how long does it take, how often is it wrong?
runs = pt.simulate(bandit, [pt.ParetoSet(), pt.AtMost(k=1)], replications=1000, seed=1)
print(runs.stopping_time.mean("replication").to_series().round(1).to_string())
print("wrong answers:", int((~runs.correct).sum()), "of", runs.correct.size)
