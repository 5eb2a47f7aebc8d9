"""What documents, docstrings and comments call ours is there: modules, files, classes."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from paretoid import registry

ROOT = Path(__file__).parents[1]
FOLDERS = ("paretoid", "theory", "validation", "examples")
CODE = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not any((ROOT / link) in path.parents for link in ("paretoid/theory", "paretoid/validation"))
]
DOCUMENTS = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
]

#: files that CONTRIBUTING.md has its reader write, and what a campaign's folder has
IMAGINED = {
    "theory/radii/count_union.py", "paretoid/rules/explore.py", "paretoid/goals/best_of.py",
    "paretoid/bandits/uniform.py", "paretoid.bandits.uniform", "paretoid.goals.best_of",
    "paretoid.rules.explore", "paretoid.theory.radii.count_union",
}  # fmt: skip
#: names of others, in backticks and with capitals inside
THEIRS = {"LocalCluster", "SeedSequence"}
#: where an earlier name stands because it is about that name
EARLIER = {"registry.py", "CHANGELOG.md"}

_DOTTED = re.compile(r"(?<![\w./:@-])paretoid((?:\.[A-Za-z_]\w*)+)(?![\w/-])")
#: in backticks, as users write them after `import paretoid as pt` and the like
_SHORT = re.compile(r"`(pt|theory|validation|estimation|plots|design)((?:\.[A-Za-z_]\w*)+)")
_PATH = re.compile(
    r"(?<![\w./-])((?:paretoid|theory|validation|tests|examples)/[\w/]+\.(?:py|md))\b"
)
_CLASS = re.compile(r"`(?:pt\.)?([A-Z][a-z]+(?:[A-Z][a-z0-9]+)+)(?:\([^`]*\))?`")
#: endings of files, after which a dotted word names a file and no module
_ENDINGS = ("toml", "py", "md", "db", "html", "json", "bib")


def prose(path):
    """The text of a document; the docstrings and comments of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    tree = ast.parse(text)
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    words = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, nodes)]
    return "\n".join([*words, *re.findall(r"#.*", text)])


def exists(name):
    """True: a module of ours, or what one has, attribute by attribute."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            found = find_spec(module) is not None
        except ModuleNotFoundError:
            found = False
        if found:
            thing = import_module(module)
            for part in parts[end:]:
                fields = getattr(thing, "__dataclass_fields__", {})
                if not hasattr(thing, part) and part not in fields:
                    return False
                thing = getattr(thing, part, None)
            return True
    return False


@cache
def classes():
    """Every class that is defined anywhere in the repository, tests and documents included."""
    sources = [*CODE, *sorted((ROOT / "tests").rglob("*.py")), *DOCUMENTS]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(r"^\s*class (\w+)", text, re.M)) | set(dir(builtins)) | THEIRS


@pytest.mark.parametrize("path", [*DOCUMENTS, *CODE], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_is_there(path):
    text = prose(path)
    dotted = {f"paretoid{rest}" for rest in _DOTTED.findall(text)}
    for short, rest in _SHORT.findall(text):
        dotted.add("paretoid" + rest if short == "pt" else f"paretoid.{short}{rest}")
    dotted = {name for name in dotted if name.rpartition(".")[2] not in _ENDINGS}
    missing = [name for name in sorted(dotted - IMAGINED) if not exists(name)]
    files = set(_PATH.findall(text)) - IMAGINED
    missing += [name for name in sorted(files)
                if not (ROOT / name).exists() and not (path.parent / name).exists()]  # fmt: skip
    missing += sorted(set(_CLASS.findall(text)) - classes())
    earlier = set(registry.ALIASES) if path.name not in EARLIER else set()
    missing += [name for name in sorted(earlier) if re.search(rf"\b{name}\b", text)]
    assert not missing


def test_an_earlier_name_is_read_in_files_and_is_no_name_in_python():
    import paretoid as pt
    from paretoid import theory

    for earlier, name in registry.ALIASES.items():
        assert registry.type_of(earlier, "radius") is getattr(pt, name)
        assert not any(hasattr(module, earlier) for module in (pt, theory, theory.radii))
