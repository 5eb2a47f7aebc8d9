"""How a file comes to be: whole or not at all, new unless asked otherwise, never through a link."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: missing on systems without links of that kind
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


#: what a draft is called: so a crash leaves nothing that could be taken for somebody's file
DRAFT = re.compile(r"\.paretoid-[0-9a-f]{12}-(?P<name>.+)", re.DOTALL)


@contextmanager
def new_file(
    path: str | os.PathLike[str], *, force: bool = False, private: bool = False
) -> Iterator[Path]:
    """A draft beside `path` to be written; when the body ends it is on the disk and has its name.

    force     a file of that name is replaced, and keeps its mode; else it is refused, also if it
              came while the body ran. A link is replaced itself, never what it leads to
    private   the new file has mode 0600, whatever the umask says

    If the body fails, the draft is removed and nothing has changed.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with new_file(folder / "a.txt") as draft:
    ...     _ = draft.write_text("done")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    >>> with new_file(folder / "a.txt") as draft:  # doctest: +ELLIPSIS
    ...     pass
    Traceback (most recent call last):
        ...
    ValueError: .../a.txt exists already, and nothing is overwritten unasked. ...
    """
    try:
        with whole_file(path, force=force, private=private) as draft:
            yield draft
    except OSError as error:
        why = error.strerror or error
        raise ValueError(f"{path} cannot be written: {why}. Name another file.") from error


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, force: bool = False, private: bool = False
) -> Iterator[Path]:
    """`new_file`, for callers that have a sentence of their own for what the disk refuses.

    >>> import tempfile
    >>> with whole_file(  # doctest: +ELLIPSIS
    ...     Path(tempfile.mkdtemp(), "nowhere", "a.txt")
    ... ) as draft:
    ...     pass
    Traceback (most recent call last):
        ...
    FileNotFoundError: ...
    """
    target = Path(path)
    mode = may_write(target, force=force)
    name = target.name if len(os.fsencode(target.name)) <= 200 else target.name[-50:]
    draft = target.with_name(f".paretoid-{secrets.token_hex(6)}-{name}")
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_FOLLOW
        os.close(os.open(draft, flags, 0o600 if private else 0o666))
        yield draft
        sync(draft)
        if private:
            draft.chmod(0o600)
        elif mode is not None and stat.S_ISREG(mode):
            draft.chmod(stat.S_IMODE(mode))
        _place(draft, target, force)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    sync_folder(target.parent)


def write_text(path: str | os.PathLike[str], words: str, *, force: bool = False) -> None:
    """A text as a new file in UTF-8, with a newline at its end; see `new_file`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_text(file, "done")
    >>> file.read_text()
    'done\\n'
    """
    with new_file(path, force=force) as draft:
        draft.write_text(words.removesuffix("\n") + "\n", encoding="utf-8")


def may_write(path: str | os.PathLike[str], *, force: bool = False) -> int | None:
    """Refuse a name that `new_file` would refuse, before hours of work; else the mode it has.

    >>> may_write("no such file.csv") is None
    True
    """
    target = Path(path)
    mode = _mode_of(target)
    if mode is not None and not force:
        raise exists_already(target)
    if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise ValueError(
            f"{path} is a directory or a device, and only files are replaced. Name another file."
        )
    return mode


def exists_already(path: str | os.PathLike[str], way_out: str = "") -> ValueError:
    """The refusal of a file that is there; `way_out` is what to do besides choosing another name.

    >>> print(exists_already("a.csv"))
    a.csv exists already, and nothing is overwritten unasked. Choose another name.
    """
    others = f", or {way_out}" if way_out else ""
    return ValueError(
        f"{os.fspath(path)} exists already, and nothing is overwritten unasked. Choose another "
        f"name{others}."
    )


def _mode_of(path: Path) -> int | None:
    """The mode of a file, directory or link; None if nothing has that name."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _place(draft: Path, target: Path, force: bool) -> None:
    """Give the draft its name; without `force` only if nobody else has it by now."""
    if force:
        os.replace(draft, target)
        return
    try:
        os.link(draft, target)  # the one way to give a name that fails where it is taken
    except FileExistsError:
        raise exists_already(target) from None
    except OSError:  # a disk without hard links
        if _mode_of(target) is not None:
            raise exists_already(target) from None
        os.rename(draft, target)


def sync(path: Path) -> None:
    """Flush a file to the disk."""
    handle = os.open(path, os.O_RDONLY | NO_FOLLOW)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Flush the names in a directory to the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folder(path: Path) -> None:
    """A directory with those above it; their names are on the disk when it returns."""
    missing = [path, *path.parents]
    missing = missing[: next(i for i, folder in enumerate(missing) if folder.exists())]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # by somebody else in the meantime
            folder.mkdir()
        sync_folder(folder.parent)
    if not path.is_dir():
        raise NotADirectoryError(20, "it is a file, no directory", str(path))
