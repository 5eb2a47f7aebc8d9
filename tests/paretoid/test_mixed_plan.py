"""A plan for continuous and binary endpoints together: simulated, said in words, handed on."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid.cli.app import app
from paretoid.estimation import TrialSummary, pareto_probability, plan, posterior_bandits
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.instances import tell_scales
from paretoid.estimation.model import trial_of
from paretoid.estimation.ranges import correlation_of, kinds_of, possible_draws, ranges_of
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.operating.scenarios import known_scenario
from paretoid.report.plan_files import plan_design
from paretoid.report.plan_repeat import script
from paretoid.report.plan_text import as_text

ARMS, ENDPOINTS = ("A", "B", "C"), ("IgG", "fever")
MEANS = np.array([[7.0, 0.10], [7.6, 0.45], [6.3, 0.20]])
EPS1 = (0.3, 0.1)


@pytest.fixture(scope="module")
def fitted():
    """Draws about known means, as a sampler would return them, without one."""
    return made("log-normal")


def made(scale, names=ENDPOINTS):
    nothing = np.full((3, 2), np.nan)
    trial = TrialSummary(
        ARMS, names, ("", ""), (scale, "binary"), MEANS, np.tile([0.8, np.nan], (3, 1)),
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
    assert "correlation=0.6, " in script(planned, None, "")
    design = Design.from_dict(tomllib.loads(design_toml(*plan_design(fitted, planned))))
    assert design.kinds == ("gaussian", "binary")
    assert design.learnt.tolist() == [True, False]
    assert repr(design.radius) == planned.attrs["radius"]


def test_a_radius_that_is_told_scales_leans_on_them_in_words(fitted):
    made = plan(fitted, pt.AtMost(1, EPS1), radius=pt.Mixture(), draws=2, replications=1,
                max_samples=100)  # fmt: skip
    said = made.attrs["guarantee_in_words"]
    assert "log IgG is sub-Gaussian with at most the scales used, the 95% posterior" in said
    design = Design.from_dict(tomllib.loads(design_toml(*plan_design(fitted, made))))
    assert design.radius == pt.Mixture()
    assert design.bandit.scale[0, 1] == 0.5


def test_the_correlation_of_a_plan_is_found_again():
    assert correlation_of({}) is None
    assert correlation_of({"correlation": [0.6]}) == 0.6
    assert correlation_of({"correlation": [1.0, 0.2, 0.2, 1.0]}) == [[1.0, 0.2], [0.2, 1.0]]


@pytest.mark.parametrize(
    ("given", "word"),
    [("--correlation=1.5", "below 1"), ("--correlation=high", "must be a number"),
     ("--correlation=1,0.5;0.5", "must be"),
     ("--correlation=1,0.9,0.1;0.9,1,0;0.1,0,1", "must be a number, or a"),
     ("--range=pain", "NAME=LOW:HIGH"), ("--range=pain=0:x", "NAME=LOW:HIGH"),
     ("--range=pain=0:2.5", "no outcome between"), ("--range=fever=0:1", "0 or 1 anyway")],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused_before_the_fit(given, word, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from paretoid.cli import published

    monkeypatch.setattr(published, "sample", lambda *_, **__: pytest.fail("it was fitted"))
    file = tmp_path / "mine.csv"
    file.write_text(
        "arm,endpoint,n,mean,sd,events\nA,pain,40,3,1.5,\nB,pain,40,2,1.5,\n"
        "A,fever,40,,,4\nB,fever,40,,,9\n"
    )
    done = CliRunner().invoke(app, ["plan", str(file), "--minimize", "pain,fever", given])
    assert done.exit_code != 0
    assert word in str(done.exception) + done.output


def test_an_endpoint_with_a_range_is_bounded_and_not_learnt():
    """Its scale is half the range in radius and design; draws outside are left out."""
    fit, ranges = made("normal", ("score", "fever")), {"sco": (0, 8)}
    bandit = posterior_bandits(fit, 5, None, ranges)[2]
    assert bandit.kinds == ((0.0, 8.0), "binary")
    assert bandit.scale[0].tolist() == [4.0, 0.5]
    np.testing.assert_allclose(bandit.noise[:, 0], 0.8, atol=0.1)
    planned = plan(fit, pt.AtMost(1, EPS1), draws=2, replications=1, max_samples=100, ranges=ranges)
    assert planned.attrs["radius"].startswith("Mixture(")  # nothing is left to learn
    assert "score lies between 0 and 8; fever is 0 or 1" in planned.attrs["guarantee_in_words"]
    assert "ranges={'score': [0.0, 8.0]}, " in script(planned, None, "")
    assert ranges_of(planned.attrs) == {"score": [0.0, 8.0]}
    design = Design.from_dict(tomllib.loads(design_toml(*plan_design(fit, planned))))
    assert design.kinds == ((0.0, 8.0), "binary")
    assert design.bandit.scale[0].tolist() == [4.0, 0.5]
    means, scales = posterior_draws(fit)
    with pytest.raises(ValueError, match="0 of 100 posterior draws"):  # all of B are above 7
        possible_draws(means, scales, ((0.0, 7.0), "binary"))


@pytest.mark.parametrize(
    ("ranges", "word"),
    [({"score": (0, 7)}, "no outcome between"), ({"fever": (0, 1)}, "0 or 1 anyway"),
     ({"scores": (0, 9)}, "no endpoint"), ({"score": (9, 0)}, "finite low end"),
     ({"score": "0:9"}, "two numbers"), ({"score": 3}, "range")],
)  # fmt: skip
def test_ranges_that_cannot_be_are_refused(ranges, word):
    with pytest.raises(ValueError, match=word):
        kinds_of(trial_of(made("normal", ("score", "fever"))), ranges)


def test_scenarios_of_operating_characteristics_keep_kinds_and_correlation(fitted):
    base = posterior_bandits(fitted, 1, 0.6)[0]
    goal = pt.ParetoSet((0.3, 0.2))
    for name in ("equal", "boundary", "best: A"):
        (truth,) = known_scenario(name, [base], base, goal, "")[0].bandits
        assert truth.kinds == base.kinds
        assert truth.correlation[0, 1] == 0.6
        assert ((truth.means[:, 1] >= 0) & (truth.means[:, 1] <= 1)).all()


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
