"""What a plan says, against slow references: what is known by N, limits, its conclusion."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import paretoid as pt
from paretoid import plots, theory
from paretoid.estimation import pareto_probability, plan, posterior_bandits, settled_in_plan
from paretoid.estimation.again import trials_of
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.instances import tell_scales
from paretoid.estimation.model import trial_of
from paretoid.estimation.plan_words import bound_radius
from paretoid.report import plan_report, plan_sentences
from paretoid.report.calendar_words import settled_words
from paretoid.report.plan_pictures import plan_pictures
from paretoid.report.plan_sentences import conclusion
from paretoid.report.plan_text import as_dict, as_text

LIMITS = {"ease & rest": pt.at_least(1.1)}
LATE = pt.Conduct(rate=5.0, delay=8.0, look=60)


@pytest.fixture(scope="module")
def limited(nasty_fit):
    goal = pt.ParetoSet(limits=LIMITS)
    return plan(nasty_fit, goal, radius=pt.Mixture(), draws=30, replications=2, max_samples=400)


@pytest.mark.parametrize("conduct", [None, LATE], ids=["ideal", "late"])
def test_what_is_known_at_the_mean_is_what_trials_of_that_size_know(nasty_fit, conduct):
    """Made again one by one with that many participants, not read off trials that end elsewhere."""
    options = {"radius": pt.Mixture(rho=5.0), "delta": 0.2, "seed": 3}
    goals = [pt.ParetoSet(1.0), pt.AtMost(1, 1.0)]
    planned = plan(
        nasty_fit, goals, draws=12, replications=2, max_samples=600, conduct=conduct, **options
    )
    for g, goal in enumerate(goals):
        one = planned.isel(goal=g)
        N = round(float(one.stopping_time.mean()))
        bandits = tell_scales(posterior_bandits(nasty_fit, 12), nasty_fit, pt.Mixture(), 0.95)
        again = pt.simulate(bandits, goal, max_samples=N, conduct=conduct, **options).isel(
            goal=0, replication=0
        )
        expected = [float((again.settled == kind).sum() / 12) for kind in (1, -1, 0)]
        assert one.arms_settled.sel(budget=N).values.tolist() == pytest.approx(expected)
        assert float(one.answered.sel(budget=N)) == float(again.stopped.mean())
        at_mean, at_end = settled_words(one)
        assert at_mean.startswith(f"at {N} participants (the mean)")
        assert ("once their outcomes have come" in at_mean) == (conduct is not None)
        assert f" {expected[2]:.3g} undecided" in at_mean or expected[2] % 1 == 0
        assert at_end.startswith("when a trial ends, answered or not,")
    assert conduct is None or planned.budget.values.min() >= 60
    axes = plots.settled(planned, 1)
    assert axes.get_xlim()[1] == planned.budget.values.max()
    assert "one arm" in axes.get_title(loc="right")


def test_sizes_at_which_no_trial_could_be_held_are_left_out(nasty_fit):
    """At 5 a day for 8 days nobody's outcome is known before 40 are enrolled, nor a look held."""
    late = pt.Conduct(rate=5.0, delay=8.0, look=20)
    planned = plan(
        nasty_fit, pt.ParetoSet(1.0), radius=pt.Mixture(), draws=3, replications=2,
        max_samples=200, conduct=late, samples=[10, 20, 30, 200],
    )  # fmt: skip
    budgets = planned.budget.values.tolist()
    assert not {10, 20, 30} & set(budgets)
    assert 200 in budgets


def test_a_plan_is_made_again_with_all_that_shaped_it(nasty_fit):
    """Ranges, correlation and conduct: at the limit what is settled is what the plan has."""
    planned = plan(
        nasty_fit, pt.ParetoSet(0.5), draws=6, replications=2, max_samples=150, correlation=0.8,
        ranges={"gain": (-5, 11)}, conduct=pt.Conduct(look=40),
    )  # fmt: skip
    known = settled_in_plan(nasty_fit, planned, [150]).isel(budget=0, replication=0)
    last = known.settled.transpose("goal", "instance", "arm").values
    assert (last == planned.settled.values).all()
    assert (last != 0).any()
    again = trials_of(planned, nasty_fit)
    assert again["conduct"] == pt.Conduct(look=40)
    assert again["bandit"][0].kinds == ((-5.0, 11.0), "gaussian")
    assert again["bandit"][0].correlation[0, 1] == 0.8


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_page_has_the_settled_picture_of_every_goal_in_its_own_units(nasty_plan):
    fit, shares, planned = nasty_plan
    pictures = plan_pictures(fit, shares, planned)["settled"]
    assert len(pictures) == 2
    for picture, label in zip(pictures, ("all optimal arms", "one arm"), strict=True):
        assert picture.svg.count(f"{label} (margin 0.1)") == 2  # for who cannot see it, and drawn
    axes = plots.pareto_probability(pareto_probability(fit, (0.1, 0.25)))
    labels = axes.get_legend_handles_labels()[1]
    assert "within 0.1 mg/L in <i>gain</i> and 0.25 in ease & rest of optimal" in labels


