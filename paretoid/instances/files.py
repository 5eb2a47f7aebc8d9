"""Instances as files: a CSV table of means, or a TOML file with everything.

A CSV has the arms' names in its first column and one column of means per objective::

    arm,efficacy,harm
    placebo,0.1,0.05
    dose 1,0.4,0.20

A TOML file says all of it::

    kind = "gaussian"                 # or "bernoulli", which needs no scale
    arms = ["placebo", "dose 1"]
    objectives = ["efficacy", "harm"]
    minimize = ["harm"]
    means = [[0.1, 0.05], [0.4, 0.20]]
    scale = [0.5, 1.0]                # a number, one per objective, or a row per arm;
                                      # or covariance = [[...], ...], common to all arms
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit
from paretoid.directions import IN_TOML, check_directions
from paretoid.tables import read_table, read_toml, refuse, write_csv
from paretoid.text import meant
from paretoid.theory.checks import WrongTypeError, check_choice
from paretoid.writing import write_text

KINDS = ("gaussian", "bernoulli")
SUFFIXES = (".csv", ".toml")
_KEYS = ("kind", "arms", "objectives", "minimize", "means", "scale", "covariance")
_LAYOUT = "a header arm,OBJECTIVE,... and one row per arm: its name and its means"


def read_instance(
    path: str | Path,
    *,
    kind: str | None = None,
    scale: Any = None,
    minimize: Iterable[str] = (),
    maximize: Iterable[str] = (),
) -> Bandit:
    """A bandit from a CSV or TOML file; see `paretoid.instances.files` for the layouts.

    kind        "gaussian" (default) or "bernoulli"; for a CSV, which cannot say it
    scale       of Gaussian outcomes: a number, one per objective, or one per arm and objective;
                a CSV needs it, because the guarantee leans on it
    minimize    objectives where less is better; for a CSV
    maximize    objectives where more is, whatever their names; for a CSV. Of the others more is
                better too, but names that usually go the other way are asked about

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "doses.csv"
    >>> _ = file.write_text("arm,efficacy,harm\\nplacebo,0.1,0.05\\ndose 1,0.4,0.2\\n")
    >>> read_instance(file, kind="bernoulli", minimize=["harm"])
    BernoulliBandit(K=2, D=2, minimize=['harm'])
    """
    less = [minimize] if isinstance(minimize, str) else list(minimize)
    if kind is not None:
        check_choice(kind, KINDS, name="kind", why="it is how outcomes are distributed.")
    if Path(path).suffix.lower() != ".toml":
        more = [maximize] if isinstance(maximize, str) else list(maximize)
        return _from_csv(path, kind or "gaussian", scale, less, more)
    if kind is not None or scale is not None or less:
        raise ValueError(
            f"{path} is a TOML file, which says kind, scale and minimize itself. Write them there."
        )
    return _from_toml(path)


def _from_csv(
    path: str | Path, kind: str, scale: Any, minimize: list[str], maximize: list[str]
) -> Bandit:
    table = read_table(path, _LAYOUT, exact=True)
    first, *objectives = table.columns
    problems = [f"row 1: column {c + 2} has no name" for c, o in enumerate(objectives) if not o]
    arms, means = [], []
    for number, row in table.rows:
        arms.append(row[first])
        if not row[first]:
            problems.append(f"row {number}: the arm has no name")
        values = []
        for objective in objectives:
            try:
                values.append(table.number(row[objective])[0])
            except ValueError as error:
                problems.append(f"row {number}, column {objective}: {error}")
        means.append(values)
    refuse(str(path), problems)
    check_directions(objectives, minimize, maximize, str(path))
    if kind == "gaussian" and scale is None:
        raise ValueError(
            f"{path} gives means, but not how far outcomes scatter about them, on which the "
            f"guarantee leans. Pass scale= (--scale), the standard deviation of each objective, "
            f"or kind='bernoulli' (--kind bernoulli) for 0/1 outcomes."
        )
    data = {
        "kind": kind, "means": means, "arms": arms, "objectives": objectives, "minimize": minimize,
    }  # fmt: skip
    return _bandit(data if scale is None else {**data, "scale": scale}, str(path))


def _from_toml(path: str | Path) -> Bandit:
    data = read_toml(path)
    for key in data:
        if key not in _KEYS:
            hint = meant(key, _KEYS)
            raise ValueError(
                f"{path} has an unknown key {key!r}{hint} It takes {', '.join(_KEYS)}."
            )
    if "means" not in data:
        raise ValueError(f"{path} has no means; give one row of numbers per arm.")
    check_choice(
        data.get("kind", "gaussian"), KINDS, name="kind", why=f"it is how {path} is distributed."
    )
    if data.get("kind", "gaussian") == "gaussian" and not {"scale", "covariance"} & set(data):
        raise ValueError(
            f"{path} has neither scale nor covariance, on which the guarantee leans. Give the "
            f'standard deviations, or kind = "bernoulli" for 0/1 outcomes.'
        )
    return _bandit(data, str(path))


def _bandit(data: dict[str, Any], name: str) -> Bandit:
    """The bandit of a file; what it refuses is said with the file's name."""
    arguments = {key: value for key, value in data.items() if key != "kind"}
    bernoulli = data.get("kind") == "bernoulli"
    extra = sorted({"scale", "covariance"} & set(arguments))
    if bernoulli and extra:
        raise ValueError(
            f"{name}: 0/1 outcomes are sub-Gaussian with scale 1/2, so {extra[0]} has nothing to "
            f"say. Leave it out."
        )
    for key in ("arms", "objectives", "minimize"):
        names = arguments.get(key, [])
        if not isinstance(names, list) or not all(isinstance(entry, str) for entry in names):
            raise ValueError(f"{name}: {key} must be a list of names, and is {names!r}.")
    if "minimize" not in data:
        check_directions(arguments.get("objectives", []), [], [], name, IN_TOML)
    try:
        return BernoulliBandit(**arguments) if bernoulli else GaussianBandit(**arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def write_instance(bandit: Bandit, path: str | Path, *, force: bool = False) -> None:
    """Write a Gaussian or Bernoulli bandit: `.toml` says everything, `.csv` the means alone.

    A file of that name is replaced only by `force`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "coins.toml"
    >>> write_instance(BernoulliBandit([[0.25, 0.5], [0.75, 0.125]], arms=["A", "B"]), file)
    >>> read_instance(file).means[1]
    array([0.75 , 0.125])
    """
    if type(bandit) not in (GaussianBandit, BernoulliBandit):
        raise WrongTypeError(
            f"{bandit!r} cannot be written: a file holds means, and kind gaussian or bernoulli."
        )
    file = Path(path)
    if file.suffix.lower() == ".csv":
        rows = zip(bandit.arms, bandit.means.tolist(), strict=True)
        write_csv(
            file, ["arm", *bandit.objectives], [[arm, *row] for arm, row in rows], force=force
        )
        return
    if file.suffix.lower() != ".toml":
        raise ValueError(f"{path} must end in .csv or .toml: that says how to write it.")
    lines = [
        f"kind = {_toml(bandit.model)}",
        f"arms = {_toml(list(bandit.arms))}",
        f"objectives = {_toml(list(bandit.objectives))}",
        f"minimize = {_toml(list(bandit.minimize))}",
        f"means = {_toml(bandit.means.tolist())}",
    ]
    if isinstance(bandit, GaussianBandit):
        covariance = getattr(bandit, "covariance", None)
        table = bandit.scale[0] if bandit.common_scale else bandit.scale
        lines.append(
            f"scale = {_toml(table.tolist())}"
            if covariance is None
            else f"covariance = {_toml(covariance.tolist())}"
        )
    write_text(file, "\n".join(lines), force=force)


def _toml(value: Any) -> str:
    """Names and floats in TOML: as in JSON, which escapes all but the delete character."""
    if value and isinstance(value[0], list):
        return "[\n" + "".join(f"  {_toml(row)},\n" for row in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
