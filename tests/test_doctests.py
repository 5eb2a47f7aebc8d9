"""Every doctest of the installed packages, found by walking them."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import paretoid
import theory
import validation

MODULES = sorted(
    name
    for package in (paretoid, theory, validation)
    for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    if not name.endswith("__main__")
)


@pytest.mark.parametrize("name", [*MODULES, "paretoid", "theory", "validation"])
def test_the_examples_in_docstrings_are_true(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_doctests_to_run():
    finder = doctest.DocTestFinder()
    found = [t for n in MODULES for t in finder.find(importlib.import_module(n)) if t.examples]
    assert len(found) > 30
