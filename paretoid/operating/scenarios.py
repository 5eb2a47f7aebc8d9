"""Scenarios: what the truth might be when a design is judged.

fitted      what the fit believes: posterior draws, one trial each; or the instance that was given
equal       all arms have the same means, the fitted average: every arm is optimal
boundary    one arm is best, and all others are a thousandth of a standard deviation more than the
            margin below it, in every objective: each must be left out, and is hardest to tell
best: ARM   the fitted means, with those of ARM and of the clearest optimal arm exchanged

Others come from a TOML file, see `read_scenarios`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit, MixedBandit
from paretoid.estimation.instances import PlannedBandit
from paretoid.goals import Goal, PracticalSet
from paretoid.tables import read_toml
from paretoid.text import meant
from paretoid.theory.checks import FloatArray, as_epsilon, as_numbers
from paretoid.theory.gaps import omega

#: the scenarios that are known by name; "best" stands for one of each arm
NAMES = ("fitted", "equal", "boundary", "best")

#: standard deviations beyond the margin at which arms of the boundary lie
BEYOND = 1e-3


@dataclass(frozen=True, eq=False)
class Scenario:
    """A truth to judge designs by.

    name      what tables call it
    bandits   one instance, simulated over and over; or many, such as posterior draws, one trial
              each
    words     what it is, in words

    >>> from paretoid import GaussianBandit
    >>> Scenario("easy", [GaussianBandit([[0.0], [9.0]])]).name
    'easy'
    """

    name: str
    bandits: Sequence[Bandit]
    words: str = ""


def known_scenario(
    name: str, draws: Sequence[Bandit], base: Bandit, goal: Goal, fitted: str
) -> list[Scenario]:
    """The scenarios of a name of `NAMES`, or of "best: ARM".

    draws    what is believed, one bandit or many; `fitted` says in words what they are
    base     the instance that the others are made from: the posterior means
    goal     whose margin the boundary has

    >>> from paretoid import ParetoSet
    >>> bandit = GaussianBandit([[1.0, 0.0], [0.0, 3.0]], arms=["A", "B"])
    >>> (equal,) = known_scenario("equal", [bandit], bandit, ParetoSet(), "given")
    >>> equal.bandits[0].means.tolist()
    [[0.5, 1.5], [0.5, 1.5]]
    >>> [scenario.name for scenario in known_scenario("best", [bandit], bandit, ParetoSet(), "")]
    ['best: A', 'best: B']
    """
    if name == "fitted":
        return [Scenario(name, list(draws), fitted)]
    if name == "equal":
        means = np.tile(base.means.mean(axis=0), (base.K, 1))
        return [Scenario(name, [moved(base, means)], "all arms the same: every arm is optimal")]
    if name == "boundary":
        return [_boundary(base, goal)]
    if name == "best":
        return [_best(base, arm) for arm in base.arms]
    check_names([name], base.arms)
    return [_best(base, _arm(name))]


def check_names(names: Sequence[str], arms: Sequence[str]) -> None:
    """Refuse a name of no scenario; "best: ARM" needs one of `arms`.

    >>> check_names(["equal", "best: B"], ["A", "B"])
    """
    for name in names:
        if name in NAMES:
            continue
        if not name.startswith("best:"):
            raise ValueError(
                f"scenario {name!r} is not known{meant(name, NAMES)} There are "
                f"{', '.join(NAMES)} and best:ARM; your own come from a TOML file, see "
                f"read_scenarios (--scenarios)."
            )
        if _arm(name) not in arms:
            raise ValueError(
                f"scenario {name!r} names no arm{meant(_arm(name), arms)} There are "
                f"{', '.join(arms)}."
            )


def _arm(name: str) -> str:
    """The arm of "best: ARM"."""
    return name.removeprefix("best:").strip()


def clearest(bandit: Bandit) -> int:
    """The arm that is optimal most clearly: the largest omega, in units of the rms scales."""
    unit = np.sqrt((bandit.scale**2).mean(axis=0))
    return int(np.argmax(omega(bandit.oriented / unit)))


def _best(base: Bandit, arm: str) -> Scenario:
    top, this = clearest(base), base.index(arm)
    means = np.array(base.means)
    means[[top, this]] = means[[this, top]]
    words = f"the fitted means; {arm} has those of {base.arms[top]}, and the other way round"
    if top == this:
        words = f"the fitted means, where {arm} is optimal most clearly"
    return Scenario(f"best: {arm}", [moved(base, means)], words)


def _boundary(base: Bandit, goal: Goal) -> Scenario:
    """Every arm but the clearest optimal one just so far below it that it must be left out."""
    top = clearest(base)
    below = as_epsilon(goal.eps1, base.D)
    if isinstance(goal, PracticalSet):
        below = below + as_epsilon(goal.slack, base.D, name="slack")
    below = below + BEYOND * np.sqrt((base.scale**2).mean(axis=0))
    first = np.array(base.means[top])
    least, most = _range(base)
    if (below >= most - least).any():
        raise ValueError(
            f"the margin of {goal} is as large as an outcome can be, so no arm is beyond it and "
            f"there is no scenario 'boundary'. Give a smaller margin, or leave it out."
        )
    first = np.where(
        base.sign > 0, np.maximum(first, least + below), np.minimum(first, most - below)
    )
    means = np.tile(first - base.sign * below, (base.K, 1))
    means[top] = first
    words = (
        f"{base.arms[top]} is best, all others are just beyond the margin below it in every "
        f"endpoint: each must be left out"
    )
    return Scenario("boundary", [moved(base, means)], words)


def _range(bandit: Bandit) -> tuple[FloatArray, FloatArray]:
    """(D,) the least and the largest mean that an arm can have."""
    if isinstance(bandit, MixedBandit):
        return bandit.low, bandit.high
    if isinstance(bandit, BernoulliBandit):
        return np.zeros(bandit.D), np.ones(bandit.D)
    return np.full(bandit.D, -np.inf), np.full(bandit.D, np.inf)


def moved(bandit: Bandit, means: Any, scale: Any = None) -> Bandit:
    """A bandit like this one with other means and, where given, another scale.

    >>> moved(GaussianBandit([[0.0], [1.0]], 2.0), [[5.0], [6.0]]).scale.tolist()
    [[2.0], [2.0]]
    """
    names: dict[str, Any] = {
        "arms": bandit.arms, "objectives": bandit.objectives, "minimize": bandit.minimize,
    }  # fmt: skip
    if type(bandit) is BernoulliBandit:
        if scale is not None:
            raise ValueError("outcomes are 0/1, so scale has nothing to say. Leave it out.")
        return BernoulliBandit(means, **names)
    if type(bandit) is MixedBandit:
        sd, believed = (bandit.noise, bandit.scale) if scale is None else (scale, None)
        shared = bandit.correlation
        mixed = MixedBandit(means, bandit.kinds, sd=sd, correlation=shared, **names)
        return mixed.with_scale(believed)
    if type(bandit) not in (PlannedBandit, GaussianBandit):
        raise ValueError(
            f"{bandit!r} cannot be moved: scenarios change means, and only outcomes that are "
            f"Gaussian, 0/1 or in a range are known for any means. Use simulate on bandits of "
            f"your own."
        )
    if scale is not None:
        return GaussianBandit(means, scale, **names)
    if isinstance(bandit, PlannedBandit):
        return PlannedBandit(means, bandit.noise, bandit.scale, **names)
    covariance = getattr(bandit, "covariance", None)
    if covariance is not None:
        return GaussianBandit(means, covariance=covariance, **names)
    return GaussianBandit(means, bandit.scale, **names)


def read_scenarios(path: str | Path, base: Bandit) -> list[Scenario]:
    """The scenarios of a TOML file, for the arms and objectives of `base`.

    One table for each, named for it, with all means or with those of some arms; the others keep
    those of `base`. Means are in the objectives' own units and direction (logarithms where a fit
    has log-normal endpoints)::

        ["late waning"]
        means = [[1.0, 0.2], [0.4, 0.9], [0.1, 0.1]]     # a row for each arm
        scale = [0.5, 0.8]                               # optional: one, one each, or a row each

        ["B disappoints"]
        change = {"B" = [0.2, 0.3]}

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.toml"
    >>> _ = file.write_text('["B disappoints"]\\nchange = {"B" = [0.2, 0.3]}\\n')
    >>> base = GaussianBandit([[1.0, 0.0], [0.0, 1.0]], arms=["A", "B"])
    >>> (own,) = read_scenarios(file, base)
    >>> own.name, own.bandits[0].means.tolist()
    ('B disappoints', [[1.0, 0.0], [0.2, 0.3]])
    """
    data = read_toml(path)
    if not data:
        raise ValueError(f'{path} has no scenario; one is a table, ["its name"], with means.')
    return [_own(name, table, base, f"{path}, scenario {name!r}") for name, table in data.items()]


def _own(name: str, table: Any, base: Bandit, where: str) -> Scenario:
    """One table of a file; what it gets wrong is said with its place."""
    if not isinstance(table, dict):
        raise ValueError(
            f'{where}: {table!r} stands outside a scenario; one is a table, ["its name"], with '
            f"means or change."
        )
    if name in NAMES or name.startswith("best:"):
        raise ValueError(f"{where}: the name is taken by a scenario of ours. Choose another.")
    keys = ("means", "change", "scale")
    for key in table:
        if key not in keys:
            raise ValueError(f"{where}: unknown key {key!r}{meant(key, keys)} It takes {keys}.")
    if ("means" in table) == ("change" in table):
        raise ValueError(
            f"{where}: give means, a row of {base.D} numbers for each of {base.K} arms, or change, "
            f"rows by arm; one of them."
        )
    try:
        means = _changed(table["change"], base) if "change" in table else table["means"]
        bandit = moved(base, _table(means, base), table.get("scale"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return Scenario(name, [bandit], "yours")


def _table(means: Any, base: Bandit) -> FloatArray:
    shape = (base.K, base.D)
    table = as_numbers(
        means, name="means", rule=f"{base.K} rows, one for each arm, of {base.D} numbers."
    )
    if table.shape != shape:
        raise ValueError(
            f"means has shape {table.shape} and must have {shape}: a row for each of "
            f"{', '.join(base.arms)}, a number for each of {', '.join(base.objectives)}."
        )
    return table


def _changed(change: Any, base: Bandit) -> FloatArray:
    if not isinstance(change, dict) or not change:
        raise ValueError(f'change={change!r} must be rows by arm, such as {{"{base.arms[0]}" = …}}')
    means = np.array(base.means)
    for arm, row in change.items():
        if arm not in base.arms:
            raise ValueError(
                f"change names {arm!r}, which is no arm{meant(arm, base.arms)} There are "
                f"{', '.join(base.arms)}."
            )
        numbers = as_numbers(row, name=f"the row of {arm!r}", rule=f"{base.D} numbers.")
        if numbers.shape != (base.D,):
            raise ValueError(
                f"the row of {arm!r} must be {base.D} numbers, one for each of "
                f"{', '.join(base.objectives)}, and is {row!r}."
            )
        means[base.index(arm)] = numbers
    return means


def chosen(
    wanted: Sequence[str | Scenario] | None, known: Callable[[str], list[Scenario]], base: Bandit
) -> list[Scenario]:
    """The scenarios asked for, names and scenarios of one's own; none twice.

    >>> base = GaussianBandit([[0.0], [1.0]])
    >>> own = Scenario("mine", [base])
    >>> [scenario.name for scenario in chosen([own], lambda name: [], base)]
    ['mine']
    """
    given = list(NAMES) if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted)
    scenarios: list[Scenario] = []
    for one in given:
        if isinstance(one, Scenario):
            for bandit in one.bandits:
                if (bandit.arms, bandit.D) != (base.arms, base.D):
                    raise ValueError(
                        f"scenario {one.name!r} has other arms or objectives than what is judged: "
                        f"{bandit!r} against {base!r}. Use the same names in the same order."
                    )
            scenarios.append(one)
        elif isinstance(one, str):
            scenarios += known(one)
        else:
            raise ValueError(f"scenario {one!r} must be a name or a Scenario.")
    names = [scenario.name for scenario in scenarios]
    if not names:
        raise ValueError(f"no scenario was named; there are {', '.join(NAMES)}.")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"scenario {name!r} is named twice; results are looked up by name.")
    return scenarios
