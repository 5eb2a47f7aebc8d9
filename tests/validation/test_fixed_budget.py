"""The experiment on budgets: its fast EGE is the rule, and its files are written."""

from __future__ import annotations

import numpy as np
import pytest

import paretoid as pt
from paretoid import loop
from paretoid.runs.setting import Setting
from paretoid.validation import fixed_budget


@pytest.mark.parametrize("scheme", ["SR", "SH"])
def test_drawing_phases_at_once_gives_the_answer_of_the_rule(scheme, monkeypatch):
    """On the same outcomes of every arm, in order."""
    bandit = pt.GaussianBandit(
        np.random.default_rng(5).normal(size=(7, 2)), scale=[1.0, 2.0], minimize=["objective 1"]
    )
    rule = pt.EGE(scheme, budget=150)
    setting = Setting(bandit, (pt.ParetoSet(),), rule, rule.default_radius, 0.1, None)
    answers = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = [bandit.sample(arm, 150, rng) for arm in range(7)]
        rows = [iter(part * bandit.sign) for part in table]
        history = loop.run(setting, lambda arm, rows=rows: next(rows[arm]), rng)
        used = [0] * 7

        def sample(arm, count, rng, table=table, used=used):
            used[arm] += count
            return table[arm][used[arm] - count : used[arm]]

        monkeypatch.setattr(bandit, "sample", sample)
        answer, _ = fixed_budget.ege_answer(bandit, scheme, 150, rng)
        monkeypatch.undo()
        assert (answer == history.stops[0].answer).all()
        assert used == history.counts.tolist()
        answers.add(tuple(answer.tolist()))
    assert len(answers) > 1


def test_the_experiment_writes_a_table_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(fixed_budget, "EACH", (25, 50))
    real = fixed_budget.wrong_answers
    monkeypatch.setattr(
        fixed_budget, "wrong_answers", lambda bandits, *rest: real(bandits[:2], *rest)
    )
    monkeypatch.setattr(fixed_budget, "share", lambda count, total: (count / 2, 0.0, 1.0))
    assert fixed_budget.main(["--out", str(tmp_path)]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["fixed_budget.json", "fixed_budget.md", "fixed_budget.png"]
    assert "random, K = 50" in (tmp_path / "fixed_budget.md").read_text(encoding="utf-8")
