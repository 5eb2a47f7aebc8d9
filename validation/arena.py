"""Every rule with every radius and goal that fits it, on the same problems and the same seeds.

    python -m paretoid.validation.arena [--full] [--runs N] [--only WORD]... [--out DIR]

writes arena.nc (a Dataset), arena.md and arena.png, the first two after every problem. Rules and
radii are those of the registry: a new member appears by being there. Rules that spend a budget of
their own are left to `paretoid.validation.fixed_budget`, those for one objective to `paretoid
reproduce best-arm`. A problem with one instance has another radius, "Mixture informed": Mixture
with the shares and rho that a guess would give which is the instance itself, for all its goals.

Problems: COV-BOOST; Com-COV2 (means and pooled standard deviations as published); random Bernoulli
instances as in the paper's Table 1 (K = 5, D = 2, a new one for each run); five arms with close
optima, asked for a cover; and K = 100 random Gaussian arms. delta = 0.1. Runs end at a limit and
are then censored: their samples are a lower bound. Intervals are 95%; the time of a sample includes
its test, one core, compilation apart. Members without a compiled loop make a tenth of the runs, up
to a fifth of the limit.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import paretoid as pt
from paretoid import registry, text
from paretoid.design import informed
from paretoid.intervals import mean_interval, quantile, share
from paretoid.runs.setting import Setting
from paretoid.theory.checks import check_count
from paretoid.validation.experiment import options
from paretoid.validation.paper.setting import cover_bandit, random_bandits
from paretoid.writing import new_file, write_text

if TYPE_CHECKING:
    import xarray as xr

DELTA = 0.1
#: numbers of a cell
NUMBERS = ("median", "mean", "mean_low", "mean_high", "wrong", "wrong_high", "censored", "runs",
           "microseconds")  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """What is asked of whom: one bandit for all runs, or one for each."""

    name: str
    bandits: list[pt.Bandit]
    goals: tuple[pt.Goal, ...]
    limit: int


@dataclass(frozen=True)
class Cell:
    """One rule, radius and goal on one problem."""

    problem: str
    rule: str
    radius: str
    goal: str
    guarantee: str
    numbers: dict[str, float]


def problems(full: bool, seed: int) -> list[Problem]:
    """The five problems, smaller without `full`."""
    limit = 1_000_000 if full else 100_000
    whole, two = pt.ParetoSet(), pt.AtMost(2)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(100,)))
    many = pt.GaussianBandit(rng.normal(size=(100, 2)), scale=0.5)
    return [
        Problem("COV-BOOST", [pt.load_instance("covboost")], (whole, two), limit),
        Problem("Com-COV2", [comcov2()], (whole, two), limit),
        Problem("Table 1, D = 2", random_bandits(200 if full else 20, 5, 2, seed),
                (pt.ParetoSet(0.005), pt.AtMost(1, 0.005)), limit),
        Problem("cover", [cover_bandit()], (pt.Cover(0.0, 0.05), pt.Cover(0.0, 0.15)), limit),
        Problem("K = 100", [many], (pt.ParetoSet(0.1), pt.AtMost(2, 0.1)), limit),
    ]  # fmt: skip


def comcov2() -> pt.Bandit:
    """Com-COV2 as an instance: published means, one pooled standard deviation per endpoint.

    >>> comcov2()
    GaussianBandit(K=6, D=3)
    """
    from paretoid.estimation import load_trial

    trial = load_trial("comcov2")
    scale = np.sqrt(np.nanmean(np.asarray(trial.sd, dtype=float) ** 2, axis=0))
    return pt.GaussianBandit(
        np.asarray(trial.mean, dtype=float), scale, arms=trial.arms, objectives=trial.endpoints,
        minimize=trial.minimize,
    )  # fmt: skip


def members() -> tuple[list[pt.Rule], list[pt.Radius]]:
    """Rules and radii of the registry with their default arguments, where these are enough."""
    made: list[list[Any]] = [[], []]
    for members, kinds in zip(made, (registry.RULES, registry.PAIR_RADII), strict=True):
        for kind in kinds.values():
            with suppress(ValueError, TypeError):  # a budget, or what is known of each objective
                members.append(kind())
    rules, radii = made
    return [rule for rule in rules if rule.budget is None], radii


def radii_for(problem: Problem, radii: Sequence[pt.Radius], seed: int) -> dict[str, pt.Radius]:
    """`radii` by their texts and, for a problem with one instance, Mixture informed by it.

    >>> problem = problems(False, 1)[3]
    >>> list(radii_for(problem, [pt.LUCB1Like()], 1))
    ['LUCB1Like()', 'Mixture informed']
    """
    named = {registry.text(radius): radius for radius in radii}
    if len(problem.bandits) == 1:
        named["Mixture informed"] = informed(
            problem.bandits[0], problem.goals, DELTA, radius=pt.Mixture, replications=50,
            max_samples=problem.limit, seed=seed,
        )  # fmt: skip
    return named


def measure(
    problem: Problem, rule: pt.Rule, radius: pt.Radius, runs: int, seed: int, name: str = ""
) -> list[Cell]:
    """The cells of all goals that fit, read off the same runs; none where nothing fits.

    `name` is what the table calls the radius, if not by its text.
    """
    goals = [goal for goal in problem.goals if _fits(problem, goal, rule, radius)]
    if not goals:
        return []
    setting = Setting(problem.bandits[0], tuple(goals), rule, radius, DELTA, problem.limit)
    if not setting.compiled:
        runs = max(2, runs // 10)
    single = len(problem.bandits) == 1
    bandits: Any = problem.bandits[0] if single else problem.bandits[:runs]
    options: dict[str, Any] = {"rule": rule, "radius": radius, "delta": DELTA, "seed": seed}
    pt.simulate(problem.bandits[0], goals, max_samples=2000, **options)  # compile
    limit = problem.limit if setting.compiled else -(-problem.limit // 5)
    start = _processor_seconds()
    data = pt.simulate(
        bandits, goals, replications=runs if single else 1, max_samples=limit, **options
    )
    seconds = _processor_seconds() - start
    drawn = int(data.pulls.sum("arm").max("goal").sum())
    name = name or data.attrs["radius"]
    return [_cell(problem, goal, name, data.isel(goal=g), 1e6 * seconds / drawn)
            for g, goal in enumerate(goals)]  # fmt: skip


def _processor_seconds() -> float:
    """Of this process and of those it has waited for: the readable loop runs in processes."""
    return sum(os.times()[:4])


def _fits(problem: Problem, goal: pt.Goal, rule: pt.Rule, radius: pt.Radius) -> bool:
    try:
        pt.simulate(problem.bandits[0], goal, rule=rule, radius=radius, max_samples=1)
    except ValueError:
        return False
    return True


def _cell(
    problem: Problem, goal: pt.Goal, radius: str, data: xr.Dataset, microseconds: float
) -> Cell:
    times = data.stopping_time.values.reshape(-1)
    stopped = data.stopped.values.reshape(-1)
    wrong = int((stopped & ~data.correct.values.reshape(-1)).sum())
    mean, low, high = mean_interval(times)
    done = max(int(stopped.sum()), 1)
    half = np.where(stopped, times, np.inf)
    rate, _, most = share(wrong, done)
    values = (quantile(half, 0.5), mean, low, high, rate, most, 1 - stopped.mean(), len(times),
              microseconds)  # fmt: skip
    return Cell(
        problem.name, data.attrs["rule"], radius, str(goal), data.attrs["guarantee"],
        dict(zip(NUMBERS, map(float, values), strict=True)),
    )  # fmt: skip


def as_dataset(cells: list[Cell], seed: int) -> xr.Dataset:
    """(cell) numbers with problem, rule, radius, goal and guarantee as coordinates."""
    import xarray as xr

    words = ("problem", "rule", "radius", "goal", "guarantee")
    return xr.Dataset(
        {name: ("cell", [cell.numbers[name] for cell in cells]) for name in NUMBERS},
        coords={word: ("cell", [getattr(cell, word) for cell in cells]) for word in words},
        attrs={"delta": DELTA, "seed": seed},
    )


def markdown(cells: list[Cell]) -> str:
    """The table for readers."""
    heads = ["problem", "goal", "rule", "radius", "median", "mean [95%]", "wrong, at most",
             "censored", "us a sample", "runs", "guarantee"]  # fmt: skip
    rows = []
    for cell in cells:
        n = cell.numbers
        least = ">= " if n["censored"] else ""
        middle = text.count(n["median"]) if math.isfinite(n["median"]) else "> limit"
        ends = f"[{text.count(n['mean_low'])}, {text.count(n['mean_high'])}]"
        rows.append(
            [
                cell.problem, cell.goal, cell.rule, cell.radius, middle,
                f"{least}{text.count(n['mean'])} {ends}",
                f"{n['wrong']:.1%}, {n['wrong_high']:.1%}", f"{n['censored']:.0%}",
                f"{n['microseconds']:.2g}", f"{n['runs']:.0f}", cell.guarantee,
            ]
        )  # fmt: skip
    return text.markdown(heads, rows) + "\n"


def draw(cells: list[Cell], path: Path) -> Path:
    """Mean samples of the first goal of each problem; a row for each rule and radius."""
    from paretoid.plots import style
    from paretoid.validation.paper.drawing import save

    names = list(dict.fromkeys(cell.problem for cell in cells))
    pairs = list(dict.fromkeys((cell.rule, cell.radius) for cell in cells))
    labels = [f"{rule.split('(')[0]}, {radius.split('(')[0]}" for rule, radius in pairs]
    figure = style.new_figure(3.0 + 2.4 * len(names), 1.6 + 0.26 * len(pairs))
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        first = next(cell.goal for cell in cells if cell.problem == name)
        for cell in cells:
            if (cell.problem, cell.goal) != (name, first):
                continue
            n, y = cell.numbers, pairs.index((cell.rule, cell.radius))
            ends = [[n["mean"] - n["mean_low"]], [n["mean_high"] - n["mean"]]]
            marker = ">" if n["censored"] else "o" if cell.guarantee == "proved" else "D"
            ax.errorbar(n["mean"], y, xerr=ends, fmt=marker, color="black", capsize=2,
                        mfc="black" if cell.guarantee == "proved" else "white")  # fmt: skip
        ax.set_title(f"{name}\n{first}", fontsize=8)
        style.log_axis(ax, "x")
        ax.set_xlabel("samples, mean")
        style.grid(ax)
    axes[0].set_yticks(range(len(pairs)), labels, fontsize=7)
    axes[0].invert_yaxis()
    style.note(figure, "filled: proved; triangle: some runs ended at the limit, a lower bound")
    return save(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    given = options(
        "arena", __doc__, "200 runs, a limit ten times higher", arguments,
        {"--runs": {"type": int, "help": "runs of each cell (default 20, with --full 200)"},
         "--only": {"action": "append", "default": [], "metavar": "WORD",
                    "help": "cells whose 'problem, rule, radius' has this word, and all others"}},
    )  # fmt: skip
    runs = check_count(
        given.runs or (200 if given.full else 20), name="--runs", least=2,
        why="an interval needs two.",
    )  # fmt: skip
    rules, radii = members()
    cells: list[Cell] = []
    for problem in problems(given.full, given.seed):
        for name, radius in radii_for(problem, radii, given.seed).items():
            for rule in rules:
                if all(word in f"{problem.name}, {rule}, {name}" for word in given.only):
                    cells += measure(problem, rule, radius, runs, given.seed, name)
        if cells:
            with new_file(given.out / "arena.nc", force=True) as draft:
                as_dataset(cells, given.seed).to_netcdf(draft, engine="h5netcdf")
            # all are made anew by this program
            write_text(given.out / "arena.md", markdown(cells), force=True)
    if not cells:
        print(f"--only {' --only '.join(given.only)} leaves no cell: problems are in --help, rules "
              f"and radii as in Python.", file=sys.stderr)  # fmt: skip
        return 2
    draw(cells, given.out / "arena.png")
    print(markdown(cells))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
