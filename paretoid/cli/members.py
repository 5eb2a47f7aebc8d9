"""Goals, radii, rules and instances as words on the command line.

`Mixture`, `mixture:rho=100` and `Mixture(rho=100.0, union='claims')` all name a radius: the last
is how results print it, the middle one needs no quotes in a shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from paretoid.cli.options import numbers, words
from paretoid.goals import AtMost, Cover, Goal
from paretoid.registry import make as construct
from paretoid.registry import split, type_of

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.rules import Rule
    from paretoid.theory.radii import Radius


def make(text: str, what: str, option: str, given: Mapping[str, Any] | None = None) -> Any:
    """The goal, radius or rule that `text` names; `given` fills in arguments that it has not."""
    name, arguments = split(text)
    try:
        kind = type_of(name, what)
        takes = [field.name for field in fields(kind)] if is_dataclass(kind) else []
        filled = {key: value for key, value in (given or {}).items() if key in takes}
        return construct(name, {**filled, **arguments}, what, shown=text)
    except ValueError as error:
        sentence = str(error)
        prefix = f"{what} "
        said = sentence[len(prefix) :] if sentence.startswith(prefix) else sentence
        raise ValueError(f"{option} {said}") from None


def goals(
    named: list[str] | None, k: list[int] | None, eps1: str, eps2: list[str] | None
) -> list[Goal]:
    """The goals asked for: --goal or the whole Pareto set, then one for every --k and --eps2."""
    slack = numbers(eps1, "--eps1")
    asked: list[Goal] = [
        make(name, "goal", "--goal", {"eps1": slack}) for name in named or ["ParetoSet"]
    ]
    asked += [AtMost(size, slack) for size in k or []]
    asked += [Cover(slack, numbers(slack2, "--eps2")) for slack2 in eps2 or []]
    return asked


def radius(text: str) -> Radius:
    """The radius that the option --radius names."""
    made: Radius = make(text, "radius", "--radius")
    return made


def rule(text: str) -> Rule:
    """The rule that the option --rule names."""
    made: Rule = make(text, "rule", "--rule")
    return made


def instance(name: str, kind: str | None, scale: str | None, minimize: str | None) -> Bandit:
    """The bandit that INSTANCE names, with what --kind, --scale and --minimize say about it."""
    from paretoid.instances import load_instance

    return load_instance(name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize))
