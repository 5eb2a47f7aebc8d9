"""What to do when another module is imported, without importing it now."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(name: str, then: Callable[[], object]) -> None:
    """Call `then` once the module `name` has been imported: at once, if it is there already.

    >>> said = []
    >>> after_import("sys", lambda: said.append("there already"))
    >>> said
    ['there already']
    """
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _Finder(name, then))


class _Finder:
    """A finder that finds what the others find, and calls `then` when it is loaded."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of the module that is waited for; None, to go on looking, for all others."""
        if name != self.name:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None:
            sys.meta_path.insert(0, self)  # not installed, or not yet
        elif spec.loader is not None:
            load, then = spec.loader.exec_module, self.then

            def load_and_tell(module: ModuleType) -> None:
                load(module)
                then()

            spec.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return spec
