"""The API reference builds from the docstrings without a warning, and shows what is public."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import paretoid
from paretoid import theory, validation

SCRIPT = Path(__file__).parents[1] / "examples" / "make_reference.py"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    result = subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), str(folder)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("package", [paretoid, theory, validation], ids=lambda p: p.__name__)
def test_every_public_name_is_in_the_reference(pages, package):
    page = (pages / f"{package.__name__.replace('.', '/')}.html").read_text(encoding="utf-8")
    for name in package.__all__:
        if inspect.ismodule(getattr(package, name)):
            assert (pages / package.__name__.replace(".", "/") / f"{name}.html").is_file()
        else:
            assert f'<section id="{name}">' in page, name


def test_parts_with_their_own_exports_have_their_own_page(pages):
    assert (pages / "index.html").is_file()
    for name in ("runs", "estimation", "explorer", "rules"):
        assert (pages / "paretoid" / f"{name}.html").is_file()


def test_equations_keep_their_backslashes_and_lists_their_columns(pages):
    theory_page = (pages / "paretoid" / "theory.html").read_text(encoding="utf-8")
    assert r"S^\star = \{i\} \\ \Delta_i" in theory_page
    paretoid_page = (pages / "paretoid.html").read_text(encoding="utf-8")
    assert "<pre><code>means       (K, D) in the user" in paretoid_page


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_the_script_is_true(script):
    assert doctest.testmod(script) == (0, 1)


def test_a_name_that_does_not_resolve_stops_the_build(script, monkeypatch, tmp_path):
    (tmp_path / "made_up_package.py").write_text("__all__ = ['nowhere']", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(script, "public_packages", lambda: ["made_up_package"])
    with pytest.raises(UserWarning, match="nowhere"):
        script.main([str(tmp_path / "pages")])
