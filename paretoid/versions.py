"""The versions of what computes the numbers, for results that say how they were made."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions(*libraries: str) -> dict[str, str | None]:
    """The versions of paretoid, Python and `libraries`; None for a library that is not installed.

    >>> told = versions("numpy", "no-such-library")
    >>> list(told), told["no-such-library"]
    (['paretoid', 'python', 'numpy', 'no-such-library'], None)
    """
    from paretoid import __version__

    told: dict[str, str | None] = {"paretoid": __version__, "python": platform.python_version()}
    for library in libraries:
        try:
            told[library] = version(library)
        except PackageNotFoundError:
            told[library] = None
    return told
