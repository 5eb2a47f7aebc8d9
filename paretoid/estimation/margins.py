"""Margins as ratios: a fold of geometric means, as a slack of every endpoint and of every goal."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from paretoid.estimation.model import trial_of
from paretoid.estimation.summary import TrialSummary
from paretoid.goals import Cover, Goal, ParetoSet, PracticalSet
from paretoid.registry import GOALS
from paretoid.theory.checks import is_number, is_real, refusal, shown
from paretoid.units import Units


def fold_margin(trial: TrialSummary | Any, fold: float) -> tuple[float, ...]:
    """`fold` as a slack per endpoint: log(fold) where log-normal, 0 elsewhere.

    Takes a trial summary or a fit. What a margin means is the goal's to say: that of `ParetoSet`
    lets an arm in that is close in one endpoint, which no non-inferiority trial would do; that of
    `PracticalSet` does not.

    >>> from paretoid.estimation import load_trial
    >>> [round(eps, 3) for eps in fold_margin(load_trial("comcov2"), 1.5)]
    [0.405, 0.405, 0.405]
    """
    trial = trial if isinstance(trial, TrialSummary) else trial_of(trial)
    if not is_number(fold) or not fold > 1:
        raise refusal(is_real(fold))(
            f"fold={shown(fold)} must be a ratio above 1: responses closer than that count as "
            f"equal. For no margin leave it out."
        )
    if "log-normal" not in trial.scales:
        raise ValueError(
            f"fold={fold} is a ratio of geometric means, and no endpoint is log-normal. Give eps1 "
            f"in the endpoints' own units."
        )
    return tuple(math.log(fold) if s == "log-normal" else 0.0 for s in trial.scales)


def units_of(trial: TrialSummary) -> Units:
    """What the numbers of a trial stand for.

    >>> from paretoid.estimation import load_trial
    >>> units_of(load_trial("covboost-groupB")).margin([math.log(1.5)] * 3)
    '1.5-fold'
    """
    measured = zip(trial.endpoints, trial.scales, strict=True)
    logs = tuple(name for name, scale in measured if scale == "log-normal")
    return Units(trial.endpoints, logs, dict(zip(trial.endpoints, trial.units, strict=True)))


def as_goals(goals: Any) -> list[Any]:
    """One goal or several as a list; none: the whole Pareto set."""
    listed = [goals] if isinstance(goals, Goal) else list(goals or [ParetoSet()])
    if not all(isinstance(goal, Goal) for goal in listed):
        raise refusal(all(isinstance(goal, Goal) for goal in listed))(
            f"goals={shown(goals)} must be one or more of {', '.join(GOALS)}."
        )
    return listed


def with_margin(goals: Any, trial: TrialSummary | Any, fold: float | None) -> list[Goal]:
    """The goals as a list, with a slack of `fold` where it is given; see `fold_margin`."""
    goal_list = as_goals(goals)
    if fold is None:
        return goal_list
    margin = fold_margin(trial, fold)
    for goal in goal_list:
        if np.any(np.asarray([goal.eps1, getattr(goal, "eps2", 0.0)], dtype=object) != 0.0):
            raise ValueError(
                f"{goal} states its own margin, and fold={fold} would set another. Give one."
            )

    def given(goal: Goal) -> dict[str, Any]:
        if isinstance(goal, PracticalSet):
            return {"margin": margin, "slack": None}  # half of it, as by default
        return {"eps1": margin, **({"eps2": margin} if isinstance(goal, Cover) else {})}

    return [replace(goal, **given(goal)) for goal in goal_list]
