"""Stopping times beside the bounds that speak about them.

`compare` runs the engine and puts mean and quantiles of the stopping time beside the sharp bound,
Theorem 1, the bound on the expectation (of the radius `LUCB1Like`), the formula of Theorem 2 and
T* kl(delta, 1 - delta), for every instance, k, eps1 and delta asked for: a Dataset. `table` prints
it, `plot` draws it on log axes, `slopes` fits the growth in log(1/delta).

Any run above the sharp bound is replayed, and must have had a wrong interval: on the event that
all intervals hold the bound is a certainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.bounds import sample_bounds
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.plots.style import grid, log_axis, new_figure
from paretoid.runs.simulate import simulate
from paretoid.summaries import summaries
from paretoid.text import count, markdown
from paretoid.theory.checks import check_count, check_delta, check_k, refusal
from paretoid.theory.radii import KaufmannKoolen, Mixture, Radius
from paretoid.validation.pathwise import check_path, engine_path

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

#: the bounds of a comparison: name, label, dash pattern and marker, readable without colour
_LINES = {
    "theorem_1": ("Theorem 1 (radius KaufmannKoolen)", "--", "s"),
    "expected_lucb1": ("expectation, radius LUCB1Like", "-.", "D"),
    "sharp_bound": ("sharp bound (if all intervals hold)", ":", "^"),
    "characteristic": ("T* kl(delta, 1 - delta)", (0, (1, 3)), "v"),
    "lower_bound": ("formula of Theorem 2, corrected", (0, (5, 5)), "x"),
}


def compare(
    bandits: Bandit | Sequence[Bandit],
    *,
    k: Sequence[int | None] = (None,),
    eps1: Sequence[float] = (0.0,),
    delta: Sequence[float] = (0.1,),
    radius: Radius | None = None,
    replications: int = 100,
    quantiles: Sequence[float] = (0.05, 0.5, 0.95),
    seed: int = 0,
    max_samples: int | None = None,
) -> xr.Dataset:
    """Stopping times of APE and every bound, with dims instance, k, eps1, delta (and quantile).

    k         numbers of arms asked for; None, shown as k = 0, is the whole Pareto set
    radius    `Mixture()` by default; the sharp bound needs `Mixture` or `KaufmannKoolen`
    seed      instance i draws from seed + i, the same noise for every k, eps1 and delta

    Variables: mean, standard_error, quantile and largest (stopping times); stopped (share; the
    rest ran into `max_samples`, so times are lower bounds); errors (wrong answers);
    above_sharp_bound (runs), contradictions (runs above it although all their intervals held: a
    bug in the engine or the theory); and the bounds, NaN where they say nothing: `lower_bound`
    is about Gaussian outcomes, `characteristic` about Gaussian or 0/1 ones and the whole set, both
    about eps1 = 0; the upper bounds need an eps1 that is the same for all objectives in units of
    their scales, and scales per arm that are in proportion between objectives (see
    `validation.pathwise`).

    >>> import paretoid as pt
    >>> result = compare(pt.GaussianBandit([[0.0], [2.0]]), replications=20)
    >>> bool(result["mean"] < result.sharp_bound), int(result.contradictions.sum())
    (True, 0)
    """
    import xarray as xr

    listed = [bandits] if isinstance(bandits, Bandit) else list(bandits)
    if not listed or not all(isinstance(bandit, Bandit) for bandit in listed):
        raise refusal(all(isinstance(bandit, Bandit) for bandit in listed))(
            f"bandits={bandits!r} must be a Bandit or a non-empty sequence of them, for instance "
            f"load_instance('covboost')."
        )
    radius = Mixture() if radius is None else radius
    if not isinstance(radius, (Mixture, KaufmannKoolen)):
        raise ValueError(
            f"radius={radius!r} has no sharp bound: only Mixture and KaufmannKoolen depend on "
            f"counts alone. Use one of these."
        )
    for name, values in (("k", k), ("eps1", eps1), ("delta", delta), ("quantiles", quantiles)):
        if isinstance(values, (str, int, float)) or len(values) == 0:
            raise refusal(not isinstance(values, (str, int, float)))(
                f"{name}={values!r} must be a non-empty list, such as [{values!r}]."
            )
    for bandit in listed:
        for asked in k:
            if asked is not None:
                check_k(asked, bandit.K)
    deltas = [check_delta(value) for value in delta]
    replications = check_count(replications, name="replications", why="nothing would be run.")
    shape = (len(listed), len(k), len(eps1), len(deltas))
    names = (
        "mean", "standard_error", "largest", "stopped", "errors", "above_sharp_bound",
        "contradictions", *_LINES,
    )  # fmt: skip
    out = {name: np.full(shape, np.nan) for name in names}
    quantile = np.full((*shape, len(quantiles)), np.nan)
    goals: list[Goal] = [
        ParetoSet(slack) if asked is None else AtMost(asked, slack) for asked in k for slack in eps1
    ]
    for i, bandit in enumerate(listed):
        for d, level in enumerate(deltas):
            runs = simulate(
                bandit, goals, radius=radius, delta=level, replications=replications, seed=seed + i,
                max_samples=max_samples,
            )  # fmt: skip
            told = summaries(runs, quantiles)
            for g, (goal, summary) in enumerate(zip(goals, told, strict=True)):
                at = (i, g // len(eps1), g % len(eps1), d)
                out["mean"][at] = summary.mean[0]
                out["standard_error"][at] = summary.standard_error
                out["largest"][at] = summary.largest
                out["stopped"][at] = summary.stopped / summary.runs
                out["errors"][at] = summary.wrong
                quantile[at] = list(summary.quantiles.values())
                bounds = sample_bounds(bandit, goal, level, radius)
                for name in bounds.keys() & out.keys():  # of this radius, whatever its union
                    out[name][at] = bounds[name]
                above = np.flatnonzero(runs.stopping_time.values[g] > out["sharp_bound"][at])
                out["above_sharp_bound"][at] = len(above)
                out["contradictions"][at] = sum(
                    _all_held(bandit, goal, radius, level, seed + i, int(r), max_samples)
                    for r in above
                )
    dims = ("instance", "k", "eps1", "delta")
    samples = {"units": "samples"}
    plain = ("stopped", "errors", "above_sharp_bound", "contradictions")
    data: dict[str, Any] = {
        name: (dims, values, {} if name in plain else samples) for name, values in out.items()
    }
    data["quantile"] = ((*dims, "q"), quantile, samples)
    return xr.Dataset(
        data,
        coords={
            "instance": np.arange(len(listed)),
            "k": [0 if asked is None else asked for asked in k],
            "eps1": list(eps1),
            "delta": deltas,
            "q": list(quantiles),
        },
        attrs={"radius": repr(radius), "replications": replications, "seed": seed},
    )


def _all_held(
    bandit: Bandit, goal: Goal, radius: Radius, delta: float, seed: int, run: int,
    max_samples: int | None,
) -> int:  # fmt: skip
    """1 if all intervals of this run held at all times, replayed round by round."""
    path = engine_path(
        bandit, goal, radius=radius, delta=delta, seed=seed, replication=run,
        max_samples=max_samples,
    )  # fmt: skip
    return int(check_path(path).bad_rounds == 0)


def slopes(result: xr.Dataset) -> xr.Dataset:
    """Growth of the mean stopping time in log(1/delta), by least squares; dims instance, k, eps1.

    slope     samples per unit of log(1/delta)
    bend      slope between the two smallest deltas over that between the two largest: near 1 if
              growth is linear
    sharp     the same slope of the sharp bound, an upper yardstick

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[0.0], [2.0]])
    >>> growth = slopes(compare(bandit, delta=[0.1, 0.01, 0.001], replications=50))
    >>> 0 < growth.slope.item() < growth.sharp.item()
    True
    """
    import xarray as xr

    if "delta" not in result.dims or result.sizes["delta"] < 3:
        raise ValueError(
            "slopes needs at least three deltas: two make every growth linear. Call compare with "
            "delta=[0.1, 0.01, 0.001]."
        )
    ordered = result.sortby("delta", ascending=False)
    x = np.log(1 / ordered.delta.values)
    dims = ("instance", "k", "eps1")
    variables = {}
    for name, source in (("slope", "mean"), ("sharp", "sharp_bound")):
        y = ordered[source].transpose(*dims, "delta").values
        centred = x - x.mean()
        variables[name] = (dims, (y * centred).sum(axis=-1) / (centred**2).sum())
    y = ordered["mean"].transpose(*dims, "delta").values
    first = (y[..., 1] - y[..., 0]) / (x[1] - x[0])
    last = (y[..., -1] - y[..., -2]) / (x[-1] - x[-2])
    variables["bend"] = (dims, last / first)
    return xr.Dataset(variables, coords={name: result.coords[name] for name in dims})


def table(result: xr.Dataset) -> str:
    """The comparison as a Markdown table, one row for each instance, k, eps1 and delta.

    >>> import paretoid as pt
    >>> text = table(compare(pt.GaussianBandit([[0.0], [2.0]]), replications=5))
    >>> print(text.splitlines()[0])
    | instance | k | eps1 | delta | mean | 5% | 50% | 95% | stopped | wrong | sharp | \
