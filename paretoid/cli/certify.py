"""`paretoid certify`: can a promise be refuted, on this machine, today?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paretoid.cli.options import Force, Json, OutDir, Quiet, Seed
from paretoid.cli.terminal import check_folder, note, say, say_json, table, wrap


def certify(
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Half an hour: many more runs.")] = False,
    program: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Test this program instead, in any language."),
    ] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --program: test on this, not on hard bandits."),
    ] = None,
    delta: Annotated[
        float, typer.Option(metavar="DELTA", help="With --program: what it promises.")
    ] = 0.1,
    runs: Annotated[
        int, typer.Option(metavar="N", help="With --program: runs on each instance, at most.")
    ] = 60,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="With --program: limit on one run.")
    ] = 60.0,
    budget: Annotated[
        int,
        typer.Option(
            metavar="N", help="With --program: samples of one run, at most; less at ties."
        ),
    ] = 1_000_000,
    long_lived: Annotated[
        bool, typer.Option("--long-lived", help="With --program: start it once for all runs.")
    ] = False,
    send_means: Annotated[
        bool, typer.Option("--send-means", help="With --program: it simulates by itself.")
    ] = False,
    seed: Seed = 0,
    out: OutDir = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Try to refute every proved guarantee on this machine.

    Exit code 1 if one is refuted. Takes some minutes. --out writes certificate.json and
    CERTIFICATE.md. With --program, whether somebody's algorithm keeps its delta: it talks in lines
    of JSON (paretoid.validation.program), runs with your rights and in no sandbox; crashes,
    malformed lines and time-outs are reported with the seed that shows them. Without --instance it
    is tested on hard bandits: where arms tie a run that draws on is stopped early, which is no
    fault.

    Example: paretoid certify --quick --out results
    """
    if program is not None:
        if quick or full or out is not None:
            raise ValueError("--quick, --full and --out are for our own battery: leave them out.")
        _certify_program(program, instance, delta, runs, seconds, budget, long_lived, send_means,
                         seed, json)  # fmt: skip
        return
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


def _certify_program(
    command: str,
    instances: list[str] | None,
    delta: float,
    runs: int,
    seconds: float,
    budget: int,
    long_lived: bool,
    send_means: bool,
    seed: int,
    json: bool,
) -> None:
    """Test a program on the instances named, or on hard bandits; exit code 1 unless it passes."""
    from dataclasses import asdict

    import paretoid as pt
    from paretoid.validation import HardBandit, delta_correctness, hard_bandits
    from paretoid.validation.program import Program

    bandits: list[pt.Bandit | HardBandit] = [pt.load_instance(name) for name in instances or []]
    bandits = bandits or [*hard_bandits(2, 1, delta), *hard_bandits(5, 2, delta)]
    with Program(command, seconds=seconds, means=send_means, long_lived=long_lived) as algorithm:
        verdict = delta_correctness(
            algorithm, bandits, delta, max_runs=runs, budget=budget, seed=seed
        )
    if json:
        say_json(
            {
                "verdict": verdict.words, **asdict(verdict), "passed": verdict.passed,
                "certified": verdict.certified,
            }
        )  # fmt: skip
    else:
        say(verdict.summary())
    if not verdict.passed:
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
        "no guarantee was refuted" if certificate["holds"] else "a guarantee was refuted",
        *(wrap(f"REGRESSED {regression}", "  ") for regression in certificate["regressions"]),
        "",
        table(
            [f"battery {certificate['battery']}, seed {certificate['seed']}", ""],
            [[name, value if isinstance(value, str) else f"{value:,}"] for name, value in rows],
        ),
    ]
    return "\n".join(lines)
