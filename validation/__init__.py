"""Is the promise kept? Checks of delta-correct identification, for our engine and anybody's.

Importing this loads nothing: names are fetched when first used, because the pytest plugin is
loaded by every pytest run of a project that has paretoid installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretoid.validation.bounds import compare
    from paretoid.validation.delta_correct import (
        Verdict,
        assert_delta_correct,
        delta_correctness,
        engine,
    )
    from paretoid.validation.guard import OutOfBudget, assert_independent_replications
    from paretoid.validation.hard import HardBandit, hard_bandits
    from paretoid.validation.pathwise import assert_path, check_path, engine_path
    from paretoid.validation.radius_coverage import coverage

_WHERE = {
    "HardBandit": "hard",
    "OutOfBudget": "guard",
    "Verdict": "delta_correct",
    "assert_delta_correct": "delta_correct",
    "assert_independent_replications": "guard",
    "delta_correctness": "delta_correct",
    "engine": "delta_correct",
    "hard_bandits": "hard",
    "assert_path": "pathwise",
    "check_path": "pathwise",
    "engine_path": "pathwise",
    "coverage": "radius_coverage",
    "compare": "bounds",
}

__all__ = [
    "HardBandit", "OutOfBudget", "Verdict", "assert_delta_correct",
    "assert_independent_replications", "assert_path", "check_path", "compare", "coverage",
    "delta_correctness", "engine", "engine_path", "hard_bandits",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"validation has no {name!r}; it has {', '.join(sorted(__all__))}.")
    return getattr(import_module(f"paretoid.validation.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
