"""Plans of the trial that will really take place, in Dataset, words, report and command."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid import plots
from paretoid.estimation import pareto_probability, plan
from paretoid.report import plan_report
from paretoid.report.calendar_words import calendar_rows, rate_rows
from paretoid.report.plan_text import as_dict, as_text

CONDUCT = pt.Conduct(rate=5.0, delay=14.0, look=50, dropout=0.1)


@pytest.fixture(scope="module")
def planned(nasty_fit):
    goals = [pt.ParetoSet(1.0), pt.AtMost(1, 1.0)]
    return plan(
        nasty_fit, goals, radius=pt.Mixture(rho=5.0), draws=8, replications=2, max_samples=400,
        conduct=CONDUCT,
    )  # fmt: skip


def test_a_plan_states_people_days_and_the_ideal(planned):
    one = planned.isel(goal=1)
    assert one.stopped.any()
    assert (one.analysed <= one.stopping_time - 70 + 1).values[one.stopped.values].all()
    stopped = one.stopped.values
    looks = (one.stopping_time.values - 1) / 5
    np.testing.assert_allclose(one.duration.values[stopped], looks[stopped])
    assert (one.ideal_stopping_time < one.stopping_time).values[stopped].all()
    assert (one.on_dominated <= one.stopping_time).all()
    # 5 a day for 14 days: 70 are in flight once that many days have passed
    assert planned.in_flight.values.tolist() == [50, *[70] * 7]
    assert planned.rate.values.tolist() == [1.25, 2.5, 5.0, 10.0, 20.0]
    assert planned.needed_by_rate.sel(rate=5.0).values[1] == pytest.approx(
        planned.samples_needed.values[1, -1]
    )


def test_words_and_report_show_the_calendar_beside_the_ideal(nasty_fit, planned):
    shares = pareto_probability(nasty_fit, 1.0)
    said = as_text(nasty_fit, shares, planned, 100)
    for words in ("analysed then", "calendar time", "on dominated arms", "N for 90%, ideal",
                  "1.25 a day", "20 a day", "In flight at a look",
                  "surely within 1 of optimal"):  # fmt: skip
        assert words in said, words
    data = as_dict(nasty_fit, shares, planned)["goals"]["AtMost(k=1, eps1=1)"]
    assert data["mean_duration"] > 0
    assert set(data["duration_by_rate"]) == {"1.25", "2.5", "5", "10", "20"}
    page = plan_report(nasty_fit, shares, planned)
    for words in ("The trial as it runs, beside the ideal one", "Looks", "in flight",
                  "conduct=pt.Conduct(rate=5.0"):  # fmt: skip
        assert words in page, words


def test_means_over_trials_without_an_answer_are_lower_bounds(planned):
    """Each by its own trials: of the ideal ones all may have their answer."""
    one = planned.isel(goal=1).copy(deep=True)

    def least(*names):
        rows = dict(calendar_rows(one))
        return [rows[name].startswith(">= ") for name in names]

    late = ("enrolled at the answer, mean", "analysed then, mean", "calendar time, mean",
            "on dominated arms, mean")  # fmt: skip
    one["stopped"].values[:], one["ideal_stopped"].values[:] = True, True
    assert least(*late, "enrolled, mean, ideal") == [False] * 5
    one["stopped"].values[0] = False
    assert least(*late, "enrolled, mean, ideal") == [True] * 4 + [False]
    one["ideal_stopped"].values[0] = False
    assert least("enrolled, mean, ideal") == [True]


def test_a_slow_trial_counts_weeks_wherever_a_rate_stands(planned):
    """A seventh of 1.25 to 20 a day: 1.25 to 20 a week, 5 of them planned."""
    slow = planned.assign_coords(rate=planned.rate.values / 7)
    first = [row[0] for row in rate_rows(slow.isel(goal=1))]
    assert first == ["1.25 a week", "2.5 a week", "5 a week", "10 a week", "20 a week"]
    axes = plots.recruitment(slow)
    assert axes.get_xlabel() == "participants enrolled a week"
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "1.25",
        "2.5",
        "5",
        "10",
        "20",
    ]


def test_the_curve_is_drawn_for_people_and_for_days(planned):
    assert plots.recruitment(planned).get_ylabel() == "N for 90% assurance"
    days = plots.recruitment(planned, of="days")
    assert [len(line.get_xdata()) for line in days.get_lines()] == [5, 5]
    with pytest.raises(ValueError, match="no curve"):
        plots.recruitment(planned.drop_vars("needed_by_rate"))


def test_a_plan_in_which_nothing_settles_says_that_first(nasty_fit):
    few = plan(
        nasty_fit, pt.ParetoSet(), radius=pt.Mixture(rho=5.0), draws=4, replications=2,
        max_samples=30,
    )  # fmt: skip
    assert not few.stopped.any()
    shares = pareto_probability(nasty_fit, 0.0)
    said = as_text(nasty_fit, shares, few)
    assert said.startswith("Nothing settles: none of 4 simulated trials had an answer")
    page = plan_report(nasty_fit, shares, few)
    assert "No answer within 30 participants" in page
    assert "with so many a trial has its answer" not in page
    assert "0 of 4 simulated trials gave a wrong one" not in page


def test_the_command_takes_the_words_of_a_conduct(cli):
    words = ["--rate", "5/day", "--delay", "7d", "--look", "20", "--dropout", "10%"]
    code, out, err = cli("simulate", "covboost", "-n", "2", "--max-samples", "60", *words)
    assert code == 0, err
    assert "5 participants a day, outcomes after 7 days, a look after every 20 enrolled" in (
        " ".join(out.split())
    )
    assert "analysed" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "0/day"], "must be positive"),
        (["--rate", "5/day", "--delay", "900d"], "longer than the trial"),
        (["--look", "5000"], "comes after --max-samples"),
        (["--dropout", "100%"], "must be a share"),
        (["--rate", "5/day", "--delay", "nose=3d"], "no endpoint"),
    ],
)
def test_bad_words_get_a_sentence_before_the_fit(cli, words, said):
    code, _, err = cli("plan", "covboost-groupB", "--max-samples", "600", *words)
    assert code != 0
    assert said in err


def test_a_curve_that_nothing_reaches_says_so():
    planned = xr.Dataset(
        {"needed_by_rate": (("goal", "rate"), [[np.inf, np.inf]])},
        {"goal": ["ParetoSet(eps1=0)"], "rate": [1.0, 2.0]},
        {"max_samples": 900},
    )
    (said,) = pt.plots.recruitment(planned).texts
    assert said.get_text() == "not reached within 900 participants at any rate"
