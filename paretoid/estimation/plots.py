"""Pictures of a fit and a plan. Each function returns a Matplotlib figure; nothing is shown."""

from __future__ import annotations

import textwrap
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.model import trial_of
from paretoid.estimation.planning import pareto_probability, posterior_draws

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

#: told apart in greyscale too, by lightness; Okabe and Ito's blue and orange
_DARK, _LIGHT, _GREY = "#0072B2", "#E69F00", "0.55"


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _natural(values: Any, scale: str) -> Any:
    """Working scale to the endpoint's unit."""
    return np.exp(values) if scale == "log-normal" else values


def _log_axis(axis: Any, side: str) -> None:
    """Logarithmic, with plain numbers at 1, 3, 10, 30, ...; powers of ten overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    getattr(axis, f"set_{side}scale")("log")
    ticks = getattr(axis, f"{side}axis")
    ticks.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    ticks.set_minor_locator(NullLocator())


def _note(figure: Figure, fit: Any) -> None:
    """Assumptions stand on every picture that rests on them."""
    said = " ".join(trial_of(fit).assumptions)
    if said:
        wide = int(figure.get_figwidth() * 14)
        figure.supxlabel("\n".join(textwrap.wrap(said, wide)), fontsize="x-small")


def forest_plot(fit: Any) -> Figure:
    """Fitted means with 95% credible intervals, beside the published intervals."""
    trial = trial_of(fit)
    means, _ = posterior_draws(fit)
    low, middle, high = np.quantile(means, [0.025, 0.5, 0.975], axis=0)
    K, D = trial.mean.shape
    figure = _figure(3.0 * D + 1.5, 0.32 * K + 1.6)
    axes = figure.subplots(1, D, sharey=True, squeeze=False)[0]
    rows = np.arange(K)[::-1]
    for d, axis in enumerate(axes):
        scale = trial.scales[d]
        reported = np.isfinite(trial.lower[:, d])
        axis.hlines(
            rows[reported] - 0.16, trial.lower[reported, d], trial.upper[reported, d],
            color=_GREY, lw=1.6,
        )  # fmt: skip
        axis.plot(
            trial.reported[:, d], rows - 0.16, "D", color=_GREY, ms=3.5, mfc="white",
            label=f"published mean, {trial.level:.0%} interval",
        )  # fmt: skip
        axis.hlines(
            rows + 0.16, _natural(low[:, d], scale), _natural(high[:, d], scale),
            color=_DARK, lw=2.2,
        )  # fmt: skip
        axis.plot(
            _natural(middle[:, d], scale), rows + 0.16, "o", color=_DARK, ms=4,
            label="fitted mean, 95% interval",
        )  # fmt: skip
        if scale == "log-normal":
            _log_axis(axis, "x")
        less = " (less is better)" if trial.endpoints[d] in trial.minimize else ""
        axis.set_title("\n".join(textwrap.wrap(trial.endpoints[d] + less, 34)), fontsize="medium")
        axis.set_xlabel(trial.units[d] or ("share" if scale == "binary" else ""))
        axis.grid(axis="x", color="0.9")
        axis.set_axisbelow(True)
    axes[0].set_yticks(rows, trial.arms)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    _note(figure, fit)
    return figure


def pareto_plot(fit: Any, eps1: Any = 0.0, *, fold: float | None = None) -> Figure:
    """P(arm is optimal), and P(within the margin of optimal) if there is a margin."""
    shares = pareto_probability(fit, eps1, fold=fold)
    arms = shares.arm.values
    rows = np.arange(len(arms))[::-1]
    margin = bool(np.any(shares.attrs["eps1"] > 0))
    figure = _figure(6.5, 0.36 * len(arms) + 1.5)
    axis = figure.subplots()
    size = 0.38 if margin else 0.7
    axis.barh(
        rows + (size / 2 if margin else 0), shares.optimal, size, color=_DARK,
        xerr=2 * shares.optimal_error, ecolor="0.2", label="optimal",
    )  # fmt: skip
    if margin:
        what = f"within {fold:g}-fold of optimal" if fold else "within the margin of optimal"
        axis.barh(
            rows - size / 2, shares.near_optimal, size, color=_LIGHT,
            xerr=2 * shares.near_optimal_error, ecolor="0.2", label=what,
        )  # fmt: skip
        figure.legend(loc="outside upper center", ncols=2)
    axis.set_yticks(rows, arms)
    axis.set_xlim(0, 1.02)
    axis.set_xlabel("posterior probability (whiskers: 2 Monte Carlo standard errors)")
    _note(figure, fit)
    return figure


def projection_plot(fit: Any, *, draws: int = 300) -> Figure:
    """Posterior draws of the arms' means, two endpoints at a time, with the plug-in front."""
    import theory

    trial = trial_of(fit)
    means, _ = posterior_draws(fit)
    sign = np.array([-1.0 if e in trial.minimize else 1.0 for e in trial.endpoints])
    centre = means.mean(axis=0)
    front = theory.pareto_set(centre * sign)
    shown = means[np.linspace(0, len(means) - 1, min(draws, len(means))).astype(int)]
    D = len(trial.endpoints)
    pairs = list(combinations(range(D), 2)) or [(0, 0)]
    columns = min(len(pairs), 3)
    lines = -(-len(pairs) // columns)
    figure = _figure(4.0 * columns, 3.6 * lines + 0.03 * len(trial.arms) + 0.9)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    markers = "osD^vP*X<>hp8d"
    for (d, e), axis in zip(pairs, axes, strict=False):
        for i, arm in enumerate(trial.arms):
            x = _natural(shown[:, i, d], trial.scales[d])
            y = _natural(shown[:, i, e], trial.scales[e])
            axis.plot(x, y, ".", ms=2, alpha=0.35, color=_DARK if front[i] else _GREY)
            axis.plot(
                _natural(centre[i, d], trial.scales[d]), _natural(centre[i, e], trial.scales[e]),
                markers[i % len(markers)], ms=7, mec="black", mew=0.8,
                mfc=_DARK if front[i] else ("white", "0.75")[i // len(markers) % 2],
                label=arm + (" (front)" if front[i] else ""),
            )  # fmt: skip
        for q, side in ((d, "x"), (e, "y")):
            if trial.scales[q] == "log-normal":
                _log_axis(axis, side)
            unit = f" [{trial.units[q]}]" if trial.units[q] else ""
            less = ", less is better" if trial.endpoints[q] in trial.minimize else ""
            getattr(axis, f"set_{side}label")(
                "\n".join(textwrap.wrap(trial.endpoints[q] + less + unit, 38))
            )
        axis.grid(color="0.92")
        axis.set_axisbelow(True)
    for axis in axes[len(pairs) :]:
        axis.set_visible(False)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center",
        ncols=min(4, columns + 1), fontsize="small",
    )  # fmt: skip
    _note(figure, fit)
    return figure


def stopping_plot(planned: xr.Dataset) -> Figure:
    """Share of draws that have stopped by N, per goal, with medians of the bounds."""
    figure = _figure(6.5, 4.6)
    axis = figure.subplots()
    limit = int(planned.attrs["max_samples"])
    styles = ("-", "--", "-.", ":")
    farthest = float(limit)
    for g, goal in enumerate(planned.goal.values):
        each = planned.sel(goal=goal)
        color, style = (_DARK, _LIGHT, "0.3", "0.6")[g % 4], styles[g % 4]
        times = np.sort(np.where(each.stopped, each.stopping_time, np.inf))
        done = int(np.isfinite(times).sum())
        x = np.concatenate([[0], times[:done], [limit]])
        y = np.concatenate([[0], np.arange(1, done + 1), [done]]) / len(times)
        axis.step(x, y, where="post", color=color, ls=style, lw=2, label=_goal(str(goal), planned))
        sharp = float(each.sharp_bound.median())
        if np.isfinite(sharp):
            farthest = max(farthest, sharp)
            what = f"its sharp bound, median draw: {sharp:,.0f}"
            axis.axvline(sharp, color=color, ls=style, lw=1, label=what)
    axis.axvline(limit, color="0.2", lw=1, ls=(0, (1, 1)))
    axis.text(limit, 0.5, "max_samples ", rotation=90, ha="right", va="center", fontsize="x-small")
    for level in planned.assurance_level.values:
        axis.axhline(level, color="0.85", lw=0.8, zorder=0)
    axis.set_xlim(0, (farthest if farthest < 2 * limit else limit) * 1.04)
    axis.set_ylim(0, 1.02)
    theorem = float(planned.theorem_1.median())
    axis.set_xlabel(f"participants N (Theorem 1, median draw: {theorem:,.0f})")
    axis.set_ylabel("P(stopped by N): assurance")
    figure.legend(loc="outside upper center", ncols=2, fontsize="small")
    said = planned.attrs["assumptions"]
    if said:  # as on every other picture
        figure.supxlabel("\n".join(textwrap.wrap(said, 90)), fontsize="x-small")
    return figure


def _goal(goal: str, planned: xr.Dataset) -> str:
    fold = planned.attrs["fold"]
    return goal_label(goal).replace(f"{np.log(fold):g}", f"log {fold:g}") if fold else goal


def goal_label(goal: str) -> str:
    """A goal's name with at most one margin spelt out.

    >>> goal_label("AtMost(k=2, eps1=(0.405465, 0.405465))")
    'AtMost(k=2, eps1=0.405465)'
    """
    if "(" not in goal.split("eps1=")[-1]:
        return goal
    head, rest = goal.split("eps1=(", 1)
    inner, tail = rest.split(")", 1)
    values = inner.split(", ")
    return f"{head}eps1={values[0]}{tail}" if len(set(values)) == 1 else goal


def save_plots(fit: Any, planned: xr.Dataset, folder: str | Path, **margin: Any) -> list[Path]:
    """All pictures as PNG and SVG in `folder`; `margin` is eps1= or fold= of `pareto_plot`."""
    figures = {
        "forest": forest_plot(fit),
        "pareto_probability": pareto_plot(fit, **margin),
        "projections": projection_plot(fit),
        "stopping_time": stopping_plot(planned),
    }
    written = []
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            path = Path(folder) / f"{name}.{kind}"
            figure.savefig(path, dpi=150)
            written.append(path)
    return written
