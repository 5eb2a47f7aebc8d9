"""The statistician's side of a site's folder: what the site entered goes into the ledger.

Messages are taken in the order of the site's file, each as a whole or not at all. Nothing is taken
twice: the ledger says of every participant placed, and of every outcome, which message it came
from, and it alone is believed about that. A refusal is final and is kept with the answers, so that
a message does not come true later; whoever meant it enters it again.

The site's file is never changed, and the answers are written as a whole after the last message. If
that fails, or the process is killed, the ledger has what was taken, and the next time the answers
follow from it. Under blinding they are a function of the site's own messages
(`paretoid.explorer.book`) and of whether enrolment has ended; what the ledger itself refuses is
answered in one sentence that is always the same, and its reason is for the statistician. An outcome
that is odd for the trial waits for the statistician (`paretoid.explorer.queue`), while the site
sees what it would see of any other.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from paretoid.explorer.book import Book, endpoints
from paretoid.explorer.events import LedgerError
from paretoid.explorer.explorer import Explorer
from paretoid.explorer.messages import Message, as_mark, as_request, key_of, read_message
from paretoid.explorer.outcomes import Told, known
from paretoid.explorer.queue import Queue, Waiting, replace, take
from paretoid.explorer.site import ANSWERS, ENTRIES, TAKEN, Answers, as_stratum
from paretoid.explorer.site_files import lines_of, locked, read_file
from paretoid.explorer.state import TrialState
from paretoid.text import visible
from paretoid.theory.checks import refusal
from paretoid.writing import sync_folder, whole_file

#: answers that say nothing of why: the reason may be in what others have entered
ENDED = "enrolment has ended, so nobody was placed."
AGAIN = "the statistician asks for this outcome again: enter it anew, as it was measured."
UNTAKEN = "the trial could not take this. The statistician has been told why: ask there."


@dataclass
class Taken:
    """What one synchronisation did.

    placed, recorded   participants placed; outcomes, corrections and withdrawals taken
    refused            (line, answer to the site, reason) of each message refused this time
    waiting            odd outcomes of the site that wait for the statistician, now and from before
    torn               True: the site's file ends in the middle of a line, which waits
    gone               messages taken before that are no longer in the site's file
    remade             True: the answers were missing or damaged, and were made anew
    """

    site: str
    placed: int = 0
    recorded: int = 0
    refused: list[tuple[int, str, str]] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    torn: bool = False
    gone: int = 0
    remade: bool = False


@dataclass(frozen=True)
class Coded:
    """A participant of a site as the ledger has it.

    key             of the message that asked for the place
    id, position    of the allocation, the present one if it was overridden
    withdrawn       True: nobody received it
    """

    site: str
    code: str
    key: str
    id: int | str
    position: int
    arm: str
    withdrawn: bool


def codes(explorer: Explorer) -> list[Coded]:
    """Who is behind which code, for those who prepare what participants receive.

    Overridden allocations keep the code and have the new arm.
    """
    return _codes(explorer.replay())


def _codes(state: TrialState) -> list[Coded]:
    listed = []
    for request, (first, _) in state.requests.items():
        parts = as_request(request)
        if parts is None:
            continue
        position = state.present(first - 1)
        arm = state.design.arms[state.arms[position]]
        gone = position in state.withdrawn
        listed.append(Coded(*parts, state.id_of(position), position, arm, gone))
    return listed


def trial_of(explorer: Explorer) -> str:
    """What a folder knows its trial by: the beginning of the hash of the ledger's first event."""
    return str(next(iter(explorer.rows()))[5])[:16]


