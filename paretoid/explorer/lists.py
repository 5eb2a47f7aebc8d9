"""Where the random lists of a trial are, as far as its events lead.

The ledger has the probabilities that were drawn with and the arms that came of it. What is left of
a block is in no file: it follows from the secret (`paretoid.explorer.secret`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from paretoid.explorer.design import Design
from paretoid.explorer.secret import Lots
from paretoid.randomisation import Randomisation, composition


@dataclass
class Stretch:
    """Where the list of one stratum is.

    placed          participants so far
    begun           the one with whom the block began; 0 before the first
    probabilities   (K,) that the block was made with
    taken           (K,) how many of each arm are gone from it
    """

    placed: int = 0
    begun: int = 0
    probabilities: list[float] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    def begin(self, probabilities: Sequence[float]) -> None:
        """A block begins with the next participant."""
        self.begun, self.probabilities = self.placed + 1, list(probabilities)
        self.taken = [0] * len(self.probabilities)

    def take(self, arm: int) -> None:
        """The next participant gets this arm."""
        self.placed += 1
        self.taken[arm] += 1

    def left(self, scheme: Randomisation, lots: Lots, stratum: str) -> Sequence[float]:
        """(K,) weights of the next draw: the rest of the block, or the probabilities."""
        if scheme.block is None or not self.begun:
            return self.probabilities
        _, mixed, length = lots(stratum, self.begun)
        made = composition(self.probabilities, scheme.block_size(length), mixed)
        return [n - gone for n, gone in zip(made, self.taken, strict=True)]


class Lists:
    """The lists of a trial as far as its events lead; empty in a trial that is not randomised."""

    def __init__(self, design: Design) -> None:
        self.scheme, self._K = design.randomise, design.K
        self.public: dict[str, str] | None = None  # id of the trial, and the hash of its secret
        self.strata: dict[str, Stretch] = {}
        self.requested: dict[str, str] = {}  # the caller's id of an `ask` to its stratum

    def __repr__(self) -> str:
        return f"Lists({self.scheme!r}, {self.public}, {self.strata}, {self.requested})"

    def created(self, body: dict[str, Any]) -> None:
        """The trial begins; a randomised one with the hash of its secret."""
        if self.scheme is not None:
            public = body["secret"]
            self.public = {"trial": str(public["trial"]), "sha256": str(public["sha256"])}

    def asked(self, body: dict[str, Any], arms: Sequence[int]) -> None:
        """Participants were placed on `arms`, by position."""
        if self.scheme is None:
            return
        stratum = self.scheme.stratum(body.get("stratum"))
        here = self.strata.setdefault(stratum, Stretch())
        begins = {int(block["at"]): block["probabilities"] for block in body["drawn"]}
        if any(len(shares) != self._K for shares in begins.values()):
            raise ValueError("there is a probability for every arm")
        for at, arm in enumerate(arms):
            if at in begins:
                here.begin([float(p) for p in begins[at]])
            here.take(arm)
        if "request" in body:
            self.requested[body["request"]] = stratum

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, for a snapshot; nothing in a trial that is not randomised."""
        if self.scheme is None:
            return {}
        strata = {name: asdict(here) for name, here in self.strata.items()}
        return {"lists": {"public": self.public, "strata": strata, "requested": self.requested}}

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` wrote."""
        if self.scheme is not None:
            kept = data["lists"]
            self.public, self.requested = kept["public"], kept["requested"]
            self.strata = {name: Stretch(**here) for name, here in kept["strata"].items()}
