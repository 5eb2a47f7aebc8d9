"""The report of a stored campaign: samples, errors beside delta, answers, and how it was made."""

from __future__ import annotations

import math

import numpy as np

from paretoid.intervals import share
from paretoid.report import methods
from paretoid.report.campaign_pictures import instance_pictures, setting_pictures
from paretoid.report.campaign_words import campaign_methods, repeat
from paretoid.report.limits import WORDS
from paretoid.report.page import (
    AnswerBlock,
    Block,
    Cell,
    PictureBlock,
    Section,
    TableBlock,
    TextBlock,
    percent,
    plus_minus,
    render,
    samples,
)
from paretoid.report.stored import StoredCampaign
from paretoid.summaries import Summary
from paretoid.text import chosen, count, counted, interval, objective, shares
from paretoid.theory.dominance import pareto_set

#: more rows than these are left to `paretoid report --json`, more details to the Dataset
_ROWS, _DETAILS, _ANSWERS = 2000, 6, 8
#: goals side by side in a table, which must fit on paper
_GOALS = 3


def campaign_report(stored: StoredCampaign, *, command: str = "") -> str:
    """A campaign as one HTML page; `command` is the line that made the report.

    >>> from paretoid.report import read_store
    >>> import tempfile
    >>> from paretoid import BernoulliBandit, Campaign
    >>> campaign = Campaign(BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), replications=3, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = campaign.run(folder)
    ...     page = campaign_report(read_store(folder))
    >>> page[:15], "3 replications" in page
    ('<!DOCTYPE html>', True)
    """
    about, sizes = stored.about, stored.runs.sizes
    many = len(stored.cases) > 1
    plurals = {"radius": "radii"}
    grid = [counted(sizes[name], name, plurals.get(name, ""))
            for name in ("instance", "radius", "delta", "goal", "replication")]  # fmt: skip
    sections = [
        Section("The answer", _answers(stored), "answer"),
        Section(
            "Samples and errors",
            [
                *([_over_instances(stored)] if many else []),
                _main_table(stored),
                *_details(stored),
            ],
            "samples",
        ),
        Section("Arms returned", _arms(stored), "arms"),
        Section("The instances" if many else "The instance", _instances(stored), "instances"),
        Section("Methods", list(map(TextBlock, campaign_methods(stored))), "methods"),
        Section("How to repeat this", repeat(stored, command), "repeat"),
    ]
    arms = counted(len(about["arms"]), "arm")
    objectives = counted(len(about["objectives"]), "objective")
    subtitle = f"{arms}, {objectives}. {' × '.join(grid)}."
    return render("Simulated adaptive experiments", subtitle, sections)


def _answers(stored: StoredCampaign) -> list[Block]:
    blocks: list[Block] = [_promise(stored)]
    if len(stored.settings) <= _DETAILS:
        blocks += [_answer(stored, summary) for summary, _ in stored.settings]
    else:
        said = f"{len(stored.settings):,} settings were run; the tables below sort by any column. "
        goals = zip(methods.labels(stored.goals), stored.goals, strict=True)
        asked = "; ".join(f"{label}: {goal.words()}" for label, goal in goals)
        goals_said = f"Goals. {asked[:1].upper()}{asked[1:]}." if len(stored.goals) <= 4 else ""
        blocks.append(TextBlock(said + goals_said))
    return blocks


