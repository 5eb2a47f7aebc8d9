"""Importing is light, and works without a compiler; see test_kernel_cache.py for the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import paretoid

ROOT = Path(paretoid.__file__).parents[1]
HEAVY = [
    "pymc", "pytensor", "arviz", "sympy", "matplotlib", "distributed", "dask", "pandas", "xarray",
    "numba", "scipy", "rich", "typer", "hypothesis",
]  # fmt: skip


def python(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_import_loads_nothing_heavy():
    code = f"import sys, paretoid.theory; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"


def test_what_imports_pymc_is_silent_on_a_machine_that_never_did(tmp_path):
    """ArviZ 0.23 warns once a day; the day is kept in a cache, empty on a new machine."""
    code = (
        "import warnings; warnings.simplefilter('error', FutureWarning);"
        "from paretoid.estimation import coordinates; print(coordinates.__name__)"
    )
    assert python(code, XDG_CACHE_HOME=str(tmp_path)) == "paretoid.estimation.coordinates"


def test_bandits_goals_and_instances_need_no_compiler():
    code = (
        "import sys, paretoid as pt; pt.load_instance('covboost'); pt.ParetoSet(); pt.Mixture();"
        "print('numba' in sys.modules)"
    )
    assert python(code) == "False"


def test_numba_keeps_its_own_cache_setting(tmp_path):
    """Choosing a directory for our kernels leaves the user's other functions alone."""
    code = (
        "import numba; before = numba.config.CACHE_DIR; from paretoid.engine import ape;"
        "print(numba.config.CACHE_DIR == before)"
    )
    assert python(code) == "True"


def test_without_a_compiler_runs_are_the_same():
    code = (
        "import paretoid as pt; b = pt.GaussianBandit([[0.0, 3.0], [3.0, 0.0], [-1.0, -1.0]]);"
        "runs = pt.simulate(b, radius=pt.UnknownScale(), seed=1);"
        "print(runs.stopping_time.values.tolist(), runs.pulls.values.tolist())"
    )
    assert python(code, NUMBA_DISABLE_JIT="1") == python(code)


def test_a_function_of_kernels_is_compiled_once_and_refuses_python():
    """Numba would compile it for 3 and for any n, and crash when Python calls it."""
    import numba

    from paretoid.engine.cache import kernel

    @kernel
    def double(n):
        return 2 * n

    @numba.njit
    def outside(n):
        return double(3) + double(n)

    assert outside(4) == 14
    assert len(double.overloads) == 1
    with pytest.raises(TypeError, match="double is called by kernels alone"):
        double(4)
