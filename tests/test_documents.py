"""What the documents say to type is typed; what they show is what comes out; links lead somewhere.

In README.md and examples/README.md, blocks of one document are run in order, in one folder and one
Python session:

    ```python          run; what it prints must be the ```text that follows, if one does
    ```sh              each line is a command of ours, run; likewise
    ```toml NAME       written to the file NAME for the commands that follow (also csv)

In a ```text, `...` stands for anything: what a hash, or another version of the sampler, changes.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = [ROOT / "README.md", ROOT / "examples" / "README.md"]
MARKDOWN = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)

# Lines that a test cannot or need not run, and where they are run instead.
ELSEWHERE = {
    "pip install . && paretoid plan": ".ci/run",
    "pip install '.[test]' && pytest": ".ci/run",
    "python examples/make_notebooks.py notebooks": "tests/test_notebooks.py",
    "python examples/make_reference.py reference": "tests/test_reference.py",
    "python examples/make_figure.py": "test_the_figure_can_be_made_again",
}


def blocks(text):
    """(language, rest of the fence line, content) of every fenced block."""
    return re.findall(r"^```(\w+)(?: (\S+))?[^\n]*\n(.*?)^```$", text, re.M | re.S)


def matches(shown, got):
    return doctest.OutputChecker().check_output(shown, got, doctest.ELLIPSIS)


def run_python(code, session):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<document>", "exec"), session)
    return printed.getvalue()


def run_shell(content, folder):
    """What the commands print, one after the other; None if they are run elsewhere."""
    printed = ""
    for line in content.splitlines():
        command = line.split("  #")[0].strip()
        if command in ELSEWHERE:
            return None
        program, *words = shlex.split(command)
        assert program in ("paretoid", "python"), f"{command!r} is no command of ours"
        prefix = ["-m", "paretoid"] if program == "paretoid" else []
        result = subprocess.run(
            [sys.executable, *prefix, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "COLUMNS": "90"},
        )
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        printed += result.stdout
    return printed


@pytest.mark.parametrize(
    "document",
    [TUTORIALS[0], pytest.param(TUTORIALS[1], marks=pytest.mark.slow)],
    ids=["README", "examples"],
)
def test_what_the_document_says_is_what_happens(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for language, name, content in blocks(document.read_text(encoding="utf-8")):
        if language == "python":
            printed = run_python(content, session)
        elif language == "sh":
            printed = run_shell(content, tmp_path)
        elif language in ("toml", "csv"):
            (tmp_path / name).write_text(content, encoding="utf-8")
        elif language == "text":
            assert printed is None or matches(content, printed), f"{content}\n---\n{printed}"
        else:
            pytest.fail(f"a block in {language!r}, which this test does not know")


def test_what_is_run_elsewhere_is_run_there():
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "paretoid plan" in ci
    assert "pip install --quiet '.[test]' && pytest" in ci


@pytest.mark.slow
def test_the_figure_can_be_made_again(tmp_path):
    made = tmp_path / "figure.png"
    subprocess.run([sys.executable, str(ROOT / "examples" / "make_figure.py"), made], check=True)
    kept = ROOT / "examples" / "figure.png"
    assert made.read_bytes()[:24] == kept.read_bytes()[:24]  # a PNG of the same width and height
    assert kept.stat().st_size < 100_000


def anchors(text):
    """The anchors of headings, as the forges make them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", prose):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        found = document.parent / path if path else document
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found.read_text(encoding="utf-8")), target


def test_every_example_is_in_the_table_of_examples():
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for script in (ROOT / "examples").glob("*.py"):
        assert script.name in text, script.name
