"""The notebooks made from the example scripts say what the scripts say."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPTS = load("make_notebooks").SCRIPTS


def cells_by_hand(script):
    """(kind, text) of the cells, split at the marks by hand."""
    cells = []
    for line in script.read_text(encoding="utf-8").splitlines():
        if line.startswith("# %%"):
            cells.append(("markdown" if "[markdown]" in line else "code", []))
        else:
            kind, lines = cells[-1]
            lines.append(line.removeprefix("#").removeprefix(" ") if kind == "markdown" else line)
    return [(kind, "\n".join(lines).strip()) for kind, lines in cells]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("notebooks")
    load("make_notebooks").main([str(where)])
    return where


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_notebook_has_the_cells_of_the_script(script, folder):
    made = nbformat.read(folder / f"{script.stem}.ipynb", as_version=4)
    nbformat.validate(made)
    assert [(cell.cell_type, cell.source) for cell in made.cells] == cells_by_hand(script)
    assert made.cells[0].source.startswith("# ")
    for cell in made.cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)


def test_every_example_becomes_a_notebook_and_the_same_one_each_time(folder, tmp_path):
    load("make_notebooks").main([str(tmp_path)])
    names = {path.name for path in folder.iterdir()}
    assert names == {f"{script.stem}.ipynb" for script in SCRIPTS}
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()
