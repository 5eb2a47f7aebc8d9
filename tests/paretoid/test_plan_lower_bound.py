"""What a plan of 0/1 endpoints says about every other method is true."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid import registry, theory
from paretoid.cli.app import app
from paretoid.estimation import TrialSummary, fit, plan
from paretoid.estimation.instances import plug_in_bandit
from paretoid.estimation.margins import units_of
from paretoid.estimation.model import trial_of
from paretoid.estimation.plan_radius import plan_radius
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.report import plan as plan_page
from paretoid.report import plan_text
from paretoid.report.plan_files import plan_design
from paretoid.report.plan_text import as_text
from paretoid.summaries import summary_of
from paretoid.text import count

RARE = "arm,endpoint,events,n\nlow,toxicity,4,200\nhigh,toxicity,12,200\n"


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    file = tmp_path_factory.mktemp("rare") / "rare.csv"
    file.write_text(RARE)
    trial = TrialSummary.read_csv(file, minimize="toxicity")
    posterior = fit(trial, chains=2, cores=1)
    return posterior, plan(posterior, draws=3, replications=2, max_samples=50)


def test_the_least_samples_of_binary_endpoints_come_from_their_own_divergence(planned):
    posterior, result = planned
    means = plug_in_bandit(posterior).oriented
    least = theory.characteristic_lower_bound(means, 0.1, outcomes="bernoulli")
    assert float(result.lower_bound) == least
    assert least < theory.characteristic_lower_bound(means, 0.1, 0.5) / 3
    assert "Bernoulli outcomes" in result.attrs["lower_bound_in_words"]
    shares = pt.estimation.pareto_probability(posterior)
    assert f"at least {count(least)} samples" in " ".join(
        as_text(posterior, shares, result, 80).split()
    )
    assert any(f"{count(least)} samples" in said for said in plan_page._methods(posterior, result))
    assert not any("Gaussian outcomes)" in said for said in plan_page._methods(posterior, result))


def test_nothing_is_said_where_the_law_of_outcomes_is_not_known(planned):
    posterior, result = planned
    silent = result.assign(characteristic_time=np.nan, lower_bound=np.nan)
    shares = pt.estimation.pareto_probability(posterior)
    assert "Exact problem" not in as_text(posterior, shares, silent, 80)
    assert not any("characteristic time" in said for said in plan_page._methods(posterior, silent))


def test_what_is_assumed_stands_in_the_answer_and_what_was_read_in_the_text(planned, monkeypatch):
    posterior, result = planned
    trial = trial_of(posterior)
    told = replace(trial, readings=("'ci' was read like this.",))
    told = replace(told, n=told.n * np.nan).assuming(n=200)
    monkeypatch.setattr(plan_page, "trial_of", lambda fit: told)
    monkeypatch.setattr(plan_text, "trial_of", lambda fit: told)
    shares = pt.estimation.pareto_probability(posterior)
    said = " ".join(plan_text.as_text(posterior, shares, result, 80).split())
    assumption = "n = 200 is assumed in 2 of 2 cells, where the source reports none."
    assert assumption in said
    assert "'ci' was read like this." in said
    summaries = [summary_of(result.isel(goal=0))]
    blocks = plan_page._answers(result, [pt.ParetoSet()], summaries, units_of(told), posterior)
    assert any(f"Assumed, not reported: {assumption}" in str(block) for block in blocks)


def test_a_plan_can_use_the_radius_that_knows_rare_events(planned):
    """Its words say what is assumed, and nothing is taken for its own bound that is not."""
    posterior, _ = planned
    result = plan(
        posterior, radius=pt.BetaBinomial(), draws=3, replications=2, max_samples=60, seed=1
    )
    assert result.attrs["guarantee"] == "proved"
    assert "for any 0/1 outcomes" in result.attrs["guarantee_in_words"]
    assert "this plan's own has no such bound" in str(result.attrs)
    page = " ".join(plan_page._methods(posterior, result))
    assert "beta-binomial mixture martingale bounds" in page


@pytest.fixture(scope="module")
def rare(planned):
    """A plan of binary endpoints, by default with a `BetaBinomial` that is tuned to the trial."""
    options = {"draws": 4, "replications": 2, "max_samples": 300, "seed": 1}
    return planned[0], plan(planned[0], **options)


def test_limits_and_a_calendar_leave_binary_endpoints_the_mixture(planned):
    limited = pt.ParetoSet(limits={"toxicity": pt.at_most(0.3)})
    assert plan_radius(None, ["binary"], [pt.ParetoSet()]) is pt.BetaBinomial
    assert plan_radius(None, ["binary"], [limited]) is None
    assert plan_radius(None, ["binary"], [pt.ParetoSet()], calendar=True) is None
    options = {"draws": 2, "replications": 2, "max_samples": 50}
    for radius in (pt.Mixture, None):
        conduct = None if radius else pt.Conduct(rate=5.0)
        result = plan(planned[0], radius=radius, conduct=conduct, **options)
        assert type(registry.parse(result.attrs["radius"], "radius")) is pt.Mixture


def test_the_default_is_tuned_and_plans_the_rates_of_the_fit_with_all_digits(rare):
    posterior, result = rare
    radius = registry.parse(result.attrs["radius"], "radius")
    assert np.array_equal(radius.planned, plug_in_bandit(posterior).means)
    assert radius.trust == min(1.0, 200 / np.max(radius.rho))  # 200 published participants each
    assert result.attrs["guarantee"] == "proved"
    said = result.attrs["shares_in_words"]
    assert "bounds on rates expect the fitted ones" in said
    assert "if they are not counted again in the trial" in said


def test_its_design_file_starts_a_trial_that_keeps_and_verifies_it(rare, tmp_path):
    design, remarks = plan_design(*rare)
    written = design_toml(design, remarks)
    read = Design.from_dict(tomllib.loads(written))
    assert read.same_as(design)
    assert read.radius == registry.parse(rare[1].attrs["radius"], "radius")
    assert "expect the fitted ones" in " ".join(written.replace("#", "").split())
    file, ledger = tmp_path / "design.toml", tmp_path / "trial.db"
    file.write_text(written)
    runner = CliRunner()
    assert runner.invoke(app, ["trial", "new", str(file), str(ledger)]).exit_code == 0
    explorer = pt.Explorer.open(ledger)
    for number in range(6):
        explorer.tell(explorer.ask(), [number % 2])
    explorer.close()
    checked = runner.invoke(app, ["trial", "verify", str(ledger)])
    assert checked.exit_code == 0, checked.output
    again = pt.Explorer.open(ledger)
    assert again.design.radius == read.radius
    again.close()


def test_a_radius_that_does_not_fit_is_refused_before_the_fit(tmp_path):
    with pytest.raises(ValueError, match="needs outcomes 0 or 1 in every endpoint"):
        plan_radius(pt.BetaBinomial(), ["binary", "gaussian"], [])
    limited = pt.ParetoSet(limits={"toxicity": pt.at_most(0.3)})
    with pytest.raises(ValueError, match="a limit needs a bound on one arm"):
        plan_radius(pt.BetaBinomial, ["binary"], [limited])
    with pytest.raises(ValueError, match="only Gaussian outcomes allow"):
        plan_radius(pt.UnknownScale, ["binary"], [])
    with pytest.raises(TypeError, match="without arguments, which is tuned"):
        plan_radius(pt.KaufmannKoolen, ["binary"], [])
    file = tmp_path / "rare.csv"
    file.write_text(RARE)
    for given, message in (
        ("unknown-scale", "--radius unknown-scale"), ("binomial", "is unknown"),
        ("beta-binomial:rho=0", "rho=0"),
    ):  # fmt: skip
        result = CliRunner().invoke(
            app, ["plan", str(file), "--minimize", "toxicity", "--radius", given]
        )
        assert result.exit_code != 0
        assert message in " ".join(str(result.exception or result.output).split())
