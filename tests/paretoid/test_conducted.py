"""Trials on a calendar: the live Explorer's allocations and tests, compiled and readable alike."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import loop
from paretoid.loop import judged
from paretoid.runs import conducted
from paretoid.runs.chunk import generator, run_chunk
from paretoid.runs.setting import Setting

RADII = [
    pt.Mixture(rho=3.0),
    pt.Mixture(rho=[1.0, 5.0, 2.0], union="pairs"),
    pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(rho=3.0, a=0.5, w=0.5),
]
NAMES = ["fever", "IgG"]


@st.composite
def trials(draw):
    """A setting with a conduct: small scales, so that looks give answers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    radius = draw(st.sampled_from(RADII))
    means = np.round(rng.random((3, 2)) * 4) / 4 if draw(st.booleans()) else rng.random((3, 2))
    if radius.needs_scale and draw(st.booleans()):
        bandit = pt.BernoulliBandit(0.1 + 0.8 * means, objectives=NAMES)
    else:
        scale = 0.1 * (0.5 + rng.random((3, 2) if draw(st.booleans()) else 2))
        bandit = pt.GaussianBandit(means, scale, objectives=NAMES, minimize=["fever"])
    n = draw(st.integers(20, 60))
    delay = draw(st.sampled_from([0.0, 3.0, {"fever": 2.0, "IgG": 5.5}, {"IgG": 1.0}]))
    conduct = pt.Conduct(
        rate=draw(st.sampled_from([1.0, 0.7, ((0.0, 0.5), (9.0, 3.0))])),
        delay=delay,
        **draw(
            st.sampled_from([{"look": 1}, {"look": 7}, {"look": (5, 11, 19)}, {"look_days": 4.0}])
        ),
        dropout=draw(st.sampled_from([0.0, 0.3, {"arm 1": 0.4}])),
        missing=draw(st.sampled_from([0.0, {"IgG": 0.3}])),
        burn_in=draw(st.sampled_from([0, 0, 2])),
    )
    eps1 = draw(st.sampled_from([0.0, 0.2]))
    goals = (pt.Cover(eps1, 0.3), pt.ParetoSet(eps1), pt.AtMost(1, eps1), pt.AtMost(2, eps1))
    return Setting(bandit, goals, pt.APE(), radius, 0.5, n, conduct)


def losses_of(setting, seed):
    shape = setting.max_samples, 1 + setting.bandit.D
    return np.random.default_rng(seed).random(shape)


@settings(deadline=None, max_examples=60)
@given(trials(), st.integers(0, 2**32 - 1))
def test_the_compiled_trial_is_the_readable_one(setting, seed):
    losses = losses_of(setting, seed)
    streams = (generator(seed, (0,)), generator(seed, (0,)))
    rng = np.random.default_rng(0)
    slow = conducted.readable(setting)(streams[0], losses, rng)
    fast = conducted.compiled(setting)(streams[1], losses, rng)
    for mine, theirs in zip(fast, slow, strict=True):
        assert mine.stopped == theirs.stopped
        assert mine.answer.tolist() == theirs.answer.tolist()
        assert mine.pulls.tolist() == theirs.pulls.tolist()
        assert mine.settled.tolist() == theirs.settled.tolist()
        assert mine.analysed == theirs.analysed
        assert mine.duration == theirs.duration


@settings(deadline=None, max_examples=25)
@given(trials(), st.integers(0, 2**32 - 1))
def test_a_live_trial_told_day_by_day_takes_the_same_arms_and_answers(setting, seed):
    """Event by event: outcomes wait in a queue by day, and a plain Explorer is told them."""
    bandit, conduct, n = setting.bandit, setting.conduct, setting.max_samples
    assume(conduct.burn_in == 0)
    losses, arms = losses_of(setting, seed), []
    draw = loop.outcomes_from(bandit, generator(seed, (0,)))
    ended = conducted.run(setting, draw, losses, watch=lambda i, arm: arms.append(arm))
    live = pt.Explorer.from_design(conducted.design_of(setting))
    draw = loop.outcomes_from(bandit, generator(seed, (0,)))
    dropout, missing = conduct.lost(bandit.arms, bandit.objectives)
    delays, waiting, given_answers = conduct.delays(bandit.objectives), [], {}
    last_look, days = 0.0, conduct.days(n)

    def tell(until):
        while waiting and waiting[0][0] <= until:
            _, allocation, name, value = heapq.heappop(waiting)
            live.tell(allocation, {name: value})

    def look(enrolled):
        view = live._view(live._current())
        for g, goal in enumerate(setting.goals):
            if view is not None and g not in given_answers:
                answer = judged(setting.rule, view, goal)
                if answer is not None:
                    given_answers[g] = enrolled, answer.tolist()

    for i, arm in enumerate(arms):
        day = days[i]
        tell(day)
        if None not in live.answers.values():
            return  # it was tested at every outcome, so it may end between two looks
        allocation = live.ask()
        assert allocation.arm == bandit.arms[arm]
        values = draw(arm) * bandit.sign
        for d, name in enumerate(bandit.objectives):
            gone = losses[i, 0] < dropout[arm] or losses[i, 1 + d] < missing[d]
            value = "missing" if gone else float(values[d])
            heapq.heappush(waiting, (day + delays[d], allocation.id, name, value))
        tell(day)
        due = i + 1 in conduct.look if isinstance(conduct.look, tuple) else False
        if isinstance(conduct.look, int):
            due = (i + 1) % conduct.look == 0
        if conduct.look_days is not None and i + 1 < n:
            due = days[i + 1] // conduct.look_days > last_look
            last_look = days[i + 1] // conduct.look_days
        if due:
            look(i + 1)
    if len(arms) == n:
        tell(math.inf)
        look(n)
    for g, end in enumerate(ended):
        assert end.stopped == (g in given_answers)
        if end.stopped:
            assert (int(end.pulls.sum()), end.answer.tolist()) == given_answers[g]


