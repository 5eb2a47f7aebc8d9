# %% [markdown]
# # From the table a paper prints to the size of the next trial
#
# COV-BOOST compared booster vaccines on antibodies and T cells. Its published summaries (means,
# intervals, numbers of participants) are bundled; your own go in as a CSV,
# `TrialSummary.read_csv("my_trial.csv")`. On the command line all of this is `paretoid plan`.

# %%
import paretoid as pt
from paretoid.estimation import fit, load_trial, pareto_probability, plan, posterior_check

trial = load_trial("covboost-groupB")
print(trial, "-", trial.citation)

# %% [markdown]
# **Fit.** A Bayesian model of what the paper reports; the result is ArviZ's own object. Before
# believing it: would the fitted model have reported numbers like the published ones?


# %%
def fitted():
    posterior = fit(trial, progress=True)
    tail = posterior_check(posterior).tail_probability
    print(
        f"published numbers lie between the {float(tail.min()):.0%} and {float(tail.max()):.0%} "
        f"quantiles of what the model would report"
    )
    print(pareto_probability(posterior, fold=1.5).optimal.to_series().round(3).to_string())
    return posterior


# %% [markdown]
# **Plan.** Adaptive trials are simulated on draws of the posterior, so that not knowing the truth
# is part of the answer. The margin is 1.5-fold (`fold=1.5`): an arm is within it unless another
# arm is better by more than 1.5-fold in every endpoint at once, so being close in one endpoint is
# enough. Two goals, read off the same simulated samples: the whole Pareto set, or any two of its
# arms.


# %%
def planned(posterior):
    found = plan(posterior, [pt.ParetoSet(), pt.AtMost(2)], delta=0.1, fold=1.5)
    for goal in found.goal.values:
        each = found.sel(goal=goal)
        print(
            f"{goal}: {float(each.samples_needed.sel(assurance_level=0.9)):,.0f} participants "
            f"for 90% assurance, {float(each.censored):.1%} censored"
        )
    return found


# %% [markdown]
# **What the promise rests on** is written into the result.

# %%
if __name__ == "__main__":  # sampling uses processes, which import this file again
    print(planned(fitted()).attrs["guarantee_in_words"])
