"""A fit and plan that need no sampler, with names that try to be more; calling the command."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid.cli import main
from paretoid.estimation import TrialSummary, pareto_probability, plan

NASTY = (
    "<script>document.title=7</script>",
    '</style><b onclick="x">A & "B"',
    "cost $5_{ or $6",
    "O'Neil {{ 7 * 7 }} 長い",
)


@pytest.fixture(scope="session")
def nasty_fit():
    mean = np.array([[4.0, 2.0], [2.5, 3.5], [2.0, 1.0], [0.5, 0.25]])
    sd, n = np.full((4, 2), 1.0), np.full((4, 2), 50.0)
    half = 2.0096 * sd / np.sqrt(n)  # Student's t, 49 degrees of freedom
    trial = TrialSummary(
        NASTY, ("<i>gain</i>", "ease & rest"), ("mg/L", ""), ("normal", "normal"), mean, sd, n,
        mean, mean - half, mean + half, citation="Doe & <em>Roe</em>",
    )  # fmt: skip
    rng = np.random.default_rng(5)
    both = ("chain", "draw", "arm", "endpoint")
    mu = mean + rng.standard_normal((2, 200, 4, 2)) / np.sqrt(50)
    sigma = 1 + 0.1 * rng.standard_normal((2, 200, 4, 2))
    posterior = xr.Dataset({"mu": (both, mu), "sigma": (both, sigma)})
    posterior.attrs = {
        "paretoid_trial": trial.to_json(), "paretoid_variances": "partial",
        "paretoid_priors": "default", "paretoid_problems": "",
    }  # fmt: skip
    stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros((2, 200), dtype=bool))})
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})


@pytest.fixture(scope="session")
def nasty_plan(nasty_fit):
    """(fit, shares, plan); some trials run out of participants."""
    goals = [pt.ParetoSet(0.1), pt.AtMost(1, 0.1)]
    planned = plan(nasty_fit, goals, draws=40, replications=20, max_samples=400)
    return nasty_fit, pareto_probability(nasty_fit, 0.1), planned


@pytest.fixture(scope="session")
def nasty_store(tmp_path_factory):
    """The directory of a campaign whose arms have those names; some runs run out of budget."""
    folder = tmp_path_factory.mktemp("campaign") / "store"
    bandits = {
        name: pt.GaussianBandit(
            means, [1.0, 2.0], arms=NASTY, objectives=["gain <b>", "harm"], minimize=["harm"]
        )
        for name, means in (
            ("easy & <u>", [[4.0, -2.0], [2.5, -8.5], [2.0, 4.0], [0.5, 9.0]]),
            ("hard", [[4.0, 2.0], [2.5, 0.5], [2.0, 2.5], [0.5, 4.0]]),
        )
    }
    pt.Campaign(
        bandits, [pt.ParetoSet(), pt.AtMost(1), pt.Cover(eps2=0.5)],
        radii=[pt.Mixture(), pt.LUCB1Like(), pt.Mixture(union="none")], deltas=[0.1, 0.01],
        replications=30, seed=7, max_samples=400,
    ).run(folder)  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def nasty_trial():
    """A live trial, with a withdrawal and outcomes that are awaited; do not write to it."""
    explorer = pt.Explorer(NASTY, ["<i>gain</i>", "ease & rest"], scale=1.0, author="<u>ann</u>")
    for allocation in explorer.ask(40):
        if allocation.id == 3:
            explorer.withdraw(allocation, reason="<b>lost</b> & gone " + "very" * 30)
        elif allocation.id < 39:
            explorer.tell(allocation, [float(NASTY.index(allocation.arm)), allocation.id / 7])
    return explorer


@pytest.fixture
def cli(capfd, monkeypatch, tmp_path):
    """Call the command in an empty directory; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        caught = capfd.readouterr()
        return ended.value.code or 0, caught.out, caught.err

    return call


@pytest.fixture
def doses(tmp_path):
    """Three arms that are far apart: a run takes a few dozen samples."""
    path = tmp_path / "doses.csv"
    path.write_text("arm,efficacy,ease\nplacebo,0,0\nlow,4,2\nhigh,3,9\n")
    return path
