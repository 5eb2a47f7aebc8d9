"""The secret that a trial's random list follows from, and the hash that binds the trial to it.

Whoever has the secret and the ledger knows every arm to come; whoever has the ledger alone knows
the probabilities and no more. So the two are kept apart: the secret in a file of mode 0600, with
those who hand out arms; its hash in the first event of the ledger, so that it can be shown
afterwards that the list was fixed before the first participant came.

Numbers are the first three of HMAC-SHA-512 of "stratum, number of the participant in it" under
the secret, 53 bits each: no generator whose stream another version might change, and nothing that
an auditor could not compute with other tools.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paretoid.explorer.private import read_private, write_private

#: uniform numbers of a participant by stratum and number in it: for the arm; and, where a block
#: begins, for what it is made of and for its length
Lots = Callable[[str, int], tuple[float, float, float]]

_BITS = 53


@dataclass(frozen=True)
class Secret:
    """A secret of 256 random bits, and the id of the trial that it belongs to.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> secret = Secret.new()
    >>> secret.save(Path(folder.name) / "seed.json")
    >>> again = Secret.load(Path(folder.name) / "seed.json")
    >>> again == secret, again.lots("north", 1) == secret.lots("north", 1)
    (True, True)
    >>> again.check(secret.public)
    >>> Secret.new().check(secret.public)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the seed file (of trial ...) does not fit the hash in the ledger...
    >>> secret    # does not print itself
    Secret(trial=...)
    >>> folder.cleanup()
    """

    trial: str
    key: bytes

    @classmethod
    def new(cls) -> Secret:
        """A new secret, from the system's own randomness."""
        return cls(secrets.token_hex(8), secrets.token_bytes(32))

    def __repr__(self) -> str:
        return "Secret(trial=...)"

    @property
    def public(self) -> dict[str, str]:
        """What the ledger says of it: the id of the trial, and the hash of both."""
        text = f"paretoid randomisation\n{self.trial}\n{self.key.hex()}"
        return {"trial": self.trial, "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def check(self, public: dict[str, str] | None) -> None:
        """Refuse to serve a trial whose ledger has the hash of another secret."""
        if public is None:
            raise ValueError(
                "the trial is not randomised: its design has no [randomise], so no seed file "
                "belongs to it. Leave that out."
            )
        if public != self.public:
            raise ValueError(
                f"the seed file (of trial {self.trial}) does not fit the hash in the ledger (of "
                f"trial {public.get('trial')}), so its list is not the one that was fixed. Nothing "
                f"was recorded; give the file that was made with the trial."
            )

    def lots(self, stratum: str, number: int) -> tuple[float, float, float]:
        """Three independent uniform numbers for one participant.

        >>> Secret("t", b"k").lots("north", 1) == Secret("t", b"k").lots("south", 1)
        False
        """
        place = f"{self.trial}\n{number}\n{stratum}"
        digest = hmac.digest(self.key, place.encode(), "sha512")
        words = (int.from_bytes(digest[at : at + 8], "big") for at in (0, 8, 16))
        arm, block, length = ((word >> (64 - _BITS)) / (1 << _BITS) for word in words)
        return arm, block, length

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a new file of mode 0600; an existing file is never overwritten."""
        write_private(path, {"paretoid": "secret", "trial": self.trial, "secret": self.key.hex()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Secret:
        """Read a seed file; refused if others could have read it too."""
        data = read_private(path, "seed file", "the list may not be concealed")
        try:
            key = bytes.fromhex(data["secret"])
            if data["paretoid"] != "secret" or len(key) < 16:
                raise ValueError
            return cls(str(data["trial"]), key)
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is no seed file of paretoid.") from None


@contextmanager
def new_secret(
    randomised: bool, seed_file: str | os.PathLike[str] | None
) -> Iterator[Secret | None]:
    """A new secret in a new file while its trial is made; without the trial the file goes again.

    None of a trial that is not randomised, which has no file either.
    """
    if not randomised:
        if seed_file is not None:
            raise ValueError(
                f"seed_file={os.fspath(seed_file)!r} is for a randomised trial, and the design has "
                f"no [randomise] (randomise=). Add that, or leave the file out."
            )
        yield None
        return
    if seed_file is None:
        raise ValueError(
            "the design is randomised, so it needs a seed file: a new file, kept apart from the "
            "ledger, that the list of arms follows from. Pass seed_file=, --seed-file in the "
            "command."
        )
    secret = Secret.new()
    secret.save(seed_file)  # first: a randomised trial without its secret would be lost
    try:
        yield secret
    except BaseException:
        Path(seed_file).unlink(missing_ok=True)
        raise
