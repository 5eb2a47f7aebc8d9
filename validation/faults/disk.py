"""What a disk may hold after the power was cut: system calls recorded, and replayed in part.

What was written to a file before its last fsync is on the disk. Of what came after, each write may
be there, missing or torn, in any order. Names are on the disk once their directory is synced; of
later changes of names a first part may be there, as in a file system with a journal of its own.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_STRACE = ["strace", "-f", "-y", "-xx", "-s", "100000000", "--seccomp-bpf"]
_TRACED = (
    "openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,"
    "unlink,unlinkat,mkdir,mkdirat"
)
_LINE = re.compile(r"^(\w+)\((.*)\) += (\d+)(?:<([^>]*)>)?")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"(\d+)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True)
class Call:
    """One system call that succeeded: its name, the files it names, its bytes and numbers.

    >>> Call("write", ("/d/a",), b"new", at=4).data
    b'new'
    """

    name: str
    paths: tuple[str, ...]
    data: bytes = b""
    at: int = 0
    flags: str = ""


def can_record() -> bool:
    """Is strace here, and may it trace?

    >>> can_record() in (True, False)
    True
    """
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run([*_STRACE, "-o", os.devnull, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def recorded(command: Sequence[str], folder: Path) -> list[Call]:
    """The calls of a program that change files in `folder`, and what it says on standard output.

    The latter are calls with the name "said". Needs strace, for Linux.

    >>> recorded(["true"], Path("nowhere")) if can_record() else []
    []
    """
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as log:
        subprocess.run(
            [*_STRACE, "-e", f"trace={_TRACED}", "-o", log.name, *command],
            check=True, stdout=subprocess.PIPE,
        )  # fmt: skip
        return _calls(log.read().splitlines(), str(folder.absolute()))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _calls(lines: list[str], root: str) -> list[Call]:
    """strace's lines as calls; writes without a place get that of their descriptor."""
    calls: list[Call] = []
    place: dict[int, int] = {}
    begun: dict[str, str] = {}  # by thread
    for line in lines:
        thread, _, text = line.partition(" ")
        text = text.lstrip()
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
            continue
        resumed = _RESUMED.match(text)
        if resumed:
            text = begun.pop(thread) + text[resumed.end() :]
        match = _LINE.match(text)
        if match is None:
            continue
        name, inside, result, opened = match.groups()
        texts = [_bytes(text) for text in _TEXT.findall(inside)]
        if name == "openat":
            path = _bytes(opened or "").decode()
            place[int(result)] = 0
            if path.startswith(root):
                calls.append(Call("open", (path,), flags=inside))
        elif name in ("write", "pwrite64", "fsync", "fdatasync", "ftruncate"):
            file = _FILE.match(inside)
            if file is None:
                continue
            number, path = int(file[1]), _bytes(file[2]).decode()
            data = texts[0][: int(result)] if texts else b""
            at = place.get(number, 0)
            if name in ("pwrite64", "ftruncate"):
                at = int(inside.rsplit(",", 1)[1])
            elif name == "write":
                place[number] = at + len(data)
            if path.startswith(root):
                plain = {"pwrite64": "write", "fdatasync": "fsync"}.get(name, name)
                calls.append(Call(plain, (path,), data, at))
            elif number == 1 and name == "write":
                calls.append(Call("said", (), data))
        else:
            paths = tuple(text.decode() for text in texts)
            if paths and paths[-1].startswith(root):
                kind = re.sub(r"(at2?)$", "", name)
                calls.append(Call(kind, paths))
    return calls


@dataclass
class _Inode:
    """A file without its name: what is on the disk, and the writes that may not be."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[Call] = field(default_factory=list)

    def sync(self) -> None:
        for call in self.pending:
            _apply(self.synced, call)
        self.pending.clear()

    def survivor(self, rng: random.Random) -> bytes:
        """What may be read after the power is back."""
        data, calls = bytearray(self.synced), list(self.pending)
        fate = rng.randrange(3)  # nothing of it, a first part of it, or any of it in any order
        if fate == 0:
            calls = []
        elif fate == 1:
            calls = calls[: rng.randint(0, len(calls))]
        else:
            calls = [call for call in calls if rng.random() < 0.5]
            rng.shuffle(calls)
        for call in calls:
            torn = call.data and rng.random() < 0.3
            kept = call.data[: rng.randrange(len(call.data))] if torn else call.data
            _apply(data, Call(call.name, call.paths, kept, call.at))
        return bytes(data)


def _apply(data: bytearray, call: Call) -> None:
    if call.name == "ftruncate":
        del data[call.at :]
        data.extend(bytes(call.at - len(data)))
    else:
        data.extend(bytes(max(0, call.at - len(data))))
        data[call.at : call.at + len(call.data)] = call.data


class Disk:
    """The disk under one folder, as system calls change it.

    >>> disk = Disk("/d")
    >>> disk.do(Call("open", ("/d/a",), flags="O_CREAT"))
    >>> disk.do(Call("write", ("/d/a",), b"new"))
    >>> disk.do(Call("fsync", ("/d/a",)))
    >>> disk.do(Call("fsync", ("/d",)))
    >>> disk.after_power_cut(random.Random(0))
    {'/d/a': b'new'}
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._names: dict[str, _Inode] = {}
        self._synced: dict[str, _Inode] = {}
        self._changes: list[dict[str, _Inode]] = []  # the names after each change since a sync

    def do(self, call: Call) -> None:
        """Carry out one call."""
        names, before = self._names, dict(self._names)
        path = call.paths[0] if call.paths else ""
        if call.name == "open":
            # The index of a write-ahead log is memory of the processes that have it open.
            if "O_CREAT" in call.flags and path not in names and not path.endswith("-shm"):
                names[path] = _Inode()
            if "O_TRUNC" in call.flags and path in names:
                names[path].pending.append(Call("ftruncate", call.paths))
        elif call.name in ("write", "ftruncate") and path in names:
            names[path].pending.append(call)
        elif call.name == "fsync":
            if path in names:
                names[path].sync()
            else:  # a directory
                others = {p: n for p, n in self._synced.items() if os.path.dirname(p) != path}
                own = {p: n for p, n in names.items() if os.path.dirname(p) == path}
                self._synced, self._changes = {**others, **own}, []
        elif call.name in ("rename", "link") and path in names:
            names[call.paths[-1]] = names[path]
            if call.name == "rename":
                del names[path]
        elif call.name == "unlink":
            names.pop(call.paths[-1], None)
        if names != before:
            self._changes.append(dict(names))

    def after_power_cut(self, rng: random.Random) -> dict[str, bytes]:
        """The files that may be there, by name."""
        states = [self._synced, *self._changes]
        names = states[rng.randrange(len(states))]
        return {path: inode.survivor(rng) for path, inode in names.items()}
