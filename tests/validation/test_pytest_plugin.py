"""The plugin in a project of its own, and its weight at load."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROJECT = """
import numpy as np, pytest, paretoid as pt

PAIR = pt.GaussianBandit([[0.0], [1.0]])

@pytest.mark.delta_correct(max_runs=40, seed=7)
def test_oracle(delta_correct):
    assert delta_correct(oracle, PAIR, delta=0.2).runs == 40

def test_liar(delta_correct):
    delta_correct(liar, PAIR, delta=0.05)

@pytest.mark.delta_correct(30)
def test_misused(delta_correct):
    pass

def oracle(bandit, delta, seed):
    return np.array([False, True]), 1

def liar(bandit, delta, seed):
    return np.array([True, False]), 1
"""


def _python(*arguments, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


def test_fixture_marker_and_terminal_section(tmp_path):
    (tmp_path / "test_mine.py").write_text(PROJECT)
    run = _python(
        "-m", "pytest", "-p", "paretoid.validation.pytest_plugin", "--strict-markers", "-p",
        "no:cacheprovider", cwd=tmp_path,
    )  # fmt: skip
    out = run.stdout
    assert "1 failed, 1 passed, 1 error" in out
    assert "= delta-correctness =" in out
    assert "oracle, ParetoSet(eps1=0): certified: P(wrong) <= delta=0.2" in out
    assert "40 runs, 0 wrong answers, seed 7" in out
    assert "liar, ParetoSet(eps1=0): REJECTED: P(wrong) exceeds delta=0.05" in out
    assert "takes keyword arguments alone" in out


def test_a_run_without_it_has_no_section(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test_nothing(): pass\n")
    run = _python("-m", "pytest", "-p", "paretoid.validation.pytest_plugin", cwd=tmp_path)
    assert "1 passed" in run.stdout
    assert "delta-correctness" not in run.stdout


def test_loading_the_plugin_imports_nothing_heavy(tmp_path):
    code = (
        "import sys, paretoid.validation.pytest_plugin\n"
        "heavy = {'hypothesis', 'numba', 'xarray', 'paretoid.bandits', 'paretoid.theory', "
        "'scipy', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert _python("-c", code, cwd=tmp_path).stdout.strip() == "[]"


def test_names_of_the_package_are_found_when_used(tmp_path):
    code = (
        "from paretoid import validation\n"
        "print(validation.assert_delta_correct.__name__, dir(validation)[0])"
    )
    assert _python("-c", code, cwd=tmp_path).stdout.split() == [
        "assert_delta_correct",
        "HardBandit",
    ]


def test_the_entry_point_names_the_plugin():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "paretoid.validation.pytest_plugin" in project["entry-points"]["pytest11"].values()


def test_the_examples_in_the_readme_run():
    failures, tried = doctest.testfile(
        str(ROOT / "validation" / "README.md"), module_relative=False
    )
    assert failures == 0
    assert tried >= 4
