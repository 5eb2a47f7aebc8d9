"""Who gets which arm in a randomised trial, and the proof afterwards that it was so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.explorer.choice import Moment, choose
from paretoid.explorer.events import LedgerError
from paretoid.explorer.lists import Lists, Stretch
from paretoid.explorer.secret import Lots, Secret
from paretoid.explorer.state import TrialState
from paretoid.randomisation import pick

if TYPE_CHECKING:
    from paretoid.view import View


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