def test_only_code_and_the_appendix_of_a_page_have_logarithms(nasty_fit):
    """The first endpoint is log-normal: a margin of log 1.5 and a limit of log 8 are ratios."""
    fit = nasty_fit.copy(deep=True)
    trial = trial_of(fit)
    fit["posterior"].attrs["paretoid_trial"] = replace(
        trial, scales=("log-normal", "normal"), reported=np.exp(trial.mean)
    ).to_json()
    limits = {"<i>gain</i>": pt.at_least(float(np.log(8.0)), compared=True)}
    goals = [pt.ParetoSet(limits=limits), pt.AtMost(1, limits=limits)]
    planned = plan(fit, goals, fold=1.5, draws=3, replications=2, max_samples=100)
    shares = pareto_probability(fit, (float(np.log(1.5)), 0.0), limits=limits)
    page = plan_report(fit, shares, planned)
    prose = unescape(re.sub(r"<style.*?</style>|<pre.*?</pre>|<[^>]+>", " ", page, flags=re.DOTALL))
    assert "at least 8 mg/L" in prose
    assert "margin 1.5-fold in <i>gain</i> and 0 in ease & rest" in prose
    for logarithm in ("eps1=", "0.405", "2.079"):
        assert logarithm not in prose


def test_limits_count_in_the_probabilities_that_head_a_plan(nasty_fit, limited):
    shares = pareto_probability(nasty_fit, limits=LIMITS)
    means, _ = posterior_draws(nasty_fit)
    feasible, best = np.zeros((2, 4))
    for draw in means:
        meets = draw[:, 1] >= 1.1
        feasible += meets
        for i in range(4):  # the other endpoint alone is compared
            best[i] += meets[i] and not (meets & (draw[:, 0] > draw[i, 0])).any()
    assert shares.feasible.values == pytest.approx(feasible / len(means))
    assert shares.optimal.values == pytest.approx(best / len(means))
    assert 0 < shares.feasible.values[2] < 1
    text = as_text(nasty_fit, shares, limited, 100)
    assert "meets limits  optimal of those" in text
    data = as_dict(nasty_fit, shares, limited)
    assert data["probability_meets_limits"] == dict(
        zip(data["arms"], shares.feasible.values.tolist(), strict=True)
    )
    nobody = pareto_probability(nasty_fit, limits={"ease & rest": pt.at_least(99.0)})
    assert not nobody.optimal.values.any()  # best of none is no answer
    assert not nobody.near_optimal.values.any()
    with pytest.raises(ValueError, match="nothing to say about practical domination"):
        pareto_probability(nasty_fit, 0.5, margin_means="all", limits=LIMITS)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_limited_endpoint_does_not_count_and_a_plan_says_so(nasty_fit, limited):
    shares = pareto_probability(nasty_fit, (0.3, 0.2), limits=LIMITS)
    assert shares.attrs["eps1"].tolist() == [0.3, 0.0]
    axes = plots.pareto_probability(shares)
    assert "within 0.3 mg/L of optimal" in axes.get_legend_handles_labels()[1]
    ways = ("more <i>gain</i> is better; ease & rest must be at least 1.1, and within that it does "
            "not count")  # fmt: skip
    assert f"4 arms, 2 endpoints: {ways}." in " ".join(as_text(nasty_fit, shares, limited).split())
    assert ways in unescape(plan_report(nasty_fit, shares, limited))
    without = pareto_probability(nasty_fit, (0.0, 0.2), limits=LIMITS)
    assert not plan_sentences.margin_head(without)


def test_the_column_of_a_practical_margin_says_what_it_is(nasty_fit):
    goal = pt.PracticalSet(0.5)
    planned = plan(nasty_fit, goal, draws=4, replications=2, max_samples=120)
    shares = pareto_probability(nasty_fit, 0.5, margin_means="all")
    text = as_text(nasty_fit, shares, planned, 120)
    assert "not practically dominated" in text
    assert "in margin" not in text


def legend(axis):
    """The names in the legend of a figure."""
    return [text.get_text() for text in axis.get_figure().legends[0].get_texts()]


