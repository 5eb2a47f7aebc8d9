"""Goals, radii, rules and instances as words on the command line.

`Mixture`, `mixture:rho=100` and `Mixture(rho=100.0, union='claims')` all name a radius: the last
is how results print it, the middle one needs no quotes in a shell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from paretoid.commands.options import numbers, words

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.goals import Goal
    from paretoid.rules import Rule
    from theory.radii import Radius

_SPEC = re.compile(r"\s*([\w+-]+)\s*(?::(?P<colon>.*)|\((?P<paren>.*)\))?\s*", re.S)


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of a specification.

    >>> parse("mixture:rho=100,union=pairs")
    ('mixture', {'rho': 100, 'union': 'pairs'})
    >>> parse("Cover(eps1=(0.1, 0.2), eps2=0.5)")
    ('Cover', {'eps1': (0.1, 0.2), 'eps2': 0.5})
    """
    found = _SPEC.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} must be a NAME, or NAME:key=value,key=value.")
    inside = found["colon"] or found["paren"] or ""
    arguments: dict[str, Any] = {}
    for part in re.split(r",(?![^(\[]*[)\]])", inside) if inside.strip() else []:
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not key or not value:
            raise ValueError(f"{text!r}: {part.strip()!r} must be key=value.")
        if key in arguments:
            raise ValueError(f"{text!r} gives {key} twice.")
        try:
            arguments[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            arguments[key] = value  # a word, such as pairs
    return found[1], arguments


def make(
    text: str, kinds: Iterable[type], option: str, given: Mapping[str, Any] | None = None
) -> Any:
    """The one of `kinds` that `text` names, with its arguments; `given` fills in what is not said.

    Capitals and hyphens do not matter: kaufmann-koolen is KaufmannKoolen.
    """
    name, arguments = parse(text)
    known = {each.__name__: each for each in kinds}
    flat = {_flat(each): each for each in known}
    if _flat(name) not in flat:
        near = get_close_matches(_flat(name), flat, n=1, cutoff=0.5)
        hint = f" Did you mean {flat[near[0]]}?" if near else ""
        raise ValueError(f"{option} {name!r} is unknown.{hint} There are: {', '.join(known)}.")
    made = known[flat[_flat(name)]]
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
    from paretoid.goals import AtMost, Cover, ParetoSet

    slack = numbers(eps1, "--eps1")
    found: list[Goal] = [
        make(each, (ParetoSet, AtMost, Cover), "--goal", {"eps1": slack})
        for each in named or ["ParetoSet"]
    ]
    found += [AtMost(each, slack) for each in k or []]
    found += [Cover(slack, numbers(each, "--eps2")) for each in eps2 or []]
    return found


def radius(text: str) -> Radius:
    """--radius."""
    from theory.radii import KaufmannKoolen, Mixture, SingleArm, UnknownScale
    from theory.single_stream import ArmMixture, IteratedLogarithm

    kinds = (Mixture, UnknownScale, KaufmannKoolen, SingleArm, ArmMixture, IteratedLogarithm)
    made: Radius = make(text, kinds, "--radius")
    return made


def rule(text: str) -> Rule:
    """--rule."""
    from paretoid import rules

    kinds = (rules.APE, rules.UniformElimination, rules.RoundRobin, rules.LUCB, rules.LUCBpp,
             rules.UGapEc)  # fmt: skip
    made: Rule = make(text, kinds, "--rule")
    return made


def instance(name: str, kind: str | None, scale: str | None, minimize: str | None) -> Bandit:
    """INSTANCE with --kind, --scale and --minimize."""
    from paretoid.instances import load_instance

    return load_instance(name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize))
