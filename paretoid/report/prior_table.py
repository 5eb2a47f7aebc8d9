"""What other priors would have made of a fit or plan: a table, sentences, and plain data."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.labels import label_of
from paretoid.report.page import Block, Cell, TableBlock, TextBlock

if TYPE_CHECKING:
    import xarray as xr


def prior_text(priors: xr.Dataset, width: int = 80) -> str:
    """The table of `paretoid.estimation.sensitivity` and what it says, within `width` columns."""
    heads, rows = _table(priors)
    lines = [line for words in prior_words(priors) for line in textwrap.wrap(words, width)]
    return "\n".join([text.table(heads, rows, width=width), "", *lines])


def prior_blocks(priors: xr.Dataset) -> list[Block]:
    """The same table and sentences for a page."""
    heads, rows = _table(priors)
    cells = [list(map(Cell, row)) for row in rows]
    sentences = [TextBlock(words) for words in prior_words(priors)]
    return [TableBlock("The same data under other priors", heads, cells), *sentences]


def _table(priors: xr.Dataset) -> tuple[list[str], list[list[str]]]:
    """Heads; then a row for each arm, and one for each goal."""
    within = ", and within the limits" if priors.attrs.get("limits") else ""
    heads = [f"probability optimal{within}, by prior", *map(str, priors["prior"].values)]
    rows = [
        [str(arm) + (" *" if changes else ""), *(f"{share:.1%}" for share in shares)]
        for arm, changes, shares in zip(
            priors["arm"].values, priors["changes"].values,
            priors["optimal"].transpose("arm", "prior").values, strict=True,
        )
    ]  # fmt: skip
    if "samples_needed" in priors:
        limit = priors.attrs["max_samples"]
        for goal in priors["goal"].values:
            needed = priors["samples_needed"].sel(goal=goal).values
            label = f"N for 90%: {label_of(str(goal), priors.attrs)}"
            rows.append([label, *(text.at_most(float(size), limit) for size in needed)])
    return heads, rows


def prior_words(priors: xr.Dataset) -> list[str]:
    """Which arms change, how precise the sample sizes are, and how all was computed."""
    names = [str(name) for name in priors["prior"].values]
    said = []
    for arm in priors["arm"].values[priors["changes"].values]:
        inside = priors["answer"].sel(arm=arm).values
        where = text.joined(name for name, is_in in zip(names, inside, strict=True) if is_in)
        said.append(
            f"* The priors matter: {arm} is optimal with probability 1/2 or more under some of "
            f"them only ({where})."
        )
    if not said:
        said = ["The same arms are optimal with probability 1/2 or more under each of the priors."]
    if "samples_needed" in priors:
        said.append(_sizes(priors))
    return [*said, _computed(priors, names)]


def _sizes(priors: xr.Dataset) -> str:
    """How well 90% quantiles of so few simulated trials are known."""
    mine, limit = priors.sel(prior="as fitted"), int(priors.attrs["max_samples"])
    between = [
        text.interval(float(low), float(high), partial(text.at_most, limit=limit))
        for low, high in zip(
            mine["samples_needed_lower"].values, mine["samples_needed_upper"].values, strict=True
        )
        if np.isfinite(low)
    ]
    drawn = (
        f"N is simulated on {priors.attrs['plan_draws']} draws under each prior, with the design "
        f"of the plan"
    )
    if not between:
        return f"{drawn}."
    known = f"simulation error leaves 95% intervals such as {text.joined(between)} (as fitted)"
    return f"{drawn}; {known}."


def _computed(priors: xr.Dataset, names: list[str]) -> str:
    how = []
    for at, name in enumerate(names):
        method, times = str(priors["method"][at].item()), float(priors["prior_width"][at])
        if method == "as fitted":
            continue
        weights = (
            f" (k-hat {float(priors['k_hat'][at]):.2f}, "
            f"{float(priors['effective_draws'][at]):,.0f} effective draws)"
        )
        how.append(f"{name}, {times:g} times as wide as the default, {method}"
                   + (weights if method == "reweighted" else ""))  # fmt: skip
    return f"Priors: {'; '.join(how)}."


def prior_dict(priors: xr.Dataset) -> dict[str, Any]:
    """The same for machines, by name of the prior, with the sentences."""
    arms = [str(arm) for arm in priors["arm"].values]
    data: dict[str, Any] = {}
    for name in map(str, priors["prior"].values):
        one = priors.sel(prior=name)
        facts = {key: one[key].item() for key in ("prior_width", "method", "effective_draws")}
        facts["k_hat"] = one["k_hat"].item() if facts["method"] == "reweighted" else None
        for key in ("optimal", "near_optimal"):
            facts[key] = dict(zip(arms, one[key].values, strict=True))
        facts["answer"] = [arm for arm, is_in in zip(arms, one["answer"].values, strict=True)
                           if is_in]  # fmt: skip
        if "samples_needed" in one:
            goals = map(str, one["goal"].values)
            facts["samples_needed"] = dict(zip(goals, one["samples_needed"].values, strict=True))
        data[name] = facts
    plain: dict[str, Any] = text.plain({
        "priors": data,
        "arms_that_change": [arm for arm, changes in zip(arms, priors["changes"].values,
                                                         strict=True) if changes],
        "words": prior_words(priors),
    })  # fmt: skip
    return plain
