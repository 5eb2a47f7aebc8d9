"""Files for their owner alone: the key of a blinded trial, the secret of a randomised one."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from paretoid.writing import new_file


def write_private(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write JSON to a new file of mode 0600; an existing file is never overwritten."""
    with new_file(path, private=True) as draft:
        draft.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_private(path: str | os.PathLike[str], what: str, lost: str) -> Any:
    """The JSON of such a file, `what` in words; refused if others could have read it too.

    lost   what may be lost then, such as "the trial may not be blind"
    """
    file = Path(path)
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(
            f"the {what} {path} cannot be read: {error.strerror}. Nothing was recorded."
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no {what} of paretoid.") from None
    if os.name == "posix" and mode & 0o077:
        raise ValueError(
            f"the {what} {path} has mode {mode:04o}, so others can read it and {lost}. Find out "
            f"who has, then chmod 600 it."
        )
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is no {what} of paretoid.") from None
