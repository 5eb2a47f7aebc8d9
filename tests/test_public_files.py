"""Files for the public: CI, the conda recipe, the devcontainer, the README on a package index."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import paretoid

ROOT = Path(__file__).parents[1]
URL = "https://example.org/somebody/paretoid"
#: names that conda has for distributions
CONDA = {"matplotlib": "matplotlib-base"}


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("public_links", ROOT / ".ci" / "public_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))


def metadata(hook, monkeypatch, url):
    monkeypatch.setenv("PARETOID_URL", url)
    made = {}
    hook.PublicLinks(str(ROOT), {}).update(made)
    return made


def test_on_an_index_every_link_of_the_readme_is_absolute_and_names_a_file_of_this_version(
    hook, monkeypatch
):
    made = metadata(hook, monkeypatch, URL + "/")
    text = made["readme"]["text"]
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) >= 15
    assert all(target.startswith("https://") for target in targets)
    for kind, name in re.findall(rf"\]\({URL}/(\w+)/v{paretoid.__version__}/([^)#]+)", text):
        assert (ROOT / name).exists(), name
        assert (kind == "raw") is name.endswith(".png")
    assert f"]({URL}/raw/v{paretoid.__version__}/examples/figure.png)" in text
    assert f"({URL}/blob/v{paretoid.__version__}/examples/README.md#the-engineer)" in text
    assert {"Homepage", "Documentation", "Changelog", "Issues", "Paper"} == set(made["urls"])
    assert all(address.startswith("https://") for address in made["urls"].values())


def test_nothing_but_links_is_changed(hook, monkeypatch):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = metadata(hook, monkeypatch, URL)["readme"]["text"]
    back = re.sub(rf"\({URL}/(?:raw|blob)/v[^/]+/", "(", text)
    assert back == readme
    assert metadata(hook, monkeypatch, "")["readme"]["text"] == readme


@pytest.mark.parametrize(
    "url", ["here", "http://example.org/a", "https://example.org", "https:// /a"]
)
def test_an_address_that_is_none_stops_the_build(hook, monkeypatch, url):
    with pytest.raises(ValueError, match=r"PARETOID_URL=.* must be the address of the repository"):
        metadata(hook, monkeypatch, url)


def commands(text):
    """What a script runs of ours, without redirections and words that differ by place."""
    programs = (
        r"^(?:pip install .* && )?((?:python -m )?(?:pytest|paretoid|ruff|mypy|build|twine)\b.*)"
    )
    return {
        " ".join(
            word
            for word in line.split(" > ")[0].split()
            if "$" not in word and word not in ("dist", "dist/*", "certificate")
        )
        for line in re.findall(programs, re.sub(r"^ +", "", text, flags=re.M), re.M)
    }


def test_public_ci_runs_what_ci_runs(workflow):
    steps = [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    ours = commands((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(ours) >= 8
    assert commands("\n".join(steps)) == ours


def test_public_ci_knows_every_python_and_system_that_the_metadata_name(workflow, project):
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    named = [line.split(":: ")[-1] for line in project["classifiers"] if ":: 3." in line]
    assert matrix["python"] == named
    assert [system.split("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert workflow["permissions"] == {"contents": "read"}


def floors(lines):
    return dict(re.fullmatch(r"([\w.-]+?) ?>=([\d.]+)", line).groups() for line in lines)


def test_the_conda_recipe_asks_for_what_the_metadata_ask_for(project):
    recipe = yaml.safe_load((ROOT / ".ci/conda/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == paretoid.__version__
    wanted = {CONDA.get(name, name): low for name, low in floors(project["dependencies"]).items()}
    wanted["python"] = project["requires-python"].removeprefix(">=")
    assert floors(recipe["requirements"]["run"]) == wanted
    assert recipe["about"]["summary"] == project["description"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert dict([entry.split(" = ")]) == project["scripts"]


def test_the_devcontainer_installs_what_contributors_need(project):
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert "pip install -e '.[dev]'" in container["postCreateCommand"]
    assert "dev" in project["optional-dependencies"]


def test_the_guide_says_how_names_go_away():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.split("## What may change, and how")[1].split("\n## ")[0]
    for word in ("DeprecationWarning", "CHANGELOG.md", "two minor versions"):
        assert word in section
