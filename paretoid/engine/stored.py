"""Compiled kernels on disk, one file each. Private; imports Numba.

Numba's own cache asks where a source file lies and when it was changed, so that a reinstallation
compiles anew; and two processes that compile different signatures of one function at once give
both the same file. Here the directory is named after the content of all kernels (see
`paretoid.engine.cache`) and a file after the function, the types it is compiled for and the
processor: what is found is right, whoever wrote it, and whoever writes last writes the same.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from paretoid.writing import whole_file

#: False: a kernel that would have to be compiled raises `NotCompiledError` instead
may_compile: ContextVar[bool] = ContextVar("may_compile", default=True)


class NotCompiledError(Exception):
    """A kernel is neither in memory nor on disk, and compiling was not wanted."""


class StoredKernel(_Cache):  # type: ignore[misc]
    """The files of one kernel in `directory`; None: nothing is read or written.

    Nothing that goes wrong with a file is an error: what cannot be read is compiled, what cannot
    be written is not kept.
    """

    def __init__(self, function: Callable[..., Any], directory: Path | None) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._directory = directory

    @property
    def cache_path(self) -> str | None:
        """The directory."""
        return None if self._directory is None else str(self._directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for these types, or None: Numba then compiles it."""
        target_context.refresh()
        if self._directory is not None:
            try:
                reduced = pickle.loads(self._file(sig, target_context.codegen()).read_bytes())
                return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # missing, cut short, or written by something else
                pass
        if not may_compile.get():
            raise NotCompiledError(self._name)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; files appear whole or not at all."""
        if self._directory is None or data.library.has_dynamic_globals:
            return
        file = self._file(sig, data.codegen)
        with suppress(OSError, ValueError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(file, force=True) as draft:
                draft.write_bytes(dumps(data._reduce()))

    def _file(self, sig: Any, codegen: Any) -> Path:
        assert self._directory is not None
        said = repr((sig, codegen.magic_tuple()))  # the latter: system, processor and its features
        return (
            self._directory / f"{self._name}-{hashlib.sha256(said.encode()).hexdigest()[:16]}.nbc"
        )

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """What is compiled is right for good: nothing is removed."""
