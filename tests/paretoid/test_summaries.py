"""One summary of runs, whoever shows it; more of its numbers in test_campaign_report."""

from __future__ import annotations

import json

import numpy as np
import pytest

import paretoid as pt
from paretoid import plots
from paretoid.cli.simulate import describe
from paretoid.summaries import summaries, summary_of


@pytest.fixture(scope="module")
def campaign():
    """Two radii on arms that are hard to tell apart, so that some runs are censored."""
    bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.8, 0.1]], arms=["A", "B", "C"])
    radii = [pt.Mixture(), pt.Mixture(union="none")]
    goals = [pt.ParetoSet(), pt.AtMost(1)]
    return pt.Campaign(bandit, goals, radii=radii, replications=25, seed=2, max_samples=700)


@pytest.fixture(scope="module")
def runs(campaign):
    return campaign.run()


def test_simulate_and_a_campaign_have_the_same_summaries(campaign, runs):
    alone = pt.simulate(
        campaign.bandits[0], campaign.goals, replications=25, seed=2, max_samples=700
    )
    listed = [summary for summary in summaries(runs) if summary.at[1] == 0]
    for ours, theirs in zip(summaries(alone), listed, strict=True):
        assert ours.at == theirs.at
        assert (ours.mean, ours.median, ours.answers) == (
            theirs.mean,
            theirs.median,
            theirs.answers,
        )
        assert ours.pulls.tolist() == theirs.pulls.tolist()
    one = summary_of(alone.isel(goal=1))
    assert (one.mean, one.error, one.largest) == (ours.mean, ours.error, ours.largest)


def test_quantiles_errors_and_counts_are_those_of_a_plain_reading(runs):
    for summary in summaries(runs, quantiles=(0.25, 0.9)):
        _, q, d, g = summary.at
        one = runs.isel(radius=q, delta=d, goal=g)
        time = one.stopping_time.values
        assert summary.quantiles == {0.25: np.quantile(time, 0.25), 0.9: np.quantile(time, 0.9)}
        assert summary.standard_error == pytest.approx(time.std(ddof=1) / 5)
        assert summary.largest == time.max()
        assert summary.stopped == one.stopped.values.sum() == summary.runs - summary.censored


def test_terminal_json_and_pictures_show_the_summary_in_one_word(campaign, runs, cli, tmp_path):
    told = list(summaries(runs))
    censored = [summary.censored for summary in told]
    assert 0 < sum(censored) < 100  # or there is nothing to see
    assert [result["censored"] for result in describe(runs)["results"]] == censored
    (tmp_path / "x.csv").write_text("arm,a,b\nA,1,0\nB,0,1\nC,0.8,0.1\n")
    words = ["simulate", "x.csv", "--scale", "1", "--k", "1", "--seed", "2", "-n", "25", "-q",
             "--max-samples", "700"]  # fmt: skip
    (first, second), out = json.loads(cli(*words, "--json")[1])["results"], cli(*words)[1]
    assert (first["censored"], second["censored"]) == (told[0].censored, told[1].censored)
    assert f"  censored {told[0].censored} of 25" in out
    table = cli(*words, "--radius", "mixture", "--radius", "mixture:union=none")[1]
    assert "censored" in table
    assert "unfinished" not in out + table
    axes = plots.stopping_times(runs.isel(radius=0))
    labels = axes.get_legend_handles_labels()[1]
    assert f"ParetoSet(): {told[0].censored} of 25 censored" in labels
