"""How a trial runs: recruitment, delay of outcomes, looks, losses, burn-in.

`Conduct()` is the ideal: every outcome is known before the next participant is placed, and every
participant is followed by a look. Days count from the first enrolment, which is day 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from paretoid.by_name import ByName, by_name, finite, named, row
from paretoid.randomisation import Randomisation
from paretoid.text import counted, meant, measure
from paretoid.theory.checks import FloatArray, check_count, is_listed, refusal, shown


@dataclass(frozen=True)
class Conduct:
    """How a trial runs; `simulate(..., conduct=)` and `plan` take it.

    rate        participants a day; or ((0.0, 2.0), (30.0, 5.0)): 2 a day from day 0, 5 from
                day 30. None: there is no calendar
    delay       days from enrolment to the outcome, of all endpoints or by name
    look        a test after every so many enrolled, or at the numbers of enrolled given
    look_days   a test every so many days, instead
    dropout     share of participants without any outcome, of all arms or by name
    missing     share of outcomes missing besides, of all endpoints or by name
    burn_in     participants of each arm placed in turn before the rule begins
    randomise   a `Randomisation`: arms are drawn with probabilities from the rule's wishes; every
                participant belongs to one of its strata, each equally likely. Such trials are
                simulated by the readable loop, a stepped Explorer, and not by a compiled one: a
                thousand participants take seconds

    Recruitment goes on until the look that answers. At a look, and for every allocation between
    looks, what has arrived counts: outcome d of a participant enrolled on day t is known on day
    t + delay, also to the allocation and the look of that day. Losses are independent of all
    outcomes, and recorded as missing on the day the outcome was due.

    >>> conduct = Conduct(rate=5.0, delay=28.0, look=100, dropout=0.1)
    >>> print(conduct)
    5 participants a day, outcomes after 28 days, a look after every 100 enrolled, 10% lost
    >>> conduct.day_of(6), conduct.is_ideal, Conduct().is_ideal
    (1.0, False, True)
    >>> Conduct(rate=1.0, delay={"antibodies": 28, "fever": 2}).delays(["fever", "antibodies"])
    array([ 2., 28.])

    The days of the first participants, and whether each is followed by a look:

    >>> conduct = Conduct(rate=2.0, look=3, dropout={"A": 0.2}, missing=0.1)
    >>> conduct.days(4), conduct.looks(conduct.days(4))
    (array([0. , 0.5, 1. , 1.5]), array([False, False,  True, False]))
    >>> conduct.lost(["A", "B"], ["x"])
    (array([0.2, 0. ]), array([0.1]))
    >>> conduct.clockless.rate is None    # nothing is late, so days change no allocation
    True
    >>> conduct.check(["A", "B"], ["x"], max_samples=2)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: look=3 comes after max_samples=2 participants...
    """

    rate: float | tuple[tuple[float, float], ...] | None = None
    delay: ByName = 0.0
    look: int | tuple[int, ...] | None = None
    look_days: float | None = None
    dropout: ByName = 0.0
    missing: ByName = 0.0
    burn_in: int = 0
    randomise: Randomisation | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "rate", _as_rate(self.rate))
        put(self, "delay", by_name(self.delay, "delay", _as_days))
        put(self, "look", _as_look(self.look))
        if self.look_days is not None:
            put(self, "look_days", _as_days(self.look_days, "look_days"))
        put(self, "dropout", by_name(self.dropout, "dropout", _as_share))
        put(self, "missing", by_name(self.missing, "missing", _as_share))
        put(self, "burn_in", check_count(self.burn_in, name="burn_in", least=0,
                                         why="it is how many of each arm come first."))  # fmt: skip
        if self.randomise is not None and not isinstance(self.randomise, Randomisation):
            raise ValueError(
                f"randomise={shown(self.randomise)} must be a Randomisation, such as "
                f"Randomisation(floor=0.1, block=6)."
            )
        if self.randomise is not None and self.burn_in:
            raise ValueError(
                f"burn_in={self.burn_in} places arms in turn, and a randomised trial draws them "
                f"from the first. Leave it out: until every interval is finite the rule wishes for "
                f"the arms with fewest outcomes."
            )
        if self.look is not None and self.look_days is not None:
            raise ValueError(
                f"look={self.look!r} and look_days={self.look_days:g} both say when to look; give "
                f"one of them."
            )
        if self.look_days == 0:
            raise ValueError(
                "look_days=0 would look without end on one day; for a look after every participant "
                "leave it out."
            )
        if self.rate is None and (self._any(self.delay) or self.look_days is not None):
            what = f"delay={self.delay!r}" if self._any(self.delay) else "look_days"
            raise ValueError(
                f"{what} counts days, and without a rate nobody knows how many participants come "
                f"in them. Give rate=, participants a day."
            )

    @staticmethod
    def _any(given: ByName) -> bool:
        values = [share for _, share in given] if isinstance(given, tuple) else [given]
        return any(value > 0 for value in values)

    @property
    def is_ideal(self) -> bool:
        """True: nothing but perhaps the calendar differs from a look after every outcome."""
        return self.clockless == Conduct()

    @property
    def clockless(self) -> Conduct:
        """The same without a rate, where that changes no allocation."""
        if self._any(self.delay) or self.look_days is not None:
            return self
        look = None if self.look == 1 else self.look
        dropout = self.dropout if self._any(self.dropout) else 0.0
        missing = self.missing if self._any(self.missing) else 0.0
        return Conduct(
            look=look, dropout=dropout, missing=missing, burn_in=self.burn_in,
            randomise=self.randomise,
        )  # fmt: skip

    def delays(self, objectives: Sequence[str]) -> FloatArray:
        """(D,) days from enrolment to each outcome; an endpoint not named is known at once."""
        return row(self.delay, objectives, "delay", "endpoint")

    def lost(self, arms: Sequence[str], objectives: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """((K,) share of participants lost, (D,) share of outcomes missing besides)."""
        return (
            row(self.dropout, arms, "dropout", "arm"),
            row(self.missing, objectives, "missing", "endpoint"),
        )

    def day_of(self, participant: int) -> float:
        """The day on which that participant, counted from 1, is enrolled; NaN without a rate.

        >>> Conduct(rate=((0.0, 1.0), (10.0, 2.0))).day_of(13)    # ten in ten days, then two a day
        11.0
        """
        if self.rate is None:
            return math.nan
        before = float(participant - 1)
        if isinstance(self.rate, float):
            return before / self.rate
        for (start, rate), (end, _) in pairwise(self.rate):
            if before < (end - start) * rate:
                return start + before / rate
            before -= (end - start) * rate
        start, rate = self.rate[-1]
        return start + before / rate

    def days(self, n: int) -> FloatArray:
        """(n,) the days on which the first n participants are enrolled."""
        return np.array([self.day_of(i) for i in range(1, n + 1)])

    def looks(self, days: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(n,) is there a look right after each of n participants, enrolled on these days?

        A look every so many days falls on the last enrolment up to that day.
        """
        n = len(days)
        after = np.zeros(n, dtype=np.bool_)
        if self.look_days is not None:
            number = np.floor(days / self.look_days)
            after[:-1] = number[1:] > number[:-1]
        elif isinstance(self.look, tuple):
            after[[at - 1 for at in self.look if at <= n]] = True
        else:
            every = self.look or 1
            after[every - 1 :: every] = True
        return after

    def check(
        self, arms: Sequence[str], objectives: Sequence[str], max_samples: int | None
    ) -> None:
        """Refuse a conduct that does not fit a trial of these arms, endpoints and size."""
        self.lost(arms, objectives)
        if self.randomise is not None:
            self.randomise.floors(arms)
        delays = self.delays(objectives)
        if self.is_ideal:
            return
        if max_samples is None:
            raise ValueError(
                f"a trial with {self} needs max_samples: outcomes that are late or lost may leave "
                f"it open for ever. Say how many participants it can have."
            )
        first = self.look if isinstance(self.look, int) else min(self.look or (1,))
        if first > max_samples:
            raise ValueError(
                f"look={self.look!r} comes after max_samples={max_samples} participants, so there "
                f"would be no look but the last. Look earlier, or enrol more."
            )
        if self.burn_in * len(arms) > max_samples:
            raise ValueError(
                f"burn_in={self.burn_in} of {len(arms)} arms is more than "
                f"max_samples={max_samples} participants. Take fewer, or enrol more."
            )
        last = self.day_of(max_samples)
        if delays.max() > last and delays.max() > 0:
            raise ValueError(
                f"a delay of {delays.max():g} days is longer than the trial: all {max_samples} "
                f"participants are enrolled by day {last:g}, so no allocation and no look before "
                f"the last could use an outcome. Enrol more, or more slowly; a trial of fixed "
                f"size needs no simulation of looks."
            )

    def to_dict(self) -> dict[str, Any]:
        """What differs from the ideal, as plain data for JSON and TOML.

        >>> Conduct(rate=5.0, delay={"fever": 2}, look=10).to_dict()
        {'rate': 5.0, 'delay': {'fever': 2.0}, 'look': 10}
        >>> Conduct.from_dict({"rate": 5.0, "look": 10}) == Conduct(rate=5.0, look=10)
        True
        """
        plain: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, Randomisation):
                value = value.to_dict()
            elif isinstance(value, tuple) and field.name in ("delay", "dropout", "missing"):
                value = dict(value)
            elif isinstance(value, tuple):
                value = [list(part) if isinstance(part, tuple) else part for part in value]
            plain[field.name] = value
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Conduct:
        """The conduct of `to_dict`; an unknown key is refused, with a guess at what was meant."""
        known = [field.name for field in fields(cls)]
        for key in data:
            if key not in known:
                raise ValueError(f"a conduct has no {key!r}{meant(key, known)} It has {known}.")
        given = dict(data)
        if "randomise" in given:
            given["randomise"] = Randomisation.from_dict(given["randomise"])
        return cls(**given)

    def words(self) -> dict[str, str]:
        """What differs from the ideal in words, by what it is about.

        >>> Conduct(rate=2 / 7, look=50).words()
        {'recruitment': '2 participants a week', 'looks': 'a look after every 50 enrolled'}
        """
        said = {}
        if isinstance(self.rate, float):
            said["recruitment"] = rate_words(self.rate, noun="participant")
        elif self.rate is not None:
            steps = (f"{rate_words(rate)} from day {_number(day)}" for day, rate in self.rate)
            said["recruitment"] = f"participants: {', '.join(steps)}"
        if self._any(self.delay):
            days = named(self.delay, lambda d: f"{_number(d)} days")
            said["delay of outcomes"] = f"outcomes after {days}"
        if self.look_days is not None:
            said["looks"] = f"a look every {_number(self.look_days)} days"
        elif isinstance(self.look, tuple):
            said["looks"] = f"looks at {', '.join(map(str, self.look))} enrolled"
        elif self.look is not None:
            said["looks"] = f"a look after every {self.look} enrolled"
        if self._any(self.dropout):
            lost = named(self.dropout, lambda p: f"{100 * p:.3g}%")
            said["participants lost"] = f"{lost} lost"
        if self._any(self.missing):
            lost = named(self.missing, lambda p: f"{100 * p:.3g}%")
            said["outcomes missing"] = f"{lost} of outcomes missing"
        if self.burn_in:
            first = counted(self.burn_in, "participant")
            said["burn-in"] = f"the first {first} of each arm in turn"
        if self.randomise is not None:
            said["randomisation"] = f"randomised: {self.randomise}"
        return said

    def __str__(self) -> str:
        said = ", ".join(self.words().values())
        return said or "ideal: every outcome is known before the next participant"


