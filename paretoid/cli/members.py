"""Goals, radii, rules and instances as words on the command line.

`Mixture`, `mixture:rho=100` and `Mixture(rho=100.0, union='claims')` all name a radius: the last
is how results print it, the middle one needs no quotes in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from paretoid.cli.options import numbers, words
from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet
from paretoid.registry import make as construct
from paretoid.registry import split, type_of
from paretoid.text import MARGINS
from paretoid.theory.checks import check_choice
from paretoid.theory.limits import Limit, at_least, at_most

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


_LIMIT = re.compile(r"\s*(.+?)\s*([<>])=?\s*([^,<>]+?)\s*((?:,[^,]*)*)")


def limits(given: list[str] | None) -> dict[str, Limit] | None:
    """The limits of --limit, by objective; None: there are none.

    >>> limits(["toxicity<0.30", "effect > 2, slack=0.1, compared"])
    {'toxicity': Limit(most=0.3), 'effect': Limit(least=2.0, slack=0.1, compared=True)}
    """
    found: dict[str, Limit] = {}
    for text in given or []:
        parts = _LIMIT.fullmatch(text)
        if parts is None:
            raise ValueError(
                f"--limit {text!r} must be NAME<NUMBER or NAME>NUMBER, as in 'toxicity<0.30'; "
                f"',slack=0.05' and ',compared' may follow."
            )
        name, sign, value, rest = parts.groups()
        if name in found:
            raise ValueError(f"--limit is given twice for {name!r}; an objective has one limit.")
        words = {word.strip() for word in rest.split(",") if word.strip()}
        slack = [word.partition("=")[2] for word in words if word.startswith("slack=")]
        strange = sorted(word for word in words if word != "compared" and "slack=" not in word)
        try:
            if strange:
                raise ValueError(f"{strange[0]!r} is neither slack=NUMBER nor compared")
            make_limit = at_most if sign == "<" else at_least
            found[name] = make_limit(
                float(value), slack=float((slack or ["0"])[0]), compared="compared" in words
            )
        except ValueError as error:
            raise ValueError(f"--limit {text!r}: {error}") from None
    return found or None


def whole_set(
    margin_means: str, margin: Any, *others: Any, limits: dict[str, Limit] | None = None
) -> Goal:
    """The whole set, by what --margin-means says of its margin; `others` are --k, --eps2, --goal.

    >>> whole_set("any", 0.5), whole_set("all", 0.5)
    (ParetoSet(eps1=0.5), PracticalSet(margin=0.5, slack=0.25))
    """
    check_choice(
        margin_means, tuple(MARGINS), name="--margin-means",
        why="close in any endpoint is enough, or all of them count.",
    )  # fmt: skip
    if margin_means == "any":
        return ParetoSet(margin, limits=limits)
    if any(others) or limits:
        raise ValueError(
            "--margin-means all is proved for the whole set only, not for k arms, covers or "
            "limits. Leave out --k, --eps2, --goal and --limit, or use --margin-means any."
        )
    return PracticalSet(margin)


def goals(
    named: list[str] | None,
    k: list[int] | None,
    eps1: str,
    eps2: list[str] | None,
    margin_means: str = "any",
    limit: list[str] | None = None,
) -> list[Goal]:
    """The goals asked for: --goal or the whole Pareto set, then one for every --k and --eps2."""
    slack = numbers(eps1, "--eps1")
    within = limits(limit)
    whole = whole_set(margin_means, slack, named, k, eps2, limits=within)
    if margin_means == "all":
        return [whole]
    asked: list[Goal] = [
        make(name, "goal", "--goal", {"eps1": slack, "limits": within})
        for name in named or ["ParetoSet"]
    ]
    asked += [AtMost(size, slack, limits=within) for size in k or []]
    asked += [Cover(slack, numbers(slack2, "--eps2"), limits=within) for slack2 in eps2 or []]
    return asked


def radius(text: str) -> Radius:
    """The radius that the option --radius names."""
    made: Radius = make(text, "radius", "--radius")
    return made


def rule(text: str, budget: int | None = None) -> Rule:
    """The rule that the option --rule names; `budget` is for rules that need one."""
    made: Rule = make(text, "rule", "--rule", {} if budget is None else {"budget": budget})
    if budget is not None and made.budget not in (None, budget):
        raise ValueError(f"--rule {text} and --budget {budget} disagree. Give one of them.")
    return made


def instance(
    name: str,
    kind: str | None,
    scale: str | None,
    minimize: str | None,
    maximize: str | None = None,
) -> Bandit:
    """The bandit that INSTANCE names, with what --kind, --scale, --minimize and --maximize say."""
    from paretoid.instances import load_instance

    return load_instance(
        name, kind=kind, scale=numbers(scale, "--scale"), minimize=words(minimize),
        maximize=words(maximize),
    )  # fmt: skip
