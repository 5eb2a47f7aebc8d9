"""`plan --oc`: what `paretoid oc` found stands on the pages of a plan, figure for figure."""

from __future__ import annotations

import dataclasses
import re
from html import unescape

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.app import app
from paretoid.estimation import save_fit
from paretoid.operating import words
from paretoid.report.operating import operating_section, read_operating
from paretoid.report.other_design import difference_blocks, differences
from paretoid.report.page import TableBlock, render
from paretoid.report.plan import plan_report
from paretoid.report.plan_files import plan_design
from paretoid.report.protocol import protocol_page
from paretoid.text import as_json


@pytest.fixture(scope="module")
def table(nasty_fit):
    return pt.operating_characteristics(
        nasty_fit, pt.ParetoSet(0.1), scenarios=["fitted", "equal"], designs=["uniform", "fixed"],
        runs=6, max_samples=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def stored(table, tmp_path_factory):
    file = tmp_path_factory.mktemp("oc") / "oc.nc"
    table.to_netcdf(file, engine="h5netcdf")
    return file


def told(page):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page[page.index("<main>") :])))


def check(page, table):
    assert page.count('id="scenarios"') == 1
    text = told(page)
    assert "6 simulated trials of each design in each scenario, at most 300" in text
    assert all(sentence in text for sentence in words.sentences(table))
    assert "is no goal of this plan" not in text
    assert text.count(words.naive_sentence(table)) >= 1


def test_the_protocol_of_a_plan_shows_designs_in_scenarios(nasty_plan, table):
    fit, _, planned = nasty_plan
    check(protocol_page(fit, planned, plan_design(fit, planned)[0], operating=table), table)


@pytest.mark.slow
def test_the_report_of_a_plan_shows_designs_in_scenarios(nasty_plan, table):
    fit, shares, planned = nasty_plan
    check(plan_report(fit, shares, planned, operating=table), table)
    assert 'id="scenarios"' not in plan_report(fit, shares, planned)


def like(planned, **attrs):
    """What `oc` would keep of trials that run like those of a plan."""
    about = {name: planned.attrs[name] for name in ("delta", "max_samples")}
    about |= {"conduct": "", "conducted": "", "believed": "40 posterior draws", "of_fit": 1}
    return xr.Dataset(
        coords={"goal": planned.goal.values, **designs(planned.attrs["radius"])},
        attrs={**about, **attrs},
    )


def designs(radius):
    """What `oc` would keep of a fixed design and of one with this radius."""
    return {
        "rule": ("design", ["", "APE(pull='less sampled')"]),
        "radius": ("design", ["", radius]),
        "level": ("design", [np.nan, 0.1]),
    }


def test_the_same_trials_differ_in_nothing(nasty_plan):
    planned = nasty_plan[2]
    assert differences(like(planned), planned) == []
    assert differences(like(planned, conducted=repr(pt.Conduct(look=1))), planned) == []
    tuned = like(planned)
    radius = pt.registry.parse(planned.attrs["radius"], "radius")
    other = dataclasses.replace(radius, rho=7.0)
    tuned = tuned.assign_coords(designs(pt.registry.text(other)))
    assert differences(tuned, planned) == []  # plan and oc tune rho on simulations of their own
    planned = planned.assign_attrs(shares="as given")
    assert [item[0] for item in differences(tuned, planned)] == ["rule and radius"]


def test_whatever_differs_from_the_plan_is_listed_with_both_values(nasty_plan):
    planned = nasty_plan[2]
    base = pt.Conduct(rate=5.0, delay=7.0, look=20)
    conducted = planned.assign_attrs(conducted=repr(base), conduct=str(base))
    for other, expected in {
        base: [],
        pt.Conduct(rate=2 / 7, delay=7.0, look=20): [
            ("recruitment", "5 participants a day", "2 participants a week")],
        pt.Conduct(rate=5.0, delay=8.0, look=20): [
            ("delay of outcomes", "outcomes after 7 days", "outcomes after 8 days")],
        pt.Conduct(rate=5.0, delay=7.0, look_days=7): [
            ("looks", "a look after every 20 enrolled", "a look every 7 days")],
        pt.Conduct(rate=5.0, delay=7.0, look=20, dropout=0.1): [
            ("participants lost", "none", "10% lost")],
        pt.Conduct(rate=5.0, delay=7.0, look=20, missing=0.1): [
            ("outcomes missing", "none", "10% of outcomes missing")],
        pt.Conduct(rate=5.0, delay=7.0, look=20, burn_in=3): [
            ("burn-in", "none", "the first 3 participants of each arm in turn")],
        pt.Conduct(rate=5.0, delay=7.0, look=20, randomise=pt.Randomisation(block=6)): [
            ("randomisation", "none", f"randomised: {pt.Randomisation(block=6)}")],
    }.items():  # fmt: skip
        table = like(conducted, conducted=repr(other), conduct=str(other))
        assert differences(table, conducted) == expected, other
    ideal = [item[0] for item in differences(like(planned), conducted)]
    assert ideal == ["recruitment", "delay of outcomes", "looks"]
    for changed, expected in (
        ({"max_samples": 3000}, ("participants at most", "400", "3,000")),
        ({"delta": 0.05}, ("delta", "0.1", "0.05")),
        ({"of_fit": 0, "believed": "the instance as given"},
         ("what is believed", "posterior draws", "the instance as given")),
    ):  # fmt: skip
        assert differences(like(planned, **changed), planned) == [expected]
    correlated = planned.assign_attrs(correlation=[0.5], ranges='{"gain": [0, 1]}')
    assert differences(like(planned), correlated) == [
        ("correlation of endpoints", "0.5", "independent"),
        ("ranges of endpoints", '{"gain": [0, 1]}', "none"),
    ]
    fewer = planned.isel(goal=[0])
    (item,) = differences(like(planned), fewer)
    assert item == (
        "goals, margins, limits", "all optimal arms (margin 0.1)",
        "all optimal arms (margin 0.1); one arm (margin 0.1)",
    )  # fmt: skip
    other = like(planned).assign_coords(designs("Mixture(rho=5.0)"))
    (item,) = differences(other, planned)
    assert item[0] == "rule and radius"
    assert "UnknownScale" in item[1]
    assert "Mixture" in item[2]


