"""What the command line refuses is said in options, arguments and fields, never in Python."""

from __future__ import annotations

import pytest
import typer

import paretoid as pt
from paretoid.cli import published
from paretoid.cli.app import app
from paretoid.cli.wording import options_of
from paretoid.validation import hostile

DESIGN = {
    "arms": '["placebo", "dose"]', "objectives": '["IgG", "fever"]', "minimize": '["fever"]',
    "delta": "0.2", "scale": "[1.0, 0.5]", "max_samples": "90",
}  # fmt: skip
MEANS = "arm,gain,ease\nA,0.5,0.1\nB,0.1,0.2\nC,2.0,1.0\n"
TABLE = """arm,endpoint,scale,n,geometric_mean,ci_lower,ci_upper
A,IgG,log-normal,40,900,700,1157
B,IgG,log-normal,42,1900,1500,2407
A,T cells,log-normal,40,60,45,80
B,T cells,log-normal,42,30,22,41
"""


def commands(group, path=()):
    """Every command with its names."""
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))
    if not hasattr(group, "commands"):
        yield path, command_options(group)


def command_options(command):
    return {name for name, words in options_of(command).items() if words.startswith("-")}


#: names that are options of some command
ARGUMENTS = set().union(*(names for _, names in commands(typer.main.get_command(app))))


def lines():
    """Command lines that are refused, and words that must be in the refusal."""
    sim = ["simulate", "means.csv", "--scale", "0.5", "-n", "2", "--quiet"]
    for words, said in (
        (["--k", "7"], "--k=7"),
        (["--k", "-1"], "--k"),
        (["--max-samples", "0"], "--max-samples=0"),
        (["--max-samples", "50", "--look", "90"], "--max-samples=50"),
        (["--max-samples", "50", "--burn-in", "30"], "--burn-in=30"),
        (["--look", "9", "--limit", "gain<1"], "--max-samples"),
        (["--delay", "28d"], "--rate, participants a day"),
        (["--rate", "0/day"], "--rate=0"),
        (["--rate", "1/day", "--look", "0d"], "--look"),
        (["--dropout", "100%"], "--dropout=1.0"),
        (["--eps1", "-1"], "--eps1=-1"),
        (["--eps1", "1,2,3"], "eps1 has shape"),
        (["--delta", "2"], "--delta=2"),
        (["--seed", "-1"], "--seed"),
        (["--randomise", "4,4", "--max-samples", "40"], "--randomise"),
        (["--randomise", "simple", "--burn-in", "3", "--max-samples", "40"], "--burn-in=3"),
        (["--randomise", "simple", "--rule", "ege:budget=9", "--max-samples", "40"], "APE"),
        (["--randomise", "simple", "--control", "X=10%", "--max-samples", "40"], "X"),
        (["--rule", "lucb", "--max-samples", "40"], "APE"),
        (["--rule", "ege:budget=9", "--goal", "cover:eps2=1", "--max-samples", "40"], "APE"),
        (["--radius", "mixture:rho=-1", "--max-samples", "40"], "rho"),
        (["--rule", "ege:budget=0"], "budget=0"),
        (["--goal", "cover:eps2=-1"], "eps2=-1"),
    ):
        yield [*sim, *words], said
    yield ["simulate", "means.csv", "-n", "2", "--quiet"], "--scale"
    yield ["simulate", "none.csv"], "none.csv"
    bounds = ["bounds", "means.csv", "--scale", "1"]
    yield [*bounds, "--k", "9"], "--k=9"
    yield [*bounds, "--eps1", "-1"], "--eps1=-1"
    oc = ["oc", "--instance", "means.csv", "--sd", "1", "--quiet"]
    for words, said in (
        (["--fixed", "1"], "--fixed=1"),
        (["--max-samples", "9", "--look", "20"], "--look=20"),
        (["--design", "fixed", "--design", "fixed"], "--design="),
        (["--scenario", "nope"], "'nope'"),
        (["--k", "7"], "--k=7"),
        (["--scenarios", "mine.toml"], "mine.toml, scenario 'x': scale = -1 must be finite"),
    ):
        yield [*oc, *words], said
    yield ["simulate", "instance.toml"], "instance.toml: scale = -1 must be finite"
    for command in ("plan", "fit", "oc"):
        for words, said in (
            (["--level", "0.3"], "--level=0.3"),
            (["--cores", "0"], "--cores=0"),
            (["--seed", "-1"], "--seed"),
            (["--variances", "no"], "--variances='no'"),
            (["--arms", "A"], "A"),
            (["--level", "0.99"], None),
            (["--assumed-n", "0"], "--assumed-n"),
        ):
            yield [command, "table.csv", *words, "--quiet"], said
    for words, said in (
        (["--k", "3"], "--k 3"),
        (["--fold", "0.5"], "--fold=0.5"),
        (["--draws", "0"], "--draws"),
        (["--max-samples", "60", "--look", "100"], "--max-samples=60"),
        (["--correlation", "2"], "--correlation"),
        (["--radius", "mixture:rho=-1"], "rho=-1"),
        (["--target-accept", "2"], "--target-accept=2"),
    ):
        yield ["plan", "table.csv", *words, "--quiet"], said
    for change, said in (
        ({"max_samples": "0"}, "max_samples = 0"),
        ({"delta": "1.5"}, "delta = 1.5"),
        ({"minimize": '"harm"'}, "minimize"),
        ({"outcomes": '"binary"', "scale": "0.1"}, "scale"),
        ({"outcomes": '"binary"', "radius": '{kind = "UnknownScale"}'}, "scale"),
        ({"outcomes": '"other"'}, "outcomes = 'other'"),
        ({"scale": None, "radius": '{kind = "Mixture"}'}, "UnknownScale"),
        ({"radius": '{kind = "UnknownScale"}'}, "scale"),
        ({"scale": None, "rule": '{kind = "LUCB"}'}, '[rule] kind = "APE"'),
        ({"rule": '{kind = "EGE", budget = 9}', "randomise": "{floor = 0.1}"}, "EGE"),
        ({"goals": '[{kind = "AtMost", k = 9}]'}, "k = 9"),
        ({"goals": '[{kind = "ParetoSet", eps1 = -1}]'}, "eps1"),
        ({"goals": '[{kind = "ParetoSet", limits = {fever = "at most 5"}}]'}, "most = 0.30}"),
        ({"goals": '[{kind = "ParetoSet", limits = 5}]'}, "most = 0.30} for 'toxicity'"),
        ({"goals": '[{kind = "ParetoSet", limits = {fever = {kind = "Limit"}}}]'}, "most = 0.3}"),
        ({"conduct": "{look = 100}"}, "look = 100 comes after max_samples = 90"),
        ({"conduct": "{look = 0}"}, "look = 0"),
        ({"conduct": "{rate = 0}"}, "rate = 0"),
        ({"conduct": "{delay = 28}"}, "Give rate"),
        ({"conduct": "5"}, "conduct = 5"),
        ({"conduct": "{burn_in = 90}"}, "burn_in = 90"),
        ({"conduct": "{burn_in = 2}", "randomise": "{floor = 0.1}"}, "burn_in = 2"),
        ({"randomise": "{block = [4, 4]}"}, "block = "),
        ({"randomise": '{control = "x"}'}, "control = 'x'"),
        ({"randomise": "{floor = 0.1}"}, "--seed-file"),
        ({"informed_by": "5"}, "informed_by = 5"),
    ):
        yield change, said
    trial = "trial"
    for words, said in (
        (["next", "trial.db", "--arm", "x", "--instead-of", "1", "--reason", "r"], "of this trial"),
        (["next", "trial.db", "-n", "0"], "-n=0"),
        (["next", "trial.db", "--stratum", "north"], "--stratum='north'"),
        (["next", "trial.db", "--seed-file", "no.json"], "no.json"),
        (["next", "trial.db", "--request", "x" * 300], "--request="),
        (["next", "trial.db", "--instead-of", "1", "--arm", "dose", "--reason", "r"],
         "`trial correct ID --arm`"),
        (["record", "trial.db", "9", "1", "1"], "--unplanned ARM"),
        (["record", "trial.db", "placebo", "1", "1"], "--unplanned ARM"),
        (["record", "trial.db", "1", "1"], "NAME=NUMBER"),
        (["record", "trial.db", "1", "nan", "1"], "NAME=NUMBER"),
        (["record", "trial.db", "1", "inf", "1"], "finite"),
        (["record", "trial.db", "new", "1", "1", "--unplanned", "x"], "of this trial"),
        (["record", "trial.db", "7", "1", "1", "--unplanned", "dose"], "ID '7'"),
        (["correct", "trial.db", "1", "--arm", "x", "--reason", "r"], "of this trial"),
        (["correct", "trial.db", "1", "2", "--reason", " "], ""),
        (["withdraw", "trial.db", "9", "--reason", "r"], ""),
        (["withdraw", "trial.db", "1", "--reason", "r"], ""),
        (["withdraw", "trial.db", "1", "--reason", " "], "--reason"),
        (["verify", "trial.db", "--head", "x"], "--head='x'"),
        (["verify", "trial.db", "--seed-file", "no.json"], ""),
    ):  # fmt: skip
        yield (
            [
                trial,
                *words,
                *(["--yes"] if words[0] in ("next", "record", "correct", "withdraw") else []),
            ],
            said,
        )


