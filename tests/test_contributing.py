"""The recipes of CONTRIBUTING.md are carried out, outside the package and inside a copy of it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "CONTRIBUTING.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def recipes(text):
    """{name: content} of the blocks that are files, by the name on the fence line."""
    return {name: content for _, name, content in BLOCK.findall(text) if name}


def unnamed(text, language):
    """The content of the blocks of that language that are no files."""
    return [content for kind, name, content in BLOCK.findall(text) if kind == language and not name]


def run(*words, cwd, path=ROOT):
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True
    )


def write_outside(text, folder):
    for name, content in recipes(text).items():
        if "/" not in name:
            (folder / name).write_text(content, encoding="utf-8")


@pytest.fixture(scope="module")
def guide():
    return GUIDE.read_text(encoding="utf-8")


@pytest.fixture
def outside(guide, tmp_path):
    """A directory with the files of the guide, as an author would have it."""
    write_outside(guide, tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_guide_print_what_it_shows_and_their_tests_pass(guide, outside):
    printed = ""
    for command in "".join(unnamed(guide, "sh")).splitlines():
        program, *words = command.split()
        if program != "python":
            continue  # tools of contributors, see the last tests
        quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"] if "pytest" in words else []
        done = run(*words, *quiet, cwd=outside)
        assert done.returncode == 0, done.stdout + done.stderr
        if quiet:
            assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 60
        else:
            printed += done.stdout
    assert printed == "".join(unnamed(guide, "text"))


def test_examples_in_the_recipes_are_true(outside):
    for script in sorted(outside.glob("*.py")):
        done = run("-m", "doctest", script.name, cwd=outside)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_recipes_keep_to_our_own_style(outside):
    shutil.copy(ROOT / "pyproject.toml", outside)
    # Where `paretoid` belongs among the imports depends on the side of the fence.
    for words in (["check", "--ignore=D1,I"], ["format", "--check"]):
        done = run("-m", "ruff", *words, "--no-cache", ".", cwd=outside)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "right", "wrong"),
    [
        ("test_members.py::TestCountUnion", "1 / n", "1 / n**2"),
        ("test_members.py::TestExplore", "rng.integers(view.K)", "view.K"),
        ("test_members.py::TestBestOf", "mu.max()", "mu.min()"),
        ("test_members.py::TestUniform", "self.sign * self.scale", "self.scale"),
        ("test_members.py::TestSlow", "rng.uniform(-1, 1,", "rng.uniform(0, 1,"),
    ],
)
def test_a_recipe_that_is_wrong_fails_its_conformance_tests(guide, tmp_path, recipe, right, wrong):
    assert right in guide
    write_outside(guide.replace(right, wrong), tmp_path)
    done = run(
        "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", recipe, cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr


# -- inside ----------------------------------------------------------------------------------------


def moves(text):
    """{file of the guide: where it goes}, from the table."""
    return dict(re.findall(r"^\| `(\w+\.py)` \| `([\w/]+\.py)` \|$", text, re.M))


def merged(source, lines):
    """`source` with these imports first and with `NAME = [..., x]` extending what NAME is."""
    addition = ast.parse(lines)
    imports = [ast.unparse(node) for node in addition.body if isinstance(node, ast.ImportFrom)]
    for node in addition.body:
        if not isinstance(node, ast.Assign):
            continue
        (name,) = (target.id for target in node.targets)
        members = node.value.args if isinstance(node.value, ast.Call) else node.value.elts
        assert ast.unparse(members[0]) == "..."
        (there,) = (
            ast.get_source_segment(source, statement.value)
            for statement in ast.parse(source).body
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name
        )
        added = ", ".join(ast.unparse(member) for member in members[1:])
        longer = f"{there[:-1].rstrip().rstrip(',')}, {added}{there[-1]}"
        source = source.replace(f"{name} = {there}", f"{name} = {longer}", 1)
    future = "from __future__ import annotations\n"
    return source.replace(future, "\n".join([future, *imports, ""]), 1)


@pytest.fixture(scope="module")
def inside(guide, tmp_path_factory):
    """A copy of the package with the four members in it."""
    copy = tmp_path_factory.mktemp("copy")
    skip = shutil.ignore_patterns("__pycache__", "theory", "validation")
    shutil.copytree(ROOT / "paretoid", copy / "paretoid", ignore=skip)
    for folder in ("theory", "validation"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tests" / "validation").mkdir(parents=True)
    shutil.copy(ROOT / "tests/validation/test_conformance.py", copy / "tests" / "validation")
    shutil.copy(ROOT / "tests" / "test_imports.py", copy / "tests")
    files = recipes(guide)
    assert set(moves(guide)) == {"count_union.py", "explore.py", "best_of.py", "uniform.py"}
    for name, target in moves(guide).items():
        (copy / target).write_text(files[name], encoding="utf-8")
    edits = {name: lines for name, lines in files.items() if "/" in name}
    assert set(edits) == {"paretoid/registry.py", "tests/validation/test_conformance.py"}
    for name, lines in edits.items():
        source = (copy / name).read_text(encoding="utf-8")
        (copy / name).write_text(merged(source, lines), encoding="utf-8")
    return copy


def test_members_in_the_package_go_by_their_names(inside):
    code = (
        "import paretoid as pt\n"
        "from paretoid import registry\n"
        "radius = registry.parse('count-union', 'radius')\n"
        "rule = registry.parse('explore:share=0.25', 'rule')\n"
        "goal = registry.parse('BestOf(objective=1)', 'goal')\n"
        "bandit = registry.type_of('Uniform', 'bandit')([[3.0, 0.0], [0.0, 3.0]])\n"
        "assert all(map(registry.is_ours, (radius, rule, goal, bandit)))\n"
        "print(registry.to_dict(rule), registry.kind_of(bandit))\n"
        "runs = pt.Campaign(bandit, goal, rule=rule, radii=radius, seed=1).run('store').load()\n"
        "print(bool(runs.correct.all()), runs.guarantee.item())\n"
        "print(pt.__file__)\n"
    )
    done = run("-c", code, cwd=inside, path=inside)
    assert done.returncode == 0, done.stderr
    first, second, where = done.stdout.splitlines()
    assert first == "{'kind': 'Explore', 'share': 0.25} Uniform"
    assert second == "True proved"
    assert Path(where).is_relative_to(inside)
    manifest = (inside / "store" / "campaign.json").read_text(encoding="utf-8")
    assert "Explore(share=0.25)" in manifest
    assert "others" not in manifest


def test_the_conformance_list_and_the_order_of_imports_accept_them(inside):
    listed = "tests/validation/test_conformance.py::test_every_member_of_the_registry_is_in_a_list"
    done = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--import-mode=importlib",
        f"{listed}_above", "tests/test_imports.py", cwd=inside, path=inside,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


# -- tools -----------------------------------------------------------------------------------------


def nox_sessions():
    """{session: what it runs}, each command as text without its variable words."""
    sessions = {}
    for function in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
            sessions[function.name] = [
                " ".join(word.value for word in call.args if isinstance(word, ast.Constant))
                for call in calls
                if ast.unparse(call.func) == "session.run"
            ]
    return sessions


def test_nox_runs_what_ci_runs():
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = {command for commands in nox_sessions().values() for command in commands}
    programs = (
        r"^(?:pip install .* && )?((?:python -m )?(?:pytest|paretoid|ruff|mypy|build|twine)\b.*)"
    )
    for line in re.findall(programs, re.sub(r"^ +", "", ci, flags=re.M), re.M):
        words = [word for word in line.split(" > ")[0].split() if "$" not in word]
        plain = " ".join(word for word in words if word not in ("--durations=15", "--no-isolation"))
        assert plain in commands, plain


def test_hooks_and_guide_name_the_tools_of_ci(guide):
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (local,) = hooks["repos"]
    entries = [hook["entry"].removesuffix(" --force-exclude") for hook in local["hooks"]]
    assert entries == ["ruff check", "ruff format", "mypy"]
    for command in (*entries, "'.[test]' && pytest"):
        assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        assert command in guide
    named = set(re.findall(r"nox -s (\w+)", guide))
    assert {"lint", "types", "tests"} <= named <= set(nox_sessions())