def _promise(stored: StoredCampaign) -> Block:
    """The sentence that compares error rates with delta, wherever that is proved."""
    about = stored.about
    proved = [s for s, _ in stored.settings if about["guarantees"][s.at[1]] == "proved"]
    above = [s for s in proved if s.error[1] > about["deltas"][s.at[2]]]
    loose = len(stored.settings) - len(proved)
    if not proved:
        return TextBlock(methods.guarantee(None, False, math.nan), "warning")
    worst = max(proved, key=lambda s: s.error[0])
    rate, delta = percent(*worst.error), about["deltas"][worst.at[2]]
    largest = (
        f"{'Its' if len(proved) == 1 else 'The largest'} error rate is {rate.text}: "
        f"{worst.wrong:,} of {worst.runs:,} runs (95% interval {rate.extra}, delta = {delta:g})."
    )
    if above:
        said = (
            f"In {len(above)} of {len(proved)} settings with a proved guarantee the whole 95% "
            f"interval of the error rate lies above delta: by chance alone one setting in forty "
            f"or fewer should, though settings that share samples err together. Look at those "
            f"rows first. {largest}"
        )
        return TextBlock(said, "warning")
    settings = "the only setting" if len(proved) == 1 else f"none of the {len(proved)} settings"
    does = "does not lie" if len(proved) == 1 else "lies"
    extra = f" {loose} further settings use a heuristic radius: no theorem bounds their error."
    return TextBlock(
        f"The runs agree with the guarantee: in {settings} with a proved guarantee the 95% "
        f"interval of the error rate {does} above delta. {largest}" + (extra if loose else "")
    )


def _answer(stored: StoredCampaign, summary: Summary) -> AnswerBlock:
    i, q, d, g = summary.at
    about = stored.about
    limit = about["max_samples"]
    mean = f"{'At least ' if summary.censored else ''}{count(summary.mean[0])} samples on average "
    mean += f"(95% interval {_ends(summary.mean)})"
    if summary.censored == summary.runs:
        mean = f"More than {limit:,} samples: no run had its answer by then"
    proved = about["guarantees"][q] == "proved"
    sentences = [
        f"Half of the runs stopped by {_by(summary.median[0])} (95% interval "
        f"{_ends(summary.median)}); {counted(summary.runs, 'run')}"
        + (
            f", of which {summary.censored:,} were censored: their budget ran out."
            if summary.censored
            else "."
        ),
        f"Which arms: {_which(stored, summary)}",
        f"How sure: {summary.wrong:,} of {summary.runs:,} runs ended with a wrong answer "
        f"({summary.error[0]:.1%}, 95% interval {shares(*summary.error[1:])}); "
        f"delta = {about['deltas'][d]:g}, "
        f"{'proved' if proved else 'heuristic: no theorem bounds the error'}.",
    ]
    where = [f"instance {stored.labels[i]}"] if len(stored.cases) > 1 else []
    where += [stored.radius(q)] if len(stored.radii) > 1 else []
    where += [f"delta = {about['deltas'][d]:g}"] if len(about["deltas"]) > 1 else []
    prefix = f"{', '.join(where)}: to" if where else "To"
    return AnswerBlock(
        f"{prefix} find {stored.goals[g].words()}:",
        mean, sentences,
    )  # fmt: skip


def _by(samples: float) -> str:
    return "beyond the budget" if math.isinf(samples) else count(samples)


def _ends(estimate: tuple[float, float, float]) -> str:
    _, low, high = estimate
    return "unknown" if math.isnan(low) else interval(low, high, _by)


def _which(stored: StoredCampaign, summary: Summary) -> str:
    if not summary.answers:
        return "no run came to an answer within the budget."
    mask, often = summary.answers[0]
    part = percent_of(often, summary.runs)
    others = len(summary.answers) - 1
    more = "" if not others else f"; {counted(others, 'other answer')} came up"
    arms = chosen(stored.about["arms"], mask)
    return f"{arms} in {part.text} of runs (95% interval {part.extra}){more}."


