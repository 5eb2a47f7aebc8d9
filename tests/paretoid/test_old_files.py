"""Stores and ledgers of earlier versions open, go on and verify with the numbers they had.

`old_files/` was written by version 0.1.0 before members could be written outside the package: a
campaign with four radii, and three trials (unknown scales; elimination; pairs), each in mid-course.
Its goals have a margin with more digits than the labels of that time show.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import paretoid as pt
from paretoid.report.campaign_words import repeat
from paretoid.report.page import TextBlock
from paretoid.report.stored import read_store

OLD = Path(__file__).with_name("old_files")
MARGIN = math.log(1.5) / 10


def campaign(replications, sides="two"):
    def bandit(stretch):
        means = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25], [0.2, 0.1]])
        return pt.GaussianBandit(
            means * stretch, [0.5, 1.0], arms=list("ABCD"), objectives=["gain", "harm"],
            minimize=["harm"],
        )  # fmt: skip

    return pt.Campaign(
        {"one": bandit(1.0), "two": bandit(1.1)},
        [pt.ParetoSet(MARGIN), pt.AtMost(1, MARGIN), pt.Cover(MARGIN, 0.3)],
        radii=[pt.Mixture(rho=7.0, sides=sides), pt.LUCB1Like(), pt.UnknownScale(sides=sides),
               pt.KaufmannKoolen("approximate", union="none")],
        replications=replications, seed=11, max_samples=3000,
    )  # fmt: skip


def compare(kept, fresh):
    for name in ("stopping_time", "stopped", "answer", "correct", "pulls"):
        np.testing.assert_array_equal(kept[name].values, fresh[name].values)


@pytest.fixture
def store(tmp_path):
    shutil.copytree(OLD / "store", tmp_path / "store")
    return tmp_path / "store"


def test_a_stored_campaign_opens_with_the_numbers_that_are_computed_today(store):
    compare(pt.open_campaign(store).load(), campaign(3).run())


def test_the_script_in_the_report_of_a_stored_campaign_gives_its_numbers_again(
    store, tmp_path, monkeypatch
):
    """Under the names that members have now, and two-sided, which the store does not say."""
    (script,) = [block.text for block in repeat(read_store(store), "")
                 if isinstance(block, TextBlock) and "import paretoid" in block.text]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    exec(script, {})
    compare(pt.open_campaign(store).load(), pt.open_campaign("another directory").load())


@pytest.mark.filterwarnings("ignore:the engine has changed since")
def test_a_stored_campaign_goes_on_with_more_replications(store):
    before = {path.name for path in (store / "chunks").iterdir()}
    more = campaign(5).run(store).load()
    assert before < {path.name for path in (store / "chunks").iterdir()}
    assert (more.stopping_time.values == campaign(5).run().stopping_time.values).all()


@pytest.mark.filterwarnings("ignore:the engine has changed since")
def test_a_campaign_with_another_margin_is_still_refused(store):
    other = campaign(3)
    other.goals[0] = pt.ParetoSet(MARGIN * (1 + 1e-9))
    with pytest.raises(ValueError, match="holds another campaign: goals"):
        other.run(store)


@pytest.mark.filterwarnings("ignore:the engine has changed since")
def test_what_was_stored_without_sides_is_two_sided_for_good(store):
    with pytest.raises(ValueError, match=r"sides='two'.* there, .*sides='one'.* here"):
        campaign(3, sides="one").run(store)


@pytest.mark.parametrize("name", ["ape", "elimination", "both"])
def test_a_trial_opens_verifies_and_goes_on_to_its_answer(name, tmp_path):
    path = tmp_path / f"{name}.db"
    shutil.copy(OLD / f"{name}.db", path)
    rng = np.random.default_rng(1)
    bandit = campaign(1).bandits[0]
    with pt.Explorer.open(path) as trial:
        head = trial.head
        trial.verify(head=head)
        assert trial.design.radius.sides == "two"
        given = next(iter(trial.answers.values()))
        assert given == ("A",)
        for _ in range(800):
            if all(answer is not None for answer in trial.answers.values()):
                break
            batch = trial.ask(100)
            trial.tell_many([(one, bandit.sample(one.arm, 1, rng)[0]) for one in batch])
        assert trial.answers[str(pt.AtMost(1, MARGIN))] == given
        assert set(trial.answers[str(pt.ParetoSet(MARGIN))]) >= {"A"}
        trial.verify(head=head)
