"""Designs that are compared: which participants, when to stop, what to answer.

informed     APE, delta shared out by what the fit leads to expect: proved
uniform      APE, equal shares of delta: proved
elimination  every arm in turn until it is dropped or retired, the same intervals: proved
fixed        equal allocation, a size fixed beforehand, the naive answer: nothing is proved
calibrated   APE without a union bound, at the level that kept wrong answers to delta in
             simulations of some scenarios: heuristic, nothing is known of any other truth
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.design.informed import informed
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.operating.scenarios import Scenario
from paretoid.parts import guarantee_of
from paretoid.rules import APE, Rule, UniformElimination
from paretoid.runs.simulate import simulate
from paretoid.text import meant
from paretoid.theory.radii import MixtureRadius, Radius

#: the designs there are
NAMES = ("informed", "uniform", "elimination", "fixed", "calibrated")

#: levels that a calibration tries, the boldest first
LEVELS = (0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True)
class Sequential:
    """A design that goes on until the goal is answered: a rule, a radius and a level."""

    name: str
    rule: Rule
    radius: Radius
    delta: float
    words: str

    def guarantee(self, goals: Sequence[Goal], K: int, D: int) -> str:
        """What the radius is worth for these goals; a calibrated level is heuristic whatever."""
        if self.name == "calibrated":
            return "heuristic"
        return guarantee_of(self.rule, self.radius, goals, K, D, self.delta)


@dataclass(frozen=True)
class Trials:
    """What all simulated trials have in common."""

    goals: tuple[Goal, ...]
    runs: int
    max_samples: int
    seed: int
    conduct: Conduct | None = None
    executor: Any = None

    def number(self, scenario: Scenario) -> int:
        """How many trials a scenario has: all of its one instance, or one of each."""
        return len(scenario.bandits) if len(scenario.bandits) > 1 else self.runs

    def of(self, design: Sequential, scenario: Scenario, seed: int | None = None) -> dict[str, Any]:
        """The trials of a design in a scenario: (G, R) and (G, R, K) arrays by name."""
        bandits = list(scenario.bandits)
        many = len(bandits) > 1
        made = simulate(
            bandits if many else bandits[0], list(self.goals), rule=design.rule,
            radius=design.radius, delta=design.delta, replications=1 if many else self.runs,
            seed=self.seed if seed is None else seed, max_samples=self.max_samples,
            conduct=self.conduct, executor=self.executor,
        )  # fmt: skip
        if many:
            made = made.isel(replication=0, drop=True).transpose("goal", "instance", ...)
        names = ["stopping_time", "stopped", "answer", "correct", "pulls", "settled", "duration"]
        return {name: made[name].values for name in names if name in made}


def unavailable(goals: Sequence[Goal], conduct: Conduct | None) -> dict[str, str]:
    """Designs that cannot serve these goals, each with the reason.

    >>> list(unavailable([ParetoSet()], None)), list(unavailable([ParetoSet()], Conduct(look=9)))
    ([], ['elimination'])
    """
    reasons = {}
    if any(goal.union == "pairs" for goal in goals):
        reasons["informed"] = "its shares of delta belong to claims, and the goal relies on pairs"
    if any(type(goal) not in (ParetoSet, AtMost) for goal in goals):
        reasons["elimination"] = "it serves ParetoSet and AtMost"
    elif conduct is not None and not conduct.is_ideal:
        reasons["elimination"] = "its rounds are not simulated with late or lost outcomes and looks"
    return reasons


def chosen(wanted: Sequence[str] | str | None, reasons: dict[str, str]) -> list[str]:
    """The names of the designs to compare: those asked for, or all that serve.

    >>> chosen(None, {"informed": "no"}), chosen(["fixed"], {})
    (['uniform', 'elimination', 'fixed', 'calibrated'], ['fixed'])
    """
    if wanted is None:
        return [name for name in NAMES if name not in reasons]
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in NAMES:
            raise ValueError(
                f"design {name!r} is not known{meant(str(name), NAMES)} There are "
                f"{', '.join(NAMES)}."
            )
        if name in reasons:
            raise ValueError(f"design {name!r} cannot serve here: {reasons[name]}. Leave it out.")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"designs={wanted!r} must name one or more designs, each once.")
    return names


def sequential(
    names: Sequence[str],
    uniform: Radius,
    draws: Sequence[Bandit],
    trials: Trials,
    delta: float,
    calibration: Sequence[Scenario],
) -> Iterator[Sequential]:
    """The sequential designs among `names`.

    uniform      the radius with equal shares, tuned to the size of the trial
    draws        what is believed: the informed shares come from it
    calibration  scenarios in which the calibrated level must keep to delta
    """
    if "informed" in names:
        radius = informed(
            list(draws), list(trials.goals), delta, radius=uniform, max_samples=trials.max_samples,
            replications=1 if len(draws) > 1 else 100, seed=another_seed(trials.seed, 14),
            executor=trials.executor,
        )  # fmt: skip
        words = "delta shared out by what the fit leads to expect"
        if radius.shares is None:
            words = "equal shares: the fit would save no participants"
        yield Sequential("informed", APE(), radius, delta, words)
    if "uniform" in names:
        yield Sequential("uniform", APE(), uniform, delta, "equal shares of delta")
    if "elimination" in names:
        words = "every arm in turn until it is dropped or retired"
        yield Sequential("elimination", UniformElimination(), uniform, delta, words)
    if "calibrated" in names:
        yield calibrated(uniform, trials, delta, calibration)


def calibrated(
    radius: Radius, trials: Trials, delta: float, scenarios: Sequence[Scenario]
) -> Sequential:
    """APE without a union bound at the boldest of `LEVELS` whose wrong answers are at most delta.

    That is so in each of `scenarios` and for each goal, in simulations of their own: another seed
    than that of the trials by which designs are judged. The share of wrong answers is compared as
    it is, without an allowance for chance, as calibrations usually do.
    """
    assert isinstance(radius, MixtureRadius)
    bare: Radius = replace(radius, union="none")  # type: ignore[type-var]
    seed = another_seed(trials.seed, 15)
    named = ", ".join(scenario.name for scenario in scenarios)
    for level in LEVELS:
        design = Sequential(
            "calibrated", APE(), bare, level,
            f"no union bound, level {level:g} by simulation of: {named}",
        )  # fmt: skip
        if all(_keeps(trials.of(design, scenario, seed), delta) for scenario in scenarios):
            return design
    words = (
        f"no union bound, level {LEVELS[-1]:g}, the smallest tried: none kept wrong answers to "
        f"delta in {named}"
    )
    return replace(design, words=words)


def _keeps(made: dict[str, Any], delta: float) -> bool:
    wrong = (made["stopped"] & ~made["correct"]).mean(axis=1)
    return bool((wrong <= delta).all())


def another_seed(seed: int, key: int) -> int:
    """A seed for what shapes a design, so that it is not judged on the noise that shaped it.

    >>> another_seed(1, 14) != another_seed(1, 15)
    True
    """
    return int(np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1)[0])
