"""The options that experiments run from a shell have in common."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def options(
    name: str,
    description: str | None,
    full: str,
    arguments: Sequence[str] | None = None,
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> argparse.Namespace:
    """`full`, `seed` and `out`, an existing directory, of python -m paretoid.validation.`name`.

    `more` are options of its own, by flag, as `add_argument` takes them.

    >>> options("arena", "Rules compared.", "more runs", ["--seed", "3"]).seed
    3
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m paretoid.validation.{name}", description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--full", action="store_true", help=full)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(), help="where to write (default: here)")
    for flag, details in (more or {}).items():
        parser.add_argument(flag, **details)
    given = parser.parse_args(arguments)
    if not given.out.is_dir():
        parser.error(f"--out {given.out} is no directory; make it first")
    return given
