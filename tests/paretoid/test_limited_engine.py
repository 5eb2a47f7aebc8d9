"""Goals with limits in the compiled loop: the same arms, times, answers and verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.runs import conducted
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.validation.equality import assert_engine_equals_loop

RADII = [
    pt.Mixture(rho=2.0),
    pt.Mixture(rho=1.0, union="pairs", sides="two"),
    pt.UnknownScale(a=1.0, w=0.5),
]


@st.composite
def limited(draw):
    """A setting with limits: scales by arm or common, one or two limits, with and without slack."""
    K, D = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    names = tuple("abc"[:D])
    radius = draw(st.sampled_from(RADII))
    if draw(st.booleans()):
        rho = np.arange(1.0, K + 1)
        radius = pt.Mixture(rho=rho, shares=pt.Shares(arms=rho / rho.sum()))
    scale = rng.uniform(0.5, 2.0, (K, D)) if draw(st.booleans()) else 1.0
    minimize = names[:1] if draw(st.booleans()) else ()
    bandit = pt.GaussianBandit(2 * rng.normal(size=(K, D)), scale, objectives=names,
                               minimize=minimize)  # fmt: skip
    made = draw(st.sampled_from([pt.at_most, pt.at_least]))
    slack, compared = draw(st.sampled_from([0.0, 0.5])), draw(st.booleans())
    limits = {names[0]: made(0.5, slack=slack, compared=compared)}
    if D > 2 and draw(st.booleans()):
        limits[names[1]] = pt.at_least(-1.0, slack=0.2)
    eps = draw(st.sampled_from([0.0, 0.4]))
    goal = draw(st.sampled_from([
        pt.ParetoSet(eps, limits=limits), pt.AtMost(1, eps, limits=limits),
        pt.AtMost(2, eps, limits=limits), pt.Cover(eps, 0.7, limits=limits),
    ]))  # fmt: skip
    goal = goal.bind(bandit.objectives, bandit.sign)
    return Setting(bandit, (goal,), pt.APE(), radius, 0.1, 160)


@settings(max_examples=30, deadline=None)
@given(limited(), st.integers(0, 2**20), st.lists(st.integers(1, 159), max_size=3))
def test_limits_run_compiled_as_in_the_readable_loop(setting, seed, cuts):
    noise = np.random.default_rng(seed).standard_normal((160, setting.bandit.D))
    assert_engine_equals_loop(setting, noise, cuts)


def test_runs_advanced_together_do_not_share_their_tables():
    """Two runs in one chunk, and each alone: the room for tables is one for all of them."""
    bandit = pt.GaussianBandit([[1.0, 0.2], [0.5, 0.9], [0.2, 0.4]], objectives=("a", "b"))
    goal = pt.ParetoSet(limits={"b": pt.at_least(0.3)})
    both = pt.simulate(bandit, goal, replications=2, max_samples=3000, seed=5)
    one = pt.simulate(bandit, goal, replications=1, max_samples=3000, seed=5)
    assert both.stopping_time.values[0, 0] == one.stopping_time.values[0, 0]
    assert (both.pulls.values[0, 0] == one.pulls.values[0, 0]).all()


def test_an_arm_at_its_limit_is_sampled_for_its_limit():
    """Arm 1 is better by 5 sd and lies at the limit: only arm 1 is worth sampling."""
    bandit = pt.GaussianBandit([[0.0, 9.0], [5.0, 1.0]], objectives=("a", "b"))
    goal = pt.ParetoSet(limits={"b": pt.at_least(1.0)}).bind(bandit.objectives, bandit.sign)
    setting = Setting(bandit, (goal,), pt.APE(), pt.Mixture(rho=2.0), 0.1, 300)
    noise = np.random.default_rng(3).standard_normal((300, 2))
    arms = assert_engine_equals_loop(setting, noise).arms
    assert arms.count(1) > 250


@settings(max_examples=25, deadline=None)
@given(limited(), st.integers(0, 2**20), st.sampled_from([1, 7, (5, 30, 60)]))
def test_a_trial_on_a_calendar_with_limits_runs_compiled_as_the_live_one(setting, seed, look):
    delay = {"a": 2.0, "b": 5.5}
    conduct = pt.Conduct(rate=1.0, delay=delay, look=look, dropout=0.2, missing={"b": 0.1})
    setting = replace(setting, max_samples=60, conduct=conduct)
    losses = np.random.default_rng(seed).random((60, 1 + setting.bandit.D))
    slow, fast = (
        run(setting)(generator(seed, (0,)), losses, np.random.default_rng(0))[0]
        for run in (conducted.readable, conducted.compiled)
    )
    assert setting.compiled
    assert (fast.stopped, fast.analysed) == (slow.stopped, slow.analysed)
    for name in ("answer", "pulls", "settled"):
        assert getattr(fast, name).tolist() == getattr(slow, name).tolist(), name
