"""What `.ci/run` does, one command each, and the oldest dependencies: `nox -s lint` runs one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nox

nox.needs_version = ">=2024.3"
nox.options.error_on_missing_interpreters = False  # a stack without its Python is skipped


@nox.session
def tests(session: nox.Session) -> None:
    """The README's test command; words after `--` go to pytest."""
    session.install(".[test]")
    session.run("pytest", "-q", *session.posargs, env={"MPLBACKEND": "Agg"})


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and layout of the code."""
    session.install("ruff>=0.6")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, as strictly as can be."""
    session.install(".[test]")
    session.run("mypy")


@nox.session
def battery(session: nox.Session) -> None:
    """The README's first command, and the quick battery: fails when a guarantee regresses."""
    session.install(".")
    session.run("paretoid", "plan", "--quiet", "--json", silent=True)
    session.run("paretoid", "certify", "--quick", "--out", session.create_tmp())


@nox.session
def archives(session: nox.Session) -> None:
    """What would be published."""
    session.install("build>=1.2", "twine>=6.1")
    folder = session.create_tmp()
    session.run("python", "-m", "build", "--outdir", folder, ".", silent=True)
    session.run("twine", "check", "--strict", *map(str, Path(folder).glob("paretoid*")))


@nox.session(python=["3.12", "3.13"])
def second_stack(session: nox.Session) -> None:
    """PyMC 6 and ArviZ 1, on a newer Python; the wheel, not the tree."""
    folder = session.create_tmp()
    session.install("build>=1.2")
    session.run("python", "-m", "build", "--wheel", "--outdir", folder, ".", silent=True)
    (wheel,) = Path(folder).glob("paretoid*.whl")
    session.install(f"{wheel}[test]")
    session.run(
        "pytest", "-q", "tests/paretoid/test_estimation_fit.py",
        "tests/paretoid/test_estimation_summary.py", "tests/paretoid/test_run_once.py",
        "tests/paretoid/test_explorer.py",
    )  # fmt: skip


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The oldest dependencies that pyproject.toml allows, all together; not part of `.ci/run`."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    session.install(*(line.replace(">=", "==") for line in project["dependencies"]))
    session.install(".[test]")
    # Old libraries beside the newest of their own dependencies warn of what will go away.
    session.run(
        "pytest", "-q", "-W", "ignore::DeprecationWarning", *session.posargs,
        env={"MPLBACKEND": "Agg"},
    )  # fmt: skip
