"""A trial under a cone: what is measured, and the rows of W that are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.bandits import GaussianBandit
from paretoid.cones import as_cone, row_names
from paretoid.text import meant
from paretoid.theory.checks import FloatArray
from paretoid.theory.units import as_scale


@dataclass(frozen=True, eq=False)
class Measured:
    """What is measured in a trial whose arms are compared under a cone.

    objectives  names of what is measured, `minimize` those where less is better
    scale       of what is measured, as given; None: it is learnt, for each row of W
    W           (rows, D) the cone, on outcomes turned so that larger is better
    rows        names of the rows, which are the objectives of the trial

    Where scales are learnt, what is measured is jointly Gaussian: every row must be Gaussian.

    >>> measured = Measured.of([[1.0, 0.5], [0.0, 1.0]], ["gain", "harm"], ["harm"], None)
    >>> measured.outcome([3.0, 2.0], id=1)
    {'gain + 0.5 harm': 2.0, 'harm': -2.0}
    """

    objectives: tuple[str, ...]
    minimize: tuple[str, ...]
    scale: Any
    W: FloatArray
    sign: FloatArray
    rows: tuple[str, ...]

    @classmethod
    def of(
        cls, cone: Any, objectives: Sequence[str], minimize: Iterable[str], scale: Any
    ) -> Measured:
        """The cone checked against what is measured."""
        W = as_cone(cone, objectives)
        checked = GaussianBandit(np.zeros((2, len(objectives))), objectives=objectives,
                                 minimize=minimize)  # fmt: skip
        rows = tuple(row_names(W, checked.objectives))
        return cls(checked.objectives, checked.minimize, scale, W, checked.sign, rows)

    def row_scale(self, K: int) -> FloatArray | None:
        """(K, rows) sub-Gaussian scales of the rows, sum of abs(w) s: right however they correlate.

        >>> Measured.of([[1.0, 0.5], [0.0, 1.0]], ["x", "y"], [], [1.0, 2.0]).row_scale(1)
        array([[2., 2.]])
        """
        if self.scale is None:
            return None
        return np.asarray(as_scale(self.scale, K, len(self.objectives)) @ np.abs(self.W).T)

    def outcome(self, outcome: Any, id: Any) -> Any:
        """What was measured in one subject as outcomes of the rows.

        All of it at once: a row that adds up two objectives cannot wait for one of them. A row with
        an objective that is "missing" is missing. A mapping from rows is left as it is.
        """
        if isinstance(outcome, str):
            return outcome
        if isinstance(outcome, Mapping):
            if set(outcome) <= set(self.rows) and not set(outcome) <= set(self.objectives):
                return outcome
            for name in outcome:
                if name not in self.objectives:
                    raise ValueError(
                        f"there is no objective {name!r}{meant(str(name), self.objectives)} There "
                        f"are: {', '.join(self.objectives)}."
                    )
            values: list[Any] = [outcome.get(name) for name in self.objectives]
        else:
            values = list(np.atleast_1d(np.array(outcome, dtype=object)))
        if len(values) != len(self.objectives) or any(value is None for value in values):
            raise ValueError(
                f"the outcome of {id!r} must have all of {', '.join(self.objectives)}: a cone adds "
                f"them up, so tell them together, with 'missing' for what never comes."
            )
        absent = np.array([isinstance(value, str) and value == "missing" for value in values])
        try:
            if any(isinstance(value, str) and "_" in value for value in values):
                raise ValueError("1_0 is ten to Python only")
            numbers = [0.0 if gone else float(v) for v, gone in zip(values, absent, strict=True)]
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"the outcome of {id!r} must be numbers or 'missing', not {values!r}."
            ) from None
        told = self.W @ (np.array(numbers) * self.sign)
        lost = (self.W != 0) @ absent
        return {
            name: "missing" if gone else float(value)
            for name, value, gone in zip(self.rows, told, lost, strict=True)
        }
