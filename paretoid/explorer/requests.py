"""The caller's own word for an `ask`: repeated with it, a call places nobody twice."""

from __future__ import annotations

from typing import Any

from paretoid.explorer.state import TrialState
from paretoid.theory.checks import refusal, shown


def check_request(request: Any) -> str:
    """Refuse what is no word of a sensible length."""
    if not isinstance(request, str) or not request.strip() or len(request) > 200:
        raise refusal(isinstance(request, str))(
            f"request={request!r:.50} must be a word of at most 200 characters: the same one, and "
            f"only that, returns the same allocations. For instance request='visit 17'."
        )
    return request


def repeated(state: TrialState, request: str, size: int) -> list[tuple[int, str]]:
    """(id, arm) of the allocations that a request was answered with, as they stand now."""
    first, made = state.requests[request]
    if made != size:
        raise ValueError(
            f"request={shown(request)} placed {made} before, and now asks for {size}. Repeat it "
            f"as it was, or give a new request its own word."
        )
    allocations = []
    for position in map(state.present, range(first - 1, first - 1 + made)):
        if position in state.withdrawn:
            raise ValueError(
                f"request={shown(request)} placed allocation {state.id_of(position)}, which was "
                f"withdrawn since. Give a new request its own word."
            )
        allocations.append((position + 1, state.design.arms[state.arms[position]]))
    return allocations


def check_stratum(state: TrialState, request: str, stratum: str | None) -> None:
    """Refuse a word that another stratum, which has its own list, has taken."""
    scheme = state.design.randomise
    given = None if scheme is None else scheme.stratum(stratum)
    before = state.lists.requested.get(request)
    if given != before:
        raise ValueError(
            f"request={shown(request)} was made for stratum {shown(before)}, and now comes for "
            f"{shown(given)}. "
            f"Give a new request its own word, such as one that begins with the site."
        )
