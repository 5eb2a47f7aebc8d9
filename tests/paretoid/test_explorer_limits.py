"""No command works without bound, and nothing slow keeps others from the ledger."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import paretoid as pt
from paretoid.explorer import LedgerError, choice, explorer

ARMS = ["A", "B", "C"]


def trial(path=None, **options):
    settings = {"scale": 1.0, "radius": pt.Mixture(sides="two"), "ledger": path}
    return pt.Explorer(options.pop("arms", ARMS), ["gain"], **{**settings, **options})


def test_a_batch_has_a_limit():
    with pytest.raises(ValueError, match=r"n=100000000 must be an integer in 1\.\.10000: "):
        trial().ask(100_000_000)


def test_arms_are_chosen_while_others_may_write(tmp_path, monkeypatch):
    """The first two choices are overtaken by another process, so they are made anew."""
    real, choices = explorer.choose, []
    with trial(tmp_path / "t.db") as first, pt.Explorer.open(tmp_path / "t.db") as other:
        waiting = first.ask(3)

        def slow(*arguments):
            assert not first._ledger._connection.in_transaction
            batch = real(*arguments)
            choices.append(batch.arms)
            if len(choices) <= 2:
                other.tell(waiting.pop(), [1.0])
            return batch

        monkeypatch.setattr(explorer, "choose", slow)
        made = first.ask(2)
        assert len(choices) == 3
        assert [allocation.id for allocation in made] == [4, 5]
        assert sorted(allocation.arm for allocation in made) == sorted(
            ARMS[arm] for arm in choices[-1]
        )
        first.verify()


def test_a_choice_that_is_always_overtaken_ends_with_a_sentence(tmp_path, monkeypatch):
    real = explorer.choose
    with trial(tmp_path / "t.db") as first, pt.Explorer.open(tmp_path / "t.db") as other:

        def slow(*arguments):
            other.tell("A", [1.0], unplanned=True)
            return real(*arguments)

        monkeypatch.setattr(explorer, "choose", slow)
        with pytest.raises(LedgerError, match="so nobody was placed"):
            first.ask()
        assert sum(row[3] == "asked" for row in first.rows()) == 0


def test_an_estimate_over_equal_outcomes_has_a_limit(monkeypatch):
    """60 arms that cannot be told apart: within the limit of work, and said to be unknown."""
    K, steps = 60, []
    view = choice.Moment.view

    def counted(self, *arguments):
        steps.append(1)
        return view(self, *arguments)

    monkeypatch.setattr(choice, "_WORK", 1_000_000)
    monkeypatch.setattr(choice.Moment, "view", counted)
    many = trial(arms=[f"arm {i}" for i in range(K)])
    many.tell_many([(allocation, [0.0]) for allocation in many.ask(2 * K)])
    steps.clear()
    status = many.status()
    assert 0 < len(steps) <= 1_000_000 / (K * K) + 1
    assert all(math.isnan(more) for more in status.expected.values())
    assert "unknown" in str(status)


def test_a_trial_too_large_for_memory_is_refused_at_its_creation(tmp_path):
    for K, said in ((5000, r"5000 arms .* tables of 0\.2 GB .* at most 4472"), (100_000, "10,000")):
        with pytest.raises(ValueError, match=said):
            trial(tmp_path / "t.db", arms=[f"arm {i}" for i in range(K)])
    assert not (tmp_path / "t.db").exists()


def test_names_are_compared_in_linear_time():
    """Ten times the names take about ten times as long; before it was a hundred times."""

    def seconds(K):
        names, means = [f"arm {i}" for i in range(K)], np.zeros((K, 1))
        times = []
        for _ in range(3):
            start = time.process_time()
            pt.GaussianBandit(means, 1.0, arms=names)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(10_000) < 40 * seconds(1_000)
