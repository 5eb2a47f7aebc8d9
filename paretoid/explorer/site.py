"""A site's side of a live trial: a folder with its own entries and the answers to them.

    FOLDER/entries.jsonl   written by the site, one line a message; only ever added to
    FOLDER/answers.json    written by the statistician's side (`paretoid.explorer.sync`), as a whole
    FOLDER/lock            empty; held while somebody at the site adds a line

The ledger is elsewhere and the site needs no access to it: it works on this folder alone, on a disk
that it shares with the statistician or on a copy that is sent to and fro. Each file has one side
that writes it, so neither can undo what the other has said.

*What a site sees*: its own participants by their codes, what it has entered, what was refused and
why; with arms shown also the arm of each. *What it does not*: anything of others, how many there
are, means, verdicts, the ledger's ids, which count all sites' participants.

*Blinded*, which is the default, a participant goes by a code alone. The site draws it itself,
before there is an arm, so it cannot depend on one. The answers are a function of the site's own
entries: no arm, no order, count or length of anything in them depends on who was given what, and
answers to all messages that wait come at once, when the statistician synchronises. Two things are
left, and no file can hide them: that enrolment has ended, which rests on everybody's outcomes, and
what a participant's own outcomes tell somebody who knows what the arms do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paretoid.explorer.book import Book
from paretoid.explorer.messages import (
    MOST_TEXT,
    Message,
    as_line,
    key_of,
    new_code,
    read_message,
)
from paretoid.explorer.site_files import append, lines_of, locked, read_file
from paretoid.text import meant, visible
from paretoid.theory.checks import check_count, refusal

ENTRIES, ANSWERS, LOCK = "entries.jsonl", "answers.json", "lock"

#: most participants asked for at once
_MOST_PLACES = 1_000

#: the answer to what is in the ledger; an outcome may wait there for the statistician
TAKEN = "taken"

_FORMAT = "paretoid answers 1"


@dataclass(frozen=True)
class Answers:
    """What the statistician's side has written for a site.

    trial, site    which trial, by a hash, and which site
    shown          True: the site sees arms
    measured       what is measured, as `paretoid.explorer.book` needs it
    strata         those that the site has to choose from for each participant; () for none
    participants   code, outcomes, withdrawn and, if shown, arm of each, in the order of enrolment
    answers        message, by the hash of its line, to "taken" or to why it was refused
    """

    trial: str
    site: str
    shown: bool
    measured: dict[str, Any]
    strata: tuple[str, ...]
    participants: list[dict[str, Any]]
    answers: dict[str, str]

    def to_text(self) -> str:
        """The whole file; equal answers give equal bytes."""
        data = {
            "format": _FORMAT, "trial": self.trial, "site": self.site,
            "arms": "shown" if self.shown else "hidden", "measured": self.measured,
            "strata": list(self.strata), "participants": self.participants,
            "answers": self.answers,
        }  # fmt: skip
        return json.dumps(data, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Answers:
        """What `to_text` wrote; a ValueError without words if it is anything else."""
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT or data["arms"] not in ("shown", "hidden"):
                raise ValueError
            answers, people = dict(data["answers"]), list(data["participants"])
            texts = [data["trial"], data["site"], *data["strata"], *answers.values()]
            texts += [person["code"] for person in people]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError
            shown = data["arms"] == "shown"
            written = cls(data["trial"], data["site"], shown, dict(data["measured"]),
                          tuple(data["strata"]), people, answers)  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ValueError from None
        return written

    def book(self) -> Book:
        """The participants as far as the ledger has them."""
        book = Book(self.measured)
        for person in self.participants:
            book.add(person["code"], person["outcomes"], withdrawn=person["withdrawn"])
        return book


class Site:
    """A site's folder, in the hands of the site: `enrol`, `tell`, `correct`, `withdraw`, list.

    Nothing that is entered is done until the statistician synchronises (`paretoid.explorer.sync`).

    >>> import tempfile
    >>> from paretoid import Explorer
    >>> from paretoid.explorer.sync import add_site, sync
    >>> temporary = tempfile.TemporaryDirectory()
    >>> folder = Path(temporary.name) / "north"
    >>> trial = Explorer(["placebo", "vaccine"], ["IgG"])
    >>> add_site(trial, folder)
    >>> north = Site(folder, author="ann")
    >>> (code,) = north.enrol()
    >>> sync(trial, folder).placed
    1
    >>> north.tell(code, [9.1])
    >>> sync(trial, folder).recorded
    1
    >>> north.participants() == [{"code": code, "withdrawn": False, "outcomes": {"IgG": 9.1}}]
    True
    >>> temporary.cleanup()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        author: str,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.folder = Path(folder)
        if self.folder.is_file():
            raise ValueError(
                f"{folder} is a file; a site works on its folder, which `paretoid trial add-site` "
                f"makes, and not on the ledger."
            )
        self.author = author
        self._clock = clock or (lambda: datetime.now(UTC))
        self._read()

    def _read(self) -> tuple[Answers, list[bytes]]:
        """The answers and the lines, as they stand now."""
        data = read_file(self.folder / ANSWERS)
        try:
            answers = Answers.from_text(data.decode("utf-8"))
            answers.book()
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(
                f"{self.folder / ANSWERS} is damaged, or not what paretoid wrote. Nothing is lost: "
                f"ask the statistician to synchronise again."
            ) from None
        return answers, lines_of(read_file(self.folder / ENTRIES))[0]

    def _waiting(self, answers: Answers, lines: list[bytes]) -> list[Message]:
        """The messages that have no answer yet."""
        messages: dict[str, Message] = {}
        for line in lines:
            key = key_of(line)
            try:
                if key not in answers.answers:
                    messages[key] = read_message(line, answers.site, answers.trial)
            except ValueError:
                continue  # the trial will refuse it, and say so
        return list(messages.values())

    def _book(self) -> tuple[Answers, Book, set[str]]:
        """Answers, participants with all that was entered, and codes that wait for a place."""
        answers, lines = self._read()
        book, waiting = answers.book(), self._waiting(answers, lines)
        book.take_all(waiting)
        return answers, book, {message.code for message in waiting if message.what == "enrol"}

    # -- reading -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the site."""
        return self._read()[0].site

    def participants(self) -> list[dict[str, Any]]:
        """The participants that the trial has placed: code, withdrawn, outcomes, perhaps arm."""
        return self._read()[0].participants

    def entries(self) -> list[dict[str, Any]]:
        """Everything that was entered, in order, each with its answer; "waiting" without one."""
        answers, lines = self._read()
        listed: dict[str, dict[str, Any]] = {}
        for line in lines:
            key = key_of(line)
            try:
                message = read_message(line, answers.site, answers.trial)
                entry = {"what": message.what, "code": message.code, "time": message.time,
                         "author": message.author, "outcome": message.outcome}  # fmt: skip
            except ValueError as error:
                entry = {"what": f"no message: {error}", "code": "", "time": "", "author": "",
                         "outcome": None}  # fmt: skip
            listed[key] = {**entry, "answer": answers.answers.get(key, "waiting")}
        return list(listed.values())

    def plausible(self, code: str, outcome: Any) -> tuple[str, ...]:
        """What should be asked back before this is entered, by the site's own outcomes alone."""
        _, book, waiting = self._book()
        self._placed(code, waiting)
        return book.questions(code, outcome)

    # -- entering ----------------------------------------------------------------------------

    def enrol(self, n: int = 1, *, stratum: str | None = None) -> list[str]:
        """Ask for places for the next n participants; returns their codes."""
        size = check_count(
            n, name="n", most=_MOST_PLACES,
            why="it is how many participants to ask places for; outcomes steer those who come "
            "later, so ask when they come.",
        )  # fmt: skip
        with self._adding():
            answers, book, _ = self._book()
            stratum = as_stratum(stratum, answers.strata)
            taken = set(book.codes())
            codes: list[str] = []
            while len(codes) < size:
                code = new_code()
                if code not in taken:
                    taken.add(code)
                    codes.append(code)
            self._write(answers, [{"what": "enrol", "code": c, "stratum": stratum} for c in codes])
        return codes

    def tell(self, code: str, outcome: Any, *, note: str | None = None) -> None:
        """Report an outcome, whole or in part, as `Explorer.tell` takes it."""
        note = None if note is None else visible(_as_text(note, "note"))[:MOST_TEXT]
        self._enter("outcome", code, outcome, note=note)

    def correct(self, code: str, outcome: Any, *, reason: str) -> None:
        """Report that an outcome was wrong; the old one stays in the log."""
        self._enter("correction", code, outcome, reason=_as_text(reason, "reason"))

    def withdraw(self, code: str, *, reason: str) -> None:
        """Give back a place that nobody received, so that later outcomes do not wait for it."""
        self._enter("withdrawal", code, None, reason=_as_text(reason, "reason"))

    def _enter(self, what: str, code: str, outcome: Any, **words: str | None) -> None:
        with self._adding():
            answers, book, waiting = self._book()
            if what != "withdrawal":
                self._placed(code, waiting)
            book.check(what, code, outcome)
            body = {} if outcome is None else {"outcome": book.plain(outcome)}
            self._write(answers, [{"what": what, "code": code, **body, **words}])

    def _placed(self, code: str, waiting: set[str]) -> None:
        if code in waiting:
            raise ValueError(
                f"{code} has no place yet: the statistician has not synchronised since it was "
                f"asked for. Nothing was entered; wait for the answer."
            )

    def _write(self, answers: Answers, messages: list[dict[str, Any]]) -> None:
        """Add lines, all or none; they are on the disk when it returns."""
        common = {"trial": answers.trial, "site": answers.site, "author": self.author,
                  "time": self._clock().isoformat()}  # fmt: skip
        lines = [as_line({**common, **message}) for message in messages]
        for line in lines:  # what the other side would refuse is not written
            try:
                read_message(line, answers.site, answers.trial)
            except ValueError as error:
                raise ValueError(f"nothing was entered: {error}.") from None
        path = self.folder / ENTRIES
        try:
            append(path, b"".join(lines))
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written: {error.strerror or error}; nothing was entered."
            ) from None

    def _adding(self) -> AbstractContextManager[None]:
        """One at a time at this site."""
        return locked(self.folder / LOCK, "somebody else at this site")


def _as_text(words: Any, what: str) -> str:
    if not isinstance(words, str) or not words.strip():
        raise refusal(isinstance(words, str))(
            f"{what}={words!r} must be a sentence: it goes into the log."
        )
    return words.strip()


def as_stratum(stratum: str | None, strata: tuple[str, ...]) -> str | None:
    """The stratum that a site names, if it has to name one and it is one of those declared.

    >>> as_stratum("young", ("young", "old")), as_stratum(None, ())
    ('young', None)
    """
    if not strata:
        if stratum is not None:
            raise ValueError(
                f"stratum={stratum!r}: this site has none to choose from. Leave it out."
            )
        return None
    if stratum not in strata:
        hint = "." if stratum is None else meant(stratum, strata)
        raise ValueError(
            f"stratum={stratum!r} must be one of those declared in the design{hint} There are "
            f"{', '.join(strata)}."
        )
    return stratum
