"""Goals, rules, radii and bandits by name, as text and as plain data, without loss.

The only place that spells them. Ours go by the names below, which never change when modules move;
others' by module, name and arguments, and only if that is enough to find them again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from paretoid.bandits import (
    Bandit,
    BernoulliBandit,
    GaussianBandit,
    MixedBandit,
    ResampledBandit,
)
from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet
from paretoid.goals.base import said
from paretoid.randomisation import Randomisation
from paretoid.rules import (
    APE,
    EGE,
    LUCB,
    LUCBpp,
    PosteriorSampling,
    RoundRobin,
    Rule,
    TopTwo,
    Tracking,
    UGapEc,
    UniformElimination,
)
from paretoid.text import meant
from paretoid.theory.checks import check_choice
from paretoid.theory.limits import Limit
from paretoid.theory.member import Member, arguments
from paretoid.theory.radii import (
    BetaBinomial,
    KaufmannKoolen,
    LUCB1Like,
    MixedScale,
    Mixture,
    Radius,
    UnknownScale,
)
from paretoid.theory.shares import Shares
from paretoid.theory.single_stream import ArmMixture, IteratedLogarithm


def _by_name(*classes: type[Any]) -> dict[str, type[Any]]:
    return {kind.__name__: kind for kind in classes}


GOALS = _by_name(ParetoSet, Cover, AtMost, PracticalSet)
#: on differences of two arms
PAIR_RADII = _by_name(Mixture, KaufmannKoolen, UnknownScale, MixedScale, LUCB1Like)
#: on differences of two rates, for outcomes 0 or 1
RATE_RADII = _by_name(BetaBinomial)
#: on single arms, for rules that compare those
ARM_RADII = _by_name(ArmMixture, IteratedLogarithm)
RADII = {**PAIR_RADII, **RATE_RADII, **ARM_RADII}
RULES = _by_name(
    APE, UniformElimination, RoundRobin, TopTwo, Tracking, PosteriorSampling, EGE, LUCB, LUCBpp,
    UGapEc,
)  # fmt: skip
BANDITS = _by_name(GaussianBandit, BernoulliBandit, ResampledBandit, MixedBandit)
#: values that arguments of members may have, besides plain ones
VALUES: dict[str, type[Any]] = _by_name(Shares, Limit, Randomisation)
#: earlier names, in files that were written under them
ALIASES = {"SingleArm": "LUCB1Like"}
#: what files that do not say it mean: they were written before it could be said
UNSAID = {"Mixture": {"sides": "two"}, "UnknownScale": {"sides": "two"}}

_BASES: dict[str, type[Any]] = {"goal": Goal, "radius": Radius, "rule": Rule, "bandit": Bandit}
_KINDS = {"goal": GOALS, "radius": RADII, "rule": RULES, "bandit": BANDITS}
_SPEC = re.compile(r"\s*([\w.:+-]*[\w+-])\s*(?::(?P<colon>[^:]*=.*)|\((?P<paren>.*)\))?\s*", re.S)


def is_ours(member: Any) -> bool:
    """True: the class itself, not a subclass of it, is one that we ship.

    >>> is_ours(Mixture()), is_ours(type("Mine", (Mixture,), {})())
    (True, False)
    """
    kinds = (*GOALS.values(), *RADII.values(), *RULES.values(), *BANDITS.values())
    return type(member) in kinds


# -- text ----------------------------------------------------------------------------------------


def text(member: Any) -> str:
    """A goal, a rule or a radius as text; that of ours `parse` reads back, equal.

    >>> text(AtMost(2, eps1=(0.1, 1 / 3)))
    'AtMost(k=2, eps1=(0.1, 0.3333333333333333))'
    >>> parse(text(Mixture(rho=0.1)), "radius") == Mixture(rho=0.1)
    True
    """
    return repr(member)


def parse(spec: str, what: str) -> Any:
    """The goal, radius or rule (`what`) that a text names: as results print it, or for a shell.

    >>> parse("mixture:rho=100,union=pairs", "radius")
    Mixture(rho=100.0, union='pairs', sides='two')
    >>> parse("Cover(eps1=(0.1, 0.2), eps2=0.5)", "goal")
    Cover(eps1=(0.1, 0.2), eps2=0.5)
    >>> parse("kaufmann-koolen", "radius").calibration
    'exact'
    """
    name, given = split(spec)
    return make(name, given, what, shown=spec)


def parse_all(specs: str, what: str) -> list[Any]:
    """What texts with semicolons between them name; names in quotes may have semicolons too.

    >>> parse_all("AtMost(k=2); ParetoSet(limits={'pain; worst': Limit(most=3.0)})", "goal")
    [AtMost(k=2, eps1=0.0), ParetoSet(eps1=0.0, limits={'pain; worst': Limit(most=3.0)})]
    """
    return [parse(ast.unparse(one), what) for one in ast.parse(specs).body]


def calls(specs: str) -> str:
    """Texts with semicolons between them as a script writes them after `import paretoid as pt`.

    >>> calls("AtMost(k=2); ParetoSet(limits={'pain; worst': Limit(most=3.0)})")
    "pt.AtMost(k=2), pt.ParetoSet(limits={'pain; worst': pt.Limit(most=3.0)})"
    """
    try:
        return ", ".join(ast.unparse(_Public().visit(one)) for one in ast.parse(specs).body)
    except SyntaxError:  # somebody else's member, which prints as it likes
        return specs


class _Public(ast.NodeTransformer):
    """Every name as one of the package's."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Attribute(ast.Name("pt"), node.id)


