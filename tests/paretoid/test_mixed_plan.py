"""A plan for continuous and binary endpoints together: simulated, said in words, handed on."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid.cli.app import app
from paretoid.estimation import TrialSummary, pareto_probability, plan, posterior_bandits
from paretoid.estimation.planning import tell_scales
from paretoid.estimation.prior_sensitivity import _correlation
from paretoid.explorer.design import Design
from paretoid.report.plan_files import plan_design_toml
from paretoid.report.plan_text import as_text

ARMS, ENDPOINTS = ("A", "B", "C"), ("IgG", "fever")
MEANS = np.array([[7.0, 0.10], [7.6, 0.45], [6.3, 0.20]])
EPS1 = (0.3, 0.1)


@pytest.fixture(scope="module")
def fitted():
    """Draws about known means, as a sampler would return them, without one."""
    nothing = np.full((3, 2), np.nan)
    trial = TrialSummary(
        ARMS, ENDPOINTS, ("ELU/ml", ""), ("log-normal", "binary"), MEANS, nothing,
        np.full((3, 2), 90.0), MEANS, nothing, nothing, minimize=("fever",),
    )  # fmt: skip
    rng = np.random.default_rng(1)
    size = (2, 50, 3, 1)
    posterior = xr.Dataset(
        {
            "mu": (("chain", "draw", "arm", "m"), rng.normal(MEANS[:, :1], 0.05, size)),
            "sigma": (("chain", "draw", "arm", "m"), rng.normal(0.8, 0.02, size)),
            "probability": (("chain", "draw", "arm", "b"), rng.beta(90 * MEANS[:, 1:],
                                                                    90 - 90 * MEANS[:, 1:], size)),
        },
        attrs={"paretoid_trial": trial.to_json(), "paretoid_priors": "default",
               "paretoid_variances": "pooled", "paretoid_problems": ""},
    )  # fmt: skip
    return xr.DataTree.from_dict({"posterior": posterior})


@pytest.fixture(scope="module")
def planned(fitted):
    return plan(fitted, pt.AtMost(1, EPS1), draws=6, replications=3, max_samples=400,
                correlation=0.6)  # fmt: skip


def test_draws_are_bandits_of_both_kinds_with_the_correlation_asked_for(fitted):
    bandit = posterior_bandits(fitted, 3, 0.6)[1]
    assert bandit.kinds == ("gaussian", "binary")
    assert bandit.minimize == ("fever",)
    assert bandit.correlation[0, 1] == 0.6
    assert posterior_bandits(fitted, 3)[1].correlation[0, 1] == 0.0
    told = tell_scales([bandit], fitted, pt.Mixture(), 0.95)[0]
    assert (told.scale[:, 0] > bandit.scale[:, 0]).any()  # a quantile, and drawn as before
    np.testing.assert_array_equal(told.noise, bandit.noise)
    assert told.scale[0, 1] == 0.5
    assert tell_scales([bandit], fitted, pt.MixedScale(["unknown", "known"]), 0.95) == [bandit]


def test_the_plan_says_what_each_endpoint_assumes(planned):
    said = planned.attrs["guarantee_in_words"]
    assert planned.attrs["guarantee"] == "proved"
    assert planned.attrs["radius"].startswith("MixedScale(scales=('unknown', 'known')")
    assert "log IgG is Gaussian, its variance in each arm learnt in the trial" in said
    assert "fever is 0 or 1" in said
    assert "correlation 0.6" in said
    assert "does not lean on that" in said
    assert np.isnan(planned.lower_bound)  # no T* is known for both kinds together
    assert (planned.stopping_time <= 400).all()


def test_the_plan_is_read_as_text_and_handed_on_as_a_design(fitted, planned):
    text = as_text(fitted, pareto_probability(fitted, EPS1), planned, 80)
    assert "fever is 0 or 1" in " ".join(text.split())
    design = Design.from_dict(tomllib.loads(plan_design_toml(fitted, planned)))
    assert design.kinds == ("gaussian", "binary")
    assert design.learnt.tolist() == [True, False]
    assert repr(design.radius) == planned.attrs["radius"]


def test_a_radius_that_is_told_scales_leans_on_them_in_words(fitted):
    made = plan(fitted, pt.AtMost(1, EPS1), radius=pt.Mixture(), draws=2, replications=1,
                max_samples=100)  # fmt: skip
    said = made.attrs["guarantee_in_words"]
    assert "log IgG is sub-Gaussian with at most the scales used, the 95% posterior" in said
    design = Design.from_dict(tomllib.loads(plan_design_toml(fitted, made)))
    assert design.radius == pt.Mixture()
    assert design.bandit.scale[0, 1] == 0.5


def test_the_correlation_of_a_plan_is_found_again():
    assert _correlation({}, 2) is None
    assert _correlation({"correlation": [0.6]}, 2) == 0.6
    matrix = _correlation({"correlation": [1.0, 0.2, 0.2, 1.0]}, 2)
    np.testing.assert_array_equal(matrix, [[1.0, 0.2], [0.2, 1.0]])


@pytest.mark.parametrize(
    ("given", "word"),
    [("1.5", "below 1"), ("high", "must be a number"), ("1,0.5;0.5", "must be"),
     ("1,0.9,0.1;0.9,1,0;0.1,0,1", "must be a number, or a")],
)  # fmt: skip
def test_a_correlation_that_is_none_is_refused_before_the_fit(given, word, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from paretoid.cli import published

    monkeypatch.setattr(published, "sample", lambda *_, **__: pytest.fail("it was fitted"))
    file = tmp_path / "mine.csv"
    file.write_text(
        "arm,endpoint,n,mean,sd,events\nA,pain,40,3,1.5,\nB,pain,40,2,1.5,\n"
        "A,fever,40,,,4\nB,fever,40,,,9\n"
    )
    done = CliRunner().invoke(app, ["plan", str(file), "--correlation", given])
    assert done.exit_code != 0
    assert word in str(done.exception) + done.output


def test_all_of_one_kind_may_be_correlated_too(fitted):
    """A matrix for one kind only: the radius is the one that kind had before."""
    trial = TrialSummary.from_json(fitted["posterior"].attrs["paretoid_trial"])
    twice = replace(trial.select(["fever"]), endpoints=("fever",))
    one = fitted["posterior"].to_dataset().drop_vars(["mu", "sigma"])
    one.attrs["paretoid_trial"] = twice.to_json()
    only = xr.DataTree.from_dict({"posterior": one})
    bandit = posterior_bandits(only, 1, [[1.0]])[0]
    assert type(bandit) is pt.MixedBandit
    assert not bandit.gaussian.any()
    assert type(posterior_bandits(only, 1)[0]) is pt.BernoulliBandit
