"""The design of a trial in the sections of a protocol, from nothing but the design itself.

`design.html` of a plan and the report of a live trial both have them, so that what was promised
before the first participant and what is reported afterwards are the same sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits.kinds import Kind
from paretoid.explorer.design import Design
from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet
from paretoid.report import methods
from paretoid.report.page import Block, Cell, Section, TableBlock, TextBlock
from paretoid.rules import APE, BestArmRule
from paretoid.text import MARGINS, counted, joined, margin
from paretoid.units import Units


def design_sections(
    design: Design,
) -> list[Section]:
    """Objective, arms and endpoints, allocation, looks and stopping, guarantee and assumptions.

    >>> from paretoid import AtMost
    >>> design = Design(["A", "B"], ["response"], AtMost(1))
    >>> [section.title for section in design_sections(design)][:3]
    ['Objective', 'Arms and endpoints', 'Allocation']
    """
    return [
        Section("Objective", objective(design), "objective"),
        Section("Arms and endpoints", _endpoints(design), "endpoints"),
        Section("Allocation", list(map(TextBlock, _allocation(design))), "allocation"),
        Section("Looks and stopping", list(map(TextBlock, _stopping(design))), "stopping"),
        Section("Guarantee and assumptions", _guarantee(design), "guarantee"),
        Section("If the trial does not settle", list(map(TextBlock, _unsettled(design))),
                "unsettled"),
    ]  # fmt: skip


def objective(design: Design) -> list[Block]:
    """What is asked, and what the words in the question mean."""
    limits, compared = design.limits, design.goals[0].compared(design.objectives)
    among = f"among {counted(design.K, 'arm')}, by {counted(len(compared), 'endpoint')}"
    among += ", none of which outweighs another" if len(compared) > 1 else ""
    first, *others = (goal.words(design.units) for goal in design.goals)
    said = [f"The trial is to find {first}, {among}."]
    said += [f"From the same participants it is also to find {other}." for other in others]
    where = compared[0] if len(compared) == 1 else "every endpoint at once"
    if 1 < len(compared) < design.D:
        where = f"{joined(compared)} at once"
    said.append(
        f"An arm is Pareto-optimal if no other arm{' within the limits' if limits else ''} is "
        f"strictly better in {where}, by the true means."
    )
    if design.units.margin(design.goals[0].eps1, compared) != "0":
        said.append(_margin(design, design.goals[0].eps1, compared))
        said.append(MARGINS["all" if isinstance(design.goals[0], PracticalSet) else "any"])
    return list(map(TextBlock, said))


def _margin(design: Design, slack: Any, compared: Sequence[str]) -> str:
    """The margin as a ratio or in units, and as a number in which outcomes are recorded."""
    by_name = dict(zip(design.objectives, np.broadcast_to(slack, design.D).tolist(), strict=True))
    numbers = [by_name[name] for name in compared]
    same = len(set(numbers)) == 1
    every = " in every endpoint" if same and len(compared) > 1 else ""
    said = f"The margin is {design.units.margin(slack, compared)}{every}"
    if design.units.logs:
        said += f", that is {margin(numbers[0] if same else numbers)} as outcomes are recorded"
    return f"{said}."


def _endpoints(design: Design) -> list[Block]:
    measured: Any = design if design.cone is None else design.cone
    delays = np.zeros(len(measured.objectives))
    if design.conduct is not None:
        delays = design.conduct.delays(measured.objectives)
    limits, compared = design.limits, design.goals[0].compared(measured.objectives)
    columns: dict[str, list[str]] = {
        "endpoint": list(measured.objectives),
        "unit": [design.measured_in.units.get(name, "") for name in measured.objectives],
        "better": [
            ("smaller" if name in measured.minimize else "larger") if name in compared else "-"
            for name in measured.objectives
        ],
        "limit": [
            design.units.limit(name, limits[name]) if name in limits else ""
            for name in measured.objectives
        ],
        "recorded as": _recorded(design, measured.objectives),
        "known after": [f"{days:g} days" if days else "" for days in delays],
    }
    if design.cone is None:
        if design.kinds is not None:
            columns["outcomes are"] = [_kind(kind) for kind in design.kinds]
        columns["scale, fixed beforehand"] = [
            "" if design.learnt[d] else _range(design.bandit.scale[:, d]) for d in range(design.D)
        ]
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    rows = [list(map(Cell, row)) for row in zip(*shown.values(), strict=True)]
    blocks: list[Block] = [
        TableBlock("Arms", ["number", "arm"], [
            [Cell(str(number), key=float(number)), Cell(arm)]
            for number, arm in enumerate(design.arms, start=1)
        ]),
        TableBlock("Endpoints", list(shown), rows),
    ]  # fmt: skip
    if design.cone is not None:
        blocks.append(TextBlock(
            f"Endpoints are recorded as listed and judged together by these sums, of which more "
            f"is better: {'; '.join(design.objectives)}."
        ))  # fmt: skip
    return blocks


def _recorded(design: Design, endpoints: Sequence[str]) -> list[str]:
    """How each endpoint is recorded; nothing where all are as they are measured."""
    ways = dict.fromkeys(endpoints, "as measured")
    ways |= dict.fromkeys(design.measured_in.logs, "natural logarithm")
    kinds = design.kinds or [design.outcomes] * len(endpoints)
    happened = [name for name, kind in zip(endpoints, kinds, strict=False) if kind == "binary"]
    ways |= dict.fromkeys(happened, "1 if it happened, else 0")
    return list(ways.values()) if set(ways.values()) != {"as measured"} else []


def _kind(kind: Kind) -> str:
    if isinstance(kind, str):
        return {"gaussian": "Gaussian", "binary": "0 or 1"}.get(kind, kind)
    return f"{kind[0]:g} to {kind[1]:g}"


def _range(values: Any) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g} by arm"


def _allocation(design: Design) -> list[str]:
    rule = (
        "Participants are allocated adaptively by Adaptive Pareto Exploration (APE; Kone, Kaufmann "
        "and Richert, 2023): of the two arms whose comparison is most in the way of an answer, by "
        "the confidence intervals at that time, the one with fewer outcomes is proposed. Until "
        "every arm has the outcomes that its intervals need, the arm with fewest is."
        if design.rule == APE()
        else f"Participants are allocated by the rule {design.rule}."
    )
    said = []
    if design.conduct is not None and design.conduct.burn_in:
        number = design.conduct.burn_in
        said.append(
            f"The first {counted(number * design.K, 'participant')} go to the arms in turn, "
            f"{number} to each; then the rule begins."
        )
    said.append(
        f"{rule} Where outcomes are awaited, or several participants are placed at once, awaited "
        f"outcomes are counted as if observed for choosing arms, and for nothing else."
    )
    randomise: Any = getattr(design, "randomise", None)
    if randomise is not None:
        said.append(
            f"Allocation is randomised, with probabilities that follow the rule's proposals: "
            f"{randomise}. The draws come from a secret that is kept apart from the ledger, which "
            f"has its hash."
        )
    else:
        said.append(
            f"Allocation is not randomised: only the order within a batch is shuffled (seed "
            f"{design.seed}), so whoever knows the design and all outcomes can tell the next arm. "
            f"Those who enrol participants must not see outcomes by arm."
        )
    said.append(
        "A proposed arm may be overridden before any outcome of it is known; override and reason "
        "are logged. The guarantee holds however arms are chosen."
    )
    return said


def _stopping(design: Design) -> list[str]:
    conduct, limit = design.conduct, design.max_samples
    said = []
    if conduct is not None:
        said.append(f"The trial is planned with {conduct}.")
    said.append(
        "Outcomes are tested whenever some are recorded; looks are when people read the result. "
        "The proof covers all times together, so delta is the same for any number of tests and "
        "looks."
        if design.guarantee == "proved"
        else "Outcomes are tested whenever some are recorded; looks are when people read the "
        "result."
    )
    said += [
        f"To find {goal.words(design.units)}: {_decided(goal, design.units)}"
        for goal in design.goals
    ]
    said.append(
        "An answer, once given, stays. Recruitment ends when every goal has its answer"
        + (
            "."
            if limit is None
            else f", or when {counted(limit, 'participant')} are enrolled; the last look is when "
            f"all their outcomes have arrived."
        )
    )
    return said


def _decided(goal: Goal, units: Units) -> str:
    near, out = in_and_out(goal, units)
    whole = f"each arm is, by its intervals, surely {near} or surely out ({out})"
    if type(goal) is ParetoSet:
        return f"the answer is given at the first test at which {whole}."
    if type(goal) is AtMost:
        return (
            f"the answer is given at the first test at which {counted(goal.k, 'arm')} "
            f"{'is' if goal.k == 1 else 'are'}, by the intervals, surely {near}, or at which "
            f"{whole}."
        )
    if type(goal) is Cover:
        return (
            f"the answer is given at the first test at which {whole}, or surely within "
            f"{units.margin(goal.eps2, goal.compared(units.endpoints))} of an arm that is surely "
            f"{near}."
        )
    return "the answer is given at the first test at which the intervals decide the goal."


def _guarantee(design: Design) -> list[Block]:
    radius, delta = design.radius, design.delta
    if design.guarantee != "proved":
        return [
            TextBlock(
                "Heuristic: for this rule, radius and goals no theorem bounds the probability of a "
                "wrong answer, and delta is a tuning constant.", "warning",
            ),
            TextBlock(methods.intervals_of(radius, methods.radius_label(radius, str(radius)))),
        ]  # fmt: skip
    several = len(design.goals) > 1
    said = [
        methods.guarantee(radius, True, delta),
        f"So delta = {delta:g} bounds the probability, over repetitions of the whole trial and "
        f"whatever the true means are, that {'any of the answers' if several else 'the answer'} is "
        f"ever wrong. It is not the probability that an answer is wrong once it has been seen, and "
        f"it says nothing of how likely the trial is to have an answer.",
        methods.intervals_of(radius, methods.radius_label(radius, str(radius))),
    ]
    return [
        *map(TextBlock, said),
        TextBlock("The proof assumes:"),
        *(
            TextBlock(f"{number}. {assumption} {so}")
            for number, (assumption, so) in enumerate(_assumptions(design), start=1)
        ),
    ]  # fmt: skip


def _assumptions(design: Design) -> Sequence[tuple[str, str]]:
    some = "Outcomes" if design.learnt.all() else "Outcomes in endpoints without a stated scale"
    known = "Outcomes" if not design.learnt.any() else "Outcomes in the other endpoints"
    law = []
    if design.learnt.any():
        joint = "Gaussian" if design.cone is None else (
            "jointly Gaussian, so that every sum that is judged is Gaussian"
        )  # fmt: skip
        law.append((
            f"{some}, as recorded, are {joint}, with a variance of each arm's own that stays the "
            f"same.",
            "Outcomes that are not need a transformation fixed beforehand, such as logarithms.",
        ))  # fmt: skip
    if not design.learnt.all():
        law.append((
            f"{known}, as recorded, are sub-Gaussian with at most the scales of the design, which "
            f"were fixed before the data.",
            "A scale estimated from the outcomes of this trial is no such scale.",
        ))  # fmt: skip
    rows = [
        *law,
        ("Each participant's outcome has the arm's mean, whatever happened before.",
         "A population that drifts during the trial is not covered."),
        ("Outcomes of different participants are independent, given what happened before.",
         "Paired, crossed-over and clustered designs are not covered."),
        ("Whether an outcome is missing may depend on the arm and on what happened before, but not "
         "on any outcome of that participant, in this endpoint or another.",
         "Losses because of an outcome (illness, a value below detection) are recorded as values, "
         "by a rule fixed beforehand."),
        ("In each endpoint outcomes are used in the order of allocation, up to the first that is "
         "awaited.",
         "Later ones wait, so that quick outcomes are not favoured."),
        ("Outcomes are recorded as they were measured.",
         "An answer given before a correction stays as given, and the report says so."),
        ("Arms, endpoints, goals, margin, delta and radius were fixed before the first outcome.",
         "None of them is changed after a look."),
    ]  # fmt: skip
    if design.informed_by:
        rows.append((
            f"The data that shaped the radius are not counted again: "
            f"{'; '.join(design.informed_by)}.",
            "Only outcomes of participants of this trial are recorded.",
        ))  # fmt: skip
    return rows


def settles(design: Design) -> bool:
    """True: what is said of single arms, answer or not, is covered by delta.

    Not for rules that look at one arm at a time, nor for anything heuristic.

    >>> settles(Design(["A", "B"], ["x"]))
    True
    """
    return design.guarantee == "proved" and not isinstance(design.rule, BestArmRule)


def in_and_out(goal: Goal, units: Units) -> tuple[str, str]:
    """What it means to be in and out, limits included.

    >>> from paretoid import ParetoSet, at_most
    >>> in_and_out(ParetoSet(0.5, limits={"harm": at_most(1.0)}), Units())
    ('within 0.5 of optimal', 'dominated or beyond a limit')
    """
    inside, outside = goal.verdict_words(units)
    return inside, outside + (" or beyond a limit" if goal.limits else "")


def _unsettled(design: Design) -> list[str]:
    limit = design.max_samples
    end = "the trial ends" if limit is None else f"{counted(limit, 'participant')} are enrolled"
    inside, outside = in_and_out(design.goals[0], design.units)
    if not settles(design):
        said = (
            "Estimated means and numbers of outcomes are reported for every arm; what the "
            "intervals suggest of single arms is reported as not covered by a theorem."
        )
    else:
        said = (
            f"For every arm it is reported whether it is surely {inside}, surely out ({outside}), "
            f"or undecided. Under the assumptions above all of these statements, at all times, and "
            f"all answers are right together with probability at least {1 - design.delta:g}. Why "
            f"an arm is out is reported as what the data point to, and not as a statement with "
            f"that guarantee. "
            f"Undecided means that neither is shown, and not that the arm equals another."
        )
    return [
        f"If {end} and a goal has no answer, none is given, and that is reported as no answer. "
        f"{said}",
        "Means are reported as estimates. Sampling that depends on the outcomes can bias them, "
        "most of all those of arms that look best.",
    ]
