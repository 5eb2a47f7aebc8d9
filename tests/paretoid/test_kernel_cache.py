"""Compiled kernels are kept by content: found again elsewhere, never when anything has changed."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import paretoid as pt
from paretoid.engine import cache
from paretoid.engine.stored import NotCompiledError, StoredKernel

PACKAGE = Path(pt.__file__).parent

PROBE = """
from paretoid.engine.cache import entry
from paretoid.engine.probe_callee import double

@entry
def probe(n):
    return double(n) + 1
"""
CALLEE = """
from paretoid.engine.cache import kernel

@kernel
def double(n):
    return 2 * n
"""


def python(code: str, cwd: Path, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd), **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def a_copy(folder: Path) -> Path:
    """The package with one more kernel, which calls a kernel of another file."""
    skip = shutil.ignore_patterns("__pycache__", "validation", "report", "explorer", "plots")
    shutil.copytree(PACKAGE, folder / "paretoid", ignore=skip)
    (folder / "paretoid/engine/probe.py").write_text(PROBE)
    (folder / "paretoid/engine/probe_callee.py").write_text(CALLEE)
    for source in (folder / "paretoid/engine").glob("*.py"):
        os.utime(source, (0, hash(folder) % 10**9))
    return folder


def test_a_reinstallation_finds_the_kernels_and_a_changed_callee_is_compiled(tmp_path):
    """Numba's own cache asks for path and time of the first, and misses the second."""
    code = (
        "import sys; from paretoid.engine import cache, probe;"
        "done = cache.is_compiled(lambda: probe.probe(3));"
        "print(done, probe.probe(3), cache.cache_directory(), sys.modules['paretoid'].__file__)"
    )
    kernels = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    first = a_copy(tmp_path / "first")
    done, result, directory, source = python(code, first, **kernels).split()
    assert (done, result, Path(source).parents[1]) == ("False", "7", first)
    assert Path(directory).parent == tmp_path / "kernels/paretoid"
    (file,) = Path(directory).iterdir()
    assert file.name.startswith("probe.probe-")
    written = file.stat().st_mtime_ns

    second = a_copy(tmp_path / "second")
    said = python(code, second, **kernels).split()
    assert said[:3] == ["True", "7", directory]
    assert Path(said[3]).parents[1] == second
    assert [found.stat().st_mtime_ns for found in Path(directory).iterdir()] == [written]

    callee = second / "paretoid/engine/probe_callee.py"
    callee.write_text(CALLEE.replace("2 * n", "3 * n"))
    assert python(code, second, **kernels).split()[:2] == ["False", "10"]


def test_an_unwritable_cache_is_no_failure(tmp_path):
    """A file where the directory should be: nobody, not even root, can write below it."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = (
        "from paretoid.engine import cache, yardstick;"
        "print(cache.cache_directory(), yardstick._arm_l(1, 1.0, 1.0) > 1.38,"
        "'NUMBA_CACHE_DIR' in cache.what_compiling_takes())"
    )
    root = PACKAGE.parent
    assert python(code, root, NUMBA_CACHE_DIR=str(blocked / "x")) == "None True True"
    environment = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "x")}
    assert python(code, root, NUMBA_CACHE_DIR="", **environment) == "None True True"


def triple(n):
    return 3 * n


def compiled(directory: Path | None):
    """A fresh process's view of `triple`: nothing of it is in memory."""
    made = numba.njit(triple)
    made._cache = StoredKernel(triple, directory)
    return made


@pytest.mark.parametrize("kept", [True, False])
def test_is_compiled_is_false_exactly_when_something_will_be_compiled(tmp_path, kept):
    directory = tmp_path / "kernels" if kept else None
    first = compiled(directory)
    assert not cache.is_compiled(lambda: first(2))
    assert first.signatures == []
    assert first(2) == 6
    assert cache.is_compiled(lambda: first(2))
    assert not cache.is_compiled(lambda: first(2.5))
    second = compiled(directory)
    assert cache.is_compiled(lambda: second(2)) == kept
    assert second(2) == 6
    assert sum(second.stats.cache_misses.values()) == (0 if kept else 1)


def test_kernels_for_other_types_have_files_of_their_own(tmp_path):
    """So two processes never write different machine code under one name."""
    first, second = compiled(tmp_path), compiled(tmp_path)
    assert (first(2), second(2.5)) == (6, 7.5)
    assert len(list(tmp_path.iterdir())) == 2
    third = compiled(tmp_path)
    assert cache.is_compiled(lambda: (third(3), third(3.5)))
    assert (third(3), third(3.5)) == (9, 10.5)


@pytest.mark.parametrize("content", [b"", b"cut short", None])
def test_a_file_that_cannot_be_read_is_compiled_again(tmp_path, content):
    compiled(tmp_path)(2)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:1000] if content is None else content)
    again = compiled(tmp_path)
    assert not cache.is_compiled(lambda: again(2))
    assert again(2) == 6
    assert cache.is_compiled(lambda: compiled(tmp_path)(2))


def test_a_full_disk_is_no_failure(tmp_path, monkeypatch):
    """What cannot be written is not kept, and leaves no draft behind."""

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paretoid.writing._place", full)
    assert compiled(tmp_path)(2) == 6
    assert list(tmp_path.iterdir()) == []


def test_old_directories_do_not_pile_up(tmp_path, monkeypatch):
    """The last used are kept; what is not ours stays."""
    base = tmp_path / "paretoid"
    names = [f"{n:016x}" for n in range(12)]
    for age, name in enumerate(names):
        (base / name).mkdir(parents=True)
        (base / name / "a.nbc").touch()
        os.utime(base / name, (0, 1000 - age))
    (base / "mine").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cache.cache_directory.cache_clear()
    try:
        directory = cache.cache_directory()
    finally:
        monkeypatch.undo()
        cache.cache_directory.cache_clear()
    assert directory is not None
    assert {path.name for path in base.iterdir()} == {directory.name, "mine", *names[:7]}


def test_compiling_is_said_when_it_will_happen_and_only_then(monkeypatch, caplog):
    bandit = pt.BernoulliBandit([[0.9], [0.1]])
    pt.simulate(bandit, max_samples=5)
    with caplog.at_level(logging.INFO, logger="paretoid"):
        pt.simulate(bandit, max_samples=5, progress=True)
        assert "compiling" not in caplog.text
        asked = []

        def not_yet(campaign):
            asked.append(campaign)
            if len(asked) == 1:
                raise NotCompiledError

        monkeypatch.setattr(pt.Campaign, "_compile", not_yet)
        monkeypatch.setattr("paretoid.runs.campaign._READY", set())
        pt.simulate(bandit, max_samples=5, progress=True)
        pt.simulate(bandit, max_samples=5, progress=True)
    assert caplog.text.count("compiling the engine") == 1
    assert len(asked) == 2
