"""Functions that kernels call, and only kernels. Private; imports Numba.

They are compiled without the wrappers that take arguments out of Python objects, which for a
`Program` and an `EngineState` are longer than most kernels.
"""

from __future__ import annotations

from typing import Any, NoReturn

from numba.core import types
from numba.core.registry import CPUDispatcher


class Inner(CPUDispatcher):  # type: ignore[misc]
    """A compiled function without a way in from Python, and without a copy for each constant.

    Numba compiles a function once more for every constant it is called with, and while it infers
    types it takes a variable that starts at 0 for one.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The function for arguments of these types, constants being any number of theirs."""
        return super().get_call_template(tuple(types.unliteral(a) for a in args), kws)

    def add_overload(self, cres: Any) -> None:
        """Known to kernels, not to Python: calling what has no wrapper would end the process."""
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args: Any, **kws: Any) -> NoReturn:
        raise TypeError(
            f"{self.py_func.__name__} is called by kernels alone and has no way in from Python; "
            f"decorate it with `entry`, or call its py_func."
        )