def goal_of(spec: str) -> Goal | None:
    """The goal of ours that a Dataset's coordinate prints; None if it is none.

    >>> goal_of("AtMost(k=2, eps1=0.5)"), goal_of("print(1)")
    (AtMost(k=2, eps1=0.5), None)
    """
    goal: Goal | None = _printed(spec, "goal")
    return goal


def radius_of(spec: str) -> Radius | None:
    """The radius of ours that a Dataset's attribute or coordinate prints; None if it is none.

    >>> radius_of("SingleArm()"), radius_of("Mixture")
    (LUCB1Like(), None)
    >>> radius_of("Mixture(rho=30.0, union='claims')")    # as it was printed once
    Mixture(rho=30.0, union='claims', sides='two')
    """
    radius: Radius | None = _printed(spec, "radius")
    return radius


def canonical(spec: str, what: str) -> str:
    """A text as we would write it today; one that is not of ours stays as it is.

    >>> canonical("SingleArm()", "radius"), canonical("Mine(3)", "goal")
    ('LUCB1Like()', 'Mine(3)')
    """
    member = _printed(spec, what)
    return spec if member is None else text(member)


def _printed(spec: str, what: str) -> Any:
    name = spec.partition("(")[0]
    if not spec.endswith(")") or name not in {**_KINDS[what], **ALIASES}:
        return None  # a bare name says nothing of its arguments
    try:
        name, given = split(spec)
        return make(name, {**UNSAID.get(name, {}), **given}, what)
    except (ValueError, TypeError):
        return None