def rate_unit(rate: float) -> tuple[float, str]:
    """(days, words) of the time for which a rate is a handy number: a day, a week, 30 days.

    A day or a week in which they are whole, or else the first in which at least one comes.

    >>> rate_unit(5.0), rate_unit(20 / 7), rate_unit(0.4)
    ((1.0, 'a day'), (7.0, 'a week'), (7.0, 'a week'))
    """
    units = ((1.0, "a day"), (7.0, "a week"))
    for days, words in units:
        if rate * days >= 0.5 and math.isclose(rate * days, round(rate * days), rel_tol=1e-9):
            return days, words
    return next((unit for unit in units if rate * unit[0] >= 1), (30.0, "every 30 days"))


def rate_words(rate: float, *, noun: str = "", unit: tuple[float, str] | None = None) -> str:
    """So many a day, of a `noun`, as one would say it; three digits where the number is not whole.

    unit    of `rate_unit`, where several rates are to be compared; default that of this one

    >>> rate_words(5.0), rate_words(2 / 7), rate_words(1 / 30), rate_words(1234.5)
    ('5 a day', '2 a week', '1 every 30 days', '1,234 a day')
    >>> rate_words(1 / 7, noun="participant"), rate_words(0.5, unit=rate_unit(2.0))
    ('1 participant a week', '0.5 a day')
    """
    days, words = unit or rate_unit(rate)
    number = rate * days
    if unit is None and days == 30:
        number, words = 1.0, f"every {measure(1 / rate, 3)} days"
    whole = math.isclose(number, round(number), rel_tol=1e-9)
    written = f"{round(number):,}" if whole else measure(number, 3)
    return " ".join(filter(None, [written, noun and noun + "s" * (written != "1"), words]))


