"""What a site says to the trial, line by line, and how little of it is believed.

A message is one line of JSON. It goes by the hash of its bytes, so a line delivered twice is one
message and a changed line another one. Its reader is the statistician's side and its writer may be
anybody: what does not fit is refused in a sentence that repeats nothing of the line, since a line
may have been planted to be read back.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paretoid.text import visible

#: letters of codes, without those that look alike; every code has `LENGTH` of them
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
LENGTH = 8

#: most characters of a line, and of a text in it
MOST, MOST_TEXT = 20_000, 500

#: what a message may be, and the fields it then has beside `_ALWAYS`
KINDS: dict[str, tuple[str, ...]] = {
    "enrol": ("stratum",),
    "outcome": ("outcome", "note"),
    "correction": ("outcome", "reason"),
    "withdrawal": ("reason",),
}
_ALWAYS = ("trial", "site", "what", "code", "time", "author", "once")

_CODE = re.compile(f"[{LETTERS}]{{{LENGTH}}}")
_REQUEST = re.compile(rf"(.+)/([{LETTERS}]{{{LENGTH}}})/([0-9a-f]{{32}})", re.DOTALL)
_MARK = re.compile(r"\(site (.+), message ([0-9a-f]{32})\)", re.DOTALL)


def new_code() -> str:
    """A participant's code, from the system's own randomness: drawn before there is an arm.

    >>> len(new_code()), new_code() == new_code()
    (8, False)
    """
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


@dataclass(frozen=True)
class Message:
    """One thing that a site asks for or reports.

    key       hash of the line
    what      "enrol", "outcome", "correction" or "withdrawal"
    code      of the participant
    outcome   what was measured: objective to a number or "missing"; or "missing"
    stratum, note, reason   words, or None
    """

    key: str
    what: str
    code: str
    time: str
    author: str
    outcome: Any = None
    stratum: str | None = None
    note: str | None = None
    reason: str | None = None
    fields: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def request(self, site: str) -> str:
        """The word by which the ledger knows that this participant was placed."""
        return f"{site}/{self.code}/{self.key}"

    def mark(self, site: str) -> str:
        """What the ledger's note, or reason, ends with, so that nothing is taken twice."""
        return f"{self.author}, {self.time} (site {site}, message {self.key})"


def as_request(request: str) -> tuple[str, str, str] | None:
    """(site, code, key) of a participant placed for a site; None of another request.

    >>> as_request("north/ABCDEFGH/" + 32 * "0")[:2], as_request("visit 7")
    (('north', 'ABCDEFGH'), None)
    """
    parts = _REQUEST.fullmatch(request)
    return None if parts is None else (parts[1], parts[2], parts[3])


def as_mark(words: str) -> tuple[str, str] | None:
    """(site, key) of the message that an event of the ledger was taken from; None of others."""
    start = words.rfind("(site ")  # the last: before it may stand what the site wrote
    parts = _MARK.fullmatch(words[start:]) if start >= 0 else None
    return None if parts is None else (parts[1], parts[2])


def as_line(fields: dict[str, Any]) -> bytes:
    """A message as it is written, with a nonce, so that no two are equal by chance."""
    words = {**fields, "once": secrets.token_hex(8)}
    return json.dumps(words, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def key_of(line: bytes) -> str:
    """The name of a line, with or without its end.

    >>> key_of(b"a") == key_of(b"a\\r\\n"), key_of(b"a") == key_of(b"b"), len(key_of(b"a"))
    (True, False, 32)
    """
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:32]


def read_message(line: bytes, site: str, trial: str) -> Message:
    """The message of a line from the folder of `site`; refused if it is not one of its own."""
    if len(line) > MOST:
        raise ValueError(f"it is longer than {MOST:,} characters")
    try:
        data = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("it is no line that paretoid wrote, or was cut short") from None
    what = data.get("what") if isinstance(data, dict) else None
    if not isinstance(what, str) or what not in KINDS:
        raise ValueError(f"it is none of {', '.join(KINDS)}")
    if set(data) != {*_ALWAYS, *KINDS[what]}:
        raise ValueError(f"it has other fields than {', '.join((*_ALWAYS, *KINDS[what]))}")
    for name, value in data.items():
        if name != "outcome":
            _check_text(name, value)
    if data["trial"] != trial:
        raise ValueError("it is of another trial")
    if data["site"] != site:
        raise ValueError("it is of another site")
    if _CODE.fullmatch(data["code"]) is None:
        raise ValueError(f"its code is none: a code has {LENGTH} of the letters {LETTERS}")
    try:
        datetime.fromisoformat(data["time"])
    except ValueError:
        raise ValueError("its time is none") from None
    if "reason" in data and not (data["reason"] or "").strip():
        raise ValueError("it has no reason, which goes into the log")
    if "outcome" in data:
        _check_outcome(data["outcome"])
    given = {name: data.get(name) for name in ("outcome", "stratum", "note", "reason")}
    return Message(
        key_of(line), what, data["code"], data["time"], data["author"], **given, fields=data
    )


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _check_text(name: str, value: Any) -> None:
    if value is None and name in ("stratum", "note"):
        return
    if not isinstance(value, str) or len(value) > MOST_TEXT or visible(value) != value:
        raise ValueError(
            f"its {name} must be a text of at most {MOST_TEXT} characters, none of them hidden"
        )


def _check_outcome(outcome: Any) -> None:
    """Whether the numbers make sense is for the trial to judge; here, whether they are some."""
    if outcome == "missing":
        return
    if not isinstance(outcome, dict) or not outcome or len(outcome) > 1000:
        raise ValueError("its outcome must be a table from objectives to numbers, or missing")
    for value in outcome.values():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value != "missing" and not (number and abs(value) < 1e151 and math.isfinite(value)):
            raise ValueError("an outcome of it must be a finite number, or missing")
