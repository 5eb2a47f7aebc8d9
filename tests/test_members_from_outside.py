"""One of each noun from a directory outside the package, through everything that runs members."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import paretoid as pt
from paretoid.validation import assert_delta_correct, engine
from paretoid.validation.pathwise import assert_path, engine_path

ROOT = Path(__file__).parents[1]

MINE = '''
"""What a stranger writes: one file, nothing of ours touched."""
from dataclasses import dataclass
import numpy as np
import paretoid as pt


@dataclass(frozen=True)
class Hoeffding(pt.PairwiseRadius):
    """A union over all counts up to a horizon: proved for trials that end before it."""

    horizon: int = 100_000
    guarantee = "proved"

    def constants(self, K, D, delta):
        levels = K * D * self.horizon**2 / delta, K * (K - 1) * self.horizon**2 / delta
        return tuple(2 * np.log(level) for level in levels)

    def arm_terms(self, counts, K, D, delta):
        n = np.asarray(counts, dtype=float)
        return np.zeros(n.shape), 1 / n


@dataclass(frozen=True)
class Coin(pt.Rule):
    """b_t or c_t by the toss of a coin, and a memory of how often."""

    share: float = 0.5
    guarantee = "proved"

    def choose(self, view, rng):
        view.memory["tosses"] = view.memory.get("tosses", 0) + 1
        return [view.b if rng.random() < self.share else view.c]


@dataclass(frozen=True)
class BestOf(pt.Goal):
    """The arm that is best in one objective."""

    objective: int = 0
    guarantee = "proved"

    def is_correct(self, answer, means):
        return bool(answer.sum() == 1 and means[answer, self.objective] == means.max(axis=0)[self.objective])

    def decide(self, view):
        beaten = (view.upper[:, :, self.objective] < 0).any(axis=1)
        return ~beaten if (~beaten).sum() == 1 else None


class Uniform(pt.Bandit):
    """Uniform outcomes around the means; within 1 of them, so sub-Gaussian with scale 1."""

    def draw(self, rng, arm):
        return rng.uniform(self.means[arm] - 1, self.means[arm] + 1)


bandit = Uniform([[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0]], scale=1.0)
ours = pt.GaussianBandit([[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0]], scale=1.0)
'''  # noqa: E501


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """The stranger's module, imported from its own directory."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "stranger.py").write_text(MINE)
    sys.path.insert(0, str(folder))
    try:
        import stranger

        stranger.folder = folder
        yield stranger
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("stranger", None)


def members(mine):
    """Each noun of the stranger's beside three of ours, and all four together."""
    return {
        "radius": {"bandit": mine.ours, "radius": mine.Hoeffding()},
        "rule": {"bandit": mine.ours, "rule": mine.Coin(0.25)},
        "goal": {"bandit": mine.ours, "goals": mine.BestOf(1)},
        "bandit": {"bandit": mine.bandit},
        "all": {"bandit": mine.bandit, "goals": [mine.BestOf(), mine.BestOf(1)],
                "rule": mine.Coin(), "radius": mine.Hoeffding()},
    }  # fmt: skip


@pytest.fixture(params=["radius", "rule", "goal", "bandit", "all"])
def setting(mine, request):
    return members(mine)[request.param]


def test_simulate_runs_them_and_says_what_is_proved(setting):
    runs = pt.simulate(**setting, replications=6, seed=1)
    assert runs.correct.all()
    assert runs.attrs["guarantee"] == "proved"
    one = pt.simulate(**setting, replications=1, seed=1)
    assert one.pulls.isel(replication=0).equals(runs.pulls.isel(replication=0))


def test_only_what_has_no_compiled_loop_runs_in_the_readable_one(mine):
    compiled = {name: _setting(case).compiled for name, case in members(mine).items()}
    assert compiled == {
        "radius": True, "rule": False, "goal": False, "bandit": False, "all": False,
    }  # fmt: skip


def _setting(case):
    from paretoid.runs.setting import Setting

    goals = case.get("goals", pt.ParetoSet())
    goals = tuple(goals) if isinstance(goals, list) else (goals,)
    rule, radius = case.get("rule", pt.APE()), case.get("radius", pt.Mixture())
    return Setting(case["bandit"], goals, rule, radius, 0.1, None)


