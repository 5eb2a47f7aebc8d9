"""Pictures hold the data they were given, the bounds where theory puts them, and names apart."""

from __future__ import annotations

import itertools
import math
import sys

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.textpath import TextPath

import paretoid as pt
from paretoid import plots, theory
from paretoid.estimation import load_trial
from paretoid.plots import over_time, style
from paretoid.plots.bounds import BOUNDS
from paretoid.plots.labels import spread
from paretoid.plots.rectangles import half_widths
from paretoid.theory.radii import chi

COV = pt.load_instance("covboost")
SMALL = pt.GaussianBandit(
    [[1.0, 0.2], [0.2, 0.9], [0.1, 0.3], [0.5, 0.5]],
    scale=[0.5, 0.25], arms=list("ABCD"), objectives=["response", "harm"], minimize=["harm"],
)  # fmt: skip
GOALS = [pt.ParetoSet(), pt.AtMost(1), pt.AtMost(2)]


@pytest.fixture(autouse=True)
def _pyplot_stays_out():
    yield
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


@pytest.fixture(scope="module")
def run():
    return pt.run_once(SMALL, seed=1)


@pytest.fixture(scope="module")
def runs():
    return pt.simulate(COV, GOALS, replications=21, seed=1)


@pytest.fixture(scope="module")
def censored():
    """AtMost(1) always stops within the budget, ParetoSet never does, AtMost(2) sometimes."""
    data = pt.simulate(COV, GOALS, replications=21, seed=1, max_samples=9000)
    assert data.stopped.sum("replication").values.tolist()[:2] == [0, 21]
    assert 0 < int(data.stopped[2].sum()) < 21
    return data


class Fit(dict):
    """What `estimation.fit` returns, as far as pictures read it; no sampler is needed."""

    groups = ("posterior",)


@pytest.fixture(scope="module")
def fitted():
    trial = load_trial("covboost", assumed_n=80)
    K, D = trial.mean.shape
    rng = np.random.default_rng(0)
    mu = trial.mean + 0.1 * rng.normal(size=(2, 100, K, D))
    dims = ("chain", "draw", "arm", "endpoint")
    posterior = xr.Dataset(
        {"mu": (dims, mu), "sigma": (dims, np.ones_like(mu))},
        attrs={"paretoid_trial": trial.to_json(), "paretoid_problems": ""},
    )
    return Fit(posterior=posterior)


def labels_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def names_in(axes):
    """Drawn names: annotations that are text and not a line."""
    return [text for text in axes.texts if text.get_text()]


def boxes(texts, outline=False):
    """(n, 4) pixels of texts; with `outline`, as wide as SVG and PDF draw them."""
    figure = texts[0].get_figure()
    figure.draw_without_rendering()
    found = []
    for text in texts:
        box = Text.get_window_extent(text).extents.copy()  # without its leader line
        if outline:
            path = TextPath((0, 0), text.get_text(), prop=text.get_fontproperties())
            wide = path.get_extents().width * figure.dpi / 72
            middle = (box[0] + box[2]) / 2
            box[[0, 2]] = middle - wide / 2, middle + wide / 2
        found.append(box)
    return np.array(found)


def overlaps(one, other):
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())


# --- what all of them promise -------------------------------------------------------------------


def test_every_function_draws_into_the_axes_it_is_given(run, runs, fitted):
    covers = pt.simulate(SMALL, [pt.Cover(eps2=0.1), pt.Cover(eps2=0.2)], replications=3)
    shares = plots.pareto_probability
    for draw in (
        lambda ax: plots.front(SMALL, ax=ax),
        lambda ax: plots.front(run, ax=ax),
        lambda ax: plots.pulls(runs, ax=ax),
        lambda ax: plots.stopping_times(runs, ax=ax),
        lambda ax: plots.stopping_times(runs, "violin", ax=ax),
        lambda ax: plots.samples_against_eps2(covers, ax=ax),
        lambda ax: plots.parallel(COV, ax=ax),
        lambda ax: shares(fitted, ax=ax),
    ):
        left, right = Figure(figsize=(14, 6), layout="constrained").subplots(1, 2)
        assert draw(left) is left
        assert left.has_data()
        assert not right.has_data()
        assert len(left.get_figure().axes) == 2
        assert left.get_figure().get_figwidth() == 14
    panels = Figure(figsize=(9, 6)).subplots(2, 3)
    assert (plots.intervals(run, "A", ["B", "C", "D"], axes=panels) == panels).all()
    panels = Figure(figsize=(9, 6)).subplots(1, 3)
    assert (plots.forest(fitted, axes=panels) == panels).all()
    assert (plots.projections(fitted, axes=panels) == panels).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.front(SMALL, ax=[1, 2]),
        lambda: plots.pulls(5),
        lambda: plots.stopping_times(xr.Dataset({"a": 1})),
        lambda: plots.front("covboost"),
        lambda: plots.front(pt.GaussianBandit([[0.0], [1.0]])),
        lambda: plots.front(COV, ("IgG", "NT5")),
        lambda: plots.front(COV, (0, 0)),
        lambda: plots.front(COV, (0, 1, 2)),
        lambda: plots.front(COV, (0, 3)),
        lambda: plots.intervals(SMALL),
        lambda: plots.intervals([]),
        lambda: plots.parallel(COV, arms=["a"] * 20),
        lambda: plots.parallel([[1.0, math.nan], [0.0, 1.0]]),
        lambda: plots.assurance(xr.Dataset()),
        lambda: plots.forest(3),
        lambda: plots.pareto_probability([0.5, 0.5]),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(draw):
    with pytest.raises(ValueError, match=r".{40}"):
        draw()


