"""What the texts of a Dataset mean to people: goals and verdicts, in the units of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretoid.registry import goal_of
from paretoid.text import goal_label
from paretoid.units import PLAIN, Units


def label_of(spec: str, attributes: Mapping[Any, Any]) -> str:
    """What a goal of a Dataset asks for, for a legend, with margins in the units it was made with.

    >>> label_of("ParetoSet(eps1=0.40546510)", {})    # of a simulation, which knows no units
    'ParetoSet(eps1=0.405465)'
    >>> from paretoid.units import Units
    >>> units = Units(("IgG",), logs=("IgG",))
    >>> label_of("ParetoSet(eps1=0.40546510)", {"units": units.to_json()})
    'all optimal arms (margin 1.5-fold)'
    """
    goal, units = goal_of(spec), Units.of(attributes)
    return goal_label(spec) if goal is None or units is None else goal.label(units)


def inside_of(spec: str, attributes: Mapping[Any, Any]) -> tuple[str, str]:
    """What an arm of a Dataset is that is settled as 1 for a goal, and how sure that is.

    >>> inside_of("ParetoSet(eps1=0)", {"guarantee": "proved"}), inside_of("TopOf(x=1)", {})
    (('optimal', 'surely'), ('in', 'by the intervals'))
    """
    goal, units = goal_of(spec), Units.of(attributes)
    inside = "in" if goal is None else goal.verdict_words(units or PLAIN)[0]
    return inside, "surely" if attributes.get("guarantee") == "proved" else "by the intervals"
