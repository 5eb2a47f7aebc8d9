"""Pictures of a fit: its means beside the published ones, and two endpoints at a time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from paretoid.intervals import credible_interval
from paretoid.plots import style
from paretoid.text import objective
from paretoid.theory.checks import FloatArray
from paretoid.theory.limits import Limit, Limits


def forest(
    fit: Any, *, axes: Any = None, limits: Mapping[str, Limit] | None = None
) -> np.ndarray[Any, Any]:
    """Fitted means with 95% credible intervals beside the published ones; a panel per endpoint.

    fit     of `paretoid.estimation.fit`
    limits  that arms must meet, as `ParetoSet` has them; drawn as dashed lines

    Log-normal endpoints are drawn on a log axis in their own unit. Published: open grey diamonds;
    fitted: filled dark circles. Returns the (endpoints,) array of Axes; what the fit assumes
    stands below the figure.

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> panels = forest(posterior)
    >>> len(panels), [label.get_text() for label in panels[0].get_yticklabels()][0]
    (3, 'ChAd/ChAd + BNT')
    """
    from paretoid.estimation.draws import posterior_draws
    from paretoid.estimation.model import trial_of

    trial = trial_of(fit)
    means, _ = posterior_draws(fit)
    middle, low, high = credible_interval(means)
    K, D = trial.mean.shape
    panels: np.ndarray[Any, Any] = style.many_axes(
        axes, 1, D, 3.0 + 1.5 / D, 0.32 * K + 1.6, sharey=True
    )[0]
    rows = np.arange(K)[::-1]
    for d, axis in enumerate(panels):
        scale = trial.scales[d]
        reported = np.isfinite(trial.lower[:, d])
        axis.hlines(
            rows[reported] - 0.16, trial.lower[reported, d], trial.upper[reported, d],
            color=style.GREY, lw=1.6,
        )  # fmt: skip
        axis.plot(
            trial.reported[:, d], rows - 0.16, "D", color=style.GREY, ms=3.5, mfc="white",
            label=f"published mean, {trial.level:.0%} interval",
        )  # fmt: skip
        axis.hlines(
            rows + 0.16, _natural(low[:, d], scale), _natural(high[:, d], scale),
            color=style.DARK, lw=2.2,
        )  # fmt: skip
        axis.plot(
            _natural(middle[:, d], scale), rows + 0.16, "o", color=style.DARK, ms=4,
            label="fitted mean, 95% interval",
        )  # fmt: skip
        _limit(axis.axvline, trial, d, limits)
        if scale == "log-normal":
            style.log_axis(axis, "x")
        said = objective(trial.endpoints[d], trial.endpoints[d] in trial.minimize)
        axis.set_title(style.wrap(said, 34), fontsize="medium")
        axis.set_xlabel(trial.units[d] or ("share" if scale == "binary" else ""))
        style.grid(axis, "x")
    for axis in panels:
        if axis is panels[0] or not axis.get_shared_y_axes().joined(panels[0], axis):
            axis.set_yticks(rows, style.row_names(trial.arms))
    style.legend_above(panels)
    style.note(panels[0].get_figure(root=True), " ".join(trial.assumptions))
    return panels


def _limit(line: Any, trial: Any, d: int, limits: Mapping[str, Limit] | None) -> None:
    """A line at the limit of endpoint d, in its own unit; nothing without one."""
    from paretoid.estimation.margins import units_of

    limit = (limits or {}).get(trial.endpoints[d])
    if limit is not None:
        value = _natural(limit.value, trial.scales[d])
        name = style.literal(trial.endpoints[d])
        label = f"limit: {name} {units_of(trial).limit(trial.endpoints[d], limit)}"
        line(value, ls="--", lw=1.3, color="#D55E00", zorder=2, label=label)


def projections(
    fit: Any,
    *,
    draws: int = 300,
    axes: Any = None,
    limits: Mapping[str, Limit] | None = None,
) -> np.ndarray[Any, Any]:
    """Posterior draws of the arms' means, two endpoints at a time, with the plug-in front.

    Dark: optimal at the posterior means, in all endpoints together; with `limits`, which are drawn
    as dashed lines, among the arms that meet them. Returns the array of Axes,
    one for each pair of endpoints (one endpoint is drawn against itself).

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> len(projections(posterior, draws=20))    # three endpoints, three pairs
    3
    """
    from paretoid import theory
    from paretoid.estimation.draws import posterior_draws
    from paretoid.estimation.model import trial_of
    from paretoid.theory.checks import check_count

    draws = check_count(draws, name="draws", why="it is how many posterior draws are shown.")
    trial = trial_of(fit)
    means, _ = posterior_draws(fit)
    sign = np.array([-1.0 if e in trial.minimize else 1.0 for e in trial.endpoints])
    centre = means.mean(axis=0)
    front = theory.pareto_set(centre * sign)
    if limits:
        front, _ = Limits(limits).bound(trial.endpoints, sign).sets(centre * sign)
    shown = means[np.linspace(0, len(means) - 1, min(draws, len(means))).astype(int)]
    pairs = list(combinations(range(len(trial.endpoints)), 2)) or [(0, 0)]
    columns = min(len(pairs), 3)
    lines = -(-len(pairs) // columns)
    if axes is not None and np.size(axes) == len(pairs):  # arranged by the caller
        lines, columns = 1, len(pairs)
    panels = style.many_axes(axes, lines, columns, 4.0, 3.9).ravel()
    looks = _looks(front)
    for (d, e), axis in zip(pairs, panels, strict=False):
        for i in range(len(trial.arms)):
            label = style.literal(trial.arms[i]) + (" (front)" if front[i] else "")
            _cloud(axis, trial, shown[:, i], centre[i], (d, e), {**looks[i], "label": label})
        _limit(axis.axvline, trial, d, limits)
        _limit(axis.axhline, trial, e, limits)
        for q, side in ((d, "x"), (e, "y")):
            if trial.scales[q] == "log-normal":
                style.log_axis(axis, side)
            less = trial.endpoints[q] in trial.minimize
            said = objective(trial.endpoints[q], less, unit=trial.units[q])
            getattr(axis, f"set_{side}label")(style.wrap(said, 38))
        style.grid(axis)
    for axis in panels[len(pairs) :]:
        axis.set_visible(False)
    style.legend_above(panels)
    style.note(panels[0].get_figure(root=True), " ".join(trial.assumptions))
    return panels[: len(pairs)]


def _looks(front: Any) -> list[dict[str, Any]]:
    """Markers of the arms: no two of thirty on the front look alike, nor of thirty others."""
    markers = "osD^vP*X<>"
    fills = {True: (style.DARK, style.LIGHT, "#56B4E9"), False: ("white", "0.78", "0.55")}
    rank = {True: 0, False: 0}
    looks = []
    for inside in map(bool, front):
        position = rank[inside]
        fill = fills[inside][position // len(markers) % 3]
        looks.append({"marker": markers[position % len(markers)], "mfc": fill, "ls": "none",
                      "mec": "black" if inside else "0.3", "ms": 8 if inside else 6.5,
                      "mew": 0.8, "zorder": 4 if inside else 3})  # fmt: skip
        rank[inside] += 1
    return looks


def _cloud(
    axis: Any, trial: Any, draws: FloatArray, centre: FloatArray, pair: tuple[int, int],
    look: dict[str, Any],
) -> None:  # fmt: skip
    d, e = pair
    color = style.GREY if look["zorder"] == 3 else look["mfc"]
    x, y = (_natural(draws[:, q], trial.scales[q]) for q in (d, e))
    axis.plot(x, y, ".", ms=2, alpha=0.35, color=color)
    x, y = (_natural(centre[q], trial.scales[q]) for q in (d, e))
    axis.plot(x, y, **look)


def _natural(values: Any, scale: str) -> Any:
    """Working scale to the endpoint's unit."""
    return np.exp(values) if scale == "log-normal" else values
