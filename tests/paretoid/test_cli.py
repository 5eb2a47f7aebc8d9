"""The command line as a person meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def paretoid(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "paretoid", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"},
    )


def test_the_readme_shows_what_the_demo_prints():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(20 arms.*?)```", text, re.S).group(1)
    result = paretoid("demo")
    assert result.returncode == 0, result.stderr
    assert result.stdout == shown
    assert result.stderr == ""


def test_json_is_json():
    result = paretoid("demo", "--json", "--replications", "3", "--delta", "0.5")
    answer = json.loads(result.stdout)
    assert answer["guarantee"] == "proved"
    assert set(answer["goals"]) == {"ParetoSet(eps1=0)", "AtMost(k=2, eps1=0)"}


def test_mistakes_end_with_one_sentence_and_code_2():
    for arguments, words in [
        (["demo", "covbost"], "did you mean 'covboost'"),
        (["demo", "--delta", "2"], "strictly between 0 and 1"),
        (["demo", "--k", "50"], "1..20"),
        (["demo", "--replications", "0"], "replications=0"),
        (["demo", "--replications", "many"], "--replications"),
        (["nonsense"], "nonsense"),
    ]:
        result = paretoid(*arguments)
        assert result.returncode == 2
        assert words in result.stderr
        assert "Traceback" not in result.stderr


def test_help_fits_a_narrow_terminal():
    result = paretoid("demo", "--help", columns=50)
    assert result.returncode == 0
    assert "Example: paretoid demo" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 50


def test_output_may_be_piped_into_head():
    command = f"{sys.executable} -m paretoid demo --replications 2 --delta 0.5 | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.stdout.startswith("20 arms")
    assert "Traceback" not in result.stderr


def test_version():
    import paretoid as pt

    assert paretoid("version").stdout.strip() == pt.__version__
