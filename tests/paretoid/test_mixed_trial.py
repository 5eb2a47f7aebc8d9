"""A live trial with endpoints of different kinds: its design, what it is told, how it is judged."""

import tomllib

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.plots.rectangles import half_widths
from paretoid.runs import conducted
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting

OBJECTIVES = ["response", "toxicity", "pain"]
OUTCOMES = {"response": "gaussian", "toxicity": "binary", "pain": [0.0, 10.0]}
SCALES = ["unknown", "known", "known"]
ARMS = ["A", "B", "C"]


def design(**changed):
    given = {"outcomes": OUTCOMES, "minimize": ["toxicity", "pain"], "delta": 0.3, **changed}
    return Design(ARMS, OBJECTIVES, **given)


def mixed():
    means = [[1.0, 0.3, 2.0], [0.0, 0.1, 4.0], [-1.0, 0.5, 7.0]]
    return pt.MixedBandit(
        means, OUTCOMES, sd=[1.0, np.nan, 2.0], correlation=0.6, arms=ARMS, objectives=OBJECTIVES,
        minimize=["toxicity", "pain"],
    )  # fmt: skip


def test_scales_are_learnt_where_outcomes_are_gaussian_and_follow_from_the_range_elsewhere():
    made = design()
    assert made.radius == pt.MixedScale(SCALES)
    assert made.guarantee == "proved"
    assert made.learnt.tolist() == [True, False, False]
    assert made.bandit.scale[0, 1:].tolist() == [0.5, 5.0]  # half of each range


def test_a_table_of_one_kind_has_the_radius_made_for_it():
    assert design(outcomes=dict.fromkeys(OBJECTIVES, "gaussian")).radius == pt.UnknownScale()
    assert design(outcomes=["binary", (0, 1), (0, 10)]).radius == pt.Mixture()
    known = design(scale=[2.0, 0.5, 5.0])
    assert known.radius == pt.Mixture()
    assert known.bandit.scale[0].tolist() == [2.0, 0.5, 5.0]


def test_the_design_is_kept_in_a_file_without_loss():
    made = design(radius=pt.MixedScale(SCALES, rho=[10.0, 20.0, 30.0], w=0.2))
    text = design_toml(made)
    assert 'toxicity = "binary"' in text
    again = Design.from_dict(tomllib.loads(text))
    assert again.same_as(made)
    assert again.kinds == ("gaussian", "binary", (0.0, 10.0))
    assert not again.same_as(design(outcomes={**OUTCOMES, "pain": [0.0, 11.0]}))


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"outcomes": {**OUTCOMES, "pain": "poisson"}}, "must be 'gaussian'"),
        ({"outcomes": {"response": "gaussian", "pain": [0, 1]}}, "kind 'toxicity'"),
        ({"outcomes": {**OUTCOMES, "toxixity": "binary"}}, "toxicity"),
        ({"radius": pt.UnknownScale()}, "MixedScale"),
        ({"radius": pt.Mixture()}, "none was given"),
        ({"radius": pt.MixedScale(["unknown", "unknown", "known"])}, "learns the scale"),
        ({"scale": [1.0, 0.4, 5.0]}, "half of their range"),
        ({"scale": [1.0, 0.5, 5.0], "radius": pt.MixedScale(SCALES)}, "would ignore"),
        ({"cone": [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "different kinds"),
    ],
)
def test_designs_that_nothing_proves_are_refused(changed, word):
    with pytest.raises(ValueError, match=word):
        design(**changed)


def test_outcomes_outside_their_range_are_refused_and_zeros_are_no_reason_to():
    trial = pt.Explorer.from_design(design())
    for wrong, word in (({"toxicity": 0.5}, "0 or 1"), ({"pain": 10.1}, "between 0 and 10")):
        allocation = trial.ask()
        with pytest.raises(ValueError, match=word):
            trial.tell(allocation, wrong)
        trial.tell(allocation, {"response": 0.1 * allocation.id, "toxicity": 0, "pain": 0})
    for _ in range(12):  # twelve zeros of a 0/1 endpoint; of a Gaussian one they would be refused
        allocation = trial.ask()
        trial.tell(allocation, {"response": 0.1 * allocation.id, "toxicity": 0, "pain": 10})
    assert trial.answer is None
    other = pt.Explorer.from_design(design())
    for _ in range(9):
        other.tell(other.ask(), [1.0, 1.0, 1.0])
    allocation = other.ask()
    with pytest.raises(ValueError, match="'response': 'binary'"):
        other.tell(allocation, [1.0, 1.0, 1.0])