def test_run_once_traces_the_same_run(setting):
    goals = setting.get("goals", pt.ParetoSet())
    goal = goals[0] if isinstance(goals, list) else goals
    rest = {name: value for name, value in setting.items() if name not in ("goals", "bandit")}
    run = pt.run_once(setting["bandit"], goal, **rest, seed=4)
    same = pt.simulate(setting["bandit"], goal, **rest, seed=4)
    assert run.pulls.tolist() == same.pulls.values.ravel().tolist()
    assert run.correct


def test_a_campaign_keeps_them_and_goes_on(setting, tmp_path):
    case = dict(setting)
    radii = case.pop("radius", pt.Mixture())
    bandit = case.pop("bandit")
    first = pt.Campaign(bandit, **case, radii=radii, replications=3, seed=2)
    first.run(tmp_path / "store")
    more = pt.Campaign(bandit, **case, radii=radii, replications=5, seed=2)
    kept = more.run(tmp_path / "store").load()
    assert kept.identical(more.run())
    manifest = json.loads((tmp_path / "store" / "campaign.json").read_text())
    assert ("others" in manifest["campaign"]) == ("stranger" in json.dumps(manifest))


def test_another_argument_is_another_campaign(mine, tmp_path):
    options = {"replications": 2, "seed": 2, "radii": mine.Hoeffding()}
    pt.Campaign(mine.ours, rule=mine.Coin(0.5), **options).run(tmp_path)
    with pytest.raises(ValueError, match=r"rule is .*0\.5.* there, .*0\.75.* here"):
        pt.Campaign(mine.ours, rule=mine.Coin(0.75), **options).run(tmp_path)


def test_a_live_trial_runs_them_and_opens_again(mine, tmp_path):
    names, objectives = mine.ours.arms, mine.ours.objectives
    trial = pt.Explorer(
        names, objectives, [mine.BestOf(), mine.BestOf(1)], 0.1, scale=1.0, rule=mine.Coin(0.3),
        radius=mine.Hoeffding(), ledger=tmp_path / "trial.db", seed=3,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for step in range(400):
        if all(answer is not None for answer in trial.answers.values()):
            break
        a = trial.ask()
        trial.tell(a, mine.ours.sample(a.arm, 1, rng)[0])
        if step == 30:  # memory and members come back from the file
            tosses = trial._fresh().memory["tosses"]
            trial.close()
            trial = pt.Explorer.open(tmp_path / "trial.db")
            assert trial._fresh().memory == {"tosses": tosses}
            assert trial.design.rule == mine.Coin(0.3)
    assert list(trial.answers.values()) == [("arm 0",), ("arm 1",)]
    assert trial.status().guarantee == "proved"
    trial.verify()
    trial.close()


def test_plots_and_checks_take_them(mine):
    import matplotlib.pyplot as plt

    run = pt.run_once(mine.ours, rule=mine.Coin(), radius=mine.Hoeffding(), seed=1)
    for draw in (pt.plots.front, pt.plots.intervals, pt.plots.pulls):
        draw(run)
    plt.close("all")
    path = engine_path(mine.ours, mine.BestOf(), rule=mine.Coin(), radius=mine.Hoeffding(), seed=1)
    assert assert_path(path).checked["answer"] == 1
    algorithm = engine(mine.BestOf(), rule=mine.Coin(), radius=mine.Hoeffding())
    assert assert_delta_correct(
        algorithm, [mine.ours, mine.bandit], goal=mine.BestOf(), delta=0.2, max_runs=25
    ).passed


# -- broken on purpose -----------------------------------------------------------------------------


def radius(**methods):
    class Broken(pt.PairwiseRadius):
        def constants(self, K, D, delta):
            return methods.get("constants", (4.0, 4.0))

        def arm_terms(self, counts, K, D, delta):
            n = np.asarray(counts, dtype=float)
            return methods["terms"](n) if "terms" in methods else (np.zeros(n.shape), 1 / n)

    return Broken()


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (radius(terms=lambda n: (n * 0, np.where(n > 40, np.nan, 1 / n))), "v=nan for an arm sam"),
        (radius(terms=lambda n: (n * 0, -1 / n)), "v=-1.0"),
        (radius(terms=lambda n: (n * 0, np.where(n > 9, 1.0, 0.5))), "grows with the count, at 9 "),
        (radius(terms=lambda n: (n * 0 - 3, 1 / n)), r"C \+ l_i \+ l_j = -2 is negative"),
        (radius(terms=lambda n: (0.0, 1.0)), r"returned l of shape \(\)"),
        (radius(terms=lambda n: None), "must return two arrays"),
        (radius(constants=(np.nan, 1.0)), "must be finite"),
        (radius(terms=lambda n: (n * 0, n * np.inf)), "is infinite up to"),
    ],
)  # fmt: skip
def test_a_broken_radius_is_refused_by_name(broken, sentence):
    bandit = pt.GaussianBandit([[0.0], [1.0]])
    with pytest.raises(ValueError, match=sentence) as caught:
        pt.simulate(bandit, radius=broken)
    assert "Broken" in str(caught.value)
    with pytest.raises(ValueError, match=sentence):
        pt.Explorer(["A", "B"], ["x"], scale=1.0, radius=broken)


