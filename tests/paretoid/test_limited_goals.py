"""Goals with limits in runs, live trials, texts and on the command line."""

import pickle

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop, registry
from paretoid.cli import members
from paretoid.runs.setting import Setting
from paretoid.validation.delta_correct import delta_correctness, engine

LIMITS = {"tox": pt.at_most(0.35, slack=0.02)}
NAMES = ["effect", "comfort", "tox"]


def bandit(scale=(0.5, 0.5, 0.2)):
    """Arm 0 and the last, the best of all, are too toxic; arm 3 is dominated by arms 1 and 2."""
    means = [[3.0, 0.0, 0.6], [2.0, 1.0, 0.2], [1.0, 2.0, 0.1], [0.5, 0.5, 0.1], [2.5, 2.5, 0.9]]
    return pt.GaussianBandit(means, list(scale), objectives=NAMES, minimize=["tox"])


@pytest.mark.parametrize(
    ("goal", "answers"),
    [
        (pt.ParetoSet(limits=LIMITS), [{1, 2}]),
        (pt.AtMost(1, limits=LIMITS), [{1}, {2}]),
        (pt.Cover(0.0, 0.5, limits=LIMITS), [{1, 2}]),
        (pt.ParetoSet(limits={"tox": pt.at_least(0.5)}), [{0, 4}]),
    ],
)
def test_runs_answer_about_the_feasible_arms(goal, answers):
    """Three runs, each wrong with probability 0.1 at most; this seed gives three right ones."""
    runs = pt.simulate(bandit(), goal, replications=3, seed=1)
    assert runs.attrs["guarantee"] == "proved"
    for mask in runs.answer.values[0]:
        assert set(np.flatnonzero(mask)) in answers
    assert runs.correct.all()


def test_a_minimised_objective_keeps_its_own_units_and_direction():
    goal = pt.ParetoSet(limits=LIMITS).bind(NAMES, bandit().sign)
    assert goal.bounds.feasible(bandit().oriented).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("radius", [pt.UnknownScale(), pt.Mixture(union="pairs")])
def test_other_mixtures_serve_too(radius):
    runs = pt.simulate(bandit(), pt.ParetoSet(0.1, limits=LIMITS), radius=radius, replications=1)
    assert runs.attrs["guarantee"] == "proved"
    assert runs.correct.all()


def test_radii_without_a_bound_on_one_arm_are_refused():
    goal = pt.ParetoSet(limits=LIMITS)
    for radius in (pt.KaufmannKoolen(), pt.LUCB1Like()):
        assert not goal.proved_by(radius, 5, 3, 0.1)
        with pytest.raises(ValueError, match="a limit needs a bound on one arm"):
            pt.simulate(bandit(), goal, radius=radius, replications=1)
    with pytest.raises(ValueError, match="not with limits"):
        pt.simulate(bandit(), goal, rule=pt.UniformElimination(), replications=1)


