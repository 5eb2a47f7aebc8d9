"""Other priors by reweighting, held to exact Beta posteriors and to plans made on purpose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

import paretoid as pt
from paretoid.estimation import (
    TrialSummary,
    fit,
    pareto_probability,
    plan,
    prior_sensitivity,
    sensitivity,
    under_priors,
)
from paretoid.estimation.again import design_of
from paretoid.estimation.compat import annotate, group
from paretoid.estimation.model import trial_of
from paretoid.report.plan_text import as_dict, as_text
from paretoid.report.prior_table import prior_dict, prior_text, prior_words

EVENTS, N = np.array([[3.0], [85.0]]), np.array([[3.0], [100.0]])


@pytest.fixture(scope="module")
def few_against_many():
    """All of 3 against 85 of 100: whether the few are better depends on the prior."""
    nothing, share = np.full((2, 1), np.nan), EVENTS / N
    trial = TrialSummary(
        ("few", "many"), ("cured",), ("",), ("binary",), share, nothing, N, share, nothing, nothing
    )
    return fit(trial, chains=2, draws=2000, cores=1, seed=4)


@pytest.fixture(scope="module")
def priors(few_against_many):
    return sensitivity(few_against_many)


def exact(width):
    """P(few better than many) under Beta(1/width, 1/width), by integration."""
    a, b = EVENTS.ravel() + 1 / width, (N - EVENTS).ravel() + 1 / width

    def density(p):
        return stats.beta.pdf(p, a[1], b[1]) * stats.beta.sf(p, a[0], b[0])

    return integrate.quad(density, 0, 1, points=[0.85])[0]


def test_shares_under_other_priors_are_those_of_the_exact_posterior(priors):
    assert list(priors.prior.values) == ["tighter", "as fitted", "wider"]
    assert list(priors.method.values) == ["reweighted", "as fitted", "reweighted"]
    for width, name in ((0.5, "tighter"), (1.0, "as fitted"), (2.0, "wider")):
        one = priors.sel(prior=name)
        # Five errors, of a third of the effective draws because NUTS repeats itself a little.
        error = 5 * 0.5 / math.sqrt(float(one.effective_draws) / 3)
        assert float(one.prior_width) == width
        assert float(one.optimal.sel(arm="few")) == pytest.approx(exact(width), abs=error)
    assert exact(2) - exact(0.5) > 0.2  # far more than the errors: weights that do nothing fail


def test_limits_count_in_the_shares_under_every_prior(few_against_many):
    """Few is optimal of those within the limit if it is within, and many is not better."""
    limited = sensitivity(few_against_many, limits={"cured": pt.at_least(0.9, compared=True)})
    for width, name in ((0.5, "tighter"), (1.0, "as fitted"), (2.0, "wider")):
        a, b = EVENTS.ravel() + 1 / width, (N - EVENTS).ravel() + 1 / width

        def density(p, a=a, b=b):
            return stats.beta.pdf(p, a[0], b[0]) * stats.beta.cdf(p, a[1], b[1])

        share = integrate.quad(density, 0.9, 1)[0]
        assert share < exact(width) - 0.1  # the limit makes a difference
        one = limited.sel(prior=name)
        error = 5 * 0.5 / math.sqrt(float(one.effective_draws) / 3)  # as above
        assert float(one.optimal.sel(arm="few")) == pytest.approx(share, abs=error)
    assert "within the limits" in " ".join(prior_text(limited).split())


def test_arms_that_change_are_flagged_in_the_table_in_words_and_in_json(priors):
    # By integration the few are better with probability 0.26, 0.49 and 0.70.
    assert exact(0.5) < 0.45
    assert exact(1.0) < 0.5 < 0.6 < exact(2)
    assert priors.answer.sel(arm="few", prior=["tighter", "wider"]).values.tolist() == [False, True]
    assert bool(priors.changes.sel(arm="few"))
    said = prior_words(priors)
    assert said[0].startswith("* The priors matter: few is optimal with probability 1/2 or more")
    assert "wider" in said[0]
    assert "wider, 2 times as wide as the default, reweighted (k-hat" in said[-1]
    assert "few *" in prior_text(priors)
    assert "few" in prior_dict(priors)["arms_that_change"]
    assert max(map(len, prior_text(priors, 40).splitlines())) <= 40


def test_a_fit_whose_arms_do_not_change_is_not_flagged(priors):
    same = priors.assign(answer=priors.answer.sel(prior="as fitted") | False * priors.answer)
    same["changes"] = same["changes"] & False
    assert prior_words(same)[0].startswith("The same arms are optimal")
    assert "*" not in prior_text(same)


def test_weights_that_are_too_uneven_make_a_new_fit(few_against_many, monkeypatch):
    monkeypatch.setattr(prior_sensitivity, "_LARGEST_K", -math.inf)
    again = sensitivity(few_against_many, widths={"wider": 2.0}, cores=1)
    assert list(again.method.values) == ["as fitted", "refitted"]
    shown = float(again.optimal.sel(arm="few", prior="wider"))
    assert shown == pytest.approx(exact(2), abs=0.07)  # five errors of 1,300 effective draws
    assert "wider, 2 times as wide as the default, refitted." in prior_words(again)[-1]
    assert prior_dict(again)["priors"]["wider"]["k_hat"] is None


@pytest.mark.parametrize(
    "conduct",
    [None, pt.Conduct(rate=5.0, delay=28.0, look=400, dropout=0.2)],
    ids=["ideal", "late"],
)
def test_sample_sizes_are_those_of_a_plan_made_under_each_prior(few_against_many, conduct):
    options = {
        "draws": 15, "max_samples": 3000, "replications": 2, "seed": 7, "conduct": conduct,
    }  # fmt: skip
    goals = [pt.ParetoSet(0.2), pt.AtMost(1, 0.3)]
    planned = plan(few_against_many, goals, **options)
    priors = sensitivity(few_against_many, planned=planned)
    _, radius = design_of(planned, trial_of(few_against_many))
    for name, posterior in under_priors(few_against_many).items():
        alone = plan(posterior, goals, radius=radius, **options).samples_needed
        found = priors.samples_needed.sel(prior=name)
        assert found.values.tolist() == alone.sel(assurance_level=0.9).values.tolist()
    assert np.isfinite(priors.samples_needed).all()
    assert len(np.unique(priors.samples_needed)) > 2
    shares = pareto_probability(few_against_many)
    words = " ".join(as_text(few_against_many, shares, planned, 60, priors=priors).split())
    assert "N for 90%: one arm (margin 0.3)" in words
    assert "N is simulated on 15 draws under each prior" in words
    beyond = priors.assign(samples_needed_upper=priors.samples_needed_upper * np.inf)
    assert "to > 3,000" in " ".join(prior_words(beyond))
    data = as_dict(few_against_many, shares, planned, priors=priors)["prior_sensitivity"]
    needed = data["priors"]["wider"]["samples_needed"]
    assert list(needed.values()) == priors.samples_needed.sel(prior="wider").values.tolist()


def test_priors_that_nobody_can_widen_are_refused_in_a_sentence(few_against_many):
    import copy

    own = copy.deepcopy(few_against_many)
    annotate(own, {"paretoid_priors": "the user's own"})
    with pytest.raises(ValueError, match="nothing to say how wide they are"):
        sensitivity(own)
    with pytest.raises(ValueError, match="prior_width=0 must be a number from"):
        under_priors(few_against_many, {"none": 0})
    assert group(own, "posterior").attrs["paretoid_priors"] == "the user's own"
