"""A first attempt with problems is followed by one more; then a sentence, JSON and exit code 1."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest

from paretoid.cli.app import app
from paretoid.estimation import FitError, TrialSummary, attempts, fit, sampling
from paretoid.estimation.compat import add_groups, group

COUNTS = {"chains": 2, "cores": 1}


def shares(events, n):
    """Arms A and B with one binary endpoint: the fastest model to compile."""
    share = np.array([events], dtype=float).T / n
    nothing = np.full(share.shape, np.nan)
    arms = tuple("AB"[: len(events)])
    counts = np.full(share.shape, float(n))
    return TrialSummary(
        arms, ("cured",), ("",), ("binary",), share, nothing, counts, share, nothing, nothing
    )


@pytest.fixture(scope="module")
def drawn():
    """What the sampler returns for a trial of two arms."""
    return fit(shares([20, 30], 50), **COUNTS)


@pytest.fixture
def sampler(drawn, monkeypatch):
    """A sampler whose attempts diverge as often as told; it records their settings."""
    settings, diverging = [], []

    def sample_once(model, options, *setting, **_):
        settings.append(setting)
        result = copy.deepcopy(drawn)
        stats = group(result, "sample_stats").copy(deep=True)
        stats["diverging"][:] = False
        stats["diverging"][0, : diverging.pop(0)] = True
        add_groups(result, sample_stats=stats)
        return result, ""

    def told(*divergences):
        diverging[:] = divergences
        settings.clear()
        monkeypatch.setattr(
            sampling, "sample_once", lambda m, o, t, a, e, *_: sample_once(m, o, t, a, e)
        )
        return settings

    return told


def test_one_divergent_transition_is_followed_by_smaller_steps(sampler):
    settings = sampler(1, 0)
    result = fit(shares([20, 30], 50), **COUNTS)
    assert settings == [(500, 0.9, 1), (2000, 0.99, 4)]
    first, second = attempts(result)
    assert first.problems == ("1 divergent transitions",)
    assert second.problems == ()
    assert group(result, "posterior").attrs["paretoid_problems"] == ""


def test_there_is_one_retry_at_most_and_none_if_not_wanted(sampler):
    trial = shares([20, 30], 50)
    settings = sampler(3, 1)
    with pytest.raises(FitError, match="3 divergent") as refused:
        fit(trial, tune=3000, target_accept=0.995, **COUNTS)
    # Never larger steps or less tuning than the first: (1 + 0.995)/2, 2 x 3,000.
    assert settings == [(3000, 0.995, 1), (6000, 0.9975, 4)]
    assert len(refused.value.attempts) == 2
    settings = sampler(1)
    with pytest.raises(FitError):
        fit(trial, retry=False, **COUNTS)
    assert len(settings) == 1
    sampler(1, 2)
    accepted = fit(trial, accept_problems=True, **COUNTS)
    assert group(accepted, "posterior").attrs["paretoid_problems"] == "2 divergent transitions"


def test_a_divergence_between_the_draws_that_are_kept_is_counted():
    # The second attempt keeps every fourth draw; what diverged in between must not vanish.
    import xarray as xr

    from paretoid.estimation.compat import thin

    dims = ("chain", "draw")
    values = np.arange(24.0).reshape(2, 12)
    diverging = np.zeros((2, 12), dtype=bool)
    diverging[0, 1] = diverging[1, 7] = True
    tree = xr.DataTree.from_dict({
        "posterior": xr.Dataset({"x": (dims, values)}, {"draw": range(12)}),
        "sample_stats": xr.Dataset({"diverging": (dims, diverging)}, {"draw": range(12)}),
    })  # fmt: skip
    thin(tree, 4)
    assert group(tree, "posterior")["x"].values.tolist() == [[3, 7, 11], [15, 19, 23]]
    assert group(tree, "sample_stats")["diverging"].values.tolist() == [
        [True, False, False], [False, True, False],
    ]  # fmt: skip


def test_the_second_attempt_is_made_by_the_sampler_itself():
    # Ten tuning steps and a target of 0.01: r_hat or the effective size give the first away.
    # A correct sampler with 2,000 and 0.99 fails about once in 10^3 seeds.
    trial = shares([3, 5], 50)
    result = fit(trial, tune=10, target_accept=0.01, draws=500, seed=1, **COUNTS)
    first, second = attempts(result)
    assert first.problems
    assert (second.tune, second.target_accept, second.every) == (2000, 0.99, 4)
    assert second.problems == ()
    assert group(result, "posterior").sizes["draw"] == 500


TABLE = "arm,endpoint,events,n\nA,cured,20,50\nB,cured,30,50\n"


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_a_refusal_ends_with_1_and_names_options_that_the_command_has(
    cli, command, sampler, tmp_path, monkeypatch
):
    import typer

    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    sampler(2, 1)
    code, out, err = cli(command, "table.csv", "--json", "--quiet")
    assert code == 1
    said = json.loads(out)
    assert [attempt["problems"] for attempt in said["attempts"]] == [
        ["2 divergent transitions"], ["1 divergent transitions"],
    ]  # fmt: skip
    assert said["error"] in " ".join(err.split())
    named = set(re.findall(r"--[a-z-]+", said["error"]))
    assert {"--tune", "--target-accept", "--variances", "--accept-problems"} <= named
    known = typer.main.get_command(app).commands[command].params
    assert named <= {name for option in known for name in option.opts}


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_the_options_that_a_refusal_names_reach_the_sampler(
    cli, command, sampler, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    settings = sampler(1, 1)
    words = ["--tune", "700", "--target-accept", "0.97", "--accept-problems", "--quiet"]
    if command == "plan":
        words += ["--draws", "3", "--max-samples", "50"]
    code, _, _ = cli(command, "table.csv", *words)
    assert code == 0
    assert settings[0] == (700, 0.97, 1)
