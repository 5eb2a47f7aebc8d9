"""How often is the answer wrong after N samples? EGE, uniform sampling, and APE cut short.

    python -m paretoid.validation.fixed_budget [--full] [--out DIR]

writes fixed_budget.md, fixed_budget.json and fixed_budget.png into the current directory. On
COV-BOOST every run is another experiment on the same means; on random Bernoulli instances
(K = 5, 10, 50, D = 2, means uniform on [0, 1]) every run has an instance of its own, the same for
all algorithms. "APE" and "uniform" answer at N with their answer if they have stopped by then, and
with their best guess otherwise; "APE certain" is the share of arms that APE has settled by then.
Intervals are Clopper and Pearson's, 95%. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import paretoid as pt
from paretoid import text
from paretoid.intervals import share
from paretoid.rules.ege import leaving
from paretoid.theory import budget_error_bound, budget_lower_bound, schedule
from paretoid.theory.checks import BoolArray
from paretoid.validation.experiment import options
from paretoid.validation.paper.setting import random_bandits
from paretoid.view import divisors
from paretoid.writing import write_text

GOALS = [pt.ParetoSet(), pt.AtMost(2)]
#: samples of a budget, for each arm
EACH = (25, 50, 100, 250, 500, 1000)
ALGORITHMS = ("EGE-SR", "EGE-SH", "uniform", "APE")
RULES = {"uniform": pt.RoundRobin(), "APE": pt.APE()}


def ege_answer(
    bandit: pt.Bandit, scheme: str, budget: int, rng: np.random.Generator
) -> tuple[BoolArray, list[int]]:
    """(answer, accepted arms in order) of one run of EGE, its phases drawn at once.

    The same eliminations as `paretoid.EGE`, without a test after every round: many times faster.

    >>> bandit = pt.GaussianBandit([[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]])
    >>> ege_answer(bandit, "SR", 43, np.random.default_rng(1))[0]
    array([ True,  True, False])
    """
    active, accepted = list(range(bandit.K)), []
    unit, sign = divisors(bandit), bandit.sign
    sums, before = np.zeros((bandit.K, bandit.D)), 0
    for _, samples, left in schedule(scheme, bandit.K, budget):
        if samples > before:
            for arm in active:
                sums[arm] += bandit.sample(arm, samples - before, rng).sum(axis=0) * sign
        before = samples
        order, above = leaving(sums[active] / samples / unit, left)
        accepted += [active[at] for at in order if above[at] < 0]
        gone = {active[at] for at in order}
        active = [arm for arm in active if arm not in gone]
    accepted += active
    return np.isin(np.arange(bandit.K), accepted), accepted


def wrong_answers(
    bandits: Sequence[pt.Bandit], budgets: Sequence[int], seed: int
) -> tuple[dict[str, Any], list[float]]:
    """By algorithm (budget, goal, run) whether the answer is wrong; and what APE has settled."""
    wrong = {name: np.zeros((len(budgets), len(GOALS), len(bandits)), bool) for name in ALGORITHMS}
    settled = np.zeros((len(budgets), len(bandits)))
    for r, bandit in enumerate(bandits):
        for name, rule in RULES.items():
            runs = pt.anytime(bandit, budgets, GOALS, rule=rule, seed=seed + r)
            wrong[name][:, :, r] = ~runs.correct.values[:, :, 0]
            if name == "APE":
                settled[:, r] = np.abs(runs.settled.values[:, 0]).mean(axis=1)
        for s, scheme in enumerate(("SR", "SH")):
            for b, budget in enumerate(budgets):
                rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r, s, b)))
                answer, accepted = ege_answer(bandit, scheme, budget, rng)
                for g, goal in enumerate(GOALS):
                    if isinstance(goal, pt.AtMost):
                        answer = np.isin(np.arange(bandit.K), accepted[: goal.k])
                    right = goal.is_correct(answer, bandit.oriented)
                    wrong[f"EGE-{scheme}"][b, g, r] = not right
    return wrong, settled.mean(axis=1).tolist()


def measure(full: bool, seed: int) -> list[dict[str, Any]]:
    """A row for every problem, goal, budget and algorithm, with the bounds on COV-BOOST."""
    runs = 1000 if full else 100
    covboost = pt.load_instance("covboost")
    problems: dict[str, Sequence[pt.Bandit]] = {"COV-BOOST": [covboost] * runs}
    for K in (5, 10, 50):
        problems[f"random, K = {K}"] = random_bandits(runs, K, 2, seed)
    rows = []
    for problem, bandits in problems.items():
        budgets = [each * bandits[0].K for each in EACH]
        wrong, settled = wrong_answers(bandits, budgets, seed)
        for g, goal in enumerate(GOALS):
            for b, budget in enumerate(budgets):
                row: dict[str, Any] = {"problem": problem, "goal": str(goal), "budget": budget}
                for name in ALGORITHMS:
                    row[name] = share(int(wrong[name][b, g].sum()), runs)
                row["APE certain"] = settled[b]
                if problem == "COV-BOOST":
                    at = covboost.oriented, budget
                    row["bound SR"] = float(budget_error_bound(*at, "SR", covboost.scale))
                    row["lower bound"] = float(budget_lower_bound(*at, covboost.scale))
                rows.append(row)
    return rows


def markdown(rows: list[dict[str, Any]], runs: int, seed: int) -> str:
    """The table, with what it says in words."""
    heads = ["problem", "goal", "N", *ALGORITHMS, "APE certain", "bound SR", "lower bound"]
    cells = [
        [
            row["problem"], row["goal"], f"{row['budget']:,}",
            *("{:.1%} [{:.1%}, {:.1%}]".format(*row[name]) for name in ALGORITHMS),
            f"{row['APE certain']:.0%}",
            *(f"{row[name]:.3g}" if name in row else "" for name in ("bound SR", "lower bound")),
        ]
        for row in rows
    ]  # fmt: skip
    return (
        f"Wrong answers after N samples, {runs} runs each, seed {seed}; 95% intervals.\n\n"
        + text.markdown(heads, cells)
        + "\n"
    )


def draw(rows: list[dict[str, Any]], path: Path) -> Path:
    """Error against budget for the whole set, a panel for each problem; below, what APE settled."""
    from paretoid.plots import style
    from paretoid.validation.paper.drawing import save

    problems = list(dict.fromkeys(row["problem"] for row in rows))
    figure = style.new_figure(3.4 * len(problems), 5.6)
    axes = figure.subplots(
        2, len(problems), sharex="col", squeeze=False, height_ratios=[3, 1]
    )  # fmt: skip
    for (upper, lower), problem in zip(axes.T, problems, strict=True):
        kept = [row for row in rows if (row["problem"], row["goal"]) == (problem, str(GOALS[0]))]
        x = np.array([row["budget"] for row in kept])
        for name, (color, marker, dashes) in zip(
            ALGORITHMS, style.series(len(ALGORITHMS), "algorithms"), strict=True
        ):
            middle, low, high = np.array([row[name] for row in kept]).T
            ends = [middle - low, high - middle]
            upper.errorbar(
                x, middle, yerr=ends, color=color, marker=marker, ls=dashes, capsize=2, label=name
            )
        lower.plot(x, [row["APE certain"] for row in kept], "k.-")
        lower.set_ylim(0, 1.02)
        lower.set_xlabel("samples N")
        upper.set_title(problem)
        upper.set_ylim(0, 1)
        for ax in (upper, lower):
            style.log_axis(ax, "x")
            style.grid(ax)
    axes[0, 0].set_ylabel("share of wrong answers, whole set")
    axes[1, 0].set_ylabel("arms settled\nby APE")
    axes[0, 0].legend(frameon=False, fontsize=8)
    return save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    given = options("fixed_budget", __doc__, "1,000 runs of each, not 100", arguments)
    rows = measure(given.full, given.seed)
    table = markdown(rows, 1000 if given.full else 100, given.seed)
    for name, content in (("fixed_budget.md", table), ("fixed_budget.json", text.as_json(rows))):
        write_text(given.out / name, content, force=True)  # both are made anew by this program
    draw(rows, given.out / "fixed_budget.png")
    print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
