"""The conduct of a plan in its design file, in the ledger and in the status of a live trial."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer import Design, Explorer
from paretoid.explorer.blinding import blind
from paretoid.explorer.design_toml import design_toml
from paretoid.registry import split
from paretoid.report.plan_files import plan_design
from paretoid.runs.conducted import run
from paretoid.runs.setting import Setting

ARMS, ENDPOINTS = ("pla'c\"ebo", "a, b=("), ("IgG", "長 <fever>")
SHARES, DAYS = st.floats(0, 0.99), st.floats(0, 1.0)


@st.composite
def conducts(draw):
    rate = draw(st.one_of(st.floats(0.1, 9.0), st.just(((0.0, 0.1), (1 / 3, 7.0)))))
    look = draw(st.one_of(st.none(), st.integers(1, 50), st.just((3, 50))))
    days = draw(st.one_of(st.none(), st.floats(0.1, 9.0))) if look is None else None
    delay = draw(st.one_of(DAYS, st.dictionaries(st.sampled_from(ENDPOINTS), DAYS)))
    dropout = draw(st.one_of(SHARES, st.dictionaries(st.sampled_from(ARMS), SHARES)))
    return pt.Conduct(
        rate=rate, look=look, look_days=days, delay=delay, dropout=dropout, missing=draw(SHARES),
        burn_in=draw(st.integers(0, 9)),
    )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(conduct=conducts())
def test_a_conduct_survives_toml_json_and_the_attribute_of_a_plan(conduct):
    design = Design(ARMS, ENDPOINTS, conduct=conduct, max_samples=100_000)
    for data in (
        tomllib.loads(design_toml(design)),
        json.loads(json.dumps(design.to_dict())),
    ):
        again = Design.from_dict(data)
        assert again.conduct == conduct
        assert again.max_samples == 100_000
        assert again.same_as(design)
    assert pt.Conduct(**split(repr(conduct))[1]) == conduct


def test_the_design_file_of_a_plan_holds_its_conduct_and_starts_a_trial(
    nasty_plan, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    fit, _, planned = nasty_plan
    conduct = pt.Conduct(rate=5.0, delay=14.0, look=50, dropout=0.1, burn_in=3)
    planned = planned.assign_attrs(conducted=repr(conduct))  # of a plan with --rate and so on
    text = design_toml(*plan_design(fit, planned))
    (tmp_path / "design.toml").write_text(text, encoding="utf-8")
    said = CliRunner().invoke(app, ["new", "design.toml", "t.db"])
    assert said.exit_code == 0
    assert "0 participants enrolled of 400; the next look is after 50" in said.stdout
    words = " ".join(said.stdout.split())
    assert "14 days, a look after every 50 enrolled, 10% lost, the first 3 partic" in words
    with Explorer.open("t.db") as trial:
        assert trial.design.conduct == conduct
        assert trial.design.max_samples == 400
        assert tomllib.loads(text)["conduct"] == conduct.to_dict()
        trial.ask(13)  # burn-in of 4 x 3, and one more
        trial.verify()
    status = json.loads(CliRunner().invoke(app, ["status", "t.db", "--json"]).stdout)
    assert status["progress"]["enrolled"] == 13
    assert status["progress"]["next_look"] == 50
    assert status["progress"]["burn_in"] == {}
    shown = CliRunner().invoke(app, ["status", "t.db"]).stdout
    assert "13 participants enrolled of 400; the next look is after 50" in shown


def test_a_plan_without_a_conduct_says_only_how_many(nasty_plan):
    fit, _, planned = nasty_plan
    data = tomllib.loads(design_toml(*plan_design(fit, planned)))
    assert "conduct" not in data
    assert data["max_samples"] == 400


def test_designs_and_ledgers_without_a_conduct_read_as_before(tmp_path):
    data = {"arms": ["A", "B"], "objectives": ["x"]}
    design = Design.from_dict(data)
    assert design.conduct is None
    assert design.max_samples is None
    assert not {"conduct", "max_samples"} & set(design.to_dict())
    with Explorer.from_design(design, tmp_path / "t.db") as trial:
        assert trial.status().progress is None
        assert "enrolled" not in str(trial.status())


def test_burn_in_gives_the_arms_of_the_simulated_trial():
    """Event by event: the live trial with burn_in = 10 asks for what `runs.conducted` places."""
    bandit = pt.GaussianBandit([[0.0, 0.0], [0.6, 0.2], [0.1, 0.7], [-1.0, -1.0]], 1.0)
    conduct = pt.Conduct(burn_in=10)
    outcomes = np.random.default_rng(3).normal(0.3, 1.0, (90, 2))
    goals, radius = (pt.ParetoSet(),), pt.Mixture()
    simulated: list[int] = []
    row = iter(outcomes)
    run(
        Setting(bandit, goals, pt.APE(), radius, 0.1, 90, conduct), lambda arm: next(row),
        np.zeros((0, 3)), watch=lambda number, arm: simulated.append(arm),
    )  # fmt: skip
    design = Design(
        bandit.arms, bandit.objectives, goals, 0.1, scale=1.0, radius=radius,
        conduct=conduct, max_samples=90,
    )  # fmt: skip
    trial, live = Explorer.from_design(design), []
    for outcome in outcomes[: len(simulated)]:
        allocation = trial.ask()
        live.append(bandit.index(allocation.arm))
        trial.tell(allocation, list(outcome))
    assert live == simulated
    assert live[:40] == [0, 1, 2, 3] * 10
    assert len(live) > 60  # and goes on by the rule


def test_burn_in_is_refused_where_a_live_trial_would_not_be_the_simulated_one():
    with pytest.raises(ValueError, match="otherwise than it was simulated"):
        Design(
            ["A", "B"],
            ["x"],
            rule=pt.UniformElimination(),
            conduct=pt.Conduct(burn_in=3),
            max_samples=99,
        )


def test_an_overridden_or_withdrawn_allocation_leaves_its_arm_due():
    conduct = pt.Conduct(burn_in=2)
    trial = Explorer.from_design(Design(["A", "B"], ["x"], conduct=conduct, max_samples=50))
    first, second = trial.ask(), trial.ask()
    assert [first.arm, second.arm] == ["A", "B"]
    trial.override(second, "A", reason="allergic to B")
    trial.withdraw(first, reason="nobody came")
    progress = trial.status().progress
    assert progress.enrolled == 1
    assert progress.burn_in == {"A": 1, "B": 2}
    assert [trial.ask().arm for _ in range(3)] == ["B", "A", "B"]
    assert trial.status().progress.burn_in == {}


def test_looks_by_days_follow_the_clock_of_the_first_allocation():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    conduct = pt.Conduct(rate=2.0, look_days=28.0)
    design = Design(["A", "B"], ["x"], conduct=conduct, max_samples=500)
    trial = Explorer.from_design(design, clock=lambda: now)
    assert trial.status().progress.next_look_day == 28.0
    trial.ask()
    now += timedelta(days=60)
    progress = trial.status().progress
    assert progress.next_look_day == 84.0
    assert "the next look is on day 84" in str(progress)


def test_enrolling_beyond_the_plan_is_said():
    trial = Explorer.from_design(
        Design(["A", "B"], ["x"], conduct=pt.Conduct(look=2), max_samples=4)
    )
    trial.ask(4)
    said = str(trial.status())
    assert "4 participants enrolled of 4; the last look fell due after 4; the last one is" in said
    trial.ask()
    assert "5 participants enrolled of 4 (more than planned; the guarantee" in str(trial.status())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"look": 100}, "comes after max_samples=60"),
        ({"lok": 10}, "did you mean 'look'"),
        ({"dropout": {"C": 0.1}}, "is no arm"),
        ({"delay": {"y": 1.0}, "rate": 1.0}, "is no endpoint"),
        ("look = 10", "must be a table"),
    ],
)
def test_a_bad_conduct_is_one_sentence(table, said):
    data = {"arms": ["A", "B"], "objectives": ["x"], "max_samples": 60, "conduct": table}
    with pytest.raises(ValueError, match=said):
        Design.from_dict(data)


def test_a_conduct_needs_the_size_of_the_trial():
    data = {"arms": ["A", "B"], "objectives": ["x"], "conduct": {"look": 10}}
    with pytest.raises(ValueError, match="needs max_samples"):
        Design.from_dict(data)


def test_losses_by_arm_would_unblind():
    data = {"arms": ["A", "B"], "objectives": ["x"], "max_samples": 60}
    with pytest.raises(ValueError, match="gives dropout arm by arm"):
        blind({**data, "conduct": {"dropout": {"A": 0.1}}})
    masked, _ = blind({**data, "conduct": {"dropout": 0.1}}, [1, 0])
    assert Design.from_dict(masked).conduct == pt.Conduct(dropout=0.1)
