"""Numba compilation, kept on disk where that is possible and quietly not where it is not.

The directory is named after what the machine code depends on, the text of every kernel and the
versions of what compiles it: an edited callee compiles anew, a reinstallation or another
environment does not. `paretoid.engine.stored` has the files in it.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

# No fastmath: it permits s * (1 / n), and 49 * (1 / 49) < 1 would turn a tie into a domination.
# error_model="numpy" drops the division-by-zero branches, which keep loops from vectorising.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_ENTRY = {"no_cfunc_wrapper": True, **_OPTIONS}
_INNER = {"nopython": True, "no_cpython_wrapper": True, **_ENTRY}

#: directories that are kept, those last used: a few environments, or versions of the kernels
_KEPT = 8


@lru_cache(maxsize=1)
def kernel_digest() -> str:
    """A hash of every kernel source."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def cache_directory() -> Path | None:
    """Where compiled kernels are kept, or None: then every process compiles anew.

    `NUMBA_CACHE_DIR` comes first, else it is the user's cache as the system has it. A directory
    that cannot be written is read all the same. A new one takes the place of those used longest
    ago, so that they do not pile up; a process that still uses one of them compiles again.
    """
    from importlib.metadata import version  # slow to import

    compilers = {name: version(name) for name in ("numba", "llvmlite", "numpy")}
    told = kernel_digest(), sys.implementation.cache_tag, platform.python_version(), compilers
    name = hashlib.sha256(repr(told).encode()).hexdigest()[:16]
    try:
        base = _base()
        directory = base / name
        new = not directory.is_dir()
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    with suppress(OSError):
        os.utime(directory)  # used now
        if new:
            _prune(base)
    return directory


def _base() -> Path:
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return Path(configured).absolute() / "paretoid"
    from platformdirs import user_cache_path

    base = user_cache_path("paretoid", appauthor=False)
    if not base.is_absolute():
        raise RuntimeError("no home directory")
    return base


def _prune(base: Path) -> None:
    """Remove all but the directories last used."""
    ours = [path for path in base.iterdir() if re.fullmatch("[0-9a-f]{16}", path.name)]
    ages = [(-path.stat().st_mtime, path) for path in ours]
    for _, path in sorted(ages)[_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def keeps_kernels() -> bool:
    """True: what is compiled now is there for the next process."""
    directory = cache_directory()
    return directory is not None and os.access(directory, os.W_OK)


def what_compiling_takes() -> str:
    """A sentence for who waits for it."""
    if keeps_kernels():
        return "compiling the engine, which takes half a minute; only the first run does"
    return (
        "compiling the engine, which takes half a minute, in every process: its cache cannot be "
        "written. Set NUMBA_CACHE_DIR to a directory that can be."
    )


def is_compiled(work: Callable[[], object]) -> bool:
    """True: every kernel that `work` calls is in memory or was loaded now, and it has been done.

    False: it ended at one that has to be compiled, which takes seconds; do it again for that.
    Without a compiler (`NUMBA_DISABLE_JIT`) nothing has to be.
    """
    if "paretoid.engine.stored" not in sys.modules and not os.environ.get("NUMBA_DISABLE_JIT"):
        directory = cache_directory()  # no kernel is in memory: Numba need not be imported to see
        if directory is None or not any(directory.iterdir()):
            return False
    from paretoid.engine.stored import NotCompiledError, may_compile

    before = may_compile.set(False)
    try:
        work()
    except NotCompiledError:
        return False
    finally:
        may_compile.reset(before)
    return True


def inlined(function: F) -> F:
    """A kernel that LLVM pastes into its callers: passing ten arrays to a function costs 30 ns.

    Numba's own inliner would infer the types of every paste anew, which doubled the compilation.
    """
    return _inner(function, forceinline=True)


def pasted(function: F) -> F:
    """The body of one entry, pasted by Numba: it is never compiled by itself."""
    import numba

    return numba.njit(inline="always", **_OPTIONS)(function)  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """A function that kernels call, and only kernels: see `paretoid.engine.inner`."""
    return _inner(function)


def _inner(function: F, **options: bool) -> F:
    import numba

    from paretoid.engine.inner import Inner

    if numba.config.DISABLE_JIT:
        return function
    return cast("F", Inner(function, targetoptions={**_INNER, **options}))


def entry(function: F) -> F:
    """A kernel called from Python, kept on disk with all it calls.

    It has to stand in this package: the directory is named after the content of its files.
    """
    import numba

    from paretoid.engine.stored import StoredKernel

    made = numba.njit(**_ENTRY)(function)
    if not numba.config.DISABLE_JIT:
        here = Path(function.__code__.co_filename).parent == Path(__file__).parent
        made._cache = StoredKernel(function, cache_directory() if here else None)
    return made  # type: ignore[no-any-return]


def _make_sqrt() -> Any:
    """Square root as one instruction; Numba's `math.sqrt` is a call, which no loop vectorises."""
    from llvmlite import ir
    from numba import config
    from numba.core import types
    from numba.extending import intrinsic

    if config.DISABLE_JIT:
        return math.sqrt

    @intrinsic  # type: ignore[untyped-decorator]
    def sqrt(typingctx: Any, x: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()])
            return builder.call(function, args)

        return types.float64(types.float64), emit

    return sqrt


def __getattr__(name: str) -> Any:
    if name == "sqrt":
        globals()[name] = _make_sqrt()
        return globals()[name]
    raise AttributeError(name)
