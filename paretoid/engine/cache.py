"""Numba compilation, cached where that is possible and quietly uncached where it is not.

The cache lives in a directory of our own whose name holds a hash of every kernel source: Numba
itself looks only at the file of the function it caches and would miss an edited callee.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

# No fastmath: it permits s * (1 / n), and 49 * (1 / 49) < 1 would turn a tie into a domination.
# error_model="numpy" drops the division-by-zero branches, which keep loops from vectorising.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_ENTRY = {"no_cfunc_wrapper": True, **_OPTIONS}
_INNER = {"nopython": True, "no_cpython_wrapper": True, **_ENTRY}


@lru_cache(maxsize=1)
def kernel_digest() -> str:
    """A hash of every kernel source."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def cache_directory() -> Path | None:
    """A writable directory for compiled kernels, or None: then every process compiles anew."""
    configured = os.environ.get("NUMBA_CACHE_DIR")
    try:
        base = Path(configured) if configured else _user_cache() / "paretoid"
        directory = base / kernel_digest()
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f"probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return None
    return directory


def is_compiled() -> bool:
    """True: the cache holds kernels; else the first run takes some twenty seconds longer."""
    directory = cache_directory()
    return directory is not None and any(directory.rglob("*.nbc"))


def _user_cache() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) if configured else Path.home() / ".cache"


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
    """A kernel called from Python, cached with all it calls if a directory can be written."""
    import numba

    directory = cache_directory()
    before = numba.config.CACHE_DIR
    try:
        if directory is not None:
            numba.config.CACHE_DIR = str(directory)
        return numba.njit(cache=directory is not None, **_ENTRY)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # "no locator available"
        return numba.njit(**_ENTRY)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


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
