"""How the files in a site's folder are read, added to and locked; either side may be a stranger."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paretoid.writing import NO_FOLLOW

#: most bytes of a file that is read
MOST_BYTES = 16_000_000

#: where the system has them: line ends as they are, and no waiting for the other end of a pipe
_BINARY, _NO_WAIT = getattr(os, "O_BINARY", 0), getattr(os, "O_NONBLOCK", 0)


def read_file(path: Path) -> bytes:
    """The bytes of a file in a site's folder, which whoever may write there may have put there.

    Never through a link, which could lead to a file that only the reader may read; never from a
    pipe, which would wait for ever; never more than `MOST_BYTES`.
    """
    try:
        handle = os.open(path, os.O_RDONLY | NO_FOLLOW | _BINARY | _NO_WAIT)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise ValueError(f"{path} is a link, and files of a site are not followed.") from None
        hint = ""
        if isinstance(error, FileNotFoundError):
            hint = " Name a folder that `paretoid trial add-site` made."
        raise ValueError(f"{path} cannot be read: {error.strerror}.{hint}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise ValueError(f"{path} is no plain file with this one name, so it is not read.")
        if status.st_size > MOST_BYTES:
            raise ValueError(
                f"{path} has {status.st_size:,} bytes, more than the {MOST_BYTES:,} that a site's "
                f"file may have; nothing was taken from it. Begin a new folder for the site: its "
                f"participants come back from the ledger."
            )
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES)
    finally:
        os.close(handle)


def lines_of(data: bytes) -> tuple[list[bytes], bool]:
    """The whole lines of a site's entries, and whether a torn one follows.

    >>> lines_of(b"one\\n\\ntwo\\nthr")
    ([b'one', b'two'], True)
    """
    *whole, rest = data.split(b"\n")
    return [line for line in (line.rstrip(b"\r") for line in whole) if line], bool(rest)


@contextmanager
def locked(path: Path, who: str, timeout: float = 10.0) -> Iterator[None]:
    """Hold a lock file for a while, or refuse; a killed process lets go of it."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o660)
    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        raise ValueError(f"{who} is at work ({path}); nothing was done. Try again.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}; nothing was done.") from None
    try:
        yield
    finally:
        lock.release()


def append(path: Path, data: bytes) -> None:
    """Add bytes to the end of a file, all or none, on the disk; after a torn line on a new one."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | NO_FOLLOW | _BINARY)
    try:
        _append(handle, data)
    finally:
        os.close(handle)


def _append(handle: int, data: bytes) -> None:
    size = os.fstat(handle).st_size
    if size:
        os.lseek(handle, size - 1, os.SEEK_SET)
        data = data if os.read(handle, 1) == b"\n" else b"\n" + data
    if size + len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, "it would become too large; ask for a new folder")
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except BaseException:
        os.ftruncate(handle, size)
        raise
