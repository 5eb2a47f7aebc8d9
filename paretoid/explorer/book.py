"""What a site knows of its own participants, and what follows from that alone.

Whatever a site enters is judged here twice, when it is entered and when it is taken into the
ledger, and by the same rules as in the trial. The book is a trial of the site's own with one arm
for everybody: whether something is refused or asked back, and in which words, depends on nothing
but the site's own entries, so no refusal can tell an arm, a mean or what others have measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paretoid.explorer.design import Design
from paretoid.explorer.events import Event
from paretoid.explorer.messages import Message
from paretoid.explorer.outcomes import as_outcome, known
from paretoid.explorer.plausible import Entry, questions
from paretoid.explorer.state import TrialState
from paretoid.text import counted

#: the one arm of the book, and one that a design needs beside it
_ARMS = ("-", "=")

#: what of a design the book is about
_MEASURED = ("objectives", "minimize", "outcomes", "scale", "cone")


def endpoints(design: Design) -> dict[str, Any]:
    """What a site needs to know of a design: what is measured. Nothing of an arm.

    Of scales that differ by arm the largest.

    >>> endpoints(Design(["placebo", "vaccine"], ["IgG", "fever"], minimize=["fever"]))["scale"]
    """
    given: Any = design if design.cone is None else design.cone
    scale = None
    if given.scale is not None:
        table = np.asarray(given.scale, dtype=float)
        D = len(given.objectives)
        scale = (table.max(axis=0) if table.ndim == 2 else np.broadcast_to(table, D)).tolist()
    return {
        "objectives": list(given.objectives),
        "minimize": list(given.minimize),
        "outcomes": design.outcomes,
        "scale": scale,
        **({} if design.cone is None else {"cone": design.cone.W.tolist()}),
    }


class Book:
    """The participants of one site, by their codes, with what is known of them.

    >>> book = Book({"objectives": ["IgG"], "outcomes": "gaussian"})
    >>> book.add("ABCDEFGH", {"IgG": 9.1})
    >>> book.outcomes("ABCDEFGH")
    {'IgG': 9.1}
    """

    def __init__(self, measured: Mapping[str, Any]) -> None:
        known = {name: measured[name] for name in _MEASURED if name in measured}  # no members: a
        self.design = Design.from_dict({"arms": list(_ARMS), **known})  # file could name modules
        self._state = TrialState(self.design)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of what is measured."""
        return (self.design.cone or self.design).objectives

    def codes(self) -> list[str]:
        """The codes of all participants, in order."""
        return list(self._state.labels)

    def add(
        self, code: str, outcomes: Mapping[str, float | str], *, withdrawn: bool = False
    ) -> None:
        """A participant who was placed, with the outcomes that are known."""
        arm = _ARMS[0]
        self._apply("told", {"unplanned": True, "id": code, "arm": arm, "outcome": dict(outcomes)})
        if withdrawn:
            self._state.withdrawn.append(self._state.labels[code])

    def outcomes(self, code: str) -> dict[str, float | str]:
        """What is known of a participant, objective by objective."""
        position = self._state.labels[code]
        told = {
            name: known(self._state, d, position) for d, name in enumerate(self.design.objectives)
        }
        return {name: value for name, value in told.items() if value is not None}

    def withdrawn(self, code: str) -> bool:
        """True: nobody received what this code stands for."""
        return self._state.labels[code] in self._state.withdrawn

    def check(self, what: str, code: str, outcome: Any = None) -> Any:
        """Refuse what makes no sense after all that is known; else the outcome in plain numbers."""
        position = self._state.labels.get(code)
        if what == "enrol":
            if position is not None:
                raise ValueError(f"the code {code} is taken; every participant has a new one.")
            return None
        if position is None:
            placed = counted(len(self._state.labels), "participant")
            raise ValueError(
                f"this site has no participant {code!r:.50}; it has {placed}. Look at its list."
            )
        if position in self._state.withdrawn:
            raise ValueError(f"{code} was withdrawn, as nobody received it; nothing is to be told.")
        if what == "withdrawal":
            if self._state.is_told(position):
                raise ValueError(f"{code} has outcomes already, so it cannot be withdrawn.")
            return None
        return as_outcome(self._state, position, code, outcome, correcting=what == "correction")

    def take(self, message: Message) -> None:
        """Move on by a message that was checked."""
        told = self.check(message.what, message.code, message.outcome)
        if message.what == "enrol":
            self.add(message.code, {})
        elif message.what == "withdrawal":
            self._apply("withdrawn", {"id": message.code})
        else:
            kind = "told" if message.what == "outcome" else "corrected"
            self._apply(kind, {"id": message.code, "outcome": told})

    def plain(self, outcome: Any) -> Any:
        """An outcome as it is written in a message: by name, in numbers; after `check`."""
        if isinstance(outcome, str):
            return outcome
        if not isinstance(outcome, Mapping):
            outcome = dict(zip(self.measured, outcome, strict=True))
        given = {name: value for name, value in outcome.items() if value is not None}
        return {
            name: value if value == "missing" else float(value) for name, value in given.items()
        }

    def questions(self, code: str, outcome: Any) -> tuple[str, ...]:
        """What to ask back before this is entered: see `paretoid.explorer.plausible`."""
        told = self.check("outcome", code, outcome)
        return questions(self._state, [Entry(code, 0, told)])[0]

    def take_all(self, messages: Iterable[Message]) -> None:
        """Move on by those messages that make sense; the others are for the trial to refuse."""
        for message in messages:
            try:
                self.take(message)
            except ValueError:
                continue

    def _apply(self, kind: str, body: dict[str, Any]) -> None:
        self._state.apply(Event(0, "", "", kind, body, ""))
