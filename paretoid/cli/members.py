"""Goals, radii, rules and instances as words on the command line.

`Mixture`, `mixture:rho=100` and `Mixture(rho=100.0, union='claims')` all name a radius: the last
is how results print it, the middle one needs no quotes in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from paretoid.cli.options import numbers, words
from paretoid.goals import AtMost, Cover, Goal
from paretoid.registry import GOALS, RADII, RULES, parse
from paretoid.text import meant

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.rules import Rule
    from paretoid.theory.radii import Radius


def make(
    text: str, kinds: Mapping[str, type[Any]], option: str, given: Mapping[str, Any] | None = None
) -> Any:
    """The one of `kinds` that `text` names, with its arguments; `given` fills in what is not said.

    Capitals and hyphens do not matter: kaufmann-koolen is KaufmannKoolen.
    """
    name, arguments = parse(text)
    by_flat_name = {_flat(kind): kind for kind in kinds}
    if _flat(name) not in by_flat_name:
        raise ValueError(
            f"{option} {name!r} is unknown{meant(name, kinds)} There are: {', '.join(kinds)}."
        )
    made = kinds[by_flat_name[_flat(name)]]
    allowed = {field.name: field for field in fields(made)}
    for key in arguments:
        if key not in allowed:
            takes = ", ".join(allowed) or "nothing"
            raise ValueError(
                f"{option} {text!r}: no argument {key!r}{meant(key, allowed)} It takes {takes}."
            )
    arguments = {**{k: v for k, v in (given or {}).items() if k in allowed}, **arguments}
    missing = [k for k, f in allowed.items() if f.default is MISSING and k not in arguments]
    if missing:
        raise ValueError(f"{option} {text!r} needs {missing[0]}, as in {text}:{missing[0]}=2.")
    try:
        return made(**arguments)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{option} {text!r}: {error}") from None


def _flat(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


def goals(
    named: list[str] | None, k: list[int] | None, eps1: str, eps2: list[str] | None
) -> list[Goal]:
    """The goals asked for: --goal or the whole Pareto set, then one for every --k and --eps2."""
    slack = numbers(eps1, "--eps1")
    asked: list[Goal] = [
        make(name, GOALS, "--goal", {"eps1": slack}) for name in named or ["ParetoSet"]
    ]
    asked += [AtMost(size, slack) for size in k or []]
    asked += [Cover(slack, numbers(slack2, "--eps2")) for slack2 in eps2 or []]
    return asked


def radius(text: str) -> Radius:
    """The radius that the option --radius names."""
    made: Radius = make(text, RADII, "--radius")
    return made


def rule(text: str) -> Rule:
    """The rule that the option --rule names."""
    made: Rule = make(text, RULES, "--rule")
    return made


def instance(name: str, kind: str | None, scale: str | None, minimize: str | None) -> Bandit:
    """The bandit that INSTANCE names, with what --kind, --scale and --minimize say about it."""
    from paretoid.instances import load_instance

    return load_instance(name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize))
