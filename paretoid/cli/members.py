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
    """--goal, or else the whole Pareto set; then one for every --k and --eps2."""
    slack = numbers(eps1, "--eps1")
    found: list[Goal] = [
        make(text, "goal", "--goal", {"eps1": slack}) for text in named or ["ParetoSet"]
    ]
    found += [AtMost(each, slack) for each in k or []]
    found += [Cover(slack, numbers(each, "--eps2")) for each in eps2 or []]
    return found


def radius(text: str) -> Radius:
    """--radius."""
    made: Radius = make(text, "radius", "--radius")
    return made


def rule(text: str) -> Rule:
    """--rule."""
    made: Rule = make(text, "rule", "--rule")
    return made


def instance(name: str, kind: str | None, scale: str | None, minimize: str | None) -> Bandit:
    """INSTANCE with --kind, --scale and --minimize."""
    from paretoid.instances import load_instance

    return load_instance(name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize))
