"""Operating characteristics in words and tables for a terminal, and as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paretoid.labels import label_of
from paretoid.operating.characteristics import MEANINGS
from paretoid.operating.fixed import naive_words
from paretoid.registry import goal_of
from paretoid.text import at_most, count, joined, shares

if TYPE_CHECKING:
    import xarray as xr

#: what draws a table: heads and rows
Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]

#: head of a column, the characteristic in it, how a number is written
COLUMNS = (
    ("mean N", "mean_samples", count),
    ("N90", "samples_90", count),
    ("days", "duration", count),
    ("right %", "correct", lambda value: f"{100 * value:.3g}"),
    ("wrong %", "wrong_if_answered", lambda value: f"{100 * value:.2g}"),
    ("undecided", "undecided", lambda value: f"{value:.1f}"),
    ("on dominated", "on_dominated", count),
)


def as_dict(table: xr.Dataset) -> dict[str, Any]:
    """Everything, for JSON: one result for each scenario, design and goal."""
    names = ("delta", "runs", "max_samples", "seed", "conduct", "left_out", "paretoid")
    results = []
    for s, scenario in enumerate(table.scenario.values):
        for d, design in enumerate(table.design.values):
            for g, goal in enumerate(table.goal.values):
                told = {
                    name: dict(
                        zip(("estimate", "low", "high"), cell(table, name, s, d, g), strict=True)
                    )
                    for name in MEANINGS
                }
                results.append(
                    {"scenario": str(scenario), "design": str(design), "goal": str(goal), **told}
                )
    return {
        **{name: table.attrs[name] for name in names},
        "meanings": MEANINGS,
        "scenarios": _named(table, "scenario", {"words": "scenario_words"}),
        "designs": _named(
            table, "design",
            {"words": "design_words", "guarantee": "guarantee", "rule": "rule", "radius": "radius",
             "delta": "level"},
        ),
        "fixed_samples": {
            str(goal): int(size)
            for goal, size in zip(table.goal.values, table.fixed_samples.values, strict=True)
        },
        "naive_answer": naive_sentence(table),
        "in_words": sentences(table),
        "results": results,
    }  # fmt: skip


def _named(table: xr.Dataset, dim: str, about: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": str(name), **{key: table[which].values[at].item() for key, which in about.items()}}
        for at, name in enumerate(table[dim].values)
    ]


def cell(table: xr.Dataset, name: str, s: int, d: int, g: int) -> tuple[float, float, float]:
    """(estimate, low, high) of one characteristic."""
    estimate, low, high = table[name].values[s, d, g].tolist()
    return estimate, low, high


def rows(table: xr.Dataset) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows for a CSV: one row for each scenario, design and goal."""
    ends = ("", "_low", "_high")
    heads = ["scenario", "design", "guarantee", "goal"]
    heads += [f"{name}{end}" for name in MEANINGS for end in ends]
    made = []
    for result in as_dict(table)["results"]:
        at = list(table.design.values).index(result["design"])
        told = [value for name in MEANINGS for value in result[name].values()]
        made.append([result["scenario"], result["design"], str(table.guarantee.values[at]),
                     result["goal"], *told])  # fmt: skip
    return heads, made


def as_text(table: xr.Dataset, draw: Table, fold: Callable[[str], str]) -> str:
    """Designs, then a table for each scenario and goal, then what it amounts to.

    draw    a table from heads and rows;  fold    a paragraph as wide as the terminal
    """
    attrs = table.attrs
    lines = [
        fold(f"Operating characteristics: {attrs['runs']:,} simulated trials each, delta = "
             f"{attrs['delta']:g}, at most {attrs['max_samples']:,} participants, seed "
             f"{attrs['seed']}")
    ]  # fmt: skip
    if attrs["conduct"]:
        lines.append(fold(f"conduct: {attrs['conduct']}"))
    lines.append("")
    for at, name in enumerate(table.design.values):
        lines.append(
            fold(f"{name}: {table.design_words.values[at]} ({table.guarantee.values[at]})")
        )
    if naive_sentence(table):
        lines.append(fold(naive_sentence(table)))
    if attrs["left_out"]:
        lines.append(fold(attrs["left_out"]))
    for g, goal in enumerate(table.goal.values):
        for s, scenario in enumerate(table.scenario.values):
            said = str(table.scenario_words.values[s])
            label = label_of(str(goal), attrs)
            title = f"{label}, {scenario}" + (f": {said}" if said else "")
            lines += ["", fold(title), _block(table, s, g, draw)]
    lines += [
        "",
        fold(
            "Second lines: 95% intervals. N90: participants by which 90% of trials have an answer. "
            "Right: of all trials; wrong: of those with an answer. Undecided: arms of which "
            "nothing is certain at the end; a fixed trial is certain of none. On dominated: "
            "participants on arms outside the Pareto set."
        ),
    ]
    return "\n".join([*lines, *(f"\n{fold(sentence)}" for sentence in sentences(table))])


def _block(table: xr.Dataset, s: int, g: int, draw: Table) -> str:
    columns = [column for column in COLUMNS if not table[column[1]].isnull().all()]
    limit = table.attrs["max_samples"]
    made = []
    for d, design in enumerate(table.design.values):
        first, second = [str(design)], [""]
        for _, name, form in columns:
            estimate, low, high = cell(table, name, s, d, g)
            if name == "samples_90":
                first.append(at_most(estimate, limit))
                second.append("" if math.isinf(estimate) else ends(low, high, form))
            else:
                first.append("-" if math.isnan(estimate) else form(estimate))
                second.append(ends(low, high, form))
        made += [first, second]
    return draw(["design", *(head for head, _, _ in columns)], made)


