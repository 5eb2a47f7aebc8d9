"""How arms are drawn in a randomised trial: floors, blocks, strata, a control.

The rule says which arms it wishes to sample next; chance decides who gets which. Correctness never
rests on how arms were chosen (theory/PROOFS.md, Section 5), so a randomised trial has the same
guarantee as one that follows its rule to the letter. Only the number of participants changes: what
the floors give to arms that the rule would not have sampled comes on top.

The random numbers come from elsewhere: in a live trial from a secret (`paretoid.explorer.secret`),
in a simulation from the run's seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from paretoid.by_name import ByName, by_name, finite, named, row
from paretoid.text import meant
from paretoid.theory.checks import FloatArray, check_count, is_listed, shown

#: longest block, and how far floors may add up beyond 1 by rounding
_LONGEST, _ROUNDING = 1_000, 1e-9


@dataclass(frozen=True)
class Randomisation:
    """How arms are drawn; `Explorer`, a design file ([randomise]) and `Conduct` take it.

    floor           least probability of each arm, of all or by name (0 for arms not named); by
                    default 1/(2K), half of an equal share
    block           None: every participant is drawn independently. A number: permuted blocks of
                    that length. Several: each block has one of these lengths, drawn too, so that
                    nobody can count a block out
    strata          names of strata, such as sites, each with blocks of its own
    control         the arm that every other is shown against in `status`
    control_share   its protected share, in place of its floor; by default 1/K, or its floor if
                    that is larger

    Probabilities follow the rule's wishes: of the next allocations that the rule would make (as
    many as the longest block has, or 2K without blocks), the part that goes to each arm. An arm
    wished for less often than its floor has its floor, and what is left is shared out among the
    others in proportion to the wishes. It is computed anew for every block, and without blocks for
    every call of `ask`. A block has floor(n p) or ceil(n p) of an arm with probability p, n p on
    average. Floors hold throughout, also for arms that are known to be dominated by then.

    >>> scheme = Randomisation(floor=0.1, block=8, control="placebo", control_share=0.25)
    >>> print(scheme)
    permuted blocks of 8, at least 10% to every arm, 25% to placebo, the control
    >>> scheme.floors(["placebo", "low", "high"])
    array([0.25, 0.1 , 0.1 ])

    The rule wishes for `high` alone:

    >>> [round(p, 3) for p in scheme.probabilities([0, 0, 8], ["placebo", "low", "high"])]
    [0.25, 0.1, 0.65]
    >>> Randomisation(floor=0.4).floors(["A", "B", "C"])    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the floors of the 3 arms add up to 1.2, and there is only 1 to share...
    >>> Randomisation.from_dict(scheme.to_dict()) == scheme
    True

    Blocks of either length, drawn by a uniform number; wishes look ahead by the longer one:

    >>> mixed = Randomisation(block=(4, 6))
    >>> mixed.blocks, mixed.block_size(0.3), mixed.block_size(0.7), mixed.horizon(K=3)
    ((4, 6), 4, 6, 6)
    """

    floor: ByName | None = None
    block: int | tuple[int, ...] | None = None
    strata: tuple[str, ...] = ()
    control: str | None = None
    control_share: float | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.floor is not None:
            put(self, "floor", by_name(self.floor, "floor", _as_floor))
        put(self, "block", _as_block(self.block))
        put(self, "strata", _as_strata(self.strata))
        if self.control is not None and not isinstance(self.control, str):
            raise ValueError(f"control={shown(self.control)} must be the name of an arm.")
        if self.control_share is not None:
            put(self, "control_share", _as_floor(self.control_share, "control_share"))
            if self.control is None or self.control_share == 0:
                raise ValueError(
                    f"control_share={self.control_share:g} is the protected share of the control: "
                    f"it must be positive, and control= says which arm that is."
                )

    # -- probabilities -----------------------------------------------------------------------

    def floors(self, arms: Sequence[str]) -> FloatArray:
        """(K,) the least probability of each arm; refuses what does not fit these arms."""
        K = len(arms)
        least = np.full(K, 1 / (2 * K))
        if self.floor is not None:
            least = row(self.floor, arms, "floor", "arm")
        if self.control is not None:
            if self.control not in arms:
                raise ValueError(
                    f"control={shown(self.control)} is no arm{meant(self.control, arms)} There are "
                    f"{', '.join(arms)}."
                )
            at = list(arms).index(self.control)
            share = self.control_share
            least[at] = max(least[at], 1 / K) if share is None else share
        total = math.fsum(least)
        if total > 1 + _ROUNDING:
            raise ValueError(
                f"the floors of the {K} arms add up to {total:g}, and there is only 1 to share "
                f"out. Lower them"
                + (", or the share of the control." if self.control is not None else ".")
            )
        return least

    def probabilities(self, wishes: Sequence[int], arms: Sequence[str]) -> list[float]:
        """(K,) the probability of each arm, from how often the rule wishes for it."""
        return raised([n / sum(wishes) for n in wishes], self.floors(arms).tolist())

    def horizon(self, K: int) -> int:
        """How many of the rule's next allocations count as its wishes.

        The longest block and not the one that begins, whose length stays hidden.
        """
        return 2 * K if self.block is None else max(self.blocks)

    # -- blocks and strata -------------------------------------------------------------------

    @property
    def blocks(self) -> tuple[int, ...]:
        """The lengths that blocks may have; () without blocks."""
        if self.block is None:
            return ()
        return (self.block,) if isinstance(self.block, int) else self.block

    def block_size(self, chance: float) -> int:
        """The length of a block, from a uniform number."""
        return self.blocks[int(chance * len(self.blocks))]

    def stratum(self, name: str | None) -> str:
        """`name`, if it is a declared stratum; "" in a trial without strata.

        >>> Randomisation(strata=["north", "south"]).stratum("norht")
        Traceback (most recent call last):
            ...
        ValueError: stratum='norht' was not declared in the design; did you mean 'north'? There \