@pytest.fixture
def here(cli, tmp_path, monkeypatch):
    """A trial, tables, and a sampler that ends the command."""

    def reached(*_, **__):
        raise typer.Exit(0)

    monkeypatch.setattr(published, "sample", reached)
    (tmp_path / "means.csv").write_text(MEANS)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "mine.toml").write_text('["x"]\nchange = {"B" = [0.2, 0.3]}\nscale = -1\n')
    (tmp_path / "instance.toml").write_text('arms = ["a", "b"]\nmeans = [[1], [2]]\nscale = -1\n')
    design = pt.explorer.Design(["placebo", "dose"], ["IgG", "fever"], scale=1.0)
    with pt.Explorer.from_design(design, tmp_path / "trial.db") as one:
        first, _ = one.ask(2)
        one.tell(first, [1.0, 0.5])
    return tmp_path


@pytest.mark.parametrize(("line", "said"), list(lines()), ids=str)
def test_a_refusal_speaks_of_options_and_fields(cli, here, line, said):
    if isinstance(line, dict):
        fields = {**DESIGN, **line}
        text = "\n".join(f"{key} = {value}" for key, value in fields.items() if value is not None)
        (here / "design.toml").write_text(text)
        line = ["trial", "new", "design.toml", "new.db"]
    code, out, err = cli(*line)
    if said is None:
        assert code == 0
        return
    assert code == 2, (out, err)
    assert not hostile.python_in(err, ARGUMENTS)
    if line[0] != "trial":  # and of a design the fields have these names
        assert not [name for name in ARGUMENTS if "_" in name and name in err], err
    assert said in err
