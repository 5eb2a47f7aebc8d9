"""PracticalSet in runs, live trials and on the command line."""

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop, registry
from paretoid.cli import members
from paretoid.report import methods
from paretoid.runs.setting import Setting
from paretoid.validation.delta_correct import delta_correctness, engine

CIRCLE = np.array([[0.0, 0.0, 0.0], [1.5, -0.75, -0.75], [0.75, 0.75, -1.5], [-3.0, -2.0, -2.0]])
GOAL = pt.PracticalSet(1.0, 0.2)


def test_the_circle_is_answered_and_proved_with_the_default_radius():
    """Four runs; each is wrong with probability 0.1 at most, all right but once in 3 seeds."""
    bandit = pt.GaussianBandit(CIRCLE, scale=0.5)
    runs = pt.simulate(bandit, GOAL, replications=4, seed=1)
    assert runs.attrs["guarantee"] == "proved"
    assert "union='pairs'" in runs.attrs["radius"]
    assert runs.answer.values[0].tolist() == [[True, True, True, False]] * 4


def test_a_radius_that_counts_claims_only_is_labelled_heuristic():
    bandit = pt.GaussianBandit(CIRCLE, scale=0.5)
    for radius, label in [
        (pt.Mixture(), "heuristic"),
        (pt.Mixture(union="pairs"), "proved"),
        (pt.KaufmannKoolen(), "proved"),
        (pt.KaufmannKoolen(union="claims"), "heuristic"),
        (pt.UnknownScale(union="pairs"), "proved"),
        (pt.LUCB1Like(), "proved"),
    ]:
        setting = Setting(bandit, (GOAL,), pt.APE(), radius, 0.1, 10)
        assert setting.guarantee == label, radius
        assert Setting(bandit, (pt.ParetoSet(),), pt.APE(), radius, 0.1, 10).guarantee == "proved"
    campaign = pt.Campaign(bandit, GOAL, radii=[pt.Mixture(), pt.Mixture(union="pairs")])
    assert campaign.guarantees == ["heuristic", "proved"]


def test_a_live_trial_has_the_label_too():
    arms, objectives = list("ABCD"), list("xyz")
    assert pt.Explorer(arms, objectives, GOAL).design.guarantee == "proved"
    assert pt.Explorer(arms, objectives, GOAL).design.radius.union == "pairs"
    claims = pt.Explorer(arms, objectives, GOAL, scale=1.0, radius=pt.Mixture())
    assert claims.design.guarantee == "heuristic"


def test_no_run_on_equal_arms_is_wrong_too_often():
    """Equal arms, delta 0.3: every practical domination that is told is wrong. 10^-6 by chance."""
    bandit = pt.GaussianBandit(np.zeros((3, 2)), scale=1.0)
    goal = pt.PracticalSet(0.8, 0.4)
    verdict = delta_correctness(
        engine(goal, max_samples=3000), bandit, delta=0.3, goal=goal, max_runs=40
    )
    assert not verdict.rejected, verdict.summary()


@pytest.mark.parametrize("seed", [1, 2])
def test_only_pairs_that_are_not_told_are_compared_and_runs_end(seed):
    bandit = pt.GaussianBandit(CIRCLE, scale=0.5)
    setting = Setting(bandit, (GOAL,), pt.APE(), pt.Mixture(union="pairs"), 0.1, 20_000)
    rng = np.random.default_rng(seed)
    gaps, seen = GOAL.gaps(bandit.oriented, bandit.scale[0]), 0

    def watch(view, open_goals):
        nonlocal seen
        if not open_goals:
            return
        seen += 1
        yes, no = GOAL.told(view)
        i, j = view.contest
        assert (view.b, view.c) == (i, j)
        assert not yes[i, j]
        assert not no[i, j]
        truth = (bandit.oriented[i] - bandit.oriented[j]) / view.unit
        error = np.abs(view.difference[i, j] - truth)
        if (error <= view.keep[i, j]).all():  # then its width is no smaller than both gaps
            assert (view.keep + view.drop)[i, j].max() >= min(gaps[i], gaps[j]) - 1e-9

    history = loop.run(setting, loop.outcomes_from(bandit, rng), rng, watch)
    assert seen > 10
    assert GOAL.is_correct(history.stops[0].answer, bandit.oriented)