are north, south.
        """
        if not self.strata:
            if name is not None:
                raise ValueError(
                    f"stratum={shown(name)} was not declared: this design has no strata. Leave "
                    f"it out."
                )
            return ""
        if name is None:
            raise ValueError(
                f"the trial is randomised by stratum; say which the participant belongs to: "
                f"{', '.join(self.strata)} (stratum=, --stratum in the command)."
            )
        if name not in self.strata:
            raise ValueError(
                f"stratum={shown(name)} was not declared in the "
                f"design{meant(str(name), self.strata)} "
                f"There are {', '.join(self.strata)}."
            )
        return name

    # -- as data and in words ----------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, as plain data for JSON and TOML.

        >>> Randomisation(floor={"A": 0.2}, block=(4, 6)).to_dict()
        {'floor': {'A': 0.2}, 'block': [4, 6]}
        """
        plain: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                listed = (
                    dict(value) if field.name == "floor" and isinstance(value, tuple) else value
                )
                plain[field.name] = list(listed) if isinstance(listed, tuple) else listed
        return plain

    @classmethod
    def from_dict(cls, data: Any) -> Randomisation:
        """The scheme of `to_dict`; an unknown key is refused, with a guess at what was meant."""
        known = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping):
            raise ValueError(f"randomise={shown(data)} must be a table with {', '.join(known)}.")
        for key in data:
            if key not in known:
                raise ValueError(
                    f"randomise knows no {key!r}{meant(key, known)} It takes {', '.join(known)}."
                )
        return cls(**data)

    def __str__(self) -> str:
        if self.block is None:
            said = ["every participant drawn independently"]
        else:
            lengths = ", ".join(map(str, self.blocks[:-1]))
            said = ["permuted blocks of " + f"{lengths} or {self.blocks[-1]}".removeprefix(" or ")]
        if self.floor is None:
            said.append("at least half of an equal share to every arm")
        else:
            whom = "" if isinstance(self.floor, tuple) else " to every arm"
            said.append(f"at least {named(self.floor, _percent)}{whom}")
        if self.control is not None:
            share = "an equal share" if self.control_share is None else _percent(self.control_share)
            said.append(f"{share} to {self.control}, the control")
        if self.strata:
            said.append(f"by stratum ({', '.join(self.strata)})")
        return ", ".join(said)


