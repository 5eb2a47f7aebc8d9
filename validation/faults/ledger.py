"""Faults under a ledger: writers killed, bytes changed, the disk full, the power cut.

Kills: a process records in a ledger, two events a command, and is killed (SIGKILL) at a random
time; the next goes on with the same file. Whatever it had acknowledged must be there, commands must
be whole, and the chain sound. Corruptions: `Explorer.verify` must refuse the changed file, or the
log must be, event by event, what it was (SQLite's pages have room that nobody reads).
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import paretoid
from paretoid.explorer import Explorer, LedgerError
from paretoid.explorer.ledger import Ledger
from paretoid.validation.faults.damage import damaged
from paretoid.validation.faults.disk import Disk, recorded

#: the child imports the ledger alone, so that many are quick: stand-ins know where the files are
_CHILD = """
import os, sys, types
root, path, most, limit = sys.argv[1:]
if int(limit):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
for name in ("paretoid", "paretoid.explorer"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(root, *name.split("."))]
from paretoid.explorer.ledger import Ledger
ledger = Ledger(path)
for _ in range(int(most)):
    with ledger.transaction():
        ledger.append("told", {"x": 1}, time="noon", author=str(os.getpid()))
        last = ledger.append("asked", {"x": 2}, time="noon", author=str(os.getpid()))
    os.write(1, f"{last.seq} {last.hash}\\n".encode())  # acknowledged
    if last.seq % 7 == 0:
        ledger.keep_snapshot(last.seq, last.hash, b"state" * 999, time="noon", author="x")
ledger.close()
"""


def _writer(path: Path, most: int = 10**9, limit: int = 0) -> list[str]:
    """The command that records `most` times, in files of at most `limit` bytes (0: any)."""
    root = Path(paretoid.__file__).parents[1]
    return [sys.executable, "-S", "-c", _CHILD, str(root), str(path), str(most), str(limit)]


def _check(path: Path, said: bytes, counts: Counter[str]) -> None:
    """Count what a writer acknowledged, and what of it is lost, torn or unsound."""
    lines = [line.split() for line in said.decode().split("\n")[:-1]]
    counts["acknowledged"] += len(lines)
    with Ledger(path) as ledger:
        try:
            ledger.verify()
        except LedgerError:
            counts["unsound"] += 1
        counts["lost"] += sum(ledger.hash_of(int(seq)) != digest for seq, digest in lines)
        counts["torn"] += sum(row[3] != "kept" for row in ledger.rows()) % 2


def _counts(**first: int) -> Counter[str]:
    return Counter(**first, acknowledged=0, lost=0, torn=0, unsound=0)


def kills(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of a ledger whose writers were killed: kills, acknowledged, lost, torn, unsound."""
    path = folder / "killed.db"
    Ledger(path, create=True).close()
    counts = _counts(kills=times)
    for _ in range(times):
        with subprocess.Popen(_writer(path), stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            # One in ten is killed while it starts.
            said = child.stdout.readline() if rng.random() < 0.9 else b""
            time.sleep(rng.uniform(0, 0.02))
            child.send_signal(signal.SIGKILL)
            said += child.stdout.read()
        _check(path, said, counts)
    return counts


def disk_full(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of a ledger whose writers met a full disk: no file may exceed a random size."""
    counts = _counts(full_disks=times, refused=0)
    for number in range(times):
        path = folder / f"full{number}.db"
        Ledger(path, create=True).close()
        limit = path.stat().st_size + rng.randint(0, 400_000)
        run = subprocess.run(_writer(path, 300, limit), capture_output=True, check=False)
        counts["refused"] += run.returncode != 0
        _check(path, run.stdout, counts)
    return counts


def power_cuts(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of what the disk may hold of a ledger when the power was cut under its writer."""
    home = folder / "power"
    home.mkdir()
    path = home / "trial.db"
    making = "import sys; from paretoid.explorer.ledger import Ledger as L; "
    calls = recorded(
        [sys.executable, "-c", making + "L(sys.argv[1], create=True).close()", str(path)], home
    )
    made = len(calls)
    calls += recorded(_writer(path, 60), home)
    counts = _counts(power_cuts=times)
    for number in range(times):
        disk, said = Disk(str(home)), b""
        for call in calls[: rng.randint(made, len(calls))]:
            disk.do(call)
            said += call.data if call.name == "said" else b""
        after = folder / f"after{number}"
        after.mkdir()
        for name, data in disk.after_power_cut(rng).items():
            (after / Path(name).name).write_bytes(data)
        _check(after / path.name, said, counts)
        shutil.rmtree(after)
    return counts


def corruptions(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of changed ledgers: noticed, without effect on the log, unnoticed, other errors."""
    path = folder / "whole.db"
    with Explorer(["A", "B", "C"], ["gain", "harm"], scale=1.0, ledger=path) as trial:
        for _ in range(60):
            allocation = trial.ask()
            trial.tell(allocation, [rng.gauss(0, 1), rng.gauss(0, 1)])
        head, log = trial.head, list(trial.rows())
    whole = path.read_bytes()
    counts: Counter[str] = Counter(
        corruptions=times, noticed=0, without_effect=0, unnoticed=0, other_errors=0
    )
    for number in range(times):
        changed = folder / f"changed{number}.db"
        changed.write_bytes(damaged(whole, rng))
        try:
            with Explorer.open(changed) as trial:
                trial.verify(head)
                same = list(trial.rows()) == log
                counts["without_effect" if same else "unnoticed"] += 1
        except LedgerError:
            counts["noticed"] += 1
        except Exception as error:
            counts["other_errors"] += 1
            print(f"corruption {number}: {error!r}", file=sys.stderr)
        for file in folder.glob(f"{changed.name}*"):
            file.unlink()
    return counts
