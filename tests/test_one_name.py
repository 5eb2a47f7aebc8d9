"""One name in site-packages: what others call `theory` or `validation` is theirs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("theory", "validation")


def python(*arguments, cwd, path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # the plugin is named, installed or not
    }
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def project(tmp_path):
    """Somebody's directory with a theory.py and a package validation, and a test."""
    (tmp_path / "theory.py").write_text("whose = 'mine'\n")
    (tmp_path / "validation").mkdir()
    (tmp_path / "validation" / "__init__.py").write_text("whose = 'mine too'\n")
    (tmp_path / "test_mine.py").write_text(
        "import theory, validation\n\n"
        "def test_mine():\n"
        "    assert (theory.whose, validation.whose) == ('mine', 'mine too')\n"
    )
    return tmp_path


def test_a_script_beside_its_own_theory_imports_paretoid(project):
    code = (
        "import paretoid, theory, validation; from paretoid.theory import gaps\n"
        "from paretoid.validation import coverage\n"
        "print(theory.whose, validation.whose, paretoid.theory is theory)"
    )
    run = python("-c", code, cwd=project, path=[project, ROOT])
    assert run.stdout.split("\n")[0] == "mine mine too False", run.stderr


def test_pytest_of_a_project_with_its_own_validation_is_left_alone(project):
    plugin = "paretoid.validation.pytest_plugin"
    run = python(
        "-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider", cwd=project,
        path=[project, ROOT],
    )  # fmt: skip
    assert "1 passed" in run.stdout, run.stdout + run.stderr


def test_a_clone_without_links_runs(tmp_path):
    """As git leaves it on Windows without the privilege: a small file where each link should be."""
    shutil.copytree(
        ROOT / "paretoid", tmp_path / "paretoid", symlinks=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    for name in FOLDERS:
        link = tmp_path / "paretoid" / name
        assert link.is_symlink()
        link.unlink()
        link.write_text(f"../{name}")
        shutil.copytree(ROOT / name, tmp_path / name)
    code = (
        "from paretoid import theory, validation; import paretoid.validation.benchmarks\n"
        "print(theory.__file__); print(validation.__file__)"
    )
    run = python("-c", code, cwd=tmp_path, path=[tmp_path])
    expected = [str(tmp_path / name / "__init__.py") for name in FOLDERS]
    assert run.stdout.split() == expected, run.stderr


def test_names_are_listed_once_for_people_and_once_for_type_checkers():
    """The lazy table, __all__ and the imports under TYPE_CHECKING agree, and all resolve."""
    import ast

    import paretoid

    tree = ast.parse((ROOT / "paretoid" / "__init__.py").read_text(encoding="utf-8"))
    checked = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("paretoid")
        for alias in node.names
    }
    lazy = {name: f"paretoid.{module}" for name, module in paretoid._WHERE.items()}
    lazy |= dict.fromkeys(paretoid._MODULES, "paretoid")
    assert checked == lazy
    assert set(paretoid.__all__) == set(lazy)
    assert all(getattr(paretoid, name) is not None for name in paretoid.__all__)


@pytest.mark.parametrize(
    "document", sorted(p for p in ROOT.rglob("*.md") if p.is_file()), ids=lambda p: p.name
)
def test_no_document_imports_a_folder_by_its_bare_name(document):
    bare = re.compile(r"^\W*(?:from|import) (?:theory|validation)\b", re.MULTILINE)
    assert not bare.search(document.read_text())