def test_with_a_look_after_every_outcome_a_trial_is_the_ideal_run():
    """Through the calendar's own loop, in which nothing is late, lost or untested."""
    bandit = pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0], [-0.5, 0.2]], 0.5)
    for radius in (pt.Mixture(rho=5.0), pt.UnknownScale(rho=5.0, a=1.0, w=0.5)):
        goals = (pt.ParetoSet(), pt.AtMost(1))
        setting = Setting(bandit, goals, pt.APE(), radius, 0.2, 900, pt.Conduct(rate=2.0))
        ideal = run_chunk(setting, 4, [(0,)])
        ends = conducted.compiled(setting)(generator(4, (0,)), np.zeros((0, 3)), None)
        for g, end in enumerate(ends):
            assert end.pulls.tolist() == ideal.pulls[0, g].tolist()
            assert end.answer.tolist() == ideal.answer[0, g].tolist()
            assert end.stopped == ideal.stopped[0, g]
            assert end.settled.tolist() == ideal.settled[0, g].tolist()
            assert end.duration == ideal.duration[0, g] == (end.pulls.sum() - 1) / 2


def test_most_trials_of_the_property_reach_an_answer():
    """The properties above would be empty if no look ever gave one."""
    means = np.random.default_rng(5).random((20, 3, 2))
    conduct = pt.Conduct(rate=1.0, delay=3.0, look=7, dropout=0.3)
    runs = pt.simulate(
        [pt.GaussianBandit(m, 0.1) for m in means], pt.AtMost(1), delta=0.5, max_samples=60,
        conduct=conduct, radius=pt.Mixture(rho=3.0),
    )  # fmt: skip
    assert runs.stopped.mean() > 0.5


def test_delay_and_loss_are_seen_in_the_numbers():
    """By hand: 5 a day and 28 days, so 140 are in flight; looks every 50; days are (N - 1) / 5."""
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 0.5)
    common = {"replications": 10, "seed": 3, "max_samples": 600}
    ideal = pt.simulate(bandit, **common)
    late = pt.simulate(bandit, conduct=pt.Conduct(rate=5.0, delay=28.0, look=50), **common)
    assert late.stopped.all()
    assert (late.stopping_time % 50 == 0).all()
    np.testing.assert_allclose(late.duration, (late.stopping_time - 1) / 5)
    assert (late.analysed == late.stopping_time - 140).all()
    assert late.stopping_time.mean() > ideal.stopping_time.mean() + 100
    lossy = pt.simulate(
        bandit, conduct=pt.Conduct(rate=5.0, delay=28.0, look=50, dropout=0.5), **common
    )
    share = (lossy.analysed / (lossy.stopping_time - 140)).mean()
    assert abs(share - 0.5) < 0.08  # at least 500 participants, so 3.5 standard errors: 1 in 2,000
    assert "conduct" in lossy.attrs
    assert "analysed" not in ideal


def test_a_trial_that_does_not_settle_ends_when_its_last_outcome_has_come():
    bandit = pt.GaussianBandit([[0.0], [0.0]])
    runs = pt.simulate(
        bandit, conduct=pt.Conduct(rate=2.0, delay=10.0, look=30), max_samples=100, seed=1
    )
    assert not runs.stopped.any()
    assert runs.duration.values.tolist() == [[99 / 2 + 10]]
    assert runs.analysed.values.tolist() == [[100]]
    assert runs.pulls.sum().item() == 100


@pytest.mark.parametrize(
    "rule", [pt.APE("both"), pt.RoundRobin(), pt.UniformElimination()], ids=str
)
def test_rules_in_rounds_run_in_the_readable_form(rule):
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 0.2)
    runs = pt.simulate(
        bandit, rule=rule, conduct=pt.Conduct(rate=2.0, delay=4.0, look=10, dropout=0.1),
        max_samples=120, seed=2,
    )  # fmt: skip
    assert runs.stopped.all()
    assert runs.correct.all()
    assert (runs.settled.values != 0).any()


def test_a_campaign_keeps_its_conduct(tmp_path):
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0]], 0.5)
    options = {"replications": 3, "max_samples": 200, "seed": 1}
    conduct = pt.Conduct(rate=5.0, delay=7.0, look=20)
    kept = pt.Campaign(bandit, conduct=conduct, **options).run(tmp_path / "store").load()
    fresh = pt.simulate(bandit, conduct=conduct, **options)
    for name in ("stopping_time", "analysed", "duration", "settled"):
        np.testing.assert_array_equal(kept[name].values.squeeze(), fresh[name].values.squeeze())
    assert pt.open_campaign(tmp_path / "store").attrs["conduct"] == str(conduct)
    with pytest.raises(ValueError, match="another campaign"):
        pt.Campaign(bandit, conduct=pt.Conduct(look=20), **options).run(tmp_path / "store")


def test_what_is_no_conduct_is_refused():
    bandit = pt.GaussianBandit([[1.0], [0.0]])
    with pytest.raises(ValueError, match="must be a Conduct"):
        pt.simulate(bandit, conduct={"rate": 5}, max_samples=10)
    with pytest.raises(ValueError, match="needs max_samples"):
        pt.simulate(bandit, conduct=pt.Conduct(look=5))