def add_site(
    explorer: Explorer,
    folder: str | os.PathLike[str],
    site: str | None = None,
    *,
    show_arms: bool = False,
    group: str | None = None,
) -> None:
    """Make the folder of a site, whose name is that of the folder unless given.

    show_arms   the site sees arms; without it participants go by their codes alone
    group       a group of the system that may work on the folder: the folder then has mode 2770,
                the entries 0660, the answers 0640; else 0700 and 0600

    A site that has lost its folder gets a new one in the same way; its participants come back from
    the ledger at the next `sync`.
    """
    path = Path(folder)
    name = _as_site(path, site)
    answers = _answers(explorer, name, show_arms, {})
    try:
        path.mkdir(mode=0o700)
        if group is not None:
            shutil.chown(path, group=group)
        for file, text in ((ENTRIES, ""), (ANSWERS, answers.to_text())):
            handle = os.open(path / file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as draft:
                draft.write(text)
                draft.flush()
                os.fsync(handle)
            if group is not None:
                shutil.chown(path / file, group=group)
                (path / file).chmod(0o660 if file == ENTRIES else 0o640)
        if group is not None:
            path.chmod(0o2770)
        sync_folder(path)
        sync_folder(path.parent)
    except FileExistsError:
        raise ValueError(
            f"{folder} exists already; a site's folder is a new one. Choose another name."
        ) from None
    except (OSError, LookupError) as error:
        if path.is_dir():  # ours, and new
            shutil.rmtree(path, ignore_errors=True)
        why = error.strerror if isinstance(error, OSError) else f"there is no group {group!r}"
        raise ValueError(f"{folder} cannot be made: {why}.") from None


def sync(
    explorer: Explorer,
    folder: str | os.PathLike[str],
    site: str | None = None,
    *,
    show_arms: bool = False,
) -> Taken:
    """Take what a site has entered into the ledger, and answer it.

    Arguments as for `add_site`, which made the folder; a randomised trial must have been opened
    with its seed file. What the site may see is said here each time: the folder is in the site's
    hands, and is not asked.
    """
    path = Path(folder)
    name = _as_site(path, site)
    if explorer.design.randomise is not None and explorer._secret is None:
        raise ValueError(
            "the trial is randomised, and who gets which arm follows from its seed file. Nothing "
            "was taken; open it with seed_file=, --seed-file in the command."
        )
    with _alone(explorer):
        return _Sync(explorer, path, name, show_arms).run()


class _Sync:
    """One synchronisation of one folder."""

    def __init__(self, explorer: Explorer, path: Path, site: str, shown: bool) -> None:
        self.explorer, self.path, self.site, self.shown = explorer, path, site, shown
        self.trial, self.taken = trial_of(explorer), Taken(site)
        self.state = explorer.replay()
        self.people = {c.code: c for c in _codes(self.state) if c.site == site}
        queue = Queue.of(explorer)
        self.refused = queue.refused
        self.done = _done(explorer, site) | {person.key for person in self.people.values()}
        self.done -= self.refused
        self.book = _book(self.state, list(self.people.values()), queue.of_site(site))

    def run(self) -> Taken:
        lines, self.taken.torn = lines_of(read_file(self.path / ENTRIES))
        before = self._before()
        answers: dict[str, str] = {}
        for number, line in enumerate(lines, start=1):
            key = key_of(line)
            if key in answers:  # the same line twice is one message
                continue
            if key in self.refused:
                answers[key] = AGAIN
            elif key in self.done:
                answers[key] = TAKEN
            elif before.get(key, TAKEN) != TAKEN:
                answers[key] = before[key]
            else:
                answers[key] = self._answer(number, line)
        self.taken.gone = len(self.done - set(answers))
        for key, said in before.items():  # of lines that are gone, and may come back
            if said != TAKEN and key not in self.done:
                answers.setdefault(key, said)
        self._write(answers)
        self.taken.waiting = Queue.of(self.explorer).of_site(self.site)
        return self.taken

    def _before(self) -> dict[str, str]:
        """The answers as the folder has them; none if it has lost them."""
        try:
            written = Answers.from_text(read_file(self.path / ANSWERS).decode("utf-8"))
        except ValueError:
            self.taken.remade = True
            return {}
        if written.trial != self.trial or written.site != self.site:
            raise ValueError(
                f"{self.path} is the folder of site {written.site!r:.100} of trial "
                f"{written.trial!r:.40}, and not of {self.site!r} of trial {self.trial!r}. Nothing "
                f"was taken; name the ledger and the site that it was made for."
            )
        if written.shown != self.shown:
            was, now = ("shown", "hidden") if written.shown else ("hidden", "shown")
            raise ValueError(
                f"arms have been {was} in {self.path} so far, and would now be {now}. Nothing was "
                f"taken; leave --show-arms (show_arms=) as it was, or make a new folder."
            )
        return written.answers

    def _answer(self, number: int, line: bytes) -> str:
        try:
            message = read_message(line, self.site, self.trial)
        except ValueError as error:
            return self._refuse(number, f"this was not taken: {error}. Enter it again.")
        try:
            told = self.book.check(message.what, message.code, message.outcome)
            if message.what == "enrol":
                as_stratum(message.stratum, choice(self.explorer, self.site))
        except ValueError as error:
            return self._refuse(number, f"this was not taken: {error}")
        if message.what == "enrol" and all(a is not None for a in self.explorer.answers.values()):
            return self._refuse(number, ENDED)
        try:
            self._take(message, told)
        except LedgerError:
            raise  # nothing about the message: the disk is full, or somebody else writes
        except ValueError as error:
            return self._refuse(number, UNTAKEN, str(error))
        self.book.take(message)
        return TAKEN

    def _refuse(self, number: int, answer: str, why: str = "") -> str:
        self.taken.refused.append((number, answer, why or answer))
        return answer

    def _take(self, message: Message, told: Told | None) -> None:
        """One message, one command of the ledger."""
        explorer, mark = self.explorer, message.mark(self.site)
        if message.what == "enrol":
            stratum = self._stratum(message)
            placed = explorer.ask(request=message.request(self.site), stratum=stratum)
            at = int(placed.id) - 1
            self.people[message.code] = Coded(
                self.site, message.code, message.key, placed.id, at, placed.arm, False
            )
            self.taken.placed += 1
            return
        id = self.people[message.code].id
        if message.what == "outcome":
            self.taken.recorded += take(explorer, id, message, self.site, message.code)
            return
        if message.what == "correction":
            named, queue = set(told or ()), Queue.of(explorer).of_site(self.site)
            held = [w for w in queue if w.code == message.code and named & set(w.outcome)]
            if held:
                self.taken.recorded += replace(explorer, held, told or {}, message, self.site)
                return
            explorer.correct(id, message.outcome, reason=f"{message.reason} {mark}")
        else:
            explorer.withdraw(id, reason=f"{message.reason} {mark}")
        self.taken.recorded += 1

    def _stratum(self, message: Message) -> str | None:
        scheme = self.explorer.design.randomise
        own = scheme is not None and self.site in (scheme.strata or ())
        return self.site if own else message.stratum

    def _write(self, answers: dict[str, str]) -> None:
        """The answers as a file, as the ledger stands now; not touched if nothing changed."""
        now = _answers(self.explorer, self.site, self.shown, answers)
        target, text = self.path / ANSWERS, now.to_text()
        try:
            if not self.taken.remade and read_file(target).decode("utf-8") == text:
                return
            with whole_file(target, force=True) as draft:
                draft.write_text(text, encoding="utf-8", newline="\n")
            if self.taken.remade:
                target.chmod(0o640 if self.path.stat().st_mode & 0o020 else 0o600)
        except OSError as error:
            raise ValueError(
                f"{target} cannot be written: {error.strerror}. The ledger has what was taken; "
                f"synchronise again, and the answers follow from it."
            ) from None


def _done(explorer: Explorer, site: str) -> set[str]:
    """Messages of a site that outcomes, corrections and withdrawals in the ledger came from.

    Those that wait, or have waited, for the statistician are among them.
    """
    keys = set()
    for _, _, _, kind, body, _ in explorer.rows():
        if kind in ("told", "corrected", "withdrawn", "queried") and "(site " in body:
            words = json.loads(body)
            mark = as_mark(words.get("note") or words.get("reason") or "")
            if mark is not None and mark[0] == site:
                keys.add(mark[1])
    return keys


def _known(state: TrialState, person: Coded, held: list[Waiting]) -> dict[str, float | str]:
    """What is known of a participant, as the site sees it: also what waits for the statistician."""
    if person.withdrawn:
        return {}
    mine = [waiting.outcome for waiting in held if waiting.code == person.code]
    waits = {name: value for outcome in mine for name, value in outcome.items()}
    told = {
        name: known(state, d, person.position) for d, name in enumerate(state.design.objectives)
    }
    seen = {name: waits.get(name) if value is None else value for name, value in told.items()}
    return {name: value for name, value in seen.items() if value is not None}


def _book(state: TrialState, people: list[Coded], held: list[Waiting]) -> Book:
    book = Book(endpoints(state.design))
    for person in people:
        book.add(person.code, _known(state, person, held), withdrawn=person.withdrawn)
    return book


def _answers(explorer: Explorer, site: str, shown: bool, answers: dict[str, str]) -> Answers:
    state, held, design = explorer.replay(), Queue.of(explorer).of_site(site), explorer.design
    people = [
        {
            "code": person.code,
            **({"arm": person.arm} if shown else {}),
            "withdrawn": person.withdrawn,
            "outcomes": _known(state, person, held),
        }
        for person in _codes(state)
        if person.site == site
    ]
    strata, measured = choice(explorer, site), endpoints(design)
    return Answers(trial_of(explorer), site, shown, measured, strata, people, answers)


def choice(explorer: Explorer, site: str) -> tuple[str, ...]:
    """The strata that a site has to choose from: none if it is a stratum itself."""
    scheme = explorer.design.randomise
    strata = () if scheme is None else tuple(scheme.strata or ())
    return () if site in strata else strata


def _as_site(path: Path, site: str | None) -> str:
    """The name of a site: the folder's own unless given."""
    name = path.absolute().name if site is None else site
    if not isinstance(name, str) or not name.strip() or len(name) > 100 or "(" in name:
        raise refusal(isinstance(name, str))(
            f"site={name!r:.120} must be a name of at most 100 characters without brackets."
        )
    if visible(name) != name:
        raise ValueError(f"site={name!r} must be a name without hidden characters.")
    return name


@contextmanager
def _alone(explorer: Explorer) -> Iterator[None]:
    """One synchronisation of a ledger at a time."""
    ledger = getattr(explorer._ledger, "path", None)
    if ledger is None:
        yield
        return
    with locked(ledger.with_name(f"{ledger.name}-sync"), "another synchronisation", 60):
        yield
