"""`plan --oc`: what `paretoid oc` found stands on the pages of a plan, figure for figure."""

from __future__ import annotations

import re
from html import unescape

import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.app import app
from paretoid.estimation import save_fit
from paretoid.operating import words
from paretoid.report.operating import operating_section, read_operating
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
