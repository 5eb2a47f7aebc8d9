"""Pictures that can be read: numbers on every axis, arms that differ, legends that are whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid import plots
from paretoid.estimation import TrialSummary
from paretoid.plots import coordinates, fits, style
from paretoid.report.plan_pictures import _stacked


def fit_of(K, scale="log-normal"):
    """A hand-made fit of K arms with long names, all on the front, and 2 endpoints."""
    angle = np.linspace(0.1, 1.4, K)
    mean = np.column_stack([np.cos(angle), np.sin(angle)])
    sd, n = np.full((K, 2), 0.3), np.full((K, 2), 60.0)
    reported = np.exp(mean) if scale == "log-normal" else mean
    names = tuple(f"strategy number {i + 1} with a dose" for i in range(K))
    trial = TrialSummary(
        names, ("gain", "ease"), ("mg", ""), (scale,) * 2, mean, sd, n, reported,
        0.9 * reported, 1.1 * reported,
    )  # fmt: skip
    rng, both = np.random.default_rng(2), ("chain", "draw", "arm", "endpoint")
    mu = mean + 0.01 * rng.standard_normal((2, 20, K, 2))
    posterior = xr.Dataset({"mu": (both, mu), "sigma": (both, np.full(mu.shape, 0.3))})
    posterior.attrs = {
        "paretoid_trial": trial.to_json(), "paretoid_variances": "partial",
        "paretoid_priors": "default", "paretoid_problems": "",
    }  # fmt: skip
    return xr.DataTree.from_dict({"posterior": posterior})


@pytest.fixture(scope="module")
def twenty():
    return fit_of(20)


def shown(axis):
    """The labels of the major ticks within the axis."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1.get_text() for tick in axis.get_major_ticks()
            if low <= tick.get_loc() <= high and tick.label1.get_text()]  # fmt: skip


def panels_of(fit):
    return [*plots.forest(fit), *plots.projections(fit, draws=5)]


@pytest.mark.parametrize("scale", ["log-normal", "normal"])
def test_every_axis_of_numbers_has_three_of_them(scale):
    for panel in panels_of(fit_of(4, scale)):
        panel.get_figure().draw_without_rendering()
        assert len(shown(panel.xaxis)) >= 3
        assert len(shown(panel.yaxis)) >= 3 or panel.get_yticklabels()[0].get_text()[0] == "s"


def test_twenty_arms_of_a_front_all_look_different(twenty):
    everybody = np.ones(20, dtype=bool)
    for looks, parts in ((fits._looks(everybody), ("marker", "mfc")),
                         (coordinates._looks(everybody), ("marker", "color"))):  # fmt: skip
        assert len({tuple(look[part] for part in parts) for look in looks}) == 20
    drawn = plots.projections(twenty, draws=5)[0].get_lines()
    named = [line for line in drawn if not line.get_label().startswith("_")]
    assert len({(line.get_marker(), line.get_markerfacecolor()) for line in named}) == 20


def legend_of(axes):
    figure = axes.get_figure(root=True)
    figure.draw_without_rendering()
    legend = axes.get_legend() or figure.legends[0]
    return legend.get_window_extent(), figure


def test_legends_are_whole_and_leave_the_panels_their_height(twenty):
    drawn = [
        plots.forest(twenty)[0], plots.projections(twenty, draws=5)[0],
        plots.forest(twenty, axes=_stacked(2, 6.9, trial_names(twenty)))[0],
        plots.projections(twenty, draws=5, axes=_stacked(1, 3.8))[0],
    ]  # fmt: skip
    for axes in drawn:
        box, figure = legend_of(axes)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height + 1
        assert axes.get_window_extent().height > 2 * figure.dpi


def trial_names(fit):
    return pt.estimation.plug_in_bandit(fit).arms


def test_the_times_take_up_half_of_the_axis_however_far_a_bound_is():
    bandit = pt.GaussianBandit([[0.0, 1.0], [0.02, 0.5], [-3.0, -3.0]])
    runs = pt.simulate(bandit, pt.AtMost(1, 0.1), replications=10, seed=1)
    axes = plots.stopping_times(runs, bandit=bandit)
    low, high = np.log(axes.get_xlim())
    times = np.log(runs.stopping_time.values)
    padding = np.log(1.25 / 0.8)
    assert (times.max() - times.min() + padding) / (high - low) >= 0.49 or high - low < np.log(7)
    labels = [words.get_text() for words in axes.get_legend().get_texts()]
    assert any("beyond the axis" in label for label in labels)


def test_the_axis_of_a_plan_ends_with_its_trials(nasty_plan):
    planned = nasty_plan[2]
    early = planned.assign(
        stopping_time=planned.stopping_time.clip(max=90), stopped=planned.stopped | True
    )
    axes = plots.assurance(early)
    assert axes.get_xlim()[1] < 1.1 * 90
    assert not any("limit" in words.get_text() for words in axes.get_legend().get_texts())
    late = plots.assurance(planned.assign(stopped=planned.stopped & False))
    assert any("limit: 400" in words.get_text() for words in late.get_legend().get_texts())


def test_a_narrow_log_axis_has_three_numbers():
    for (low, high), width in itertools.product([(1000, 40_000), (150, 900), (7, 9)], (1.6, 3.0)):
        axes = style.new_figure(width, 2.0).subplots()
        axes.set_xlim(low, high)
        style.log_axis(axes, "x")
        axes.get_figure().draw_without_rendering()
        assert len(shown(axes.xaxis)) >= 3
