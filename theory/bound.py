"""A bound: a number of samples that also says when it holds."""

from __future__ import annotations

import html
from typing import Any

from paretoid.theory.checks import FloatArray


class Bound(float):
    """A number of samples, usable as a float, with the sentence that makes it a theorem.

    holds        where, and with what probability or in what sense, the number is a bound
    source       the statement it comes from
    proved       False: the formula of a theorem evaluated where nobody proved it
    probability  what is proved about the event of `holds`; None for expectations
    gaps         (K,) the gaps that entered, in units of the scale; None if there are none
    per_arm      (K,) the summands; None where the bound is no sum over arms

    The value is inf where a gap is 0: no number of samples separates such arms.

    >>> b = Bound(1234.5, holds="with probability at least 0.9", source="Theorem 1")
    >>> b + 1, b.proved, b
    (1235.5, True, <Bound 1234.5: with probability at least 0.9>)
    """

    holds: str
    source: str
    proved: bool
    probability: float | None
    gaps: FloatArray | None
    per_arm: FloatArray | None

    def __new__(
        cls,
        value: float,
        *,
        holds: str,
        source: str,
        proved: bool = True,
        probability: float | None = None,
        gaps: FloatArray | None = None,
        per_arm: FloatArray | None = None,
    ) -> Bound:
        """The number with its sentence; the tables become read-only."""
        self = super().__new__(cls, value)
        for table in (gaps, per_arm):
            if table is not None:
                table.setflags(write=False)
        self.__dict__.update(
            holds=holds,
            source=source,
            proved=proved,
            probability=probability,
            gaps=gaps,
            per_arm=per_arm,
        )
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Bound is frozen: {name} cannot be set; compute another one.")

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        return (float(self),), dict(self.__dict__)

    def __getstate__(self) -> None:  # __getnewargs_ex__ carries everything
        return None

    def __repr__(self) -> str:
        return f"<Bound {float(self)!r}: {self.holds}>"

    def __str__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        said = f"{self.holds}{'' if self.proved else '; not proved here'}. Source: {self.source}"
        return f"<p><strong>{float(self):,.4g}</strong> samples: {html.escape(said)}</p>"
