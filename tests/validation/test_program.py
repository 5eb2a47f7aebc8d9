"""Programs in any language under test: the protocol, and every way to break it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.app import app
from paretoid.validation import delta_correctness
from paretoid.validation.program import Program

EASY = pt.GaussianBandit([[0.0], [9.0]], minimize=["objective 0"])
HELLO = "import json, sys\ndef hear(): return json.loads(input())\n"
HELLO += "def say(**what): print(json.dumps(what), flush=True)\n"
ONE_SAMPLE_EACH = """
while True:
    try:
        begin = hear()
    except EOFError:
        break
    means = []
    for arm in range(begin["K"]):
        say(sample=arm)
        means.append(hear()["outcome"][0])
    say(answer=[means.index(max(means))])
"""


def verdict(code, bandit=EASY, runs=3, **options):
    with Program([sys.executable, "-c", HELLO + textwrap.dedent(code)], **options) as program:
        return delta_correctness(program, bandit, max_runs=runs, budget=500)


@pytest.mark.parametrize("long_lived", [False, True])
def test_a_program_that_keeps_the_protocol_is_judged_by_its_answers(long_lived):
    """Outcomes are turned so that larger is better: arm 0, where less is better, is right."""
    result = verdict(ONE_SAMPLE_EACH, long_lived=long_lived)
    assert result.passed, result.summary()
    assert [record.mean_time for record in result.records] == [2.0]
    assert result.errors == 0


def test_a_program_that_errs_too_often_is_rejected():
    """One sample of each arm at a gap of 0.1 errs in 47% of runs."""
    close = pt.GaussianBandit([[0.0], [0.1]])
    result = verdict(ONE_SAMPLE_EACH, close, runs=150, long_lived=True)
    assert result.rejected


def test_many_outcomes_at_once_and_programs_that_simulate_themselves():
    sized = """
    begin = hear()
    say(sample=0, size=4)
    assert len(hear()["outcomes"]) == 4
    say(answer=[0])
    """
    assert verdict(sized).passed
    own = """
    begin = hear()
    best = max(range(begin["K"]), key=lambda arm: begin["means"][arm][0])
    say(answer=[best], samples=77)
    """
    result = verdict(own, means=True)
    assert result.passed
    assert result.records[0].mean_time == 77


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (
            "hear(); sys.exit('out of memory')",
            "raised",
            "CrashedError: it ended with code 1.*memory",
        ),
        (
            "hear(); print('hello', flush=True)",
            "raised",
            "MalformedError: it sent 'hello', which is no",
        ),
        ("hear(); print('[1]', flush=True)", "raised", 'neither "sample" nor "answer"'),
        ("hear(); say(sample=2)", "raised", "asks for no arm: 0..1"),
        ("hear(); say(sample=True)", "raised", "asks for no arm"),
        ("hear(); say(sample=0, size=0)", "raised", "a size of at least 1"),
        ("hear(); say(answer=[0, 0])", "raised", "which is no answer"),
        ("hear(); say(answer=3)", "raised", "which is no answer"),
        ("hear(); import time; time.sleep(60)", "unfinished", "did not answer within"),
        ("while True: hear(); say(sample=0, size=100)", "unfinished", "budget of 500"),
    ],
)
def test_what_goes_wrong_is_reported_with_its_seed(code, kind, says):
    import re

    result = verdict(code, runs=1, seconds=6.0 if "sleep" not in code else 1.0)
    assert not result.passed
    assert result.errors == 0
    fault = result.faults[0]
    assert fault.kind == kind
    assert re.search(says, fault.detail), fault.detail
    assert f"seed {fault.seed}" in result.summary()


def test_a_long_lived_program_that_crashes_is_started_again():
    code = """
    import random
    begin = hear()
    if begin["seed"] % 2:
        sys.exit(3)
    say(answer=[0])
    """
    result = verdict(code, runs=12, long_lived=True)
    counts = result.records[0].faults
    assert 0 < counts["raised"] < 12
    assert result.errors == 0


@pytest.mark.parametrize("command", ["./no-such-program", "", "'"])
def test_a_program_that_is_not_there_is_refused(command):
    with pytest.raises(ValueError, match=r"cannot be (started|read)"):
        Program(command)


compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.mark.skipif(compiler is None, reason="no C compiler here")
def test_the_example_in_c_is_certified_and_a_careless_one_is_not(tmp_path):
    source = Path(__file__).parents[2] / "examples" / "elimination.c"
    text = source.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    careless = text.replace("double radius = 2 * sigma", "double radius = 0.02 * sigma")
    assert careless != text
    for name, code in (("careful", text), ("careless", careless)):
        (tmp_path / f"{name}.c").write_text(code, encoding="utf-8")
        subprocess.run(
            [compiler, "-O2", "-Wall", "-o", tmp_path / name, tmp_path / f"{name}.c", "-lm"],
            check=True,
        )  # fmt: skip
    close = pt.GaussianBandit([[0.6, 0.0], [0.0, 0.6], [-0.5, -0.5]])
    with Program(str(tmp_path / "careful")) as program:
        result = delta_correctness(program, close, delta=0.3, max_runs=16)
    assert result.certified, result.summary()
    with Program(str(tmp_path / "careless")) as program:
        result = delta_correctness(program, close, delta=0.1, max_runs=60, budget=10**5)
    assert result.rejected, result.summary()


def test_the_command_line_reports_a_fault_and_exits_with_1(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("input(); print('what?')", encoding="utf-8")
    said = CliRunner().invoke(
        app, ["certify", "--program", f"{sys.executable} {script}", "--runs", "1"]
    )
    assert said.exit_code == 1
    assert "MalformedError" in said.output
    assert "seed" in said.output
