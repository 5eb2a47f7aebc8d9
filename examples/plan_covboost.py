"""From the table a paper prints to the size of the next trial.

Run with: python examples/plan_covboost.py
"""

import paretoid as pt
from paretoid.estimation import fit, load_trial, pareto_probability, plan, posterior_check


def main() -> None:
    trial = load_trial("covboost-groupB")  # or TrialSummary.read_csv("my_trial.csv")
    print(trial, "-", trial.citation)

    posterior = fit(trial, progress=True)  # ArviZ's own object
    tail = posterior_check(posterior).tail_probability
    print(f"published numbers lie between the {float(tail.min()):.0%} and {float(tail.max()):.0%} "
          f"quantiles of what the model would report")  # fmt: skip

    print(pareto_probability(posterior, fold=1.5).optimal.to_series().round(3).to_string())

    planned = plan(posterior, [pt.ParetoSet(), pt.AtMost(2)], delta=0.1, fold=1.5)
    for goal in planned.goal.values:
        each = planned.sel(goal=goal)
        print(f"{goal}: {float(each.samples_needed.sel(assurance_level=0.9)):,.0f} participants "
              f"for 90% assurance, {float(each.censored):.1%} not settled")  # fmt: skip
    print(planned.attrs["guarantee_in_words"])


if __name__ == "__main__":
    main()
