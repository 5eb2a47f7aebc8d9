"""All batteries of faults, and what of their counts must be zero."""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from paretoid.validation.faults import ledger, store
from paretoid.validation.faults.disk import can_record

Fault = Callable[[int, random.Random, Path], Counter[str]]
#: what is done: (battery, how often, counts that must be zero)
BATTERIES: dict[
    str, tuple[Callable[[int, random.Random, Path], Counter[str]], int, tuple[str, ...]]
] = {
    "ledger, killed": (ledger.kills, 500, ("lost", "torn", "unsound")),
    "ledger, changed": (ledger.corruptions, 500, ("unnoticed", "other_errors")),
    "ledger, disk full": (ledger.disk_full, 50, ("lost", "torn", "unsound")),
    "ledger, power cut": (ledger.power_cuts, 500, ("lost", "torn", "unsound")),
    "store, killed": (store.kills, 100, ("refused", "different")),
    "manifest, changed": (store.changed_manifests, 500, ("different",)),
    "chunk, changed": (store.changed_chunks, 500, ("refused", "different")),
    "checkpoint, changed": (store.changed_checkpoints, 500, ("refused", "different")),
    "store, disk full": (store.disk_full, 50, ("refused", "different")),
    "store, power cut": (store.power_cuts, 100, ("refused", "different")),
}


def run(
    scale: float = 1.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    names: Iterable[str] = tuple(BATTERIES),
) -> dict[str, dict[str, int]]:
    """Every battery, `scale` times its size; power cuts are left out where strace cannot trace.

    >>> run(0.01, names=["ledger, changed"])["ledger, changed"]["unnoticed"]
    0
    """
    results = {}
    for name in names:
        battery, times, _ = BATTERIES[name]
        if name.endswith("power cut") and not can_record():
            continue
        with tempfile.TemporaryDirectory() as folder:
            rng = random.Random(f"{seed} {name}")
            results[name] = dict(battery(max(1, math.ceil(times * scale)), rng, Path(folder)))
        if progress is not None:
            progress(json.dumps({name: results[name]}))
    return results


def failures(results: dict[str, dict[str, int]]) -> list[str]:
    """What must be zero and is not, in words.

    >>> failures({"store, killed": {"kills": 9, "same": 8, "refused": 0, "different": 1}})
    ['store, killed: 1 different']
    """
    return [
        f"{name}: {counts[zero]} {zero}"
        for name, counts in results.items()
        for zero in BATTERIES[name][2]
        if counts[zero]
    ]
