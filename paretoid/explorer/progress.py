"""How far a trial is on the way that its design foresees: participants, burn-in, looks.

Looks are for people: when to read the status and to decide. Every outcome that is recorded is
tested: proofs cover all times together, so none rests on when a look is held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from paretoid import text
from paretoid.conduct import Conduct
from paretoid.explorer.state import TrialState


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a trial is in its conduct.

    enrolled        participants: allocations that were neither overridden nor withdrawn
    max_samples     participants that the design foresees, None if it does not say
    conduct         how it is meant to run, in words; empty if the design does not say
    burn_in         arm to participants that it is still due before the rule begins
    last_look       number of enrolled at which the last look fell due, None before the first
    next_look       number of enrolled at which the next one will; None after the last number; both
                    are None where every participant is followed by a look
    next_look_day   day of the next one, for looks every so many days; the first enrolment is day 0

    >>> from paretoid import Conduct, Explorer
    >>> from paretoid.explorer import Design
    >>> conduct = Conduct(look=4, burn_in=2)
    >>> trial = Explorer.from_design(Design(["A", "B"], ["x"], conduct=conduct, max_samples=9))
    >>> made = trial.ask(3)
    >>> progress = trial.status().progress
    >>> progress.burn_in, progress.next_look
    ({'B': 1}, 4)
    >>> print(progress)
    3 participants enrolled of 9; the next look is after 4
    burn-in, still due: 1 of B
    planned: a look after every 4 enrolled, the first 2 participants of each arm in turn
    """

    enrolled: int
    max_samples: int | None = None
    conduct: str = ""
    burn_in: dict[str, int] | None = None
    last_look: int | None = None
    next_look: int | None = None
    next_look_day: float | None = None

    def __str__(self) -> str:
        said = f"{text.counted(self.enrolled, 'participant')} enrolled"
        if self.max_samples is not None:
            said += f" of {self.max_samples:,}"
            if self.enrolled > self.max_samples:
                said += " (more than planned; the guarantee is the same, the simulated figures not)"
        said += self._looks()
        lines = [said]
        if self.burn_in:
            due = ", ".join(
                f"{number} of {text.visible(arm)}" for arm, number in self.burn_in.items()
            )
            lines.append(f"burn-in, still due: {due}")
        if self.conduct:
            lines.append(f"planned: {text.visible(self.conduct)}")
        return "\n".join(lines)

    def _looks(self) -> str:
        said = (
            "" if self.last_look is None else f"; the last look fell due after {self.last_look:,}"
        )
        if self.next_look is not None:
            return f"{said}; the next look is after {self.next_look:,}"
        if self.next_look_day is not None:
            return f"{said}; the next look is on day {self.next_look_day:g}"
        if self.last_look is not None and self.max_samples is not None:
            return f"{said}; the last one is when all outcomes have arrived"
        return said


def progress_of(state: TrialState, day: float = math.nan) -> Progress | None:
    """The progress of a trial on a day since its first enrolment; None of one without a conduct."""
    design = state.design
    conduct = design.conduct
    if conduct is None and design.max_samples is None:
        return None
    enrolled = len(state.arms) - len(state.replaced) - len(state.withdrawn)
    due = burn_in(state)
    last, following = looks(conduct or Conduct(), enrolled, design.max_samples)
    by_day = None
    if conduct is not None and conduct.look_days is not None:
        passed = 0 if math.isnan(day) else math.floor(day / conduct.look_days)
        by_day = (passed + 1) * conduct.look_days
    return Progress(
        enrolled,
        design.max_samples,
        "" if conduct is None else str(conduct),
        {name: due.count(arm) for arm, name in enumerate(design.arms) if arm in due},
        last,
        following,
        by_day,
    )


def looks(
    conduct: Conduct, enrolled: int, max_samples: int | None = None
) -> tuple[int | None, int | None]:
    """Numbers of enrolled at which the last look fell due and the next one will; None: none.

    Without a number of its own a design looks after every participant: there is nothing to say.

    >>> looks(Conduct(look=100), 100), looks(Conduct(look=(50, 150)), 20)
    ((100, 200), (None, 50))
    >>> looks(Conduct(look=100), 250, 280), looks(Conduct(look=(50, 150)), 170)
    ((200, None), (150, None))
    """
    if conduct.look_days is not None or conduct.look in (None, 1):
        return None, None
    if isinstance(conduct.look, tuple):
        last = max((at for at in conduct.look if at <= enrolled), default=None)
        following = min((at for at in conduct.look if at > enrolled), default=None)
    else:
        every = int(conduct.look or 1)
        last, following = enrolled // every * every or None, (enrolled // every + 1) * every
    if max_samples is not None and following is not None and following > max_samples:
        following = None
    return last, following


def burn_in(state: TrialState) -> list[int]:
    """The arms that are due before the rule begins, in turn; those with fewest come first.

    Overridden and withdrawn allocations do not count, since nobody received the arm; lost ones do.
    """
    conduct = state.design.conduct
    if conduct is None or not conduct.burn_in:
        return []
    received = list(state.allocated)
    for position in (*state.replaced, *state.withdrawn):
        received[state.arms[position]] -= 1
    return [
        arm
        for number in range(conduct.burn_in)
        for arm in range(state.design.K)
        if received[arm] <= number
    ]


def days_since(first: str | None, now: datetime) -> float:
    """Days from the time of an event to `now`; NaN where there is none, or one without a zone.

    >>> days_since("2026-01-01T00:00:00+00:00", datetime.fromisoformat("2026-01-03T12:00:00+00:00"))
    2.5
    """
    try:
        return (now - datetime.fromisoformat(first or "")).total_seconds() / 86_400
    except (TypeError, ValueError):
        return math.nan
