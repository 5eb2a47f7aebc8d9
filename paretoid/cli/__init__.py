"""The `paretoid` command: one module for each of its commands."""

from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; see `paretoid.cli.app`."""
    from paretoid.cli import app

    app.main(arguments)