def _main_table(stored: StoredCampaign) -> TableBlock:
    about = stored.about
    many = len(stored.cases) > 1
    limit = about["max_samples"]
    labels = methods.labels(stored.goals)
    columns = [name for name in WORDS if any(name in bounds for _, bounds in stored.settings)]
    rows = []
    for summary, bounds in stored.settings[:_ROWS]:
        i, q, d, g = summary.at
        row = [
            Cell(stored.radius(q)),
            _level(stored, q, d), Cell(labels[g]),
            samples(*summary.mean, least=summary.censored > 0),
            samples(*summary.median, limit=limit), percent(*summary.error),
            Cell(f"{summary.censored:,}", shares(*summary.late[1:]) if summary.censored else "",
                 summary.censored),
            *(samples(float(bounds.get(name, math.nan))) for name in columns),
        ]  # fmt: skip
        rows.append([Cell(stored.labels[i]), *row] if many else row)
    heads = [*(["instance"] if many else []), "radius", "delta", "goal",
             "mean samples", "median samples", "wrong answers", "censored",
             *(WORDS[name][0] for name in columns)]  # fmt: skip
    left = len(stored.settings) - len(rows)
    note = (
        f"{left:,} further rows are left out; paretoid report --json prints all. " if left else ""
    )
    note += (
        "Small print: 95% intervals. Wrong answers are shares of all runs, which is what delta "
        "bounds; runs whose budget ran out are counted apart, as censored, and make a mean a "
        "lower bound (≥)."
    )
    if columns:
        note += " Bounds are exact numbers, computed from the instance; a dash: no theorem speaks "
        note += "about that setting. " + " ".join(WORDS[name][1] for name in columns)
    size = stored.runs.sizes["replication"]
    return TableBlock(f"One row per setting, {size:,} runs each", heads, rows, note)


def _level(stored: StoredCampaign, q: int, d: int) -> Cell:
    """The delta of a setting, with the word proved or heuristic for its radius."""
    delta = float(stored.about["deltas"][d])
    return Cell(f"{delta:g}", stored.about["guarantees"][q], delta)


def _over_instances(stored: StoredCampaign) -> TableBlock:
    """Averages over the instances, which are taken as given: errors are the simulation's."""
    labels = methods.labels(stored.goals)
    groups: dict[tuple[int, int, int], list[Summary]] = {}
    for summary, _ in stored.settings:
        groups.setdefault(summary.at[1:], []).append(summary)
    rows = []
    for (q, d, g), here in groups.items():
        # of a mean m with t-interval m - h to m + h, all of one number of runs
        halves = [summary.mean[2] - summary.mean[0] for summary in here]
        middle = sum(summary.mean[0] for summary in here) / len(here)
        half = math.sqrt(sum(h * h for h in halves)) / len(here)
        runs, wrong = sum(e.runs for e in here), sum(e.wrong for e in here)
        late, worst = sum(e.censored for e in here), max(here, key=lambda e: e.error[0])
        rows.append([
            Cell(stored.radius(q)), _level(stored, q, d), Cell(labels[g]),
            samples(middle, middle - half, middle + half, least=late > 0),
            percent_of(wrong, runs), percent(*worst.error), percent_of(late, runs),
        ])  # fmt: skip
    return TableBlock(
        f"Averages over {len(stored.cases):,} instances",
        ["radius", "delta", "goal", "mean samples", "wrong answers",
         "wrong, worst instance", "censored"],
        rows,
        "Instances are taken as given: the 95% intervals describe the error of the simulation, "
        "not of the choice of instances. The worst of many instances is high by chance, too.",
    )  # fmt: skip


def _places(stored: StoredCampaign) -> list[tuple[int, int, int]]:
    """The first settings of instance, radius and delta, as many as are shown in detail."""
    places = sorted({summary.at[:3] for summary, _ in stored.settings})
    return places[:_DETAILS]


def _title(stored: StoredCampaign, at: tuple[int, int, int]) -> str:
    i, q, d = at
    where = [f"instance {stored.labels[i]}"] if len(stored.cases) > 1 else []
    where += [stored.radius(q), f"delta = {stored.about['deltas'][d]:g}"]
    return ", ".join(where)


def _details(stored: StoredCampaign) -> list[Block]:
    pictures = setting_pictures(stored.runs, [(at, _title(stored, at)) for at in _places(stored)])
    return [PictureBlock(pictures), *_left_out(stored, "Pictures")]


def _left_out(stored: StoredCampaign, what: str) -> list[Block]:
    there = len({summary.at[:3] for summary, _ in stored.settings})
    if there <= _DETAILS:
        return []
    said = f"{what} of the first {_DETAILS} of {there:,} combinations of instance, radius and delta"
    return [TextBlock(f"{said} are shown.", "note")]


