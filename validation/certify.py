"""The regression record: run the whole battery and write down what was not refuted.

    python -m paretoid.validation.certify            a few minutes
    python -m paretoid.validation.certify --quick    about a minute, for continuous integration
    python -m paretoid.validation.certify --full     about half an hour: the one kept here

writes certificate.json and CERTIFICATE.md into the current directory (`--out DIR` for another) and
exits with 1 if a guarantee was refuted. Everything follows from the seed; nothing written depends
on the machine or the clock but the versions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paretoid import text
from paretoid.registry import radius_of
from paretoid.theory.radii import MixtureRadius
from paretoid.validation.battery import certify
from paretoid.validation.benchmarks import participants
from paretoid.writing import may_write, write_text


def markdown(certificate: dict[str, Any]) -> str:
    """CERTIFICATE.md: the certificate for readers."""
    c = certificate
    path = c["pathwise"]
    lines = [
        "# Certificate",
        "",
        "No guarantee was refuted." if c["holds"] else "**A guarantee was refuted:**",
        *[f"- {regression}" for regression in c["regressions"]],
        "",
        f"Battery {c['battery']!r}, seed {c['seed']}; a correct engine fails each statistical "
        f"test with probability at most {c['false_alarm']:g}. Versions: "
        + ", ".join(f"{name} {number}" for name, number in c["versions"].items())
        + ". Made by `python -m paretoid.validation.certify`; see validation/README.md.",
        "",
        "## Pathwise theory",
        "",
        f"{path['paths']} paths, {path['rounds']} rounds, {len(path['violations'])} violations. "
        f"Intervals failed on {path['bad_paths']} paths ({path['bad_rounds']} rounds), where the "
        f"lemmas say nothing. {path['bounded']} stopping times were compared with the sharp bound.",
        "",
        _rows([{"check": k, "applied": v} for k, v in path["checked"].items()]),
        "",
        "## Wrong answers",
        "",
        "Upper bounds on the probability of a wrong answer, 95%: Clopper-Pearson for the fixed "
        "number of runs, and the sequential one. *Would notice* is the smallest true error rate "
        "that these runs would have found out with probability 0.9, by the evidence that makes a "
        'regression; "-": none. A run that did not stop counts as no error. Shown is the goal '
        "with most errors (and, of these, the longest runs); every goal is in certificate.json.",
        "",
        f"{sum(row['runs'] for row in c['errors'] if row['guarantee'] == 'proved'):,} runs of "
        "proved radii, counted once for each goal.",
        "",
        _rows(_worst_goals(c["errors"])),
        "",
        "The engine under the sequential test:",
        "",
        _rows([{**row, "faults": len(row["faults"])} for row in c["sequential_tests"]]),
        "",
        "## Coverage of the radii under adversarial sampling",
        "",
        "Share of runs in which the proved event failed at some time, under the worst of the "
        "sampling rules; it must not exceed delta for a proved radius.",
        "",
        _rows([{k: v for k, v in row.items() if k != "failures"} for row in c["coverage"]]),
        "",
        "## Participants",
        "",
        "Samples on COV-BOOST until the answer, with standard errors; "
        "`python -m paretoid.validation.benchmarks.participants` makes this table.",
        "",
        participants.markdown(
            {
                name: [participants.Mean(*cell) for cell in cells]
                for name, cells in c["participants"].items()
            }
        ),
        "",
        "## Mutants",
        "",
        _rows(
            [{"mutant": k, "caught by": ", ".join(v)} for k, v in c["mutants"]["caught"].items()]
        ),
        "",
        f"False alarms on the engine itself: {', '.join(c['mutants']['false_alarms']) or 'none'}.",
        "",
        "## Stopping times and bounds",
        "",
    ]
    for row in c["bounds"]:
        said = [
            f"- {row['instance']} ({row['radius']}): {row['runs']} runs, {row['errors']} wrong; "
            f"the longest took {100 * row['largest_share_of_sharp_bound']:.0f}% of the sharp "
            f"bound; {row['above_sharp_bound']} above it, {row['contradictions']} of them with "
            f"all intervals right"
        ]
        for variable in ("slope", "bend"):
            values = row.get(f"{variable} in log(1/delta), by k")
            if values:
                said.append(
                    f"{variable} in log(1/delta): "
                    + ", ".join(f"{v:g} (k = {k})" for k, v in values.items())
                )
        lines.append("; ".join(said) + ".")
    if "faults" in c:
        lines += ["", "## Faults", ""]
    for name, counts in c.get("faults", {}).items():
        counted = [f"{count:,} {what.replace('_', ' ')}" for what, count in counts.items()]
        lines.append(f"- {name}: {', '.join(counted)}.")
    return "\n".join(lines) + "\n"


def _worst_goals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of every instance, radius and delta the goal with most errors, then the longest runs."""
    worst: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["instance"], row["radius"], row["delta"])
        rank = (row["errors"], row["mean_time"])
        if key not in worst or rank > (worst[key]["errors"], worst[key]["mean_time"]):
            worst[key] = row
    return list(worst.values())


def _rows(rows: list[dict[str, Any]]) -> str:
    heads = [name.replace("_", " ") for name in rows[0]]
    return text.markdown(
        heads,
        [["-" if value is None else _short(str(value)) for value in row.values()] for row in rows],
    )


def _short(said: str) -> str:
    """A radius with shares in few words; anything else as it is."""
    if "shares=Shares(" not in said:
        return said
    radius = radius_of(said)
    if not isinstance(radius, MixtureRadius) or radius.shares is None or not radius.shares.arms:
        return said
    first, *_, last = radius.shares.arms
    favoured = "first" if first > last else "last"
    return f"{type(radius).__name__}, rho and shares by arm, for the {favoured} arms"


#: what `write` makes
FILES = ("certificate.json", "CERTIFICATE.md")


def write(certificate: dict[str, Any], folder: Path, *, force: bool = False) -> None:
    """certificate.json and CERTIFICATE.md; those that exist are replaced only by `force`."""
    contents = (text.as_json(certificate), markdown(certificate))
    for name in FILES:
        may_write(folder / name, force=force)
    for name, content in zip(FILES, contents, strict=True):
        write_text(folder / name, content, force=force)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the certificate; 1 if a guarantee was refuted."""
    parser = argparse.ArgumentParser(
        prog="python -m paretoid.validation.certify", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="about a minute, for CI")
    parser.add_argument("--full", action="store_true", help="many more runs, about half an hour")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(), help="where to write (default: here)")
    parser.add_argument("--force", action="store_true", help="replace a certificate there")
    options = parser.parse_args(arguments)
    if options.quick and options.full:
        parser.error("--quick and --full exclude each other")
    if not options.out.is_dir():
        parser.error(f"--out {options.out} is no directory; make it first")
    for name in FILES:
        if not options.force and (options.out / name).exists():
            parser.error(f"{options.out / name} exists already; --force replaces it")
    battery = "quick" if options.quick else "full" if options.full else "standard"
    certificate = certify(battery, options.seed)
    write(certificate, options.out, force=options.force)
    for regression in certificate["regressions"]:
        print(f"REGRESSED {regression}", file=sys.stderr)
    print("no guarantee was refuted" if certificate["holds"] else "a guarantee was refuted")
    return int(not certificate["holds"])


if __name__ == "__main__":
    sys.exit(main())
