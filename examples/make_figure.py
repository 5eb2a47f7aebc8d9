"""The figure of the README: python examples/make_figure.py [examples/figure.png].

Left, the ten lines of the README: what one adaptive experiment saw and answered. Right, how long
it takes on the COV-BOOST instance to know one booster, two, or the whole Pareto set.
"""

from __future__ import annotations

import sys
from pathlib import Path

import paretoid as pt


def main(arguments: list[str]) -> None:
    from matplotlib.figure import Figure

    path = Path(arguments[0]) if arguments else Path(__file__).with_name("figure.png")
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)

    bandit = pt.GaussianBandit(
        means=[[1.0, 0.0], [0.0, 1.0], [0.6, 0.7], [0.1, 0.1]],
        scale=0.5,
        arms=["A", "B", "C", "D"],
        objectives=["efficacy", "safety"],
    )
    pt.plots.front(pt.run_once(bandit, pt.ParetoSet(), delta=0.1, seed=1), ax=left)

    goals = [pt.AtMost(1), pt.AtMost(2), pt.ParetoSet()]
    runs = pt.simulate(pt.load_instance("covboost"), goals, replications=200, seed=1)
    pt.plots.stopping_times(runs, ax=right)

    figure.savefig(path, dpi=100)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
