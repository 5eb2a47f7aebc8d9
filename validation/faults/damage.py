"""Damage to the bytes of a file."""

from __future__ import annotations

import random


def damaged(whole: bytes, rng: random.Random) -> bytes:
    """The bytes of a file with one kind of damage; never the same bytes.

    A bit is flipped, some bytes are changed, a block is zeroed, or the end is cut off.

    >>> damaged(b"whole", random.Random(1)) == b"whole"
    False
    """
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
