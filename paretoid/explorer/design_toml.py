"""A design as the TOML file that `paretoid trial new` takes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from paretoid.explorer.design import Design


def design_toml(design: Design, remarks: Iterable[str] = ()) -> str:
    """The text of a design file, without loss; `remarks` stand above it as comments.

    >>> import tomllib
    >>> design = Design(["A", "B"], ["response", "harm"], minimize=["harm"], delta=0.05)
    >>> text = design_toml(design, ["Made for an example."])
    >>> text.splitlines()[0]
    '# Made for an example.'
    >>> Design.from_dict(tomllib.loads(text)).same_as(design)
    True
    """
    import tomli_w

    lines = [
        f"# {line}"
        for remark in remarks
        for line in textwrap.wrap(remark, 90, break_on_hyphens=False)
    ]
    return "\n".join([*lines, *([""] if lines else []), tomli_w.dumps(_said(design.to_dict()))])


def _said(value: Any) -> Any:
    """`value` without what is left out: TOML has no null."""
    if isinstance(value, dict):
        return {key: _said(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [_said(entry) for entry in value]
    return value