def test_a_radius_that_is_infinite_at_small_counts_is_fine():
    late = radius(terms=lambda n: (n * 0, np.where(n < 6, np.inf, 1 / n)))
    run = pt.run_once(pt.GaussianBandit([[0.0], [3.0]]), radius=late, seed=1)
    assert (run.pulls >= 6).all()
    assert run.b[:11].max() == -1


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ([0, 0], "named an arm twice"),
        ([], "named no arm"),
        ([7], "named 7, which is no arm"),
        ([-1], "named -1, which is no arm"),
        ([0.5], "which is no arm"),
        (None, "must return arms"),
        (["arm 0"], "must return arms"),
    ],
)
def test_a_broken_rule_is_refused_by_name(named, sentence):
    class Broken(pt.Rule):
        def choose(self, view, rng):
            return named

    bandit = pt.GaussianBandit([[0.0], [1.0]])
    with pytest.raises(ValueError, match=f"Broken.choose .*{sentence}"):
        pt.simulate(bandit, rule=Broken())
    with pt.Explorer(["A", "B"], ["x"], scale=1.0, rule=Broken()) as trial:
        for arm in ("A", "B"):
            allocation = trial.ask()
            trial.tell(allocation, [float(arm == "A")])
        before = list(trial.rows())
        with pytest.raises(ValueError, match=f"Broken.choose .*{sentence}"):
            trial.ask()
        assert list(trial.rows()) == before


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ([True], "answer has shape"),
        ([1, 0], "answer has shape .2,. and type int"),
        ("AB", "answer has shape"),
    ],
)
def test_a_goal_with_another_answer_than_a_mask_is_refused_by_name(answer, sentence):
    class Broken(pt.ParetoSet):
        def decide(self, view):
            return answer

    with pytest.raises(ValueError, match=f"Broken.decide: {sentence}"):
        pt.simulate(pt.GaussianBandit([[0.0], [1.0]]), Broken())


def test_a_goal_that_changes_its_mind_is_refused_by_name():
    class Fickle(pt.ParetoSet):
        calls = 0

        def is_correct(self, answer, means):
            type(self).calls += 1
            return self.calls % 2 == 0

    with pytest.raises(ValueError, match=r"Fickle.is_correct says"):
        pt.simulate(pt.GaussianBandit([[0.0], [2.0]]), Fickle())


@pytest.mark.parametrize("outcome", [np.nan, [1.0, 2.0], "x", None])
def test_a_bandit_with_strange_outcomes_is_refused_by_name(outcome):
    class Broken(pt.Bandit):
        def draw(self, rng, arm):
            return outcome

    with pytest.raises(ValueError, match=r"Broken gave .* as an outcome of 'arm 0'"):
        pt.simulate(Broken([[0.0], [1.0]]), max_samples=10)


def test_members_nobody_could_find_again_are_kept_out_of_files(tmp_path):
    class Local(pt.Rule):
        def choose(self, view, rng):
            return [view.b, view.c]

    class Strange(pt.ParetoSet):
        pass

    goal = Strange()
    object.__setattr__(goal, "eps1", lambda: 0.0)
    bandit = pt.GaussianBandit([[0.0], [2.0]])
    with pytest.raises(ValueError, match=r"Local\(\) cannot be kept in a file: .* inside a func"):
        pt.Campaign(bandit, rule=Local()).run(tmp_path / "store")
    assert not (tmp_path / "store" / "campaign.json").exists()
    assert pt.Campaign(bandit, rule=Local()).run().correct.all()  # in memory it runs
    with pytest.raises(ValueError, match="cannot be kept in a file"):
        pt.Explorer(["A", "B"], ["x"], rule=Local(), ledger=tmp_path / "trial.db")
    assert not (tmp_path / "trial.db").exists()
    assert pt.Explorer(["A", "B"], ["x"], rule=Local()).ask().arm == "A"


