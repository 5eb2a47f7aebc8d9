"""Hostile command lines of `trial`, `simulate`, `fit` and `plan`, in process.

The contract: exit code 0, 1 or 2 (never 3, nor a traceback), a refusal on purpose in a sentence, no
hang, and no file but those that were named. `fit` and `plan` stop where they would sample: what
comes before decides about the input, the sampler does not. `pytest --full` tries a hundred times as
many.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import shutil
import tempfile
import tomllib
from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.cli import app, published
from paretoid.validation import hostile
from paretoid.validation.guard import time_limit

#: seconds for one command; compiling counts, on a busy machine too, so that only a hang meets it
LIMIT = 600.0
DESIGN = """arms = ["placebo", "dose 1", "dose 2"]
objectives = ["IgG", "fever"]
minimize = ["fever"]
delta = 0.2
scale = [1.0, 0.5]
seed = 4
max_samples = 90
[[goals]]
kind = "AtMost"
k = 1
[radius]
kind = "Mixture"
rho = 10.0
[conduct]
look = 10
"""
OUTCOMES = "id,IgG,fever\n3,1.5,0.5\n4,0.5,0.1\n"
TABLE = """arm,endpoint,scale,n,geometric_mean,ci_lower,ci_upper
A,IgG,log-normal,40,900,700,1157
B,IgG,log-normal,42,1900,1500,2407
C,IgG,log-normal,41,450,350,579
A,T cells,log-normal,40,60,45,80
B,T cells,log-normal,42,30,22,41
C,T cells,log-normal,41,20,15,27
"""
MEANS = "arm,gain,ease\nA,0.5,0.1\nB,0.1,0.2\nC,2.0,1.0\n"

_WORDS = (
    "1" * 400, "1e999", "5e-324", str(2**63), "nan", "inf", "", " ", "--", "-1", "0.1,0.2", "True",
    "\x1b[2J", "\u202ex", "line\nforged", "../x.csv", "/dev/null", "out.csv", "out.nc", "out.html",
    "new.db", "trial.db", "design.toml", "table.csv", "means.csv", ".", "kept", "missing", "IgG",
    "IgG=1", "IgG=missing", "fever=1e999", "IgG=nan", "placebo", "dose 1", "A", "2/day", "28d",
    "10%", "5,50", "simple", "north,south", "IgG<3", "IgG>nan,slack=x", "mixture:rho=1e400",
    "unknown-scale", "ape", "ege", "json:JSONDecoder", "cover:eps2=[", "pooled", "binary",
)  # fmt: skip
words = st.one_of(
    st.floats().map(str),
    st.integers(-2, 9).map(str),
    st.sampled_from(_WORDS),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
)  # fmt: skip
LEDGERS = st.sampled_from(["trial.db"] * 4 + ["table.csv", "no.db", ""])

#: for each command its arguments in order, and its options
COMMANDS = {
    ("trial", "new"): (["design.toml", "new.db"],
                       ["--blind", "--seed-file", "--control", "--author"]),
    ("trial", "next"): (["trial.db"], ["-n", "--instead-of", "--arm", "--reason", "--author",
                                       "--request", "--seed-file", "--stratum"]),
    ("trial", "withdraw"): (["trial.db", "2"], ["--reason", "--author"]),
    ("trial", "record"): (["trial.db", "3", "0.5", "0.5"], ["--csv", "--unplanned", "--author"]),
    ("trial", "correct"): (["trial.db", "1", "IgG=2"], ["--reason", "--author"]),
    ("trial", "status"): (["trial.db"], []),
    ("trial", "verify"): (["trial.db"], ["--head", "--seed-file"]),
    ("trial", "backup"): (["trial.db", "copy.db"], []),
    ("trial", "restore"): (["trial.db", "copy.db"], ["--head"]),
    ("trial", "export"): (["trial.db", "out.csv"], []),
    ("trial", "report"): (["trial.db"], ["--out"]),
    ("simulate",): (["means.csv"], [
        "--scale", "--goal", "--k", "--eps1", "--eps2", "--margin-means", "--limit", "--radius",
        "--informed-by", "--delta", "--rule", "--max-samples", "--rate", "--delay", "--look",
        "--dropout", "--burn-in", "--randomise", "--floor", "--control", "--strata", "--budget",
        "--store", "--kind", "--minimize", "--seed", "--out", "--threads",
    ]),
    ("fit",): (["table.csv"], [
        "--arms", "--endpoints", "--minimize", "--scale", "--level", "--assumed-n", "--assumed-sd",
        "--variances", "--draws", "--tune", "--target-accept", "--cores", "--seed", "--out",
    ]),
    ("plan",): (["table.csv"], [
        "--k", "--fold", "--eps1", "--margin-means", "--limit", "--delta", "--max-samples",
        "--rate", "--delay", "--look", "--dropout", "--burn-in", "--randomise", "--floor",
        "--control", "--strata", "--correlation", "--range", "--draws", "--arms", "--endpoints",
        "--minimize", "--scale", "--level", "--assumed-n", "--assumed-sd", "--shares",
        "--variances", "--tune", "--target-accept", "--cores", "--seed", "--out",
    ]),
}  # fmt: skip
FLAGS = ("--json", "--yes", "--group", "--events", "--force", "--quiet")


@st.composite
def files(draw):
    """The files of an example: in order, or one of them with a cell or a line changed."""
    contents = {
        "design.toml": DESIGN, "outcomes.csv": OUTCOMES, "table.csv": TABLE, "means.csv": MEANS,
    }  # fmt: skip
    if draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from(sorted(contents)))
        rows = contents[name].split("\n")
        at = draw(st.integers(0, len(rows) - 1))
        mark = " = " if name.endswith(".toml") else ","
        cells = rows[at].split(mark)
        cells[draw(st.integers(0, len(cells) - 1))] = draw(words)
        how = draw(st.sampled_from(["cell", "cell", "cell", "gone", "twice", "all"]))
        rows[at : at + 1] = {"cell": [mark.join(cells)], "gone": [], "twice": [rows[at]] * 2,
                             "all": [draw(st.text(max_size=40))]}[how]  # fmt: skip
        contents[name] = "\n".join(rows)
    return contents


@st.composite
def lines(draw):
    """A command line: arguments in order but perhaps one, and up to three options with words."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    arguments, options = COMMANDS[command]
    arguments = list(arguments)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(arguments) - 1))
        arguments[at] = draw(LEDGERS if arguments[at] == "trial.db" else words)
    line = [*command, *arguments]
    for option in draw(st.lists(st.sampled_from(options), max_size=3)) if options else []:
        good = {"--csv": "outcomes.csv", "--out": "out.html", "--scale": "0.5"}.get(option, "1")
        line += [option, good if draw(st.integers(0, 3)) == 0 else draw(words)]
    line += draw(st.lists(st.sampled_from(FLAGS[:2]), max_size=1)) if command[0] == "trial" else []
    if command == ("simulate",):
        line += ["-n", "2", "--quiet"]
        line += [] if "--scale" in line else ["--scale", "0.5"]
        line += [] if {"--max-samples", "--budget"} & set(line) else ["--max-samples", "40"]
    return line