@pytest.mark.parametrize(
    "other", [{"shares": None}, {"sides": "two"}, {"union": "pairs", "shares": None}]
)
def test_a_radius_of_the_same_name_is_another_by_what_is_not_tuned(nasty_plan, other):
    planned = nasty_plan[2]
    radius = pt.registry.parse(planned.attrs["radius"], "radius")
    assert radius.shares is not None
    table = like(planned).assign_coords(
        designs(pt.registry.text(dataclasses.replace(radius, **other)))
    )
    assert [item[0] for item in differences(table, planned)] == ["rule and radius"]


def test_what_an_older_file_does_not_say_is_called_not_known(nasty_plan):
    planned = nasty_plan[2]
    old = like(planned, conduct="0.285714 participants a day")
    for name in ("conducted", "believed", "of_fit"):
        del old.attrs[name]
    items = {
        what: here
        for what, _, here in differences(old.drop_vars(["rule", "radius", "level"]), planned)
    }
    assert set(items) == {"conduct", "what is believed", "rule and radius"}
    assert all("not known" in here for here in items.values())
    assert "0.285714 participants a day" in items["conduct"]


def test_the_page_begins_a_section_that_differs_with_what_differs(nasty_plan, table):
    fit, _, planned = nasty_plan
    page = told(protocol_page(fit, planned, plan_design(fit, planned)[0], operating=table))
    section = page[page.index("Designs in scenarios") :]
    warning = section.index("This section is not about the design of this plan")
    assert warning < section.index("6 simulated trials of each design")
    assert re.search("participants at most 400 300", section)
    (only,) = difference_blocks(like(planned, max_samples=5), planned)[1].rows
    assert [cell.text for cell in only] == ["participants at most", "400", "5"]
    assert difference_blocks(like(planned), planned) == []


def test_every_figure_of_the_table_is_that_of_the_result(table):
    section = operating_section(table, ["another goal"])
    shown = next(b for b in section.blocks if isinstance(b, TableBlock) and "mean N" in b.heads)
    at = shown.heads.index("mean N")
    rows = iter(shown.rows)
    for s in range(2):
        for d in range(2):
            row = next(rows)
            assert row[at].key == words.cell(table, "mean_samples", s, d, 0)[0]
            assert row[0].text == str(table.scenario.values[s])
            assert row[1].text == str(table.design.values[d])
    assert "is no goal of this plan" in told(render("t", "s", [section]))


def test_what_oc_wrote_is_read_as_it_was(stored, table, nasty_fit):
    arms, objectives = ([str(name) for name in table[dim].values] for dim in ("arm", "objective"))
    again = read_operating(stored, arms, objectives, 0.1)
    assert as_json(words.as_dict(again)) == as_json(words.as_dict(table))
    one = stored.parent / "one.nc"
    table.isel(scenario=[0]).to_netcdf(one, engine="h5netcdf")
    assert read_operating(one, arms, objectives, 0.1).sizes["scenario"] == 1
    for wrong, said in (
        ((arms[::-1], objectives, 0.1), "is about the arms"),
        ((arms, ["x"], 0.1), "is about the endpoints"),
        ((arms, objectives, 0.2), "has delta = 0.1, and the plan 0.2"),
    ):
        with pytest.raises(ValueError, match=said):
            read_operating(stored, *wrong)
    (stored.parent / "plan.nc").write_bytes(b"no netCDF")
    with pytest.raises(ValueError, match="holds no operating characteristics"):
        read_operating(stored.parent / "plan.nc", arms, objectives, 0.1)


def test_the_command_refuses_what_does_not_fit_before_anything_slow(stored, nasty_fit, tmp_path):
    save_fit(nasty_fit, tmp_path / "fit.nc")

    def refused(*options):
        result = CliRunner().invoke(app, ["plan", str(tmp_path / "fit.nc"), *options])
        assert isinstance(result.exception, ValueError)
        return str(result.exception)

    assert "--out DIR" in refused("--oc", str(stored))
    out = ("--out", str(tmp_path / "out"))
    assert "delta = 0.1" in refused("--oc", str(stored), "--delta", "0.2", *out)
    assert not any((tmp_path / "out").iterdir())
