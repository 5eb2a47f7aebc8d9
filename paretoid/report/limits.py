"""The bounds that theorems put on the runs of a campaign, each only where it speaks about them."""

from __future__ import annotations

from collections.abc import Sequence

from paretoid.bounds import Problem, setting_bounds
from paretoid.goals import Goal
from paretoid.theory.bound import Bound
from paretoid.theory.radii import Radius

#: T* is a series of linear programs: beyond this many instances or arms it is left out
_INSTANCES, _ARMS = 20, 40

#: name of a bound in `paretoid.bounds`: what a table calls it, and what it is
WORDS = {
    "sharp_bound": ("sharp bound", (
        "Sharp bound: APE has stopped by then whenever all its confidence intervals hold; with "
        "union='pairs' that has probability at least 1 - delta, with union='claims' less is proved."
    )),
    "theorem_1": ("Theorem 1", (
        "Theorem 1 of Kone et al. (2023): the same, with probability at least 1 - delta, for the "
        "radius KaufmannKoolen with its union over pairs; beside another radius a yardstick."
    )),
    "expected_lucb1": ("bound on the mean", (
        "Bound on the mean: APE with the radius LUCB1Like needs at most so many on average."
    )),
    "characteristic": ("least possible mean", (
        "Least possible mean: T* kl(delta, 1 - delta), below which no delta-correct method for "
        "the whole Pareto set can be on average; independent objectives, no margin."
    )),
}  # fmt: skip


def limits(
    problems: Sequence[Problem], i: int, goal: Goal, delta: float, radius: Radius | None, rule: str
) -> dict[str, Bound]:
    """The bounds of `WORDS` that speak about instance i in this setting; T* of it is kept."""
    few = len(problems) <= _INSTANCES and len(problems[i].means) <= _ARMS
    names = [*WORDS] if few and delta < 0.5 else [*WORDS][:-1]  # from 1/2 on T* says nothing
    proved = radius is not None and radius.guarantee == "proved"
    return setting_bounds(problems[i], goal, delta, radius, rule=rule, proved=proved, names=names)