def lightness(color):
    """CIE L* of a colour, by its definition for sRGB."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    Y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * Y ** (1 / 3) - 16 if Y > 0.008856 else 903.3 * Y


def test_neighbouring_series_differ_in_lightness_and_no_two_share_marker_or_dashes():
    for (a, *_), (b, *_) in itertools.pairwise(style.STYLES):
        assert abs(lightness(a) - lightness(b)) > 10
    first = [lightness(color) for color, _, _ in style.STYLES[:3]]
    assert min(abs(a - b) for a, b in itertools.combinations(first, 2)) > 20
    assert len({marker for _, marker, _ in style.STYLES}) == len(style.STYLES)
    assert len({str(dashes) for _, _, dashes in style.STYLES}) == len(style.STYLES)
    assert abs(lightness(style.DARK) - lightness(style.LIGHT)) > 20


def test_more_goals_than_can_be_told_apart_are_refused():
    many = pt.simulate(COV, [pt.AtMost(k) for k in range(1, 10)], replications=1, max_samples=100)
    with pytest.raises(ValueError, match="9 goals are too many"):
        plots.stopping_times(many)


def test_a_dataset_of_several_settings_asks_for_one():
    data = pt.Campaign(
        [SMALL, SMALL], pt.ParetoSet(), radii=[pt.Mixture(), pt.KaufmannKoolen()],
        deltas=[0.1, 0.01], replications=2, seed=1, max_samples=200,
    ).run()  # fmt: skip
    for dim in ("instance", "radius", "delta"):
        others = {d: 0 for d in ("instance", "radius", "delta") if d != dim}
        for draw in (plots.pulls, plots.stopping_times):
            with pytest.raises(ValueError, match=f"2 values of {dim}.*runs.isel\\({dim}=0\\)"):
                draw(data.isel(others))
    assert plots.pulls(data.isel(instance=0, radius=[1], delta=1)).has_data()


# --- the front ----------------------------------------------------------------------------------


def marks(axes):
    """{marker: (n, 2) points}"""
    return {
        line.get_marker(): line.get_xydata() for line in axes.lines if line.get_marker() in "os"
    }


def test_the_front_of_a_bandit_shows_its_true_means_and_its_pareto_set():
    axes = plots.front(COV, ("IgG", "T cell"))
    optimal = theory.pareto_set(COV.means)
    drawn = marks(axes)
    assert np.array_equal(drawn["o"], COV.means[optimal][:, [0, 2]])
    assert np.array_equal(drawn["s"], COV.means[~optimal][:, [0, 2]])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("IgG", "T cell")
    assert len(axes.patches) == 1  # the region, and no rectangles: the means are known
    faces = [
        lightness(line.get_markerfacecolor()) for line in axes.lines if line.get_marker() in "os"
    ]
    assert abs(faces[0] - faces[1]) > 40


@pytest.mark.parametrize("outline", [False, True])
@pytest.mark.parametrize("pair", [("IgG", "T cell"), ("IgG", "NT50"), ("T cell", "NT50")])
def test_the_twenty_names_of_covboost_cover_no_name_and_no_point(pair, outline):
    axes = plots.front(COV, pair)
    texts = names_in(axes)
    assert sorted(text.get_text() for text in texts) == sorted(COV.arms)
    found = boxes(texts, outline)
    assert not any(overlaps(a, b) for a, b in itertools.combinations(found, 2))
    inside = axes.get_window_extent().extents
    assert (found[:, :2] >= inside[:2]).all()
    assert (found[:, 2:] <= inside[2:]).all()
    points = axes.transData.transform(np.concatenate(list(marks(axes).values())))
    reach = 4 * axes.get_figure().dpi / 72  # points, as labels are told
    for point in points:
        assert not any(overlaps(box, np.r_[point - reach, point + reach]) for box in found)


def test_each_name_is_anchored_at_its_own_point():
    for text in names_in(plots.front(COV, ("IgG", "T cell"))):
        assert tuple(text.xy) == tuple(COV.means[COV.arms.index(text.get_text()), [0, 2]])


@pytest.mark.parametrize("seed", [1, 2, 3, 7])
def test_no_way_from_a_point_to_its_name_crosses_another_name(seed):
    """A crowd of fourteen: some names must go far from their points."""
    means = np.vstack([0.35 * np.random.default_rng(seed).normal(size=(14, 2)), [[-2, -2], [2, 2]]])
    axes = plots.front(pt.GaussianBandit(means, arms=[f"strategy no. {i}" for i in range(16)]))
    texts = names_in(axes)
    found = boxes(texts)
    assert not any(overlaps(a, b) for a, b in itertools.combinations(found, 2))
    for i, text in enumerate(texts):
        start = axes.transData.transform(text.xy)
        way = (
            start + np.linspace(0, 1, 200)[:, None] * (found[i, :2] + found[i, 2:] - 2 * start) / 2
        )
        for j in range(len(texts)):
            inside = (way > found[j, :2] + 1) & (way < found[j, 2:] - 1)
            assert j == i or not inside.all(axis=1).any()


def test_fifty_long_names_become_numbers_with_a_key():
    rng = np.random.default_rng(0)
    arms = [f"a strategy with a rather long name, number {i}" for i in range(50)]
    axes = plots.front(pt.GaussianBandit(rng.normal(size=(50, 2)), arms=arms))
    texts = names_in(axes)
    assert sorted(int(text.get_text()) for text in texts) == list(range(1, 51))
    found = boxes(texts)
    assert not any(overlaps(a, b) for a, b in itertools.combinations(found, 2))
    key = axes.artists[0]
    said = [area.get_text() for area in key.findobj(lambda a: hasattr(a, "get_fontweight"))]
    for i, arm in enumerate(arms):
        assert f"{i + 1:>3}  {arm}" in said
    box = key.get_window_extent().extents
    figure = axes.get_figure()
    assert (box[:2] >= 0).all()
    assert (box[2:] <= figure.get_size_inches() * figure.dpi).all()


def test_rectangles_are_the_hand_calculated_ones(run):
    axes = plots.front(run)
    rho, delta, K, D = 30.0, 0.1, 4, 2
    drawn = {tuple(np.round(patch.get_center(), 9)): patch for patch in axes.patches[1:]}
    assert len(drawn) == K
    for i in range(K):
        seen = run.outcome[run.arm == i]
        n, centre = len(seen), seen.mean(axis=0)
        level = 2 * math.log(K * D / delta) + math.log((n + rho) / rho)
        half = SMALL.scale[i] * math.sqrt(level * (n + rho)) / n
        patch = drawn[tuple(np.round(centre, 9))]
        assert patch.get_width() == pytest.approx(2 * half[0])
        assert patch.get_height() == pytest.approx(2 * half[1])
    assert "rectangles: all hold with probability 0.9" in labels_of(axes)


def test_rectangles_of_unknown_scale_use_the_bound_on_each_variance():
    radius, delta, K, D = pt.UnknownScale(rho=20.0, w=0.2, union="none"), 0.1, 2, 2
    n, ss = np.array([[100, 50], [400, 60]]), np.array([[90.0, 80.0], [500.0, 3.0]])
    got = half_widths(n, None, ss, radius, delta)
    s2 = ss / chi(n, math.log(K * D / (0.2 * delta)), 3.0)
    alone = theory.ArmMixture(20.0).half_width(n, 0.8 * delta / (K * D))
    assert got == pytest.approx(alone * np.sqrt(s2))
    assert np.isinf(half_widths([[2, 0], [400, 60]], None, ss, radius, delta)[0]).all()


def test_rectangles_hold_along_whole_paths():
    """delta = 0.3: the share of 2,000 paths with a miss has mean <= 0.3, sd 0.01; never 0.36."""
    rng = np.random.default_rng(3)
    N, n = 2000, np.arange(1, 401)
    means = rng.normal(size=(2, N, len(n))).cumsum(axis=2) / n
    width = np.array(
        [half_widths([[k], [k]], 1.0, None, pt.Mixture(rho=5.0), 0.3)[0, 0] for k in n]
    )
    missed = (np.abs(means) >= width).any(axis=(0, 2)).mean()
    assert 0.01 < missed < 0.36


@pytest.mark.parametrize("minimize", [[], ["y"], ["x"], ["x", "y"]])
def test_the_shaded_region_is_what_some_arm_dominates(minimize):
    rng = np.random.default_rng(4)
    bandit = pt.GaussianBandit(rng.normal(size=(9, 2)), objectives=["x", "y"], minimize=minimize)
    axes = plots.front(bandit)
    region = axes.patches[0].get_path()
    low, high = np.sort(axes.get_xlim()), np.sort(axes.get_ylim())
    points = np.column_stack([rng.uniform(*low, 400), rng.uniform(*high, 400)])
    better = bandit.means[None] * bandit.sign > points[:, None] * bandit.sign
    dominated = better.all(axis=2).any(axis=1)
    assert 20 < dominated.sum() < 380
    assert np.array_equal(region.contains_points(points), dominated)


@pytest.mark.parametrize("minimize", [[], ["y"], ["x"], ["x", "y"]])
def test_the_shaded_region_does_not_depend_on_the_order_of_arms_that_tie(minimize):
    sign = np.where([name in minimize for name in "xy"], -1.0, 1.0)
    means = np.array([[1.0, 0.5], [1.0, 1.0], [0.2, 1.5], [0.2, 1.2], [0.6, 1.0]])
    points = np.random.default_rng(4).uniform([0.15, 0.45], [1.05, 1.55], size=(900, 2))
    dominated = (means[None] > points[:, None]).all(axis=2).any(axis=1)
    assert 100 < dominated.sum() < 800
    for order in ([0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [4, 3, 2, 1, 0], [3, 0, 4, 2, 1]):
        bandit = pt.GaussianBandit(
            means[order] * sign, scale=1.0, objectives=["x", "y"], minimize=minimize
        )
        region = plots.front(bandit).patches[0].get_path()
        assert np.array_equal(region.contains_points(points * sign), dominated)


def test_a_minimised_objective_is_reversed_and_says_so():
    axes = plots.front(SMALL)
    assert (axes.xaxis_inverted(), axes.yaxis_inverted()) == (False, True)
    assert axes.get_ylabel() == "harm, less is better (axis reversed)"
    assert marks(axes)["o"].tolist() == [[1.0, 0.2]]  # A has most response and least harm
    turned = plots.front(SMALL, ("harm", "response"))
    assert (turned.xaxis_inverted(), turned.yaxis_inverted()) == (True, False)


def test_a_run_marks_its_answer_and_one_without_answer_says_so(run):
    centre = np.array([run.outcome[run.arm == i].mean(axis=0) for i in range(4)])
    drawn = marks(plots.front(run))
    assert np.array_equal(drawn["o"], centre[run.answer])
    assert np.array_equal(drawn["s"], centre[~run.answer])
    short = pt.run_once(SMALL, seed=1, max_samples=50)
    axes = plots.front(short)
    assert len(marks(axes)["o"]) == 0
    assert "mean seen; no answer after 50 samples" in labels_of(axes)


def test_arms_without_outcomes_are_named_below():
    short = pt.run_once(SMALL, seed=1, max_samples=2)
    axes = plots.front(short)
    assert len(marks(axes)["s"]) == 2
    assert axes.get_figure().get_supxlabel() == "No outcomes of: C, D."


def test_the_front_of_an_explorer_shows_its_status(tmp_path):
    explorer = pt.Explorer(["A", "B"], ["x", "y"], minimize=["y"], seed=1)
    assert np.isnan(explorer.status().means).all()
    assert "No outcomes of: A, B." in plots.front(explorer).get_figure().get_supxlabel()
    rng = np.random.default_rng(0)
    for allocation in explorer.ask(60):
        explorer.tell(allocation, rng.normal(size=2))
    axes = plots.front(explorer)
    status = explorer.status()
    assert np.array_equal(marks(axes)["s"], status.means)
    state = explorer._fresh().outcomes()
    half = half_widths(state.counts, None, state.ss, explorer.design.radius, 0.1)
    widths = [patch.get_width() for patch in axes.patches[1:]]
    assert widths == pytest.approx(list(2 * half[:, 0]))
    explorer.close()


def test_names_are_written_as_they_stand():
    odd = ["$x_1", "$\\frac", "a" * 150, "no \u00e9 trouble", "A & B <c>"]
    bandit = pt.GaussianBandit(np.random.default_rng(0).normal(size=(5, 2)), arms=odd)
    runs = pt.simulate(bandit, replications=2, max_samples=100)
    for axes in (plots.front(bandit), plots.parallel(bandit), plots.pulls(runs)):
        axes.get_figure().draw_without_rendering()
    ticks = plots.pulls(runs).get_yticklabels()
    assert [tick.get_text() for tick in ticks][:2] == [r"\$x_1", r"\$\frac"]
    with matplotlib.rc_context({"text.parse_math": False}):
        ticks = plots.pulls(runs).get_yticklabels()
    assert [tick.get_text() for tick in ticks][:2] == odd[:2]


# --- intervals over time ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "radius", [pt.Mixture(), pt.KaufmannKoolen(), pt.LUCB1Like(), pt.UnknownScale()]
)
def test_intervals_are_those_the_run_decided_with(radius):
    """min_j M+(b_t, j), which the engine recorded, from the drawn upper bounds."""
    run = pt.run_once(SMALL, radius=radius, seed=3, max_samples=600)
    first = np.flatnonzero(run.b >= 0)[0] + 1
    times = [int(t) for t in np.linspace(first, min(run.stopping_time, 590), 7)]
    divisor = run.setting.program()[0].divisor
    if isinstance(radius, pt.UnknownScale):
        ss = sum(
            np.square(o - o.mean(axis=0)).sum(axis=0)
            for o in (run.outcome[:first][run.arm[:first] == i] for i in range(4))
        )
        divisor = np.sqrt(ss / (first - 4))
    for t, (low, high) in zip(times, over_time.trace(run, times), strict=True):
        oriented = np.where(SMALL.sign < 0, -low, high) / divisor
        b = run.b[t - 1]
        others = [j for j in range(4) if j != b]
        assert oriented[b, others].max(axis=1).min() == pytest.approx(run.index[t - 1], rel=1e-9)
        assert (low < high).all()


def test_interval_panels_hold_the_trace_the_truth_and_the_units(run):
    panels = plots.intervals(run, "A", ["D", "B"], ["harm"])
    assert panels.shape == (1, 2)
    band = panels[0, 0].collections[0].get_paths()[0].vertices
    low, high = over_time.trace(run, [run.stopping_time])[0]
    last = band[band[:, 0] == run.stopping_time][:, 1]
    assert last.min() == pytest.approx(low[0, 3, 1])
    assert last.max() == pytest.approx(high[0, 3, 1])
    true = [line for line in panels[0, 0].lines if line.get_label() == "true difference"]
    assert true[0].get_ydata()[0] == pytest.approx(0.2 - 0.5)
    assert panels[0, 0].get_ylabel() == "difference in harm, less\nis better"
    assert panels[0, 1].get_xlabel() == "samples"
    assert panels[0, 1].get_title() == "A minus\nB"
    assert panels[0, 0].get_xscale() == "log"


def test_intervals_compare_the_answer_with_the_arms_sampled_most():
    run = pt.run_once(COV, pt.AtMost(1), seed=1)
    panels = plots.intervals(run)
    first = run.setting.bandit.arms[int(np.flatnonzero(run.answer)[0])]
    assert panels.shape == (3, 4)
    most = np.argsort(-run.pulls, kind="stable")
    others = {COV.arms[i] for i in most if COV.arms[i] != first}
    shown = {panel.get_title().split(" minus\n")[1] for panel in panels[0]}
    assert shown < others
    least_shown = min(run.pulls[COV.arms.index(arm)] for arm in shown)
    assert least_shown == np.sort(run.pulls[[COV.arms[i] != first for i in range(20)]])[-4]


def test_intervals_of_a_live_trial_are_those_of_its_status():
    explorer = pt.Explorer(["A", "B"], ["x"], scale=1.0, seed=1)
    weeks = []
    for week in range(4):
        weeks.append((week, explorer.status()))
        for allocation in explorer.ask(4):
            explorer.tell(allocation, [float(week)])
    panel = plots.intervals(weeks, "A", ["B"], time="week")[0, 0]
    assert panel.get_xlabel() == "week"
    edge = panel.lines[0].get_xydata()
    assert edge.tolist() == [[w, s.lower[0, 1, 0]] for w, s in weeks[1:]]  # none at first
    explorer.close()


def test_intervals_of_too_short_a_run_and_of_an_arm_with_itself_are_refused(run):
    with pytest.raises(ValueError, match="Raise max_samples"):
        plots.intervals(pt.run_once(SMALL, max_samples=3))
    with pytest.raises(ValueError, match="other arms than 'A'"):
        plots.intervals(run, "A", ["A"])
    with pytest.raises(ValueError, match="6 Matplotlib Axes, 2 x 3"):
        plots.intervals(run, axes=Figure().subplots(2, 2))


# --- pulls --------------------------------------------------------------------------------------


def test_pulls_are_means_and_ranges_of_the_data_and_filled_in_the_answer(runs):
    axes = plots.pulls(runs)
    ticks = dict(
        zip([t.get_text() for t in axes.get_yticklabels()], axes.get_yticks(), strict=True)
    )
    lines = [line for line in axes.lines if len(line.get_xdata())]
    for g, (color, marker, _) in enumerate(style.STYLES[:3]):
        mean = runs.pulls[g].mean("replication")
        share = runs.answer[g].mean("replication")
        points = {}
        for line in lines:
            if line.get_marker() == marker:
                filled = line.get_markerfacecolor() == color
                points |= {(x, round(y)): filled for x, y in line.get_xydata()}
        assert len(points) == 20
        for arm in COV.arms:
            key = (float(mean.sel(arm=arm)), round(ticks[arm]))
            assert points[key] == bool(share.sel(arm=arm) > 0.5)
        segments = np.array([s[:, 0] for s in axes.collections[g].get_segments()])
        ends = runs.pulls[g].quantile([0.05, 0.95], "replication").values.T
        assert segments == pytest.approx(ends)
    assert axes.get_xscale() == "log"
    assert labels_of(axes)[:3] == [
        "ParetoSet(), 21 runs",
        "AtMost(k=1), 21 runs",
        "AtMost(k=2), 21 runs",
    ]


def test_pulls_of_one_goal_say_how_often_each_arm_is_returned(runs):
    axes = plots.pulls(runs.sel(goal="AtMost(k=1, eps1=0)"))
    share = runs.answer[1].mean("replication").values
    said = [text.get_text() for text in axes.texts][:20]
    assert said == [f"{p:.0%}" if p else "-" for p in share]


def test_pulls_of_one_run_of_censored_runs_and_of_many_arms_are_drawn(run, censored):
    axes = plots.pulls(run)
    assert axes.get_xlabel() == "samples per arm, one run"
    assert not axes.collections
    axes = plots.pulls(censored.isel(goal=0, replication=3))
    assert "ParetoSet(): 1 of 1 censored" in labels_of(axes)
    bandit = pt.GaussianBandit(np.random.default_rng(0).normal(size=(50, 1)))
    many = pt.simulate(bandit, replications=2, max_samples=40)  # fewer than arms
    axes = plots.pulls(many)
    assert axes.get_xlim()[0] == 0
    labels = [t for t in axes.get_yticklabels() if t.get_text()]
    assert len(labels) == 50
    found = boxes(labels)
    assert not any(overlaps(a, b) for a, b in itertools.pairwise(found))


# --- stopping times -----------------------------------------------------------------------------


def steps(axes):
    return [line for line in axes.lines if line.get_drawstyle() == "steps-post"]


def test_the_ecdf_is_the_share_of_runs_that_have_stopped(runs):
    axes = plots.stopping_times(runs)
    assert (axes.get_xlabel(), axes.get_xscale()) == ("samples", "log")
    for g, line in enumerate(steps(axes)):
        x, y = line.get_data()
        for at in (2000, 9000, 30_000, 10**6):
            share = float((runs.stopping_time[g] <= at).mean())
            assert y[x <= at][-1] == pytest.approx(share) if (x <= at).any() else share == 0


def test_runs_out_of_budget_keep_the_ecdf_below_one_and_open(censored):
    axes = plots.stopping_times(censored)
    ends = [line.get_xydata()[-1] for line in steps(axes)]
    done = censored.stopped.mean("replication").values
    assert [y for _, y in ends] == pytest.approx(list(done))
    assert ends[0][0] == ends[2][0] == 9000
    open_ends = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == ">"]
    assert open_ends == [[9000, 0.0], [9000, pytest.approx(done[2])]]
    out = int((~censored.stopped[2]).sum())
    assert labels_of(axes) == [
        "ParetoSet(): 21 of 21 censored", "AtMost(k=1)",
        f"AtMost(k=2): {out} of 21 censored",
    ]  # fmt: skip


def bounds_in(axes):
    """{(bound, goal): value}, read off markers and colours."""
    markers = {marker: name for name, (_, marker) in BOUNDS.items()}
    colors = [color for color, _, _ in style.STYLES]
    return {
        (markers[line.get_marker()], colors.index(line.get_markeredgecolor())): line.get_xdata()[0]
        for line in axes.lines
        if line.get_marker() in markers and len(line.get_xdata()) == 1
    }


@pytest.mark.parametrize("kind", ["ecdf", "violin"])
def test_bounds_are_drawn_where_theory_puts_them(runs, kind):
    got = bounds_in(plots.stopping_times(runs, kind, bandit=COV))
    means, scale = COV.means, COV.scale
    expected = {("characteristic", 0): theory.characteristic_lower_bound(means, 0.1, scale)}
    for g, k in enumerate((None, 1, 2)):
        expected["sharp_bound", g] = theory.sample_bound(means, 0.1, pt.Mixture(), 0.0, k, scale)
        expected["theorem_1", g] = theory.theorem_1(means, 0.1, 0.0, k, scale)
    assert got == pytest.approx(expected)


def bounds_for(bandit=SMALL, goal=None, **said):
    """The names of the bounds drawn for runs whose Dataset says this of itself."""
    data = pt.simulate(bandit, goal, replications=2, max_samples=50)
    data.attrs |= {name: repr(value) for name, value in said.items()}
    if "radius" in said:
        data.attrs["guarantee"] = said["radius"].guarantee
    return {name for name, _ in bounds_in(plots.stopping_times(data, bandit=bandit))}


def test_bounds_are_drawn_only_where_their_theorems_speak_about_the_runs():
    upper, lower = {"sharp_bound", "theorem_1"}, {"characteristic"}
    assert bounds_for() == upper | lower
    assert bounds_for(goal=pt.ParetoSet(0.01)) == upper
    assert bounds_for(goal=pt.AtMost(2)) == upper
    assert bounds_for(goal=pt.Cover(eps2=0.1)) == upper
    assert bounds_for(radius=pt.UnknownScale()) == {"theorem_1"} | lower
    assert bounds_for(radius=pt.Mixture(union="none")) == upper  # not delta-correct
    assert bounds_for(rule=pt.RoundRobin()) == lower
    assert bounds_for(rule=pt.APE(pull="both")) == lower
    assert bounds_for(pt.BernoulliBandit([[0.1, 0.9], [0.8, 0.2]])) == upper | lower
    joint = pt.GaussianBandit(SMALL.means, covariance=[[1.0, 0.5], [0.5, 1.0]])
    assert bounds_for(joint) == upper
    family = pt.GaussianBandit(theory.lower_bound_instance(p=3, D=2, omega=0.5))
    assert bounds_for(family) == upper | lower | {"lower_bound"}
    tied = pt.GaussianBandit([[1.0, 0.0], [1.0, 0.0]])
    assert bounds_for(tied) == set()  # infinite


def test_a_campaign_brings_its_own_problem_and_directions():
    data = pt.Campaign(
        SMALL, pt.ParetoSet(), radii=pt.KaufmannKoolen(), deltas=0.01, replications=2, seed=1,
        max_samples=50,
    ).run()  # fmt: skip
    got = bounds_in(plots.stopping_times(data))
    problem = (SMALL.oriented, 0.01)
    scale = SMALL.scale
    assert got == pytest.approx(
        {("sharp_bound", 0): theory.sample_bound(*problem, pt.KaufmannKoolen(), scale=scale),
         ("theorem_1", 0): theory.theorem_1(*problem, scale=scale),
         ("characteristic", 0): theory.characteristic_lower_bound(*problem, scale)}
    )  # fmt: skip


def test_bounds_without_a_problem_or_of_another_one_are_refused(runs):
    assert bounds_in(plots.stopping_times(runs)) == {}
    assert bounds_in(plots.stopping_times(runs, bandit=COV, bounds=())) == {}
    one = bounds_in(plots.stopping_times(runs, bandit=COV, bounds="theorem_1"))
    assert {name for name, _ in one} == {"theorem_1"}
    with pytest.raises(ValueError, match="Pass bandit="):
        plots.stopping_times(runs, bounds=["sharp_bound"])
    with pytest.raises(ValueError, match="other arms"):
        plots.stopping_times(runs, bandit=SMALL)
    with pytest.raises(ValueError, match="must be one of 'sharp_bound'"):
        plots.stopping_times(runs, bandit=COV, bounds=["sharp"])
    with pytest.raises(ValueError, match="'ecdf', 'violin'"):
        plots.stopping_times(runs, "box")


def test_a_violin_has_median_and_quartiles_of_all_runs_and_the_area_of_those_that_stopped(censored):
    axes = plots.stopping_times(censored, "violin")
    times = np.where(censored.stopped, censored.stopping_time, np.inf)
    medians = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines
               if line.get_marker() == "|" and len(line.get_xdata())}  # fmt: skip
    assert medians[1] == np.sort(times[1])[10]  # the 11th of 21
    assert 0 not in medians  # beyond the budget
    assert (2 in medians) == (np.isfinite(times[2]).sum() >= 11)
    tall = [np.ptp(path.vertices[:, 1]) for c in axes.collections for path in c.get_paths()
            if len(path.vertices) > 100]  # fmt: skip
    share = censored.stopped[2].mean().item()
    assert tall == pytest.approx([0.72, 0.72 * share])
    said = [text.get_text() for text in axes.texts]
    out = int((~censored.stopped[2]).sum())
    assert said == ["21 of 21 censored", f"{out} of 21 censored"]
    for collection in axes.collections:
        for path in collection.get_paths():
            assert path.vertices[:, 0].max() <= 9000


def test_one_replication_and_one_traced_run_are_drawn(runs, run):
    for kind in ("ecdf", "violin"):
        assert plots.stopping_times(runs.isel(replication=[0]), kind).has_data()
        assert plots.stopping_times(runs.isel(replication=0, goal=1), kind).has_data()
        assert bounds_in(plots.stopping_times(run, kind))  # a run knows its bandit
    with pytest.raises(ValueError, match="empty"):
        plots.stopping_times(runs.isel(replication=[]))


@pytest.mark.parametrize(
    ("low", "high", "some"),
    [
        (700, 2e6, {"1,000", "10,000", "100,000", "1,000,000"}),
        (20, 15_000, {"100", "1,000", "10,000"}),
        (1, 1e8, {"100", "10,000"}),
        (30_000, 50_000, {"40,000"}),
        (0.02, 3, {"0.1", "1"}),
        (1e3, 1e14, {"1,000,000"}),
    ],
)
def test_log_axes_have_plain_numbers_with_room_for_each(low, high, some):
    for width in (2.0, 6.0):
        axes = Figure(figsize=(width, 4)).subplots()
        axes.set_xlim(low, high)
        style.log_axis(axes, "x")
        axes.get_figure().draw_without_rendering()
        ticks = [
            tick.label1 for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high
        ]
        assert len(ticks) >= 3
        assert width < 6 or some <= {tick.get_text() for tick in ticks}
        found = boxes(ticks)
        assert not any(overlaps(a, b) for a, b in itertools.pairwise(found))


# --- covers -------------------------------------------------------------------------------------


def test_samples_against_eps2_are_medians_and_ranges_by_eps1():
    bandit = pt.BernoulliBandit(np.random.default_rng(1).uniform(size=(6, 2)))
    goals = [pt.Cover(eps1, eps2) for eps1 in (0.1, 0.0) for eps2 in (0.3, 0.0, 0.1)]
    data = pt.simulate(bandit, [*goals, pt.ParetoSet()], replications=11, seed=1, max_samples=3000)
    axes = plots.samples_against_eps2(data)
    times = np.sort(np.where(data.stopped, data.stopping_time, np.inf), axis=1)
    lines = [line for line in axes.lines if str(line.get_label()).startswith("eps1 = ")]
    assert [line.get_label() for line in lines] == ["eps1 = 0", "eps1 = 0.1"]
    for line, rows in zip(lines, ([4, 5, 3], [1, 2, 0]), strict=True):
        assert line.get_xdata().tolist() == [0.0, 0.1, 0.3]
        assert line.get_ydata() == pytest.approx(np.minimum(times[rows, 5], 3000))  # 6th of 11
    over = [line for line in axes.lines if line.get_marker() == "^" and len(line.get_xdata())]
    beyond = [eps2 for eps2, g in ((0.0, 4), (0.1, 5), (0.3, 3)) if np.isinf(times[g, 5])]
    assert beyond == [0.0, 0.1]
    assert over[0].get_xydata().tolist() == [[eps2, 3000.0] for eps2 in beyond]
    low, high = axes.get_xlim()
    assert low < 0 < 0.3 < high < 0.4
    out = int((~data.stopped[:6]).sum())
    assert axes.get_figure().get_supxlabel() == f"{out} of 66 runs are censored: lower bounds."
    with pytest.raises(ValueError, match="no Cover among"):
        plots.samples_against_eps2(data.isel(goal=[6]))


def test_an_eps2_that_differs_between_objectives_has_no_place_on_the_axis():
    data = pt.simulate(SMALL, pt.Cover(eps2=(0.1, 0.2)), replications=1, max_samples=50)
    with pytest.raises(ValueError, match="differs between objectives"):
        plots.samples_against_eps2(data)
    same = pt.simulate(SMALL, pt.Cover(eps2=(0.1, 0.1)), replications=1, max_samples=50)
    axes = plots.samples_against_eps2(same)
    assert axes.lines[0].get_xdata().tolist() == [0.1]
    assert axes.get_ylabel() == "samples, one run"


# --- parallel coordinates -----------------------------------------------------------------------


def test_parallel_coordinates_put_the_best_on_top_of_every_axis():
    means = [[1.0, 50.0, 3.0, 7.0], [2.0, 10.0, 3.0, 5.0], [0.0, 60.0, 3.0, 6.0]]
    axes = plots.parallel(means, objectives=["gain", "harm", "same", "d"], minimize=["harm"])
    lines = [line for line in axes.lines if len(line.get_xdata()) == 4]
    drawn = {tuple(line.get_ydata()): line for line in lines}
    assert set(drawn) == {(0.5, 0.2, 0.5, 1.0), (1.0, 1.0, 0.5, 0.0), (0.0, 0.0, 0.5, 0.5)}
    # A tie in one objective is no strict domination, so all three are optimal here.
    assert labels_of(axes) == ["optimal (3)"]
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks == ["gain", "harm,\nless is better\n(reversed)", "same", "d"]
    ends = [text.get_text() for text in axes.texts][:4]
    assert ends == ["2", "0", "10", "60"]


def test_parallel_names_are_apart_and_optimal_arms_stand_out():
    rng = np.random.default_rng(2)
    for bandit in (COV, pt.GaussianBandit(rng.normal(size=(50, 5)))):
        axes = plots.parallel(bandit)
        texts = [text for text in axes.texts if text.get_text() in bandit.arms]
        assert len(texts) == bandit.K
        found = boxes(texts)
        assert not any(overlaps(a, b) for a, b in itertools.combinations(found, 2))
        optimal = theory.pareto_set(bandit.means)
        bold = {text.get_text() for text in texts if text.get_fontweight() == "bold"}
        assert bold == {bandit.arms[i] for i in np.flatnonzero(optimal)}
    looks = {True: set(), False: set()}
    for line in plots.parallel(COV).lines:
        if len(line.get_xdata()) == 3:
            y = line.get_ydata()
            high = COV.means.max(axis=0) - COV.means.min(axis=0)
            i = np.abs((COV.means - COV.means.min(axis=0)) / high - y).sum(axis=1).argmin()
            inside = bool(theory.pareto_set(COV.means)[i])
            looks[inside].add(
                (lightness(line.get_color()), line.get_linewidth(), line.get_marker())
            )
    assert max(light for light, *_ in looks[True]) + 20 < min(light for light, *_ in looks[False])
    assert min(w for _, w, _ in looks[True]) > max(w for _, w, _ in looks[False])


def test_one_objective_has_parallel_coordinates_too():
    axes = plots.parallel([[1.0], [3.0], [2.0]])
    assert labels_of(axes) == ["optimal (1)", "dominated (2)"]


def test_spread_keeps_order_distance_and_limits():
    wanted = np.array([0.9, 0.0, 0.05, 1.0, 0.95])
    got = spread(wanted, 0.15, 0.0, 1.0)
    assert (np.argsort(got) == np.argsort(wanted)).all()
    assert np.diff(np.sort(got)).min() >= 0.15 - 1e-12
    assert got.min() >= 0
    assert got.max() <= 1
    crowded = np.sort(spread(np.zeros(5), 1.0, 0.0, 1.0))
    assert crowded == pytest.approx([0, 0.25, 0.5, 0.75, 1])


# --- fits ---------------------------------------------------------------------------------------


def test_a_forest_holds_posterior_intervals_and_published_means(fitted):
    trial = load_trial("covboost", assumed_n=80)
    panels = plots.forest(fitted)
    assert panels.shape == (3,)
    drawn = fitted["posterior"]["mu"].values.reshape(200, 20, 3)
    middle = np.exp(np.median(drawn, axis=0))
    for d, axes in enumerate(panels):
        assert axes.get_xscale() == "log"
        assert axes.get_xlabel() == trial.units[d]
        by_marker = {line.get_marker(): line for line in axes.lines}
        assert by_marker["o"].get_xdata() == pytest.approx(middle[:, d])
        assert by_marker["D"].get_xdata() == pytest.approx(trial.reported[:, d])
    names = [text.get_text() for text in panels[0].get_yticklabels()]
    assert names == list(trial.arms)
    said = " ".join(panels[0].get_figure().get_supxlabel().split())
    assert "n = 80 is assumed in 44 of 60 cells" in said


def test_what_a_figure_rests_on_is_said_once_however_many_panels_say_it(fitted):
    left, right = Figure(figsize=(14, 6), layout="constrained").subplots(1, 2)
    plots.pareto_probability(fitted, ax=left)
    plots.pareto_probability(fitted, ax=right)
    said = " ".join(left.get_figure().get_supxlabel().split())
    assert said.count("n = 80 is assumed in 44 of 60 cells") == 1


def test_pareto_probability_draws_shares_from_a_fit_or_as_given(fitted):
    from paretoid import estimation

    shares = estimation.pareto_probability(fitted, fold=1.5)
    for axes in (
        plots.pareto_probability(shares, fold=1.5),
        plots.pareto_probability(fitted, fold=1.5),
    ):
        widths = [patch.get_width() for patch in axes.patches]
        assert widths == [*shares.optimal.values, *shares.near_optimal.values]
        assert labels_of(axes) == ["optimal", "within 1.5-fold of optimal"]
        ends = np.array([s[:, 0] for c in axes.collections for s in c.get_segments()])
        assert ends.min() >= 0
        assert ends.max() <= 1
    with pytest.raises(ValueError, match="nothing to say about shares"):
        plots.pareto_probability(shares, eps1=0.3)


def test_projections_show_every_pair_of_endpoints(fitted):
    panels = plots.projections(fitted, draws=10)
    trial = load_trial("covboost", assumed_n=80)
    pairs = [(axes.get_xlabel(), axes.get_ylabel()) for axes in panels]
    said = [f"{name} [{unit}]" for name, unit in zip(trial.endpoints, trial.units, strict=True)]
    assert [(x.replace("\n", " "), y.replace("\n", " ")) for x, y in pairs] == list(
        itertools.combinations(said, 2)
    )
    labels = [text.get_text() for text in panels[0].get_figure().legends[0].get_texts()]
    assert sum(label.endswith("(front)") for label in labels) == 2