def _arms(stored: StoredCampaign) -> list[Block]:
    labels = methods.labels(stored.goals)
    blocks: list[Block] = []
    for at in _places(stored):
        here = [summary for summary, _ in stored.settings if summary.at[:3] == at]
        parts = [here[g : g + _GOALS] for g in range(0, len(here), _GOALS)]
        blocks += [_arm_table(stored, part, labels, at) for part in parts]
        blocks.append(_answer_table(stored, here, labels, at))
    return [*blocks, *_left_out(stored, "Arms")]


def _arm_table(
    stored: StoredCampaign, here: list[Summary], labels: list[str], at: tuple[int, int, int]
) -> TableBlock:
    optimal = pareto_set(stored.oriented(at[0]))
    rows = []
    for a, arm in enumerate(stored.about["arms"]):
        row = [Cell(arm), Cell("yes" if optimal[a] else "no")]
        for summary in here:
            row.append(plus_minus(float(summary.pulls[a]), float(summary.pulls_error[a])))
            row.append(percent_of(int(summary.returned[a]), summary.runs))
        rows.append(row)
    heads = ["arm", "truly optimal"]
    for summary in here:
        heads += [f"{labels[summary.at[3]]}: mean samples", f"{labels[summary.at[3]]}: returned"]
    note = "Mean samples ± standard error; shares of all runs with 95% intervals."
    return TableBlock(f"Arms: {_title(stored, at)}", heads, rows, note)


def percent_of(part: int, whole: int) -> Cell:
    """A share with its Clopper-Pearson interval."""
    return percent(*share(part, whole))


def _answer_table(
    stored: StoredCampaign, here: list[Summary], labels: list[str], at: tuple[int, int, int]
) -> TableBlock:
    rows = []
    means = stored.oriented(at[0])
    for summary in here:
        goal = stored.goals[summary.at[3]].bind(stored.about["objectives"], stored.sign)
        for mask, often in summary.answers[:_ANSWERS]:
            right = goal.is_correct(np.array(mask), means)
            rows.append([
                Cell(chosen(stored.about["arms"], mask) or "no arm"), Cell(labels[summary.at[3]]),
                Cell("right" if right else "wrong"), percent_of(often, summary.runs),
            ])  # fmt: skip
        rest = sum(often for _, often in summary.answers[_ANSWERS:])
        if rest:
            more = f"{len(summary.answers) - _ANSWERS:,} other answers"
            rows.append([Cell(more), Cell(labels[summary.at[3]]), Cell(""),
                         percent_of(rest, summary.runs)])  # fmt: skip
        if summary.censored:
            rows.append([Cell("none: the budget ran out"), Cell(labels[summary.at[3]]),
                         Cell("censored"), percent_of(summary.censored, summary.runs)])  # fmt: skip
    heads = ["answer", "goal", "verdict", "share of runs"]
    return TableBlock(f"Answers given: {_title(stored, at)}", heads, rows)


def _instances(stored: StoredCampaign) -> list[Block]:
    about = stored.about
    blocks: list[Block] = []
    shown = stored.cases[:_DETAILS]
    for i, case in enumerate(shown):
        optimal = pareto_set(stored.oriented(i))
        rows = []
        for a, arm in enumerate(about["arms"]):
            values = [
                Cell(f"{case['means'][a, d]:.6g}", f"scale {case['scale'][a, d]:.4g}",
                     float(case["means"][a, d]))
                for d in range(len(about["objectives"]))
            ]  # fmt: skip
            rows.append([Cell(arm), *values, Cell("yes" if optimal[a] else "no")])
        heads = ["arm", *(objective(name, name in about["minimize"])
                          for name in about["objectives"]), "Pareto-optimal"]  # fmt: skip
        which = f" of instance {case['label']}" if len(stored.cases) > 1 else ""
        note = "Inputs of the simulation, so they have no uncertainty."
        blocks.append(TableBlock(f"True means{which}, {case['kind']}", heads, rows, note))
        blocks.append(PictureBlock(instance_pictures(case, about, f"instance-{i}")))
    if len(stored.cases) > len(shown):
        said = f"The first {len(shown)} of {len(stored.cases):,} instances are shown."
        blocks.append(TextBlock(said, "note"))
    return blocks
