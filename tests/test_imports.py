"""Imports flow one way: theory <- paretoid <- validation; nothing imports the command line.

Read from the source of every module, imports inside functions included: they run too. Imports
under TYPE_CHECKING do not run, so they make no cycle, but they keep to the direction.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import paretoid

ROOT = Path(__file__).parents[1]
FOLDERS = {"paretoid": "paretoid", "theory": "paretoid.theory", "validation": "paretoid.validation"}
#: the four nouns, the loop that runs them and their kernels know each other: one layer
CORE = {"bandits", "engine", "goals", "loop", "loop_baselines", "registry", "rules", "view"}


@dataclass(frozen=True)
class Import:
    """One import of a module of ours, and where it stands."""

    source: str
    target: str
    line: int
    in_function: bool = False
    for_types: bool = False

    def __str__(self) -> str:
        return f"{self.source}, line {self.line}, imports {self.target}"


def sources() -> dict[str, str]:
    """Module: its source; the folders theory and validation by the names they are imported by."""
    modules = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            below = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder == "paretoid" and below[0] in FOLDERS:
                continue  # links to the other two
            name = ".".join([package, *below]).removesuffix(".__init__")
            modules[name] = path.read_text(encoding="utf-8")
    return modules


class Reader(ast.NodeVisitor):
    """Collects the imports of one module."""

    def __init__(self, module: str, modules: frozenset[str]) -> None:
        self.module, self.modules = module, modules
        self.imports: list[Import] = []
        self.in_function = self.for_types = False
        self.aliases: set[str] = set()  # of the package itself, such as pt

    def add(self, node: ast.AST, target: str, name: str = "") -> None:
        """The module that `from target import name` needs; names of the package are looked up."""
        if f"{target}.{name}" in self.modules:
            target = f"{target}.{name}"
        elif target == "paretoid" and name in paretoid._WHERE:
            target = f"paretoid.{paretoid._WHERE[name]}"
        if target.split(".")[0] == "paretoid" and target != self.module:
            where = (node.lineno, self.in_function, self.for_types)
            self.imports.append(Import(self.module, target, *where))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name == "paretoid":
                self.aliases.add(alias.asname or alias.name)
            else:
                self.add(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, f"{self.module} has a relative import"
        for alias in node.names:
            self.add(node, node.module or "", alias.name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.aliases:
            self.add(node, "paretoid", node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func).split(".")[-1]
        if called in ("import_module", "__import__") and isinstance(node.args[0], ast.Constant):
            self.add(node, str(node.args[0].value))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        before = self.for_types
        self.for_types = before or ast.unparse(node.test).endswith("TYPE_CHECKING")
        for child in node.body:
            self.visit(child)
        self.for_types = before
        for child in node.orelse:
            self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before, self.in_function = self.in_function, True
        self.generic_visit(node)
        self.in_function = before

    visit_AsyncFunctionDef = visit_FunctionDef


@cache
def read(name: str, source: str, modules: frozenset[str]) -> list[Import]:
    reader = Reader(name, modules)
    reader.visit(ast.parse(source))
    return reader.imports


def imports(modules: dict[str, str]) -> list[Import]:
    names = frozenset(modules)
    return [line for name, source in modules.items() for line in read(name, source, names)]


def layer(module: str) -> str:
    """The part of the package that a module belongs to: the folder, or the file, below the top."""
    part = module.split(".")[1] if "." in module else module
    return "core" if part in CORE else part


def cycle(pairs: Iterator[tuple[str, str]]) -> list[str]:
    """Names that import each other in a ring; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for source, target in pairs:
        if source != target:
            graph.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def problems(modules: dict[str, str]) -> list[str]:
    """Every way in which imports do not flow as they should, in words."""
    lines = imports(modules)
    run = [line for line in lines if not line.for_types]
    said = []
    for name, pairs in (
        ("modules", ((line.source, line.target) for line in run)),
        ("parts", ((layer(line.source), layer(line.target)) for line in run)),
    ):
        ring = cycle(pairs)
        said += [f"{name} in a ring: {' -> '.join(reversed(ring))}"] if ring else []
    for line in lines:
        source, target = layer(line.source), layer(line.target)
        command = source == "cli" and line.in_function
        reexport = line.source == "paretoid" and line.for_types
        if target == "cli" and source not in ("cli", "__main__"):
            said.append(f"{line}: nothing imports the command line")
        if source == "theory" and target != "theory":
            said.append(f"{line}: theory imports nothing of ours")
        if target == "validation" and source != "validation" and not (command or reexport):
            said.append(f"{line}: only bodies of commands import validation")
    return said


def test_imports_flow_one_way_and_never_in_a_ring():
    modules = sources()
    assert {"paretoid", "paretoid.cli.app", "paretoid.theory.gaps"} <= set(modules)
    assert len(imports(modules)) > 500  # or nothing was read
    assert problems(modules) == []


IN_FUNCTION = "def f():\n    {}\n"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"


@pytest.mark.parametrize(
    ("module", "line", "said"),
    [
        ("paretoid.text", "import paretoid.report.page", "modules in a ring"),
        ("paretoid.text", IN_FUNCTION.format("from paretoid import tables"), "modules in a ring"),
        ("paretoid.bandits", "import paretoid as pt\npt.simulate", "modules in a ring"),
        ("paretoid.bandits", IN_FUNCTION.format("from paretoid import simulate"), "in a ring"),
        ("paretoid.estimation.compat", "from paretoid.plots import style", "parts in a ring"),
        ("paretoid.estimation.compat", "from paretoid.report.page import Cell", "parts in a ring"),
        ("paretoid.validation.paper.report", "from paretoid.cli import terminal", "command line"),
        ("paretoid.text", FOR_TYPES.format("from paretoid.cli.app import app"), "command line"),
        ("paretoid.theory.gaps", "import paretoid.text", "theory imports nothing"),
        ("paretoid.theory.gaps", IN_FUNCTION.format("import paretoid as pt\n    pt.APE"), "theory"),
        ("paretoid.runs.tiles", "from paretoid.validation import engine", "bodies of commands"),
        ("paretoid.runs.tiles", IN_FUNCTION.format("import paretoid.validation.guard"), "bodies"),
        ("paretoid.cli.app", "from paretoid.validation import guard", "bodies of commands"),
        ("paretoid.runs.tiles", "import_module('paretoid.validation.guard')", "bodies of commands"),
    ],
)
def test_an_import_that_flows_backwards_is_noticed(module, line, said):
    modules = sources()
    modules[module] += "\n" + line
    assert any(said in problem for problem in problems(modules))


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("paretoid.cli.app", IN_FUNCTION.format("from paretoid.validation import guard")),
        ("paretoid.text", FOR_TYPES.format("from paretoid.report.page import Cell")),
        ("paretoid.validation.guard", "import paretoid as pt\npt.simulate"),
        ("paretoid.theory.gaps", "import paretoid.theory.bound"),
        ("paretoid.report.page", "from paretoid.estimation import plan"),
    ],
)
def test_an_import_that_flows_the_right_way_is_no_problem(module, line):
    modules = sources()
    modules[module] += "\n" + line
    assert problems(modules) == []
