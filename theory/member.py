"""What goals, rules and radii have in common: they say what they are worth and who they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from paretoid.theory.checks import shown

GUARANTEES = ("heuristic", "proved")


class Member:
    """A goal, a rule or a radius, ours or anybody's.

    A class whose author does not say otherwise is "heuristic", also where its base is "proved":
    who changes a proof's formulas has to say that they are still proved.

    >>> from paretoid.theory import Mixture
    >>> class Sharper(Mixture):
    ...     def constants(self, K, D, delta):
    ...         return 1.0, 1.0
    >>> Mixture().guarantee, Sharper().guarantee
    ('proved', 'heuristic')

    Two members of one class with equal arguments are equal. The arguments are the fields of a
    dataclass; of another class they are the attributes that its instances have.

    >>> class Mine(Member):
    ...     def __init__(self, size):
    ...         self.size = size
    >>> Mine(3), Mine(3) == Mine(3), Mine(3) == Mine(4), Mine(3).guarantee
    (Mine(size=3), True, False, 'heuristic')
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "guarantee" not in vars(cls):
            cls.guarantee = Member.guarantee  # type: ignore[method-assign]

    @property
    def guarantee(self) -> str:
        """ "proved" or "heuristic": what a class whose author does not say is."""
        return "heuristic"

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in arguments(self).items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def arguments(member: Any) -> dict[str, Any]:
    """What a member was made with, by name.

    >>> from paretoid.theory import Mixture
    >>> arguments(Mixture(rho=5.0))["rho"]
    5.0
    """
    if is_dataclass(member):
        return {field.name: getattr(member, field.name) for field in fields(member)}
    return dict(vars(member))


def worth(member: Any) -> str:
    """The guarantee of `member`; a word that is none is refused."""
    said = member.guarantee
    if said not in GUARANTEES:
        raise ValueError(
            f"{type(member).__name__}.guarantee={shown(said)} must be 'proved' or 'heuristic': "
            f"every result carries it. Leave it out if there is no proof."
        )
    return str(said)


def weakest(members: Iterable[Any]) -> str:
    """ "proved" if all of them are.

    >>> from paretoid.theory import Mixture
    >>> weakest([Mixture(), Mixture(union="none")])
    'heuristic'
    """
    return min((worth(member) for member in members), key=GUARANTEES.index)