def test_a_live_trial_takes_the_arms_of_the_loop():
    bandit = pt.GaussianBandit(CIRCLE, scale=0.5)
    setting = Setting(bandit, (GOAL,), pt.APE(), pt.Mixture(union="pairs"), 0.1, None)
    rng = np.random.default_rng(3)
    history = loop.run(setting, loop.outcomes_from(bandit, rng), rng)
    trial = pt.Explorer(bandit.arms, bandit.objectives, GOAL, scale=0.5)
    for arm, outcome in zip(history.arms, history.outcomes, strict=True):
        allocation = trial.ask()
        assert bandit.arms.index(allocation.arm) == arm
        trial.tell(allocation, outcome)
    assert trial.answer is not None
    assert set(trial.answer) == {
        name for name, kept in zip(bandit.arms, history.stops[0].answer, strict=True) if kept
    }


def test_goals_beside_it_keep_their_own_stream():
    bandit = pt.GaussianBandit(CIRCLE, scale=0.3)
    both = pt.simulate(bandit, [GOAL, pt.ParetoSet(1.0)], radius=pt.Mixture(union="pairs"), seed=1,
                       replications=2)  # fmt: skip
    alone = pt.simulate(bandit, pt.ParetoSet(1.0), radius=pt.Mixture(union="pairs"), seed=1,
                        replications=2)  # fmt: skip
    assert (both.stopping_time.values[1] == alone.stopping_time.values[0]).all()


def test_bounds_of_the_paper_say_nothing_about_it():
    assert "theorem_1" not in pt.bounds.sample_bounds(pt.GaussianBandit(CIRCLE), GOAL)


def test_a_difference_exactly_at_the_margin_without_slack_is_refused():
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="may never stop"):
        pt.simulate(bandit, pt.PracticalSet(1.0, 0.0), replications=1)


def test_the_registry_knows_it():
    goal = pt.PracticalSet((1.0, 2.0), 0.5)
    assert registry.parse(registry.text(goal), "goal") == goal
    assert registry.from_dict(registry.to_dict(goal), "goal") == goal
    assert registry.parse("practical-set:margin=1", "goal") == pt.PracticalSet(1.0, 0.5)


def test_the_option_of_the_command_line():
    assert members.goals(None, None, "0.5", None, "all") == [pt.PracticalSet(0.5)]
    assert members.goals(None, None, "0.5", None, "any") == [pt.ParetoSet(0.5)]
    for others in [(None, [2], None), (None, None, ["1"]), (["pareto-set"], None, None)]:
        with pytest.raises(ValueError, match="proved for the whole set only"):
            members.goals(others[0], others[1], "0.5", others[2], "all")
    with pytest.raises(ValueError, match="--margin-means='some' must be"):
        members.goals(None, None, "0.5", None, "some")


def test_reports_name_it():
    assert methods.labels([GOAL, pt.ParetoSet()]) == [
        "all arms not practically dominated", "all optimal arms",
    ]  # fmt: skip
    assert GOAL.words().startswith("all arms that are not practically dominated, by 1 (")


def test_a_live_trial_says_which_arms_are_practically_dominated():
    """B is close to A in y and far behind in x: within the margin of ParetoSet, and out here."""
    means, rng = {"A": [5.0, 0.4], "B": [0.0, 0.0], "C": [5.0, 0.3]}, np.random.default_rng(0)
    trial = pt.Explorer(list("ABC"), ["x", "y"], pt.PracticalSet(0.5), scale=0.3)
    while trial.answer is None:
        allocation = trial.ask()
        trial.tell(allocation, means[allocation.arm] + rng.normal(size=2) * 0.3)
    assert set(trial.answer) == set(trial.status().optimal) == {"A", "C"}
    assert set(trial.status().dominated) == {"B"}
