"""Kill and corrupt ledgers at random: is anything acknowledged lost, or any change unnoticed?

    python -m paretoid.validation.ledger_faults --kills 500 --corruptions 500 --seed 0

Kills: a process records in a ledger, two events a command, and is killed (SIGKILL) at a random
time; the next goes on with the same file. Whatever it had acknowledged must be there, commands must
be whole, and the chain sound. Corruptions: of a trial's closed ledger some bytes are changed, a
block is zeroed, or the end is cut off. `Explorer.verify` must then refuse it, or the log must be,
event by event, what it was (SQLite's pages have room that nobody reads). Exit code 1: it failed.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import paretoid
from paretoid.explorer import Explorer, LedgerError
from paretoid.explorer.ledger import Ledger

#: the child imports the ledger alone, so that many are quick: stand-ins know where the files are
_CHILD = """
import os, sys, types
root, path = sys.argv[1:]
for name in ("paretoid", "paretoid.explorer"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(root, *name.split("."))]
from paretoid.explorer.ledger import Ledger
ledger = Ledger(path)
while True:
    with ledger.transaction():
        ledger.append("told", {"x": 1}, time="noon", author=str(os.getpid()))
        last = ledger.append("asked", {"x": 2}, time="noon", author=str(os.getpid()))
    os.write(1, f"{last.seq} {last.hash}\\n".encode())  # acknowledged
    if last.seq % 7 == 0:
        ledger.keep_snapshot(last.seq, last.hash, b"state" * 999, time="noon", author="x")
"""


def kills(times: int, rng: random.Random, folder: Path) -> Counter[str]:
    """Counts of a ledger whose writers were killed: kills, acknowledged, lost, torn, unsound."""
    path, root = folder / "killed.db", Path(paretoid.__file__).parents[1]
    Ledger(path, create=True).close()
    counts: Counter[str] = Counter(kills=times, acknowledged=0, lost=0, torn=0, unsound=0)
    for _ in range(times):
        command = [sys.executable, "-S", "-c", _CHILD, str(root), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            # One in ten is killed while it starts.
            said = child.stdout.readline() if rng.random() < 0.9 else b""
            time.sleep(rng.uniform(0, 0.02))
            child.send_signal(signal.SIGKILL)
            said += child.stdout.read()
        lines = [line.split() for line in said.decode().split("\n")[:-1]]
        counts["acknowledged"] += len(lines)
        with Ledger(path) as ledger:
            try:
                ledger.verify()
            except LedgerError:
                counts["unsound"] += 1
            counts["lost"] += sum(ledger.hash_of(int(seq)) != digest for seq, digest in lines)
            whole = sum(row[3] != "kept" for row in ledger.rows())
            counts["torn"] += whole % 2
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
        changed.write_bytes(_corrupted(whole, rng))
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


def _corrupted(whole: bytes, rng: random.Random) -> bytes:
    """The bytes of a file with one kind of damage; never the same bytes."""
    while True:
        data = bytearray(whole)
        kind, at = rng.randrange(4), rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            for _ in range(rng.randint(2, 64)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == 2:
            length = rng.choice([16, 512, 4096])
            data[at : at + length] = bytes(len(data[at : at + length]))
        else:
            del data[at:]
        if bytes(data) != whole:
            return bytes(data)


def main(arguments: list[str] | None = None) -> int:
    """Both batteries, counts as JSON; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--corruptions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    rng = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        killed = kills(chosen.kills, rng, Path(folder))
        print(json.dumps({"kills": killed}), flush=True)
        corrupted = corruptions(chosen.corruptions, rng, Path(folder))
        print(json.dumps({"corruptions": corrupted}), flush=True)
    bad = killed["lost"] + killed["torn"] + killed["unsound"]
    bad += corrupted["unnoticed"] + corrupted["other_errors"]
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