def test_the_lens_shares_delta_with_the_limits():
    """q = 1, K = 5: upper bounds on pairs are wider than without limits, lower bounds are not."""
    plain = Setting(bandit(), (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 0.1, None)
    limited = pt.ParetoSet(limits=LIMITS).bind(NAMES, bandit().sign)
    with_limit = Setting(bandit(), (limited,), pt.APE(), pt.Mixture(), 0.1, None)
    one, other = loop.lens_of(plain), loop.lens_of(with_limit)
    assert (one.levels.keep == other.levels.keep).all()
    assert (one.levels.drop < other.levels.drop).all()


def test_no_run_at_the_limit_is_wrong_too_often():
    """Three equal arms, 0.3 below a limit of slack 0.05: all are feasible. 10^-6 by chance."""
    equal = pt.GaussianBandit(np.zeros((3, 2)), 1.0, objectives=["x", "y"])
    goal = pt.ParetoSet(0.8, limits={"y": pt.at_most(0.3, slack=0.05)}).bind(["x", "y"], [1.0, 1.0])
    verdict = delta_correctness(
        engine(goal, max_samples=3000), equal, delta=0.3, goal=goal, max_runs=20
    )
    assert not verdict.rejected, verdict.summary()


def test_a_live_trial_takes_the_arms_of_the_loop():
    goal = pt.ParetoSet(limits=LIMITS)
    here = bandit()
    bound = goal.bind(here.objectives, here.sign)
    setting = Setting(here, (bound,), pt.APE(), pt.Mixture(), 0.1, None)
    rng = np.random.default_rng(3)
    history = loop.run(setting, loop.outcomes_from(here, rng), rng)
    trial = pt.Explorer(here.arms, NAMES, goal, scale=[0.5, 0.5, 0.2], minimize=["tox"])
    for arm, outcome in zip(history.arms, history.outcomes, strict=True):
        allocation = trial.ask()
        assert here.arms.index(allocation.arm) == arm
        trial.tell(allocation, outcome * here.sign)
    assert set(trial.answer) == {here.arms[i] for i in np.flatnonzero(history.stops[0].answer)}


def test_one_trial_has_one_set_of_limits():
    with pytest.raises(ValueError, match="differ in their limits"):
        pt.Explorer(["A", "B"], NAMES, [pt.ParetoSet(), pt.ParetoSet(limits=LIMITS)])
    with pytest.raises(ValueError, match="'smell', which is no objective"):
        pt.Explorer(["A", "B"], NAMES, pt.ParetoSet(limits={"smell": pt.at_most(1)}))


def test_texts_and_files_know_limits():
    for goal in (pt.ParetoSet(limits=LIMITS), pt.AtMost(2, (0.1, 0.2, 0.0), limits=LIMITS)):
        assert registry.parse(registry.text(goal), "goal") == goal
        assert registry.from_dict(registry.to_dict(goal), "goal") == goal
        assert registry.goal_of(str(goal)) == goal
        assert hash(registry.goal_of(str(goal))) == hash(goal)
        assert pickle.loads(pickle.dumps(goal)) == goal
    assert repr(pt.ParetoSet()) == "ParetoSet(eps1=0.0)"  # as ever
    assert registry.to_dict(pt.AtMost(2)) == {"kind": "AtMost", "k": 2, "eps1": 0.0}


def test_the_option_of_the_command_line():
    limits = {"tox": pt.at_most(0.3), "effect": pt.at_least(2.0, slack=0.1, compared=True)}
    given = ["tox<0.30", "effect>=2, slack=0.1, compared"]
    assert members.goals(None, [1], "0", ["0.5"], "any", given) == [
        pt.ParetoSet(limits=limits), pt.AtMost(1, limits=limits), pt.Cover(0.0, 0.5, limits=limits),
    ]  # fmt: skip
    for text, said in [
        ("tox", "must be NAME<NUMBER"),
        ("tox<much", "could not convert"),
        ("tox<1,loose", "'loose' is neither"),
        ("tox<nan", "finite number"),
    ]:
        with pytest.raises(ValueError, match=said):
            members.limits([text])
    with pytest.raises(ValueError, match="given twice"):
        members.limits(["a<1", "a>0"])
    with pytest.raises(ValueError, match="for the whole set only"):
        members.goals(None, None, "0.5", None, "all", ["tox<1"])


def test_bounds_without_limits_say_nothing():
    goal = pt.ParetoSet(limits=LIMITS).bind(NAMES, bandit().sign)
    assert not pt.bounds.sample_bounds(bandit(), goal)
    assert (goal.gaps(bandit().oriented, np.ones(3)) > 0).all()


def test_a_live_trial_and_its_picture_show_limits():
    here, rng = bandit(), np.random.default_rng(0)
    trial = pt.Explorer(
        here.arms, NAMES, pt.ParetoSet(limits=LIMITS), scale=[0.5, 0.5, 0.2], minimize=["tox"]
    )
    while trial.answer is None:
        allocation = trial.ask()
        arm = here.arms.index(allocation.arm)
        trial.tell(allocation, here.means[arm] + rng.normal(size=3) * [0.5, 0.5, 0.2])
    status = trial.status()
    assert set(status.optimal) == set(trial.answer)
    beyond = {arm for arm, by in status.dominated.items() if arm == by}
    assert beyond == {here.arms[0], here.arms[4]}
    assert str(status).count("out (likely beyond a limit)") == 2
    axes = pt.plots.front(trial, ("effect", "tox"))
    drawn = [line.get_ydata()[0] for line in axes.lines if "limit" in str(line.get_label())]
    assert drawn == [0.35]
