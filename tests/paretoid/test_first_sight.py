"""A small campaign needs no compiled engine: which loop runs it changes the waiting alone."""

from __future__ import annotations

import pytest

import paretoid as pt
from paretoid.runs import first_sight

BANDIT = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], scale=0.5)
SMALL = {"replications": 3, "seed": 4, "deltas": [0.1, 0.01]}


@pytest.fixture
def nothing_compiled(monkeypatch):
    monkeypatch.setattr(first_sight, "is_compiled", lambda work: False)


@pytest.mark.usefixtures("nothing_compiled")
def test_a_small_campaign_is_the_same_without_the_engine():
    goals = [pt.ParetoSet(), pt.AtMost(1), pt.ParetoSet(0.25)]
    campaign = pt.Campaign(BANDIT, goals, radii=[pt.Mixture(), pt.UnknownScale()], **SMALL)
    seconds = campaign.seconds.copy()
    readable = first_sight.soonest(campaign)
    assert (readable.readable, readable.compiled) == (True, False)
    assert (campaign.readable, campaign.compiled) == (False, True)
    assert (readable.seconds > 10 * seconds).all()
    assert readable.run().identical(campaign.run())


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize(
    "campaign",
    [
        pt.Campaign(pt.load_instance("covboost")),  # long
        pt.Campaign(BANDIT, replications=3000),  # many
        pt.Campaign(BANDIT, conduct=pt.Conduct(look=5), max_samples=50),  # on a calendar
        pt.Campaign(BANDIT, rule=pt.TopTwo()),  # has no compiled loop to wait for
    ],
)
def test_other_campaigns_are_left_alone(campaign):
    assert first_sight.soonest(campaign) is campaign


def test_compiled_kernels_are_used(monkeypatch):
    campaign = pt.Campaign(BANDIT, **SMALL)
    campaign.run()
    assert first_sight.soonest(campaign) is campaign


@pytest.mark.usefixtures("nothing_compiled")
def test_the_command_line_prints_the_same(monkeypatch, capsys, tmp_path):
    from paretoid.cli import main

    table = tmp_path / "small.csv"
    table.write_text("arm,efficacy,safety\nA,2,0\nB,0,2\nC,-1,-1\n")
    arguments = ["simulate", str(table), "--scale", "0.5", "-n", "3", "--json"]
    printed = {}
    for more in ([], ["--threads", "1"]):  # who asks for threads gets the engine
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *more])
        assert ended.value.code in (None, 0)
        said = capsys.readouterr()
        printed["not compiled yet" in said.err] = said.out
    assert set(printed) == {True, False}
    assert printed[True] == printed[False]
