"""How likely each arm is to be optimal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.plots import style
from paretoid.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pareto_probability(
    shares: Any, eps1: Any = 0.0, *, fold: float | None = None, ax: Axes | None = None
) -> Axes:
    """P(arm is optimal), and P(within the margin of optimal) if there is a margin.

    shares      of `estimation.pareto_probability`; or a fit, from which they are computed with
                `eps1` or `fold`. Of shares, `fold` only says what their margin is called

    With limits an upright mark is the probability of meeting them. Whiskers are two Monte Carlo
    standard errors, cut at 0 and 1. Hatched: with the margin.

    >>> import numpy as np, xarray as xr
    >>> half, small = ("arm", np.array([0.5, 1.0])), ("arm", np.array([0.01, 0.002]))
    >>> shares = xr.Dataset({"optimal": half, "optimal_error": small, "near_optimal": half,
    ...     "near_optimal_error": small}, {"arm": ["A", "B"]}, {"eps1": np.zeros(2)})
    >>> axes = pareto_probability(shares)
    >>> [float(bar.get_width()) for bar in axes.patches]
    [0.5, 1.0]
    """
    import xarray as xr

    if not (isinstance(shares, xr.Dataset) and "optimal" in shares):
        from paretoid import estimation

        shares = estimation.pareto_probability(shares, eps1, fold=fold)
    elif np.any(np.asarray(eps1) != 0):
        raise ValueError(
            f"eps1={eps1!r} has nothing to say about shares that were computed already: their "
            f"margin is {shares.attrs.get('eps1')}. Leave it out, or pass the fit."
        )
    arms = [str(arm) for arm in shares.arm.values]
    rows = np.arange(len(arms))[::-1]
    margin = bool(np.any(np.asarray(shares.attrs.get("eps1", 0.0)) > 0))
    axes = style.one_axes(ax, 6.5, (0.36 if margin else 0.28) * len(arms) + 1.5)
    size = 0.38 if margin else 0.7
    limited = "feasible" in shares
    named = "within the limits, and optimal of those" if limited else "optimal"
    bars = [("optimal", rows + (size / 2 if margin else 0.0), style.DARK, named, "")]
    if margin:
        units = Units.of(shares.attrs)
        slack = f"{fold:g}-fold" if fold else "the margin"
        slack = units.margin(shares.attrs["eps1"], shares.attrs["compared"]) if units else slack
        what = f"within {slack} of optimal"
        if shares.attrs.get("margin_means") == "all":
            what = f"not practically dominated, by {slack}"
        bars.append(("near_optimal", rows - size / 2, style.LIGHT, what, "////"))
    if limited:
        axes.plot(shares.feasible.values, rows, "|", ms=16, mew=2, color="black",
                  label="within the limits")  # fmt: skip
    for name, y, color, label, hatch in bars:
        share, error = shares[name].values, 2 * shares[f"{name}_error"].values
        low, high = np.maximum(share - error, 0.0), np.minimum(share + error, 1.0)
        axes.barh(y, share, size, color=color, label=label, hatch=hatch, edgecolor="white", lw=0)
        axes.hlines(y, low, high, color="0.15", lw=1.2)
    axes.set_yticks(rows, style.row_names(arms))
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.7, len(arms) - 0.3)
    axes.set_xlabel("posterior probability (whiskers: 2 Monte Carlo standard errors)")
    style.grid(axes, "x")
    style.legend(axes)
    style.note(axes.get_figure(root=True), str(shares.attrs.get("assumptions", "")))
    return axes
