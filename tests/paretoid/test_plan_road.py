"""The whole road from a table: every option of `plan`, `oc` and `simulate`, none left out."""

from __future__ import annotations

import copy
import json

import pytest

from paretoid import estimation
from paretoid.cli import published
from paretoid.cli.app import app
from paretoid.engine.cache import cache_directory
from paretoid.estimation.compat import annotate
from paretoid.runs import ahead

#: three doses of a drug with two measured endpoints, as a paper prints them
MEASURED = """arm,endpoint,n,mean,sd
low,effect,40,1.0,0.8
middle,effect,40,2.2,0.8
high,effect,40,2.9,0.8
low,pain,40,2.0,0.8
middle,pain,40,3.0,0.8
high,pain,40,4.5,0.8
"""
COUNTED = """arm,endpoint,n,events
low,response,40,10
middle,response,40,20
high,response,40,31
low,toxicity,40,3
middle,toxicity,40,8
high,toxicity,40,19
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
    "--control": "--randomise simple --control middle=40% --max-samples 40",
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

#: the same of `oc`, whose table is that of `plan` or, with --instance, of means
OC = {
    "--fit": None, "--instance": "--instance means.csv --sd 1", "--kind": "--instance means.csv "
    "--kind gaussian --sd 1", "--sd": "--instance means.csv --sd 1,2",
    "--scenario": "--scenario equal", "--scenarios": None, "--design": "--design fixed",
    "--k": "--k 1", "--fold": "titres --fold 2", "--eps1": "--eps1 0.5",
    "--margin-means": "--margin-means all --eps1 0.5", "--delta": "--delta 0.2",
    "--max-samples": "--max-samples 200", "--fixed": "--fixed 60 --design fixed",
    "--runs": "--runs 4", "--rate": "--rate 2/day", "--delay": "--rate 5/day --delay 14d",
    "--look": "--look 100", "--dropout": "--dropout 10%", "--burn-in": "--burn-in 3",
    **{name: OPTIONS[name] for name in (
        "--arms", "--endpoints", "--minimize", "--maximize", "--scale", "--level", "--assumed-n",
        "--assumed-sd", "--variances", "--cores", "--accept-problems", "--seed",
    )},
    "--out": "--out made.nc", "--picture": "--picture made.png", "--force": "--out made.csv "
    "--force", "--quiet": "--quiet", "--json": "", "--help": None,
}  # fmt: skip

#: and of `simulate`, whose table is one of means; None: it needs more than a table
SIMULATE = {
    "--goal": "--goal cover:eps2=1", "--k": "--k 1", "--eps1": "--eps1 0.5,0.4",
    "--eps2": "--eps2 0.5", "--margin-means": "--margin-means all --eps1 0.5",
    "--limit": "--limit ease>1", "--radius": "--radius unknown-scale",
    "--informed-by": None, "--delta": "--delta 0.2", "--rule": "--rule round-robin",
    "--replications": "--replications 2", "--max-samples": "--max-samples 200",
    "--rate": "--rate 2/day --max-samples 200", "--delay": "--rate 5/day --delay 7d --max-samples "
    "200", "--look": "--look 50 --max-samples 200", "--dropout": "--dropout 10% --max-samples 200",
    "--burn-in": "--burn-in 3 --max-samples 200", "--randomise": "--randomise simple --max-samples "
    "60", "--floor": "--randomise simple --floor 10% --max-samples 60",
    "--control": "--randomise simple --control A=40% --max-samples 60",
    "--strata": "--randomise 6 --strata north,south --max-samples 60", "--budget": "--budget 60",
    "--store": "--store kept", "--threads": "--threads 1", "--scheduler": None, "--scale": "",
    "--kind": "--kind gaussian", "--minimize": "--minimize ease", "--maximize": "--maximize ease",
    "--seed": "--seed 3", "--out": "--out made.csv", "--force": "--out made.nc --force",
    "--quiet": "--quiet", "--json": "", "--help": None,
}  # fmt: skip

MEANS = "arm,gain,ease\nA,0,0\nB,4,2\nC,3,5\n"

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
    tables = {"measured": MEASURED, "counted": COUNTED, "titres": TITRES, "means": MEANS}
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text(rows)

    def sample(summary, variances, json, **options):
        tables = (summary.mean, summary.sd, summary.counts)
        key = (summary.endpoints, variances, *(table.tobytes() for table in tables))
        if key not in fits:
            quick = {"tune": 300, "draws": 500, "chains": 2, "cores": 1, "accept_problems": True}
            fits[key] = estimation.fit(summary, variances, **quick)
        made = copy.deepcopy(fits[key])
        annotate(made, {"paretoid_trial": summary.to_json()})  # directions change no posterior
        return made

    monkeypatch.setattr(published, "sample", sample)

    def walk(line, command="plan"):
        words = line.split()
        table = words.pop(0) if words and words[0] in tables else "measured"
        less = {"measured": "pain", "counted": "toxicity"}.get(table)
        stated = {"--minimize", "--maximize", "--instance"} & set(words)
        ways = ["--minimize", less] if less and not stated else []
        short = SHORT
        if command == "oc":
            short = ["--max-samples", "300"]
            short += [] if "--runs" in words else ["--runs", "3"]
            short += [] if "--design" in words else ["--design", "uniform"]
            short += [] if "--scenario" in words else ["--scenario", "fitted"]
        file = [] if "--instance" in words else [f"{table}.csv"]
        return cli(command, *file, *ways, *short, *words)

    return walk


@pytest.mark.parametrize(
    ("name", "walked"), [("plan", OPTIONS), ("oc", OC), ("simulate", SIMULATE)]
)
def test_no_option_is_left_out(name, walked):
    from typer.main import get_command

    command = get_command(app).commands[name]
    options = {max(p.opts, key=len) for p in command.params if p.param_type_name == "option"}
    assert options | {"--help"} == set(walked)


@pytest.mark.parametrize("option", [name for name, line in OC.items() if line is not None])
def test_operating_characteristics_from_a_table_with_each_option(road, option):
    code, out, err = road(f"{OC[option]} --json", "oc")
    assert code == 0, err
    assert json.loads(out)


@pytest.mark.parametrize("option", [name for name, line in SIMULATE.items() if line is not None])
def test_a_simulation_of_a_table_with_each_option(cli, tmp_path, option):
    (tmp_path / "means.csv").write_text(MEANS)
    words = SIMULATE[option].split()
    few = [] if "--replications" in words else ["--replications", "3"]
    code, out, err = cli("simulate", "means.csv", "--scale", "1,2", *few, *words, "--json")
    assert code == 0, err
    assert json.loads(out)


@pytest.mark.parametrize("option", [name for name, line in OPTIONS.items() if line is not None])
def test_the_road_from_a_table_with_each_option(road, option):
    code, out, err = road(f"{OPTIONS[option]} --json")
    assert code == 0, err
    data = json.loads(out)
    assert data["conclusion"].startswith("In simulated trials ")
    assert data["goals"]


@pytest.mark.parametrize("line", TOGETHER)
def test_the_road_with_options_that_meet(road, line, tmp_path):
    code, out, err = road(line)
    assert code == 0, err
    assert out.startswith(("In simulated trials ", "Nothing settles"))
    if "--out" in line:
        page = (tmp_path / "made" / "report.html").read_text()
        design = (tmp_path / "made" / "design.html").read_text()
        assert "Other priors" in page
        for text in (out, page[: page.index('id="repeat"')], design):
            for code in ("eps1=", "rho=(", "Limit(", "Conduct("):
                assert code not in text, code


def test_loops_for_every_table_can_be_loaded():
    """What `plan` compiles ahead, in this process: here an unbound limit was refused once."""
    ahead.load("ideal", "limited", "conducted")
    assert cache_directory() is None or any(cache_directory().iterdir())
