"""Options that say how a trial runs, for `plan` and `simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from paretoid.conduct import Conduct

Rate = Annotated[
    str | None,
    typer.Option(metavar="N/day", help="Recruitment: 5/day, 20/week, or 2/day,5/day@30d."),
]
Delay = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ENDPOINT=]DAYS", help="From enrolment to the outcome: 28d; IgG=28d for one."
    ),
]
Look = Annotated[
    str | None,
    typer.Option(metavar="N|DAYS", help="Test after every 100 enrolled, at 50,150, or every 28d."),
]
Dropout = Annotated[
    list[str] | None,
    typer.Option(metavar="[ARM=]SHARE", help="Participants lost: 10%; A=20% for one arm."),
]
BurnIn = Annotated[int, typer.Option(metavar="N", help="Participants of each arm that come first.")]


def read(
    rate: str | None,
    delay: list[str] | None,
    look: str | None,
    dropout: list[str] | None,
    burn_in: int,
) -> Conduct | None:
    """What the options say; None if they say nothing."""
    if rate is None and not delay and look is None and not dropout and not burn_in:
        return None
    from paretoid.conduct import conduct_of

    return conduct_of(rate, delay or (), look, dropout or (), burn_in)
