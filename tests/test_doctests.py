"""Every doctest of the installed packages, found by walking them; and none is missing."""

from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import pkgutil
import re
import types

import pytest

import paretoid

WALKED = list(pkgutil.walk_packages(paretoid.__path__, "paretoid."))
MODULES = sorted(found.name for found in WALKED if not found.name.endswith("__main__"))
PACKAGES = ["paretoid", *(found.name for found in WALKED if found.ispkg)]

PARSER = doctest.DocTestParser()


@pytest.fixture(scope="module", autouse=True)
def examples_share_their_fits():
    """Many examples begin with the same call of `estimation.fit`: it is sampled once."""
    estimation = importlib.import_module("paretoid.estimation")
    real, made = estimation.fit, {}

    @functools.wraps(real)
    def fit(trial, *arguments, **options):
        key = (trial.to_json(), arguments, tuple(sorted(options.items())))
        if key not in made:
            made[key] = real(trial, *arguments, **options)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimation, "fit", fit)
        yield


#: examples that plan a trial on a calendar, or draw every round of a run
SLOW = {"paretoid.plots.recruitment", "paretoid.plots.over_time"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in MODULES]
    + ["paretoid"],
)
def test_the_examples_in_docstrings_are_true(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def examples(thing):
    """The source of the examples in one docstring."""
    if not thing.__doc__:
        return ""
    return "".join(example.source for example in PARSER.get_examples(inspect.getdoc(thing)))


def methods(kind):
    """(name, function) of the public methods and properties that we wrote."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if isinstance(found, property):
            found = found.fget
        elif isinstance(found, (classmethod, staticmethod)):
            found = found.__func__
        if name.startswith(("_", "test_")) or not inspect.isfunction(found):
            continue  # the tests of `validation.conformance` are shown as a whole
        if found.__module__.startswith("paretoid."):
            yield name, found


def unshown(name, thing):
    """What of a public name no example shows.

    A function has its own example. A class has one, and every public method has its own or is
    used in one of its class, or of a base that declares it.
    """
    missing = [] if examples(thing) else [name]
    if inspect.isclass(thing):
        lineage = [each for each in thing.__mro__ if each.__module__.startswith("paretoid.")]
        shown = "".join(examples(each) for each in lineage)
        shown += "".join(examples(function) for each in lineage for _, function in methods(each))
        missing += [
            f"{name}.{method}"
            for method, function in methods(thing)
            if not function.__doc__
            or not (examples(function) or re.search(rf"\.{method}\b", shown))
        ]
    return missing


@pytest.mark.parametrize("package", [*PACKAGES, "paretoid.theory.checks"])
def test_every_public_name_has_an_example(package):
    module = importlib.import_module(package)
    missing = []
    for name in getattr(module, "__all__", []):
        thing = getattr(module, name)
        # A table, such as INSTANCES, and a type for annotations have no docstring of their own.
        if callable(thing) and not isinstance(thing, types.GenericAlias):
            missing += unshown(name, thing)
    assert missing == []


def test_a_name_without_an_example_is_found():
    class Bare:
        """No example."""

        def shown(self):
            """Nor here."""

    class Half:
        """One that shows one method of two.

        >>> Half().shown()
        """

        def shown(self):
            """Return None."""

        def hidden(self):
            """Return None."""

    for kind in (Bare, Half):
        kind.__module__ = kind.shown.__module__ = "paretoid.theory.made_up"
    Half.hidden.__module__ = "paretoid.theory.made_up"
    assert unshown("Bare", Bare) == ["Bare", "Bare.shown"]
    assert unshown("Half", Half) == ["Half.hidden"]
