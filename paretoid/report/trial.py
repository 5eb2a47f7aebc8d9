"""The report of a live trial, running or ended: flow, verdicts, intervals, design, ledger."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid import text
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.explorer.events import LedgerError
from paretoid.explorer.explorer import Explorer
from paretoid.explorer.state import TrialState
from paretoid.explorer.status import Status
from paretoid.report.design_words import design_sections, in_and_out, settles
from paretoid.report.page import (
    AnswerBlock,
    Block,
    Cell,
    PictureBlock,
    Section,
    TableBlock,
    TextBlock,
    render,
    settings,
    versions_table,
)
from paretoid.report.trial_pictures import enrolment_picture, means_picture

#: differences of so many arms are all listed; of more, those that are in question
_ARMS = 12

#: so many departures from the plan are listed one by one
_LISTED = 200

#: events that depart from the plan, each with its reason
_DEPARTURES = ("overridden", "withdrawn", "corrected", "arm_corrected")


@dataclass(frozen=True)
class Flow:
    """Participants and outcomes of a trial, counted by arm.

    allocated    (K,) allocations made, and unplanned participants recorded
    overridden   (K,) of these replaced by another arm before any outcome
    withdrawn    (K,) of these received by nobody
    unplanned    (K,) of these never asked for
    lost         (K,) participants of whom no outcome will come
    complete     (K,) participants of whom every outcome is known
    waiting      (K,) participants of whom some outcome is awaited
    known, missing, awaited, used   (K, D) outcomes of participants, by endpoint; those used are
                 known and in the beginning of the allocations that is complete

    >>> explorer = Explorer(["A", "B"], ["x", "y"])
    >>> first, second = explorer.ask(2)
    >>> explorer.tell(second, {"x": 1.0, "y": "missing"})
    >>> flow = Flow.of(explorer.replay())
    >>> flow.participants.tolist(), flow.known.sum(axis=0).tolist(), int(flow.used.sum())
    ([1, 1], [1, 0], 0)
    """

    allocated: Any
    overridden: Any
    withdrawn: Any
    unplanned: Any
    lost: Any
    complete: Any
    waiting: Any
    known: Any
    missing: Any
    awaited: Any
    used: Any

    @property
    def participants(self) -> Any:
        """(K,) allocations that were neither overridden nor withdrawn."""
        return self.allocated - self.overridden - self.withdrawn

    @classmethod
    def of(cls, state: TrialState) -> Flow:
        """The counts of a state."""
        K, D = state.design.K, state.design.D
        arms = np.array(state.arms, dtype=np.int64)
        values = np.array(state.values, dtype=np.float64).reshape(D, len(arms)).T
        void = np.zeros(len(arms), dtype=bool)
        void[[*state.replaced, *state.withdrawn]] = True

        def by_arm(chosen: Any) -> Any:
            return np.bincount(arms[chosen], minlength=K)

        def by_endpoint(cells: Any) -> Any:
            return np.array([by_arm(cells[:, d] & ~void) for d in range(D)]).T

        state.settle()
        reached = np.arange(len(arms))[:, None] < np.array(state.reach)[None, :]
        known, missing = np.isfinite(values), np.isinf(values)
        return cls(
            by_arm(slice(None)), by_arm(list(state.replaced)), by_arm(list(state.withdrawn)),
            by_arm(list(state.unplanned)), by_arm(missing.all(axis=1) & ~void),
            by_arm(known.all(axis=1) & ~void), by_arm(np.isnan(values).any(axis=1) & ~void),
            by_endpoint(known), by_endpoint(missing),
            by_endpoint(np.isnan(values)), by_endpoint(known & reached),
        )  # fmt: skip


def trial_report(explorer: Explorer) -> str:
    """How a trial stands as one HTML page; nothing is written to its ledger.

    The log is replayed and verified first, and one that is not sound is refused (`LedgerError`).

    >>> explorer = Explorer(["A", "B"], ["response"], scale=1.0)
    >>> for allocation in explorer.ask(4):
    ...     explorer.tell(allocation, [5.0 if allocation.arm == "B" else 0.0])
    >>> page = trial_report(explorer)
    >>> page[:15], explorer.head in page
    ('<!DOCTYPE html>', True)
    """
    return page_and_head(explorer)[0]


def page_and_head(explorer: Explorer) -> tuple[str, str]:
    """The page of `trial_report`, and the hash of the last event that it knows of."""
    for _ in range(5):  # others may record something meanwhile; all parts are of one moment
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            head = explorer.verify()
        status, state = explorer.status(), explorer.replay()
        if head == status.head == state.hash:
            break
    else:
        raise LedgerError(
            "others have recorded something each time that the report was made. Make it of a copy: "
            "`paretoid trial backup`."
        )
    design = state.design
    rows = [row for row in explorer.rows() if row[0] <= state.seq]
    notes = [*status.notes, *(str(warning.message) for warning in caught)]
    flow = Flow.of(state)
    sections = [
        Section("Where the trial stands", _standing(status, state, rows, notes), "standing"),
        Section("Flow of participants", _flow(state, flow, rows), "flow"),
        Section("Arms", _arms(design, status), "arms"),
        Section("Differences between arms", _differences(design, status), "differences"),
        *design_sections(design),
        Section("Ledger and software", _ledger(rows, status), "ledger"),
        Section("Appendix: the exact design", _appendix(design), "appendix"),
    ]  # fmt: skip
    ended = all(answer is not None for answer in status.answers.values())
    page = render(
        "Report of an adaptive trial",
        f"{'every goal is answered' if ended else 'not every goal is answered'}; "
        f"{text.counted(int(flow.participants.sum()), 'participant')}, "
        f"{text.counted(design.K, 'arm')}, {text.counted(design.D, 'endpoint')}",
        sections,
    )
    return page, head


def _standing(
    status: Status, state: TrialState, rows: Sequence[Any], notes: Sequence[str]
) -> list[Block]:
    blocks: list[Block] = [
        TextBlock(f"{note[:1].upper()}{note[1:].rstrip('.')}.", "warning") for note in notes
    ]
    times = {row[0]: row[1] for row in rows if row[3] == "stopped"}
    for g, goal in enumerate(state.design.goals):
        question = f"To find {goal.words(state.design.units)}:"
        given = state.answers.get(g)
        if given is None:
            more = status.expected[str(goal)]
            about = "how many more it takes cannot be estimated yet"
            if np.isfinite(more):
                about = (
                    f"about {text.count(more)} more participants, by an estimate that is no bound"
                )
            blocks.append(AnswerBlock(question, "No answer yet", [f"To go: {about}."]))
            continue
        blocks.append(AnswerBlock(question, ", ".join(given.arms) or "No arm", [
            f"Given on {times.get(given.event, 'an unknown date')} (event {given.event}), when "
            f"{text.counted(given.samples, 'participant')} had outcomes in use.",
            _promise(state.design),
        ]))  # fmt: skip
    ways = state.design.ways
    blocks.append(TextBlock(f"{ways[0].upper()}{ways[1:]}."))
    if status.progress is not None:
        said = [f"{line[:1].upper()}{line[1:]}." for line in str(status.progress).split("\n")]
        blocks.append(TextBlock(" ".join(said)))
    return blocks


def _promise(design: Design) -> str:
    if design.guarantee != "proved":
        return "Heuristic: no theorem bounds the probability of a wrong answer."
    return (
        f"Under the assumptions below the probability that the trial ever gives a wrong answer is "
        f"at most {design.delta:g}."
    )


def _flow(state: TrialState, flow: Flow, rows: Sequence[Any]) -> list[Block]:
    design, pictured = state.design, enrolment_picture(state, rows)
    columns = {
        "allocated": flow.allocated, "overridden": flow.overridden, "withdrawn": flow.withdrawn,
        "participants": flow.participants, "of these unplanned": flow.unplanned,
        "lost": flow.lost, "complete": flow.complete,
        "some outcome awaited": flow.waiting,
    }  # fmt: skip
    counted = [
        [Cell(arm), *(_count(column[i]) for column in columns.values())]
        for i, arm in enumerate(design.arms)
    ]
    counted.append([Cell("all arms"), *(_count(column.sum()) for column in columns.values())])
    cells = []
    for i, arm in enumerate(design.arms):
        for d, endpoint in enumerate(design.objectives):
            known, used = flow.known[i, d], flow.used[i, d]
            cells.append([Cell(arm), Cell(endpoint), _count(known), _count(used),
                          _count(known - used), _count(flow.missing[i, d]),
                          _count(flow.awaited[i, d])])  # fmt: skip
    heads = ["arm", "endpoint", "recorded", "analysed", "recorded, not yet in use", "missing",
             "awaited"]  # fmt: skip
    return [
        *([] if pictured is None else [PictureBlock([pictured])]),
        TableBlock("Participants by arm", ["arm", *columns], counted, (
            "Overridden: replaced by another arm before any outcome. Withdrawn: received by "
            "nobody. Lost: no outcome is known and none will come. Complete: every outcome is "
            "known."
        )),
        TableBlock("Outcomes by arm and endpoint", heads, cells, (
            "Outcomes are analysed in the order of allocation up to the first that is awaited, so "
            "some that are recorded wait."
        )),
        *_departures(rows),
    ]  # fmt: skip


def _departures(rows: Sequence[Any]) -> list[Block]:
    """Overrides, withdrawals and corrections, each with its reason."""
    listed = [row for row in rows if row[3] in _DEPARTURES]
    if not listed:
        return [TextBlock("Nothing was overridden, withdrawn or corrected.")]
    shown = []
    for seq, time, author, kind, body, _ in listed[:_LISTED]:
        said = json.loads(body)
        about = [str(said.get(name, "")) for name in ("id", "reason")]
        cells = map(Cell, (time, author, kind.replace("_", " "), *about))
        shown.append([Cell(str(seq), key=float(seq)), *cells])
    rest = len(listed) - len(shown)
    note = f"{rest:,} more are in the log: `paretoid trial export TRIAL.DB log.csv --events`."
    heads = ["event", "time", "author", "what", "participant", "reason"]
    return [TableBlock("Departures from the plan", heads, shown, note if rest else "")]


def _count(number: Any) -> Cell:
    return Cell(f"{int(number):,}", key=float(number))


def _arms(design: Design, status: Status) -> list[Block]:
    rows = []
    for i, arm in enumerate(design.arms):
        means = [
            Cell(*status.estimate(arm, name), float(mean)) if n else Cell("-")
            for name, mean, n in zip(
                design.objectives, status.means[i], status.counts[i], strict=True
            )
        ]
        rows.append([Cell(arm), Cell(_verdict(design, status, arm)), *means])
    estimated = [f"{_estimated(status, name)} {name}" for name in design.objectives]
    heads = ["arm", "verdict", *estimated]
    note = (
        "Means are estimates from the outcomes in use; sd is the standard deviation of single "
        "outcomes, and n their number. Sampling that depends on outcomes can bias means, most of "
        "all those of arms that look best."
    )
    inside, outside = in_and_out(design.goals[0], design.units)
    tally = [len(status.optimal), len([a for a in status.dominated if a not in status.optimal]),
             len(status.undecided)]  # fmt: skip
    covered = "Settled by the intervals" if settles(design) else (
        "No theorem covers what the intervals suggest of single arms here"
    )  # fmt: skip
    pictured = means_picture(status, design.limits)
    return [
        TextBlock(
            f"{covered}: {tally[0]} {inside}, {tally[1]} out ({outside}), {tally[2]} undecided of "
            f"{text.counted(design.K, 'arm')}."
        ),
        TableBlock("Verdicts and estimates", heads, rows, note),
        *([] if pictured is None else [PictureBlock([pictured])]),
    ]


def _estimated(status: Status, name: str) -> str:
    if name in status.units.logs:
        return "geometric mean"
    return "share" if name in status.binary else "mean"


def _verdict(design: Design, status: Status, arm: str) -> str:
    sure = "surely " if settles(design) else "by the intervals "
    inside, outside = design.goals[0].verdict_words(design.units)
    said = [f"{sure}{inside}"] if arm in status.optimal else []
    if arm in status.dominated:
        reason = "beyond a limit" if status.dominated[arm] == arm else outside
        said.append(f"{sure}out (likely {reason})")
    return " and ".join(said) or "undecided"


def _differences(design: Design, status: Status) -> list[Block]:
    if design.K <= _ARMS:
        pairs = [(i, j) for i in range(design.K) for j in range(i + 1, design.K)]
    else:
        index = {arm: i for i, arm in enumerate(design.arms)}
        pairs = [(index[arm], index[rival]) for arm, rival in status.rivals.items()]
    rows = []
    for i, j in pairs:
        pair, between = status.difference(design.arms[i], design.arms[j])
        rows.append([Cell(pair), *map(Cell, between)])
    which = "" if design.K <= _ARMS else ", of undecided arms and the arm most in their way"
    return [
        TableBlock(
            f"Bounds on differences of means{which}", ["arms", *design.objectives], rows, (
                f"{_ratios(status)}These are the bounds that verdicts and answers rest on, at this "
                "moment; a dash: there are too few outcomes for any. It is the verdicts and "
                "answers that are covered by delta together; that all bounds of this table hold at "
                "once is not claimed."
            ),
        ),
    ]  # fmt: skip


def _ratios(status: Status) -> str:
    """How to read a difference, where outcomes are logarithms."""
    logs = [name for name in status.objectives if name in status.units.logs]
    if not logs:
        return ""
    if len(logs) == len(status.objectives):
        return "These are ratios of geometric means, of the first arm to the second. "
    return (
        f"In {', '.join(logs)} these are ratios of geometric means, of the first arm to the "
        f"second, elsewhere the mean of the first less that of the second. "
    )


def _appendix(design: Design) -> list[Block]:
    """The design in full: what is rounded, or said in words, above."""
    return [
        TextBlock(
            "The design as it stands in the ledger, with every number in full: a file with this "
            "text is what `paretoid trial new` takes."
        ),
        TextBlock(design_toml(design), "code"),
    ]


def _ledger(rows: Sequence[Any], status: Status) -> list[Block]:
    return [
        TextBlock(
            "The whole log was replayed and verified when this report was made: the chain of "
            "hashes, the sense of each event, and every answer. A cut tail or a log rewritten from "
            "the start shows only against a hash kept elsewhere:"
        ),
        TextBlock(f"paretoid trial verify TRIAL.DB --head {status.head}", "code"),
        settings("Ledger", [
            ("head", status.head), ("events", f"{len(rows):,}"), ("created", rows[0][1]),
            ("last event", rows[-1][1]), ("guarantee", status.guarantee),
        ]),
        versions_table(),
    ]  # fmt: skip
