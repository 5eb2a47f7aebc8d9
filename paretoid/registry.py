"""Goals, radii and rules by name, and read back from text."""

from __future__ import annotations

import ast
import re
from typing import Any

from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.rules import APE, LUCB, LUCBpp, RoundRobin, Rule, UGapEc, UniformElimination
from paretoid.theory.radii import KaufmannKoolen, Mixture, Radius, SingleArm, UnknownScale
from paretoid.theory.single_stream import ArmMixture, IteratedLogarithm

GOALS: dict[str, type[Goal]] = {each.__name__: each for each in (ParetoSet, Cover, AtMost)}
#: on differences of two arms
PAIR_RADII: dict[str, type[Radius]] = {
    each.__name__: each for each in (Mixture, KaufmannKoolen, UnknownScale, SingleArm)
}
#: on single arms, for rules that compare those
ARM_RADII: dict[str, type[Radius]] = {
    each.__name__: each for each in (ArmMixture, IteratedLogarithm)
}
RADII = {**PAIR_RADII, **ARM_RADII}
RULES: dict[str, type[Rule]] = {
    each.__name__: each for each in (APE, UniformElimination, RoundRobin, LUCB, LUCBpp, UGapEc)
}

_SPEC = re.compile(r"\s*([\w+-]+)\s*(?::(?P<colon>.*)|\((?P<paren>.*)\))?\s*", re.S)


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of a thing as results print it, or as a shell takes it without quotes.

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


def goal_of(text: str) -> Goal | None:
    """The goal that a Dataset's coordinate prints; None if it is none, and no other code is run.

    A goal's text keeps six digits of its margins.

    >>> goal_of("AtMost(k=2, eps1=0.5)"), goal_of("print(1)")
    (AtMost(k=2, eps1=0.5), None)
    """
    goal: Goal | None = _printed(text, GOALS)
    return goal


def radius_of(text: str) -> Radius | None:
    """The radius that a Dataset's attribute or coordinate prints; None if it is none.

    >>> radius_of("Mixture(rho=30.0, union='claims')")
    Mixture(rho=30.0, union='claims')
    """
    radius: Radius | None = _printed(text, RADII)
    return radius


def _printed(text: str, kinds: dict[str, type[Any]]) -> Any:
    if not text.endswith(")"):  # a bare name says nothing of its arguments
        return None
    try:
        name, arguments = parse(text)
        return kinds[name](**arguments)
    except (KeyError, ValueError, TypeError):
        return None