@pytest.mark.parametrize("limited", [False, True])
def test_told_one_at_a_time_the_live_trial_is_the_simulated_run(tmp_path, limited):
    """The same arms and answers, through a ledger that is opened again half way."""
    limits = {"toxicity": pt.at_most(0.4, slack=0.05)} if limited else None
    goal = pt.ParetoSet(eps1=0.0 if limited else (0.3, 0.1, 1.0), limits=limits)
    radius = pt.MixedScale(SCALES, rho=10.0)
    bound = goal.bind(OBJECTIVES, mixed().sign)
    setting = Setting(mixed(), (bound,), pt.APE(), radius, 0.3, 700)
    rng = np.random.default_rng(0)
    history = loop.run(setting, loop.outcomes_from(setting.bandit, generator(3, (0,))), rng)
    path = tmp_path / "trial.db"
    live = pt.Explorer(
        ARMS, OBJECTIVES, goal, 0.3, outcomes=OUTCOMES, radius=radius,
        minimize=["toxicity", "pain"], ledger=path,
    )  # fmt: skip
    most = 100
    for at, (arm, outcome) in enumerate(zip(history.arms[:most], history.outcomes, strict=False)):
        if at == most // 2:
            live.close()
            live = pt.Explorer.open(path)
        allocation = live.ask()
        assert allocation.arm == ARMS[arm]
        live.tell(allocation, outcome * setting.bandit.sign)
    live.verify()  # every recorded scale and answer is what the outcomes give
    live.close()


def test_the_compiled_calendar_is_the_readable_one():
    """Late and lost outcomes of three kinds; known and learnt scales."""
    conduct = pt.Conduct(rate=2.0, delay={"pain": 20.0}, look=25, dropout=0.1)
    answered = 0
    for radius in (pt.MixedScale(SCALES, rho=[10.0, 20.0, 5.0]), pt.Mixture(rho=10.0)):
        goals = (pt.ParetoSet(eps1=(0.5, 0.2, 2.0)), pt.AtMost(1, eps1=(0.5, 0.2, 2.0)))
        setting = Setting(mixed(), goals, pt.APE(), radius, 0.5, 300, conduct)
        losses = np.random.default_rng(5).random((300, 4))
        rng = np.random.default_rng(0)
        slow = conducted.readable(setting)(generator(7, (0,)), losses, rng)
        fast = conducted.compiled(setting)(generator(7, (0,)), losses, rng)
        for mine, theirs in zip(fast, slow, strict=True):
            assert mine.answer.tolist() == theirs.answer.tolist()
            assert mine.pulls.tolist() == theirs.pulls.tolist()
            assert mine.settled.tolist() == theirs.settled.tolist()
            assert (mine.stopped, mine.analysed) == (theirs.stopped, theirs.analysed)
            answered += mine.stopped
    assert answered


def test_rectangles_use_the_spread_seen_where_it_is_learnt_and_the_scale_elsewhere():
    """Each column is that of the radius made for it, the variances being counted by kind."""
    counts = np.array([[50.0, 60.0], [200.0, 40.0]])
    ss, scale = np.array([[30.0, 9.0], [99.0, 9.0]]), np.array([[9.0, 0.5], [9.0, 0.5]])
    wide = half_widths(counts, scale, ss, pt.MixedScale(["unknown", "known"]), 0.1)
    learnt = half_widths(counts, scale, ss, pt.UnknownScale(), 0.1)
    assert (wide[:, 0] < learnt[:, 0]).all()
    assert (wide[:, 0] > 0.9 * learnt[:, 0]).all()
    C = 2 * np.log(4 / (0.9 * 0.1))
    n = counts[:, 1]
    by_hand = np.sqrt((C + np.log((n + 30) / 30)) * 0.25 * (n + 30) / n**2)
    np.testing.assert_allclose(wide[:, 1], by_hand)