def call(line, here):
    """(exit code, what went wrong with the refusal, stdout, stderr) of a command run in `here`."""
    out, err, faults = io.StringIO(), io.StringIO(), []
    explain = app._explain

    def judged(error, debug, words):
        if isinstance(error, ValueError):
            faults.append(hostile.fault_in(error))
        elif not isinstance(error, OSError):
            faults.append(f"{type(error).__name__}: {error}")
        return explain(error, debug, words)

    code = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "_explain", judged)
        patch.setattr("sys.stdin", io.StringIO(""))
        try:
            with (
                contextlib.chdir(here), contextlib.redirect_stderr(err),
                contextlib.redirect_stdout(out), time_limit(LIMIT),
            ):  # fmt: skip
                app.main(line)
        except SystemExit as ended:
            code = ended.code
    return code, "".join(faults), out.getvalue(), err.getvalue()


def listing(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths}


def strays(before, after, line):
    """Files that changed and were not named; those of SQLite stand beside a named ledger."""
    named = {os.path.normpath(os.path.join("here", word)) for word in line}
    named |= {f"{name}-{end}" for name in list(named) for end in ("wal", "shm", "journal")}
    return [
        name
        for name in {**before, **after}
        if before.get(name, math.nan) != after.get(name, math.nan)
        and not any(name == known or name.startswith(f"{known}/") for known in named)
    ]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A trial with four allocations and one outcome; copied for every example."""
    path = tmp_path_factory.mktemp("fuzz") / "trial.db"
    with pt.Explorer.from_design(pt.explorer.Design.from_dict(tomllib.loads(DESIGN)), path) as one:
        first, *_ = one.ask(4)
        one.tell(first, [1.0, 0.5])
    return path


@pytest.fixture(scope="module")
def unsampled():
    """The sampler says that it was reached, and ends the command."""

    def reached(*_, **__):
        raise typer.Exit(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "sample", reached)
        yield


def test_any_line_of_any_command_ends_in_a_sentence_and_keeps_to_its_files(
    examples, ledger, unsampled
):
    codes = []

    @given(lines(), files())
    @settings(
        max_examples=40 * examples, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate],  # shrinking would take minutes
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def fuzz(line, contents):
        with tempfile.TemporaryDirectory() as above:
            here = Path(above, "here")
            here.mkdir()
            for name, content in contents.items():
                (here / name).write_bytes(content.encode("utf-8", "replace"))
            shutil.copy(ledger, here / "trial.db")
            before = listing(Path(above))
            code, fault, out, err = call(line, here)
            said = (line, contents, err[-500:])
            assert code in (0, 1, 2), said
            assert not fault, (fault, said)
            assert not hostile.python_in(err), said
            assert "Traceback" not in out + err, said
            assert code == 0 or err.strip(), ("no word about it", said)
            assert not strays(before, listing(Path(above)), line), said
            codes.append(code)

    pt.simulate(pt.GaussianBandit([[1.0], [0.0]]), max_samples=20)  # compiles, which may take long
    fuzz()
    assert {0, 2} <= set(codes)


def test_a_refusal_by_accident_and_a_stray_file_would_be_noticed(tmp_path, monkeypatch):
    (tmp_path / "means.csv").write_text(MEANS)
    line = ["simulate", "means.csv", "--scale", "1", "-n", "2", "--max-samples", "20", "--quiet"]
    assert call(line, tmp_path)[:2] == (0, "")
    for mistake, code in ((ValueError("x"), 2), (OverflowError("x"), 3)):

        def broken(*_, mistake=mistake):
            raise mistake

        monkeypatch.setattr("paretoid.cli.members.goals", broken)
        ended, fault, _, _ = call(line, tmp_path)
        assert ended == code
        assert fault
    assert strays({"a": b"1"}, {"a": b"2", "here/out.csv": b"", "b": b""}, ["out.csv"]) == [
        "a",
        "b",
    ]
