"""Which way is better: in words, and asked where a name suggests the other way.

A table does not say by itself that less toxicity is better. What is not said is taken to be better
the larger it is; where the name of an endpoint speaks against that, nothing is taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from paretoid.text import joined, meant
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.theory.limits import Limit

#: what is usually better the less there is of it
_LESS = re.compile(
    r"toxic|drop[- ]?out|withdraw|adverse|\baes?\b|\bsaes?\b|mortal|death|\bdied|fail|\bpain|\bcost"
    r"|latenc|depress|anxiety|symptom|\bseverit|\bsevere\b|relapse|recurren|progress|\bharm|error"
    r"|churn|bounce|bleed"
    r"|side[- ]effect|hospital|infect|fever|nausea|vomit|waiting|complication|disabilit|fatigue"
    r"|blood pressure|cholesterol|\bldl\b|hba1c|glucose|viral load|length of stay|\brisk|burden"
    # scales on which more is worse
    r"|\bham-?[ad]\b|\bhamd|\bhdrs|\bmadrs|\bbdi\b|\bphq|\bgad-?7|\bpanss|\bupdrs|\bedss|\bnihss"
    r"|\bwomac|\bdas-?28|\bpasi\b|\beasi\b"
)

#: what turns such a name round, as in "pain-free days" or "survival without relapse"
_MORE = re.compile(r"free|without|surviv|relief|improve|reduc|recover|avoid|prevent|protect|toler")

#: a waiting time goes either way, whatever is waited for: relief or relapse
_EITHER = re.compile(r"\btime[- ]to\b|\btime until\b")


def usually_less(name: str) -> bool:
    """True: less of an endpoint with this name is usually, or as often as not, better.

    >>> [usually_less(name) for name in ("Toxicity, grade 3", "time to relief", "pain", "IgG")]
    [True, True, True, False]
    >>> [usually_less(name) for name in ("HAM-D", "PHQ-9", "pharmacy visits", "topics studied")]
    [True, True, False, False]
    >>> usually_less("pain relief")
    False
    """
    plain = name.lower().replace("_", " ")
    return bool(_EITHER.search(plain) or (_LESS.search(plain) and not _MORE.search(plain)))


#: how to answer the question of `check_directions`, for a table and for a TOML file
_TABLE = (
    "Name it in minimize= if less is better, in maximize= if more is; or give a table of published "
    "summaries a column better, with smaller or larger in it."
)
IN_TOML = "List under minimize where less is better; an empty list says that more is, everywhere."


def check_directions(
    names: Collection[str],
    minimize: Collection[str],
    maximize: Collection[str],
    file: str,
    way_out: str = _TABLE,
) -> None:
    """Refuse directions that contradict each other, and odd names of which none is stated.

    >>> check_directions(["IgG", "toxicity"], ["toxicity"], [], "table.csv")
    >>> check_directions(["IgG", "toxicity"], [], [], "table.csv")    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: is more 'toxicity' better? table.csv does not say, and names like that usually ...
    """
    for name in maximize:
        if name not in names:
            raise ValueError(
                f"maximize names {name!r}, which is no endpoint{meant(name, names)} There are: "
                f"{', '.join(names)}."
            )
        if name in minimize:
            raise ValueError(
                f"minimize and maximize both name {name!r}; either less of it is better, or more."
            )
    odd = [name for name in names if usually_less(name) and name not in {*minimize, *maximize}]
    if odd:
        raise ValueError(
            f"is more {joined(map(repr, odd), 'or')} better? {file} does not say, and names like "
            f"that usually go the other way. {way_out}"
        )


def directions(
    names: Sequence[str],
    minimize: Collection[str],
    limits: Mapping[str, Limit] | None = None,
    units: Units = PLAIN,
) -> str:
    """Which way is better, for every endpoint; of one that has a limit only, what the limit is.

    >>> directions(["IgG", "T cell", "fever"], ["fever"]), directions(["IgG"], [])
    ('more IgG, more T cell and less fever is better', 'more IgG is better')
    >>> from paretoid import at_most
    >>> directions(["IgG", "fever"], ["fever"], {"fever": at_most(0.3)})
    'more IgG is better; fever must be at most 0.3, and within that it does not count'
    """
    alone = {name: limit for name, limit in (limits or {}).items() if not limit.compared}
    ways = [f"{'less' if name in minimize else 'more'} {name}" for name in names
            if name not in alone]  # fmt: skip
    musts = [f"; {name} must be {units.limit(name, limit)}, and within that it does not count"
             for name, limit in alone.items()]  # fmt: skip
    return f"{joined(ways)} is better{''.join(musts)}"
