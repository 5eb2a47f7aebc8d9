"""A copy of a ledger that is whole although the trial goes on, and the way back from it."""

from __future__ import annotations

import os
from pathlib import Path

from paretoid.explorer.explorer import Explorer
from paretoid.explorer.ledger import Ledger


def copy_ledger(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    head: str | None = None,
    group: bool = False,
) -> tuple[int, str]:
    """Copy a ledger into a new file and verify the copy; returns its events and its head.

    By SQLite's online backup, so other processes may write meanwhile; `cp` would miss what is
    still in the write-ahead log. The copy is one file, of mode 0600, or
    0660 with `group`. What cannot be verified, with `head` if
    given, is not kept. A backup and a restore are the same act in opposite directions.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Explorer(["A", "B"], ["x"], ledger=Path(folder) / "t.db") as trial:
    ...         made = trial.ask(3)
    ...         copied = copy_ledger(Path(folder) / "t.db", Path(folder) / "copy.db")
    ...         copied == (2, trial.head)
    True
    """
    path = Path(target)
    with Ledger(source) as ledger:
        last = ledger.head()[1]
        ledger.copy_to(path, group=group)
    try:
        with Explorer.open(path) as copy:
            copy.verify(head)
            copied = copy.verify(last or None)
            return sum(1 for _ in copy.rows()), copied
    except BaseException:
        path.unlink(missing_ok=True)
        raise