def ends(low: float, high: float, form: Callable[[float], str]) -> str:
    """The ends of an interval as briefly as can be; nothing where it has no width."""
    if math.isnan(low) or low == high:
        return ""
    if math.isinf(high):
        return f">= {form(low)}"
    return f"{form(max(low, 0.0))}-{form(high)}"


def naive_sentence(table: xr.Dataset) -> str:
    """What the answer of the fixed design is; empty without one."""
    goals = [goal_of(str(goal)) for goal in table.goal.values]
    if "fixed" not in table.design.values:
        return ""
    return naive_words([goal for goal in goals if goal is not None])


def sentences(table: xr.Dataset) -> list[str]:
    """What the proof costs and where it earns it, and which designs keep to delta, by goal."""
    proved, others = (
        [d for d, worth in enumerate(table.guarantee.values) if (worth == "proved") is wanted]
        for wanted in (True, False)
    )
    said = []
    for g, goal in enumerate(table.goal.values):
        parts = [f"{label_of(str(goal), table.attrs)}."]
        if proved and "fixed" in table.design.values:
            parts += _price(table, str(table.design.values[proved[0]]), g)
        said.append(" ".join([*parts, *_against_delta(table, proved, others, g)]))
    return said


def _against_delta(
    table: xr.Dataset, proved: Sequence[int], others: Sequence[int], g: int
) -> list[str]:
    """Which designs break delta in which scenario, by the 95% intervals of their wrong answers."""
    delta, names = float(table.attrs["delta"]), [str(name) for name in table.design.values]
    said, sound = [], []
    for d in [*proved, *others]:
        above, across = _where(table, d, g)
        if above:
            said.append(f"{names[d]} breaks delta = {delta:g} in {joined(above)}.")
            if d in proved:
                said.append(
                    "Its proof says otherwise, so that is chance (one interval in forty lies above "
                    "what it estimates) or a mistake: simulate more trials with another seed."
                )
        elif d in proved or not across:
            sound.append(names[d])
        if across and d not in proved:
            said.append(
                f"Whether {names[d]} keeps to delta = {delta:g} is left open in {joined(across)}."
            )
    if sound:
        keep = "keeps" if len(sound) == 1 else "keep"
        said.insert(0, f"No simulation refutes that {joined(sound)} {keep} to delta = {delta:g}.")
    if others:
        said.append(
            f"{joined([names[d] for d in others])} "
            f"{'promises' if len(others) == 1 else 'promise'} nothing of any other truth."
        )
    return said


def _where(table: xr.Dataset, d: int, g: int) -> tuple[list[str], list[str]]:
    """Scenarios in which the interval of a design's wrong answers lies above delta, or holds it."""
    above, across = [], []
    for s, scenario in enumerate(table.scenario.values):
        wrong, low, high = cell(table, "wrong", s, d, g)
        words = f"{str(scenario)!r} (wrong in {wrong:.1%} of trials, 95%: {shares(low, high)})"
        if low > table.attrs["delta"]:
            above.append(words)
        elif high > table.attrs["delta"]:
            across.append(words)
    return above, across


def _price(table: xr.Dataset, first: str, g: int) -> list[str]:
    delta, names = table.attrs["delta"], [str(name) for name in table.scenario.values]
    designs = [str(name) for name in table.design.values]
    at, fixed = designs.index(first), designs.index("fixed")
    size = int(table.fixed_samples.values[g])
    said = []
    if "fitted" in names:
        s = names.index("fitted")
        right, proof = (cell(table, "correct", s, d, g)[0] for d in (fixed, at))
        mean = count(cell(table, "mean_samples", s, at, g)[0])
        said.append(
            f"As fitted a fixed trial of {size:,} is right in {right:.1%} of trials; {first} is in "
            f"{proof:.1%}, with {mean} participants on average."
        )
        if "calibrated" in designs:
            cheap = cell(table, "mean_samples", s, designs.index("calibrated"), g)[0]
            said.append(f"calibrated has {count(cheap)}.")
    wrong = [cell(table, "wrong", s, fixed, g) for s in range(len(names))]
    worst = max(range(len(names)), key=lambda s: wrong[s][1])
    if wrong[worst][1] > delta:
        proof, low, high = cell(table, "wrong", worst, at, g)
        unanswered = 1 - cell(table, "answered", worst, at, g)[0]
        mean = count(cell(table, "mean_samples", worst, at, g)[0])
        said.append(
            f"Where the proof earns its participants: in {names[worst]!r} the fixed trial answers "
            f"wrongly in {wrong[worst][0]:.1%} of trials (95%: {shares(*wrong[worst][1:])}) and "
            f"does not notice; {first} in {proof:.1%} ({shares(low, high)}), with {mean} "
            f"participants on average"
            + (f" and no answer in {unanswered:.1%}." if unanswered else ".")
        )
    else:
        said.append(
            f"In none of these scenarios is the fixed trial surely wrong more often than delta: "
            f"what the proof adds here is a promise for every other truth (at most {delta:g})."
        )
    for s, name in enumerate(names):
        if name == "equal" and cell(table, "answered", s, at, g)[0] == 0:
            left = cell(table, "undecided", s, at, g)[0]
            said.append(
                f"Where all arms are equal {first} never has an answer: what is tied cannot be "
                f"told apart without a margin. It ends at {table.attrs['max_samples']:,} with "
                f"{left:.1f} arms undecided."
            )
    return said