def raised(shares: Sequence[float], floors: Sequence[float]) -> list[float]:
    """Shares of 1, none below its floor: those below have it, the others keep their proportions.

    >>> raised([0.0, 0.2, 0.8], [0.25, 0.25, 0.25]), raised([0.0, 0.5, 0.5], [0.0, 0.1, 0.1])
    ([0.25, 0.25, 0.5], [0.0, 0.5, 0.5])
    """
    low = [share <= 0.0 for share in shares]
    result = list(shares)
    while True:
        rest, wished = 1.0, 0.0
        for arm, share in enumerate(shares):
            if low[arm]:
                rest -= floors[arm]
            else:
                wished += share
        more = False
        for arm, share in enumerate(shares):
            result[arm] = floors[arm] if low[arm] else max(rest, 0.0) * (share / wished)
            if not low[arm] and result[arm] < floors[arm]:
                low[arm] = more = True
        if not more:
            return result


def composition(probabilities: Sequence[float], size: int, chance: float) -> list[int]:
    """How many of each arm a block has: n p on average, and never one more or less away.

    Systematic: `chance`, uniform on [0, 1), shifts the sums of n p, and an arm has as many as there
    are whole numbers within its stretch.

    >>> composition([0.25, 0.25, 0.5], 4, 0.7), composition([0.1, 0.1, 0.8], 4, 0.7)
    ([1, 1, 2], [1, 0, 3])
    """
    counts, reached, before = [], 0.0, 0
    for p in probabilities[:-1]:
        reached += p * size
        now = min(size, math.floor(reached + chance + _ROUNDING))
        counts.append(now - before)
        before = now
    return [*counts, size - before]


def pick(weights: Sequence[float], chance: float) -> int:
    """The arm on which `chance`, uniform on [0, 1), falls: of a block's rest, or by weight.

    >>> [pick([2, 0, 2], chance) for chance in (0.0, 0.49, 0.5, 0.99)]
    [0, 0, 2, 2]
    """
    total = 0.0
    for weight in weights:
        total += weight
    target, reached, last = chance * total, 0.0, 0
    for arm, weight in enumerate(weights):
        if weight > 0:
            reached += weight
            last = arm
            if target < reached:
                return arm
    return last  # rounding kept the sum below the target


def _as_floor(value: Any, name: str) -> float:
    number = finite(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name}={shown(value)} must be a probability in [0, 1]. 10% is 0.1.")
    return number


def _as_block(block: Any) -> int | tuple[int, ...] | None:
    if block is None:
        return None
    why = "it is how many participants a block has. Leave it out to draw each independently."
    if is_listed(block):
        sizes = tuple(
            check_count(size, name="block", least=2, most=_LONGEST, why=why) for size in block
        )
        if not sizes or len(set(sizes)) < len(sizes):
            raise ValueError(f"block={shown(block)} must be different lengths, such as (4, 6).")
        return sizes if len(sizes) > 1 else sizes[0]
    return check_count(block, name="block", least=2, most=_LONGEST, why=why)


def _as_strata(strata: Any) -> tuple[str, ...]:
    listed = is_listed(strata) and not isinstance(strata, Mapping)
    names = tuple(strata) if listed else ()
    fine = all(isinstance(name, str) and name.strip() for name in names)
    if not listed or not fine or len(set(names)) < len(names):
        raise ValueError(
            f"strata={shown(strata)} must be a list of different names, none of them empty."
        )
    return names


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
