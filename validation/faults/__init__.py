"""Faults on purpose: is anything acknowledged lost, or any change unnoticed?

    python -m paretoid.validation.faults [--scale 1.0] [--seed 0]

kills writers of a ledger (500) and of a campaign's store (100) with SIGKILL, damages the bytes of
ledgers, manifests, finished chunks and checkpoints (500 of each), fills the disk under both
(50 of each, by a limit on the size of files), and cuts the power (500 times under a ledger, 100
under a store): the system calls of a writer are recorded by strace, and what a disk may hold after
each of them is put together, the writes since the last fsync dropped, torn or out of order.
`--scale 0.1` does a tenth of it. Counts are printed as JSON; exit code 1 if one that must be zero
is not.
"""

from paretoid.validation.faults.batteries import failures, run
from paretoid.validation.faults.damage import damaged
from paretoid.validation.faults.disk import Call, Disk, can_record, recorded

__all__ = ["Call", "Disk", "can_record", "damaged", "failures", "recorded", "run"]
