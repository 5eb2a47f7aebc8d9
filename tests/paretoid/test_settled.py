"""What is certain of each arm at the end of a run, answered or not."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop, text
from paretoid.engine.build import opening_of
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.summaries import summary_of
from paretoid.view import Samples, Standing

#: the second arm is dominated; the last two are within 0.1 of each other
BANDIT = pt.GaussianBandit([[1.0, 0.0], [-0.8, -0.9], [0.0, 1.0], [0.05, 0.95]], 0.5)


def recomputed(setting, arms, outcomes, end):
    """The definition, from nothing but the samples: every test on whole tables, then a union."""
    lens, K, D = loop.lens_of(setting), setting.bandit.K, setting.bandit.D
    optimal, dominated = np.zeros((2, K), dtype=bool)
    start = len(opening_of(lens.first))
    for n in range(start, end + 1):
        if setting.rule.in_rounds and isinstance(setting.rule, pt.APE) and (n - start) % 2:
            continue
        if isinstance(setting.rule, pt.RoundRobin) and n % K:
            continue
        rows = [np.array(outcomes[:n])[np.array(arms[:n]) == i] for i in range(K)]
        counts = np.array([[float(len(row))] * D for row in rows])
        means = np.array([np.cumsum(row, axis=0)[-1] / len(row) for row in rows])
        view = lens.view(Samples(counts, means, np.zeros((K, D))), n)
        for i in range(K):
            others = [j for j in range(K) if j != i]
            low = [(view.lower[i, j] + setting.goals[0].eps1).max() for j in others]
            high = [view.upper[i, j].max() for j in others]
            optimal[i] |= min(low) > 0
            dominated[i] |= min(high) < 0
    return np.where(optimal, 1, np.where(dominated, -1, 0))


@pytest.mark.parametrize("rule", [pt.APE(), pt.APE("both"), pt.RoundRobin()], ids=str)
@pytest.mark.parametrize("radius", [pt.Mixture(rho=5.0), pt.LUCB1Like()], ids=str)
@pytest.mark.parametrize("eps1", [0.0, 0.3])
def test_settled_is_what_some_test_certified(rule, radius, eps1):
    if isinstance(radius, pt.LUCB1Like) and isinstance(rule, pt.RoundRobin):
        return  # refused: it widens while an arm rests
    goals = (pt.ParetoSet(eps1), pt.AtMost(1, eps1))
    for seed in range(2):
        setting = Setting(BANDIT, goals, rule, radius, 0.3, 240)
        draws = loop.outcomes_from(BANDIT, generator(seed, (0,)))
        history = loop.run(setting, draws, np.random.default_rng(0))
        runs = pt.simulate(
            BANDIT, goals, rule=rule, radius=radius, delta=0.3, seed=seed, max_samples=240
        )
        for g in range(2):
            stop = history.stops[g]
            end = len(history.arms) if stop is None else stop.time
            expected = recomputed(setting, history.arms, history.outcomes, end)
            assert runs.settled.values[g, 0].tolist() == expected.tolist()


def test_a_run_without_an_answer_says_what_it_knows():
    """Arms 2 and 3 can hardly be told apart, and take the samples; a correct run says no nonsense
    of the others with probability 0.9 or more each, in practice nearly always."""
    runs = pt.simulate(BANDIT, replications=50, seed=1, max_samples=600).isel(goal=0)
    assert not runs.stopped.any()
    settled = runs.settled.values
    assert (settled[:, 0] == 1).sum() >= 40
    assert (settled[:, 1] != 1).all()
    assert (settled[:, 1] == -1).any()
    assert (settled[:, 2:] == 0).any()
    optimal, dominated, undecided = summary_of(runs).settled
    assert optimal + dominated + undecided == pytest.approx(4)
    assert optimal == pytest.approx((settled == 1).sum() / 50)


def test_an_answered_run_settles_what_it_answers():
    for rule in (pt.APE(), pt.RoundRobin(), pt.UniformElimination()):
        runs = pt.simulate(BANDIT, pt.ParetoSet(0.3), rule=rule, replications=20, seed=3)
        assert runs.stopped.all()
        assert (runs.settled.values[runs.answer.values] == 1).all()
        assert (runs.settled.values != 0).all()


def test_optimal_wins_over_dominated():
    standing, goal = Standing.begin(2).after([0], {1: 0}), pt.ParetoSet()
    lens = loop.Lens(pt.GaussianBandit([[0.0], [1.0]]), pt.Mixture(), 0.1, eps1=5.0)
    means = np.array([[0.0], [4.0]])
    view = lens.view(Samples(np.full((2, 1), 500.0), means, np.zeros((2, 1))), 1000)
    assert view.optimal.all()
    assert view.dominated.tolist() == [True, False]
    before = np.array([-1, 0], dtype=np.int8)
    assert loop.certified(before, view, Standing.begin(2), goal).tolist() == [1, 1]
    tight = loop.Lens(lens.bandit, pt.Mixture(), 0.1, eps1=0.0)
    few = tight.view(Samples(np.ones((2, 1)), means, np.zeros((2, 1))), 2)
    assert loop.certified(np.zeros(2, np.int8), few, Standing.begin(2), goal).tolist() == [0, 0]
    assert loop.certified(np.zeros(2, np.int8), few, standing, goal).tolist() == [1, -1]
    kept = loop.certified(np.array([1, -1], np.int8), few, Standing.begin(2), goal)
    assert kept.tolist() == [1, -1]


@pytest.mark.parametrize("conduct", [None, pt.Conduct(look=25)], ids=["ideal", "looks"])
def test_an_arm_beyond_a_limit_is_settled_as_out(conduct):
    """The third arm has the best effect and far too much harm; the first two are all but tied.

    Whatever is certain is right in all four runs together with probability 0.6 at least, in
    practice always; the third arm is 30 standard errors beyond the limit.
    """
    bandit = pt.GaussianBandit(
        [[1.0, 0.1], [1.01, 0.1], [9.0, 3.0], [-3.0, 0.1]], 0.5, objectives=["effect", "harm"],
        minimize=["harm"],
    )  # fmt: skip
    goal = pt.ParetoSet(limits={"harm": pt.at_most(1.0)})
    runs = pt.simulate(
        bandit, goal, replications=4, seed=1, max_samples=150, conduct=conduct
    ).isel(goal=0)  # fmt: skip
    assert not runs.stopped.any()
    assert runs.settled.values.tolist() == [[0, 0, -1, -1]] * 4
    without = pt.simulate(bandit, replications=4, seed=1, max_samples=150).isel(goal=0)
    assert (without.settled.values[:, 2] == 1).all()
    assert "beyond a limit" in runs.settled.attrs["meaning"]


def test_rules_without_intervals_on_pairs_settle_nothing_and_say_so():
    bandit = pt.GaussianBandit([[1.0], [0.0]])
    runs = pt.simulate(bandit, pt.AtMost(1), rule=pt.LUCB(), replications=5, max_samples=5000)
    assert runs.stopped.all()
    assert not runs.settled.any()
    assert "0 everywhere" in runs.settled.attrs["meaning"]


def test_a_store_keeps_what_was_settled(tmp_path):
    campaign = pt.Campaign(BANDIT, replications=5, seed=1, max_samples=300)
    kept, fresh = campaign.run(tmp_path / "store").load(), campaign.run()
    assert kept.settled.dtype == np.int8
    np.testing.assert_array_equal(kept.settled.values, fresh.settled.values)
    assert (fresh.settled.values != 0).any()


def test_the_sentence_counts_arms():
    words = text.settled((2.0, 0.04, 1.96), "at 600 participants", "optimal", "surely")
    assert words.startswith("at 600 participants 2.0 arms surely optimal, 0.04 surely out")


@pytest.mark.parametrize(
    ("goal", "radius", "sure", "inside"),
    [
        (pt.ParetoSet(), pt.Mixture(), "surely", "optimal"),
        # B is better than A, by less than the margin: A may be settled as in, and is not optimal
        (pt.ParetoSet(0.5), pt.Mixture(), "surely", "within 0.5 of optimal"),
        (pt.PracticalSet(0.5), pt.Mixture(union="pairs"), "surely", "not practically dominated"),
        (pt.PracticalSet(0.5), pt.Mixture(), "by the intervals", "not practically dominated"),
        (pt.ParetoSet(), pt.Mixture(union="none"), "by the intervals", "optimal"),
    ],
)
def test_what_is_settled_is_said_as_it_is_proved(goal, radius, sure, inside):
    """Within a margin of optimal is not optimal, and what no theorem covers is not sure."""
    bandit = pt.GaussianBandit([[1.0], [1.1], [-2.0]], scale=0.5)
    settled = pt.settled_by(bandit, [30, 300], goal, radius=radius, replications=3)
    labels = pt.plots.settled(settled).get_legend_handles_labels()[1]
    assert labels[:2] == [f"{sure} {inside}", f"{sure} out"]


# --- at every N -----------------------------------------------------------------------------------


def test_settled_by_is_what_a_simulation_that_ends_there_says():
    other = pt.GaussianBandit(BANDIT.means[[2, 0, 1, 3]], 0.5)
    goals = [pt.Cover(0.2, 0.1), pt.AtMost(1, 0.2), pt.ParetoSet(0.2), pt.Cover(0.2, 0.6)]
    budgets, common = [3, 40, 200, 900], {"replications": 3, "seed": 4, "delta": 0.2}
    one = pt.settled_by(other, budgets, goals, **common)
    both = pt.settled_by([BANDIT, other], budgets, goals, **common)
    for b, budget in enumerate(budgets):
        apart = pt.simulate(other, goals, max_samples=budget, **common)
        assert (one.settled.values[b] == apart.settled.values).all()
        assert (one.stopped.values[b] == apart.stopped.values).all()
        together = pt.simulate([BANDIT, other], goals, max_samples=budget, **common)
        expected = together.settled.transpose(*both.settled.dims[1:]).values
        assert (both.settled.values[b] == expected).all()
    assert 0 < np.abs(one.settled.values[2]).mean() < 1  # some are settled there, not all


def test_a_plan_says_at_its_last_n_what_settled_by_does(nasty_plan):
    fit, _, planned = nasty_plan
    known = pt.estimation.settled_in_plan(fit, planned, [100, 400])
    last = known.settled.isel(budget=1, replication=0).transpose("goal", "instance", "arm")
    assert (last.values == planned.settled.values).all()
    early, late = (int((known.settled.values[at] != 0).sum()) for at in (0, 1))
    assert early < late


@pytest.mark.parametrize(
    ("goals", "options"),
    [
        ([pt.ParetoSet(limits={"objective 0": pt.at_least(0.5)}), pt.AtMost(1, 0.3)], {}),
        ([pt.ParetoSet(), pt.ParetoSet(3.0), pt.Cover(eps2=0.3)], {}),
        (pt.PracticalSet(0.5), {}),
        (pt.ParetoSet(0.1), {"conduct": pt.Conduct(rate=2.0, delay=5.0, look=20)}),
        (pt.ParetoSet(), {"rule": pt.EGE("SR", 60)}),
    ],
    ids=["limits beside none", "margins", "readable loop", "calendar", "its own budget"],
)
def test_settled_by_serves_every_road(goals, options):
    bandits = [BANDIT, pt.GaussianBandit(BANDIT.means[[2, 0, 1, 3]], 0.5)]
    budgets, common = [30, 90, 200], {"replications": 2, "seed": 1, **options}
    known = pt.settled_by(bandits, budgets, goals, **common)
    for b, budget in enumerate(budgets):
        apart = pt.simulate(bandits, goals, max_samples=budget, **common)
        for name in ("settled", "stopped"):
            expected = apart[name].transpose(*known[name].dims[1:]).values
            assert (known[name].values[b] == expected).all()


def test_settled_of_practical_sets_speaks_of_their_answer():
    """The second arm is within the margin in one endpoint and far behind in the other.

    So it is optimal up to the margin for `ParetoSet`, and practically dominated; by 600 samples
    both are told, as they are 30 standard errors from any border.
    """
    bandit = pt.GaussianBandit([[5.0, 0.0], [0.0, 0.25]], 0.5)
    loose, strict = pt.ParetoSet(1.0), pt.PracticalSet(1.0, 0.25)
    for goal, expected in ((loose, [1, 1]), (strict, [1, -1])):
        runs = pt.simulate(bandit, goal, replications=3, seed=1, max_samples=600).isel(goal=0)
        assert runs.stopped.all()
        assert runs.settled.values.tolist() == [expected] * 3
        assert (runs.answer.values == (runs.settled.values == 1)).all()
        live = pt.Explorer(bandit.arms, bandit.objectives, goal, scale=0.5)
        rng = np.random.default_rng(2)
        while live.answer is None:
            place = live.ask()
            mean = bandit.means[bandit.arms.index(place.arm)]
            live.tell(place, (mean + 0.5 * rng.standard_normal(2)).tolist())
        status = live.status()
        verdicts = [1 if arm in status.optimal else -1 for arm in status.arms]
        assert verdicts == expected


def test_budgets_must_increase():
    with pytest.raises(ValueError, match="must increase"):
        pt.settled_by(BANDIT, [60, 60])


def test_the_picture_stacks_settled_arms_up_to_all_of_them():
    known = pt.settled_by(BANDIT, [40, 100, 300], pt.ParetoSet(0.3), replications=5, seed=1)
    axes = pt.plots.settled(known)
    verdicts = known.settled.values[:, 0]
    optimal, dominated = ((verdicts == kind).sum(axis=2).mean(axis=1) for kind in (1, -1))
    for band, low, high in zip(
        axes.collections,
        (np.zeros(3), optimal, optimal + dominated),
        (optimal, optimal + dominated, np.full(3, 4.0)),
        strict=True,
    ):
        corners = band.get_paths()[0].vertices
        for N, bottom, top in zip((40, 100, 300), low, high, strict=True):
            heights = corners[corners[:, 0] == N, 1]
            assert (heights.min(), heights.max()) == pytest.approx((bottom, top))
    with pytest.raises(ValueError, match="does not say what is settled at each N"):
        pt.plots.settled(pt.simulate(BANDIT, max_samples=100))
    with pytest.raises(ValueError, match="goal=1"):
        pt.plots.settled(known, goal=1)
