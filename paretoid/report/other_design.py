"""In what the trials of an `oc` differ from those of the plan that shows it, item by item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paretoid.conduct import Conduct
from paretoid.estimation.again import conduct_of
from paretoid.labels import label_of
from paretoid.registry import radius_of, split
from paretoid.report import methods
from paretoid.report.page import Block, Cell, TableBlock, TextBlock

if TYPE_CHECKING:
    import xarray as xr

#: something that differs: what it is, what the plan has, what the oc has
Difference = tuple[str, str, str]
#: what a file says that does not say it
UNKNOWN = "not known: the file does not say"
#: arguments of radii that are numbers from tuning; a plan and an oc tune apart
_TUNED = ("rho",)


def difference_blocks(table: xr.Dataset, planned: xr.Dataset) -> list[Block]:
    """What a section about `table` on a page about `planned` must begin with; nothing if alike."""
    items = differences(table, planned)
    if not items:
        return []
    return [
        TextBlock(
            "This section is not about the design of this plan: the two differ as listed, so its "
            "figures are not those of the plan. Simulate it again with the options of the plan.",
            "warning",
        ),
        TableBlock("What differs", ["what", "this plan", "this section"], [
            list(map(Cell, item)) for item in items
        ]),
    ]  # fmt: skip


def differences(table: xr.Dataset, planned: xr.Dataset) -> list[Difference]:
    """Everything that both say of the trial and say differently, or that one does not say.

    table       of `operating_characteristics`
    planned     of `estimation.plan`

    >>> import xarray as xr
    >>> about = {"max_samples": 600, "delta": 0.1, "rule": "APE()", "radius": "Mixture(rho=5.0)"}
    >>> planned = xr.Dataset(coords={"goal": ["ParetoSet(eps1=0)"]}, attrs=about)
    >>> table = xr.Dataset(
    ...     coords={**planned.coords, "rule": ["APE()"], "radius": ["Mixture(rho=9.0)"],
    ...             "level": [0.1]},
    ...     attrs={"max_samples": 900, "delta": 0.1, "conduct": "", "believed": "draws"},
    ... )
    >>> differences(table, planned)
    [('participants at most', '600', '900')]
    """
    theirs, ours = table.attrs, planned.attrs
    items = [
        *_both("delta", ours.get("delta"), theirs.get("delta"), "{:g}"),
        *_both("participants at most", ours.get("max_samples"), theirs.get("max_samples"), "{:,}"),
        *_goals(table, planned),
        *_believed(theirs, ours),
        *_radius(table, planned),
    ]
    return items + _conduct(theirs, ours)


def _both(what: str, ours: Any, theirs: Any, form: str = "{}") -> list[Difference]:
    """One item, where the two differ or one is not there."""
    if ours is not None and ours == theirs:
        return []
    mine, their = (UNKNOWN if value is None else form.format(value) for value in (ours, theirs))
    return [(what, mine, their)]


def _goals(table: xr.Dataset, planned: xr.Dataset) -> list[Difference]:
    """Goals with their margins and limits, of which each has some that the other has not."""
    ours, theirs = ([str(goal) for goal in one.goal.values] for one in (planned, table))
    if set(ours) == set(theirs):
        return []
    mine, their = (
        "; ".join(label_of(name, planned.attrs) for name in names) for names in (ours, theirs)
    )
    return [("goals, margins, limits", mine, their)]


def _believed(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Difference]:
    """What trials are simulated on; an oc knows neither correlations nor ranges of a plan's."""
    items = []
    believed = theirs.get("believed")
    if believed is None:
        items.append(("what is believed", "posterior draws", UNKNOWN))
    elif not theirs.get("of_fit", True):
        items.append(("what is believed", "posterior draws", str(believed)))
    if "correlation" in ours:
        items.append(("correlation of endpoints", _listed(ours["correlation"]), "independent"))
    if "ranges" in ours:
        items.append(("ranges of endpoints", str(ours["ranges"]), "none"))
    return items


def _listed(values: Any) -> str:
    import numpy as np

    return ", ".join(f"{value:g}" for value in np.ravel(values))


def _radius(table: xr.Dataset, planned: xr.Dataset) -> list[Difference]:
    """The plan's rule and radius, where no design of the table has them.

    Numbers that are tuned are left out: both tune them, on simulations of their own.
    """
    ours = planned.attrs
    if "radius" not in ours or "rule" not in ours:
        return [("rule and radius", UNKNOWN, _designs(table))]
    exact = ours.get("shares") == "as given"
    wanted = str(ours["rule"]), _kind(str(ours["radius"]), exact), ours.get("delta")
    if any((rule, _kind(radius, exact), level) == wanted for rule, radius, level in _made(table)):
        return []
    return [("rule and radius", _label(str(ours["rule"]), str(ours["radius"])), _designs(table))]


def _kind(radius: str, exact: bool) -> Any:
    """A radius without what was tuned, for comparison."""
    if exact:
        return radius
    name, given = split(radius)
    told = {key: repr(value) for key, value in given.items() if key not in _TUNED}
    return name, {**told, "shares": given.get("shares") is not None}


def _made(table: xr.Dataset) -> list[tuple[str, str, float]]:
    """Rule, radius and delta of the sequential designs of a table."""
    if "radius" not in table.coords:
        return []
    columns = (table[name].values.tolist() for name in ("rule", "radius", "level"))
    return [made for made in zip(*columns, strict=True) if made[1]]


def _designs(table: xr.Dataset) -> str:
    """Rules and radii of the designs of a table, each once."""
    if "radius" not in table.coords:
        return UNKNOWN
    labels = dict.fromkeys(_label(rule, radius) for rule, radius, _ in _made(table))
    return "; ".join(labels) or "no sequential design"


def _label(rule: str, radius: str) -> str:
    return f"{rule}, {methods.radius_label(radius_of(radius), radius)}"


def _conduct(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Difference]:
    """Recruitment, delays, looks, losses, burn-in and randomisation, each for itself."""
    told = [_conduct_of(attrs) for attrs in (ours, theirs)]
    if None in told:
        mine, their = (
            f"{UNKNOWN} but in words: {attrs['conduct']}" if conduct is None else str(conduct)
            for conduct, attrs in zip(told, (ours, theirs), strict=True)
        )
        return [("conduct", mine, their)]
    plans, others = (conduct.words() for conduct in told if conduct is not None)
    fields_of_plan, fields_here = (
        {**conduct.to_dict(), "look": None if conduct.look == 1 else conduct.look}
        for conduct in told
        if conduct is not None
    )
    return [
        (what, plans.get(what, "none"), others.get(what, "none"))
        for what, fields in _FIELDS.items()
        if any(fields_of_plan.get(field) != fields_here.get(field) for field in fields)
    ]


#: what `Conduct.words` calls its fields
_FIELDS = {
    "recruitment": ("rate",), "delay of outcomes": ("delay",), "looks": ("look", "look_days"),
    "participants lost": ("dropout",), "outcomes missing": ("missing",), "burn-in": ("burn_in",),
    "randomisation": ("randomise",),
}  # fmt: skip


def _conduct_of(attrs: Mapping[str, Any]) -> Conduct | None:
    """How trials ran, to the last digit; None where only words are left of it."""
    return conduct_of(attrs) or (None if attrs.get("conduct") else Conduct())
