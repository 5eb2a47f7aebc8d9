"""A conduct from the words of a command line: 20/week, 28d, IgG=4w, 10%."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from paretoid.conduct import Conduct
from paretoid.randomisation import Randomisation

#: days of a unit of time
_DAYS = {"d": 1.0, "day": 1.0, "w": 7.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}


def conduct_from(
    rate: str | None = None,
    delay: Iterable[str] = (),
    look: str | None = None,
    dropout: Iterable[str] = (),
    burn_in: int = 0,
    randomise: Randomisation | None = None,
) -> Conduct:
    """The conduct that the words say.

    >>> print(conduct_from("5/day", ["28d"], "100", ["10%"]))
    5 participants a day, outcomes after 28 days, a look after every 100 enrolled, 10% lost
    >>> conduct_from("35/week,70/week@30d", ["IgG=4w", "fever=2d"], "7d").rate
    ((0.0, 5.0), (30.0, 10.0))
    >>> conduct_from(look="50,150").look
    (50, 150)
    """
    given: dict[str, Any] = {"burn_in": burn_in, "randomise": randomise}
    if rate is not None:
        steps = [part.partition("@") for part in rate.split(",")]
        pairs = [(days_of(start or "0d", "--rate"), _rate_of(word)) for word, _, start in steps]
        given["rate"] = pairs[0][1] if len(pairs) == 1 and pairs[0][0] == 0 else tuple(pairs)
    delays = words_by_name(delay, "--delay", days_of)
    if delays is not None:
        given["delay"] = delays
    shares = words_by_name(dropout, "--dropout", share_of)
    if shares is not None:
        given["dropout"] = shares
    if look is not None:
        numbers = [part.strip() for part in look.split(",")]
        if all(part.isdecimal() for part in numbers):
            given["look"] = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
        else:
            given["look_days"] = days_of(look, "--look")
    return Conduct(**given)


def days_of(word: str, name: str) -> float:
    """28d, 4w or 1month as days; a bare number is days.

    >>> days_of("28d", "--delay"), days_of("4w", "--delay"), days_of("2", "--delay")
    (28.0, 28.0, 2.0)
    """
    number, unit = _split(word, name, "a time such as 28d or 4w")
    if unit and _singular(unit) not in _DAYS:
        raise ValueError(f"{name} {word}: {unit!r} is no unit of time; use d, w, month or year.")
    return number * (_DAYS[_singular(unit)] if unit else 1.0)


def share_of(word: str, name: str) -> float:
    """10% or 0.1 as a share.

    >>> share_of("10%", "--dropout"), share_of("0.1", "--dropout")
    (0.1, 0.1)
    """
    number, unit = _split(word, name, "a share such as 10% or 0.1")
    if unit not in ("", "%"):
        raise ValueError(f"{name} {word} must be a share such as 10% or 0.1.")
    return number / 100 if unit else number


def _rate_of(word: str) -> float:
    number, unit = _split(word, "--rate", "a rate such as 5/day or 20/week")
    per = unit.removeprefix("/").strip()
    if unit and (not unit.startswith("/") or _singular(per) not in _DAYS):
        raise ValueError(f"--rate {word}: say per what, such as {number:g}/day or {number:g}/week.")
    return number / (_DAYS[_singular(per)] if unit else 1.0)


def _singular(unit: str) -> str:
    unit = unit.lower()
    return unit.removesuffix("s") if len(unit) > 1 else unit


def _split(word: str, name: str, what: str) -> tuple[float, str]:
    match = re.fullmatch(r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%|/?\s*[a-z]*)\s*", word, re.I)
    try:
        return float(match.group(1)), match.group(2) if match else ""  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        raise ValueError(f"{name} {word!r} must be {what}.") from None


def words_by_name(words: Iterable[str], name: str, read: Any) -> Any:
    """One value, or a mapping from names; None without any.

    >>> words_by_name(["A=10%", "B=20%"], "--dropout", share_of)
    {'A': 0.1, 'B': 0.2}
    """
    named: dict[str, float] = {}
    plain: list[float] = []
    for word in words:
        label, equals, value = word.rpartition("=")
        if equals:
            named[label] = read(value, name)
        else:
            plain.append(read(value, name))
    if len(plain) > 1 or (plain and named):
        raise ValueError(f"{name} is given for all and again; give one value, or NAME=VALUE each.")
    return named or (plain[0] if plain else None)