Theorem 1 | E, LUCB1Like | T* kl | Theorem 2 |
    """
    quantiles = [f"{100 * q:g}%" for q in result.q.values]
    head = [
        "instance", "k", "eps1", "delta", "mean", *quantiles, "stopped", "wrong", "sharp",
        "Theorem 1", "E, LUCB1Like", "T* kl", "Theorem 2",
    ]  # fmt: skip
    rows = []
    columns = ("sharp_bound", "theorem_1", "expected_lucb1", "characteristic", "lower_bound")
    for i in result.instance.values:
        for k in result.k.values:
            for slack in result.eps1.values:
                for level in result.delta.values:
                    row = result.sel(instance=i, k=k, eps1=slack, delta=level)
                    cells = [str(i), "all" if k == 0 else str(k), f"{slack:g}", f"{level:g}"]
                    cells += [count(row["mean"].item()), *map(count, row["quantile"].values)]
                    cells += [f"{row.stopped.item():.0%}", count(row.errors.item())]
                    rows.append([*cells, *(count(row[name].item()) for name in columns)])
    return markdown(head, rows)


def plot(result: xr.Dataset, *, instance: int = 0, eps1: float | None = None) -> Figure:
    """Log-log figure: stopping times and bounds against log(1/delta), one panel for each k.

    With a single delta: stopping times against the sharp bound, one point for each instance.
    Line styles and markers differ, so it reads without colour.

    >>> import paretoid as pt
    >>> result = compare(pt.GaussianBandit([[0.0], [2.0]]), delta=[0.1, 0.01], replications=5)
    >>> len(plot(result).axes)
    1
    """
    slack = result.eps1.values[0] if eps1 is None else eps1
    if slack not in result.eps1.values:
        raise ValueError(
            f"eps1={eps1!r} was not compared; there are {result.eps1.values.tolist()}."
        )
    chosen = result.sel(eps1=slack)
    panels = len(chosen.k)
    figure = new_figure(max(6.0, 1.4 + 3.2 * panels), 4.6)
    axes = figure.subplots(1, panels, squeeze=False, sharey=True)[0]
    for axis, k in zip(axes, chosen.k.values, strict=True):
        data = chosen.sel(k=k)
        if chosen.sizes["delta"] > 1:
            _against_delta(axis, data.sel(instance=instance).sortby("delta", ascending=False))
        else:
            _against_bound(axis, data.isel(delta=0))
        axis.set_title("whole Pareto set" if k == 0 else f"k = {k}", fontsize=10)
        grid(axis)
    axes[0].set_ylabel("samples")
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", fontsize=8,
        ncols=min(len(handles), 2 if panels < 3 else 3),
    )  # fmt: skip
    return figure


def _against_delta(axis: Any, data: xr.Dataset) -> None:
    from matplotlib.ticker import NullFormatter

    x = np.log(1 / data.delta.values)
    low, high = data["quantile"].values[:, 0], data["quantile"].values[:, -1]
    first, last = (f"{100 * q:g}%" for q in (data.q.values[0], data.q.values[-1]))
    axis.fill_between(x, low, high, color="0.8", label=f"stopping time, {first} to {last}")
    axis.plot(x, data["mean"].values, "k-o", ms=5, label="stopping time, mean")
    _bound_lines(axis, x, data)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("log(1/delta)")
    axis.set_xticks(x, [f"{value:.1f}" for value in x])
    axis.xaxis.set_minor_formatter(NullFormatter())


def _bound_lines(axis: Any, x: Any, data: xr.Dataset) -> None:
    greys = ("0.0", "0.35", "0.0", "0.35", "0.35")
    for (name, (label, style, marker)), grey in zip(_LINES.items(), greys, strict=True):
        y = data[name].values
        if (np.isfinite(y) & (y > 0)).all():
            axis.plot(x, y, linestyle=style, marker=marker, ms=4, color=grey, lw=1.2, label=label)


def _against_bound(axis: Any, data: xr.Dataset) -> None:
    order = np.argsort(data.sharp_bound.values)
    x = data.sharp_bound.values[order]
    middle = data["mean"].values[order]
    q = data["quantile"].values[order]
    spread = np.abs(np.stack([middle - q[:, 0], q[:, -1] - middle]))
    first, last = (f"{100 * level:g}%" for level in (data.q.values[0], data.q.values[-1]))
    axis.errorbar(
        x, middle, yerr=np.maximum(spread, 0), fmt="ko", ms=4, lw=1, capsize=2,
        label=f"stopping time: mean, {first} to {last}",
    )  # fmt: skip
    axis.plot(x, x, "k:", lw=1.2, label="sharp bound (if all intervals hold)")
    for name, marker in (("theorem_1", "s"), ("characteristic", "v")):
        y = data[name].values[order]
        if np.isfinite(y).all():
            axis.plot(x, y, marker, ms=4, mfc="none", color="0.35", label=_LINES[name][0])
    axis.set_yscale("log")
    log_axis(axis, "x")
    axis.set_xlabel("sharp bound, samples")
