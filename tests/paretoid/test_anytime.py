"""What a run answers if it is stopped at N, in Python and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.app import app
from paretoid.runs.anytime import anytime

BANDIT = pt.GaussianBandit(
    [[2.0, 0.0], [0.0, 2.0], [1.2, 1.1], [0.2, 0.3]], scale=[1.0, 0.7], minimize=["objective 1"]
)


@pytest.mark.parametrize("rule", [pt.APE(), pt.APE(pull="both"), pt.RoundRobin()])
@pytest.mark.parametrize("radius", [pt.Mixture(), pt.UnknownScale()])
def test_answers_are_those_of_simulate_once_it_has_stopped(rule, radius):
    options = {"rule": rule, "radius": radius, "replications": 6, "seed": 5}
    goals = [pt.ParetoSet(), pt.AtMost(1)]
    runs = pt.simulate(BANDIT, goals, **options)
    middle, end = int(runs.stopping_time.median()), int(runs.stopping_time.max())
    read = anytime(BANDIT, [120, middle, end], goals, **options)
    for at, budget in enumerate((120, middle, end)):
        done = runs.stopping_time.values <= budget
        assert (read.stopped.values[at] == done).all()
        assert (read.answer.values[at][done] == runs.answer.values[done]).all()
        assert (read.pulls.values[at].sum(axis=-1)[~done] == budget).all()
    assert (read.stopped.values[2]).all()


def test_the_best_guess_is_the_pareto_set_of_the_means_so_far():
    """Recomputed from the trace of the same run, whose outcomes are those of `simulate`."""
    from paretoid import loop
    from paretoid.runs.chunk import generator, rule_generator
    from paretoid.runs.setting import Setting

    read = anytime(BANDIT, [60, 90], [pt.ParetoSet(), pt.AtMost(1)], replications=3, seed=8)
    for r in range(3):
        for at, budget in enumerate((60, 90)):
            setting = Setting(BANDIT, (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 0.1, budget)
            outcomes = loop.outcomes_from(BANDIT, generator(8, (r,)))
            history = loop.run(setting, outcomes, rule_generator(8, (r,)))
            arms, values = np.array(history.arms), np.array(history.outcomes)
            means = np.array([values[arms == arm].mean(axis=0) for arm in range(4)])
            front = pt.theory.pareto_set(means)
            assert (read.answer.values[at, 0, r] == front).all()
            scaled = means / BANDIT.scale[0]
            clear = np.where(front, pt.theory.omega(scaled), -np.inf)
            assert read.answer.values[at, 1, r].nonzero()[0].tolist() == [int(clear.argmax())]


def test_what_is_settled_is_right_and_grows():
    read = anytime(BANDIT, [60, 400, 3000], replications=8, seed=2)
    optimal = pt.theory.pareto_set(BANDIT.oriented)
    known = read.settled.values
    assert ((known == 0) | ((known == 1) == optimal)).all()
    assert np.abs(known[0]).sum() < np.abs(known[2]).sum()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: anytime(BANDIT, [60, 50]), "must increase"),
        (
            lambda: anytime(BANDIT, [60], pt.ParetoSet(limits={"objective 0": pt.at_least(0.5)})),
            "not with limits",
        ),
        (lambda: anytime(BANDIT, [3]), "budget=3 ends before"),
        (lambda: anytime(BANDIT, [60], rule=pt.EGE("SR", 60)), "cannot be stopped here"),
        (lambda: anytime(BANDIT, [60], [pt.ParetoSet(), pt.AtMost(1, 0.5)]), "one eps1"),
    ],
)
def test_what_cannot_be_read_off_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def invoke(*words):
    return CliRunner().invoke(app, ["simulate", "covboost", *words])


def test_the_command_line_knows_budgets():
    said = invoke("--budget", "300", "--k", "2", "-n", "5", "--json")
    assert said.exit_code == 0, said.output
    data = json.loads(said.stdout)
    assert data["rule"] == "EGE(scheme='SR', budget=300)"
    assert data["error_bound"] == 1.0
    assert 0 < data["lower_bound"] < 0.25
    assert [result["goal"] for result in data["results"]] == [
        "ParetoSet(eps1=0)", "AtMost(k=2, eps1=0)",
    ]  # fmt: skip
    said = invoke("--budget", "300", "--rule", "ape", "-n", "5")
    assert "answers after 300 samples" in said.output
    assert "heuristic" in said.output
