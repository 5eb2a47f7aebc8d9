"""Blinding: arms go by A, B, ..., and the key is in a file that only its owner can read.

The ledger, the log and every table then hold the masks alone. Masks are drawn at random, not from
the trial's seed: the seed is in the ledger. So is the design: a scale, a rho or a share of delta of
an arm's own would give the arm away, and is refused.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from paretoid.explorer.private import read_private, write_private


def masks(size: int) -> list[str]:
    """Labels A, B, ..., Z, AA, AB, ...

    >>> masks(3), masks(28)[-2:]
    (['A', 'B', 'C'], ['AA', 'AB'])
    """
    labels: list[str] = []
    for number in range(1, size + 1):
        label = ""
        while number:
            number, rest = divmod(number - 1, 26)
            label = ascii_uppercase[rest] + label
        labels.append(label)
    return labels


def draw_order(size: int) -> list[int]:
    """A random order of `size` arms, from the system's own randomness."""
    order = list(range(size))
    secrets.SystemRandom().shuffle(order)
    return order


class Key:
    """The key of a blinded trial: it says which arm is behind which mask.

    >>> Key({"A": "placebo"}).arm("A")
    'placebo'
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = dict(names)

    def arm(self, mask: str) -> str:
        """The arm behind a mask."""
        if mask not in self.names:
            raise ValueError(f"there is no mask {mask!r}; there are {', '.join(self.names)}.")
        return self.names[mask]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file of mode 0600; an existing file is never overwritten."""
        write_private(path, {"masks": self.names})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """Read a key; refused if others could have read it too."""
        data = read_private(path, "key", "the trial may not be blind")
        try:
            return cls({str(mask): str(arm) for mask, arm in data["masks"].items()})
        except (KeyError, TypeError, AttributeError):
            raise ValueError(f"{path} is no key of paretoid.") from None


def blind(design: dict[str, Any], order: Sequence[int] | None = None) -> tuple[dict[str, Any], Key]:
    """A design with masked arms, and its key; `order[a]` is the arm behind mask a.

    Refused if the design says of one arm what it does not say of all.

    >>> design, key = blind({"arms": ["placebo", "vaccine"], "objectives": ["IgG"]}, [1, 0])
    >>> design["arms"], key.names
    (['A', 'B'], {'A': 'vaccine', 'B': 'placebo'})
    """
    arms = list(design["arms"])
    order = draw_order(len(arms)) if order is None else list(order)
    if sorted(order) != list(range(len(arms))):
        raise ValueError(f"order={order} must hold each of 0..{len(arms) - 1} once.")
    labels = masks(len(arms))
    masked = {**design, "arms": labels}
    given = _given_by_arm(design)
    if given:
        raise ValueError(
            f"the design gives {given} arm by arm, and it stands in the ledger, where it would "
            f"tell which arm is behind which mask. Give the same for all arms, or do not blind the "
            f"trial."
        )
    return masked, Key({label: arms[at] for label, at in zip(labels, order, strict=True)})


def _given_by_arm(design: Mapping[str, Any]) -> str:
    """The first thing that differs between arms; empty if nothing does."""
    scheme = design.get("randomise") or {}
    if scheme.get("control") is not None:
        return "the control"
    if isinstance(scheme.get("floor"), Mapping):
        return "floors"
    radius = design.get("radius") or {}
    shares = (radius.get("shares") or {}) if isinstance(radius, Mapping) else {}
    scale = design.get("scale")
    columns = {
        "the scale": scale if isinstance(scale, list) and isinstance(scale[0], list) else None,
        "rho": radius.get("rho") if isinstance(radius, Mapping) else None,
        "shares of delta": shares.get("arms"),
        "shares of delta by rival": shares.get("rivals"),
    }
    conduct = design.get("conduct") or {}
    if isinstance(conduct.get("dropout"), Mapping):
        return "dropout"
    for name, column in columns.items():
        if isinstance(column, (list, tuple)) and any(value != column[0] for value in column):
            return name
    return ""
