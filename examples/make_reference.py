"""The API reference as HTML pages, from the docstrings.

    python examples/make_reference.py DIRECTORY

One page for each package, with the names it exports. A warning is an error: a name that does not
resolve, an annotation that cannot be read. Formulas need the network (MathJax), nothing else does.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import warnings
from contextlib import chdir
from pathlib import Path
from typing import Any


def public_packages() -> list[str]:
    """The three packages and those of their parts that say what they export."""
    found, linked = [], set()
    for top in map(importlib.import_module, ("paretoid",)):
        inner = pkgutil.walk_packages(top.__path__, top.__name__ + ".")
        for name in [top.__name__, *(each.name for each in inner if each.ispkg)]:
            module = importlib.import_module(name)
            if not hasattr(module, "__all__"):
                continue
            found.append(name)
            linked.update(f"{name}.{each}" for each in module.__all__)
            # `validation` fetches its names when they are first used; pdoc only looks.
            vars(module).update({each: getattr(module, each) for each in module.__all__})
    return [name for name in found if name not in linked]  # pdoc follows exported modules itself


def readable(docstring: str) -> str:
    r"""Markdown that keeps what docstrings lay out by hand.

    Lists in columns become literal blocks; equations, aligned at &, keep their backslashes.

    >>> print(readable("K   arms\nD   objectives\n\nIn words."))
        K   arms
        D   objectives
    <BLANKLINE>
    In words.
    """

    def equation(found: re.Match[str]) -> str:
        body = " ".join(found[1].split())
        body = rf"\begin{{aligned}} {body} \end{{aligned}}"
        return "$$" + re.sub(r"\\([\\{}()\[\]])", r"\\\\\1", body) + "$$\n\n"

    docstring = re.sub(r"^\.\. math::(.*(?:\n(?:[ \t]+.*)?)*)", equation, docstring, flags=re.M)
    blocks = docstring.split("\n\n")
    column = re.compile(r"(\S+( \S+)*   +\S|\s)")
    for at, block in enumerate(blocks):
        lines = block.split("\n")
        if len(lines) > 1 and all(map(column.match, lines)) and not lines[0].startswith(" "):
            blocks[at] = "\n".join("    " + line for line in lines)
    return "\n\n".join(blocks)


def main(arguments: list[str]) -> None:
    import jinja2
    import pdoc

    from paretoid.estimation.compat import import_pymc

    if len(arguments) != 1:
        sys.exit("usage: python examples/make_reference.py DIRECTORY")
    import_pymc()  # quietly: what third parties say of themselves is no warning of ours
    filters = pdoc.render.env.filters
    plain = filters["to_markdown"]

    @jinja2.pass_context
    def to_markdown(context: Any, docstring: str) -> str:
        return str(plain(context, readable(docstring)))

    filters["to_markdown"] = to_markdown
    pdoc.render.configure(docformat="restructuredtext", math=True)
    out = Path(arguments[0]).absolute()
    # From here a folder paretoid/ is not in sight: pdoc would ask whether that is meant.
    with chdir(Path(__file__).parent), warnings.catch_warnings():
        warnings.simplefilter("error")
        pdoc.pdoc(*public_packages(), output_directory=out)
    print(f"open {out / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
