"""Where the files of a ledger are, and whether they are still there. Standard library only.

A ledger is up to three files: `trial.db`, and beside it, while it is open or after a crash,
`trial.db-wal` (what was recorded last) and `trial.db-shm`. An open file can be written after it
was moved or removed, and nobody would see the outcomes again: so every write looks first.
"""

from __future__ import annotations

import os
from pathlib import Path

from paretoid.explorer.events import LedgerError

#: what SQLite keeps beside its file
BESIDE = ("-wal", "-shm", "-journal")

Identity = tuple[int, int] | None


def beside(path: Path, ending: str) -> Path:
    """A file that SQLite keeps beside its own.

    >>> beside(Path("trial.db"), "-wal").name
    'trial.db-wal'
    """
    return path.with_name(path.name + ending)


def identity(path: Path) -> Identity:
    """Device and number of the file that has this name now; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def create(path: Path, *, group: bool = False) -> None:
    """A new empty file that survives a power cut; refuses what is there already.

    Of mode 0600, or 0660 with `group`, whatever the umask says; SQLite makes the files beside it
    of the same mode.
    """
    for ending in BESIDE:
        if beside(path, ending).exists():
            raise LedgerError(
                f"{beside(path, ending)} is left of another ledger and would be taken for part of "
                f"the new one. Put it back beside its own file, or choose another name."
            )
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.chmod(0o660 if group else 0o600)
        sync_folder(path)
    except FileExistsError:
        raise LedgerError(
            f"{path} exists already, and a ledger is never overwritten. Choose another "
            f"name, or open it."
        ) from None
    except OSError as error:
        raise LedgerError(f"{path} cannot be created: {error.strerror}.") from None


def sync_folder(path: Path) -> None:
    """Put the name of a new file on the disk; where folders cannot be opened, the system does."""
    if os.name != "posix":
        return
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def begins_as_ledger(path: Path, application: int) -> bool:
    """True: a ledger, or what is left of one; False: a file of another kind.

    By the first bytes of SQLite's file format. Of a ledger that was never closed they may not be
    there yet, but its write-ahead log is; a file cut to a few bytes gets the benefit of the doubt.
    """
    magic = b"SQLite format 3\0"
    with path.open("rb") as file:
        start = file.read(72)
    if len(start) < 72:
        return start[:16] == magic[: len(start)]
    log = beside(path, "-wal")
    written = {application} if not log.exists() else {application, 0}
    return start[:16] == magic and int.from_bytes(start[68:72], "big") in written


class Place:
    """The files of an open ledger as they were when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.abspath(path))  # whatever the folder of the process is later
        self._file = identity(self._path)
        self._log: Identity = None

    def settle(self) -> None:
        """Called once SQLite has its files open, so that the write-ahead log is there too."""
        self.check("nothing was recorded")
        self._log = identity(beside(self._path, "-wal"))

    def check(self, consequence: str) -> None:
        """Refuse to go on if a name no longer belongs to the file that is open."""
        log = beside(self._path, "-wal")
        names = [(self._path, self._file)] + ([] if self._log is None else [(log, self._log)])
        for name, was in names:
            now = identity(name)
            if now != was:
                raise LedgerError(
                    f"{name} was {'moved or removed' if now is None else 'replaced'} while it was "
                    f"open, so what is written now could be lost; {consequence}. Put the file back "
                    f"with those beside it ({log.name}), and open it again."
                )