def _as_rate(rate: Any) -> Any:
    if rate is None:
        return None
    if isinstance(rate, Sequence) and not isinstance(rate, str):
        steps = []
        for step in rate:
            if not isinstance(step, Sequence) or isinstance(step, str) or len(step) != 2:
                raise refusal(isinstance(step, Sequence))(
                    f"rate={shown(rate)} must be a number, or pairs (from day, rate)."
                )
            steps.append((_as_days(step[0], "rate"), _positive_rate(step[1])))
        days = [day for day, _ in steps]
        if not steps or days[0] != 0 or any(b <= a for a, b in pairwise(days)):
            raise ValueError(
                f"rate={shown(rate)} must begin on day 0 and go on by increasing days: the first "
                f"participant is enrolled then."
            )
        return tuple(steps) if len(steps) > 1 else steps[0][1]
    return _positive_rate(rate)


def _positive_rate(rate: Any) -> float:
    number = finite(rate, "rate")
    if number <= 0:
        raise ValueError(
            f"rate={shown(rate)} must be positive: with no participants a day a trial never ends. "
            f"Leave it out for one without a calendar."
        )
    return number


def _as_days(days: Any, name: str) -> float:
    number = finite(days, name)
    if number < 0:
        raise ValueError(f"{name}={shown(days)} must not be negative: it is a number of days.")
    return number


def _as_look(look: Any) -> int | tuple[int, ...] | None:
    if look is None:
        return None
    if is_listed(look):
        numbers = tuple(check_count(n, name="look", why="it counts participants.") for n in look)
        if not numbers or any(b <= a for a, b in pairwise(numbers)):
            raise ValueError(f"look={shown(look)} must be increasing numbers of participants.")
        return numbers
    return check_count(look, name="look", why="it is how many are enrolled between two looks.")


def _number(value: float) -> str:
    return f"{value:.6g}"


def _as_share(value: Any, name: str) -> float:
    number = finite(value, name)
    if not 0 <= number < 1:
        raise ValueError(
            f"{name}={shown(value)} must be a share in [0, 1): nothing is ever learnt from "
            f"outcomes that are all lost. 10% is 0.1."
        )
    return number
