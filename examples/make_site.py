"""The documentation as a site: what there is to read, and the API from the docstrings.

    pip install '.[docs]'
    python examples/make_site.py DIRECTORY

Sphinx builds it, from copies of the documents that stand beside the code. A warning is an error: a
link that leads nowhere, a formula that cannot be read. Nothing is loaded from the network, neither
now nor by readers: formulas are MathML, search works from files on a disk.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: heading: documents, in the order of the menu
PARTS = {
    "Use it": ["examples/README.md"],
    "Why it is right": [
        "theory/README.md", "theory/PROOFS.md", "theory/ERRATA.md", "validation/README.md",
        "validation/CERTIFICATE.md", "validation/paper/README.md",
    ],
    "Change it": ["CONTRIBUTING.md", "DECISIONS.md", "validation/benchmarks/README.md"],
    "About": ["CHANGELOG.md", "SECURITY.md"],
}  # fmt: skip
_LINK = re.compile(r"(!?\[(?:[^\]`]|`[^`]*`)*\])\(([^)\s#]*)(#[^)\s]*)?\)")


def copy_documents(source: Path) -> None:
    """README.md becomes the first page; files that documents link to come along as downloads."""
    for name in ["README.md", *(name for part in PARTS.values() for name in part)]:
        document = ROOT / name
        text = document.read_text(encoding="utf-8")

        def link(match: re.Match[str], document: Path = document) -> str:
            words, target, place = match[1], match[2], match[3] or ""
            if not target or re.match(r"[a-z]+:", target):
                return match[0]
            there = (document.parent / target).resolve()
            name = there.relative_to(ROOT)
            if there == ROOT / "README.md":
                target = f"{'../' * (len(document.relative_to(ROOT).parts) - 1)}index.md"
            elif there.suffix != ".md" and there.is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, source / name)
            return f"{words}({target}{place})"

        text = _LINK.sub(link, text).replace("```csv", "```text")  # Pygments knows no CSV
        if name == "README.md":
            text += menu()
        copy = source / ("index.md" if name == "README.md" else name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")


def menu() -> str:
    """The table of contents, which the page itself does not show."""
    parts = {head: [name.removesuffix(".md") for name in names] for head, names in PARTS.items()}
    parts["Reference"] = [f"reference/{name}" for name in exports()]
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {head}\n\n" + "\n".join(names) + "\n```\n"
        for head, names in parts.items()
    )


@cache
def exports() -> dict[str, list[str]]:
    """Package: the names that it exports and that no package before it does."""
    from make_reference import public_packages

    parts = {f"paretoid.{name}" for name in ("estimation", "plots", "theory", "validation")}
    known: set[int] = set()
    listed = {}
    for package in sorted({*public_packages(), *parts}):
        module = importlib.import_module(package)
        listed[package] = []
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) or id(thing) in known:
                continue
            known.add(id(thing))
            listed[package].append(name)
    return listed


def write_reference(folder: Path) -> None:
    """A page for each package, with the names it exports; each name stands on one page."""
    folder.mkdir(parents=True)
    for package, names in exports().items():
        words = f"{package}\n{'=' * len(package)}\n\n.. automodule:: {package}\n"
        for name in sorted(names):
            thing = getattr(importlib.import_module(package), name)
            kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
            members = "\n   :members:" if kind == "class" else ""
            words += f"\n.. auto{kind}:: {package}.{name}{members}\n"
        (folder / f"{package}.rst").write_text(words, encoding="utf-8")


def as_rst(docstring: str) -> str:
    r"""A docstring of ours, laid out by hand, as reStructuredText.

    Lists in columns become literal blocks, single backticks code; what would be markup is escaped.

    >>> print(as_rst("`K` arms | *two* or *args.\n\nK   arms\nD   objectives"))
    ``K`` arms \| *two* or \*args.
    <BLANKLINE>
    ::
    <BLANKLINE>
        K   arms
        D   objectives
    """
    blocks = re.sub(r"\n[ \t]+\n", "\n\n", docstring.strip("\n")).split("\n\n")
    made, before = [], ""
    for block in blocks:
        first, *others = block.split("\n")
        if block.startswith((">>>", ".. math::")) or (first[:1] == " " and "math::" in before):
            made.append(block)  # of which Sphinx knows what it is
        elif _is_prose(first, others):
            made.append(_escaped(block))
        else:
            made.append("::\n\n" + "\n".join(f"    {line}" for line in (first, *others)))
        before = before if first[:1] == " " else block
    return "\n\n".join(made)


def _is_prose(first: str, others: list[str]) -> bool:
    """True for a paragraph, and for items with a dash; what is laid out in columns is none."""
    if first[:1] in ("", " ") or re.search(r"\S   +\S", first):
        return False
    if first.startswith("- "):
        return all(line.startswith(("- ", "  ")) for line in others)
    return not any(line.startswith((" ", "- ", ">>>")) for line in others)


def _escaped(block: str) -> str:
    """A paragraph or a list of items; code and emphasis stay, other signs are meant as they are."""
    parts = re.split(r"(`[^`]+`|(?<![\w*])\*\w[^*\n]*\w\*(?![\w*]))", block)
    for at, part in enumerate(parts):
        if at % 2 and part.startswith("`"):
            parts[at] = f"``{part.strip('`')}``"
        elif not at % 2:
            parts[at] = re.sub(r"([*|\\])|(_)(?=\W|$)", lambda m: "\\" + m[0], part)
    text = "".join(parts)
    text = re.sub(r"(``[^`]+``)(?=[\w(])", r"\1\\ ", text)  # code ends before a letter
    text = re.sub(r"(?<=[\w)])(``[^`]+``)", r"\\ \1", text)
    text = re.sub(r"^(?=\(?(\d+|\w|[ivx]+)[.)] )", r"\\", text)  # no numbered list
    return re.sub(r"::$", r":\\:", text)


def mathml(latex: str, *, display: str) -> str:
    """A formula as browsers draw it by themselves."""
    from latex2mathml.converter import convert

    latex = " ".join(latex.split())
    if "&" in latex or "\\\\" in latex:
        latex = rf"\begin{{aligned}} {latex} \end{{aligned}}"
    return str(convert(latex, display=display))


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this: the script is its own extension."""
    from docutils import nodes

    def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: Any) -> None:
        lines[:] = [*as_rst("\n".join(lines)).split("\n"), ""]

    def draw(display: str) -> Any:
        def visit(translator: Any, node: Any) -> None:
            formula = mathml(node.astext(), display=display)
            tag = "div" if display == "block" else "span"
            translator.body.append(f'<{tag} class="math">{formula}</{tag}>')
            raise nodes.SkipNode

        return visit

    app.connect("autodoc-process-docstring", docstring)
    app.add_html_math_renderer("mathml", (draw("inline"), None), (draw("block"), None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python examples/make_site.py DIRECTORY")
    from sphinx.application import Sphinx

    import paretoid
    from paretoid.estimation.compat import import_pymc

    sys.path.insert(0, str(Path(__file__).parent))
    import_pymc()  # quietly: what third parties say of themselves is no warning of ours
    out = Path(arguments[0]).absolute()
    settings = {
        "project": "paretoid",
        "release": paretoid.__version__,
        "version": paretoid.__version__,
        "html_title": f"paretoid {paretoid.__version__}",
        "extensions": ["myst_parser", "sphinx.ext.autodoc", "make_site"],
        "myst_heading_anchors": 4,
        "html_theme": "furo",
        "html_math_renderer": "mathml",
        "html_static_path": ["_static"],
        "html_css_files": ["site.css"],
        "html_copy_source": False,
        "html_show_sphinx": False,
        "autodoc_member_order": "bysource",
        "nitpicky": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        copy_documents(source)
        write_reference(source / "reference")
        (source / "_static").mkdir()
        (source / "_static" / "site.css").write_text(_STYLE, encoding="utf-8")
        app = Sphinx(
            source, None, out, Path(folder, "doctrees"), "html", confoverrides=settings,
            status=None, warningiserror=True, exception_on_warning=False,
        )  # fmt: skip
        app.build()
        if app.statuscode:
            sys.exit(app.statuscode)
    print(f"open {out / 'index.html'}")


#: wide tables, formulas and code scroll by themselves, never the page
_STYLE = """\
div.math, .table-wrapper { overflow-x: auto; }
code { overflow-wrap: anywhere; }
dt.sig { overflow-wrap: anywhere; }
"""

if __name__ == "__main__":
    main(sys.argv[1:])