def test_a_member_of_the_script_that_runs_is_kept_out_of_files_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import paretoid as pt

        class Mine(pt.ParetoSet):
            pass

        bandit = pt.GaussianBandit([[0.0], [2.0]])
        print(pt.simulate(bandit, Mine(), replications=4).attrs["guarantee"])
        try:
            pt.Campaign(bandit, Mine()).run("store")
        except ValueError as error:
            print(error)
    """)
    )
    run = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    first, second = run.stdout.strip().split("\n")
    assert first == "heuristic", run.stderr
    assert "Mine(eps1=0.0) cannot be kept in a file" in second
    assert "defined in the script that runs" in second


@pytest.mark.parametrize("kind", [pt.ParetoSet, pt.Mixture, pt.APE])
def test_a_bare_subclass_is_heuristic_and_its_own_methods_run(kind):
    """Nothing falls through: a subclass is another member, and inherits no guarantee."""
    bare = type("Bare", (kind,), {})()
    noun = {pt.ParetoSet: "goals", pt.Mixture: "radius", pt.APE: "rule"}[kind]
    bandit = pt.GaussianBandit([[0.0], [2.0]])
    runs = pt.simulate(bandit, **{noun: bare}, seed=3)
    assert runs.attrs["guarantee"] == "heuristic"
    assert runs.pulls.values.tolist() == pt.simulate(bandit, seed=3).pulls.values.tolist()
    loud = type("Loud", (kind,), {"guarantee": "certain"})()
    with pytest.raises(ValueError, match=r"Loud\.guarantee='certain'"):
        pt.simulate(bandit, **{noun: loud})


def _judges(self, view, goal):
    return np.arange(view.K) == 0


def _settles(self, view):
    return [arm for arm in view.standing.active if arm == 0], {}


@pytest.mark.parametrize("base", [pt.APE, pt.UniformElimination, pt.Rule])
@pytest.mark.parametrize("own", [{"judge": _judges}, {"settle": _settles}])
def test_a_rule_that_answers_by_itself_is_heuristic_whatever_it_says(base, own, tmp_path):
    """Arm 0 is wrong in every run; nothing but the rule's own word speaks for it."""
    first = {"choose": lambda self, view, rng: [view.b]} if base is pt.Rule else {}
    rule = type("Hasty", (base,), {"guarantee": "proved", **first, **own})()
    bandit = pt.GaussianBandit([[0.0], [1.0]])
    options = {"replications": 4, "seed": 1, "max_samples": 500}
    runs = pt.simulate(bandit, rule=rule, **options)
    if "judge" in own:
        assert bool((runs.stopped & ~runs.correct).all())
    assert runs.attrs["guarantee"] == "heuristic"
    trial = pt.Explorer(bandit.arms, bandit.objectives, rule=rule, scale=1.0)
    assert trial.status().guarantee == "heuristic"
    campaign = pt.Campaign(bandit, pt.ParetoSet(), rule=rule, **options)
    assert campaign.run().guarantee.values.tolist() == ["heuristic"]


def test_a_bandit_that_changes_its_outcomes_is_not_run_by_its_parents_law():
    class Doubled(pt.GaussianBandit):
        def outcome(self, arm, noise):
            return 2 * super().outcome(arm, noise)

    bandit = Doubled([[1.0], [3.0]], 0.1)
    assert bandit.compiled_law is None
    run = pt.run_once(bandit, seed=1)
    assert run.outcome[run.arm == 1].mean() == pytest.approx(6.0, abs=0.5)


def test_a_radius_that_changes_its_half_width_is_refused():
    class Other(pt.Mixture):
        def half_width(self, p, q, K, D, delta, *, drop=False):
            return 1.0

    with pytest.raises(ValueError, match="Other changes half_width"):
        pt.simulate(pt.GaussianBandit([[0.0], [1.0]]), radius=Other())


def test_a_loop_that_does_not_advance_raises(monkeypatch):
    from paretoid.engine import ape
    from paretoid.runs import chunk

    monkeypatch.setattr(ape, "advance", lambda *arguments: None)
    chunk._program.cache_clear()
    with pytest.raises(RuntimeError, match="took no sample"):
        pt.simulate(pt.GaussianBandit([[0.0], [1.0]]))
