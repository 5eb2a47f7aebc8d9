"""Options that say how a trial runs, for `plan` and `simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from paretoid.conduct import Conduct
    from paretoid.randomisation import Randomisation

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

Randomise = Annotated[
    str | None,
    typer.Option(metavar="simple|N", help="Arms by chance: simple, blocks of 6, or 4,6."),
]
Floor = Annotated[
    list[str] | None,
    typer.Option(metavar="[ARM=]SHARE", help="Least probability of an arm, if randomised: 10%."),
]
Control = Annotated[
    str | None,
    typer.Option(metavar="ARM[=SHARE]", help="The control of a randomised trial: placebo=25%."),
]
Strata = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Randomised by stratum: north,south.")
]


def read(
    rate: str | None,
    delay: list[str] | None,
    look: str | None,
    dropout: list[str] | None,
    burn_in: int,
    scheme: Randomisation | None = None,
) -> Conduct | None:
    """What the options say; None if they say nothing."""
    plain = rate is None and not delay and look is None and not dropout and not burn_in
    if plain and scheme is None:
        return None
    from paretoid.cli.conduct_words import conduct_from

    return conduct_from(rate, delay or (), look, dropout or (), burn_in, scheme)


def scheme_of(
    randomise: str | None, floor: list[str] | None, control: str | None, strata: str | None
) -> Randomisation | None:
    """How arms are drawn, by these options; None without --randomise, which the others need."""
    if randomise is None:
        for name, words in (("floor", floor), ("control", control), ("strata", strata)):
            if words:
                raise ValueError(
                    f"--{name} is about how arms are drawn by chance; say how with --randomise "
                    f"simple, or --randomise 6 for permuted blocks of six."
                )
        return None
    from paretoid.cli.conduct_words import share_of, words_by_name
    from paretoid.randomisation import Randomisation

    sizes = [word.strip() for word in randomise.split(",")]
    if randomise != "simple" and not all(word.isdecimal() for word in sizes):
        raise ValueError(
            f"--randomise {randomise} must be simple, or the length of blocks: 6, or 4,6 for "
            f"blocks of either length."
        )
    given: dict[str, Any] = {}
    if randomise != "simple":
        given["block"] = tuple(map(int, sizes))
    if strata is not None:
        given["strata"] = [name.strip() for name in strata.split(",")]
    return Randomisation(
        words_by_name(floor or (), "--floor", share_of), **given, **control_of(control)
    )


def control_of(word: str | None, arms: Sequence[str] = ()) -> dict[str, Any]:
    """What --control says: an arm, and perhaps its protected share."""
    from paretoid.cli.conduct_words import share_of

    if word is None:
        return {}
    name, equals, share = word.rpartition("=")
    if not equals or word in arms:
        return {"control": word}
    return {"control": name, "control_share": share_of(share, "--control")}