def split(spec: str) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of a text.

    >>> split("mixture:rho=100,union=pairs")
    ('mixture', {'rho': 100, 'union': 'pairs'})
    """
    parsed = _SPEC.fullmatch(spec)
    if parsed is None:
        raise ValueError(f"{spec!r} must be a NAME, or NAME:key=value,key=value.")
    inside = parsed["colon"] or parsed["paren"] or ""
    given: dict[str, Any] = {}
    for part in _parts(inside):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise ValueError(f"{spec!r}: {part.strip()!r} must be key=value.")
        if key in given:
            raise ValueError(f"{spec!r} gives {key} twice.")
        given[key] = _value(value)
    return parsed[1], given


def _parts(inside: str) -> list[str]:
    """The text between commas that are in no bracket and no quotes."""
    parts, depth, quote, begin, escaped = [], 0, "", 0, False
    for at, sign in enumerate(inside):
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = sign == "\\" and not escaped
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(inside[begin:at])
            begin = at + 1
    parts.append(inside[begin:])
    return parts if inside.strip() else []


def _value(written: str) -> Any:
    """A literal, one of VALUES with its arguments, or a word."""
    try:
        return _literal(ast.parse(written, mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return written  # a word, such as pairs


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in VALUES:
        named = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
        return VALUES[node.func.id](*map(_literal, node.args), **named)
    if isinstance(node, (ast.Tuple, ast.List)):
        inner = [_literal(member) for member in node.elts]
        return tuple(inner) if isinstance(node, ast.Tuple) else inner
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_literal(key): _literal(value) for key, value in pairs if key is not None}
    return ast.literal_eval(node)


# -- objects -------------------------------------------------------------------------------------


def make(name: str, given: Mapping[str, Any], what: str, shown: str | None = None) -> Any:
    """The member of that name with these arguments; capitals and hyphens do not matter."""
    shown = name if shown is None else shown
    kind = type_of(name, what)
    if is_dataclass(kind):
        _check_arguments(kind, given, what, shown)
    try:
        return kind(**given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{what} {shown!r}: {error}") from None


def type_of(name: str, what: str) -> type[Any]:
    """The class that a name stands for.

    >>> type_of("kaufmann-koolen", "radius").__name__
    'KaufmannKoolen'
    """
    kinds = _KINDS[what]
    flat = {_flat(known): known for known in kinds} | {
        _flat(old): new for old, new in ALIASES.items() if new in kinds
    }
    module, colon, rest = name.partition(":")
    if colon:
        if _flat(module) in flat:
            raise ValueError(f"{what} {name!r}: {rest!r} must be key=value.")
        return _imported(name, what)
    if _flat(name) not in flat:
        raise ValueError(
            f"{what} {name!r} is unknown{meant(name, kinds)} There are: {', '.join(kinds)}."
        )
    return kinds[flat[_flat(name)]]


def _flat(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


def _check_arguments(kind: type[Any], given: Mapping[str, Any], what: str, shown: str) -> None:
    allowed = {argument.name: argument for argument in fields(kind)}
    for key in given:
        if key not in allowed:
            takes = ", ".join(allowed) or "nothing"
            raise ValueError(
                f"{what} {shown!r}: no argument {key!r}{meant(key, allowed)} It takes {takes}."
            )
    for key, argument in allowed.items():
        required = argument.default is MISSING and argument.default_factory is MISSING
        if required and key not in given:
            raise ValueError(f"{what} {shown!r} needs {key}, as in {shown}:{key}=2.")


def _imported(name: str, what: str) -> type[Any]:
    """A class of somebody else's, MODULE:NAME; only one that is such a member."""
    module, _, path = name.partition(":")
    try:
        thing: Any = import_module(module)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{what} {name!r} cannot be imported ({error}). Install or put on the path what it was "
            f"written in."
        ) from None
    if not isinstance(thing, type) or not issubclass(thing, _BASES[what]):
        raise ValueError(f"{name!r} is no {what}: it is not derived from {_BASES[what].__name__}.")
    return thing


# -- plain data ----------------------------------------------------------------------------------


def to_dict(member: Any) -> dict[str, Any]:
    """A member as plain data, for JSON; `from_dict` reads it back, equal.

    >>> to_dict(Cover(eps2=0.5))
    {'kind': 'Cover', 'eps1': 0.0, 'eps2': 0.5}
    """
    name = type(member).__name__ if is_ours(member) else identity(member)
    given = said(member) if isinstance(member, Goal) else arguments(member)
    return {"kind": name, **{key: _plain(value) for key, value in given.items()}}


def from_dict(table: Any, what: str, *, stored: bool = False) -> Any:
    """A member from plain data; `stored`: from a file of ours, which may be older than an argument.

    >>> from_dict({"kind": "AtMost", "k": 2, "eps1": [0.1, 0.2]}, "goal")
    AtMost(k=2, eps1=(0.1, 0.2))
    """
    if not isinstance(table, Mapping) or not isinstance(table.get("kind"), str):
        raise ValueError(
            f"the {what} must be a table with a kind, one of {', '.join(_KINDS[what])}."
        )
    kind = table["kind"]
    if ":" not in kind and kind not in ALIASES:  # what is written in files is exact
        check_choice(kind, tuple(_KINDS[what]), name="kind", why=f"it is the kind of the {what}.")
    given = {key: _restored(value) for key, value in table.items() if key != "kind"}
    return make(kind, {**(UNSAID.get(kind, {}) if stored else {}), **given}, what)


