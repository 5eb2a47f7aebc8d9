"""The whole road from a table: every option of `plan`, `oc` and `simulate`, none left out."""

from __future__ import annotations

import json

import pytest

from paretoid import estimation
from paretoid.cli import published
from paretoid.cli.app import app
from paretoid.engine.cache import cache_directory
from paretoid.runs import ahead

#: three doses of a drug with two measured endpoints, as a paper prints them
MEASURED = """arm,endpoint,n,mean,sd
100 mg,effect,40,1.0,2.0
300 mg,effect,40,2.2,2.0
600 mg,effect,40,2.9,2.0
100 mg,pain,40,2.0,2.0
300 mg,pain,40,3.0,2.0
600 mg,pain,40,4.5,2.0
"""
COUNTED = """arm,endpoint,n,events
100 mg,response,40,10
300 mg,response,40,20
600 mg,response,40,31
100 mg,toxicity,40,3
300 mg,toxicity,40,8
600 mg,toxicity,40,19
"""
TITRES = """arm,endpoint,n,geometric_mean,ci_lower,ci_upper
A,IgG,40,1000,700,1430
B,IgG,40,4000,2800,5710
A,IgA,40,100,70,143
B,IgA,40,90,63,129
"""

#: what all runs are given, so that they are short
SHORT = ["--draws", "3", "--max-samples", "300"]

#: every option of `plan`: what is typed behind the table, and which table
OPTIONS = {
    "--k": "--k 1", "--fold": "titres --fold 2", "--eps1": "--eps1 0.5,0.4",
    "--margin-means": "--margin-means all --eps1 0.5", "--limit": "--limit pain<4",
    "--delta": "--delta 0.2", "--max-samples": "--max-samples 200", "--rate": "--rate 2/week",
    "--delay": "--rate 5/day --delay 28d", "--look": "--look 100", "--dropout": "--dropout 10%",
    "--burn-in": "--burn-in 3", "--randomise": "--randomise simple --max-samples 40",
    "--floor": "--randomise simple --floor 10% --max-samples 40",
    "--control": "--randomise simple --control 100\u00a0mg=40% --max-samples 40",
    "--strata": "--randomise 6 --strata north,south --max-samples 40",
    "--correlation": "--correlation 0.5", "--range": "--range pain=0:20", "--draws": "--draws 2",
    "--arms": "--arms arm", "--endpoints": "--endpoints pain,effect",
    "--minimize": "--minimize effect,pain", "--maximize": "--maximize pain",
    "--scale": "--scale normal", "--level": "titres --level 0.99",
    "--assumed-n": "--assumed-n 30", "--assumed-sd": "--assumed-sd pain=3",
    "--shares": "--shares uniform", "--radius": "counted --radius mixture",
    "--variances": "--variances pooled", "--tune": "--tune 400",
    "--target-accept": "--target-accept 0.85", "--cores": "--cores 1",
    "--accept-problems": "--accept-problems", "--seed": "--seed 3", "--oc": None,
    "--out": "--out made", "--force": "--force --out made", "--quiet": "--quiet", "--json": "",
    "--help": None,
}  # fmt: skip

#: more than one option at a time, where one changes what another means
TOGETHER = [
    "counted --limit toxicity<0.3", "counted --limit toxicity<0.3 --look 100 --out made",
    "--limit pain<4 --rate 5/day --delay 14d --look 50 --out made",
    "titres --limit IgG>6 --k 0 --out made", "counted --look 100 --rate 1/day",
    "--margin-means all --eps1 0.5 --look 100 --out made", "titres --eps1 0.3 --shares uniform",
]  # fmt: skip


@pytest.fixture(scope="module")
def fits():
    """Fits by what makes them differ: each is sampled once, and shortly."""
    return {}


@pytest.fixture
def road(cli, tmp_path, monkeypatch, fits):
    """`plan TABLE ...` from the table on, all compiled loops asked for as on a new machine."""
    tables = {"measured": MEASURED, "counted": COUNTED, "titres": TITRES}
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text(rows)

    def sample(summary, variances, json, **options):
        key = summary.to_json(), variances
        if key not in fits:
            quick = {"tune": 150, "draws": 150, "chains": 2, "cores": 1, "accept_problems": True}
            fits[key] = estimation.fit(summary, variances, **quick)
        return fits[key]

    monkeypatch.setattr(published, "sample", sample)

    def walk(line):
        words = [word.replace("\u00a0", " ") for word in line.split()]
        table = words.pop(0) if words and words[0] in tables else "measured"
        less = {"measured": "pain", "counted": "toxicity"}.get(table)
        stated = {"--minimize", "--maximize"} & set(words)
        ways = ["--minimize", less] if less and not stated else []
        short = [] if {"--draws", "--max-samples"} <= set(words) else SHORT
        return cli("plan", f"{table}.csv", *ways, *short, *words)

    return walk


def test_every_option_of_plan_is_walked():
    from typer.main import get_command

    command = get_command(app).commands["plan"]
    options = {max(p.opts, key=len) for p in command.params if p.param_type_name == "option"}
    assert options | {"--help"} == set(OPTIONS)


@pytest.mark.parametrize("option", [name for name, line in OPTIONS.items() if line is not None])
def test_the_road_from_a_table_with_each_option(road, option):
    code, out, err = road(f"{OPTIONS[option]} --json")
    assert code == 0, err
    data = json.loads(out)
    assert data["conclusion"].count("participants") == 1
    assert data["goals"]


@pytest.mark.parametrize("line", TOGETHER)
def test_the_road_with_options_that_meet(road, line, tmp_path):
    code, out, err = road(line)
    assert code == 0, err
    assert "of simulated trials" in out or "Nothing settles" in out
    if "--out" in line:
        page = (tmp_path / "made" / "report.html").read_text()
        design = (tmp_path / "made" / "design.html").read_text()
        assert "Other priors" in page
        for text in (out, page):
            assert "eps1=" not in text.partition("Appendix")[0].partition("How to repeat")[0]
        assert "eps1=" not in design


def test_loops_for_every_table_can_be_loaded():
    """What `plan` compiles ahead, in this process: here an unbound limit was refused once."""
    ahead.load("ideal", "limited", "conducted")
    assert cache_directory() is None or any(cache_directory().iterdir())
