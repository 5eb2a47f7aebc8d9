"""Refusals of the library in the words of the command line: options and fields, no Python.

The library names arguments (`max_samples=9`), as its users type them. Whoever typed a command
learns options instead (`--max-samples=9`), or, where a design is read from a file, fields of that
file (`max_samples = 9`). A way out that is more than an argument has both names in the library's
sentence: "`tell(..., unplanned=True)`, in the command `trial record --unplanned ARM`".
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

#: arguments of the library that have another name among the options
_OTHER_NAMES = {
    "look_days": "look", "block": "randomise", "control_share": "control", "assumed_variance":
    "assumed_sd", "scenario": "scenarios", "designs": "design", "replications": "runs",
    "goals": "goal", "budgets": "budget", "limits": "limit",
    "arm": "unplanned",
}  # fmt: skip

#: a name that Python gives to something, and what follows it
_ARGUMENT = re.compile(
    r"(?P<kept>(?:(?<=\s)|(?<=^)|(?<=[(=\[]))'[^'\n]*'(?!\w)"  # what a user wrote
    r"|\"[^\"\n]*\""
    r"|(?<![\w.])[A-Za-z_]\w*\((?:[^()]|\([^()]*\))+\))"  # AtMost(k=2, eps1=(0.5, 0.5))
    r"|(?<![\w.'\"/:=-])(?P<name>[a-z]\w*)=(?P<value>True\b|None\b"
    r"|[A-Z]\w*\((?:[^()]|\([^()]*\))*\)|[^\s,;()\[\]{}]*[^\s,;:.()\[\]{}])?(?P<opens>[\[({]?)"
)
#: what follows is about a member's own arguments, which a command line writes NAME:key=value
_MEMBER = re.compile(r"\b(?:rule|radius|goal) '[^'\n]*': ")
#: what follows is about the fields of a file
_FILE = re.compile(r"\S\.toml\b[^:\n]*: ")
#: members and limits that a design file writes as tables
_FIELDS = (
    (re.compile(r"(?<![\w.])(radius|rule)=([A-Z]\w*)\(\)"), r'[\1] kind = "\2"'),
    (re.compile(r"\bat_(most|least)\(([\d.]+)\)"), r'{kind = "Limit", \1 = \2}'),
)
#: a way out that the sentence names twice
_TWICE = (
    (re.compile(r"`[^`]*`, in the command (`[^`]*`)"), r"\1"),
    (re.compile(r"\w+=[^\s,()]*, (--[\w-]+(?: [A-Z]+)?) in the command"), r"\1"),
    (re.compile(r"\w+=[^\s,()]*, (--[^()]+\))"), r"\1"),
    (re.compile(r"\w+=(?:\{[^}]*\}|[^\s,()]*) \((--[^()]*)\)"), r"\1"),
    (re.compile(r"[a-z]+_\w+ \((--[\w-]+)\)"), r"\1"),
    (re.compile(r" \(\w+=(?: in Python)?\)"), ""),
    (re.compile(r"\b([A-Z]\w*)\(\)"), r"\1"),  # APE() is ape, or APE, on a command line
)  # fmt: skip


def in_command_words(message: str, options: Mapping[str, str], *, design: bool = False) -> str:
    """A refusal as the user of a command reads it.

    options   argument to option of the command that runs; see `options_of`
    design    the command works with a design: other arguments are fields of its file

    >>> options = {"max_samples": "--max-samples", "unplanned": "--unplanned"}
    >>> in_command_words("max_samples=0 must be positive. Leave max_samples out.", options)
    '--max-samples=0 must be positive. Leave --max-samples out.'
    >>> in_command_words("tell it with unplanned=True, --unplanned ARM in the command.", options)
    'tell it with --unplanned ARM.'
    >>> in_command_words("AtMost(k=2) needs unplanned=True, not unplanned=None.", options)
    'AtMost(k=2) needs --unplanned, not no --unplanned.'
    >>> in_command_words("mine.toml, scenario 'x': scale=-1 is negative.", {"scale": "--scale"})
    "mine.toml, scenario 'x': scale = -1 is negative."
    >>> in_command_words("Leave out scale=, or pass radius=Mixture().", {}, design=True)
    'Leave out scale, or pass [radius] kind = "Mixture".'
    >>> in_command_words("write at_most(0.3)", {}, design=True)
    'write {kind = "Limit", most = 0.3}'
    """
    for pattern, words in _FIELDS if design else ():
        message = pattern.sub(words, message)
    for pattern, words in _TWICE:
        message = pattern.sub(words, message)
    known = design_fields() if design else frozenset()

    member, file = _MEMBER.search(message), _FILE.search(message)

    def renamed(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if name is None or (member is not None and found.start() >= member.end() and not design):
            return found[0]
        in_file = file is not None and found.start() >= file.end()
        option = None if in_file else options.get(name) or options.get(_OTHER_NAMES.get(name, ""))
        opens = found["opens"]
        bare = value is None and not opens
        if option is not None:
            if value == "None":
                return f"no {option}{opens}"
            joint = "=" if option.startswith("-") else " "
            alone = bare or (value == "True" and joint == "=")
            return option if alone else f"{option}{joint}{value or ''}{opens}"
        if in_file or name in known:
            value = {"True": "true", "False": "false", "None": "nothing"}.get(value, value)
            return name if bare else f"{name} = {value or ''}{opens}"
        return found[0]

    message = _ARGUMENT.sub(renamed, message)
    for name, option in options.items():
        if "_" in name and option.startswith("-"):
            message = re.sub(rf"(?<![\w.'\"/-]){name}(?![\w.'\"/=]*[\w'\"/=])", option, message)
    return message


def options_of(command: Any) -> dict[str, str]:
    """Argument to option of a command, the long name where there are two; or to its metavar."""
    named = {}
    for parameter in command.params:
        words = max(parameter.opts, key=len)
        if parameter.param_type_name == "argument":
            words = (parameter.metavar or parameter.name.upper()).strip("[].")
        named[parameter.name] = words
    return named


def command_of(group: Any, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that words call, and its names; the group itself where they call none."""
    path: list[str] = []
    for word in words:
        known = getattr(group, "commands", {})
        if word in known:
            group = known[word]
            path.append(word)
        elif known and not word.startswith("-"):
            break
    return group, path


@cache
def design_fields() -> frozenset[str]:
    """What a design file may say, in any of its tables.

    >>> {"arms", "delta", "look", "block", "k", "rho"} <= design_fields()
    True
    """
    from paretoid import registry
    from paretoid.conduct import Conduct
    from paretoid.explorer import Design
    from paretoid.randomisation import Randomisation

    names = {*inspect.signature(Design).parameters, "cone", "informed_by", "arithmetic"}
    names |= {field.name for kind in (Conduct, Randomisation) for field in fields(kind)}
    for kind in (*registry.GOALS.values(), *registry.RADII.values(), *registry.RULES.values()):
        names |= {*inspect.signature(kind).parameters}
    return frozenset(names)
