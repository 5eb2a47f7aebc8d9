"""Who gets which arm in a randomised trial: the lists of its strata, and the proof that they held.

The ledger has the probabilities that were drawn with and the arms that came of it. What is left of
a block is in no file: it follows from the secret (`paretoid.explorer.secret`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.explorer.choice import Moment, choose
from paretoid.explorer.design import Design
from paretoid.explorer.events import LedgerError
from paretoid.explorer.secret import Lots, Secret
from paretoid.randomisation import Randomisation, composition, pick

if TYPE_CHECKING:
    from paretoid.view import View


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


def draw(
    lists: Lists, lots: Lots, moment: Moment, size: int, stratum: str | None, seen: View | None
) -> tuple[list[int], dict[str, Any], dict[str, Any]]:
    """(arms of the next participants of a stratum, what the event says besides, rule's memory)."""
    scheme, design = lists.scheme, moment.design
    assert scheme is not None
    name = scheme.stratum(stratum)
    here = replace(lists.strata.get(name, Stretch()))
    here.taken = list(here.taken)
    arms: list[int] = []
    drawn: list[dict[str, Any]] = []
    memory = moment.memory
    for _ in range(size):
        if scheme.block is None:
            over = not arms
        else:
            over = not here.begun or not any(here.left(scheme, lots, name))
        if over:
            coming = np.bincount(arms, minlength=design.K)[:, None]
            now = replace(moment, awaited=moment.awaited + coming, memory=memory)
            batch = choose(now, [], scheme.horizon(design.K), seen)
            wished = np.bincount(batch.arms + batch.rest, minlength=design.K)
            here.begin(scheme.probabilities(wished.tolist(), design.arms))
            drawn.append({"at": len(arms), "probabilities": here.probabilities})
            memory = batch.memory
            if scheme.block is None and memory:  # looked ahead, but only so many are placed
                memory = choose(now, [], size, seen).memory
        chance, _, _ = lots(name, here.placed + 1)
        arm = pick(here.left(scheme, lots, name), chance)
        here.take(arm)
        arms.append(arm)
    said: dict[str, Any] = {"drawn": drawn}
    return arms, said | ({"stratum": name} if scheme.strata else {}), memory


def check_list(session: Any, secret: Secret, last: int) -> int:
    """That every arm up to event `last` is the one that the list says; returns how many.

    Everything is drawn again: the rule's wishes from the outcomes known at the time, the arms from
    the secret. Whoever placed a participant by hand did so in another event, which is no draw.
    """
    from paretoid.explorer.state import TrialState

    design = session.design
    replay, followed = TrialState(design), 0
    for event in session._ledger.events():
        if event.seq > last:
            break
        if event.kind == "asked":
            secret.check(replay.lists.public)
            body = event.body
            arms, said, _ = session._draw(replay, secret, len(body["arms"]), body.get("stratum"))
            listed = [design.arms[arm] for arm in arms]
            for at, (given, due) in enumerate(zip(body["arms"], listed, strict=True)):
                if given != due:
                    raise LedgerError(
                        f"event {event.seq} (asked) gave allocation {body['first'] + at} the arm "
                        f"{given!r}, and the list says {due!r}: it was not followed."
                    )
            if body["drawn"] != said["drawn"]:
                raise LedgerError(
                    f"event {event.seq} (asked) drew with other probabilities than the rule's "
                    f"wishes and the floors give at that time: the list was not followed, or the "
                    f"event was written by other software."
                )
            followed += len(arms)
        replay.apply(event)
    return followed