def test_limits_are_drawn_in_the_pictures_of_a_fit(nasty_fit):
    panels = plots.forest(nasty_fit, limits=LIMITS)
    for d, axis in enumerate(panels):
        dashed = [line.get_xdata()[0] for line in axis.get_lines() if line.get_linestyle() == "--"]
        assert dashed == ([1.1] if d == 1 else [])
    (cloud,) = plots.projections(nasty_fit, draws=20, limits=LIMITS)
    dashed = [line.get_ydata() for line in cloud.get_lines() if line.get_linestyle() == "--"]
    assert [list(ends) for ends in dashed] == [[1.1, 1.1]]
    front = legend(cloud)
    assert sum("(front)" in name for name in front) == 1  # of those within the limit the best
    for names in (front, legend(panels[0])):  # whichever panel has the line
        assert names.count("limit: ease & rest at least 1.1") == 1


@pytest.mark.filterwarnings("ignore:Glyph")
def test_the_picture_of_probabilities_has_those_of_meeting_the_limits(nasty_fit):
    def marks(shares):
        lines = plots.pareto_probability(shares).get_lines()
        return [line.get_xdata().tolist() for line in lines
                if line.get_label() == "within the limits"]  # fmt: skip

    shares = pareto_probability(nasty_fit, limits=LIMITS)
    assert marks(shares) == [shares.feasible.values.tolist()]
    assert marks(pareto_probability(nasty_fit)) == []


def test_no_t_star_of_another_problem_stands_beside_n(nasty_fit, limited):
    few = {"radius": pt.Mixture(), "draws": 3, "replications": 2, "max_samples": 100}
    exact = plan(nasty_fit, [pt.ParetoSet(), pt.AtMost(1)], **few)
    assert np.isfinite(float(exact.characteristic_time))
    shares = pareto_probability(nasty_fit)
    assert "T* =" in as_text(nasty_fit, shares, exact)
    others = [
        limited,
        plan(nasty_fit, pt.ParetoSet(0.1), **few),
        plan(nasty_fit, pt.AtMost(1), **few),
    ]
    for other in others:
        assert np.isnan(float(other.characteristic_time))
        assert np.isnan(float(other.lower_bound))
        assert "T* =" not in as_text(nasty_fit, shares, other)


@pytest.mark.parametrize("radius", [
    pt.Mixture(), pt.Mixture(shares=pt.Shares([0.4, 0.3, 0.2, 0.1])), pt.Mixture(union="none"),
    pt.KaufmannKoolen(union="claims"), pt.KaufmannKoolen("approximate", union="none"),
    pt.UnknownScale(), pt.UnknownScale(rho=[5.0, 10.0, 20.0, 40.0]), pt.BetaBinomial(),
    pt.LUCB1Like(),
])  # fmt: skip
def test_bounds_of_a_plan_hold_with_the_probability_that_their_words_state(radius):
    """Not so the bound of a union over claims, whose intervals no theorem has all at once."""
    means = [[3.0, 0.0], [2.0, 1.0], [0.5, 2.0], [0.0, 0.0]]
    stand_in, words = bound_radius(radius, informed=False)
    assert theory.sample_bound(means, 0.1, stand_in).probability == pytest.approx(0.9)
    assert words.endswith("no more than that with probability at least 1 - delta")
    assert "another radius" in words  # none of these is the one that is inverted
    assert theory.sample_bound(means, 0.1, pt.Mixture()).probability < 0.8
    own = pt.Mixture(union="pairs")
    assert bound_radius(own, informed=False)[0] == own
    assert "this plan's own radius," in bound_radius(own, informed=False)[1]


def test_the_conclusion_says_how_many_for_what_and_what_is_proved(limited):
    two = limited.isel(goal=[0, 0]).copy(deep=True)
    two["stopping_time"].values[:] = [[100] * 26 + [350] * 4, [10] * 30]
    two["stopped"].values[:] = True
    words = conclusion(two)
    assert words.startswith(
        "In simulated trials 350 participants are enough 90% of the time to find all optimal arms "
        "(ease & rest at least 1.1), and 10 participants are enough"
    )
    assert words.endswith("an answer is wrong with probability at most 0.1, proved.")
    two["stopped"].values[0, 20:] = False
    assert "even 400 participants are enough only 67% of the time to find" in conclusion(two)
    heuristic = two.assign_attrs(guarantee="heuristic")
    at_end = settled_words(heuristic.isel(goal=0))[-1]
    assert "arms by the intervals optimal" in at_end
    assert "surely" not in at_end
    practical = limited.assign_coords(goal=[str(pt.PracticalSet((1.0, 1.0)))])
    assert "find all arms not practically dominated (margin 1" in conclusion(practical)
    assert conclusion(heuristic).endswith("how often an answer is wrong is not proved: this is a "
                                          "heuristic.")  # fmt: skip
