"""All benchmarks of the engine and of campaigns in one go, as a table and a picture.

    python -m paretoid.validation.benchmarks [--quick] [--out DIR]

Writes DIR/benchmarks.md (what it prints) and DIR/benchmarks.png; about five minutes on two
idle cores, less with --quick. The last figures, with machine and versions, are in
validation/benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from paretoid.plots.style import DARK, LIGHT, grid, log_axis, new_figure
from paretoid.text import markdown
from paretoid.validation.benchmarks import campaign, engine, scaling
from paretoid.versions import versions
from paretoid.writing import make_folder, may_write, new_file, write_text

Points = list[tuple[int, float]]


def machine() -> str:
    """One line: processor, cores, versions."""
    told = versions("numpy", "numba", "xarray", "dask")
    listed = ", ".join(f"{name} {number}" for name, number in told.items())
    return f"{platform.machine()}, {os.cpu_count()} cores, {listed}"


def draw(
    rounds: list[tuple[int, int, float, float, float]], scaled: dict[str, Points], path: Path
) -> None:
    """Engine beside textbook, and the time of a round by K and by D with the fitted line."""
    figure = new_figure(11.5, 3.8)
    axes = figure.subplots(1, 3)
    names = [f"{K}, {D}" for K, D, *_ in rounds]
    x = np.arange(len(rounds))
    axes[0].plot(x, [row[2] for row in rounds], "o--", color=LIGHT, label="textbook")
    axes[0].plot(x, [row[3] for row in rounds], "s-", color=DARK, label="engine")
    for at, row in enumerate(rounds):
        axes[0].annotate(
            f"{row[4]:,.0f} x", (at, np.sqrt(row[2] * row[3])), ha="center", fontsize="small"
        )
    axes[0].set_xticks(x, names)
    axes[0].set_xlabel("arms, objectives")
    axes[0].legend(frameon=False)
    log_axis(axes[0], "y")
    for ax, name, fixed in ((axes[1], "K", "D = 5"), (axes[2], "D", "K = 100")):
        sizes = np.array([size for size, _ in scaled[name]], dtype=float)
        seconds = np.array([t for _, t in scaled[name]])
        power = scaling.exponent(scaled[name])
        middle = np.exp(np.log(seconds).mean() + power * (np.log(sizes) - np.log(sizes).mean()))
        ax.plot(sizes, seconds * 1e6, "s", color=DARK, label="engine")
        ax.plot(sizes, middle * 1e6, "--", color="0.4", label=f"{name} to the power {power:.2f}")
        ax.set_xlabel({"K": "arms K", "D": "objectives D"}[name] + f"   ({fixed})")
        ax.legend(frameon=False)
        log_axis(ax, "x")
        log_axis(ax, "y")
    for ax in axes:
        grid(ax, "y")
        ax.set_ylabel("microseconds per round")
    with new_file(path, force=True) as draft:  # it belongs to benchmarks.md, which asked
        figure.savefig(draft, dpi=150)


def sections(quick: bool, out: Path) -> Iterator[list[str]]:
    """Run everything; lines of Markdown, a section at a time."""
    yield [machine()]
    rounds = engine.compare_rounds(2 if quick else 5)
    yield [
        "## Engine",
        "",
        markdown(
            ["K, D", "textbook, us", "engine, us", "ratio"],
            [
                [f"{K}, {D}", f"{slow:,.2f}", f"{fast:.3f}", f"{times:,.0f}"]
                for K, D, slow, fast, times in rounds
            ],
        ),
    ]
    one, two = campaign.compare(300 if quick else 2000, 1 if quick else 2)
    rates = [
        [str(p.threads), f"{p.seconds:.1f}", f"{p.samples / p.seconds / 1e6:.2f}"]
        for p in (one, two)
    ]
    yield [
        "## Campaign: Table 1, D = 2",
        "",
        markdown(["threads", "seconds", "million rounds/s"], rates),
        "",
        f"Two threads take {two.seconds / one.seconds:.2f} of the time of one; both are at work in "
        f"{two.overlap:.0%} of the last 10% of it.",
    ]
    scaled = scaling.measure()
    for name, fixed in (("K", "D = 5"), ("D", "K = 100")):
        rows = [[str(size), f"{t * 1e6:.3f}"] for size, t in scaled[name]]
        power = scaling.exponent(scaled[name])
        yield [
            f"## Scaling in {name}, {fixed}",
            "",
            markdown([name, "us per round"], rows),
            "",
            f"Fitted exponent: {power:.2f}.",
        ]
    draw(rounds, scaled, out / "benchmarks.png")
    many = campaign.MILLION // 10 if quick else campaign.MILLION
    yield [
        "## Memory",
        "",
        f"One run with K = 1000, D = 10 allocates {engine.memory():.0f} MB. A process that stores "
        f"a campaign peaks at {campaign.peak_memory(1000):.0f} MB for 1,000 replications and at "
        f"{campaign.peak_memory(many):.0f} MB for {many:,}.",
    ]


def main(arguments: list[str] | None = None) -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description="All benchmarks, as a table and a picture.")
    parser.add_argument("--quick", action="store_true", help="smaller and fewer")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"), help="folder for results")
    parser.add_argument("--force", action="store_true", help="replace results there")
    options = parser.parse_args(arguments)
    make_folder(options.out)
    for name in ("benchmarks.md", "benchmarks.png"):
        may_write(options.out / name, force=options.force)
    texts = []
    for lines in sections(options.quick, options.out):
        texts.append("\n".join(lines) + "\n")
        print(texts[-1], flush=True)
    write_text(options.out / "benchmarks.md", "\n".join(texts), force=options.force)


if __name__ == "__main__":
    main()
