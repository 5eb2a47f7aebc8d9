"""What may be told: which subject, and which numbers; everything else is refused in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoid.explorer.state import MISSING, WAITING, TrialState, count_binary
from paretoid.text import meant
from paretoid.theory.checks import refusal, shown

#: under UnknownScale, this many outcomes of an objective that are all 0 or 1 are not Gaussian
_BINARY = 10

#: body of an event: objective to a number or "missing"
Told = dict[str, float | str]


def subject(state: TrialState, id: Any, arm: str | None) -> tuple[int | str, int]:
    """(id, position) of an allocation; `arm`, if given, must be the one it was given."""
    if isinstance(id, np.integer):
        id = int(id)
    position = state.find(id) if isinstance(id, (int, str)) and not isinstance(id, bool) else None
    if position is None:
        if id in state.design.arms:
            raise ValueError(
                f"{id!r} is an arm; whose outcome is it? Name the allocation. A subject that was "
                f"never asked for is `unplanned=True`, in the command `--unplanned ARM`."
            )
        raise ValueError(
            f"there is no allocation {id!r}; {len(state.arms)} were made, and an outcome needs "
            f"one. A subject that was never asked for has an arm and `unplanned=True`, in the "
            f"command `--unplanned ARM`."
        )
    own = state.design.arms[state.arms[position]]
    if arm is not None and arm != own:
        _check_name(arm, state.design.arms, "arm")
        way_out = "override the allocation before telling its outcome"
        if state.is_told(position):
            way_out = "correct its arm: `correct_arm`, in the command `trial correct ID --arm`"
        raise ValueError(
            f"allocation {id!r} was given {own!r}, not {arm!r}. If the subject received {arm!r}, "
            f"{way_out}."
        )
    return state.id_of(position), position


def as_outcome(
    state: TrialState,
    position: int | None,
    id: Any,
    outcome: Any,
    *,
    correcting: bool = False,
    binary: list[int] | None = None,
) -> Told:
    """Objective to number or "missing", checked against what is known of the subject.

    `binary`, a copy of `state.only_binary`, is carried on from row to row of a batch.
    """
    objectives = state.design.objectives
    if state.design.cone is not None:
        outcome = state.design.cone.outcome(outcome, id)
    if position is not None:
        check_received(state, position, id)
    if isinstance(outcome, str):
        if outcome != "missing":
            raise ValueError(f"outcome={shown(outcome)} must be numbers, or 'missing'.")
        named: dict[str, Any] = {
            name: "missing"
            for d, name in enumerate(objectives)
            if position is None or math.isnan(state.values[d][position]) != correcting
        }
        if not named:
            raise ValueError(f"every outcome of {id!r} is known already; nothing is missing.")
    elif isinstance(outcome, Mapping):
        for name in outcome:
            _check_name(name, objectives, "objective")
        named = dict(outcome)
    else:
        values = list(np.atleast_1d(np.array(outcome, dtype=object)))
        if len(values) != len(objectives):
            raise ValueError(
                f"the outcome of {id!r} has {len(values)} numbers for {len(objectives)} "
                f"objectives ({', '.join(objectives)}). Leave out what has not arrived, by `None "
                f"or a mapping from objectives to numbers`, in the command `NAME=NUMBER` for each "
                f"that has."
            )
        named = dict(zip(objectives, values, strict=True))
    told = {
        name: _as_number(state, objectives.index(name), id, value)
        for name, value in named.items()
        if value is not None
    }
    if not told:
        raise ValueError(f"no outcome of {id!r} is given; tell at least one objective.")
    check_told(state, position, id, told, correcting=correcting, binary=binary)
    return told


def check_told(
    state: TrialState,
    position: int | None,
    id: Any,
    told: Told,
    *,
    correcting: bool = False,
    binary: list[int] | None = None,
) -> None:
    """Refuse what does not go with what is known of the subject, and of the objective."""
    for name in told if position is not None else ():
        at = state.design.objectives.index(name)
        waiting = math.isnan(state.values[at][position or 0])
        if correcting and waiting:
            raise ValueError(f"{name} of {id!r} is not known yet; tell it instead of correcting.")
        if not correcting and not waiting:
            raise ValueError(
                f"{name} of {id!r} was told before, as {known(state, at, position or 0)}. A new "
                f"value is a correction, with a reason."
            )
    _refuse_binary(state, position, told, list(state.only_binary) if binary is None else binary)


def check_received(state: TrialState, position: int, id: Any) -> None:
    """Refuse an allocation that was overridden or withdrawn."""
    if position in state.replaced:
        raise ValueError(
            f"allocation {id!r} was overridden: the subject is now allocation "
            f"{state.id_of(state.replaced[position])!r}."
        )
    if position in state.withdrawn:
        raise ValueError(
            f"allocation {id!r} was withdrawn, as nobody received it. If somebody did, tell the "
            f"outcome with its arm and `unplanned=True`, in the command `--unplanned ARM`."
        )


def _refuse_binary(state: TrialState, position: int | None, told: Told, counts: list[int]) -> None:
    """Move `counts` on by `told`; a tenth outcome of only 0 and 1 needs a scale.

    In a batch `counts` go on after the refusal, so that one row says it and not all that follow.
    """
    for name, value in told.items():
        d = state.design.objectives.index(name)
        old = WAITING if position is None else state.values[d][position]
        new = MISSING if isinstance(value, str) else value
        counts[d] = count_binary(counts[d], old, new)
        refused = max(state.only_binary[d], _BINARY - 1) + 1
        if counts[d] == refused and new in (0.0, 1.0) and state.design.learnt[d]:
            raise ValueError(
                f"the first {_BINARY} outcomes of {name} are all 0 or 1, and {_radius(state)} is "
                f"proved for Gaussian outcomes only. Start the trial anew with outcomes='binary' "
                f"and scale=0.5, its radius is then Mixture(); or, if other objectives are "
                f"Gaussian, say of each what it is: `outcomes={{{name!r}: 'binary', ...}}`, in the "
                f"command `a table [outcomes] in the design`."
            )


def _radius(state: TrialState) -> str:
    return type(state.design.radius).__name__


def known(state: TrialState, d: int, position: int) -> float | str | None:
    """An outcome as the user would write it: a number, "missing", or None while it waits."""
    value = state.values[d][position]
    if math.isnan(value):
        return None
    return "missing" if math.isinf(value) else value


def _as_number(state: TrialState, d: int, id: Any, value: Any) -> float | str:
    name = state.design.objectives[d]
    if isinstance(value, str) and value == "missing":
        return value
    try:
        number: float | None = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        number = None
    if number is None or (isinstance(value, str) and "_" in value):  # 1_0 is ten to Python only
        raise refusal(isinstance(value, str))(
            f"{name}={shown(value)} of {shown(id)} must be a number or 'missing'."
        )
    if math.isnan(number):
        raise ValueError(
            f"{name} of {id!r} is NaN, which says nothing about why. Leave out an outcome that has "
            f"not arrived yet (`None in a list`, in the command `NAME=NUMBER` for the others), and "
            f"say 'missing' for one that never will."
        )
    if math.isinf(number) or abs(number) > 1e150:
        raise ValueError(f"{name}={number} of {id!r} must be finite, and its square too.")
    kind = state.design.outcomes if state.design.kinds is None else state.design.kinds[d]
    if kind == "binary" and number not in (0.0, 1.0):
        raise ValueError(
            f"{name}={number} of {id!r} must be 0 or 1: the trial was created with "
            f"outcomes='binary', and its scale is proved for those."
        )
    if isinstance(kind, tuple) and not kind[0] <= number <= kind[1]:
        raise ValueError(
            f"{name}={number:g} of {id!r} must lie between {kind[0]:g} and {kind[1]:g}: the trial "
            f"was created with this range, and its scale is proved for no other."
        )
    return number


def _check_name(name: Any, names: tuple[str, ...], what: str) -> None:
    if name not in names:
        hint = meant(str(name), names)
        raise ValueError(f"there is no {what} {name!r}{hint} There are: {', '.join(names)}.")
