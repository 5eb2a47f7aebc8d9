"""Scenarios x designs: how many participants, how often right, how often wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.design.tuned import tuned_radius
from paretoid.estimation.instances import plug_in_bandit, posterior_bandits
from paretoid.estimation.margins import units_of, with_margin
from paretoid.estimation.model import trial_of
from paretoid.estimation.planning import REALISTIC
from paretoid.goals import Goal, ParetoSet
from paretoid.intervals import Interval, mean_interval, quantile_interval, share
from paretoid.operating import designs as _designs
from paretoid.operating import scenarios as _scenarios
from paretoid.operating.designs import Sequential, Trials
from paretoid.operating.fixed import fixed_trials, has_naive_answer
from paretoid.operating.scenarios import Scenario
from paretoid.parts import as_goals
from paretoid.registry import text
from paretoid.runs.setting import as_conduct
from paretoid.theory.checks import as_epsilon, check_count, check_delta
from paretoid.theory.dominance import pareto_set
from paretoid.versions import versions

if TYPE_CHECKING:
    import xarray as xr

#: characteristics, and what each is
MEANINGS = {
    "mean_samples": "participants of a trial, on average; all of max_samples without an answer",
    "samples_90": "participants by which 90% of trials have an answer; infinite (null in JSON): "
    "not within max_samples",
    "duration": "days to the answer, or to the end, on average",
    "answered": "share of trials with an answer",
    "correct": "share of trials with a right answer",
    "wrong": "share of trials with a wrong answer: what delta bounds in proved designs",
    "wrong_if_answered": "share of wrong answers among the answers",
    "undecided": "arms neither surely optimal nor surely out at the end, on average",
    "on_dominated": "participants on arms outside the Pareto set of the scenario, on average",
}
_NONE: Interval = (math.nan, math.nan, math.nan)
#: scenarios in which the calibrated design is calibrated
_CALIBRATION = ("boundary", "equal", "fitted")


def operating_characteristics(
    source: Any,
    goals: Goal | Sequence[Goal] | None = None,
    delta: float = 0.1,
    *,
    fold: float | None = None,
    scenarios: Sequence[str | Scenario] | None = None,
    designs: Sequence[str] | None = None,
    runs: int = 200,
    max_samples: int = REALISTIC,
    fixed: int | None = None,
    conduct: Conduct | None = None,
    seed: int = 1,
    executor: Any = None,
) -> xr.Dataset:
    """What designs do in scenarios: participants, right and wrong answers, arms left undecided.

    source      a fit (`estimation.fit`), or a bandit: the instance that is believed
    goals       default the Pareto set; all with one margin. `fold` sets it, see `fold_margin`
    scenarios   of "fitted" (posterior draws, one trial each; of a bandit, itself), "equal",
                "boundary", "best" (each arm in turn) and "best: ARM", see
                `paretoid.operating.scenarios`, or a `Scenario`; default all four
    designs     of "informed", "uniform", "elimination", "fixed", "calibrated", see
                `paretoid.operating.designs`; default all that serve the goals
    runs        simulated trials for each scenario and design
    max_samples participants that a trial can have: one that reaches it has no answer
    fixed       participants of the fixed design; default: the mean of the first proved design
                (informed, or else uniform) in "fitted", goal by goal, as near as K divides
    conduct     how trials run; with a rate there is a duration

    Returns a Dataset with dims scenario, design, goal and interval ("estimate", "low", "high", at
    95%: Clopper and Pearson's of shares, Student's of means, order statistics of samples_90):
    mean_samples, samples_90, duration, answered, correct, wrong, wrong_if_answered, undecided,
    on_dominated; each says in its attributes what it is. NaN where there is nothing to say: wrong
    answers among none, arms undecided in a design that says nothing of single arms. Coordinates
    `rule`, `radius` and `level` (delta, or what was calibrated) are those of the sequential
    designs. Designs are judged on the same seeds, and shaped on others.

    The same N does not make the same promise. Where arms are far apart a fixed trial is often
    right with fewer participants than a proof takes; at the boundary it is wrong far more often
    than delta, without notice, and there the proof earns its participants. Where all arms are
    equal and there is no margin, no proof ever ends: max_samples and undecided arms show it.

    >>> from paretoid import GaussianBandit
    >>> bandit = GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 0.5)
    >>> table = operating_characteristics(
    ...     bandit, ParetoSet(0.5), scenarios=["fitted", "equal"], designs=["uniform", "fixed"],
    ...     runs=20, max_samples=500,
    ... )
    >>> estimate = table.isel(goal=0).sel(interval="estimate")
    >>> estimate.correct.sel(scenario="fitted").values
    array([1., 1.])
    >>> bool(estimate.undecided.sel(design="fixed").isnull().all())    # it says nothing of arms
    True
    """
    delta = check_delta(delta)
    runs = check_count(runs, name="runs", least=2, why="shares and means are of so many trials.")
    most = check_count(max_samples, name="max_samples", why="it is the size of a trial.")
    seed = check_count(seed, name="seed", least=0, why="random numbers start from it.")
    draws, base, goal_list, words = _believed(source, goals, fold, runs)
    _check_goals(goal_list, base)
    conduct = as_conduct(conduct, base, most)
    if fixed is not None:
        why = "each arm has a participant, and max_samples bounds it."
        fixed = check_count(fixed, name="fixed", least=base.K, most=most, why=why)
    reasons = _designs.unavailable(goal_list, conduct)
    names = _designs.chosen(designs, reasons)
    known = partial(
        _scenarios.known_scenario, draws=draws, base=base, goal=goal_list[0], fitted=words
    )
    shown = _scenarios.chosen(scenarios, known, base)
    for scenario in shown:
        check_count(len(scenario.bandits), name=f"the bandits of scenario {scenario.name!r}",
                    most=runs, why="each has one of the runs.")  # fmt: skip

    uniform, _ = tuned_radius(base, goal_list, delta, most, seed=seed, executor=executor)
    trials = Trials(tuple(goal_list), runs, most, seed, conduct, executor)
    calibration = [scenario for name in _CALIBRATION for scenario in known(name)]
    reference = "uniform" if "informed" in reasons else "informed"
    needs = {*names, *([reference] if "fixed" in names and fixed is None else [])}
    made = {
        design.name: design
        for design in _designs.sequential(sorted(needs), uniform, draws, trials, delta, calibration)
    }
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for scenario in shown:
        for name in names:
            if name in made:
                cells[scenario.name, name] = _by_goal(trials.of(made[name], scenario), goal_list)
    sizes = np.full(len(goal_list), fixed or 0)
    if "fixed" in names:
        if fixed is None:
            given = cells.get(("fitted", reference))
            if given is None:
                (truth,) = known("fitted")
                given = _by_goal(trials.of(made[reference], truth), goal_list)
            sizes = np.array([_same_size(runs_of["stopping_time"], base.K, most)
                              for runs_of in given])  # fmt: skip
        for scenario in shown:
            cells[scenario.name, "fixed"] = [
                fixed_trials(
                    list(scenario.bandits), goal, int(size), trials.number(scenario), seed, conduct
                )
                for goal, size in zip(goal_list, sizes, strict=True)
            ]
    return _dataset(
        shown, names, goal_list, cells, made, sizes,
        {"delta": delta, "runs": runs, "max_samples": most, "seed": seed,
         "reference": reference if fixed is None else "",
         "left_out": _left_out(designs, reasons),
         "conduct": "" if conduct is None else str(conduct),
         "conducted": "" if conduct is None else repr(conduct),
         "believed": words, "of_fit": int(not isinstance(source, Bandit)),
         **({} if isinstance(source, Bandit) else {"units": units_of(trial_of(source)).to_json()}),
         "paretoid": versions()["paretoid"]},
    )  # fmt: skip


def _believed(
    source: Any, goals: Any, fold: float | None, runs: int
) -> tuple[list[Bandit], Bandit, list[Goal], str]:
    """(bandits of "fitted", the instance in their middle, goals, what "fitted" is in words)."""
    if isinstance(source, Bandit):
        if fold is not None:
            raise ValueError("fold= belongs to a fit; give the goals their eps1.")
        asked = as_goals(ParetoSet() if goals is None else goals, source)
        return [source], source, list(asked), "the instance as given"
    margin = with_margin(goals, source, fold)
    base = plug_in_bandit(source)
    words = f"{runs:,} posterior draws, one trial each"
    return posterior_bandits(source, runs), base, list(as_goals(margin, base)), words


def _check_goals(goals: Sequence[Goal], base: Bandit) -> None:
    for goal in goals:
        if not has_naive_answer(goal):
            raise ValueError(
                f"{goal} is none of ParetoSet, AtMost, Cover and PracticalSet without limits, and "
                f"for others nobody knows what a fixed trial would answer, so there is nothing to "
                f"compare. Use simulate, or leave the limits out."
            )
    if len({tuple(as_epsilon(goal.eps1, base.D)) for goal in goals}) > 1:
        raise ValueError(
            "goals have different margins, and the scenario 'boundary' lies at one of them. "
            "Compare them one margin at a time."
        )


def _by_goal(made: dict[str, Any], goals: Sequence[Goal]) -> list[dict[str, Any]]:
    return [{name: values[g] for name, values in made.items()} for g in range(len(goals))]


def _same_size(times: Any, K: int, most: int) -> int:
    """The mean number of participants, up to a multiple of K that a trial can have."""
    per_arm = min(math.ceil(float(np.mean(times)) / K - 1e-9), most // K)
    return max(per_arm, 1) * K


def characteristics(made: dict[str, Any], dominated: Any) -> dict[str, Interval]:
    """The characteristics of trials, (R,) and (R, K) arrays by name; see `MEANINGS`.

    dominated   (K,) or (R, K) arms outside the Pareto set

    Of four trials three have an answer, one of them wrong:

    >>> four = {
    ...     "stopping_time": np.array([10, 20, 30, 40]),
    ...     "stopped": np.array([True, True, True, False]),
    ...     "correct": np.array([True, True, False, False]),
    ...     "pulls": np.array([[8, 2], [15, 5], [20, 10], [20, 20]]),
    ... }
    >>> told = characteristics(four, np.array([False, True]))
    >>> [(name, told[name][0]) for name in ("mean_samples", "samples_90", "on_dominated")]
    [('mean_samples', 25.0), ('samples_90', inf), ('on_dominated', 9.25)]
    >>> told["correct"][0], told["wrong"][0], round(told["wrong_if_answered"][0], 4)
    (0.5, 0.25, 0.3333)
    """
    time, stopped = made["stopping_time"], made["stopped"]
    wrong, answered = int((stopped & ~made["correct"]).sum()), int(stopped.sum())
    settled, duration = made.get("settled"), made.get("duration")
    return {
        "mean_samples": mean_interval(time),
        "samples_90": quantile_interval(np.where(stopped, time, math.inf), 0.9),
        "duration": _NONE if duration is None or np.isnan(duration).any()
        else mean_interval(duration),
        "answered": share(answered, len(time)),
        "correct": share(int(made["correct"].sum()), len(time)),
        "wrong": share(wrong, len(time)),
        "wrong_if_answered": share(wrong, answered) if answered else _NONE,
        "undecided": _NONE if settled is None else mean_interval((settled == 0).sum(axis=1)),
        "on_dominated": mean_interval((made["pulls"] * dominated).sum(axis=1)),
    }  # fmt: skip


def _dataset(
    shown: Sequence[Scenario],
    names: Sequence[str],
    goals: Sequence[Goal],
    cells: dict[tuple[str, str], list[dict[str, Any]]],
    made: dict[str, Sequential],
    sizes: Any,
    attrs: dict[str, Any],
) -> xr.Dataset:
    import xarray as xr

    shape = len(shown), len(names), len(goals), 3
    tables = {name: np.full(shape, math.nan) for name in MEANINGS}
    for s, scenario in enumerate(shown):
        dominated = np.array([~pareto_set(bandit.oriented) for bandit in scenario.bandits])
        for d, name in enumerate(names):
            for g, trials in enumerate(cells[scenario.name, name]):
                for what, told in characteristics(trials, dominated).items():
                    tables[what][s, d, g] = told
    K, D = shown[0].bandits[0].K, shown[0].bandits[0].D
    size = " and ".join(f"{int(n):,}" for n in dict.fromkeys(sizes.tolist()))
    source = "the size that was asked for"
    if attrs["reference"]:
        same = "on average, rounded to the same for each arm"
        source = f"as many as {attrs['reference']} has as fitted, {same}"
    fixed = f"{size} participants, {source}; equal allocation, the naive answer"
    until = f"until it has its answer, at most {attrs['max_samples']:,} participants"
    about = ("design_words", "guarantee", "rule", "radius", "level")
    designs = [
        (f"{one.words}; {until}", one.guarantee(goals, K, D), text(one.rule), text(one.radius),
         one.delta)
        if (one := made.get(name)) is not None
        else (fixed, "heuristic", "", "", math.nan)
        for name in names
    ]  # fmt: skip
    return xr.Dataset(
        {
            name: (("scenario", "design", "goal", "interval"), table, {"meaning": MEANINGS[name]})
            for name, table in tables.items()
        },
        coords={
            "scenario": [scenario.name for scenario in shown],
            "scenario_words": ("scenario", [scenario.words for scenario in shown]),
            "design": list(names),
            **{key: ("design", [row[at] for row in designs]) for at, key in enumerate(about)},
            "goal": [str(goal) for goal in goals],
            "fixed_samples": ("goal", sizes),
            "interval": ["estimate", "low", "high"],
            "arm": list(shown[0].bandits[0].arms),
            "objective": list(shown[0].bandits[0].objectives),
        },
        attrs=attrs,
    )  # fmt: skip


def _left_out(designs: Any, reasons: dict[str, str]) -> str:
    """Why designs are missing that nobody left out himself."""
    if designs is not None:
        return ""
    return " ".join(f"{name} is left out: {why}." for name, why in reasons.items())
