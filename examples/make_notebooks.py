"""The examples as notebooks, one for each script.

    python examples/make_notebooks.py DIRECTORY [--execute]

The scripts are what is kept and tested; notebooks are made from them when wanted. `--execute` also
runs them, so that they open with their output (needs the extra `docs`: `pip install '.[docs]'`).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

SCRIPTS = sorted(
    path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("make_")
)


def notebook(script: Path) -> Any:
    """The notebook of a script in percent cells; the same bytes each time."""
    import jupytext

    made = jupytext.read(script, fmt="py:percent")
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for number, cell in enumerate(made.cells, start=1):
        cell.id = f"cell-{number}"
    return made


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="where the notebooks go")
    parser.add_argument("--execute", action="store_true", help="run them, and keep their output")
    options = parser.parse_args(arguments)
    import nbformat

    options.directory.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        made = notebook(script)
        if options.execute:
            from nbclient import NotebookClient

            NotebookClient(made, timeout=600, kernel_name="python3").execute()
        path = options.directory / f"{script.stem}.ipynb"
        nbformat.write(made, path)
        print(path)


if __name__ == "__main__":
    main()
