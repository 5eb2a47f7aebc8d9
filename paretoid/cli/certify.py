"""`paretoid certify`: is every promise kept, on this machine, today?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paretoid.cli.options import Force, Json, OutDir, Quiet, Seed
from paretoid.cli.terminal import check_folder, note, say, say_json, table, wrap


def certify(
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Hours: many more runs.")] = False,
    seed: Seed = 0,
    out: OutDir = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check that every proved guarantee holds on this machine.

    Exit code 1 if one does not. Takes some minutes. --out writes certificate.json and
    CERTIFICATE.md.

    Example: paretoid certify --quick --out results
    """
    if quick and full:
        raise ValueError("--quick and --full exclude each other; give one of them, or none.")
    from paretoid.validation import battery
    from paretoid.validation.certify import FILES, write

    check_folder(out, FILES, force=force)

    size = "quick" if quick else "full" if full else "standard"
    certificate = battery.certify(size, seed, lambda part: note(part, quiet))
    if out is not None:
        write(certificate, out, force=force)
        note(f"wrote certificate.json and CERTIFICATE.md to {out}", quiet)
    if json:
        say_json(certificate)
    else:
        say(_text(certificate))
    if not certificate["holds"]:
        raise typer.Exit(1)


def _text(certificate: dict[str, Any]) -> str:
    paths = certificate["pathwise"]
    errors = [row for row in certificate["errors"] if row["guarantee"] == "proved"]
    caught = certificate["mutants"]["caught"]
    proved = [row for row in certificate["coverage"] if row["guarantee"] == "proved"]
    rows = [
        ["paths replayed, every lemma checked", paths["paths"]],
        ["rounds of these", paths["rounds"]],
        ["lemmas violated", len(paths["violations"])],
        ["goals simulated", len(errors)],
        ["runs of these", sum(row["runs"] for row in errors)],
        ["wrong answers (each at most delta)", sum(row["errors"] for row in errors)],
        ["proved radii under attack", len(proved)],
        ["mutants caught", f"{sum(bool(by) for by in caught.values())} of {len(caught)}"],
    ]
    lines = [
        "every guarantee holds" if certificate["holds"] else "a guarantee regressed",
        *(wrap(f"REGRESSED {regression}", "  ") for regression in certificate["regressions"]),
        "",
        table(
            [f"battery {certificate['battery']}, seed {certificate['seed']}", ""],
            [[name, value if isinstance(value, str) else f"{value:,}"] for name, value in rows],
        ),
    ]
    return "\n".join(lines)
