"""Operating characteristics on the pages of a plan: designs in scenarios, by `paretoid oc`.

They are simulated by another command, with scenarios and designs of its user's choice, and read
from the file that it wrote; nothing is simulated here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paretoid.labels import label_of
from paretoid.operating.words import COLUMNS, cell, ends, naive_sentence, sentences
from paretoid.report.figures import SvgPicture, drawing, picture
from paretoid.report.other_design import difference_blocks
from paretoid.report.page import Block, Cell, PictureBlock, Section, TableBlock, TextBlock
from paretoid.tables import read_bytes
from paretoid.text import at_most, joined

if TYPE_CHECKING:
    import xarray as xr


def read_operating(
    path: str | Path, arms: Sequence[str], endpoints: Sequence[str], delta: float
) -> xr.Dataset:
    """What `paretoid oc --out FILE.nc` wrote; refused if it is about another trial."""
    import io

    import xarray as xr

    way_out = "Give what `paretoid oc --out FILE.nc` wrote for the same table."
    data = read_bytes(path)
    try:
        table = xr.load_dataset(io.BytesIO(data), engine="h5netcdf")
        known = [[str(name) for name in table[dim].values] for dim in ("arm", "objective")]
        theirs = float(table.attrs["delta"])
        if table["on_dominated"].dims != ("scenario", "design", "goal", "interval"):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{path} holds no operating characteristics. {way_out}") from None
    for what, ours, others in (("arms", arms, known[0]), ("endpoints", endpoints, known[1])):
        if list(ours) != others:
            raise ValueError(
                f"{path} is about the {what} {', '.join(others)}, and the plan about "
                f"{', '.join(ours)}. {way_out}"
            )
    if theirs != delta:
        raise ValueError(f"{path} has delta = {theirs:g}, and the plan {delta:g}. {way_out}")
    return table


def operating_section(
    table: xr.Dataset, goals: Sequence[str], planned: xr.Dataset | None = None
) -> Section:
    """Designs and what they do in each scenario, beside each other.

    goals       the plan's
    planned     the plan itself: in what these trials differ from its own stands first
    """
    attrs = table.attrs
    said = (
        f"{attrs['runs']:,} simulated trials of each design in each scenario, at most "
        f"{attrs['max_samples']:,} participants, seed {attrs['seed']}, by paretoid oc."
    )
    blocks: list[Block] = [
        *([] if planned is None else difference_blocks(table, planned)),
        TextBlock(said + (f" Conduct: {attrs['conduct']}." * bool(attrs["conduct"]))),
    ]
    strange = [str(goal) for goal in table.goal.values if str(goal) not in goals]
    if strange:
        blocks.append(TextBlock(
            f"{joined(label_of(name, attrs) for name in strange)} "
            f"{'is no goal' if len(strange) == 1 else 'are no goals'} of this plan: what follows "
            f"answers another question.", "warning",
        ))  # fmt: skip
    blocks.append(TableBlock("Designs compared", ["design", "guarantee", "what it is"], [
        [Cell(str(name)), Cell(str(worth)), Cell(str(words))]
        for name, worth, words in zip(
            table.design.values, table.guarantee.values, table.design_words.values, strict=True
        )
    ]))  # fmt: skip
    if naive_sentence(table):
        blocks.append(TextBlock(naive_sentence(table)))
    if attrs["left_out"]:
        blocks.append(TextBlock(str(attrs["left_out"])))
    for g, goal in enumerate(table.goal.values):
        blocks.append(_table(table, g, label_of(str(goal), table.attrs)))
        blocks.append(PictureBlock([_picture(table, g, label_of(str(goal), table.attrs))]))
    blocks += [TextBlock(sentence) for sentence in sentences(table)]
    return Section("Designs in scenarios", blocks, "scenarios")


def _table(table: xr.Dataset, g: int, goal: str) -> TableBlock:
    columns = [column for column in COLUMNS if not table[column[1]].isnull().all()]
    rows = [
        [Cell(str(scenario)), Cell(str(design)),
         *(_cell(table, name, form, s, d, g) for _, name, form in columns)]
        for s, scenario in enumerate(table.scenario.values)
        for d, design in enumerate(table.design.values)
    ]  # fmt: skip
    scenarios = "; ".join(
        f"{name}: {words}"
        for name, words in zip(table.scenario.values, table.scenario_words.values, strict=True)
        if words
    )
    note = (
        "Small print: 95% intervals. N90: participants by which 90% of trials have an answer. "
        "Right: of all trials; wrong: of those with an answer. Undecided: arms of which nothing is "
        "certain at the end; a fixed trial is certain of none. On dominated: participants on arms "
        "outside the Pareto set."
    )
    heads = ["scenario", "design", *(head for head, _, _ in columns)]
    return TableBlock(goal, heads, rows, f"{note} {scenarios}".strip())


def _cell(
    table: xr.Dataset, name: str, form: Callable[[float], str], s: int, d: int, g: int
) -> Cell:
    estimate, low, high = cell(table, name, s, d, g)
    if math.isnan(estimate):
        return Cell("-", key=math.nan)
    if name == "samples_90" and math.isinf(estimate):
        return Cell(at_most(estimate, int(table.attrs["max_samples"])), key=math.inf)
    return Cell(form(estimate), ends(low, high, form), estimate)


def _picture(table: xr.Dataset, g: int, goal: str) -> SvgPicture:
    from paretoid import plots

    with drawing():
        axes = plots.operating(table, g)[0, 0]
        return picture(axes, f"operating{g}", (
            f"Wrong and right answers and participants of each design, scenario by scenario; "
            f"{goal}. Filled marks are proved designs; the dashed line is delta."
        ))  # fmt: skip
