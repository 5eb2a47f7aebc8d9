"""Endpoints of different kinds in one bandit: how they are drawn, and that engines agree."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

import paretoid as pt
from paretoid.bandits.censored import censored
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.validation.conformance.bandit import BanditTests
from paretoid.validation.equality import assert_engine_equals_loop

KINDS = ["gaussian", "binary", (0.0, 10.0)]
MEANS = [[1.0, 0.3, 2.0], [0.0, 0.15, 4.0], [-1.0, 0.5, 7.0]]
NAMES = {"objectives": ["response", "toxicity", "pain"], "minimize": ["toxicity", "pain"]}


def mixed(correlation=0.6, **changed):
    sd = [[1.0, np.nan, 1.5], [0.5, np.nan, 2.0], [2.0, np.nan, 2.5]]
    return pt.MixedBandit(MEANS, KINDS, sd=sd, correlation=correlation, **{**NAMES, **changed})


class TestMixedBanditOfLimitingRates(BanditTests):
    """Rates of 0 and 1, and a matrix of correlations."""

    member = pt.MixedBandit(
        [[0.0, 1.0, 0.5], [1.0, 0.0, 0.2]], ["binary", "binary", "binary"],
        correlation=[[1.0, -0.5, 0.2], [-0.5, 1.0, 0.1], [0.2, 0.1, 1.0]],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [(5.0, 2.0, 0.0, 10.0), (1.0, 2.0, 0.0, 10.0), (9.9, 0.9, 0.0, 10.0), (-3.0, 0.01, -4.0, 0.0),
     (0.5, 0.499, 0.0, 1.0)],
)  # fmt: skip
def test_an_outcome_in_a_range_has_the_mean_and_sd_asked_for(mean, sd, low, high):
    """By numerical integration of the Gaussian cut at both ends, to 1e-6 of the range."""
    location, spread = censored(mean, sd, low, high)
    law = norm(location, spread)

    def moment(power):
        ends = low**power * law.cdf(low) + high**power * law.sf(high)
        near = np.clip(location + spread * np.linspace(-6, 6, 5), low, high)
        return ends + quad(lambda x: x**power * law.pdf(x), low, high, points=near, limit=200)[0]

    assert moment(1) == pytest.approx(mean, abs=1e-6 * (high - low))
    assert np.sqrt(moment(2) - moment(1) ** 2) == pytest.approx(sd, abs=1e-5 * (high - low))


def test_two_rates_are_correlated_as_their_gaussians_are():
    """P(both) is the orthant probability of the latent pair; six errors, once in 10^8 seeds."""
    rates, rho = (0.3, 0.15), 0.6
    bandit = pt.MixedBandit([rates, rates], ["binary", "binary"], correlation=rho)
    x = bandit.sample(0, 20000, 3)
    both = multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf(norm.ppf(rates))
    assert abs(x.prod(axis=1).mean() - both) < 6 * np.sqrt(both * (1 - both) / 20000)
    assert both > 1.5 * rates[0] * rates[1]


@pytest.mark.parametrize("rule", [pt.APE(), pt.APE(pull="both"), pt.UniformElimination()])
@pytest.mark.parametrize("known", [False, True])
def test_compiled_and_readable_loops_agree_on_mixed_endpoints(rule, known):
    """Learnt and known scales in one run, one objective's v apart from another's."""
    goals = (pt.ParetoSet(eps1=(0.3, 0.05, 0.5)), pt.AtMost(1, eps1=(0.3, 0.05, 0.5)))
    scales = ["unknown", "known", "known"]
    radius = pt.Mixture(rho=10.0) if known else pt.MixedScale(scales, rho=[10.0, 20.0, 5.0])
    if isinstance(rule, pt.UniformElimination):
        goals = goals[:1]
    setting = Setting(mixed(), goals, rule, radius, 0.3, 900)
    for seed in range(3):
        noise = np.empty((900, 3))
        setting.bandit.fill(generator(seed, (0,)), noise)
        history = assert_engine_equals_loop(setting, noise, [50, 51, 300])
    assert len(history.arms) > 100


def test_learnt_scales_do_not_mind_a_rate_of_0():
    """All zeros have no variance: for a learnt scale that ends a run, for a known one not."""
    bandit = pt.MixedBandit([[1.0, 0.0], [0.0, 0.0]], ["gaussian", "binary"])
    runs = pt.simulate(
        bandit, radius=pt.MixedScale(["unknown", "known"]), replications=2, seed=1, max_samples=2000
    )
    assert runs.attrs["guarantee"] == "proved"
    assert not runs.correct.isnull().any()


@pytest.mark.parametrize(
    "radius", [pt.UnknownScale(), pt.MixedScale(["known", "unknown", "known"])]
)
def test_a_radius_that_learns_what_is_not_gaussian_is_refused(radius):
    with pytest.raises(ValueError, match=r"MixedScale\(\['unknown', 'known', 'known'\]\)"):
        pt.simulate(mixed(), radius=radius, replications=1)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"correlation": 1.0}, "below 1"),
        ({"correlation": -0.5}, "least that 3"),
        ({"correlation": [[1, 2], [2, 1]]}, "table with 1"),
        ({"correlation": [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]}, "positive definite"),
        ({"minimize": ["harm"]}, "no objective"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed, word):
    with pytest.raises(ValueError, match=word):
        mixed(**changed)


@pytest.mark.parametrize(
    ("means", "outcomes", "sd", "word"),
    [
        ([[0.0, 1.2], [0.0, 0.5]], ["gaussian", "binary"], 1.0, "range of its objective"),
        ([[0.0, 5.0], [0.0, 4.0]], ["gaussian", (0, 10)], 7.0, "no outcome between 0 and 10"),
        ([[0.0], [1.0]], ["normal"], 1.0, "must be 'gaussian'"),
        ([[0.0], [1.0]], [(1, 0)], 1.0, "below a"),
        ([[0.0], [1.0]], "gaussian", 1.0, "of each"),
        ([[0.0], [1.0]], {"x": "gaussian"}, 1.0, "no objective"),
        ([[0.0, 1.0], [1.0, 2.0]], {"objective 0": "gaussian"}, 1.0, "nothing is assumed"),
        ([[0.0], [1.0]], ["gaussian"], -1.0, "above 0"),
        ([[0.0], [1.0]], ["gaussian"], [[1.0, 2.0]], "shape"),
    ],
)
def test_kinds_and_spreads_that_are_none_are_refused(means, outcomes, sd, word):
    with pytest.raises(ValueError, match=word):
        pt.MixedBandit(means, outcomes, sd=sd)


def test_the_correlation_is_part_of_what_a_campaign_is_called_by():
    from paretoid.runs.campaign import _describe

    assert _describe(mixed(0.6)) != _describe(mixed(0.5))
