"""What is shipped: built once as sdist and, from the sdist, as wheel; then opened and looked at."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

import paretoid

ROOT = Path(__file__).parents[1]
PACKAGES = ("paretoid", "theory", "validation")

# Beside Python a package may hold its documents, and these files. A new kind is a decision.
DATA = [
    "*.py", "paretoid/py.typed", "*.md", "paretoid/data/*.csv", "paretoid/report/page.*",
    "theory/references.bib",
    "validation/certificate.json",
]  # fmt: skip
TOP = {
    "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "DECISIONS.md", "CITATION.cff",
    "SECURITY.md", "pyproject.toml", "noxfile.py", ".pre-commit-config.yaml", "PKG-INFO",
    ".gitignore", ".ci", ".devcontainer", ".github", "tests", "examples", *PACKAGES,
}  # fmt: skip
# At the top of a clone there is also whatever git and editors keep in dot files, and what
# .gitignore lists.
IGNORED = {"build", "dist"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    (name,) = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def on_disk(*tops):
    """Files below these folders, apart from what interpreters leave behind."""
    return {
        path.relative_to(ROOT).as_posix()
        for top in tops
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def may_ship(name):
    return any(fnmatch(name, pattern) for pattern in DATA)


def installed(name):
    """Where a file of a clone is once installed: all three folders under one name."""
    return name if name.startswith("paretoid/") else f"paretoid/{name}"


def test_the_wheel_holds_the_three_folders_with_their_data_and_nothing_else(wheel):
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == {installed(name) for name in on_disk(*PACKAGES) if may_ship(name)}


def test_one_name_is_installed(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name}
    assert tops == {"paretoid"}


def test_no_package_holds_a_file_that_nobody_decided_to_ship():
    assert {name for name in on_disk(*PACKAGES) if not may_ship(name)} == set()


def test_an_index_shows_the_readme_and_where_to_go(metadata):
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload() or metadata["Description"]
    assert text.startswith("# paretoid\n")
    assert metadata.get_all("Project-URL") == ["Paper, https://arxiv.org/abs/2307.00424"]


def test_type_checkers_may_read_it(wheel):
    assert "paretoid/py.typed" in wheel.namelist()


def test_the_sdist_holds_what_a_clone_holds(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {name.split("/")[0] for name in names} == TOP
    assert on_disk("tests", "examples") <= names
    assert {name for name in on_disk(*PACKAGES) if may_ship(name)} <= names


def test_the_top_level_of_a_clone_stays_as_it_is():
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert there - IGNORED <= TOP


def test_the_version_is_written_once_and_repeated_rightly(metadata):
    assert metadata["Version"] == paretoid.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+([ab]\d+|rc\d+|\.dev\d+)?", paretoid.__version__)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.M).group(1) == paretoid.__version__


def test_metadata_say_what_it_runs_on_and_how_to_start_it(wheel, metadata):
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    (name,) = [n for n in wheel.namelist() if n.endswith("entry_points.txt")]
    entries = wheel.read(name).decode()
    assert "paretoid = paretoid.cli:main" in entries
    assert "paretoid = paretoid.validation.pytest_plugin" in entries


def test_twine_accepts_both(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("PASSED") == 2


def test_the_unpacked_wheel_finds_its_data(wheel, tmp_path):
    wheel.extractall(tmp_path)
    code = (
        "import paretoid; from paretoid import theory\n"
        "from paretoid.estimation import TRIALS, load_trial\n"
        "[paretoid.load_instance(name) for name in paretoid.INSTANCES]\n"
        "[load_trial(name) for name in TRIALS]\n"
        "print(paretoid.__file__, theory.__file__)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(str(tmp_path)) == 2


def test_the_citation_names_this_version_and_the_paper_with_the_algorithm():
    """Keys as [CFF 1.2.0] asks for them; the reference is the one in theory/references.bib."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == paretoid.__version__
    assert citation["license"] == "MIT"
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    bibliography = (ROOT / "theory" / "references.bib").read_text(encoding="utf-8")
    entry = re.search(r"@\w+\{kone2023,(.*?)\n\}", bibliography, re.S).group(1)
    plain = entry.replace("{", "").replace("}", "")
    assert paper["title"] in plain
    assert (
        " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]) in plain
    )
    assert paper["collection-title"] in plain
    assert re.search(r"year\s*=\s*(\d+)", plain).group(1) == str(paper["year"])
