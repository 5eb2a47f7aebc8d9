"""`data.paretoid` on xarray's Datasets: `runs.paretoid.summary()`, `runs.paretoid.plot()`.

It is there once a function that makes or opens Datasets was named (`pt.simulate`); for a file that
xarray opened itself, `import paretoid.accessor` does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from paretoid import text
from paretoid.labels import label_of
from paretoid.notebook import Shown
from paretoid.theory.checks import WrongTypeError


@xr.register_dataset_accessor("paretoid")  # type: ignore[no-untyped-call]
class ParetoidAccessor:
    """What paretoid knows about a Dataset: runs of `simulate` or a campaign, a plan, a fit.

    A fit is several Datasets; its group `posterior` is the one that is meant.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9], [0.1]], arms=["A", "B"])
    >>> runs = pt.simulate(bandit, replications=20, seed=1)
    >>> runs.paretoid.kind, runs.paretoid.summary().heads[:2]
    ('runs', ['goal', 'samples'])
    >>> runs.paretoid.plot().get_xlabel()
    'samples'
    """

    def __init__(self, data: xr.Dataset) -> None:
        self._data = data

    @property
    def kind(self) -> str:
        """ "runs", "plan" or "fit"; other Datasets are refused.

        >>> xr.Dataset().paretoid.kind    # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        paretoid.theory.checks.WrongTypeError: this Dataset is none of paretoid's: ...
        """
        data = self._data
        if "paretoid_trial" in data.attrs and "chain" in data.dims:
            return "fit"
        if {"assurance", "samples_needed", "stopping_time"} <= set(data.variables):
            return "plan"
        if {"stopping_time", "stopped", "answer", "correct", "pulls"} <= set(data.variables):
            return "runs"
        raise WrongTypeError(
            "this Dataset is none of paretoid's: it must be runs, of simulate or a campaign, a "
            "plan, of estimation.plan, or the posterior group of a fit, of estimation.fit."
        )

    def summary(self) -> Shown:
        """The Dataset in a few numbers, as a table for terminals and notebooks.

        >>> import paretoid as pt
        >>> runs = pt.simulate(pt.BernoulliBandit([[0.9], [0.1]]), replications=20, seed=1)
        >>> [row[0] for row in runs.paretoid.summary().rows]
        ['ParetoSet(eps1=0)']
        """
        return {"runs": _runs, "plan": _plan, "fit": _fit}[self.kind](self._data)

    def plot(self, **options: Any) -> Any:
        """The picture of its kind: `plots.stopping_times`, `plots.assurance` or `plots.forest`.

        `options` are that function's, such as ax=; it returns the Axes.

        >>> import paretoid as pt
        >>> runs = pt.simulate(pt.BernoulliBandit([[0.9], [0.1]]), replications=20, seed=1)
        >>> runs.paretoid.plot(kind="violin").get_xlabel()
        'samples'
        """
        from paretoid import plots

        if self.kind == "fit":
            return plots.forest(_tree(self._data), **options)
        draw = plots.stopping_times if self.kind == "runs" else plots.assurance
        return draw(self._data, **options)


def _runs(runs: xr.Dataset) -> Shown:
    from paretoid.summaries import summaries

    named = [dim for dim in ("instance", "radius", "delta") if runs.sizes.get(dim, 1) > 1]
    arms = [str(arm) for arm in runs.arm.values]
    rows = []
    for summary in summaries(runs):
        places = dict(zip(("instance", "radius", "delta", "goal"), summary.at, strict=True))
        low, high = summary.quantiles[0.05], summary.quantiles[0.95]
        often = summary.answers[0] if summary.answers else None
        rows.append(
            [
                *(str(runs[dim].values[places[dim]]) for dim in [*named, "goal"]),
                ("≥ " if summary.censored else "") + text.count(summary.mean[0]),
                "-" if math.isnan(summary.standard_error) else text.count(summary.standard_error),
                text.interval(low, high, text.count),
                f"{summary.wrong:,} of {summary.runs:,}",
                f"{summary.censored:,}",
                "none" if often is None else text.chosen(arms, often[0]),
            ]
        )
    known = {**runs.attrs, **{name: runs[name].values for name in ("radius", "delta", "guarantee")
                              if name in runs.coords}}  # fmt: skip
    same = [str(np.ravel(known[name])[0]) for name in ("radius", "delta") if name not in named]
    words = sorted({str(word) for word in np.ravel(known["guarantee"])})
    heading = (
        f"{text.counted(len(arms), 'arm')}, {text.counted(runs.sizes['replication'], 'run')} of "
        f"each setting; {', '.join([str(runs.attrs['rule']), *same, *words])}"
    )
    heads = [*named, "goal", "samples", "±", "90% of runs", "wrong", "censored", "most often"]
    return Shown(heading, heads, rows, ["samples: the mean and its standard error; where runs are "
                 "censored, their budget ran out, it is too small."], len(named) + 1)  # fmt: skip


def _plan(planned: xr.Dataset) -> Shown:
    limit = int(planned.attrs["max_samples"])
    levels = [float(level) for level in planned.assurance_level.values]
    rows = []
    for name in planned.goal.values:
        goal = planned.sel(goal=name)
        needed = [float(n) for n in goal.samples_needed.values]
        rows.append(
            [
                label_of(str(name), planned.attrs),
                *(text.at_most(n, limit) for n in needed),
                f"{float(goal.censored):.1%}",
                f"{float(goal.error_rate):.1%}",
            ]
        )
    heads = ["goal", *(f"N for {level:.0%}" for level in levels), "censored", "wrong answers"]
    heading = (
        f"a plan on {planned.sizes['draw']} posterior draws, at most {limit:,} participants, "
        f"delta = {planned.attrs['delta']:g}"
    )
    return Shown(heading, heads, rows, [str(planned.attrs["guarantee_in_words"])])


def _fit(posterior: xr.Dataset) -> Shown:
    from paretoid.estimation.draws import posterior_draws
    from paretoid.estimation.model import trial_of
    from paretoid.intervals import credible_interval

    fit = _tree(posterior)
    trial = trial_of(fit)
    means, _ = posterior_draws(fit)
    middle, low, high = credible_interval(means)
    rows = [
        [
            arm,
            *(
                text.bracketed(float(middle[i, d]), float(low[i, d]), float(high[i, d]))
                for d in range(len(trial.endpoints))
            ),
        ]
        for i, arm in enumerate(trial.arms)
    ]
    units = [f"{name} (log)" if scale == "log-normal" else name
             for name, scale in zip(trial.endpoints, trial.scales, strict=True)]  # fmt: skip
    heading = f"{text.counted(len(trial.arms), 'arm')}, {len(means):,} posterior draws of the means"
    sentences = ["The middle of the posterior, and a 95% credible interval.", trial.citation]
    return Shown(heading, ["arm", *units], rows, [line for line in sentences if line])


def _tree(posterior: xr.Dataset) -> xr.DataTree:
    """The posterior as the fit that it is a group of."""
    return xr.DataTree.from_dict({"posterior": posterior})
