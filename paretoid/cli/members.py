"""Goals, radii, rules and instances as words on the command line.

`Mixture`, `mixture:rho=100` and `Mixture(rho=100.0, union='claims')` all name a radius: the last
is how results print it, the middle one needs no quotes in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from paretoid.cli.options import numbers, words
from paretoid.goals import AtMost, Cover, Goal
from paretoid.registry import GOALS, RADII, RULES, parse

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
    flat = {_flat(each): each for each in kinds}
    if _flat(name) not in flat:
        near = get_close_matches(_flat(name), flat, n=1, cutoff=0.5)
        hint = f" Did you mean {flat[near[0]]}?" if near else ""
        raise ValueError(f"{option} {name!r} is unknown.{hint} There are: {', '.join(kinds)}.")
    made = kinds[flat[_flat(name)]]
    allowed = {each.name: each for each in fields(made)}
    for key in arguments:
        if key not in allowed:
            near = get_close_matches(key, allowed, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            takes = ", ".join(allowed) or "nothing"
            raise ValueError(f"{option} {text!r}: no argument {key!r}.{hint} It takes {takes}.")
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
    """--goal, or else the whole Pareto set; then one for every --k and --eps2."""
    slack = numbers(eps1, "--eps1")
    found: list[Goal] = [
        make(each, GOALS, "--goal", {"eps1": slack}) for each in named or ["ParetoSet"]
    ]
    found += [AtMost(each, slack) for each in k or []]
    found += [Cover(slack, numbers(each, "--eps2")) for each in eps2 or []]
    return found


def radius(text: str) -> Radius:
    """--radius."""
    made: Radius = make(text, RADII, "--radius")
    return made


def rule(text: str) -> Rule:
    """--rule."""
    made: Rule = make(text, RULES, "--rule")
    return made


def instance(name: str, kind: str | None, scale: str | None, minimize: str | None) -> Bandit:
    """INSTANCE with --kind, --scale and --minimize."""
    from paretoid.instances import load_instance

    return load_instance(name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize))