def _plain(value: Any) -> Any:
    """Numbers, words, lists and tables; anything else is refused."""
    if type(value) in VALUES.values():
        inner = {key: _plain(part) for key, part in arguments(value).items()}
        return {"kind": type(value).__name__, **inner}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{value!r} is neither a number, nor text, nor a list of them")


def _restored(value: Any) -> Any:
    if isinstance(value, Mapping):
        inner = {key: _restored(part) for key, part in value.items()}
        if value.get("kind") in VALUES:
            inner.pop("kind")
            return VALUES[value["kind"]](**inner)
        return inner
    if isinstance(value, list):
        return tuple(_restored(part) for part in value)
    return value


# -- others' -------------------------------------------------------------------------------------


def identity(member: Any) -> str:
    """MODULE:NAME of somebody else's class, under which it is found again; else refused.

    >>> class Local(Goal):
    ...     pass
    >>> identity(Local())    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Local() cannot be kept in a file: ...
    """
    kind = type(member)
    module, path = kind.__module__, kind.__qualname__
    reason = ""
    if module == "__main__":
        reason = "its class is defined in the script that runs, which nobody can import later"
    elif "<" in path:
        reason = "its class is defined inside a function, where nobody can find it later"
    else:
        try:
            what = next(name for name, base in _BASES.items() if issubclass(kind, base))
            if _imported(f"{module}:{path}", what) is not kind:
                reason = f"{module}:{path} is another class now"
            for key, value in arguments(member).items():
                if isinstance(member, Member):
                    _refuse_strange(key, value)
        except ValueError as error:
            reason = str(error)
    if reason:
        raise ValueError(
            f"{member!r} cannot be kept in a file: {reason}. Define it at the top of a module of "
            f"its own, with plain arguments, or run without a file."
        )
    return f"{module}:{path}"


def _refuse_strange(key: str, value: Any) -> None:
    try:
        _plain(value)
    except ValueError as error:
        raise ValueError(f"its argument {key}: {error}") from None


def stored_member(spec: str, what: str, others: Sequence[str]) -> Any:
    """The member that a file names, ours or one of `others`; None if it cannot be made again.

    `others` are the identities of members that are not ours; the module that one names is imported.

    >>> stored_member("AtMost(k=2, eps1=0.0)", "goal", [])
    AtMost(k=2, eps1=0.0)
    >>> stored_member("Mine(size=3)", "goal", ["no_such_module:Mine"]) is None
    True
    """
    member = _printed(spec, what)
    if member is not None:
        return member
    named = [other for other in others if re.split("[:.]", other)[-1] == spec.partition("(")[0]]
    try:
        (name,) = named
        return make(name, split(spec)[1], what)
    except Exception:  # of a module of somebody else's: anything
        return None


def identities(members: Sequence[Any]) -> list[str]:
    """MODULE:NAME of the members that are not ours, each found again; else refused.

    >>> identities([Mixture(), APE()])
    []
    """
    return [identity(member) for member in members if not is_ours(member)]


def kind_of(bandit: Bandit) -> str:
    """The name of a bandit's class; of another's with its module.

    >>> kind_of(BernoulliBandit([[0.5], [0.2]]))
    'BernoulliBandit'
    """
    kind = type(bandit)
    return kind.__name__ if is_ours(bandit) else f"{kind.__module__}:{kind.__qualname__}"


def fingerprint(bandit: Bandit) -> bytes:
    """What somebody else's bandit is made of, as bytes: two that differ in it draw otherwise.

    >>> fingerprint(BernoulliBandit([[0.5], [0.2]])) == fingerprint(BernoulliBandit([[0.5], [0.3]]))
    False
    """
    parts = [kind_of(bandit)]
    for key, value in sorted(vars(bandit).items()):
        shown = value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value)
        parts.append(f"{key}={shown}")
    return "\n".join(parts).encode()
