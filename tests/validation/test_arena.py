"""The arena: whoever is in the registry is in it, and its numbers are those of the runs."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest

import paretoid as pt
from paretoid import registry
from paretoid.validation import arena

EASY = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], scale=0.3)


def test_every_rule_of_the_registry_without_a_budget_takes_part():
    rules, radii = arena.members()
    assert {type(rule) for rule in rules} == set(registry.RULES.values()) - {pt.EGE}
    assert {type(radius) for radius in radii} == set(registry.PAIR_RADII.values()) - {pt.MixedScale}


def test_a_cell_has_the_numbers_of_its_runs():
    problem = arena.Problem("easy", [EASY], (pt.ParetoSet(), pt.AtMost(1)), 5000)
    cells = arena.measure(problem, pt.APE(), pt.Mixture(), 6, seed=3)
    runs = pt.simulate(EASY, list(problem.goals), replications=6, seed=3, max_samples=5000)
    for cell, times in zip(cells, runs.stopping_time.values, strict=True):
        assert cell.numbers["mean"] == times.mean()
        assert cell.numbers["median"] == np.sort(times)[2]
        assert cell.numbers["wrong"] == 0
        assert cell.guarantee == "proved"


def test_what_does_not_fit_is_left_out_and_budgets_are_lower_bounds(tmp_path):
    problem = arena.Problem("easy", [EASY], (pt.ParetoSet(),), 5)
    assert arena.measure(problem, pt.LUCB(), pt.Mixture(), 2, seed=3) == []  # one objective
    cells = arena.measure(problem, pt.APE(), pt.KaufmannKoolen(), 2, seed=3)
    assert cells[0].numbers["censored"] == 1.0
    table = arena.markdown(cells)
    assert ">= " in table
    assert "> limit" in table
    assert arena.draw(cells, tmp_path / "arena.png").exists()
    data = arena.as_dataset(cells, 3)
    assert data.sizes["cell"] == 1
    assert str(data.rule.values[0]) == repr(pt.APE())


def test_the_problems_are_the_five_that_are_promised():
    names = [problem.name for problem in arena.problems(False, 1)]
    assert names == ["COV-BOOST", "Com-COV2", "Table 1, D = 2", "cover", "K = 100"]


def test_one_instance_is_also_met_with_a_radius_that_it_informs():
    one = arena.Problem("easy", [EASY], (pt.ParetoSet(),), 5000)
    many = arena.Problem("easy", [EASY, EASY], (pt.ParetoSet(),), 5000)
    assert list(arena.radii_for(one, [pt.LUCB1Like()], 1)) == ["LUCB1Like()", "Mixture informed"]
    assert list(arena.radii_for(many, [pt.LUCB1Like()], 1)) == ["LUCB1Like()"]
    cells = arena.measure(one, pt.APE(), pt.Mixture(rho=9.0), 2, 3, "Mixture informed")
    assert cells[0].radius == "Mixture informed"


def _work():
    while time.process_time() < 0.1:
        pass


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there the loop runs on a thread"
)
def test_the_time_of_the_readable_loop_counts_its_processes():
    start = arena._processor_seconds()
    child = multiprocessing.get_context("fork").Process(target=_work)
    child.start()
    child.join()
    assert arena._processor_seconds() - start >= 0.05


def test_only_selects_by_problem_rule_and_radius(tmp_path, monkeypatch, capsys):
    problem = arena.Problem("easy", [EASY], (pt.ParetoSet(),), 500)
    monkeypatch.setattr(arena, "problems", lambda full, seed: [problem])
    words = ["--runs", "2", "--out", str(tmp_path)]
    assert arena.main([*words, "--only", "APE", "--only", "LUCB1Like"]) == 0
    rows = capsys.readouterr().out.strip().split("\n")[2:]
    assert len(rows) == 1
    assert "APE" in rows[0]
    assert arena.main([*words, "--only", "nobody"]) == 2
    assert "leaves no cell" in capsys.readouterr().err
